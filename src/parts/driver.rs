//! The driver on the host that serves the far-faults of a GPU ("Towards High Performance Paged Memory for GPUs",
//! sections 3.1 and 4.1): it is woken by an interrupt, takes what far-faults until its service time is over, fills the
//! transfer set with prefetched pages, and has it moved.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use super::residency::{Place, Residency};
use crate::model::page::{Page, PageSet};
use crate::model::paging::MoveReason;
use crate::model::random::Random;
use crate::model::time::{EventNumber, Since, Tick};
use crate::policy::eviction::Evictor;
use crate::policy::prefetch::{self, Prefetcher};

/// What does not change while a driver lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverConfig {
    /// From the interrupt to the submission of the transfer set: the unloaded time of a far-fault.
    pub service: Tick,
    /// Pages in a transfer set.
    pub set: usize,
    pub prefetcher: Prefetcher,
    pub evictor: Evictor,
    /// Prefetching goes on when GPU memory is full, and evicts (section 5.2).
    pub prefetch_when_full: bool,
    /// Until GPU memory is full for the first time, prefetch as the oracle does and evict nothing (section 5).
    pub precondition: bool,
}

/// A far-fault in the driver's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    pub page: Page,
    pub since: Since,
}

/// A page of a transfer set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Planned {
    pub page: Page,
    pub reason: MoveReason,
    /// Number of the transfer set, from 1; 0 for what is copied.
    pub set: u64,
    /// The event that brought it as far as it is: its far-fault, or for a prefetched page the first of its set; later its order.
    pub because: Option<EventNumber>,
}

/// What the driver wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Take a page out of GPU memory; whether it was prefetched for nothing.
    Evict { page: Page, wasted: bool },
    /// Move a page to the GPU: it has a frame.
    Fetch(Planned),
}

/// How the last transfer set came about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    pub set: u64,
    pub at: Tick,
    /// Pages that have far-faulted.
    pub demanded: Vec<Planned>,
    pub prefetched: usize,
    pub evicted: usize,
    /// Frames that were free before.
    pub free: u64,
    /// Its first far-fault.
    pub because: Option<EventNumber>,
}

/// Pages moved and faults served so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub faults: u64,
    pub demanded: u64,
    pub prefetched: u64,
    /// Moved before the work began.
    pub copied: u64,
    pub used: u64,
    pub wasted: u64,
    pub evicted: u64,
    /// Cores, or another GPU, have taken them back.
    pub taken_back: u64,
    pub copied_back: u64,
    pub written_back: u64,
    /// Pages that were evicted and far-faulted again.
    pub thrashed: u64,
}

/// The driver of one GPU.
#[derive(Clone, Debug)]
pub struct Driver {
    config: DriverConfig,
    pub residency: Residency,
    queue: VecDeque<Fault>,
    /// When the transfer set that gathers is submitted.
    due: Option<Tick>,
    /// Pages of submitted sets that wait for a frame.
    planned: VecDeque<Planned>,
    last: Option<Page>,
    sets: u64,
    /// Order in which an earlier run touched pages, and how far this run has come.
    touched: std::sync::Arc<[Page]>,
    cursor: usize,
    random: Random,
    was_full: bool,
    evicted_once: PageSet,
    /// Those of them that have left since for a core or another GPU: nothing but what is told of them depends on that.
    taken_since: PageSet,
    /// Absent pages that are not prefetched: cores have taken them back, or another GPU has them. They far-fault first.
    apart: PageSet,
    /// Pages in the order in which they were accessed first.
    order: Vec<Page>,
    seen: PageSet,
    pub decision: Decision,
    pub counters: Counters,
}

impl Driver {
    #[must_use]
    pub fn new(
        config: DriverConfig,
        residency: Residency,
        touched: std::sync::Arc<[Page]>,
        seed: u64,
    ) -> Self {
        Self {
            config,
            residency,
            queue: VecDeque::new(),
            due: None,
            planned: VecDeque::new(),
            last: None,
            sets: 0,
            touched,
            cursor: 0,
            random: Random::new(seed),
            was_full: false,
            evicted_once: PageSet::default(),
            taken_since: PageSet::default(),
            apart: PageSet::default(),
            order: Vec::new(),
            seen: PageSet::default(),
            decision: Decision::default(),
            counters: Counters::default(),
        }
    }

    /// A far-fault is raised, whether or not its page is on its way already. One that was to be prefetched is waited for now, and
    /// is not given up for want of a frame.
    pub fn note_fault(&mut self, page: Page) {
        self.counters.faults += 1;
        self.last = Some(page);
        for planned in self.planned.iter_mut().filter(|planned| planned.page == page) {
            planned.reason = MoveReason::Demanded;
        }
        self.residency.await_page(page);
    }

