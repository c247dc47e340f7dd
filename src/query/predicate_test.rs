//! The tests of a predicate: a quantity of the machine, and what it is compared with.

use std::fmt;

use super::context::Subject;
use super::number::Comparison;
use super::quantity::{OfBlock, Quantity, What};
use super::reading::Wanted;

/// A quantity compared with something. Where its pattern names several nodes, all must compare so.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Test {
    pub quantity: Quantity,
    pub how: Comparison,
    pub wanted: Wanted,
}

impl Test {
    pub fn holds(&self, subject: &dyn Subject) -> bool {
        let components = subject.components();
        let readings = self.quantity.read(subject);
        let mut accepted =
            readings.iter().map(|(_, reading)| self.wanted.accepts(reading, self.how, components));
        if self.quantity.is_of_any() {
            return accepted.any(|accepted| accepted);
        }
        !readings.is_empty() && accepted.all(|accepted| accepted)
    }

    pub fn complaint(&self, subject: &dyn Subject) -> Option<String> {
        let components = subject.components();
        let readings = self.quantity.read(subject);
        if readings.is_empty() {
            return Some(format!("nothing here has a {}", self.quantity));
        }
        if self.quantity.is_of_any() {
            let shown: Vec<_> = readings.iter().map(|(_, reading)| reading.show(components)).collect();
            let told = || format!("{} is {}, not {}", self.quantity, shown.join(", "), self.expectation());
            return (!self.holds(subject)).then(told);
        }
        let wrong = |(_, reading): &&(_, _)| !self.wanted.accepts(reading, self.how, components);
        let (node, reading) = readings.iter().find(wrong)?;
        let name = self.quantity.name_at(*node, components);
        Some(format!("{name} is {}, not {}", reading.show(components), self.expectation()))
    }

    /// What it should be, in words.
    fn expectation(&self) -> String {
        match self.how {
            Comparison::Is => self.wanted.to_string(),
            how => format!("{how} {}", self.wanted),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = matches!(self.quantity.0, What::Block { what: OfBlock::Sharers, .. });
        let verb = match (&self.wanted, self.how) {
            (Wanted::Include(_), _) => "include".to_string(),
            (_, Comparison::Is) if plural => "are".into(),
            (_, Comparison::IsNot) if plural => "are not".into(),
            (_, Comparison::Is) => "is".into(),
            (_, Comparison::IsNot) => "is not".into(),
            (_, how) => how.to_string(),
        };
        write!(f, "{} {verb} {}", self.quantity, self.wanted)
    }
}
