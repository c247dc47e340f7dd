//! Which line of memory the screen looks at.

use smallvec::SmallVec;

use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::model::inspect::{BlockView, Inspect};
use crate::model::message::TxnNumber;

/// Levels of a hierarchy (there are four); stops a machine whose parents form a ring.
pub const DEEPEST: usize = 8;

/// The block of one address at every node: asked once for all that show it.
#[derive(Clone, Debug)]
pub struct Focus {
    pub address: Address,
    /// The finest block that holds the address; as large as the smallest of the machine where nobody holds it.
    pub line: Range,
    /// By node, ascending.
    pub views: Vec<(ComponentId, Option<BlockView>)>,
    /// Where the block is at home.
    pub homes: Homes,
}

/// The memories and directories that blocks are at home in: one, but for machines whose GPUs work on copies.
pub type Homes = SmallVec<[ComponentId; 2]>;

impl Focus {
    #[must_use]
    pub fn new(machine: &dyn Inspect, address: Address) -> Self {
        let nodes = machine.components().iter().filter(|(_, component)| component.kind.is_node());
        let mut views: Vec<_> = nodes.map(|(id, _)| (id, machine.block(id, address))).collect();
        let homes = homes(machine, address, &views);
        for (id, view) in &mut views {
            // A directory keeps the empty entry of a block whose page has moved.
            let has_left = |view: &BlockView| view.is_idle() && machine.parent(*id, address).is_none();
            if !homes.contains(id) && view.as_ref().is_some_and(has_left) {
                *view = None;
            }
        }
        let known = || views.iter().filter_map(|(_, view)| view.as_ref()).filter(|view| !view.displaced);
        let finest = known().map(|view| view.range.len).min();
        if finest.is_none() {
            // What stands in its place is told of a block that somebody knows.
            for (_, view) in &mut views {
                *view = None;
            }
        }
        Self {
            address,
            line: Range::block(address, finest.unwrap_or_else(|| machine.smallest_block())),
            views,
            homes,
        }
    }

    /// The block at a node; none if that neither holds nor awaits it, nor is a cache with another one in its place.
    #[must_use]
    pub fn at(&self, node: ComponentId) -> Option<&BlockView> {
        let place = self.views.binary_search_by_key(&node, |(id, _)| *id).ok()?;
        self.views.get(place)?.1.as_ref()
    }
}

/// Where the ways of an address up from the caches end: of several ends, those that know something of the block, or lead to who does.
fn homes(machine: &dyn Inspect, address: Address, views: &[(ComponentId, Option<BlockView>)]) -> Homes {
    let up = |node: &ComponentId| machine.parent(*node, address);
    let (mut ends, mut known) = (Homes::new(), Homes::new());
    for (node, view) in views {
        let Some(end) = std::iter::successors(Some(*node), up).take(DEEPEST).last() else { continue };
        if end != *node && !ends.contains(&end) {
            ends.push(end);
        }
        if view.as_ref().is_some_and(|view| !view.is_idle()) && !known.contains(&end) {
            known.push(end);
        }
    }
    known.retain(|end| ends.contains(end));
    if known.is_empty() { ends } else { known }
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
    let views = nodes.filter_map(|(id, _)| machine.block(id, block));
    let views = views.filter(|view| !view.displaced).map(|view| view.range);
    let largest = views.filter(|range| range.start == block).max_by_key(|range| range.len);
    largest.map_or(block, |range| line_in(machine, range, Some(txn), None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debug::interrupt::Interrupt;
    use crate::debug::sample::bundled;

    /// The paths of the homes of a block at the end of a lesson, and of the nodes that have a part in it.
    fn at_the_end(name: &str, address: u64) -> [Vec<String>; 2] {
        let mut session = bundled(name);
        session.execute("end", &Interrupt::default()).unwrap();
        let machine = session.machine();
        let focus = Focus::new(machine, Address(address));
        let path = |id: ComponentId| machine.components().path(id).to_owned();
        let known = focus.views.iter().filter(|(_, view)| view.is_some());
        [focus.homes.iter().map(|id| path(*id)).collect(), known.map(|(id, _)| path(*id)).collect()]
    }

    #[test]
    fn a_block_is_at_home_where_its_page_is_and_not_where_that_was() {
        let [homes, known] = at_the_end("numa/pages-come", 0x1000);
        assert_eq!(homes, ["gpu1.memory.0"]);
        assert_eq!(known, ["gpu1.cu0.l1", "gpu1.l2.0", "gpu1.memory.0"]);
        assert_eq!(at_the_end("paging/hot-set", 0xd740)[0], ["gpu0.memory.0"]);
        assert_eq!(at_the_end("umh/fig5-b1", 0x1000)[0], ["host.hmd0"]);
    }

    #[test]
    fn what_stands_in_the_place_of_a_block_is_told_of_one_that_somebody_knows() {
        let [homes, known] = at_the_end("scalegpu/relay", 0x10000);
        assert_eq!(homes, ["host.hmd0"]);
        assert_eq!(known, ["gpu0.cu0.l1", "gpu0.l2.0", "gpu0.memory.0", "host.hmd0"]);
        assert_eq!(at_the_end("scalegpu/relay", 0x7fff_0000)[1], [""; 0]);
    }
}
