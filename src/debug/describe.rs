//! Records and other happenings as one line of English each, for the log, the console and the panes.

use crate::model::access::Bytes;
use crate::model::address::Range;
use crate::model::component::{ComponentId, Components};
use crate::model::message::Message;
use crate::model::record::{Record, What};
use crate::model::state::Action;

/// What happened, where, on whose behalf and because of what:
/// `gpu0.smd0 E > S, read probe, block 0x1000, txn 12, because 53`.
#[must_use]
pub fn record(record: &Record, components: &Components) -> String {
    let mut parts = vec![what(record, components)];
    if let Some(range) = record.range {
        parts.push(place(record, range));
    }
    if let Some(txn) = record.txn {
        parts.push(format!("txn {}", txn.0));
    }
    if let Some(cause) = record.because {
        parts.push(format!("because {cause}"));
    }
    parts.join(", ")
}

/// The same with its name, cycle and kind in front, in columns: a line of a log.
#[must_use]
pub fn log_line(of: &Record, components: &Components) -> String {
    let name = format!("{}.{}", of.id.event, of.id.ordinal);
    format!("{name:>10} {:>9}  {:<10}  {}", of.cycle, of.kind(), record(of, components))
}

/// What happened, without the block, the transaction and the cause.
#[must_use]
pub fn what(record: &Record, components: &Components) -> String {
    let at = components.path(record.at);
    match &record.what {
        What::Issue { kind, warp, bytes } => {
            let value = if kind.writes() { assigned(bytes) } else { String::new() };
            format!("{at} warp {warp} issues {}{value}", kind.name())
        }
        What::Complete { kind, warp, bytes, latency } => {
            format!("{at} warp {warp} completes {}{} after {latency} ticks", kind.name(), read(bytes))
        }
        What::Message(message) => route(message, components),
        What::Delivery(message) => format!("{} arrives", route(message, components)),
        What::Transition { from, to, action } if from == to => {
            format!("{at} stays {from}, {}", action_name(*action))
        }
        What::Transition { from, to, action } => format!("{at} {from} > {to}, {}", action_name(*action)),
        What::Directory { owner, sharers } => {
            format!("{at} owner {}, sharers {}", optional(*owner, components), names(sharers, components))
        }
        What::Mshr { change, used, capacity } => {
            format!("{at} MSHR {}, {used} of {capacity}", change.name())
        }
        What::Merge { from, bytes } => {
            format!("{at} merges {} from {}", plural(u64::from(*bytes), "byte"), components.path(*from))
        }
        What::Evict { state, dirty } => {
            format!("{at} evicts a block in {state} with {}", plural(u64::from(*dirty), "dirty byte"))
        }
        What::Promote { kind, warp } => {
            format!("{at} warp {warp}: {} is too small for the byte mask and becomes coherent", kind.name())
        }
        What::Warp { warp, from, to } => format!("{at} warp {warp} {} > {}", from.name(), to.name()),
        What::Kernel { name, launch, ended } => {
            format!("kernel {name} (launch {launch}) {}", if *ended { "ends" } else { "starts" })
        }
        What::Stall { message } => format!("{} waits: no room at its receiver", route(message, components)),
        What::NoCredit { network } => format!("{at} has no credit on the {} network", network.name()),
        What::Fault { name } => format!("{at} injected fault {name}"),
        What::Violation { rule, text } => format!("{at} VIOLATION of {rule}: {text}"),
    }
}

fn route(message: &Message, components: &Components) -> String {
    let mut text = format!(
        "{} > {} {}",
        components.path(message.from),
        components.path(message.to),
        message.kind.name()
    );
    if let Some(state) = message.granted {
        text.push_str(&format!(" {state}"));
    }
    if message.has_data() {
        text.push_str(" with data");
    }
    if let Some(peer) = message.peer {
        text.push_str(&format!(" (peer {})", components.path(peer)));
    }
    text
}

/// A column of the table in words.
#[must_use]
pub fn action_name(action: Action) -> &'static str {
    match action {
        Action::Read => "read probe",
        Action::Write => "write probe",
        Action::Evict => "eviction",
        other => other.name(),
    }
}

fn place(record: &Record, range: Range) -> String {
    match record.what {
        What::Issue { .. } | What::Complete { .. } | What::Promote { .. } => {
            format!("{} at {}", plural(u64::from(range.len), "byte"), range.start)
        }
        _ => format!("block {}", range.start),
    }
}

fn assigned(bytes: &Bytes) -> String {
    if bytes.is_empty() { String::new() } else { format!(" := {}", hex(bytes)) }
}

fn read(bytes: &Bytes) -> String {
    if bytes.is_empty() { String::new() } else { format!(" = {}", hex(bytes)) }
}

/// Bytes as they lie in memory: `07 00 00 00`.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// The path of a component, or a dash.
#[must_use]
pub fn optional(component: Option<ComponentId>, components: &Components) -> String {
    component.map_or_else(|| "-".to_owned(), |id| components.path(id).to_owned())
}

/// Paths separated by blanks, or a dash.
#[must_use]
pub fn names(list: &[ComponentId], components: &Components) -> String {
    if list.is_empty() {
        return "-".to_owned();
    }
    list.iter().map(|id| components.path(*id)).collect::<Vec<_>>().join(" ")
}

/// `1 byte`, `2 bytes`.
#[must_use]
pub fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::address::Address;
    use crate::model::component::ComponentKind;
    use crate::model::message::TxnNumber;
    use crate::model::record::RecordId;
    use crate::model::state::State;

    #[test]
    fn a_transition_reads_as_a_sentence() {
        let mut components = Components::default();
        let smd = components.add("gpu0.smd0", ComponentKind::Smd);
        let mut happened = Record {
            id: RecordId { event: 55, ordinal: 0 },
            tick: 408,
            cycle: 408,
            at: smd,
            because: Some(53),
            txn: None,
            range: Some(Range::new(Address(0x1000), 64)),
            what: What::Transition { from: State(b'E'), to: State(b'S'), action: Action::Read },
        };
        assert_eq!(
            record(&happened, &components),
            "gpu0.smd0 E > S, read probe, block 0x1000, because 53"
        );
        happened.what = What::Merge { from: smd, bytes: 1 };
        happened.txn = Some(TxnNumber(12));
        assert_eq!(
            record(&happened, &components),
            "gpu0.smd0 merges 1 byte from gpu0.smd0, block 0x1000, txn 12, because 53"
        );
    }
}
