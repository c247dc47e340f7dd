//! The scenario's narration, questions and expectations along the timeline.
//!
//! They are looked at once, when an event happens for the first time, and remembered by event: so going back and
//! forth shows what had been said, and what had been decided, at every position.

use super::question::Asked;
use super::subject::Subject;
use crate::machine::StepOutcome;
use crate::model::component::Components;
use crate::model::record::{Record, RecordId};
use crate::model::time::EventNumber;
use crate::scenario::{Checker, Ended, Expectation, Moment, Narrator, Say, Told};

/// An expectation that failed: when, which, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    pub event: EventNumber,
    /// Its number in the scenario; `None` if the run as a whole did not end as expected.
    pub expectation: Option<usize>,
    pub message: String,
    /// It was found after the last event, where a run that goes on has not been.
    pub is_closing: bool,
}

/// What a lesson has come to.
#[derive(Clone, Debug)]
pub struct Lesson {
    narrator: Narrator,
    told: Told,
    checker: Checker,
    /// Every event up to this one has been looked at.
    at: EventNumber,
    over: bool,
    listens: bool,
    /// What was said, by event, ascending.
    said: Vec<(EventNumber, usize)>,
    /// The records that this was said of, ascending.
    remarked: Vec<RecordId>,
    /// What the event that was looked at last has shown to be due before it.
    early: Vec<usize>,
    settled: Vec<Option<EventNumber>>,
    /// Those that were decided after the last event.
    closing: Vec<usize>,
    failed: Vec<Failed>,
    failures_seen: usize,
    /// What was asked, by event, ascending.
    asked: Vec<Asked>,
}

impl Lesson {
    /// A lesson at its beginning, the event `from`; `None` if the scenario says and expects nothing, but to end.
    #[must_use]
    pub fn new(narrator: Narrator, checker: Checker, from: EventNumber) -> Option<Self> {
        if narrator.says.is_empty() && checker.expectations().is_empty() && checker.is_to_finish() {
            return None;
        }
        Some(Self::begin(narrator, checker, from))
    }

    /// A lesson that has nothing to say by itself, for a quiz.
    #[must_use]
    pub fn silent() -> Self {
        let checker = Checker::new(Vec::new(), crate::scenario::file::Ending::default());
        Self { over: true, ..Self::begin(Narrator::default(), checker, 0) }
    }

    fn begin(narrator: Narrator, checker: Checker, from: EventNumber) -> Self {
        let heeds = |say: &Say| !matches!(say.when, Moment::Start) || say.until.is_some();
        let listens = checker.needs_records() || narrator.says.iter().any(heeds);
        let mut lesson = Self {
            told: narrator.begin(),
            said: Vec::new(),
            remarked: Vec::new(),
            early: Vec::new(),
            settled: vec![None; checker.expectations().len()],
            closing: Vec::new(),
            narrator,
            checker,
            at: from,
            over: false,
            listens,
            failed: Vec::new(),
            failures_seen: 0,
            asked: Vec::new(),
        };
        for say in lesson.narrator.opening() {
            lesson.say(from, say);
        }
        lesson
    }

    /// What it came to up to `event`, for a run that becomes another one there: it has nothing to say about that.
    #[must_use]
    pub fn until(&self, event: EventNumber) -> Self {
        let mut lesson = Self { over: true, ..self.clone() };
        // What belongs before the next event is about another one.
        let is_early = |say: usize| self.narrator.is_early(say);
        lesson.said.retain(|(at, say)| *at < event || *at == event && !is_early(*say));
        // What has not come here may never come there.
        lesson.asked.retain(|asked| asked.settles.is_some_and(|settles| settles <= event));
        lesson.remarked.retain(|record| record.event <= event);
        lesson.failed.retain(|failed| failed.event <= event && !failed.is_closing);
        for (index, settled) in lesson.settled.iter_mut().enumerate() {
            *settled = settled.filter(|at| *at <= event && !self.closing.contains(&index));
        }
        lesson
    }

    fn say(&mut self, event: EventNumber, say: usize) {
        let place = self.said.partition_point(|(at, _)| *at <= event);
        self.said.insert(place, (event, say));
        if let Some(ask) = self.narrator.says.get(say).and_then(|say| say.ask.clone()) {
            let asked = Asked::new(event, Some(say), ask);
            let settles = asked.settles.filter(|_| !self.narrator.asks_on(say));
            self.ask(Asked { settles, ..asked });
        }
    }

    /// Remembers which questions the event that was looked at last has settled: at the end of a run all.
    fn close_questions(&mut self, event: EventNumber) {
        let settled = self.told.settled();
        for asked in self.asked.iter_mut().filter(|asked| asked.settles.is_none()) {
            let is_seen = asked.say.is_some_and(|say| settled.contains(&say));
            asked.settles = (is_seen || self.over).then_some(event.max(asked.event + 1));
        }
    }

