//! Histogram of bytes: workgroups stride through all of the data together, then a workgroup for each bin adds up.
//!
//! Map (CUDA samples, `histogram256.cu`), with g workgroups of w threads:
//! - `histogram256Kernel`: thread t of group b loads the words w b + t, then each w g further; counts in local memory; stores
//!   `partial[256 b + t]`, then each w further below 256;
//! - `mergeHistogram256Kernel`, a group for each bin b: thread t loads `partial[b + 256 t]`, then each `merge` threads further below 256 g; thread 0
//!   stores `histogram[b]`.
//!
//! Counting in local memory, with atomics, is modelled as cycles.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use super::pieces::measured;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions for a word: six shifts and masks that take it apart, four places and atomics in local memory, the address, and three of the
/// loop.
const WORD: u64 = 18;
/// For clearing: eight words in local memory, their place and that of the warp's counts, the thread's first word and its stride. It comes
/// before the first barrier; it is counted before the second.
const CLEAR: u64 = 13;
/// For a bin: the counts of six warps, their place and five additions, index and address, and three of the loop.
const BIN: u64 = 17;
/// For a count of a workgroup: index, address, addition, and three of the loop.
const PART: u64 = 6;
/// For the sum of a thread: its place in local memory, and there it is written.
const KEEP: u64 = 2;
/// For a level of the tree: comparison and branch, two sums that are read, their addition, and the sum that is written.
const LEVEL: u64 = 6;
/// For the end: comparison and branch, the sum that is read, and the address.
const END: u64 = 4;

pub const DEFINITION: Definition = Definition {
    name: "histogram-256",
    title: "Counting bytes: all workgroups stride through all of the data, then everything goes to everyone",
    source: "CUDA samples, histogram256.cu: 64 MiB, 240 workgroups of 192 threads",
    own: &[
        common::count("size", "words of the data", 16_777_216, 1 << 40),
        common::count("groups", "workgroups that count", 240, 1 << 20),
        ParameterDefinition {
            name: "workgroup",
            about: "threads of each",
            kind: Kind::Integer { default: 192, least: 1, most: 1024 },
        },
        common::power("bins", "values that are counted", 256, 1 << 16),
        common::power("merge", "threads of a workgroup that adds up", 256, 1024),
        common::SCALE,
        common::WARP,
        common::PIECES,
        common::first("data", "the bytes, as words"),
        common::next("partial", "the counts of each workgroup, words"),
        common::next("histogram", "the sums"),
    ],
    shared: &common::computing_cuda(WORD),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let size = common::multiple(values, "size", Scale::read(values)?.of(values.integer("size")?), 1)?;
    let (groups, workgroup) = (values.integer("groups")?, values.integer("workgroup")?);
    let (bins, merge) = (values.integer("bins")?, values.integer("merge")?);
    let mut layout = Layout::new(values);
    let data = layout.array("data", size, 4)?;
    let partial = layout.array("partial", groups * bins, 4)?;
    let histogram = layout.array("histogram", bins, 4)?;
    let threads = groups * workgroup;
    let compute = |instructions| Step::Compute(settings.share(instructions, WORD));
    let pieces = values.integer("pieces")?;
    let count = |piece: u64| {
        let (from, to) = (size * piece / pieces, size * (piece + 1) / pieces);
        // Later pieces add to the counts of those before.
        let before = (piece > 0).then_some(Step::Load(1, 0));
        let end = before.into_iter().chain([compute(BIN), Step::Store(1, 0)]);
        Launch {
            name: "histogram256Kernel",
            groups,
            workgroup,
            arrays: vec![data, partial],
            script: Script::default()
                .then(1, [Step::Barrier])
                .then((to - from).div_ceil(threads), [Step::Load(0, 0), compute(WORD)])
                .then(1, [compute(CLEAR), Step::Barrier])
                .then(bins.div_ceil(workgroup), end),
            map: Arc::new(move |at: At| {
                if at.array == 0 {
                    return Some(from + at.thread(workgroup) + threads * at.round).filter(|word| *word < to);
                }
                let bin = Some(at.local + workgroup * at.round).filter(|bin| *bin < bins)?;
                Some(bins * at.group + bin)
            }),
            settings,
        }
    };
    let sum = Launch {
        name: "mergeHistogram256Kernel",
        groups: bins,
        workgroup: merge,
        arrays: vec![partial, histogram],
        script: Script::default()
            .then(groups.div_ceil(merge), [Step::Load(0, 0), compute(PART)])
            .then(1, [compute(KEEP)])
            .then(u64::from(merge.trailing_zeros()), [Step::Barrier, compute(LEVEL)])
            .then(1, [compute(END), Step::Store(1, 0)]),
        map: Arc::new(move |at: At| {
            if at.array == 1 {
                return (at.local == 0).then_some(at.group);
            }
            let counted = Some(at.local + merge * at.round).filter(|group| *group < groups)?;
            Some(at.group + bins * counted)
        }),
        settings,
    };
    let counted = (0..pieces).map(|piece| match pieces {
        1 => count(piece).step(),
        _ => measured(count(piece).step()),
    });
    Ok(counted.chain([sum.step()]).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn all_stride_then_each_bin_is_added_up() {
        let given = [
            ("size", 200),
            ("scale", 2),
            ("groups", 5),
            ("workgroup", 6),
            ("bins", 8),
            ("merge", 4),
            ("wavefront", 4),
        ];
        let [data, partial, histogram] = bases([400, 160, 32]);
        let (mut count, mut merge) = (Plain::default(), Plain::default());
        for (b, t) in (0..5).flat_map(|b| (0..6).map(move |t| (b, t))) {
            (6 * b + t..100).step_by(30).for_each(|pos| count.load(data, pos, 4));
            (t..8).step_by(6).for_each(|bin| count.store(partial, 8 * b + bin, 4));
        }
        for bin in 0..8 {
            (0..5).for_each(|i| merge.load(partial, bin + 8 * i, 4));
            merge.store(histogram, bin, 4);
        }
        assert_eq!(
            steps("histogram-256", &given).iter().map(did).collect::<Vec<_>>(),
            [count.launch(), merge.launch()]
        );
    }
}
