//! `HotSpot3D`: the temperature of a stack of layers, a thread for each column of cells.
//!
//! Map (Rodinia, `hotspot3D/opt1.cu`), with workgroups of 64 x 4 columns: thread (i, j) loads the lowest cell, then in each layer the cell
//! above, the four neighbours, clamped at the borders, and `power`, and stores the new temperature. The two arrays of
//! temperatures change places at each launch.
//!
//! Instructions are counted in Rodinia, `cuda/hotspot3D/opt1.cu`.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use super::volume::{FACES, Volume};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a layer: a product, eight that are added to others, five indices and seven addresses, and three of the loop.
const STEP: u64 = 24;
/// A thread begins: its place (two), its cell and the size of a layer, four comparisons and selections, six of the indices beside, the
/// warmth from outside, an address, and whether there are further layers (three).
const BEGIN: u64 = 23;

pub const DEFINITION: Definition = Definition {
    name: "hotspot3d",
    title: "HotSpot3D: columns of cells, with rows of their neighbours",
    source: "Rodinia, cuda/hotspot3D (opt1): 512 x 512 x 8; the source makes 100 time steps",
    own: &[
        common::count("columns", "cells in a row", 512, 1 << 20),
        common::count("rows", "rows of a layer", 512, 1 << 20),
        common::count("layers", "layers", 8, 1 << 16),
        common::iterations("time steps", 2),
        common::SCALE,
        common::power("across", "threads of a workgroup in a row", 64, 1024),
        common::power("down", "rows of a workgroup", 4, 32),
        common::WARP,
        common::first("power", "the power of each cell, floats"),
        common::next("temperature", "the temperatures"),
        common::next("other", "the temperatures after a time step"),
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let given = (values.integer("columns")?, values.integer("rows")?);
    let (columns, rows) = Scale::read(values)?.both(given);
    let layers = values.integer("layers")?;
    let volume = Volume { edges: [columns, rows, layers] };
    common::multiple(values, "columns", volume.cells(), 1)?;
    let (across, down) = (values.integer("across")?, values.integer("down")?);
    let mut layout = Layout::new(values);
    let power = layout.array("power", volume.cells(), 4)?;
    let mut from = layout.array("temperature", volume.cells(), 4)?;
    let mut to = layout.array("other", volume.cells(), 4)?;
    let wide = columns.div_ceil(across);
    // West, east, south, north and above, as FACES numbers them; 6 is the cell.
    let reads = [5, 0, 1, 2, 3].map(|face| Step::Load(1, face));
    let begin = Step::Compute(settings.share(BEGIN, STEP));
    let mut steps = Vec::new();
    for _ in 0..values.integer("iterations")? {
        let launch = Launch {
            name: "hotspotOpt1",
            groups: wide * rows.div_ceil(down),
            workgroup: across * down,
            arrays: vec![power, from, to],
            script: Script::default().then(1, [begin, Step::Load(1, 6)]).then(
                layers,
                reads.into_iter().chain([
                    Step::Load(0, 6),
                    Step::Compute(settings.compute),
                    Step::Store(2, 6),
                ]),
            ),
            map: Arc::new(move |at: At| {
                let column = at.group % wide * across + at.local % across;
                let row = at.group / wide * down + at.local / across;
                let place = [column, row, at.round];
                if column >= columns || row >= rows {
                    return None;
                }
                match at.nth {
                    // Above the highest layer there is nothing to load.
                    5 => volume.shifted(place, [0, 0, 1]),
                    face => {
                        Some(volume.clamped(place, FACES.get(face as usize).copied().unwrap_or_default()))
                    }
                }
            }),
            settings,
        };
        steps.push(launch.step());
        (from, to) = (to, from);
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn columns_are_gone_up_cell_by_cell() {
        let given = [
            ("columns", 10),
            ("rows", 6),
            ("scale", 2),
            ("layers", 3),
            ("across", 4),
            ("down", 2),
            ("iterations", 2),
            ("wavefront", 4),
        ];
        let (nx, ny, nz) = (5, 6, 3);
        let [power, mut t_in, mut t_out] = bases([4 * 90; 3]);
        let mut expected = Vec::new();
        for _ in 0..2 {
            let mut launch = Plain::default();
            for (i, j) in (0..ny).flat_map(|j| (0..nx).map(move |i| (i, j))) {
                launch.load(t_in, i + j * nx, 4);
                for k in 0..nz {
                    let c = i + j * nx + k * nx * ny;
                    let sides = [
                        if i == 0 { c } else { c - 1 },
                        if i == nx - 1 { c } else { c + 1 },
                        if j == 0 { c } else { c - nx },
                        if j == ny - 1 { c } else { c + nx },
                    ];
                    for side in sides {
                        launch.load(t_in, side, 4);
                    }
                    if k < nz - 1 {
                        launch.load(t_in, c + nx * ny, 4);
                    }
                    launch.load(power, c, 4);
                    launch.store(t_out, c, 4);
                }
            }
            expected.push(launch.launch());
            (t_in, t_out) = (t_out, t_in);
        }
        assert_eq!(steps("hotspot3d", &given).iter().map(did).collect::<Vec<_>>(), expected);
    }
}
