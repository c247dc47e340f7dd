//! What a programmer knows of a kernel, found out from its instructions: arrays that it only stores to, and stores to whole, need not
//! come before it.

use std::borrow::Cow;

use crate::model::access::AccessKind;
use crate::model::address::Range;
use crate::model::operation::{Operation, WarpAccess};
use crate::workload::{Kernel, TaskKind};

/// Bytes of an array that a task stores.
#[derive(Clone, Debug)]
pub struct Output {
    /// By its number.
    pub array: usize,
    start: u64,
    end: u64,
    /// A bit for each byte that is stored.
    stored: Vec<u64>,
    is_loaded: bool,
}

/// The bits of word `word` that stand for `[from, end)`.
fn mask(word: u64, from: u64, end: u64) -> u64 {
    let low = from.saturating_sub(word * 64).min(64);
    let high = end.saturating_sub(word * 64).min(64);
    let up_to = |bits: u64| 1u64.checked_shl(bits as u32).map_or(!0, |bit| bit - 1);
    up_to(high) & !up_to(low)
}

impl Output {
    #[must_use]
    pub fn new(array: usize, start: u64, end: u64) -> Self {
        let words = end.saturating_sub(start).div_ceil(64) as usize;
        Self { array, start, end, stored: vec![0; words], is_loaded: false }
    }

    /// The part of `[start, end)` in it, counted from its start.
    fn part(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let (start, end) = (start.max(self.start), end.min(self.end));
        (start < end).then(|| (start - self.start, end - self.start))
    }

    fn touch(&mut self, kind: AccessKind, start: u64, end: u64) {
        let Some((from, end)) = self.part(start, end) else { return };
        if matches!(kind, AccessKind::Load | AccessKind::Atomic(_)) {
            self.is_loaded = true;
            return;
        }
        for word in from / 64..=(end - 1) / 64 {
            if let Some(bits) = self.stored.get_mut(word as usize) {
                *bits |= mask(word, from, end);
            }
        }
    }

    /// Whether all of what is used of it is stored, and nothing of it is loaded.
    fn is_overwritten(&self, used: &[Range]) -> bool {
        let is_stored = |range: &Range| {
            let Some((from, end)) = self.part(range.start.0, range.end()) else { return true };
            (from / 64..=(end - 1) / 64).all(|word| {
                let wanted = mask(word, from, end);
                self.stored.get(word as usize).is_some_and(|bits| bits & wanted == wanted)
            })
        };
        !self.is_loaded && used.iter().all(is_stored)
    }
}

/// The numbers of those `outputs` that a task overwrites, ascending, if `used` is what anybody uses of the memory.
#[must_use]
pub fn overwritten(task: &TaskKind, mut outputs: Vec<Output>, used: &[Range]) -> Vec<usize> {
    match task {
        TaskKind::Program { operations, .. } => {
            let mut next = 0..;
            let listed = std::iter::from_fn(|| operations.at(next.next()?));
            watch(listed, &mut outputs);
        }
        TaskKind::Kernel(kernel) => watch(operations_of(kernel.as_ref()), &mut outputs),
        TaskKind::Flush { .. } => return Vec::new(),
    }
    outputs.iter().filter(|output| output.is_overwritten(used)).map(|output| output.array).collect()
}

/// All that the warps of a kernel do.
fn operations_of(kernel: &dyn Kernel) -> impl Iterator<Item = Cow<'_, Operation>> {
    let warps =
        (0..kernel.blocks()).flat_map(|block| (0..kernel.warps_per_block()).map(move |warp| (block, warp)));
    warps.flat_map(move |(block, warp)| {
        let mut next = 0..;
        std::iter::from_fn(move || kernel.operation(block, warp, next.next()?).map(Cow::Owned))
    })
}

/// Goes on as long as one of the arrays may turn out to be overwritten.
fn watch<'a>(operations: impl Iterator<Item = Cow<'a, Operation>>, outputs: &mut Vec<Output>) {
    for operation in operations {
        let (Operation::Access(access) | Operation::SpinUntil(access, _)) = operation.as_ref() else {
            continue;
        };
        touch(access, outputs);
        outputs.retain(|output| !output.is_loaded);
        if outputs.is_empty() {
            return;
        }
    }
}

fn touch(access: &WarpAccess, outputs: &mut [Output]) {
    let width = u64::from(access.width);
    for (_, address) in access.lanes.iter() {
        for output in outputs.iter_mut() {
            output.touch(access.kind, address.0, address.0.saturating_add(width));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::address::Address;
    use crate::workload::kernels::{self, Parameters, Value};

    fn launch(name: &str, parameters: &[(&str, Value)]) -> TaskKind {
        kernels::build(name, &Parameters::of(parameters)).unwrap().swap_remove(0)
    }

    /// Of the arrays of a kernel, those that it overwrites.
    fn of(task: &TaskKind) -> Vec<usize> {
        let used = task.footprint();
        let outputs = used.iter().enumerate();
        let outputs = outputs.map(|(number, range)| Output::new(number, range.start.0, range.end()));
        overwritten(task, outputs.collect(), &used)
    }

    #[test]
    fn what_is_only_stored_to_is_overwritten() {
        // a + b = c.
        assert_eq!(of(&launch("vector-add", &[("size", Value::Integer(1000))])), [2]);
        // Partial sums are stored, and the counters read that they are added to.
        assert_eq!(of(&launch("shared-counter", &[])), [0; 0]);
    }

    #[test]
    fn what_keeps_a_byte_is_not_overwritten() {
        let task = launch("vector-add", &[("size", Value::Integer(1000))]);
        let used = task.footprint();
        let sum = used[2];
        let output = || vec![Output::new(7, sum.start.0, sum.end())];
        assert_eq!(overwritten(&task, output(), &used), [7]);
        // Another task uses a byte more of the array.
        let longer = Range::new(sum.start, sum.len + 1);
        let output = || vec![Output::new(7, sum.start.0, sum.end() + 1)];
        assert_eq!(overwritten(&task, output(), &used), [7]);
        assert_eq!(overwritten(&task, output(), &[longer]), [0; 0]);
    }

    #[test]
    fn bytes_are_told_apart_within_and_across_words() {
        let mut output = Output::new(0, 100, 400);
        let used = |start, len| [Range::new(Address(start), len)];
        output.touch(AccessKind::NStore, 90, 163);
        output.touch(AccessKind::Store, 164, 500);
        assert!(output.is_overwritten(&used(100, 63)) && output.is_overwritten(&used(164, 236)));
        assert!(!output.is_overwritten(&used(100, 64)) && !output.is_overwritten(&used(163, 1)));
        output.touch(AccessKind::NStore, 163, 164);
        assert!(output.is_overwritten(&used(0, 1000)));
        output.touch(AccessKind::Load, 399, 403);
        assert!(!output.is_overwritten(&used(100, 63)));
    }
}
