//! The way of messages from one node to another: a queue per virtual network at each end, a link or two with a switch
//! between them, and credits for the receiver's buffers. First in, first out per channel and network, except that a message whose data are still read
//! from memory has not come to the channel yet: what is about other blocks does not wait for it.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use crate::model::address::Range;
use crate::model::message::{Message, Network};
use crate::model::time::Tick;
use crate::parts::dram::Read;

/// When a message may leave its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ready {
    /// From this tick on.
    At(Tick),
    /// Once this tick has come: the memory behind the sender, which answers in turn, has read its data then, or the software that
    /// sends it has done so much. Nothing is taken for it before, neither a link nor a buffer.
    Later(Tick),
    /// Once the memory behind the sender has read its data.
    Read(Read),
}

/// The links that carry a message, by index, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Path {
    pub first: usize,
    /// The link behind a switch. A message asks for it when it has come there, not before.
    pub second: Option<usize>,
}

impl Path {
    /// From one link through a switch to another.
    #[must_use]
    pub fn switched(first: usize, second: usize) -> Self {
        Self { first, second: Some(second) }
    }

    /// The link that ends at the receiver.
    #[must_use]
    pub fn last(self) -> usize {
        self.second.unwrap_or(self.first)
    }
}

impl From<usize> for Path {
    /// One link, without a switch.
    fn from(link: usize) -> Self {
        Self { first: link, second: None }
    }
}

/// The tick of a message that waits for a link: nobody knows yet when it will arrive.
pub const WAITS: Tick = Tick::MAX;

/// Where a message of a lane is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At its sender, whose memory reads its data.
    Reading,
    /// At its sender, from which it may leave at a tick that is known.
    Later(Tick),
    /// At its sender: the receiver has no free buffer.
    NoCredit,
    /// Before the first link, or at the switch before the second.
    WaitsForFirst,
    WaitsForSecond,
    /// On its way to the switch, where it comes at a tick.
    ToSwitch(Tick),
    /// The head, which the receiver could not take.
    Blocked,
    /// It has come to the receiver, behind a head that could not be taken.
    Behind,
    /// On its way to the receiver, which can take it from a tick on.
    Coming(Tick),
}

impl Place {
    /// Whether it has left its sender.
    #[must_use]
    pub fn is_sent(self) -> bool {
        !matches!(self, Self::Reading | Self::Later(_) | Self::NoCredit)
    }

    /// Whether it stands in the receiver's buffer until that can take the head.
    #[must_use]
    pub fn is_stuck(self) -> bool {
        matches!(self, Self::Blocked | Self::Behind)
    }
}

/// Queues of one virtual network of a channel.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is about something else")]
pub struct Lane {
    /// Waiting to be sent, with when each may leave.
    pub outgoing: VecDeque<(Ready, Message)>,
    /// How many of them may not leave yet. They are in memory still, and take no room here.
    held: u32,
    /// Sent and not yet taken, with the tick at which each can be taken, or comes to the switch; [`WAITS`] while it waits
    /// for a link.
    pub incoming: VecDeque<(Tick, Message)>,
    /// How many of them, the last ones, are not on the link that ends at the receiver yet.
    crossing: u32,
    /// How many of those, the first ones, have come to the switch and wait for the link behind it.
    asked: u32,
    /// How many of them, the last ones, wait for the first link.
    unsent: u32,
    /// The receiver could not take the head; it is tried again when the receiver has changed.
    pub blocked: bool,
    /// The sender has been told that it has no credit (one record, not one per try).
    pub starved: bool,
    /// That the head is blocked has been told (one record, not one per try).
    pub told: bool,
    /// From when on heads wait for nothing but the port: all that stood before them had come, and could be taken.
    pub ready_from: Tick,
    /// No more may be put behind what waits to be sent. Follows from the rest.
    pub full: bool,
}

