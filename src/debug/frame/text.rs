//! Records in words: what a log line says, and what is said of the event that just happened.

use crate::model::component::{ComponentId, ComponentKind, Components};
use crate::model::inspect::{Inspect, TransactionView};
use crate::model::lanes::{Flow, LaneDecision, LanePhase, LaneReason, LaneReversal, Saturation};
use crate::model::link_view::{LaneSample, TurningView};
use crate::model::message::Message;
use crate::model::page::Page;
use crate::model::paging::{PageChange, PageWalk};
use crate::model::record::{Record, What};
use crate::model::sectors::Sectors;
use crate::model::state::Action;
use crate::model::tags::{TagOutcome, TagRecord, TagView};
use crate::model::text::hex_head;
use crate::model::text::plural;
use crate::model::time::TimeBase;
use crate::model::wait::WaitLink;
use crate::model::warp::WarpState;
use crate::model::warp::by_warp;

/// Names of components for people.
pub type Names = Components;

/// Bytes as people write them: `07 00 00 00`.
#[must_use]
pub fn bytes(bytes: &[u8]) -> String {
    hex_head(bytes, 16)
}

/// What a remote directory says of a line.
#[must_use]
pub fn remote_claim(claim: bool) -> &'static str {
    if claim { "the CPU may have it" } else { "not in the CPU's caches" }
}

/// What a table column means to a reader; `read` and `write` come from the parent.
#[must_use]
pub fn action(action: Action) -> &'static str {
    match action {
        Action::Read => "read probe",
        Action::Write => "write probe",
        other => other.name(),
    }
}

fn paths(names: &Names, list: &[ComponentId]) -> String {
    if list.is_empty() {
        return "nobody".into();
    }
    list.iter().map(|id| names.path(*id)).collect::<Vec<_>>().join(" ")
}

/// The type of a message with what it carries: `grant S + data`.
#[must_use]
pub fn message(message: &Message) -> String {
    let mut text = message.kind.name().to_owned();
    if let Some(state) = message.granted {
        text.push(' ');
        text.push(state.letter());
    }
    if message.has_data {
        text.push_str(" + data");
    }
    // Which sectors of a line it asks for or brings, where that is not all. Those of a few bytes are where these are.
    let (sectors, line) = (message.sectors, message.range.len);
    let is_of_line = sectors.without(Sectors::all(line)).is_empty();
    if !sectors.is_empty() && is_of_line && sectors != Sectors::all(line) {
        text.push(' ');
        text.push_str(&sectors.picture(line));
    }
    text
}

/// What is told of an event that has made no record.
#[must_use]
pub fn unrecorded(machine: &dyn Inspect) -> String {
    let deed = machine.last_deed().map_or_else(String::new, |deed| format!(": {deed}"));
    format!("Nothing is recorded of this event{deed}")
}

/// With one more space before it, if there is anything.
fn set_apart(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" {text}") }
}

/// What came for loads, or for the requests of those above, and is not kept.
fn use_once(whose: &str, served: u32, brought: Sectors, dropped: Sectors) -> String {
    let all = if dropped.is_empty() { String::new() } else { format!(", {} dropped", dropped.count()) };
    let (sectors, those) = (plural(brought.count().into(), "sector"), plural(served.into(), whose));
    format!("{sectors} of 32 B for {those}: not kept{all}")
}

