//! The machine as it was before its last event.
//!
//! What holds at a moment between two events is known only when the second one has happened. A copy that follows
//! behind and is run on to the event before tells it, without a look at every event.

use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::model::time::{EventNumber, Tick};

/// Events that the copy may lie behind: it never has more of them to execute again.
const FARTHEST: EventNumber = 4096;

/// A copy of a machine that follows behind it.
#[derive(Clone, Debug)]
pub struct Behind {
    copy: Machine,
}

impl Behind {
    #[must_use]
    pub fn new(machine: &Machine) -> Self {
        Self { copy: machine.clone() }
    }

    /// Comes closer if `machine` is far ahead. To be called after every event.
    pub fn follow(&mut self, machine: &Machine) {
        if machine.event().saturating_sub(self.copy.event()) >= FARTHEST {
            self.copy = machine.clone();
        }
    }

    /// `machine` as it was before its last event. Not to be called after [`Self::follow`] for that event.
    pub fn before(&mut self, machine: &Machine) -> &Machine {
        self.copy.run_until(machine.event().saturating_sub(1));
        &self.copy
    }

    /// The same at a moment between the two events. Not to be called with an earlier one than before.
    pub fn at(&mut self, machine: &Machine, tick: Tick) -> &Machine {
        self.before(machine);
        self.copy.wait_until(tick);
        &self.copy
    }

    /// `machine` as it was at a moment after its last event, for which it has waited longer. The same.
    pub fn after(&mut self, machine: &Machine, tick: Tick) -> &Machine {
        self.copy.run_until(machine.event());
        self.copy.wait_until(tick);
        &self.copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::record::Records;
    use crate::scenario::{Options, Scenario};

    #[test]
    fn the_copy_is_what_the_machine_was() {
        let scenario = Scenario::load("tests/data/long.toml").unwrap();
        let mut machine = scenario.prepare(&Options::default()).unwrap().machine;
        let mut behind = Behind::new(&machine);
        let mut records = Records::silent();
        for event in 1..FARTHEST + 200 {
            let digest = machine.digest();
            machine.step(&mut records);
            if event % 61 == 0 {
                assert_eq!(behind.before(&machine).digest(), digest, "event {event}");
            }
            behind.follow(&machine);
        }
    }
}
