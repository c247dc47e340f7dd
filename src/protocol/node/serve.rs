//! Serving the children: the directory's part of the table.

use super::evict::Cause;
use super::pending::{Pending, Probing, Service, Want, Who};
use super::{Decision, Node, NodeConfig, Role};
use crate::model::access::{Access, AccessKind, Bytes};
use crate::model::address::Address;
use crate::model::bits::{Bits, ones_of};
use crate::model::component::ComponentId;
use crate::model::fault::Fault;
use crate::model::message::{Message, MessageKind};
use crate::model::sectors::Sectors;
use crate::model::state::{Action, State};
use crate::protocol::outbox::{About, Breach, Notes, Outbox, PerformedHere};
use crate::protocol::store::{Entry, Unit, bit};
use crate::protocol::table::{Cell, DirectoryRule, Next, Probe, Step, When};

impl Node {
    pub(super) fn receive_request(&mut self, message: &mut Message, out: &mut Outbox) {
        let Some(child) = self.config.child(message.from) else { return };
        let block = self.block_of(message.range.start);
        self.ensure_root_entry(block);
        let action = self.action_of_request(message);
        let is_performed = matches!(message.kind, MessageKind::Fetch | MessageKind::Forward);
        if matches!(
            self.decide(block, (action, message.sectors), is_performed, self.is_uncached(block, out)),
            Decision::Here(_)
        ) && !self.is_leaving(block)
        {
            self.count_hit(block);
        } else {
            self.count_miss(block, out);
        }
        self.enqueue(block, Want::of(message, child, action, out.tick), out);
    }

    /// Whether a block is still here, and will not be when what is under way has ended.
    fn is_leaving(&self, block: Address) -> bool {
        self.config.role != Role::Root && self.pending.get(block).is_some_and(Pending::is_leaving)
    }

    /// The action that a child's request means here.
    pub(super) fn action_of_request(&self, message: &Message) -> Action {
        match message.kind {
            MessageKind::Write => Action::Store,
            MessageKind::ReadNc => Action::NStore,
            MessageKind::Forward => {
                message.access.as_deref().map_or(Action::Store, |access| self.action_of(access))
            }
            _ => Action::Load,
        }
    }

    /// Whether a child waits for the answer to what was passed up, so that this want has to wait too. What is not kept goes the
    /// same way in the same order; and some caches answer what is about other bytes.
    pub(super) fn answers_later(&self, pending: &Pending, want: &Want) -> bool {
        let follows = if self.config.hits_under_stores && want.is_load() {
            Self::overlaps_passed(pending, pending.passed.len(), want)
        } else {
            !pending.passed.is_empty()
        };
        self.config.role == Role::Inner && !pending.uncached && follows
    }

    /// Whether a load of what an L1 keeps wants bytes of an atomic that was passed up: they are not here before its answer.
    pub(super) fn awaits_atomic(&self, pending: &Pending, want: &Want) -> bool {
        self.config.role == Role::Leaf
            && want.is_load()
            && pending.passed.iter().any(|passed| passed.is_atomic() && passed.range.overlaps(want.range))
    }

    /// Something meets a block in a state in which the table has no cell for it.
    pub(super) fn report_unforeseen(&self, action: Action, state: State, about: About, out: &mut Outbox) {
        let text = format!(
            "{} meets a block in {state}, and the table {} says that this cannot happen",
            action.said(),
            self.config.table.name
        );
        self.report_cell(about, text, out);
    }

    fn report_cell(&self, about: About, text: String, out: &mut Outbox) {
        out.breaches.push(Breach { at: self.config.id, about, rule: "impossible-cell", text });
    }

    /// The table lets something be served with a block of which nothing is here.
    pub(super) fn report_nothing_here(&self, want: &Want, out: &mut Outbox) {
        let (action, table) = (want.action.said(), &self.config.table.name);
        let text = format!("the table {table} serves {action} in I, where there is no copy");
        self.report_cell(Self::about(want), text, out);
    }

    /// The table has a node flush for a child. Its children may have dirty bytes, too, and keep theirs.
    fn report_flush(&self, want: &Want, out: &mut Outbox) {
        let (action, table) = (want.action.said(), &self.config.table.name);
        let text = format!(
            "the table {table} has {action} of a child flush, which only a cache without children can"
        );
        self.report_cell(Self::about(want), text, out);
    }

