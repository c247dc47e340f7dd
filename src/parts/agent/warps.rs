//! A warp slot: its work, and the memory instructions that it has in flight.

use std::collections::VecDeque;
use std::sync::Arc;

use smallvec::SmallVec;

use super::Work;
use crate::model::access::{Access, Bytes};
use crate::model::address::Address;
use crate::model::message::TxnNumber;
use crate::model::page::Page;
use crate::model::time::{EventNumber, Tick};
use crate::model::warp::WarpState;

/// A memory instruction that has accesses left.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct InFlight {
    pub(super) number: u64,
    pub(super) left: u32,
    pub(super) label: Option<Arc<str>>,
    /// Repeat it until it reads this.
    pub(super) until: Option<Bytes>,
    /// What its accesses have read so far, each from an address on.
    pub(super) read: Vec<(Address, Bytes)>,
}

impl InFlight {
    /// What all of it has read, in the order of addresses.
    pub(super) fn take_result(&mut self) -> Bytes {
        let mut read = std::mem::take(&mut self.read);
        read.sort_by_key(|(start, _)| *start);
        let mut parts = read.into_iter().map(|(_, bytes)| bytes);
        let mut result = parts.next().unwrap_or_default();
        result.extend(parts.flatten());
        result
    }
}

/// An access that waited for a translation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SetAside {
    /// Number of its memory instruction.
    pub(super) instruction: u64,
    pub(super) access: Access,
}

/// One warp slot.
#[derive(Clone, Debug, Default)]
pub struct Warp {
    pub state: WarpState,
    pub since: Tick,
    /// When it goes on by itself, if it waits for what it has hit, or did so last. Told when its unit can issue next: no part of the
    /// digest.
    pub(super) lands_at: Tick,
    pub work: Option<Work>,
    /// The next operation of its work.
    pub next: u64,
    pub(super) ready_at: Tick,
    /// When the data of instructions come that hit, each beside the others, ascending: until then they are in flight, too. Some may
    /// have come.
    pub(super) hits: SmallVec<[Tick; 2]>,
    /// Accesses of the current instruction that the L1 has not taken yet.
    pub(super) to_issue: VecDeque<Access>,
    /// Accesses that wait for the translation of their page, and the numbers of their instructions: the warp goes on, so
    /// that it may not be the current one any more.
    pub(super) untranslated: Vec<(Page, SetAside)>,
    /// Those whose page is translated now. They go first.
    pub(super) translated: VecDeque<SetAside>,
    pub(super) in_flight: SmallVec<[InFlight; 1]>,
    /// Transactions in flight.
    pub waits: SmallVec<[TxnNumber; 2]>,
    pub(super) instructions: u64,
    /// When it began to spin, if it does.
    pub spins_since: Option<Tick>,
    /// Ticks that it has spun before.
    pub(super) spun: Tick,
    /// What its last load or atomic read.
    pub(super) result: Bytes,
    /// The operation of its work that it took last.
    pub current: Option<u64>,
    /// The event after which it could go on: its start, its last issue, or the end of what it waited for. Nothing depends on it:
    /// no part of the digest.
    pub(super) let_go: Option<EventNumber>,
}

impl Warp {
    /// Memory instructions and others done; none that is in flight.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.instructions.saturating_sub(self.in_flight.len() as u64)
    }

    /// Ticks that it has spun until `now`: from the first try to the one that read what it waited for.
    #[must_use]
    pub fn spun(&self, now: Tick) -> Tick {
        self.spun + self.spins_since.map_or(0, |since| now.saturating_sub(since))
    }

    /// What it does at a time: one that is ready, and whose data of what has hit are still to come, waits for them.
    #[must_use]
    pub fn state_at(&self, now: Tick) -> WarpState {
        if self.state == WarpState::Ready && self.since > now { WarpState::Memory } else { self.state }
    }

    /// When it can go on, as far as it knows: with the lines of an instruction one after the other, with the next one as soon as no more
    /// than these are in flight.
    pub(super) fn ready_from(&self, outstanding: u32) -> Tick {
        if self.hits.is_empty() || self.is_issuing() {
            return self.ready_at;
        }
        let over = (self.in_flight.len() + self.hits.len() + 1).saturating_sub(outstanding.max(1) as usize);
        // What is under way below has an event of its own.
        let last = over.min(self.hits.len()).checked_sub(1).and_then(|place| self.hits.get(place));
        self.ready_at.max(last.copied().unwrap_or(0))
    }

    /// The data of an instruction that has hit come at `tick`.
    pub(super) fn note_hit(&mut self, tick: Tick, now: Tick) {
        self.hits.retain(|other| *other > now);
        let tick = self.hits.last().map_or(tick, |last| tick.max(*last));
        self.hits.push(tick);
    }

    /// When the data of all instructions that have hit are there, if that is still to come.
    pub(super) fn all_landed(&self, now: Tick) -> Option<Tick> {
        self.hits.last().copied().filter(|last| *last > now)
    }

    pub(super) fn is_issuing(&self) -> bool {
        !self.to_issue.is_empty() || !self.translated.is_empty()
    }

    /// The access to be issued next, and the number of its instruction.
    pub(super) fn next_access(&self) -> Option<(u64, &Access)> {
        let set_aside = self.translated.front().map(|aside| (aside.instruction, &aside.access));
        set_aside.or_else(|| Some((self.instructions, self.to_issue.front()?)))
    }

    pub(super) fn take_access(&mut self) -> Option<SetAside> {
        let instruction = self.instructions;
        let current = |access| SetAside { instruction, access };
        self.translated.pop_front().or_else(|| self.to_issue.pop_front().map(current))
    }

    /// The page that its oldest untranslated access waits for.
    #[must_use]
    pub fn untranslated(&self) -> Option<Page> {
        self.untranslated.first().map(|(page, _)| *page)
    }

    /// Its oldest untranslated access.
    #[must_use]
    pub fn first_untranslated(&self) -> Option<&Access> {
        self.untranslated.first().map(|(_, aside)| &aside.access)
    }

    /// Whether one of its accesses waits for the translation of a page.
    #[must_use]
    pub fn waits_for(&self, page: Page) -> bool {
        self.untranslated.iter().any(|(waited, _)| *waited == page)
    }

    /// Whether the next instruction must wait for one in flight. Nothing passes a spinning load, nor an access whose page is not
    /// translated: "the warp that has missed in the TLB will be stalled" (Paged GPU memory, 3.1).
    pub(super) fn must_wait(&self, outstanding: u32) -> bool {
        self.in_flight.len() as u32 >= outstanding.max(1)
            || !self.untranslated.is_empty()
            || self.in_flight.iter().any(|entry| entry.until.is_some())
    }
}
