//! One cache or directory of the hierarchy: untimed protocol state and what it does with each input.
//!
//! Towards its parent a node's unit is its own block; towards its children it is their block ("varying block
//! sizes in one memory hierarchy", UMH, section 2). Blocks that are not busy are only entries of the store;
//! everything under way stands in a [`pending::Pending`] per block, and [`Node::resume`] does whatever has
//! become possible for it.

mod access;
mod ask;
mod evict;
mod fault;
mod merge;
pub mod pending;
mod probe;
mod remote;
mod room;
mod serve;
mod timeless;
mod stand;
mod sync;
mod tag_view;
mod tagged;
mod uncached;
mod view;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use smallvec::SmallVec;

use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::model::fault::Fault;
use crate::model::message::{Message, MessageKind, TxnKey, TxnNumber};
use crate::model::patch::Patch;
use crate::model::record::What;
use crate::model::sectors::Sectors;
use crate::model::sorted::SortedMap;
use crate::model::state::{Action, State};
use crate::model::time::Tick;
use crate::protocol::homes::Homes;
use crate::protocol::outbox::{About, Outbox, Outgoing, Touch, TouchKind};
use crate::protocol::store::{Entry, Interleave, Store, Unit};
use crate::protocol::table::{Cell, Next, Row, Step, Table};
use crate::protocol::tag_miss_handler::{TagMissConfig, TagMissHandler};
use pending::{Pending, ProbeJob, Spare, Want};
use room::Waiting;

pub use access::Offer;
pub use stand::{Keeper, Need as Needs, Stand};
pub use timeless::{Timeless, message_without_time};
pub use view::{Busy, WaitsFor};

/// Where a node stands in the hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// An L1: performs accesses.
    Leaf,
    /// Has children and a parent.
    Inner,
    /// Memory is behind it (an HMD): no tags, no states.
    Root,
}

/// What does not change while a node lives.
#[expect(clippy::struct_excessive_bools, reason = "each is about something else")]
#[derive(Clone, Debug)]
pub struct NodeConfig {
    pub id: ComponentId,
    pub table: Arc<Table>,
    pub role: Role,
    /// Bytes of a block, a power of two.
    pub block: u32,
    /// Bytes of a unit of the directory, a power of two not above `block`; equal to it at a leaf.
    pub unit: u32,
    /// Bytes that a bit of the byte mask stands for.
    pub granule: u32,
    /// Whether bytes are kept.
    pub values: bool,
    /// Misses under way at most; 0 for no limit.
    pub mshrs: u32,
    pub parents: Vec<ComponentId>,
    /// By the home of an address, the first of the parents that serve it; the first of all where nothing is given.
    /// With how addresses are dealt over them.
    pub by_home: SmallVec<[(u32, Interleave); 8]>,
    /// How addresses are dealt over all parents where nothing is given by home.
    pub dealing: Interleave,
    /// The home that is local here.
    pub socket: u32,
    /// At most 64 where the table keeps a directory; elsewhere ascending.
    pub children: Vec<ComponentId>,
    /// Children that can hand blocks to each other, a bit each.
    pub peers: u64,
    /// Who may not keep a line gets the sectors that it waits for, not all of it.
    pub by_sector: bool,
    /// Bytes of a message without its data.
    pub header: u32,
    /// Loads are answered while stores to other bytes of their block are handed on.
    pub hits_under_stores: bool,
    /// Of a memory with a remote directory: the children on its own side of the network, which do not keep to the protocol of
    /// the others; a bit each.
    pub own_side: u64,
    /// DRAM stands behind it, so that data cost an access there.
    pub has_memory: bool,
    /// Of a memory that is a cache with its tags in DRAM, its tag miss handler.
    pub tags: Option<TagMissConfig>,
    pub faults: Arc<[Fault]>,
}

impl NodeConfig {
    /// The parent that serves `address`: chosen by its home, then as addresses are dealt over the parents there.
    #[must_use]
    pub fn parent(&self, address: Address, homes: &Homes) -> Option<ComponentId> {
        let (first, dealing) = if self.by_home.is_empty() {
            (0, self.dealing)
        } else {
            *self.by_home.get(homes.of(address) as usize)?
        };
        self.parents.get(first as usize + dealing.index(address)).copied()
    }

    /// Position of a child.
    #[must_use]
    pub fn child(&self, id: ComponentId) -> Option<u16> {
        let found = if self.table.has_directory() {
            self.children.iter().position(|&child| child == id)
        } else {
            self.children.binary_search(&id).ok()
        };
        found.map(|position| position as u16)
    }

