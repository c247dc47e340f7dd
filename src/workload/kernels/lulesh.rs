//! LULESH: the hydrodynamics of a shock wave, gathered from nodes to elements and scattered back.
//!
//! Map (LULESH CUDA, `lulesh.cu` as in gpu-app-collection), with a thread for each element k of E, or each node i of N, in each time step:
//! - `IntegrateStressForElems`: for each of eight corners n loads `nodelist[k + n E]` and the node's x, y, z; then three stresses; stores
//!   `determ[k]` and, for each corner, three forces at `k + n E`;
//! - `AddNodeForcesFromElems`: loads `count[i]`; for each of so many corners loads `corners[i + N j]` and three forces there; stores three forces;
//! - `CalcPositionForNodes`: loads force, mass, velocity and position, stores the last two; the source has three kernels for it;
//! - `CalcMonotonicQRegionForElems`: loads the element's number and boundary conditions, three gradients, six neighbours and the
//!   gradient of each, then velocity, three lengths, mass and two volumes; stores `qq` and `ql`.
//!
//! The mesh is a cube of elements. As an unstructured mesh, nodes are numbered out of order within runs of 1,024, which stands in
//! for the numbering of a mesh generator; boundary elements are their own neighbours. The other kernels of a time step
//! (hourglass control, energy, time constraints) are left out.

use std::sync::Arc;

use super::Definition;
use super::array::{Array, Layout};
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use super::volume::{FACES, Volume};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a corner of a node: where it is listed, four addresses, three additions, and the loop.
const CORNER: u64 = 11;
/// Of a node whose forces are added up: its number, whether there is such a node, and four addresses.
const NODE: u64 = 7;
/// Of the stresses of an element: its number and whether it is there; for each corner where it is, and four addresses; 55 for the
/// volume, 45 for the normal of each of six faces, 24 products; and 28 addresses. What the source computes of derivatives but does not
/// use takes none.
const STRESS: u64 = 420;
/// Of a node that moves: its number, whether there is such a node, and ten addresses; for each coordinate a division, two products that
/// are added, a comparison and a select.
const MOVE: u64 = 49;
/// Of the viscosity of an element: its number, whether it is there, and two addresses; for each axis 34, with a division and two
/// neighbours; then nine addresses, eight comparisons, branches and selects, a division, and 23 products and additions.
const VISCOSITY: u64 = 155;

pub const DEFINITION: Definition = Definition {
    name: "lulesh",
    title: "LULESH: elements gather from nodes and scatter to them, kernel after kernel",
    source: "LULESH, CUDA: 45 x 45 x 45 elements; four of its kernels",
    own: &[
        common::count("edge", "elements along each side", 45, 1024),
        ParameterDefinition {
            name: "mesh",
            about: "how nodes are numbered; unstructured: out of order within runs of 1,024",
            kind: Kind::Choice { default: "structured", options: &["structured", "unstructured"] },
        },
        ParameterDefinition {
            name: "element",
            about: "bytes of a number",
            kind: Kind::PowerOfTwo { default: 8, most: 8 },
        },
        common::iterations("time steps", 1),
        common::SCALE,
        common::workgroup(256),
        common::WARP,
        common::first("nodelist", "the nodes of each element, words"),
        common::next("count", "how many elements each node has, words"),
        common::next("corners", "which corners these are, words"),
        common::next("neighbours", "each element's own number and six neighbours, words"),
        common::next("coordinates", "x, y, z of each node"),
        common::next("velocities", "likewise"),
        common::next("node_forces", "likewise"),
        common::next("mass", "of each node"),
        common::next("stresses", "three for each element"),
        common::next("determ", "of each element"),
        common::next("corner_forces", "x, y, z for each corner of each element"),
        common::next("gradients", "three for each element"),
        common::next("state", "velocity, three lengths, mass, two volumes, boundary conditions"),
        common::next("viscosity", "qq and ql"),
    ],
    shared: &common::computing_cuda(CORNER),
    build,
};

/// The corners of an element, as its node list has them.
const CORNERS: [[i64; 3]; 8] =
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];
/// Nodes that are numbered out of order among themselves.
const RUN: u64 = 1024;

