//! Makes a frame: only the parts that are wished for are computed.

use std::sync::Arc;

use crate::model::component::{ComponentId, ComponentKind};
use crate::model::inspect::{AgentView, CacheView, Inspect, MshrView, TransactionView};
use crate::model::link_view::LinkView;
use crate::model::record::{Record, RecordId, What};
use crate::model::state::Action;
use crate::model::time::EventNumber;

use super::crowd::{self, Crowd, Unit};
use super::directory::Directory;
use super::focus::{self, Focus};
use super::log::Log;
use super::map::Map;
use super::pages::Pages;
use super::protocol::{self, Ruled};
use super::selection::Selection;
use super::sequence::Sequence;
use super::session::{Activity, BranchView, BreakpointRow, Info, Lesson, Mark, Position, RunState, Stop};
use super::why::Why;
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
    /// The selected transaction, if it is in flight.
    pub shown: Option<TransactionView>,
    /// Records of the event that led to this position.
    pub last: &'a [Record],
    /// An exploration has found here that a rule is broken.
    pub is_found: bool,
    /// Records of the selected transaction up to here, oldest first (others are passed over); without one, of the selected block.
    pub journey: &'a [Record],
    /// Of a block that is on its way for no access: these are all.
    pub journey_is_whole: bool,
    /// Where it begins, if that is known.
    pub begins: Option<EventNumber>,
    pub log: Log,
    pub lesson: Option<Lesson>,
    pub marks: Vec<Mark>,
    pub activity: Activity,
    pub breakpoints: Vec<BreakpointRow>,
    pub deadlock: Option<Knot>,
    pub collecting: Option<u32>,
}

/// Transactions whose chains are told, at most: a few screens of them.
const WAITING: usize = 64;

/// Packets of a link that are shown, at most.
const PACKETS: usize = 32;

/// The frame of `machine` as it is.
#[must_use]
pub fn build(machine: &dyn Inspect, facts: Facts, wish: &Wish) -> Frame {
    let selection = facts.selection;
    let mut frame = Frame {
        panes: wish.panes,
        time: machine.time_base(),
        position: position(machine, &facts),
        now: happenings(machine, &facts),
        protocol: if wish.panes.has(Pane::Protocol) {
            protocol::views(machine, &facts.tables, selection.component, facts.last)
        } else {
            Vec::new()
        },
        ..Frame::default()
    };
    places(&mut frame, machine, &facts, wish);
    stores(&mut frame, machine, &selection, wish);
    transactions(&mut frame, machine, &facts, wish);
    frame.has_reason = facts.is_found || facts.last.iter().any(Record::has_reason);
    let is_silent = frame.now.is_empty() && frame.position.event > 0;
    frame.unrecorded = is_silent.then(|| text::unrecorded(machine));
    frame.why = Why::of(machine, &selection, facts.shown.as_ref(), &frame.transactions);
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
        collecting: facts.collecting,
        ..frame
    }
}

/// All components of some kinds.
fn all(machine: &dyn Inspect, kind: fn(ComponentKind) -> bool) -> impl Iterator<Item = ComponentId> {
    let components = machine.components().iter();
    components.filter(move |(_, part)| kind(part.kind)).map(|(id, _)| id)
}

/// The machine as a whole: the map, links, warps, and what the directories know of a block.
fn places(frame: &mut Frame, machine: &dyn Inspect, facts: &Facts, wish: &Wish) {
    let selection = &facts.selection;
    let has = |pane| wish.panes.has(pane);
    if has(Pane::Map) || has(Pane::Links) {
        frame.links = machine.links(PACKETS);
    }
    if has(Pane::Links) {
        frame.resources = machine.resources();
    }
    let block = selection.block.filter(|_| has(Pane::Map) || has(Pane::Directory));
    let focus = block.map(|block| Focus::new(machine, block));
    let is_agent = |kind| matches!(kind, ComponentKind::Cu | ComponentKind::Core);
    let units: Vec<Unit> = if has(Pane::Map) || has(Pane::Warps) {
        all(machine, is_agent).filter_map(|id| Unit::of(machine, id)).collect()
    } else {
        Vec::new()
    };
    if has(Pane::Map) {
        let parts = (frame.links.as_slice(), units.as_slice());
        frame.map = Map::build(machine.components(), parts, focus.as_ref(), selection, facts.last);
    }
    if has(Pane::Directory) {
        frame.directory = Directory::build(machine, focus.as_ref(), selection, facts.last, wish.limit);
    }
    if has(Pane::Warps) {
        (frame.agents, frame.crowds) = warps(machine, &units, selection);
    }
}

