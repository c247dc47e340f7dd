//! What a node waits for, block by block: its part of the wait-for graph.

use super::Node;
use super::need::{Keeper, Need, Stand};
use super::pending::{Asked, Pending, Want, Who};
use super::tag_view::score_holders;
use crate::model::address::{Address, Range};
use crate::model::bits::ones_of;
use crate::model::component::ComponentId;
use crate::model::fault::Fault;
use crate::model::wait::Doing;

impl Node {
    /// Everything that is under way here.
    #[must_use]
    pub fn stands(&self) -> Vec<Stand> {
        let tagged = self.tags.as_deref().map(|tags| self.tag_stands(tags));
        let blocks = self.pending.values().flat_map(|pending| self.stands_of(pending));
        tagged.into_iter().flatten().chain(blocks).collect()
    }

    /// What is under way here for the block of an address.
    #[must_use]
    pub fn stands_at(&self, address: Address) -> Vec<Stand> {
        let block = self.block_of(address);
        let mut stands = self.tags.as_deref().map_or_else(Vec::new, |tags| self.tag_stands(tags));
        stands.retain(|stand| self.block_of(stand.block) == block);
        if let Some(pending) = self.pending.get(block) {
            stands.extend(self.stands_of(pending));
        }
        stands
    }

    fn stands_of(&self, pending: &Pending) -> Vec<Stand> {
        let block = pending.block;
        let mut all = self.queues(pending);
        if let Some(asked) = &pending.asked {
            all.push(self.asks(block, asked));
        }
        for service in &pending.serving {
            let range = self.unit_range(block, service.unit);
            let mut needs = self.answers_of(service.awaiting, range);
            if service.granted
                && !service.acknowledged
                && let Who::Child(child) = service.want.who
                && let Some(&child) = self.config.children.get(child as usize)
            {
                needs.push(Need::GrantAck { child, range: service.want.range });
            }
            let (doing, txn) = (Doing::Serves, service.want.number);
            all.push(Stand { block: range.start, doing, since: service.since, txn, needs });
        }
        if let Some(probe) = pending.probe {
            let needs = if probe.started {
                self.answers_of(probe.awaiting, self.range_of(block))
            } else {
                self.holds_back(pending)
            };
            all.push(Stand { block, doing: Doing::Answers, since: probe.since, txn: probe.number, needs });
        }
        if let Some(eviction) = pending.evicting {
            let needs = self.answers_of(eviction.awaiting, self.range_of(block));
            let (doing, since) = (Doing::Evicts, eviction.since);
            all.push(Stand { block, doing, since, txn: eviction.number, needs });
        }
        if pending.writeback
            && let Some(parent) = pending.parent
        {
            let needs = vec![Need::EvictAck { parent, range: self.range_of(block) }];
            all.push(Stand { block, doing: Doing::WritesBack, since: pending.since, txn: None, needs });
        }
        if let (Some(want), Some(parent)) = (pending.passed.front(), pending.parent) {
            let needs = vec![Need::Reply { parent, range: want.range }];
            all.push(Stand { block, doing: Doing::Forwards, since: want.arrived, txn: want.number, needs });
        }
        all
    }

    fn asks(&self, block: Address, asked: &Asked) -> Stand {
        let (parent, range) = (asked.parent, self.range_of(block));
        let need = if asked.granted.is_some() {
            Need::PeerData { parent, range }
        } else {
            Need::Grant { parent, request: asked.kind, range }
        };
        Stand { block, doing: Doing::Asks, since: asked.since, txn: asked.number, needs: vec![need] }
    }

    /// What waits for its turn, unit by unit.
    fn queues(&self, pending: &Pending) -> Vec<Stand> {
        let mut all: Vec<Stand> = Vec::new();
        for want in &pending.queue {
            let unit = self.unit_of(pending.block, want.range.start);
            let block = self.unit_range(pending.block, unit).start;
            if all.iter().any(|stand| stand.block == block) {
                continue;
            }
            let needs = self.turn_needs(pending, want, unit);
            let (doing, since) = (Doing::Queues, want.arrived);
            all.push(Stand { block, doing, since, txn: want.number, needs });
        }
        all
    }

    /// What the first want of a unit waits for.
    pub(super) fn turn_needs(&self, pending: &Pending, want: &Want, unit: u32) -> Vec<Need> {
        let block = pending.block;
        if pending.probe.is_some() {
            return vec![Need::Own(block, Doing::Answers)];
        }
        if pending.evicting.is_some() {
            return vec![Need::Own(block, Doing::Evicts)];
        }
        if self.awaits_purge(block) {
            return self.purge_needs();
        }
        if self.waits_for_evict_ack(pending) {
            return vec![Need::Own(block, Doing::WritesBack)];
        }
        if pending.serving.iter().any(|service| service.unit == unit) {
            return vec![Need::Own(self.unit_range(block, unit).start, Doing::Serves)];
        }
        if pending.waits {
            let is_for_mshr = self.waiting.for_mshr.contains(&block);
            return vec![if is_for_mshr { Need::Mshr } else { Need::Way(self.store.set_of(block)) }];
        }
        let is_served_here = matches!(self.decide_want(pending, want), super::Decision::Here(_));
        if pending.asked.is_some() && !is_served_here {
            return vec![Need::Own(block, Doing::Asks)];
        }
        Vec::new()
    }

