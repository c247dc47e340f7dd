//! Bulk copies: the memories of GPUs get their data from the host before the tasks that need them, and the host gets them back
//! ("UMH", sections 1 and 3.1.2, Fig. 1 and 3). Who decides what is copied is a [`CopyPolicy`]; a copy engine of each GPU moves it, page
//! by page, over the memories at both ends and the link between them.

mod count;
mod moves;
mod need;
#[cfg(test)]
mod tests;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::Machine;
use crate::model::address::{Address, Range};
use crate::model::page::{Page, PageRun};
use crate::model::time::Tick;
use crate::parts::copy_engine::Engine;
use crate::policy::copies::{CopyPolicy, Side, Signals};
use crate::protocol::homes::Homes;
use crate::protocol::outbox::Outbox;
use crate::workload::{Task, TaskKind};
use count::Counts;
pub use count::Moved;
use need::Output;

/// An array of the work: what a programmer copies with one memcpy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Array {
    pub pages: PageRun,
    /// Whether each side has it as it was last written.
    at_host: bool,
    at_gpu: bool,
    /// Memory of the GPUs is set aside for it.
    has_room: bool,
    /// The number of the transfer or task that concerned it last.
    used: u64,
}

impl Array {
    fn is_at(&self, side: Side) -> bool {
        match side {
            Side::Host => self.at_host,
            Side::Gpu => self.at_gpu,
        }
    }

    fn set(&mut self, side: Side, is_there: bool) {
        match side {
            Side::Host => self.at_host = is_there,
            Side::Gpu => self.at_gpu = is_there,
        }
    }
}

/// What is being copied.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Transfer {
    to: Side,
    /// By their number.
    arrays: Vec<usize>,
    /// Those of them that the side they come from has stored to meanwhile, ascending: what has come is old already.
    outrun: Vec<usize>,
    /// Pages that have not come.
    left: u64,
    began: Tick,
}

impl Transfer {
    /// A side stores to an array.
    fn note_store(&mut self, by: Side, number: usize) {
        if by != self.to
            && self.arrays.binary_search(&number).is_ok()
            && let Err(place) = self.outrun.binary_search(&number)
        {
            self.outrun.insert(place, number);
        }
    }

    /// Whether one of these arrays, by their numbers, is among what is copied.
    fn concerns(&self, arrays: &[usize]) -> bool {
        self.arrays.iter().any(|number| arrays.binary_search(number).is_ok())
    }
}

/// What happens to arrays before a task, by their numbers, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Plan {
    /// Those that it waits for.
    wanted: Vec<usize>,
    /// Those that it overwrites, so that they need not come.
    overwritten: Vec<usize>,
}

impl Plan {
    /// Those that there must be room for.
    fn placed(&self) -> Vec<usize> {
        let mut all = [self.wanted.as_slice(), &self.overwritten].concat();
        all.sort_unstable();
        all
    }
}

/// What does not change.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Bytes of a page.
    pub page: u32,
    /// Pages that fit into the memories of all GPUs.
    pub frames: u64,
    /// Caches in which lines of what is copied may be, by index among the nodes: those nearest to the cores first.
    pub caches: Vec<usize>,
    /// Of each agent, whether it is one of a GPU.
    pub units: Vec<bool>,
}

/// Copies between the host and all GPUs.
#[derive(Clone, Debug)]
pub struct Copies {
    policy: CopyPolicy,
    /// Ascending.
    arrays: Vec<Array>,
    engines: Vec<Engine>,
    shape: Arc<Shape>,
    transfer: Option<Transfer>,
    /// Tasks that wait for copies.
    held: Vec<usize>,
    /// How often a task has asked for its data.
    asked: u64,
    /// What was copied, and what for. Nothing depends on it: no part of the digest.
    counts: Counts,
    /// The arrays that tasks overwrite, by their number, as far as that was asked: it follows from the work, and is no part of the digest.
    outputs: BTreeMap<usize, Arc<[usize]>>,
}