/// What the parts hold: MSHRs, lines and tags.
fn stores(frame: &mut Frame, machine: &dyn Inspect, selection: &Selection, wish: &Wish) {
    let (has_mshrs, has_caches) = (wish.panes.has(Pane::Mshrs), wish.panes.has(Pane::Caches));
    if has_mshrs {
        frame.mshrs = mshrs(machine, all(machine, ComponentKind::has_mshrs), wish.limit);
    }
    if has_caches {
        frame.caches = caches(machine, all(machine, ComponentKind::is_node).collect(), selection, wish);
    }
    if has_mshrs || has_caches {
        let memories = all(machine, |kind| kind == ComponentKind::Memory);
        frame.tags = memories.filter_map(|id| machine.tags(id)).collect();
    }
}

/// Transactions: the one that is drawn, or a list; and the pages, of which it may draw one.
fn transactions(frame: &mut Frame, machine: &dyn Inspect, facts: &Facts, wish: &Wish) {
    let selection = &facts.selection;
    let (is_shown, waits) = (wish.panes.has(Pane::Transaction), wish.panes.has(Pane::Waits));
    if is_shown {
        let (names, line) = (machine.components(), selection.block.map(|block| focus::line(machine, block)));
        let of_line = |line| Sequence::of_line(line, (facts.journey, facts.journey_is_whole), names);
        frame.sequence = match selection.txn {
            Some(txn) => Sequence::new(txn, facts.shown.clone(), facts.journey, names),
            None => line.and_then(of_line),
        };
    }
    frame.pages = Pages::build(machine, selection, frame.sequence.as_ref(), wish);
    // What is drawn of one transaction needs no list of all.
    if is_shown && frame.sequence.is_none() || waits {
        // A list of them tells no chains.
        let (most, chained) = if waits { (wish.limit.min(WAITING), WAITING) } else { (wish.limit, 1) };
        frame.transactions = machine.transactions(most, chained);
        frame.limit = Some(most);
    }
}

/// All files of MSHRs, and of all so many entries at most: those of GMMUs, which are few and shown before all, first.
fn mshrs(machine: &dyn Inspect, nodes: impl Iterator<Item = ComponentId>, limit: usize) -> Vec<MshrView> {
    let is_gmmu = |node: &ComponentId| {
        machine.components().get(*node).is_some_and(|part| part.kind == ComponentKind::Gmmu)
    };
    let (gmmus, others): (Vec<_>, Vec<_>) = nodes.partition(is_gmmu);
    let mut left = limit;
    let mut files = Vec::new();
    for node in gmmus.into_iter().chain(others) {
        let Some(file) = machine.mshrs(node, left) else { continue };
        left = left.saturating_sub(file.entries.len());
        files.push(file);
    }
    files
}

/// Every cache. Of very many only a few sets are shown, but for the selected one.
fn caches(
    machine: &dyn Inspect,
    nodes: Vec<ComponentId>,
    selection: &Selection,
    wish: &Wish,
) -> Vec<CacheView> {
    let share = (wish.sets as usize * crowd::FEW / nodes.len().max(crowd::FEW)).max(1) as u32;
    let sets = |id: ComponentId| if selection.component == Some(id) { wish.sets } else { share };
    nodes.into_iter().filter_map(|id| machine.cache(id, sets(id))).collect()
}

