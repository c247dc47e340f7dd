//! A node's state without time: what decides what it will do, and nothing else. Equal states are equal values, whenever and
//! by whatever way they came about, so that an explorer can tell that it has been there.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::flush::Flushing;
use super::pending::{Pending, ProbeJob, Reason, Want, Who};
use super::remote::{Remote, RemoteState};
use super::room::Waiting;
use super::tag_miss_handler::TagMissHandler;
use super::{Node, Role};
use crate::model::address::Address;
use crate::model::bits::ones_of;
use crate::model::component::ComponentId;
use crate::model::message::Message;
use crate::model::patch::Patch;
use crate::model::sorted::SortedMap;
use crate::model::state::State;
use crate::model::tags::TagCounters;
use crate::protocol::outbox::{Outbox, Ticket};
use crate::protocol::remote_directory::RemoteDirectory;
use crate::protocol::store::Entry;

/// What a node holds and what it is busy with. Ticks, events, transactions and tickets are zero or none, uses are ranks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timeless {
    /// With their slots.
    entries: Vec<(u32, Entry)>,
    pending: SortedMap<Address, Pending>,
    jobs: SortedMap<Address, ProbeJob>,
    waiting: Waiting,
    recalling: SmallVec<[Address; 2]>,
    mshrs_used: u32,
    flushing: Flushing,
    unseen: BTreeMap<Address, u64>,
    tags: Option<Box<TagMissHandler>>,
    remote: Option<RemoteState>,
    purging: SmallVec<[ComponentId; 1]>,
}

impl Node {
    /// How many blocks its state without time holds, at most.
    #[must_use]
    pub fn blocks_at_most(&self) -> usize {
        self.store.written()
    }

    /// Its state without time.
    #[must_use]
    pub fn timeless(&self) -> Timeless {
        let mut entries: Vec<(u32, Entry)> =
            self.store.entries().map(|(slot, entry)| (slot as u32, entry.clone())).collect();
        self.rank(&mut entries);
        for (_, entry) in &mut entries {
            // None and nothing newer mean the same, and without peer transfer it decides nothing but when.
            entry.newer = entry.newer.take().filter(|newer| self.config.peers != 0 && newer.any());
        }
        let mut timeless = Timeless {
            entries,
            pending: self.pending.clone(),
            jobs: self.jobs.clone(),
            waiting: self.waiting.clone(),
            recalling: self.recalling.clone(),
            mshrs_used: self.mshrs_used,
            flushing: self.flushing.clone(),
            unseen: self.unseen.clone(),
            tags: self.tags.clone(),
            remote: self.remote.as_deref().map(Remote::state),
            purging: self.purging.clone(),
        };
        if let Some(tags) = &mut timeless.tags {
            tags.counters = TagCounters::default();
            tags.refused.clear();
            tags.queue.iter_mut().for_each(want_without_time);
            tags.scores.iter_mut().for_each(|score| (score.since, score.number) = (0, None));
            tags.relayed.iter_mut().for_each(|(_, since)| *since = 0);
        }
        timeless.pending.each_mut(without_time);
        timeless.jobs.each_mut(|job| (job.txn, job.number) = (None, None));
        timeless
    }

    /// In place of the moment of its last use each entry has its rank among those of its set.
    fn rank(&self, entries: &mut [(u32, Entry)]) {
        let Some((_, ways)) = self.store.shape() else {
            for (_, entry) in entries.iter_mut() {
                entry.used = 0;
            }
            return;
        };
        let set = |slot: u32| slot / ways.max(1);
        let uses: Vec<(u32, u64)> = entries.iter().map(|(slot, entry)| (set(*slot), entry.used)).collect();
        for (slot, entry) in entries {
            let older = uses.iter().filter(|(other, used)| *other == set(*slot) && *used < entry.used);
            entry.used = older.count() as u64;
        }
    }

    /// This node in another state, with nothing counted. It must be empty: that of a machine before its first event.
    #[must_use]
    pub fn in_state(&self, timeless: &Timeless) -> Self {
        let mut node = self.clone();
        for (slot, entry) in &timeless.entries {
            node.store.place(*slot as usize, entry.clone());
        }
        node.pending = timeless.pending.clone();
        node.jobs = timeless.jobs.clone();
        node.waiting = timeless.waiting.clone();
        node.recalling = timeless.recalling.clone();
        node.mshrs_used = timeless.mshrs_used;
        node.flushing.clone_from(&timeless.flushing);
        node.unseen.clone_from(&timeless.unseen);
        node.tags.clone_from(&timeless.tags);
        node.purging.clone_from(&timeless.purging);
        if let (Some(remote), Some(state)) = (&self.remote, &timeless.remote) {
            node.remote = Some(Box::new(remote.in_state(state)));
        }
        node.uses = timeless.entries.len() as u64;
        node
    }

    /// An empty node that is otherwise the same.
    #[must_use]
    pub fn emptied(&self) -> Self {
        let mut empty = Self::new((*self.config).clone(), self.store.emptied());
        if let Some(remote) = &self.remote {
            empty.set_remote(RemoteDirectory::new(remote.directory.config()));
        }
        empty
    }

    /// Evicts the block at `address`, though its place is not needed. `false` if it is not here or busy.
    pub fn evict_block(&mut self, address: Address, out: &mut Outbox) -> bool {
        let block = self.block_of(address);
        if self.config.role == Role::Root || self.store.get(block).is_none() || self.pending.contains(block) {
            return false;
        }
        self.evict(block, Reason::Drain, (None, None), out);
        self.settle(out);
        true
    }

    /// Whether an acquire would change anything here.
    #[must_use]
    pub fn holds_anything(&self) -> bool {
        self.store.entries().next().is_some()
    }

