//! Multigrid on boxes of cells: smoothing on finer and finer grids, between which residuals and corrections go up and down.
//!
//! A stand-in for HPGMG-FV, made of the stencils that its CUDA version has; not its source. A level of n x n x n cells has eight arrays: x,
//! the right side, a second x, the residual, the inverse diagonal and the coefficients of the faces in three directions. Threads stand
//! in workgroups of 32 x 4 columns and go up 16 planes.
//! - `smooth`: loads x here and at six neighbours, the right side, the diagonal and six faces, stores the second x; the two change places;
//! - `residual`: loads the same but for the diagonal, stores the residual;
//! - `restriction`: a thread for each cell of the coarser grid: loads eight residuals, stores the right side there;
//! - `interpolation`: a thread for each cell of the finer grid: loads the coarser x above it, loads and stores its own.
//!
//! An F-cycle begins on the coarsest grid and makes a V-cycle from each finer one: many small launches, then fewer and larger ones, each
//! four in a row before and after going down (two smoothings, a residual, a restriction; an interpolation, two smoothings). A grid with an odd
//! edge is not made coarser; where data shrink, the finest is the cube nearest to what is left that gives all grids. Levels smaller than
//! `host_below` are smoothed by the CPU, as in HPGMG with unified memory; there the restriction and the interpolation stay on the GPU.

use std::sync::Arc;

