//! What the debugger knows besides the machine: the scenario, where we are, why it stopped, the lesson.

use std::sync::Arc;

use crate::model::component::Components;
use crate::model::record::RecordId;
use crate::model::time::EventNumber;

/// What does not change while a scenario is open.
#[derive(Clone, Debug, Default)]
pub struct Info {
    /// The name to open it by (`umh/fig5-b1`).
    pub scenario: String,
    pub title: String,
    /// Paper and section.
    pub source: String,
    /// What it is about, as paragraphs.
    pub about: String,
    /// Whether its file tells a story, though it may be left out here.
    pub has_story: bool,
    /// What is set otherwise than in its file, as `key = value`.
    pub set_by_hand: Vec<String>,
    /// One line about the machine (`2 GPUs, 1 core, PCIe 16 GB/s`).
    pub machine: String,
    pub protocol: String,
    /// Whether warps can wait for translations and faults.
    pub has_tlbs: bool,
    pub components: Arc<Components>,
    /// The command table, for help and completion.
    pub commands: Vec<CommandInfo>,
    /// The lesson that follows this one, if it is one of a course.
    pub next: Option<String>,
}

/// A command as help and completion show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandInfo {
    pub name: String,
    pub aliases: Vec<String>,
    /// Such as `break QUERY [if PREDICATE]`.
    pub usage: String,
    /// One line.
    pub about: String,
}

/// Where we are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    pub event: EventNumber,
    pub cycle: u64,
    pub nanoseconds: f64,
    /// The last event that is known to exist (the furthest ever reached).
    pub known: EventNumber,
    /// Whether the run ends at `known`.
    pub ended: bool,
}

/// Which of several runs this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchView {
    pub number: u32,
    /// The event after which it is another run than the one that it left.
    pub event: EventNumber,
}

/// What the engine is doing.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RunState {
    #[default]
    Paused,
    /// Running forwards, at this many events a second (`None`: as fast as it can).
    Running { events_per_second: Option<f64> },
    /// Carrying out one command: what, and how far (0 to 1) if that can be told.
    Busy { what: String, done: Option<f32> },
    /// At the end: all work is done.
    Finished,
    /// Nothing can move although work is left.
    Stuck,
}

impl RunState {
    /// Whether nothing moves.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        matches!(self, Self::Paused | Self::Finished | Self::Stuck)
    }
}

/// How good or bad a message is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Good,
    Warning,
    Bad,
}

/// Why it stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    /// One sentence (`breakpoint 2: transition at gpu0.l2.0 to N`).
    pub text: String,
    pub tone: Tone,
    /// The reason in a word, if the screen tells the rest elsewhere (the lesson's text, the end of the run).
    pub brief: Option<String>,
    /// The records at which a breakpoint stopped it: they are told before the others of their event.
    pub hit: Vec<RecordId>,
}

/// A breakpoint, watchpoint or display, as the screen lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BreakpointRow {
    pub number: u32,
    /// `break`, `tbreak`, `watch`, `display`.
    pub kind: String,
    pub text: String,
    pub enabled: bool,
    pub hits: u64,
    /// Of a watchpoint or display: what it is now.
    pub value: Option<String>,
}

/// The narration and questions of a lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lesson {
    /// The number of narrations said so far, and of all.
    pub step: (usize, usize),
    /// What was said up to here, oldest first.
    pub said: Vec<Say>,
    /// The records of the last event of which something was said.
    pub remarked: Vec<RecordId>,
    /// The question that is open.
    pub question: Option<Question>,
    /// Questions answered right, and answered.
    pub score: (usize, usize),
    /// Whether expectations that are not decided yet are better not told: they would give answers away.
    pub hides: bool,
    pub expectations: Vec<Expectation>,
    /// The bug that is to be found.
    pub hunt: Option<Hunt>,
}

impl Lesson {
    /// Whether a bug is still to be found, so that nothing else gives it away.
    #[must_use]
    pub fn is_hunted(&self) -> bool {
        self.hunt.as_ref().is_some_and(|hunt| hunt.because.is_none())
    }
}

/// A hunt for a bug, as far as it has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunt {
    pub symptom: String,
    /// The hints given so far, and how many are left.
    pub hints: Vec<String>,
    pub left: usize,
    /// What it may be, and whether that was said and is right.
    pub choices: Vec<(String, Option<bool>)>,
    /// Why it is what was found.
    pub because: Option<String>,
}

/// A piece of narration, and its question if its answer is known. A quiz asks without a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Say {
    pub event: EventNumber,
    pub text: String,
    pub question: Option<Question>,
}

/// A question: predict, then reveal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    pub text: String,
    /// What may be answered; empty if any text may.
    pub choices: Vec<String>,
    /// What was predicted.
    pub predicted: Option<String>,
    /// The answer and its reason, once revealed.
    pub revealed: Option<Reveal>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reveal {
    pub answer: String,
    /// The table's own cell, in words.
    pub because: String,
    /// Why, in the lesson's words.
    pub why: String,
    /// Whether the prediction was right, if there was one.
    pub right: Option<bool>,
    /// The event that has shown it, if one has.
    pub at: Option<EventNumber>,
}

/// An expectation of the scenario and how it stands here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectation {
    pub text: String,
    /// What was so instead, and when, if it has failed.
    pub failed: Option<(EventNumber, String)>,
    /// `None` while it is not decided yet.
    pub holds: Option<bool>,
}

/// How much happened along the whole run: probes sent up to positions at equal distances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    pub start: EventNumber,
    /// Events from one sample to the next.
    pub spacing: u64,
    pub probes: Vec<u64>,
}

impl Activity {
    /// Probes sent up to `event`, between samples in proportion; those of the last sample beyond it.
    #[must_use]
    pub fn until(&self, event: EventNumber) -> f64 {
        let spacing = self.spacing.max(1);
        let events = event.saturating_sub(self.start);
        let index = usize::try_from(events / spacing).unwrap_or(usize::MAX);
        let at =
            |index: usize| self.probes.get(index).or(self.probes.last()).map_or(0.0, |probes| *probes as f64);
        let (before, after) = (at(index), at(index.saturating_add(1)));
        before + (after - before) * (events % spacing) as f64 / spacing as f64
    }
}

/// What a mark on the timeline stands for; where several share a column, the last of these is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    Transition,
    Kernel,
    /// Lanes began to turn.
    Lanes,
    /// Ways changed hands.
    Ways,
    Narration,
    Breakpoint,
    Bookmark,
    /// The machine was changed from outside.
    Input,
    Fault,
    Violation,
}

/// A mark on the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub event: EventNumber,
    pub kind: MarkKind,
    /// A bookmark's name.
    pub name: Option<String>,
}
