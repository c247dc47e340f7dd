//! `diff`: where two branches part.

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::compare::Comparison;
use crate::debug::job::Job;
use crate::debug::session::Session;
use crate::debug::subject::Subject;
use crate::diagnostic::{Diagnostic, Result};

pub const DIFF: Command = Command {
    name: "diff",
    aliases: &[],
    usage: "diff [N [M]] [ignore-time]",
    group: Group::WhatIf,
    about: "the first record at which two branches part, and what led to it",
    details: "\
Without a number, this branch and the one that it left; with one, that one and this. With ignore-time the same records
at other times are the same. `umscope diff` compares any two scenarios or recordings.",
    completes: Completes::Each(Takes::Branch),
    run: diff,
};

fn diff(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let mut words = arguments.words();
    let ignore_time = words.last().is_some_and(|word| word.text == "ignore-time");
    if ignore_time {
        words.pop();
    }
    let mut numbers = Vec::new();
    for word in &words {
        let number = arguments.number(word, "the number of a branch, or ignore-time")?;
        numbers.push(u32::try_from(number).unwrap_or(u32::MAX));
    }
    let here = session.branches().current();
    let (a, b) = match numbers.as_slice() {
        [] => (session.relative(here).ok_or_else(only)?, here),
        [other] if *other == here => {
            let itself = |_| Session::complaint(format!("branch {here} does not differ from itself"));
            return Err(session.relative(here).map_or_else(only, itself));
        }
        [other] => (*other, here),
        [a, b] => (*a, *b),
        _ => return Err(arguments.complaint("two branches are enough")),
    };
    let comparison = session.compare(a, b, ignore_time)?;
    let names = [format!("branch {a}"), format!("branch {b}")];
    Ok(Effect::Work(Box::new(Diffing { comparison: Some(comparison), names })))
}

fn only() -> Box<Diagnostic> {
    Box::new(Session::complaint("there is one branch only").expected("fork, to make another"))
}

/// A comparison under way, and what its runs are called.
#[derive(Debug)]
struct Diffing {
    /// Missing once it is done.
    comparison: Option<Comparison>,
    names: [String; 2],
}

impl Job for Diffing {
    fn advance(&mut self, fuel: u64) -> Option<Result<Vec<String>>> {
        let mut comparison = self.comparison.take()?;
        if !comparison.advance(fuel) {
            self.comparison = Some(comparison);
            return None;
        }
        let machines = comparison.machines().map(Subject::fork);
        let [a, b] = &self.names;
        let lines = comparison.verdict().lines([a.as_str(), b.as_str()], [&*machines[0], &*machines[1]]);
        Some(Ok(lines))
    }

    fn interrupt(&mut self) -> Vec<String> {
        let event = self.comparison.as_ref().map_or(0, Comparison::event);
        vec![format!("interrupted: the same up to event {event} at least")]
    }
}