    /// Asks a question. A quiz asks none where one is asked already.
    pub fn ask(&mut self, asked: Asked) {
        if asked.say.is_none() && self.asked_at(asked.event).next().is_some() {
            return;
        }
        let at = self.asked.partition_point(|known| known.event <= asked.event);
        self.asked.insert(at, asked);
    }

    /// Whether the event after position `before` has not been looked at.
    #[must_use]
    pub fn wants(&self, before: EventNumber) -> bool {
        before == self.at && !self.over
    }

    /// Whether it must see records.
    #[must_use]
    pub fn listens(&self) -> bool {
        self.listens
    }

    /// What belongs before the event that was looked at last.
    #[must_use]
    pub fn early(&self) -> &[usize] {
        &self.early
    }

    /// Whether something may belong before the next event that it has not looked at.
    #[must_use]
    pub fn looks_ahead(&self) -> bool {
        !self.over && self.narrator.looks_ahead(&self.told)
    }

    /// Says what belongs before the event that would lead to `next`, where nobody has seen it yet. Returns what that is.
    pub fn foresee(&mut self, next: &dyn Subject, records: &[Record]) -> Vec<usize> {
        let early = self.narrator.foresee(&mut self.told, next, records);
        for say in &early {
            self.say(self.at, *say);
        }
        early
    }

    /// Whether something is asked with a piece of narration.
    #[must_use]
    pub fn asks_with(&self, say: usize) -> bool {
        self.narrator.says.get(say).is_some_and(|say| say.ask.is_some())
    }

    /// Looks at what a step from position `at` did.
    pub fn observe(&mut self, machine: &dyn Subject, records: &[Record], outcome: StepOutcome) {
        let event = machine.event();
        let due = self.narrator.observe(&mut self.told, machine, records);
        self.early.clear();
        for due in due {
            // At the end of a run there may be records without an event.
            let is_early = self.narrator.is_early(due.say) && outcome == StepOutcome::Ran;
            self.say(event - EventNumber::from(is_early), due.say);
            self.remarked.extend(due.record.filter(|_| !is_early));
            self.early.extend(is_early.then_some(due.say));
        }
        self.checker.observe(machine, records);
        // A run that must break a rule is over where it has: what comes after that says nothing.
        if outcome != StepOutcome::Ran || self.checker.is_done() {
            self.over = true;
            let ended = self.checker.how_ended(outcome, || machine.tasks()).unwrap_or(Ended::Finished);
            self.checker.finish(machine, &ended);
        }
        self.close_questions(event);
        self.settle(machine, outcome != StepOutcome::Ran);
        self.at = event;
    }

    /// Remembers what was decided by an event, or after the last one.
    fn settle(&mut self, machine: &dyn Subject, is_closing: bool) {
        let event = machine.event();
        for (index, settled) in self.settled.iter_mut().enumerate() {
            if settled.is_none() && self.checker.is_settled(index) {
                *settled = Some(event);
                self.closing.extend(is_closing.then_some(index));
            }
        }
        // Checks of the protocol stop a run for themselves, and are counted by the machine.
        let is_check = |message: &str| {
            machine.violations().iter().any(|one| message == format!("{}: {}", one.rule, one.text))
        };
        let failures = self.checker.failures();
        for failure in failures.iter().skip(self.failures_seen) {
            if failure.line.is_some() || self.over && !is_check(&failure.message) {
                self.failed.push(Failed {
                    event,
                    expectation: failure.line.and_then(|line| at_line(self.checker.expectations(), line)),
                    message: failure.message.clone(),
                    is_closing,
                });
            }
        }
        self.failures_seen = failures.len();
    }

