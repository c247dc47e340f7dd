//! Views of paged GPU memory: where the pages of a GPU are, the lives of its far-faults, and its TLBs.

use super::address::{Address, Range};
use super::component::ComponentId;
use super::page::Page;
use super::paging::{FaultKind, FaultStage, Permission};
use super::time::Tick;
use super::wait::WaitLink;

/// Where a page is, and what is the matter with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PageStand {
    /// Asked for, or on its way, after it was evicted. It is counted there, too.
    Thrashing,
    /// A far-fault asks for it.
    Faulted,
    /// On its way to the GPU.
    Coming,
    /// On its way back to the host.
    Leaving,
    /// In GPU memory, written there.
    Dirty,
    /// In GPU memory because it was prefetched; not used yet.
    Unused,
    /// In GPU memory.
    Used,
    /// In host memory after it was evicted.
    Evicted,
    /// In host memory.
    Host,
    /// Another socket of the same GPU has it or brings it, and translates it for this one, too.
    Away,
}

impl PageStand {
    pub const ALL: [Self; 10] = [
        Self::Thrashing,
        Self::Faulted,
        Self::Coming,
        Self::Leaving,
        Self::Dirty,
        Self::Unused,
        Self::Used,
        Self::Evicted,
        Self::Host,
        Self::Away,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Thrashing => "thrashing",
            Self::Faulted => "far-fault",
            Self::Coming => "in flight",
            Self::Leaving => "leaving",
            Self::Dirty => "dirty",
            Self::Unused => "prefetched, unused",
            Self::Used => "in use",
            Self::Evicted => "evicted",
            Self::Host => "on host",
            Self::Away => "another socket's",
        }
    }

    /// The letter that stands for it in the pages pane.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Thrashing => 'T',
            Self::Faulted => 'F',
            Self::Coming => '>',
            Self::Leaving => '<',
            Self::Dirty => 'p',
            Self::Unused => 'g',
            Self::Used => 'G',
            Self::Evicted => 'x',
            Self::Host => 'c',
            Self::Away => 'o',
        }
    }
}

/// Some pages that follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageCell {
    pub first: Address,
    /// Bytes.
    pub len: u64,
    /// What is most telling about them.
    pub stand: PageStand,
    /// When one of them was accessed last, from 0 (long ago) to 1 (now); `None` if none is in GPU memory.
    pub heat: Option<f32>,
}

/// A page on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageMove {
    pub page: Page,
    pub link: ComponentId,
    /// When its last byte arrives.
    pub due: Tick,
    /// Whether it goes to the GPU, or back to the host.
    pub to_gpu: bool,
    /// The transfer set, from 1; 0 for a page that goes back, or is copied before the work begins.
    pub set: u64,
    pub demanded: bool,
}

/// A step in the life of a fault, with what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifeStep {
    /// The TLB of a compute unit did not have the translation; the warp that asked.
    Missed {
        warp: u32,
    },
    /// A walk of the page table began.
    Walked,
    /// MSHRs of the compute unit in use then, and how many it has; of a core, which has none, 0 and 0.
    Raised {
        used: u32,
        most: u32,
    },
    Merged,
    Nacked,
    Dropped,
    Queued,
    /// The transfer set, from 1, and what is in it; 0 for a change of permission.
    Serviced {
        set: u64,
        demanded: u32,
        prefetched: u32,
    },
    /// Its page goes over the link, behind so many others.
    Sent {
        ahead: u32,
    },
    Arrived,
    Replayed,
    /// The TLB has the translation.
    Filled,
}

impl LifeStep {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Missed { .. } => "missed",
            Self::Walked => "walked",
            Self::Raised { .. } => FaultStage::Raised.name(),
            Self::Merged => FaultStage::Merged.name(),
            Self::Nacked => FaultStage::Nacked.name(),
            Self::Dropped => FaultStage::Dropped.name(),
            Self::Queued => FaultStage::Queued.name(),
            Self::Serviced { .. } => FaultStage::Serviced.name(),
            Self::Sent { .. } => "sent",
            Self::Arrived => FaultStage::Arrived.name(),
            Self::Replayed => FaultStage::Replayed.name(),
            Self::Filled => "filled",
        }
    }
}

