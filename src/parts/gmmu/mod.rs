//! The MMU of a GPU: page walks by several walkers, and the MSHRs of faults ("Towards High Performance Paged Memory for
//! GPUs", section 3, Fig. 4). A fault is an access that the page table does not grant: to a page that is elsewhere, or a write
//! to one that is read-only.

mod walk_cache;

use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

use crate::model::page::Page;
use crate::model::time::{EventNumber, Since, Tick};
use walk_cache::WalkCache;

/// What does not change while a GMMU lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GmmuConfig {
    /// Walks at the same time.
    pub walkers: u32,
    /// Levels of the page table.
    pub levels: u32,
    /// Entries of the page walk cache, and what one costs.
    pub cache: u32,
    pub cache_latency: Tick,
    /// A level that memory has to be asked for.
    pub memory_latency: Tick,
    /// Faults tracked for each compute unit.
    pub far_faults: u32,
}

/// A translation that a TLB asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The compute unit, by its place in the GPU.
    pub unit: u32,
    pub page: Page,
    /// Whether somebody wants to write there.
    pub writes: bool,
    /// It can be taken from here on.
    pub ready: Tick,
    /// The event in which it was made.
    pub asked: EventNumber,
}

/// A walk of the page table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    pub unit: u32,
    pub page: Page,
    pub writes: bool,
    ends: Tick,
    /// The event in which the translation was asked for.
    pub asked: EventNumber,
    pub began: Since,
    /// Levels that the page walk cache had, and those that memory was asked for.
    pub cached: u32,
    pub memory: u32,
}

impl Hash for Walk {
    /// Nothing depends on how it began, but when it ends.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.unit, self.page, self.writes, self.ends, self.asked).hash(state);
    }
}

/// An entry of the far-fault MSHRs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FarFault {
    pub since: Since,
    /// The compute units to be told.
    pub units: SmallVec<[u32; 4]>,
}

/// What a walk came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Found {
    /// The access is granted.
    Translated,
    /// It is not: a fault that is new, and goes to the driver.
    Raised,
    /// A fault of this page is tracked already.
    Merged,
    /// Every MSHR of this compute unit is in use: the request is forgotten.
    Dropped,
}

/// The end of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Outcome {
    pub walk: Walk,
    pub found: Found,
    /// The event in which it ended.
    pub walked: EventNumber,
}

/// The MMU of one GPU.
#[derive(Clone, Debug)]
pub struct Gmmu {
    config: GmmuConfig,
    queue: VecDeque<Request>,
    walks: Vec<Walk>,
    cache: WalkCache,
    far_faults: BTreeMap<Page, FarFault>,
    /// MSHRs in use, by compute unit.
    held: Vec<u32>,
    pub walked: u64,
    /// Ticks that walks take, summed over those that were begun.
    walk_ticks: Tick,
    pub high_water: usize,
}

impl Gmmu {
    #[must_use]
    pub fn new(config: GmmuConfig, units: usize) -> Self {
        Self {
            config,
            queue: VecDeque::new(),
            walks: Vec::new(),
            cache: WalkCache::new(config.cache as usize),
            far_faults: BTreeMap::new(),
            held: vec![0; units],
            walked: 0,
            walk_ticks: 0,
            high_water: 0,
        }
    }

    /// A TLB asks.
    pub fn ask(&mut self, request: Request) {
        let place = self.queue.iter().rposition(|other| other.ready <= request.ready).map_or(0, |at| at + 1);
        self.queue.insert(place, request);
    }

    /// When it has something to do next.
    #[must_use]
    pub fn next(&self) -> Option<Tick> {
        let ends = self.walks.iter().map(|walk| walk.ends).min();
        let starts = self.queue.front().map(|request| request.ready).filter(|_| self.has_walker());
        ends.into_iter().chain(starts).min()
    }

    /// The walk that ends at `tick`, or before, ends at `later`; else the one that could start starts no earlier.
    pub fn postpone(&mut self, tick: Tick, later: Tick) {
        let over = self.walks.iter_mut().filter(|walk| walk.ends <= tick).min_by_key(|walk| walk.ends);
        match over {
            Some(walk) => walk.ends = later,
            None => self.queue.iter_mut().for_each(|request| request.ready = request.ready.max(later)),
        }
    }

    fn has_walker(&self) -> bool {
        self.walks.len() < self.config.walkers.max(1) as usize
    }

