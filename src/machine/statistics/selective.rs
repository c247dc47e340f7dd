//! Caches that keep some lines only: what their MSHRs spared, and what the remote directory cost.

use super::Sheet;
use crate::machine::Machine;
use crate::model::component::ComponentKind;
use crate::protocol::node::{Counters, Node};

impl Machine {
    pub(super) fn selective_statistics(&self, sheet: &mut Sheet) {
        if self.fixed.spec.gpu.as_ref().is_none_or(|gpu| gpu.remote_directory.is_none()) {
            return;
        }
        self.coalescing_statistics(sheet);
        self.remote_directory_statistics(sheet);
    }

    /// Counters of the GPU's nodes of one kind.
    fn counters_of(&self, kind: ComponentKind) -> Counters {
        let mut all = Counters::default();
        let is_one = |node: &&Node| {
            let component = self.fixed.components.get(node.id());
            component.is_some_and(|one| one.kind == kind && one.path.starts_with("gpu"))
        };
        self.nodes.iter().filter(is_one).for_each(|node| all.add(&node.counters));
        all
    }

    /// How many loads of lines that may not be kept found their bytes on their way, and what of these bytes was of use.
    fn coalescing_statistics(&self, sheet: &mut Sheet) {
        let (l1, l2) = (self.counters_of(ComponentKind::L1), self.counters_of(ComponentKind::L2));
        sheet.count("coalescing.loads".to_owned(), l1.uncached_loads);
        sheet.count("coalescing.l1.requests".to_owned(), l1.uncached_requests);
        sheet.count("coalescing.l2.requests".to_owned(), l2.uncached_requests);
        let spared = |requests: u64| l1.uncached_loads.saturating_sub(requests);
        sheet.share("coalescing.l1.share".to_owned(), spared(l1.uncached_requests), l1.uncached_loads);
        sheet.share("coalescing.share".to_owned(), spared(l2.uncached_requests), l1.uncached_loads);
        let used = l1.sectors_brought.saturating_sub(l1.sectors_dropped);
        sheet.share("coalescing.line_use".to_owned(), used, l1.sectors_brought);
    }

    fn remote_directory_statistics(&self, sheet: &mut Sheet) {
        let nodes: Vec<(&Node, _)> =
            self.nodes.iter().filter_map(|node| Some((node, node.remote_view()?))).collect();
        let sum = |of: fn(&crate::model::selective::RemoteDirectoryView) -> u64| {
            nodes.iter().map(|(_, view)| of(view)).sum::<u64>()
        };
        let (looks, false_positives) = (sum(|view| view.looks), sum(|view| view.false_positives));
        for (name, value) in [
            ("lines", sum(|view| u64::from(view.lines))),
            ("peak", sum(|view| u64::from(view.peak))),
            ("capacity", sum(|view| u64::from(view.capacity))),
            ("looks", looks),
            ("found", sum(|view| view.found)),
            ("nacks", sum(|view| view.nacks)),
            ("false_positives", false_positives),
            ("flushes", sum(|view| view.flushes)),
        ] {
            sheet.count(format!("remote_directory.{name}"), value);
        }
        let absent = looks - sum(|view| view.found) + false_positives;
        sheet.share("remote_directory.false_positive_rate".to_owned(), false_positives, absent);
    }
}
