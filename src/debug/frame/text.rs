//! Records in words: what a log line says, and what is said of the event that just happened.

use crate::model::component::{ComponentId, Components};
use crate::model::inspect::WarpState;
use crate::model::message::Message;
use crate::model::record::{Record, What};
use crate::model::state::Action;

/// Names of components for people.
pub type Names = Components;

/// Bytes as people write them: `07 00 00 00`.
#[must_use]
pub fn bytes(bytes: &[u8]) -> String {
    let shown: Vec<String> = bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let more = if bytes.len() > 16 { " .." } else { "" };
    shown.join(" ") + more
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
    text
}

/// What a log line says after the kind and the place.
#[must_use]
pub fn describe(record: &Record, names: &Names) -> String {
    match &record.what {
        What::Issue { kind, warp, bytes: value } => {
            let value = if value.is_empty() { String::new() } else { format!(" := {}", bytes(value)) };
            format!("{} {}{value}  warp {warp}", kind.name(), place(record))
        }
        What::Complete { kind, warp, bytes: value, .. } => {
            let value = if value.is_empty() { String::new() } else { format!(" = {}", bytes(value)) };
            format!("{} {}{value} done  warp {warp}", kind.name(), place(record))
        }
        What::Message(sent) => format!("{}  to {}", message(sent), names.path(sent.to)),
        What::Delivery(taken) => format!("{}  from {}", message(taken), names.path(taken.from)),
        What::Stall { message: held } => {
            format!("{} from {} waits: no room", message(held), names.path(held.from))
        }
        What::Hit { state, action: column } => format!("{state} stays  {}", action(*column)),
        What::Transition { from, to, action: column } => format!("{from} > {to}  {}", action(*column)),
        What::Directory { owner, sharers } => {
            let owner = owner.map_or("nobody", |id| names.path(id));
            format!("owner {owner}  sharers {}", paths(names, sharers))
        }
        What::Mshr { change, used, capacity } => format!("{}  {used} of {capacity} used", change.name()),
        What::Merge { from, bytes } => format!("{bytes} bytes from {}", names.path(*from)),
        What::Evict { state, dirty } => format!("{state}, {dirty} dirty bytes"),
        What::Promote { kind, warp } => {
            format!("{} became a store (mask too coarse)  warp {warp}", kind.name())
        }
        What::Warp { warp, from, to } => format!("warp {warp}  {} > {}", from.name(), to.name()),
        What::Kernel { name, launch, ended } => {
            format!("{name} launch {launch} {}", if *ended { "ended" } else { "started" })
        }
        What::NoCredit { network } => format!("{} network has no credit", network.name()),
        What::Activate { bank, row, access } => {
            format!("{} opens row {row:#x} of bank {bank}", access.name())
        }
        What::Dram { bank, row, access, writes } => {
            let does = if *writes { "writes" } else { "reads" };
            format!("{} {does} {} in row {row:#x} of bank {bank}", access.name(), place(record))
        }
        What::Tlb { change } => format!("{} {}", change.name(), place(record)),
        What::FarFault { stage, gpu, set, unit, .. } => {
            let unit = unit.map_or_else(String::new, |unit| format!(".cu{unit}"));
            format!("{} {} of gpu{gpu}{unit}{}", stage.name(), place(record), in_set(*set))
        }
        What::Page { change, gpu, set } => {
            format!("{} {} of gpu{gpu}{}", change.name(), place(record), in_set(*set))
        }
        What::Input { text } => format!("changed: {text}"),
        What::Fault { name } => format!("injected: {name}"),
        What::Violation { rule, text } => format!("{rule}: {text}"),
    }
}

/// The transfer set that a page is in.
fn in_set(set: u64) -> String {
    if set == 0 { String::new() } else { format!(" in transfer set {set}") }
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
            format!("issues {}{block}{value}", kind.name())
        }
        What::Complete { kind, bytes: value, .. } if !value.is_empty() => {
            format!("completes {}{block} = {}", kind.name(), bytes(value))
        }
        What::Complete { kind, .. } => format!("completes {}{block}", kind.name()),
        What::Message(sent) => format!("sends {} to {}", message(sent), near(names, record.at, sent.to)),
        What::Delivery(taken) => {
            format!("takes {} from {}", message(taken), near(names, record.at, taken.from))
        }
        What::Hit { state, action: column } => format!("stays {state} on {}", action(*column)),
        What::Transition { from, to, action: column } => {
            format!("goes {from} > {to} on {}", action(*column))
        }
        What::Directory { owner, sharers } => {
            let owner = owner.map_or("nobody", |id| names.path(id));
            format!("lists owner {owner} and sharers {}", paths(names, sharers))
        }
        What::Merge { from, bytes } => {
            format!("merges {bytes} bytes of {} under the mask", names.path(*from))
        }
        What::Warp { warp, to, .. } => format!("warp {warp}: {}", warp_state(*to)),
        What::Evict { state, dirty } => format!("evicts{block} ({state}, {dirty} dirty bytes)"),
        What::Mshr { change, used, capacity } => {
            format!("MSHR {}, {used} of {capacity} used", change.name())
        }
        What::Violation { rule, text } => format!("BREAKS A RULE, {rule}: {text}"),
        _ => format!("{}: {}", record.kind(), describe(record, names)),
    }
}

/// The path of `other`, without the device if that is the one of `at`.
fn near(names: &Names, at: ComponentId, other: ComponentId) -> &str {
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
        WarpState::Done => "has done all its work",
    }
}