    /// The table has a request of a child handed on, which is answered, and granted by nobody: the child will wait for ever.
    pub(super) fn report_handed_on(&self, want: &Want, out: &mut Outbox) {
        let (request, table) = (want.request.name(), &self.config.table.name);
        let text = format!(
            "the table {table} has a {request} of a child handed on, and nobody grants it: `forward` is for what is performed"
        );
        self.report_cell(Self::about(want), text, out);
    }

    /// A child asks for what no rule of the directory answers: it will wait for ever.
    fn report_unanswered(&self, block: Address, want: &Want, out: &mut Outbox) {
        let (table, state) = (&self.config.table, self.state(block));
        let rules = table.directory(want.request);
        let grants = rules.iter().find(|rule| table.is_exclusive(rule.grant)).map(|rule| rule.grant);
        let grants = grants.filter(|_| !table.is_exclusive(state) && want.request != MessageKind::Write);
        let lacks = grants.map_or_else(String::new, |grant| {
            format!(": {grant} is granted only where the block is in an exclusive state itself")
        });
        let text = format!(
            "no rule in [directory] of the table {} answers a {} of a block in {state}{lacks}",
            table.name,
            want.request.name(),
        );
        self.report_cell(Self::about(want), text, out);
    }

    pub(super) fn report_impossible(&mut self, block: Address, want: &Want, out: &mut Outbox) {
        self.report_unforeseen(want.action, self.state(block), Self::about(want), out);
        if let Some(access) = want.access.clone() {
            self.complete(want, &access, Bytes::new(), access.bytes.clone(), out);
        }
    }

    /// Starts to serve a want that needs nothing from the parent.
    pub(super) fn serve(&mut self, pending: &mut Pending, want: Want, cell: Cell, out: &mut Outbox) {
        if let Who::Local(_) = want.who {
            if cell.step == Step::Flush && self.flush_down(pending, &Cause::of(&want), cell.next, out) {
                pending.queue.push_front(want);
                return;
            }
            self.perform(pending.block, &want, out);
            return;
        }
        if cell.step == Step::Flush {
            self.report_flush(&want, out);
        }
        let unit = self.unit_of(pending.block, want.range.start);
        let rule = self.rule(pending.block, unit, &want);
        if rule.is_none() && !want.is_performed_here() {
            self.report_unanswered(pending.block, &want, out);
        }
        let mut service = Service {
            unit,
            want,
            rule,
            awaiting: 0,
            granted: false,
            acknowledged: false,
            look: None,
            since: out.tick,
        };
        self.probe_for(pending, &mut service, out);
        self.probe_across(pending.block, &mut service, out);
        if service.awaiting == 0 {
            self.finish(pending, service, out);
        } else {
            pending.keep_serving(service);
        }
    }

    fn unit(&self, block: Address, unit: u32) -> Unit {
        self.store.get(block).and_then(|entry| entry.units.get(unit as usize)).copied().unwrap_or_default()
    }

    /// The request whose rules are those for a want. A fetch probes like a read and a forward like a write.
    fn ruled_as(&self, want: &Want) -> MessageKind {
        match want.request {
            MessageKind::Fetch => MessageKind::Read,
            MessageKind::Forward if want.action == Action::Load => MessageKind::Read,
            // Where no state is non-coherent, all stores are coherent.
            MessageKind::Forward if want.action == Action::NStore && self.config.table.is_noncoherent() => {
                MessageKind::ReadNc
            }
            MessageKind::Forward | MessageKind::Writeback => MessageKind::Write,
            kind => kind,
        }
    }

    /// The number of a rule for a want, from 1: the first of several that say the same is the one that counts.
    fn rule_number(&self, want: &Want, rule: DirectoryRule) -> Option<u8> {
        let rules = self.config.table.directory(self.ruled_as(want));
        let index = rules.iter().position(|other| *other == rule)?;
        u8::try_from(index + 1).ok()
    }