    /// Accesses from above that are under way.
    #[must_use]
    pub fn accesses_under_way(&self) -> usize {
        let is_local = |want: &&Want| matches!(want.who, Who::Local(_));
        let of = |pending: &Pending| pending.queue.iter().chain(&pending.passed).filter(is_local).count();
        self.pending.values().map(of).sum()
    }
}

impl Node {
    /// Whether blocks have the same places in another node.
    #[must_use]
    pub fn is_placed_like(&self, other: &Self) -> bool {
        self.store.shape() == other.store.shape() && self.store.neighbours() == other.store.neighbours()
    }
}

/// Children by their places, a bit each, with other places.
fn moved(bits: u64, child: &impl Fn(u16) -> u16) -> u64 {
    ones_of(bits).fold(0, |all, place| all | 1 << child(place as u16))
}

impl Timeless {
    /// The same with other names: of components, and of children by their places.
    #[must_use]
    pub fn renamed(&self, id: impl Fn(ComponentId) -> ComponentId, child: impl Fn(u16) -> u16) -> Self {
        let mut renamed = self.clone();
        for unit in renamed.entries.iter_mut().flat_map(|(_, entry)| &mut entry.units) {
            unit.owner = unit.owner.map(&child);
            unit.sharers = moved(unit.sharers, &child);
        }
        renamed.unseen.values_mut().for_each(|children| *children = moved(*children, &child));
        let want = |want: &mut Want| {
            if let Who::Child(place) = &mut want.who {
                *place = child(*place);
            }
        };
        renamed.pending.each_mut(|pending| {
            pending.parent = pending.parent.map(&id);
            if let Some(asked) = &mut pending.asked {
                asked.parent = id(asked.parent);
            }
            pending.queue.iter_mut().chain(&mut pending.passed).for_each(want);
            for service in &mut pending.serving {
                want(&mut service.want);
                service.awaiting = moved(service.awaiting, &child);
            }
            if let Some(probe) = &mut pending.probe {
                probe.awaiting = moved(probe.awaiting, &child);
            }
            if let Some(eviction) = &mut pending.evicting {
                eviction.awaiting = moved(eviction.awaiting, &child);
            }
        });
        renamed.tags.iter_mut().flat_map(|tags| &mut tags.queue).for_each(want);
        renamed.jobs.each_mut(|job| {
            job.parent = id(job.parent);
            job.peer = job.peer.map(&id);
        });
        if let Some(remote) = &mut renamed.remote {
            remote.renamed(|children| moved(children, &child));
        }
        for memory in &mut renamed.purging {
            *memory = id(*memory);
        }
        renamed
    }

    /// Every block of bytes in it, for reading or changing values.
    pub fn patches_mut(&mut self, mut each: impl FnMut(&mut Patch)) {
        for (_, entry) in &mut self.entries {
            each(&mut entry.data);
        }
        self.pending.each_mut(|pending| {
            if let Some(data) = pending.asked.as_mut().and_then(|asked| asked.data.as_mut()) {
                each(std::sync::Arc::make_mut(data));
            }
        });
        self.jobs.each_mut(|job| {
            if let Some(dirty) = &mut job.dirty {
                each(dirty);
            }
            if let Some(data) = &mut job.for_peer {
                each(std::sync::Arc::make_mut(data));
            }
        });
    }

    /// Whether a store to a byte has been handed on from here, and is not known to have been performed.
    #[must_use]
    pub fn has_handed_on(&self, at: Address) -> bool {
        self.pending.values().any(|pending| pending.stores_passed(at).next().is_some())
    }

    /// Bytes that cannot be read any more, such as those of a place that is kept for a block under way, are zeros.
    pub fn forget_dead_bytes(&mut self, is_root: bool) {
        for (_, entry) in &mut self.entries {
            if entry.state == State::I && !is_root {
                entry.data.clear_unmarked();
            }
        }
    }
}

fn without_time(pending: &mut Pending) {
    pending.since = 0;
    if let Some(asked) = &mut pending.asked {
        (asked.since, asked.number) = (0, None);
    }
    pending.queue.iter_mut().chain(&mut pending.passed).for_each(want_without_time);
    for service in &mut pending.serving {
        service.since = 0;
        want_without_time(&mut service.want);
    }
    if let Some(probe) = &mut pending.probe {
        (probe.since, probe.number, probe.cause) = (0, None, 0);
    }
    if let Some(eviction) = &mut pending.evicting {
        (eviction.since, eviction.number, eviction.txn) = (0, None, None);
    }
}

fn want_without_time(want: &mut Want) {
    (want.txn, want.number, want.cause, want.arrived) = (None, None, 0, 0);
    if let Who::Local(ticket) = &mut want.who {
        *ticket = Ticket { warp: 0, instruction: 0, issued: 0 };
    }
}

/// A message without the transaction that it belongs to and the event that sent it.
#[must_use]
pub fn message_without_time(message: &Message) -> Message {
    Message { txn: None, number: None, cause: 0, ..message.clone() }
}

#[cfg(test)]
impl Timeless {
    /// The same with every byte 0, those of accesses under way too.
    #[must_use]
    pub fn without_values(mut self) -> Self {
        self.patches_mut(|patch| patch.change_bytes(|_, _| 0));
        let zero = |want: &mut Want| {
            if let Some(access) = &mut want.access {
                std::sync::Arc::make_mut(access).bytes.fill(0);
            }
        };
        self.pending.each_mut(|pending| {
            pending.queue.iter_mut().chain(&mut pending.passed).for_each(zero);
            pending.serving.iter_mut().for_each(|service| zero(&mut service.want));
        });
        self
    }
}
