//! CFD: the Euler equations on an unstructured mesh.
//!
//! Map (Rodinia, `cfd/euler3d.cu`), with a thread for each element i of n (padded to whole workgroups), each of which has five
//! variables, field by field; in each iteration:
//! - the variables are copied to `old_variables`;
//! - `compute_step_factor`: loads the five variables and `areas[i]`, stores `step_factors[i]`;
//! - three times: `compute_flux`: loads the five variables; for each of four neighbours its number, three components of the face's normal and, if it
//!   is an element, its five variables; stores five fluxes; `time_step`: loads `step_factors`, five old variables and five fluxes, stores the variables.
//!
//! The mesh is generated: neighbours are the elements beside, behind and above in a block of about n elements, give or take a few, as the
//! numbering of a mesh generator would make them; one face in fifty is a border.
//!
//! Instructions are counted in Rodinia, `cuda/cfd/euler3d.cu`. Its copy is none of a kernel, and computes nothing.

use std::sync::Arc;

use super::Definition;
use super::array::{Array, Layout};
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a side in `compute_flux`, whose loop is unrolled: eight of indices, nine addresses, a comparison, a branch, seven
/// divisions and roots (three of the velocity, the length of the normal, the speed, two of the speed of sound), sixty-nine of arithmetic.
const STEP: u64 = 144;
/// A thread of `compute_flux` begins: its number, four indices, five addresses, six divisions and roots, and seventeen of arithmetic.
const OWN: u64 = 75;
/// It ends: five addresses.
const END: u64 = 5;
/// `compute_step_factor`: a number, four indices, seven addresses, eight divisions and roots, and nine of arithmetic.
const FACTOR: u64 = 85;
/// `time_step`: a number, four indices, sixteen addresses, a subtraction, a conversion, a division, and five products that are added.
const ADVANCE: u64 = 36;

