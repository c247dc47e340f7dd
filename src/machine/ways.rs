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
use crate::model::access::AccessKind;
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
    /// Bytes that went over that link since beside those, without what others write: what they ask of it, and what answers its writes.
    beside: u64,
    /// Lanes times ticks that the links into it had had when the sample began.
    lane_ticks: u64,
    decided: VecDeque<Decided>,
    /// Samples so far, and those in which ways went each way. Nothing depends on them: no part of the digest.
    tally: Tally,
}

/// How many samples there were, and what they moved.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub samples: u64,
    pub to_remote: u64,
    pub to_local: u64,
    pub equalised: u64,
}

impl Tally {
    fn add(&mut self, step: Step, moved: bool) {
        self.samples += 1;
        let count = match step {
            Step::ToRemote => &mut self.to_remote,
            Step::ToLocal => &mut self.to_local,
            Step::Equalise => &mut self.equalised,
            Step::Halve | Step::Keep => return,
        };
        *count += u64::from(moved);
    }
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

    /// What the samples of a socket moved.
    pub fn tally(&self, socket: usize) -> Tally {
        self.sockets.get(socket).map_or_else(Tally::default, |socket| socket.tally)
    }

    fn socket(&mut self, socket: Option<u32>) -> Option<&mut SocketWays> {
        self.sockets.get_mut(socket? as usize)
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (self.since, self.due).hash(hasher);
        for socket in &self.sockets {
            (socket.busy, socket.reads, socket.beside, socket.lane_ticks).hash(hasher);
        }
    }
}

impl Machine {
    /// A message leaves a node: what it asks another socket for will come in there, and it comes in where it is asked. What it
    /// writes there will be acknowledged.
    pub(super) fn note_asked(&mut self, node: usize, channel: usize, message: &Message) {
        let Some(ways) = self.ways.as_mut().filter(|_| is_answered(message.kind)) else { return };
        let Some(channel) = self.channels.get(channel) else { return };
        let (Some(from), Some(to)) = (self.nodes.get(node), self.nodes.get(channel.to)) else { return };
        let Some(link) = self.links.get(channel.path.last()) else { return };
        let (asking, asked) = (from.config.home, to.config.home);
        if asking == asked {
            return;
        }
        let is_read = message.kind == MessageKind::Fetch;
        // An atomic brings its old value back.
        let is_atomic =
            message.access.as_ref().is_some_and(|access| matches!(access.kind, AccessKind::Atomic(_)));
        let brought = if is_read || is_atomic { message.range.len } else { 0 };
        // As on the links: cut into packets, and rounded up.
        let (response, request) =
            (link.on_the_wire(from.config.header + brought), link.on_the_wire(message.size));
        if let Some(asking) = ways.socket(asking) {
            *(if is_read { &mut asking.reads } else { &mut asking.beside }) += response;
        }
        if let Some(asked) = ways.socket(asked).filter(|_| is_read) {
            asked.beside += request;
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
            if let Some(own) = self.ways.as_mut().and_then(|ways| ways.sockets.get_mut(socket)) {
                own.tally.add(decision.step, moved);
            }
            self.tell_sample(socket, decision, moved, out);
        }
    }