    /// The directory's rule for a request.
    fn rule(&self, block: Address, unit: u32, want: &Want) -> Option<DirectoryRule> {
        let Who::Child(child) = want.who else { return None };
        let entry = self.unit(block, unit);
        let kind = self.ruled_as(want);
        let exclusive = || {
            self.config.role == Role::Root
                || self.config.table.is_exclusive(self.state(block))
                || self.config.has_fault(Fault::ExclusiveFromShared)
        };
        self.config.table.directory(kind).iter().copied().find(|rule| {
            let holds = match rule.when {
                When::Always => true,
                When::OwnedByAnother => entry.owner.is_some_and(|owner| owner != child),
                When::NoOtherSharers => entry.others(child) == 0,
            };
            // Rule 7: E only if the granting node is itself exclusive, or the root.
            let grants =
                kind == MessageKind::Write || !self.config.table.is_exclusive(rule.grant) || exclusive();
            holds && grants
        })
    }

    /// Sends the probes that a rule asks for.
    fn probe_for(&mut self, pending: &Pending, service: &mut Service, out: &mut Outbox) {
        let (Who::Child(child), Some(rule)) = (service.want.who, service.rule) else { return };
        if rule.probe == Probe::Nobody || self.is_own_side(child) {
            return;
        }
        let entry = self.unit(pending.block, service.unit);
        let (kind, targets) = match rule.probe {
            Probe::Nobody => return,
            Probe::ReadOwner => {
                let owner = entry.owner.filter(|&owner| owner != child).map_or(0, bit);
                (MessageKind::ProbeRead, owner)
            }
            Probe::WriteOthers => (MessageKind::ProbeWrite, entry.others(child)),
        };
        let mut targets = targets;
        if service.want.request == MessageKind::Writeback {
            targets &= self.config.snooped;
        }
        if kind == MessageKind::ProbeWrite && self.config.has_fault(Fault::SkipInvalidation) {
            targets &= targets.wrapping_sub(1);
        }
        service.awaiting = targets;
        let peer = self.peer_for(pending.block, child, kind, targets, &service.want);
        let range = self.unit_range(pending.block, service.unit);
        let probe = Probing { peer, ..Probing::new(kind, range, Self::key_of(&service.want)) };
        self.probe_children(targets, probe, out);
        if kind == MessageKind::ProbeWrite && self.config.has_fault(Fault::LeaveEarly) {
            self.forget_children(pending.block, service.unit, targets);
        }
        if let Some(owner) = peer.and(entry.owner) {
            self.counters.peer_transfers += 1;
            let from = self.config.children.get(owner as usize).copied();
            self.grant(pending.block, service, from, out);
        }
    }

    /// The requester, if the owner shall hand it the data: only if home has merged nothing from others since.
    fn peer_for(
        &self,
        block: Address,
        child: u16,
        kind: MessageKind,
        targets: u64,
        want: &Want,
    ) -> Option<ComponentId> {
        let both = targets | bit(child);
        let fits = kind == MessageKind::ProbeRead
            && targets != 0
            && matches!(want.request, MessageKind::Read | MessageKind::ReadNc)
            && self.config.peers & both == both
            && want.range.len == self.config.unit;
        let entry = self.store.get(block)?;
        let clean =
            entry.newer.as_deref().is_none_or(Bits::is_empty) || self.config.has_fault(Fault::ForgetNewer);
        (fits && clean).then(|| self.config.children.get(child as usize).copied())?
    }

    /// Sends a probe to each child of `targets`.
    pub(super) fn probe_children(&mut self, targets: u64, probe: Probing, out: &mut Outbox) {
        for position in ones_of(targets) {
            let Some(&to) = self.config.children.get(position as usize) else { continue };
            let mut message = self.message(probe.kind, to, probe.range, out);
            (message.txn, message.number) = probe.txn;
            (message.peer, message.once) = (probe.peer, probe.once);
            self.counters.probes += 1;
            self.send(message, out);
        }
    }

    /// All answers are here: performs or grants, and waits for the acknowledgement of a grant.
    pub(super) fn finish(&mut self, pending: &mut Pending, mut service: Service, out: &mut Outbox) {
        let Who::Child(_) = service.want.who else { return };
        if service.want.is_performed_here() {
            self.perform_for_child(pending.block, &service.want, out);
            return;
        }
        if !service.granted {
            self.grant(pending.block, &mut service, None, out);
            // From now on it waits for the acknowledgement.
            service.since = out.tick;
        }
        if !service.acknowledged && !self.config.has_fault(Fault::NoGrantAck) {
            pending.keep_serving(service);
        }
    }

