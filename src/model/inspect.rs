//! Inspection reads what is: the views that a machine gives of its parts, and the trait that asks for them.

use std::sync::Arc;

use super::access::{AccessKind, Bytes};
use super::address::{Address, Range};
use super::bits::Bits;
use super::component::{ComponentId, Components};
use super::link_view::LinkView;
use super::message::{MessageKind, Network, TxnNumber};
use super::page_view::{FaultView, HomesView, PagesView, PermissionsView, TlbView};
use super::resource::{BankView, ResourceView};
use super::selective::{RemoteDirectoryView, RemoteLookView, UncachedView};
use super::state::{Action, State};
use super::tags::TagView;
use super::time::{EventNumber, Tick, TimeBase};
use super::wait::WaitLink;
use super::warp::WarpState;
use super::ways::WayMove;

/// A block at one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockView {
    pub node: ComponentId,
    pub range: Range,
    /// `None` where the node keeps no state (an HMD: memory is behind it).
    pub state: Option<State>,
    /// The state it waits for, shown as `S>M`.
    pub target: Option<State>,
    /// What it is busy with, for people ("waits for host.hmd0", "asks gpu0.l2.0", "evicting").
    pub doing: Option<String>,
    /// Since when.
    pub since: Option<Tick>,
    /// Directory entries of its units (the children's blocks), ascending; only units somebody holds.
    pub units: Vec<UnitView>,
    /// Dirty bits, one per `granule` bytes.
    pub dirty: Option<Bits>,
    /// The bytes that are here, where not all are: a bit as in `dirty`.
    pub here: Option<Bits>,
    pub granule: u32,
    /// The bytes, if values are kept.
    pub bytes: Option<Arc<[u8]>>,
    /// Of a memory with a remote directory: whether that says that the CPU may have it.
    pub remote_claim: Option<bool>,
    /// Set and way, where the node has them.
    pub place: Option<(u32, u32)>,
    /// Of a memory that is a cache: another block stands in its place, and of this one nothing is here or on its way.
    pub displaced: bool,
}

impl BlockView {
    /// Whether the node neither holds anything of the block nor knows or does anything about it.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let is_known = |unit: &UnitView| unit.owner.is_some() || !unit.sharers.is_empty() || unit.busy;
        self.state.is_none()
            && self.target.is_none()
            && self.doing.is_none()
            && !self.units.iter().any(is_known)
    }
}

/// The directory entry of one unit of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitView {
    pub range: Range,
    pub owner: Option<ComponentId>,
    pub sharers: Vec<ComponentId>,
    /// A transaction is being served on it.
    pub busy: bool,
}

/// An entry of a miss status holding register file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MshrEntryView {
    pub range: Range,
    pub txn: Option<TxnNumber>,
    /// Since when it waits for that.
    pub since: Tick,
    /// What it waits for, for people.
    pub waits_for: String,
    /// Accesses and requests gathered in it.
    pub merged: u32,
    /// It holds an MSHR. What is under way for a block may need none, or none any more.
    pub has_mshr: bool,
}

/// The MSHRs of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MshrView {
    pub node: ComponentId,
    pub used: u32,
    /// `None` if unlimited.
    pub capacity: Option<u32>,
    /// Most ever in use.
    pub high_water: u32,
    /// What is under way, with an MSHR or waiting for one.
    pub under_way: usize,
    /// The oldest of that, as many as were asked for.
    pub entries: Vec<MshrEntryView>,
}

/// Of what is under way the oldest, so many at most; in their order if that is all.
pub fn oldest<T>(
    all: impl Iterator<Item = T>,
    most: usize,
    since: impl Fn(&T) -> Tick,
) -> impl Iterator<Item = T> {
    let mut list: Vec<T> = if most == 0 { Vec::new() } else { all.collect() };
    if list.len() > most {
        list.sort_by_key(|one| since(one));
        list.truncate(most);
    }
    list.into_iter()
}

/// One warp of a compute unit, or a CPU core's program (one warp of one lane).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpView {
    pub state: WarpState,
    /// Since when it is in that state.
    pub since: Tick,
    /// Work it belongs to: kernel or script name, block, warp in block.
    pub work: Option<String>,
    /// Its current instruction, for people ("n-store 0x1004 := 09 00 00 00").
    pub instruction: Option<String>,
    /// What it waits for first, if that is an access of an instruction before that ("n-store 0x1000").
    pub earlier: Option<String>,
    /// The accesses it waits for.
    pub waits: Vec<TxnNumber>,
    /// The page that it waits for.
    pub page: Option<Address>,
    /// Instructions done.
    pub done: u64,
}

