//! The partition of the caches of each socket into ways for local and for remote lines: its samples, its decisions, and what
//! comes of them ("Beyond the Socket: NUMA-Aware GPUs", section 5.1).
//!
//! A sample ends with the first event at or after its time: nothing can tell the difference, and a machine in which nothing
//! happens any more is not kept alive by samples.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use super::Machine;
use super::lanes::REMEMBERED;
use super::numa::Socket;
use crate::model::component::ComponentId;
use crate::model::inspect::PartitionView;
use crate::model::message::{Message, MessageKind};
use crate::model::record::What;
use crate::model::time::{EventNumber, Tick};
use crate::model::ways::{WayDecision, WayMove};
use crate::policy::ways::{self, Signals, Step};
use crate::protocol::node::{Node, Role};
use crate::protocol::outbox::{About, Outbox};

/// Decisions that a socket remembers.
pub const HISTORY: usize = 64;

/// What was decided for a socket, and what that made of its L2 slices and its L1s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided {
    pub l2: WayMove,
    pub l1: WayMove,
}

/// The signals of a socket since the last sample, and what was decided.
#[derive(Clone, Debug, Default)]
struct SocketWays {
    /// Ticks that its memories had been busy when the sample began.
    busy: Tick,
    /// Bytes that it has asked other sockets for since, as they will come over the link into it.
    reads: u64,
    /// Bytes that others have asked of it since, as their requests came over that link.
    asked: u64,
    decided: VecDeque<Decided>,
}

/// The partitions of all sockets.
#[derive(Clone, Debug)]
pub struct Ways {
    period: Tick,
    threshold: u32,
    since: Tick,
    due: Tick,
    sockets: Vec<SocketWays>,
    /// The first events in which ways changed hands. Nothing depends on them: no part of the digest.
    moved: Vec<EventNumber>,
}

impl Ways {
    #[must_use]
    pub fn new(period: Tick, threshold: u32, sockets: usize) -> Self {
        let period = period.max(1);
        Self {
            period,
            threshold,
            since: 0,
            due: period,
            sockets: vec![SocketWays::default(); sockets],
            moved: Vec::new(),
        }
    }

    /// Samples are as long, and as much counts as saturated, as in `other` from here on.
    pub fn adopt(&mut self, other: &Self) {
        (self.period, self.threshold) = (other.period, other.threshold);
        self.due = self.since + self.period;
    }

    /// What was decided for a socket, oldest first.
    pub fn decided(&self, socket: usize) -> impl Iterator<Item = &Decided> {
        self.sockets.get(socket).into_iter().flat_map(|socket| &socket.decided)
    }

    fn socket(&mut self, socket: Option<u32>) -> Option<&mut SocketWays> {
        self.sockets.get_mut(socket? as usize)
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (self.since, self.due).hash(hasher);
        for socket in &self.sockets {
            (socket.busy, socket.reads, socket.asked).hash(hasher);
        }
    }
}

impl Machine {
    /// A message leaves a node: what it asks another socket for will come in there, and it comes in where it is asked.
    pub(super) fn note_asked(&mut self, node: usize, channel: usize, message: &Message) {
        let Some(ways) = self.ways.as_mut().filter(|_| message.kind == MessageKind::Fetch) else { return };
        let Some(channel) = self.channels.get(channel) else { return };
        let (Some(from), Some(to)) = (self.nodes.get(node), self.nodes.get(channel.to)) else { return };
        let Some(link) = self.links.get(channel.path.last()) else { return };
        let (asking, asked) = (from.config.home, to.config.home);
        if asking != asked {
            // As on the links: cut into packets, and rounded up.
            let (response, request) =
                (link.on_the_wire(from.config.header + message.range.len), link.on_the_wire(message.size));
            if let Some(asking) = ways.socket(asking) {
                asking.reads += response;
            }
            if let Some(asked) = ways.socket(asked) {
                asked.asked += request;
            }
        }
    }

