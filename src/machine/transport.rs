//! Messages on their way: from a node's outbox over channels and links into the next node.

use super::Machine;
use super::queue::Event;
use super::step::Handled;
use crate::model::component::ComponentId;
use crate::model::fault::{Fault, LOSE_MESSAGE};
use crate::model::message::{Message, MessageKind, Network};
use crate::model::record::What;
use crate::model::time::Tick;
use crate::parts::channel::{Lane, Path, Ready, WAITS};
use crate::parts::link::Link;
use crate::parts::port::{LaneKey, Port};
use crate::protocol::outbox::{About, Outbox, TagRead};
use std::sync::Arc;

/// Whether a node some of whose lanes out are `full`, by virtual network, may take a message of a network: there is room for
/// what it may have to send.
#[must_use]
pub fn has_room(network: Network, full: [bool; Network::ALL.len()], folded: bool) -> bool {
    let room = |network: Network| full.get(network as usize) == Some(&false);
    match network {
        Network::Request => full == [false; Network::ALL.len()],
        Network::Probe => room(Network::Probe) && room(Network::Reply),
        // Where the networks are folded, a reply too waits for the room of all.
        Network::Reply => !folded || room(Network::Reply),
    }
}

/// The network whose lane carries a message: its own, unless a fault says otherwise.
#[must_use]
pub fn lane_network(message: &Message, faults: &[Fault]) -> Network {
    let is_eviction = matches!(message.kind, MessageKind::Writeback | MessageKind::Notify);
    if is_eviction && faults.contains(&Fault::WritebacksAsRequests) {
        Network::Request
    } else {
        message.kind.network()
    }
}

/// Carries bytes that are no message of a protocol over a path, from `now` on; returns when the last of them arrives. They go
/// through a switch packet by packet, so that the link behind it is taken for them while the first one is, and not before it
/// could bring the last of them without a pause.
pub(super) fn carry(links: &mut [Link], path: Path, bytes: u64, now: Tick) -> Tick {
    let Some(first) = links.get_mut(path.first) else { return now };
    let (there, begun) = (first.carry(bytes, now, now), first.started() + first.latency);
    let Some(second) = path.second.and_then(|second| links.get_mut(second)) else { return there };
    let ready = there.saturating_sub(second.span_of(bytes)).max(begun);
    second.carry(bytes, ready, now)
}

impl Machine {
    pub(super) fn channel_between(&self, from: usize, to: ComponentId) -> Option<usize> {
        self.fixed.routes.get(from)?.get(to.index()).copied().flatten().map(|channel| channel as usize)
    }

    /// Puts everything a node wants to send into its channels, and charges the memory behind it.
    pub(super) fn dispatch(&mut self, node: usize, out: &mut Outbox) {
        if out.sends.is_empty() && out.touches.is_empty() {
            return;
        }
        let mut memory = !out.touches.is_empty();
        if memory {
            let mut touches = std::mem::take(&mut out.touches);
            for touch in touches.drain(..) {
                self.touch_memory(node, touch, out);
            }
            out.touches = touches;
        }
        let mut sends = std::mem::take(&mut out.sends);
        let mut ready = Ready::At(self.now);
        for sent in sends.drain(..) {
            let reads = (sent.read.len > 0 || sent.tag == TagRead::Own) && !self.plan.is_ordered;
            memory |= reads;
            ready = match sent.message.kind {
                MessageKind::Flush if !self.plan.is_ordered => {
                    self.ready_at(self.now + self.fixed.flush_trap)
                }
                _ if reads => self.read_memory(node, &sent),
                _ if sent.tag == TagRead::Shared => ready,
                _ => Ready::At(self.now),
            };
            self.post(node, sent.message, ready, out);
        }
        // Nothing is sent while sending: what is put back is the buffer.
        out.sends = sends;
        if memory {
            self.advance_memory(node, out);
        }
    }

    /// When what could leave at a tick may, as seen from now.
    pub(super) fn ready_at(&self, tick: Tick) -> Ready {
        if tick > self.now { Ready::Later(tick) } else { Ready::At(self.now) }
    }

