//! Nekbone: conjugate gradients on spectral elements, each a small dense problem, which then share their faces.
//!
//! A stand-in for Nekbone, after its kernel `ax` in CUDA and the loop of its `cg`, not its source: elements of n x n x n points, a workgroup of n x n threads for
//! each, which goes up n planes. In each iteration
//! - `combine`: p from r and p; at the end x from x and p, r from r and w;
//! - `ax`: loads p and the row and column of the derivative matrix, and six geometric factors; stores w;
//! - `gather_scatter`: for each of the three upper faces of an element: loads w there and on the neighbour's lower face, stores both;
//! - two dot products, (w, p) and (r, r).
//!
//! The elements stand in a box, so that a face has one neighbour or none; Nekbone finds equal points through lists of indices.

use std::sync::Arc;

use super::Definition;
use super::array::{Array, Layout};
use super::common::{self, Scale, Settings};
use super::krylov::Vectors;
use super::launch::{At, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use super::volume::Volume;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a plane of nine points a side.
const PLANE: u64 = plane(9);
/// Where a thread begins: where its points and factors are, an address, and its part of the matrix in shared memory.
const START: u64 = 5;
/// Of a point of a face, counted from what is described above: two for where it is, a comparison and a branch, three for the neighbour's,
/// two addresses and an addition.
const FACE: u64 = 10;

/// Of a plane (`ax_cuf2_notunrolled` of Nekbone): for each point of a line ten reads of shared memory and six products that are added;
/// then nine products with the factors, three writes to shared memory, an addition and eight addresses. The loops have known ends and
/// take none.
const fn plane(points: u64) -> u64 {
    16 * points + 21
}

pub const DEFINITION: Definition = Definition {
    name: "nekbone",
    title: "Nekbone: elements of their own, whose faces are added up with the neighbours'",
    source: "a stand-in for Nekbone: its loop, not its source; 8 x 8 x 8 elements of 9 x 9 x 9 points, chosen",
    own: &[
        common::count("x", "elements in a line", 8, 1024),
        common::count("y", "lines of a plane", 8, 1024),
        common::count("z", "planes", 8, 1024),
        common::count("points", "points along each side of an element", 9, 32),
        common::iterations("iterations", 1),
        ParameterDefinition {
            name: "workgroup",
            about: "threads of a workgroup where vectors are worked on",
            kind: Kind::Integer { default: 512, least: 1, most: 1024 },
        },
        common::SCALE,
        common::WARP,
        common::first("p", "the direction, doubles"),
        common::next("w", "the operator applied to it"),
        common::next("r", "the residual"),
        common::next("x_vector", "the solution"),
        common::next("geometry", "six factors of each point"),
        common::next("derivative", "the matrix of derivatives"),
        common::next("partial", "sums of a dot product"),
        common::SYNC,
    ],
    shared: &common::computing_cuda(PLANE),
    build,
};

const FACTORS: u64 = 6;

/// Elements and their points.
#[derive(Clone, Copy, Debug)]
struct Elements {
    elements: Volume,
    /// Points of an element.
    points: Volume,
}

impl Elements {
    fn size(&self) -> u64 {
        self.elements.cells() * self.points.cells()
    }

    /// The point at a place of an element.
    fn point(&self, element: u64, place: [u64; 3]) -> u64 {
        element * self.points.cells() + self.points.cell(place)
    }
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::with_host(values)?;
    let edges = [values.integer("x")?, values.integer("y")?, values.integer("z")?];
    let elements = Volume { edges: Scale::read(values)?.volume(edges) };
    common::multiple(values, "x", elements.cells(), 1)?;
    let edge = values.integer("points")?;
    let mesh = Elements { elements, points: Volume { edges: [edge; 3] } };
    let size = mesh.size();
    let workgroup = values.integer("workgroup")?;
    let mut layout = Layout::new(values);
    let p = layout.array("p", size, 8)?;
    let w = layout.array("w", size, 8)?;
    let r = layout.array("r", size, 8)?;
    let x = layout.array("x_vector", size, 8)?;
    let geometry = layout.array("geometry", FACTORS * size, 8)?;
    let derivative = layout.array("derivative", edge * edge, 8)?;
    let partial = layout.array("partial", Vectors::sums(size, workgroup), 8)?;
    let vectors = Vectors { size, workgroup, partial, settings, main: PLANE };
    let mut steps = Vec::new();
    for _ in 0..values.integer("iterations")? {
        steps.push(vectors.combine("combine", &[r, p], p));
        steps.push(mesh.operator(settings, vec![p, derivative, geometry, w]));
        steps.push(mesh.share(settings, w));
        vectors.dot(&mut steps, w, p);
        steps.push(vectors.combine("combine", &[x, p], x));
        steps.push(vectors.combine("combine", &[r, w], r));
        vectors.dot(&mut steps, r, r);
    }
    Ok(steps)
}

impl Elements {
    fn operator(self, settings: Settings, arrays: Vec<Array>) -> TaskKind {
        let [edge, ..] = self.points.edges;
        let factors = (0..FACTORS).map(|factor| Step::Load(2, factor));
        let start = Step::Compute(settings.share(START, PLANE));
        let script = Script::default().then(1, [Step::Load(1, 0), start, Step::Barrier]).then(
            edge,
            [Step::Load(0, 0), Step::Barrier].into_iter().chain(factors).chain([
                Step::Compute(settings.share(plane(edge), PLANE)),
                Step::Barrier,
                Step::Store(3, 0),
            ]),
        );
        let map = move |at: At| {
            let point = self.point(at.group, [at.local % edge, at.local / edge, at.round]);
            Some(match at.array {
                1 => at.local,
                // All of a factor of an element, then the next.
                2 => {
                    let inside = point % self.points.cells();
                    (at.group * FACTORS + at.nth) * self.points.cells() + inside
                }
                _ => point,
            })
        };
        self.launch("ax", settings, arrays, script, map)
    }

    fn share(self, settings: Settings, w: Array) -> TaskKind {
        let [edge, ..] = self.points.edges;
        let script = Script::default().then(
            3,
            [
                Step::Load(0, 0),
                Step::Load(0, 1),
                Step::Compute(settings.share(FACE, PLANE)),
                Step::Store(0, 0),
                Step::Store(0, 1),
            ],
        );
        let map = move |at: At| {
            let (axis, other) = (at.round as usize, at.nth == 1);
            let mut by = [0; 3];
            *by.get_mut(axis)? = 1;
            let beyond = self.elements.shifted(self.elements.place(at.group), by)?;
            let level = if other { 0 } else { edge - 1 };
            let (u, v) = (at.local % edge, at.local / edge);
            let place = match axis {
                0 => [level, u, v],
                1 => [u, level, v],
                _ => [u, v, level],
            };
            Some(self.point(if other { beyond } else { at.group }, place))
        };
        self.launch("gather_scatter", settings, vec![w], script, map)
    }

    /// A workgroup for each element, a thread for each point of a plane.
    fn launch(
        &self,
        name: &'static str,
        settings: Settings,
        arrays: Vec<Array>,
        script: Script,
        map: impl Fn(At) -> Option<u64> + Send + Sync + 'static,
    ) -> TaskKind {
        let [edge, ..] = self.points.edges;
        let (groups, workgroup) = (self.elements.cells(), edge * edge);
        Launch { name, groups, workgroup, arrays, script, map: Arc::new(map), settings }.step()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn elements_are_worked_on_and_share_their_faces() {
        let given =
            [("x", 2), ("y", 4), ("z", 3), ("scale", 2), ("points", 3), ("workgroup", 9), ("wavefront", 4)];
        let steps = steps("nekbone", &given);
        let (nelt, n) = (12u64, 3);
        let bytes = 8 * nelt * 27;
        let [p, w, _, _, g, dxm, _] = bases([bytes, bytes, bytes, bytes, 6 * bytes, 72, 8 * 36]);
        let (mut ax, mut share) = (Plain::default(), Plain::default());
        for e in 0..nelt {
            (0..9).for_each(|ij| ax.load(dxm, ij, 8));
            for ijk in 0..27 {
                ax.load(p, e * 27 + ijk, 8);
                (0..6).for_each(|m| ax.load(g, e * 6 * 27 + m * 27 + ijk, 8));
                ax.store(w, e * 27 + ijk, 8);
            }
            // Elements stand 2 x 2 x 3.
            let faces = [(e % 2 < 1, 1, 1), (e / 2 % 2 < 1, 2, 3), (e / 4 < 2, 4, 9)];
            for (there, next, step) in faces.into_iter().filter(|(there, ..)| *there) {
                assert!(there);
                for ijk in (0..27u64).filter(|ijk| ijk / step % n == 2) {
                    for point in [e * 27 + ijk, (e + next) * 27 + ijk - 2 * step] {
                        share.load(w, point, 8);
                        share.store(w, point, 8);
                    }
                }
            }
        }
        assert_eq!(steps.len(), 3 + 3 + 2 + 3);
        assert_eq!((did(&steps[1]), did(&steps[2])), (ax.launch(), share.launch()));
    }
}
