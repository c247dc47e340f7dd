//! What a query is compiled against: the names of one machine.

use std::sync::Arc;

use crate::machine::{Machine, TaskView};
use crate::model::address::Address;
use crate::model::component::Components;
use crate::model::inspect::Inspect;
use crate::model::state::State;
use crate::model::time::EventNumber;
use crate::protocol::table::Table;

/// What predicates read: a machine at one moment.
pub trait Subject: Inspect {
    /// The task or labelled access of this id.
    fn task_view(&self, id: &str) -> Option<TaskView>;

    /// Whether the task has ended, or the labelled access was performed.
    fn is_done(&self, id: &str) -> bool {
        let done =
            |task: &TaskView| task.ended.is_some() || (task.started.is_none() && task.result.is_some());
        self.task_view(id).as_ref().is_some_and(done)
    }

    /// The position of the first input that is still to come.
    fn next_input(&self) -> Option<EventNumber> {
        None
    }
}

impl Subject for Machine {
    fn task_view(&self, id: &str) -> Option<TaskView> {
        self.task(id)
    }

    fn next_input(&self) -> Option<EventNumber> {
        self.next_planned()
    }
}

/// Blocks offered by completion, at most.
const MOST_BLOCKS: usize = 256;

/// Bytes of a page: those of the machine whose memory is paged, otherwise 4 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSize(pub u32);

impl PageSize {
    #[must_use]
    pub fn of(machine: &(impl Inspect + ?Sized)) -> Self {
        machine.page_size().map_or_else(Self::default, Self)
    }
}

impl Default for PageSize {
    fn default() -> Self {
        Self(4096)
    }
}

/// The names that a query may use. What is left empty is not checked, only its form is.
#[derive(Clone, Debug, Default)]
pub struct Context {
    pub components: Option<Components>,
    /// The protocol tables of the machine's nodes; the first is the machine's own.
    pub tables: Vec<Arc<Table>>,
    /// Bytes of a page.
    pub page: PageSize,
    /// Blocks to offer for completion.
    pub blocks: Vec<Address>,
    /// Statistic keys.
    pub statistics: Vec<String>,
    /// Tasks and labelled accesses.
    pub ids: Vec<String>,
    /// Those of them that read nothing, and so have no result.
    pub silent: Vec<String>,
}

impl Context {
    /// The names of `machine` as it is now.
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        let ids: Vec<String> = machine.tasks().iter().map(|task| task.id.to_string()).collect();
        let mut statistics: Vec<String> = machine.statistics().into_iter().map(|(key, _)| key).collect();
        // These are there once their task has ended.
        let of_tasks = ["cycles", "accesses", "l1_share", "mean_cycles"];
        statistics.extend(ids.iter().flat_map(|id| of_tasks.map(|what| format!("tasks.{id}.{what}"))));
        Self {
            components: Some(machine.components().clone()),
            tables: machine.tables().to_vec(),
            page: PageSize::of(machine),
            blocks: machine.blocks(MOST_BLOCKS),
            statistics,
            ids,
            silent: Vec::new(),
        }
    }

    /// Every state of the machine's tables, each once.
    pub(super) fn states(&self) -> Vec<State> {
        let mut states = Vec::new();
        for row in self.tables.iter().flat_map(|table| table.rows.iter()) {
            if !states.contains(&row.state) {
                states.push(row.state);
            }
        }
        states
    }

    /// What a reader is told to write for a state.
    pub(super) fn expected_state(&self) -> String {
        let names: Vec<_> = self.tables.iter().map(|table| table.name.as_str()).collect();
        if names.is_empty() {
            return "a state: one upper-case letter".into();
        }
        let letters: Vec<_> = self.states().iter().map(|state| state.letter().to_string()).collect();
        format!("a state of {}: {}", names.join(" or "), letters.join(" "))
    }
}