/// What a log line says after the kind and the place.
#[must_use]
pub fn describe(record: &Record, names: &Names) -> String {
    match &record.what {
        What::Issue { kind, warp, bytes: value } => {
            let value = if value.is_empty() { String::new() } else { format!(" := {}", bytes(value)) };
            format!("{} {}{value}{}", record.name_of(*kind), place(record), set_apart(&by_warp(*warp)))
        }
        What::Complete { kind, warp, bytes: value, .. } => {
            let value = if value.is_empty() { String::new() } else { format!(" = {}", bytes(value)) };
            format!("{} {}{value} done{}", record.name_of(*kind), place(record), set_apart(&by_warp(*warp)))
        }
        What::Message(sent) => format!("{}  to {}", message(sent), names.path(sent.to)),
        What::Hop(sent) => {
            format!("{}  from {} to {}", message(sent), names.path(sent.from), names.path(sent.to))
        }
        What::Delivery(taken) => format!("{}  from {}", message(taken), names.path(taken.from)),
        What::Stall { message: held } => {
            format!("{} from {} waits: it cannot be taken yet", message(held), names.path(held.from))
        }
        What::Hit { state, action: column, waited } => {
            format!("{state} stays  {}{}", action(*column), if *waited { ", which has waited" } else { "" })
        }
        What::Transition { from, to, action: column } => format!("{from} > {to}  {}", action(*column)),
        What::Directory { owner, sharers, .. } => {
            let owner = owner.map_or("nobody", |id| names.path(id));
            format!("owner {owner}  sharers {}", paths(names, sharers))
        }
        What::Mshr { change, used, capacity } => format!("{}  {used} of {capacity} used", change.name()),
        What::Merge { from, bytes, whole } => {
            let bytes = plural(u64::from(*bytes), "byte");
            format!("{bytes} from {}{}", names.path(*from), if *whole { ", the whole block" } else { "" })
        }
        What::Evict { state, dirty } => format!("{state}, {}", plural(u64::from(*dirty), "dirty byte")),
        What::Promote { kind, warp } => {
            format!("{} became a store (mask too coarse){}", kind.name(), set_apart(&by_warp(*warp)))
        }
        What::Warp { warp, from, to } => format!("warp {warp}  {} > {}", from.name(), to.name()),
        What::Kernel { name, launch, ended } => {
            format!("{name} launch {launch} {}", if *ended { "ended" } else { "started" })
        }
        What::NoCredit { network } => format!("{} network has no credit", network.name()),
        What::LaneReversal(reversal) => lane_reversal(reversal),
        What::Saturation(saturation) => saturated(*saturation),
        What::Activate { bank, row, access } => {
            format!("{} opens row {row:#x} of bank {bank}", access.name())
        }
        What::Dram { bank, row, access, writes, tags } => {
            let does = if *writes { "writes" } else { "reads" };
            let does = if *tags { format!("{does} the tag of") } else { does.to_owned() };
            format!("{} {does} {} in row {row:#x} of bank {bank}", access.name(), place(record))
        }
        What::Tlb { change } => format!("{} {}", change.name(), numbered(record)),
        What::Walk(walk) => page_walk(*walk, record),
        What::FarFault { stage, gpu, set, unit, .. } => {
            let unit = unit.map_or_else(String::new, |unit| format!(".cu{unit}"));
            format!("{} {} of gpu{gpu}{unit}{}", stage.name(), numbered(record), in_set(*set))
        }
        What::ProtectionFault { stage, who, .. } => {
            let whose = if *who == record.at { String::new() } else { format!(" of {}", names.path(*who)) };
            format!("{} {}{whose}", stage.name(), numbered(record))
        }
        What::Permission { permission } => format!("{} {}", numbered(record), permission.name()),
        What::Speculation { on } => {
            if *on { "all pages are taken for read-only" } else { "no page is taken for read-only any more" }
                .to_owned()
        }
        What::Page { change, gpu, set } => {
            format!(
                "{} {} of gpu{gpu}{}",
                page_told(*change, record.at, names),
                numbered(record),
                in_set(*set)
            )
        }
        What::PageHome { .. }
        | What::RemoteMiss { .. }
        | What::UseOnce { .. }
        | What::Overtaken
        | What::RemoteDirectory { .. }
        | What::Nack { .. }
        | What::WayRepartition { .. }
        | What::WaySample { .. }
        | What::LaneSample { .. }
        | What::Tag(_) => of_far_memory(record, names),
        What::Input { text } => format!("changed: {text}"),
        What::Fault { name } => format!("injected: {name}"),
        What::Violation { rule, text } => format!("{rule}: {text}"),
    }
}