    fn post(&mut self, node: usize, mut message: Message, ready: Ready, out: &mut Outbox) {
        let kind = message.kind as usize;
        if let Some((count, bytes)) = self.sent.get_mut(kind) {
            *count += 1;
            *bytes += u64::from(message.size);
        }
        let is_lost = self.is_lost(&message);
        // One that waits for its data is told when it leaves.
        if out.records.on && (is_lost || !matches!(ready, Ready::Read(_))) {
            let copy = Arc::new(message.clone());
            out.record(message.from, About::message(&message), || What::Message(copy));
        }
        if is_lost {
            self.tell_struck(message.from, About::message(&message), LOSE_MESSAGE, out);
            return;
        }
        let Some(index) = self.channel_between(node, message.to) else { return };
        if out.records.on {
            message.trip.begin();
        }
        self.note_asked(node, index, &message);
        let Some(channel) = self.channels.get_mut(index) else { return };
        self.laden.set(index as u32, true);
        let lane = channel.lane_of(lane_network(&message, &self.fixed.faults));
        match ready {
            Ready::At(tick) if channel.is_clear(lane) => self.launch(index, lane, tick, message),
            _ => {
                if let Some(queue) = channel.lanes.get_mut(lane) {
                    queue.put(ready, message);
                }
                if let Ready::Later(tick) = ready {
                    self.queue.push(tick, Event::Leave(LaneKey::new(index, lane)));
                }
                self.pump(index, lane, out);
            }
        }
    }

    /// Keeps count of the lanes out of a node that have no room.
    fn note_room(&mut self, index: usize, lane: usize) {
        let Some(channel) = self.channels.get_mut(index) else { return };
        let (is_full, folded) = (channel.is_full(lane), channel.folded);
        let Some(queue) = channel.lanes.get_mut(lane) else { return };
        if std::mem::replace(&mut queue.full, is_full) == is_full {
            return;
        }
        let Some(full) = self.full.get_mut(channel.from) else { return };
        for (network, count) in full.iter_mut().enumerate() {
            if folded || network == lane {
                *count = if is_full { *count + 1 } else { count.saturating_sub(1) };
            }
        }
    }

    /// Puts a message on its link, or behind those that wait for it.
    fn launch(&mut self, index: usize, lane: usize, ready: Tick, mut message: Message) {
        let Some(channel) = self.channels.get_mut(index) else { return };
        let (lookup, path, key) = (channel.lookup, channel.path, LaneKey::new(index, lane));
        let Some(queue) = channel.lanes.get_mut(lane) else { return };
        let Some(wire) = self.links.get_mut(path.first) else { return };
        if let Some(stages) = message.trip.stages_mut() {
            stages.ready = ready;
        }
        if wire.has_queue(self.now) {
            queue.wait(message);
            let next = wire.enqueue(key, ready, self.now);
            return self.try_wire(path.first, next);
        }
        let arrival = wire.transmit(&message, ready, self.now);
        if let Some(stages) = message.trip.stages_mut() {
            stages.left = wire.started();
            if path.second.is_none() {
                (stages.came, stages.looked_up) = (arrival, arrival + lookup);
            }
        }
        let is_metered = wire.meter.is_some();
        if path.second.is_none() {
            let arrival = arrival + lookup;
            let is_head = queue.incoming.is_empty();
            queue.incoming.push_back((arrival, message));
            if is_head {
                self.queue.push(arrival, Event::Deliver(key));
            }
        } else if queue.approach(arrival, message) {
            self.queue.push(arrival, Event::Cross(key));
        }
        if is_metered {
            self.arm_sampler();
        }
    }

    /// Messages of a lane may leave whose tick has come. That is no event, unless there turns out to be no room for them.
    pub(super) fn run_leave(&mut self, key: LaneKey, out: &mut Outbox) -> Handled {
        let now = self.now;
        let Some(lane) = self.lane_mut(key) else { return Handled::No };
        lane.release_due(now);
        let was_starved = lane.starved;
        self.pump(key.channel as usize, usize::from(key.lane), out);
        let is_starved = self.lane_mut(key).is_some_and(|lane| lane.starved);
        if is_starved && !was_starved { Handled::Yes } else { Handled::No }
    }

    fn try_wire(&mut self, link: usize, at: Option<Tick>) {
        if let Some(at) = at {
            self.queue.push(at.max(self.now), Event::Wire(link as u32));
        }
    }

    /// A link is free: the message that has waited longest for it goes over it.
    pub(super) fn run_wire(&mut self, link: usize, out: &mut Outbox) -> Handled {
        let mut handled = Handled::No;
        if let Some((key, since)) = self.links.get_mut(link).and_then(|wire| wire.call(self.now)) {
            handled = self.leave(link, key, since, out);
        }
        let next = self.links.get(link).and_then(Link::next_call);
        self.try_wire(link, next);
        handled
    }

