//! What a quantity reads, and what it is compared with.

use std::fmt;

use crate::model::bits::Bits;
use crate::model::component::{ComponentId, Components};
use crate::model::state::State;
use crate::model::text::hex;

use super::number::{Comparison, Interval, little_endian};
use super::operand::Named;

/// What a quantity is at one node, or of the machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// The stable state, and the one it waits for.
    State(State, Option<State>),
    Bytes(Vec<u8>),
    Number(f64),
    /// Owner: at most one.
    Owner(Option<ComponentId>),
    Sharers(Vec<ComponentId>),
    /// Runs of dirty bytes as offsets in the block, both ends included; and the block's size.
    Dirty(Vec<(u32, u32)>, u32),
    /// There is nothing to read, and why.
    Absent(&'static str),
}

impl Reading {
    /// The runs of bytes that a dirty mask marks.
    pub(super) fn dirty(mask: Option<&Bits>, granule: u32, len: u32) -> Self {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for bit in mask.into_iter().flat_map(Bits::iter) {
            let from = bit.saturating_mul(granule.max(1));
            let to = from.saturating_add(granule.max(1)).min(len).saturating_sub(1);
            match runs.last_mut() {
                Some(last) if last.1.saturating_add(1) >= from => last.1 = to,
                _ => runs.push((from, to)),
            }
        }
        Self::Dirty(runs, len)
    }

    /// In words, with the paths of these components.
    #[must_use]
    pub fn show(&self, components: &Components) -> String {
        match self {
            Self::State(state, Some(target)) => format!("{state}>{target}"),
            Self::State(state, None) => state.to_string(),
            Self::Bytes(bytes) => match little_endian(bytes) {
                Some(number) if bytes.len() <= 8 => format!("{} ({number})", hex(bytes)),
                _ => hex(bytes),
            },
            Self::Number(number) => number.to_string(),
            Self::Owner(owner) => owner.map_or("none", |id| components.path(id)).to_string(),
            Self::Sharers(ids) if ids.is_empty() => "none".into(),
            Self::Sharers(ids) => ids.iter().map(|id| components.path(*id)).collect::<Vec<_>>().join(" "),
            Self::Dirty(runs, _) => match runs.as_slice() {
                [] => show_runs(runs),
                [(from, to)] if from == to => format!("byte {from}"),
                _ => format!("bytes {}", show_runs(runs)),
            },
            Self::Absent(why) => (*why).to_string(),
        }
    }
}

fn show_runs(runs: &[(u32, u32)]) -> String {
    if runs.is_empty() {
        return "none".into();
    }
    let one = |&(from, to): &(u32, u32)| if from == to { from.to_string() } else { format!("{from}..{to}") };
    runs.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// What a quantity is compared with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wanted {
    States(Vec<State>),
    /// A number that bytes or a count shall be.
    Number(Interval),
    /// A statistic, which may have a fraction.
    Real(f64, f64),
    Bytes(Vec<u8>),
    /// Exactly these components (none of them: nobody).
    Holders(Vec<Named>),
    /// At least these.
    Include(Vec<Named>),
    /// Exactly these offsets, as sorted runs.
    Offsets(Vec<(u32, u32)>),
    AllOffsets,
}

impl Wanted {
    /// Whether what was read compares so; never for what is absent.
    pub fn accepts(&self, reading: &Reading, how: Comparison, components: &Components) -> bool {
        match (self, reading) {
            (Self::States(states), Reading::State(state, _)) => how.holds_for(states.contains(state)),
            (Self::Number(wanted), Reading::Bytes(bytes)) => {
                little_endian(bytes).is_some_and(|value| how.holds(value, wanted.from, wanted.to))
            }
            (Self::Number(wanted), Reading::Number(value)) => {
                how.holds(*value, wanted.from as f64, wanted.to as f64)
            }
            (Self::Real(from, to), Reading::Number(value)) => how.holds(*value, *from, *to),
            (Self::Bytes(wanted), Reading::Bytes(bytes)) => how.holds_for(wanted == bytes),
            (Self::Holders(wanted), Reading::Owner(owner)) => {
                let ids: &[ComponentId] = owner.as_slice();
                how.holds_for(exactly(wanted, ids, components))
            }
            (Self::Holders(wanted), Reading::Sharers(ids)) => how.holds_for(exactly(wanted, ids, components)),
            (Self::Include(wanted), Reading::Sharers(ids)) => {
                how.holds_for(includes(wanted, ids, components))
            }
            (Self::Offsets(wanted), Reading::Dirty(runs, _)) => how.holds_for(wanted == runs),
            (Self::AllOffsets, Reading::Dirty(runs, len)) => {
                how.holds_for(*len > 0 && runs[..] == [(0, len - 1)])
            }
            _ => false,
        }
    }
}

/// Every name has its holder, and every holder its name.
fn exactly(wanted: &[Named], ids: &[ComponentId], components: &Components) -> bool {
    includes(wanted, ids, components)
        && ids.iter().all(|id| wanted.iter().any(|named| named.contains(*id, components)))
}

fn includes(wanted: &[Named], ids: &[ComponentId], components: &Components) -> bool {
    wanted.iter().all(|named| ids.iter().any(|id| named.contains(*id, components)))
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::States(states) => {
                let letters: Vec<_> = states.iter().map(State::to_string).collect();
                let many = if letters.len() > 1 { "one of " } else { "" };
                write!(f, "{many}{}", letters.join(" "))
            }
            Self::Number(wanted) => f.write_str(&wanted.show(false)),
            Self::Real(from, to) if (from - to).abs() < f64::EPSILON => write!(f, "{from}"),
            Self::Real(from, to) => write!(f, "{from}..{to}"),
            Self::Bytes(bytes) => write!(f, "\"{}\"", hex(bytes)),
            Self::Holders(wanted) if wanted.is_empty() => f.write_str("none"),
            Self::Holders(wanted) | Self::Include(wanted) => {
                let names: Vec<_> = wanted.iter().map(Named::to_string).collect();
                f.write_str(&names.join(" "))
            }
            Self::Offsets(runs) => f.write_str(&show_runs(runs)),
            Self::AllOffsets => f.write_str("all"),
        }
    }
}
