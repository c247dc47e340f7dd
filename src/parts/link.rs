//! One direction of a physical link: lanes, serialisation, latency and utilisation. Channels share it first
//! come first served.
//!
//! A link whose lanes stay as they are is promised to messages ahead: nothing can change when they leave. One whose lanes may turn
//! has a queue: what waits goes over the lanes that are there when its turn comes.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

use crate::model::message::{Message, MessageKind, Network};
use crate::model::time::{ByteRate, Tick};
use crate::parts::meter::Meter;
use crate::parts::port::LaneKey;

/// Samples of utilisation that a link remembers.
pub const HISTORY: usize = 64;

/// Sizes of messages with data that are told apart.
const SIZES: usize = 6;

/// How data are cut into packets: "PCIe packet header size = 20B, max. payload size = 128B" (`ScaleGPU`, Table 1), or sent in whole
/// pieces: "16B flits", and nothing below 32 B ("Selective GPU Caches", sections 3.2.3 and 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packets {
    /// Bytes of the header of each.
    pub header: u32,
    /// Bytes of data in one at most.
    pub payload: u32,
    /// Bytes of data are rounded up to a multiple of so many.
    pub granularity: u32,
}

impl Packets {
    /// Bytes of the headers behind the first, of so many bytes of data.
    fn more_headers(self, data: u64) -> u64 {
        let packets = data.div_ceil(u64::from(self.payload.max(1))).max(1);
        (packets - 1) * u64::from(self.header)
    }

    /// Bytes on the wire of a message of `size` bytes that counts one header.
    fn of_message(self, size: u64) -> u64 {
        match size.checked_sub(u64::from(self.header)) {
            Some(data) => self.of_data(data),
            None => size,
        }
    }

    /// Bytes on the wire of so many bytes of data without any header.
    fn of_data(self, data: u64) -> u64 {
        let whole = data.next_multiple_of(u64::from(self.granularity.max(1)));
        whole + u64::from(self.header) + self.more_headers(whole)
    }
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Link {
    /// `None` for an ideal wire: any number of bytes at once.
    rate: Option<ByteRate>,
    /// The rate of as many lanes as it was built with.
    whole: Option<ByteRate>,
    nominal: u32,
    pub latency: Tick,
    /// If what it carries is cut into packets.
    pub packets: Option<Packets>,
    /// Lanes that messages can take which leave from now on.
    pub lanes: u32,
    /// If its samples are watched.
    pub meter: Option<Box<Meter>>,
    /// Ticks in a sample of the history.
    window: Tick,
    free_at: Tick,
    /// When the last message went onto it.
    started: Tick,
    /// The lanes whose next message waits for it, and since when, in their order.
    waiting: VecDeque<(LaneKey, Tick)>,
    /// Since when it has had no pause.
    busy_since: Tick,
    /// Messages and their bytes, by kind.
    pub carried: [(u64, u64); MessageKind::ALL.len()],
    /// Sizes of messages with data as they were sent, and how many of each there were: the first few.
    pub sizes: SmallVec<[(u32, u64); SIZES]>,
    /// Bytes of messages that only keep caches coherent: neither requests nor with data (UMH, section 6.1.4).
    pub coherence: u64,
    pub busy: Tick,
    /// Stretches before the last one in which it is busy, of those that are not over: what is promised ahead may leave gaps.
    promised: VecDeque<(Tick, Tick)>,
    /// Bytes of pages and copies.
    pub paged: u64,
    /// Bytes beyond data and one header a message: headers of further packets, all of pages and copies, and what fills pieces up.
    pub headers: u64,
    /// Ticks that messages waited for the wire, and before that for a free buffer at the other end.
    pub queued: Tick,
    pub held_back: Tick,
    /// Number of the sample that is not over, and the ticks busy before it.
    sampled: (u64, Tick),
    sample_end: Tick,
    history: VecDeque<f32>,
}

impl Link {
    #[must_use]
    pub fn new(rate: Option<ByteRate>, latency: Tick, lanes: u32, window: Tick) -> Self {
        Self {
            rate,
            whole: rate,
            nominal: lanes,
            latency,
            packets: None,
            lanes,
            meter: None,
            window: window.max(1),
            sample_end: window.max(1),
            free_at: 0,
            started: 0,
            waiting: VecDeque::new(),
            busy_since: 0,
            carried: [(0, 0); MessageKind::ALL.len()],
            sizes: SmallVec::new(),
            coherence: 0,
            busy: 0,
            promised: VecDeque::new(),
            paged: 0,
            headers: 0,
            queued: 0,
            held_back: 0,
            sampled: (0, 0),
            history: VecDeque::new(),
        }
    }

