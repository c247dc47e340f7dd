//! Graphs generated from a seed: an offset is kept for each vertex, edges are computed when they are asked for.

use super::common;
use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::{Diagnostic, Result};

/// Vertices of the largest graph: what is kept of it stays below 256 MiB.
pub const MOST_VERTICES: u64 = 1 << 24;

pub const SHAPE: ParameterDefinition = ParameterDefinition {
    name: "graph",
    about: "random: edges lead anywhere; grid: to the four neighbours in a plane, as roads do",
    kind: Kind::Choice { default: "random", options: &["random", "grid"] },
};
pub const DEGREE: ParameterDefinition = ParameterDefinition {
    name: "degree",
    about: "edges of a vertex of a random graph, on average",
    kind: Kind::Integer { default: 6, least: 1, most: 64 },
};

#[derive(Clone, Copy, Debug)]
enum Shape {
    Random { degree: u64 },
    Grid { columns: u64 },
}

/// A directed graph as compressed rows: the edges of a vertex stand one after the other.
#[derive(Debug)]
pub struct Graph {
    shape: Shape,
    seed: u64,
    /// The first edge of each vertex, and the end.
    starts: Vec<u32>,
}

impl Graph {
    /// A graph of `vertices` vertices as [`SHAPE`], [`DEGREE`] and the seed say. A random vertex has from 1 to
    /// 2 `degree` - 1 edges.
    pub fn read(values: &Values<'_>, vertices: u64) -> Result<Self> {
        let shape = match values.choice(SHAPE.name)? {
            "grid" => Shape::Grid { columns: vertices.isqrt().max(1) },
            _ => Shape::Random { degree: values.integer(DEGREE.name)? },
        };
        let mut graph = Self { shape, seed: values.integer(common::SEED.name)?, starts: vec![0] };
        let mut end = 0;
        for vertex in 0..vertices {
            end += graph.drawn_degree(vertex, vertices) as u32;
            graph.starts.push(end);
        }
        Ok(graph)
    }

    fn drawn_degree(&self, vertex: u64, vertices: u64) -> u64 {
        match self.shape {
            Shape::Random { degree } => 1 + common::scramble(self.seed, vertex) % (2 * degree - 1),
            Shape::Grid { columns } => neighbours(vertex, columns, vertices).count() as u64,
        }
    }

    pub fn vertices(&self) -> u64 {
        self.starts.len() as u64 - 1
    }

    pub fn edges(&self) -> u64 {
        self.start(self.vertices())
    }

    /// The first edge of a vertex.
    pub fn start(&self, vertex: u64) -> u64 {
        self.starts.get(vertex as usize).copied().map_or(0, u64::from)
    }

    pub fn degree(&self, vertex: u64) -> u64 {
        self.start(vertex + 1).saturating_sub(self.start(vertex))
    }

    /// Where the n-th edge of a vertex leads.
    pub fn target(&self, vertex: u64, nth: u64) -> u64 {
        match self.shape {
            Shape::Random { .. } => {
                common::scramble(!self.seed, self.start(vertex) + nth) % self.vertices().max(1)
            }
            Shape::Grid { columns } => {
                neighbours(vertex, columns, self.vertices()).nth(nth as usize).unwrap_or(vertex)
            }
        }
    }

    /// The length of an edge, from 1 to 16.
    pub fn length(&self, edge: u64) -> u64 {
        1 + common::scramble(self.seed ^ 1, edge) % 16
    }
}

fn neighbours(vertex: u64, columns: u64, vertices: u64) -> impl Iterator<Item = u64> {
    let column = vertex % columns;
    let west = (column > 0).then(|| vertex - 1);
    let east = (column + 1 < columns).then(|| vertex + 1);
    let all = [vertex.checked_sub(columns), west, east, Some(vertex + columns)];
    all.into_iter().flatten().filter(move |other| *other < vertices)
}

/// How many edges each vertex is away from vertex 0.
#[derive(Debug)]
pub struct Levels {
    levels: Vec<u16>,
    count: u64,
}

impl Levels {
    /// Searches the graph breadth first. What is further away than 65,534 edges counts as out of reach.
    pub fn of(graph: &Graph) -> Self {
        let mut levels = vec![u16::MAX; graph.vertices() as usize];
        levels.iter_mut().take(1).for_each(|first| *first = 0);
        let mut frontier = if levels.is_empty() { Vec::new() } else { vec![0u32] };
        let mut level = 0;
        while !frontier.is_empty() && level < u16::MAX {
            level += 1;
            let mut next = Vec::new();
            for vertex in frontier.into_iter().map(u64::from) {
                for target in (0..graph.degree(vertex)).map(|nth| graph.target(vertex, nth)) {
                    // The last level is none: nothing is out of reach that is not far away.
                    let slot = levels.get_mut(target as usize).filter(|slot| **slot == u16::MAX);
                    if let Some(slot) = slot.filter(|_| level < u16::MAX) {
                        *slot = level;
                        next.push(target as u32);
                    }
                }
            }
            frontier = next;
        }
        Self { levels, count: u64::from(level) }
    }