    /// Step 5 of Fig. 4: a far-fault comes into the queue, and the driver is interrupted. Whether the page had been
    /// evicted before.
    pub fn interrupt(&mut self, page: Page, now: Since) -> bool {
        self.residency.allocate(page);
        let thrashes = self.evicted_once.contains(page) && !self.taken_since.contains(page);
        self.counters.thrashed += u64::from(thrashes);
        self.queue.push_back(Fault { page, since: now });
        self.wake(now.tick, true);
        thrashes
    }

    /// Begins to gather a transfer set, if there is anything for one. Where the GPU is at work, prefetching needs no
    /// far-fault.
    pub fn wake(&mut self, now: Tick, is_working: bool) {
        let candidates = self.residency.absent().len() > self.apart.len();
        let prefetches = is_working && self.speculates() && candidates;
        if self.due.is_none() && (!self.queue.is_empty() || prefetches) {
            self.due = Some(now.saturating_add(self.config.service));
        }
    }

    /// Gives up the transfer set that gathers, which nothing has far-faulted for.
    pub fn rest(&mut self) {
        if self.queue.is_empty() {
            self.due = None;
        }
    }

    /// The prefetcher in force.
    #[must_use]
    pub fn prefetcher(&self) -> Prefetcher {
        if self.config.precondition && !self.was_full { Prefetcher::Oracle } else { self.config.prefetcher }
    }

    /// Whether nothing is prefetched any more, though frames may be free: "after the GPU memory reaches capacity we turn off page
    /// prefetching" (section 5.1).
    fn is_off(&self) -> bool {
        self.was_full && !self.config.prefetch_when_full
    }

    /// Whether transfer sets are made without far-faults: as long as that evicts nothing, and nothing has been evicted.
    fn speculates(&self) -> bool {
        self.residency.free() > 0
            && !self.was_full
            && !matches!(self.prefetcher(), Prefetcher::None | Prefetcher::Tree)
    }

    /// When it has something to do next.
    #[must_use]
    pub fn next(&self) -> Option<Tick> {
        self.due
    }

    /// What is due next is not before `later`.
    pub fn postpone(&mut self, later: Tick) {
        self.due = self.due.map(|due| due.max(later));
    }

    /// Submits the transfer set that is due.
    pub fn advance(&mut self, now: Tick) -> Vec<Order> {
        if self.due.is_none_or(|due| due > now) {
            return Vec::new();
        }
        self.due = None;
        let faults = self.demand();
        let demand: Vec<Page> = faults.iter().map(|fault| fault.page).collect();
        let free = self.residency.free();
        let extra = self.prefetch(&demand, free);
        // All that far-faulted is still on its way out: there is no set yet.
        if demand.is_empty() && extra.is_empty() {
            return self.go_on();
        }
        self.sets += 1;
        let because = faults.first().map(|fault| fault.since.event);
        let set = self.sets;
        let demanded = |fault: Fault| {
            let because = Some(fault.since.event);
            Planned { page: fault.page, reason: MoveReason::Demanded, set, because }
        };
        let demanded: Vec<Planned> = faults.into_iter().map(demanded).collect();
        self.planned.extend(demanded.iter().copied());
        self.decision =
            Decision { set, at: now, demanded, prefetched: extra.len(), evicted: 0, free, because };
        let prefetched = |page| Planned { page, reason: MoveReason::Prefetched, set, because };
        self.planned.extend(extra.into_iter().map(prefetched));
        // As long as it is to be filled, it is full with the last page for which it has a frame.
        let frames = self.residency.free().saturating_add(u64::from(!self.config.precondition));
        self.was_full |= frames <= self.planned.len() as u64;
        self.go_on()
    }

    /// Gives frames to pages that wait for one, and makes room for the others. Orders that fetch stand first: a clean page is gone
    /// at once, and its frame goes to the next page in the row.
    fn go_on(&mut self) -> Vec<Order> {
        let mut orders = self.fetch();
        let room = self.make_room();
        self.decision.evicted += room.len();
        orders.extend(room);
        orders
    }

