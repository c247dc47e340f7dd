//! The words of caches that keep some lines only, and of the directory that says which the CPU may have.

use super::address::Address;

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

/// What a cache did with loads of lines that it may not keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UncachedView {
    pub loads: u64,
    /// Sent for them: fewer than loads where several share what one of them asked for.
    pub requests: u64,
    /// Pieces of 32 B that came, and those that nobody waited for.
    pub brought: u64,
    pub dropped: u64,
}

/// What the memory behind a slice knows about the caches beyond the network, and what it was told by them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteDirectoryView {
    pub lines: u32,
    pub capacity: u32,
    /// Most lines at a time.
    pub peak: u32,
    /// Accesses of the GPU that looked for their line, and those that found it.
    pub looks: u64,
    pub found: u64,
    pub nacks: u64,
    /// Those of lines that the CPU never had.
    pub false_positives: u64,
    /// How often the CPU had to give up all lines.
    pub flushes: u64,
    /// Lines that were put in, and fingerprints that were moved for them.
    pub inserted: u64,
    pub moved: u64,
    /// It is full, and waits for that.
    pub is_flushing: bool,
}

/// Where a remote directory looks for a line, and what it finds there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteLookView {
    pub fingerprint: u16,
    /// Its two buckets by number, each with the fingerprints in its places; 0 for an empty one. The second may be the first.
    pub buckets: [(u32, Vec<u16>); 2],
    /// The CPU has asked for this very line since the directory was empty, which no hardware knows.
    pub was_inserted: bool,
    /// Other lines that it has asked for which look the same here.
    pub alike: Vec<Address>,
}

impl RemoteLookView {
    /// Whether the directory says that the CPU may have it.
    #[must_use]
    pub fn is_claimed(&self) -> bool {
        self.buckets.iter().any(|(_, places)| places.contains(&self.fingerprint))
    }
}

impl RemoteDirectoryView {
    /// Looks for lines that the CPU never had: those of which a filter may say wrongly that it may have them.
    #[must_use]
    pub fn strangers(&self) -> u64 {
        self.looks.saturating_sub(self.found) + self.false_positives
    }
}