    /// Levels that have a vertex.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The level of a vertex; that of one out of reach is larger than all.
    pub fn at(&self, vertex: u64) -> u64 {
        self.levels.get(vertex as usize).copied().map_or(u64::MAX, u64::from)
    }
}

/// Vertices that all rounds of a search together work on, at most: 256 MiB.
const MOST_ITEMS: usize = 1 << 26;

/// The vertices that each round of a search works on, ascending.
#[derive(Debug)]
pub struct Rounds {
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl Rounds {
    /// Rounds of the Bellman-Ford search from vertex 0: those whose distance the round before made shorter, at most
    /// `most` rounds.
    ///
    /// # Errors
    /// If they work on more than [`MOST_ITEMS`] vertices in all.
    pub fn shortest_paths(graph: &Graph, most: u64) -> Result<Self> {
        let mut rounds = Self { items: Vec::new(), ends: Vec::new() };
        let mut distances = vec![u64::MAX; graph.vertices() as usize];
        let mut round = vec![0u32];
        distances.iter_mut().take(1).for_each(|first| *first = 0);
        while !round.is_empty() && (rounds.ends.len() as u64) < most {
            rounds.items.extend(&round);
            rounds.ends.push(rounds.items.len());
            if rounds.items.len() > MOST_ITEMS {
                let message =
                    format!("the rounds of this search work on more than {MOST_ITEMS} vertices in all");
                return Err(Diagnostic::new(message).expected("fewer vertices or rounds").into());
            }
            let mut next = Vec::new();
            for vertex in round.into_iter().map(u64::from) {
                let from = distances.get(vertex as usize).copied().unwrap_or(u64::MAX);
                for nth in 0..graph.degree(vertex) {
                    let target = graph.target(vertex, nth);
                    let way = from.saturating_add(graph.length(graph.start(vertex) + nth));
                    let slot = distances.get_mut(target as usize).filter(|distance| way < **distance);
                    if let Some(distance) = slot {
                        *distance = way;
                        next.push(target as u32);
                    }
                }
            }
            next.sort_unstable();
            next.dedup();
            round = next;
        }
        Ok(rounds)
    }

    pub fn count(&self) -> u64 {
        self.ends.len() as u64
    }

    /// The vertices of a round; none past the last.
    pub fn round(&self, number: u64) -> &[u32] {
        let end = |number: usize| self.ends.get(number).copied();
        let number = number as usize;
        let first = number.checked_sub(1).and_then(end).unwrap_or(0);
        end(number).and_then(|last| self.items.get(first..last)).unwrap_or(&[])
    }

    /// The place of a vertex in a round, if it is there.
    pub fn place(&self, number: u64, vertex: u64) -> Option<u64> {
        let found = self.round(number).binary_search(&u32::try_from(vertex).ok()?);
        found.ok().map(|place| place as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(shape: Shape, vertices: u64) -> Graph {
        let mut graph = Graph { shape, seed: 7, starts: vec![0] };
        for vertex in 0..vertices {
            let end = graph.start(vertex) + graph.drawn_degree(vertex, vertices);
            graph.starts.push(end as u32);
        }
        graph
    }

    #[test]
    fn a_grid_is_as_deep_as_its_ways_are_long() {
        let graph = graph(Shape::Grid { columns: 5 }, 25);
        assert_eq!(graph.edges(), 2 * 2 * 5 * 4);
        let levels = Levels::of(&graph);
        assert_eq!(levels.count(), 9);
        for vertex in 0..25 {
            assert_eq!(levels.at(vertex), vertex % 5 + vertex / 5);
        }
    }

    #[test]
    fn a_level_is_one_more_than_that_of_the_nearest_before() {
        let graph = graph(Shape::Random { degree: 3 }, 500);
        assert!((1300..1700).contains(&graph.edges()), "{}", graph.edges());
        let levels = Levels::of(&graph);
        let mut nearest = vec![u64::MAX; 500];
        for vertex in (0..500).filter(|vertex| levels.at(*vertex) < levels.count()) {
            for nth in 0..graph.degree(vertex) {
                let slot = &mut nearest[graph.target(vertex, nth) as usize];
                *slot = (*slot).min(levels.at(vertex) + 1);
            }
        }
        for vertex in 1..500 {
            let reached = nearest[vertex as usize] != u64::MAX;
            assert!(if reached {
                levels.at(vertex) == nearest[vertex as usize]
            } else {
                levels.at(vertex) > 499
            });
        }
    }

    #[test]
    fn a_search_for_shortest_paths_ends_when_none_gets_shorter() {
        let graph = graph(Shape::Grid { columns: 6 }, 36);
        let rounds = Rounds::shortest_paths(&graph, 1000).unwrap();
        assert_eq!(rounds.round(0), [0]);
        assert_eq!(rounds.round(1), [1, 6]);
        assert_eq!((rounds.place(1, 6), rounds.place(1, 5)), (Some(1), None));
        assert!(rounds.count() >= 11 && rounds.round(rounds.count()).is_empty());
        assert_eq!(Rounds::shortest_paths(&graph, 3).unwrap().count(), 3);
    }
}
