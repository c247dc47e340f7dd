//! Stable states of a block, as the papers write them: one letter each.

use std::fmt;

/// A stable coherence state: an upper-case letter of the protocol's table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State(pub u8);

impl State {
    /// Not present; every protocol has it.
    pub const I: Self = Self(b'I');

    /// The state that `text` names, if it is one upper-case letter.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.as_bytes() {
            [letter] if letter.is_ascii_uppercase() => Some(Self(*letter)),
            _ => None,
        }
    }

    #[must_use]
    pub fn letter(self) -> char {
        self.0 as char
    }

    /// The same as a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let place = usize::from(self.0.wrapping_sub(b'A'));
        LETTERS.get(place..=place).unwrap_or("?")
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}

/// A column of a protocol table: what happens to a block (Table II of the UMH paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    Load,
    Store,
    NStore,
    Evict,
    /// A read request that comes from the parent (a read probe).
    Read,
    /// A write request that comes from the parent (a write probe).
    Write,
    /// Bulk invalidation at an acquire (software coherence).
    Acquire,
    /// Dirty bytes of a child arrived: no column of its own, but the `[merge]` part of a protocol file.
    Merge,
}

impl Action {
    /// The columns, in order.
    pub const ALL: [Self; 7] =
        [Self::Load, Self::Store, Self::NStore, Self::Evict, Self::Read, Self::Write, Self::Acquire];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::NStore => "n-store",
            Self::Evict => "evict",
            Self::Read => "read",
            Self::Write => "write",
            Self::Acquire => "acquire",
            Self::Merge => "merge",
        }
    }

    /// What happens, in a sentence: a probe is told from what a processor does.
    #[must_use]
    pub fn said(self) -> &'static str {
        match self {
            Self::Load => "a load",
            Self::Store => "a store",
            Self::NStore => "an n-store",
            Self::Evict => "an eviction",
            Self::Read => "a read probe",
            Self::Write => "a write probe",
            Self::Acquire => "an acquire",
            Self::Merge => "a merge",
        }
    }

    /// The position of this column.
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }
}
