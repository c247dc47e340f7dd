//! Records say what happened. They are made only when somebody listens, and made again by replay.

mod fields;
mod kinds;

use std::sync::Arc;

use smallvec::SmallVec;

use super::access::{AccessKind, Bytes};
use super::address::Range;
use super::component::ComponentId;
use super::lanes::{Flows, LaneDecision, LaneReversal, Saturation};
use super::message::{Message, TxnNumber};
use super::paging::{FaultStage, PageChange, PageWalk, Permission, TlbChange};
use super::sectors::Sectors;
use super::selective::RemoteChange;
use super::state::{Action, State};
use super::tags::TagRecord;
use super::time::{EventNumber, Tick};
use super::warp::WarpState;
use super::ways::WayDecision;

pub use fields::Field;
pub use kinds::{FieldInfo, FieldType, KINDS, KindInfo};

/// A record's name: `event.ordinal`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId {
    pub event: EventNumber,
    pub ordinal: u32,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub id: RecordId,
    pub tick: Tick,
    /// The quoted cycle of `tick`.
    pub cycle: u64,
    /// Where it happened.
    pub at: ComponentId,
    /// The event that caused it, if another than its own.
    pub because: Option<EventNumber>,
    pub txn: Option<TxnNumber>,
    pub range: Option<Range>,
    pub what: What,
}

/// Where a message is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MshrChange {
    /// An entry was taken.
    Allocate,
    /// A request joined an entry that was there.
    Merge,
    /// An entry was given back.
    Release,
    /// A request had to wait because none was free.
    Full,
}

impl MshrChange {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allocate => "allocate",
            Self::Merge => "merge",
            Self::Release => "release",
            Self::Full => "full",
        }
    }
}

/// How an access found the row buffer of its DRAM bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowAccess {
    /// Its row was open.
    Hit,
    /// No row was open.
    Miss,
    /// Another row was open.
    Conflict,
    /// A directory closed whatever was open and opened the row (UMH, section 5.4).
    Reopen,
}

impl RowAccess {
    pub const ALL: [Self; 4] = [Self::Hit, Self::Miss, Self::Conflict, Self::Reopen];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Miss => "miss",
            Self::Conflict => "conflict",
            Self::Reopen => "reopen",
        }
    }
}