/// The warps of one compute unit or core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentView {
    pub agent: ComponentId,
    pub warps: Vec<WarpView>,
}

/// A transaction in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionView {
    pub number: TxnNumber,
    pub agent: ComponentId,
    pub warp: u32,
    pub kind: AccessKind,
    pub range: Range,
    pub bytes: Bytes,
    pub issued: Tick,
    pub issued_at: EventNumber,
    /// Where it is, for people, outermost last ("gpu0.cu0.l1 waits for gpu0.l2.0" ...).
    pub chain: Vec<WaitLink>,
    /// Whose message that comes down to, if it is not its own.
    pub ahead: Option<TxnNumber>,
}

impl TransactionView {
    /// What its access is called: a coherent store of no bytes is exclusive.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.kind.name_of(self.range.len)
    }
}

/// A cache or directory as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheView {
    pub node: ComponentId,
    pub sets: u32,
    pub ways: u32,
    pub block: u32,
    /// The sets that are told: all, or of more than were asked for the first that hold anything.
    pub told: Vec<u32>,
    /// Whether other sets hold something, too.
    pub holds_more: bool,
    /// Blocks in those sets, by set and way; `None` for an empty way.
    pub lines: Vec<Option<CacheLine>>,
    pub hits: u64,
    pub misses: u64,
    pub evictions: u64,
    pub writebacks: u64,
    /// Share of the time so far in which its ports were busy, from 0 to 1.
    pub port_utilisation: f64,
    /// Quoted cycles that a message has waited for one, on average.
    pub port_wait: f64,
    /// Of those hits and misses, the ones whose home is another socket.
    pub remote_hits: u64,
    pub remote_misses: u64,
    /// Where its ways are dealt over local and remote lines.
    pub partition: Option<PartitionView>,
    /// Where there are lines that it may not keep.
    pub uncached: Option<UncachedView>,
    /// What the memory behind it knows about the CPU's caches.
    pub remote_directory: Option<RemoteDirectoryView>,
}

/// A block in a way of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLine {
    pub block: Address,
    pub state: State,
    /// Its home is another socket.
    pub remote: bool,
}

/// How the ways of a cache are dealt over local and remote lines: those for remote ones are the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionView {
    pub remote: u32,
    /// From which utilisation on a memory or a link counts as saturated, in percent.
    pub threshold: u32,
    /// The last decisions for its socket, oldest first.
    pub decided: Vec<WayMove>,
}

/// The memory controller of a node, if it keeps a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryView {
    /// Requests that wait.
    pub reads: u32,
    pub writes: u32,
    /// Most that ever waited.
    pub high_water: u32,
    /// Writes go first until half of them are gone.
    pub draining: bool,
    /// By channel, then by bank.
    pub banks: Vec<BankView>,
}

/// How often a cell of a protocol table was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellCount {
    /// `None` for blocks that may not be kept, which have no state.
    pub state: Option<State>,
    pub action: Action,
    pub count: u64,
}

/// The buffers of a virtual network from one node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferView {
    pub from: ComponentId,
    /// The network that has them; `None` where all share them.
    pub network: Option<Network>,
    /// Messages in them or on the way there, and how many there is room for.
    pub held: u32,
    pub room: u32,
    /// Messages that wait at the sender, for room or for their data.
    pub waiting: u32,
    /// The oldest message: what it is, and about which block.
    pub oldest: Option<(MessageKind, Address)>,
    /// The receiver cannot take it.
    pub blocked: bool,
}