    /// "The first unique 80 pages that far-fault to the SW runtime within an interval."
    fn demand(&mut self) -> Vec<Fault> {
        let mut unique = PageSet::default();
        let (mut demand, mut leaving) = (Vec::new(), Vec::new());
        while demand.len() < self.config.set.max(1) {
            let Some(fault) = self.queue.pop_front() else { break };
            if matches!(self.residency.place(fault.page), Place::Leaving | Place::Away) {
                leaving.push(fault);
                continue;
            }
            let is_planned = self.planned.iter().any(|planned| planned.page == fault.page);
            if self.residency.absent().contains(fault.page) && !is_planned && unique.insert(fault.page) {
                demand.push(fault);
            }
        }
        // They can be fetched once they are back.
        self.queue.extend(leaving);
        demand
    }

    fn prefetch(&mut self, demand: &[Page], free: u64) -> Vec<Page> {
        let is_full = self.is_off() || free <= demand.len() as u64;
        let is_preconditioning = self.config.precondition && !self.was_full;
        // "Takes the current on-demand page" (section 5.2): without one nothing has to leave.
        let evicts = self.config.prefetch_when_full && !is_preconditioning && !demand.is_empty();
        if is_full && !evicts {
            return Vec::new();
        }
        // Of a set larger than the memory it would evict all, and have no frames for it.
        let frames = if evicts { self.residency.obtainable() } else { free };
        let wanted = demand.len() + self.planned.len();
        let frames = usize::try_from(frames.saturating_sub(wanted as u64)).unwrap_or(usize::MAX);
        // "The number of in-flight pages on the PCIe bus required to maximize bandwidth" (section 4.1): more would only have the next
        // far-fault wait behind them.
        let coming = usize::try_from(self.residency.coming().len()).unwrap_or(usize::MAX);
        let room = self.config.set.saturating_sub(wanted.saturating_add(coming)).min(frames);
        let mut absent = self.residency.absent().clone();
        let mut present = self.residency.present().clone();
        for page in demand.iter().copied().chain(self.planned.iter().map(|planned| planned.page)) {
            absent.remove(page);
            present.insert(page);
        }
        for page in self.apart.iter() {
            absent.remove(page);
        }
        while self.touched.get(self.cursor).is_some_and(|page| !absent.contains(*page)) {
            self.cursor += 1;
        }
        let signals = prefetch::Signals {
            room,
            demand,
            last: self.last,
            absent: &absent,
            present: &present,
            touched: self.touched.get(self.cursor..).unwrap_or_default(),
            page: self.residency.page(),
            is_full: self.was_full || free <= wanted as u64,
        };
        let mut chosen = self.prefetcher().choose(&signals, &mut self.random);
        // The tree knows no room.
        chosen.truncate(frames);
        chosen
    }

    /// Evicts as many pages as those that wait for a frame need.
    fn make_room(&mut self) -> Vec<Order> {
        let mut orders = Vec::new();
        let coming_free = |residency: &Residency| residency.free() + residency.leaving().len();
        while coming_free(&self.residency) < self.planned.len() as u64 {
            let victims = self.config.evictor.choose(&mut self.residency.signals(), &mut self.random);
            if victims.is_empty() {
                // Only what somebody waits for may have to wait for a frame.
                self.planned.retain(|planned| planned.reason != MoveReason::Prefetched);
                break;
            }
            for page in victims {
                let wasted = self.leave(page);
                self.counters.evicted += 1;
                self.note_evicted(page);
                orders.push(Order::Evict { page, wasted });
            }
        }
        orders
    }

    /// Whether it has been told of a far-fault of a page, or moves it, already.
    #[must_use]
    pub fn has_in_hand(&self, page: Page) -> bool {
        self.residency.coming().contains(page)
            || self.planned.iter().any(|planned| planned.page == page)
            || self.queue.iter().any(|fault| fault.page == page)
    }

    /// Another GPU brings a page, and all will translate it: it is none of this one's until it has left that one.
    pub fn yield_to_other(&mut self, page: Page) {
        self.residency.lend(page);
        self.apart.remove(page);
        self.planned.retain(|planned| planned.page != page);
        self.queue.retain(|fault| fault.page != page);
    }

    /// A page has left the GPU that had it for all, since it was evicted or a core took it back.
    pub fn returned_by_other(&mut self, page: Page, to_core: bool) {
        self.residency.regain(page);
        if to_core {
            self.apart.insert(page);
            self.taken_since.insert(page);
        } else {
            self.note_evicted(page);
        }
    }

    /// Another GPU gets a page, which is not prefetched from there.
    pub fn lose_to_other(&mut self, page: Page) {
        if self.residency.absent().contains(page) {
            self.apart.insert(page);
            self.planned.retain(|planned| planned.page != page || planned.reason == MoveReason::Demanded);
        }
    }

    /// Another GPU has evicted a page.
    pub fn left_by_other(&mut self, page: Page) {
        self.apart.remove(page);
    }