    /// The message of a lane that has waited for a link since a tick goes over it.
    fn leave(&mut self, link: usize, key: LaneKey, since: Tick, out: &mut Outbox) -> Handled {
        let Some(channel) = self.channels.get_mut(key.channel as usize) else { return Handled::No };
        let (lookup, is_switched) = (channel.lookup, channel.path.second.is_some());
        if channel.path.second == Some(link) {
            return self.cross_over(link, key, since, out);
        }
        let Some(queue) = channel.lanes.get_mut(usize::from(key.lane)) else { return Handled::No };
        // What waited may have been taken out of its turn.
        let (Some(message), Some(wire)) = (queue.unsent(), self.links.get_mut(link)) else {
            return Handled::No;
        };
        let arrival = wire.send(message, since, self.now);
        if let Some(stages) = message.trip.stages_mut() {
            stages.left = wire.started();
            if !is_switched {
                (stages.came, stages.looked_up) = (arrival, arrival + lookup);
            }
        }
        let arrival = if is_switched { arrival } else { arrival + lookup };
        if queue.sent(arrival, is_switched) {
            let event = if is_switched { Event::Cross(key) } else { Event::Deliver(key) };
            self.queue.push(arrival, event);
        }
        self.arm_sampler();
        Handled::No
    }

    /// A message has come to the switch: it goes on over its second link, or waits for that.
    pub(super) fn cross(&mut self, key: LaneKey, out: &mut Outbox) -> Handled {
        let Some(channel) = self.channels.get_mut(key.channel as usize) else { return Handled::No };
        let Some(second) = channel.path.second else { return Handled::No };
        let Some(queue) = channel.lanes.get_mut(usize::from(key.lane)) else { return Handled::No };
        let Some((due, _)) = queue.at_switch() else { return Handled::No };
        if *due > self.now {
            if *due != WAITS {
                self.queue.push(*due, Event::Cross(key));
            }
            return Handled::No;
        }
        queue.ask();
        let Some(wire) = self.links.get_mut(second) else { return Handled::No };
        let handled = if wire.has_queue(self.now) {
            let next = wire.enqueue(key, self.now, self.now);
            self.try_wire(second, next);
            Handled::No
        } else {
            self.cross_over(second, key, self.now, out)
        };
        let next = self.lane_mut(key).and_then(Lane::at_switch).map(|(due, _)| *due);
        if let Some(due) = next.filter(|due| *due != WAITS) {
            self.queue.push(due.max(self.now), Event::Cross(key));
        }
        handled
    }

    /// The first message of a lane that has come to the switch, at a tick, goes over the link behind it.
    fn cross_over(&mut self, second: usize, key: LaneKey, since: Tick, out: &mut Outbox) -> Handled {
        let Some(channel) = self.channels.get_mut(key.channel as usize) else { return Handled::No };
        let lookup = channel.lookup;
        let Some(queue) = channel.lanes.get_mut(usize::from(key.lane)) else { return Handled::No };
        let (Some(message), Some(wire)) = (queue.asking(), self.links.get_mut(second)) else {
            return Handled::No;
        };
        let came = wire.send(message, since, self.now);
        let due = came + lookup;
        if let Some(stages) = message.trip.stages_mut() {
            (stages.at_switch, stages.crossed) = (since, wire.started());
            (stages.came, stages.looked_up) = (came, due);
        }
        let is_metered = wire.meter.is_some();
        if out.records.on
            && let Some(Some((link, _, _))) = self.fixed.visible_links.get(second)
        {
            let about = About::message(message).because(message.cause);
            let copy = Arc::new(message.clone());
            out.record(*link, about, || What::Hop(copy));
        }
        if queue.crossed(due) {
            self.queue.push(due, Event::Deliver(key));
        }
        if is_metered {
            self.arm_sampler();
        }
        Handled::Yes
    }

    fn is_lost(&self, message: &Message) -> bool {
        let sent = self.sent.get(message.kind as usize).map_or(0, |(count, _)| *count);
        self.is_struck(sent, |nth| Fault::LoseMessage { kind: message.kind, nth })
    }

    /// Sends what waits at the sending end of a channel, as far as there are credits.
    pub(super) fn pump(&mut self, index: usize, lane: usize, out: &mut Outbox) {
        let mut sent = false;
        loop {
            let Some(channel) = self.channels.get_mut(index) else { return };
            let has_credit = channel.has_credit(lane);
            let block = channel.block;
            let Some(queue) = channel.lanes.get_mut(lane) else { return };
            let Some((place, ready, message)) = queue.next(block) else { break };
            if !has_credit {
                if !queue.starved {
                    let (about, at) = (About::message(message), message.from);
                    let network = message.kind.network();
                    queue.starved = true;
                    out.record(at, about, || What::NoCredit { network });
                }
                break;
            }
            queue.starved = false;
            let Some(message) = queue.leave(place) else { break };
            self.launch(index, lane, ready, message);
            sent = true;
        }
        self.note_room(index, lane);
        if sent {
            let from = self.channels.get(index).map(|channel| channel.from);
            if let Some(from) = from {
                self.stir(from, out);
            }
        }
    }

