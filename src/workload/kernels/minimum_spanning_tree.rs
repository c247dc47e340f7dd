//! A minimum spanning tree after Boruvka: components look for their shortest edge, join, and look again.
//!
//! A stand-in for Lonestar's `mst`, after its kernels. In each round
//! - `find`, a thread for each vertex: loads its bounds and its component; for each edge: `edges`, the component of its end, and, if that is another one,
//!   `lengths`; then an atomic minimum of the component's `shortest`;
//! - `join`, a thread for each component: loads `shortest`, the edge's end and its component, stores `parents`;
//! - `relabel`, a thread for each vertex: loads its component and the parent of that, stores its component; the host loads how many are left, which the
//!   components count with an atomic.
//!
//! The graph is generated from the seed. Which components there are is not searched: after each round four of those next to
//! each other have become one. A real run joins as many or more, of any place.
//!
//! Instructions are counted in `LonestarGPU` 2.0, `apps/mst/main.cu` (`dfindelemin`, and `dfindcompmintwo` for one component) with
//! `graph.h` and `component.h`, whose `find` takes a comparison and a branch for each component that is loaded.

use std::sync::Arc;

use super::Definition;
use super::array::{Array, Layout};
use super::common::{self, Scale, Settings};
use super::graph::{self, Graph};
use super::launch::{At, HostLoop, Launch, Script, Step};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::model::access::AtomicOp;
use crate::workload::TaskKind;

/// Instructions for an edge: its number, two comparisons and a branch for that, three addresses, a comparison and a branch of `find`, one
/// and one for the length, a comparison and two selections for the component, and three of the loop.
const STEP: u64 = 17;
/// A thread of `find` begins: its number, which may be selected otherwise, two addresses, the difference of the bounds, three comparisons
/// and branches.
const VERTEX: u64 = 12;
/// It ends: two comparisons and a branch, an address.
const SHORTEST: u64 = 4;
/// A thread of the other launches begins: its number, a comparison and a branch, an address.
const BEGIN: u64 = 4;
/// Joining: three addresses, five comparisons and branches (of `find`, of the two components, of each of them whether it is still one,
/// whether it was joined), a comparison and two selections for which becomes the parent.
const JOIN: u64 = 16;
/// Relabelling: an address, a comparison and a branch.
const RELABEL: u64 = 3;

