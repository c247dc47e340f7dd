//! A compute unit or a CPU core: its warps, their scheduler and coalescer, and the L1 that it calls directly.
//! A core is a compute unit of one-lane warps.

mod barriers;
mod complete;
mod issue;
mod translate;
mod warps;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::model::access::{Access, Bytes};
use crate::model::address::Address;
use crate::model::bits::Bits;
use crate::model::component::ComponentId;
use crate::model::message::{TxnKey, TxnNumber};
use crate::model::operation::{Fence, Operation};
use crate::model::page::Page;
use crate::model::paging::FaultKind;
use crate::model::record::What;
use crate::model::time::{Clock, Tick};
use crate::model::warp::WarpState;
use crate::parts::simd::Simds;
use crate::parts::tlb::Tlb;
use crate::policy::placement::first_touch;
use crate::policy::warps::WarpScheduler;
use crate::protocol::node::{Node, Offer};
use crate::protocol::outbox::{About, Outbox};

use complete::Performed;
pub use warps::Warp;

/// What does not change while an agent lives.
#[derive(Clone, Copy, Debug)]
pub struct AgentConfig {
    pub id: ComponentId,
    pub clock: Clock,
    /// Lanes that issue in one cycle.
    pub lanes: u32,
    /// SIMD units, where they are fewer than warps; 0 where no warp waits for one.
    pub simds: u32,
    pub scheduler: WarpScheduler,
    /// Memory instructions that a warp may have in flight.
    pub outstanding: u32,
    /// Cycles of an L1 hit.
    pub l1_latency: u32,
    pub line: u32,
    pub values: bool,
    /// Bytes of a page, where accesses are translated; 0 where they are not.
    pub page: u32,
    /// What an access waits for whose page table does not grant it.
    pub fault: FaultKind,
    /// The socket that it belongs to, and how many there are, where pages live in the memories of sockets.
    pub socket: Option<u32>,
    pub sockets: u32,
}

/// What a warp is working on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// The operations of a program task.
    Program { task: usize },
    /// A warp of a thread block of a kernel task.
    Block { task: usize, block: u64, warp: u32 },
}

impl Work {
    #[must_use]
    pub fn task(self) -> usize {
        match self {
            Self::Program { task } | Self::Block { task, .. } => task,
        }
    }
}

/// What an agent tells the machine after a step.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Work that ended, with what its last access read.
    pub ended: Vec<(Work, Bytes)>,
    /// Results of labelled accesses.
    pub results: Vec<(Arc<str>, Bytes)>,
    /// Pages whose translation is asked for, and whether they are to be written.
    pub asked: Vec<(Page, bool)>,
    /// Warps that stand at a fence, or have passed one that concerns no cache below the L1.
    pub fences: Vec<(usize, Fence)>,
    /// Addresses whose pages got their home.
    pub placed: Vec<Address>,
}

impl Told {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ended.is_empty()
            && self.results.is_empty()
            && self.asked.is_empty()
            && self.fences.is_empty()
            && self.placed.is_empty()
    }
}

/// A compute unit or core.
#[derive(Clone, Debug)]
pub struct Agent {
    pub config: AgentConfig,
    /// Index of its L1 among the nodes.
    pub l1: usize,
    pub warps: Vec<Warp>,
    /// Of a compute unit on a machine with pages. A core has none: its page table is asked at once.
    pub tlb: Option<Box<Tlb>>,
    /// Where warps wait for them.
    pub simds: Option<Box<Simds>>,
    /// Warps that are ready or running. Follows from their states.
    active: Bits,
    last: usize,
    issue_free_at: Tick,
    /// Programs that wait for a free warp slot: any, or the one that they name.
    waiting: VecDeque<(Work, Option<usize>)>,
    /// Warps that the L1 turned away, first come first served.
    stalled: VecDeque<usize>,
    pub accesses: u64,
    /// Warps whose hits were there by then have been told of. No part of the digest.
    landed_until: Tick,
    /// Warps in each state, by its position in [`WarpState::ALL`]. Follows from their states: a screen asks for it of
    /// very many units.
    in_state: [u32; WarpState::ALL.len()],
    /// Ticks that warps spent in each state that they have left, by its position in [`WarpState::ALL`].
    time_in: [Tick; WarpState::ALL.len()],
}

/// Gives an access of a warp and its work, issued at a tick, its number, and its transaction if it is not over at once.
pub type Begin<'a> =
    &'a mut dyn FnMut((u32, Option<Work>), &Access, Offer, Tick) -> (Option<TxnKey>, TxnNumber);