    /// Whether the node keeps account of what its children hold.
    fn is_directory(&self) -> bool {
        self.role != Role::Leaf && self.table.has_directory()
    }

    /// The cell for an action. What a child's fetch or forward asks is performed here, as in a leaf, unless the table
    /// lets a leaf only pass it on: then the cells for nodes with children say how.
    fn cell(&self, state: State, action: Action, is_performed: bool) -> Option<Cell> {
        let row = self.table.row(state)?;
        let leaf = || row.leaf.get(action.index()).copied().flatten();
        if self.role == Role::Leaf {
            return leaf();
        }
        let performs = |cell: &Cell| !matches!(cell.step, Step::Fetch | Step::Forward);
        let own = if is_performed { leaf().filter(performs) } else { None };
        own.or_else(|| row.inner.get(action.index()).copied().flatten())
    }

    /// Whether nobody tracks the copies of its children, so that a probe goes to all of them.
    #[must_use]
    pub fn broadcasts(&self) -> bool {
        let probed = |row: &Row| row.leaf.get(Action::Write.index()).is_some_and(Option::is_some);
        self.role == Role::Inner && !self.table.has_directory() && self.table.rows.iter().any(probed)
    }

    fn has_fault(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }
}

/// What a node counts; statistics read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub hits: u64,
    pub misses: u64,
    /// Requests that joined one under way for the same block.
    pub merges: u64,
    pub evictions: u64,
    pub recalls: u64,
    pub writebacks: u64,
    pub probes: u64,
    pub merged_bytes: u64,
    pub peer_transfers: u64,
    pub promotions: u64,
    pub mshr_full: u64,
    /// Ticks that MSHRs were in use, less the moment at which each of those in use was taken.
    mshr_ticks: Tick,
    /// Bytes that a flush of this node wrote back.
    pub flushed_bytes: u64,
    /// Hits and misses of blocks whose home is another socket.
    pub remote_hits: u64,
    pub remote_misses: u64,
    /// Probes of lines that the remote directory claims, that the CPU turned out not to have; and those of lines that it
    /// never had.
    pub nacks: u64,
    pub false_positives: u64,
    /// How often the CPU had to give up all lines.
    pub forced_flushes: u64,
    /// Loads of blocks that may not be kept, and the requests that were sent for them.
    pub uncached_loads: u64,
    pub uncached_requests: u64,
    /// Sectors that came for such loads, and those that nobody waited for.
    pub sectors_brought: u64,
    pub sectors_dropped: u64,
    /// Bytes that fences and kernel boundaries wrote back, and blocks that they emptied.
    pub released_bytes: u64,
    pub invalidated: u64,
}

impl Counters {
    /// Counts of several nodes together.
    pub fn add(&mut self, other: &Self) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.merges += other.merges;
        self.evictions += other.evictions;
        self.recalls += other.recalls;
        self.writebacks += other.writebacks;
        self.probes += other.probes;
        self.merged_bytes += other.merged_bytes;
        self.peer_transfers += other.peer_transfers;
        self.promotions += other.promotions;
        self.mshr_full += other.mshr_full;
        self.mshr_ticks = self.mshr_ticks.wrapping_add(other.mshr_ticks);
        self.flushed_bytes += other.flushed_bytes;
        self.remote_hits += other.remote_hits;
        self.remote_misses += other.remote_misses;
        self.nacks += other.nacks;
        self.false_positives += other.false_positives;
        self.forced_flushes += other.forced_flushes;
        self.uncached_loads += other.uncached_loads;
        self.uncached_requests += other.uncached_requests;
        self.sectors_brought += other.sectors_brought;
        self.sectors_dropped += other.sectors_dropped;
        self.released_bytes += other.released_bytes;
        self.invalidated += other.invalidated;
    }
}

/// One cache or directory.
#[derive(Clone, Debug)]
pub struct Node {
    pub config: Arc<NodeConfig>,
    store: Store,
    pending: SortedMap<Address, Pending>,
    spare: Spare,
    /// Probes from the parent by the start of their range.
    jobs: SortedMap<Address, ProbeJob>,
    waiting: Waiting,
    /// Blocks whose eviction waits for children.
    recalling: SmallVec<[Address; 2]>,
    mshrs_used: u32,
    high_water: u32,
    uses: u64,
    flushing: bool,
    releases: sync::Releases,
    /// Boxed, since few nodes have it.
    tags: Option<Box<TagMissHandler>>,
    /// Of a memory whose GPU takes no part in the CPU's coherence.
    remote: Option<Box<remote::Remote>>,
    /// Memories that want all their lines back.
    purging: SmallVec<[ComponentId; 1]>,
    /// Cells used, by row and action.
    cells: Vec<u64>,
    pub counters: Counters,
}

