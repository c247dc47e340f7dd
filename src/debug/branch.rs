//! Branches of a run, each with inputs of its own. All of them stay; the cursor is on one.

use super::frame::session::BranchView;
use super::timeline::Timeline;
use crate::diagnostic::{Diagnostic, Result};
use crate::model::time::EventNumber;
use crate::recording::Input;

/// One run among several of the same machine.
#[derive(Debug)]
pub struct Branch {
    /// From 1, the number of the run as it was opened.
    pub number: u32,
    /// The branch and the event at which it left it.
    pub from: Option<(u32, EventNumber)>,
    /// All that is done to its machine.
    pub inputs: Vec<(EventNumber, Input)>,
    /// Missing while the cursor is on it: then it is the session's.
    pub(super) parked: Option<Timeline>,
}

/// All branches of a session.
#[derive(Debug)]
pub struct Branches {
    pub(super) list: Vec<Branch>,
    /// Position in the list of the one with the cursor.
    pub(super) current: usize,
}

impl Branches {
    /// The run as it is opened.
    #[must_use]
    pub fn new(inputs: Vec<(EventNumber, Input)>) -> Self {
        Self { list: vec![Branch { number: 1, from: None, inputs, parked: None }], current: 0 }
    }

    #[must_use]
    pub fn list(&self) -> &[Branch] {
        &self.list
    }

    /// The number of the branch with the cursor.
    #[must_use]
    pub fn current(&self) -> u32 {
        self.list.get(self.current).map_or(1, |branch| branch.number)
    }

    /// What the screen shows of it; nothing on the run as it was opened.
    #[must_use]
    pub fn view(&self) -> Option<BranchView> {
        let here = self.here()?;
        here.from.map(|(_, event)| BranchView { number: here.number, event })
    }

    /// Whether the same was done on two branches before `event`, so that it is one position.
    #[must_use]
    pub fn share(&self, one: u32, other: u32, event: EventNumber) -> bool {
        let inputs = |number| {
            let branch = self.list.iter().find(|branch| branch.number == number);
            branch.map(|branch| branch.inputs.iter().take_while(move |(at, _)| *at < event))
        };
        match (inputs(one), inputs(other)) {
            (Some(one), Some(other)) => one.eq(other),
            _ => false,
        }
    }

    pub(super) fn position(&self, number: u32) -> Result<usize> {
        let found = self.list.iter().position(|branch| branch.number == number);
        found.ok_or_else(|| {
            let numbers: Vec<_> = self.list.iter().map(|branch| branch.number.to_string()).collect();
            let error = Diagnostic::new(format!("there is no branch {number}"));
            Box::new(error.expected(format!("one of {}", numbers.join(", "))))
        })
    }

    pub(super) fn here(&self) -> Option<&Branch> {
        self.list.get(self.current)
    }
}

impl Branch {
    /// What made it another run.
    #[must_use]
    pub fn what(&self) -> String {
        match (self.from, self.inputs.last()) {
            (Some((from, event)), Some((_, input))) => format!("{input}  (from {from} at event {event})"),
            _ => "as it was opened".to_owned(),
        }
    }
}