    /// Whether any number of bytes go over it at once.
    #[must_use]
    pub fn is_ideal(&self) -> bool {
        self.rate.is_none()
    }

    /// Has the rate and latency of `other` from here on, and its lanes unless they stay where they are.
    pub fn adopt(&mut self, other: &Self, keeps_lanes: bool) {
        (self.whole, self.nominal, self.latency) = (other.whole, other.nominal, other.latency);
        self.packets = other.packets;
        self.set_lanes(if keeps_lanes { self.lanes } else { other.lanes });
    }

    /// Lanes that it was built with.
    #[must_use]
    pub fn nominal(&self) -> u32 {
        self.nominal
    }

    /// Messages that leave from now on have so many lanes, those too that wait for it. Those that have left arrive as they
    /// would have.
    pub fn set_lanes(&mut self, lanes: u32) {
        self.lanes = lanes;
        let share = |whole: ByteRate| {
            let (lanes, nominal) = (u64::from(lanes.max(1)), u64::from(self.nominal.max(1)));
            ByteRate::new(whole.bytes.saturating_mul(lanes), whole.ticks.saturating_mul(nominal))
        };
        match (&mut self.rate, self.whole.map(share)) {
            (Some(own), Some(new)) => own.adopt(new),
            (own, new) => *own = new,
        }
    }

    /// When the last message that was sent so far went onto it.
    #[must_use]
    pub fn started(&self) -> Tick {
        self.started
    }

    /// When the last byte that was sent so far leaves.
    #[must_use]
    pub fn free_at(&self) -> Tick {
        self.free_at
    }

    /// Whether a message has to queue for it, instead of being promised its time.
    #[must_use]
    pub fn has_queue(&self, now: Tick) -> bool {
        !self.waiting.is_empty() || (self.meter.is_some() && self.free_at > now)
    }

    /// The next message of a lane waits for it from `now` on, and could have left its sender at `ready`. Returns when the
    /// link is to be tried, unless that is known.
    pub fn enqueue(&mut self, key: LaneKey, ready: Tick, now: Tick) -> Option<Tick> {
        self.held_back += now.saturating_sub(ready);
        self.waiting.push_back((key, ready.max(now)));
        (self.waiting.len() == 1).then_some(self.free_at)
    }

    /// The lane whose message is next, if the link is free, and since when it waits.
    pub fn call(&mut self, now: Tick) -> Option<(LaneKey, Tick)> {
        if self.free_at > now { None } else { self.waiting.pop_front() }
    }

    /// When the link is to be tried again, if something waits for it.
    #[must_use]
    pub fn next_call(&self) -> Option<Tick> {
        (!self.waiting.is_empty()).then_some(self.free_at)
    }

    /// Sends a message that could leave at `ready` and may from `now` on; returns when its last byte arrives.
    pub fn transmit(&mut self, message: &Message, ready: Tick, now: Tick) -> Tick {
        self.held_back += now.saturating_sub(ready);
        self.send(message, ready.max(now), now)
    }

    /// Sends a message that has waited for it since `ready`; returns when its last byte arrives.
    pub fn send(&mut self, message: &Message, ready: Tick, now: Tick) -> Tick {
        let size = self.on_the_wire(message.size);
        // What takes nothing of the link, such as the answer to a posted write, is none of its messages.
        if size > 0 {
            self.count(message, size, ready);
        }
        self.occupy(size, ready, now)
    }

