//! `MiniAMR`: blocks of cells around a moving sphere are refined, and those that it left are made coarse again.
//!
//! A stand-in for miniAMR, after what it does, not its source. The space is a box of root blocks; a root that the surface of the sphere cuts is
//! replaced by eight children of half its width. A block has c x c x c cells, with a layer of ghost cells around them, of each variable; a workgroup for each block, of
//! c x c threads, which goes up its planes. In each time step
//! - `refine`: for each root that the sphere has reached: loads the root's cells, stores those of its children; and for each that it has left the other way
//!   round (both only if there is one);
//! - `exchange`: for each of six faces: loads a layer of cells of the neighbour, stores the own ghost cells;
//! - `stencil`: loads each cell and its six neighbours, stores `work`; `copy`: loads `work`, stores the cell.
//!
//! A root's children lie side by side in memory, in room that is there whether or not they are; miniAMR refines more than once, and moves blocks
//! between processes. Where a neighbour is coarser or finer, one block of it stands for all.

use std::sync::Arc;

use super::Definition;
use super::array::{Array, Layout};
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use super::volume::{FACES, Volume};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a cell (`stencil_calc` of miniAMR): where it and its neighbours are, eight addresses, six additions, a division by
/// seven, and the loop.
const STENCIL: u64 = 30;
/// Of a cell that is copied: where it is, two addresses, and the loop.
const COPY: u64 = 6;
/// Of a cell of a face, counted from what is described above: whether there is a neighbour, where both cells are, two addresses, and
/// the loop.
const EXCHANGE: u64 = 9;
/// Of a cell that is refined or made coarse (`split_blocks` of miniAMR): where it and its root's cell are, two addresses, a product (an
/// eighth) or an addition, and the loop.
const CHANGE: u64 = 9;

pub const DEFINITION: Definition = Definition {
    name: "mini-amr",
    title: "MiniAMR: blocks that come and go around a moving sphere, and ghost cells from their neighbours",
    source: "a stand-in for miniAMR: what it does, not its source; 8 x 8 x 8 roots, blocks of 8 x 8 x 8 cells, 4 variables, chosen",
    own: &[
        common::count("x", "root blocks in a line", 8, 64),
        common::count("y", "lines of a plane", 8, 64),
        common::count("z", "planes", 8, 64),
        common::count("cells", "cells along each side of a block, an even number", 8, 32),
        common::count("variables", "variables of a cell", 4, 64),
        common::count("iterations", "time steps", 2, 100),
        common::SCALE,
        common::WARP,
        common::first("blocks", "the cells of each block, doubles"),
        common::next("work", "the cells of a time step"),
    ],
    shared: &common::computing_cuda(STENCIL),
    build,
};

const CHILDREN: u64 = 8;

/// The blocks at one time step. A block's number is 8 times its root's, plus that of the child; a root that is not refined is child 0.
#[derive(Debug)]
struct Forest {
    roots: Volume,
    /// Cells of a block along each side.
    cells: u64,
    variables: u64,
    refined: Vec<bool>,
    active: Arc<[u32]>,
}

impl Forest {
    fn at(step: u64, roots: Volume, cells: u64, variables: u64) -> Self {
        let refined: Vec<bool> = (0..roots.cells()).map(|root| is_cut(roots, root, step)).collect();
        let blocks = |(root, refined): (u32, &bool)| {
            (0..if *refined { CHILDREN as u32 } else { 1 }).map(move |child| root * CHILDREN as u32 + child)
        };
        let active = (0..).zip(&refined).flat_map(blocks).collect();
        Self { roots, cells, variables, refined, active }
    }

    fn is_refined(&self, root: u64) -> bool {
        self.refined.get(root as usize).copied().unwrap_or(false)
    }

    /// The block next to another one; none beyond the space.
    fn beside(&self, block: u64, by: [i64; 3]) -> Option<u64> {
        let (root, child) = (block / CHILDREN, block % CHILDREN);
        let place = self.roots.place(root);
        if !self.is_refined(root) {
            let next = self.roots.shifted(place, by)?;
            // Of the four children that touch this face, the first.
            let near = (0..3).filter(|axis| by.get(*axis) == Some(&-1)).map(|axis| 1 << axis).sum::<u64>();
            return Some(next * CHILDREN + if self.is_refined(next) { near } else { 0 });
        }
        let fine = Volume { edges: self.roots.edges.map(|edge| 2 * edge) };
        let mut doubled = place.map(|at| 2 * at);
        for (axis, at) in (0..).zip(&mut doubled) {
            *at += child >> axis & 1;
        }
        let next = fine.place(fine.shifted(doubled, by)?);
        let root = self.roots.cell(next.map(|at| at / 2));
        let child = (0..).zip(next).map(|(axis, at)| (at % 2) << axis).sum::<u64>();
        Some(root * CHILDREN + if self.is_refined(root) { child } else { 0 })
    }

