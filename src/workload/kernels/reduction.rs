//! Reduction: each workgroup sums its part in local memory, the host sums what the workgroups found.
//!
//! Map (AMD APP SDK 2.5, `Reduction_Kernels.cl` and `Reduction.cpp`): thread `g` loads `in[g]`, a vector of four words; after a
//! tree in local memory thread 0 stores `out[group]`, a vector too. The host then loads all words of `out` one by one. The
//! tree is modelled as cycles with a barrier at each level.
//!
//! Computes ten instructions at each level, counted in the source: four sums, local memory and addresses.

use std::sync::Arc;

use super::Definition;
use super::array::Array;
use super::common::{self, Scale, Settings};
use super::launch::{At, HostLoop, Launch, Script, Step};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

pub const DEFINITION: Definition = Definition {
    name: "reduction",
    title: "A sum: one long stream in, one vector a workgroup out, and the rest is the host's",
    source: "AMD APP SDK 2.5, Reduction_Kernels.cl; UMH (2016), Table I: 2,097,152",
    own: &[
        common::power("size", "words to be summed", 2_097_152, 1 << 34),
        common::SCALE,
        common::WORKGROUP,
        common::WAVEFRONT,
        common::first("input", "the words"),
        common::next("output", "a vector of four sums from each workgroup"),
        common::SYNC,
    ],
    shared: &common::computing(10),
    build,
};

/// Words that a thread loads.
const VECTOR: u64 = 4;

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::with_host(values)?;
    let size = Scale::read(values)?.of(values.integer("size")?);
    let threads = common::multiple(values, "size", size, VECTOR)? / VECTOR;
    let workgroup = values.integer("workgroup")?.min(threads);
    let groups = threads / workgroup;
    let input = Array::place(values, "input", threads, 4 * VECTOR, None)?;
    let output = Array::place(values, "output", groups, 4 * VECTOR, Some(&input))?;
    let levels = u64::from(workgroup.trailing_zeros());
    let launch = Launch {
        name: DEFINITION.name,
        groups,
        workgroup,
        arrays: vec![input, output],
        script: Script::default()
            .then(1, [Step::Load(0, 0), Step::Barrier])
            .then(levels, [Step::Compute(settings.compute), Step::Barrier])
            .then(1, [Step::Store(1, 0)]),
        map: Arc::new(move |at: At| match at.array {
            0 => Some(at.group * workgroup + at.local),
            _ => (at.local == 0).then_some(at.group),
        }),
        settings,
    };
    let mut steps = vec![launch.step()];
    let script = Script::default().then(groups * VECTOR, [Step::Load(0, 0)]);
    HostLoop { arrays: vec![output.of(4)], script }.add(&mut steps, settings, &[0], |at| Some(at.round));
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Touch, did, steps};
    use crate::model::access::AccessKind::{Load, NStore, Store};

    #[test]
    fn the_host_sums_what_each_workgroup_leaves() {
        let given = [("size", 1024), ("workgroup", 64), ("wavefront", 32)];
        let mut launch: Vec<_> =
            (0..256).map(|thread| Touch::new(Load, 0x10_0000 + 16 * thread, 16)).collect();
        launch.extend((0..4).map(|group| Touch::new(NStore, 0x10_1000 + 16 * group, 16)));
        launch.sort();
        let exclusive = |word: u64| Touch::new(Store, 0x10_1000 + 4 * word, 0);
        let load = |word: u64| Touch::new(Load, 0x10_1000 + 4 * word, 4);
        let host = (0..16).flat_map(|word| [exclusive(word), load(word)]).collect();
        let steps = steps("reduction", &given);
        assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), [Did::Launch(launch), Did::Host(host)]);
    }

    #[test]
    fn after_a_flush_the_host_just_loads() {
        use super::super::{Parameters, Value, build};
        let given = [("size", Value::Integer(64)), ("sync", Value::Text("flush".to_owned()))];
        let steps = build("reduction", &Parameters::of(&given)).unwrap();
        let host = (0..4).map(|word: u64| Touch::new(Load, 0x10_1000 + 4 * word, 4)).collect();
        assert_eq!(steps[1..].iter().map(did).collect::<Vec<_>>(), [Did::Flush, Did::Host(host)]);
    }
}