/// Reads what is.
pub trait Inspect {
    fn components(&self) -> &Components;
    fn time_base(&self) -> TimeBase;
    /// Events executed so far: the position.
    fn event(&self) -> EventNumber;
    fn tick(&self) -> Tick;
    /// The block of `node` that holds `address`; `None` if the node is none or does not hold or await it.
    fn block(&self, node: ComponentId, address: Address) -> Option<BlockView>;
    /// The node above `node` that serves `address`; the first of several, unless the machine knows better.
    fn parent(&self, node: ComponentId, _address: Address) -> Option<ComponentId> {
        self.components().get(node)?.parents.first().copied()
    }
    /// Every block address (in the finest unit of the machine) that a node holds, awaits or tracks, ascending,
    /// at most `limit`.
    fn blocks(&self, limit: usize) -> Vec<Address>;
    /// Whether bytes are kept, not only where they are.
    fn keeps_values(&self) -> bool;
    /// The bytes at `address` in `node` (memory for an HMD), if it holds them and values are kept.
    fn value(&self, node: ComponentId, address: Address, len: u32) -> Option<Vec<u8>>;
    /// With its oldest entries, so many at most.
    fn mshrs(&self, node: ComponentId, entries: usize) -> Option<MshrView>;
    /// With so many packets at most, of those that are on it.
    fn link(&self, link: ComponentId, packets: usize) -> Option<LinkView>;
    /// All links, each with so many packets at most.
    fn links(&self, packets: usize) -> Vec<LinkView> {
        self.components().iter().filter_map(|(id, _)| self.link(id, packets)).collect()
    }
    /// What the buffers into a node hold, and what waits elsewhere to come there: each virtual network of each channel that holds
    /// something.
    fn buffers(&self, _node: ComponentId) -> Vec<BufferView> {
        Vec::new()
    }
    fn agent(&self, agent: ComponentId) -> Option<AgentView>;
    /// How many of its warps do what, in the order of [`WarpState::ALL`].
    fn warp_counts(&self, agent: ComponentId) -> Option<[u32; WarpState::ALL.len()]> {
        Some(WarpState::count(self.agent(agent)?.warps.iter().map(|warp| warp.state)))
    }
    /// With the lines of the first `sets` sets: a large directory has too many to look at them all.
    fn cache(&self, node: ComponentId, sets: u32) -> Option<CacheView>;
    /// The memory controller behind a node; `None` if it has none that keeps a queue.
    fn memory(&self, _node: ComponentId) -> Option<MemoryView> {
        None
    }
    /// Bytes of the smallest block of a cache.
    fn smallest_block(&self) -> u32 {
        64
    }
    /// What the last event was, in words, for where it has made no record.
    fn last_deed(&self) -> Option<String> {
        None
    }
    /// Bytes of a page, if accesses of GPUs are translated: their memory is paged, or pages are taken for read-only.
    fn page_size(&self) -> Option<u32> {
        None
    }
    /// The pages of each GPU whose memory is paged, in at most so many cells.
    fn pages(&self, _cells: usize) -> Vec<PagesView> {
        Vec::new()
    }
    /// What may be done with pages, in at most so many cells, if they are taken for read-only.
    fn permissions(&self, _cells: usize) -> Option<PermissionsView> {
        None
    }
    /// Which socket pages live on, in at most so many cells, of GPUs that are the sockets of one.
    fn homes(&self, _cells: usize) -> Option<HomesView> {
        None
    }
    /// The last fault of the page that holds `address`, under way or not long ended: of one GPU, or of any.
    fn fault(&self, _address: Address, _gpu: Option<u32>) -> Option<FaultView> {
        None
    }
    /// The tags of a memory that is a cache, and its tag miss handler.
    fn tags(&self, _node: ComponentId) -> Option<TagView> {
        None
    }
    /// Where the remote directory of a memory, or of that behind a cache, looks for the line of an address.
    fn remote_look(&self, _node: ComponentId, _address: Address) -> Option<RemoteLookView> {
        None
    }
    /// The TLB of a compute unit, if it has one.
    fn tlb(&self, _agent: ComponentId) -> Option<TlbView> {
        None
    }
    /// What a transaction is about, if it is in flight.
    fn transaction_range(&self, number: TxnNumber) -> Option<Range> {
        Some(self.transaction(number)?.range)
    }
    /// So many transactions in flight at most, oldest first; the first `chained` of them with what they wait for.
    fn transactions(&self, limit: usize, chained: usize) -> Vec<TransactionView>;
    fn transaction(&self, number: TxnNumber) -> Option<TransactionView>;
    /// Why `component` (or its warp) cannot go on, as a chain from it outwards; empty if it can.
    fn why(&self, component: ComponentId, warp: Option<u32>) -> Vec<WaitLink>;
    /// Counts of table cells used, over all nodes or at one.
    fn cells(&self, nodes: &[ComponentId]) -> Vec<CellCount>;
    /// What accesses compete for, the busiest first.
    fn resources(&self) -> Vec<ResourceView> {
        Vec::new()
    }
    /// All statistics as flat dotted keys, in a fixed order.
    fn statistics(&self) -> Vec<(String, f64)>;
    /// One statistic.
    fn statistic(&self, key: &str) -> Option<f64> {
        self.statistics().into_iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}
