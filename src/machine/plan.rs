//! What is done to a machine from outside while it runs: planned by position, and part of the machine's value, so that
//! a clone, a checkpoint and a replay do the same.
//!
//! Each intervention is an event of its own, at the tick of the event before it; a choice a cycle later.

use std::sync::Arc;

use super::{Machine, StepOutcome};
use crate::model::choice::Choice;
use crate::model::record::{Records, What};
use crate::model::time::EventNumber;
use crate::protocol::outbox::About;
use crate::workload::Task;

/// Something that is done to a machine.
#[derive(Clone, Debug)]
pub enum Change {
    /// From here on it has the latencies, policies, tables and faults of this one, which is of the same shape.
    Adopt(Arc<Machine>),
    /// It has one more thing to do, from now on.
    Work(Task),
    /// This happens next, whatever the timed queue says.
    Choose(Choice),
    /// What comes next in the timed queue comes so many cycles later.
    Hold(u64),
}

/// A change and when it is made.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The position after which it is made.
    pub event: EventNumber,
    /// As whoever planned it wrote it.
    pub text: Arc<str>,
    pub change: Change,
}

/// All that is planned, and what is next.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    changes: Arc<[Planned]>,
    /// The position after which the next change is made; the end of time if none is left.
    pub due: EventNumber,
    /// Deliveries are chosen: memory answers at once, so that every message is in its lane as soon as it is sent.
    pub is_ordered: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self { changes: Arc::default(), due: EventNumber::MAX, is_ordered: false }
    }
}

impl Plan {
    /// The first change that is made at `event` or later.
    fn next(&self, event: EventNumber) -> Option<&Planned> {
        self.changes.get(self.changes.partition_point(|planned| planned.event < event))
    }
}

impl Machine {
    /// Replaces all that is planned. Changes are at positions that ascend strictly; those before the present one have
    /// been made.
    pub fn plan(&mut self, changes: Arc<[Planned]>) {
        // What comes before the first choice is as it would be without one.
        let is_choice = |planned: &Planned| matches!(planned.change, Change::Choose(_));
        let is_ordered = changes.iter().any(|planned| planned.event <= self.event && is_choice(planned));
        self.plan = Plan { changes, due: EventNumber::MAX, is_ordered };
        self.plan.due = self.plan.next(self.event).map_or(EventNumber::MAX, |planned| planned.event);
    }

    /// Plans a change for the present position, before all that is planned for later ones. `false`, and nothing is done, if one is
    /// planned for it already.
    pub fn plan_here(&mut self, planned: Planned) -> bool {
        let event = self.event;
        if self.plan.due <= event {
            return false;
        }
        let later = self.plan.changes.iter().filter(|planned| planned.event > event).cloned();
        self.plan.changes = std::iter::once(planned).chain(later).collect();
        self.plan.due = event;
        true
    }

    /// Whether it becomes another machine somewhere, or has.
    #[must_use]
    pub fn adopts(&self) -> bool {
        self.plan.changes.iter().any(|planned| matches!(planned.change, Change::Adopt(_)))
    }

    /// The position of the next planned change.
    #[must_use]
    pub fn next_planned(&self) -> Option<EventNumber> {
        Some(self.plan.due).filter(|due| *due < EventNumber::MAX)
    }

    /// Makes the change that is due, as one event.
    pub(super) fn intervene(&mut self, records: &mut Records) -> StepOutcome {
        let planned = self.plan.next(self.event).cloned();
        (self.event, self.last) = (self.event + 1, None);
        self.plan.due = self.plan.next(self.event).map_or(EventNumber::MAX, |planned| planned.event);
        let Some(planned) = planned else { return StepOutcome::Ran };
        self.finished_checked = false;
        if matches!(planned.change, Change::Choose(_)) {
            self.plan.is_ordered = true;
            self.pass_cycle();
        }
        let held = match planned.change {
            Change::Hold(cycles) => self.hold(cycles),
            _ => None,
        };
        let text =
            held.map_or_else(|| planned.text.clone(), |what| format!("{}: {what}", planned.text).into());
        let at = self.host_component();
        let mut out = self.outbox(records);
        out.record(at, About::default(), || What::Input { text });
        match &planned.change {
            Change::Adopt(other) => self.adopt(other, &mut out),
            Change::Work(task) => self.add_task(task.clone()),
            Change::Choose(choice) => self.apply(choice, &mut out),
            Change::Hold(_) => {}
        }
        self.check_event(&mut out);
        self.close(out);
        StepOutcome::Ran
    }

    fn add_task(&mut self, task: Task) {
        let index = self.tasks.add(task);
        if let Some(copies) = &mut self.copies {
            copies.forget_outputs();
        }
        self.latencies.add_task(index);
        self.plan_task(index);
    }
}
