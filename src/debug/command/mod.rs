//! The commands: one table from which the prompt, help and completion are made.
//!
//! gdb's words where gdb has a word. A unique prefix of a name is enough. Every command works on a [`Session`];
//! what moves the cursor returns a [`Travel`], which the session then carries out.

mod arguments;
mod bookmark;
mod breakpoint;
mod bug;
mod cause;
mod commands;
mod complete;
mod condition;
mod deadlock;
mod decided;
mod delete;
mod diff;
mod display;
mod enable;
mod fork;
mod goto;
mod help;
mod info;
mod lesson;
mod log;
mod quit;
mod reload;
mod save;
mod select;
mod set;
mod shrink;
mod source;
mod step;
mod table;
mod travel;
mod until;
mod watch;
mod why;

pub use arguments::{Arguments, Word};
pub use complete::{Candidate, complete};
pub use lesson::GO_ON;
pub use table::{ALL, find, known};

use super::job::Job;
use super::session::Session;
use super::travel::Travel;
use crate::diagnostic::Result;

/// What a command made of it.
#[derive(Debug)]
pub enum Effect {
    /// It is done, and says this.
    Said(Vec<String>),
    /// The cursor shall move.
    Go(Travel),
    /// It is done, and says this; the cursor shall move.
    SaidAndGo(Vec<String>, Travel),
    /// This takes its time.
    Work(Box<dyn Job>),
    Quit,
}

impl Effect {
    /// Done, with nothing to say.
    #[must_use]
    pub fn nothing() -> Self {
        Self::Said(Vec::new())
    }

    /// Done, with one line to say.
    #[must_use]
    pub fn line(text: impl Into<String>) -> Self {
        Self::Said(vec![text.into()])
    }
}

/// Groups of commands, for help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Moving,
    Breakpoints,
    Looking,
    WhatIf,
    Lesson,
    Session,
}

impl Group {
    pub const ALL: [Self; 6] =
        [Self::Moving, Self::Breakpoints, Self::Looking, Self::WhatIf, Self::Lesson, Self::Session];

    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Moving => "Moving",
            Self::Breakpoints => "Breakpoints and watchpoints",
            Self::Looking => "Looking",
            Self::WhatIf => "What if",
            Self::Lesson => "Lessons",
            Self::Session => "The session",
        }
    }
}

/// What a command's arguments are, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completes {
    Nothing,
    /// A filter over records.
    Filter,
    /// A filter with a condition, or a state.
    Stop,
    /// An expression or predicate over state.
    State,
    /// The same, and a condition.
    Watch,
    /// These, one after another.
    Slots(&'static [Takes]),
    /// As many of these as one likes.
    Each(Takes),
    /// One of these words, and then what it takes.
    Subject(&'static [(&'static str, Takes)]),
}

/// What stands at a place of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// One of these words.
    Words(&'static [&'static str]),
    Component,
    /// The same, or one of these words.
    ComponentOr(&'static [&'static str]),
    /// The address of a block.
    Block,
    /// A key of the machine file.
    Key,
    /// The same, and a value for it.
    Setting,
    Fault,
    /// A breakpoint's number.
    Breakpoint,
    /// The same, or the word for a bookmark and its name.
    Deletable,
    /// A display's number.
    Display,
    /// A position: event, cycle, bookmark, start or end.
    Position,
    /// A command's name, or that of a kind of record.
    Command,
    /// A branch's number.
    Branch,
    /// The number of what the bug may be.
    Choice,
    /// An answer to the question that is asked here.
    Answer,
    /// A file.
    Path,
    /// All that follows is a predicate.
    Predicate,
    /// All that follows is commands, with semicolons between them.
    Commands,
}

/// A command.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// The name and its arguments: `break QUERY [if PREDICATE]`.
    pub usage: &'static str,
    pub group: Group,
    /// One line.
    pub about: &'static str,
    /// All of it; may be empty.
    pub details: &'static str,
    pub completes: Completes,
    pub run: fn(&mut Session, &Arguments) -> Result<Effect>,
}
