//! Records say what happened. They are made only when somebody listens, and made again by replay.

use std::sync::Arc;

use smallvec::SmallVec;

use super::access::{AccessKind, Bytes};
use super::address::Range;
use super::component::ComponentId;
use super::inspect::WarpState;
use super::lanes::{Flow, LaneReversal, Saturation};
use super::message::{Message, TxnNumber};
use super::paging::{FaultStage, PageChange, Permission, TlbChange};
use super::sectors::Sectors;
use super::selective::RemoteChange;
use super::state::{Action, State};
use super::tags::TagRecord;
use super::time::{EventNumber, Tick};
use super::ways::WayDecision;

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
    /// An access was performed: what it read (loads and atomics) and how long it took.
    Complete { kind: AccessKind, warp: u32, bytes: Bytes, latency: Tick },
    /// A message left its sender.
    Message(Arc<Message>),
    /// A message has come to a switch and goes on over a second link.
    Hop(Arc<Message>),
    /// A message was taken by its receiver.
    Delivery(Arc<Message>),
    /// A block changed its stable state.
    Transition { from: State, to: State, action: Action },
    /// An action met a block and left its state as it was: a hit, or an answer that changes nothing.
    Hit { state: State, action: Action },
    /// A directory entry changed.
    Directory { owner: Option<ComponentId>, sharers: SmallVec<[ComponentId; 4]> },
    /// An MSHR entry was taken, joined, given back, or missed.
    Mshr { change: MshrChange, used: u32, capacity: u32 },
    /// Dirty bytes from `from` were merged into a block under their mask.
    Merge { from: ComponentId, bytes: u32 },
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
    /// A memory controller let an access move its data.
    Dram { bank: u32, row: u64, access: RowAccess, writes: bool },
    /// A TLB missed, was filled, or lost an entry.
    Tlb { change: TlbChange },
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
    /// A cache has other ways for local and for remote lines.
    WayRepartition { local: u32, remote: u32, decision: WayDecision },
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

/// The value of a record's field, as queries and exports see it.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    Component(ComponentId),
    Components(SmallVec<[ComponentId; 4]>),
    State(State),
    /// A word and the classes it belongs to; a query matches any of them.
    Words(&'static [&'static str]),
    Word(&'static str),
    Text(Arc<str>),
    Number(u64),
    Bytes(Bytes),
}

/// A kind of record: its name in queries, what it means, and its own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindInfo {
    pub name: &'static str,
    pub about: &'static str,
    pub fields: &'static [FieldInfo],
}

/// A field of a kind of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldInfo {
    pub name: &'static str,
    pub about: &'static str,
    pub is: FieldType,
}

/// What a field holds, for parsing and completion of queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    Component,
    State,
    Action,
    AccessKind,
    MessageKind,
    MshrChange,
    RowAccess,
    FaultStage,
    PageChange,
    Permission,
    TlbChange,
    TagOutcome,
    WarpState,
    WayStep,
    RemoteChange,
    Network,
    LaneDirection,
    LanePhase,
    LaneReason,
    Number,
    Text,
    Bytes,
}

const fn field(name: &'static str, is: FieldType, about: &'static str) -> FieldInfo {
    FieldInfo { name, about, is }
}

const MESSAGE_FIELDS: &[FieldInfo] = &[
    field(
        "type",
        FieldType::MessageKind,
        "kind or class of the message (read, write, probe, grant, answer ...)",
    ),
    field("from", FieldType::Component, "sender"),
    field("to", FieldType::Component, "receiver"),
    field("network", FieldType::Network, "virtual network"),
    field("size", FieldType::Number, "bytes on the wire"),
    field("data", FieldType::Number, "1 if it carries data, else 0"),
];