    /// Ends the walks that are over by now, and starts those for which there are walkers. What the page table says is asked of
    /// `grants`, with a page and whether it is to be written.
    pub fn advance(&mut self, now: Since, grants: impl Fn(Page, bool) -> bool) -> Vec<Outcome> {
        let mut ended: Vec<Walk> = self.walks.iter().filter(|walk| walk.ends <= now.tick).copied().collect();
        self.walks.retain(|walk| walk.ends > now.tick);
        ended.sort_by_key(|walk| walk.ends);
        for walk in &ended {
            self.cache.fill(walk.page, self.config.levels);
        }
        let outcomes = ended
            .into_iter()
            .map(|walk| {
                let is_granted = grants(walk.page, walk.writes);
                let found =
                    if is_granted { Found::Translated } else { self.fault(walk.unit, walk.page, now) };
                Outcome { walk, found, walked: now.event }
            })
            .collect();
        while self.has_walker() && self.queue.front().is_some_and(|request| request.ready <= now.tick) {
            let Some(request) = self.queue.pop_front() else { break };
            let (cached, memory) = self.cache.look(request.page, self.config.levels);
            let span = u64::from(cached) * self.config.cache_latency
                + u64::from(memory) * self.config.memory_latency;
            let Request { unit, page, writes, asked, .. } = request;
            let ends = now.tick + span;
            self.walks.push(Walk { unit, page, writes, ends, asked, began: now, cached, memory });
            self.walked += 1;
            self.walk_ticks += span;
        }
        outcomes
    }

    /// An access that is not granted: steps 3 and 4 of Fig. 4. A request is dropped if the GMMU "has not initiated the SW page faulting
    /// process nor is tracking" it, and its compute unit has as many faults as it may: an entry is the unit's that raised the fault, and
    /// whoever joins needs none.
    fn fault(&mut self, unit: u32, page: Page, now: Since) -> Found {
        if let Some(known) = self.far_faults.get_mut(&page) {
            if !known.units.contains(&unit) {
                known.units.push(unit);
            }
            return Found::Merged;
        }
        let Some(held) = self.held.get_mut(unit as usize) else { return Found::Dropped };
        if *held >= self.config.far_faults {
            return Found::Dropped;
        }
        *held += 1;
        self.far_faults.insert(page, FarFault { since: now, units: SmallVec::from_slice(&[unit]) });
        self.high_water = self.high_water.max(self.far_faults.len());
        Found::Raised
    }

    /// A fault has ended: the compute units whose TLBs are to replay (step 6 of Fig. 4).
    pub fn arrived(&mut self, page: Page) -> SmallVec<[u32; 4]> {
        let units = self.far_faults.remove(&page).map(|fault| fault.units).unwrap_or_default();
        let raised_by = units.first().and_then(|unit| self.held.get_mut(*unit as usize));
        if let Some(held) = raised_by {
            *held = held.saturating_sub(1);
        }
        units
    }

    /// Ticks until now that walkers walked, summed over them.
    #[must_use]
    pub fn walk_ticks(&self, now: Tick) -> Tick {
        let ahead: Tick = self.walks.iter().map(|walk| walk.ends.saturating_sub(now)).sum();
        self.walk_ticks.saturating_sub(ahead)
    }

    /// Faults that are tracked and that a compute unit has raised.
    #[must_use]
    pub fn held(&self, unit: u32) -> u32 {
        self.held.get(unit as usize).copied().unwrap_or(0)
    }

    /// Walks that began in an event.
    pub fn begun_in(&self, event: EventNumber) -> impl Iterator<Item = &Walk> {
        self.walks.iter().filter(move |walk| walk.began.event == event)
    }

    /// Whether a compute unit is to be told when a page comes.
    #[must_use]
    pub fn tracks(&self, unit: u32, page: Page) -> bool {
        self.far_faults.get(&page).is_some_and(|fault| fault.units.contains(&unit))
    }

    /// Far-faults that are tracked.
    pub fn far_faults(&self) -> impl Iterator<Item = (Page, &FarFault)> {
        self.far_faults.iter().map(|(page, fault)| (*page, fault))
    }

    /// When the first walk of a page ends, and when the first request for one can be taken.
    #[must_use]
    pub fn about(&self, page: Page) -> (Option<Tick>, Option<Tick>) {
        let walks = self.walks.iter().filter(|walk| walk.page == page).map(|walk| walk.ends);
        let requests = self.queue.iter().filter(|request| request.page == page).map(|request| request.ready);
        (walks.min(), requests.min())
    }