/// What several memories, what lies between them, and what is known of what is far away have to do with it.
fn of_far_memory(record: &Record, names: &Names) -> String {
    match &record.what {
        What::PageHome { home } => format!("{} lives in gpu{home}", numbered(record)),
        What::RemoteMiss { home } => {
            format!("misses {}, which lives in another memory (home {home})", place(record))
        }
        What::UseOnce { served, brought, dropped } => {
            let is_leaf = names.get(record.at).is_some_and(|part| part.kind == ComponentKind::L1);
            use_once(if is_leaf { "load" } else { "request" }, *served, *brought, *dropped)
        }
        What::Overtaken => "a probe has passed what is on its way: it is not kept".to_owned(),
        What::RemoteDirectory { change, lines, capacity } => {
            format!("the remote directory: {}, {lines} of {capacity} lines", change.name())
        }
        What::Nack { false_positive: true } => "the CPU never had it: a false positive".to_owned(),
        What::Nack { false_positive: false } => "the CPU does not have it any more".to_owned(),
        What::WayRepartition { local, remote, decision } => {
            format!("{}: {local} local and {remote} remote ways  {}", decision.step.name(), decision.reason())
        }
        What::WaySample { remote, l1_remote, moved, decision } => {
            let step = decision.step.name().to_owned() + if *moved { "" } else { decision.step.unmoved() };
            format!("{step}: L2s have {remote} remote ways, L1s {l1_remote}  {}", decision.reason())
        }
        What::LaneSample { flows, decision } => {
            let flow = |flow: Flow| format!("{} % of {}", flow.utilisation, flow.lanes);
            format!("out {}, in {}; {}", flow(flows.out), flow(flows.into), lane_reason(*decision))
        }
        What::Tag(tag) => {
            format!("{} {}  {}", tag.outcome.name(), place(record), tag_rooms(*tag))
        }
        _ => String::new(),
    }
}

/// What the tags of a memory have seen, and what their banks do.
#[must_use]
pub fn tag_counts(tags: &TagView) -> Vec<String> {
    let of = |outcome| tags.counters.of(outcome);
    let mut lines = vec![
        format!(
            "tags: cold {}, conflict {}, merged {}, replayed {}",
            of(TagOutcome::ColdMiss),
            of(TagOutcome::ConflictMiss),
            of(TagOutcome::Merge),
            of(TagOutcome::Replay)
        ),
        format!(
            "writes: {} relayed, {} to both, {} rows written back",
            of(TagOutcome::Relay),
            of(TagOutcome::Both),
            of(TagOutcome::WriteBack)
        ),
    ];
    lines.extend(tags.banks.iter().map(|bank| {
        let open = bank.open.map_or_else(|| "no row open".to_owned(), |row| format!("row {row:#x} open"));
        format!("tag bank {}: {open}, {} wait", bank.bank, bank.waiting)
    }));
    lines
}

/// `pending queue 3, scoreboard 1`
fn tag_rooms(tag: TagRecord) -> String {
    format!("pending queue {}, scoreboard {}", tag.pending, tag.scoreboard)
}

/// What became of a request at its tag, after the path of the memory.
fn tag_story(tag: TagRecord, block: &str) -> String {
    let what = if tag.writes { "write" } else { "read" };
    let rooms = tag_rooms(tag);
    match tag.outcome {
        TagOutcome::Hit => format!("finds the tag of{block}: the {what} hits"),
        TagOutcome::ColdMiss => format!("has not loaded{block}: the {what} waits; {rooms}"),
        TagOutcome::ConflictMiss => format!("finds another tag for{block}: the {what} waits; {rooms}"),
        TagOutcome::Merge => format!("awaits{block} already: the {what} waits too; {rooms}"),
        TagOutcome::Arrival => format!("has the data of{block}: the arrival bit is set; {rooms}"),
        TagOutcome::Replay => format!("looks the {what} of{block} up again; {rooms}"),
        TagOutcome::Relay => {
            format!("finds another tag for{block}: the write goes to the host, acknowledged")
        }
        TagOutcome::Both => format!("has not loaded{block}: the write is done here and goes to the host"),
        TagOutcome::WriteBack => format!("writes{block} back"),
        TagOutcome::Full => format!("cannot take the {what} of{block}: {rooms}"),
        TagOutcome::TooOld => format!("gets{block} too old: a write has gone past it, it is fetched again"),
    }
}

/// Why lanes turn, or stay.
fn lane_reason(decision: LaneDecision) -> String {
    match (decision.reason, decision.to) {
        (LaneReason::Saturated, Some(to)) => {
            format!("{} is saturated, {} is not", to.name(), to.opposite().name())
        }
        (reason, _) => reason.about().to_owned(),
    }
}

