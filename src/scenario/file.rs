//! The scenario file as it is written: every key and its meaning.
//!
//! The documentation of each field is also its description in the JSON schema.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::MachineChoice;
use crate::config::document::At;
use crate::config::seed::Seed;
use crate::model::units::Size;

use super::values::{Given, Texts};

/// A scenario: a machine, what it does, and what shall be seen.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
#[schemars(title = "umscope scenario file")]
pub struct ScenarioFile {
    /// What it shows, in one line.
    pub title: Option<String>,
    /// Where it comes from, such as a paper and its figure.
    pub source: Option<String>,
    /// What it is about, in a few sentences.
    pub about: Option<String>,
    /// A bundled machine's name, the path of a machine file, or the machine itself as a table.
    pub machine: MachineChoice,
    /// Keys of the machine file with dots (or as tables), each with another value than the machine has, as `--set` takes
    /// them; what the command line sets counts more.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub(super) set: toml::Table,
    /// A protocol instead of the machine's own: one of `protocols`, a bundled name or a path.
    pub protocol: Option<At<String>>,
    /// Protocols that it brings along, by name: each the text of a protocol file. `protocol`, here and in its machine, finds
    /// them before all others.
    #[serde(default)]
    pub protocols: BTreeMap<String, At<String>>,
    /// The data of the kernels that take a `scale`, and the capacities that they press on, shrink by this power of two:
    /// the size of every L1, L2 and LLC and of every GPU memory. Each has so many times fewer sets (a power of two, one
    /// at least) of the same ways and blocks. Host memory, latencies, bandwidths, MSHRs and buffers stay. A kernel
    /// with a `scale` of its own keeps that. Default: 1.
    pub scale: Option<At<u64>>,
    /// Seed of everything random, and of what kernels without a `seed` of their own generate; at most 9223372036854775807.
    /// Default: 0, and that of the kernels.
    pub seed: Option<Seed>,
    /// Parameters of all kernels that take them, such as { pieces = 8 }, instead of what each of them says.
    #[serde(default)]
    pub with: Given,
    /// Whether the rules of the protocol are checked after every event. Default: true.
    pub checks: Option<bool>,
    /// How the run must end. Default: finished.
    pub ends: Option<Ending>,
    /// Cycles after which the run is stopped. Default: 10 million, or 10 billion with kernels or a trace.
    pub max_cycles: Option<At<u64>>,
    /// Cycles that a transaction may take, from issue to its end; one that takes longer is a failed check (`overdue`).
    /// 0: as long as it likes. Default: 1 million.
    pub transaction_limit: Option<u64>,
    /// A trace to run: path of a file or folder.
    pub trace: Option<At<String>>,
    /// The trace's format, if it cannot be told from the file: a name that `umscope list trace-formats` shows.
    pub trace_format: Option<At<String>>,
    /// GPU core cycles that each launch of a kernel of the trace takes, which a trace does not tell. Default: 5000, as
    /// Accel-Sim has it.
    pub launch: Option<At<u64>>,
    /// Single accesses.
    #[serde(default, rename = "do")]
    pub accesses: Vec<At<DoFile>>,
    /// Programs of several instructions.
    #[serde(default, rename = "program")]
    pub programs: Vec<At<ProgramFile>>,
    /// Kernels, dealt over the compute units of all GPUs.
    #[serde(default, rename = "kernel")]
    pub kernels: Vec<At<KernelFile>>,
    /// Flushes of dirty blocks down to the host memory.
    #[serde(default, rename = "flush")]
    pub flushes: Vec<At<FlushFile>>,
    /// Blocks that are somewhere before the first event.
    #[serde(default, rename = "state")]
    pub states: Vec<At<StateFile>>,
    /// Bytes of the host memory before the first event; the rest is zero.
    #[serde(default)]
    pub memory: Vec<BytesFile>,
    /// Memory that is allocated, beside what the work touches: the driver of paged GPU memory may prefetch its pages.
    #[serde(default)]
    pub allocate: Vec<At<AllocateFile>>,
    /// Changes of the protocol's table, such as "cache N read = ack > I", "inner I n-store = write > M",
    /// "directory read 2 = none" or "merge N E = none"; of another table than the machine's own as "vi: ...".
    #[serde(default)]
    pub mutate: Texts,
    /// Faults to inject.
    #[serde(default, rename = "fault")]
    pub faults: Vec<At<FaultFile>>,
    /// What is done to the machine while it runs, by event.
    #[serde(default, rename = "input")]
    pub inputs: Vec<At<InputFile>>,
    /// The moment to begin at, instead of event 0: what comes before it runs unseen.
    pub start: Option<At<StartFile>>,
    /// What `umscope explore` does in every order.
    pub explore: Option<ExploreFile>,
    /// Narration.
    #[serde(default, rename = "say")]
    pub says: Vec<At<SayFile>>,
    /// A bug to be found.
    pub bug: Option<At<BugFile>>,
    /// Breakpoints that the debugger begins with.
    #[serde(default, rename = "break")]
    pub breaks: Vec<At<BreakFile>>,
    /// What shall be seen.
    #[serde(default, rename = "expect")]
    pub expectations: Vec<At<ExpectFile>>,
}

