//! Mersenne Twister: every thread grows random numbers from a seed of its own.
//!
//! From the algorithm's definition: a state of 128-bit words is filled from one seed, each further word is a function
//! of four words before it, and a Box-Muller transformation turns the words into the numbers stored. The states are
//! private to a thread (registers), so that memory sees one load of a seed and one store a word: thread `g` loads
//! `seeds[g]` and stores `out[factor * g + i]` for `i` below `factor`, all of 16 bytes, as the AMD APP SDK's sample does.
//! Table I's 131,072 x 4 is read as 131,072 seeds and a factor of 4; it could also mean four numbers of a vector.
//!
//! Computes 100 instructions for a word, counted in the definitions: 38 for the recursion, 28 for the Box-Muller transformation,
//! and the share of a word in setting up the state.

use std::sync::Arc;

use super::Definition;
use super::array::Array;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

pub const DEFINITION: Definition = Definition {
    name: "mersenne-twister",
    title: "Random numbers: a load of a seed, then stores that neighbouring lanes make apart from each other",
    source: "the algorithm's definition, with the vectors of AMD APP SDK 2.5; UMH (2016), Table I: 131,072 x 4",
    own: &[
        common::power("size", "seeds of 16 B, one a thread", 131_072, 1 << 34),
        ParameterDefinition {
            name: "factor",
            about: "vectors of four numbers from each seed",
            kind: Kind::Integer { default: 4, least: 1, most: 1024 },
        },
        common::SCALE,
        common::WORKGROUP,
        common::WAVEFRONT,
        common::first("seeds", "the seeds"),
        common::next("output", "the numbers"),
    ],
    shared: &common::computing(100),
    build,
};

/// Bytes of four numbers.
const VECTOR: u64 = 16;

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let size = Scale::read(values)?.of(values.integer("size")?);
    let threads = common::multiple(values, "size", size, 1)?;
    let factor = values.integer("factor")?;
    let workgroup = values.integer("workgroup")?.min(threads);
    let seeds = Array::place(values, "seeds", threads, VECTOR, None)?;
    let output = Array::place(values, "output", threads * factor, VECTOR, Some(&seeds))?;
    let launch = Launch {
        name: DEFINITION.name,
        groups: threads / workgroup,
        workgroup,
        arrays: vec![seeds, output],
        // The words come one after the other, and are stored when all are there.
        script: Script::default()
            .then(1, [Step::Load(0, 0)])
            .then(factor, [Step::Compute(settings.compute)])
            .then(factor, [Step::Store(1, 0)]),
        map: Arc::new(move |at: At| {
            let thread = at.group * workgroup + at.local;
            Some(if at.array == 0 { thread } else { thread * factor + at.round })
        }),
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
        let steps = steps("mersenne-twister", &[("size", 128), ("factor", 3), ("workgroup", 32)]);
        let mut expected = Vec::new();
        for thread in 0..128 {
            expected.push(Touch::new(Load, 0x10_0000 + 16 * thread, 16));
            for i in 0..3 {
                expected.push(Touch::new(NStore, 0x10_1000 + 16 * (3 * thread + i), 16));
            }
        }
        expected.sort();
        assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), [Did::Launch(expected)]);
    }
}