    /// Cells of a block along each side, with ghost cells.
    fn padded(&self) -> u64 {
        self.cells + 2
    }

    /// Elements of a block.
    fn elements(&self) -> u64 {
        self.variables * self.padded().pow(3)
    }

    /// The element of a variable of a block's cell; ghost cells are 0 and `cells` + 1.
    fn element(&self, block: u64, variable: u64, [x, y, z]: [u64; 3]) -> u64 {
        let padded = self.padded();
        block * self.elements() + ((variable * padded + z) * padded + y) * padded + x
    }
}

/// Whether the surface of the sphere cuts a root: in quarters of a root's width, the sphere has a radius of a third of the space and moves
/// by one quarter in x at each time step.
fn is_cut(roots: Volume, root: u64, step: u64) -> bool {
    let mut away = 0;
    for (axis, (at, edge)) in roots.place(root).into_iter().zip(roots.edges).enumerate() {
        let moved = if axis == 0 { step } else { 0 };
        away += (4 * at + 2).abs_diff(edge + moved + edge / 2).pow(2);
    }
    let radius = (4 * roots.edges.iter().min().copied().unwrap_or(1)) / 3;
    (radius.saturating_sub(3).pow(2)..(radius + 3).pow(2)).contains(&away)
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let edges = [values.integer("x")?, values.integer("y")?, values.integer("z")?];
    let roots = Volume { edges: Scale::read(values)?.volume(edges) };
    common::multiple(values, "x", roots.cells(), 1)?;
    let cells = common::multiple(values, "cells", values.integer("cells")?, 2)?;
    let variables = values.integer("variables")?;
    let mut forest = Arc::new(Forest::at(0, roots, cells, variables));
    let room = roots.cells() * CHILDREN * forest.elements();
    let mut layout = Layout::new(values);
    let blocks = layout.array("blocks", room, 8)?;
    let work = layout.array("work", room, 8)?;
    let mut steps = Vec::new();
    for step in 0..values.integer("iterations")? {
        let next = Arc::new(Forest::at(step, roots, cells, variables));
        for (name, from, to) in [("refine", &forest, &next), ("coarsen", &next, &forest)] {
            steps.extend(change(name, from, to, blocks, settings));
        }
        forest = next;
        steps.push(exchange(&forest, blocks, settings));
        steps.push(stencil(&forest, blocks, work, settings));
        steps.push(copy(&forest, blocks, work, settings));
    }
    Ok(steps)
}

/// A launch over the blocks of a list, of a plane of threads each.
fn launch(
    name: &'static str,
    forest: &Forest,
    list: Arc<[u32]>,
    arrays: Vec<Array>,
    script: Script,
    settings: Settings,
    map: impl Fn(u64, &At, u64, u64) -> Option<u64> + Send + Sync + 'static,
) -> TaskKind {
    let cells = forest.cells;
    let groups = list.len() as u64;
    let map = move |at: At| {
        let block = u64::from(*list.get(at.group as usize)?);
        map(block, &at, at.local % cells, at.local / cells)
    };
    Launch { name, groups, workgroup: cells * cells, arrays, script, map: Arc::new(map), settings }.step()
}

/// The cells of roots that are whole in `coarse` and refined in `fine` go to their children, or back: a launch over the
/// children, whose threads touch the cell and the root's that covers it.
fn change(
    name: &'static str,
    coarse: &Arc<Forest>,
    fine: &Arc<Forest>,
    blocks: Array,
    settings: Settings,
) -> Option<TaskKind> {
    let changed = |block: &&u32| !coarse.is_refined(u64::from(**block) / CHILDREN);
    let refined = |block: &&u32| fine.is_refined(u64::from(**block) / CHILDREN);
    let list: Arc<[u32]> = fine.active.iter().filter(refined).filter(changed).copied().collect();
    if list.is_empty() {
        return None;
    }
    // Refining reads the root (0) and stores the child (1); making coarse the other way round.
    let (read, write) = if name == "refine" { (0, 1) } else { (1, 0) };
    let body = [Step::Load(0, read), Step::Compute(settings.share(CHANGE, STENCIL)), Step::Store(0, write)];
    let script = Script::default().then(fine.cells * fine.variables, body);
    let forest = fine.clone();
    Some(launch(name, fine, list, vec![blocks], script, settings, move |block, at, x, y| {
        let (variable, z) = (at.round / forest.cells, at.round % forest.cells);
        if at.nth == 1 {
            return Some(forest.element(block, variable, [x + 1, y + 1, z + 1]));
        }
        let child = block % CHILDREN;
        let half = |at: u64, axis: u64| (child >> axis & 1) * forest.cells / 2 + at / 2 + 1;
        Some(forest.element(block - child, variable, [half(x, 0), half(y, 1), half(z, 2)]))
    }))
}