    pub(super) fn perform_for_child(&mut self, block: Address, want: &Want, out: &mut Outbox) {
        if want.access.is_some() {
            self.perform(block, want, out);
        } else {
            self.touch(block);
            let (state, waited) = (self.state(block), want.arrived < out.tick);
            if state == State::I && self.config.role != Role::Root {
                self.report_nothing_here(want, out);
            }
            self.tell_transition((state, state), want.action, waited, Self::about(want), out);
            let read = Access { kind: AccessKind::Load, range: want.range, bytes: Bytes::new(), mask: None };
            if out.notes == Notes::Performed && want.is_load() {
                self.note_given(want, out);
            }
            self.complete(want, &read, Bytes::new(), Bytes::new(), out);
        }
    }

    /// Notes what is read for a child's fetch: of a line the sectors that it wants.
    fn note_given(&self, want: &Want, out: &mut Outbox) {
        let sectors = if want.sectors.is_empty() { Sectors::all(want.range.len) } else { want.sectors };
        let Some(data) = self.bytes_here(want) else { return };
        for range in sectors.runs(want.range) {
            let (read, wrote) = (data.read(range).map(Bytes::from_slice).unwrap_or_default(), Bytes::new());
            out.performed.push(PerformedHere { kind: AccessKind::Load, range, is_local: false, read, wrote });
        }
    }

    /// Changes the directory and sends the grant, with the data unless `from` sends them.
    fn grant(&mut self, block: Address, service: &mut Service, from: Option<ComponentId>, out: &mut Outbox) {
        let (Who::Child(child), Some(rule)) = (service.want.who, service.rule) else { return };
        let want = &service.want;
        let state = match self.decide(block, (want.action, Sectors::NONE), false, false) {
            Decision::Here(cell) => match cell.next {
                Next::To(state) => state,
                _ => self.state(block),
            },
            _ => self.state(block),
        };
        let granted = self.granted_state(rule.grant, from.is_some());
        let needs_data = self.needs_data(block, service.unit, child, want);
        self.uses += 1;
        let mut before = State::I;
        if let Some(entry) = self.store.get_mut(block) {
            entry.used = self.uses;
            before = entry.state;
            if self.config.role != Role::Root {
                entry.state = state;
            }
            enter(&self.config, entry, service.unit, child, want, granted);
        }
        if before == State::I && self.config.role != Role::Root {
            self.report_nothing_here(&service.want, out);
        }
        let waited = want.arrived < out.tick;
        self.tell_transition((before, state), want.action, waited, Self::about(want), out);
        let number = self.rule_number(want, rule);
        self.record_directory((block, service.unit), want.number, number, out);
        let Some(&to) = self.config.children.get(child as usize) else { return };
        let mut message = self.message(MessageKind::Grant, to, want.range, out);
        (message.txn, message.number) = Self::key_of(want);
        message.granted = Some(granted);
        message.peer = from;
        match from {
            None if needs_data && self.config.by_sector => {
                self.load_clean(&mut message, block, want.range);
                message.sectors = want.sectors;
                message.size -= want.range.len - want.sectors.bytes(want.range.len);
            }
            None if needs_data => self.load_clean(&mut message, block, want.range),
            None => message.has_data = true,
            Some(_) => {}
        }
        self.send(message, out);
        service.granted = true;
    }

    pub(super) fn receive_grant_ack(&mut self, message: &Message, out: &mut Outbox) {
        let block = self.block_of(message.range.start);
        let unit = self.unit_of(block, message.range.start);
        let Some(child) = self.config.child(message.from) else { return };
        self.go_on(block, out, |_, pending, _| {
            let service = pending.serving.iter_mut().position(|service| {
                service.unit == unit && service.granted && service.want.who == Who::Child(child)
            });
            if let Some(index) = service {
                let done = pending.serving.get_mut(index).is_some_and(|service| {
                    service.acknowledged = true;
                    service.awaiting == 0
                });
                if done {
                    // Large, and wanted by nobody any more: not moved out.
                    pending.serving.drain(index..=index);
                }
            }
            true
        });
    }