    /// What is said at `event`.
    pub fn said_at(&self, event: EventNumber) -> impl Iterator<Item = usize> + '_ {
        let from = self.said.partition_point(|(at, _)| *at < event);
        self.said.iter().skip(from).take_while(move |(at, _)| *at == event).map(|(_, say)| *say)
    }

    /// The records of `event` of which something is said.
    pub fn remarked(&self, event: EventNumber) -> impl Iterator<Item = RecordId> + '_ {
        let from = self.remarked.partition_point(|record| record.event < event);
        self.remarked.iter().skip(from).copied().take_while(move |record| record.event == event)
    }

    /// Whether something is said at `event` about what comes next.
    #[must_use]
    pub fn speaks_of_next(&self, event: EventNumber) -> bool {
        self.said_at(event).any(|say| self.narrator.is_early(say))
    }

    /// Of the records that the event after `event` makes, the one that is spoken of there.
    #[must_use]
    pub fn spoken_of<'a>(
        &self,
        event: EventNumber,
        records: &'a [Record],
        components: &Components,
    ) -> Option<&'a Record> {
        let says = self.said_at(event).filter_map(|say| self.narrator.says.get(say));
        let mut before = says.filter_map(|say| match &say.when {
            Moment::Before(query, _) => Some(&query.filter),
            _ => None,
        });
        before.find_map(|filter| records.iter().find(|record| filter.matches(record, components)))
    }

    /// What was said up to `event`, oldest first.
    pub fn said_until(&self, event: EventNumber) -> impl Iterator<Item = (EventNumber, usize)> + '_ {
        self.said.iter().copied().take_while(move |(at, _)| *at <= event)
    }

    /// Every event at which something is said, as far as known.
    pub fn said(&self) -> impl Iterator<Item = EventNumber> + '_ {
        self.said.iter().map(|(event, _)| *event)
    }

    #[must_use]
    pub fn text(&self, say: usize) -> &str {
        self.narrator.says.get(say).map_or("", |say| say.text.trim())
    }

    /// How many things there are to be said.
    #[must_use]
    pub fn says(&self) -> usize {
        self.narrator.says.len()
    }

    /// What failed at `event`.
    pub fn failed_at(&self, event: EventNumber) -> impl Iterator<Item = (usize, &Failed)> + '_ {
        self.failed.iter().enumerate().filter(move |(_, failed)| failed.event == event)
    }

    /// Everything that failed so far.
    pub fn failures(&self) -> impl Iterator<Item = &Failed> {
        self.failed.iter()
    }

    #[must_use]
    pub fn failure(&self, index: usize) -> Option<&Failed> {
        self.failed.get(index)
    }

    #[must_use]
    pub fn expectations(&self) -> &[Expectation] {
        self.checker.expectations()
    }

    /// How an expectation has failed up to `event`, if it has.
    #[must_use]
    pub fn failed(&self, expectation: usize, event: EventNumber) -> Option<&Failed> {
        self.failed.iter().find(|failed| failed.expectation == Some(expectation) && failed.event <= event)
    }

    /// Whether an expectation holds at `event`; `None` while that is not decided.
    #[must_use]
    pub fn verdict(&self, expectation: usize, event: EventNumber) -> Option<bool> {
        if self.failed(expectation, event).is_some() {
            return Some(false);
        }
        let settled = self.settled.get(expectation).copied().flatten()?;
        (settled <= event).then_some(true)
    }

    /// Whether an expectation was looked at for the last time up to `event`.
    #[must_use]
    pub fn has_settled(&self, expectation: usize, event: EventNumber) -> bool {
        self.settled.get(expectation).copied().flatten().is_some_and(|settled| settled <= event)
    }

    /// What was asked at `event`.
    pub fn asked_at(&self, event: EventNumber) -> impl Iterator<Item = &Asked> {
        let from = self.asked.partition_point(|asked| asked.event < event);
        self.asked.iter().skip(from).take_while(move |asked| asked.event == event)
    }

    /// What was asked up to `event`, oldest first.
    #[must_use]
    pub fn asked_until(&self, event: EventNumber) -> &[Asked] {
        let to = self.asked.partition_point(|asked| asked.event <= event);
        self.asked.get(..to).unwrap_or_default()
    }

    /// Everything asked so far, oldest first.
    #[must_use]
    pub fn asked(&self) -> &[Asked] {
        &self.asked
    }

    /// The question that is open at `event`, with its index: of those asked last the first that is not answered, otherwise the last.
    #[must_use]
    pub fn open_at(&self, event: EventNumber) -> Option<(usize, &Asked)> {
        let open = || self.asked.iter().enumerate().filter(move |(_, asked)| asked.is_open(event));
        let unanswered = || open().filter(|(_, asked)| asked.predicted.is_none());
        let newest = unanswered().next_back().map(|(_, asked)| asked.event);
        unanswered().find(|(_, asked)| Some(asked.event) == newest).or_else(|| open().next_back())
    }

    /// The question that is to be answered at `event`: the one that is open there, otherwise the last.
    pub fn question_mut(&mut self, event: EventNumber) -> Option<&mut Asked> {
        let open = self.open_at(event).map(|(index, _)| index);
        let index = open.or_else(|| self.asked.iter().rposition(|asked| asked.event == event))?;
        self.asked.get_mut(index)
    }

    /// Predictions that are settled at `event`, where the cursor has come to rest, and have not been told before.
    pub fn news(&mut self, event: EventNumber) -> impl Iterator<Item = &Asked> {
        for asked in &mut self.asked {
            asked.seen |= asked.is_settled(event);
        }
        let news =
            move |asked: &&mut Asked| asked.predicted.is_some() && asked.is_settled(event) && !asked.told;
        self.asked.iter_mut().filter(news).map(|asked| {
            asked.told = true;
            &*asked
        })
    }

    /// Predictions that were right, and all, as far as they are settled at `event`.
    #[must_use]
    pub fn score(&self, event: EventNumber) -> (usize, usize) {
        let settled = self.asked.iter().filter(|asked| asked.is_settled(event));
        let right = settled.filter_map(Asked::right);
        right.fold((0, 0), |(right, all), is_right| (right + usize::from(is_right), all + 1))
    }

    /// How many questions the scenario itself asks.
    #[must_use]
    pub fn asks(&self) -> usize {
        self.narrator.says.iter().filter(|say| say.ask.is_some()).count()
    }
}

