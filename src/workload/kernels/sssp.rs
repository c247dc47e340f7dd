//! Shortest paths in a graph with lengths: rounds of relaxations with atomics.
//!
//! Map (after Lonestar's `sssp`, data driven, and Rodinia's `bfs`, topology driven, for each round of the search):
//! - data driven, a thread for each item i of a list: loads `list[i]`, a vertex v;
//! - topology driven, a thread for each vertex v: loads `list[v]`, a byte that tells whether v is to be worked on, and if so stores 0 there;
//! - then the bounds of its edges and its distance; for each edge: loads `edges`, `lengths` and `distances` of its end; where the way
//!   is shorter: an atomic minimum of `distances`, and the end is put into the next list, behind an atomic count of the items (data
//!   driven) or at its vertex, with a flag for the host (topology driven);
//! - the host loads the count or flag, and stores 0 for the next round.
//!
//! The graph is generated from the seed, and really searched. Not modelled: of several ways to one vertex in the same round each is
//! taken to be shorter than what was known. The atomic minimum is made as a maximum, which touches the same bytes.
//!
//! Instructions are counted in `LonestarGPU` 2.0, `apps/sssp/sssp_worklistn.h` with `graph.h` and `worklist.h`, and, topology driven, in
//! Rodinia's `cuda/bfs/kernel.cu` with a length added. What follows a shorter way is computed at every edge, whether or not a thread
//! of the warp has one.

use std::sync::Arc;

