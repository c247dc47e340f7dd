//! SRAD, second version: speckles of an ultrasound image are smoothed, in tiles in local memory.
//!
//! Map (Rodinia, `srad_v2/srad_kernel.cu` and `srad.cu`), with workgroups of e x e threads; in each iteration
//! - the host loads the region of the image that tells how much noise there is;
//! - `srad_cuda_1`: thread (t, ty) loads of `image` the row above its tile and the one below at column t, the columns left and
//!   right of its tile at row ty, and its own cell; it stores its cell of `c`, `east`, `west`, `south` and `north`;
//! - `srad_cuda_2`: loads `image`, of `c` the row below its tile, the column right of it and its own cell, and the four
//!   differences; it stores `image`.
//!
//! At the borders of the image the source first reads cells that are not there, then the nearest that is: only the second read is
//! modelled. It copies the image to the GPU and back in each iteration, which one memory has no need for.
//!
//! Instructions are counted in Rodinia, `cuda/srad/srad_v2/srad_kernel.cu`, for a thread inside of its tile: what a warp computes again for
//! those at the edges is left out. Constants of the source are doubles, so that floats are converted.

use std::sync::Arc;

use super::Definition;
use super::array::{Array, Layout};
use super::common::{self, Scale, Settings};
use super::launch::{At, HostLoop, Launch, Map, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use super::tiles::Tiles;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a thread of `srad_cuda_1` after its own cell: an address, seven accesses to shared memory, eight comparisons and
/// branches, and of arithmetic five divisions, seven conversions, and twenty-five of sums, products, comparisons and selections.
const STEP: u64 = 96;
/// It begins: eight of indices, three addresses, four stores to shared memory, and ten at which borders it is.
const BEGIN: u64 = 25;
/// It ends: a read of shared memory and five addresses.
const END: u64 = 6;
/// A thread of `srad_cuda_2` begins: seven of indices, three addresses, three stores to shared memory, and six at which borders it is.
const BEGIN_UPDATE: u64 = 19;
/// It goes on: five addresses, seven accesses to shared memory, three comparisons and branches, four products, and six to update the
/// image in double precision.
const UPDATE: u64 = 28;

pub const DEFINITION: Definition = Definition {
    name: "srad-v2",
    title: "SRAD, second version: tiles with rows and columns of their neighbours, and two kernels that feed each other",
    source: "Rodinia, cuda/srad/srad_v2: 2048 x 2048, region of 128 x 128, 2 iterations",
    own: &[
        common::count("size", "rows and columns of the image, a multiple of the edge", 2048, 1 << 20),
        common::iterations("iterations", 2),
        ParameterDefinition {
            name: "region",
            about: "rows and columns that the host looks at, if there are so many",
            kind: Kind::Integer { default: 128, least: 0, most: 1 << 20 },
        },
        common::SCALE,
        common::power("edge", "threads along each side of a workgroup", 16, 32),
        common::WARP,
        common::first("image", "the image, floats"),
        common::next("c", "the coefficients"),
        common::next("east", "differences to the east"),
        common::next("west", "to the west"),
        common::next("south", "to the south"),
        common::next("north", "to the north"),
        common::SYNC,
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

/// What the launches share.
#[derive(Clone, Copy)]
struct Srad {
    size: u64,
    tiles: Tiles,
    settings: Settings,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::with_host(values)?;
    let edge = values.integer("edge")?;
    let size = Scale::read(values)?.edge(values.integer("size")?, Some(edge));
    let across = common::multiple(values, "size", size, edge)? / edge;
    let mut layout = Layout::new(values);
    let mut arrays = Vec::new();
    for name in ["image", "c", "east", "west", "south", "north"] {
        arrays.push(layout.array(name, size * size, 4)?);
    }
    let srad = Srad { size, tiles: Tiles { edge, across }, settings };
    let region = values.integer("region")?.min(size);
    let mut steps = Vec::new();
    for _ in 0..values.integer("iterations")? {
        if region > 0 {
            let script = Script::default().then(region * region, [Step::Load(0, 0)]);
            let image = arrays.iter().take(1).copied().collect();
            HostLoop { arrays: image, script }.add(&mut steps, settings, &[0], move |at| {
                Some(at.round / region * size + at.round % region)
            });
        }
        steps.push(srad.differences(&arrays));
        steps.push(srad.update(&arrays));
    }
    Ok(steps)
}

impl Srad {
    fn computing(&self, instructions: u64) -> Step {
        Step::Compute(self.settings.share(instructions, STEP))
    }

    fn differences(&self, arrays: &[Array]) -> TaskKind {
        let Self { size, tiles, settings } = *self;
        let script = Script::default()
            .then(1, [self.computing(BEGIN)])
            .then(1, (0..4).map(|side| Step::Load(0, side)))
            .then(1, [Step::Barrier, Step::Load(0, 4), Step::Barrier, Step::Compute(settings.compute)])
            .then(1, [Step::Barrier, self.computing(END)])
            .then(1, (1..6).map(|array| Step::Store(array, 4)));
        let map = move |at: At| {
            let ((x, y), (column, row)) = (tiles.thread(&at), tiles.cell(&at));
            Some(match at.nth {
                0 => (row - y).saturating_sub(1) * size + column,
                1 => (row - y + tiles.edge).min(size - 1) * size + column,
                2 => row * size + (column - x).saturating_sub(1),
                3 => row * size + (column - x + tiles.edge).min(size - 1),
                _ => row * size + column,
            })
        };
        self.launch("srad_cuda_1", arrays, script, Arc::new(map))
    }

    fn update(&self, arrays: &[Array]) -> TaskKind {
        let Self { size, tiles, .. } = *self;
        let script = Script::default()
            .then(1, [self.computing(BEGIN_UPDATE)])
            .then(1, [Step::Load(0, 4), Step::Load(1, 1), Step::Load(1, 3), Step::Barrier, Step::Load(1, 4)])
            .then(1, [Step::Barrier])
            .then(1, [5, 4, 3, 2].map(|array| Step::Load(array, 4)))
            .then(1, [self.computing(UPDATE), Step::Barrier, Step::Store(0, 4)]);
        let map = move |at: At| {
            let ((x, y), (column, row)) = (tiles.thread(&at), tiles.cell(&at));
            Some(match at.nth {
                1 => (row - y + tiles.edge).min(size - 1) * size + column,
                3 => row * size + (column - x + tiles.edge).min(size - 1),
                _ => row * size + column,
            })
        };
        self.launch("srad_cuda_2", arrays, script, Arc::new(map))
    }

    fn launch(&self, name: &'static str, arrays: &[Array], script: Script, map: Map) -> TaskKind {
        let Self { tiles, settings, .. } = *self;
        let groups = tiles.across * tiles.across;
        Launch { name, groups, workgroup: tiles.threads(), arrays: arrays.to_vec(), script, map, settings }
            .step()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn tiles_read_their_neighbours_borders() {
        let given =
            [("size", 24), ("scale", 4), ("edge", 4), ("iterations", 1), ("region", 2), ("wavefront", 8)];
        let (cols, e, grid) = (12, 4, 3);
        let [image, c, east, west, south, north] = bases([4 * 144; 6]);
        let (mut host, mut first, mut second) = (Plain::default(), Plain::default(), Plain::default());
        for cell in [0, 1, cols, cols + 1] {
            host.host_load(image, cell, 4);
        }
        for (by, bx) in (0..grid).flat_map(|by| (0..grid).map(move |bx| (by, bx))) {
            let o = cols * e * by + e * bx;
            for (ty, tx) in (0..e).flat_map(|ty| (0..e).map(move |tx| (ty, tx))) {
                let index = o + cols * ty + tx;
                let below =
                    if by == grid - 1 { cols * e * by + e * bx + cols * (e - 1) } else { o + cols * e };
                let right = if bx == grid - 1 { o + cols * ty + e - 1 } else { o + cols * ty + e };
                first.load(image, if by == 0 { e * bx + tx } else { o + tx - cols }, 4);
                first.load(image, below + tx, 4);
                first.load(image, if bx == 0 { o + cols * ty } else { o + cols * ty - 1 }, 4);
                first.load(image, right, 4);
                first.load(image, index, 4);
                for array in [c, east, west, south, north] {
                    first.store(array, index, 4);
                }
                second.load(c, below + tx, 4);
                second.load(c, right, 4);
                for array in [image, c, east, west, south, north] {
                    second.load(array, index, 4);
                }
                second.store(image, index, 4);
            }
        }
        assert_eq!(
            steps("srad-v2", &given).iter().map(did).collect::<Vec<_>>(),
            [host.host(), first.launch(), second.launch()]
        );
    }
}