/// The kinds of records and their fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A warp or core issued an access to its L1.
    Issue { kind: AccessKind, warp: u32, bytes: Bytes },
    /// An access was performed: what it read (loads and atomics) and how many GPU core cycles it took.
    Complete { kind: AccessKind, warp: u32, bytes: Bytes, latency: u64 },
    /// A message left its sender.
    Message(Arc<Message>),
    /// A message has come to a switch and goes on over a second link.
    Hop(Arc<Message>),
    /// A message was taken by its receiver.
    Delivery(Arc<Message>),
    /// A block changed its stable state.
    Transition { from: State, to: State, action: Action },
    /// An action met a block and left its state as it was: a hit, or an answer that changes nothing.
    Hit { state: State, action: Action, waited: bool },
    /// A directory entry changed; by a grant, as this rule of the table says, counted from 1.
    Directory { owner: Option<ComponentId>, sharers: SmallVec<[ComponentId; 4]>, rule: Option<u8> },
    /// An MSHR entry was taken, joined, given back, or missed.
    Mshr { change: MshrChange, used: u32, capacity: u32 },
    /// Dirty bytes from `from` were merged into a block under their mask; by a fault, `whole`: all that came, whatever the mask.
    Merge { from: ComponentId, bytes: u32, whole: bool },
    /// A block was chosen as victim.
    Evict { state: State, dirty: u32 },
    /// A non-coherent store was too small for the byte mask and became coherent (UMH, section 4.1.2).
    Promote { kind: AccessKind, warp: u32 },
    /// A warp changed what it does.
    Warp { warp: u32, from: WarpState, to: WarpState },
    /// A kernel was launched or ended.
    Kernel { name: Arc<str>, launch: u32, ended: bool },
    /// A message could not be taken off its channel because its receiver had no room.
    Stall { message: Arc<Message> },
    /// A message found no credit for its receiver's buffer.
    NoCredit { network: super::message::Network },
    /// Lanes of a link go on in their change of direction.
    LaneReversal(LaneReversal),
    /// A direction of a link became saturated, or is no more.
    Saturation(Saturation),
    /// A memory controller opened a row for an access.
    Activate { bank: u32, row: u64, access: RowAccess },
    /// A memory controller let an access move its data, or the tag of these.
    Dram { bank: u32, row: u64, access: RowAccess, writes: bool, tags: bool },
    /// A TLB missed, an access joined a miss, it was filled, or lost an entry.
    Tlb { change: TlbChange },
    /// A GMMU begins or ends a walk of the page table for a compute unit.
    Walk(PageWalk),
    /// A far-fault goes on; `set` numbers the transfer set from 1, 0 for none. The compute unit that it is about, if it is
    /// about one, and whether the access that faults there writes.
    FarFault { stage: FaultStage, gpu: u32, set: u64, unit: Option<u32>, writes: bool },
    /// A page is moved.
    Page { change: PageChange, gpu: u32, set: u64 },
    /// A protection fault goes on; the compute unit or core that it is about, or the part that took it, and whether the access
    /// that faults there writes.
    ProtectionFault { stage: FaultStage, who: ComponentId, writes: bool },
    /// Another thing may be done with a page.
    Permission { permission: Permission },
    /// Pages are taken for read-only from now on, or no longer.
    Speculation { on: bool },
    /// A page lives in the memory of this socket from now on.
    PageHome { home: u32 },
    /// A cache misses a block whose home is another socket, or the memory of the host.
    RemoteMiss { home: u32 },
    /// A cache has other ways for local and for remote lines.
    WayRepartition { local: u32, remote: u32, decision: WayDecision },
    /// The sample that the ways of a socket are decided by has ended, at its first L2 slice: the ways for remote lines that its
    /// L2 and its L1s have now.
    WaySample { remote: u32, l1_remote: u32, moved: bool, decision: WayDecision },
    /// A sample of a link has ended, at the direction from its device: what was decided by it.
    LaneSample { flows: Flows, decision: LaneDecision },
    /// What became of a request at its tag, or of what it waits for.
    Tag(TagRecord),
    /// Bytes that may not be kept have come: which sectors, and those of them that nobody waited for.
    UseOnce { served: u32, brought: Sectors, dropped: Sectors },
    /// A probe has passed bytes that are on their way here: they are not kept.
    Overtaken,
    /// A remote directory changed; lines in it, and those that it has room for.
    RemoteDirectory { change: RemoteChange, lines: u32, capacity: u32 },
    /// The CPU does not have a line that the remote directory claims it has; it may never have had it.
    Nack { false_positive: bool },
    /// The machine was changed from outside.
    Input { text: Arc<str> },
    /// An injected fault took effect.
    Fault { name: &'static str },
    /// A check failed.
    Violation { rule: &'static str, text: Arc<str> },
}

impl Record {
    /// What an access of this kind is called that the record is about: a coherent store of no bytes is exclusive.
    #[must_use]
    pub fn name_of(&self, kind: AccessKind) -> &'static str {
        kind.name_of(self.range.map_or(1, |range| range.len))
    }

    /// Where it happened. What somebody changed has no place of its own.
    #[must_use]
    pub fn place(&self) -> Option<ComponentId> {
        (!matches!(self.what, What::Input { .. })).then_some(self.at)
    }

    /// Whether it is known what led to it, beside what waits: a rule is broken, or something was decided by what was measured.
    #[must_use]
    pub fn has_reason(&self) -> bool {
        matches!(self.what, What::Violation { .. } | What::LaneReversal(_) | What::WayRepartition { .. })
    }

    /// The name of this record's kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.what {
            What::Issue { .. } => "issue",
            What::Complete { .. } => "complete",
            What::Message(_) => "message",
            What::Hop(_) => "hop",
            What::Delivery(_) => "delivery",
            What::Transition { .. } => "transition",
            What::Hit { .. } => "hit",
            What::Directory { .. } => "directory",
            What::Mshr { .. } => "mshr",
            What::Merge { .. } => "merge",
            What::Evict { .. } => "evict",
            What::Promote { .. } => "promote",
            What::Warp { .. } => "warp",
            What::Kernel { .. } => "kernel",
            What::Stall { .. } => "stall",
            What::NoCredit { .. } => "no-credit",
            What::LaneReversal(_) => "lane-reversal",
            What::Saturation(_) => "saturation",
            What::Activate { .. } => "activate",
            What::Dram { .. } => "dram",
            What::Tlb { .. } => "tlb",
            What::Walk(_) => "page-walk",
            What::FarFault { .. } => "far-fault",
            What::ProtectionFault { .. } => "protection-fault",
            What::Permission { .. } => "page-permission",
            What::Speculation { .. } => "speculation",
            What::Page { .. } => "page-move",
            What::PageHome { .. } => "page-home",
            What::RemoteMiss { .. } => "remote-miss",
            What::WayRepartition { .. } => "way-repartition",
            What::WaySample { .. } => "way-sample",
            What::LaneSample { .. } => "lane-sample",
            What::Tag(_) => "tag",
            What::UseOnce { .. } => "use-once",
            What::Overtaken => "overtaken",
            What::RemoteDirectory { .. } => "remote-directory",
            What::Nack { .. } => "nack",
            What::Input { .. } => "input",
            What::Fault { .. } => "fault",
            What::Violation { .. } => "violation",
        }
    }
}

/// Collects the records of an event, if anybody listens.
#[derive(Debug, Default)]
pub struct Records {
    /// Whether records are made at all.
    pub on: bool,
    pub list: Vec<Record>,
}

impl Records {
    /// A collector that listens.
    #[must_use]
    pub fn listening() -> Self {
        Self { on: true, list: Vec::new() }
    }

    /// A collector that makes no records.
    #[must_use]
    pub fn silent() -> Self {
        Self::default()
    }
}