    fn begin_sample(&mut self, socket: usize) {
        let (now, busy, lane_ticks) = (self.now, self.memory_busy(socket), self.ingress_lane_ticks(socket));
        let Some(ways) = self.ways.as_mut() else { return };
        (ways.since, ways.due) = (now, now + ways.period);
        if let Some(socket) = ways.sockets.get_mut(socket) {
            (socket.busy, socket.lane_ticks, socket.reads, socket.beside) = (busy, lane_ticks, 0, 0);
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
        let lane_ticks = self.ingress_lane_ticks(socket).saturating_sub(sample.lane_ticks);
        let capacity = u128::from(self.lane_bandwidth()) * u128::from(lane_ticks) / ticks.max(1);
        let percent = |part: u128, whole: u128| u32::try_from(part * 100 / whole.max(1)).unwrap_or(u32::MAX);
        // Who is answered over the same links has a part of them.
        let sharing =
            ways.sockets.iter().enumerate().filter(|(other, _)| self.inward(*other) == self.inward(socket));
        let (reads, beside) =
            sharing.fold((0, 0), |(reads, beside), (_, own)| (reads + own.reads, beside + own.beside));
        // What goes over them beside that has them first: more of it than there is room for leaves none.
        let room = capacity.saturating_sub(u128::from(beside));
        let signals = Signals {
            local: percent(busy, channels * elapsed),
            ingress: percent(u128::from(reads), room),
            threshold: ways.threshold,
        };
        Some(WayDecision {
            step: ways::decide(signals),
            memory: signals.local,
            ingress: signals.ingress,
            reads,
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

    /// Bytes per second that a lane carries.
    fn lane_bandwidth(&self) -> u64 {
        let network = &self.fixed.spec.network;
        network.bandwidth.0 / u64::from(network.lanes.max(1))
    }

    /// The links over which other sockets answer a socket.
    fn inward(&self, socket: usize) -> &[usize] {
        self.fixed.sockets.get(socket).map_or(&[][..], |socket| &socket.inward)
    }

    /// Lanes of the links into a socket times the ticks that they had them until now.
    fn ingress_lane_ticks(&self, socket: usize) -> u64 {
        let links = self.inward(socket).iter().filter_map(|link| self.links.get(*link));
        links.map(|link| link.lane_ticks_until(self.now)).sum()
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

/// Whether a message is one to which another socket answers.
fn is_answered(kind: MessageKind) -> bool {
    matches!(kind, MessageKind::Fetch | MessageKind::Forward | MessageKind::Writeback | MessageKind::Notify)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::machine::sample::{performing, program};
    use crate::model::access::AccessKind::{Load, Store};
    use crate::model::inspect::Inspect;
    use crate::model::operation::Operation;
    use crate::workload::{Operations, Task, TaskKind};

    /// Sockets whose eight warps each read 256 lines of the other one's memory, over links that are too narrow for it; or store
    /// to every fourth of them.
    fn reading_the_other(sockets: std::ops::Range<u64>, packets: &str, stores: bool) -> Machine {
        let lines = |socket: u64, warp: u64| -> Vec<u64> {
            let pages = (4 * warp..4 * warp + 4).map(|page| 0x2000 * page + 0x1000 * (1 - socket));
            pages.flat_map(|page| (0..64).map(move |line| page + 64 * line)).collect()
        };
        let warps = sockets.flat_map(|socket| (0..8).map(move |warp| (socket, warp)));
        let work = warps.map(|(socket, warp)| {
            let mut program = program(&format!("gpu{socket}.cu{}", warp % 2), Load, &lines(socket, warp));
            if let TaskKind::Program { operations: Operations::Listed(listed), .. } = &mut program.what
                && stores
            {
                let every_fourth = Arc::get_mut(listed).unwrap().iter_mut().step_by(4);
                every_fourth.for_each(|operation| match operation {
                    Operation::Access(access) => access.kind = Store,
                    _ => panic!("{operation:?}"),
                });
            }
            program
        });
        let changes = [
            "gpu.numa.l2=partitioned",
            "gpu.numa.sample=10000",
            "gpu.numa.threshold=95",
            "gpu.sm.outstanding=16",
            "gpu.l1.mshrs=32",
            "gpu.l2.mshrs=64",
            "network.buffers=16",
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
            let machine = reading_the_other(0..2, packets, false);
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
        let machine = reading_the_other(0..1, "network.payload=4096 B", false);
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
            let changes = [topology.as_str(), "gpu.numa.l2=partitioned", "host.cores=1"];
            let work = vec![program("gpu0.cu0", Load, &[0x1000])];
            let machine = performing("tiny/numa-2socket", &changes, work);
            let name = |link: &usize| match &machine.fixed.visible_links[*link] {
                Some((id, _, _)) => machine.components().path(*id).to_owned(),
                None => String::new(),
            };
            (0..2).flat_map(|socket| machine.inward(socket).iter().map(name)).collect::<Vec<_>>()
        };
        assert_eq!(into("switch"), ["link.gpu0.in", "link.gpu1.in"]);
        assert_eq!(into("shared"), ["link.host.in", "link.host.in"], "a medium that all share");
        assert_eq!(
            into("point-to-point"),
            ["link.gpu1.gpu0", "link.gpu0.gpu1"],
            "not over that from the host"
        );
    }

    #[test]
    fn what_answers_a_socket_s_own_writes_leaves_its_reads_less_room() {
        let machine = reading_the_other(0..1, "network.payload=4096 B", true);
        let decided: Vec<_> = machine.ways.as_ref().unwrap().decided(0).map(|one| one.l2.decision).collect();
        let most = decided.iter().filter(|one| one.step == Step::ToRemote).count();
        assert!(decided.len() >= 10 && most * 4 >= decided.len() * 3, "{decided:?}");
    }

    #[test]
    fn who_has_less_than_its_share_waits_behind_none_of_the_other_kind() {
        // Four warps want more lines of their own memory at once than the one set of the L2 has ways, and each takes 400 cycles.
        let lines = |warp: u64| (0..64).map(move |line| 0x2000 * warp + 64 * line).collect::<Vec<_>>();
        let mut work: Vec<_> = (0..4).map(|warp| program("gpu0.cu0", Load, &lines(warp))).collect();
        work.push(Task { id: "far".into(), delay: 1000, ..program("gpu0.cu1", Load, &[0x1000, 0x1040]) });
        let changes = [
            "gpu.numa.l2=partitioned",
            "gpu.sm.outstanding=16",
            "gpu.l1.size=4 KiB",
            "gpu.l1.ways=64",
            "gpu.l1.mshrs=64",
            "gpu.l2.size=256 B",
            "gpu.l2.mshrs=64",
            "gpu.memory.latency=400",
        ];
        let mut machine = performing("tiny/numa-2socket", &changes, work);
        machine.run_until(u64::MAX);
        let cycles = machine.statistic("tasks.far.cycles").unwrap();
        assert!(machine.statistic("cycles").unwrap() > 10_000.0, "the others are busy for long");
        assert!(cycles < 2_000.0, "a way comes free within 400 cycles, and memory is as far: {cycles}");
    }

    #[test]
    fn one_socket_alone_has_all_of_its_ways() {
        let work = vec![program("gpu0.cu0", Load, &[0x1000])];
        let machine = performing("tiny/numa-2socket", &["gpu.numa.l2=partitioned", "gpu.count=1"], work);
        assert!(machine.ways.is_none() && machine.nodes.iter().all(|node| node.remote_ways() == 0));
    }
}