pub const DEFINITION: Definition = Definition {
    name: "euler3d",
    title: "CFD: an unstructured mesh, whose elements gather from their neighbours",
    source: "Rodinia, cuda/cfd (euler3d): fvcorr.domn.193K, 193,474 elements; the source makes 2,000 iterations; the mesh is generated",
    own: &[
        common::count("size", "elements", 193_474, 1 << 32),
        common::iterations("iterations", 1),
        common::SCALE,
        ParameterDefinition {
            name: "workgroup",
            about: "threads of a workgroup",
            kind: Kind::Integer { default: 192, least: 1, most: 1024 },
        },
        common::WARP,
        common::first("variables", "five fields, floats"),
        common::next("old_variables", "the same before the iteration"),
        common::next("fluxes", "five fields"),
        common::next("step_factors", "of each element"),
        common::next("areas", "of each element"),
        common::next("neighbours", "four of each element, words"),
        common::next("normals", "three components for each of them"),
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

const FIELDS: u64 = 5;
const SIDES: u64 = 4;
const STAGES: usize = 3;

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let workgroup = values.integer("workgroup")?;
    let elements = common::multiple(values, "size", Scale::read(values)?.of(values.integer("size")?), 1)?;
    let size = elements.next_multiple_of(workgroup);
    let mut layout = Layout::new(values);
    let variables = layout.array("variables", FIELDS * size, 4)?;
    let old = layout.array("old_variables", FIELDS * size, 4)?;
    let fluxes = layout.array("fluxes", FIELDS * size, 4)?;
    let factors = layout.array("step_factors", size, 4)?;
    let areas = layout.array("areas", size, 4)?;
    let neighbours = layout.array("neighbours", SIDES * size, 4)?;
    let normals = layout.array("normals", 3 * SIDES * size, 4)?;
    let mesh = Mesh::of(elements, settings.seed);
    let launch = |name, arrays: &[Array], script: Script| {
        let map = move |at: At| {
            let element = at.thread(workgroup);
            Some(match at.nth {
                FACE.. => element + (at.round + (at.nth - FACE) * SIDES) * size,
                BESIDE.. => (at.nth - BESIDE) * size + mesh.neighbour(element, at.round)?,
                field => field * size + element,
            })
        };
        let arrays = arrays.to_vec();
        Launch { name, groups: size / workgroup, workgroup, arrays, script, map: Arc::new(map), settings }
            .step()
    };
    let fields = |array| (0..FIELDS).map(move |field| Step::Load(array, field));
    let stores = |array| (0..FIELDS).map(move |field| Step::Store(array, field));
    let computing = |instructions| Step::Compute(settings.share(instructions, STEP));
    let copy = Script::default().then(1, fields(0).chain(stores(1)));
    let factor = [Step::Load(1, 0), computing(FACTOR), Step::Store(2, 0)];
    let step = Script::default().then(1, fields(0).chain(factor));
    let flux = Script::default()
        .then(1, fields(0).chain([computing(OWN)]))
        .then(
            SIDES,
            [Step::Load(2, FACE), Step::Load(3, FACE), Step::Load(3, FACE + 1), Step::Load(3, FACE + 2)]
                .into_iter()
                .chain((0..FIELDS).map(|field| Step::Load(0, BESIDE + field)))
                .chain([computing(STEP)]),
        )
        .then(1, [computing(END)].into_iter().chain(stores(1)));
    let advance = Script::default()
        .then(1, [Step::Load(0, 0)].into_iter().chain(fields(1)).chain(fields(2)).chain([computing(ADVANCE)]))
        .then(1, stores(3));
    let mut steps = Vec::new();
    for _ in 0..values.integer("iterations")? {
        steps.push(launch("copy", &[variables, old], copy.clone()));
        steps.push(launch("compute_step_factor", &[variables, areas, factors], step.clone()));
        for _ in 0..STAGES {
            steps.push(launch("compute_flux", &[variables, fluxes, neighbours, normals], flux.clone()));
            steps.push(launch("time_step", &[factors, old, fluxes, variables], advance.clone()));
        }
    }
    Ok(steps)
}

/// Added to a field: that of the neighbour on the side of the round.
const BESIDE: u64 = 8;
/// Added to a component: that of the face on the side of the round.
const FACE: u64 = 16;

/// A mesh that is computed from a seed.
#[derive(Clone, Copy, Debug)]
struct Mesh {
    elements: u64,
    /// Elements of a line of a block of so many.
    line: u64,
    seed: u64,
}

impl Mesh {
    fn of(elements: u64, seed: u64) -> Self {
        let line = (1..1 << 12).find(|edge: &u64| edge.pow(3) >= elements).unwrap_or(1 << 12);
        Self { elements, line, seed }
    }

    /// The element beside another one; none beyond a border.
    fn neighbour(&self, element: u64, side: u64) -> Option<u64> {
        let drawn = common::scramble(self.seed, element * SIDES + side);
        let beside = match side {
            0 => 1,
            1 => self.line,
            2 => self.line * self.line,
            _ => self.line + 1,
        };
        let distance = beside + drawn / 64 % 4;
        let other = if drawn.is_multiple_of(2) { element + distance } else { element.wrapping_sub(distance) };
        let border = (drawn / 1024).is_multiple_of(50) || element >= self.elements;
        (!border && other < self.elements).then_some(other)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};
    use super::Mesh;

    #[test]
    fn an_iteration_is_a_copy_factors_and_three_stages() {
        let given = [("size", 200), ("scale", 2), ("workgroup", 24), ("wavefront", 8), ("seed", 2)];
        let nelr = 120;
        let five = 4 * 5 * nelr;
        let [variables, old, fluxes, factors, areas, surrounding, normals] =
            bases([five, five, five, 4 * nelr, 4 * nelr, 16 * nelr, 48 * nelr]);
        let [mut copy, mut factor, mut flux, mut step] = [(); 4].map(|()| Plain::default());
        let mut borders = 0;
        for i in 0..nelr {
            factor.load(areas, i, 4);
            factor.store(factors, i, 4);
            step.load(factors, i, 4);
            for k in 0..5 {
                copy.load(variables, i + k * nelr, 4);
                copy.store(old, i + k * nelr, 4);
                factor.load(variables, i + k * nelr, 4);
                flux.load(variables, i + k * nelr, 4);
                flux.store(fluxes, i + k * nelr, 4);
                step.load(old, i + k * nelr, 4);
                step.load(fluxes, i + k * nelr, 4);
                step.store(variables, i + k * nelr, 4);
            }
            for j in 0..4 {
                flux.load(surrounding, i + j * nelr, 4);
                (0..3).for_each(|k| flux.load(normals, i + (j + k * 4) * nelr, 4));
                match Mesh::of(100, 2).neighbour(i, j) {
                    Some(nb) => {
                        assert!(nb != i && nb < 100 && nb.abs_diff(i) <= 28);
                        (0..5).for_each(|k| flux.load(variables, nb + k * nelr, 4));
                    }
                    None => borders += 1,
                }
            }
        }
        assert!((80..200).contains(&borders), "{borders}");
        let [copy, factor, flux, step] = [copy, factor, flux, step].map(Plain::launch);
        let mut expected = vec![copy, factor];
        (0..3).for_each(|_| expected.extend([flux.clone(), step.clone()]));
        assert!(steps("euler3d", &given).iter().map(did).eq(expected));
    }
}