/// Every kind of record. Fields that all kinds share: `at`, `block`, `page`, `txn`, `cycle`, `event`.
pub const KINDS: &[KindInfo] = &[
    KindInfo {
        name: "issue",
        about: "a warp or core issued an access to its L1",
        fields: &[
            field("kind", FieldType::AccessKind, "load, store, n-store or an atomic"),
            field("warp", FieldType::Number, "warp number in its CU, 0 on a core"),
            field("value", FieldType::Bytes, "what it writes"),
        ],
    },
    KindInfo {
        name: "complete",
        about: "an access was performed",
        fields: &[
            field("kind", FieldType::AccessKind, "load, store, n-store or an atomic"),
            field("warp", FieldType::Number, "warp number in its CU, 0 on a core"),
            field("value", FieldType::Bytes, "what it read"),
            field("latency", FieldType::Number, "ticks since it was issued"),
        ],
    },
    KindInfo { name: "message", about: "a message left its sender", fields: MESSAGE_FIELDS },
    KindInfo {
        name: "hop",
        about: "a message came to a switch and goes on over its second link",
        fields: MESSAGE_FIELDS,
    },
    KindInfo { name: "delivery", about: "a message was taken by its receiver", fields: MESSAGE_FIELDS },
    KindInfo {
        name: "transition",
        about: "a block changed its stable state",
        fields: &[
            field("from", FieldType::State, "state before"),
            field("to", FieldType::State, "state after"),
            field("action", FieldType::Action, "column of the table"),
        ],
    },
    KindInfo {
        name: "hit",
        about: "an action met a block and left its state as it was",
        fields: &[
            field("state", FieldType::State, "its state"),
            field("action", FieldType::Action, "column of the table"),
        ],
    },
    KindInfo {
        name: "directory",
        about: "a directory entry changed",
        fields: &[
            field("owner", FieldType::Component, "child that supplies the data"),
            field("sharers", FieldType::Component, "children that hold a copy"),
        ],
    },
    KindInfo {
        name: "mshr",
        about: "a miss status holding register was taken, joined, given back or missed",
        fields: &[
            field("change", FieldType::MshrChange, "allocate, merge, release or full"),
            field("used", FieldType::Number, "entries in use afterwards"),
            field("capacity", FieldType::Number, "entries in all"),
        ],
    },
    KindInfo {
        name: "merge",
        about: "dirty bytes were merged into a block under their mask",
        fields: &[
            field("from", FieldType::Component, "who gave them"),
            field("bytes", FieldType::Number, "bytes merged"),
        ],
    },
    KindInfo {
        name: "evict",
        about: "a block was chosen as victim",
        fields: &[
            field("state", FieldType::State, "its state"),
            field("dirty", FieldType::Number, "dirty bytes it holds"),
        ],
    },
    KindInfo {
        name: "promote",
        about: "a non-coherent store too small for the byte mask became coherent",
        fields: &[
            field("kind", FieldType::AccessKind, "kind as issued"),
            field("warp", FieldType::Number, "warp number in its CU, 0 on a core"),
        ],
    },
    KindInfo {
        name: "warp",
        about: "a warp changed what it does",
        fields: &[
            field("warp", FieldType::Number, "warp number in its CU"),
            field("from", FieldType::WarpState, "before"),
            field("to", FieldType::WarpState, "after"),
        ],
    },
    KindInfo {
        name: "kernel",
        about: "a kernel was launched or ended",
        fields: &[
            field("name", FieldType::Text, "name of the kernel"),
            field("launch", FieldType::Number, "number of the launch, from 0"),
            field("ended", FieldType::Number, "1 at its end, 0 at its launch"),
        ],
    },
    KindInfo {
        name: "stall",
        about: "a message had to wait at the head of its channel: its receiver had no room",
        fields: MESSAGE_FIELDS,
    },
    KindInfo {
        name: "no-credit",
        about: "a channel found no credit for its receiver's buffer",
        fields: &[field("network", FieldType::Network, "virtual network")],
    },
    KindInfo {
        name: "lane-reversal",
        about: "lanes of a link go on in their change of direction, at the direction that gets them",
        fields: &[
            field("from", FieldType::LaneDirection, "direction that loses them: out or in"),
            field("to", FieldType::LaneDirection, "direction that gets them: out or in"),
            field("phase", FieldType::LanePhase, "quiesce, turn or done"),
            field("reason", FieldType::LaneReason, "saturated, equalise or launch"),
            field("count", FieldType::Number, "lanes that turn"),
            field("out-lanes", FieldType::Number, "lanes out that packets can take from now on"),
            field("in-lanes", FieldType::Number, "lanes in that packets can take from now on"),
            field("out-use", FieldType::Number, "percent of the last sample that the link out was busy"),
            field("in-use", FieldType::Number, "percent of the last sample that the link in was busy"),
        ],
    },
    KindInfo {
        name: "saturation",
        about: "a direction of a link became saturated in a sample, or is no more",
        fields: &[
            field("saturated", FieldType::Number, "1 if it is now, else 0"),
            field("use", FieldType::Number, "percent of the sample that it was busy"),
            field("lanes", FieldType::Number, "its lanes"),
        ],
    },
    KindInfo {
        name: "activate",
        about: "a memory controller opened a row for an access",
        fields: &[
            field("bank", FieldType::Number, "bank of its channel"),
            field("row", FieldType::Number, "row of the bank"),
            field("access", FieldType::RowAccess, "miss, conflict or reopen"),
        ],
    },
    KindInfo {
        name: "dram",
        about: "a memory controller let an access move its data",
        fields: &[
            field("bank", FieldType::Number, "bank of its channel"),
            field("row", FieldType::Number, "row of the bank"),
            field("access", FieldType::RowAccess, "hit, miss, conflict or reopen"),
            field("writes", FieldType::Number, "1 if it writes, else 0"),
        ],
    },
    KindInfo {
        name: "tlb",
        about: "a TLB missed, was filled, or lost an entry",
        fields: &[field("change", FieldType::TlbChange, "miss, fill or shoot-down")],
    },
    KindInfo {
        name: "far-fault",
        about: "a far-fault went on",
        fields: &[
            field(
                "stage",
                FieldType::FaultStage,
                "raised, merged, nacked, dropped, queued, serviced, arrived or replayed",
            ),
            field("set", FieldType::Number, "number of the transfer set, from 1; 0 for none"),
            field("unit", FieldType::Number, "number of the compute unit that it is about"),
            field("writes", FieldType::Number, "1 if the access that faults there writes, else 0"),
        ],
    },
    KindInfo {
        name: "page-move",
        about: "a page was moved, or its move has ended",
        fields: &[
            field(
                "change",
                FieldType::PageChange,
                "demanded, prefetched, copied, arrived, evicted, wasted, written-back, gone, thrash or redundant",
            ),
            field("set", FieldType::Number, "number of the transfer set, from 1; 0 for none"),
        ],
    },
    KindInfo {
        name: "protection-fault",
        about: "a fault of a write to a page that is taken for read-only went on",
        fields: &[
            field(
                "stage",
                FieldType::FaultStage,
                "raised, merged, nacked, dropped, queued, serviced, arrived or replayed",
            ),
            field(
                "who",
                FieldType::Component,
                "the compute unit or core that it is about, or the part that took it",
            ),
            field("writes", FieldType::Number, "1 if the access that faults there writes, else 0"),
        ],
    },
    KindInfo {
        name: "page-permission",
        about: "another thing may be done with a page",
        fields: &[field("permission", FieldType::Permission, "read-only, changing or read-write")],
    },
    KindInfo {
        name: "speculation",
        about: "all pages are taken for read-only, or no longer",
        fields: &[field("on", FieldType::Number, "1 if they are now, else 0")],
    },
    KindInfo {
        name: "page-home",
        about: "a page got its home: the memory of a socket",
        fields: &[field("home", FieldType::Number, "the socket")],
    },
    KindInfo {
        name: "use-once",
        about: "bytes that may not be kept came, for those that waited for them",
        fields: &[
            field("served", FieldType::Number, "loads that they served"),
            field("sectors", FieldType::Number, "pieces of 32 B that came"),
            field("dropped", FieldType::Number, "those of them that nobody waited for"),
        ],
    },
    KindInfo {
        name: "overtaken",
        about: "a probe passed bytes that were on their way: they are not kept",
        fields: &[],
    },
    KindInfo {
        name: "remote-directory",
        about: "what a GPU knows about the CPU's caches changed",
        fields: &[
            field("change", FieldType::RemoteChange, "insert, present, full, flush or clear"),
            field("lines", FieldType::Number, "lines in it afterwards"),
            field("capacity", FieldType::Number, "lines from which on it is full"),
        ],
    },
    KindInfo {
        name: "nack",
        about: "the CPU does not have a line that the remote directory claims it has",
        fields: &[field(
            "false-positive",
            FieldType::Number,
            "1 if it never had it since the directory was empty",
        )],
    },
    KindInfo {
        name: "way-repartition",
        about: "a cache has other ways for local and for remote lines",
        fields: &[
            field("local", FieldType::Number, "ways for local lines afterwards"),
            field("remote", FieldType::Number, "ways for remote lines afterwards"),
            field(
                "memory",
                FieldType::Number,
                "utilisation of the socket's memory in the sample, in percent",
            ),
            field("ingress", FieldType::Number, "projected utilisation of the link into it, in percent"),
            field("step", FieldType::WayStep, "halve, to-remote, to-local or equalise"),
        ],
    },
    KindInfo {
        name: "tag",
        about: "a request met its tag in a memory that is a cache, or went on in the tag miss handler",
        fields: &[
            field(
                "outcome",
                FieldType::TagOutcome,
                "hit, cold-miss, conflict-miss, merge, arrival, replay, relay, both, write-back or full",
            ),
            field("writes", FieldType::Number, "1 if it writes or is atomic, else 0"),
            field("pending", FieldType::Number, "requests in the pending queue afterwards"),
            field("scoreboard", FieldType::Number, "entries of the scoreboard afterwards"),
        ],
    },
    KindInfo {
        name: "input",
        about: "the machine was changed from outside: an event of its own",
        fields: &[field("text", FieldType::Text, "what was changed, as it was given")],
    },
    KindInfo {
        name: "fault",
        about: "an injected fault took effect",
        fields: &[field("name", FieldType::Text, "its name")],
    },
    KindInfo {
        name: "violation",
        about: "a check failed",
        fields: &[
            field("rule", FieldType::Text, "the rule that does not hold"),
            field("text", FieldType::Text, "what was found"),
        ],
    },
];

