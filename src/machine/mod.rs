//! Builds a machine from a specification; owns its parts, the timed queue and the clock.

use std::sync::Arc;

use crate::config::machine::MachineSpec;
use crate::diagnostic::Result;
use crate::model::access::Bytes;
use crate::model::address::Address;
use crate::model::component::{ComponentId, Components};
use crate::model::fault::Fault;
use crate::model::inspect::{
    AgentView, BlockView, CacheView, CellCount, Inspect, LinkView, MshrView, TransactionView, WaitLink,
};
use crate::model::message::TxnNumber;
use crate::model::record::Records;
use crate::model::state::State;
use crate::model::time::{EventNumber, Tick, TimeBase};
use crate::protocol::table::Table;
use crate::workload::Workload;

/// Everything that a machine is built from.
#[derive(Clone, Debug)]
pub struct Blueprint {
    pub spec: MachineSpec,
    /// Every protocol table that the specification names, by name.
    pub tables: Vec<Arc<Table>>,
    pub workload: Arc<Workload>,
    pub seed: u64,
    /// Check the protocol's rules after every event.
    pub checks: bool,
    pub faults: Vec<Fault>,
    pub initial: Vec<InitialBlock>,
    /// Bytes of host memory at the start; the rest is zero.
    pub memory: Vec<(Address, Bytes)>,
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
}

/// What became of a labelled access or a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskView {
    pub id: Arc<str>,
    pub started: Option<Tick>,
    pub ended: Option<Tick>,
    /// What its last access read.
    pub result: Option<Bytes>,
}

/// A simulated machine at one moment: one plain value.
#[derive(Clone, Debug)]
pub struct Machine {
    components: Components,
}

impl Machine {
    /// Builds a machine at event 0.
    ///
    /// # Errors
    /// If the specification contradicts itself, or the workload or initial blocks name what is not there.
    pub fn build(_blueprint: &Blueprint) -> Result<Self> {
        Ok(Self { components: Components::default() })
    }

    /// Executes one event; its records go to `records` if it listens.
    pub fn step(&mut self, _records: &mut Records) -> StepOutcome {
        StepOutcome::Finished
    }

    /// A digest of the whole state. Independent of who listens.
    #[must_use]
    pub fn digest(&self) -> u64 {
        0
    }

    /// Whether all work is done and nothing is under way.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        true
    }

    /// Accesses performed so far.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        0
    }

    /// The task or labelled access of this id.
    #[must_use]
    pub fn task(&self, _id: &str) -> Option<TaskView> {
        None
    }

    /// All tasks, in the order of the workload.
    #[must_use]
    pub fn tasks(&self) -> Vec<TaskView> {
        Vec::new()
    }

    /// The protocol table of a node.
    #[must_use]
    pub fn table(&self, _node: ComponentId) -> Option<&Arc<Table>> {
        None
    }

    /// Bytes of memory that a clone shares with nobody else, roughly.
    #[must_use]
    pub fn footprint(&self) -> usize {
        0
    }
}

impl Inspect for Machine {
    fn components(&self) -> &Components {
        &self.components
    }
    fn time_base(&self) -> TimeBase {
        TimeBase { ticks_per_second: 1, ticks_per_cycle: 1 }
    }
    fn event(&self) -> EventNumber {
        0
    }
    fn tick(&self) -> Tick {
        0
    }
    fn block(&self, _node: ComponentId, _address: Address) -> Option<BlockView> {
        None
    }
    fn blocks(&self, _limit: usize) -> Vec<Address> {
        Vec::new()
    }
    fn value(&self, _node: ComponentId, _address: Address, _len: u32) -> Option<Vec<u8>> {
        None
    }
    fn mshrs(&self, _node: ComponentId) -> Option<MshrView> {
        None
    }
    fn link(&self, _link: ComponentId) -> Option<LinkView> {
        None
    }
    fn agent(&self, _agent: ComponentId) -> Option<AgentView> {
        None
    }
    fn cache(&self, _node: ComponentId) -> Option<CacheView> {
        None
    }
    fn transactions(&self) -> Vec<TransactionView> {
        Vec::new()
    }
    fn transaction(&self, _number: TxnNumber) -> Option<TransactionView> {
        None
    }
    fn why(&self, _component: ComponentId, _warp: Option<u32>) -> Vec<WaitLink> {
        Vec::new()
    }
    fn cells(&self, _node: Option<ComponentId>) -> Vec<CellCount> {
        Vec::new()
    }
    fn statistics(&self) -> Vec<(String, f64)> {
        Vec::new()
    }
}