/// A number below [`RUN`] with its bits in the opposite order.
fn reversed(within: u64) -> u64 {
    within.reverse_bits() >> (64 - RUN.trailing_zeros())
}

/// The mesh, and what the launches share.
#[derive(Clone, Copy, Debug)]
struct Mesh {
    elements: Volume,
    nodes: Volume,
    /// The seed of an unstructured numbering.
    shuffled: Option<u64>,
    workgroup: u64,
    settings: Settings,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let edge = values.integer("edge")?;
    let elements = Volume { edges: Scale::read(values)?.volume([edge; 3]) };
    let count = common::multiple(values, "edge", elements.cells(), 1)?;
    let nodes = Volume { edges: elements.edges.map(|edge| edge + 1) };
    let shuffled = (values.choice("mesh")? == "unstructured").then_some(settings.seed);
    let workgroup = values.integer("workgroup")?;
    let mesh = Mesh { elements, nodes, shuffled, workgroup, settings };
    let element = values.integer("element")?;
    let mut layout = Layout::new(values);
    let all = nodes.cells();
    let nodelist = layout.array("nodelist", 8 * count, 4)?;
    let counts = layout.array("count", all, 4)?;
    let corners = layout.array("corners", 8 * all, 4)?;
    let neighbours = layout.array("neighbours", 7 * count, 4)?;
    let coordinates = layout.array("coordinates", 3 * all, element)?;
    let velocities = layout.array("velocities", 3 * all, element)?;
    let node_forces = layout.array("node_forces", 3 * all, element)?;
    let mass = layout.array("mass", all, element)?;
    let stresses = layout.array("stresses", 3 * count, element)?;
    let determ = layout.array("determ", count, element)?;
    let corner_forces = layout.array("corner_forces", 24 * count, element)?;
    let gradients = layout.array("gradients", 3 * count, element)?;
    let state = layout.array("state", 8 * count, element)?;
    let viscosity = layout.array("viscosity", 2 * count, element)?;
    let mut steps = Vec::new();
    for _ in 0..values.integer("iterations")? {
        steps.push(mesh.stress(vec![nodelist, coordinates, stresses, determ, corner_forces]));
        steps.push(mesh.add_forces(vec![counts, corners, corner_forces, node_forces]));
        steps.push(mesh.positions(vec![node_forces, mass, velocities, coordinates]));
        steps.push(mesh.viscosity(vec![neighbours, gradients, state, viscosity]));
    }
    Ok(steps)
}

impl Mesh {
    /// The number of the node at the n-th corner of an element.
    fn node(&self, element: u64, corner: u64) -> Option<u64> {
        let by = CORNERS.get(corner as usize)?;
        Some(self.numbered(self.nodes.shifted(self.elements.place(element), *by)?))
    }

    /// What a node is called: bits reversed and some turned, within each run of nodes that is complete.
    fn numbered(&self, node: u64) -> u64 {
        self.turned(node).map_or(node, |turned| node - node % RUN + (reversed(node % RUN) ^ turned))
    }

    /// The place that has a number.
    fn place_of(&self, number: u64) -> u64 {
        self.turned(number).map_or(number, |turned| number - number % RUN + reversed((number % RUN) ^ turned))
    }

    /// The bits that are turned in a node's run; none if its nodes keep their numbers.
    fn turned(&self, node: u64) -> Option<u64> {
        let run = node / RUN;
        let complete = (run + 1) * RUN <= self.nodes.cells();
        Some(common::scramble(self.shuffled.filter(|_| complete)?, run) % RUN)
    }

    /// The n-th corner of an element that a node is, as its place among all corners.
    fn corner(&self, number: u64, nth: u64) -> Option<u64> {
        let place = self.nodes.place(self.place_of(number));
        let elements = self.elements.cells();
        let corner = |(corner, by): (u64, &[i64; 3])| {
            Some(self.elements.shifted(place, by.map(|step| -step))? + corner * elements)
        };
        (0..).zip(&CORNERS).filter_map(corner).nth(nth as usize)
    }

