//! Inspection of a memory that is a cache: what waits in its tag miss handler, and for what.

use super::Node;
use super::busy::{Busy, WaitsFor};
use super::need::{Keeper, Need, Stand};
use super::pending::{Want, Who};
use super::tag_miss_handler::{Score, TagMissHandler};
use crate::model::address::{Address, Range};
use crate::model::component::{ComponentId, Components};
use crate::model::inspect::{MshrEntryView, MshrView, oldest};
use crate::model::message::MessageKind;
use crate::model::state::{Action, State};
use crate::model::tags::{TagRequest, TagScore, TagView};
use crate::model::time::Tick;
use crate::model::wait::Doing;
use crate::protocol::homes::Homes;
use crate::protocol::table::Next;

impl Node {
    /// The tags of the memory and its tag miss handler, without its banks.
    #[must_use]
    pub fn tag_view(&self) -> Option<TagView> {
        let (tags, config) = (self.tags.as_deref()?, self.config.tags?);
        let request = |want: &Want| TagRequest {
            range: want.range,
            txn: want.number,
            since: want.arrived,
            writes: want.action != Action::Load,
            arrived: !tags.is_awaited(self.block_of(want.range.start)),
        };
        let score = |score: &Score| TagScore {
            range: self.range_of(score.block),
            count: score.count,
            arrived: score.arrived,
            since: score.since,
            txn: score.number,
        };
        Some(TagView {
            node: self.config.id,
            counters: tags.counters,
            first_hits: self.counters.hits,
            queue: tags.queue.iter().map(request).collect(),
            queue_capacity: config.pending,
            scores: tags.scores.iter().map(score).collect(),
            score_capacity: config.scoreboard,
            relayed: tags.relayed.len() as u32,
            banks: Vec::new(),
        })
    }

    /// Whether another block stands in the place of one that is not here, in a memory that is a cache.
    pub(super) fn has_another(&self, address: Address) -> bool {
        let block = self.block_of(address);
        self.is_tagged() && self.store.get(block).is_none() && self.occupant(block).is_some()
    }

    /// The state that a block will be in whose data are on their way.
    pub(super) fn tag_target(&self, block: Address) -> Option<State> {
        self.tags.as_deref().filter(|tags| tags.is_awaited(block))?;
        match self.config.table.cell(self.tag_state(block), Action::Load, true)?.next {
            Next::To(state) => Some(state),
            Next::Same | Next::Granted => None,
        }
    }

    /// Whether the data of a block have come to a memory that is a cache.
    #[must_use]
    pub fn has_fetched(&self, address: Address) -> bool {
        let state = self.store.get(self.block_of(address)).map(|entry| entry.state);
        self.tags.is_some()
            && state.is_some_and(|state| state != State::I && !self.config.table.is_unfetched(state, true))
    }

    fn tag_parent(&self, block: Address) -> Option<ComponentId> {
        self.config.parent(block, &Homes::Single)
    }

    /// What the requests for a block wait for: the parent, or those ahead of them.
    pub(super) fn tag_busy(&self, tags: &TagMissHandler, block: Address) -> Vec<Busy> {
        let Some(parent) = self.tag_parent(block) else { return Vec::new() };
        let own = tags.queue.iter().filter(|want| self.block_of(want.range.start) == block);
        let head = tags.queue.front().map(|want| self.block_of(want.range.start));
        let waits = |awaited: bool| match head {
            Some(head) if !awaited => WaitsFor::Turn(head),
            _ => WaitsFor::Parent(parent, MessageKind::Fetch.name()),
        };
        own.map(|want| Busy {
            waits: waits(tags.is_awaited(block)),
            since: want.arrived,
            number: want.number,
        })
        .collect()
    }

    /// Everything that waits in the tag miss handler.
    pub(super) fn tag_stands(&self, tags: &TagMissHandler) -> Vec<Stand> {
        let mut all: Vec<Stand> = Vec::new();
        for want in &tags.queue {
            let block = self.block_of(want.range.start);
            if all.iter().any(|stand| stand.block == block) {
                continue;
            }
            let head = tags.queue.front().map_or(block, |head| self.block_of(head.range.start));
            let needs = if tags.is_awaited(block) {
                vec![Need::Own(block, Doing::Asks)]
            } else if head == block {
                Vec::new()
            } else {
                vec![Need::Own(head, Doing::Queues)]
            };
            let (doing, since) = (Doing::Queues, want.arrived);
            all.push(Stand { block, doing, since, txn: want.number, needs });
        }
        for score in tags.scores.iter().filter(|score| !score.arrived) {
            let range = self.range_of(score.block);
            let needs = self.tag_parent(score.block).map(|parent| Need::Grant {
                parent,
                request: MessageKind::Fetch,
                range,
            });
            let (block, doing, since) = (score.block, Doing::Asks, score.since);
            all.push(Stand { block, doing, since, txn: score.number, needs: needs.into_iter().collect() });
        }
        all.extend(tags.relayed.iter().map(|(range, since)| self.relayed_stand(*range, *since)));
        all
    }

    fn relayed_stand(&self, range: Range, since: Tick) -> Stand {
        let needs = self.tag_parent(range.start).map(|parent| Need::Reply { parent, range });
        let block = self.block_of(range.start);
        Stand { block, doing: Doing::Forwards, since, txn: None, needs: needs.into_iter().collect() }
    }

    /// Whether a child's request for a block waits in the pending queue.
    pub(super) fn tag_stand_of(
        &self,
        tags: &TagMissHandler,
        child: u16,
        address: Address,
    ) -> Option<(Address, Doing)> {
        let block = self.block_of(address);
        let is_it = |want: &&Want| want.who == Who::Child(child) && want.range.contains(address);
        tags.queue.iter().find(is_it).map(|_| (block, Doing::Queues))
    }

    /// The scoreboard as what it is: the registers of misses under way.
    pub(super) fn score_view(&self, tags: &TagMissHandler, names: &Components, entries: usize) -> MshrView {
        let entry = |score: &Score| {
            let parent = self.tag_parent(score.block).map_or("", |parent| names.path(parent));
            let waits_for = if score.arrived {
                "its data have come: waits for the head of the pending queue".to_owned()
            } else {
                format!("waits for fetch from {parent}")
            };
            MshrEntryView {
                range: self.range_of(score.block),
                txn: score.number,
                since: score.since,
                waits_for,
                merged: score.count,
                has_mshr: true,
            }
        };
        MshrView {
            node: self.config.id,
            used: tags.scores.len() as u32,
            capacity: self.config.tags.map(|config| config.scoreboard),
            high_water: tags.counters.scoreboard_high_water,
            under_way: tags.scores.len(),
            entries: oldest(tags.scores.iter(), entries, |score| score.since).map(entry).collect(),
        }
    }
}

/// The entries of a scoreboard, and what must come before each is free.
pub(super) fn score_holders(tags: &TagMissHandler) -> Vec<Keeper> {
    let holder = |score: &Score| {
        let doing = if score.arrived { Doing::Queues } else { Doing::Asks };
        (score.block, score.since, vec![Need::Own(score.block, doing)])
    };
    tags.scores.iter().map(holder).collect()
}
