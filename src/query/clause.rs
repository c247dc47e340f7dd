//! The tests of a filter: what a record is compared with.

use std::fmt;

use crate::model::address::{Address, Range};
use crate::model::component::{Component, ComponentId, ComponentKind, Components};
use crate::model::record::{Field, KINDS, KindInfo, Record, What};
use crate::model::state::State;

use super::context::PageSize;
use super::number::{Comparison, Interval, little_endian};
use super::operand::Named;
use super::pattern::glob;

/// One test of a record.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Clause {
    Kind(&'static KindInfo),
    At(Comparison, Named),
    /// At a link of these.
    Link(Comparison, Named),
    Number(Shared, Comparison, Interval),
    /// A field of the kind; any of the values.
    Field {
        name: &'static str,
        comparison: Comparison,
        values: Vec<Operand>,
    },
}

/// A number that every record has, or may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shared {
    /// Addresses that its range touches.
    Block,
    /// Pages that its range touches.
    Page(PageSize),
    /// The GPU it happened on.
    Gpu,
    Txn,
    Cycle,
    Event,
    /// The event that caused it.
    Because,
}

/// A value to compare a field with: as written, and what it may mean.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Operand {
    pub text: String,
    pub meanings: Vec<Meaning>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning {
    State(State),
    Component(Named),
    /// No owner, no sharers.
    Nobody,
    Word(&'static str),
    /// Text in which `*` stands for any letters.
    Glob(String),
    Number(Interval),
    Bytes(Vec<u8>),
}

/// The links that a message goes over from its sender to its receiver, if a record is about one.
fn crossed<'a>(record: &Record, components: &'a Components) -> &'a [ComponentId] {
    match &record.what {
        What::Message(message) | What::Delivery(message) | What::Stall { message } => {
            components.links_between(message.from, message.to)
        }
        _ => &[],
    }
}

impl Clause {
    pub fn matches(&self, record: &Record, components: &Components) -> bool {
        match self {
            Self::Kind(kind) => record.kind() == kind.name,
            Self::At(comparison, named) => comparison.holds_for(named.contains(record.at, components)),
            Self::Link(comparison, named) => {
                let is_link = components.get(record.at).is_some_and(|at| at.kind == ComponentKind::Link);
                let own =
                    if is_link { std::slice::from_ref(&record.at) } else { crossed(record, components) };
                !own.is_empty()
                    && comparison.holds_for(own.iter().any(|link| named.contains(*link, components)))
            }
            Self::Number(shared, comparison, interval) => {
                shared.compare(record, components, *comparison, *interval)
            }
            Self::Field { name, comparison, values } => match record.field(name) {
                Some(field) => any(values, &field, *comparison, components),
                None => has_field(record, name) && nobody(values, *comparison),
            },
        }
    }
}

impl Shared {
    fn compare(self, record: &Record, components: &Components, how: Comparison, with: Interval) -> bool {
        let number = match self {
            Self::Block => return record.range.is_some_and(|range| touches(range, 1, how, with)),
            Self::Page(size) => {
                return record.range.is_some_and(|range| touches(range, u64::from(size.0.max(1)), how, with));
            }
            Self::Gpu => components.get(record.at).and_then(Component::gpu).map(u64::from),
            Self::Txn => record.txn.map(|txn| txn.0),
            Self::Cycle => Some(record.cycle),
            Self::Event => Some(record.id.event),
            Self::Because => record.because,
        };
        number.is_some_and(|number| how.holds(number, with.from, with.to))
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Page(_) => "page",
            Self::Gpu => "gpu",
            Self::Txn => "txn",
            Self::Cycle => "cycle",
            Self::Event => "event",
            Self::Because => "because",
        }
    }
}

/// Whether a range touches the pieces of `size` bytes numbered `with`; orders compare its first piece.
fn touches(range: Range, size: u64, how: Comparison, with: Interval) -> bool {
    let Range { start: Address(start), .. } = range;
    let last = range.end().saturating_sub(1).max(start);
    let (first, last) = (start / size, last / size);
    if how.orders() {
        return how.holds(first, with.from, with.to);
    }
    how.holds_for(first <= with.to && with.from <= last)
}