    fn launch(
        &self,
        name: &'static str,
        threads: u64,
        arrays: Vec<Array>,
        script: Script,
        map: impl Fn(u64, At) -> Option<u64> + Send + Sync + 'static,
    ) -> TaskKind {
        let Self { workgroup, settings, .. } = *self;
        let groups = threads.div_ceil(workgroup);
        let map = Arc::new(move |at: At| map(at.below(workgroup, threads)?, at));
        Launch { name, groups, workgroup, arrays, script, map, settings }.step()
    }

    /// A step of so many instructions.
    fn computing(&self, instructions: u64) -> Step {
        Step::Compute(self.settings.share(instructions, CORNER))
    }

    fn stress(self, arrays: Vec<Array>) -> TaskKind {
        let elements = self.elements.cells();
        let script = Script::default()
            .then(8, [Step::Load(0, 0), Step::Load(1, 0), Step::Load(1, 1), Step::Load(1, 2)])
            .then(1, [Step::Load(2, 0), Step::Load(2, 1), Step::Load(2, 2)])
            .then(1, [self.computing(STRESS), Step::Store(3, 0)])
            .then(8, [Step::Store(4, 0), Step::Store(4, 1), Step::Store(4, 2)]);
        self.launch("IntegrateStressForElems", elements, arrays, script, move |k, at| match at.array {
            0 => Some(k + at.round * elements),
            1 => Some(at.nth * self.nodes.cells() + self.node(k, at.round)?),
            2 => Some(at.nth * elements + k),
            3 => Some(k),
            _ => Some(at.nth * 8 * elements + k + at.round * elements),
        })
    }

    fn add_forces(self, arrays: Vec<Array>) -> TaskKind {
        let (nodes, elements) = (self.nodes.cells(), self.elements.cells());
        let forces = (0..3).map(|component| Step::Load(2, component));
        let corner = [Step::Load(1, 0)].into_iter().chain(forces).chain([self.computing(CORNER)]);
        let script = Script::default()
            .then(1, [Step::Load(0, 0)])
            .then(8, corner)
            .then(1, [self.computing(NODE)])
            .then(1, [Step::Store(3, 0), Step::Store(3, 1), Step::Store(3, 2)]);
        self.launch("AddNodeForcesFromElems", nodes, arrays, script, move |i, at| match at.array {
            0 => Some(i),
            1 => self.corner(i, at.round).map(|_| i + nodes * at.round),
            2 => Some(at.nth * 8 * elements + self.corner(i, at.round)?),
            _ => Some(at.nth * nodes + i),
        })
    }

    fn positions(self, arrays: Vec<Array>) -> TaskKind {
        let nodes = self.nodes.cells();
        let three = |array| (0..3).map(move |component| (array, component));
        let loads = three(0).chain([(1, 0)]).chain(three(2)).chain(three(3));
        let script = Script::default()
            .then(1, loads.map(|(array, component)| Step::Load(array, component)))
            .then(1, [self.computing(MOVE)])
            .then(1, three(2).chain(three(3)).map(|(array, component)| Step::Store(array, component)));
        self.launch("CalcPositionForNodes", nodes, arrays, script, move |i, at| Some(at.nth * nodes + i))
    }

