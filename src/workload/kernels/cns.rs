//! Compressible Navier-Stokes: wide stencils over many fields.
//!
//! A stand-in for CNS: not a source, but the kernels of a solver with centred differences of eighth order and three stages of
//! Runge-Kutta, as the minimal compressible Navier-Stokes code of `BoxLib` has them. Of each cell there are five conserved fields (density,
//! three momenta, energy), six primitive ones (density, three velocities, pressure, temperature) and five fluxes. Threads stand
//! in lines of cells, and the space is periodic. Each stage launches
//! - `ctoprim`: loads the conserved fields, stores the primitive ones;
//! - `hypterm`: for each direction loads the momenta, energy, velocity in that direction and pressure of four cells on either side; stores the
//!   fluxes;
//! - `diffterm`: for each direction loads the velocities and temperature of four cells on either side; loads and stores the fluxes of
//!   momentum and energy;
//! - `update`: loads the conserved fields and the fluxes, stores the conserved fields.

use std::sync::Arc;

use super::Definition;
use super::array::{Array, Layout};
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use super::volume::Volume;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a direction of `diffterm`, counted as all below in `BoxLib`'s code: 32 addresses, eight for where the cells are, nine
/// for each of five first or mixed differences, ten for each of four second ones.
const DIFFUSIVE: u64 = 125;
/// Of the rest of `diffterm`: where the cell is, four addresses, 37 for the stress and its work, four additions to the fluxes.
const STRESS: u64 = 47;
/// Of a direction of `hypterm`, before velocity and pressure are there: 32 addresses, eight for where the cells are, nine for the density.
const DENSITY: u64 = 49;
/// And then: sixteen addresses, 21 and twice 13 for the momenta, 25 for the energy.
const MOMENTA: u64 = 88;
/// Where `hypterm` ends: where the cell is, five addresses.
const FLUXES: u64 = 7;
/// Of `ctoprim`: where the cell is, eleven addresses, a division and eleven products and additions.
const CONVERT: u64 = 32;
/// Of `update`: where the cell is, ten addresses, three products for each field, as in the second and the third stage.
const UPDATE: u64 = 27;

pub const DEFINITION: Definition = Definition {
    name: "cns",
    title: "Compressible Navier-Stokes: wide stencils over many fields, and as many stores as loads of new pages",
    source: "a stand-in for CNS: a solver of eighth order, not its source; 64 x 64 x 64, chosen",
    own: &[
        common::count("edge", "cells along each side of the space", 64, 1024),
        common::iterations("time steps of three stages", 1),
        common::SCALE,
        common::WARP,
        common::first("conserved", "five fields, doubles"),
        common::next("primitive", "six fields"),
        common::next("fluxes", "five fields"),
    ],
    shared: &common::computing_cuda(DIFFUSIVE),
    build,
};

const CONSERVED: u64 = 5;
const PRIMITIVE: u64 = 6;
const STAGES: u64 = 3;
/// Cells on both sides of a cell that a difference reads.
const WIDTH: u64 = 8;
/// Fields: of the conserved, and of the primitive ones.
const MOMENTUM: u64 = 1;
const ENERGY: u64 = 4;
const VELOCITY: u64 = 1;
const PRESSURE: u64 = 4;
const TEMPERATURE: u64 = 5;
/// In place of a field: the velocity in the direction of the round.
const ALONG: u64 = PRIMITIVE;

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let edge = values.integer("edge")?;
    let volume = Volume { edges: Scale::read(values)?.volume([edge; 3]) };
    let cells = common::multiple(values, "edge", volume.cells(), 1)?;
    let mut layout = Layout::new(values);
    let conserved = layout.array("conserved", CONSERVED * cells, 8)?;
    let primitive = layout.array("primitive", PRIMITIVE * cells, 8)?;
    let fluxes = layout.array("fluxes", CONSERVED * cells, 8)?;
    let computing = |instructions| Step::Compute(settings.share(instructions, DIFFUSIVE));
    let own =
        |array, fields: u64| (0..fields).map(move |field| Step::Load(array, field * (WIDTH + 1) + WIDTH));
    let stores = |array, from: u64, to: u64| {
        (from..to).map(move |field| Step::Store(array, field * (WIDTH + 1) + WIDTH))
    };
    let wide = |array, fields: &[u64], instructions| {
        let all: Vec<_> = fields
            .iter()
            .flat_map(|field| (0..WIDTH).map(move |nth| Step::Load(array, field * (WIDTH + 1) + nth)))
            .collect();
        all.into_iter().chain([computing(instructions)])
    };
    let momenta = [MOMENTUM, MOMENTUM + 1, MOMENTUM + 2, ENERGY];
    let velocities = [VELOCITY, VELOCITY + 1, VELOCITY + 2, TEMPERATURE];
    let hyperbolic = Script::default()
        .then(3, wide(0, &momenta, DENSITY).chain(wide(1, &[ALONG, PRESSURE], MOMENTA)))
        .then(1, [computing(FLUXES)].into_iter().chain(stores(2, 0, CONSERVED)));
    let diffusive = Script::default()
        .then(3, wide(0, &velocities, DIFFUSIVE))
        .then(1, own(1, CONSERVED).skip(MOMENTUM as usize))
        .then(1, [computing(STRESS)].into_iter().chain(stores(1, MOMENTUM, CONSERVED)));
    let launch = |name, arrays: Vec<Array>, script: &Script| {
        let script = script.clone();
        let [x, y, z] = volume.edges;
        Launch {
            name,
            groups: y * z,
            workgroup: x,
            arrays,
            script,
            map: Arc::new(move |at| place(volume, &at)),
            settings,
        }
        .step()
    };
    let convert = Script::default()
        .then(1, own(0, CONSERVED).chain([computing(CONVERT)]))
        .then(1, stores(1, 0, PRIMITIVE));
    let update = Script::default()
        .then(1, own(0, CONSERVED).chain(own(1, CONSERVED)).chain([computing(UPDATE)]))
        .then(1, stores(0, 0, CONSERVED));
    let mut steps = Vec::new();
    for _ in 0..STAGES * values.integer("iterations")? {
        steps.push(launch("ctoprim", vec![conserved, primitive], &convert));
        steps.push(launch("hypterm", vec![conserved, primitive, fluxes], &hyperbolic));
        steps.push(launch("diffterm", vec![primitive, fluxes], &diffusive));
        steps.push(launch("update", vec![conserved, fluxes], &update));
    }
    Ok(steps)
}

