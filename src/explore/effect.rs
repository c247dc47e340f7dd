//! What one input does to one node: the real node runs once for each pair of the two, and what came of it is remembered.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use smallvec::SmallVec;

use super::shape::{Deed, NodeShape};
use super::symmetry::Symmetry;
use super::system::System;
use super::values::{self, Stored};
use crate::machine::lane_network;
use crate::model::address::Address;
use crate::model::fault::Fault;
use crate::model::message::{Message, MessageKind};
use crate::model::patch::Patch;
use crate::model::record::Records;
use crate::model::time::TimeBase;
use crate::protocol::node::{Node, Offer, Role, Timeless, message_without_time};
use crate::protocol::outbox::{Buffers, Notes, Outbox, PerformedHere, Ticket};

/// What came of an input.
#[derive(Clone, Debug, Default)]
pub struct Effect {
    /// The node takes it at all.
    pub taken: bool,
    /// Its state afterwards.
    pub node: u32,
    /// What it sent: lane and message.
    pub sends: SmallVec<[(u16, u32); 4]>,
    pub stored: Stored,
    /// An access was performed, or began.
    pub completes: bool,
    /// A rule that does not hold: its name, and what was found.
    pub broken: Option<Arc<(&'static str, String)>>,
}

/// What is given to a node.
#[derive(Clone, Debug)]
pub enum Input {
    Message(Arc<Message>),
    Deed(usize),
}

/// In the number of an input: it is something that is done to the node, and no message.
pub const DEED: u32 = 1 << 31;

impl Input {
    /// The input of this number.
    #[must_use]
    pub fn of(number: u32, messages: &[Arc<Message>]) -> Option<Self> {
        if number & DEED != 0 {
            return Some(Self::Deed((number & !DEED) as usize));
        }
        messages.get(number as usize).cloned().map(Self::Message)
    }
}

/// What the node made of it, before anything has a number.
#[derive(Debug)]
pub struct Raw {
    pub node: Timeless,
    pub sends: Vec<(u16, Message)>,
    pub stored: Stored,
    pub completes: bool,
    pub broken: Option<Arc<(&'static str, String)>>,
    /// The cells of its table that it used, a bit each.
    pub cells: u64,
}

impl Hash for Raw {
    /// Which cells it used is how it came about, not what it is.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (&self.node, &self.sends, self.stored, self.completes, &self.broken).hash(hasher);
    }
}

impl System {
    /// Runs a node. Nothing if it does not take the input in this state.
    #[must_use]
    pub fn run(&self, index: usize, timeless: &Timeless, input: &Input) -> Option<Raw> {
        let shape = self.nodes.get(index)?;
        let mut node = shape.template.in_state(timeless);
        let mut records = Records::silent();
        let time = TimeBase { ticks_per_second: 1, ticks_per_cycle: 1 };
        let mut out = Outbox::new(0, 0, time, Box::<Buffers>::default(), &mut records);
        out.notes = Notes::Performed;
        out.homes.clone_from(&self.homes);
        let taken = match input {
            Input::Message(message) => {
                let accepts = node.takes(message);
                if accepts {
                    node.receive(&mut (**message).clone(), &mut out);
                }
                accepts
            }
            Input::Deed(deed) => self.done(&mut node, shape.deeds.get(*deed)?, &mut out),
        };
        taken.then(|| self.gather(index, shape, &node, &mut out))
    }

    /// Does a deed, if that is possible.
    fn done(&self, node: &mut Node, deed: &Deed, out: &mut Outbox) -> bool {
        match deed {
            Deed::Access { access, .. } => {
                if node.accesses_under_way() >= self.outstanding as usize {
                    return false;
                }
                let offer = node.offer(access, out);
                if offer == Offer::Full {
                    return false;
                }
                let ticket = Ticket { warp: 0, instruction: 0, issued: 0 };
                node.access(offer, ticket, access.clone(), (None, None), out);
                true
            }
            Deed::Evict(block) => node.evict_block(*block, out),
            Deed::Acquire { .. } => {
                let possible = node.holds_anything();
                if possible {
                    node.acquire(out);
                }
                possible
            }
        }
    }

    fn gather(&self, index: usize, shape: &NodeShape, node: &Node, out: &mut Outbox) -> Raw {
        let mut timeless = node.timeless();
        let mut stored = Stored::default();
        let mut broken = out.breaches.first().map(|breach| Arc::new((breach.rule, breach.text.clone())));
        for performed in &out.performed {
            if let Some(text) = self.perform(performed, shape, &mut stored) {
                broken = broken.or(Some(Arc::new(("stale-read", text))));
            }
        }
        timeless.patches_mut(|patch| self.settle(shape, patch, stored));
        // Unless whole blocks are merged, nobody looks at bytes that do not count.
        let faults = &shape.template.config.faults;
        let whole = [Fault::MergeWholeBlocks, Fault::GrantOverOwnBytes];
        let masked = !whole.iter().any(|fault| faults.contains(fault));
        // Nor at those of a line that has been invalidated, unless what a probe has overtaken is kept.
        if masked && !faults.contains(&Fault::KeepOvertaken) {
            timeless.forget_dead_bytes(shape.role == Role::Root);
        }
        let mut sends = Vec::new();
        for outgoing in &out.sends {
            let mut message = message_without_time(&outgoing.message);
            if let Some(patch) = &mut message.patch {
                self.settle(shape, Arc::make_mut(patch), stored);
                if masked && matches!(message.kind, MessageKind::Answer | MessageKind::Writeback) {
                    Arc::make_mut(patch).clear_unmarked();
                }
            }
            let network = lane_network(&message, &shape.template.config.faults);
            if let Some(lane) = self.lane(index, message.to, network) {
                sends.push((lane as u16, message));
            } else {
                let path = self.names.path(message.to);
                let text = format!("{} is sent to {path}, and there is no way", message.kind.name());
                broken = broken.or(Some(Arc::new(("route", text))));
            }
        }
        let cells = node
            .cell_sums()
            .counts()
            .take(64)
            .enumerate()
            .fold(0, |cells, (place, cell)| cells | u64::from(cell.count > 0) << place);
        Raw { node: timeless, sends, stored, completes: !out.completions.is_empty(), broken, cells }
    }