    /// A node has changed or has room: what it or its L1's agent turned away is tried again.
    pub(super) fn stir(&mut self, node: usize, out: &mut Outbox) {
        if self.held.get(node).is_some_and(|held| !held.is_empty()) {
            self.retry_inputs(node);
        }
        if let Some(Some(agent)) = self.fixed.agent_above.get(node).copied() {
            if let Some(agent) = self.agents.get_mut(agent) {
                agent.unstall(out);
            }
            self.wake(agent);
        }
    }

    fn retry_inputs(&mut self, node: usize) {
        let period = self.ports.get(node).map_or(1, Port::period);
        let takes_requests = self.takes_requests(node);
        let Some(held) = self.held.get_mut(node) else { return };
        let mut held = std::mem::take(held);
        held.retain(|&key| {
            let is_request = usize::from(key.lane) == Network::Request as usize;
            if is_request && !takes_requests || !self.can_be_taken(node, key) {
                return true;
            }
            self.queue.push(self.now + period, Event::Deliver(key));
            if let Some(lane) = self.lane_mut(key) {
                lane.blocked = false;
            }
            false
        });
        if let Some(place) = self.held.get_mut(node) {
            *place = held;
        }
    }

    /// Whether a node might take what comes in the lane of requests: none, if it had nowhere to hand one on.
    fn takes_requests(&self, node: usize) -> bool {
        let has_full_lane = self.full.get(node).is_some_and(|full| *full != [0; Network::ALL.len()]);
        // Folded networks share that lane, and a fault may put others into it.
        !has_full_lane || self.fixed.folded || !self.fixed.faults.is_empty()
    }

    pub(super) fn lane_mut(&mut self, key: LaneKey) -> Option<&mut Lane> {
        self.channels.get_mut(key.channel as usize)?.lanes.get_mut(usize::from(key.lane))
    }

    /// Whether a head that was turned away would be taken now.
    fn can_be_taken(&self, node: usize, key: LaneKey) -> bool {
        let channel = self.channels.get(key.channel as usize);
        let lane = channel.and_then(|channel| channel.lanes.get(usize::from(key.lane)));
        let head = lane.filter(|lane| lane.blocked).and_then(|lane| lane.incoming.front());
        head.is_some_and(|(_, message)| self.can_take(node, message))
    }

    /// Notes whether the head of a lane into a node waits for the node to change.
    pub(super) fn set_held(&mut self, node: usize, key: LaneKey, blocked: bool) {
        let was = self.lane_mut(key).is_some_and(|lane| std::mem::replace(&mut lane.blocked, blocked));
        let Some(held) = self.held.get_mut(node).filter(|_| was != blocked) else { return };
        match held.iter().position(|held| *held == key) {
            Some(at) if !blocked => {
                held.remove(at);
            }
            None if blocked => held.push(key),
            _ => {}
        }
    }

    /// Whether a node can take a message now.
    pub(super) fn can_take(&self, node: usize, message: &Message) -> bool {
        let Some(target) = self.nodes.get(node) else { return false };
        let full = self.full.get(node).filter(|full| **full != [0; Network::ALL.len()]);
        full.is_none_or(|full| {
            has_room(target.room_for(message), full.map(|lanes| lanes > 0), self.fixed.folded)
        }) && target.takes(message)
    }

    /// Whether the L1 of an agent can send a request down.
    pub(super) fn has_room_below(&self, node: usize) -> bool {
        self.full.get(node).is_none_or(|full| full.get(Network::Request as usize) == Some(&0))
    }

    /// Schedules an agent for when it has something to do.
    pub(super) fn wake(&mut self, agent: usize) {
        let Some(at) = self.agents.get(agent).and_then(|agent| agent.next_wake(self.now)) else { return };
        let Some(planned) = self.agent_wake.get_mut(agent) else { return };
        if planned.is_none_or(|tick| at < tick) {
            *planned = Some(at);
            self.queue.push(at, Event::Agent(agent as u32));
        }
    }
}

#[cfg(test)]
mod tests;
