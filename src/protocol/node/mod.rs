//! One cache or directory of the hierarchy: untimed protocol state and what it does with each input.
//!
//! Towards its parent a node's unit is its own block; towards its children it is their block ("varying block
//! sizes in one memory hierarchy", UMH, section 2). Blocks that are not busy are only entries of the store;
//! everything under way stands in a [`pending::Pending`] per block, and [`Node::resume`] does whatever has
//! become possible for it.

mod access;
mod ask;
mod busy;
mod config;
mod counters;
mod evict;
mod fault;
mod flush;
mod initial;
mod merge;
mod need;
pub mod pending;
mod probe;
mod remote;
mod room;
mod sectored;
mod serve;
mod stand;
mod sync;
pub mod tag_miss_handler;
mod tag_view;
mod tagged;
mod tell;
mod timeless;
mod turn;
mod uncached;
mod under_way;
mod view;

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use smallvec::SmallVec;

use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::model::message::{Message, MessageKind, Network, TxnKey, TxnNumber};
use crate::model::patch::Patch;
use crate::model::record::What;
use crate::model::sectors::Sectors;
use crate::model::sorted::SortedMap;
use crate::model::state::{Action, State};
use crate::model::time::{EventNumber, Tick};
use crate::protocol::homes::Homes;
use crate::protocol::outbox::{About, Outbox};
use crate::protocol::store::{Entry, Store, Unit};
use crate::protocol::table::{Cell, Next, Step};
use pending::{Pending, ProbeJob, Spare, Want};
use room::Waiting;
use tag_miss_handler::TagMissHandler;

pub use access::Offer;
pub use busy::{Busy, WaitsFor};
pub use config::{NodeConfig, Role};
pub use counters::Counters;
pub use flush::Scope;
pub use need::{Keeper, Need, Stand};
pub use timeless::{Timeless, message_without_time};
pub use view::CellSums;

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
    /// The block that is just called because a way of its set may have become free, and the place in which it waited.
    called: Option<(Address, usize)>,
    /// Blocks whose eviction waits for children.
    recalling: SmallVec<[Address; 2]>,
    mshrs_used: u32,
    /// Since when there are so many, and the ticks that there were others before, summed over those.
    mshrs_before: (Tick, Tick),
    high_water: u32,
    uses: u64,
    flushing: flush::Flushing,
    /// Blocks that a child has written back, and the other children that had them then, a bit each: until the next launch.
    unseen: BTreeMap<Address, u64>,
    releases: sync::Releases,
    /// Boxed, since few nodes have it.
    tags: Option<Box<TagMissHandler>>,
    /// Of a memory whose GPU takes no part in the CPU's coherence.
    remote: Option<Box<remote::Remote>>,
    /// Memories that want all their lines back.
    purging: SmallVec<[ComponentId; 1]>,
    /// Of a node with memory: what has come whole in this event. Whoever is given it now does not wait until it was written there and read
    /// again ("the data are passed to L1", UMH, Fig. 5 a; "the HMD forwards the merged data", 4.1.1).
    at_hand: Option<(EventNumber, Range)>,
    /// Cells used, by row and action.
    cells: Vec<u64>,
    pub counters: Counters,
}

/// What becomes of an action on a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    /// It can be served here.
    Here(Cell),
    /// It needs the parent's permission or bytes.
    Parent(Cell),
    /// It needs a place, and asks nobody.
    Place,
    /// The parent performs it.
    PassUp(Cell),
    /// The table says that it cannot happen.
    Never,
}

impl Node {
    #[must_use]
    pub fn new(config: NodeConfig, store: Store) -> Self {
        let cells = vec![0; (config.table.rows.len() + 1) * Action::ALL.len()];
        let tags = config.tags.map(|_| Box::default());
        Self {
            tags,
            config: Arc::new(config),
            store,
            pending: SortedMap::default(),
            spare: Spare::default(),
            jobs: SortedMap::default(),
            waiting: Waiting::default(),
            called: None,
            recalling: SmallVec::new(),
            mshrs_used: 0,
            mshrs_before: (0, 0),
            high_water: 0,
            uses: 0,
            flushing: flush::Flushing::default(),
            unseen: BTreeMap::new(),
            releases: sync::Releases::default(),
            remote: None,
            purging: SmallVec::new(),
            at_hand: None,
            cells,
            counters: Counters::default(),
        }
    }

    #[must_use]
    pub fn id(&self) -> ComponentId {
        self.config.id
    }