/// A step in the life of a fault, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultStep {
    pub step: LifeStep,
    pub at: Tick,
    /// The compute unit or core that it is about, or the part that took it.
    pub who: ComponentId,
}

/// A fault, from its first step to now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultView {
    pub gpu: u32,
    pub kind: FaultKind,
    pub page: Page,
    pub range: Range,
    pub steps: Vec<FaultStep>,
    /// What it waits for; empty once it has ended.
    pub waits: Vec<WaitLink>,
}

/// How the last transfer set came about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetView {
    pub set: u64,
    pub at: Tick,
    pub demanded: u64,
    pub prefetched: u64,
    pub evicted: u64,
    /// Frames that were free before.
    pub free: u64,
}

/// What decides which pages move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mover {
    /// A driver that serves far-faults, by policies of these names.
    Driver { prefetcher: &'static str, evictor: &'static str },
    /// Copies of whole arrays before and after the work.
    Copies { by: &'static str, under_way: Option<CopyView> },
}

/// Arrays that are being copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyView {
    pub to_gpu: bool,
    /// Pages that have not come yet, of all GPUs.
    pub left: u64,
    pub began: Tick,
}

impl PagesView {
    /// How many pages the GPU has, of how many that fit into its memory.
    #[must_use]
    pub fn room(&self) -> String {
        let full = if self.free == 0 { ", FULL" } else { "" };
        match self.frames {
            Some(frames) => format!("{} of {frames} frames{full}", frames.saturating_sub(self.free)),
            None => "far-faults map pages where they are".to_owned(),
        }
    }

    /// By what pages move.
    #[must_use]
    pub fn policies(&self) -> String {
        match self.mover {
            Mover::Driver { prefetcher, .. } if self.frames.is_none() => format!("prefetch {prefetcher}"),
            Mover::Driver { prefetcher, evictor } => format!("evict {evictor}, prefetch {prefetcher}"),
            Mover::Copies { by, .. } => format!("copied by the {by}"),
        }
    }

    /// What moved in vain so far.
    #[must_use]
    pub fn in_vain(&self) -> String {
        match self.mover {
            Mover::Driver { .. } => format!("{} wasted, {} thrashed", self.wasted, self.thrashed),
            Mover::Copies { .. } => format!("{} copied in vain", self.wasted),
        }
    }

    /// What is the matter with pages, in words.
    #[must_use]
    pub fn name_of(&self, stand: PageStand) -> &'static str {
        match (self.mover, stand) {
            (Mover::Copies { .. }, PageStand::Unused) => "on GPU, unused",
            (_, PageStand::Coming) if self.frames.is_none() => "being mapped",
            (_, PageStand::Dirty) if self.frames.is_none() => "mapped, written",
            (_, PageStand::Unused) if self.frames.is_none() => "mapped ahead, unused",
            (_, PageStand::Used) if self.frames.is_none() => "mapped",
            (_, PageStand::Host) if self.frames.is_none() => "not mapped",
            _ => stand.name(),
        }
    }
}

/// The pages of one GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct PagesView {
    pub gpu: u32,
    pub driver: ComponentId,
    /// Bytes of a page.
    pub page: u32,
    /// Pages that fit into the memory of the GPU. None if pages are only mapped, and stay where they are.
    pub frames: Option<u64>,
    /// Those that hold nothing and are promised to nobody.
    pub free: u64,
    /// Pages by what is the matter with them, in the order of [`PageStand::ALL`].
    pub counts: [u64; PageStand::ALL.len()],
    /// Pages in a cell.
    pub group: u64,
    pub cells: Vec<PageCell>,
    pub moves: Vec<PageMove>,
    /// Far-faults under way, oldest first.
    pub faults: Vec<FaultView>,
    /// Far-faults in the driver's queue, and when the transfer set that gathers is due.
    pub queued: u64,
    pub due: Option<Tick>,
    pub last_set: SetView,
    pub mover: Mover,
    /// Pages that were prefetched and left without a use, and those that far-faulted again after they had left.
    pub wasted: u64,
    pub thrashed: u64,
}

/// Some pages that follow each other, by what may be done with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermissionCell {
    pub first: Address,
    /// Bytes.
    pub len: u64,
    /// The first in [`Permission::ALL`] of those that change, or else that of most.
    pub permission: Permission,
}