    fn count(&mut self, message: &Message, size: u64, ready: Tick) {
        self.headers += size - u64::from(message.size);
        if let Some((count, bytes)) = self.carried.get_mut(message.kind as usize) {
            *count += 1;
            *bytes += size;
        }
        if message.has_data {
            self.count_size(message.size);
        } else if message.kind.network() != Network::Request {
            self.coherence += size;
        }
        if self.rate.is_some() {
            self.queued += self.free_at.saturating_sub(ready);
        }
    }

    /// Bytes that a message of `size` bytes, one header among them, is on the wire.
    #[must_use]
    pub fn on_the_wire(&self, size: u32) -> u64 {
        let size = u64::from(size);
        self.packets.map_or(size, |packets| packets.of_message(size))
    }

    /// Ticks that so many bytes of [`Self::carry`] take.
    #[must_use]
    pub fn span_of(&self, data: u64) -> Tick {
        let bytes = self.packets.map_or(data, |packets| packets.of_data(data));
        // Of a copy: what is left of a tick is nobody's yet.
        self.rate.map_or(0, |mut rate| rate.occupy(bytes))
    }

    /// Takes the wire for so many bytes, from `ready` on or from when it is free; returns when the last of them arrives.
    fn occupy(&mut self, bytes: u64, ready: Tick, now: Tick) -> Tick {
        if now >= self.sample_end {
            self.sample(now);
        }
        let Some(rate) = self.rate.as_mut() else {
            self.started = ready;
            return ready + self.latency;
        };
        let start = ready.max(self.free_at);
        self.started = start;
        let span = rate.occupy(bytes);
        if start > self.free_at {
            while self.promised.front().is_some_and(|(_, end)| *end <= now) {
                self.promised.pop_front();
            }
            if self.free_at > now {
                self.promised.push_back((self.busy_since, self.free_at));
            }
            self.busy_since = start;
        }
        self.free_at = start + span;
        self.busy += span;
        if let Some(meter) = &mut self.meter {
            meter.add(start, span);
        }
        self.free_at + self.latency
    }

    fn count_size(&mut self, size: u32) {
        if let Some((_, count)) = self.sizes.iter_mut().find(|(known, _)| *known == size) {
            *count += 1;
        } else if self.sizes.len() < SIZES {
            self.sizes.push((size, 1));
        }
    }

    /// Carries so many bytes that are no message of a protocol, from `ready` on; returns when the last of them arrives.
    pub fn carry(&mut self, data: u64, ready: Tick, now: Tick) -> Tick {
        let bytes = self.packets.map_or(data, |packets| packets.of_data(data));
        self.headers += bytes - data;
        self.paged += bytes;
        self.occupy(bytes, ready, now)
    }

    /// Takes in the samples that are over: what is promised for those to come is not known to the last.
    fn sample(&mut self, now: Tick) {
        let here = now / self.window;
        let (first, mut before) = self.sampled;
        let from = first.max(here.saturating_sub(HISTORY as u64));
        if from > first {
            before = self.busy_until(from * self.window);
        }
        for number in from..here {
            let until = self.busy_until((number + 1) * self.window);
            if self.history.len() == HISTORY {
                self.history.pop_front();
            }
            self.history.push_back(until.saturating_sub(before) as f32 / self.window as f32);
            before = until;
        }
        self.sampled = (here, before);
        self.sample_end = (here + 1) * self.window;
    }

    /// Shares of time busy in the samples up to `now`, oldest first.
    #[must_use]
    pub fn history(&self, now: Tick) -> Vec<f32> {
        let mut copy = self.clone();
        copy.sample(now);
        copy.history.into_iter().collect()
    }

    /// Since when it has carried without a pause.
    #[must_use]
    pub fn busy_since(&self) -> Tick {
        self.busy_since
    }

    /// Whether something is on it, or waits for it.
    #[must_use]
    pub fn is_busy(&self, now: Tick) -> bool {
        self.free_at > now || !self.waiting.is_empty()
    }

    /// Share of the time until now that it was busy, 0 to 1.
    #[must_use]
    pub fn utilisation(&self, now: Tick) -> f64 {
        if now == 0 { 0.0 } else { self.busy_until(now) as f64 / now as f64 }
    }