/// What `umscope explore` does to the machine, in every order. Messages are delivered in every order besides.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub struct ExploreFile {
    /// What each compute unit and core may do at any time: load, store, n-store or atomic, an address, and how many bytes
    /// (default: 1), such as "load 0x1000 8" and "store 0x1001"; or exclusive (a coherent store of no bytes) and an address.
    pub accesses: Texts,
    /// The compute units and cores that do it. Default: all.
    #[serde(default)]
    pub by: Texts,
    /// Accesses that each of them may have under way, 1 to 4. Default: 1.
    pub outstanding: Option<At<u64>>,
    /// Whether any cache may evict any block at any time. Default: true.
    pub evictions: Option<bool>,
    /// Whether any L1 may be emptied by an acquire at any time, with protocols that know it. Default: true.
    pub acquires: Option<bool>,
}

/// How a run ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// All work is done.
    #[default]
    Finished,
    /// Work is left and nothing can move.
    Deadlock,
    /// A check of the protocol fails; the run stops there.
    Violation,
    /// It is still going on after `max-cycles`.
    Limit,
}

/// One access by one compute unit or core. Exactly one of load, store, n-store, atomic, exclusive and fence.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub struct DoFile {
    /// Its name, for `after` and `result of`. Default: do-1, do-2 ...
    pub id: Option<At<String>>,
    /// What must have ended before it starts: an id or a list of them.
    #[serde(default)]
    pub after: Texts,
    /// Cycles to wait after that.
    #[serde(default)]
    pub delay: u64,
    /// The compute unit or core, such as gpu0.cu1 or host.cpu0.
    pub by: At<String>,
    /// Its warp, from 0: what one warp does follows one after the other, and several warps issue independently.
    /// Default: the first that is free.
    pub warp: Option<At<u64>>,
    /// Read bytes.
    pub load: Option<At<LoadFile>>,
    /// A coherent store.
    pub store: Option<At<StoreFile>>,
    /// A non-coherent store.
    pub n_store: Option<At<StoreFile>>,
    /// A coherent read-modify-write.
    pub atomic: Option<At<AtomicFile>>,
    /// The exclusive access request of dynamic synchronisation: a coherent store of no bytes.
    pub exclusive: Option<At<ExclusiveFile>>,
    /// Wait for the earlier accesses of the same warp: full, acquire or release.
    pub fence: Option<At<String>>,
}

impl DoFile {
    /// Where its address stands.
    pub fn address_span(&self) -> Option<Range<usize>> {
        let load = self.load.as_ref().map(|at| &at.value.address);
        let store = self.store.as_ref().or(self.n_store.as_ref()).map(|at| &at.value.address);
        let atomic = self.atomic.as_ref().map(|at| &at.value.address);
        let exclusive = self.exclusive.as_ref().map(|at| &at.value.address);
        let address = load.or(store).or(atomic).or(exclusive)?;
        Some(address.span.clone())
    }
}

/// Bytes to read.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { address = 0x1000, len = 4 }")]
pub struct LoadFile {
    /// Where.
    pub address: At<u64>,
    /// How many bytes each lane reads, 1 to 64. Default: 4.
    pub len: Option<At<u64>>,
    /// Lanes of the warp that take part, 1 to 64. Default: 1.
    pub lanes: Option<At<u64>>,
    /// Bytes from one lane's address to the next one's. Default: the length.
    pub stride: Option<i64>,
}

/// Bytes to store.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { address = 0x1000, bytes = \"07 00 00 00\" }")]
pub struct StoreFile {
    /// Where.
    pub address: At<u64>,
    /// The bytes as pairs of hexadecimal digits.
    pub bytes: Option<At<String>>,
    /// Or else a number, little-endian.
    pub value: Option<At<u64>>,
    /// Bytes of the number: 1, 2, 4 or 8. Default: 4.
    pub width: Option<At<u64>>,
    /// Lanes of the warp that take part, 1 to 64. Default: 1.
    pub lanes: Option<At<u64>>,
    /// Bytes from one lane's address to the next one's. Default: the width.
    pub stride: Option<i64>,
}

/// A coherent read-modify-write.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { op = \"add\", address = 0x1000, value = 1 }")]
pub struct AtomicFile {
    /// add, exchange, max or compare-zero-swap.
    pub op: At<String>,
    /// Where.
    pub address: At<u64>,
    /// The operand.
    pub value: At<u64>,
    /// Bytes: 1, 2, 4 or 8. Default: 4.
    pub width: Option<At<u64>>,
}

