//! Warps: how they are named, and what one does or waits for.

/// The warp of an access that was issued by hand and belongs to none.
pub const NO_WARP: u32 = u32::MAX;

/// What follows the path of a compute unit or core to say which warp of it: nothing for an access that was issued by hand.
#[must_use]
pub fn by_warp(warp: u32) -> String {
    if warp == NO_WARP { String::new() } else { format!(" warp {warp}") }
}

/// What a warp does or waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WarpState {
    /// No work has been dealt to this slot.
    #[default]
    None,
    Ready,
    /// Computing between two accesses.
    Running,
    /// Waits for memory.
    Memory,
    /// Waits for a free MSHR in its L1.
    MshrFull,
    /// Waits for room towards its L1's parent.
    LinkFull,
    /// Waits at a barrier of its block.
    Barrier,
    /// Waits for its earlier accesses at a fence.
    Fence,
    /// Waits for the translation of an address.
    Translation,
    /// Waits for a page that is not in the memory of its device.
    FarFault,
    Done,
    /// Waits until a page that is taken for read-only may be written. It stands last, so that the digests of machines without
    /// such pages stay as they were.
    ProtectionFault,
    /// Waits for a SIMD unit to compute on: all compute for other warps. It stands here for the same reason.
    SimdFull,
    /// Waits for a TLB that takes nothing while faults of others are pending.
    TlbBlocked,
}

impl WarpState {
    /// How many are in each state, in the order of [`Self::ALL`].
    pub fn count(states: impl Iterator<Item = Self>) -> [u32; Self::ALL.len()] {
        let mut counts = [0; Self::ALL.len()];
        for state in states {
            if let Some(count) = counts.get_mut(state as usize) {
                *count += 1;
            }
        }
        counts
    }

    pub const ALL: [Self; 14] = [
        Self::None,
        Self::Ready,
        Self::Running,
        Self::Memory,
        Self::MshrFull,
        Self::LinkFull,
        Self::Barrier,
        Self::Fence,
        Self::Translation,
        Self::FarFault,
        Self::Done,
        Self::ProtectionFault,
        Self::SimdFull,
        Self::TlbBlocked,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Memory => "memory",
            Self::MshrFull => "mshr-full",
            Self::LinkFull => "link-full",
            Self::Barrier => "barrier",
            Self::Fence => "fence",
            Self::Translation => "translation",
            Self::FarFault => "far-fault",
            Self::Done => "done",
            Self::ProtectionFault => "protection-fault",
            Self::SimdFull => "simd-full",
            Self::TlbBlocked => "tlb-blocked",
        }
    }

    /// Whether it keeps a warp from going on: for memory, a place, a page, or other warps.
    #[must_use]
    pub fn is_waiting(self) -> bool {
        !matches!(self, Self::None | Self::Done | Self::Ready | Self::Running)
    }

    /// Whether a warp waits for accesses that it has in flight, if it has any: at a barrier it waits for other warps, and one that
    /// may issue or computes has them beside what it does.
    #[must_use]
    pub fn waits_for_accesses(self) -> bool {
        self.is_waiting() && self != Self::Barrier
    }

    /// Whether it may be that of a warp that was turned away and is woken for a second try.
    #[must_use]
    pub fn may_be_turned_away(self) -> bool {
        self.is_for_page() || matches!(self, Self::MshrFull | Self::LinkFull)
    }

    /// Whether it waits for a page: for its translation, for a fault, or for a TLB that faults block.
    #[must_use]
    pub fn is_for_page(self) -> bool {
        matches!(self, Self::Translation | Self::FarFault | Self::ProtectionFault | Self::TlbBlocked)
    }

    /// The letter that stands for it in the warp pane.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::None => '.',
            Self::Ready => 'r',
            Self::Running => 'x',
            Self::Memory => 'm',
            Self::MshrFull => 's',
            Self::LinkFull => 'q',
            Self::Barrier => 'b',
            Self::Fence => 'f',
            Self::Translation => 't',
            Self::FarFault => 'F',
            Self::Done => 'd',
            Self::ProtectionFault => 'w',
            Self::SimdFull => 'u',
            Self::TlbBlocked => 'o',
        }
    }
}
