//! Fast Walsh transform: butterflies in place, whose partners are twice as far apart at each launch.
//!
//! Map (AMD APP SDK 2.5, `FastWalshTransform_Kernels.cl`): the host launches for step = 1, 2, 4 ... size / 2, and touches no
//! data between launches. Thread `g` of a launch works on `p = 2 * step * (g / step) + g % step` and `q = p + step`: it loads
//! both and stores both. Each launch reads what the one before wrote, of other threads from the second on.
//!
//! Computes 29 instructions, as in `MGPUSim`'s disassembly of the source: most of them divide the thread's number by the step.

use std::iter::successors;
use std::sync::Arc;

use super::Definition;
use super::array::Array;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

pub const DEFINITION: Definition = Definition {
    name: "fast-walsh-transform",
    title: "Butterflies in place: false sharing while partners are near, an exchange between GPUs when they are far",
    source: "AMD APP SDK 2.5, FastWalshTransform_Kernels.cl; UMH (2016), Table I: 262,144",
    own: &[
        common::power("size", "elements", 262_144, 1 << 34),
        common::SCALE,
        common::WORKGROUP,
        common::WAVEFRONT,
        common::first("data", "the array, transformed in place"),
    ],
    shared: &common::computing(29),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let size = Scale::read(values)?.of(values.integer("size")?);
    let threads = common::multiple(values, "size", size, 2)? / 2;
    let workgroup = values.integer("workgroup")?.min(threads);
    let data = Array::place(values, "data", size, 4, None)?;
    let script = Script::default().then(
        1,
        [
            Step::Load(0, 0),
            Step::Load(0, 1),
            Step::Compute(settings.compute),
            Step::Store(0, 0),
            Step::Store(0, 1),
        ],
    );
    let launch = |step: u64| Launch {
        name: DEFINITION.name,
        groups: threads / workgroup,
        workgroup,
        arrays: vec![data],
        script: script.clone(),
        map: Arc::new(move |at: At| {
            let thread = at.group * workgroup + at.local;
            let first = 2 * step * (thread / step) + thread % step;
            Some(first + at.nth * step)
        }),
        settings,
    };
    let distances = successors(Some(1), |step| (2 * step <= threads).then_some(2 * step));
    Ok(distances.map(|step| launch(step).step()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Touch, did, steps};
    use crate::model::access::AccessKind::{Load, NStore};

    #[test]
    fn every_launch_pairs_elements_twice_as_far_apart() {
        let steps = steps("fast-walsh-transform", &[("size", 64), ("workgroup", 8), ("wavefront", 4)]);
        let launches: Vec<_> = steps.iter().map(did).collect();
        let mut expected = Vec::new();
        for step in [1, 2, 4, 8, 16, 32] {
            let mut launch = Vec::new();
            for first in (0..64u64).filter(|element| element & step == 0) {
                for element in [first, first + step] {
                    launch.push(Touch::new(Load, 0x10_0000 + 4 * element, 4));
                    launch.push(Touch::new(NStore, 0x10_0000 + 4 * element, 4));
                }
            }
            launch.sort();
            expected.push(Did::Launch(launch));
        }
        assert_eq!(launches, expected);
    }
}