    /// A kernel begins: half of the ways for each, and a new sample. The paper has "at initial kernel launch (after GPU caches
    /// have been flushed for coherence purposes)", "similar to" its links: at every one, since before the first nothing is
    /// there to be flushed.
    pub(super) fn halve_ways(&mut self, out: &mut Outbox) {
        if self.ways.is_none() {
            return;
        }
        for socket in 0..self.fixed.sockets.len() {
            self.begin_sample(socket);
            let decision = WayDecision { step: Step::Halve, memory: 0, ingress: 0, reads: 0, room: 0 };
            self.take_step(socket, decision, out);
        }
    }

    /// Before the first event, half of the ways are for each.
    pub(super) fn start_partitions(&mut self) {
        if self.ways.is_none() {
            return;
        }
        for index in self.fixed.sockets.clone().iter().flat_map(|parts| parts.slices.iter().chain(&parts.l1s))
        {
            let Some(node) = self.nodes.get_mut(*index) else { continue };
            if let Some((_, ways, _)) = node.geometry().filter(|(_, ways, _)| *ways > 1) {
                node.partition(ways::apply(Step::Halve, 0, ways));
            }
        }
    }

    /// Ends a sample if it is time.
    pub(super) fn sample_ways(&mut self, out: &mut Outbox) {
        if self.ways.as_ref().is_none_or(|ways| ways.due > self.now) {
            return;
        }
        // All of the sample that ends, before the next one begins.
        let all: Vec<_> =
            (0..self.fixed.sockets.len()).filter_map(|socket| self.decide_ways(socket)).collect();
        for (socket, decision) in all.into_iter().enumerate() {
            self.begin_sample(socket);
            let moved = self.take_step(socket, decision, out);
            self.tell_sample(socket, decision, moved, out);
        }
    }

    fn begin_sample(&mut self, socket: usize) {
        let (now, busy) = (self.now, self.memory_busy(socket));
        let Some(ways) = self.ways.as_mut() else { return };
        (ways.since, ways.due) = (now, now + ways.period);
        if let Some(socket) = ways.sockets.get_mut(socket) {
            (socket.busy, socket.reads, socket.asked) = (busy, 0, 0);
        }
    }

    /// Ticks until now in which the buses of its memory moved bytes.
    fn memory_busy(&self, socket: usize) -> Tick {
        let memories = self.fixed.sockets.get(socket).map_or(&[][..], |socket| &socket.memories);
        let drams = memories.iter().filter_map(|memory| *self.fixed.dram_of.get(*memory)?);
        drams.filter_map(|(dram, _)| self.drams.get(dram)).map(|dram| dram.busy_until(self.now).0).sum()
    }

    /// What is to become of the partition of a socket, and by what that is decided.
    fn decide_ways(&self, socket: usize) -> Option<WayDecision> {
        let ways = self.ways.as_ref()?;
        let sample = ways.sockets.get(socket)?;
        let elapsed = u128::from(self.now.saturating_sub(ways.since)).max(1);
        let channels = self
            .fixed
            .spec
            .gpu
            .as_ref()
            .map_or(1, |gpu| u128::from(gpu.memory.dram.channels) * u128::from(gpu.l2.slices));
        let busy = u128::from(self.memory_busy(socket).saturating_sub(sample.busy));
        let ticks = u128::from(self.fixed.time.ticks_per_second);
        let capacity = u128::from(self.ingress_bandwidth(socket)) * elapsed / ticks.max(1);
        let percent = |part: u128, whole: u128| u32::try_from(part * 100 / whole.max(1)).unwrap_or(u32::MAX);
        // What others ask has the link first: more of it than there is room for leaves none.
        let room = capacity.saturating_sub(u128::from(sample.asked));
        let signals = Signals {
            local: percent(busy, channels * elapsed),
            ingress: percent(u128::from(sample.reads), room),
            threshold: ways.threshold,
        };
        Some(WayDecision {
            step: ways::decide(signals),
            memory: signals.local,
            ingress: signals.ingress,
            reads: sample.reads,
            room: u64::try_from(room).unwrap_or(u64::MAX),
        })
    }

