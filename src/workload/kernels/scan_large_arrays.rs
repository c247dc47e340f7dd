//! Prefix sums of a large array: those of blocks, then of the blocks' sums, which are then added to the blocks.
//!
//! Map (AMD APP SDK 2.5, `ScanLargeArrays_Kernels.cl` and `ScanLargeArrays.cpp`), with blocks of B elements. The host launches
//! - `ScanLargeArrays` for each level but the last: thread `g`, in groups of B / 2, loads `in[2g]` and `in[2g + 1]`, stores the
//!   block's sum (all threads of the group do, to the same word), and stores `out[2g]` and `out[2g + 1]`. The sums are the
//!   elements of the next level; the last level fits in a block;
//! - `prefixSum` on the last level, in one group: likewise, but without a sum;
//! - `blockAddition` for each level but the last, backwards: thread 0 of a group of B loads what comes before its block,
//!   then every thread loads its element and stores it.
//!
//! The host touches no data between launches. Trees in local memory are cycles, with a barrier at each level.
//!
//! Computes six instructions on the way up a level, down one, and in an addition, counted in the source.

use std::sync::Arc;

use super::Definition;
use super::array::Array;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Map, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

pub const DEFINITION: Definition = Definition {
    name: "scan-large-arrays",
    title: "Prefix sums, level by level up and down; all threads of a group store its sum to the same word",
    source: "AMD APP SDK 2.5, ScanLargeArrays_Kernels.cl; UMH (2016), Table I: 2,097,152",
    own: &[
        common::power("size", "elements", 2_097_152, 1 << 34),
        common::SCALE,
        ParameterDefinition {
            name: "block",
            about: "elements of a block; a workgroup scans one with half as many threads",
            kind: Kind::PowerOfTwo { default: 256, most: 1024 },
        },
        common::WAVEFRONT,
        common::first("input", "the elements, floats"),
        common::next("output", "their prefix sums, and on further pages those of the sums"),
        common::next("sums", "the sums of the blocks, level by level on pages of their own"),
    ],
    shared: &common::computing(6),
    build,
};

/// Levels begin at a multiple of so many elements: a page.
const PAGE: u64 = 1024;

/// The elements of a level, and their prefix sums.
#[derive(Clone, Copy)]
struct Level {
    count: u64,
    input: Array,
    output: Array,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let size = Scale::read(values)?.of(values.integer("size")?);
    let size = common::multiple(values, "size", size, 2)?;
    let block = common::multiple(values, "block", values.integer("block")?, 2)?;
    let mut counts = vec![size];
    counts.extend(std::iter::successors(below(size, block), |count| below(*count, block)));
    let paged = |counts: &[u64]| counts.iter().map(|count| count.next_multiple_of(PAGE)).sum::<u64>();
    let input = Array::place(values, "input", size, 4, None)?;
    let output = Array::place(values, "output", paged(&counts), 4, Some(&input))?;
    let sums = Array::place(values, "sums", paged(&counts), 4, Some(&output))?;
    let levels = counts.iter().enumerate().map(|(level, &count)| Level {
        count,
        input: if level == 0 { input } else { sums.part(paged(&counts[1..level]), count) },
        output: output.part(paged(&counts[..level]), count),
    });
    let levels: Vec<_> = levels.collect();
    let up = levels.windows(2).map(|pair| scan(settings, block, pair[0], Some(pair[1].input)));
    let top = levels.last().map(|level| scan(settings, block, *level, None));
    let down = levels.windows(2).rev().map(|pair| addition(settings, block, pair[1].output, pair[0]));
    Ok(up.chain(top).chain(down).map(Launch::step).collect())
}

/// Blocks of a level that does not fit in one.
fn below(count: u64, block: u64) -> Option<u64> {
    (count > block).then(|| count / block)
}

fn launch(
    settings: Settings,
    name: &'static str,
    threads: u64,
    workgroup: u64,
    arrays: Vec<Array>,
    script: Script,
    map: Map,
) -> Launch {
    let groups = threads / workgroup;
    Launch { name, groups, workgroup, arrays, script, map, settings }
}