/// The block to own.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { address = 0x1000 }")]
pub struct ExclusiveFile {
    /// An address in it.
    pub address: At<u64>,
}

/// A sequence of instructions on one compute unit or core.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct ProgramFile {
    /// Its name. Default: program-1, program-2 ...
    pub id: Option<At<String>>,
    /// What must have ended before it starts.
    #[serde(default)]
    pub after: Texts,
    /// Cycles to wait after that.
    #[serde(default)]
    pub delay: u64,
    /// The compute unit or core.
    pub by: At<String>,
    /// Its warp, from 0. Default: the first that is free.
    pub warp: Option<At<u64>>,
    /// Instructions: "load r1 0x1000 4", "store 0x2000 07 00", "n-store 0x2000 07", "exclusive 0x2000",
    /// "atomic add r2 0x3000 1", "fence", "spin 0x2000 01", "compute 20", "barrier".
    #[serde(rename = "do")]
    pub instructions: Vec<At<String>>,
}

/// A kernel launch.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct KernelFile {
    /// Its name in this scenario. Default: kernel-1, kernel-2 ...
    pub id: Option<At<String>>,
    /// What must have ended before it starts.
    #[serde(default)]
    pub after: Texts,
    /// Cycles to wait after that.
    #[serde(default)]
    pub delay: u64,
    /// Which kernel, such as transpose; `umscope list` names them.
    pub name: At<String>,
    /// Its parameters, such as { width = 64 }.
    #[serde(default)]
    pub with: Given,
}

/// Dirty blocks are written back down to the host memory.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct FlushFile {
    /// Its name. Default: flush-1, flush-2 ...
    pub id: Option<At<String>>,
    /// What must have ended before it starts.
    #[serde(default)]
    pub after: Texts,
    /// Cycles to wait after that.
    #[serde(default)]
    pub delay: u64,
    /// Whose blocks, such as gpu0. Default: all GPUs.
    pub below: Option<At<String>>,
}

/// A block that is somewhere before the first event.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct StateFile {
    /// The cache or directory.
    pub node: At<String>,
    /// An address in the block; it also names the unit whose owner and sharers are given.
    pub address: u64,
    /// Its state, unless the node is an HMD.
    pub state: Option<At<String>>,
    /// The child that supplies the data.
    pub owner: Option<At<String>>,
    /// The children that hold a copy.
    #[serde(default)]
    pub sharers: Texts,
    /// Bytes that are dirty there.
    #[serde(default)]
    pub dirty: Vec<BytesFile>,
}

/// Bytes at an address.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { address = 0x1000, bytes = \"07\" }")]
pub struct BytesFile {
    /// Where.
    pub address: u64,
    /// Pairs of hexadecimal digits.
    pub bytes: At<String>,
}

/// Memory that is allocated.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { address = 0x100000, size = \"2 MiB\" }")]
pub struct AllocateFile {
    /// Its first byte.
    pub address: u64,
    /// Its bytes, up to 2 GiB.
    pub size: Size,
}

/// A fault to inject.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { name = \"lose-message\", message = \"grant\" }")]
pub struct FaultFile {
    /// lose-message, drop-wake-up, drop-replay, lose-page, or a rule of the protocol that is not kept: answer-without-data, skip-invalidation,
    /// probes-may-not-pass, answer-while-asking, no-evict-ack, no-grant-ack, grant-without-data, grant-over-own-bytes,
    /// exclusive-from-shared, writebacks-wait, leave-early, writeback-is-answer, merge-whole-blocks, keep-mask-on-read,
    /// merge-keeps-state, writebacks-as-requests, forget-newer, peer-grants-exclusive, ack-before-data, no-supply,
    /// unfair-arbiter, serve-beside-cpu, keep-host-lines, keep-beside-cpu, skip-gpu-probe, trust-filter, keep-overtaken,
    /// skip-shoot-down, drop-page-write-back, lose-arrival, relay-past-fetch, cold-write-only-here, drop-dirty-row or no-launch-flush.
    pub name: At<String>,
    /// Of lose-message: the type of the message, such as probe-read.
    pub message: Option<At<String>>,
    /// Of lose-message, drop-wake-up, drop-replay and lose-page: which one, from 1. Default: 1.
    pub nth: Option<At<u64>>,
}

