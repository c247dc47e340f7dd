//! The wait-for graph as a graph: who can never go on, circles, and the way to what was lost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

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
        loop {
            let alive: Vec<Party> = dead
                .iter()
                .copied()
                .filter(|party| {
                    let out = self.out(*party);
                    let mut free = out.iter().map(|wait| !dead.contains(&wait.to));
                    let opens = if party.needs_one() && !out.is_empty() {
                        free.any(|free| free)
                    } else {
                        free.all(|free| free)
                    };
                    !party.is_lost() && opens
                })
                .collect();
            if alive.is_empty() {
                return dead;
            }
            dead.retain(|party| !alive.contains(party));
        }
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