fn has_field(record: &Record, name: &str) -> bool {
    let kind = KINDS.iter().find(|kind| kind.name == record.kind());
    kind.is_some_and(|kind| kind.fields.iter().any(|field| field.name == name))
}

/// Compares a field that is absent: an owner that is none.
fn nobody(values: &[Operand], how: Comparison) -> bool {
    let mut meanings = values.iter().flat_map(|value| &value.meanings);
    how.holds_for(meanings.any(|meaning| *meaning == Meaning::Nobody))
}

/// Compares a field with any of the values; those that mean another type of value do not count.
fn any(values: &[Operand], field: &Field, how: Comparison, components: &Components) -> bool {
    let mut meanings =
        values.iter().flat_map(|value| &value.meanings).filter(|m| m.is_like(field)).peekable();
    if meanings.peek().is_none() {
        return false;
    }
    if how == Comparison::IsNot {
        !meanings.any(|meaning| meaning.accepts(field, Comparison::Is, components))
    } else {
        meanings.any(|meaning| meaning.accepts(field, how, components))
    }
}

impl Meaning {
    /// Whether it can be compared with such a field at all.
    fn is_like(&self, field: &Field) -> bool {
        matches!(
            (self, field),
            (Self::State(_), Field::State(_))
                | (Self::Component(_) | Self::Nobody, Field::Component(_) | Field::Components(_))
                | (Self::Word(_), Field::Word(_) | Field::Words(_))
                | (Self::Glob(_), Field::Word(_) | Field::Text(_))
                | (Self::Number(_), Field::Number(_) | Field::Bytes(_))
                | (Self::Bytes(_), Field::Bytes(_))
        )
    }

    fn accepts(&self, field: &Field, how: Comparison, components: &Components) -> bool {
        match (self, field) {
            (Self::State(state), Field::State(value)) => state == value,
            (Self::Component(named), Field::Component(id)) => named.contains(*id, components),
            (Self::Component(named), Field::Components(ids)) => {
                ids.iter().any(|id| named.contains(*id, components))
            }
            (Self::Nobody, Field::Components(ids)) => ids.is_empty(),
            (Self::Word(word), Field::Word(value)) => same_word(word, value),
            (Self::Word(word), Field::Words(values)) => values.contains(word),
            (Self::Glob(pattern), Field::Word(value)) => glob(pattern, value),
            (Self::Glob(pattern), Field::Text(value)) => glob(pattern, value),
            (Self::Number(interval), Field::Number(value)) => how.holds(*value, interval.from, interval.to),
            (Self::Number(interval), Field::Bytes(bytes)) => {
                little_endian(bytes).is_some_and(|value| how.holds(value, interval.from, interval.to))
            }
            (Self::Bytes(wanted), Field::Bytes(bytes)) => wanted[..] == bytes[..],
            _ => false,
        }
    }
}

/// `atomic` stands for every atomic.
fn same_word(word: &str, value: &str) -> bool {
    word == value || (word == "atomic" && value.starts_with("atomic-"))
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(kind) => f.write_str(kind.name),
            Self::At(how, named) => write(f, "at", *how, &named.to_string()),
            Self::Link(how, named) => write(f, "link", *how, &named.to_string()),
            Self::Number(shared, how, interval) => {
                let hex = matches!(shared, Shared::Block | Shared::Page(_));
                write(f, shared.name(), *how, &interval.show(hex))
            }
            Self::Field { name, comparison, values } => {
                let texts: Vec<_> = values.iter().map(|value| value.text.as_str()).collect();
                let many = if texts.len() > 1 { "one of " } else { "" };
                write(f, name, *comparison, &format!("{many}{}", texts.join(" ")))
            }
        }
    }
}

fn write(f: &mut fmt::Formatter<'_>, name: &str, how: Comparison, value: &str) -> fmt::Result {
    // A component may be called "is".
    if how == Comparison::Is && value != "is" {
        write!(f, "{name} {value}")
    } else {
        write!(f, "{name} {how} {value}")
    }
}
