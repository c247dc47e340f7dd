//! Builds a machine from a specification; owns its parts, the timed queue and the clock.
//!
//! A [`Machine`] is one plain value. [`Machine::step`] executes one event: a message is taken by its receiver,
//! a compute unit or core issues, or a task starts. Everything that follows at once (table cells used,
//! messages put on their links) belongs to that event.

mod adopt;
mod arrive;
mod build;
mod chain;
mod check;
mod consistency;
mod copies;
mod dealing;
mod delivery;
mod first_pass;
mod flush;
mod hits;
mod hold;
mod initial;
mod injected;
mod inspect;
mod lanes;
mod latency;
mod launch;
mod meet;
mod meeting;
mod memory;
mod memory_map;
mod numa;
mod onward;
mod order;
mod paging;
mod plan;
mod queue;
mod quiet_check;
mod release_check;
mod resources;
mod runs;
#[cfg(test)]
pub(crate) mod sample;
mod sizes;
mod spinning;
mod statistics;
mod step;
mod stores;
mod synchronise;
mod tags;
mod tasks;
mod transactions;
mod transport;
mod waits;
mod ways;
mod why;

use std::hash::Hasher;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHasher;

use crate::config::machine::MachineSpec;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::Result;
use crate::model::access::Bytes;
use crate::model::address::{Address, Range};
use crate::model::bits::Bits;
use crate::model::component::{ComponentId, Components};
use crate::model::fault::Fault;
use crate::model::level::Level;
use crate::model::message::{MessageKind, Network};
use crate::model::state::State;
use crate::model::time::{EventNumber, Tick, TimeBase};
use crate::parts::agent::{Agent, Told};
use crate::parts::channel::Channel;
use crate::parts::dram::Dram;
use crate::parts::link::Link;
use crate::parts::port::{LaneKey, Port};
use crate::protocol::homes::Homes;
use crate::protocol::node::{Node, Role};
use crate::protocol::outbox::Buffers;
use crate::protocol::permissions::Permissions;
use crate::protocol::table::Table;
use crate::workload::Workload;
use check::Checker;
use copies::Copies;
pub use first_pass::{FirstPass, Watch};
pub use initial::{check_addresses, check_arrays, check_kernel};
use injected::Injected;
use lanes::Lanes;
use latency::Latencies;
use meeting::Meeting;
use numa::Socket;
pub use order::Wiring;
use paging::Paging;
use plan::Plan;
pub use plan::{Change, Planned};
use queue::{Event, Queue};
pub use sizes::Storage;
use synchronise::{Awaited, Reach, Waiter};
use tags::CachedMemories;
use tasks::Tasks;
pub use tasks::{TaskView, TaskWork};
use transactions::{Transaction, Transactions};
pub use transport::{has_room, lane_network};
use ways::Ways;

/// Everything that a machine is built from.
#[derive(Clone, Debug)]
pub struct Blueprint {
    pub spec: MachineSpec,
    /// Every protocol table that the specification names, by name.
    pub tables: Vec<Arc<Table>>,
    pub workload: Arc<Workload>,
    pub seed: u64,
    /// Nothing happens after this cycle; `u64::MAX` for no limit.
    pub max_cycles: u64,
    /// Check the protocol's rules after every event.
    pub checks: bool,
    pub faults: Vec<Fault>,
    pub initial: Vec<InitialBlock>,
    /// Bytes of host memory at the start; the rest is zero.
    pub memory: Vec<(Address, Bytes)>,
    /// Memory that drivers may prefetch, beside what the work touches.
    pub allocated: Vec<Range>,
    /// Where an oracle's knowledge comes from, if the machine has one.
    pub first_pass: FirstPass,
}

/// A block that is somewhere before the first event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialBlock {
    /// Path of the node.
    pub node: String,
    pub address: Address,
    /// `None` for a node that keeps no state (an HMD).
    pub state: Option<State>,
    /// Paths of the children that the directory names, for the unit that holds `address`.
    pub owner: Option<String>,
    pub sharers: Vec<String>,
    /// Dirty bytes: where, and what.
    pub dirty: Vec<(Address, Bytes)>,
}

/// What one step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// An event was executed.
    Ran,
    /// All work is done and nothing is under way.
    Finished,
    /// Work is left, but no event can ever happen: a deadlock.
    Stuck,
    /// The next event lies beyond this cycle, the last one.
    Limit(u64),
}

/// A check that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub event: EventNumber,
    pub rule: &'static str,
    pub text: Arc<str>,
}

