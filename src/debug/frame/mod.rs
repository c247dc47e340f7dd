//! Frames: the immutable view that the screen draws. Plain owned data, one part per pane, made by [`build`] from the
//! inspection of a machine and what the debugger knows besides. The engine publishes one `Arc<Frame>` at a time.

pub mod build;
pub mod crowd;
pub mod directory;
pub mod focus;
pub mod hardware;
pub mod log;
pub mod map;
pub mod pages;
pub mod protocol;
pub mod selection;
pub mod sequence;
pub mod session;
pub mod text;
pub mod why;
pub mod wish;

use std::sync::Arc;

use crate::model::address::Address;
use crate::model::component::ComponentId;
use crate::model::inspect::{AgentView, CacheView, MshrView, TransactionView};
use crate::model::link_view::LinkView;
use crate::model::message::TxnNumber;
use crate::model::record::RecordId;
use crate::model::resource::ResourceView;
use crate::model::tags::TagView;
use crate::model::time::{EventNumber, TimeBase};

pub use build::{Facts, build};
use crowd::Crowd;
use directory::Directory;
use log::Log;
use map::Map;
use pages::Pages;
use protocol::ProtocolView;
use selection::Selection;
use sequence::Sequence;
use session::{Activity, BranchView, BreakpointRow, Info, Lesson, Mark, Position, RunState, Stop};
use why::Why;
use wish::PaneSet;

/// Everything that one screen shows. A part that was not wished for is empty.
#[derive(Clone, Debug)]
pub struct Frame {
    pub info: Arc<Info>,
    /// What was wished for.
    pub panes: PaneSet,
    pub time: TimeBase,
    pub position: Position,
    pub run: RunState,
    /// Which run it is, if not the one that was opened.
    pub branch: Option<BranchView>,
    pub stop: Option<Stop>,
    pub selection: Selection,
    /// What the last event did, in sentences, and what caused it.
    pub now: Vec<Happening>,
    /// Whether it is known what led to it, beside what waits.
    pub has_reason: bool,
    /// What is told instead of an event that has made no record.
    pub unrecorded: Option<String>,
    /// Why the selected warp, transaction or component cannot go on.
    pub why: Why,
    pub map: Map,
    pub directory: Directory,
    pub links: Vec<LinkView>,
    /// What accesses compete for, beside links.
    pub resources: Vec<ResourceView>,
    pub mshrs: Vec<MshrView>,
    /// Of memories that are caches.
    pub tags: Vec<TagView>,
    /// Compute units and cores with all their warps: every one, or the selected one of many.
    pub agents: Vec<AgentView>,
    /// Where there are many: what the warps of each do, in numbers.
    pub crowds: Vec<Crowd>,
    /// The journey of the selected transaction.
    pub sequence: Option<Sequence>,
    /// Where the selected transaction begins, if that is known.
    pub begins: Option<EventNumber>,
    /// How many transactions it has at most, if it was said.
    pub limit: Option<usize>,
    /// Transactions in flight, oldest first.
    pub transactions: Vec<TransactionView>,
    pub caches: Vec<CacheView>,
    pub pages: Pages,
    /// The tables of the machine, the one that was used last, or that the selected node uses, first.
    pub protocol: Vec<ProtocolView>,
    pub log: Log,
    pub lesson: Option<Lesson>,
    pub marks: Vec<Mark>,
    /// How much happened along the whole run.
    pub activity: Activity,
    pub breakpoints: Vec<BreakpointRow>,
    /// What can never go on any more.
    pub deadlock: Option<Knot>,
    /// The breakpoint whose commands are being typed in.
    pub collecting: Option<u32>,
}

/// What can never go on, as far as a picture shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knot {
    /// What it is, in two words at most.
    pub verdict: &'static str,
    pub headline: String,
    /// One a sentence.
    pub edges: Vec<KnotEdge>,
    /// The last waits for the first.
    pub is_circle: bool,
}

/// Who waits for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnotEdge {
    pub at: ComponentId,
    /// The sentence.
    pub text: String,
    pub block: Option<Address>,
    pub txn: Option<TxnNumber>,
}

/// One thing that the last event did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happening {
    pub id: RecordId,
    /// Who did it, if it was a part of the machine.
    pub at: Option<ComponentId>,
    /// The kind of the record.
    pub kind: &'static str,
    /// What it did (`goes E > S on read probe`).
    pub text: String,
    pub because: Option<EventNumber>,
}

impl Default for Frame {
    fn default() -> Self {
        Self {
            info: Arc::default(),
            panes: PaneSet::default(),
            time: TimeBase { ticks_per_second: 1, ticks_per_cycle: 1 },
            position: Position::default(),
            run: RunState::default(),
            branch: None,
            stop: None,
            selection: Selection::default(),
            now: Vec::new(),
            has_reason: false,
            unrecorded: None,
            why: Why::default(),
            map: Map::default(),
            directory: Directory::default(),
            links: Vec::new(),
            resources: Vec::new(),
            mshrs: Vec::new(),
            tags: Vec::new(),
            agents: Vec::new(),
            crowds: Vec::new(),
            sequence: None,
            begins: None,
            limit: None,
            transactions: Vec::new(),
            caches: Vec::new(),
            pages: Pages::default(),
            protocol: Vec::new(),
            log: Log::default(),
            lesson: None,
            marks: Vec::new(),
            activity: Activity::default(),
            breakpoints: Vec::new(),
            deadlock: None,
            collecting: None,
        }
    }
}
