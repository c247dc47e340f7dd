//! What a GPU asked for and was not to keep: requests that were spared because others for the same line were under way, and how
//! much of the lines somebody waited for ("Selective GPU Caches", Tables 2 and 3). And what it keeps by sector.

use super::Sheet;
use crate::machine::Machine;
use crate::protocol::node::Counters;

impl Machine {
    pub(super) fn coalescing_statistics(&self, sheet: &mut Sheet) {
        if self.fixed.spec.gpu.as_ref().is_none_or(|gpu| gpu.unified.is_none()) {
            return;
        }
        let (mut first, mut second) = (Counters::default(), Counters::default());
        let counters = |node: &usize| self.nodes.get(*node).map(|node| node.counters);
        for socket in &self.fixed.sockets {
            socket.l1s.iter().filter_map(counters).for_each(|one| first.add(&one));
            socket.slices.iter().filter_map(counters).for_each(|one| second.add(&one));
        }
        let (loads, asked) = (first.uncached_loads, second.uncached_requests);
        sheet.count("coalescing.loads".to_owned(), loads);
        sheet.count("coalescing.requests.l1".to_owned(), first.uncached_requests);
        sheet.count("coalescing.requests.l2".to_owned(), asked);
        sheet.share("coalescing.share".to_owned(), loads.saturating_sub(asked), loads);
        // What comes from the memory of the CPU (Table 3). It comes to the L2s, unless they hand on what L1s fetch themselves.
        let comes = if second.far_sectors_brought > 0 { second } else { first };
        let (brought, dropped) = (comes.far_sectors_brought, comes.far_sectors_dropped);
        sheet.share("coalescing.line_use".to_owned(), brought.saturating_sub(dropped), brought);
        sheet.count("coalescing.sector_misses.l1".to_owned(), first.sector_misses);
        sheet.count("coalescing.sector_misses.l2".to_owned(), second.sector_misses);
    }
}