impl Copies {
    #[must_use]
    pub fn new(
        policy: CopyPolicy,
        start: Side,
        arrays: &[PageRun],
        engines: Vec<Engine>,
        shape: Shape,
    ) -> Self {
        let place = |pages: &PageRun| {
            let (at_host, at_gpu) = (start == Side::Host, start == Side::Gpu);
            Array { pages: *pages, at_host, at_gpu, has_room: at_gpu, used: 0 }
        };
        Self {
            policy,
            arrays: arrays.iter().map(place).collect(),
            engines,
            shape: Arc::new(shape),
            transfer: None,
            held: Vec::new(),
            asked: 0,
            counts: Counts::default(),
            outputs: BTreeMap::new(),
        }
    }

    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.transfer.is_none() && self.held.is_empty()
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (&self.arrays, &self.transfer, &self.held, self.asked).hash(hasher);
        self.engines.iter().for_each(|engine| engine.digest(hasher));
    }

    /// The number of the array that holds a page.
    fn array_of(&self, page: Page) -> Option<usize> {
        let after = self.arrays.partition_point(|array| array.pages.first <= page);
        let index = after.checked_sub(1)?;
        self.arrays.get(index).filter(|array| array.pages.contains(page)).map(|_| index)
    }

    /// The arrays that must come to a side for who needs these.
    fn wanted(&self, side: Side, needed: &[usize]) -> Vec<usize> {
        let arrays = self.arrays.iter().enumerate();
        let wanted = arrays.filter(|(number, array)| {
            let is_needed = needed.binary_search(number).is_ok();
            self.policy.copies(Signals { to: side, is_needed, is_up_to_date: array.is_at(side) })
        });
        wanted.map(|(number, _)| number).collect()
    }

    /// What a task on `side` that uses these arrays waits for, and what it overwrites instead.
    fn plan(&mut self, side: Side, (tasks, task): (&[Task], usize), used: &[usize]) -> Plan {
        let old = self.wanted(side, used);
        let copies_the_unneeded = self.policy.copies(Signals { to: side, ..Signals::default() });
        if old.is_empty() || copies_the_unneeded {
            return Plan { wanted: old, overwritten: Vec::new() };
        }
        let outputs = match self.outputs.get(&task) {
            Some(known) => known.clone(),
            None => self.outputs_of(tasks, task, used),
        };
        let (overwritten, wanted) = old.into_iter().partition(|number| outputs.binary_search(number).is_ok());
        Plan { wanted, overwritten }
    }

    /// The arrays that a task overwrites, of those that it uses, and that nobody uses beside it.
    fn outputs_of(&mut self, tasks: &[Task], task: usize, used: &[usize]) -> Arc<[usize]> {
        let beside = need::beside(tasks, task);
        let others = beside.iter().filter_map(|other| tasks.get(*other));
        let others: BTreeSet<usize> = others.flat_map(|other| self.arrays_of(&other.what)).collect();
        let output = |number: &usize| {
            let pages = self.arrays.get(*number).filter(|_| !others.contains(number))?.pages;
            let [start, end] = [pages.first, pages.end()].map(|page| page.range(self.shape.page).start.0);
            Output::new(*number, start..end)
        };
        let outputs: Vec<Output> = used.iter().filter_map(output).collect();
        let found: Arc<[usize]> =
            tasks.get(task).map(|task| need::overwritten(&task.what, outputs)).unwrap_or_default().into();
        self.outputs.insert(task, found.clone());
        found
    }

    /// The arrays that a task uses, ascending.
    fn arrays_of(&self, what: &TaskKind) -> Vec<usize> {
        let mut used: Vec<usize> = Vec::new();
        for range in what.footprint() {
            let run = PageRun::of(range, self.shape.page);
            let first = self.arrays.partition_point(|array| array.pages.end() <= run.first);
            let rest = self.arrays.iter().enumerate().skip(first);
            let touched = rest.take_while(|(_, array)| array.pages.first < run.end());
            used.extend(touched.map(|(number, _)| number));
        }
        used.sort_unstable();
        used.dedup();
        used
    }

    /// Whether a task on a GPU that runs uses one of these arrays.
    fn is_used(&self, arrays: &[usize], running: &[&TaskKind]) -> bool {
        let on_gpus = running.iter().filter(|what| what.is_on_gpu());
        !arrays.is_empty()
            && on_gpus
                .flat_map(|what| self.arrays_of(what))
                .any(|number| arrays.binary_search(&number).is_ok())
    }

    /// There is more work: what was alone may have another beside it.
    pub(super) fn forget_outputs(&mut self) {
        self.outputs.clear();
    }

    /// A task begins to overwrite arrays: what a side has of them counts from here on.
    fn take_over(&mut self, side: Side, arrays: &[usize]) {
        for number in arrays {
            if let Some(array) = self.arrays.get_mut(*number) {
                array.set(side, true);
                array.has_room |= side == Side::Gpu;
            }
        }
    }

    /// Pages that the memories of the GPUs must hold to have `wanted` beside what is there.
    fn room_needed(&self, wanted: &[usize]) -> u64 {
        let counts = |array: (usize, &Array)| {
            let (number, array) = array;
            (array.has_room || wanted.binary_search(&number).is_ok()).then_some(array.pages.count)
        };
        self.arrays.iter().enumerate().filter_map(counts).sum()
    }

    /// Makes room in the memories of the GPUs for `wanted`: arrays that are not `used` lose theirs, the one that was used longest ago
    /// first. Returns those that have to go to the host before.
    fn make_room(&mut self, wanted: &[usize], used: &[usize]) -> Vec<usize> {
        self.asked += 1;
        for number in used {
            if let Some(array) = self.arrays.get_mut(*number) {
                array.used = self.asked;
            }
        }
        let is_kept =
            |number: &usize| used.binary_search(number).is_ok() || wanted.binary_search(number).is_ok();
        let mut needed = self.room_needed(wanted);
        let mut others: Vec<usize> = (0..self.arrays.len()).filter(|number| !is_kept(number)).collect();
        others.sort_by_key(|number| self.arrays.get(*number).map(|array| array.used));
        let mut dirty = Vec::new();
        for number in others {
            if needed <= self.shape.frames {
                break;
            }
            let Some(array) = self.arrays.get_mut(number).filter(|array| array.has_room) else { continue };
            needed -= array.pages.count;
            if array.at_host {
                (array.has_room, array.at_gpu) = (false, false);
            } else {
                dirty.push(number);
            }
        }
        dirty.sort_unstable();
        dirty
    }

    /// Whether host memory has the bytes of an address as they were last written.
    pub(super) fn is_at_host(&self, address: Address) -> bool {
        self.array_of(Page::of(address, self.shape.page))
            .and_then(|number| self.arrays.get(number))
            .is_none_or(|array| array.at_host)
    }
}

