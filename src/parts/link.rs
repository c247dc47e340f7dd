//! One direction of a physical link: lanes, serialisation, latency and utilisation. Channels share it first
//! come first served.
//!
//! A link whose lanes stay as they are is promised to messages ahead: nothing can change when they leave. One whose lanes may turn
//! has a queue: what waits goes over the lanes that are there when its turn comes.

#[cfg(test)]
pub(super) mod tests;

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
    /// Since when it has had them, and its lanes times the ticks that it had them before that.
    lanes_since: Tick,
    lane_ticks: u64,
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
            lanes_since: 0,
            lane_ticks: 0,
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
    pub fn adopt(&mut self, other: &Self, keeps_lanes: bool, now: Tick) {
        (self.whole, self.nominal, self.latency) = (other.whole, other.nominal, other.latency);
        self.packets = other.packets;
        self.set_lanes(if keeps_lanes { self.lanes } else { other.lanes }, now);
    }

    /// Lanes that it was built with.
    #[must_use]
    pub fn nominal(&self) -> u32 {
        self.nominal
    }

    /// Messages that leave from now on have so many lanes, those too that wait for it. Those that have left arrive as they
    /// would have.
    pub fn set_lanes(&mut self, lanes: u32, now: Tick) {
        (self.lane_ticks, self.lanes_since) = (self.lane_ticks_until(now), now);
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

    /// Its lanes times the ticks that it had them, summed up until now.
    #[must_use]
    pub fn lane_ticks_until(&self, now: Tick) -> u64 {
        let since = now.saturating_sub(self.lanes_since);
        self.lane_ticks.saturating_add(since.saturating_mul(u64::from(self.lanes)))
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

    /// When the last byte that was sent so far arrives; the beginning of time if none was.
    #[must_use]
    pub fn clear_at(&self) -> Tick {
        if self.free_at == 0 { 0 } else { self.free_at.saturating_add(self.latency) }
    }

    /// Its samples begin anew.
    pub fn restart_samples(&mut self, now: Tick) {
        let Some(meter) = &mut self.meter else { return };
        meter.restart(now);
        for (start, end) in self.promised.iter().copied().chain([(self.busy_since, self.free_at)]) {
            meter.add(start.max(now), end.saturating_sub(start.max(now)));
        }
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
            (self.lanes, self.lanes_since, self.lane_ticks, meter, &self.waiting).hash(hasher);
        }
    }
}
