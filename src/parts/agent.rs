//! A compute unit or a CPU core: its warps, their scheduler and coalescer, and the L1 that it calls directly.
//! A core is a compute unit of one-lane warps.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use smallvec::SmallVec;

use crate::model::access::{Access, AccessKind, Bytes};
use crate::model::component::ComponentId;
use crate::model::inspect::WarpState;
use crate::model::message::{TxnKey, TxnNumber};
use crate::model::operation::{Fence, Operation, WarpAccess};
use crate::model::record::What;
use crate::model::time::{Clock, Tick};
use crate::parts::coalescer::coalesce;
use crate::protocol::node::{Accept, Node};
use crate::protocol::outbox::{About, Completion, Outbox, Ticket};

/// What does not change while an agent lives.
#[derive(Clone, Copy, Debug)]
pub struct AgentConfig {
    pub id: ComponentId,
    pub clock: Clock,
    /// Lanes that issue in one cycle.
    pub lanes: u32,
    /// Memory instructions that a warp may have in flight.
    pub outstanding: u32,
    /// Cycles of an L1 hit.
    pub l1_latency: u32,
    pub line: u32,
    pub values: bool,
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

/// A memory instruction that has accesses left.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct InFlight {
    number: u64,
    left: u32,
    label: Option<Arc<str>>,
    /// Repeat it until it reads this.
    until: Option<Bytes>,
    read: Bytes,
}

/// One warp slot.
#[derive(Clone, Debug, Default)]
pub struct Warp {
    pub state: WarpState,
    pub since: Tick,
    pub work: Option<Work>,
    /// The next operation of its work.
    pub next: u64,
    ready_at: Tick,
    /// Accesses of the current instruction that the L1 has not taken yet.
    to_issue: VecDeque<Access>,
    in_flight: SmallVec<[InFlight; 1]>,
    /// Transactions in flight.
    pub waits: SmallVec<[TxnNumber; 2]>,
    instructions: u64,
    /// What its last load or atomic read.
    result: Bytes,
    pub current: Option<Operation>,
}

impl Warp {
    /// Memory instructions and others done.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.instructions
    }

    fn is_issuing(&self) -> bool {
        !self.to_issue.is_empty()
    }

    /// Whether the next instruction must wait for one in flight. Nothing passes a spinning load.
    fn must_wait(&self, outstanding: u32) -> bool {
        self.in_flight.len() as u32 >= outstanding.max(1)
            || self.in_flight.iter().any(|entry| entry.until.is_some())
    }
}

/// What an agent tells the machine after a step.
#[derive(Debug, Default)]
pub struct Told {
    /// Work that ended, with what its last access read.
    pub ended: Vec<(Work, Bytes)>,
    /// Results of labelled accesses.
    pub results: Vec<(Arc<str>, Bytes)>,
}

/// A compute unit or core.
#[derive(Clone, Debug)]
pub struct Agent {
    pub config: AgentConfig,
    /// Index of its L1 among the nodes.
    pub l1: usize,
    pub warps: Vec<Warp>,
    last: usize,
    issue_free_at: Tick,
    /// Programs that wait for a free warp slot.
    waiting: VecDeque<Work>,
    /// Warps that the L1 turned away, first come first served.
    stalled: VecDeque<usize>,
    pub accesses: u64,
    /// Ticks that warps spent in each state, by its position in [`WarpState::ALL`].
    pub time_in: [Tick; WarpState::ALL.len()],
}

/// Gives an access of a warp, issued at a tick, its transaction.
pub type Begin<'a> = &'a mut dyn FnMut(u32, &Access, Tick) -> (Option<TxnKey>, Option<TxnNumber>);

/// What an agent needs to issue.
pub struct Surroundings<'a> {
    pub l1: &'a mut Node,
    /// The L1's way down has room for a request.
    pub has_room: bool,
    /// Operation `index` of some work.
    pub operation: &'a dyn Fn(Work, u64) -> Option<Operation>,
    pub begin: Begin<'a>,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings").field("has_room", &self.has_room).finish_non_exhaustive()
    }
}

impl Agent {
    #[must_use]
    pub fn new(config: AgentConfig, l1: usize, slots: u32) -> Self {
        Self {
            config,
            l1,
            warps: vec![Warp::default(); slots as usize],
            last: 0,
            issue_free_at: 0,
            waiting: VecDeque::new(),
            stalled: VecDeque::new(),
            accesses: 0,
            time_in: [0; WarpState::ALL.len()],
        }
    }