impl Lane {
    /// Whether nothing waits to be sent and nothing is on its way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.outgoing.is_empty() && self.incoming.is_empty()
    }

    /// Puts a message behind those that wait to be sent.
    pub fn put(&mut self, ready: Ready, message: Message) {
        self.held += u32::from(!matches!(ready, Ready::At(_)));
        self.outgoing.push_back((ready, message));
    }

    /// Puts a message that comes to the switch at a tick behind those that were sent. Returns whether it is the next to come
    /// there.
    pub fn approach(&mut self, at: Tick, message: Message) -> bool {
        self.incoming.push_back((at, message));
        self.crossing += 1;
        self.crossing - self.asked == 1
    }

    /// Puts a message that has to wait for its first link behind those that were sent.
    pub fn wait(&mut self, message: Message) {
        self.incoming.push_back((WAITS, message));
        self.crossing += 1;
        self.unsent += 1;
    }

    /// The first of those that wait for the first link, if one does.
    pub fn unsent(&mut self) -> Option<&mut Message> {
        let place = self.incoming.len().checked_sub(self.unsent as usize)?;
        self.incoming.get_mut(place).map(|(_, message)| message)
    }

    /// That message is on the first link, and comes to the end of it at a tick. Returns whether it is the next to come there.
    pub fn sent(&mut self, at: Tick, is_switched: bool) -> bool {
        let place = self.incoming.len().saturating_sub(self.unsent as usize);
        if let Some((due, _)) = self.incoming.get_mut(place) {
            *due = at;
        }
        self.unsent = self.unsent.saturating_sub(1);
        if is_switched {
            return place == self.beyond_switch() + self.asked as usize;
        }
        self.crossing = self.crossing.saturating_sub(1);
        place == 0
    }

    /// How many messages at the front of those that were sent have nothing before them but their receiver.
    #[must_use]
    pub fn beyond_switch(&self) -> usize {
        self.incoming.len().saturating_sub(self.crossing as usize)
    }

    /// The next message to come to the switch, with the tick at which it does.
    pub fn at_switch(&mut self) -> Option<&mut (Tick, Message)> {
        let place = self.beyond_switch() + self.asked as usize;
        self.incoming.get_mut(place)
    }

    /// That message waits for the link behind the switch.
    pub fn ask(&mut self) {
        if let Some((due, _)) = self.at_switch() {
            *due = WAITS;
            self.asked += 1;
        }
    }

    /// The first message that waits for the link behind the switch, if one does.
    pub fn asking(&mut self) -> Option<&mut Message> {
        let (first, asked) = (self.beyond_switch(), self.asked);
        self.incoming.get_mut(first).map(|(_, message)| message).filter(|_| asked > 0)
    }

    /// The first message that has come to the switch is on the link behind it, and can be taken at a tick. Returns whether it
    /// is the head.
    pub fn crossed(&mut self, at: Tick) -> bool {
        let place = self.beyond_switch();
        if let Some((due, _)) = self.incoming.get_mut(place) {
            *due = at;
        }
        self.asked = self.asked.saturating_sub(1);
        self.crossing = self.crossing.saturating_sub(1);
        place == 0
    }

    /// All messages, each with where it is now: those that wait to be sent, then those that were, the oldest first.
    pub fn places(&self, now: Tick) -> impl Iterator<Item = (Place, &Message)> {
        let at_sender = |ready: &Ready| match ready {
            Ready::Read(_) => Place::Reading,
            Ready::Later(tick) => Place::Later(*tick),
            Ready::At(_) => Place::NoCredit,
        };
        let waiting = self.outgoing.iter().map(move |(ready, message)| (at_sender(ready), message));
        let passed = self.beyond_switch();
        let left = self.incoming.len().saturating_sub(self.unsent as usize);
        let sent = self.incoming.iter().enumerate().map(move |(nth, (tick, message))| {
            let place = match *tick {
                WAITS if nth >= left => Place::WaitsForFirst,
                WAITS => Place::WaitsForSecond,
                due if nth >= passed => Place::ToSwitch(due),
                _ if nth == 0 && self.blocked => Place::Blocked,
                due if self.blocked && due <= now => Place::Behind,
                due => Place::Coming(due),
            };
            (place, message)
        });
        waiting.chain(sent)
    }

    /// The tick at which the head can be taken, if it is on its last link or has come.
    #[must_use]
    pub fn head_due(&self) -> Option<Tick> {
        let (due, _) = self.incoming.front().filter(|_| self.beyond_switch() > 0)?;
        Some(*due)
    }

    /// Takes the head of those that were sent, wherever it is.
    pub fn take(&mut self) -> Option<(Tick, Message)> {
        if self.beyond_switch() == 0 {
            self.asked = self.asked.saturating_sub(1);
        }
        let left = (self.incoming.len() as u32).saturating_sub(1);
        (self.crossing, self.unsent) = (self.crossing.min(left), self.unsent.min(left));
        self.incoming.pop_front()
    }

    /// The next message to send, with its place and the tick from which it may leave. Messages about one block keep
    /// their order; those about others pass a message that may not leave yet.
    #[must_use]
    pub fn next(&self, block: u32) -> Option<(usize, Tick, &Message)> {
        if let (Ready::At(tick), message) = self.outgoing.front()? {
            return Some((0, *tick, message));
        }
        for (place, (ready, message)) in self.outgoing.iter().enumerate() {
            let Ready::At(tick) = ready else { continue };
            let own = message.range.start.block(block);
            let mut earlier = self.outgoing.iter().take(place);
            if !earlier.any(|(_, earlier)| earlier.range.start.block(block) == own) {
                return Some((place, *tick, message));
            }
        }
        None
    }

    /// Takes a message out of those that wait to be sent.
    pub fn leave(&mut self, place: usize) -> Option<Message> {
        let taken = if place == 0 { self.outgoing.pop_front() } else { self.outgoing.remove(place) };
        taken.map(|(_, message)| message)
    }

    /// The message that waited for a read, which may leave from `now` on.
    pub fn release(&mut self, read: Read, now: Tick) -> Option<&mut Message> {
        let (ready, message) = self.outgoing.iter_mut().find(|(ready, _)| *ready == Ready::Read(read))?;
        *ready = Ready::At(now);
        self.held = self.held.saturating_sub(1);
        Some(message)
    }

    /// The place of the first message that may leave once a tick has come, which is no later than this one.
    #[must_use]
    pub fn first_due(&self, tick: Tick) -> Option<usize> {
        self.outgoing.iter().position(|(ready, _)| matches!(ready, Ready::Later(due) if *due <= tick))
    }

    /// Messages whose tick has come may leave.
    pub fn release_due(&mut self, now: Tick) {
        for (ready, _) in &mut self.outgoing {
            if let Ready::Later(tick) = *ready
                && tick <= now
            {
                *ready = Ready::At(tick);
                self.held = self.held.saturating_sub(1);
            }
        }
    }
}