/// What an agent needs to issue.
pub struct Surroundings<'a> {
    pub l1: &'a mut Node,
    /// The L1's way down has room for a request.
    pub has_room: bool,
    /// Nobody listens, and nothing is checked.
    pub quiet: bool,
    /// Operation `index` of some work.
    pub operation: &'a dyn Fn(Work, u64) -> Option<Cow<'a, Operation>>,
    pub begin: Begin<'a>,
    /// Whether a page is in the memory that a core may access.
    pub is_here: &'a dyn Fn(Page) -> bool,
    /// Fences concern caches below the L1.
    pub is_deep: bool,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings").field("has_room", &self.has_room).finish_non_exhaustive()
    }
}

impl Agent {
    #[must_use]
    pub fn new(config: AgentConfig, l1: usize, slots: u32) -> Self {
        let warps = vec![Warp::default(); slots as usize];
        Self {
            config,
            l1,
            in_state: WarpState::count(warps.iter().map(|warp| warp.state)),
            warps,
            tlb: None,
            simds: (config.simds > 0).then(|| Box::new(Simds::new(config.simds, 0))),
            active: Bits::new(slots),
            last: 0,
            issue_free_at: 0,
            waiting: VecDeque::new(),
            stalled: VecDeque::new(),
            accesses: 0,
            landed_until: 0,
            time_in: [0; WarpState::ALL.len()],
        }
    }

    /// Takes over the configuration of another one with as many warps.
    pub fn adopt(&mut self, other: &Self, out: &mut Outbox) {
        self.config = other.config;
        if let Some((own, new)) = self.tlb.as_mut().zip(other.tlb.as_ref()) {
            own.adopt(new);
            // What was blocked may be taken now.
            self.settle_waiting(out);
            self.unstall(out);
        }
        let now = out.tick;
        match (&mut self.simds, other.config.simds) {
            (simds, 0) => {
                let waiting = simds.take().into_iter().flat_map(|simds| simds.release(now));
                for (slot, end) in waiting.collect::<Vec<_>>() {
                    self.run_until(slot as usize, end, out);
                }
            }
            (Some(simds), count) => {
                simds.set_count(count, now);
                self.compute(now, out);
            }
            (simds, count) => *simds = Some(Box::new(Simds::new(count, now))),
        }
    }

    /// A slot without work: the one wanted, else the first.
    fn free_slot(&self, wanted: Option<usize>) -> Option<usize> {
        let fits = |slot: usize| wanted.is_none_or(|wanted| wanted == slot);
        let free = |(slot, warp): (usize, &Warp)| fits(slot) && warp.work.is_none();
        self.warps.iter().enumerate().position(free)
    }

    /// Warp slots without work.
    #[must_use]
    pub fn free_slots(&self) -> usize {
        self.warps.iter().filter(|warp| warp.work.is_none()).count()
    }

    /// Gives work to a free warp slot, or to the one that it names; or keeps it until that is free.
    pub fn assign(&mut self, work: Work, slot: Option<usize>, now: Tick, out: &mut Outbox) {
        match self.free_slot(slot) {
            Some(free) => self.begin(free, work, now, out),
            None => self.waiting.push_back((work, slot)),
        }
    }

    fn begin(&mut self, slot: usize, work: Work, now: Tick, out: &mut Outbox) {
        if let Some(warp) = self.warps.get_mut(slot) {
            warp.work = Some(work);
            warp.next = 0;
            warp.ready_at = now;
            warp.result = Bytes::new();
            warp.current = None;
        }
        self.set_state(slot, WarpState::Ready, out);
    }

    /// The caches below have done what a fence of a warp asks of them.
    pub fn pass_fence(&mut self, slot: usize, out: &mut Outbox) {
        if let Some(warp) = self.warps.get_mut(slot) {
            warp.ready_at = warp.ready_at.max(out.tick + self.config.clock.period);
        }
        self.set_state(slot, WarpState::Ready, out);
    }

    /// Gives the page of an address a home, if it has none yet; then the address. Where pages are paged, who brings them does.
    pub fn place(&self, address: Address, out: &mut Outbox) -> Option<Address> {
        if !out.homes.is_undecided(address) || self.config.page > 0 {
            return None;
        }
        let (socket, sockets) = (self.config.socket, self.config.sockets);
        out.homes.decide(address, |page| first_touch(socket, page, sockets));
        Some(address)
    }

    /// A warp that is ready waits for the data of what has hit: that time it spends on memory.
    fn await_hits(&mut self, slot: usize, out: &mut Outbox) {
        let (outstanding, now) = (self.config.outstanding, out.tick);
        let Some(warp) = self.warps.get_mut(slot).filter(|warp| warp.state == WarpState::Ready) else {
            return;
        };
        let ready = warp.ready_from(outstanding);
        if ready > now + self.config.clock.period {
            let from = warp.state_at(now);
            spend(&mut self.time_in, warp, now);
            self.time_in[WarpState::Memory as usize] += ready - now;
            (warp.since, warp.lands_at) = (ready, ready);
            self.tell(slot, (from, WarpState::Memory), out);
        }
    }

