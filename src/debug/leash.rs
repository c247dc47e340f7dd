//! How far the commands of breakpoints may run by themselves.

use crate::model::time::EventNumber;

/// How often the commands of breakpoints may turn a run round before one that was typed is taken to go nowhere.
pub const TURNS: u32 = 1000;

/// What keeps commands of breakpoints that call each other forth and back from running for ever.
#[derive(Clone, Copy, Debug, Default)]
pub struct Leash {
    last: EventNumber,
    forward: bool,
    turns: u32,
}

impl Leash {
    /// Takes a stop at `event` that has a breakpoint's commands carried out, since the last command that was typed;
    /// whether there have been too many turns.
    pub fn is_short(&mut self, event: EventNumber) -> bool {
        let forward = event > self.last;
        self.turns += u32::from(forward != self.forward || event == self.last);
        (self.last, self.forward) = (event, forward);
        self.turns > TURNS
    }
}
