//! What is changed about a machine from a moment on: a fault is injected, a protocol's table changed.

use std::sync::Arc;

use super::Machine;
use crate::model::fault::Fault;
use crate::protocol::mutation::Mutation;

impl Machine {
    /// Injects a fault from here on. The n-th message or wake-up is counted from the first event, not from here.
    pub fn inject(&mut self, fault: Fault) {
        let faults = &mut Arc::make_mut(&mut self.fixed).faults;
        if faults.contains(&fault) {
            return;
        }
        faults.push(fault);
        let faults: Arc<[Fault]> = faults.as_slice().into();
        for node in &mut self.nodes {
            Arc::make_mut(&mut node.config).faults = faults.clone();
        }
    }

    /// Changes a protocol's table from here on, for every node that keeps to it.
    ///
    /// # Errors
    /// If no table has this name, or it has no such row or rule.
    pub fn mutate(&mut self, mutation: &Mutation) -> Result<(), String> {
        let fixed = Arc::make_mut(&mut self.fixed);
        let found = fixed.tables.iter_mut().find(|table| *table.name == *mutation.table);
        let table = found.ok_or_else(|| format!("the machine has no protocol {}", mutation.table))?;
        let changed = Arc::new(mutation.change.apply(table)?);
        *table = changed.clone();
        for node in self.nodes.iter_mut().filter(|node| *node.config.table.name == *mutation.table) {
            Arc::make_mut(&mut node.config).table = changed.clone();
        }
        Ok(())
    }

    /// The faults injected.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.fixed.faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::StepOutcome;
    use crate::machine::sample::working;
    use crate::model::access::AccessKind;
    use crate::model::state::{Action, State};
    use crate::protocol::mutation::Change;

    #[test]
    fn what_is_changed_on_the_way_holds_from_there_on() {
        let loads = ("host.cpu0", AccessKind::Load, vec![0x1000, 0x2000, 0x3000]);
        let mut plain = working("tiny/cpu-2core", &[], &[loads]);
        assert_eq!(plain.run_until(3), StepOutcome::Ran);
        let (mut faulty, mut mutant) = (plain.clone(), plain.clone());
        faulty.inject(Fault::DropWakeUp { nth: 2 });
        faulty.inject(Fault::DropWakeUp { nth: 2 });
        assert_eq!(faulty.faults().len(), 1);
        let change = Change::Cache(State::I, Action::Load, None);
        mutant.mutate(&Mutation { table: plain.tables()[0].name.as_str().into(), change }).unwrap();
        let other = Mutation { table: "other".into(), change };
        assert_eq!(mutant.mutate(&other), Err("the machine has no protocol other".into()));
        assert_eq!(plain.run_until(u64::MAX), StepOutcome::Finished);
        assert_eq!(faulty.run_until(u64::MAX), StepOutcome::Stuck);
        mutant.run_until(u64::MAX);
        assert_eq!(mutant.violations()[0].rule, "impossible-cell");
        assert!(plain.violations().is_empty() && plain.faults().is_empty());
    }
}
