//! The words of caches that keep some lines only, and of the directory that says which the CPU may have.

/// What happens to a remote directory ("Selective GPU Caches", section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemoteChange {
    /// The CPU asks for a line that was not in it.
    Insert,
    /// The CPU asks for a line that it claims to have already.
    Present,
    /// It has no room for a line: it stops taking any.
    Full,
    /// The CPU is told to give up every line of this memory.
    Flush,
    /// The CPU has none of them any more: it starts empty.
    Clear,
}

impl RemoteChange {
    pub const ALL: [Self; 5] = [Self::Insert, Self::Present, Self::Full, Self::Flush, Self::Clear];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Present => "present",
            Self::Full => "full",
            Self::Flush => "flush",
            Self::Clear => "clear",
        }
    }
}
