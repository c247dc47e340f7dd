//! MSHRs of which there are never so many.

use super::Possible;
use crate::model::component::ComponentId;
use crate::model::inspect::Inspect;
use crate::query::number::{Comparison, Interval};
use crate::query::predicate::Predicate;
use crate::query::predicate_test::Test;
use crate::query::quantity::What;
use crate::query::reading::Wanted;
use crate::query::tree::Tree;

impl Possible<'_> {
    /// Why a predicate never holds on this machine; nothing if it may.
    #[must_use]
    pub fn lacks_for(&self, predicate: &Predicate) -> Option<String> {
        self.never(&predicate.tree)
    }

    fn never(&self, tree: &Tree<Test>) -> Option<String> {
        match tree {
            Tree::Test(test) => self.never_so_many(test),
            Tree::Not(_) => None,
            Tree::All(parts) => parts.iter().find_map(|part| self.never(part)),
            Tree::Any(parts) => {
                let mut reasons = parts.iter().map(|part| self.never(part));
                let first = reasons.next()??;
                reasons.all(|reason| reason.is_some()).then_some(first)
            }
        }
    }

    fn never_so_many(&self, test: &Test) -> Option<String> {
        let (What::Occupancy(nodes), Wanted::Number(Interval { from, to })) =
            (&test.quantity.0, &test.wanted)
        else {
            return None;
        };
        let most = self.most_mshrs(|id| nodes.named.contains(id, self.components))?;
        let may_be = match test.how {
            Comparison::Is => *from <= most,
            Comparison::IsNot | Comparison::Less | Comparison::AtMost => true,
            Comparison::More | Comparison::AtLeast => test.how.holds(most, *from, *to),
        };
        (!may_be).then(|| format!("there are no more than {most} MSHRs in a node of these"))
    }

    /// The most MSHRs that one of these nodes has; nothing if there are no bounds.
    pub(super) fn most_mshrs(&self, is_meant: impl Fn(ComponentId) -> bool) -> Option<u64> {
        let meant = self.components.iter().map(|(id, _)| id).filter(|id| is_meant(*id));
        let views = meant.filter_map(|id| self.machine.mshrs(id, 0));
        let capacities: Option<Vec<u32>> = views.map(|view| view.capacity).collect();
        capacities?.into_iter().max().map(u64::from)
    }
}
