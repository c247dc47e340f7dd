//! Where an access was served: how far into the hierarchy it had to go.

use super::component::ComponentKind;

/// The deepest place that an access came to, by its own requests. Ascending, so that the larger one is farther away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The L1 of the compute unit or core had it: a hit.
    L1,
    /// It missed in its L1 but sent no request of its own: it waited there for one that was under way.
    Joined,
    L2,
    Llc,
    /// The cache for GPUs on the side of the CPU.
    Client,
    Smd,
    /// The memory of the GPU; of several sockets, that of its own.
    Memory,
    /// The L2 and the memory of another socket.
    FarL2,
    FarMemory,
    Hmd,
    /// Another GPU handed the data over directly (peer transfer).
    Peer,
}

impl Level {
    pub const ALL: [Self; 11] = [
        Self::L1,
        Self::Joined,
        Self::L2,
        Self::Llc,
        Self::Client,
        Self::Smd,
        Self::Memory,
        Self::FarL2,
        Self::FarMemory,
        Self::Hmd,
        Self::Peer,
    ];

    /// The word that stands for it in keys.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::L1 => "l1",
            Self::Joined => "joined",
            Self::L2 => "l2",
            Self::Llc => "llc",
            Self::Client => "client",
            Self::Smd => "smd",
            Self::Memory => "memory",
            Self::FarL2 => "far_l2",
            Self::FarMemory => "far_memory",
            Self::Hmd => "hmd",
            Self::Peer => "peer",
        }
    }

    /// What it is where it is another socket's.
    #[must_use]
    pub fn far(self) -> Self {
        match self {
            Self::L2 => Self::FarL2,
            Self::Memory => Self::FarMemory,
            near => near,
        }
    }

    /// The level that a node of this kind stands for.
    #[must_use]
    pub fn of(kind: ComponentKind) -> Self {
        match kind {
            ComponentKind::L2 => Self::L2,
            ComponentKind::Llc => Self::Llc,
            ComponentKind::Client => Self::Client,
            ComponentKind::Smd => Self::Smd,
            ComponentKind::Memory => Self::Memory,
            ComponentKind::Hmd => Self::Hmd,
            ComponentKind::L1
            | ComponentKind::Cu
            | ComponentKind::Core
            | ComponentKind::CopyEngine
            | ComponentKind::Link
            | ComponentKind::Gmmu
            | ComponentKind::Driver => Self::L1,
        }
    }
}