/// Busy units of a crowd that are shown warp by warp, at most.
const SHOWN: usize = 8;

/// Every unit with its warps; or if there are many what all do, in numbers, and the selected one.
fn warps(machine: &dyn Inspect, units: &[Unit], selection: &Selection) -> (Vec<AgentView>, Vec<Crowd>) {
    let mut agents = units.iter().map(|unit| unit.agent);
    if units.len() <= crowd::FEW {
        return (agents.filter_map(|id| machine.agent(id)).collect(), Vec::new());
    }
    let names = machine.components();
    // The L1 of a unit stands for it, too.
    let own = |path: &str, id: ComponentId| path.strip_suffix(".l1").unwrap_or(path) == names.path(id);
    let path = selection.component.map(|component| names.path(component));
    let chosen = path.and_then(|path| agents.find(|id| own(path, *id)));
    let crowds = Crowd::of(names, units.iter().copied());
    // Where few have anything to do, each of those.
    let busy = crowds.iter().flat_map(|crowd| &crowd.units).filter(|unit| unit.is_busy());
    let busy: Vec<ComponentId> = busy.map(|unit| unit.agent).take(SHOWN + 1).collect();
    let shown = chosen.map_or_else(|| if busy.len() > SHOWN { Vec::new() } else { busy }, |id| vec![id]);
    (shown.into_iter().filter_map(|id| machine.agent(id)).collect(), crowds)
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
fn happenings(machine: &dyn Inspect, facts: &Facts) -> Vec<Happening> {
    let records: Vec<&Record> = facts.last.iter().collect();
    if records.is_empty() && facts.run.is_at_rest() {
        return sample(machine).into_iter().collect();
    }
    let hit = facts.stop.as_ref().map_or(&[][..], |stop| &stop.hit);
    let remarked = facts.lesson.as_ref().map_or(&[][..], |lesson| &lesson.remarked);
    // All of its records hit where a breakpoint names none.
    let is_hit = |record: &Record| hit.len() < records.len() && hit.contains(&record.id);
    let leads =
        |record: &Record| is_hit(record) || !is_chained(&record.what) && remarked.contains(&record.id);
    let ranks: Vec<_> = records.iter().map(|record| (!leads(record), weight(&record.what))).collect();
    let mut ranked: Vec<_> = ranks.into_iter().zip(records).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let names = machine.components();
    ranked
        .into_iter()
        .take(16)
        .map(|(_, record)| Happening {
            id: record.id,
            at: record.place(),
            kind: record.kind(),
            text: text::predicate(record, names),
            because: record.because,
        })
        .collect()
}

/// What takes, changes and sends on tells of cause and effect in its order.
fn is_chained(what: &What) -> bool {
    matches!(
        what,
        What::Delivery(_)
            | What::Message(_)
            | What::Hop(_)
            | What::Hit { .. }
            | What::Transition { .. }
            | What::Merge { .. }
            | What::Directory { .. }
    )
}

/// An event of which nothing is recorded: the balancers of links have looked, and left all lanes where they are.
fn sample(machine: &dyn Inspect) -> Option<Happening> {
    let is_sample = |link: &LinkView| {
        let last = link.balance.as_ref().and_then(|balance| balance.samples.last());
        last.is_some_and(|sample| sample.end == machine.tick())
    };
    let id = RecordId { event: machine.event(), ordinal: 0 };
    let text = "the balancers of the links take a sample, and no lane turns".to_owned();
    let told = Happening { id, at: None, kind: "sample", text, because: None };
    machine.links(0).iter().any(is_sample).then_some(told)
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
        What::Stall { .. } | What::NoCredit { .. } | What::Activate { .. } | What::RemoteMiss { .. } => 3,
        What::Mshr { .. }
        | What::Warp { .. }
        | What::Tlb { .. }
        | What::Walk(_)
        | What::WaySample { .. }
        | What::LaneSample { .. } => 4,
    }
}