    fn free_slot(&self) -> Option<usize> {
        self.warps.iter().position(|warp| warp.work.is_none())
    }

    /// Warp slots without work.
    #[must_use]
    pub fn free_slots(&self) -> usize {
        self.warps.iter().filter(|warp| warp.work.is_none()).count()
    }

    /// Gives work to a free warp slot, or keeps it until there is one.
    pub fn assign(&mut self, work: Work, now: Tick, out: &mut Outbox) {
        match self.free_slot() {
            Some(slot) => self.begin(slot, work, now, out),
            None => self.waiting.push_back(work),
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

    fn set_state(&mut self, slot: usize, to: WarpState, out: &mut Outbox) {
        let Some(warp) = self.warps.get_mut(slot) else { return };
        let from = warp.state;
        if from == to {
            return;
        }
        if let Some(time) = self.time_in.get_mut(from as usize) {
            *time += out.tick.saturating_sub(warp.since);
        }
        warp.state = to;
        warp.since = out.tick;
        out.record(self.config.id, About::default(), || What::Warp { warp: slot as u32, from, to });
    }

    /// When the agent has something to do next, if nothing else happens.
    #[must_use]
    pub fn next_wake(&self, now: Tick) -> Option<Tick> {
        let earliest = |warp: &Warp| match warp.state {
            WarpState::Ready | WarpState::Running => Some(warp.ready_at.max(self.issue_free_at).max(now)),
            _ => None,
        };
        self.warps.iter().filter_map(earliest).min().map(|tick| self.config.clock.edge(tick))
    }

    /// The L1 has changed: the warp that it turned away first may try again. When that succeeds the next one
    /// follows, so that a free place does not wake them all.
    pub fn unstall(&mut self, out: &mut Outbox) {
        let Some(slot) = self.stalled.pop_front() else { return };
        if let Some(warp) = self.warps.get_mut(slot) {
            warp.ready_at = out.tick + self.config.clock.period;
        }
        self.set_state(slot, WarpState::Ready, out);
    }

    /// Picks the next warp: the one that issued last if it can go on, else the next in the round
    /// (greedy then round-robin).
    fn pick(&self, now: Tick) -> Option<usize> {
        let count = self.warps.len();
        (0..count).map(|step| (self.last + step) % count.max(1)).find(|&slot| {
            self.warps.get(slot).is_some_and(|warp| {
                matches!(warp.state, WarpState::Ready | WarpState::Running) && warp.ready_at <= now
            })
        })
    }

    /// Issues for one warp.
    pub fn issue(&mut self, around: &mut Surroundings<'_>, told: &mut Told, out: &mut Outbox) {
        let now = out.tick;
        if self.issue_free_at > now {
            return;
        }
        let Some(slot) = self.pick(now) else { return };
        self.last = slot;
        let issuing = self.warps.get(slot).is_some_and(Warp::is_issuing);
        if !issuing && !self.fetch(slot, around, told, out) {
            return;
        }
        self.issue_access(slot, around, told, out);
    }

    /// Takes the next operation of a warp; `true` if it has accesses to issue.
    fn fetch(
        &mut self,
        slot: usize,
        around: &mut Surroundings<'_>,
        told: &mut Told,
        out: &mut Outbox,
    ) -> bool {
        let now = out.tick;
        let period = self.config.clock.period;
        let Some(warp) = self.warps.get_mut(slot) else { return false };
        let Some(work) = warp.work else { return false };
        let operation = (around.operation)(work, warp.next);
        warp.current.clone_from(&operation);
        match operation {
            None if warp.in_flight.is_empty() => self.end(slot, told, out),
            None => self.set_state(slot, WarpState::Memory, out),
            Some(Operation::Compute(cycles)) => {
                warp.next += 1;
                warp.instructions += 1;
                warp.ready_at = now + self.config.clock.cycles(u64::from(cycles.max(1)));
                self.set_state(slot, WarpState::Running, out);
            }
            Some(Operation::Access(access)) => {
                self.load_accesses(slot, &access, None, now);
                return true;
            }
            Some(Operation::SpinUntil(access, until)) => {
                self.load_accesses(slot, &access, Some(until), now);
                return true;
            }
            Some(Operation::Barrier) => {
                warp.next += 1;
                warp.instructions += 1;
                self.set_state(slot, WarpState::Barrier, out);
                self.release_barrier(work, now + period, out);
            }
            Some(Operation::Fence(fence)) => {
                if warp.in_flight.is_empty() {
                    warp.next += 1;
                    warp.instructions += 1;
                    warp.ready_at = now + period;
                    if fence != Fence::Release {
                        around.l1.acquire(out);
                    }
                    self.set_state(slot, WarpState::Ready, out);
                } else {
                    self.set_state(slot, WarpState::Fence, out);
                }
            }
        }
        false
    }

    /// Turns a memory instruction into accesses.
    fn load_accesses(&mut self, slot: usize, access: &WarpAccess, until: Option<Bytes>, now: Tick) {
        let pieces = coalesce(access, self.config.line, self.config.values);
        let Some(warp) = self.warps.get_mut(slot) else { return };
        warp.next += 1;
        warp.instructions += 1;
        if pieces.is_empty() {
            return;
        }
        warp.in_flight.push(InFlight {
            number: warp.instructions,
            left: pieces.len() as u32,
            label: access.label.clone(),
            until,
            read: Bytes::new(),
        });
        warp.to_issue.extend(pieces);
        let lanes = access.lanes.iter().count() as u32;
        let cycles = u64::from(lanes.div_ceil(self.config.lanes.max(1)).max(1));
        self.issue_free_at = now + self.config.clock.cycles(cycles - 1);
    }

    /// Offers the next access of a warp to the L1.
    fn issue_access(
        &mut self,
        slot: usize,
        around: &mut Surroundings<'_>,
        told: &mut Told,
        out: &mut Outbox,
    ) {
        let now = out.tick;
        let Some(warp) = self.warps.get_mut(slot) else { return };
        let Some(access) = warp.to_issue.front().cloned() else {
            warp.ready_at = now + self.config.clock.period;
            return;
        };
        if !around.has_room {
            self.stall(slot, WarpState::LinkFull, out);
            return;
        }
        let instruction = warp.instructions;
        let ticket = Ticket { warp: slot as u32, instruction, issued: now };
        let txn = (around.begin)(slot as u32, &access, now);
        let before = out.records.list.len();
        let about = About::new(access.range, txn.1);
        let (kind, bytes) = (access.kind, access.bytes.clone());
        out.record(self.config.id, about, || What::Issue { kind, warp: slot as u32, bytes });
        match around.l1.access(ticket, access, txn, out) {
            Accept::Full => {
                // It was not taken: its issue is not told; that the MSHRs are full is.
                if out.records.on && out.records.list.len() > before {
                    out.records.list.remove(before);
                    for (record, ordinal) in out.records.list.iter_mut().zip(0u32..).skip(before) {
                        record.id.ordinal = ordinal;
                    }
                }
                self.stall(slot, WarpState::MshrFull, out);
            }
            Accept::Done | Accept::Taken => {
                self.accesses += 1;
                self.issue_free_at = self.issue_free_at.max(now) + self.config.clock.period;
                if let (Some(warp), Some(number)) = (self.warps.get_mut(slot), txn.1) {
                    warp.to_issue.pop_front();
                    warp.waits.push(number);
                }
                self.after_issue(slot, told, out);
                self.unstall(out);
            }
        }
    }

    fn stall(&mut self, slot: usize, state: WarpState, out: &mut Outbox) {
        self.stalled.push_back(slot);
        self.set_state(slot, state, out);
    }

    /// What a warp does once an access has been taken: goes on issuing, goes on, or waits. What the L1 performed
    /// meanwhile is this agent's own.
    fn after_issue(&mut self, slot: usize, told: &mut Told, out: &mut Outbox) {
        let mine = std::mem::take(&mut out.completions);
        for completion in &mine {
            self.complete(completion, self.config.l1_latency, told, out);
        }
        out.completions.extend(mine);
        self.settle(slot, out);
    }

    /// Sets the state of a warp from what it has left to do.
    fn settle(&mut self, slot: usize, out: &mut Outbox) {
        let Some(warp) = self.warps.get(slot) else { return };
        let full = warp.must_wait(self.config.outstanding);
        let state = if warp.work.is_none() {
            return;
        } else if warp.is_issuing() || !full {
            WarpState::Ready
        } else {
            WarpState::Memory
        };
        self.set_state(slot, state, out);
    }

    /// An access of this agent was performed.
    pub fn complete(&mut self, completion: &Completion, latency: u32, told: &mut Told, out: &mut Outbox) {
        let slot = completion.ticket.warp as usize;
        let now = out.tick;
        let ready = now + self.config.clock.cycles(u64::from(latency.max(1)));
        let Some(warp) = self.warps.get_mut(slot) else { return };
        warp.waits.retain(|number| Some(*number) != completion.number);
        let found = warp.in_flight.iter().position(|entry| entry.number == completion.ticket.instruction);
        let Some(index) = found else { return };
        let mut finished = None;
        if let Some(entry) = warp.in_flight.get_mut(index) {
            entry.left = entry.left.saturating_sub(1);
            if entry.read.is_empty() && completion.kind != AccessKind::Store {
                entry.read.clone_from(&completion.read);
            }
            if entry.left == 0 {
                finished = Some(index);
            }
        }
        warp.ready_at = warp.ready_at.max(ready);
        if let Some(index) = finished {
            let entry = warp.in_flight.remove(index);
            Self::end_instruction(warp, entry, told);
        }
        let goes_on = match warp.state {
            WarpState::Memory => !warp.must_wait(self.config.outstanding),
            WarpState::Fence => warp.in_flight.is_empty(),
            _ => false,
        };
        if goes_on {
            self.set_state(slot, WarpState::Ready, out);
        }
    }

    fn end_instruction(warp: &mut Warp, entry: InFlight, told: &mut Told) {
        if entry.until.as_ref().is_some_and(|until| *until != entry.read) {
            warp.next = warp.next.saturating_sub(1);
            return;
        }
        if let Some(label) = entry.label {
            told.results.push((label, entry.read.clone()));
        }
        if !entry.read.is_empty() {
            warp.result = entry.read;
        }
    }

    /// The work of a warp has ended: the slot is free for what waits.
    fn end(&mut self, slot: usize, told: &mut Told, out: &mut Outbox) {
        let now = out.tick;
        let Some(warp) = self.warps.get_mut(slot) else { return };
        if let Some(work) = warp.work.take() {
            told.ended.push((work, std::mem::take(&mut warp.result)));
            self.set_state(slot, WarpState::Done, out);
            self.release_barrier(work, now + self.config.clock.period, out);
        }
        if let Some(work) = self.waiting.pop_front() {
            self.begin(slot, work, now + self.config.clock.period, out);
        }
    }

    /// Lets the warps of a block go on when all that are left stand at its barrier.
    fn release_barrier(&mut self, work: Work, ready: Tick, out: &mut Outbox) {
        let Work::Block { task, block, .. } = work else {
            self.release_lone(work, ready, out);
            return;
        };
        let same = |warp: &Warp| matches!(warp.work, Some(Work::Block { task: t, block: b, .. }) if t == task && b == block);
        if self.warps.iter().any(|warp| same(warp) && warp.state != WarpState::Barrier) {
            return;
        }
        for slot in 0..self.warps.len() {
            if self.warps.get(slot).is_some_and(same) {
                self.go_on(slot, ready, out);
            }
        }
    }

    /// A program has no block-mates to wait for.
    fn release_lone(&mut self, work: Work, ready: Tick, out: &mut Outbox) {
        let found =
            self.warps.iter().position(|warp| warp.work == Some(work) && warp.state == WarpState::Barrier);
        if let Some(slot) = found {
            self.go_on(slot, ready, out);
        }
    }

    fn go_on(&mut self, slot: usize, ready: Tick, out: &mut Outbox) {
        if let Some(warp) = self.warps.get_mut(slot) {
            warp.ready_at = ready;
        }
        self.set_state(slot, WarpState::Ready, out);
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (self.last, self.issue_free_at, &self.waiting, &self.stalled).hash(hasher);
        for warp in &self.warps {
            (warp.state, warp.work, warp.next, warp.ready_at, &warp.waits).hash(hasher);
            (&warp.to_issue, &warp.in_flight, &warp.result).hash(hasher);
        }
    }
}
