//! What does not change while a node lives: its place, its table, its shape.

use std::sync::Arc;

use smallvec::SmallVec;

use super::tag_miss_handler::TagMissConfig;
use crate::model::address::Address;
use crate::model::component::ComponentId;
use crate::model::fault::Fault;
use crate::model::state::{Action, State};
use crate::model::time::Tick;
use crate::protocol::homes::Homes;
use crate::protocol::interleave::Interleave;
use crate::protocol::table::{Cell, Row, Step, Table};

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
    /// Bytes that a bit of the byte mask stands for, with values or without: what is read from a memory, and what messages carry, depends
    /// on it. Non-coherent stores of a part of them are coherent.
    pub mask_bytes: u32,
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
    /// The home that is local here: a socket, or a side of two memories. None where no home is nearer than others, as for the
    /// caches of a host whose data live in the memories of sockets.
    pub home: Option<u32>,
    /// At most 64 where the table keeps a directory; elsewhere ascending.
    pub children: Vec<ComponentId>,
    /// Children that can hand blocks to each other, a bit each.
    pub peers: u64,
    /// Who may not keep a line gets the sectors that it waits for, not all of it.
    pub by_sector: bool,
    /// Of lines of another memory only those sectors are kept that were asked for.
    pub sectored: bool,
    /// Bytes of a message without its data.
    pub header: u32,
    /// Loads are answered while stores to other bytes of their block are handed on.
    pub hits_under_stores: bool,
    /// Of a memory with a remote directory: the children on its own side of the network, which do not keep to the protocol of
    /// the others; a bit each.
    pub own_side: u64,
    /// At a home on the host, its children on the host, a bit each: they are invalidated when a GPU stores past the protocol, or
    /// writes back what it has stored non-coherently.
    pub snooped: u64,
    /// Of a home on the host: the children that keep to no directory, so that what they write back is a store; a bit each.
    pub outside: u64,
    /// A child hands on one by one the loads of what may not be kept, each of which waits for an answer of its own.
    pub answers_each: bool,
    /// Children whose writes are posted, as those of memories with a tag miss handler and, over PCIe, of all that no directory
    /// tracks, a bit each. Their completion is told all the same, so that nothing counts as quiet too early, but takes no bandwidth.
    pub posted: u64,
    /// There are several launches, and stores of GPUs are non-coherent: it remembers which children have copies that lack some of
    /// them.
    pub remembers: bool,
    /// What the agent above waits for a hit; 0 where none is.
    pub hit_time: Tick,
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

    /// Whether the node notes what of a block is newer than what its owner has of it: where an owner may hand its block to a
    /// peer, and where memory need not be read if the owner gives all of it.
    #[must_use]
    pub fn notes_newer(&self) -> bool {
        self.has_memory && self.unit == self.block
    }

    /// Whether the node keeps account of what its children hold.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        self.role != Role::Leaf && self.table.has_directory()
    }

    /// The cell for an action; `is_performed` of what a child's fetch or forward asks.
    pub(super) fn cell(&self, state: State, action: Action, is_performed: bool) -> Option<Cell> {
        let has_children = self.role != Role::Leaf;
        if has_children && is_performed {
            return self.table.performing_cell(state, action);
        }
        self.table.cell(state, action, has_children)
    }

    /// Whether what the node holds is listed by its parent: not what is kept coherent by software, nor what keeps only
    /// what nobody else has.
    #[must_use]
    pub fn is_tracked(&self) -> bool {
        let has_children = self.role != Role::Leaf;
        !self.table.fetches_with(has_children) && (!has_children || self.table.uncached.is_none())
    }

    /// Whether it hands on each load of what may not be kept, instead of fetching once for all that wait.
    #[must_use]
    pub fn hands_on_loads(&self) -> bool {
        let cell = self.table.uncached_cell(Action::Load, self.role != Role::Leaf);
        cell.is_some_and(|cell| cell.step == Step::Forward)
    }

    /// Whether a block may leave the node without a message.
    #[must_use]
    pub fn leaves_silently(&self) -> bool {
        let cells = |row: &Row| if self.role == Role::Leaf { row.leaf } else { row.inner };
        let evicted = |row: &Row| cells(row).get(Action::Evict.index()).copied().flatten();
        self.table.rows.iter().filter_map(evicted).any(|cell| cell.step == Step::Silent)
    }

    /// Whether nobody tracks the copies of its children, so that a probe goes to all of them.
    #[must_use]
    pub fn broadcasts(&self) -> bool {
        let probed = |row: &Row| row.leaf.get(Action::Write.index()).is_some_and(Option::is_some);
        self.role == Role::Inner && !self.table.has_directory() && self.table.rows.iter().any(probed)
    }

    pub(super) fn has_fault(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }
}
