//! Words for what a memory does that is a cache with its tags in DRAM ("`ScaleGPU`", section 3.2).

use super::address::Range;
use super::component::ComponentId;
use super::message::TxnNumber;
use super::resource::BankView;
use super::time::Tick;

/// What became of a request that looked at its tag, or of what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TagOutcome {
    /// The tag in place is its own.
    Hit,
    /// Its bytes are not here, and nothing else is in their place: it waits in the pending queue, and the data are fetched.
    ColdMiss,
    /// Something else is in place: the same.
    ConflictMiss,
    /// The data are fetched already: it waits with the others, and the counter of their entry goes up.
    Merge,
    /// The data have come; the arrival bit of the entry is set.
    Arrival,
    /// A request at the head of the pending queue, whose data have come, is looked up again.
    Replay,
    /// A write whose place something else has goes on to the host, and is acknowledged at once.
    Relay,
    /// A write whose row is not loaded, and has a place, is written here, and goes on to the host.
    Both,
    /// Bytes that only this memory has go to the host: their place is needed, or somebody waits for them.
    WriteBack,
    /// A request finds no room in the pending queue or the scoreboard, and stays where it is.
    Full,
    /// The data that have come were read at the host before a write that went past them: they are fetched again.
    TooOld,
}

impl TagOutcome {
    pub const ALL: [Self; 11] = [
        Self::Hit,
        Self::ColdMiss,
        Self::ConflictMiss,
        Self::Merge,
        Self::Arrival,
        Self::Replay,
        Self::Relay,
        Self::Both,
        Self::WriteBack,
        Self::Full,
        Self::TooOld,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::ColdMiss => "cold-miss",
            Self::ConflictMiss => "conflict-miss",
            Self::Merge => "merge",
            Self::Arrival => "arrival",
            Self::Replay => "replay",
            Self::Relay => "relay",
            Self::Both => "both",
            Self::WriteBack => "write-back",
            Self::Full => "full",
            Self::TooOld => "too-old",
        }
    }
}

/// A record of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagRecord {
    pub outcome: TagOutcome,
    pub writes: bool,
    /// Requests in the pending queue, and entries of the scoreboard, afterwards.
    pub pending: u32,
    pub scoreboard: u32,
}

/// How often each outcome came about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TagCounters {
    /// By [`TagOutcome`].
    pub outcomes: [u64; TagOutcome::ALL.len()],
    /// Replays that missed again, since something else had taken the place meanwhile.
    pub replays_missed: u64,
    /// Most requests that ever waited, and most entries ever in use.
    pub pending_high_water: u32,
    pub scoreboard_high_water: u32,
}

impl TagCounters {
    #[must_use]
    pub fn of(&self, outcome: TagOutcome) -> u64 {
        self.outcomes.get(outcome as usize).copied().unwrap_or(0)
    }

    /// Counts of several memories together.
    pub fn add(&mut self, other: &Self) {
        self.outcomes.iter_mut().zip(other.outcomes).for_each(|(sum, count)| *sum += count);
        self.replays_missed += other.replays_missed;
        self.pending_high_water = self.pending_high_water.max(other.pending_high_water);
        self.scoreboard_high_water = self.scoreboard_high_water.max(other.scoreboard_high_water);
    }
}

/// A request in a pending queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagRequest {
    pub range: Range,
    pub txn: Option<TxnNumber>,
    pub since: Tick,
    pub writes: bool,
    /// The data of its tag have come.
    pub arrived: bool,
}

/// An entry of a scoreboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagScore {
    /// What the target tag stands for.
    pub range: Range,
    /// Requests in the pending queue that wait for it.
    pub count: u32,
    /// The arrival bit.
    pub arrived: bool,
    pub since: Tick,
    pub txn: Option<TxnNumber>,
}

/// The tags of one memory, and its tag miss handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagView {
    pub node: ComponentId,
    pub counters: TagCounters,
    /// Requests whose tag was in place when they came: the other hits are of those that are looked up again.
    pub first_hits: u64,
    /// Head first.
    pub queue: Vec<TagRequest>,
    pub queue_capacity: u32,
    pub scores: Vec<TagScore>,
    pub score_capacity: u32,
    /// Writes on their way to the host.
    pub relayed: u32,
    /// The banks that hold tags, where the controller keeps a queue.
    pub banks: Vec<BankView>,
}