fn exchange(forest: &Arc<Forest>, blocks: Array, settings: Settings) -> TaskKind {
    let faces = FACES.len() as u64;
    let compute = Step::Compute(settings.share(EXCHANGE, STENCIL));
    let script =
        Script::default().then(faces * forest.variables, [Step::Load(0, 0), compute, Step::Store(0, 1)]);
    let of = forest.clone();
    let map = move |block: u64, at: &At, u: u64, v: u64| {
        let (face, variable) = (at.round % faces, at.round / faces);
        let by = FACES.get(face as usize).copied()?;
        let beside = of.beside(block, by)?;
        // The own ghost layer, or the layer of the neighbour that is next to it.
        let level = match (face % 2 == 0, at.nth == 1) {
            (true, true) => 0,
            (true, false) => of.cells,
            (false, true) => of.cells + 1,
            (false, false) => 1,
        };
        let place = match face / 2 {
            0 => [level, u + 1, v + 1],
            1 => [u + 1, level, v + 1],
            _ => [u + 1, v + 1, level],
        };
        Some(of.element(if at.nth == 1 { block } else { beside }, variable, place))
    };
    launch("exchange", forest, forest.active.clone(), vec![blocks], script, settings, map)
}

fn stencil(forest: &Arc<Forest>, blocks: Array, work: Array, settings: Settings) -> TaskKind {
    let loads = (0..=6).map(|nth| Step::Load(0, nth));
    let body = loads.chain([Step::Compute(settings.compute), Step::Store(1, 6)]);
    sweep("stencil", forest, vec![blocks, work], body, settings)
}

fn copy(forest: &Arc<Forest>, blocks: Array, work: Array, settings: Settings) -> TaskKind {
    let compute = Step::Compute(settings.share(COPY, STENCIL));
    sweep("copy", forest, vec![work, blocks], [Step::Load(0, 6), compute, Step::Store(1, 6)], settings)
}