    /// What an access that was performed read and wrote, in the order of the accesses. What is wrong with what it read.
    fn perform(&self, performed: &PerformedHere, shape: &NodeShape, stored: &mut Stored) -> Option<String> {
        let is_checked = if performed.is_local { shape.is_checked } else { shape.serves_checked };
        let mut text = None;
        for offset in 0..performed.range.len as usize {
            let at = performed.range.start.plus(offset as u64);
            let Some(byte) = self.tracked(at) else { continue };
            let read = performed.read.get(offset).filter(|_| is_checked);
            if read.is_some_and(|&class| stored.is_stale(byte, class)) {
                let kind = performed.kind.name();
                text = text.or(Some(format!("{kind} read {at} older than its last coherent store")));
            }
            if let Some(&class) = performed.wrote.get(offset) {
                stored.note(byte, class);
            }
        }
        text
    }

    /// Puts the classes right where such stores were performed. What is handed on, and performed elsewhere, is only its own.
    fn settle(&self, shape: &NodeShape, patch: &mut Patch, stored: Stored) {
        let early = if shape.role == Role::Leaf && !shape.is_checked { values::STALE } else { values::OWN };
        patch.change_bytes(|at, class| {
            let Some(byte) = self.tracked(at) else { return class };
            let is_here = stored.coherent >> byte & 1 == 1;
            if class == values::STORING && !is_here { early } else { stored.here(byte, class) }
        });
    }

    /// Makes stale what a patch has of some tracked bytes; of those in `own`, what was handed on remains.
    fn outdate(&self, patch: &mut Patch, bytes: u8, own: u8) {
        let stored = Stored { coherent: bytes, loose: 0 };
        patch.change_bytes(|at, class| match self.tracked(at) {
            // Until it is answered, whoever is above it may see what was before that, or what comes of it.
            Some(byte) if class != values::STALE && (own & bytes) >> byte & 1 == 1 => values::OWN,
            Some(byte) => stored.here(byte, class),
            None => class,
        });
    }

    /// The state of a node in which all that it has of some tracked bytes has become stale.
    #[must_use]
    pub fn outdated(&self, index: usize, timeless: &Timeless, bytes: u8) -> Timeless {
        let is_asked =
            self.nodes.get(index).is_some_and(|shape| shape.role != Role::Leaf || shape.is_checked);
        let is_own = |(_, at): &(usize, &Address)| is_asked && timeless.has_handed_on(**at);
        let own = self.bytes.iter().enumerate().filter(is_own).fold(0, |bits, (place, _)| bits | 1 << place);
        let mut timeless = timeless.clone();
        timeless.patches_mut(|patch| self.outdate(patch, bytes, own));
        timeless
    }

    /// The same of a message.
    #[must_use]
    pub fn outdated_message(&self, message: &Message, bytes: u8) -> Message {
        let mut message = message.clone();
        if let Some(patch) = &mut message.patch {
            self.outdate(Arc::make_mut(patch), bytes, 0);
        }
        message
    }
}

impl System {
    /// Whether what node `index` made of an input is what its image under a symmetry makes of the image.
    #[must_use]
    pub fn keeps(
        &self,
        symmetry: &Symmetry,
        index: usize,
        state: &Timeless,
        input: &Input,
        raw: Option<&Raw>,
    ) -> bool {
        let image = symmetry.nodes.get(index).map_or(index, |&image| usize::from(image));
        let input = match input {
            Input::Message(message) => Input::Message(symmetry.message(message).into()),
            Input::Deed(deed) => Input::Deed(*deed),
        };
        let made = self.run(image, &symmetry.node(index, state), &input);
        match (raw, made) {
            (None, None) => true,
            (Some(raw), Some(made)) => is_image(symmetry, index, raw, &made),
            _ => false,
        }
    }
}

fn is_image(symmetry: &Symmetry, index: usize, raw: &Raw, made: &Raw) -> bool {
    let lane = |lane: u16| symmetry.lanes.get(usize::from(lane)).copied().unwrap_or(lane);
    // Lanes are independent of each other: only within one is there an order.
    let mut sends: Vec<(u16, Message)> =
        raw.sends.iter().map(|(to, message)| (lane(*to), symmetry.message(message))).collect();
    let mut others = made.sends.clone();
    sends.sort_by_key(|(lane, _)| *lane);
    others.sort_by_key(|(lane, _)| *lane);
    symmetry.node(index, &raw.node) == made.node
        && sends == others
        && (raw.stored, raw.completes) == (made.stored, made.completes)
        && raw.broken.as_ref().map(|broken| broken.0) == made.broken.as_ref().map(|broken| broken.0)
}
