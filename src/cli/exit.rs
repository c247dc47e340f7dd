//! How a command ends: its status, and what is said when it cannot do what it was asked.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};

use crate::diagnostic::{Diagnostic, nearest};

/// What the process tells its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// All held.
    Held,
    /// An expectation or a check failed, or there was a deadlock.
    Failed,
    /// The input or the arguments are wrong.
    Wrong,
    /// A bug of ours.
    Bug,
    /// By ctrl-c, or a signal by which others end a process.
    Interrupted,
}

impl Status {
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Held => 0,
            Self::Failed => 1,
            Self::Wrong => 2,
            Self::Bug => 70,
            Self::Interrupted => 130,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status.code())
    }
}

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub enum Trouble {
    Wrong(Box<Diagnostic>),
    /// What was doing, and what went wrong with it.
    Io(&'static str, io::Error),
}

impl From<Box<Diagnostic>> for Trouble {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self::Wrong(diagnostic)
    }
}

impl From<Diagnostic> for Trouble {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Wrong(Box::new(diagnostic))
    }
}

/// The end of a command.
pub type Ended = Result<Status, Trouble>;

/// Says a line on standard error, which may be closed.
pub fn say(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Says what is wrong with an input. A complaint about a text begins with its place, so that editors find it.
pub fn complain(diagnostic: &Diagnostic) {
    if diagnostic.source.is_some() {
        say(diagnostic);
    } else {
        say(format_args!("error: {diagnostic}"));
    }
}

/// The status of a command that has ended, its troubles told.
#[must_use]
pub fn conclude(ended: Ended) -> Status {
    match ended {
        Ok(status) => status,
        Err(Trouble::Wrong(diagnostic)) => {
            complain(&diagnostic);
            Status::Wrong
        }
        Err(Trouble::Io(doing, error)) => {
            say(format_args!("error: cannot {doing}: {error}"));
            Status::Wrong
        }
    }
}

/// Shows what the reader of the arguments says: help and versions on standard output, mistakes on standard error.
#[must_use]
pub fn arguments(mut error: clap::Error, commands: &[&str]) -> Status {
    if let (Some(ContextValue::String(wrong)), None) =
        (error.get(ContextKind::InvalidSubcommand), error.get(ContextKind::SuggestedSubcommand))
        && let Some(near) = nearest(wrong, commands.iter().copied())
    {
        let near = ContextValue::Strings(vec![near.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, near);
    }
    let printed = error.print().and_then(|()| io::stdout().flush());
    match printed {
        _ if error.use_stderr() => Status::Wrong,
        // Whoever closed the output does not want to read it.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            conclude(Err(Trouble::Io("write the output", error)))
        }
        _ => Status::Held,
    }
}