/// Something that is done to the machine while it runs. Exactly one of set, fault, cell, access, choose and hold.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct InputFile {
    /// After the event of this number; it is an event of its own.
    pub event: At<u64>,
    /// A key of the machine file has another value, such as "network.latency=2 us".
    pub set: Option<At<String>>,
    /// A fault is injected, such as "lose-message message=grant nth=1".
    pub fault: Option<At<String>>,
    /// A protocol's table is another, such as "cache N read = ack > I".
    pub cell: Option<At<String>>,
    /// One more access, such as "gpu0.cu0 store 0x1000 07".
    pub access: Option<At<String>>,
    /// What the next event is, such as "deliver gpu0.cu0.l1 > gpu0.l2.0 request".
    pub choose: Option<At<String>>,
    /// What comes next comes so many cycles later, such as "64".
    pub hold: Option<At<String>>,
}

/// A moment to begin at.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { event = 120 }")]
pub struct StartFile {
    /// The position, at most 1,000,000.
    pub event: At<u64>,
    /// The digest of the machine there, 16 hexadecimal digits: with another it is not the moment that is meant.
    pub digest: Option<At<String>>,
}

/// Narration: shown at a moment of the run; without one, before the first event.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct SayFile {
    /// At the first record that this query matches.
    pub on: Option<At<String>>,
    /// Before the event of that record instead: a question about it comes before its answer is seen.
    pub before: Option<At<String>>,
    /// At the n-th of them instead, from 1.
    pub nth: Option<At<u64>>,
    /// After this task has ended.
    pub after: Option<At<String>>,
    /// After the first event of this cycle or a later one.
    pub at: Option<At<u64>>,
    /// What to say. Lines that follow each other flow together; an empty line ends a paragraph; lines that are indented, or begin with
    /// `- `, stay lines of their own.
    pub text: String,
    /// What to ask. It can be answered until the next event, or for as long as its `until` says: an answer that comes later has been
    /// seen.
    pub ask: Option<At<AskFile>>,
}

/// A question.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { text = \"...\", answer = \"...\" }")]
pub struct AskFile {
    /// The question.
    pub text: String,
    /// The right answer. Default: what `because` says.
    pub answer: Option<At<String>>,
    /// Answers to choose from; the right one is among them.
    #[serde(default)]
    pub choices: Vec<String>,
    /// What tells the answer: a cell of the protocol's table such as "cache N read" (an L1), "inner E store" (a node with
    /// children), "merge N E", or "directory read".
    pub because: Option<At<String>>,
    /// The protocol whose table that is, by its name. Default: the machine's own.
    pub protocol: Option<At<String>>,
    /// Why that is the answer, in your words: shown with it.
    pub why: Option<String>,
    /// It stays open until the event of the first record after it that this query matches. Default: until the next event.
    pub until: Option<At<String>>,
}

/// A bug to be found: the learner is told the symptom only, and asks for hints one by one.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { symptom = \"...\", answer = \"...\" }")]
pub struct BugFile {
    /// What is wrong, as a user would tell it.
    pub symptom: String,
    /// Hints, from a faint one to a plain one.
    #[serde(default)]
    pub hints: Vec<String>,
    /// What it may be; the right answer is among them.
    pub choices: Vec<String>,
    /// What it is.
    pub answer: At<String>,
    /// Why it is that, told once it has been found.
    pub because: String,
}

/// A breakpoint that the debugger begins with.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct BreakFile {
    /// Stop at the records that this query matches.
    pub on: Option<At<String>>,
    /// Stop only if this holds.
    #[serde(rename = "if")]
    pub condition: Option<At<String>>,
    /// Pass by so many times.
    #[serde(default)]
    pub ignore: u64,
    /// Stop once, then forget it.
    #[serde(default)]
    pub once: bool,
    /// Debugger commands to run at the stop.
    #[serde(default)]
    pub commands: Vec<At<String>>,
}

/// What shall be seen, and when. At most one of after, at, on, always, never, count and end; without any, in the end.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub struct ExpectFile {
    /// When this task has ended.
    pub after: Option<At<String>>,
    /// After the first event of this cycle or a later one.
    pub at: Option<At<u64>>,
    /// After the event with the first record that this query matches, which must come.
    pub on: Option<At<String>>,
    /// After the n-th of them instead, from 1.
    pub nth: Option<At<u64>>,
    /// After every event: what holds.
    pub always: Option<Texts>,
    /// No record matches this query.
    pub never: Option<At<String>>,
    /// How many records match this query: see is, at-least and at-most.
    pub count: Option<At<String>>,
    /// Exactly so many.
    pub is: Option<At<u64>>,
    /// At least so many.
    pub at_least: Option<At<u64>>,
    /// At most so many.
    pub at_most: Option<At<u64>>,
    /// In the end.
    pub end: Option<At<bool>>,
    /// What holds then: a predicate or a list of them, such as "state of gpu0.l2.0 block 0x1000 is M".
    #[serde(default)]
    pub that: Texts,
    /// Why it matters; shown when it fails.
    pub about: Option<String>,
}
