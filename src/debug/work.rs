//! Carrying out commands, slice by slice.

use std::ops::ControlFlow;

use super::breakpoint::{Trip, Tripped};
use super::command::{self, Arguments, Effect};
use super::diagnosis::{Diagnosis, diagnose};
use super::frame::selection::Selection;
use super::interrupt::Interrupt;
use super::leash::{Leash, TURNS};
use super::question::Asked;
use super::queue::{END, Line};
use super::session::Session;
use super::stop::{Reason, Stop};
use super::travel::{Cause, Course};
use crate::diagnostic::{Diagnostic, Result};
use crate::machine::StepOutcome;
use crate::model::text::plural;

/// What a command, or a part of one, came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub lines: Vec<String>,
    pub stop: Option<Stop>,
    pub quit: bool,
}

/// How far the work is.
#[derive(Debug)]
pub enum Progress {
    /// There is more to do.
    Running,
    Done(Outcome),
    Failed(Box<Diagnostic>),
    /// Nothing is left to do.
    Idle,
}

/// Most lines of history kept.
const HISTORY: usize = 1000;

/// Most stops marked on the timeline.
const HITS: usize = 1000;

/// Events between two looks at the interrupt.
const SLICE: u64 = 4096;

/// What was said, and nothing else.
fn said(lines: Vec<String>) -> Outcome {
    Outcome { lines, stop: None, quit: false }
}

impl Session {
    /// Takes a typed line, to be carried out by [`Session::work`].
    pub fn submit(&mut self, text: &str) {
        let text = text.trim();
        let is_new = self.history.last().is_none_or(|last| last != text);
        if !text.is_empty() && is_new && !self.is_collecting() {
            if self.history.len() >= HISTORY {
                self.history.remove(0);
            }
            self.history.push(text.to_owned());
        }
        self.queue.push(Line::typed(text));
    }

    /// Whether the cursor is moving, or something else takes its time.
    #[must_use]
    pub fn is_moving(&self) -> bool {
        self.travel.is_some() || self.job.is_some()
    }