/// Scans the blocks of a level; their sums, if they are wanted, go to `sums`.
fn scan(settings: Settings, block: u64, level: Level, sums: Option<Array>) -> Launch {
    let workgroup = block.min(level.count) / 2;
    // Up the tree and down again.
    let rungs = 2 * u64::from((2 * workgroup).trailing_zeros());
    let script = Script::default()
        .then(1, [Step::Load(0, 0), Step::Load(0, 1), Step::Barrier])
        .then(rungs, [Step::Compute(settings.compute), Step::Barrier])
        .then(u64::from(sums.is_some()), [Step::Store(2, 0)])
        .then(1, [Step::Store(1, 0), Step::Store(1, 1)]);
    let map = move |at: At| match at.array {
        2 => Some(at.group),
        _ => Some(2 * (at.group * workgroup + at.local) + at.nth),
    };
    let arrays = [level.input, level.output].into_iter().chain(sums).collect();
    launch(settings, "scan", level.count / 2, workgroup, arrays, script, Arc::new(map))
}

/// Adds to each block of a level what comes before it.
fn addition(settings: Settings, block: u64, before: Array, level: Level) -> Launch {
    let compute = Step::Compute(settings.compute);
    let body = [Step::Load(0, 0), Step::Barrier, Step::Load(1, 0), compute, Step::Store(1, 0)];
    let map = move |at: At| match at.array {
        0 => (at.local == 0).then_some(at.group),
        _ => Some(at.group * block + at.local),
    };
    let arrays = vec![before, level.output];
    launch(settings, "addition", level.count, block, arrays, Script::default().then(1, body), Arc::new(map))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Touch, did, steps};
    use crate::model::access::AccessKind::{Load, NStore};

    const INPUT: u64 = 0x10_0000;
    const OUTPUT: [u64; 3] = [0x10_1000, 0x10_2000, 0x10_3000];
    const SUMS: [u64; 2] = [0x10_4000, 0x10_5000];

    fn scan(count: u64, input: u64, output: u64, sums: Option<u64>) -> Did {
        let elements = (0..count)
            .flat_map(|i| [Touch::new(Load, input + 4 * i, 4), Touch::new(NStore, output + 4 * i, 4)]);
        // Each of the two threads of a block of four stores its sum.
        let sum = |thread| Some(Touch::new(NStore, sums? + 4 * (thread / 2), 4));
        let mut all: Vec<_> = elements.chain((0..count / 2).filter_map(sum)).collect();
        all.sort();
        Did::Launch(all)
    }

    fn addition(count: u64, before: u64, output: u64) -> Did {
        let elements = (0..count)
            .flat_map(|i| [Touch::new(Load, output + 4 * i, 4), Touch::new(NStore, output + 4 * i, 4)]);
        let mut all: Vec<_> =
            elements.chain((0..count / 4).map(|block| Touch::new(Load, before + 4 * block, 4))).collect();
        all.sort();
        Did::Launch(all)
    }

    #[test]
    fn levels_are_scanned_up_and_added_down() {
        // 64 elements in blocks of 4: 16 sums, of which there are 4 sums.
        let steps = steps("scan-large-arrays", &[("size", 64), ("block", 4), ("wavefront", 2)]);
        let expected = [
            scan(64, INPUT, OUTPUT[0], Some(SUMS[0])),
            scan(16, SUMS[0], OUTPUT[1], Some(SUMS[1])),
            scan(4, SUMS[1], OUTPUT[2], None),
            addition(16, OUTPUT[2], OUTPUT[1]),
            addition(64, OUTPUT[1], OUTPUT[0]),
        ];
        assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn table_one_has_three_levels() {
        assert_eq!(steps("scan-large-arrays", &[]).len(), 5);
        assert_eq!(steps("scan-large-arrays", &[("size", 256)]).len(), 1);
    }
}
