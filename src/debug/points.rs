//! Breakpoints of a session by their text and number.

use std::sync::Arc;

use super::branch::Branches;
use super::breakpoint::{Breakpoint, Trigger};
use super::command::{Arguments, Word};
use super::frame::selection::Selection;
use super::hunt::Hunt;
use super::origin::Origin;
use super::session::{Display, Session, context_of, planned};
use super::stop::Reason;
use super::timeline::Timeline;
use super::watch::Watched;
use crate::diagnostic::{Diagnostic, Result};
use crate::query::{Context, Filter, Predicate, Stop, Text};
use crate::scenario::Break;

impl Session {
    /// Sets a breakpoint on `QUERY [if PREDICATE]` or `if PREDICATE`, and returns its number.
    ///
    /// # Errors
    /// If the query is not understood, or there are too many.
    pub fn add_breakpoint(&mut self, text: &Text, temporary: bool) -> Result<u32> {
        let stop =
            Stop::compile(text, &self.context).map_err(|error| about_state(text, &self.context, error))?;
        let Some((trigger, text, condition)) = Trigger::of(stop, &self.context) else {
            return Err(Self::complaint("a breakpoint needs a query"));
        };
        let id = self.add(trigger, text, condition)?;
        if let Some(breakpoint) = self.breakpoints.get_mut(id) {
            breakpoint.temporary = temporary;
        }
        Ok(id)
    }

    /// Sets a breakpoint that the scenario brings.
    pub(super) fn add_given(&mut self, given: Break) {
        if let Some((trigger, text, condition)) = Trigger::of(given.stop, &self.context)
            && let Some(id) = self.breakpoints.add(trigger, text, condition)
            && let Some(breakpoint) = self.breakpoints.get_mut(id)
        {
            breakpoint.temporary = given.once;
            breakpoint.ignore = given.ignore;
            breakpoint.commands = given.commands;
        }
    }

    /// Sets a watchpoint, and returns its number.
    ///
    /// # Errors
    /// If the expression or the condition is not understood, or there are too many.
    pub fn add_watchpoint(&mut self, text: &Text, condition: Option<&Text>) -> Result<u32> {
        let watched = Watched::compile(text, &self.context)
            .map_err(|error| about_records(text, &self.context, error))?;
        let condition = condition.map(|text| Predicate::compile(text, &self.context)).transpose()?;
        self.add(Trigger::Change(watched), text.as_str().to_owned(), condition)
    }

    fn add(&mut self, trigger: Trigger, text: String, condition: Option<Predicate>) -> Result<u32> {
        let id = self.breakpoints.add(trigger, text, condition);
        id.ok_or_else(|| Self::complaint("there are too many breakpoints already"))
    }

    /// The breakpoint that the first word names.
    pub(super) fn breakpoint_named(&self, arguments: &Arguments) -> Result<u32> {
        match arguments.words().first() {
            Some(word) => self.breakpoint_at(arguments, word),
            None => Err(arguments.missing("the number of a breakpoint")),
        }
    }

    /// The breakpoint that `word` names: a number, or `$bpnum` for the newest.
    pub(super) fn breakpoint_at(&self, arguments: &Arguments, word: &Word<'_>) -> Result<u32> {
        let list = self.breakpoints.list();
        let number = match word.text {
            "$bpnum" => list.last().map_or(0, |breakpoint| u64::from(breakpoint.id)),
            _ => arguments.number(word, "the number of a breakpoint")?,
        };
        let found = list.iter().find(|breakpoint| u64::from(breakpoint.id) == number);
        found.map(|breakpoint| breakpoint.id).ok_or_else(|| {
            let numbers: Vec<_> = list.iter().map(|breakpoint| breakpoint.id.to_string()).collect();
            let none = if numbers.is_empty() { ": none is set" } else { "" };
            let error =
                arguments.error(word.span.clone(), format!("there is no breakpoint {}{none}", word.text));
            if numbers.is_empty() { error } else { Box::new(error.expected(numbers.join(", "))) }
        })
    }

    /// The breakpoints where the session stands.
    pub(super) fn stopped_at(&self) -> Vec<u32> {
        let reasons = self.stop.iter().flat_map(|stop| &stop.reasons);
        reasons
            .filter_map(|reason| match reason {
                Reason::Breakpoint { id, .. } | Reason::Watchpoint { id, .. } => Some(*id),
                _ => None,
            })
            .collect()
    }