use super::Definition;
use super::array::{Array, Layout};
use super::common::{self, Scale, Settings};
use super::graph::{self, Graph, Rounds};
use super::launch::{At, HostLoop, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::model::access::AtomicOp;
use crate::workload::TaskKind;

/// Instructions for an edge, data driven: its number, three addresses, the sum, five comparisons and four branches (two of the comparisons
/// for its number, the others for its end, its length and the way), and three of the loop.
const STEP: u64 = 17;
/// A thread begins: its number and that of all threads, how many items there are, its own, five comparisons and branches, an address.
const ITEM: u64 = 15;
/// Its vertex: two addresses, the difference of the bounds, two comparisons and branches.
const VERTEX: u64 = 7;
/// The end of a shorter way becomes an item: two comparisons and branches, a division for the rest, an address.
const SHORTER: u64 = 13;
/// The same of a thread, its vertex, an edge and a shorter way, topology driven: a thread its number, an address, two comparisons and
/// branches; a vertex two addresses, a comparison and a branch; an edge three addresses, the sum, a comparison, a branch, and three of
/// the loop; a shorter way an address.
const BY_TOPOLOGY: [u64; 4] = [6, 4, 9, 1];

pub const DEFINITION: Definition = Definition {
    name: "sssp",
    title: "Shortest paths: atomics at random places, and lists that the launches write for each other",
    source: "after Lonestar, sssp (worklist), and Rodinia, cuda/bfs; the graph is generated",
    own: &[
        common::count("size", "vertices", 65_536, graph::MOST_VERTICES),
        ParameterDefinition {
            name: "driven",
            about: "data: a thread for each item of a list; topology: for each vertex",
            kind: Kind::Choice { default: "data", options: &["data", "topology"] },
        },
        common::count("rounds", "rounds, at most", 1000, 10_000),
        graph::DEGREE,
        graph::SHAPE,
        common::SCALE,
        common::workgroup(256),
        common::WARP,
        common::first("offsets", "the first edge of each vertex, words"),
        common::next("edges", "where each edge leads, words"),
        common::next("lengths", "how long it is, words"),
        common::next("distances", "of the vertices, words"),
        common::next("list", "what a round works on: words, or a byte for each vertex"),
        common::next("other_list", "what the next one works on"),
        common::next("count", "items of it, or whether there are any, a word"),
        common::SYNC,
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

/// A search, and what its launches share.
struct Search {
    graph: Arc<Graph>,
    rounds: Arc<Rounds>,
    by_data: bool,
    workgroup: u64,
    settings: Settings,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::with_host(values)?;
    let size = Scale::read(values)?.of(values.integer("size")?);
    common::multiple(values, "size", size, 1)?;
    let graph = Graph::read(values, size)?;
    let by_data = values.choice("driven")? == "data";
    let item = if by_data { 4 } else { 1 };
    let mut layout = Layout::new(values);
    let fixed = [
        layout.array("offsets", size + 1, 4)?,
        layout.array("edges", graph.edges(), 4)?,
        layout.array("lengths", graph.edges(), 4)?,
        layout.array("distances", size, 4)?,
    ];
    let mut list = layout.array("list", size, item)?;
    let mut other = layout.array("other_list", size, item)?;
    let count = layout.array("count", 1, 4)?;
    let search = Search {
        rounds: Arc::new(Rounds::shortest_paths(&graph, values.integer("rounds")?)?),
        graph: Arc::new(graph),
        by_data,
        workgroup: values.integer("workgroup")?,
        settings,
    };
    let mut steps = Vec::new();
    for round in 0..search.rounds.count() {
        let arrays = fixed.into_iter().chain([list, other, count]).collect();
        steps.push(search.relax(round, arrays));
        let script = Script::default().then(1, [Step::Load(0, 0), Step::Store(0, 0)]);
        HostLoop { arrays: vec![count], script }.add(&mut steps, settings, &[0], |_| Some(0));
        (list, other) = (other, list);
    }
    Ok(steps)
}

impl Search {
    /// The vertex that a thread works on in a round.
    fn vertex(&self, round: u64) -> impl Fn(u64) -> Option<u64> + Clone + Send + Sync + use<> {
        let (rounds, by_data) = (self.rounds.clone(), self.by_data);
        move |thread| {
            if by_data {
                return rounds.round(round).get(thread as usize).copied().map(u64::from);
            }
            rounds.place(round, thread).map(|_| thread)
        }
    }

    fn relax(&self, round: u64, arrays: Vec<Array>) -> TaskKind {
        let Self { by_data, workgroup, settings, .. } = *self;
        let items = self.rounds.round(round).len() as u64;
        let (graph, rounds, vertex) = (self.graph.clone(), self.rounds.clone(), self.vertex(round));
        let threads = if by_data { items } else { graph.vertices() };
        Launch {
            name: "relax",
            groups: threads.div_ceil(workgroup),
            workgroup,
            arrays,
            script: self.script(round),
            map: Arc::new(move |at: At| {
                let thread = at.below(workgroup, threads)?;
                if at.array == 4 {
                    return Some(thread);
                }
                let vertex = vertex(thread)?;
                let target = || graph.target(vertex, at.round);
                let shorter = || rounds.place(round + 1, target());
                match (at.array, at.nth) {
                    (0, end) => Some(vertex + end),
                    (1 | 2, _) => Some(graph.start(vertex) + at.round),
                    (3, 0) => Some(vertex),
                    (3, 1) => Some(target()),
                    (3, _) => shorter().map(|_| target()),
                    (5, _) if by_data => shorter(),
                    (5, _) => shorter().map(|_| target()),
                    _ => shorter().map(|_| 0),
                }
            }),
            settings,
        }
        .step()
    }

    fn script(&self, round: u64) -> Script {
        let (workgroup, graph, vertex) = (self.workgroup, self.graph.clone(), self.vertex(round));
        let there = vertex.clone();
        let instructions = if self.by_data { [ITEM, VERTEX, STEP, SHORTER] } else { BY_TOPOLOGY };
        let [begin, bound, relax, put] =
            instructions.map(|each| Step::Compute(self.settings.share(each, STEP)));
        let count =
            |array| if self.by_data { Step::Atomic(AtomicOp::Add, array, 0) } else { Step::Store(array, 0) };
        let cleared = (!self.by_data).then_some(Step::Store(4, 0));
        let bounds = [bound, Step::Load(0, 0), Step::Load(0, 1), Step::Load(3, 0)];
        Script::default()
            .then(1, [begin, Step::Load(4, 0)])
            .then_each(
                move |group, local| u64::from(there(group * workgroup + local).is_some()),
                cleared.into_iter().chain(bounds),
            )
            .then_each(
                move |group, local| {
                    vertex(group * workgroup + local).map_or(0, |vertex| graph.degree(vertex))
                },
                [
                    Step::Load(1, 0),
                    Step::Load(2, 0),
                    Step::Load(3, 1),
                    relax,
                    Step::Atomic(AtomicOp::Max, 3, 2),
                    count(6),
                    put,
                    Step::Store(5, 0),
                ],
            )
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Plain, bases, did, with};
    use crate::model::access::AccessKind::Atomic;
    use crate::model::access::AtomicOp::{Add, Max};

    /// A grid of 4 x 4, searched in the source's own terms; lengths are learned from the graph.
    fn check(driven: &str) {
        let given = [("size", 32), ("scale", 2), ("workgroup", 4), ("wavefront", 2), ("seed", 4)];
        let given = with(&given, &[("graph", "grid"), ("driven", driven)]);
        let steps = super::super::build("sssp", &given).unwrap();
        let by_data = driven == "data";
        let ends = |v: u64| -> Vec<u64> {
            let (x, y) = (v % 4, v / 4);
            let all =
                [(y > 0, v.wrapping_sub(4)), (x > 0, v.wrapping_sub(1)), (x < 3, v + 1), (y < 3, v + 4)];
            all.into_iter().filter(|(there, _)| *there).map(|(_, end)| end).collect()
        };
        let first = |v: u64| (0..v).map(|v| ends(v).len() as u64).sum::<u64>();
        let length = |edge: u64| 1 + super::common::scramble(4 ^ 1, edge) % 16;
        let item = if by_data { 4 } else { 1 };
        let bytes = u64::from(item) * 16;
        let [offsets, edges, lengths, dist, mut list, mut other, count] =
            bases([68, 192, 192, 64, bytes, bytes, 4]);
        let mut known = [u64::MAX; 16];
        known[0] = 0;
        let mut work = vec![0u64];
        let mut expected: Vec<Did> = Vec::new();
        while !work.is_empty() {
            let mut next = Vec::new();
            for v in &work {
                for (nth, end) in ends(*v).into_iter().enumerate() {
                    let way = known[*v as usize] + length(first(*v) + nth as u64);
                    if way < known[end as usize] {
                        known[end as usize] = way;
                        next.push(end);
                    }
                }
            }
            next.sort_unstable();
            next.dedup();
            let mut launch = Plain::default();
            (0..if by_data { work.len() as u64 } else { 16 })
                .for_each(|thread| launch.load(list, thread, item));
            for v in &work {
                if !by_data {
                    launch.store(list, *v, 1);
                }
                launch.load(offsets, *v, 4);
                launch.load(offsets, v + 1, 4);
                launch.load(dist, *v, 4);
                for (nth, end) in ends(*v).into_iter().enumerate() {
                    launch.load(edges, first(*v) + nth as u64, 4);
                    launch.load(lengths, first(*v) + nth as u64, 4);
                    launch.load(dist, end, 4);
                    if let Some(place) = next.iter().position(|other| *other == end) {
                        launch.touch(Atomic(Max), dist, end, 4);
                        if by_data {
                            launch.touch(Atomic(Add), count, 0, 4);
                            launch.store(other, place as u64, 4);
                        } else {
                            launch.store(count, 0, 4);
                            launch.store(other, end, 1);
                        }
                    }
                }
            }
            let mut host = Plain::default();
            host.host_load(count, 0, 4);
            host.host_store(count, 0, 4);
            expected.extend([launch.launch(), host.host()]);
            (list, other, work) = (other, list, next);
        }
        assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn each_round_relaxes_the_edges_of_its_vertices() {
        check("data");
        check("topology");
    }
}
