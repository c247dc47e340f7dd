//! What a controller is told about choosing, and the commands that it issues.

use smallvec::SmallVec;

use crate::model::record::RowAccess;
use crate::model::time::Tick;
use crate::protocol::outbox::About;

/// How a controller chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduling {
    /// Requests of a channel that it chooses among: the oldest so many reads, or writes.
    pub window: usize,
    /// Writes of a channel that gather before they are drained down to half, reads or not.
    pub writes: u32,
    /// Younger row hits that may pass an older request of their bank.
    pub row_hit_cap: u32,
}

/// A command that a controller issued.
#[derive(Clone, Debug)]
pub struct Issued {
    /// Number of the access.
    pub(super) job: u64,
    pub about: About,
    pub bank: u32,
    pub row: u64,
    pub bytes: u32,
    pub access: RowAccess,
    pub writes: bool,
    /// Ticks that its bank is taken for it, beyond what was told of it before.
    pub(super) bank_busy: Tick,
    /// What it moves; nothing if it only opens a row.
    pub moves: Option<Burst>,
}

/// Data on the data bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    pub length: Tick,
    /// When the last byte has left the bus.
    pub end: Tick,
}

/// Commands issued at one moment.
pub type Commands = SmallVec<[Issued; 4]>;
