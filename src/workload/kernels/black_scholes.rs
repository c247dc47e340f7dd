//! Black-Scholes option pricing: every thread reads four random numbers and writes four call and four put prices.
//!
//! Map (AMD APP SDK 2.5, `BlackScholes_Kernels.cl`): thread `g` loads `rand[g]` and stores `call[g]` and `put[g]`, each
//! a vector of four floats. The source numbers its threads in two dimensions, rows of the grid one after the other,
//! which comes to the same. Not modelled: the arithmetic, other than as cycles.
//!
//! Computes 530 instructions for four options, counted in the source: one for a sum, product, comparison or root, two for a
//! logarithm or an exponential, six for a quotient; the distribution function is taken four times for each option.

use std::sync::Arc;

use super::Definition;
use super::array::Array;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

pub const DEFINITION: Definition = Definition {
    name: "black-scholes",
    title: "Option pricing: one stream in, two out, nothing used twice",
    source: "AMD APP SDK 2.5, BlackScholes_Kernels.cl; UMH (2016), Table I: 2,097,152",
    own: &[
        common::power("size", "options", 2_097_152, 1 << 34),
        common::SCALE,
        common::WORKGROUP,
        common::WAVEFRONT,
        common::first("rand", "random numbers, an input"),
        common::next("call", "call prices"),
        common::next("put", "put prices"),
    ],
    shared: &common::computing(530),
    build,
};

/// Options of a thread.
const VECTOR: u64 = 4;

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let size = Scale::read(values)?.of(values.integer("size")?);
    let threads = common::multiple(values, "size", size, VECTOR)? / VECTOR;
    let workgroup = values.integer("workgroup")?.min(threads);
    let rand = Array::place(values, "rand", threads, 4 * VECTOR, None)?;
    let call = Array::place(values, "call", threads, 4 * VECTOR, Some(&rand))?;
    let put = Array::place(values, "put", threads, 4 * VECTOR, Some(&call))?;
    let launch = Launch {
        name: DEFINITION.name,
        groups: threads / workgroup,
        workgroup,
        arrays: vec![rand, call, put],
        script: Script::default().then(
            1,
            [Step::Load(0, 0), Step::Compute(settings.compute), Step::Store(1, 0), Step::Store(2, 0)],
        ),
        map: Arc::new(move |at: At| Some(at.group * workgroup + at.local)),
        settings,
    };
    Ok(vec![launch.step()])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Touch, did, steps};
    use crate::model::access::AccessKind::{Load, NStore};

    #[test]
    fn every_thread_touches_what_the_map_says() {
        let steps =
            steps("black-scholes", &[("size", 1024), ("scale", 2), ("workgroup", 32), ("wavefront", 16)]);
        let mut expected = Vec::new();
        for thread in 0..512 / 4 {
            expected.push(Touch::new(Load, 0x10_0000 + 16 * thread, 16));
            expected.push(Touch::new(NStore, 0x10_1000 + 16 * thread, 16));
            expected.push(Touch::new(NStore, 0x10_2000 + 16 * thread, 16));
        }
        expected.sort();
        assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), [Did::Launch(expected)]);
    }
}
