//! What a node tells: changes of states, its directory, and messages to others.

use std::sync::Arc;

use super::{Node, Role};
use crate::model::address::{Address, Range};
use crate::model::bits::ones_of;
use crate::model::component::ComponentId;
use crate::model::message::{Message, MessageKind, Trip, TxnNumber};
use crate::model::record::What;
use crate::model::sectors::Sectors;
use crate::model::state::{Action, State};
use crate::protocol::outbox::{About, Outbox, Outgoing, TagRead, Touch, TouchKind};

impl Node {
    /// Counts the use of a cell, changes the state, and records it.
    pub(super) fn transition(
        &mut self,
        block: Address,
        action: Action,
        to: State,
        about: About,
        out: &mut Outbox,
    ) {
        if self.config.role == Role::Root {
            return;
        }
        let from =
            self.store.get_mut(block).map_or(State::I, |entry| std::mem::replace(&mut entry.state, to));
        self.tell_transition((from, to), action, false, about, out);
    }

    /// Counts and records a change that has been made, for something that has waited or has not. A memory has no states.
    pub(super) fn tell_transition(
        &mut self,
        (from, to): (State, State),
        action: Action,
        waited: bool,
        about: About,
        out: &mut Outbox,
    ) {
        if self.config.role == Role::Root {
            return;
        }
        self.count_cell(Some(from), action);
        self.record_change((from, to), action, waited, about, out);
    }

    pub(super) fn record_change(
        &self,
        (from, to): (State, State),
        action: Action,
        waited: bool,
        about: About,
        out: &mut Outbox,
    ) {
        out.record(self.config.id, about, || {
            if from == to {
                What::Hit { state: from, action, waited }
            } else {
                What::Transition { from, to, action }
            }
        });
    }

    /// Counts a cell, or that of a block that may not be kept.
    pub(super) fn count_cell(&mut self, state: Option<State>, action: Action) {
        if let Some(count) = self.cell_count(state, action) {
            *count += 1;
        }
    }

    pub(super) fn cell_count(&mut self, state: Option<State>, action: Action) -> Option<&mut u64> {
        let rows = &self.config.table.rows;
        let row = state.map_or(Some(rows.len()), |state| rows.position(state))?;
        self.cells.get_mut(row * Action::ALL.len() + action.index())
    }

    /// A message from this node, with the fields that all have.
    pub(super) fn message(&self, kind: MessageKind, to: ComponentId, range: Range, out: &Outbox) -> Message {
        Message {
            kind,
            from: self.config.id,
            to,
            range,
            txn: None,
            number: None,
            cause: out.event,
            size: self.config.header,
            granted: None,
            peer: None,
            held: None,
            access: None,
            sectors: Sectors::NONE,
            once: false,
            has_data: false,
            patch: None,
            trip: Trip::default(),
        }
    }

    /// Puts the clean bytes of a range into a message. With values off there is nothing to copy.
    pub(super) fn load_clean(&self, message: &mut Message, block: Address, range: Range) {
        let Some(entry) = self.store.get(block) else { return };
        if entry.data.has_values() {
            message.patch = Some(Arc::new(entry.data.clean_copy(range)));
        }
        message.has_data = true;
        message.size += range.len;
    }

    pub(super) fn send(&self, message: Message, out: &mut Outbox) {
        let is_at_hand =
            self.at_hand.is_some_and(|(event, range)| event == out.event && range.covers(message.range));
        let read = if self.config.has_memory && message.has_data && !is_at_hand {
            message.size.saturating_sub(self.config.header)
        } else {
            0
        };
        let read = Range::new(message.range.start, read);
        out.sends.push(Outgoing { message, read, tag: TagRead::None });
    }

    /// The memory behind this node is written.
    pub(super) fn note_write(&self, range: Range, out: &mut Outbox) {
        if self.config.has_memory {
            out.touches.push(Touch { what: TouchKind::Write, range });
        }
    }

    /// Tells what the directory has of a unit now, and what rule says so.
    pub(super) fn record_directory(
        &self,
        (block, unit): (Address, u32),
        txn: Option<TxnNumber>,
        rule: Option<u8>,
        out: &mut Outbox,
    ) {
        if !out.records.on {
            return;
        }
        let Some(entry) = self.store.get(block).and_then(|entry| entry.units.get(unit as usize)).copied()
        else {
            return;
        };
        let child = |position: u32| self.config.children.get(position as usize).copied();
        let owner = entry.owner.and_then(|owner| child(u32::from(owner)));
        let sharers = ones_of(entry.sharers).filter_map(child).collect();
        let about = About::new(self.unit_range(block, unit), txn);
        out.record(self.config.id, about, || What::Directory { owner, sharers, rule });
    }
}