    /// What a full remote directory waits for: that what is being served has been, and then that the CPU has given up all lines.
    fn purge_needs(&self) -> Vec<Need> {
        let Some(children) = self.purge_awaits() else {
            let serving = self.pending.values().flat_map(|pending| {
                pending.serving.iter().map(|service| self.unit_range(pending.block, service.unit).start)
            });
            return serving.map(|unit| Need::Own(unit, Doing::Serves)).collect();
        };
        let children = ones_of(children).filter_map(|bit| self.config.children.get(bit as usize).copied());
        children.map(|child| Need::Purged { child, range: self.range_of(Address(0)) }).collect()
    }

    /// What keeps a probe from being answered.
    fn holds_back(&self, pending: &Pending) -> Vec<Need> {
        let block = pending.block;
        let serving = pending
            .serving
            .iter()
            .map(|service| Need::Own(self.unit_range(block, service.unit).start, Doing::Serves));
        let evicting = pending.evicting.map(|_| Need::Own(block, Doing::Evicts));
        let asked = pending.asked.as_ref().filter(|_| self.config.has_fault(Fault::ProbesMayNotPass));
        serving.chain(evicting).chain(asked.map(|_| Need::Own(block, Doing::Asks))).collect()
    }

    fn answers_of(&self, awaiting: u64, range: Range) -> Vec<Need> {
        ones_of(awaiting)
            .filter_map(|bit| self.config.children.get(bit as usize).copied())
            .map(|child| Need::Answer { child, range })
            .collect()
    }

    /// What stands here of a child's request for the unit at `address`: it is being served, or waits for its turn.
    #[must_use]
    pub fn stand_of_request(&self, child: ComponentId, address: Address) -> Option<(Address, Doing)> {
        let child = self.config.child(child)?;
        if let Some(tags) = self.tags.as_deref() {
            return self.tag_stand_of(tags, child, address);
        }
        let who = Who::Child(child);
        let block = self.block_of(address);
        let pending = self.pending.get(block)?;
        let unit = self.unit_of(block, address);
        let start = self.unit_range(block, unit).start;
        let is_here = |want: &Want| want.who == who && self.unit_of(block, want.range.start) == unit;
        // What is being served may be an earlier request, whose grant the child has, and whose acknowledgement is on its way.
        if pending.queue.iter().any(|want| is_here(want) && want.range.contains(address)) {
            return Some((start, Doing::Queues));
        }
        if pending.serving.iter().any(|service| service.unit == unit && service.want.who == who) {
            return Some((start, Doing::Serves));
        }
        if pending.queue.iter().any(is_here) {
            return Some((start, Doing::Queues));
        }
        pending.passed.iter().any(is_here).then_some((block, Doing::Forwards))
    }

    /// The blocks here that a memory wants back, all of its own being wanted; none if it wants nothing.
    #[must_use]
    pub fn unpurged(&self, memory: ComponentId) -> Option<Vec<Address>> {
        let is_its = |job: Address| self.jobs.get(job).is_some_and(|job| job.parent == memory);
        let blocks = self.pending.values_that(|pending| pending.probe.is_some_and(|probe| is_its(probe.job)));
        self.purging.contains(&memory).then(|| blocks.map(|pending| pending.block).collect())
    }

    /// The blocks here that have not answered a probe of this range yet.
    #[must_use]
    pub fn unanswered(&self, range: Range) -> Vec<Address> {
        let Some(job) = self.jobs.get(range.start).filter(|job| job.range == range) else {
            return Vec::new();
        };
        let key = job.range.start;
        let has_probe = |pending: &Pending| pending.probe.is_some_and(|probe| probe.job == key);
        self.pending.values_that(has_probe).map(|pending| pending.block).collect()
    }

    /// Whether a grant for this block is still awaited, or its data.
    #[must_use]
    pub fn awaits_grant(&self, address: Address) -> bool {
        self.pending.get(self.block_of(address)).is_some_and(|pending| pending.asked.is_some())
    }

    /// The blocks that hold the node's MSHRs, since when, and what must end before each is free.
    #[must_use]
    pub fn mshr_holders(&self) -> Vec<Keeper> {
        if let Some(tags) = self.tags.as_deref() {
            return score_holders(tags);
        }
        let with_mshr = self.pending.values_that(|pending| pending.mshr);
        with_mshr
            .map(|pending| {
                let kept = [Doing::Queues, Doing::Asks, Doing::Forwards];
                (pending.block, pending.since, self.own(pending, |doing| kept.contains(&doing)))
            })
            .collect()
    }

    /// The blocks that keep the ways of a set, since when, and what must end before each can be evicted.
    #[must_use]
    pub fn way_holders(&self, set: u32) -> Vec<Keeper> {
        let in_set = self.pending.values_that(|pending| {
            self.store.set_of(pending.block) == set && self.store.get(pending.block).is_some()
        });
        in_set.map(|pending| (pending.block, pending.since, self.own(pending, |_| true))).collect()
    }

    /// The set that a block stands in; 0 of a memory.
    #[must_use]
    pub fn set_of(&self, block: Address) -> u32 {
        self.store.set_of(block)
    }

    fn own(&self, pending: &Pending, counts: impl Fn(Doing) -> bool) -> Vec<Need> {
        let stands = self.stands_of(pending).into_iter().filter(|stand| counts(stand.doing));
        stands.map(|stand| Need::Own(stand.block, stand.doing)).collect()
    }
}