/// A launch over all cells of all blocks, variable by variable; accesses are numbered as [`FACES`], 6 is the cell.
fn sweep(
    name: &'static str,
    forest: &Arc<Forest>,
    arrays: Vec<Array>,
    body: impl IntoIterator<Item = Step>,
    settings: Settings,
) -> TaskKind {
    let script = Script::default().then(forest.cells * forest.variables, body);
    let of = forest.clone();
    let map = move |block: u64, at: &At, x: u64, y: u64| {
        let (variable, z) = (at.round / of.cells, at.round % of.cells);
        let padded = Volume { edges: [of.padded(); 3] };
        let by = FACES.get(at.nth as usize).copied().unwrap_or_default();
        let moved = padded.place(padded.shifted([x + 1, y + 1, z + 1], by)?);
        Some(of.element(block, variable, moved))
    };
    launch(name, forest, forest.active.clone(), arrays, script, settings, map)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Plain, bases, did, steps};
    use super::*;

    const CELLS: i64 = 2;
    const BYTES: u64 = 8 * 2 * 64;

    fn forests() -> [Forest; 2] {
        let roots = Volume { edges: [4; 3] };
        [0, 6].map(|step| Forest::at(step, roots, CELLS as u64, 2))
    }

    fn element(block: u64, variable: u64, x: i64, y: i64, z: i64) -> u64 {
        block * 128 + variable * 64 + (z * 16 + y * 4 + x) as u64
    }

    #[test]
    fn blocks_around_the_sphere_are_refined() {
        let [before, after] = forests();
        let refined = |forest: &Forest| forest.refined.iter().filter(|it| **it).count();
        assert!((8..60).contains(&refined(&before)), "{}", refined(&before));
        assert_ne!(before.refined, after.refined);
        assert_eq!(before.active.len(), 64 + 7 * refined(&before));
        for forest in [&before, &after] {
            for block in forest.active.iter().map(|block| u64::from(*block)) {
                for by in FACES {
                    let Some(next) = forest.beside(block, by) else { continue };
                    assert!(forest.active.contains(&(next as u32)), "{block} {by:?} {next}");
                    // Between blocks of the same size the way back leads home.
                    let same = forest.is_refined(block / 8) == forest.is_refined(next / 8);
                    if same {
                        assert_eq!(forest.beside(next, by.map(|step| -step)), Some(block));
                    }
                }
            }
        }
    }

    #[test]
    fn a_time_step_exchanges_ghost_cells_and_then_smooths() {
        let given = [
            ("x", 4),
            ("y", 4),
            ("z", 8),
            ("scale", 2),
            ("cells", 2),
            ("variables", 2),
            ("wavefront", 2),
            ("iterations", 1),
        ];
        let steps = steps("mini-amr", &given);
        let [blocks, work] = bases([64 * 8 * BYTES; 2]);
        let [forest, _] = forests();
        let [mut exchange, mut stencil, mut copy] = [(); 3].map(|()| Plain::default());
        for block in forest.active.iter().map(|block| u64::from(*block)) {
            for (variable, u, v) in
                (0..2).flat_map(|var| (1..=CELLS).flat_map(move |u| (1..=CELLS).map(move |v| (var, u, v))))
            {
                let ends = [
                    ([-1, 0, 0], [0, u, v], [CELLS, u, v]),
                    ([1, 0, 0], [CELLS + 1, u, v], [1, u, v]),
                    ([0, -1, 0], [u, 0, v], [u, CELLS, v]),
                    ([0, 1, 0], [u, CELLS + 1, v], [u, 1, v]),
                    ([0, 0, -1], [u, v, 0], [u, v, CELLS]),
                    ([0, 0, 1], [u, v, CELLS + 1], [u, v, 1]),
                ];
                for (by, ghost, there) in ends {
                    if let Some(next) = forest.beside(block, by) {
                        exchange.load(blocks, element(next, variable, there[0], there[1], there[2]), 8);
                        exchange.store(blocks, element(block, variable, ghost[0], ghost[1], ghost[2]), 8);
                    }
                }
                for z in 1..=CELLS {
                    let own = element(block, variable, u, v, z);
                    for by in [0, -1, 1, -4, 4, -16, 16] {
                        stencil.load(blocks, own.checked_add_signed(by).unwrap(), 8);
                    }
                    stencil.store(work, own, 8);
                    copy.load(work, own, 8);
                    copy.store(blocks, own, 8);
                }
            }
        }
        let expected = [exchange.launch(), stencil.launch(), copy.launch()];
        assert!(steps.iter().map(did).eq(expected));
    }

    #[test]
    fn what_the_sphere_reaches_is_refined_and_what_it_leaves_is_made_coarse() {
        let given = [("x", 4), ("y", 4), ("z", 4), ("cells", 2), ("variables", 2), ("wavefront", 2)];
        let steps = steps("mini-amr", &[&given[..], &[("iterations", 8)]].concat());
        let [blocks, _] = bases([64 * 8 * BYTES; 2]);
        let refined = |step| Forest::at(step, Volume { edges: [4; 3] }, CELLS as u64, 2).refined;
        let mut expected = Vec::new();
        for step in 1..8 {
            let (before, after) = (refined(step - 1), refined(step));
            for (whole, parted, down) in [(&before, &after, true), (&after, &before, false)] {
                let changed: Vec<_> = (0..64).filter(|root| !whole[*root] && parted[*root]).collect();
                let mut plain = Plain::default();
                // A child of two cells a side lies under one cell of its root.
                for (root, child) in
                    changed.iter().flat_map(|root| (0..8i64).map(move |child| (*root, child)))
                {
                    for (variable, cell) in
                        (0..2).flat_map(|variable| (0..8i64).map(move |cell| (variable, cell)))
                    {
                        let above = element(
                            8 * root as u64,
                            variable,
                            child % 2 + 1,
                            child / 2 % 2 + 1,
                            child / 4 + 1,
                        );
                        let part = 8 * root as u64 + child as u64;
                        let own = element(part, variable, cell % 2 + 1, cell / 2 % 2 + 1, cell / 4 + 1);
                        let (from, to) = if down { (above, own) } else { (own, above) };
                        plain.load(blocks, from, 8);
                        plain.store(blocks, to, 8);
                    }
                }
                if !changed.is_empty() {
                    expected.push(plain.launch());
                }
            }
        }
        let name = |step: &&TaskKind| matches!(step, TaskKind::Kernel(it) if ["refine", "coarsen"].contains(&it.name()));
        let changes: Vec<Did> = steps.iter().filter(name).map(did).collect();
        assert!(changes.len() > 3, "{}", changes.len());
        assert_eq!(changes, expected);
    }
}
