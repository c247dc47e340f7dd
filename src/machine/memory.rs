//! The memory behind a directory: what is read and written there, and when it answers.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use smallvec::SmallVec;

use super::Machine;
use super::queue::Event;
use crate::model::record::What;
use crate::model::time::Tick;
use crate::parts::channel::Ready;
use crate::parts::dram::{Array, Dram, Read};
use crate::protocol::interleave::Interleave;
use crate::protocol::node::Node;
use crate::protocol::outbox::{About, Outbox, Outgoing, TagRead, Touch, TouchKind};

impl Machine {
    pub(super) fn dram_behind(&mut self, node: usize) -> Option<(&mut Dram, Interleave)> {
        let (index, dealing) = (*self.fixed.dram_of.get(node)?)?;
        Some((self.drams.get_mut(index)?, dealing))
    }

    /// Reads what a message carries, and the tag that says whether it may go. It can leave at a tick that is known now, or once
    /// the controller has all that.
    pub(super) fn read_memory(&mut self, node: usize, sent: &Outgoing) -> Ready {
        let (now, Outgoing { message, read, tag }) = (self.now, sent);
        let tag = *tag == TagRead::Own;
        let Some((dram, dealing)) = self.dram_behind(node) else { return Ready::At(now) };
        let (local, bytes) = (dealing.local(read.start), read.len);
        match dram {
            Dram::InOrder(dram) => {
                let data = if bytes > 0 { dram.access(local, bytes, false, now) } else { now };
                let due = if tag { data.max(dram.access_tag(local, false, now)) } else { data };
                self.ready_at(due)
            }
            Dram::FrFcfs(controller) => {
                let about = About::message(message).because(message.cause);
                Ready::Read(if tag {
                    controller.read_tagged(local, bytes, about)
                } else {
                    controller.read(local, bytes, about)
                })
            }
        }
    }

    /// An access to memory that no message waits for.
    pub(super) fn touch_memory(&mut self, node: usize, touch: Touch, out: &Outbox) {
        let now = self.now;
        let Some((dram, dealing)) = self.dram_behind(node) else { return };
        let (local, bytes) = (dealing.local(touch.range.start), touch.range.len);
        let (array, writes) = match touch.what {
            TouchKind::Write => (Array::Data, true),
            TouchKind::Read => (Array::Data, false),
            TouchKind::ReadTag => (Array::Tags, false),
            TouchKind::WriteTag => (Array::Tags, true),
        };
        match dram {
            Dram::InOrder(dram) => {
                if array == Array::Tags {
                    dram.access_tag(local, writes, now);
                } else {
                    dram.access(local, bytes, writes, now);
                }
            }
            Dram::FrFcfs(controller) => {
                let about = About::new(touch.range, None).because(out.event);
                controller.touch(array, local, bytes, writes, about);
            }
        }
    }

    /// The controller behind a node does what it can: what it has read leaves. Whether anything happened.
    pub(super) fn advance_memory(&mut self, node: usize, out: &mut Outbox) -> bool {
        let now = self.now;
        let Some(at) = self.nodes.get(node).map(crate::protocol::node::Node::id) else { return false };
        let Some((Dram::FrFcfs(controller), _)) = self.dram_behind(node) else { return false };
        let issued = controller.advance(now);
        let mut finished: SmallVec<[Read; 4]> = SmallVec::new();
        while let Some(read) = controller.take_finished(now) {
            finished.push(read);
        }
        if let Some(at) = controller.plan() {
            self.queue.push(at, Event::Memory(node as u32));
        }
        let mut happened = !issued.is_empty();
        for one in issued {
            let (bank, row, access, writes) = (one.bank, one.row, one.access, one.writes);
            let tags = out.records.on && self.holds_tags(node, bank);
            out.record(at, one.about, || match one.moves {
                Some(_) => What::Dram { bank, row, access, writes, tags },
                None => What::Activate { bank, row, access },
            });
        }
        for read in finished {
            happened |= self.release(node, read, out);
        }
        happened
    }

    /// Whether a bank of the memory behind a node holds tags.
    fn holds_tags(&mut self, node: usize, bank: u32) -> bool {
        let Some((Dram::FrFcfs(controller), _)) = self.dram_behind(node) else { return false };
        controller.timing().holds_tags(bank)
    }

    /// Whether the controller behind a node still wants to be woken now.
    pub(super) fn is_memory_due(&mut self, node: usize) -> bool {
        let now = self.now;
        match self.dram_behind(node) {
            Some((Dram::FrFcfs(controller), _)) => controller.is_due(now),
            _ => false,
        }
    }

    /// Whether the controller behind a node is to be woken then.
    pub(super) fn is_memory_planned(&mut self, node: usize, tick: Tick) -> bool {
        match self.dram_behind(node) {
            Some((Dram::FrFcfs(controller), _)) => controller.is_planned(tick),
            _ => false,
        }
    }

    /// The controller behind a node is woken later.
    pub(super) fn postpone_memory(&mut self, node: usize, later: Tick) {
        if let Some((Dram::FrFcfs(controller), _)) = self.dram_behind(node) {
            controller.postpone(later);
        }
    }

    /// The message that waited for a read leaves, because of the event that made it; with a tag all that waited for it.
    fn release(&mut self, node: usize, read: Read, out: &mut Outbox) -> bool {
        if self.copy_accessed(node, read, out) {
            return true;
        }
        let (now, event) = (self.now, self.event);
        let is_tagged = self.nodes.get(node).is_some_and(Node::is_tagged);
        let mut any = false;
        for position in 0..self.fixed.out.get(node).map_or(0, Vec::len) {
            let Some(index) = self.fixed.out.get(node).and_then(|out| out.get(position)) else { continue };
            let index = *index as usize;
            while let Some((lane, message)) = self.channels.get_mut(index).and_then(|channel| {
                let mut lanes = channel.lanes.iter_mut().enumerate();
                lanes.find_map(|(lane, queue)| Some((lane, queue.release(read, now)?)))
            }) {
                let about = About::message(message).because(message.cause);
                message.cause = event;
                if out.records.on {
                    let copy = Arc::new(message.clone());
                    out.record(message.from, about, || What::Message(copy));
                }
                self.pump(index, lane, out);
                any = true;
                if !is_tagged {
                    return true;
                }
            }
        }
        any
    }
}