    fn viscosity(self, arrays: Vec<Array>) -> TaskKind {
        let elements = self.elements.cells();
        let gradient = |face: u64| [Step::Load(0, face + 1), Step::Load(1, face + 3)];
        let script = Script::default()
            .then(1, [Step::Load(0, 0), Step::Load(2, 7)])
            .then(1, (0..3).map(|axis| Step::Load(1, axis)))
            .then(1, (0..6).flat_map(gradient))
            .then(1, (0..7).map(|field| Step::Load(2, field)))
            .then(1, [self.computing(VISCOSITY), Step::Store(3, 0), Step::Store(3, 1)]);
        self.launch("CalcMonotonicQRegionForElems", elements, arrays, script, move |k, at| {
            let Some(face) = at.nth.checked_sub(3).filter(|_| at.array == 1) else {
                return Some(at.nth * elements + k);
            };
            let by = FACES.get(face as usize)?;
            Some(face / 2 * elements + self.elements.shifted(self.elements.place(k), *by).unwrap_or(k))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, with};

    fn check(mesh: &str) {
        let given = [("edge", 20), ("scale", 8), ("workgroup", 64), ("wavefront", 32)];
        let steps = super::super::build("lulesh", &with(&given, &[("mesh", mesh)])).unwrap();
        let (ne, nn) = (1000u64, 1331u64);
        let [nodelist, count, corners, neighbours, xyz, vel, nf, mass, sig, determ, cf, delv, state, q] =
            bases([
                32 * ne,
                4 * nn,
                32 * nn,
                28 * ne,
                24 * nn,
                24 * nn,
                24 * nn,
                8 * nn,
                24 * ne,
                8 * ne,
                192 * ne,
                24 * ne,
                64 * ne,
                16 * ne,
            ]);
        // The numbers of the nodes are read back from what the first launch gathers, corner by corner.
        let node = |k: u64, n: u64| {
            let crate::workload::TaskKind::Kernel(kernel) = &steps[0] else { panic!("no launch") };
            let operation = kernel.operation(k / 64, (k % 64 / 32) as u32, 4 * n + 1).unwrap();
            let crate::model::operation::Operation::Access(access) = operation else { panic!("no load") };
            let lane = access.lanes.iter().find(|(lane, _)| u64::from(*lane) == k % 32).unwrap();
            (lane.1.0 - xyz) / 8
        };
        let offsets =
            [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)];
        let mut named = vec![u64::MAX; nn as usize];
        let (mut stress, mut add, mut moved, mut visc) =
            (Plain::default(), Plain::default(), Plain::default(), Plain::default());
        let mut seen = vec![0; nn as usize];
        let mut at = vec![Vec::new(); nn as usize];
        for k in 0..ne {
            let (x, y, z) = (k % 10, k / 10 % 10, k / 100);
            for (n, (dx, dy, dz)) in (0..8).zip(offsets) {
                let place = ((z + dz) * 121 + (y + dy) * 11 + x + dx) as usize;
                let id = node(k, n);
                // A place has one number, whichever element asks.
                assert!(named[place] == u64::MAX || named[place] == id);
                named[place] = id;
                seen[id as usize] += 1;
                at[id as usize].push(k + n * ne);
                stress.load(nodelist, k + n * ne, 4);
                for c in 0..3 {
                    stress.load(xyz, c * nn + id, 8);
                    stress.store(cf, c * 8 * ne + k + n * ne, 8);
                }
            }
            (0..3).for_each(|c| stress.load(sig, c * ne + k, 8));
            stress.store(determ, k, 8);
            visc.load(neighbours, k, 4);
            let faces = [
                if x > 0 { k - 1 } else { k },
                if x < 9 { k + 1 } else { k },
                if y > 0 { k - 10 } else { k },
                if y < 9 { k + 10 } else { k },
                if z > 0 { k - 100 } else { k },
                if z < 9 { k + 100 } else { k },
            ];
            for (face, other) in (0..6).zip(faces) {
                visc.load(neighbours, (face + 1) * ne + k, 4);
                visc.load(delv, face / 2 * ne + other, 8);
            }
            (0..3).for_each(|c| visc.load(delv, c * ne + k, 8));
            (0..8).for_each(|field| visc.load(state, field * ne + k, 8));
            (0..2).for_each(|field| visc.store(q, field * ne + k, 8));
        }
        for i in 0..nn {
            add.load(count, i, 4);
            for (j, corner) in (0..).zip(&at[i as usize]) {
                add.load(corners, i + nn * j, 4);
                (0..3).for_each(|c| add.load(cf, c * 8 * ne + corner, 8));
            }
            moved.load(mass, i, 8);
            for c in 0..3 {
                add.store(nf, c * nn + i, 8);
                moved.load(nf, c * nn + i, 8);
                for array in [vel, xyz] {
                    moved.load(array, c * nn + i, 8);
                    moved.store(array, c * nn + i, 8);
                }
            }
        }
        let mut numbers = named.clone();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..nn), "every number once");
        assert_eq!(named.iter().copied().eq(0..nn), mesh == "structured");
        let expected = [stress.launch(), add.launch(), moved.launch(), visc.launch()];
        assert!(steps.iter().map(did).eq(expected), "{mesh}");
    }

    #[test]
    fn elements_gather_and_nodes_add_up() {
        check("structured");
        check("unstructured");
    }
}
