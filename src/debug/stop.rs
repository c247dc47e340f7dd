//! Why the cursor stands where it stands, and how that is told.

use super::breakpoint::{Breakpoints, Trip, Tripped};
use super::describe;
use super::frame::session::{Stop as StopView, Tone};
use super::frame::text::unrecorded;
use super::lesson::Lesson;
use super::timeline::Timeline;
use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::model::record::Record;
use crate::model::time::EventNumber;

/// The command that tells why nothing can move; the screen names its key instead.
pub const DEADLOCK_TELLS: &str = "deadlock tells why";

/// The command that tells what led to a broken rule; the same.
pub const WHY_TELLS: &str = "why tells what led to it";

/// Why a movement ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is where it was meant to go.
    Arrived,
    Breakpoint {
        id: u32,
        text: String,
        temporary: bool,
    },
    Watchpoint {
        id: u32,
        text: String,
        before: String,
        after: String,
    },
    /// A check failed.
    Violation {
        rule: String,
        text: String,
    },
    /// An exploration found this here.
    Found {
        text: String,
        /// It is a rule that is broken: the tables have led there.
        is_violation: bool,
    },
    /// A recording ends here, in another state.
    Differs,
    /// A piece of narration.
    Narration(String),
    /// An expectation of the scenario does not hold.
    Expectation(String),
    /// The quiz asks this.
    Question(String),
    /// So much failed before the end of a run; the first of it.
    Failed {
        count: usize,
        event: EventNumber,
        text: String,
    },
    /// All work is done.
    Finished,
    /// Work is left, but nothing can move.
    Stuck,
    /// This cycle is the last.
    Limit(u64),
    /// What happens cannot be trusted any more.
    Void(String),
    /// The position that was asked for does not come; this is the last.
    Beyond(String),
    /// There is no earlier position.
    Start,
    /// Up to the end of the run nothing, or nothing more, was caused by this event.
    NoEffect,
    /// By somebody; and from where it was going back, if it was, and is not back there.
    Interrupted {
        back_from: Option<EventNumber>,
    },
}

/// A stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// At least one; several breakpoints may stop at one event.
    pub reasons: Vec<Reason>,
    pub event: EventNumber,
    pub cycle: u64,
    /// The records that hit, or all of the last event.
    pub records: Vec<Record>,
}

impl Reason {
    /// What a trip at the cursor means.
    #[must_use]
    pub fn of(trip: &Trip, breakpoints: &Breakpoints, timeline: &Timeline) -> Self {
        let lesson = timeline.lesson();
        match trip.of {
            Tripped::Narration(say) => {
                Self::Narration(lesson.map_or_else(String::new, |lesson| lesson.text(say).to_owned()))
            }
            Tripped::Expectation(index) => Self::Expectation(
                lesson
                    .and_then(|lesson| lesson.failure(index))
                    .map_or_else(String::new, |it| it.message.clone()),
            ),
            Tripped::Breakpoint(id) => {
                let breakpoint = breakpoints.get(id);
                let text = breakpoint.map_or_else(String::new, |breakpoint| breakpoint.text.clone());
                match &trip.change {
                    Some((before, after)) => {
                        Self::Watchpoint { id, text, before: before.clone(), after: after.clone() }
                    }
                    None => Self::Breakpoint {
                        id,
                        text,
                        temporary: breakpoint.is_some_and(|found| found.temporary),
                    },
                }
            }
            Tripped::Quiz => {
                let asked = lesson.and_then(|lesson| lesson.asked_at(timeline.event()).last());
                Self::Question(asked.map_or_else(String::new, |asked| asked.ask.text.clone()))
            }
            Tripped::Violation => {
                let last = timeline.machine().violations().last().map(|failed| failed.event);
                last.and_then(|event| Self::of_breaches(timeline, event)).unwrap_or(Self::Arrived)
            }
        }
    }

    /// The rule that an event broke first, and the names of the others, if it broke any.
    fn of_breaches(timeline: &Timeline, event: EventNumber) -> Option<Self> {
        let mut broken = timeline.machine().violations().iter().filter(|failed| failed.event == event);
        let first = broken.next()?;
        let mut others: Vec<_> =
            broken.map(|failed| failed.rule).filter(|rule| *rule != first.rule).collect();
        others.sort_unstable();
        others.dedup();
        let more = if others.is_empty() { String::new() } else { format!("; and of {}", others.join(", ")) };
        Some(Self::Violation { rule: first.rule.to_owned(), text: format!("{}{more}", first.text) })
    }

    /// What an arrival means: where a check failed or nothing can move, that is what there is to see, however one came there.
    #[must_use]
    pub fn of_arrival(timeline: &Timeline) -> Self {
        let failed = Self::of_breaches(timeline, timeline.event());
        let is_stuck = || timeline.machine().machine().is_some_and(Machine::is_stuck);
        match failed {
            Some(failed) => failed,
            None if is_stuck() => Self::Stuck,
            None => Self::Arrived,
        }
    }

    /// What failed on the way to the end of a run, if anything did.
    #[must_use]
    pub fn of_failures(timeline: &Timeline) -> Option<Self> {
        let checks = timeline.machine().violations().iter().map(|failed| (failed.event, &*failed.text));
        let lesson = timeline.lesson().into_iter().flat_map(Lesson::failures);
        let mut all: Vec<_> =
            checks.chain(lesson.map(|failed| (failed.event, failed.message.as_str()))).collect();
        all.sort_by_key(|(event, _)| *event);
        let (event, text) = *all.first()?;
        Some(Self::Failed { count: all.len(), event, text: text.to_owned() })
    }