    /// A child's answer to a probe: it belongs to an eviction, to the parent's probe, or to a child's request.
    pub(super) fn receive_answer(&mut self, message: &Message, out: &mut Outbox) {
        let block = self.block_of(message.range.start);
        let Some(child) = self.config.child(message.from) else { return };
        if self.config.has_memory && self.brings_all(block, child, message) {
            self.at_hand = Some((out.event, message.range));
        }
        self.take_bytes(block, child, message, out);
        self.take_held(block, child, message, out);
        self.note_answer(block, child, message, out);
    }

    /// Whether an answer brings every byte of what it is about as it is now: all of them dirty, or its owner's, of which nothing
    /// has been merged from others, or the CPU's of a block that the GPU may not cache.
    fn brings_all(&self, block: Address, child: u16, message: &Message) -> bool {
        if message.patch.as_deref().is_some_and(|patch| patch.mask.is_full()) {
            return true;
        }
        if !message.has_data || message.size < self.config.header + message.range.len {
            return false;
        }
        let Some(entry) = self.store.get(block) else { return false };
        let is_owner = entry.units.first().is_some_and(|unit| unit.owner == Some(child));
        let owned =
            self.config.notes_newer() && is_owner && entry.newer.as_deref().is_none_or(Bits::is_empty);
        owned || self.remote.is_some() && !self.is_own_side(child)
    }

    /// Counts a child's answer where it is awaited.
    pub(super) fn note_answer(&mut self, block: Address, child: u16, message: &Message, out: &mut Outbox) {
        self.go_on(block, out, |node, pending, out| {
            node.answer_awaited(pending, child, message, out);
            true
        });
    }

    fn answer_awaited(&mut self, pending: &mut Pending, child: u16, message: &Message, out: &mut Outbox) {
        let own = bit(child);
        if let Some(eviction) = pending.evicting.as_mut().filter(|eviction| eviction.awaiting & own != 0) {
            eviction.awaiting &= !own;
            if eviction.awaiting == 0 {
                self.finish_eviction(pending, out);
            }
        } else if let Some(probe) = pending.probe.as_mut().filter(|probe| probe.awaiting & own != 0) {
            probe.awaiting &= !own;
            if probe.awaiting == 0 {
                self.finish_probe(pending, out);
            }
        } else {
            self.answer_service(pending, child, message, out);
        }
    }

    fn answer_service(&mut self, pending: &mut Pending, child: u16, message: &Message, out: &mut Outbox) {
        let unit = self.unit_of(pending.block, message.range.start);
        let own = bit(child);
        let found =
            pending.serving.iter().position(|service| service.unit == unit && service.awaiting & own != 0);
        let Some(index) = found else { return };
        let mut service = pending.serving.remove(index);
        service.awaiting &= !own;
        self.note_supply(pending.block, &mut service, message, out);
        if service.granted && message.peer.is_none() && !self.config.has_fault(Fault::NoSupply) {
            self.supply_for_owner(pending.block, &service.want, out);
        }
        if service.awaiting == 0 {
            self.finish(pending, service, out);
        } else {
            pending.keep_serving(service);
        }
    }

    /// The owner had no data to hand over after all: home supplies them.
    fn supply_for_owner(&mut self, block: Address, want: &Want, out: &mut Outbox) {
        let Who::Child(child) = want.who else { return };
        let Some(&to) = self.config.children.get(child as usize) else { return };
        let mut message = self.message(MessageKind::PeerData, to, want.range, out);
        (message.txn, message.number) = Self::key_of(want);
        self.load_clean(&mut message, block, want.range);
        self.send(message, out);
    }
}

/// Enters the requester into the directory of a block.
fn enter(config: &NodeConfig, entry: &mut Entry, unit: u32, child: u16, want: &Want, grant: State) {
    let request = want.request;
    // Where a unit is coarser than the child's block, the child may own another part of it.
    let is_whole = want.range.len >= config.unit;
    let owns = config.table.is_owner(grant) && request != MessageKind::ReadNc;
    let Some(slot) = entry.units.get_mut(unit as usize) else { return };
    let owner = slot.owner;
    if request == MessageKind::Write {
        *slot = Unit { owner: Some(child), sharers: bit(child) }
    } else {
        slot.sharers |= bit(child);
        if owns {
            slot.owner = Some(child);
        } else if slot.owner == Some(child) && is_whole {
            slot.owner = None;
        }
    }
    if slot.owner != owner {
        entry.newer = None;
    }
}
