//! Breadth-first search: two launches for each level, and a byte that tells the host whether to go on.
//!
//! Map (Rodinia, `kernel.cu`, `kernel2.cu` and `bfs.cu`), a thread for each vertex v:
//! - the host stores `over` = 0;
//! - `Kernel`: loads `mask[v]`; if it is set: stores `mask[v]`, and for each edge e, whose bounds it loads anew from
//!   `nodes[v]`: loads `edges[e]`, `visited[id]` of its end, and, if not visited, `cost[v]`; stores `cost[id]`, `updating[id]`;
//! - `Kernel2`: loads `updating[v]`; if it is set: stores `mask[v]`, `visited[v]`, `over`, `updating[v]`;
//! - the host loads `over`: a level without new vertices is the last.
//!
//! As the source says it: a compiler may load the bounds only once, or, as in the trace of a real GPU (`accelsim-bfs-graph4096`), anew only after
//! a store; those further loads hit the L1.
//!
//! The graph is generated from the seed, and really searched: which vertices a launch works on is what the search finds.
//! Rodinia's inputs are random graphs with 6 edges a vertex.

use std::sync::Arc;

use super::Definition;
use super::array::{Array, Layout};
use super::common::{self, Scale, Settings};
use super::graph::{self, Graph, Levels};
use super::launch::{At, HostLoop, Launch, Map, Script, Step};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions for an edge: four for the loop, whose bound is a sum; four addresses, the cost and one; a comparison and a branch.
const EDGE: u64 = 11;
/// What a thread of either launch begins with: its vertex, two for whether there is one, and an address.
const BEGIN: u64 = 4;
/// Whether the byte is set: a comparison and a branch.
const TEST: u64 = 2;
/// A vertex of the frontier: two addresses, and three for the loop's last test.
const VERTEX: u64 = 5;
/// A vertex of the next one: two addresses.
const ADVANCE: u64 = 2;

pub const DEFINITION: Definition = Definition {
    name: "bfs",
    title: "Breadth-first search: scattered bytes, and one that every vertex of the frontier stores",
    source: "Rodinia, cuda/bfs: 65,536 vertices with 6 edges; the graph is generated",
    own: &[
        common::count("size", "vertices", 65_536, graph::MOST_VERTICES),
        graph::DEGREE,
        graph::SHAPE,
        common::SCALE,
        common::workgroup(512),
        common::WARP,
        common::first("nodes", "the first edge and the number of edges of each vertex, two words"),
        common::next("edges", "where each edge leads, words"),
        common::next("mask", "whether a vertex is in the frontier, bytes"),
        common::next("updating", "whether it is in the next one, bytes"),
        common::next("visited", "whether it was ever, bytes"),
        common::next("cost", "how many edges it is away, words"),
        common::next("over", "whether the search goes on, a byte"),
        common::SYNC,
    ],
    shared: &common::computing_cuda(EDGE),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::with_host(values)?;
    let size = Scale::read(values)?.of(values.integer("size")?);
    common::multiple(values, "size", size, 1)?;
    let graph = Graph::read(values, size)?;
    let mut layout = Layout::new(values);
    let nodes = layout.array("nodes", 2 * size, 4)?;
    let edges = layout.array("edges", graph.edges(), 4)?;
    let mask = layout.array("mask", size, 1)?;
    let updating = layout.array("updating", size, 1)?;
    let visited = layout.array("visited", size, 1)?;
    let cost = layout.array("cost", size, 4)?;
    let over = layout.array("over", 1, 1)?;
    let search = Arc::new(Search {
        levels: Levels::of(&graph),
        graph,
        workgroup: values.integer("workgroup")?.min(size),
        settings,
    });
    let mut steps = Vec::new();
    for level in 0..search.levels.count() {
        over_flag(&mut steps, over, settings, Step::Store(0, 0));
        let arrays = vec![mask, nodes, edges, visited, cost, updating];
        steps.push(search.launch("Kernel", arrays, search.expand(level), search.expansion(level)).step());
        let arrays = vec![updating, mask, visited, over];
        steps.push(search.launch("Kernel2", arrays, search.advance(level), search.advancement()).step());
        over_flag(&mut steps, over, settings, Step::Load(0, 0));
    }
    Ok(steps)
}

/// The host touches the flag.
fn over_flag(steps: &mut Vec<TaskKind>, over: Array, settings: Settings, step: Step) {
    let script = Script::default().then(1, [step]);
    HostLoop { arrays: vec![over], script }.add(steps, settings, &[0], |_| Some(0));
}

/// The search of a graph, and what its launches share.
#[derive(Debug)]
struct Search {
    graph: Graph,
    levels: Levels,
    workgroup: u64,
    settings: Settings,
}

impl Search {
    fn launch(&self, name: &'static str, arrays: Vec<Array>, script: Script, map: Map) -> Launch {
        let Self { workgroup, settings, .. } = *self;
        let groups = self.graph.vertices().div_ceil(workgroup);
        Launch { name, groups, workgroup, arrays, script, map, settings }
    }

    /// Computes so many instructions.
    fn compute(&self, instructions: u64) -> Step {
        Step::Compute(self.settings.share(instructions, EDGE))
    }

    /// Whether a thread's vertex is one of a level.
    fn is_at(&self, level: u64, group: u64, local: u64) -> bool {
        self.levels.at(group * self.workgroup + local) == level
    }

