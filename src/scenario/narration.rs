//! Narration and questions: what a lesson says, and when it is due.

use std::sync::Arc;

use crate::config::document::At;
use crate::diagnostic::Result;
use crate::model::record::{Record, RecordId, What};
use crate::protocol::table::Table;
use crate::query::Subject;

use super::cell::CellName;
use super::choice;
use super::expectation::{Compiler, Matching};
use super::file::{AskFile, SayFile};
use super::prose::flow;

/// Something that a lesson says.
#[derive(Clone, Debug)]
pub struct Say {
    pub when: Moment,
    pub text: String,
    pub ask: Option<Ask>,
    /// What settles its question; without it, the next event does.
    pub until: Option<Matching>,
    /// The line of the file it starts on.
    pub line: usize,
}

/// When it is due.
#[derive(Clone, Debug)]
pub enum Moment {
    /// Before the first event.
    Start,
    /// At the n-th record that matches.
    On(Matching, u64),
    /// Before the event of the n-th record that matches: of what it does nothing is seen yet.
    Before(Matching, u64),
    /// When a task has ended.
    After(String),
    /// After the first event of this cycle or a later one.
    At(u64),
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    pub text: String,
    pub answer: String,
    /// Answers to choose from, the right one among them; empty if it is to be thought of.
    pub choices: Vec<String>,
    /// The cell of the protocol's table that tells, and what it says.
    pub because: Option<(CellName, String)>,
    /// Why that is the answer, in words; may be empty.
    pub why: String,
}

/// What has been said up to a moment; a clone remembers the moment to come back to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// For each saying the matches seen, or `None` once it is said.
    seen: Vec<Option<u64>>,
    /// Sayings whose questions wait for what settles them.
    open: Vec<usize>,
    /// Those that the event that was looked at last has settled.
    settled: Vec<usize>,
}

impl Told {
    /// Sayings whose questions the event that was looked at last has settled.
    #[must_use]
    pub fn settled(&self) -> &[usize] {
        &self.settled
    }
}

/// What stands before what is said of what comes next.
pub const UPCOMING: &str = "Next: ";

/// A saying that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Its number in the lesson, from 0.
    pub say: usize,
    /// The record that it is about.
    pub record: Option<RecordId>,
}

/// The narration of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Narrator {
    pub says: Vec<Say>,
}

impl Narrator {
    /// Whether a saying belongs before the event that makes it due.
    #[must_use]
    pub fn is_early(&self, say: usize) -> bool {
        self.says.get(say).is_some_and(|say| matches!(say.when, Moment::Before(..)))
    }

    /// Whether the question of a saying stays open beyond the next event.
    #[must_use]
    pub fn asks_on(&self, say: usize) -> bool {
        self.says.get(say).is_some_and(|say| say.until.is_some())
    }

    /// Whether records settle the question of a saying that waits for some.
    fn settles(&self, say: usize, subject: &dyn Subject, records: &[Record]) -> bool {
        let until = self.says.get(say).and_then(|say| say.until.as_ref());
        let components = subject.components();
        until.is_some_and(|query| records.iter().any(|record| query.filter.matches(record, components)))
    }

    /// What has been said before the first event: nothing.
    #[must_use]
    pub fn begin(&self) -> Told {
        let open = self.opening().into_iter().filter(|say| self.asks_on(*say)).collect();
        Told { seen: vec![Some(0); self.says.len()], open, settled: Vec::new() }
    }

    /// What is said before the first event.
    #[must_use]
    pub fn opening(&self) -> Vec<usize> {
        let starts = self.says.iter().enumerate().filter(|(_, say)| matches!(say.when, Moment::Start));
        starts.map(|(index, _)| index).collect()
    }

    /// The lines of the file that begin what waits for something, and has not been said.
    #[must_use]
    pub fn unsaid(&self, told: &Told) -> Vec<usize> {
        let says = self.says.iter().zip(&told.seen);
        let waits = says.filter(|(say, seen)| seen.is_some() && !matches!(say.when, Moment::Start));
        waits.map(|(say, _)| say.line).collect()
    }