/// What does not change while a machine runs by itself; clones share it.
#[expect(clippy::struct_excessive_bools, reason = "each is about something else")]
#[derive(Debug)]
struct Fixed {
    spec: MachineSpec,
    time: TimeBase,
    components: Components,
    tables: Vec<Arc<Table>>,
    faults: Vec<Fault>,
    /// Index of a component among the nodes, agents or links.
    node_of: Vec<Option<usize>>,
    agent_of: Vec<Option<usize>>,
    link_of: Vec<Option<usize>>,
    /// Per node: the channel out of it to each component.
    routes: Vec<Vec<Option<u32>>>,
    /// Per node: the channels out of it, by the component that they lead to.
    out: Vec<Vec<u32>>,
    /// Per link, the buffers of the receivers behind it, by virtual network.
    buffers_behind: Vec<[u32; Network::ALL.len()]>,
    /// All virtual networks share one lane of each channel.
    folded: bool,
    /// Per node: the agent above it.
    agent_above: Vec<Option<usize>>,
    /// Component and the two ends of each visible link, by link.
    visible_links: Vec<Option<(ComponentId, String, String)>>,
    /// Per node: the title of its level.
    titles: Vec<&'static str>,
    /// Links and wires that accesses compete for.
    wires: Vec<resources::Wire>,
    /// Per node: its level.
    level_of: Vec<Level>,
    /// Agents of each GPU.
    gpu_agents: Vec<Vec<usize>>,
    /// How the memory behind a node is addressed.
    dram_of: Vec<Option<(usize, crate::protocol::interleave::Interleave)>>,
    /// Bytes of the smallest block of a memory: addresses are dealt over memories in pieces at least as large.
    smallest_block: u32,
    /// The cores of the host, by index among the agents, and its memory, among the nodes.
    cores: Vec<usize>,
    hmds: Vec<usize>,
    /// GPUs that are the sockets of one.
    sockets: Vec<Socket>,
    /// What fences and kernels concern.
    reach: Reach,
    /// What the software takes that flushes the CPU's caches for a remote directory.
    flush_trap: Tick,
    /// Whether loads can be checked against the stores: every L1 is kept coherent.
    coherent: bool,
    /// What the GPUs store coherently is performed where cores look, too: not in a cache that their directories do not know.
    shares_home: bool,
    /// Non-coherent stores may stay in a cache below the L1s in which others do not see them, whatever fences do.
    hides_n_stores: bool,
    section_of: OnceLock<statistics::SectionOf>,
}

/// A simulated machine at one moment: one plain value.
#[derive(Clone, Debug)]
pub struct Machine {
    fixed: Arc<Fixed>,
    /// No event happens after this tick.
    last_tick: Tick,
    nodes: Vec<Node>,
    agents: Vec<Agent>,
    agent_wake: Vec<Option<Tick>>,
    links: Vec<Link>,
    channels: Vec<Channel>,
    /// By node.
    ports: Vec<Port>,
    drams: Vec<Dram>,
    /// Boxed, since few machines have it.
    paging: Option<Box<Paging>>,
    /// The same.
    copies: Option<Box<Copies>>,
    /// The same.
    lanes: Option<Box<Lanes>>,
    /// When something is due for them; the end of time if nothing is.
    lanes_due: Tick,
    /// Where pages live. While an event is under way its outbox has them.
    homes: Homes,
    /// What may be done with them. The same.
    permissions: Permissions,
    /// Fences and kernels that wait for releases.
    awaited: Vec<Awaited>,
    /// Who flushes before launches. That follows from the work, not from the machine.
    meeting: Arc<Meeting>,
    /// Ways for local and remote lines, where they are dealt. Boxed, since few machines have it.
    ways: Option<Box<Ways>>,
    /// GPU memories that are caches. Boxed, since few machines have them.
    tags: Option<Box<CachedMemories>>,
    queue: Queue,
    tasks: Tasks,
    txns: Transactions,
    txns_made: u64,
    now: Tick,
    event: EventNumber,
    /// What the last event of the queue was.
    last: Option<Event>,
    checker: Option<Checker>,
    violations: Vec<Violation>,
    /// Messages sent and their bytes, by kind.
    sent: [(u64, u64); MessageKind::ALL.len()],
    latencies: Latencies,
    wake_ups: u64,
    /// What an agent has told in an event, until that is done.
    told: Told,
    injected: Injected,
    /// Cycles that a transaction may take, if that is checked.
    transaction_limit: Option<u64>,
    /// Until after this tick none can be over it.
    overdue_after: Tick,
    /// The warps that were all that was left of the work when that was last looked at, and spun.
    spinning: Vec<(ComponentId, u32, Tick)>,
    finished_checked: bool,
    buffers: Option<Box<Buffers>>,
    /// Per node and virtual network, lanes out of it that have no room. Follows from the channels.
    full: Vec<[u32; Network::ALL.len()]>,
    /// The channels that something is in, and some that something was in, a bit each: of very many most have nothing. Follows from
    /// the channels.
    laden: Bits,
    /// Per node, the lanes into it whose head it has turned away, in the order in which it has.
    held: Vec<Vec<LaneKey>>,
    /// What will be done to it from outside. No part of the digest: it has not happened.
    plan: Plan,
}