impl Channel {
    /// Whether a message about a range is on its way here.
    #[must_use]
    pub fn carries(&self, range: Range) -> bool {
        let mut all = self.lanes.iter().flat_map(|lane| {
            let waiting = lane.outgoing.iter().map(|(_, message)| message);
            waiting.chain(lane.incoming.iter().map(|(_, message)| message))
        });
        all.any(|message| message.range.overlaps(range))
    }
}

/// A directed channel between two nodes.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Indices of nodes.
    pub from: usize,
    pub to: usize,
    pub path: Path,
    /// Lookup of the receiver: a message can be taken so long after it arrived.
    pub lookup: Tick,
    /// Messages that the receiver can buffer per virtual network.
    pub buffers: u32,
    /// The larger of the blocks of its ends, in bytes: messages about one such block stay in order.
    pub block: u32,
    /// One per virtual network; if all are folded together, only the first is used.
    pub lanes: [Lane; Network::ALL.len()],
    pub folded: bool,
}

impl Channel {
    /// The lane that carries a virtual network.
    #[must_use]
    pub fn lane_of(&self, network: Network) -> usize {
        if self.folded { 0 } else { network as usize }
    }

    /// The message that has been longest in a lane.
    #[must_use]
    pub fn oldest(&self, lane: usize) -> Option<&Message> {
        let lane = self.lanes.get(lane)?;
        let waiting = || lane.outgoing.front().map(|(_, message)| message);
        lane.incoming.front().map(|(_, message)| message).or_else(waiting)
    }

    /// Takes it out.
    pub fn take_oldest(&mut self, lane: usize) -> Option<Message> {
        let lane = self.lanes.get_mut(lane)?;
        lane.told = false;
        if let Some((_, message)) = lane.take() {
            return Some(message);
        }
        let (ready, message) = lane.outgoing.pop_front()?;
        lane.held = lane.held.saturating_sub(u32::from(!matches!(ready, Ready::At(_))));
        Some(message)
    }

    /// Whether the receiver has a free buffer.
    #[must_use]
    pub fn has_credit(&self, lane: usize) -> bool {
        self.lanes.get(lane).is_some_and(|lane| (lane.incoming.len() as u32) < self.buffers)
    }

    /// Whether a message waits to be sent.
    #[must_use]
    pub fn is_waiting(&self, lane: usize) -> bool {
        self.lanes.get(lane).is_some_and(|lane| !lane.outgoing.is_empty())
    }

    /// Whether a message can be sent at once.
    #[must_use]
    pub fn is_clear(&self, lane: usize) -> bool {
        self.lanes
            .get(lane)
            .is_some_and(|lane| lane.outgoing.is_empty() && (lane.incoming.len() as u32) < self.buffers)
    }

    /// Whether no more may be put behind what waits to be sent.
    #[must_use]
    pub fn is_full(&self, lane: usize) -> bool {
        self.lanes
            .get(lane)
            .is_some_and(|lane| lane.outgoing.len() as u32 >= self.buffers.saturating_add(lane.held))
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(Lane::is_empty)
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        let used = if self.folded { 1 } else { self.lanes.len() };
        for lane in self.lanes.iter().take(used) {
            (&lane.outgoing, &lane.incoming, lane.blocked).hash(hasher);
            if lane.crossing > 0 {
                lane.crossing.hash(hasher);
            }
            if lane.asked + lane.unsent > 0 {
                (lane.asked, lane.unsent).hash(hasher);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::link::tests::sized;

    /// What is taken out before its time held no room, and what comes after it has no more for that.
    #[test]
    fn what_is_taken_before_it_may_leave_is_held_no_more() {
        let (path, lanes) = (Path::from(0), <[Lane; 3]>::default());
        let mut channel =
            Channel { from: 0, to: 1, path, lookup: 0, buffers: 1, block: 64, lanes, folded: false };
        channel.lanes[0].put(Ready::Later(10), sized(8));
        assert!(!channel.is_full(0), "it is still in memory");
        assert!(channel.take_oldest(0).is_some());
        channel.lanes[0].put(Ready::At(0), sized(8));
        assert!(channel.is_full(0), "one may wait to be sent");
    }
}