impl Record {
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
            What::FarFault { .. } => "far-fault",
            What::ProtectionFault { .. } => "protection-fault",
            What::Permission { .. } => "page-permission",
            What::Speculation { .. } => "speculation",
            What::Page { .. } => "page-move",
            What::PageHome { .. } => "page-home",
            What::WayRepartition { .. } => "way-repartition",
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

    /// The value of this record's own field `name` (see [`KINDS`]); the shared ones are plain members.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Field> {
        match &self.what {
            What::Issue { kind, warp, bytes } => match name {
                "kind" => Some(Field::Word(kind.name())),
                "warp" => Some(Field::Number(u64::from(*warp))),
                "value" => Some(Field::Bytes(bytes.clone())),
                _ => None,
            },
            What::Complete { kind, warp, bytes, latency } => match name {
                "kind" => Some(Field::Word(kind.name())),
                "warp" => Some(Field::Number(u64::from(*warp))),
                "value" => Some(Field::Bytes(bytes.clone())),
                "latency" => Some(Field::Number(*latency)),
                _ => None,
            },
            What::Message(message)
            | What::Hop(message)
            | What::Delivery(message)
            | What::Stall { message } => message_field(message, name),
            What::Transition { from, to, action } => match name {
                "from" => Some(Field::State(*from)),
                "to" => Some(Field::State(*to)),
                "action" => Some(Field::Word(action.name())),
                _ => None,
            },
            What::Hit { state, action } => match name {
                "state" => Some(Field::State(*state)),
                "action" => Some(Field::Word(action.name())),
                _ => None,
            },
            What::Directory { owner, sharers } => match name {
                "owner" => owner.map(Field::Component),
                "sharers" => Some(Field::Components(sharers.clone())),
                _ => None,
            },
            What::Mshr { change, used, capacity } => match name {
                "change" => Some(Field::Word(change.name())),
                "used" => Some(Field::Number(u64::from(*used))),
                "capacity" => Some(Field::Number(u64::from(*capacity))),
                _ => None,
            },
            What::Merge { from, bytes } => match name {
                "from" => Some(Field::Component(*from)),
                "bytes" => Some(Field::Number(u64::from(*bytes))),
                _ => None,
            },
            What::Evict { state, dirty } => match name {
                "state" => Some(Field::State(*state)),
                "dirty" => Some(Field::Number(u64::from(*dirty))),
                _ => None,
            },
            What::Promote { kind, warp } => match name {
                "kind" => Some(Field::Word(kind.name())),
                "warp" => Some(Field::Number(u64::from(*warp))),
                _ => None,
            },
            What::Warp { warp, from, to } => match name {
                "warp" => Some(Field::Number(u64::from(*warp))),
                "from" => Some(Field::Word(from.name())),
                "to" => Some(Field::Word(to.name())),
                _ => None,
            },
            What::Kernel { name: kernel, launch, ended } => match name {
                "name" => Some(Field::Text(kernel.clone())),
                "launch" => Some(Field::Number(u64::from(*launch))),
                "ended" => Some(Field::Number(u64::from(*ended))),
                _ => None,
            },
            What::NoCredit { network } => (name == "network").then(|| Field::Word(network.name())),
            What::LaneReversal(reversal) => reversal_field(reversal, name),
            What::Saturation(saturation) => saturation_field(*saturation, name),
            What::Activate { bank, row, access } => bank_field((*bank, *row, *access), None, name),
            What::Dram { bank, row, access, writes } => {
                bank_field((*bank, *row, *access), Some(*writes), name)
            }
            What::Tlb { .. }
            | What::FarFault { .. }
            | What::ProtectionFault { .. }
            | What::Permission { .. }
            | What::Speculation { .. }
            | What::Page { .. }
            | What::PageHome { .. } => paging_field(&self.what, name),
            What::WayRepartition { local, remote, decision } => match name {
                "local" => Some(Field::Number(u64::from(*local))),
                "remote" => Some(Field::Number(u64::from(*remote))),
                "memory" => Some(Field::Number(u64::from(decision.memory))),
                "ingress" => Some(Field::Number(u64::from(decision.ingress))),
                "step" => Some(Field::Word(decision.step.name())),
                _ => None,
            },
            What::Tag(record) => tag_field(*record, name),
            other => told_field(other, name),
        }
    }
}