/// What the balancer of a link saw at the end of a sample and decided, after the cycle in which it did.
#[must_use]
pub fn lane_decision(sample: &LaneSample) -> String {
    let flow = |flow: Flow| format!("{} % of {}", flow.utilisation, flow.lanes);
    let does = match sample.decision.to {
        Some(to) => format!("a lane {} > {}", to.opposite().name(), to.name()),
        None => "no lane turns".to_owned(),
    };
    let (out, into) = (flow(sample.flows.out), flow(sample.flows.into));
    format!("out {out}, in {into}: {does}; {}", lane_reason(sample.decision))
}

/// Where lanes are on their way, and until which cycle.
#[must_use]
pub fn lanes_turning(turning: &TurningView, time: TimeBase) -> String {
    let (from, to) = (turning.to.opposite().name(), turning.to.name());
    let until = time.cycle(turning.until);
    let does = match turning.phase {
        LanePhase::Quiesce => "takes no new packets, is empty at cycle",
        LanePhase::Turn | LanePhase::Done => "turns until cycle",
    };
    format!("{} {from} > {to} {does} {until}", plural(u64::from(turning.count), "lane"))
}

/// `1 lane out > in turns: 7 out, 8 in (sample: 30 % of 8, 100 % of 8); in is saturated, out is not`
fn lane_reversal(reversal: &LaneReversal) -> String {
    let LaneReversal { to, phase, reason, count, flows } = reversal;
    let sampled = reversal.sampled();
    let does = match phase {
        LanePhase::Quiesce => "takes no new packets",
        LanePhase::Turn => "turns",
        LanePhase::Done => "has turned",
    };
    let flow = |flow: Flow| format!("{} % of {}", flow.utilisation, flow.lanes);
    let why = lane_reason(LaneDecision { to: Some(*to), reason: *reason });
    let (from, to) = (to.opposite().name(), to.name());
    // What a launch does needs no sample.
    let before = match reason {
        LaneReason::Launch => String::new(),
        _ => format!(" (sample: {}, {})", flow(sampled.out), flow(sampled.into)),
    };
    let (out, into, lanes) = (flows.out.lanes, flows.into.lanes, plural(u64::from(*count), "lane"));
    format!("{lanes} {from} > {to} {does}: {out} out, {into} in{before}; {why}")
}

/// Whether a direction of a link is full, and by what that is said.
fn saturated(Saturation { is_saturated, flow }: Saturation) -> String {
    let what = if is_saturated { "saturated" } else { "not saturated any more" };
    let lanes = plural(u64::from(flow.lanes), "lane");
    format!("{what}: busy {} % of the sample with {lanes}", flow.utilisation)
}

/// The transfer set that a page is in.
fn in_set(set: u64) -> String {
    if set == 0 { String::new() } else { format!(" in transfer set {set}") }
}

/// For whom a page table is walked, and what the page walk cache had of it, or how long it took.
fn page_walk(walk: PageWalk, record: &Record) -> String {
    let PageWalk { gpu, unit, cached, memory, cycles } = walk;
    let text = format!("{} {} of gpu{gpu}.cu{unit}", walk.change(), numbered(record));
    if let Some(cycles) = cycles {
        return format!("{text} after {}", plural(cycles, "cycle"));
    }
    let levels = plural(u64::from(cached + memory), "level");
    format!("{text}: {cached} of {levels} in the page walk cache")
}

/// The page that a record is about, by its number; its address stands behind.
fn numbered(record: &Record) -> String {
    record
        .range
        .map_or_else(|| "a page".to_owned(), |range| format!("page {}", Page::of(range.start, range.len)))
}

fn place(record: &Record) -> String {
    record.range.map_or_else(String::new, |range| range.start.to_string())
}