    /// Requests that wait for a walker, and walks under way.
    #[must_use]
    pub fn busy(&self) -> (usize, usize) {
        (self.queue.len(), self.walks.len())
    }

    /// Tracks as many far-faults as another from here on; those that it has stay.
    pub fn adopt(&mut self, other: &Self) {
        self.config.far_faults = other.config.far_faults;
    }

    #[must_use]
    pub fn config(&self) -> GmmuConfig {
        self.config
    }

    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.walks.is_empty() && self.far_faults.is_empty()
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (&self.queue, &self.walks, &self.cache, &self.far_faults, &self.held).hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gmmu(walkers: u32, levels: u32, far_faults: u32) -> Gmmu {
        let config =
            GmmuConfig { walkers, levels, cache: 16, cache_latency: 20, memory_latency: 100, far_faults };
        Gmmu::new(config, 2)
    }

    fn at(tick: Tick) -> Since {
        Since { tick, event: tick }
    }

    fn ask(gmmu: &mut Gmmu, unit: u32, page: u64) {
        gmmu.ask(Request { unit, page: Page(page), writes: false, ready: 0, asked: 7 });
    }

    #[test]
    fn walkers_bound_the_walks_at_a_time() {
        let mut gmmu = gmmu(2, 2, 4);
        (0..3).for_each(|page| ask(&mut gmmu, 0, page));
        assert_eq!(gmmu.advance(at(0), |_, _| true), []);
        assert_eq!(gmmu.busy(), (1, 2));
        // The first two walks ask memory for both levels, the third finds the upper one in the cache.
        assert_eq!(gmmu.next(), Some(200));
        let ended = gmmu.advance(at(200), |_, _| true);
        let [_, Outcome { walk, found: Found::Translated, walked: 200 }] = ended[..] else {
            panic!("{ended:?}")
        };
        assert_eq!((walk.unit, walk.page, walk.asked, walk.began), (0, Page(1), 7, at(0)));
        assert_eq!((walk.cached, walk.memory), (0, 2));
        assert_eq!((gmmu.busy(), gmmu.next()), ((0, 1), Some(320)));
        let third = gmmu.advance(at(320), |_, _| true);
        assert_eq!((third[0].walk.cached, third[0].walk.memory), (1, 1));
    }

    #[test]
    fn far_faults_are_raised_merged_and_dropped() {
        let mut gmmu = gmmu(8, 1, 2);
        for (unit, page) in [(0, 1), (1, 1), (0, 2), (0, 3)] {
            ask(&mut gmmu, unit, page);
        }
        gmmu.advance(at(0), |_, _| false);
        let found: Vec<_> =
            gmmu.advance(at(1000), |_, _| false).iter().map(|outcome| outcome.found).collect();
        assert_eq!(found, [Found::Raised, Found::Merged, Found::Raised, Found::Dropped]);
        assert_eq!(gmmu.arrived(Page(1)).len(), 2);
        assert_eq!(gmmu.far_faults().count(), 1);
        ask(&mut gmmu, 0, 3);
        gmmu.advance(at(2000), |_, _| false);
        assert_eq!(gmmu.advance(at(3000), |_, _| false)[0].found, Found::Raised);
    }

    #[test]
    fn whoever_joins_a_fault_needs_no_entry_of_its_own() {
        let mut gmmu = gmmu(8, 1, 1);
        let mut found = |asked: &[(u32, u64)], tick| {
            for &(unit, page) in asked {
                ask(&mut gmmu, unit, page);
            }
            gmmu.advance(at(tick), |_, _| false);
            gmmu.advance(at(tick + 1000), |_, _| false)
                .iter()
                .map(|outcome| outcome.found)
                .collect::<Vec<_>>()
        };
        assert_eq!(found(&[(0, 1), (1, 2)], 0), [Found::Raised, Found::Raised]);
        // Asked again, too, after one was thought to be dropped.
        assert_eq!(found(&[(1, 1), (1, 1), (1, 3)], 2000), [Found::Merged, Found::Merged, Found::Dropped]);
        assert_eq!((gmmu.held(0), gmmu.held(1)), (1, 1));
        assert_eq!(gmmu.arrived(Page(1))[..], [0, 1]);
        assert_eq!((gmmu.held(0), gmmu.held(1)), (0, 1));
    }
}