fn tag_field(record: TagRecord, name: &str) -> Option<Field> {
    match name {
        "outcome" => Some(Field::Word(record.outcome.name())),
        "writes" => Some(Field::Number(u64::from(record.writes))),
        "pending" => Some(Field::Number(u64::from(record.pending))),
        "scoreboard" => Some(Field::Number(u64::from(record.scoreboard))),
        _ => None,
    }
}

/// A field of what happens to pages and their translations.
fn paging_field(what: &What, name: &str) -> Option<Field> {
    match what {
        What::Tlb { change } => (name == "change").then(|| Field::Word(change.name())),
        What::FarFault { stage, set, unit, writes, .. } => match name {
            "unit" => unit.map(|unit| Field::Number(u64::from(unit))),
            "writes" => Some(Field::Number(u64::from(*writes))),
            _ => page_field("stage", stage.name(), *set, name),
        },
        What::ProtectionFault { stage, who, writes } => match name {
            "stage" => Some(Field::Word(stage.name())),
            "who" => Some(Field::Component(*who)),
            "writes" => Some(Field::Number(u64::from(*writes))),
            _ => None,
        },
        What::Permission { permission } => (name == "permission").then(|| Field::Word(permission.name())),
        What::Speculation { on } => (name == "on").then(|| Field::Number(u64::from(*on))),
        What::Page { change, set, .. } => page_field("change", change.name(), *set, name),
        What::PageHome { home } => (name == "home").then(|| Field::Number(u64::from(*home))),
        _ => None,
    }
}