    /// The lines of the file that begin what asks something that was never settled.
    #[must_use]
    pub fn unsettled(&self, told: &Told) -> Vec<usize> {
        told.open.iter().filter_map(|say| self.says.get(*say)).map(|say| say.line).collect()
    }

    /// Whether something may still be due before an event.
    #[must_use]
    pub fn looks_ahead(&self, told: &Told) -> bool {
        told.seen.iter().enumerate().any(|(say, seen)| seen.is_some() && self.is_early(say))
    }

    /// What is due before an event that has not happened yet, and would make `records`. It is said then, and no more after that.
    pub fn foresee(&self, told: &mut Told, subject: &dyn Subject, records: &[Record]) -> Vec<usize> {
        let due = self.observe(&mut told.clone(), subject, records);
        let early: Vec<usize> =
            due.into_iter().map(|due| due.say).filter(|say| self.is_early(*say)).collect();
        for say in &early {
            if let Some(seen) = told.seen.get_mut(*say) {
                *seen = None;
            }
        }
        told.open.extend(early.iter().filter(|say| self.asks_on(**say)));
        early
    }

    /// What is due after an event that made `records`, or was due before it. The same `told` and event always give the same.
    pub fn observe(&self, told: &mut Told, subject: &dyn Subject, records: &[Record]) -> Vec<Due> {
        let mut due = Vec::new();
        for ((index, say), seen) in self.says.iter().enumerate().zip(&mut told.seen) {
            let Some(count) = seen else { continue };
            let record = match &say.when {
                Moment::Start => continue,
                Moment::On(query, nth) | Moment::Before(query, nth) => {
                    let components = subject.components();
                    let mut matches =
                        records.iter().filter(|record| query.filter.matches(record, components));
                    matches.find_map(|record| {
                        *count += 1;
                        (*count >= *nth).then_some(Some(record.id))
                    })
                }
                Moment::After(id) => {
                    let ended = subject.is_done(id);
                    let is_end = |record: &&Record| matches!(record.what, What::Complete { .. });
                    let last = || records.iter().rfind(is_end).or(records.last());
                    ended.then(|| last().map(|record| record.id))
                }
                Moment::At(cycle) => {
                    let there = subject.time_base().cycle(subject.tick()) >= *cycle;
                    there.then(|| records.first().map(|record| record.id))
                }
            };
            if let Some(record) = record {
                *seen = None;
                due.push(Due { say: index, record });
            }
        }
        self.settle(told, &due, subject, records);
        due
    }

    /// Notes which questions are settled by an event, at which something is due: what was asked before it, and what is asked before it
    /// as is found out now. What is asked after it waits.
    fn settle(&self, told: &mut Told, due: &[Due], subject: &dyn Subject, records: &[Record]) {
        let asked = |is_early: bool| {
            let due = due.iter().map(|due| due.say).filter(|say| self.asks_on(*say));
            due.filter(move |say| self.is_early(*say) == is_early)
        };
        told.open.extend(asked(true));
        let open = std::mem::take(&mut told.open);
        (told.settled, told.open) = open.into_iter().partition(|say| self.settles(*say, subject, records));
        told.open.extend(asked(false));
    }
}

