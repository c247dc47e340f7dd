//! A message comes to the end of its lane: it queues before a port, is taken, or stays until its receiver can take it.

use std::sync::Arc;

use super::Machine;
use super::queue::Event;
use super::step::Handled;
use crate::model::message::Message;
use crate::model::record::What;
use crate::model::time::Tick;
use crate::parts::port::{LaneKey, Port};
use crate::protocol::outbox::{About, Outbox};

impl Machine {
    /// The head of a lane has come to its receiver, which takes it, or it queues before its port.
    pub(super) fn arrive(&mut self, key: LaneKey, out: &mut Outbox) -> Handled {
        let Some(node) = self.head_of(key) else { return Handled::No };
        let Some(port) = self.ports.get(node) else { return Handled::No };
        if port.is_busy(self.now) { self.wait_at_port(node, key) } else { self.deliver(key, out) }
    }

    /// A head that has come queues before its port. Apart, since a port is mostly free.
    #[inline(never)]
    fn wait_at_port(&mut self, node: usize, key: LaneKey) -> Handled {
        let Some(port) = self.ports.get_mut(node) else { return Handled::No };
        if port.join(key) {
            self.queue.push(port.free_at().max(self.now), Event::Port(node as u32));
        }
        Handled::No
    }

    /// The receiver of the head of a lane, if the head has come there.
    fn head_of(&self, key: LaneKey) -> Option<usize> {
        self.head_at(key, self.now)
    }

    /// The same, if it is there at `tick`.
    pub(super) fn head_at(&self, key: LaneKey, tick: Tick) -> Option<usize> {
        let channel = self.channels.get(key.channel as usize)?;
        let due = channel.lanes.get(usize::from(key.lane))?.head_due()?;
        (due <= tick).then_some(channel.to)
    }

    /// The port of a node is free: the first of the heads before it that the node can take is taken.
    pub(super) fn run_port(&mut self, node: usize, out: &mut Outbox) -> Handled {
        let mut handled = Handled::No;
        // Ports may have gone meanwhile.
        if let Some(free_at) = self.ports.get(node).map(Port::free_at).filter(|free_at| *free_at > self.now) {
            self.queue.push(free_at, Event::Port(node as u32));
            return handled;
        }
        while handled == Handled::No
            && let Some(key) = self.ports.get_mut(node).and_then(Port::call)
        {
            if self.head_of(key).is_some() {
                handled = self.deliver(key, out);
            }
        }
        if let Some(port) = self.ports.get(node).filter(|port| port.is_awaited()) {
            self.queue.push(port.free_at().max(self.now), Event::Port(node as u32));
        }
        handled
    }

    /// The message at the head of a lane is taken by its receiver, or has to wait there.
    pub(super) fn deliver(&mut self, key: LaneKey, out: &mut Outbox) -> Handled {
        let (index, lane) = (key.channel as usize, usize::from(key.lane));
        let Some(channel) = self.channels.get(index) else { return Handled::No };
        let node = channel.to;
        let Some((_, message)) = channel.lanes.get(lane).and_then(|queue| queue.incoming.front()) else {
            return Handled::No;
        };
        if !self.can_take(node, message) {
            return self.hold_back(key, out);
        }
        let Some(channel) = self.channels.get_mut(index) else { return Handled::No };
        let Some(queue) = channel.lanes.get_mut(lane) else { return Handled::No };
        let Some(mut head) = queue.take() else { return Handled::No };
        queue.ready_from = queue.ready_from.max(head.0);
        let waited = self.now.saturating_sub(queue.ready_from);
        if std::mem::replace(&mut queue.told, false) {
            queue.ready_from = self.now;
        } else if waited > 0
            && let Some(port) = self.ports.get_mut(node)
        {
            port.note_wait(waited);
        }
        if let Some(next) = queue.head_due() {
            let following = self.ports.get(node).map_or(self.now + 1, |port| port.following(self.now));
            self.queue.push(next.max(following), Event::Deliver(key));
        }
        let sends_more = !queue.outgoing.is_empty();
        if queue.is_empty() && channel.is_empty() {
            self.laden.set(index as u32, false);
        }
        self.hand_over(node, &mut head.1, sends_more.then_some(key), out);
        Handled::Yes
    }

    /// A node takes a message that has been taken off its lane, in which perhaps others wait to be sent.
    pub(super) fn hand_over(
        &mut self,
        node: usize,
        message: &mut Message,
        waiting: Option<LaneKey>,
        out: &mut Outbox,
    ) {
        if let Some(port) = self.ports.get_mut(node) {
            port.take(self.now);
        }
        if out.records.on {
            let about = About::message(message).because(message.cause);
            let copy = Arc::new(message.clone());
            out.record(message.to, about, || What::Delivery(copy));
        }
        let range = message.range;
        self.note_touched(range);
        self.note_reached(node, message);
        if let Some(target) = self.nodes.get_mut(node) {
            let (txn, merges) = (message.txn, target.counters.merges);
            target.receive(message, out);
            if target.counters.merges != merges {
                self.note_merged(txn);
            }
        }
        if let Some(key) = waiting {
            self.pump(key.channel as usize, usize::from(key.lane), out);
        }
        self.after_node(node, out);
        self.drain_node(node, range, out);
        self.drain_copies(range, out);
    }

    /// The head stays where it is until its receiver changes. Told once, not at every try.
    fn hold_back(&mut self, key: LaneKey, out: &mut Outbox) -> Handled {
        let (index, lane) = (key.channel as usize, usize::from(key.lane));
        let Some(node) = self.channels.get(index).map(|channel| channel.to) else { return Handled::No };
        self.set_held(node, key, true);
        let Some(queue) = self.channels.get_mut(index).and_then(|channel| channel.lanes.get_mut(lane)) else {
            return Handled::No;
        };
        let told = std::mem::replace(&mut queue.told, true);
        if told {
            return Handled::No;
        }
        if let Some((_, message)) = queue.incoming.front() {
            let about = About::message(message).because(message.cause);
            out.record(message.to, about, || What::Stall { message: Arc::new(message.clone()) });
            if let Some(target) = self.nodes.get_mut(node) {
                target.tell_lack(message, out);
            }
        }
        Handled::Yes
    }
}
