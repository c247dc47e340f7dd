//! What a programmer knows of a kernel, found out from its instructions: arrays that it only stores to, and stores to whole, need not
//! come before it.

use std::borrow::Cow;
use std::ops::Range;

use crate::model::access::AccessKind;
use crate::model::bits::Bits;
use crate::model::operation::{Operation, WarpAccess};
use crate::workload::{Kernel, Task, TaskKind};

/// The pages of an array, and which of their bytes a task stores.
#[derive(Clone, Debug)]
pub struct Output {
    /// By its number.
    array: usize,
    bytes: Range<u64>,
    stored: Bits,
    is_loaded: bool,
}

impl Output {
    /// None for 4 GiB and more, which are not looked into.
    #[must_use]
    pub fn new(array: usize, bytes: Range<u64>) -> Option<Self> {
        let len = u32::try_from(bytes.end.checked_sub(bytes.start)?).ok()?;
        Some(Self { array, bytes, stored: Bits::new(len), is_loaded: false })
    }

    fn touch(&mut self, kind: AccessKind, bytes: &Range<u64>) {
        if matches!(kind, AccessKind::Load | AccessKind::Atomic(_)) {
            self.is_loaded = true;
            return;
        }
        let place = |byte: u64| u32::try_from(byte.saturating_sub(self.bytes.start)).unwrap_or(u32::MAX);
        self.stored.set_range(place(bytes.start), place(bytes.end), true);
    }

    /// Whether every byte is stored, and none is loaded.
    fn is_overwritten(&self) -> bool {
        !self.is_loaded && self.stored.is_full()
    }
}

/// The numbers of those `outputs`, ascending and apart from each other, that a task overwrites.
#[must_use]
pub fn overwritten(task: &TaskKind, mut outputs: Vec<Output>) -> Vec<usize> {
    match task {
        TaskKind::Program { operations, .. } => {
            let mut next = 0..;
            let listed = std::iter::from_fn(|| operations.at(next.next()?));
            watch(listed, &mut outputs);
        }
        TaskKind::Kernel(kernel) => watch(operations_of(kernel.as_ref()), &mut outputs),
        TaskKind::Flush { .. } => return Vec::new(),
    }
    outputs.iter().filter(|output| output.is_overwritten()).map(|output| output.array).collect()
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
fn watch<'a>(operations: impl Iterator<Item = Cow<'a, Operation>>, outputs: &mut [Output]) {
    let mut left = outputs.len();
    for operation in operations {
        if left == 0 {
            return;
        }
        if let Operation::Access(access) | Operation::SpinUntil(access, _) = operation.as_ref() {
            left -= touch(access, outputs);
        }
    }
}

/// Returns how many of the arrays are loaded for the first time.
fn touch(access: &WarpAccess, outputs: &mut [Output]) -> usize {
    let mut loaded = 0;
    for (_, address) in access.lanes.iter() {
        let bytes = address.0..address.0.saturating_add(u64::from(access.width));
        let first = outputs.partition_point(|output| output.bytes.end <= bytes.start);
        let touched = outputs.iter_mut().skip(first).take_while(|output| output.bytes.start < bytes.end);
        for output in touched.filter(|output| !output.is_loaded) {
            output.touch(access.kind, &bytes);
            loaded += usize::from(output.is_loaded);
        }
    }
    loaded
}

/// Whether a task comes before or after another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passed {
    No,
    Before,
    After,
}

/// Whether a later task may find what was there before an earlier one, though it follows it: a program of another compute unit, since
/// only launches flush what the L1s keep of non-coherent stores.
fn may_miss(task: &TaskKind, later: &TaskKind) -> bool {
    let agent = |task: &TaskKind| match task {
        TaskKind::Program { agent, .. } => Some(agent.clone()),
        _ => None,
    };
    later.is_on_gpu() && agent(later).is_some_and(|own| agent(task) != Some(own))
}

/// The tasks that may see what this one finds: those that neither come before nor after it, and so may run while it does, and of those
/// after it the ones that may still miss what it stored.
#[must_use]
pub fn beside(tasks: &[Task], task: usize) -> Vec<usize> {
    let mut later = vec![Vec::new(); tasks.len()];
    for (number, one) in tasks.iter().enumerate() {
        for before in &one.after {
            if let Some(later) = later.get_mut(*before) {
                later.push(number);
            }
        }
    }
    let mut passed = vec![Passed::No; tasks.len()];
    let mut reach = |way: Passed, next: &dyn Fn(usize) -> Vec<usize>| {
        let mut open = vec![task];
        while let Some(number) = open.pop() {
            for other in next(number) {
                if let Some(seen) = passed.get_mut(other).filter(|seen| **seen == Passed::No) {
                    *seen = way;
                    open.push(other);
                }
            }
        }
    };
    reach(Passed::Before, &|number| tasks.get(number).map(|task| task.after.clone()).unwrap_or_default());
    reach(Passed::After, &|number| later.get(number).cloned().unwrap_or_default());
    let what = |number: usize| tasks.get(number).map(|task| &task.what);
    let misses =
        |other: usize| what(task).zip(what(other)).is_some_and(|(task, later)| may_miss(task, later));
    let is_meant = |(other, is_ordered): &(usize, &Passed)| {
        *other != task && (**is_ordered == Passed::No || **is_ordered == Passed::After && misses(*other))
    };
    passed.iter().enumerate().filter(is_meant).map(|(other, _)| other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::kernels::{self, Parameters, Value};

    fn launch(name: &str, parameters: &[(&str, Value)]) -> TaskKind {
        kernels::build(name, &Parameters::of(parameters)).unwrap().swap_remove(0)
    }

    /// Of the arrays of a kernel, those that it overwrites.
    fn of(task: &TaskKind) -> Vec<usize> {
        let used = task.footprint();
        let outputs = used.iter().enumerate();
        let outputs = outputs.filter_map(|(number, range)| Output::new(number, range.start.0..range.end()));
        overwritten(task, outputs.collect())
    }

    #[test]
    fn what_is_only_stored_to_is_overwritten() {
        // a + b = c.
        let task = launch("vector-add", &[("size", Value::Integer(1000))]);
        assert_eq!(of(&task), [2]);
        // An atomic reads what it adds to.
        assert_eq!(of(&launch("shared-counter", &[])), [0; 0]);
        // A byte more than it stores.
        let sum = task.footprint()[2];
        let longer = Output::new(7, sum.start.0..sum.end() + 1).unwrap();
        assert_eq!(overwritten(&task, vec![longer]), [0; 0]);
    }

    #[test]
    fn bytes_are_told_apart_within_and_across_words() {
        let mut output = Output::new(0, 100..400).unwrap();
        output.touch(AccessKind::NStore, &(90..163));
        output.touch(AccessKind::Store, &(164..500));
        assert!(!output.is_overwritten());
        output.touch(AccessKind::NStore, &(163..164));
        assert!(output.is_overwritten());
        output.touch(AccessKind::Load, &(399..403));
        assert!(!output.is_overwritten());
    }

    #[test]
    fn what_is_ordered_before_or_after_is_not_beside() {
        let task = |after: &[usize]| Task {
            id: "task".into(),
            after: after.to_vec(),
            delay: 0,
            launch: None,
            what: TaskKind::Flush { below: String::new() },
        };
        // 0 < 1 < 3, and 2 only after 0.
        let tasks = [task(&[]), task(&[0]), task(&[0]), task(&[1])];
        assert_eq!([0, 1, 2, 3].map(|number| beside(&tasks, number)), [vec![], vec![2], vec![1, 3], vec![2]]);
    }
}