/// An expectation in one line.
#[must_use]
pub fn expected(expectation: &Expectation) -> String {
    if let Some(about) = &expectation.about {
        return about.clone();
    }
    let that: Vec<_> = expectation.that.iter().map(|condition| condition.text.as_str()).collect();
    let that = that.join("; ");
    let when = expectation.when.told();
    if that.is_empty() { when } else { format!("{when}: {that}") }
}

/// The expectation that the failing line belongs to.
fn at_line(expectations: &[Expectation], line: usize) -> Option<usize> {
    let before = expectations.iter().enumerate().filter(|(_, expectation)| expectation.line <= line);
    before.max_by_key(|(_, expectation)| expectation.line).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use crate::debug::interrupt::Interrupt;
    use crate::debug::origin::Origin;
    use crate::debug::session::Session;

    /// A load, asked about before it is issued, with what keeps the question open.
    fn session(until: &str) -> Session {
        let text = format!(
            "machine = 'tiny/umh-2gpu'\n[[do]]\nid = 'a'\nby = 'gpu0.cu0'\nload = {{ address = 0x1000, len = 4 }}\n\
             [[do]]\nafter = 'a'\nby = 'gpu1.cu0'\nload = {{ address = 0x1000, len = 4 }}\n\
             [[say]]\nbefore = 'issue at gpu1.cu0'\ntext = 'The other one loads.'\n\
             ask = {{ text = 'What will it get?', answer = 'S', choices = ['S', 'E']{until} }}\n"
        );
        Session::open(Origin::of_text("asks", &text).unwrap(), None)
    }

    /// What is told, or why not.
    fn told(session: &mut Session, line: &str) -> String {
        match session.execute(line, &Interrupt::default()) {
            Ok(outcome) => outcome.lines.join("\n"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_question_stays_open_until_what_settles_it_has_happened() {
        let mut session = session(", until = 'message type grant to gpu1.cu0.l1'");
        told(&mut session, "until issue at gpu1.cu0");
        let asked = session.event();
        told(&mut session, "step 5");
        let later = session.event();
        let question = session.lesson_view().unwrap().question.unwrap();
        assert!(later > asked && question.revealed.is_none());
        assert!(told(&mut session, "predict E").starts_with("you say: E"));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("answers.csv");
        told(&mut session, &format!("save answers {}", file.display()));
        let saved = std::fs::read_to_string(file).unwrap();
        assert!(saved.ends_with("\"What will it get?\",\"\",\"E\",\n"), "{saved}");
        assert!(!told(&mut session, "step").contains("no: S"), "it is not decided yet");
        let seen = told(&mut session, "until message type grant to gpu1.cu0.l1");
        assert!(seen.contains("no: S"), "{seen}");
        assert!(session.lesson_view().unwrap().question.is_none());
        // Its answer has been seen, wherever one goes back to.
        told(&mut session, &format!("goto event {later}"));
        assert!(told(&mut session, "predict S").contains("has been seen"));
    }

    #[test]
    fn without_its_moment_the_next_event_settles_it_and_with_one_that_never_comes_the_end() {
        let mut at_once = session("");
        told(&mut at_once, "until issue at gpu1.cu0");
        assert!(at_once.lesson_view().unwrap().question.is_none());
        let mut never = session(", until = 'far-fault'");
        told(&mut never, "until message type grant to gpu1.cu0.l1");
        assert!(never.lesson_view().unwrap().question.is_some());
        told(&mut never, "end");
        assert!(never.lesson_view().unwrap().question.is_none());
    }

    /// What would have settled it may never happen there.
    #[test]
    fn another_course_of_the_run_keeps_no_question_open() {
        let mut session = session(", until = 'message type grant to gpu1.cu0.l1'");
        told(&mut session, "until issue at gpu1.cu0");
        let forked = told(&mut session, "fork access gpu0.cu1 load 0x9000 4");
        assert!(session.lesson_view().is_none_or(|lesson| lesson.question.is_none()), "{forked}");
    }
}