    /// A sample has ended, whether or not ways have moved.
    fn tell_sample(&self, socket: usize, decision: WayDecision, moved: bool, out: &mut Outbox) {
        let Some(parts) = self.fixed.sockets.get(socket) else { return };
        let Some(l2) = parts.slices.first().and_then(|node| self.nodes.get(*node)) else { return };
        let (remote, l1_remote) = self.remote_ways(parts);
        out.record(l2.id(), About::default(), || What::WaySample { remote, l1_remote, moved, decision });
    }

    /// Bytes per second that the links into a socket can carry now.
    fn ingress_bandwidth(&self, socket: usize) -> u64 {
        let network = &self.fixed.spec.network;
        let inward = self.fixed.sockets.get(socket).map_or(&[][..], |socket| &socket.inward);
        let links = inward.iter().filter_map(|link| self.links.get(*link));
        let lanes: u64 = links.map(|link| u64::from(link.lanes)).sum();
        network.bandwidth.0 / u64::from(network.lanes.max(1)) * lanes
    }

    /// Every cache of a socket moves its partition by a step. Whether a way has moved.
    fn take_step(&mut self, socket: usize, decision: WayDecision, out: &mut Outbox) -> bool {
        let fixed = self.fixed.clone();
        let Some(parts) = fixed.sockets.get(socket) else { return false };
        let before = self.remote_ways(parts);
        let mut any = false;
        for &index in parts.slices.iter().chain(&parts.l1s) {
            let Some(node) = self.nodes.get_mut(index) else { continue };
            let Some((_, ways, _)) = node.geometry().filter(|(_, ways, _)| *ways > 1) else { continue };
            let before = node.remote_ways();
            let remote = ways::apply(decision.step, before, ways);
            if remote != before {
                any = true;
                let local = ways - remote;
                out.record(node.id(), About::default(), || What::WayRepartition { local, remote, decision });
                node.repartition(remote, out);
                self.after_node(index, out);
            }
        }
        let after = self.remote_ways(parts);
        let (tick, event) = (self.now, self.event);
        if let Some(ways) = self.ways.as_mut().filter(|ways| any && ways.moved.len() < REMEMBERED) {
            ways.moved.push(event);
        }
        let Some(own) = self.ways.as_mut().and_then(|ways| ways.sockets.get_mut(socket)) else { return any };
        if own.decided.len() == HISTORY {
            own.decided.pop_front();
        }
        let moved = |from: u32, to: u32| WayMove { tick, decision, from, to };
        own.decided.push_back(Decided { l2: moved(before.0, after.0), l1: moved(before.1, after.1) });
        any
    }

    /// The ways for remote lines of the L2 slices of a socket, and of its L1s.
    fn remote_ways(&self, parts: &Socket) -> (u32, u32) {
        let of = |nodes: &[usize]| {
            nodes.first().and_then(|node| self.nodes.get(*node)).map_or(0, Node::remote_ways)
        };
        (of(&parts.slices), of(&parts.l1s))
    }

    /// The first events in which lanes began to turn, and in which ways changed hands.
    #[must_use]
    pub fn rearranged(&self) -> [Vec<EventNumber>; 2] {
        let turned = self.lanes.iter().flat_map(|lanes| lanes.turned()).collect();
        [turned, self.ways.as_ref().map_or_else(Vec::new, |ways| ways.moved.clone())]
    }

    /// How the ways of a cache are dealt.
    pub(super) fn partition_view(&self, id: ComponentId) -> Option<PartitionView> {
        let ways = self.ways.as_ref()?;
        let index = (*self.fixed.node_of.get(id.index())?)?;
        let socket = self.partitioned_socket(index)?;
        let node = self.nodes.get(index)?;
        let is_l1 = node.config.role == Role::Leaf;
        let decided = ways.decided(socket).map(|one| if is_l1 { one.l1 } else { one.l2 }).collect();
        Some(PartitionView { remote: node.remote_ways(), threshold: ways.threshold, decided })
    }

