//! What the debugger can step and look at: a value that can be forked at any moment.

use std::fmt::Debug;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::machine::{Machine, Planned, StepOutcome, TaskView, Violation};
use crate::model::component::ComponentId;
use crate::model::record::Records;
use crate::model::time::EventNumber;
use crate::protocol::node::Role;
use crate::protocol::table::Table;
use crate::query;

/// A machine as the debugger sees it. Two forks of one subject, stepped alike, stay alike.
pub trait Subject: query::Subject + Debug + Send + Sync {
    /// Executes one event; its records replace those in `records` if it listens. All but `Ran` execute
    /// nothing and leave the position as it was.
    fn step(&mut self, records: &mut Records) -> StepOutcome;
    /// A digest of the whole state.
    fn digest(&self) -> u64;
    /// Bytes that a fork shares with nobody else, roughly.
    fn footprint(&self) -> usize;
    /// Replaces all that will be done to it from outside.
    fn plan(&mut self, changes: Arc<[Planned]>);
    /// A copy that goes its own way from here.
    fn fork(&self) -> Box<dyn Subject>;
    /// All tasks, in the order of the workload.
    fn tasks(&self) -> Vec<TaskView>;
    /// The protocol table of a node.
    fn table(&self, node: ComponentId) -> Option<&Arc<Table>>;
    /// Where a node stands in the hierarchy.
    fn role(&self, node: ComponentId) -> Option<Role>;
    /// Checks that have failed up to here.
    fn violations(&self) -> &[Violation];
    /// Why what happens cannot be trusted, if it cannot (a trace that changed while it was read).
    fn complaint(&self) -> Option<Box<Diagnostic>>;
    /// Probes sent up to here.
    fn probes(&self) -> u64;
    /// The events that launched kernels up to here.
    fn launches(&self) -> &[EventNumber];
    /// The first events in which lanes began to turn, and in which ways changed hands.
    fn rearranged(&self) -> [Vec<EventNumber>; 2];
    /// The first events in which injected faults struck.
    fn struck(&self) -> &[EventNumber];
    /// The machine itself, where a scenario must see it.
    fn machine(&self) -> Option<&Machine>;
    /// The cycle of the position.
    fn cycle(&self) -> u64 {
        self.time_base().cycle(self.tick())
    }
}

impl Subject for Machine {
    fn step(&mut self, records: &mut Records) -> StepOutcome {
        Self::step(self, records)
    }
    fn digest(&self) -> u64 {
        Self::digest(self)
    }
    fn footprint(&self) -> usize {
        Self::footprint(self)
    }
    fn plan(&mut self, changes: Arc<[Planned]>) {
        Self::plan(self, changes);
    }
    fn fork(&self) -> Box<dyn Subject> {
        Box::new(self.clone())
    }
    fn tasks(&self) -> Vec<TaskView> {
        Self::tasks(self)
    }
    fn table(&self, node: ComponentId) -> Option<&Arc<Table>> {
        Self::table(self, node)
    }
    fn role(&self, node: ComponentId) -> Option<Role> {
        Self::role(self, node)
    }
    fn violations(&self) -> &[Violation] {
        Self::violations(self)
    }
    fn complaint(&self) -> Option<Box<Diagnostic>> {
        Self::complaint(self)
    }
    fn probes(&self) -> u64 {
        Self::probes(self)
    }
    fn launches(&self) -> &[EventNumber] {
        Self::launches(self)
    }
    fn rearranged(&self) -> [Vec<EventNumber>; 2] {
        Self::rearranged(self)
    }
    fn struck(&self) -> &[EventNumber] {
        Self::struck(self)
    }
    fn machine(&self) -> Option<&Machine> {
        Some(self)
    }
}