    /// The block of this node that holds an address.
    #[must_use]
    pub fn block_of(&self, address: Address) -> Address {
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
            data: Patch::empty(self.range_of(block), self.config.mask_bytes, self.config.values),
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

    /// Whether the home of a block is another one than the local.
    fn is_remote(&self, block: Address, homes: &Homes) -> bool {
        let is_dealt = !matches!(homes, Homes::Single);
        is_dealt && self.config.home.is_some_and(|own| homes.of(block) != own)
    }

    fn count_hit(&mut self, block: Address) {
        self.counters.hits += 1;
        self.counters.remote_hits += u64::from(self.store.get(block).is_some_and(|entry| entry.remote));
    }

    fn count_miss(&mut self, block: Address, out: &mut Outbox) {
        self.counters.misses += 1;
        if self.is_remote(block, &out.homes) {
            self.counters.remote_misses += 1;
            let (home, block) = (out.homes.of(block), Range::new(block, self.config.block));
            out.record(self.config.id, About::new(block, None), || What::RemoteMiss { home });
        }
    }

    /// So many ways are for blocks whose home is another socket, from the beginning.
    pub fn partition(&mut self, remote: u32) {
        self.store.partition(remote);
    }

    /// The same under way: who waits for a way may have one now.
    pub fn repartition(&mut self, remote: u32, out: &mut Outbox) {
        self.partition(remote);
        self.waiting.call_all();
        self.settle(out);
    }

    /// Ways for blocks whose home is another socket; 0 where any way is for any block.
    #[must_use]
    pub fn remote_ways(&self) -> u32 {
        self.store.remote_ways()
    }

    /// Ways of a set; none of a memory, which has room for every block.
    #[must_use]
    pub fn ways(&self) -> Option<u32> {
        self.store.shape().map(|(_, ways)| ways)
    }

    fn touch(&mut self, block: Address) {
        self.uses += 1;
        let uses = self.uses;
        if let Some(entry) = self.store.get_mut(block) {
            entry.used = uses;
        }
    }

    /// What becomes of an action on some sectors of a block; `is_uncached` of a block that may not be kept here.
    fn decide(
        &self,
        block: Address,
        (action, sectors): (Action, Sectors),
        is_performed: bool,
        is_uncached: bool,
    ) -> Decision {
        if self.config.role == Role::Root {
            return Decision::Here(Cell { step: Step::Hit, next: Next::Same });
        }
        if is_uncached {
            return self.decide_uncached(action);
        }
        match self.config.cell(self.state(block), action, is_performed) {
            Some(cell) => match cell.step {
                Step::Hit | Step::Flush => self.unless_missing(block, sectors, cell),
                Step::Allocate if self.store.get(block).is_some() => Decision::Here(cell),
                Step::Allocate => Decision::Place,
                Step::Fetch if self.is_all_dirty(block) => Decision::Here(Cell { step: Step::Hit, ..cell }),
                Step::Ask(_) | Step::Fetch => Decision::Parent(cell),
                Step::Forward => Decision::PassUp(cell),
                _ => Decision::Never,
            },
            None => Decision::Never,
        }
    }

    /// What becomes of something that waits for its block.
    fn decide_want(&self, pending: &Pending, want: &Want) -> Decision {
        let what = (want.action, want.sectors);
        self.decide(pending.block, what, want.is_performed_here(), pending.uncached)
    }

    /// Whether every byte of a block was stored here, so that there is nothing to fetch.
    fn is_all_dirty(&self, block: Address) -> bool {
        self.store.get(block).is_some_and(|entry| entry.state != State::I && entry.data.mask.is_full())
    }

    /// Whether this request could be taken now; probes and replies always can.
    #[must_use]
    pub fn accepts(&self, message: &Message) -> bool {
        if self.is_tagged() {
            return self.lack(message).is_none();
        }
        // A forwarded access is always taken.
        if message.kind == MessageKind::Forward || message.kind.network() != Network::Request {
            return true;
        }
        let (block, action) = (self.block_of(message.range.start), self.action_of_request(message));
        self.has_mshr()
            || self.pending.contains(block)
            || matches!(
                self.decide(block, (action, message.sectors), message.kind == MessageKind::Fetch, false),
                Decision::Here(_)
            )
    }

    /// Whether this message could be taken now.
    #[must_use]
    pub fn takes(&self, message: &Message) -> bool {
        match message.kind {
            _ if self.is_tagged() => self.lack(message).is_none(),
            MessageKind::Writeback | MessageKind::Notify => self.sinks(message),
            kind => kind.network() != Network::Request || self.accepts(message),
        }
    }

    /// Takes a message, and out of it what it carries.
    pub fn receive(&mut self, message: &mut Message, out: &mut Outbox) {
        self.store.focus(self.block_of(message.range.start));
        match message.kind {
            _ if self.is_tagged() => self.receive_tagged(message, out),
            MessageKind::Read
            | MessageKind::ReadNc
            | MessageKind::Write
            | MessageKind::Fetch
            | MessageKind::Forward => self.receive_request(message, out),
            MessageKind::ProbeRead | MessageKind::ProbeWrite => {
                self.counters.probed += 1;
                self.receive_probe(message, out);
            }
            MessageKind::Grant | MessageKind::PeerData => self.receive_grant(message, out),
            MessageKind::Reply => self.receive_reply(message, out),
            MessageKind::GrantAck => self.receive_grant_ack(message, out),
            MessageKind::Answer => self.receive_answer(message, out),
            MessageKind::Writeback | MessageKind::Notify => self.receive_eviction(message, out),
            MessageKind::EvictAck => self.receive_evict_ack(message, out),
            MessageKind::Flush => self.receive_flush(message, out),
            MessageKind::Flushed => self.receive_flushed(message, out),
        }
        self.settle(out);
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
        (&self.flushing, &self.unseen).hash(hasher);
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