    /// One sentence; empty for a plain arrival.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::Arrived => String::new(),
            Self::Breakpoint { id, text, temporary: false } => format!("breakpoint {id}, {text}"),
            Self::Breakpoint { id, text, temporary: true } => format!("temporary breakpoint {id}, {text}"),
            Self::Watchpoint { id, text, before, after } => {
                format!("watchpoint {id}, {text}: {before} > {after}")
            }
            Self::Violation { rule, text } => format!("violation of {rule}: {text} ({WHY_TELLS})"),
            Self::Found { text, is_violation: true } => format!("found: {text} ({WHY_TELLS})"),
            Self::Found { text, is_violation: false } => format!("found: {text}"),
            Self::Differs => {
                "this is not the state that was recorded here: umscope replay tells from where on it differs"
                    .to_owned()
            }
            Self::Narration(text) => format!("lesson: {text}"),
            Self::Expectation(text) => format!("expectation failed: {text}"),
            Self::Question(text) => format!("question: {text}"),
            Self::Failed { count: 1, event, text } => format!("failed at event {event}: {text}"),
            Self::Failed { count, event, text } => {
                format!("{count} checks and expectations failed, the first at event {event}: {text}")
            }
            Self::Finished => "end of the run: all work is done".to_owned(),
            Self::Stuck => format!("stuck: work is left, but nothing can move ({DEADLOCK_TELLS})"),
            Self::Limit(cycle) => format!("end of the run: cycle {cycle} is the last (max-cycles)"),
            Self::Void(why) => why.clone(),
            Self::Beyond(position) => format!("{position} does not come: this is the last event"),
            Self::Start => "start of the run: there is no earlier event".to_owned(),
            Self::NoEffect => {
                "no event up to the end of the run was caused by this one, or not so many".to_owned()
            }
            Self::Interrupted { back_from } => format!("interrupted{}", on_the_way_back(*back_from)),
        }
    }

    /// Whether a lesson says it, or asks.
    fn is_lesson(&self) -> bool {
        matches!(self, Self::Narration(_) | Self::Question(_))
    }

    /// The sentence for the screen, where who interrupts a run pauses it.
    fn on_screen(&self) -> String {
        match self {
            Self::Interrupted { back_from } => format!("paused{}", on_the_way_back(*back_from)),
            other => other.sentence(),
        }
    }

    /// The reason in a word, where the screen tells the rest elsewhere.
    fn brief(&self) -> Option<String> {
        match self {
            Self::Narration(_) => Some("lesson".to_owned()),
            Self::Finished => Some("end".to_owned()),
            // What it is about is in the pane of breakpoints, and before the screen.
            Self::Breakpoint { id, .. } => Some(format!("breakpoint {id}")),
            _ => None,
        }
    }

    #[must_use]
    pub fn tone(&self) -> Tone {
        match self {
            Self::Violation { .. }
            | Self::Failed { .. }
            | Self::Found { .. }
            | Self::Differs
            | Self::Expectation(_)
            | Self::Stuck
            | Self::Void(_) => Tone::Bad,
            Self::Interrupted { .. } | Self::Limit(_) | Self::Beyond(_) => Tone::Warning,
            Self::Finished => Tone::Good,
            _ => Tone::Plain,
        }
    }
}

/// Most records told at a stop.
const TOLD: usize = 12;

impl Stop {
    /// The lines that the console prints, the displays aside: why, the records, the position.
    #[must_use]
    pub fn lines(&self, machine: &dyn Inspect) -> Vec<String> {
        let components = machine.components();
        // What a lesson says of an event follows what it was.
        let (told, why): (Vec<_>, Vec<_>) = self.reasons.iter().partition(|reason| reason.is_lesson());
        let sentences = |reasons: Vec<&Reason>| -> Vec<String> {
            reasons.into_iter().map(Reason::sentence).filter(|sentence| !sentence.is_empty()).collect()
        };
        let mut lines = sentences(why);
        lines.extend(self.records.iter().take(TOLD).map(|record| describe::log_line(record, components)));
        let is_here = self.event > 0 && machine.event() == self.event;
        if self.records.is_empty() && is_here && self.reasons == [Reason::Arrived] {
            lines.push(unrecorded(machine));
        }
        if self.records.len() > TOLD {
            lines.push(format!("... and {} more; log shows them", self.records.len() - TOLD));
        }
        lines.extend(sentences(told));
        lines.push(format!("event {} cycle {}", self.event, self.cycle));
        lines
    }

    /// The same for the screen, in one line, with what is told nowhere else first; `None` for a plain arrival.
    #[must_use]
    pub fn view(&self) -> Option<StopView> {
        let mut reasons: Vec<_> =
            self.reasons.iter().filter(|reason| !reason.sentence().is_empty()).collect();
        reasons.sort_by_key(|reason| reason.brief().is_some());
        let first = reasons.first()?;
        let text: Vec<_> = reasons.iter().map(|reason| reason.on_screen()).collect();
        let is_hit = self.reasons.iter().any(|reason| matches!(reason, Reason::Breakpoint { .. }));
        let hit = self.records.iter().filter(|_| is_hit).map(|record| record.id).collect();
        Some(StopView { text: text.join("; "), tone: first.tone(), brief: first.brief(), hit })
    }
}

/// That it was going back from an event, and stands somewhere on the way.
fn on_the_way_back(from: Option<EventNumber>) -> String {
    from.map_or_else(String::new, |from| format!(" on the way back from event {from}"))
}
