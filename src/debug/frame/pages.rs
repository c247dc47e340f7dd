//! Paged memory as the screen shows it: where the pages are, what moves, what far-faults and TLBs wait for.

use crate::model::address::Address;
use crate::model::component::ComponentKind;
use crate::model::inspect::Inspect;
use crate::model::page_view::{FaultView, HomesView, PagesView, PermissionsView, TlbView};

use super::selection::Selection;
use super::sequence::Sequence;
use super::wish::{Pane, Wish};

/// The paged memory of a machine. Empty if none is paged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pages {
    /// By GPU.
    pub gpus: Vec<PagesView>,
    /// What may be done with them, where they are taken for read-only.
    pub permissions: Option<PermissionsView>,
    /// Which socket they live on, where GPUs are the sockets of one.
    pub homes: Option<HomesView>,
    /// By compute unit.
    pub tlbs: Vec<TlbView>,
    /// The last fault of the page that is selected.
    pub fault: Option<FaultView>,
}

impl Pages {
    /// What `wish` asks for, beside the journey that is drawn.
    #[must_use]
    pub fn build(
        machine: &dyn Inspect,
        selection: &Selection,
        drawn: Option<&Sequence>,
        wish: &Wish,
    ) -> Self {
        let mut pages = Self::default();
        if wish.panes.has(Pane::Pages) {
            pages.homes = machine.homes(wish.cells);
        }
        if machine.page_size().is_none() {
            return pages;
        }
        if wish.panes.has(Pane::Pages) || wish.panes.has(Pane::Links) || wish.panes.has(Pane::Waits) {
            pages.gpus = machine.pages(wish.cells);
            pages.permissions = machine.permissions(wish.cells);
        }
        if wish.panes.has(Pane::Mshrs) {
            let units = machine.components().iter().filter(|(_, part)| part.kind == ComponentKind::Cu);
            pages.tlbs = units.take(wish.limit).filter_map(|(id, _)| machine.tlb(id)).collect();
        }
        if wish.panes.has(Pane::Transaction) {
            pages.fault = selection.block.and_then(|block| fault(machine, selection, drawn, block));
        }
        pages
    }
}

/// The last fault of a page: that of the GPU whose access to it is selected, in flight or drawn. A core has none.
fn fault(
    machine: &dyn Inspect,
    selection: &Selection,
    drawn: Option<&Sequence>,
    block: Address,
) -> Option<FaultView> {
    let is_of_page =
        |access: Address| machine.page_size().is_some_and(|size| access.block(size) == block.block(size));
    let transaction = selection.txn.and_then(|txn| machine.transaction(txn));
    let in_flight =
        transaction.filter(|txn| is_of_page(txn.range.start)).map(|transaction| transaction.agent);
    let drawn = drawn.filter(|sequence| sequence.range.is_some_and(|range| is_of_page(range.start)));
    let first = || drawn.and_then(|sequence| sequence.lifelines.first().copied());
    let Some(asking) = in_flight.or_else(first) else { return machine.fault(block, None) };
    machine.fault(block, Some(machine.components().get(asking)?.gpu()?))
}