pub const DEFINITION: Definition = Definition {
    name: "minimum-spanning-tree",
    title: "A minimum spanning tree: components gathered at random, and atomics that meet as they grow",
    source: "a stand-in for Lonestar, mst (Boruvka): its kernels, components by rule; the graph is generated",
    own: &[
        common::count("size", "vertices", 65_536, graph::MOST_VERTICES),
        graph::DEGREE,
        graph::SHAPE,
        common::SCALE,
        common::workgroup(256),
        common::WARP,
        common::first("offsets", "the first edge of each vertex, words"),
        common::next("edges", "where each edge leads, words"),
        common::next("lengths", "how long it is, words"),
        common::next("components", "of the vertices, words"),
        common::next("shortest", "the shortest edge of each component, eight bytes"),
        common::next("parents", "of the components, words"),
        common::next("count", "components that are left, a word"),
        common::SYNC,
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

/// Components that become one in a round.
const JOINED: u64 = 4;

/// What the launches share.
struct Tree {
    graph: Arc<Graph>,
    workgroup: u64,
    settings: Settings,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::with_host(values)?;
    let size = Scale::read(values)?.of(values.integer("size")?);
    common::multiple(values, "size", size, 1)?;
    let graph = Arc::new(Graph::read(values, size)?);
    let mut layout = Layout::new(values);
    let offsets = layout.array("offsets", size + 1, 4)?;
    let edges = layout.array("edges", graph.edges(), 4)?;
    let lengths = layout.array("lengths", graph.edges(), 4)?;
    let components = layout.array("components", size, 4)?;
    let shortest = layout.array("shortest", size, 8)?;
    let parents = layout.array("parents", size, 4)?;
    let count = layout.array("count", 1, 4)?;
    let tree = Tree { graph, workgroup: values.integer("workgroup")?, settings };
    let mut steps = Vec::new();
    let mut width = 1;
    while width < size {
        steps.push(tree.find(width, vec![offsets, components, edges, lengths, shortest]));
        steps.push(tree.join(width, vec![shortest, edges, components, parents, count]));
        steps.push(tree.relabel(width, vec![components, parents]));
        let script = Script::default().then(1, [Step::Load(0, 0), Step::Store(0, 0)]);
        HostLoop { arrays: vec![count], script }.add(&mut steps, settings, &[0], |_| Some(0));
        width *= JOINED;
    }
    Ok(steps)
}

impl Tree {
    fn launch(
        &self,
        name: &'static str,
        threads: u64,
        arrays: Vec<Array>,
        script: Script,
        map: impl Fn(u64, At) -> Option<u64> + Send + Sync + 'static,
    ) -> TaskKind {
        let Self { workgroup, settings, .. } = *self;
        let map = Arc::new(move |at: At| map(at.below(workgroup, threads)?, at));
        Launch { name, groups: threads.div_ceil(workgroup), workgroup, arrays, script, map, settings }.step()
    }

    fn computing(&self, instructions: u64) -> Step {
        Step::Compute(self.settings.share(instructions, STEP))
    }

    /// Components are runs of `width` vertices, and are called after their first.
    fn find(&self, width: u64, arrays: Vec<Array>) -> TaskKind {
        let (graph, trips) = (self.graph.clone(), self.graph.clone());
        let workgroup = self.workgroup;
        let script = Script::default()
            .then(1, [self.computing(VERTEX), Step::Load(0, 0), Step::Load(0, 1), Step::Load(1, 0)])
            .then_each(
                move |group, local| trips.degree(group * workgroup + local),
                [Step::Load(2, 0), Step::Load(1, 1), Step::Load(3, 0), self.computing(STEP)],
            )
            .then(1, [self.computing(SHORTEST), Step::Atomic(AtomicOp::Max, 4, 0)]);
        self.launch("find", self.graph.vertices(), arrays, script, move |vertex, at| {
            let target = || graph.target(vertex, at.round);
            let edge = || graph.start(vertex) + at.round;
            match (at.array, at.nth) {
                (0, end) => Some(vertex + end),
                (1, 0) => Some(vertex),
                (1, _) => Some(target()),
                (2, _) => Some(edge()),
                (3, _) => (target() / width != vertex / width).then(edge),
                _ => Some(vertex - vertex % width),
            }
        })
    }

    fn join(&self, width: u64, arrays: Vec<Array>) -> TaskKind {
        let graph = self.graph.clone();
        let script = Script::default()
            .then(1, [self.computing(BEGIN), Step::Load(0, 0), Step::Load(1, 0), Step::Load(2, 0)])
            .then(1, [self.computing(JOIN), Step::Store(3, 0), Step::Atomic(AtomicOp::Add, 4, 0)]);
        let components = self.graph.vertices().div_ceil(width);
        self.launch("join", components, arrays, script, move |component, at| {
            // The shortest edge is taken to be the first of the component's first vertex.
            let first = component * width;
            Some(match at.array {
                0 | 3 => first,
                1 => graph.start(first),
                2 => graph.target(first, 0),
                _ => 0,
            })
        })
    }

    fn relabel(&self, width: u64, arrays: Vec<Array>) -> TaskKind {
        let script = Script::default()
            .then(1, [self.computing(BEGIN), Step::Load(0, 0), Step::Load(1, 0)])
            .then(1, [self.computing(RELABEL), Step::Store(0, 0)]);
        self.launch("relabel", self.graph.vertices(), arrays, script, move |vertex, at| {
            Some(if at.array == 0 { vertex } else { vertex - vertex % width })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, with};
    use crate::model::access::AccessKind::Atomic;
    use crate::model::access::AtomicOp::{Add, Max};

    #[test]
    fn components_grow_until_one_is_left() {
        let given = [("size", 50), ("scale", 2), ("workgroup", 8), ("wavefront", 4)];
        let steps =
            super::super::build("minimum-spanning-tree", &with(&given, &[("graph", "grid")])).unwrap();
        let ends = |v: u64| -> Vec<u64> {
            let (x, y) = (v % 5, v / 5);
            let all =
                [(y > 0, v.wrapping_sub(5)), (x > 0, v.wrapping_sub(1)), (x < 4, v + 1), (y < 4, v + 5)];
            all.into_iter().filter(|(there, _)| *there).map(|(_, end)| end).collect()
        };
        let first = |v: u64| (0..v).map(|v| ends(v).len() as u64).sum::<u64>();
        let [offsets, edges, lengths, comps, mins, parents, count] = bases([104, 320, 320, 100, 200, 100, 4]);
        let mut expected = Vec::new();
        for width in [1, 4, 16] {
            let component: Vec<u64> = (0..25).map(|v| v / width * width).collect();
            let [mut find, mut join, mut relabel, mut host] = [(); 4].map(|()| Plain::default());
            for v in 0..25 {
                find.load(offsets, v, 4);
                find.load(offsets, v + 1, 4);
                find.load(comps, v, 4);
                for (edge, end) in (first(v)..).zip(ends(v)) {
                    find.load(edges, edge, 4);
                    find.load(comps, end, 4);
                    if component[end as usize] != component[v as usize] {
                        find.load(lengths, edge, 4);
                    }
                }
                find.touch(Atomic(Max), mins, component[v as usize], 8);
                relabel.load(comps, v, 4);
                relabel.load(parents, component[v as usize], 4);
                relabel.store(comps, v, 4);
                if component[v as usize] == v {
                    join.load(mins, v, 8);
                    join.load(edges, first(v), 4);
                    join.load(comps, ends(v)[0], 4);
                    join.store(parents, v, 4);
                    join.touch(Atomic(Add), count, 0, 4);
                }
            }
            host.host_load(count, 0, 4);
            host.host_store(count, 0, 4);
            expected.extend([find.launch(), join.launch(), relabel.launch(), host.host()]);
        }
        assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), expected);
    }
}