    /// Whether the cursor is moving forwards, event by event.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.travel.as_ref().is_some_and(super::travel::Travel::is_forward)
    }

    /// Whether lines are taken as the commands of a breakpoint.
    #[must_use]
    pub fn is_collecting(&self) -> bool {
        self.queue.collecting().is_some()
    }

    /// Whether the cursor is running at the speed that is set.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        self.settings.speed.is_some() && self.travel.as_ref().is_some_and(super::travel::Travel::is_run)
    }

    /// Does one thing: a command, or about `fuel` events of a movement.
    pub fn work(&mut self, fuel: u64) -> Progress {
        self.work_and(fuel, false)
    }

    /// The same, and makes records on the way if `listen`, so that they are at hand for a frame.
    pub fn work_and(&mut self, fuel: u64, listen: bool) -> Progress {
        if let Some(mut travel) = self.travel.take() {
            let mut course = Course {
                timeline: &mut self.timeline,
                stops: &mut self.breakpoints,
                recall: &mut self.recall,
                listen,
            };
            if let Some(cause) = travel.advance(&mut course, fuel) {
                let missed = travel.missed(&self.timeline).filter(|_| matches!(cause, Cause::End(_)));
                return Progress::Done(self.arrive(cause, missed));
            }
            self.travel = Some(travel);
            return Progress::Running;
        }
        if let Some(mut job) = self.job.take() {
            if let Some(done) = job.advance(fuel) {
                return match done {
                    Ok(lines) => Progress::Done(said(lines)),
                    Err(error) => self.failed(error),
                };
            }
            self.job = Some(job);
            return Progress::Running;
        }
        let Some(line) = self.queue.pop() else { return Progress::Idle };
        if line.depth == 0 {
            self.leash = Leash::default();
        }
        match self.carry_out(&line) {
            Ok(Effect::Said(lines)) => Progress::Done(said(lines)),
            Ok(Effect::Work(job)) => {
                self.job = Some(job);
                Progress::Running
            }
            Ok(Effect::Quit) => Progress::Done(Outcome { lines: Vec::new(), stop: None, quit: true }),
            Ok(Effect::Go(travel)) => {
                (self.travel, self.set_out) = (Some(travel), Some(self.event()));
                Progress::Running
            }
            // After a reload or a change it does not begin where one was.
            Ok(Effect::SaidAndGo(lines, travel)) => {
                (self.travel, self.set_out) = (Some(travel), None);
                Progress::Done(said(lines))
            }
            Err(error) => self.failed(error),
        }
    }

    /// What files and breakpoints would do after a command that cannot be done is left undone.
    fn failed(&mut self, error: Box<Diagnostic>) -> Progress {
        self.queue.abandon();
        Progress::Failed(error)
    }

    /// Stops what is going on and forgets what waits. Returns the stop, if the cursor was moving, or what else has ended.
    pub fn interrupt(&mut self) -> Option<Outcome> {
        let forgotten = self.queue.clear() as u64;
        if let Some(mut job) = self.job.take() {
            return Some(said(job.interrupt()));
        }
        if self.travel.take().is_none() {
            let text = || format!("interrupted: {} not carried out", plural(forgotten, "command"));
            return (forgotten > 0).then(|| said(vec![text()]));
        }
        self.timeline.foresee();
        let back_from = self.set_out.filter(|from| *from > self.event());
        Some(self.halt(vec![Reason::Interrupted { back_from }], Vec::new()))
    }

    /// Carries out all that waits; `told` takes what each command says, or that it is not understood, and may break off. `meanwhile`
    /// looks at the session from time to time.
    ///
    /// # Errors
    /// Those of `told`.
    pub fn work_off<E>(
        &mut self,
        interrupt: &Interrupt,
        mut meanwhile: impl FnMut(&Self),
        mut told: impl FnMut(Result<Outcome>) -> std::result::Result<ControlFlow<()>, E>,
    ) -> std::result::Result<(), E> {
        loop {
            let done = match self.work(SLICE) {
                Progress::Running => None,
                Progress::Done(outcome) => Some(Ok(outcome)),
                Progress::Failed(error) => Some(Err(error)),
                Progress::Idle => return Ok(()),
            };
            let cut = if interrupt.take() { self.interrupt().map(Ok) } else { None };
            meanwhile(self);
            for done in done.into_iter().chain(cut) {
                if told(done)?.is_break() {
                    return Ok(());
                }
            }
        }
    }

    /// Carries out one line to its end. What it said, or the first complaint.
    ///
    /// # Errors
    /// If a command is not understood or cannot be done.
    pub fn execute(&mut self, text: &str, interrupt: &Interrupt) -> Result<Outcome> {
        self.queue.clear();
        self.submit(text);
        let mut all = Outcome { lines: Vec::new(), stop: None, quit: false };
        self.work_off(
            interrupt,
            |_| {},
            |done| {
                let outcome = done?;
                all.lines.extend(outcome.lines);
                all.stop = outcome.stop.or(all.stop.take());
                all.quit |= outcome.quit;
                Ok::<_, Box<Diagnostic>>(ControlFlow::Continue(()))
            },
        )?;
        Ok(all)
    }

    /// Lets a breakpoint carry out commands from now on, which stand on one line, a semicolon between them.
    ///
    /// # Errors
    /// If one of them is no command.
    pub fn give_commands(&mut self, id: u32, given: &Arguments) -> Result<()> {
        let (mut list, mut at) = (Vec::new(), given.span().start);
        for part in given.text().split(';') {
            let line = Arguments::new(given.source().clone(), at..at + part.len());
            Self::known(&line)?;
            at += part.len() + 1;
            list.extend((!line.is_empty()).then(|| line.text().to_owned()));
        }
        if let Some(breakpoint) = self.breakpoints.get_mut(id) {
            breakpoint.commands = list;
        }
        Ok(())
    }

    /// Complains of what is no command, at its first word.
    fn known(line: &Arguments) -> Result<()> {
        let span = line.words().first().map_or_else(|| line.span(), |word| word.span.clone());
        command::known(line.text(), line.source(), span)
    }

    fn carry_out(&mut self, line: &Line) -> Result<Effect> {
        let text = line.text();
        if self.queue.collecting().is_some() {
            if text != END
                && let Err(error) = Self::known(&Arguments::new(line.source.clone(), line.span.clone()))
            {
                // The rest of a file, its end included, is left undone.
                if line.depth > 0 {
                    self.queue.stop_collecting();
                }
                return Err(error);
            }
            if let Some((id, commands)) = self.queue.gather(text)
                && let Some(breakpoint) = self.breakpoints.get_mut(id)
            {
                breakpoint.commands = commands;
            }
            return Ok(Effect::nothing());
        }
        if text.is_empty() || text.starts_with('#') {
            return Ok(Effect::nothing());
        }
        let whole = Arguments::new(line.source.clone(), line.span.clone());
        let (word, rest) = whole.split_first();
        let span = whole.words().first().map_or(0..0, |first| first.span.clone());
        let command = command::find(word, &line.source, span)?;
        self.depth = line.depth;
        (command.run)(self, &rest)
    }

    /// What an exploration found in the state that the machine is in, at the end of its recording; or that this is not the run that
    /// was recorded. Other branches have their own ends.
    pub(super) fn recorded_here(&self) -> Option<Reason> {
        let end = self.recorded.as_ref().filter(|end| end.mark.event == self.event())?;
        if self.branches.view().is_some() {
            return None;
        }
        if end.mark.digest != self.machine().digest() {
            return Some(Reason::Differs);
        }
        end.found.clone().map(|text| Reason::Found { text, is_violation: end.is_violation })
    }

    /// The cursor has come to rest.
    fn arrive(&mut self, cause: Cause, missed: Option<String>) -> Outcome {
        let foreseen = self.timeline.foresee();
        self.timeline.find_end();
        match cause {
            Cause::Arrived => {
                let records = self.last_records().to_vec();
                let found = self.recorded_here();
                let reason = match Reason::of_arrival(&self.timeline) {
                    Reason::Arrived => found.unwrap_or(Reason::Arrived),
                    reason => found.filter(|found| *found == Reason::Differs).unwrap_or(reason),
                };
                let end = (self.timeline.at_end() == Some(StepOutcome::Finished)).then_some(Reason::Finished);
                let failed = end.as_ref().and_then(|_| Reason::of_failures(&self.timeline));
                self.halt(std::iter::once(reason).chain(end).chain(failed).collect(), records)
            }
            Cause::Tripped(trips) => {
                let all = self.last_records().to_vec();
                let lesson = self.timeline.lesson();
                let asks = |say: usize| lesson.is_some_and(|lesson| lesson.asks_with(say));
                let heeded = foreseen.into_iter().filter(|say| self.breakpoints.heed(asks(*say)));
                let also = heeded.map(|say| Trip::plain(Tripped::Narration(say)));
                let trips: Vec<_> = trips.into_iter().chain(also).collect();
                let reasons: Vec<_> =
                    trips.iter().map(|trip| Reason::of(trip, &self.breakpoints, &self.timeline)).collect();
                if trips.iter().any(|trip| trip.of == Tripped::Quiz) {
                    self.select_asked();
                }
                let named: Vec<_> = trips.iter().flat_map(|trip| trip.records.iter().copied()).collect();
                let hit = if named.is_empty() {
                    all
                } else {
                    all.into_iter().filter(|record| named.contains(&record.id)).collect()
                };
                self.halt(reasons, hit)
            }
            Cause::End(outcome) => {
                let end = match outcome {
                    StepOutcome::Stuck => Reason::Stuck,
                    StepOutcome::Limit(cycle) => Reason::Limit(cycle),
                    _ => Reason::Finished,
                };
                let failed = Reason::of_failures(&self.timeline);
                let missed = missed.map(Reason::Beyond);
                self.halt(missed.into_iter().chain([end]).chain(failed).collect(), Vec::new())
            }
            Cause::Start => self.halt(vec![Reason::Start], Vec::new()),
            Cause::NoEffect => self.halt(vec![Reason::NoEffect], Vec::new()),
        }
    }

    /// What the lesson said and asked on the way here for the first time, but for what these reasons say: on the way, and of the last
    /// event.
    fn told_in_passing(&mut self, reasons: &[Reason]) -> [Vec<String>; 2] {
        let event = self.event();
        let mut told = [Vec::new(), Vec::new()];
        let Some(lesson) = self.timeline.lesson_mut() else { return told };
        let [before, now] = &mut told;
        before.extend(lesson.news(event).map(Asked::verdict));
        let said: Vec<_> = lesson.said_until(event).skip(self.told).collect();
        self.told += said.len();
        for (at, say) in said {
            let lines = if at < event { &mut *before } else { &mut *now };
            let text = lesson.text(say);
            let is_said = |reason: &Reason| matches!(reason, Reason::Narration(said) if said == text);
            if !reasons.iter().any(is_said) {
                lines.push(format!("lesson at event {at}: {text}"));
            }
            if let Some(asked) = lesson.asked_at(at).find(|asked| asked.say == Some(say)) {
                lines.push(format!("  question: {}", asked.ask.text));
                lines.extend(asked.choices().filter(|_| !asked.is_settled(event)));
            }
        }
        if reasons.iter().any(|reason| matches!(reason, Reason::Question(_))) {
            now.extend(lesson.asked_at(event).last().into_iter().flat_map(Asked::choices));
        }
        told
    }

    /// Selects the node and the block that the quiz asks about.
    fn select_asked(&mut self) {
        let asked = self.timeline.lesson().and_then(|lesson| lesson.asked_at(self.event()).last());
        if let Some((node, block)) = asked.and_then(|asked| asked.about) {
            self.selection = Selection { component: Some(node), block: Some(block), ..Selection::default() };
        }
    }

    fn halt(&mut self, mut reasons: Vec<Reason>, records: Vec<crate::model::record::Record>) -> Outcome {
        let tired = self.follow_up(&reasons);
        if let Some(complaint) = self.machine().complaint() {
            reasons.insert(0, Reason::Void(complaint.to_string()));
        }
        let stop = Stop { reasons, event: self.event(), cycle: self.cycle(), records };
        let [mut lines, told_now] = self.told_in_passing(&stop.reasons);
        lines.extend(self.stop_lines(&stop));
        lines.extend(told_now);
        lines.extend(tired);
        lines.extend(self.displays.iter().map(|display| display.line(self.machine())));
        self.stop = Some(stop.clone());
        if !self.stopped_at().is_empty() && self.hits.len() < HITS {
            self.hits.insert(stop.event);
        }
        Outcome { lines, stop: Some(stop), quit: false }
    }

    /// What a console tells of a stop: where nothing can move, who waits for whom, unless that is to be found.
    #[must_use]
    pub fn stop_lines(&self, stop: &Stop) -> Vec<String> {
        let mut lines = stop.lines(self.machine());
        if stop.reasons.contains(&Reason::Stuck) && stop.event == self.event() && !self.is_hunting() {
            let found = self.machine().machine().and_then(diagnose);
            lines.extend(found.iter().flat_map(Diagnosis::chain));
        }
        lines
    }

    /// Whether one of the breakpoints that stopped it has commands of its own.
    fn has_commands(&self, reasons: &[Reason]) -> bool {
        reasons.iter().any(|reason| {
            let (Reason::Breakpoint { id, .. } | Reason::Watchpoint { id, .. }) = reason else {
                return false;
            };
            self.breakpoints.get(*id).is_some_and(|breakpoint| !breakpoint.commands.is_empty())
        })
    }

    /// Temporary breakpoints go, and the commands of the others wait to be carried out.
    /// Says so if they are carried out no more.
    fn follow_up(&mut self, reasons: &[Reason]) -> Option<String> {
        let tired = self.has_commands(reasons) && self.leash.is_short(self.event());
        let mut refused = None;
        for reason in reasons.iter().rev() {
            let (Reason::Breakpoint { id, .. } | Reason::Watchpoint { id, .. }) = reason else { continue };
            let Some(breakpoint) = self.breakpoints.get(*id) else { continue };
            if !breakpoint.commands.is_empty() && !tired {
                let commands = breakpoint.commands.clone();
                refused = refused.or(self.queue.insert_commands(*id, &commands).err());
            }
            if self.breakpoints.get(*id).is_some_and(|breakpoint| breakpoint.temporary) {
                self.breakpoints.remove(*id);
            }
        }
        if tired {
            self.queue.abandon();
            return Some(format!(
                "the commands of breakpoints have turned round {TURNS} times: they are carried out no more"
            ));
        }
        refused.map(|error| format!("the commands of the breakpoint are not carried out: {error}"))
    }
}
