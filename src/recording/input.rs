//! What was done to a machine from outside while it ran.

use std::fmt;

use crate::diagnostic::{Diagnostic, Result};

/// One thing that was done, as text. What the text means is told where the machine is at hand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The next event is this one, whatever the timed queue says: `deliver gpu0.cu0.l1 > gpu0.l2.0 request`.
    Choose(String),
    /// A key of the machine file has another value: `network.latency="2 us"`.
    Set(String),
    /// A cell of a protocol's table is another: `cache N read = "ack > I"`.
    Cell(String),
    /// A fault is injected: `lose-message message=probe-read nth=1`.
    Fault(String),
    /// What comes next comes so many cycles later: `64`.
    Hold(String),
    /// A compute unit or core does one more thing: `gpu0.cu0 store 0x1000 07`.
    Access(String),
}

/// The words that inputs begin with.
pub const VERBS: [&str; 6] = ["choose", "set", "cell", "fault", "hold", "access"];

impl Input {
    /// The word that it begins with.
    #[must_use]
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Choose(_) => "choose",
            Self::Set(_) => "set",
            Self::Cell(_) => "cell",
            Self::Fault(_) => "fault",
            Self::Hold(_) => "hold",
            Self::Access(_) => "access",
        }
    }

    /// What follows that word.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Choose(text)
            | Self::Set(text)
            | Self::Cell(text)
            | Self::Fault(text)
            | Self::Hold(text)
            | Self::Access(text) => text,
        }
    }

    /// The input of this verb.
    ///
    /// # Errors
    /// If there is no such verb, or nothing follows it.
    pub fn new(verb: &str, text: &str) -> Result<Self> {
        let text = text.trim();
        let make = match verb {
            "choose" => Self::Choose,
            "set" => Self::Set,
            "cell" => Self::Cell,
            "fault" => Self::Fault,
            "hold" => Self::Hold,
            "access" => Self::Access,
            _ => {
                let error = Diagnostic::new(format!("there is no input \"{verb}\""));
                return Err(Box::new(error.expected(VERBS.join(", ")).nearest(verb, VERBS)));
            }
        };
        if text.is_empty() {
            return Err(Box::new(Diagnostic::new(format!("what shall {verb} do?"))));
        }
        Ok(make(text.to_owned()))
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb(), self.text())
    }
}