    /// The socket of a node whose ways are dealt over local and remote lines.
    fn partitioned_socket(&self, node: usize) -> Option<usize> {
        let has = |socket: &Socket| socket.slices.contains(&node) || socket.l1s.contains(&node);
        self.fixed.sockets.iter().position(has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::sample::{performing, program};
    use crate::model::access::AccessKind::Load;

    /// Sockets whose eight warps each read 256 lines of the other one's memory, over links that are too narrow for it.
    fn reading_the_other(sockets: std::ops::Range<u64>, packets: &str) -> Machine {
        let lines = |socket: u64, warp: u64| -> Vec<u64> {
            let pages = (4 * warp..4 * warp + 4).map(|page| 0x2000 * page + 0x1000 * (1 - socket));
            pages.flat_map(|page| (0..64).map(move |line| page + 64 * line)).collect()
        };
        let warps = sockets.flat_map(|socket| (0..8).map(move |warp| (socket, warp)));
        let work = warps.map(|(socket, warp)| {
            program(&format!("gpu{socket}.cu{}", warp % 2), Load, &lines(socket, warp))
        });
        let changes = [
            "gpu.numa.l2=partitioned",
            "gpu.numa.sample=10000",
            "gpu.numa.threshold=95",
            "gpu.sm.outstanding=4",
            "gpu.l1.mshrs=16",
            "gpu.l2.mshrs=16",
            "network.bandwidth=1 GB/s",
            packets,
        ];
        let mut machine = performing("tiny/numa-2socket", &changes, work.collect());
        machine.run_until(u64::MAX);
        machine
    }

    #[test]
    fn a_link_full_of_reads_is_saturated_though_others_ask_over_it_too() {
        // Whether or not each line goes in packets, whose headers fill the link, too.
        for packets in ["network.payload=4096 B", "network.payload=8 B"] {
            let machine = reading_the_other(0..2, packets);
            let ways = machine.ways.as_ref().unwrap();
            for socket in 0..2 {
                let all: Vec<_> = ways.decided(socket).map(|one| one.l2.decision).collect();
                let most = all.iter().filter(|one| one.step == Step::ToRemote).count();
                assert!(all.len() >= 10 && most * 4 >= all.len() * 3, "{packets}: {all:?}");
            }
        }
    }

    #[test]
    fn what_others_ask_of_a_socket_takes_no_way_from_its_own_lines() {
        let machine = reading_the_other(0..1, "network.payload=4096 B");
        let ways = machine.ways.as_ref().unwrap();
        let asked: Vec<_> = ways.decided(1).map(|one| one.l2.decision).collect();
        assert!(asked.len() >= 10, "{asked:?}");
        let wrong =
            asked.iter().find(|one| one.step == Step::ToRemote || one.ingress > 0 || one.memory > 100);
        assert_eq!(wrong, None, "it reads nothing that is far away");
        assert!(ways.decided(0).any(|one| one.l2.decision.step == Step::ToRemote), "the other one does");
    }

    #[test]
    fn a_socket_has_the_bandwidth_of_what_it_is_answered_over() {
        let into = |topology: &str| {
            let topology = format!("network.topology={topology}");
            let changes = [topology.as_str(), "gpu.numa.l2=partitioned"];
            let work = vec![program("gpu0.cu0", Load, &[0x1000])];
            let machine = performing("tiny/numa-2socket", &changes, work);
            (0..2).map(|socket| machine.ingress_bandwidth(socket)).collect::<Vec<_>>()
        };
        let switched = into("switch");
        assert!(switched[0] > 0 && switched[0] == switched[1], "{switched:?}");
        // A medium that all share is one link, too.
        assert_eq!(into("shared"), switched);
    }
}
