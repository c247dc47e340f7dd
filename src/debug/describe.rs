//! Records and stops as one line of English each, for the log and the console.

use super::frame::text;
use crate::model::component::{ComponentId, Components};
use crate::model::record::{Record, What};

/// Where, what, on whose behalf and because of what:
/// `gpu0.smd0 E > S, read probe, block 0x1000, txn 12, because 53`.
#[must_use]
pub fn record(record: &Record, components: &Components) -> String {
    let what = text::describe(record, components).trim_end().replace("  ", ", ");
    let mut parts = match record.place() {
        Some(at) => vec![format!("{} {what}", components.path(at))],
        None => vec![what],
    };
    if let Some(range) = record.range
        && !matches!(record.what, What::Issue { .. } | What::Complete { .. })
    {
        let block = format!("block {}", range.start);
        let is_said = matches!(&record.what, What::Violation { text, .. } if text.ends_with(&block));
        parts.extend(Some(block).filter(|_| !is_said));
    }
    if let Some(txn) = record.txn {
        parts.push(format!("txn {}", txn.0));
    }
    if let Some(cause) = record.because {
        parts.push(format!("because {cause}"));
    }
    parts.join(", ")
}

/// The same with its kind in front.
#[must_use]
pub fn with_kind(of: &Record, components: &Components) -> String {
    format!("{} {}", of.kind(), record(of, components))
}

/// The same with its name, cycle and kind in front, in columns: a line of a log.
#[must_use]
pub fn log_line(of: &Record, components: &Components) -> String {
    let name = format!("{}.{}", of.id.event, of.id.ordinal);
    format!("{name:>10} {:>9}  {:<10}  {}", of.cycle, of.kind(), record(of, components))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::address::{Address, Range};
    use crate::model::component::ComponentKind;
    use crate::model::message::TxnNumber;
    use crate::model::record::RecordId;
    use crate::model::state::{Action, State};

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
        assert_eq!(record(&happened, &components), "gpu0.smd0 E > S, read probe, block 0x1000, because 53");
        happened.what = What::Merge { from: smd, bytes: 7, whole: false };
        happened.txn = Some(TxnNumber(12));
        assert_eq!(
            with_kind(&happened, &components),
            "merge gpu0.smd0 7 bytes from gpu0.smd0, block 0x1000, txn 12, because 53"
        );
        happened.what = What::Merge { from: smd, bytes: 64, whole: true };
        let log = record(&happened, &components);
        assert!(log.starts_with("gpu0.smd0 64 bytes from gpu0.smd0, the whole block, block 0x1000"), "{log}");
        let story = text::predicate(&happened, &components);
        assert_eq!(story, "merges 64 bytes of gpu0.smd0, the whole block");
    }
}
