//! Which line of memory the screen looks at.

use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::model::inspect::{BlockView, Inspect};
use crate::model::message::TxnNumber;

/// The block of one address at every node: asked once for all that show it.
#[derive(Clone, Debug)]
pub struct Focus {
    pub address: Address,
    /// The finest block that holds the address; as large as the smallest of the machine where nobody holds it.
    pub line: Range,
    /// By node, ascending.
    pub views: Vec<(ComponentId, Option<BlockView>)>,
}

impl Focus {
    #[must_use]
    pub fn new(machine: &dyn Inspect, address: Address) -> Self {
        let nodes = machine.components().iter().filter(|(_, component)| component.kind.is_node());
        let views: Vec<_> = nodes.map(|(id, _)| (id, machine.block(id, address))).collect();
        let finest = views.iter().filter_map(|(_, view)| Some(view.as_ref()?.range.len)).min();
        Self {
            address,
            line: Range::block(address, finest.unwrap_or_else(|| machine.smallest_block())),
            views,
        }
    }

    /// The block at a node; none if that neither holds nor awaits it.
    #[must_use]
    pub fn at(&self, node: ComponentId) -> Option<&BlockView> {
        let place = self.views.binary_search_by_key(&node, |(id, _)| *id).ok()?;
        self.views.get(place)?.1.as_ref()
    }
}

/// The finest block that holds `address`.
#[must_use]
pub fn line(machine: &dyn Inspect, address: Address) -> Range {
    Focus::new(machine, address).line
}

/// The line of `range` that `txn` is about. A node may speak of a larger block than the one that was asked for: then it
/// is the line of the access, else the one looked at `before`, if the range holds them.
#[must_use]
pub fn line_in(
    machine: &dyn Inspect,
    range: Range,
    txn: Option<TxnNumber>,
    before: Option<Address>,
) -> Address {
    let of_txn = txn.and_then(|txn| machine.transaction_range(txn)).map(|range| range.start);
    let told = of_txn.or(before).filter(|address| range.contains(*address));
    line(machine, told.unwrap_or(range.start)).start
}

/// The same for the block that begins at `block`, whatever its size is where it was picked.
#[must_use]
pub fn line_of(machine: &dyn Inspect, block: Address, txn: TxnNumber) -> Address {
    let nodes = machine.components().iter().filter(|(_, component)| component.kind.is_node());
    let views = nodes.filter_map(|(id, _)| machine.block(id, block)).map(|view| view.range);
    let largest = views.filter(|range| range.start == block).max_by_key(|range| range.len);
    largest.map_or(block, |range| line_in(machine, range, Some(txn), None))
}