use super::Definition;
use super::array::{Array, Layout};
use super::common::{self, Scale, Settings};
use super::launch::{At, HostLoop, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use super::volume::{FACES, Volume};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a cell that is smoothed (`smooth_kernel` of HPGMG-FV in CUDA, seven points, Jacobi): five for where it and its
/// neighbours are, sixteen addresses, six differences and six products that are added, three for the result, and the loop.
const SMOOTH: u64 = 39;
/// Of a residual: the same but for the diagonal's address and two of the result.
const RESIDUAL: u64 = 36;
/// Of a coarser cell (`restriction_kernel`): four for where it and the first finer one are, three for its neighbours, nine addresses,
/// seven additions, a product, and the loop.
const RESTRICTION: u64 = 27;
/// Of a finer cell (`interpolation_kernel`, piecewise constant): five for where it and the coarser one are, two addresses, a product that
/// is added, and the loop.
const INTERPOLATION: u64 = 11;

pub const DEFINITION: Definition = Definition {
    name: "multigrid",
    title: "Multigrid: phases of small and large launches, from the coarsest grid to the finest and back",
    source: "a stand-in for HPGMG-FV: its stencils and cycles, not its source; 64 x 64 x 64, chosen",
    own: &[
        common::count("edge", "cells along each side of the finest grid", 64, 1024),
        ParameterDefinition {
            name: "cycle",
            about: "v: down and up once; f: a V-cycle from each level, the coarsest first",
            kind: Kind::Choice { default: "f", options: &["f", "v"] },
        },
        ParameterDefinition {
            name: "host_below",
            about: "grids with shorter edges are smoothed by the CPU; 0: none",
            kind: Kind::Integer { default: 0, least: 0, most: 1024 },
        },
        common::SCALE,
        common::power("across", "columns of a workgroup in a row", 32, 1024),
        common::power("down", "rows of a workgroup", 4, 32),
        common::WARP,
        common::first("levels", "the arrays of each grid, the finest first, doubles"),
        common::SYNC,
    ],
    shared: &common::computing_cuda(SMOOTH),
    build,
};

/// Planes that a thread goes up.
const PLANES: u64 = 16;
/// The grid that is not made coarser.
const COARSEST: u64 = 4;
/// Smoothings on the coarsest grid, and on others.
const BOTTOM: u64 = 8;
const SMOOTHINGS: u64 = 2;

/// A grid and its arrays.
#[derive(Clone, Copy, Debug)]
struct Level {
    cells: Volume,
    x: Array,
    right: Array,
    other: Array,
    residual: Array,
    diagonal: Array,
    /// Of the lower faces in the three directions; the upper ones are the neighbours' lower ones.
    faces: [Array; 3],
}

impl Level {
    /// The arrays of a level in a piece of memory that holds them all.
    fn of(cells: Volume, memory: Array, first: u64) -> Self {
        let part = |nth: u64| memory.part(first + nth * cells.cells(), cells.cells());
        Self {
            cells,
            x: part(0),
            right: part(1),
            other: part(2),
            residual: part(3),
            diagonal: part(4),
            faces: [part(5), part(6), part(7)],
        }
    }
}

/// The grids, the finest first, and what the launches share.
struct Grids {
    levels: Vec<Level>,
    across: u64,
    down: u64,
    host_below: u64,
    settings: Settings,
    steps: Vec<TaskKind>,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let edge = values.integer("edge")?;
    let mut cells = Volume { edges: [Scale::read(values)?.coarsened_edge(edge); 3] };
    common::multiple(values, "edge", cells.cells(), 1)?;
    let finest = cells.edges[0];
    let mut volumes = vec![cells];
    while cells.edges.iter().all(|edge| edge % 2 == 0 && *edge > COARSEST) {
        cells = Volume { edges: cells.edges.map(|edge| edge / 2) };
        volumes.push(cells);
    }
    // As many levels go to the host as would at full size.
    let host_below = (values.integer("host_below")? * finest).div_ceil(edge.max(1));
    let all: u64 = volumes.iter().map(Volume::cells).sum();
    let memory = Layout::new(values).array("levels", 8 * all, 8)?;
    let mut first = 0;
    let mut levels = Vec::new();
    for cells in volumes {
        levels.push(Level::of(cells, memory, first));
        first += 8 * cells.cells();
    }
    let mut grids = Grids {
        across: values.integer("across")?,
        down: values.integer("down")?,
        host_below,
        settings: Settings::with_host(values)?,
        steps: Vec::new(),
        levels,
    };
    let coarsest = grids.levels.len() - 1;
    if values.choice("cycle")? == "f" {
        for finest in (0..=coarsest).rev() {
            if finest < coarsest {
                grids.interpolate(finest);
            }
            grids.cycle(finest);
        }
    } else {
        grids.cycle(0);
    }
    Ok(grids.steps)
}

impl Grids {
    /// A V-cycle from a level.
    fn cycle(&mut self, finest: usize) {
        let coarsest = self.levels.len() - 1;
        for level in finest..coarsest {
            self.smooth(level, SMOOTHINGS);
            self.residual(level);
            self.restrict(level);
        }
        self.smooth(coarsest, BOTTOM);
        for level in (finest..coarsest).rev() {
            self.interpolate(level);
            self.smooth(level, SMOOTHINGS);
        }
    }

    fn level(&self, number: usize) -> Option<Level> {
        self.levels.get(number).copied()
    }

    /// Smooths so often, an even number of times, so that x ends where it was.
    fn smooth(&mut self, number: usize, times: u64) {
        let Some(level) = self.level(number) else { return };
        for time in 0..times {
            let (from, to) = if time % 2 == 0 { (level.x, level.other) } else { (level.other, level.x) };
            let arrays =
                [from, level.right, level.diagonal].into_iter().chain(level.faces).chain([to]).collect();
            let loads = [Step::Load(1, 0), Step::Load(2, 0)];
            if level.cells.edges[0] < self.host_below {
                self.on_host(&level, arrays, sweep(loads, Step::Store(6, 0), self.settings.compute));
            } else {
                self.sweep(
                    "smooth",
                    level.cells,
                    arrays,
                    sweep(loads, Step::Store(6, 0), self.settings.compute),
                );
            }
        }
    }

    fn residual(&mut self, number: usize) {
        let Some(level) = self.level(number) else { return };
        let arrays = [level.x, level.right, level.residual].into_iter().chain(level.faces).collect();
        let compute = self.settings.share(RESIDUAL, SMOOTH);
        let body = sweep([Step::Load(1, 0)], Step::Store(2, 0), compute);
        self.sweep("residual", level.cells, arrays, body);
    }

    /// The residual of a level becomes the right side of the next coarser one.
    fn restrict(&mut self, number: usize) {
        let (Some(fine), Some(coarse)) = (self.level(number), self.level(number + 1)) else { return };
        let body: Vec<_> = (0..8)
            .map(|child| Step::Load(0, child))
            .chain([Step::Compute(self.settings.share(RESTRICTION, SMOOTH)), Step::Store(1, 0)])
            .collect();
        let grid = Planes::of(coarse.cells, self.across, self.down);
        let map = move |at: At| {
            let place = grid.place(&at)?;
            if at.array == 1 {
                return Some(coarse.cells.cell(place));
            }
            let child = [at.nth % 2, at.nth / 2 % 2, at.nth / 4];
            let [x, y, z] = [0, 1, 2].map(|axis: usize| 2 * place[axis] + child[axis]);
            Some(fine.cells.cell([x, y, z]))
        };
        self.launch("restriction", &grid, vec![fine.residual, coarse.right], body, map);
    }

    /// The x of the next coarser level corrects that of a level.
    fn interpolate(&mut self, number: usize) {
        let (Some(fine), Some(coarse)) = (self.level(number), self.level(number + 1)) else { return };
        let compute = Step::Compute(self.settings.share(INTERPOLATION, SMOOTH));
        let body = vec![Step::Load(0, 0), Step::Load(1, 0), compute, Step::Store(1, 0)];
        let grid = Planes::of(fine.cells, self.across, self.down);
        let map = move |at: At| {
            let place = grid.place(&at)?;
            let above = coarse.cells.cell(place.map(|at| at / 2));
            Some(if at.array == 0 { above } else { fine.cells.cell(place) })
        };
        self.launch("interpolation", &grid, vec![coarse.x, fine.x], body, map);
    }

    /// A stencil over a level: array 0 with its neighbours, arrays 3 to 5 of faces, the others at the cell.
    fn sweep(&mut self, name: &'static str, cells: Volume, arrays: Vec<Array>, body: Vec<Step>) {
        let grid = Planes::of(cells, self.across, self.down);
        self.launch(name, &grid, arrays, body, move |at: At| stencil(cells, grid.place(&at)?, &at));
    }

    /// The same by the CPU, cell by cell.
    fn on_host(&mut self, level: &Level, arrays: Vec<Array>, body: Vec<Step>) {
        let cells = level.cells;
        let script = Script::default().then(cells.cells(), body);
        HostLoop { arrays, script }.add(&mut self.steps, self.settings, &[0, 1], move |at| {
            stencil(cells, cells.place(at.round), &at)
        });
    }

    fn launch(
        &mut self,
        name: &'static str,
        grid: &Planes,
        arrays: Vec<Array>,
        body: Vec<Step>,
        map: impl Fn(At) -> Option<u64> + Send + Sync + 'static,
    ) {
        let script = Script::default().then(grid.height, body);
        let (groups, workgroup, settings) = (grid.groups(), self.across * self.down, self.settings);
        self.steps
            .push(Launch { name, groups, workgroup, arrays, script, map: Arc::new(map), settings }.step());
    }
}

/// A stencil of x and its faces: six neighbours and the cell, then `loads`, six faces, and the result.
fn sweep<const N: usize>(loads: [Step; N], store: Step, compute: u32) -> Vec<Step> {
    let faces = (0..3).flat_map(|axis| [Step::Load(3 + axis, 6), Step::Load(3 + axis, 2 * axis as u64 + 1)]);
    let x = (0..=6).map(|nth| Step::Load(0, nth));
    x.chain(loads).chain(faces).chain([Step::Compute(compute), store]).collect()
}

/// The cell that an access of a stencil touches: `nth` of arrays 0 and 3 to 5 is a neighbour, or 6 for the cell itself.
fn stencil(cells: Volume, place: [u64; 3], at: &At) -> Option<u64> {
    let by = match at.array {
        0 | 3..=5 => FACES.get(at.nth as usize).copied().unwrap_or_default(),
        _ => [0; 3],
    };
    cells.shifted(place, by)
}

/// Threads that stand on a plane of cells and go up.
#[derive(Clone, Copy, Debug)]
struct Planes {
    cells: Volume,
    across: u64,
    down: u64,
    height: u64,
}

impl Planes {
    fn of(cells: Volume, across: u64, down: u64) -> Self {
        Self { cells, across, down, height: PLANES.min(cells.edges[2]) }
    }

    fn groups(&self) -> u64 {
        let [x, y, z] = self.cells.edges;
        x.div_ceil(self.across) * y.div_ceil(self.down) * z.div_ceil(self.height)
    }

    fn place(&self, at: &At) -> Option<[u64; 3]> {
        let [x, y, z] = self.cells.edges;
        let (across, down) = (x.div_ceil(self.across), y.div_ceil(self.down));
        let place = [
            at.group % across * self.across + at.local % self.across,
            at.group / across % down * self.down + at.local / self.across,
            at.group / across / down * self.height + at.round,
        ];
        (place[0] < x && place[1] < y && place[2] < z).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Plain, bases, did, with};
    use crate::workload::TaskKind;

    fn build(cycle: &str, host_below: i64) -> Vec<TaskKind> {
        let given = [
            ("edge", 16),
            ("scale", 8),
            // Of an edge of 16, which a scale of 8 halves.
            ("host_below", 2 * host_below),
            ("across", 4),
            ("down", 2),
            ("wavefront", 4),
        ];
        super::super::build("multigrid", &with(&given, &[("cycle", cycle)])).unwrap()
    }

    /// The eight arrays of the grids of 8 and 4.
    fn arrays() -> ([u64; 8], [u64; 8]) {
        let [base] = bases([0]);
        let fine = [0, 1, 2, 3, 4, 5, 6, 7].map(|nth| base + nth * 8 * 512);
        let coarse = [0, 1, 2, 3, 4, 5, 6, 7].map(|nth| base + 8 * 8 * 512 + nth * 8 * 64);
        (fine, coarse)
    }

    fn cells(n: i64) -> impl Iterator<Item = (i64, i64, i64)> {
        (0..n).flat_map(move |z| (0..n).flat_map(move |y| (0..n).map(move |x| (x, y, z))))
    }

    fn stencil(n: i64, x: u64, faces: &[u64], others: &[u64], to: u64) -> Did {
        let mut plain = Plain::default();
        for (i, j, k) in cells(n) {
            let cell = |i: i64, j: i64, k: i64| {
                [i, j, k].iter().all(|at| (0..n).contains(at)).then_some((k * n * n + j * n + i) as u64)
            };
            let own = cell(i, j, k).unwrap();
            let around = [
                cell(i - 1, j, k),
                cell(i + 1, j, k),
                cell(i, j - 1, k),
                cell(i, j + 1, k),
                cell(i, j, k - 1),
                cell(i, j, k + 1),
                Some(own),
            ];
            around.into_iter().flatten().for_each(|cell| plain.load(x, cell, 8));
            for array in others {
                plain.load(*array, own, 8);
            }
            let upper = [cell(i + 1, j, k), cell(i, j + 1, k), cell(i, j, k + 1)];
            for (face, upper) in faces.iter().zip(upper) {
                plain.load(*face, own, 8);
                if let Some(upper) = upper {
                    plain.load(*face, upper, 8);
                }
            }
            plain.store(to, own, 8);
        }
        plain.launch()
    }

    #[test]
    fn a_v_cycle_goes_down_and_up() {
        let ([x, right, other, residual, diagonal, ..], coarse) = arrays();
        let faces = &arrays().0[5..];
        let (mut restriction, mut interpolation) = (Plain::default(), Plain::default());
        for (i, j, k) in cells(8) {
            let (fine, above) = ((64 * k + 8 * j + i) as u64, (16 * (k / 2) + 4 * (j / 2) + i / 2) as u64);
            restriction.load(residual, fine, 8);
            if i % 2 + j % 2 + k % 2 == 0 {
                restriction.store(coarse[1], above, 8);
            }
            interpolation.load(coarse[0], above, 8);
            interpolation.load(x, fine, 8);
            interpolation.store(x, fine, 8);
        }
        let there = stencil(8, x, faces, &[right, diagonal], other);
        let back = stencil(8, other, faces, &[right, diagonal], x);
        let mut expected =
            vec![there.clone(), back.clone(), stencil(8, x, faces, &[right], residual), restriction.launch()];
        for _ in 0..4 {
            expected.push(stencil(4, coarse[0], &coarse[5..], &[coarse[1], coarse[4]], coarse[2]));
            expected.push(stencil(4, coarse[2], &coarse[5..], &[coarse[1], coarse[4]], coarse[0]));
        }
        expected.extend([interpolation.launch(), there, back]);
        assert!(build("v", 0).iter().map(did).eq(expected));
    }

    #[test]
    fn phases_remain_where_data_shrink() {
        let launches = |scale: i64| {
            let given = with(&[("edge", 272), ("scale", scale)], &[]);
            super::super::build("multigrid", &given).unwrap().len()
        };
        // A V-cycle from each of the grids 272 to 17, 64 to 4, 56 to 7, 28 to 7.
        assert_eq!([1, 64, 128, 1024].map(launches), [114, 114, 77, 47]);
    }

    #[test]
    fn an_f_cycle_begins_small_and_the_host_may_take_the_smallest() {
        let small = |step: &TaskKind| matches!(step, TaskKind::Kernel(kernel) if kernel.blocks() == 2);
        let all = build("f", 0);
        // Eight smoothings of the coarsest, then up, then a V-cycle.
        assert_eq!(all.len(), 8 + 1 + 15);
        assert!(all[..8].iter().all(small) && !small(&all[8]));
        let hosted = build("f", 5);
        let hosts = hosted.iter().filter(|step| matches!(step, TaskKind::Program { .. })).count();
        assert_eq!((hosted.len(), hosts), (24, 16));
    }
}
