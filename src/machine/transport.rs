//! Messages on their way: from a node's outbox over channels and links into the next node.

use super::Machine;
use super::queue::Event;
use crate::model::component::ComponentId;
use crate::model::fault::Fault;
use crate::model::message::{Message, Network};
use crate::model::record::What;
use crate::parts::channel::Ready;
use crate::protocol::outbox::{About, Outbox, Outgoing};
use std::sync::Arc;

impl Machine {
    fn channel_between(&self, from: usize, to: ComponentId) -> Option<usize> {
        let routes = self.fixed.routes.get(from)?;
        routes.iter().find(|(far, _)| *far == to).map(|(_, channel)| *channel)
    }

    /// Puts everything a node wants to send into its channels, and charges the memory behind it.
    pub(super) fn dispatch(&mut self, node: usize, out: &mut Outbox) {
        if out.sends.is_empty() && out.writes.is_empty() {
            return;
        }
        let mut memory = !out.writes.is_empty();
        let mut writes = std::mem::take(&mut out.writes);
        for range in writes.drain(..) {
            self.write_memory(node, range, out);
        }
        out.writes = writes;
        let mut sends = std::mem::take(&mut out.sends);
        for Outgoing { message, read } in sends.drain(..) {
            memory |= read > 0;
            let ready = if read > 0 { self.read_memory(node, &message, read) } else { Ready::At(self.now) };
            self.post(node, message, ready, out);
        }
        // Nothing is sent while sending: what is put back is the buffer.
        out.sends = sends;
        if memory {
            self.advance_memory(node, out);
        }
    }

    fn post(&mut self, node: usize, message: Message, ready: Ready, out: &mut Outbox) {
        let kind = message.kind as usize;
        if let Some((count, bytes)) = self.sent.get_mut(kind) {
            *count += 1;
            *bytes += u64::from(message.size);
        }
        let about = About::new(message.range, message.number);
        let from = message.from;
        let is_lost = self.is_lost(&message);
        // One that waits for its data is told when it leaves.
        if out.records.on && (is_lost || matches!(ready, Ready::At(_))) {
            let copy = Arc::new(message.clone());
            out.record(from, about, || What::Message(copy));
        }
        if is_lost {
            out.record(from, about, || What::Fault { name: "lose-message" });
            return;
        }
        let Some(index) = self.channel_between(node, message.to) else { return };
        let Some(channel) = self.channels.get_mut(index) else { return };
        let lane = channel.lane_of(message.kind.network());
        if let Some(queue) = channel.lanes.get_mut(lane) {
            queue.put(ready, message);
        }
        self.pump(index, lane, out);
    }

    fn is_lost(&self, message: &Message) -> bool {
        let sent = self.sent.get(message.kind as usize).map_or(0, |(count, _)| *count);
        self.fixed.faults.contains(&Fault::LoseMessage { kind: message.kind, nth: sent })
    }

    /// Sends what waits at the sending end of a channel, as far as there are credits.
    pub(super) fn pump(&mut self, index: usize, lane: usize, out: &mut Outbox) {
        let mut sent = false;
        loop {
            let Some(channel) = self.channels.get_mut(index) else { return };
            let has_credit = channel.has_credit(lane);
            let (lookup, link, block) = (channel.lookup, channel.link, channel.block);
            let Some(queue) = channel.lanes.get_mut(lane) else { return };
            let Some((place, ready, message)) = queue.next(block) else { break };
            if !has_credit {
                if !queue.starved {
                    let (about, at) = (About::new(message.range, message.number), message.from);
                    let network = message.kind.network();
                    queue.starved = true;
                    out.record(at, about, || What::NoCredit { network });
                }
                break;
            }
            queue.starved = false;
            let Some((_, message)) = queue.outgoing.remove(place) else { break };
            let is_head = queue.incoming.is_empty();
            let Some(wire) = self.links.get_mut(link) else { return };
            let arrival = wire.transmit(message.size, ready.max(self.now)) + lookup;
            queue.incoming.push_back((arrival, message));
            if is_head {
                self.queue.push(arrival, Event::Deliver { channel: index, lane });
            }
            sent = true;
        }
        if sent {
            let from = self.channels.get(index).map(|channel| channel.from);
            if let Some(from) = from {
                self.stir(from, out);
            }
        }
    }

    /// A node has changed or has room: what it or its L1's agent turned away is tried again.
    pub(super) fn stir(&mut self, node: usize, out: &mut Outbox) {
        let period = self.fixed.port_period.get(node).copied().unwrap_or(1);
        for &index in self.fixed.inputs.get(node).map_or(&[][..], Vec::as_slice) {
            let Some(channel) = self.channels.get_mut(index) else { continue };
            for (lane, queue) in channel.lanes.iter_mut().enumerate() {
                if queue.blocked {
                    queue.blocked = false;
                    self.queue.push(self.now + period, Event::Deliver { channel: index, lane });
                }
            }
        }
        if let Some(Some(agent)) = self.fixed.agent_above.get(node).copied() {
            if let Some(agent) = self.agents.get_mut(agent) {
                agent.unstall(out);
            }
            self.wake(agent);
        }
    }

    /// Whether a node can take a message now.
    pub(super) fn can_take(&self, node: usize, message: &Message) -> bool {
        let Some(target) = self.nodes.get(node) else { return false };
        let needs: &[Network] = match message.kind.network() {
            Network::Request if !target.accepts(message) => return false,
            Network::Request => &Network::ALL,
            Network::Probe => &[Network::Probe, Network::Reply],
            Network::Reply => &[],
        };
        let routes = self.fixed.routes.get(node).map_or(&[][..], Vec::as_slice);
        routes.iter().filter_map(|(_, index)| self.channels.get(*index)).all(|channel| {
            let folded = channel.lanes.len() == 1;
            let needs = if folded { &Network::ALL[..] } else { needs };
            needs.iter().all(|network| channel.has_room(*network))
        })
    }

    /// Whether the L1 of an agent can send a request down.
    pub(super) fn has_room_below(&self, node: usize) -> bool {
        let routes = self.fixed.routes.get(node).map_or(&[][..], Vec::as_slice);
        routes
            .iter()
            .filter_map(|(_, index)| self.channels.get(*index))
            .all(|channel| channel.has_room(Network::Request))
    }

    /// Schedules an agent for when it has something to do.
    pub(super) fn wake(&mut self, agent: usize) {
        let Some(at) = self.agents.get(agent).and_then(|agent| agent.next_wake(self.now)) else { return };
        let Some(planned) = self.agent_wake.get_mut(agent) else { return };
        if planned.is_none_or(|tick| at < tick) {
            *planned = Some(at);
            self.queue.push(at, Event::Agent(agent));
        }
    }
}
