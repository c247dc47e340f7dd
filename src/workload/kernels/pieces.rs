//! A launch in pieces, as programmers divide one whose data do not fit into the memory of a GPU ("`ScaleGPU`", section 4.1).

use std::sync::Arc;

use super::super::footprint::Footprint;
use super::parameter::Values;
use crate::diagnostic::{Diagnostic, Result};
use crate::model::address::Range;
use crate::model::operation::Operation;
use crate::workload::{Kernel, TaskKind};

/// Some blocks of a launch, as a launch of their own: what it touches is what they touch.
#[derive(Debug)]
struct Piece {
    whole: Arc<dyn Kernel>,
    first: u64,
    blocks: u64,
    footprint: Vec<Range>,
}

impl Piece {
    fn new(whole: &Arc<dyn Kernel>, first: u64, blocks: u64) -> Self {
        let mut touched = Footprint::default();
        for block in first..first + blocks {
            for warp in 0..whole.warps_per_block() {
                let operations = (0..).map_while(|index| whole.operation(block, warp, index));
                for operation in operations {
                    let (Operation::Access(access) | Operation::SpinUntil(access, _)) = operation else {
                        continue;
                    };
                    access.lanes.iter().for_each(|(_, at)| touched.add(at.0, u64::from(access.width)));
                }
            }
        }
        Self { whole: whole.clone(), first, blocks, footprint: touched.ranges() }
    }
}

/// Warps whose accesses are looked at for what pieces touch, at most: some seconds.
const MOST_WARPS: u64 = 1 << 22;

/// Refuses to divide so many launches of so many warps if that would take for ever.
pub fn check(values: &Values<'_>, launches: u64, warps: u64) -> Result<()> {
    let all = launches.saturating_mul(warps);
    if all <= MOST_WARPS || values.integer("pieces")? <= 1 {
        return Ok(());
    }
    let message =
        format!("{all} warps are too many to find out what each piece touches: {MOST_WARPS} at most");
    Err(values.complain("pieces", message))
}

/// A step, if it is a launch, in so many launches of as many blocks each; one is the step itself.
pub fn divided(step: TaskKind, pieces: u64) -> Vec<TaskKind> {
    let TaskKind::Kernel(whole) = step else { return vec![step] };
    if pieces <= 1 {
        return vec![TaskKind::Kernel(whole)];
    }
    let blocks = whole.blocks();
    let cut = |piece: u64| (u128::from(blocks) * u128::from(piece) / u128::from(pieces)) as u64;
    let ranges = (0..pieces).map(|piece| (cut(piece), cut(piece + 1))).filter(|(from, to)| from < to);
    ranges.map(|(from, to)| TaskKind::Kernel(Arc::new(Piece::new(&whole, from, to - from)))).collect()
}

/// A step that touches less than its arrays, with what it does touch.
pub fn measured(step: TaskKind) -> TaskKind {
    match step {
        TaskKind::Kernel(whole) => TaskKind::Kernel(Arc::new(Piece::new(&whole, 0, whole.blocks()))),
        other => other,
    }
}

impl Kernel for Piece {
    fn name(&self) -> &str {
        self.whole.name()
    }
    fn blocks(&self) -> u64 {
        self.blocks
    }
    fn warps_per_block(&self) -> u32 {
        self.whole.warps_per_block()
    }
    fn operation(&self, block: u64, warp: u32, index: u64) -> Option<Operation> {
        self.whole.operation(Some(block).filter(|block| *block < self.blocks)? + self.first, warp, index)
    }
    fn footprint(&self) -> Vec<Range> {
        self.footprint.clone()
    }
    fn launch_overhead(&self) -> u64 {
        self.whole.launch_overhead()
    }
    fn only_on(&self) -> Option<u32> {
        self.whole.only_on()
    }
    fn complaint(&self) -> Option<Box<Diagnostic>> {
        self.whole.complaint()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, did, steps};
    use super::*;

    /// Bytes that a step touches.
    fn bytes(step: &TaskKind) -> u64 {
        step.footprint().iter().map(|range| u64::from(range.len)).sum()
    }

    #[test]
    fn pieces_do_together_what_the_whole_does() {
        for (name, given) in [
            ("vector-add", vec![("size", 1000)]),
            ("hotspot", vec![("size", 24), ("edge", 8), ("pyramid", 2), ("iterations", 2)]),
        ] {
            let whole = steps(name, &given);
            let parts = steps(name, &[given.clone(), vec![("pieces", 3)]].concat());
            assert_eq!((whole.len(), parts.len()), (1, 3), "{name}");
            let together = |steps: &[TaskKind]| {
                let of = |step: &TaskKind| match did(step) {
                    Did::Launch(touched) => touched,
                    other => panic!("{other:?}"),
                };
                let mut all: Vec<_> = steps.iter().flat_map(of).collect();
                all.sort();
                all
            };
            assert_eq!(together(&parts), together(&whole), "{name}");
            assert!(parts.iter().all(|part| bytes(part) < bytes(&whole[0])), "{name}");
        }
    }

    /// A launch of one GPU whose operations cannot be read.
    #[derive(Debug)]
    struct Torn;

    impl Kernel for Torn {
        fn name(&self) -> &'static str {
            "torn"
        }
        fn blocks(&self) -> u64 {
            2
        }
        fn warps_per_block(&self) -> u32 {
            1
        }
        fn operation(&self, _: u64, _: u32, _: u64) -> Option<Operation> {
            None
        }
        fn footprint(&self) -> Vec<Range> {
            Vec::new()
        }
        fn launch_overhead(&self) -> u64 {
            0
        }
        fn only_on(&self) -> Option<u32> {
            Some(3)
        }
        fn complaint(&self) -> Option<Box<Diagnostic>> {
            Some(Box::new(Diagnostic::new("the trace is torn")))
        }
    }

    #[test]
    fn a_piece_runs_where_the_whole_does_and_complains_as_it() {
        let parts = divided(TaskKind::Kernel(Arc::new(Torn)), 2);
        assert_eq!(parts.len(), 2);
        for part in parts {
            let TaskKind::Kernel(part) = part else { panic!("no launch") };
            assert_eq!((part.only_on(), part.complaint()), (Torn.only_on(), Torn.complaint()));
        }
    }

    #[test]
    fn a_histogram_is_counted_piece_by_piece() {
        let given = [("size", 4096), ("groups", 4), ("workgroup", 32)];
        let whole = steps("histogram-256", &given);
        let parts = steps("histogram-256", &[&given[..], &[("pieces", 4)]].concat());
        assert_eq!((whole.len(), parts.len()), (2, 5));
        assert!(parts[..4].iter().all(|part| bytes(part) < bytes(&whole[0]) / 2));
    }
}