/// A field of what a part tells about others, or of what was done to the machine.
fn told_field(what: &What, name: &str) -> Option<Field> {
    match what {
        What::UseOnce { served, brought, dropped } => once_field((*served, *brought, *dropped), name),
        What::Overtaken => None,
        What::RemoteDirectory { change, lines, capacity } => remote_field(*change, (*lines, *capacity), name),
        What::Nack { false_positive } => {
            (name == "false-positive").then(|| Field::Number(u64::from(*false_positive)))
        }
        What::Input { text } => (name == "text").then(|| Field::Text(text.clone())),
        What::Fault { name: fault } => (name == "name").then(|| Field::Word(fault)),
        What::Violation { rule, text } => match name {
            "rule" => Some(Field::Word(rule)),
            "text" => Some(Field::Text(text.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// A field of bytes that came and are not kept: loads served, sectors that came, and those dropped.
fn once_field((served, brought, dropped): (u32, Sectors, Sectors), name: &str) -> Option<Field> {
    match name {
        "served" => Some(Field::Number(u64::from(served))),
        "sectors" => Some(Field::Number(u64::from(brought.count()))),
        "dropped" => Some(Field::Number(u64::from(dropped.count()))),
        _ => None,
    }
}

/// A field of a change of a remote directory: lines in it, and those that it has room for.
fn remote_field(change: RemoteChange, (lines, capacity): (u32, u32), name: &str) -> Option<Field> {
    match name {
        "change" => Some(Field::Word(change.name())),
        "lines" => Some(Field::Number(u64::from(lines))),
        "capacity" => Some(Field::Number(u64::from(capacity))),
        _ => None,
    }
}

/// A field of what happens to a page in a transfer set: `word` is called `of`.
fn page_field(of: &str, word: &'static str, set: u64, name: &str) -> Option<Field> {
    match name {
        "set" => Some(Field::Number(set)),
        _ => (name == of).then_some(Field::Word(word)),
    }
}

/// A field of what happens in a row of a bank.
fn bank_field((bank, row, access): (u32, u64, RowAccess), writes: Option<bool>, name: &str) -> Option<Field> {
    match name {
        "bank" => Some(Field::Number(u64::from(bank))),
        "row" => Some(Field::Number(row)),
        "access" => Some(Field::Word(access.name())),
        "writes" => writes.map(|writes| Field::Number(u64::from(writes))),
        _ => None,
    }
}

fn saturation_field(saturation: Saturation, name: &str) -> Option<Field> {
    match name {
        "saturated" => Some(Field::Number(u64::from(saturation.is_saturated))),
        "use" => Some(Field::Number(u64::from(saturation.flow.utilisation))),
        "lanes" => Some(Field::Number(u64::from(saturation.flow.lanes))),
        _ => None,
    }
}

fn reversal_field(reversal: &LaneReversal, name: &str) -> Option<Field> {
    let (out, into): (Flow, Flow) = (reversal.flows.out, reversal.flows.into);
    match name {
        "from" => Some(Field::Word(reversal.to.opposite().name())),
        "to" => Some(Field::Word(reversal.to.name())),
        "phase" => Some(Field::Word(reversal.phase.name())),
        "reason" => Some(Field::Word(reversal.reason.name())),
        "count" => Some(Field::Number(u64::from(reversal.count))),
        "out-lanes" => Some(Field::Number(u64::from(out.lanes))),
        "in-lanes" => Some(Field::Number(u64::from(into.lanes))),
        "out-use" => Some(Field::Number(u64::from(out.utilisation))),
        "in-use" => Some(Field::Number(u64::from(into.utilisation))),
        _ => None,
    }
}

fn message_field(message: &Message, name: &str) -> Option<Field> {
    match name {
        "type" => Some(Field::Words(message.kind.words())),
        "from" => Some(Field::Component(message.from)),
        "to" => Some(Field::Component(message.to)),
        "network" => Some(Field::Word(message.kind.network().name())),
        "size" => Some(Field::Number(u64::from(message.size))),
        "data" => Some(Field::Number(u64::from(message.has_data))),
        _ => None,
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