    /// Warps that have waited for what they hit go on, since they were looked at last.
    fn tell_landed(&mut self, out: &mut Outbox) {
        let (from, now) = (std::mem::replace(&mut self.landed_until, out.tick), out.tick);
        if !out.records.on {
            return;
        }
        let has_landed =
            |warp: &Warp| warp.state == WarpState::Ready && from < warp.lands_at && warp.lands_at <= now;
        for slot in 0..self.warps.len() {
            if self.warps.get(slot).is_some_and(has_landed) {
                self.tell(slot, (WarpState::Memory, WarpState::Ready), out);
            }
        }
    }

    /// Tells what a warp does now, if that is something else.
    fn tell(&self, slot: usize, (from, to): (WarpState, WarpState), out: &mut Outbox) {
        if out.records.on && from != to {
            let page = self.awaited_page(slot, to).map(|page| page.range(self.config.page));
            let about = About { range: page, ..About::default() };
            out.record(self.config.id, about, || What::Warp { warp: slot as u32, from, to });
        }
    }

    fn set_state(&mut self, slot: usize, to: WarpState, out: &mut Outbox) {
        let Some(warp) = self.warps.get_mut(slot) else { return };
        let (from, was) = (warp.state, warp.state_at(out.tick));
        if from == to {
            return;
        }
        spend(&mut self.time_in, warp, out.tick);
        if !self.stalled.is_empty() && !to.may_be_turned_away() {
            // It goes on for another reason than a second try, or not at all: nobody may wake it for that later.
            self.stalled.retain(|stalled| *stalled != slot);
        }
        if let Ok([left, entered]) = self.in_state.get_disjoint_mut([from as usize, to as usize]) {
            *left -= 1;
            *entered += 1;
        }
        warp.state = to;
        (warp.since, warp.lands_at) = (out.tick, 0);
        if matches!(to, WarpState::Ready | WarpState::Running) {
            warp.let_go = Some(out.event);
        }
        self.active.set(slot as u32, matches!(to, WarpState::Ready | WarpState::Running));
        self.tell(slot, (was, to), out);
    }

    /// Warps in each state at a time, by its position in [`WarpState::ALL`].
    #[must_use]
    pub fn in_state(&self, now: Tick) -> [u32; WarpState::ALL.len()] {
        let mut counts = self.in_state;
        let active = self.active.iter().filter_map(|slot| self.warps.get(slot as usize));
        for warp in active.filter(|warp| warp.state_at(now) != warp.state) {
            counts[warp.state as usize] -= 1;
            counts[warp.state_at(now) as usize] += 1;
        }
        counts
    }

    /// Ticks that its warps spent in each state until `now`, by its position in [`WarpState::ALL`]. The sum is `now` for
    /// each warp slot.
    #[must_use]
    pub fn time_in(&self, now: Tick) -> [Tick; WarpState::ALL.len()] {
        let mut all = self.time_in;
        self.warps.iter().for_each(|warp| spend(&mut all, warp, now));
        all
    }

    /// Ticks that its warps spun until `now`.
    #[must_use]
    pub fn spun(&self, now: Tick) -> Tick {
        self.warps.iter().map(|warp| warp.spun(now)).sum()
    }

    /// When the agent has something to do next, if nothing else happens.
    #[must_use]
    pub fn next_wake(&self, now: Tick) -> Option<Tick> {
        let soonest = self.issue_free_at.max(now);
        let mut ready = None;
        for warp in self.active.iter().filter_map(|slot| self.warps.get(slot as usize)) {
            let own = warp.ready_from(self.config.outstanding);
            ready = Some(ready.map_or(own, |ready: Tick| ready.min(own)));
            if own <= soonest {
                break;
            }
        }
        if let Some(begin) = self.simds.as_ref().and_then(|simds| simds.next_begin()) {
            let begin = begin.max(now);
            return Some(self.config.clock.edge(ready.map_or(begin, |ready| begin.min(ready.max(soonest)))));
        }
        Some(self.config.clock.edge(ready?.max(soonest)))
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (self.last, self.issue_free_at, &self.waiting, &self.stalled).hash(hasher);
        for warp in &self.warps {
            (warp.state, warp.work, warp.next, warp.ready_at, &warp.hits, &warp.waits).hash(hasher);
            (&warp.to_issue, &warp.in_flight, &warp.result).hash(hasher);
            (&warp.untranslated, &warp.translated).hash(hasher);
        }
        if let Some(tlb) = &self.tlb {
            tlb.digest(hasher);
        }
        if let Some(simds) = &self.simds {
            simds.digest(hasher);
        }
    }
}

/// Time until now that a warp has spent in its state; or what it has spent on memory too early, where it need not wait so long.
fn spend(time_in: &mut [Tick; WarpState::ALL.len()], warp: &Warp, now: Tick) {
    time_in[warp.state as usize] += now.saturating_sub(warp.since);
    let memory = &mut time_in[WarpState::Memory as usize];
    *memory = memory.saturating_sub(warp.since.saturating_sub(now));
}