/// Compiles a `[[say]]`; one of `tables` answers its question, the first unless it names another.
pub(super) fn say(compiler: Compiler<'_>, at: &At<SayFile>, tables: &[Arc<Table>]) -> Result<Say> {
    let file = &at.value;
    let mut found = Vec::new();
    if let Some(query) = &file.on {
        found.push(Moment::On(compiler.matching(query)?, compiler.nth(file.nth.as_ref())?));
    }
    if let Some(query) = &file.before {
        found.push(Moment::Before(compiler.matching(query)?, compiler.nth(file.nth.as_ref())?));
    }
    if found.is_empty() {
        compiler.alone(file.nth.as_ref(), "nth", "on or before")?;
    }
    if let Some(id) = &file.after {
        found.push(Moment::After(compiler.task(id)?));
    }
    if let Some(cycle) = &file.at {
        found.push(Moment::At(cycle.value));
    }
    if found.len() > 1 {
        let error = compiler.complain(&at.span, "this is said at more than one moment");
        return Err(error.expected("one of on, before, after and at").into());
    }
    let when = found.pop().unwrap_or(Moment::Start);
    let ask = file.ask.as_ref().map(|question| ask(compiler, question, tables)).transpose()?;
    let until = file.ask.as_ref().and_then(|question| question.value.until.as_ref());
    let until = until.map(|query| compiler.matching(query)).transpose()?;
    let text = flow(&file.text);
    // Else what log and panes show there would seem to be what is spoken of.
    let is_early = matches!(when, Moment::Before(..));
    let text = if is_early { format!("{UPCOMING}{}", text.trim_start()) } else { text };
    Ok(Say { when, text, ask, until, line: compiler.line(&at.span) })
}

/// The table of this name among those of the machine.
fn named<'a>(compiler: Compiler<'_>, name: &At<String>, tables: &'a [Arc<Table>]) -> Result<&'a Table> {
    let found = tables.iter().find(|table| table.name == name.value);
    found.map(|table| &**table).ok_or_else(|| {
        let names = || tables.iter().map(|table| table.name.as_str());
        let error = compiler.complain(&name.span, "this machine has no such protocol");
        error.expected(names().collect::<Vec<_>>().join(", ")).nearest(&name.value, names()).into()
    })
}

fn ask(compiler: Compiler<'_>, at: &At<AskFile>, tables: &[Arc<Table>]) -> Result<Ask> {
    let file = &at.value;
    let table = match &file.protocol {
        Some(name) => Some(named(compiler, name, tables)?),
        None => tables.first().map(|table| &**table),
    };
    let because = match (&file.because, table) {
        (Some(name), Some(table)) => {
            let cell = CellName::read(&compiler.text(name), table)?;
            let says = cell.answer(table).unwrap_or_default();
            Some((cell, says))
        }
        _ => None,
    };
    let answer = match (&file.answer, &because) {
        (Some(answer), _) => answer.value.clone(),
        (None, Some((_, says))) => says.clone(),
        (None, None) => {
            let error = compiler.complain(&at.span, "nothing answers this question");
            return Err(error.expected("answer, or because = a cell of the protocol's table").into());
        }
    };
    if let (Some(given), false) = (&file.answer, file.choices.is_empty() || file.choices.contains(&answer)) {
        let error = compiler.complain(&given.span, "the answer is none of the choices");
        return Err(error.nearest(&answer, file.choices.iter().map(String::as_str)).into());
    }
    if let (Some(given), false) = (&file.because, file.choices.is_empty() || file.choices.contains(&answer)) {
        let message = format!("the answer that this gives, \"{answer}\", is none of the choices");
        return Err(compiler
            .complain(&given.span, message)
            .expected("it among them, or answer = one of them")
            .into());
    }
    let choices = match file.choices.as_slice() {
        [] => obvious(&answer, because.as_ref(), table),
        given => given.to_vec(),
    };
    if let Some(choice) = choice::repeated(&choices) {
        let error = compiler.complain(&at.span, format!("the choice \"{choice}\" is given twice"));
        return Err(error.expected("choices that differ").into());
    }
    let why = file.why.as_deref().map(flow).unwrap_or_default();
    Ok(Ask { text: file.text.clone(), answer, choices, because, why })
}

/// The choices that an answer implies where the file gives none; empty if any text may be the answer.
fn obvious(answer: &str, because: Option<&(CellName, String)>, table: Option<&Table>) -> Vec<String> {
    if let (Some((cell, says)), Some(table)) = (because, table)
        && says == answer
    {
        return cell.choices(table);
    }
    if ["yes", "no"].contains(&answer) {
        return vec!["yes".into(), "no".into()];
    }
    let states: Vec<_> =
        table.into_iter().flat_map(|table| table.rows.iter().map(|row| row.state.to_string())).collect();
    if states.iter().any(|state| state == answer) { states } else { Vec::new() }
}
