//! Tells the checks of software coherence what happens, and what they find wrong.

use super::Machine;
use super::consistency::{Consistency, Expected, Kept, Performed, Stale, byte_at};
use crate::model::access::{Access, AccessKind};
use crate::model::address::Address;
use crate::model::component::ComponentId;
use crate::model::message::TxnNumber;
use crate::model::time::EventNumber;
use crate::protocol::homes::Homes;
use crate::protocol::node::{Node, Role};
use crate::protocol::outbox::{About, Completion, Outbox};

impl Machine {
    pub(super) fn consistency(&mut self) -> Option<&mut Consistency> {
        self.checker.as_mut()?.consistency.as_mut()
    }

    fn l1_of(&self, agent: usize) -> Option<ComponentId> {
        self.nodes.get(self.agents.get(agent)?.l1).map(Node::id)
    }

    /// An access begins above an L1.
    pub(super) fn note_begun(&mut self, l1: usize, number: TxnNumber, access: &Access) {
        let Some(at) = self.nodes.get(l1).map(Node::id) else { return };
        let event = self.event;
        if let Some(known) = self.consistency() {
            known.begin(at, number, access, event);
        }
    }

    /// What was performed for somebody above: from now on nobody whom hardware keeps coherent reads what was before a store.
    pub(super) fn note_taken(&mut self, out: &mut Outbox) {
        let event = self.event;
        let hides = self.fixed.hides_n_stores;
        for taken in std::mem::take(&mut out.taken) {
            let Some(checker) = self.checker.as_mut() else { continue };
            if checker.consistency.is_none() {
                self.check_taken(&taken, out);
                continue;
            }
            checker.note_served(&taken, event);
            // What is taken where others do not see it is in no order with what they do.
            let is_seen = taken.kind.writes() && !(hides && taken.kind == AccessKind::NStore);
            if let Some(known) = checker.consistency.as_mut().filter(|_| is_seen) {
                known.take(taken.number, &taken.access(), event);
            }
        }
    }

    /// The L1 of an agent, and what is below it, have acquired.
    pub(super) fn note_acquired(&mut self, agent: usize) {
        let (event, at) = (self.event, self.l1_of(agent));
        if let (Some(at), Some(known)) = (at, self.consistency()) {
            known.acquire(at, event);
        }
    }

    /// What was performed above the L1 of an agent until `begun` is at its home.
    pub(super) fn note_released(&mut self, agent: usize, begun: EventNumber) {
        let (event, at) = (self.event, self.l1_of(agent));
        if let (Some(at), Some(known)) = (at, self.consistency()) {
            known.release(at, begun, event);
        }
    }

    /// A kernel begins: every GPU has acquired.
    pub(super) fn note_kernel_opened(&mut self) {
        if self.consistency().is_none() {
            return;
        }
        let fixed = self.fixed.clone();
        for &agent in fixed.gpu_agents.iter().flatten() {
            self.note_acquired(agent);
        }
        let is_alone = self.agents.len() == fixed.gpu_agents.iter().flatten().count();
        if is_alone
            && self.txns.is_empty()
            && let Some(known) = self.consistency()
        {
            known.settle();
        }
    }

    /// A kernel ends: every GPU has released, and the host acquired.
    pub(super) fn note_kernel_closed(&mut self, begun: EventNumber) {
        if self.consistency().is_none() {
            return;
        }
        let fixed = self.fixed.clone();
        for agent in 0..self.agents.len() {
            if fixed.gpu_agents.iter().flatten().any(|unit| *unit == agent) {
                self.note_released(agent, begun);
            } else {
                self.note_acquired(agent);
            }
        }
    }

    /// An access was performed: what it read must be a store that it may see.
    pub(super) fn check_consistency(&mut self, completion: &Completion, out: &mut Outbox) {
        let served = self.checker.as_mut().and_then(|checker| checker.served(completion));
        // A load that was performed for its L1 reads what was there then, if that is what has come.
        let served =
            served.filter(|served| completion.kind == AccessKind::Load && served.read == completion.read);
        let event = served.map_or(self.event, |served| served.event);
        let issued =
            completion.txn.and_then(|key| self.txns.get(key)).map_or(self.event, |txn| txn.issued_at);
        let config = self.node(completion.node).map(|node| &node.config);
        let is_tracked = config.is_some_and(|config| config.is_tracked());
        // Where nobody tracks its copies, what an L1 hands on may stay out of sight below it.
        let hides = config.is_some_and(|config| config.table.is_noncoherent());
        let is_private = if is_tracked { hides } else { self.fixed.hides_n_stores };
        // Where no state is non-coherent, all that is stored in a tracked cache is coherent.
        let is_strict = is_tracked && !hides;
        let is_coherent = completion.coherent || is_strict;
        let kept = match (is_strict, is_private && !completion.coherent) {
            (true, _) => Kept::ByHardware,
            (false, true) => Kept::Privately,
            (false, false) => Kept::BySoftware,
        };
        let access = completion.access();
        let is_home = self.fixed.shares_home
            || self.fixed.components.is_host(completion.node)
            || self.agents.len() == self.fixed.gpu_agents.iter().flatten().count();
        let performed = Performed {
            at: completion.node,
            number: completion.number,
            access: &access,
            read: &completion.read,
            // Where a core looks, too, the cache that all SMs share is no home: what is dirty there has to be released.
            coherent: is_coherent && is_home,
            kept,
            is_home,
            issued,
            event,
        };
        let Some(wrong) = self.consistency().and_then(|known| known.end(&performed)) else { return };
        let text = self.stale_text(completion.kind.name(), is_strict, &wrong);
        let about = About::new(completion.range, completion.number);
        self.violate(completion.node, about, "stale-read", &text, out);
    }

    fn stale_text(&self, kind: &str, is_strict: bool, wrong: &Stale) -> String {
        let Stale { address, value, expected } = wrong;
        let why = if is_strict {
            "which had been replaced before it began"
        } else {
            "from before its acquire, which it must not see any more"
        };
        let due = expected.map(|Expected { value, number, writer }| {
            let by = writer.map(|writer| format!(" of {}", self.fixed.components.path(writer)));
            format!("; {value:#04x}{} was to be seen, transaction {}", by.unwrap_or_default(), number.0)
        });
        format!("the {kind} read {value:#04x} at {address}, {why}{}", due.unwrap_or_default())
    }

    /// All is quiet: what was stored last must be in a dirty copy, or in memory.
    pub(super) fn check_kept(&mut self, out: &mut Outbox) {
        let Some(known) = self.checker.as_ref().and_then(|checker| checker.consistency.as_ref()) else {
            return;
        };
        let is_left = |address: Address, values: &[u8]| self.is_one_left(address, values, &out.homes);
        let lost: Vec<Address> = known.lost(is_left).take(8).collect();
        for address in lost {
            let at = self.node_behind(address, &out.homes).map_or(ComponentId(0), Node::id);
            let text = format!("what was stored last at {address} is nowhere any more");
            self.violate(at, About::new(byte_at(address), None), "lost-store", &text, out);
        }
    }

    fn is_one_left(&self, address: Address, values: &[u8], homes: &Homes) -> bool {
        let range = byte_at(address);
        let has = |node: &Node| {
            node.value(range).is_some_and(|bytes| bytes.first().is_some_and(|byte| values.contains(byte)))
        };
        let is_dirty = |node: &&Node| node.config.role != Role::Root && node.is_dirty(range);
        self.nodes.iter().filter(is_dirty).any(has) || self.node_behind(address, homes).is_some_and(has)
    }
}
