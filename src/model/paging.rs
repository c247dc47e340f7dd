//! Words for what paged GPU memory does: the life of a far-fault, what happens to a page, and to a translation; page walks.

/// What a fault is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// A page that is not in the memory of the GPU.
    Far,
    /// A write to a page that is read-only.
    Protection,
}

impl FaultKind {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Far => "far-fault",
            Self::Protection => "protection fault",
        }
    }
}

/// A step in the life of a far-fault ("Towards High Performance Paged Memory for GPUs", Fig. 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultStage {
    /// A page walk found that the page is not in the memory of the GPU, or a write that it is read-only; a fault MSHR was
    /// taken, if a GPU wants it.
    Raised,
    /// Another compute unit's far-fault of this page is tracked already.
    Merged,
    /// The TLB was told to replay (Nack-Replayable).
    Nacked,
    /// No far-fault MSHR was free: the TLB will ask again when another far-fault has ended.
    Dropped,
    /// It came into the driver's queue.
    Queued,
    /// The driver put its page into a transfer set, or changes its permission.
    Serviced,
    /// Its page is there, or may be written.
    Arrived,
    /// A TLB asks for the translation again.
    Replayed,
}

impl FaultStage {
    pub const ALL: [Self; 8] = [
        Self::Raised,
        Self::Merged,
        Self::Nacked,
        Self::Dropped,
        Self::Queued,
        Self::Serviced,
        Self::Arrived,
        Self::Replayed,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Raised => "raised",
            Self::Merged => "merged",
            Self::Nacked => "nacked",
            Self::Dropped => "dropped",
            Self::Queued => "queued",
            Self::Serviced => "serviced",
            Self::Arrived => "arrived",
            Self::Replayed => "replayed",
        }
    }
}

/// What may be done with a page ("Selective GPU Caches", section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    /// It may be read, and a GPU may cache it whatever memory it lives in. To write it is a protection fault.
    ReadOnly,
    /// It is becoming read-write: translations and cached lines of it are being discarded.
    Changing,
    /// It may be written, so that a GPU must not cache what it does not own.
    ReadWrite,
}

impl Permission {
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::Changing, Self::ReadWrite];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Changing => "changing",
            Self::ReadWrite => "read-write",
        }
    }

    /// The letter that stands for it in the pages pane.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::ReadOnly => 'r',
            Self::Changing => '!',
            Self::ReadWrite => 'w',
        }
    }
}

/// Why a page is moved to a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MoveReason {
    /// It far-faulted.
    Demanded,
    /// The driver expects that it will be used.
    Prefetched,
    /// Its programmer has asked for it, before any work begins.
    Copied,
}

/// What happens to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PageChange {
    /// A far-faulted page is moved.
    Demanded,
    /// A page is moved that nobody has asked for.
    Prefetched,
    /// A page is moved before the work begins, as its programmer has asked.
    Copied,
    /// It is in the memory of the GPU.
    Arrived,
    /// It is taken out of the memory of the GPU, to make room for others.
    Evicted,
    /// It is taken out since a core or another GPU wants it.
    TakenBack,
    /// It is taken out after the last work, as its programmer has asked.
    CopiedBack,
    /// It is taken out though it was prefetched and never used.
    Wasted,
    /// It is written back to the host.
    WrittenBack,
    /// It is in host memory again.
    Gone,
    /// It far-faults after it was evicted.
    Thrash,
    /// It is copied to the host though no GPU has written it.
    Redundant,
    /// All work has ended, and it was prefetched and never used, though it is still there.
    Unused,
}

impl PageChange {
    pub const ALL: [Self; 13] = [
        Self::Demanded,
        Self::Prefetched,
        Self::Copied,
        Self::Arrived,
        Self::Evicted,
        Self::TakenBack,
        Self::CopiedBack,
        Self::Wasted,
        Self::WrittenBack,
        Self::Gone,
        Self::Thrash,
        Self::Redundant,
        Self::Unused,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Demanded => "demanded",
            Self::Prefetched => "prefetched",
            Self::Copied => "copied",
            Self::Arrived => "arrived",
            Self::Evicted => "evicted",
            Self::TakenBack => "taken-back",
            Self::CopiedBack => "copied-back",
            Self::Wasted => "wasted",
            Self::WrittenBack => "written-back",
            Self::Gone => "gone",
            Self::Thrash => "thrash",
            Self::Redundant => "redundant",
            Self::Unused => "unused",
        }
    }
}

/// What happens in a TLB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TlbChange {
    Miss,
    /// An access misses a page that an earlier one has missed and that has not come yet: it waits with that one.
    Merge,
    Fill,
    ShootDown,
}

impl TlbChange {
    pub const ALL: [Self; 4] = [Self::Miss, Self::Merge, Self::Fill, Self::ShootDown];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Miss => "miss",
            Self::Merge => "merge",
            Self::Fill => "fill",
            Self::ShootDown => "shoot-down",
        }
    }
}

/// A walk of the page table by a GMMU (step 2 of Fig. 4, and the page walk cache of Table 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWalk {
    pub gpu: u32,
    /// The compute unit whose TLB asked, by its place in the GPU.
    pub unit: u32,
    /// Levels that the page walk cache had, and those that memory had to be asked for.
    pub cached: u32,
    pub memory: u32,
    /// Quoted cycles from its beginning to its end, once it has ended.
    pub cycles: Option<u64>,
}

impl PageWalk {
    pub const CHANGES: [&'static str; 2] = ["begun", "ended"];

    /// Whether it begins or ends, as one of [`Self::CHANGES`].
    #[must_use]
    pub fn change(self) -> &'static str {
        let [begun, ended] = Self::CHANGES;
        if self.cycles.is_some() { ended } else { begun }
    }
}
