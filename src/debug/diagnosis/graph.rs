//! The wait-for graph as a graph: who can never go on, circles, and the way to what was lost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use petgraph::Direction;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::model::wait::{Party, Wait};

pub struct Graph<'a> {
    graph: DiGraph<Party, &'a Wait>,
    nodes: BTreeMap<Party, NodeIndex>,
}

impl<'a> Graph<'a> {
    pub fn new(edges: &'a [Wait]) -> Self {
        let mut graph = DiGraph::new();
        let mut nodes = BTreeMap::new();
        for edge in edges {
            let from = *nodes.entry(edge.from).or_insert_with(|| graph.add_node(edge.from));
            let to = *nodes.entry(edge.to).or_insert_with(|| graph.add_node(edge.to));
            graph.add_edge(from, to, edge);
        }
        Self { graph, nodes }
    }

    /// Edges out of a party, in the order in which the machine told them.
    fn out(&self, party: Party) -> Vec<&'a Wait> {
        let Some(node) = self.nodes.get(&party) else { return Vec::new() };
        let mut out: Vec<_> = self.graph.edges(*node).map(|edge| (edge.id(), *edge.weight())).collect();
        out.sort_by_key(|(id, _)| *id);
        out.into_iter().map(|(_, wait)| wait).collect()
    }

    /// Those that can never go on, whatever is delivered first.
    pub fn dead(&self) -> BTreeSet<Party> {
        let mut dead: BTreeSet<Party> = self.nodes.keys().copied().collect();
        // Of each, what it waits for that may be dead. Who can go on is looked at once, and frees those that wait for it.
        let mut left: Vec<usize> =
            self.graph.node_indices().map(|node| self.graph.edges(node).count()).collect();
        let opens = |node: NodeIndex, left: usize, is_freed: bool| {
            let party = self.graph.node_weight(node).filter(|party| !party.is_lost());
            party.is_some_and(|party| left == 0 || is_freed && party.needs_one())
        };
        let ends = |node: &NodeIndex| left.get(node.index()).is_some_and(|left| opens(*node, *left, false));
        let mut free: Vec<NodeIndex> = self.graph.node_indices().filter(ends).collect();
        while let Some(node) = free.pop() {
            if !self.graph.node_weight(node).is_some_and(|party| dead.remove(party)) {
                continue;
            }
            for edge in self.graph.edges_directed(node, Direction::Incoming) {
                let Some(left) = left.get_mut(edge.source().index()) else { continue };
                *left -= 1;
                if opens(edge.source(), *left, true) {
                    free.push(edge.source());
                }
            }
        }
        dead
    }

    /// The shortest circle among the dead, and how many other knots there are.
    pub fn circle(&self, dead: &BTreeSet<Party>) -> Option<(Vec<&'a Wait>, usize)> {
        let knots: Vec<BTreeSet<Party>> = tarjan_scc(&self.graph)
            .into_iter()
            .map(|nodes| nodes.into_iter().filter_map(|node| self.graph.node_weight(node).copied()).collect())
            .filter(|knot: &BTreeSet<Party>| knot.iter().all(|party| dead.contains(party)))
            .filter(|knot| {
                let first = knot.iter().next().copied();
                knot.len() > 1 || first.is_some_and(|one| self.out(one).iter().any(|wait| wait.to == one))
            })
            .collect();
        let circles = knots.iter().flat_map(|knot| {
            knot.iter().filter_map(move |party| self.way(*party, |to| to == *party, |to| knot.contains(&to)))
        });
        let shortest = circles.min_by_key(|circle| (circle.len(), circle.first().map(|wait| wait.from)))?;
        Some((shortest, knots.len() - 1))
    }

    /// The way from a warp to something that will never come, the oldest wait first, and how many such things there
    /// are beside it.
    pub fn chain_to_lost(&self, dead: &BTreeSet<Party>) -> Option<(Vec<&'a Wait>, usize)> {
        let lost = dead.iter().filter(|party| party.is_lost()).count();
        let warps = dead.iter().filter(|party| matches!(party, Party::Warp(..)));
        let from_warps = warps.filter_map(|warp| self.way(*warp, Party::is_lost, |to| dead.contains(&to)));
        let from_all =
            || dead.iter().filter_map(|party| self.way(*party, Party::is_lost, |to| dead.contains(&to)));
        let since = |chain: &Vec<&Wait>| chain.first().map(|wait| (wait.since, wait.from));
        let chain = from_warps.min_by_key(since).or_else(|| from_all().min_by_key(since))?;
        Some((chain, lost.saturating_sub(1)))
    }

    /// The chain from a party onwards until something that can go on.
    pub fn chain(&self, from: Party) -> Vec<&'a Wait> {
        self.way(from, |to| self.out(to).is_empty(), |_| true).unwrap_or_default()
    }

    /// The shortest way from a party, over at least one edge, to one at which `there` holds.
    fn way(
        &self,
        from: Party,
        there: impl Fn(Party) -> bool,
        through: impl Fn(Party) -> bool,
    ) -> Option<Vec<&'a Wait>> {
        let mut came: BTreeMap<Party, &'a Wait> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for wait in self.out(at) {
                if !through(wait.to) || came.contains_key(&wait.to) {
                    continue;
                }
                came.insert(wait.to, wait);
                if there(wait.to) {
                    return Some(back(&came, wait.to, from));
                }
                queue.push_back(wait.to);
            }
        }
        None
    }
}

/// The edges that led to `to`, first first.
fn back<'a>(came: &BTreeMap<Party, &'a Wait>, to: Party, from: Party) -> Vec<&'a Wait> {
    let mut way = Vec::new();
    let mut at = to;
    while let Some(wait) = came.get(&at) {
        way.push(*wait);
        at = wait.from;
        if at == from || way.len() > came.len() {
            break;
        }
    }
    way.reverse();
    way
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::component::ComponentId;

    fn party((kind, at): (u8, u32)) -> Party {
        match kind {
            0 => Party::Mshrs(ComponentId(at)),
            1 => Party::WakeUp(ComponentId(at), 0),
            _ => Party::Warp(ComponentId(at), 0),
        }
    }

    fn wait(from: Party, to: Party) -> Wait {
        Wait { from, to, text: String::new(), since: 0, block: None, txn: None, event: None }
    }

    /// As it is defined: who can go on is taken out until nobody is left who can.
    fn by_definition(edges: &[Wait]) -> BTreeSet<Party> {
        let mut dead: BTreeSet<Party> = edges.iter().flat_map(|edge| [edge.from, edge.to]).collect();
        loop {
            let can_go_on = |party: &Party| {
                let out: Vec<_> = edges.iter().filter(|edge| edge.from == *party).collect();
                let mut is_free = out.iter().map(|edge| !dead.contains(&edge.to));
                let opens = if party.needs_one() && !out.is_empty() {
                    is_free.any(|free| free)
                } else {
                    is_free.all(|free| free)
                };
                opens && !party.is_lost()
            };
            let rest: BTreeSet<Party> = dead.iter().copied().filter(|party| !can_go_on(party)).collect();
            if rest == dead {
                return dead;
            }
            dead = rest;
        }
    }

    proptest! {
        #[test]
        fn the_dead_are_those_whom_nothing_can_open(
            edges in prop::collection::vec(((0u8..4, 0u32..5), (0u8..4, 0u32..5)), 0..30),
        ) {
            let edges: Vec<Wait> = edges.into_iter().map(|(from, to)| wait(party(from), party(to))).collect();
            prop_assert_eq!(Graph::new(&edges).dead(), by_definition(&edges));
        }
    }
}