impl Machine {
    /// Whether a task that is to start has to wait until its data are where it runs; they are on their way then.
    pub(super) fn copied_first(&mut self, task: usize, out: &mut Outbox) -> bool {
        if self.copies.is_none() {
            return false;
        }
        let tasks = self.tasks.workload.clone();
        let running: Vec<&TaskKind> = self.tasks.running(&tasks).collect();
        let is_gpu_working = running.iter().any(|what| what.is_on_gpu());
        let (Some(copies), Some(what)) = (self.copies.as_mut(), tasks.tasks.get(task).map(|task| &task.what))
        else {
            return false;
        };
        let side = if what.is_on_gpu() { Side::Gpu } else { Side::Host };
        let used = copies.arrays_of(what);
        let plan = copies.plan(side, (&tasks.tasks, task), &used);
        let placed = plan.placed();
        // What is on its way must not be stored to before it has come.
        let is_moving = copies.transfer.as_ref().is_some_and(|transfer| transfer.concerns(&used));
        if placed.is_empty() && !is_moving {
            return false;
        }
        let is_crowded = side == Side::Gpu && copies.room_needed(&placed) > copies.shape.frames;
        // What GPUs are still writing can only be copied when they have ended, and what they use keeps its room so long.
        let is_free =
            !is_gpu_working || side == Side::Gpu && !is_crowded && !copies.is_used(&plan.wanted, &running);
        // A runtime takes all that the host has, whoever works on it.
        let is_host_working = side == Side::Gpu
            && !copies.policy.trusts_source()
            && running.iter().any(|what| matches!(what, TaskKind::Program { .. }) && !what.is_on_gpu());
        if copies.transfer.is_some() || !is_free || is_host_working {
            copies.held.push(task);
            return true;
        }
        let dirty = if side == Side::Gpu { copies.make_room(&placed, &used) } else { Vec::new() };
        if dirty.is_empty() && plan.wanted.is_empty() {
            copies.take_over(side, &plan.overwritten);
            return false;
        }
        copies.held.push(task);
        let (to, arrays) = if dirty.is_empty() { (side, plan.wanted) } else { (Side::Host, dirty) };
        self.begin_copy(to, arrays, out);
        true
    }