/// Pages that are taken for read-only until they are written.
#[derive(Clone, Debug, PartialEq)]
pub struct PermissionsView {
    pub driver: ComponentId,
    /// Bytes of a page.
    pub page: u32,
    /// Pages are marked; if not, none is yet, or speculation was given up.
    pub is_on: bool,
    pub has_given_up: bool,
    /// Pages that the work touches, by permission, in the order of [`Permission::ALL`].
    pub counts: [u64; Permission::ALL.len()],
    /// Pages in a cell.
    pub group: u64,
    pub cells: Vec<PermissionCell>,
    /// Faults under way, oldest first.
    pub faults: Vec<FaultView>,
    /// Faults of cores and of GPUs so far.
    pub by_cores: u64,
    pub by_gpus: u64,
    /// Faults in the window of the limit, and the limit, if there is one.
    pub recent: Option<(u64, u64)>,
}

/// Some pages that follow each other, by the socket that they live on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HomeCell {
    pub first: Address,
    /// Bytes.
    pub len: u64,
    /// None yet, if they were not touched.
    pub home: Option<u32>,
    /// Not all live on the same.
    pub is_mixed: bool,
}

impl HomeCell {
    /// One more page.
    pub fn add(&mut self, home: Option<u32>) {
        self.is_mixed |= home != self.home;
    }
}

/// A memory that pages live in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// Such as `gpu0` or `host`.
    pub name: String,
    /// Stands for it in the pages pane.
    pub letter: char,
    /// Pages of the work that live there.
    pub pages: u64,
}

/// Where the pages of the work live: in the memories of GPUs that are the sockets of one, or of a GPU and its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomesView {
    /// Bytes of a page.
    pub page: u32,
    /// What the policy does.
    pub placement: String,
    /// Bytes of the pieces that it deals where those are no pages.
    pub piece: u64,
    /// Pages in a cell.
    pub group: u64,
    /// All homes by their numbers, and how many pages have none yet.
    pub homes: Vec<Home>,
    pub undecided: u64,
    /// None where pieces smaller than pages are dealt.
    pub cells: Vec<HomeCell>,
}

impl HomesView {
    /// The policy, and how many pages each socket has.
    #[must_use]
    pub fn headline(&self) -> String {
        if self.cells.is_empty() {
            return format!("placement {}: pieces of {} B go round the sockets", self.placement, self.piece);
        }
        let counts: Vec<String> =
            self.homes.iter().map(|home| format!("{} {}", home.name, home.pages)).collect();
        let rest =
            if self.undecided > 0 { format!(", {} not touched yet", self.undecided) } else { String::new() };
        format!("placement {}: {}{rest}", self.placement, counts.join(", "))
    }

    /// The home of a cell, if all its pages have the same.
    #[must_use]
    pub fn of_cell(&self, cell: &HomeCell) -> Option<&Home> {
        self.homes.get(cell.home.filter(|_| !cell.is_mixed)? as usize)
    }

    /// The letter that stands for a cell.
    #[must_use]
    pub fn letter(&self, cell: &HomeCell) -> char {
        if cell.is_mixed { '*' } else { self.of_cell(cell).map_or('.', |home| home.letter) }
    }

    /// The home of an address, if all pages of its cell live there.
    #[must_use]
    pub fn of(&self, address: Address) -> Option<&Home> {
        let cell = self
            .cells
            .iter()
            .find(|cell| (cell.first.0..cell.first.0.saturating_add(cell.len)).contains(&address.0))?;
        self.of_cell(cell)
    }
}

/// A translation that a TLB waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlbMiss {
    pub range: Range,
    pub since: Tick,
    pub waits_for: &'static str,
    /// Warps that wait for it.
    pub warps: u32,
}

/// The TLB of a compute unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlbView {
    pub agent: ComponentId,
    pub used: u32,
    /// None: it has the translations of all pages but those shot down.
    pub capacity: Option<u32>,
    /// Faults of its own that it was told of and that have not ended, and how many the GMMU tracks; and those that it has joined.
    pub nacks: u32,
    pub tracked: u32,
    pub joined: u32,
    /// Accesses that were translated at once, and those that were not.
    pub hits: u64,
    pub missed: u64,
    pub misses: Vec<TlbMiss>,
}
