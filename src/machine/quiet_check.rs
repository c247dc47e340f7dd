//! What has to be so once nothing is under way: directories agree with their children.

use super::Machine;
use crate::model::address::Range;
use crate::model::bits::ones_of;
use crate::model::component::ComponentId;
use crate::protocol::homes::Homes;
use crate::protocol::node::Node;
use crate::protocol::outbox::{About, Outbox};

/// Where directory and child disagree: at the directory, about a range, in words.
type Disagreement = (ComponentId, Range, String);

impl Machine {
    /// The same that an exploration checks in every quiet state.
    pub(super) fn check_directories(&mut self, out: &mut Outbox) {
        if let Some((at, range, text)) = self.disagreement(&out.homes) {
            self.violate(at, About::new(range, None), "directory", &format!("all is quiet, and {text}"), out);
        }
    }

    fn disagreement(&self, homes: &Homes) -> Option<Disagreement> {
        let of = |parent| self.unheld(parent, homes).or_else(|| self.unknown_owner(parent, homes));
        self.nodes.iter().find_map(of)
    }

    /// Where a directory and its children disagree as they stand, in words.
    #[must_use]
    pub fn disagrees_somewhere(&self) -> Option<String> {
        self.disagreement(&self.homes).map(|(_, _, text)| text)
    }

    /// Whether what a directory lists of a child is there: its units are the child's blocks, and they leave it only by a message.
    fn is_exact(parent: &Node, child: &Node) -> bool {
        let config = &child.config;
        config.is_tracked() && config.block == parent.config.unit && !config.leaves_silently()
    }

    /// A child that is listed as a holder and holds nothing.
    fn unheld(&self, parent: &Node, homes: &Homes) -> Option<Disagreement> {
        if !parent.config.is_directory() || parent.remote_view().is_some() {
            return None;
        }
        parent.entries().find_map(|entry| {
            entry.units.iter().zip(0u32..).find_map(|(unit, number)| {
                let range = parent.unit_of_entry(entry, number);
                let children =
                    ones_of(unit.sharers).filter_map(|bit| parent.config.children.get(bit as usize));
                let mut children = children.filter_map(|id| self.node(*id));
                let gone = children.find(|child| {
                    let is_its = child.config.parent(range.start, homes) == Some(parent.id());
                    is_its && Self::is_exact(parent, child) && child.held(range).next().is_none()
                })?;
                let how = ["lists", "as a holder, which holds nothing"];
                let text = self.disagrees(parent, gone, range, how);
                Some((parent.id(), range, text))
            })
        })
    }

    /// A child that is an owner and not listed as one.
    fn unknown_owner(&self, parent: &Node, homes: &Homes) -> Option<Disagreement> {
        let children = parent.config.children.iter().filter_map(|id| self.node(*id));
        let mut children = children.filter(|child| Self::is_exact(parent, child));
        children.find_map(|child| {
            let owned = child.entries().find(|entry| {
                let is_its = child.config.parent(entry.block, homes) == Some(parent.id());
                let is_known = || parent.listed(entry.block, child.id()).is_some_and(|(_, owns)| owns);
                is_its && child.config.table.is_owner(entry.state) && !is_known()
            })?;
            let range = Range::new(owned.block, child.config.block);
            let text = self.disagrees(parent, child, range, ["does not know that", "is the owner"]);
            Some((parent.id(), range, text))
        })
    }

    fn disagrees(&self, parent: &Node, child: &Node, range: Range, [says, what]: [&str; 2]) -> String {
        let path = |node: &Node| self.fixed.components.path(node.id());
        format!("{} {says} {} {what}: block {}", path(parent), path(child), range.start)
    }
}
