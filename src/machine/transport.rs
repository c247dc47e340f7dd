//! Messages on their way: from a node's outbox over channels and links into the next node.

use super::Machine;
use super::queue::Event;
use crate::model::component::ComponentId;
use crate::model::fault::Fault;
use crate::model::message::{Message, Network};
use crate::model::record::What;
use crate::model::time::Tick;
use crate::protocol::outbox::{About, Outbox, Outgoing};
use std::sync::Arc;

impl Machine {
    fn channel_between(&self, from: usize, to: ComponentId) -> Option<usize> {
        let routes = self.fixed.routes.get(from)?;
        routes.iter().find(|(far, _)| *far == to).map(|(_, channel)| *channel)
    }

    /// Puts everything a node wants to send into its channels, and charges the memory behind it.
    pub(super) fn dispatch(&mut self, node: usize, out: &mut Outbox) {
        for range in out.writes.drain(..) {
            self.use_memory(node, range.start.0, range.len);
        }
        if out.sends.is_empty() {
            return;
        }
        let mut sends = std::mem::take(&mut out.sends);
        for Outgoing { message, read } in sends.drain(..) {
            let ready = if read > 0 { self.use_memory(node, message.range.start.0, read) } else { self.now };
            self.post(node, message, ready, out);
        }
        // Nothing is sent while sending: what is put back is the buffer.
        out.sends = sends;
    }

    fn use_memory(&mut self, node: usize, address: u64, bytes: u32) -> Tick {
        let Some(Some((dram, dealing))) = self.fixed.dram_of.get(node) else { return self.now };
        let local = dealing.local(crate::model::address::Address(address));
        self.drams.get_mut(*dram).map_or(self.now, |dram| dram.access(local, bytes, self.now))
    }

    fn post(&mut self, node: usize, message: Message, ready: Tick, out: &mut Outbox) {
        let kind = message.kind as usize;
        if let Some((count, bytes)) = self.sent.get_mut(kind) {
            *count += 1;
            *bytes += u64::from(message.size);
        }
        let about = About::new(message.range, message.number);
        let from = message.from;
        if out.records.on {
            let copy = Arc::new(message.clone());
            out.record(from, about, || What::Message(copy));
        }
        if self.is_lost(&message) {
            out.record(from, about, || What::Fault { name: "lose-message" });
            return;
        }
        let Some(index) = self.channel_between(node, message.to) else { return };
        let Some(channel) = self.channels.get_mut(index) else { return };
        let lane = channel.lane_of(message.kind.network());
        if let Some(queue) = channel.lanes.get_mut(lane) {
            queue.outgoing.push_back((ready, message));
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
            let (lookup, link) = (channel.lookup, channel.link);
            let Some(queue) = channel.lanes.get_mut(lane) else { return };
            let Some((_, message)) = queue.outgoing.front() else { break };
            if !has_credit {
                if !queue.starved {
                    queue.starved = true;
                    let (about, at) = (About::new(message.range, message.number), message.from);
                    let network = message.kind.network();
                    out.record(at, about, || What::NoCredit { network });
                }
                break;
            }
            queue.starved = false;
            let Some((ready, message)) = queue.outgoing.pop_front() else { break };
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