    /// A page leaves GPU memory since somebody else wants it; whether it was prefetched for nothing.
    pub fn send_home(&mut self, page: Page) -> bool {
        self.counters.taken_back += 1;
        self.taken_since.insert(page);
        self.leave(page)
    }

    /// A page leaves GPU memory after the last work, since its programmer wants it so.
    pub fn copy_home(&mut self, page: Page) -> bool {
        self.counters.copied_back += 1;
        self.leave(page)
    }

    fn leave(&mut self, page: Page) -> bool {
        let wasted = self.residency.leave(page);
        self.counters.wasted += u64::from(wasted);
        wasted
    }

    /// A core takes a page back; whether it was prefetched for nothing. Who prefetched it again would take it away from
    /// those who use it.
    pub fn give_back(&mut self, page: Page) -> bool {
        self.apart.insert(page);
        self.send_home(page)
    }

    /// Moves all that is in host memory, lowest page first: what programmers do before their work begins.
    pub fn copy_all(&mut self) -> Vec<Order> {
        let all = self.residency.absent().iter();
        let planned: Vec<Planned> =
            all.map(|page| Planned { page, reason: MoveReason::Copied, set: 0, because: None }).collect();
        self.planned.extend(planned);
        self.fetch()
    }

    /// Gives frames that are free to pages that wait for one.
    fn fetch(&mut self) -> Vec<Order> {
        let mut orders = Vec::new();
        while self.residency.free() > 0
            && let Some(planned) = self.planned.pop_front()
        {
            self.residency.reserve(planned.page);
            self.apart.remove(planned.page);
            let count = match planned.reason {
                MoveReason::Demanded => &mut self.counters.demanded,
                MoveReason::Prefetched => &mut self.counters.prefetched,
                MoveReason::Copied => &mut self.counters.copied,
            };
            *count += 1;
            orders.push(Order::Fetch(planned));
        }
        orders
    }

    /// A page is back in host memory.
    pub fn evicted(&mut self, page: Page) -> Vec<Order> {
        self.counters.written_back += u64::from(self.residency.gone(page));
        self.go_on()
    }

    /// A page has come to the GPU.
    pub fn arrived(&mut self, planned: Planned, now: Tick) -> Vec<Order> {
        self.residency.arrive(planned.page, planned.reason, now);
        // Whoever has far-faulted for it is answered: it must not be brought again, for nobody, once it has left.
        self.queue.retain(|fault| fault.page != planned.page);
        // What could not be evicted before may be now.
        self.go_on()
    }

    /// A compute unit of the GPU accesses a page, wherever it is.
    pub fn note_order(&mut self, page: Page) {
        if self.seen.insert(page) {
            self.order.push(page);
        }
    }

    /// A page of the GPU is accessed.
    pub fn touch(&mut self, page: Page, writes: bool, now: Tick) -> Vec<Order> {
        self.counters.used += u64::from(self.residency.touch(page, writes, now));
        if self.planned.is_empty() {
            return Vec::new();
        }
        self.go_on()
    }

    /// Pages in the order in which they were accessed first.
    #[must_use]
    pub fn order(&self) -> &[Page] {
        &self.order
    }

    /// Far-faults that wait for the next transfer set.
    pub fn queue(&self) -> impl Iterator<Item = &Fault> {
        self.queue.iter()
    }

    fn note_evicted(&mut self, page: Page) {
        self.evicted_once.insert(page);
        self.taken_since.remove(page);
    }

    /// Of the 64 pages from `number * 64` on, those that left last since they were evicted.
    #[must_use]
    pub fn evicted_word(&self, number: u64) -> u64 {
        self.evicted_once.word(number) & !self.taken_since.word(number)
    }

    /// Pages that wait for a frame.
    pub fn planned(&self) -> impl Iterator<Item = &Planned> {
        self.planned.iter()
    }

    /// Goes on with another configuration. A transfer set that gathers is submitted when it was due.
    pub fn adopt(&mut self, config: DriverConfig) {
        self.config = config;
    }

    #[must_use]
    pub fn config(&self) -> DriverConfig {
        self.config
    }

    /// No far-fault waits, and nothing is on its way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let residency = &self.residency;
        let still = residency.coming().is_empty() && residency.leaving().is_empty();
        still && self.queue.is_empty() && self.planned.is_empty()
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        self.residency.digest(hasher);
        (&self.queue, self.due, &self.planned, self.last, self.sets, self.cursor).hash(hasher);
        (self.random, self.was_full, &self.evicted_once, &self.apart).hash(hasher);
    }
}

#[cfg(test)]
mod tests;