    /// Ticks that it was busy until one that is not before the last event on it, or will have been as far as is known.
    #[must_use]
    pub fn busy_until(&self, tick: Tick) -> Tick {
        // What is promised ahead is counted already.
        let all = self.promised.iter().copied().chain([(self.busy_since, self.free_at)]);
        let ahead: Tick = all.map(|(start, end)| end.saturating_sub(start.max(tick))).sum();
        self.busy.saturating_sub(ahead)
    }

    /// Bytes of all messages so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.carried.iter().map(|(_, bytes)| bytes).sum::<u64>() + self.paged
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (self.free_at, self.rate).hash(hasher);
        if let Some(meter) = &self.meter {
            (self.lanes, meter, &self.waiting).hash(hasher);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::address::{Address, Range};
    use crate::model::component::ComponentId;

    pub fn sized(size: u32) -> Message {
        Message {
            kind: MessageKind::Writeback,
            from: ComponentId(0),
            to: ComponentId(1),
            range: Range::new(Address(0), 64),
            txn: None,
            number: None,
            cause: 0,
            size,
            granted: None,
            peer: None,
            held: None,
            access: None,
            sectors: crate::model::sectors::Sectors::NONE,
            once: false,
            has_data: true,
            patch: None,
            trip: crate::model::message::Trip::default(),
        }
    }

    #[test]
    fn coherence_is_what_is_neither_a_request_nor_data() {
        let mut link = Link::new(None, 5, 8, 100);
        for (kind, has_data) in [
            (MessageKind::Read, false),
            (MessageKind::Forward, true),
            (MessageKind::Grant, true),
            (MessageKind::Grant, false),
            (MessageKind::Answer, false),
            (MessageKind::ProbeWrite, false),
        ] {
            link.transmit(&Message { kind, has_data, ..sized(16) }, 0, 0);
        }
        assert_eq!((link.coherence, link.bytes()), (48, 96));
    }

    #[test]
    fn messages_queue_behind_each_other() {
        let mut link = Link::new(Some(ByteRate::new(16, 1)), 5, 8, 100);
        assert_eq!(link.transmit(&sized(160), 0, 0), 15);
        assert_eq!(link.transmit(&sized(160), 0, 4), 25);
        assert_eq!(link.busy, 20);
        assert_eq!(link.history(200), [0.2, 0.0]);
        // The second could have left at 0, might at 4, and found the wire free at 10.
        assert_eq!((link.held_back, link.queued), (4, 6));
        assert_eq!(link.carried[MessageKind::Writeback as usize], (2, 320));
        link.send(&sized(0), 4, 4);
        assert_eq!((link.carried[MessageKind::Writeback as usize], link.queued), ((2, 320), 6));
        assert_eq!(link.bytes(), 320);
    }

    #[test]
    fn samples_to_come_are_no_history() {
        let mut link = Link::new(Some(ByteRate::new(16, 1)), 5, 8, 100);
        // A transfer set is promised as a whole, longer than what is remembered.
        link.carry(16 * 100 * 2 * HISTORY as u64, 150, 120);
        assert_eq!(link.history(120), [0.0]);
        assert_eq!(link.history(320), [0.0, 0.5, 1.0]);
        let end = 100 * 2 * HISTORY as u64 + 150;
        let late = link.history(end + 250);
        assert_eq!(
            (late.len(), late.first(), late.get(HISTORY - 3..)),
            (HISTORY, Some(&1.0), Some(&[0.5, 0.0, 0.0][..]))
        );
        link.transmit(&sized(160), end + 300, end + 300);
        assert_eq!(link.history(end + 350).last(), Some(&0.1));
    }

    #[test]
    fn what_waits_goes_over_the_lanes_that_are_there_when_its_turn_comes() {
        let mut link = Link::new(Some(ByteRate::new(16, 1)), 5, 8, 100);
        assert!(!link.has_queue(0));
        link.transmit(&sized(160), 0, 0);
        assert!(!link.has_queue(0), "lanes that stay are promised ahead");
        link.meter = Some(Box::new(Meter::new(100)));
        let lanes = [LaneKey::new(0, 0), LaneKey::new(1, 0)];
        assert!(link.has_queue(9) && !link.has_queue(10));
        assert_eq!(lanes.map(|key| link.enqueue(key, 2, 4)), [Some(10), None]);
        assert_eq!(link.call(9), None);
        link.set_lanes(16);
        assert_eq!(link.call(10), Some((lanes[0], 4)));
        assert_eq!(link.send(&sized(160), 4, 10), 20);
        assert_eq!((link.next_call(), link.held_back, link.queued), (Some(15), 4, 6));
        assert!(link.has_queue(15), "behind what waits");
        link.set_lanes(4);
        assert_eq!(link.call(15), Some((lanes[1], 4)));
        assert_eq!(link.send(&sized(160), 4, 15), 40);
        assert_eq!((link.next_call(), link.call(40)), (None, None));
    }

    #[test]
    fn what_is_promised_ahead_is_not_carried_before_its_time() {
        let mut link = Link::new(Some(ByteRate::new(16, 1)), 5, 8, 100);
        // Data that a memory will have read at 30 and at 60, and then a message in between, which waits for nobody.
        link.transmit(&sized(160), 30, 0);
        link.transmit(&sized(160), 60, 0);
        assert_eq!(
            [0, 30, 35, 50, 60, 64, 70, 99].map(|tick| link.busy_until(tick)),
            [0, 0, 5, 10, 10, 14, 20, 20]
        );
        assert!(link.utilisation(20).abs() < f64::EPSILON);
        link.transmit(&sized(160), 90, 40);
        assert_eq!([64, 85, 95].map(|tick| link.busy_until(tick)), [14, 20, 25]);
        // What is over is forgotten.
        link.transmit(&sized(16), 200, 150);
        assert_eq!(link.promised, []);
        assert_eq!([150, 200, 300].map(|tick| link.busy_until(tick)), [30, 30, 31]);
    }

    #[test]
    fn every_packet_has_a_header() {
        let mut link = Link::new(Some(ByteRate::new(1, 1)), 0, 16, 100);
        link.packets = Some(Packets { header: 20, payload: 128, granularity: 1 });
        // A request without data, 128 B, one byte more, and a row of 2 KiB in 16 packets.
        let mut sent = |size: u32| {
            let before = link.busy;
            link.transmit(&sized(size), 0, 0);
            link.busy - before
        };
        assert_eq!([20, 148, 149, 2068].map(&mut sent), [20, 148, 169, 2048 + 16 * 20]);
        let before = link.busy;
        link.carry(4096, 0, 0);
        assert_eq!(link.busy - before, 4096 + 32 * 20, "bulk copies too");
        // Headers beyond one a message: none, none, one and 15, and all of the pages.
        assert_eq!(link.headers, (1 + 15 + 32) * 20);
    }

    #[test]
    fn data_go_in_whole_pieces() {
        let mut link = Link::new(Some(ByteRate::new(1, 1)), 0, 16, 100);
        link.packets = Some(Packets { header: 16, payload: u32::MAX, granularity: 32 });
        let mut sent = |size: u32| {
            let before = link.busy;
            link.transmit(&sized(size), 0, 0);
            link.busy - before
        };
        // A request, four bytes, a sector, a byte more, and a line: efficiency 66, 80 and 88 % (Table 4).
        assert_eq!([16, 20, 48, 49, 144].map(&mut sent), [16, 48, 48, 80, 144]);
        assert_eq!(link.headers, 28 + 31, "what fills them up is no data");
    }

    #[test]
    fn serialisation_of_secondary_blocks_is_as_the_paper_says() {
        // UMH, section 5: 8 KiB in 512 cycles and 1 KiB in 64 over 16 bytes a cycle.
        let mut link = Link::new(Some(ByteRate::new(16, 1)), 0, 8, 100);
        assert_eq!(link.transmit(&sized(8192), 0, 0), 512);
        assert_eq!(link.transmit(&sized(1024), 512, 512), 576);
    }
}
