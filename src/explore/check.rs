//! The rules that every state must keep, on summaries of its nodes: those of `machine::check`, and a few that need to know
//! that nothing is under way.

use super::shape::NodeShape;
use super::summary::NodeSummary;
use super::worker::{Broken, Worker};
use crate::model::address::Address;
use crate::protocol::node::Role;

/// Rules that several may be broken of at once, in the order in which they are told.
const RANKS: [&str; 4] = ["inclusion", "directory", "single-writer", "single-owner"];

/// The byte of a word of children that is about one of them.
fn of_child(word: u64, child: u8) -> u8 {
    (word >> (8 * u32::from(child))) as u8
}

/// The first line or byte of a set of bits.
fn first(bits: u8, all: &[Address]) -> Address {
    all.get(bits.trailing_zeros() as usize).copied().unwrap_or_default()
}

impl Worker<'_> {
    /// What is wrong with a state, if anything is. Of several rules it is the same whichever of equal parts is which.
    #[must_use]
    pub fn check(&self, state: &[u32]) -> Option<Broken> {
        let mut first: Option<Broken> = None;
        let rank = |broken: &Broken| RANKS.iter().position(|rule| *rule == broken.rule);
        let mut note = |broken: Broken| {
            if first.as_ref().is_none_or(|first| rank(&broken) < rank(first)) {
                first = Some(broken);
            }
        };
        let mut leaves = (0u8, 0u8);
        for (index, shape) in self.system.nodes.iter().enumerate() {
            let node = self.node(state, index);
            if shape.role == Role::Root {
                continue;
            }
            self.check_holder(state, (index, shape), &node, &mut note);
            if shape.role == Role::Leaf && self.system.coherent {
                let clash = node.exclusive & leaves.0 | node.held & leaves.1;
                if clash != 0 {
                    note(self.two_writers(index, clash));
                }
                leaves = (leaves.0 | node.held, leaves.1 | node.exclusive);
            }
        }
        first
    }

    /// A child that the coherence protocol tracks is listed by its parent, and alone if it may write.
    fn check_holder(
        &self,
        state: &[u32],
        (index, shape): (usize, &NodeShape),
        node: &NodeSummary,
        note: &mut impl FnMut(Broken),
    ) {
        if node.held == 0 || !self.is_tracked(index) {
            return;
        }
        for (line, &parent) in shape.parents.iter().enumerate() {
            let bit = 1u8 << line;
            let Some((parent, place)) = parent.filter(|_| node.held & bit != 0) else { continue };
            let above = self.node(state, parent as usize);
            if of_child(above.lists, place) & bit == 0 {
                note(self.unlisted(index, parent as usize, line, above.has & bit != 0));
            }
            let siblings = || self.siblings(state, index, parent, line);
            if node.exclusive & bit != 0 && siblings().any(|sibling| sibling.held & bit != 0) {
                note(self.two_writers(index, bit));
            }
            if node.owner & bit != 0 && siblings().any(|sibling| sibling.owner & bit != 0) {
                note(self.two_owners(index, bit));
            }
        }
    }

    /// Whether a directory tracks this node: not what is kept coherent by software, nor what keeps only what nobody else has.
    fn is_tracked(&self, index: usize) -> bool {
        self.system.nodes.get(index).is_some_and(|shape| shape.is_tracked)
    }

    fn siblings(
        &self,
        state: &[u32],
        index: usize,
        parent: u8,
        line: usize,
    ) -> impl Iterator<Item = NodeSummary> {
        let of = move |shape: &NodeShape| {
            shape.parents.get(line).copied().flatten().is_some_and(|(other, _)| other == parent)
        };
        let all = self.system.nodes.iter().enumerate();
        all.filter(move |(other, shape)| *other != index && of(shape))
            .filter(|(other, _)| self.is_tracked(*other))
            .map(|(other, _)| self.node(state, other))
    }

    fn path(&self, index: usize) -> &str {
        self.system.nodes.get(index).map_or("?", |shape| self.system.names.path(shape.id))
    }

    fn unlisted(&self, index: usize, parent: usize, line: usize, has: bool) -> Broken {
        let (name, above) = (self.path(index), self.path(parent));
        let line = self.system.lines.get(line).copied().unwrap_or_default();
        if has {
            Broken {
                rule: "directory",
                text: format!("{name} holds block {line}, but {above} does not list it"),
            }
        } else {
            Broken {
                rule: "inclusion",
                text: format!("{name} holds block {line}, but {above} does not have it"),
            }
        }
    }

    fn two_writers(&self, index: usize, lines: u8) -> Broken {
        let line = first(lines, &self.system.lines);
        let text = format!("{} and another hold line {line}, and one of them may write it", self.path(index));
        Broken { rule: "single-writer", text }
    }

    fn two_owners(&self, index: usize, lines: u8) -> Broken {
        let line = first(lines, &self.system.lines);
        let text = format!("{} and another beside it are both the owner of line {line}", self.path(index));
        Broken { rule: "single-owner", text }
    }

    /// What is wrong with a state in which nothing is under way.
    #[must_use]
    pub fn check_quiet(&self, state: &[u32]) -> Option<Broken> {
        self.lost(state).or_else(|| self.disagreement(state))
    }

    /// Every store must be somewhere: in memory, or in a dirty copy.
    fn lost(&self, state: &[u32]) -> Option<Broken> {
        let kept = (0..self.system.nodes.len()).map(|index| self.node(state, index));
        let (current, loose) =
            kept.fold((0, 0), |(current, loose), node| (current | node.current, loose | node.loose));
        let stored = state.last().copied().unwrap_or_default() as u8;
        let all = ((1u32 << self.system.bytes.len()) - 1) as u8;
        let lost = all & !(stored & loose | !stored & current);
        (lost != 0).then(|| {
            let at = first(lost, &self.system.bytes);
            Broken { rule: "lost-store", text: format!("the last store to {at} is nowhere any more") }
        })
    }

    /// Directories agree with their children.
    fn disagreement(&self, state: &[u32]) -> Option<Broken> {
        for (index, shape) in self.system.nodes.iter().enumerate() {
            let node = self.node(state, index);
            for (line, &parent) in shape.parents.iter().enumerate() {
                let Some((parent, place)) = parent.filter(|_| self.is_tracked(index)) else { continue };
                let bit = 1u8 << line;
                let above = self.node(state, parent as usize);
                let is_exact = self.system.nodes.get(parent as usize).is_some_and(|parent| parent.is_exact);
                let lists = of_child(above.lists, place) & bit != 0;
                let owns = of_child(above.owns, place) & bit != 0;
                let (holds, is_owner) = (node.held & bit != 0, node.owner & bit != 0);
                let [says, what] = if is_exact && lists && !holds {
                    ["lists", "as a holder, which holds nothing"]
                } else if is_owner && !owns {
                    ["does not know that", "is the owner"]
                } else {
                    continue;
                };
                let (name, above) = (self.path(index), self.path(parent as usize));
                let line = self.system.lines.get(line).copied().unwrap_or_default();
                let text = format!("all is quiet, and {above} {says} {name} {what}: block {line}");
                return Some(Broken { rule: "directory", text });
            }
        }
        None
    }
}

impl Worker<'_> {
    /// Work is under way, and no message can be taken.
    #[must_use]
    pub fn deadlock(&self, state: &[u32]) -> Broken {
        let busy = |index: &usize| !self.node(state, *index).is_idle;
        let nodes: Vec<&str> =
            (0..self.system.nodes.len()).filter(busy).map(|index| self.path(index)).collect();
        let text = format!("no message can be taken any more, and work is left at {}", nodes.join(", "));
        Broken { rule: "deadlock", text }
    }
}