/// What a block needs before an action can be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// Nothing: it can be served here.
    Here(Cell),
    /// The parent's permission or bytes.
    Parent(Cell),
    /// A place, without asking anybody.
    Place,
    /// The parent performs it.
    PassUp(Cell),
    /// The table says that it cannot happen.
    Never,
}

impl Node {
    #[must_use]
    pub fn new(config: NodeConfig, store: Store) -> Self {
        let cells = vec![0; config.table.rows.len() * Action::ALL.len()];
        let tags = config.tags.map(|_| Box::default());
        Self {
            tags,
            config: Arc::new(config),
            store,
            pending: SortedMap::default(),
            spare: Spare::default(),
            jobs: SortedMap::default(),
            waiting: Waiting::default(),
            recalling: SmallVec::new(),
            mshrs_used: 0,
            high_water: 0,
            uses: 0,
            flushing: false,
            releases: sync::Releases::default(),
            remote: None,
            purging: SmallVec::new(),
            cells,
            counters: Counters::default(),
        }
    }

    #[must_use]
    pub fn id(&self) -> ComponentId {
        self.config.id
    }

    fn block_of(&self, address: Address) -> Address {
        address.block(self.config.block)
    }

    fn range_of(&self, block: Address) -> Range {
        Range::new(block, self.config.block)
    }

    fn unit_of(&self, block: Address, address: Address) -> u32 {
        (address.0.saturating_sub(block.0) / u64::from(self.config.unit)) as u32
    }

    fn unit_range(&self, block: Address, unit: u32) -> Range {
        Range::new(block.plus(u64::from(unit) * u64::from(self.config.unit)), self.config.unit)
    }

    fn state(&self, block: Address) -> State {
        self.store.get(block).map_or(State::I, |entry| entry.state)
    }

    fn new_entry(&self, block: Address) -> Entry {
        let units = if self.config.is_directory() { self.config.block / self.config.unit } else { 0 };
        Entry {
            block,
            state: State::I,
            remote: false,
            used: 0,
            data: Patch::empty(self.range_of(block), self.config.granule, self.config.values),
            units: SmallVec::from_elem(Unit::default(), units as usize),
            newer: None,
            here: None,
        }
    }

    /// Memory has every block; its entry is made when it is first touched.
    fn ensure_root_entry(&mut self, block: Address) {
        if self.config.role == Role::Root && self.store.get(block).is_none() {
            let entry = self.new_entry(block);
            self.store.place(0, entry);
        }
    }

    /// Whether the home of a block is another socket.
    fn is_remote(&self, block: Address, out: &Outbox) -> bool {
        !matches!(out.homes, Homes::Single) && out.homes.of(block) != self.config.socket
    }

    fn count_hit(&mut self, block: Address) {
        self.counters.hits += 1;
        self.counters.remote_hits += u64::from(self.store.get(block).is_some_and(|entry| entry.remote));
    }

    fn count_miss(&mut self, block: Address, out: &Outbox) {
        self.counters.misses += 1;
        self.counters.remote_misses += u64::from(self.is_remote(block, out));
    }

    /// Lets so many ways take blocks whose home is another socket.
    pub fn partition(&mut self, remote: u32) {
        self.store.partition(remote);
    }

    /// Ways for blocks whose home is another socket; 0 where any way takes any block.
    #[must_use]
    pub fn remote_ways(&self) -> u32 {
        self.store.remote_ways()
    }

    fn touch(&mut self, block: Address) {
        self.uses += 1;
        let uses = self.uses;
        if let Some(entry) = self.store.get_mut(block) {
            entry.used = uses;
        }
    }

    /// What an action on a block needs; `is_uncached` of a block that may not be kept here.
    fn need(&self, block: Address, action: Action, is_performed: bool, is_uncached: bool) -> Need {
        if self.config.role == Role::Root {
            return Need::Here(Cell { step: Step::Hit, next: Next::Same });
        }
        if is_uncached {
            return self.need_uncached(action);
        }
        match self.config.cell(self.state(block), action, is_performed) {
            Some(cell) => match cell.step {
                Step::Hit | Step::Flush => Need::Here(cell),
                Step::Allocate if self.store.get(block).is_some() => Need::Here(cell),
                Step::Allocate => Need::Place,
                Step::Fetch if self.is_all_dirty(block) => Need::Here(Cell { step: Step::Hit, ..cell }),
                Step::Ask(_) | Step::Fetch => Need::Parent(cell),
                Step::Forward => Need::PassUp(cell),
                _ => Need::Never,
            },
            None => Need::Never,
        }
    }

