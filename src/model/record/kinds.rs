//! Every kind of record by its name, with its fields, for queries, completion and help.

/// A kind of record: its name in queries, what it means, and its own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindInfo {
    pub name: &'static str,
    pub about: &'static str,
    pub fields: &'static [FieldInfo],
}

impl KindInfo {
    /// What its records say, a line for each field.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.fields.iter().map(|field| format!("    {:<14} {}", field.name, field.about))
    }
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
    WalkChange,
    TagOutcome,
    WarpState,
    WayStep,
    RemoteChange,
    Network,
    LaneDirection,
    LanePhase,
    LaneReason,
    /// What a sample of a link ends with.
    LaneDecision,
    /// What a sample of a socket's memory and link ends with.
    WayDecision,
    Number,
    /// 1 or 0: yes or no.
    Flag,
    Text,
    Bytes,
}

const fn field(name: &'static str, is: FieldType, about: &'static str) -> FieldInfo {
    FieldInfo { name, about, is }
}

// What the ways of a socket are decided by.
const MEMORY: FieldInfo =
    field("memory", FieldType::Number, "utilisation of the socket's memory in the sample, in percent");
const INGRESS: FieldInfo =
    field("ingress", FieldType::Number, "projected utilisation of the link into it, in percent");
const READS: FieldInfo =
    field("reads", FieldType::Number, "bytes that the socket asked others for in the sample");
const ROOM: FieldInfo = field(
    "room",
    FieldType::Number,
    "bytes that the link could bring in it beside what others ask and what answers writes",
);

const MESSAGE_FIELDS: &[FieldInfo] = &[
    field(
        "type",
        FieldType::MessageKind,
        "kind or class of the message (read, write, probe, grant, answer ...)",
    ),
    field("from", FieldType::Component, "sender"),
    field("to", FieldType::Component, "receiver"),
    field("network", FieldType::Network, "virtual network"),
    field("size", FieldType::Number, "bytes, with one header; a link may cut it into packets"),
    field(
        "data",
        FieldType::Flag,
        "1 if it carries bytes of a block, else 0 (what a forward stores is none)",
    ),
];