/// What the component of a record did, to stand after its path.
#[must_use]
pub fn predicate(record: &Record, names: &Names) -> String {
    let block = record.range.map_or_else(String::new, |range| format!(" {}", range.start));
    match &record.what {
        What::Issue { kind, bytes: value, .. } => {
            let value = if value.is_empty() { String::new() } else { format!(" := {}", bytes(value)) };
            format!("issues {}{block}{value}", record.name_of(*kind))
        }
        What::Complete { kind, bytes: value, .. } if !value.is_empty() => {
            format!("completes {}{block} = {}", record.name_of(*kind), bytes(value))
        }
        What::Complete { kind, .. } => format!("completes {}{block}", record.name_of(*kind)),
        What::Message(sent) => format!("sends {} to {}", message(sent), near(names, record.at, sent.to)),
        What::Hop(sent) => {
            format!("takes {} from the switch to {}", message(sent), names.path(sent.to))
        }
        What::Delivery(taken) => {
            format!("takes {} from {}", message(taken), near(names, record.at, taken.from))
        }
        What::Hit { state, action: column, .. } => format!("stays {state} on {}", action(*column)),
        What::Transition { from, to, action: column } => {
            format!("goes {from} > {to} on {}", action(*column))
        }
        What::Directory { owner, sharers, .. } => {
            let owner = owner.map_or("nobody", |id| names.path(id));
            format!("lists owner {owner} and sharers {}", paths(names, sharers))
        }
        What::Merge { from, bytes, whole } => {
            let how = if *whole { ", the whole block" } else { " under the mask" };
            format!("merges {} of {}{how}", plural(u64::from(*bytes), "byte"), names.path(*from))
        }
        What::Warp { warp, to, .. } => format!("warp {warp}: {}", warp_state(*to)),
        What::Tag(tag) => tag_story(*tag, &block),
        What::Evict { state, dirty } => {
            format!("evicts{block} ({state}, {})", plural(u64::from(*dirty), "dirty byte"))
        }
        What::Mshr { change, used, capacity } => {
            format!("MSHR {}, {used} of {capacity} used", change.name())
        }
        What::Violation { rule, text } => format!("BREAKS A RULE, {rule}: {text}"),
        What::Input { .. } => describe(record, names),
        _ => format!("{}: {}", record.kind(), describe(record, names)),
    }
}

/// The path of `other`, without the device if that is the one of `at`.
#[must_use]
pub fn near(names: &Names, at: ComponentId, other: ComponentId) -> &str {
    let path = names.path(other);
    match (names.path(at).split_once('.'), path.split_once('.')) {
        (Some((own, _)), Some((device, rest))) if own == device => rest,
        _ => path,
    }
}

fn warp_state(state: WarpState) -> &'static str {
    match state {
        WarpState::None => "no work",
        WarpState::Ready => "ready to issue",
        WarpState::Running => "computes",
        WarpState::Memory => "waits for memory",
        WarpState::MshrFull => "waits for a free MSHR",
        WarpState::LinkFull => "waits for room towards its parent",
        WarpState::Barrier => "waits at a barrier",
        WarpState::Fence => "waits at a fence",
        WarpState::Translation => "waits for the translation of an address",
        WarpState::FarFault => "waits for a page",
        WarpState::ProtectionFault => "waits until a page may be written",
        WarpState::SimdFull => "waits for a SIMD unit",
        WarpState::TlbBlocked => "waits for a TLB that faults of others block",
        WarpState::Done => "has no work left at the moment",
    }
}
/// What happens to a page: what takes its time begins.
fn page_change(change: PageChange) -> &'static str {
    match change {
        PageChange::Copied => "begins to copy",
        PageChange::CopiedBack => "begins to copy back",
        PageChange::WrittenBack => "begins to write back",
        PageChange::Wasted => "wasted, never used:",
        PageChange::Unused => "unused to the end:",
        other => other.name(),
    }
}

/// The same where it is known who does it: a page that a program copies home is still there.
fn page_told(change: PageChange, at: ComponentId, names: &Names) -> &'static str {
    let copies = names.get(at).is_some_and(|part| part.kind == ComponentKind::CopyEngine);
    if copies && change == PageChange::Gone { "copied home" } else { page_change(change) }
}

/// What a transaction waits for in the end; where that is another's message, what it waits for itself first.
#[must_use]
pub fn waits_at(view: &TransactionView, names: &Components) -> Option<String> {
    let told = |link: &WaitLink| format!("{}: {}", names.path(link.at), link.text);
    let last = told(view.chain.last()?);
    Some(match view.chain.as_slice() {
        [first, _, ..] if view.ahead.is_some() => format!("{}; at last {last}", told(first)),
        _ => last,
    })
}