    /// Whether every byte of a block was stored here, so that there is nothing to fetch.
    fn is_all_dirty(&self, block: Address) -> bool {
        self.store.get(block).is_some_and(|entry| entry.state != State::I && entry.data.mask.is_full())
    }

    /// Counts the use of a cell, changes the state, and records it.
    fn transition(&mut self, block: Address, action: Action, to: State, about: About, out: &mut Outbox) {
        if self.config.role == Role::Root {
            return;
        }
        let from =
            self.store.get_mut(block).map_or(State::I, |entry| std::mem::replace(&mut entry.state, to));
        self.tell_transition(from, to, action, about, out);
    }

    /// Counts and records a change that has been made.
    fn tell_transition(&mut self, from: State, to: State, action: Action, about: About, out: &mut Outbox) {
        self.count_cell(from, action);
        out.record(self.config.id, about, || {
            if from == to { What::Hit { state: from, action } } else { What::Transition { from, to, action } }
        });
    }

    fn count_cell(&mut self, state: State, action: Action) {
        if let Some(row) = self.config.table.rows.iter().position(|row| row.state == state)
            && let Some(count) = self.cells.get_mut(row * Action::ALL.len() + action.index())
        {
            *count += 1;
        }
    }

    /// A message from this node, with the fields that all have.
    fn message(&self, kind: MessageKind, to: ComponentId, range: Range, out: &Outbox) -> Message {
        Message {
            kind,
            from: self.config.id,
            to,
            range,
            txn: None,
            number: None,
            cause: out.event,
            size: self.config.header,
            granted: None,
            peer: None,
            held: None,
            access: None,
            sectors: Sectors::NONE,
            once: false,
            has_data: false,
            patch: None,
        }
    }

    /// Puts the clean bytes of a range into a message. With values off there is nothing to copy.
    fn load_clean(&self, message: &mut Message, block: Address, range: Range) {
        let Some(entry) = self.store.get(block) else { return };
        if entry.data.has_values() {
            message.patch = Some(Arc::new(entry.data.clean_copy(range)));
        }
        message.has_data = true;
        message.size += range.len;
    }

    fn send(&self, message: Message, out: &mut Outbox) {
        let read = if self.config.has_memory && message.has_data {
            message.size.saturating_sub(self.config.header)
        } else {
            0
        };
        out.sends.push(Outgoing { message, read, tag: false });
    }

    /// The memory behind this node is written.
    fn note_write(&self, range: Range, out: &mut Outbox) {
        if self.config.has_memory {
            out.touches.push(Touch { what: TouchKind::Write, range });
        }
    }

    fn record_directory(&self, block: Address, unit: u32, txn: Option<TxnNumber>, out: &mut Outbox) {
        if !out.records.on {
            return;
        }
        let Some(entry) = self.store.get(block).and_then(|entry| entry.units.get(unit as usize)).copied()
        else {
            return;
        };
        let child = |position: u32| self.config.children.get(position as usize).copied();
        let owner = entry.owner.and_then(|owner| child(u32::from(owner)));
        let sharers = (0..64).filter(|bit| entry.sharers >> bit & 1 == 1).filter_map(child).collect();
        let about = About::new(self.unit_range(block, unit), txn);
        out.record(self.config.id, about, || What::Directory { owner, sharers });
    }

    /// Whether this request could be taken now; probes and replies always can.
    #[must_use]
    pub fn accepts(&self, message: &Message) -> bool {
        if self.is_tagged() {
            return self.lack(message).is_none();
        }
        let action = match message.kind {
            MessageKind::Read | MessageKind::Fetch => Action::Load,
            MessageKind::Write => Action::Store,
            MessageKind::ReadNc => Action::NStore,
            MessageKind::Forward => return true,
            _ => return true,
        };
        let block = self.block_of(message.range.start);
        self.has_mshr()
            || self.pending.contains(block)
            || matches!(self.need(block, action, message.kind == MessageKind::Fetch, false), Need::Here(_))
    }