impl Machine {
    /// A digest of the whole state. Independent of who listens, and of whether anybody has tried to go on, at the end or where time is
    /// limited.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.settled().map_or_else(|| self.digest_as_it_is(), |settled| settled.digest_as_it_is())
    }

    fn digest_as_it_is(&self) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write_u64(self.event);
        hasher.write_u64(self.now);
        hasher.write_u64(self.txns_made);
        self.nodes.iter().for_each(|node| node.digest(&mut hasher));
        self.agents.iter().for_each(|agent| agent.digest(&mut hasher));
        self.links.iter().for_each(|link| link.digest(&mut hasher));
        self.channels.iter().for_each(|channel| channel.digest(&mut hasher));
        self.ports.iter().for_each(|port| port.digest(&mut hasher));
        // Which they are follows from the channels; their order does not.
        let in_order = self.held.iter().filter(|held| held.len() > 1);
        in_order.for_each(|held| std::hash::Hash::hash(held, &mut hasher));
        self.drams.iter().for_each(|dram| dram.digest(&mut hasher));
        if let Some(paging) = &self.paging {
            paging.digest(&mut hasher);
        }
        if let Some(copies) = &self.copies {
            copies.digest(&mut hasher);
        }
        if let Some(lanes) = &self.lanes {
            lanes.digest(&mut hasher);
        }
        self.homes.digest(&mut hasher);
        self.permissions.digest(&mut hasher);
        std::hash::Hash::hash(&self.awaited, &mut hasher);
        if let Some(ways) = &self.ways {
            ways.digest(&mut hasher);
        }
        if let Some(tags) = &self.tags {
            std::hash::Hash::hash(tags, &mut hasher);
        }
        self.queue.digest(&mut hasher);
        std::hash::Hash::hash(&self.tasks.states, &mut hasher);
        std::hash::Hash::hash(&self.tasks.results, &mut hasher);
        // Which they are follows from the states; their order does not.
        if self.tasks.kernels.len() > 1 {
            std::hash::Hash::hash(&self.tasks.kernels, &mut hasher);
        }
        hasher.finish()
    }

    /// Whether all work is done and nothing is under way.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.queue.is_empty() && self.is_quiet()
    }

    /// Whether all work is done and no message is left.
    fn is_quiet(&self) -> bool {
        self.tasks.all_ended()
            && self.nodes.iter().all(Node::is_idle)
            && self.channels.iter().all(Channel::is_empty)
            && self.drams.iter().all(Dram::is_idle)
            && self.paging.as_ref().is_none_or(|paging| paging.is_idle())
            && self.awaited.is_empty()
            && self.copies.as_ref().is_none_or(|copies| copies.is_idle())
    }

    /// Accesses performed or under way so far.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.agents.iter().map(|agent| agent.accesses).sum()
    }

    /// All that it does, what was added by hand included.
    #[must_use]
    pub fn workload(&self) -> &Arc<Workload> {
        &self.tasks.workload
    }

    /// Why what happens cannot be trusted: a trace that changed while it was read.
    #[must_use]
    pub fn complaint(&self) -> Option<Box<Diagnostic>> {
        self.tasks.workload.complaint()
    }

    /// Ticks that a link is busy until one that is not before its last event, as far as is known.
    #[must_use]
    pub fn busy_until(&self, link: ComponentId, tick: Tick) -> Tick {
        let index = self.fixed.link_of.get(link.index()).copied().flatten();
        index.and_then(|index| self.links.get(index)).map_or(0, |link| link.busy_until(tick))
    }

    /// When the work was done: at the end of the last task, or when all is at rest where what was written is copied back after it.
    /// Pages that a prefetcher has asked for may come later.
    #[must_use]
    pub fn worked_until(&self) -> Tick {
        let prefetches = self.paging.as_ref().is_some_and(|paging| paging.ends_with_tasks());
        self.tasks.ended().filter(|ended| prefetches && *ended > 0).unwrap_or(self.now)
    }

    /// Lets time pass until a moment before the next event, for those who ask how it is then.
    pub fn wait_until(&mut self, tick: Tick) {
        self.pass_time(tick);
        self.now = self.now.max(tick);
    }

    /// Probes sent so far: how much coherence traffic there was.
    #[must_use]
    pub fn probes(&self) -> u64 {
        let all = MessageKind::ALL.into_iter().zip(self.sent);
        all.filter(|(kind, _)| kind.network() == Network::Probe).map(|(_, (count, _))| count).sum()
    }

    /// The events that launched kernels so far.
    #[must_use]
    pub fn launches(&self) -> &[EventNumber] {
        &self.tasks.launches
    }

    /// Checks that have failed so far.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// The task or labelled access of this id.
    #[must_use]
    pub fn task(&self, id: &str) -> Option<TaskView> {
        if let Some((label, bytes)) = self.tasks.results.get_key_value(id) {
            let result = Some(bytes.clone());
            let (id, work) = (label.clone(), TaskWork::Access);
            return Some(TaskView { id, work, started: None, ended: None, result, flushing: 0 });
        }
        let index = self.tasks.workload.tasks.iter().position(|task| &*task.id == id)?;
        self.task_view(index)
    }

    /// All tasks, in the order of the workload.
    #[must_use]
    pub fn tasks(&self) -> Vec<TaskView> {
        (0..self.tasks.workload.tasks.len()).filter_map(|index| self.task_view(index)).collect()
    }

    fn task_view(&self, index: usize) -> Option<TaskView> {
        let (task, state) = (self.tasks.workload.tasks.get(index)?, self.tasks.states.get(index)?);
        Some(TaskView {
            id: task.id.clone(),
            work: TaskWork::of(&task.what, self.tasks.launch_of(index)),
            started: state.started,
            ended: state.ended,
            result: state.result.clone(),
            flushing: state.flushing.len() + self.awaited_by(Waiter::Start(index)).len(),
        })
    }

    /// The share of the work that is done, 0 to 1.
    #[must_use]
    pub fn share_done(&self) -> f64 {
        self.tasks.share_done()
    }

    /// Results of labelled accesses, by label.
    #[must_use]
    pub fn results(&self) -> Vec<(Arc<str>, Bytes)> {
        self.tasks.results.iter().map(|(label, bytes)| (label.clone(), bytes.clone())).collect()
    }

    /// The protocol table of a node.
    #[must_use]
    pub fn table(&self, node: ComponentId) -> Option<&Arc<Table>> {
        Some(&self.node(node)?.config.table)
    }

    /// Where a node stands in the hierarchy.
    #[must_use]
    pub fn role(&self, node: ComponentId) -> Option<Role> {
        Some(self.node(node)?.config.role)
    }

    /// The tables in use, the machine's own first.
    #[must_use]
    pub fn tables(&self) -> &[Arc<Table>] {
        &self.fixed.tables
    }

    /// What the machine was built from.
    #[must_use]
    pub fn spec(&self) -> &MachineSpec {
        &self.fixed.spec
    }

    fn node(&self, id: ComponentId) -> Option<&Node> {
        self.nodes.get((*self.fixed.node_of.get(id.index())?)?)
    }

    /// Bytes that a clone of this machine holds for itself, roughly: what checkpoints are budgeted by.
    #[must_use]
    pub fn footprint(&self) -> usize {
        let nodes: usize = self.nodes.iter().map(Node::footprint).sum();
        let agents: usize = self.agents.iter().map(|agent| agent.warps.len() * 256).sum();
        let checked = self.checker.as_ref().map_or(0, Checker::footprint);
        let broken = self.violations.len() * size_of::<Violation>();
        nodes
            + agents
            + checked
            + broken
            + self.channels.len() * 256
            + self.queue.len() * 40
            + size_of::<Self>()
    }

    /// Builds a machine at event 0.
    ///
    /// # Errors
    /// If the specification contradicts itself, or the workload or initial blocks name what is not there.
    pub fn build(blueprint: &Blueprint) -> Result<Self> {
        build::build(blueprint)
    }
}