    fn expand(self: &Arc<Self>, level: u64) -> Script {
        let (once, often) = (self.clone(), self.clone());
        let edges = move |group, local| {
            let degree = often.graph.degree(group * often.workgroup + local);
            if often.is_at(level, group, local) { degree } else { 0 }
        };
        let bounds = [Step::Load(1, 0), Step::Load(1, 1)];
        let edge = [
            Step::Load(2, 0),
            Step::Load(3, 0),
            Step::Load(4, 0),
            self.compute(EDGE),
            Step::Store(4, 1),
            Step::Store(5, 0),
        ];
        Script::default()
            .then(1, [self.compute(BEGIN), Step::Load(0, 0), self.compute(TEST)])
            .then_each(
                move |group, local| u64::from(once.is_at(level, group, local)),
                [self.compute(VERTEX), Step::Store(0, 0), Step::Load(1, 0)],
            )
            .then_each(edges, bounds.into_iter().chain(edge))
    }

    fn expansion(self: &Arc<Self>, level: u64) -> Map {
        let search = self.clone();
        Arc::new(move |at: At| {
            let vertex = at.below(search.workgroup, search.graph.vertices())?;
            let target = || search.graph.target(vertex, at.round);
            let unvisited = || Some(target()).filter(|target| search.levels.at(*target) > level);
            match (at.array, at.nth) {
                (0, _) => Some(vertex),
                (1, word) => Some(2 * vertex + word),
                (2, _) => Some(search.graph.start(vertex) + at.round),
                (3, _) => Some(target()),
                (4, 0) => unvisited().map(|_| vertex),
                _ => unvisited(),
            }
        })
    }

    fn advance(self: &Arc<Self>, level: u64) -> Script {
        let search = self.clone();
        let stores = [Step::Store(1, 0), Step::Store(2, 0), Step::Store(3, 0), Step::Store(0, 0)];
        Script::default().then(1, [self.compute(BEGIN), Step::Load(0, 0), self.compute(TEST)]).then_each(
            move |group, local| u64::from(search.is_at(level + 1, group, local)),
            [self.compute(ADVANCE)].into_iter().chain(stores),
        )
    }

    fn advancement(self: &Arc<Self>) -> Map {
        let search = self.clone();
        Arc::new(move |at: At| {
            let vertex = at.below(search.workgroup, search.graph.vertices())?;
            Some(if at.array == 3 { 0 } else { vertex })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps, with};

    /// The search of a grid of 5 x 5 in the source's own terms.
    #[test]
    fn each_level_touches_what_the_search_needs() {
        let given = [("size", 50), ("scale", 2), ("workgroup", 8), ("wavefront", 4)];
        let given = with(&given, &[("graph", "grid")]);
        let steps = super::super::build("bfs", &given).unwrap();
        let ends = |v: u64| -> Vec<u64> {
            let (x, y) = (v % 5, v / 5);
            let all =
                [(y > 0, v.wrapping_sub(5)), (x > 0, v.wrapping_sub(1)), (x < 4, v + 1), (y < 4, v + 5)];
            all.into_iter().filter(|(there, _)| *there).map(|(_, end)| end).collect()
        };
        let starts: Vec<u64> = (0..25)
            .scan(0, |start, v| {
                let first = *start;
                *start += ends(v).len() as u64;
                Some(first)
            })
            .collect();
        let [nodes, edges, mask, updating, visited, cost, over] = bases([200, 4 * 80, 25, 25, 25, 100, 1]);
        let (mut g_mask, mut g_updating, mut g_visited) = ([false; 25], [false; 25], [false; 25]);
        (g_mask[0], g_visited[0]) = (true, true);
        let mut expected = Vec::new();
        loop {
            let mut stop = true;
            let (mut set, mut first, mut second, mut read) =
                (Plain::default(), Plain::default(), Plain::default(), Plain::default());
            set.host_store(over, 0, 1);
            for v in 0..25u64 {
                first.load(mask, v, 1);
                if !std::mem::take(&mut g_mask[v as usize]) {
                    continue;
                }
                first.store(mask, v, 1);
                first.load(nodes, 2 * v, 4);
                for (nth, id) in ends(v).into_iter().enumerate() {
                    first.load(nodes, 2 * v, 4);
                    first.load(nodes, 2 * v + 1, 4);
                    first.load(edges, starts[v as usize] + nth as u64, 4);
                    first.load(visited, id, 1);
                    if !g_visited[id as usize] {
                        first.load(cost, v, 4);
                        first.store(cost, id, 4);
                        first.store(updating, id, 1);
                        g_updating[id as usize] = true;
                    }
                }
            }
            for v in 0..25u64 {
                second.load(updating, v, 1);
                if std::mem::take(&mut g_updating[v as usize]) {
                    (g_mask[v as usize], g_visited[v as usize], stop) = (true, true, false);
                    second.store(mask, v, 1);
                    second.store(visited, v, 1);
                    second.store(over, 0, 1);
                    second.store(updating, v, 1);
                }
            }
            read.host_load(over, 0, 1);
            expected.extend([set.host(), first.launch(), second.launch(), read.host()]);
            if stop {
                break;
            }
        }
        assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_random_graph_is_searched_in_a_few_levels() {
        let levels = steps("bfs", &[]).len() / 4;
        assert!((6..20).contains(&levels), "{levels}");
    }
}