    /// Takes a message.
    pub fn receive(&mut self, message: Message, out: &mut Outbox) {
        self.store.focus(self.block_of(message.range.start));
        match message.kind {
            _ if self.is_tagged() => self.receive_tagged(message, out),
            MessageKind::Read
            | MessageKind::ReadNc
            | MessageKind::Write
            | MessageKind::Fetch
            | MessageKind::Forward => self.receive_request(message, out),
            MessageKind::ProbeRead | MessageKind::ProbeWrite => self.receive_probe(&message, out),
            MessageKind::Grant | MessageKind::PeerData => self.receive_grant(&message, out),
            MessageKind::Reply => self.receive_reply(&message, out),
            MessageKind::GrantAck => self.receive_grant_ack(&message, out),
            MessageKind::Answer => self.receive_answer(&message, out),
            MessageKind::Writeback | MessageKind::Notify => self.receive_eviction(&message, out),
            MessageKind::EvictAck => self.receive_evict_ack(&message, out),
            MessageKind::Flush => self.receive_flush(&message, out),
            MessageKind::Flushed => self.receive_flushed(&message, out),
        }
        self.settle(out);
    }

    /// What is under way for a block, taken out to be changed, or a new one.
    fn take_pending(&mut self, block: Address, out: &Outbox) -> Arc<Pending> {
        if let Some(pending) = self.pending.take(block) {
            return pending;
        }
        let mut pending = self.spare.take(block, self.config.parent(block, &out.homes), out.tick);
        if self.is_uncached(block, out) {
            Arc::make_mut(&mut pending).uncached = true;
        }
        pending
    }

    /// Does whatever has become possible for a block, and keeps what is left under way.
    fn resume(&mut self, mut shared: Arc<Pending>, out: &mut Outbox) {
        let pending = Arc::make_mut(&mut shared);
        let block = pending.block;
        self.store.focus(block);
        self.drive(pending, out);
        if pending.asked.is_none() && pending.queue.is_empty() && pending.passed.is_empty() {
            self.release_mshr(pending, None, out);
        }
        if !pending.is_idle() {
            self.pending.insert(block, shared);
            return;
        }
        self.pending.vacate(block);
        self.spare.put(shared);
        self.note_free(block);
        if self.config.role != Role::Root && self.state(block) == State::I {
            self.store.remove(block);
        }
    }

    fn drive(&mut self, pending: &mut Pending, out: &mut Outbox) {
        loop {
            if let Some(probe) = pending.probe {
                let held_back = pending.asked.is_some() && self.config.has_fault(Fault::ProbesMayNotPass);
                if probe.started || !self.may_answer(pending) || held_back {
                    return;
                }
                self.start_probe(pending, out);
                continue;
            }
            if pending.evicting.is_some() || self.waits_for_evict_ack(pending) {
                return;
            }
            let goes_on = if Self::awaits_acquire(pending) {
                self.acquire_when_free(pending, out)
            } else {
                self.serve_next(pending, out)
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Puts bytes into a block before the first event: memory of a root.
    pub fn set_memory(&mut self, address: Address, bytes: &[u8]) {
        for (offset, byte) in bytes.iter().enumerate() {
            let at = address.plus(offset as u64);
            let block = self.block_of(at);
            self.ensure_root_entry(block);
            if let Some(entry) = self.store.get_mut(block) {
                entry.data.copy_in(at, &[*byte]);
            }
        }
    }

    /// Hashes everything that decides what the node will do. Counters are left out.
    pub fn digest(&self, hasher: &mut impl Hasher) {
        for (slot, entry) in self.store.entries() {
            (slot, entry).hash(hasher);
        }
        self.pending.hash(hasher);
        self.jobs.hash(hasher);
        self.waiting.hash(hasher);
        self.flushing.hash(hasher);
        self.releases.hash(hasher);
        if let Some(tags) = &self.tags {
            (&tags.queue, &tags.scores, &tags.relayed).hash(hasher);
        }
        self.purging.hash(hasher);
        if let Some(remote) = &self.remote {
            remote.hash(hasher);
        }
        self.store.remote_ways().hash(hasher);
    }

    fn about(want: &Want) -> About {
        About::new(want.range, want.number).because(want.cause)
    }

    fn key_of(want: &Want) -> (Option<TxnKey>, Option<TxnNumber>) {
        (want.txn, want.number)
    }

    /// Whether nothing is under way here.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.pending.is_empty() && self.tags.as_ref().is_none_or(|tags| tags.is_idle())
    }
}