    /// Starts again at the first position of another machine. What is set is fitted to it.
    ///
    /// # Errors
    /// If a breakpoint or display does not fit; then nothing has changed.
    pub(super) fn restart(&mut self, origin: Origin) -> Result<()> {
        let context = origin.context.unwrap_or_else(|| context_of(&*origin.machine));
        let mut list = Vec::new();
        for breakpoint in self.breakpoints.list() {
            list.push(fitted(breakpoint, &context)?);
        }
        let mut displays = Vec::new();
        for display in &self.displays {
            let what = Watched::compile(&Text::new("display", &display.text), &context)?;
            displays.push(Display { what, ..display.clone() });
        }
        self.breakpoints.replace(list);
        self.displays = displays;
        self.filter = None;
        self.context = Arc::new(context);
        self.timeline = Timeline::new(origin.machine, self.settings.budget).with_lesson(origin.lesson);
        self.branches = Branches::new(planned(origin.maker.as_ref()));
        self.bookmarks.retain(|_, bookmark| bookmark.is_here(&self.branches));
        (self.maker, self.job) = (origin.maker, None);
        self.recorded = origin.recorded;
        let hunted = self.hunt.take();
        self.hunt =
            origin.bug.map(|bug| hunted.filter(|hunt| hunt.bug == bug).unwrap_or_else(|| Hunt::new(bug)));
        self.recall.clear();
        (self.title, self.source, self.about) = (origin.title, origin.source, origin.about);
        (self.selection, self.followed) = (Selection::default(), Selection::default());
        (self.began, self.doomed, self.stop, self.told) = (None, None, None, 0);
        self.hits.clear();
        self.restarts += 1;
        Ok(())
    }
}

/// The complaint about a breakpoint's query that is one about the state: there are other commands for that.
fn about_state(text: &Text, context: &Context, error: Box<Diagnostic>) -> Box<Diagnostic> {
    let state = text.as_str();
    let meant = if Predicate::compile(text, context).is_ok() {
        format!("did you mean `break if {state}`, or `watch {state}`?")
    } else if Watched::compile(text, context).is_ok() {
        format!("did you mean `watch {state}`?")
    } else {
        return Predicate::misplaced(text, context).unwrap_or(error);
    };
    let error = Diagnostic::new("this is about the state of the machine, not about a record");
    Box::new(Diagnostic { suggestion: Some(meant), ..error.at(text.source(), text.span()) })
}

/// The complaint about what is to be watched that is a query over records, or an address alone.
fn about_records(text: &Text, context: &Context, error: Box<Diagnostic>) -> Box<Diagnostic> {
    let meant = text.as_str();
    let value = format!("value at {meant} in memory");
    let suggestion = if Filter::compile(text, context).is_ok() {
        format!("did you mean `break {meant}`?")
    } else if Watched::compile(&Text::new("watch", &value), context).is_ok() {
        format!("did you mean `watch {value}`?")
    } else {
        return error;
    };
    let error = Diagnostic::new("this is nothing that has a value to be watched");
    Box::new(Diagnostic { suggestion: Some(suggestion), ..error.at(text.source(), text.span()) })
}

/// The same breakpoint, compiled for another machine.
fn fitted(breakpoint: &Breakpoint, context: &Context) -> Result<Breakpoint> {
    let text = Text::new("breakpoint", &breakpoint.text);
    let trigger = match &breakpoint.trigger {
        Trigger::Record(_) => Trigger::Record(Filter::compile(&text, context)?),
        Trigger::Change(_) => Trigger::Change(Watched::compile(&text, context)?),
        Trigger::Becomes { predicate, .. } => {
            let text = Text::new("breakpoint", &predicate.to_string());
            Trigger::Becomes { predicate: Predicate::compile(&text, context)?, was: false }
        }
    };
    let condition = match &breakpoint.condition {
        Some(predicate) => {
            Some(Predicate::compile(&Text::new("condition", &predicate.to_string()), context)?)
        }
        None => None,
    };
    Ok(Breakpoint { trigger, condition, ..breakpoint.clone() })
}

#[cfg(test)]
mod tests {
    use super::super::interrupt::Interrupt;
    use super::super::session::tests::session;

    #[test]
    fn a_breakpoint_on_the_state_says_how_to_put_it() {
        let mut session = session(10);
        let mut suggestion = |line: &str| {
            let error = session.execute(line, &Interrupt::default()).unwrap_err();
            error.suggestion.unwrap_or_default()
        };
        let state = "state of gpu0.cu0.l1 block 0x1000";
        assert_eq!(
            suggestion(&format!("break {state} is M")),
            format!("did you mean `break if {state} is M`, or `watch {state} is M`?")
        );
        assert_eq!(suggestion(&format!("tbreak {state}")), format!("did you mean `watch {state}`?"));
        assert_eq!(suggestion("break transitoin to M"), "did you mean transition?");
        assert_eq!(suggestion("watch transition to M"), "did you mean `break transition to M`?");
        assert_eq!(suggestion("watch 0x1000"), "did you mean `watch value at 0x1000 in memory`?");
        for (line, wanted) in [
            ("break state of gpu0.cu0.l1 is M", "expected \"block\""),
            ("break occupancy of gpu0.cu0.l1 >= 1", "\"gpu0.cu0.l1\" has no occupancy"),
        ] {
            let error = session.execute(line, &Interrupt::default()).unwrap_err().to_string();
            assert!(error.contains(wanted) && error.contains("stands behind if"), "{line}: {error}");
        }
    }

    #[test]
    fn a_breakpoint_on_a_moment_stops_there_in_both_directions() {
        let mut session = session(10);
        let mut run = |line: &str| {
            session.execute(line, &Interrupt::default()).unwrap();
            session.event()
        };
        run("break event 4");
        let forward = [run("continue"), run("continue")];
        assert_eq!((forward, run("reverse-continue")), ([4, 10], 4));
    }
}
