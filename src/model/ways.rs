//! The words of caches whose ways are dealt over local and remote lines.

use super::time::Tick;

/// What happens to a partition: the steps of "Beyond the Socket: NUMA-Aware GPUs", Fig. 7 (d), by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WayStep {
    /// 0: at the launch of a kernel, half of the ways for each.
    Halve,
    /// 2: the link is saturated, the memory is not: a way goes from local to remote.
    ToRemote,
    /// 3: the memory is saturated, the link is not: a way goes from remote to local.
    ToLocal,
    /// 4: both are saturated: one way towards equal numbers.
    Equalise,
    /// 5: neither is saturated.
    Keep,
}

impl WayStep {
    /// Those that change ways.
    pub const CHANGING: [Self; 4] = [Self::Halve, Self::ToRemote, Self::ToLocal, Self::Equalise];

    /// Those that a sample ends with.
    pub const DECIDED: [Self; 4] = [Self::ToRemote, Self::ToLocal, Self::Equalise, Self::Keep];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Halve => "halve",
            Self::ToRemote => "to-remote",
            Self::ToLocal => "to-local",
            Self::Equalise => "equalise",
            Self::Keep => "keep",
        }
    }

    /// What is said of it where no way has moved.
    #[must_use]
    pub fn unmoved(self) -> &'static str {
        match self {
            Self::ToRemote => ", but the last local way stays",
            Self::ToLocal => ", but the last remote way stays",
            Self::Halve | Self::Equalise => ", and they are equal",
            Self::Keep => "",
        }
    }
}

/// What the partition of the caches of a socket was decided by, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WayDecision {
    pub step: WayStep,
    /// Utilisation of the socket's own memory in the sample, in percent; nothing was measured for [`WayStep::Halve`].
    pub memory: u32,
    /// Projected utilisation of the link into the socket, in percent; as `memory`: [`Self::reads`] of [`Self::room`].
    pub ingress: u32,
    /// Bytes that the requests to read which left the socket in the sample bring over that link.
    pub reads: u64,
    /// Bytes that the link could bring in the sample beside what others ask of the socket over it, and what answers its writes.
    pub room: u64,
}

/// What a decision has made of the ways of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WayMove {
    pub tick: Tick,
    pub decision: WayDecision,
    /// Ways for remote lines before and afterwards.
    pub from: u32,
    pub to: u32,
}

impl WayDecision {
    /// What it was decided by.
    #[must_use]
    pub fn reason(self) -> String {
        if self.step == WayStep::Halve {
            return "a kernel was launched".to_owned();
        }
        let Self { memory, ingress, reads, room, .. } = self;
        format!("memory {memory} %, projected ingress {ingress} %: reads bring {reads} B of {room} B")
    }
}