/// Every kind of record. Fields that all kinds share: `at`, `block`, `page`, `txn`, `cycle`, `event`.
pub const KINDS: &[KindInfo] = &[
    KindInfo {
        name: "issue",
        about: "a warp or core issued an access to its L1",
        fields: &[
            field(
                "kind",
                FieldType::AccessKind,
                "load, store, n-store, an atomic or exclusive (a store of no bytes)",
            ),
            field("warp", FieldType::Number, "warp number in its CU, 0 on a core"),
            field("value", FieldType::Bytes, "what it writes"),
        ],
    },
    KindInfo {
        name: "complete",
        about: "an access was performed",
        fields: &[
            field(
                "kind",
                FieldType::AccessKind,
                "load, store, n-store, an atomic or exclusive (a store of no bytes)",
            ),
            field("warp", FieldType::Number, "warp number in its CU, 0 on a core"),
            field("value", FieldType::Bytes, "what it read"),
            field(
                "latency",
                FieldType::Number,
                "whole GPU core cycles since it was issued, rounded down; the times of its issue and of this tell the rest, but for \
                 a hit, which is told as it is issued, with the time that its L1 takes, and for what has joined a miss, which takes \
                 as long, at least",
            ),
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
        about: "an action met a block and left its state as it was; of accesses that missed too, once they are served (waited 1)",
        fields: &[
            field("state", FieldType::State, "its state"),
            field("action", FieldType::Action, "column of the table"),
            field(
                "waited",
                FieldType::Flag,
                "1 if it had to wait: for a block that was not here, or behind others",
            ),
        ],
    },
    KindInfo {
        name: "directory",
        about: "a directory entry changed",
        fields: &[
            field("owner", FieldType::Component, "child that supplies the data"),
            field("sharers", FieldType::Component, "children that hold a copy"),
            field(
                "rule",
                FieldType::Number,
                "of a grant: the rule of the table's [directory] that says it, by its number from 1 among those for the request",
            ),
        ],
    },
    KindInfo {
        name: "mshr",
        about: "a miss status holding register was taken, joined, given back or missed",
        fields: &[
            field(
                "change",
                FieldType::MshrChange,
                "allocate, merge, release, or full: a request has to wait since none is free",
            ),
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
        about: "a warp changed what it does (memory: it waits for its L1, too); where it waits for a page, about that page",
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
            field(
                "name",
                FieldType::Text,
                "name of the kernel, such as reduction; not the id of its [[kernel]]",
            ),
            field("launch", FieldType::Number, "number of the launch, from 0"),
            field("ended", FieldType::Flag, "1 at its end, 0 at its launch"),
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
            field(
                "out-use",
                FieldType::Number,
                "percent of the last sample that the link out was busy, with its lanes of then",
            ),
            field(
                "in-use",
                FieldType::Number,
                "percent of the last sample that the link in was busy, with its lanes of then",
            ),
        ],
    },
    KindInfo {
        name: "lane-sample",
        about: "a sample of a link has ended, at its direction out, whether or not lanes are to turn",
        fields: &[
            field(
                "reason",
                FieldType::LaneDecision,
                "unsaturated, saturated, last-lane, equalise, balanced, turning or static",
            ),
            field("to", FieldType::LaneDirection, "direction that is to get a lane, if one is"),
            field("out-lanes", FieldType::Number, "lanes out in the sample"),
            field("in-lanes", FieldType::Number, "lanes in in the sample"),
            field("out-use", FieldType::Number, "percent of the sample that the link out was busy"),
            field("in-use", FieldType::Number, "percent of the sample that the link in was busy"),
        ],
    },
    KindInfo {
        name: "saturation",
        about: "a direction of a link became saturated in a sample, or is no more",
        fields: &[
            field("saturated", FieldType::Flag, "1 if it is now, else 0"),
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
            field("writes", FieldType::Flag, "1 if it writes, else 0"),
            field("tags", FieldType::Flag, "1 if it is of a tag, in a bank of tags, else 0"),
        ],
    },
    KindInfo {
        name: "tlb",
        about: "a TLB missed, was filled, or lost an entry",
        fields: &[field(
            "change",
            FieldType::TlbChange,
            "miss, merge (with a miss that is pending), fill or shoot-down",
        )],
    },
    KindInfo {
        name: "page-walk",
        about: "a GMMU began or ended a walk of the page table for a TLB that missed",
        fields: &[
            field("change", FieldType::WalkChange, "begun or ended"),
            field("unit", FieldType::Number, "number of the compute unit whose TLB asked"),
            field("cached", FieldType::Number, "levels of the page table that the page walk cache had"),
            field("memory", FieldType::Number, "levels that memory had to be asked for"),
            field("cycles", FieldType::Number, "of one that ended, quoted cycles since it began"),
        ],
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
            field("set", FieldType::Number, "number of the transfer set, from 1; none before one is made"),
            field("unit", FieldType::Number, "number of the compute unit that it is about"),
            field("writes", FieldType::Flag, "1 if the access that faults there writes, else 0"),
        ],
    },
    KindInfo {
        name: "page-move",
        about: "a page was moved, or its move has ended",
        fields: &[
            field(
                "change",
                FieldType::PageChange,
                "demanded, prefetched, copied, copied-back, arrived, evicted, taken-back (by a core or another GPU), wasted (gone though it was prefetched \
                 and never used), written-back, gone, thrash, redundant (copied back unchanged), or unused (prefetched, and never used until all work has ended)",
            ),
            field("set", FieldType::Number, "number of the transfer set, from 1; none before one is made"),
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
            field("writes", FieldType::Flag, "1 if the access that faults there writes, else 0"),
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
        fields: &[field("on", FieldType::Flag, "1 if they are now, else 0")],
    },
    KindInfo {
        name: "page-home",
        about: "a page got its home: the memory of a socket",
        fields: &[field("home", FieldType::Number, "the socket")],
    },
    KindInfo {
        name: "remote-miss",
        about: "a cache missed a block whose home is not the memory of its own GPU or socket",
        fields: &[field(
            "home",
            FieldType::Number,
            "number of the socket; where only host and GPU have memories, 0 is the host",
        )],
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
            FieldType::Flag,
            "1 if it never had it since the directory was empty",
        )],
    },
    KindInfo {
        name: "way-repartition",
        about: "a cache has other ways for local and for remote lines",
        fields: &[
            field("local", FieldType::Number, "ways for local lines afterwards"),
            field("remote", FieldType::Number, "ways for remote lines afterwards"),
            MEMORY,
            INGRESS,
            READS,
            ROOM,
            field("step", FieldType::WayStep, "halve, to-remote, to-local or equalise"),
        ],
    },
    KindInfo {
        name: "way-sample",
        about: "the sample that a socket's ways are decided by has ended, at its first L2 slice, whether or not ways move",
        fields: &[
            field("step", FieldType::WayDecision, "to-remote, to-local, equalise or keep"),
            field("moved", FieldType::Flag, "1 if a way of one of its caches moves by it, else 0"),
            MEMORY,
            INGRESS,
            READS,
            ROOM,
            field("remote", FieldType::Number, "ways of its L2 for remote lines afterwards"),
            field("l1-remote", FieldType::Number, "ways of its L1s for remote lines afterwards"),
        ],
    },
    KindInfo {
        name: "tag",
        about: "a request met its tag in a memory that is a cache, or went on in the tag miss handler",
        fields: &[
            field(
                "outcome",
                FieldType::TagOutcome,
                "hit, cold-miss, conflict-miss, merge, arrival, replay, relay (a write that misses by conflict), both (a write that misses cold), write-back, full, or too-old (the data came without a write that went past them)",
            ),
            field("writes", FieldType::Flag, "1 if it writes or is atomic, else 0"),
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
        about: "an injected fault that strikes once, by its number, took effect; of rules that are off, and of a bug to be found, nothing is told",
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
