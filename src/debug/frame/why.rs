//! Why what is selected cannot go on, or what is shown where that can.

use crate::model::component::{ComponentId, ComponentKind};
use crate::model::inspect::{Inspect, TransactionView};
use crate::model::wait::WaitLink;
use crate::model::warp::{NO_WARP, by_warp};

use super::selection::Selection;

/// A chain of waiting, and of whom it tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Why {
    /// For a heading; empty if nothing waits.
    pub head: String,
    pub links: Vec<WaitLink>,
}

impl Why {
    /// Of the node, unit or link that was picked; of the transaction where none was, it waits for nothing, or a record was.
    /// `oldest` are transactions that are at hand, the oldest first.
    pub(super) fn of(
        machine: &dyn Inspect,
        selection: &Selection,
        shown: Option<&TransactionView>,
        oldest: &[TransactionView],
    ) -> Self {
        let part = selection.component.map(|part| {
            let path = machine.components().path(part);
            let head = format!("{path}{}", by_warp(selection.warp.unwrap_or(NO_WARP)));
            Self { head, links: machine.why(part, selection.warp) }
        });
        let is_picked = selection.record.is_none();
        if let Some(why) = part.as_ref().filter(|why| is_picked && !why.links.is_empty()) {
            return why.clone();
        }
        if let Some(view) = shown {
            let number = view.number.0;
            let head = match part.filter(|_| is_picked) {
                Some(part) => {
                    format!(
                        "{}, which is selected, waits for nothing; transaction {number}, which is shown",
                        part.head
                    )
                }
                None => format!("transaction {number}"),
            };
            return Self { head, links: view.chain.clone() };
        }
        part.unwrap_or_else(|| Self::of_nothing(machine, selection, oldest))
    }

    /// Of the fault of a page, or of what has been under way longest.
    fn of_nothing(machine: &dyn Inspect, selection: &Selection, oldest: &[TransactionView]) -> Self {
        let fault = selection.block.and_then(|block| machine.fault(block, None));
        if let Some(fault) = fault.filter(|fault| !fault.waits.is_empty()) {
            return Self {
                head: format!("{} of page {}", fault.kind.name(), fault.page),
                links: fault.waits,
            };
        }
        if let Some(view) = oldest.first().cloned().or_else(|| machine.transactions(1, 1).pop()) {
            let head = format!("the oldest in flight, transaction {}", view.number.0);
            return Self { head, links: view.chain };
        }
        let unit = first_that_waits(machine);
        unit.map_or_else(Self::default, |(unit, links)| Self {
            head: machine.components().path(unit).to_owned(),
            links,
        })
    }
}

/// The first compute unit or core that waits for something, and the chain of that.
pub(in crate::debug) fn first_that_waits(machine: &dyn Inspect) -> Option<(ComponentId, Vec<WaitLink>)> {
    let units = machine.components().iter();
    let units = units.filter(|(_, part)| matches!(part.kind, ComponentKind::Cu | ComponentKind::Core));
    units.map(|(id, _)| (id, machine.why(id, None))).find(|(_, links)| !links.is_empty())
}