    pub(super) fn is_gpu_working(&self) -> bool {
        self.tasks.running(&self.tasks.workload).any(TaskKind::is_on_gpu)
    }

    /// A task has ended: those that were held may go on, and after the last one the host gets what GPUs have written.
    pub(super) fn copies_after(&mut self, out: &mut Outbox) {
        let Some(copies) = self.copies.as_ref().filter(|copies| copies.transfer.is_none()) else { return };
        if !copies.held.is_empty() {
            self.try_held();
        } else if self.tasks.all_ended() {
            let all: Vec<usize> = (0..copies.arrays.len()).collect();
            let wanted = copies.wanted(Side::Host, &all);
            if !wanted.is_empty() {
                self.begin_copy(Side::Host, wanted, out);
            }
        }
    }

    fn try_held(&mut self) {
        let now = self.now;
        let Some(copies) = self.copies.as_mut() else { return };
        for task in std::mem::take(&mut copies.held) {
            self.queue.push(now, super::queue::Event::Task(task as u32));
        }
    }

    /// An access begins: whoever writes makes the copy of the other side old.
    pub(super) fn touch_copies(&mut self, agent: usize, range: Range, writes: bool) {
        let Some(copies) = self.copies.as_mut() else { return };
        let page = Page::of(range.start, copies.shape.page);
        let is_gpu = copies.shape.units.get(agent).copied().unwrap_or(false);
        copies.counts.touch(page, is_gpu, writes);
        if !writes || range.len == 0 {
            return;
        }
        let by = if is_gpu { Side::Gpu } else { Side::Host };
        let Some(number) = copies.array_of(page) else { return };
        if let Some(transfer) = &mut copies.transfer {
            transfer.note_store(by, number);
        }
        // What is old already stays old, whoever writes into it.
        if let Some(array) = copies.arrays.get_mut(number).filter(|array| array.is_at(by)) {
            array.set(by.other(), false);
        }
    }

    /// The memory of `side` for an address.
    fn memory_on(&self, side: Side, address: Address, homes: &Homes) -> Option<usize> {
        match side {
            Side::Host => self.host_memory(address),
            Side::Gpu => self.home_memory(address, homes),
        }
    }
}

#[cfg(test)]
mod array_tests {
    use super::*;
    use crate::machine::sample::touching_everything;

    #[test]
    fn the_arrays_of_a_task_are_found_without_its_pages() {
        let run = |first, count| PageRun { first: Page(first), count };
        let arrays = [run(1, 2), run(3, 1), run(1 << 30, 1 << 30), run(1 << 41, 1)];
        let shape = Shape { page: 4096, frames: 0, caches: Vec::new(), units: Vec::new() };
        let copies = Copies::new(CopyPolicy::default(), Side::default(), &arrays, Vec::new(), shape);
        // So many pages that nobody could look at each.
        assert_eq!(copies.arrays_of(&touching_everything()), [0, 1, 2]);
    }
}
