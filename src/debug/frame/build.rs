//! Makes a frame: only the parts that are wished for are computed.

use std::sync::Arc;

use crate::model::component::ComponentKind;
use crate::model::inspect::{Inspect, WaitLink};
use crate::model::record::{Record, What};
use crate::model::state::Action;
use crate::model::time::EventNumber;

use super::directory::Directory;
use super::log::Log;
use super::map::Map;
use super::pages::Pages;
use super::protocol::{self, Ruled};
use super::selection::Selection;
use super::sequence::Sequence;
use super::session::{Activity, BranchView, BreakpointRow, Info, Lesson, Mark, Position, RunState, Stop};
use super::wish::{Pane, Wish};
use super::{Frame, Happening, Knot, text};

/// What the debugger knows besides the machine.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    pub info: Arc<Info>,
    /// The tables of the machine, and who works by them.
    pub tables: Vec<Ruled>,
    pub run: RunState,
    pub branch: Option<BranchView>,
    pub stop: Option<Stop>,
    pub selection: Selection,
    /// The furthest event ever reached, and whether the run ends there.
    pub known: u64,
    pub ended: bool,
    /// Records of the event that led to this position.
    pub last: &'a [Record],
    /// Records of the selected transaction up to here, oldest first (others are passed over).
    pub journey: &'a [Record],
    /// Where it begins, if that is known.
    pub begins: Option<EventNumber>,
    pub log: Log,
    pub lesson: Option<Lesson>,
    pub marks: Vec<Mark>,
    pub activity: Activity,
    pub breakpoints: Vec<BreakpointRow>,
    pub deadlock: Option<Knot>,
}

/// The frame of `machine` as it is.
#[must_use]
pub fn build(machine: &dyn Inspect, facts: Facts, wish: &Wish) -> Frame {
    let selection = facts.selection;
    let all = |kind: fn(ComponentKind) -> bool| {
        let components = machine.components().iter();
        components.filter(move |(_, part)| kind(part.kind)).map(|(id, _)| id)
    };
    let is_agent = |kind| matches!(kind, ComponentKind::Cu | ComponentKind::Core);
    let mut frame = Frame {
        time: machine.time_base(),
        position: position(machine, &facts),
        now: happenings(machine, facts.last),
        why: why(machine, &selection),
        protocol: if wish.panes.has(Pane::Protocol) {
            protocol::views(machine, &facts.tables, selection.component, facts.last)
        } else {
            Vec::new()
        },
        ..Frame::default()
    };
    if wish.panes.has(Pane::Map) {
        frame.map = Map::build(machine, &selection, facts.last);
    }
    if wish.panes.has(Pane::Directory) {
        frame.directory = Directory::build(machine, &selection, facts.last, wish.limit);
    }
    if wish.panes.has(Pane::Links) {
        frame.links = all(|kind| kind == ComponentKind::Link).filter_map(|id| machine.link(id)).collect();
    }
    if wish.panes.has(Pane::Mshrs) {
        let has_mshrs = |kind| ComponentKind::is_node(kind) || kind == ComponentKind::Gmmu;
        frame.mshrs = all(has_mshrs).filter_map(|id| machine.mshrs(id)).collect();
    }
    if wish.panes.has(Pane::Warps) {
        frame.agents = all(is_agent).filter_map(|id| machine.agent(id)).collect();
    }
    if wish.panes.has(Pane::Caches) {
        frame.caches = all(ComponentKind::is_node).filter_map(|id| machine.cache(id, wish.sets)).collect();
    }
    if wish.panes.has(Pane::Mshrs) || wish.panes.has(Pane::Caches) {
        frame.tags = all(|kind| kind == ComponentKind::Memory).filter_map(|id| machine.tags(id)).collect();
    }
    frame.pages = Pages::build(machine, &selection, wish);
    if wish.panes.has(Pane::Transaction) {
        frame.sequence = selection.txn.and_then(|txn| {
            Sequence::new(txn, machine.transaction(txn), facts.journey, machine.components())
        });
    }
    if wish.panes.has(Pane::Transaction) || wish.panes.has(Pane::Waits) {
        frame.transactions = machine.transactions(wish.limit);
    }
    Frame {
        info: facts.info,
        run: facts.run,
        branch: facts.branch,
        stop: facts.stop,
        selection,
        begins: facts.begins,
        log: facts.log,
        lesson: facts.lesson,
        marks: facts.marks,
        activity: facts.activity,
        breakpoints: facts.breakpoints,
        deadlock: facts.deadlock,
        ..frame
    }
}

fn position(machine: &dyn Inspect, facts: &Facts) -> Position {
    let time = machine.time_base();
    Position {
        event: machine.event(),
        cycle: time.cycle(machine.tick()),
        nanoseconds: time.nanoseconds(machine.tick()),
        known: facts.known.max(machine.event()),
        ended: facts.ended,
    }
}

/// What the records of one event say, the most telling first.
fn happenings(machine: &dyn Inspect, last: &[Record]) -> Vec<Happening> {
    let mut records: Vec<&Record> = last.iter().collect();
    records.sort_by_key(|record| weight(&record.what));
    let names = machine.components();
    records
        .into_iter()
        .take(16)
        .map(|record| Happening {
            id: record.id,
            at: record.at,
            kind: record.kind(),
            text: text::predicate(record, names),
            because: record.because,
        })
        .collect()
}

/// Within a weight, records stay in the order in which they happened.
fn weight(what: &What) -> u8 {
    match what {
        What::Violation { .. } | What::Fault { .. } => 0,
        // What was chosen is told by what came of it.
        What::Input { text } if text.starts_with("choose ") => 5,
        What::Input { .. } => 0,
        What::Issue { .. }
        | What::Complete { .. }
        | What::Kernel { .. }
        | What::Delivery(_)
        | What::Hit { action: Action::Read | Action::Write, .. }
        | What::Transition { .. }
        | What::Promote { .. }
        | What::Evict { .. }
        | What::FarFault { .. }
        | What::ProtectionFault { .. }
        | What::Permission { .. }
        | What::Speculation { .. }
        | What::LaneReversal(_)
        | What::Saturation(_)
        | What::Page { .. }
        | What::Hop(_)
        | What::PageHome { .. }
        | What::Tag(_)
        | What::WayRepartition { .. }
        | What::UseOnce { .. }
        | What::Overtaken
        | What::RemoteDirectory { .. }
        | What::Nack { .. }
        | What::Message(_) => 1,
        What::Merge { .. } | What::Directory { .. } | What::Hit { .. } | What::Dram { .. } => 2,
        What::Stall { .. } | What::NoCredit { .. } | What::Activate { .. } => 3,
        What::Mshr { .. } | What::Warp { .. } | What::Tlb { .. } => 4,
    }
}

fn why(machine: &dyn Inspect, selection: &Selection) -> Vec<WaitLink> {
    if let Some(view) = selection.txn.and_then(|txn| machine.transaction(txn)) {
        return view.chain;
    }
    selection.component.map_or_else(Vec::new, |component| machine.why(component, selection.warp))
}
