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

    /// Sets the breakpoints that the scenario brings, in place of those that it has brought before and does not bring any more: what
    /// was made of the others stays.
    pub(super) fn bring(&mut self, breaks: Vec<Break>) {
        let stops = breaks.into_iter().filter_map(|given| set_by(given, &self.context));
        let mut old = std::mem::take(&mut self.given);
        let mut given = Vec::new();
        for stop in stops {
            if let Some(place) = old.iter().position(|old| is_same(old, &stop)) {
                given.push(old.remove(place));
                continue;
            }
            let id = self.breakpoints.add(stop.trigger.clone(), stop.text.clone(), stop.condition.clone());
            let Some(id) = id else { break };
            let stop = Breakpoint { id, ..stop };
            if let Some(place) = self.breakpoints.get_mut(id) {
                place.clone_from(&stop);
            }
            given.push(stop);
        }
        for gone in old {
            self.breakpoints.remove(gone.id);
        }
        self.given = given;
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

    /// The breakpoint that `word` names: a number, or `$bpnum` for the one that was set last.
    pub(super) fn breakpoint_at(&self, arguments: &Arguments, word: &Word<'_>) -> Result<u32> {
        let list = self.breakpoints.list();
        let number = match word.text {
            "$bpnum" => self.breakpoints.newest().map_or(0, u64::from),
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
        let brought: Vec<Breakpoint> =
            origin.breaks.iter().filter_map(|given| set_by(given.clone(), &context)).collect();
        let is_gone = |breakpoint: &Breakpoint| {
            let given = self.given.iter().find(|given| given.id == breakpoint.id);
            given.is_some_and(|given| !brought.iter().any(|stop| is_same(given, stop)))
        };
        for breakpoint in self.breakpoints.list() {
            match fitted(breakpoint, &context) {
                Ok(fitted) => list.push(fitted),
                // The scenario does not bring it any more.
                Err(_) if is_gone(breakpoint) => {}
                Err(error) => return Err(error),
            }
        }
        let filter = match &self.filter {
            Some((_, text)) => Some((Filter::compile(&Text::new("log", text), &context)?, text.clone())),
            None => None,
        };
        let mut displays = Vec::new();
        for display in &self.displays {
            let what = Watched::compile(&Text::new("display", &display.text), &context)?;
            displays.push(Display { what, ..display.clone() });
        }
        self.breakpoints.replace(list);
        self.displays = displays;
        self.filter = filter;
        self.context = Arc::new(context);
        self.bring(origin.breaks);
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

/// Whether two breakpoints of a scenario are set by the same words.
fn is_same(one: &Breakpoint, other: &Breakpoint) -> bool {
    one.line() == other.line() && one.ignore == other.ignore && one.commands == other.commands
}

/// The breakpoint that a scenario sets, without a number.
fn set_by(given: Break, context: &Context) -> Option<Breakpoint> {
    let (trigger, text, condition) = Trigger::of(given.stop, context)?;
    let (temporary, ignore, commands) = (given.once, given.ignore, given.commands);
    Some(Breakpoint { temporary, ignore, commands, ..Breakpoint::new(0, trigger, text, condition) })
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
    use super::super::origin::Origin;
    use super::super::session::tests::session;
    use super::{Breakpoint, Session};

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

    /// A session on a scenario that somebody may change: `text` is read again.
    fn on(text: &std::sync::Arc<std::sync::Mutex<String>>) -> Session {
        let read = text.clone();
        let origin = move || Origin::of_text("t", &read.lock().unwrap());
        Session::open(origin().unwrap(), Some(Box::new(origin)))
    }

    fn told(session: &mut Session, line: &str) -> String {
        session.execute(line, &Interrupt::default()).unwrap().lines.join("\n")
    }

    const WORK: &str = "machine = 'tiny/umh-2gpu'\n[[do]]\nby = 'gpu0.cu0'\nload = { address = 0x1000 }\n";

    #[test]
    fn what_is_saved_of_a_breakpoint_goes_to_its_twin() {
        let mut session = Session::open(Origin::of_text("t", WORK).unwrap(), None);
        for line in ["break transition to S", "break complete", "break message type grant", "break complete"]
        {
            told(&mut session, line);
        }
        for line in ["ignore $bpnum 2", "commands", "print cycle", "end", "disable $bpnum"] {
            told(&mut session, line);
        }
        let changed =
            |breakpoint: &Breakpoint| (breakpoint.ignore, breakpoint.commands.len(), breakpoint.enabled);
        let all: Vec<_> = session.breakpoints.list().iter().map(changed).collect();
        assert_eq!(all, [(0, 0, true), (2, 1, false), (0, 0, true)]);
    }

    #[test]
    fn breaks_of_a_scenario_are_read_again_if_they_have_changed() {
        let breaks = "[[break]]\non = 'transition to E'\n[[break]]\non = 'transition to M'\n";
        let text = std::sync::Arc::new(std::sync::Mutex::new(format!("{WORK}{breaks}")));
        let mut session = on(&text);
        told(&mut session, "break complete");
        told(&mut session, "disable 1 2");
        told(&mut session, "log complete");
        told(&mut session, "reload");
        assert!(told(&mut session, "info breakpoints").contains("transition to E"));
        assert!(!session.breakpoints.list()[0].enabled, "what was made of it stays");
        assert_eq!(session.filter.as_ref().map(|(_, text)| text.as_str()), Some("complete"));
        let changed = text.lock().unwrap().replace("to E", "to S");
        *text.lock().unwrap() = changed;
        told(&mut session, "reload");
        let lines: Vec<_> = session.breakpoints.list().iter().map(Breakpoint::line).collect();
        assert_eq!(lines, ["break transition to M", "break complete", "break transition to S"]);
        assert!(!session.breakpoints.list()[0].enabled, "what was made of one that is the same stays");
        // One that the scenario still brings, and that fits no more by what was made of it, is complained of.
        told(&mut session, "condition 2 state of gpu1.cu0.l1 block 0x1000 is I");
        let changed = text.lock().unwrap().replace("umh-2gpu", "umh-1gpu");
        *text.lock().unwrap() = changed;
        assert!(session.execute("reload", &Interrupt::default()).is_err());
        assert_eq!(session.breakpoints.list().len(), 3);
    }

    #[test]
    fn a_check_that_fails_when_all_is_quiet_stops_a_run_and_is_found() {
        let text = "machine = 'tiny/m2s-a'\nends = 'violation'\n\
            [[state]]\naddress = 0\nnode = 'gpu0.l2.0'\nstate = 'E'\nowner = 'gpu0.cu0'\nsharers = ['gpu0.cu0']\n\
            [[state]]\naddress = 0\nnode = 'host.hmd0'\nowner = 'gpu0.l2.0'\nsharers = ['gpu0.l2.0']\n\
            [[do]]\nby = 'gpu0.cu0'\nload = { address = 0x400, len = 1 }\n";
        let mut session = Session::open(Origin::of_text("t", text).unwrap(), None);
        told(&mut session, "set stop-at-violations off");
        assert!(!told(&mut session, "until violation").contains("does not come"));
        told(&mut session, "start");
        told(&mut session, "break violation");
        assert!(told(&mut session, "continue").contains("breakpoint 1, violation"));
        assert!(!told(&mut session, "continue").contains("breakpoint 1"), "it is over");
        // The end is the same however one comes there, and a run that goes on from it has not come to its own.
        let violations = |session: &mut Session| told(session, "info statistics violations");
        let (end, found) = (session.event(), violations(&mut session));
        assert!(found.ends_with("= 1"), "{found}");
        for way in ["start", "reverse-step"] {
            told(&mut session, way);
            told(&mut session, &format!("goto event {end}"));
            assert_eq!(violations(&mut session), found, "{way}");
        }
        let named = told(&mut session, "log");
        assert!(named.lines().filter(|line| line.contains("violation")).count() <= 1, "{named}");
        told(&mut session, "fork access gpu0.cu0 load 0x400 1");
        assert!(violations(&mut session).ends_with("= 0"), "{}", violations(&mut session));
    }
}
