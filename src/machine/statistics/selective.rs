//! What a GPU that takes no part in coherence knew about the CPU's caches, and what it was told by them.

use super::Sheet;
use crate::machine::Machine;
use crate::model::selective::RemoteDirectoryView;
use crate::protocol::node::Node;

impl Machine {
    pub(super) fn remote_directory_statistics(&self, sheet: &mut Sheet) {
        let views: Vec<RemoteDirectoryView> = self.nodes.iter().filter_map(Node::remote_view).collect();
        if views.is_empty() {
            return;
        }
        let sum = |of: fn(&RemoteDirectoryView) -> u64| views.iter().map(of).sum::<u64>();
        let false_positives = sum(|view| view.false_positives);
        for (name, value) in [
            ("lines", sum(|view| u64::from(view.lines))),
            ("peak", sum(|view| u64::from(view.peak))),
            ("capacity", sum(|view| u64::from(view.capacity))),
            ("looks", sum(|view| view.looks)),
            ("found", sum(|view| view.found)),
            ("nacks", sum(|view| view.nacks)),
            ("false_positives", false_positives),
            ("flushes", sum(|view| view.flushes)),
            ("inserted", sum(|view| view.inserted)),
            ("moved", sum(|view| view.moved)),
        ] {
            sheet.count(format!("remote_directory.{name}"), value);
        }
        let strangers = sum(RemoteDirectoryView::strangers);
        sheet.share("remote_directory.false_positive_rate".to_owned(), false_positives, strangers);
    }
}
