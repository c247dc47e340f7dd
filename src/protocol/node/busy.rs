//! What a block waits for at a node, in words.

use super::Node;
use super::need::Need;
use super::pending::{Asked, Pending, Service, Want, Who};
use crate::model::address::Address;
use crate::model::bits::ones_of;
use crate::model::component::{ComponentId, Components};
use crate::model::message::TxnNumber;
use crate::model::time::Tick;

/// What a block is busy with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Busy {
    pub waits: WaitsFor,
    pub since: Tick,
    pub number: Option<TxnNumber>,
}

/// For whom, or for what, a block waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// The parent's grant, reply or acknowledgement.
    Parent(ComponentId, &'static str),
    /// Answers of these children.
    Children(Vec<ComponentId>, &'static str),
    /// A child's acknowledgement of its grant.
    Ack(ComponentId),
    /// A rule of the directory for this request of a child: none applies.
    Rule(ComponentId, &'static str),
    /// The data from another cache that go with a grant of this parent, which has come.
    PeerData(ComponentId),
    /// An MSHR of this node.
    Mshr,
    /// A way of this set.
    Way(u32),
    /// Its turn.
    Others,
    /// The CPU to give up what fills the remote directory.
    Purge,
    /// Its turn in the pending queue of a tag miss handler, at whose head is a request for this block.
    Turn(Address),
}

impl Busy {
    /// In words.
    #[must_use]
    pub fn describe(&self, names: &Components) -> String {
        let list = |ids: &[ComponentId]| ids.iter().map(|id| names.path(*id)).collect::<Vec<_>>().join(" ");
        match &self.waits {
            WaitsFor::Parent(parent, what) => format!("waits for {what} from {}", names.path(*parent)),
            WaitsFor::Children(children, what) => format!("waits for {what} of {}", list(children)),
            WaitsFor::Ack(child) => format!("waits for grant-ack of {}", names.path(*child)),
            WaitsFor::Rule(child, request) => {
                format!("has no rule in its table that answers the {request} of {}", names.path(*child))
            }
            WaitsFor::PeerData(parent) => {
                format!(
                    "waits for the data from another cache; the grant of {} has come",
                    names.path(*parent)
                )
            }
            WaitsFor::Mshr => "waits for a free MSHR".to_owned(),
            WaitsFor::Way(set) => format!("waits for a free way of set {set}"),
            WaitsFor::Others => "waits for its turn".to_owned(),
            WaitsFor::Purge => {
                "waits until the CPU has given up all lines of this memory: the remote directory is full"
                    .to_owned()
            }
            WaitsFor::Turn(head) => {
                format!("waits for its turn in the pending queue, at whose head is block {head}")
            }
        }
    }
}

impl Node {
    pub(super) fn children_of(&self, bits: u64) -> Vec<ComponentId> {
        ones_of(bits).filter_map(|bit| self.config.children.get(bit as usize).copied()).collect()
    }

    /// Everything that the block at `address` waits for.
    #[must_use]
    pub fn busy(&self, address: Address) -> Vec<Busy> {
        let block = self.block_of(address);
        if let Some(tags) = self.tags.as_deref() {
            return self.tag_busy(tags, block);
        }
        let Some(pending) = self.pending.get(block) else { return Vec::new() };
        let mut all = Vec::new();
        if let Some(asked) = &pending.asked {
            let waits = if asked.granted.is_some() {
                WaitsFor::PeerData(asked.parent)
            } else {
                WaitsFor::Parent(asked.parent, asked.kind.name())
            };
            let (since, number) = Self::asked_for(pending, asked);
            all.push(Busy { waits, since, number });
        }
        let served = pending.serving.iter().filter_map(|service| {
            let waits = self.service_waits(service)?;
            Some(Busy { waits, since: service.since, number: service.want.number })
        });
        all.extend(served);
        if let Some(probe) = pending.probe.filter(|probe| probe.awaiting != 0) {
            let waits = WaitsFor::Children(self.children_of(probe.awaiting), "answers");
            all.push(Busy { waits, since: probe.since, number: probe.number });
        }
        if let Some(eviction) = pending.evicting {
            let waits = WaitsFor::Children(self.children_of(eviction.awaiting), "recalled data");
            all.push(Busy { waits, since: eviction.since, number: eviction.number });
        }
        if pending.writeback
            && let Some(parent) = pending.parent
        {
            let waits = WaitsFor::Parent(parent, "writeback acknowledgement");
            all.push(Busy { waits, since: pending.since, number: None });
        }
        if let Some(want) = pending.passed.front()
            && let Some(parent) = pending.parent
        {
            let waits = WaitsFor::Parent(parent, "forward");
            all.push(Busy { waits, since: want.arrived, number: want.number });
        }
        if all.is_empty()
            && let Some(want) = pending.queue.front()
        {
            let waits = self.turn_waits(pending, want);
            all.push(Busy { waits, since: want.arrived, number: want.number });
        }
        all
    }

    /// What the service of a request waits for; nothing of this cache's own once nobody is asked.
    fn service_waits(&self, service: &Service) -> Option<WaitsFor> {
        if service.awaiting != 0 {
            return Some(WaitsFor::Children(self.children_of(service.awaiting), "answers"));
        }
        let Who::Child(child) = service.want.who else { return None };
        let id = *self.config.children.get(child as usize)?;
        let is_unruled = service.rule.is_none() && !service.granted;
        Some(if is_unruled { WaitsFor::Rule(id, service.want.request.name()) } else { WaitsFor::Ack(id) })
    }

    /// What a request at the head of its queue waits for, before anything is done for it.
    fn turn_waits(&self, pending: &Pending, want: &Want) -> WaitsFor {
        let unit = self.unit_of(pending.block, want.range.start);
        match self.turn_needs(pending, want, unit).first() {
            _ if self.awaits_purge(pending.block) => WaitsFor::Purge,
            Some(Need::Mshr) => WaitsFor::Mshr,
            Some(Need::Way(set)) => WaitsFor::Way(*set),
            _ => WaitsFor::Others,
        }
    }

    /// Since when a request is waited for, and by whom. Who asked for what is not kept may have all of it already, while others
    /// that joined wait.
    fn asked_for(pending: &Pending, asked: &Asked) -> (Tick, Option<TxnNumber>) {
        let waits = pending.queue.iter().any(|want| want.number == asked.number);
        match pending.queue.front().filter(|_| pending.uncached && !waits) {
            Some(oldest) => (oldest.arrived, oldest.number),
            None => (asked.since, asked.number),
        }
    }
}