/// The element of a field: of the cell, or of one of the four on either side in the direction of the round.
fn place(volume: Volume, at: &At) -> Option<u64> {
    let [x, ..] = volume.edges;
    let cell = volume.place(at.thread(x));
    let (field, nth) = (at.nth / (WIDTH + 1), at.nth % (WIDTH + 1));
    let field = if field == ALONG { VELOCITY + at.round } else { field };
    let by = nth as i64 - if nth < WIDTH / 2 { 4 } else { 3 };
    let mut shift = [0; 3];
    if nth < WIDTH {
        *shift.get_mut(at.round as usize)? = by;
    }
    Some(field * volume.cells() + volume.wrapped(cell, shift))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn a_stage_reads_four_cells_on_either_side() {
        let steps = steps("cns", &[("edge", 10), ("scale", 8), ("iterations", 2), ("wavefront", 4)]);
        assert_eq!(steps.len(), 2 * 3 * 4);
        let n = 5i64;
        let cells = 125;
        let [u, q, flux] = bases([8 * 5 * cells, 8 * 6 * cells, 8 * 5 * cells]);
        let [mut ctoprim, mut hypterm, mut diffterm, mut update] = [(); 4].map(|()| Plain::default());
        for (i, j, k) in (0..n).flat_map(|k| (0..n).flat_map(move |j| (0..n).map(move |i| (i, j, k)))) {
            let at = |field: u64, i: i64, j: i64, k: i64| {
                let wrap = |at: i64| (at + n) % n;
                field * cells + (wrap(k) * n * n + wrap(j) * n + wrap(i)) as u64
            };
            for field in 0..5 {
                ctoprim.load(u, at(field, i, j, k), 8);
                hypterm.store(flux, at(field, i, j, k), 8);
                update.load(u, at(field, i, j, k), 8);
                update.load(flux, at(field, i, j, k), 8);
                update.store(u, at(field, i, j, k), 8);
            }
            (0..6).for_each(|field| ctoprim.store(q, at(field, i, j, k), 8));
            for field in 1..5 {
                diffterm.load(flux, at(field, i, j, k), 8);
                diffterm.store(flux, at(field, i, j, k), 8);
            }
            for m in [-4, -3, -2, -1, 1, 2, 3, 4] {
                for (axis, (i, j, k)) in (1..).zip([(i + m, j, k), (i, j + m, k), (i, j, k + m)]) {
                    for field in [1, 2, 3, 4] {
                        hypterm.load(u, at(field, i, j, k), 8);
                    }
                    for field in [axis, 4] {
                        hypterm.load(q, at(field, i, j, k), 8);
                    }
                    for field in [1, 2, 3, 5] {
                        diffterm.load(q, at(field, i, j, k), 8);
                    }
                }
            }
        }
        let expected = [ctoprim, hypterm, diffterm, update].map(Plain::launch);
        for stage in steps.chunks(4) {
            assert!(stage.iter().map(did).eq(expected.clone()));
        }
    }
}
