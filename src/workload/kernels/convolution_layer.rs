//! A convolution layer of a neural network: the image's windows written out as a matrix, then a matrix product.
//!
//! A stand-in for cuDNN's layers: explicit im2col (as Caffe's `im2col_kernel`, for all images at once) and a tiled GEMM, not cuDNN's source.
//! - `im2col`, a thread for each input channel, image and output pixel: for each element of the window loads `input`, if it is not beyond the border, and
//!   stores `columns`, a row for each channel and window element, a column for each image and pixel;
//! - `gemm`, `output = weights x columns`, a workgroup of 16 x 16 threads for each 64 x 64 elements: for each 16 of the inner elements each thread
//!   loads four `weights` and four `columns` into local memory; at the end it stores 4 x 4 elements.
//!
//! `scale` shrinks how many images there are, not the weights.
//!
//! With windows that are gathered there is no `im2col`: the product reads them from `input` (cuDNN's implicit GEMM).
//!
//! Instructions of `im2col` are counted in Caffe, `src/caffe/util/im2col.cu`, with two further divisions for the image; those of the
//! product, of which there is no source, in its definition: the edge of a tile is known when it is compiled, that of a window is not.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use super::tiles::Tiles;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions for an inner element of the product: eight reads of shared memory and sixteen products that are added.
const STEP: u64 = 24;
/// A tile of both matrices: for each of eight elements an address, a selection of zero and a store to shared memory; two comparisons, and
/// three of the loop.
const TILE: u64 = 29;
/// And where windows are gathered: four divisions, and for each of four elements two additions, four comparisons and three of the index.
const GATHERED: u64 = 68;
/// A thread of the product begins: which filters and pixels are its own (eight), whether there are such (eight), and five indices.
const BEGIN: u64 = 21;
/// And where windows are gathered, of each of four pixels: four divisions, and three of its place.
const PIXELS: u64 = 140;
/// The product ends: an address and a branch for each of sixteen elements, and four of the index.
const END: u64 = 36;
/// A thread of `im2col` begins: its number, a comparison and a branch, six divisions, and thirteen for its place in both arrays. The rows
/// of its window are counted there too.
const WINDOW: u64 = 64;
/// A row of its window: an addition, two comparisons, the index of the row, and three of the loop.
const ROW: u64 = 7;
/// An element of that: an addition, two comparisons, a selection, two addresses, and three of the loop.
const ELEMENT: u64 = 9;

pub const DEFINITION: Definition = Definition {
    name: "convolution-layer",
    title: "A convolution layer as im2col and a matrix product: weights read by all, a matrix larger than the images",
    source: "a stand-in for cuDNN's layers; the second of AlexNet: 96 channels of 27 x 27, 256 of 5 x 5, batch 16, chosen",
    own: &[
        common::count("batch", "images", 16, 1 << 12),
        common::count("channels", "channels of an image", 96, 1 << 14),
        common::count("edge", "rows and columns of a channel", 27, 1 << 12),
        common::count("filters", "channels of the output", 256, 1 << 16),
        common::count("window", "rows and columns of a filter", 5, 64),
        common::count("stride", "by which the window moves", 1, 64),
        ParameterDefinition {
            name: "padding",
            about: "rows and columns of zeros around a channel",
            kind: Kind::Integer { default: 2, least: 0, most: 64 },
        },
        ParameterDefinition {
            name: "windows",
            about: "written: out, before the product; gathered: from the images, by the product",
            kind: Kind::Choice { default: "written", options: &["written", "gathered"] },
        },
        common::SCALE,
        common::workgroup(256),
        common::power("tile", "threads along each side of a workgroup of the product", 16, 32),
        common::WARP,
        common::first("input", "the images, floats"),
        common::next("columns", "their windows"),
        common::next("weights", "the filters"),
        common::next("output", "the images of the next layer"),
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

/// Elements of the product along each side that a thread computes.
const EACH: u64 = 4;

/// The windows of a batch of images.
#[derive(Clone, Copy, Debug)]
struct Windows {
    batch: u64,
    channels: u64,
    edge: u64,
    window: u64,
    stride: u64,
    padding: u64,
    /// Rows and columns of a channel of the output.
    out: u64,
}

impl Windows {
    fn read(values: &Values<'_>) -> Result<Self> {
        let batch = Scale::read(values)?.of(values.integer("batch")?);
        common::multiple(values, "batch", batch, 1)?;
        let (edge, window) = (values.integer("edge")?, values.integer("window")?);
        let (stride, padding) = (values.integer("stride")?, values.integer("padding")?);
        let Some(room) = (edge + 2 * padding).checked_sub(window) else {
            return Err(values.complain("window", "`window` is larger than the padded `edge`"));
        };
        let (channels, out) = (values.integer("channels")?, room / stride + 1);
        Ok(Self { batch, channels, edge, window, stride, padding, out })
    }

    fn images(&self) -> u64 {
        self.batch * self.channels * self.edge * self.edge
    }

    /// Rows of the matrix of windows.
    fn inner(&self) -> u64 {
        self.channels * self.window * self.window
    }

    /// Its columns.
    fn pixels(&self) -> u64 {
        self.batch * self.out * self.out
    }

    /// The element of an image that the n-th element of a window covers.
    fn covered(&self, channel: u64, pixel: u64, nth: u64) -> Option<u64> {
        let (image, x, y) = (pixel / (self.out * self.out), pixel % self.out, pixel / self.out % self.out);
        let inside = |out: u64, by: u64| {
            (out * self.stride + by).checked_sub(self.padding).filter(|at| *at < self.edge)
        };
        let (column, row) = (inside(x, nth % self.window)?, inside(y, nth / self.window)?);
        Some(((image * self.channels + channel) * self.edge + row) * self.edge + column)
    }
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let windows = Windows::read(values)?;
    let filters = values.integer("filters")?;
    let (inner, pixels) = (windows.inner(), windows.pixels());
    let mut layout = Layout::new(values);
    let input = layout.array("input", windows.images(), 4)?;
    let written = values.choice("windows")? == "written";
    let columns = layout.array("columns", if written { inner * pixels } else { 0 }, 4)?;
    let weights = layout.array("weights", filters * inner, 4)?;
    let output = layout.array("output", filters * pixels, 4)?;
    let (workgroup, threads) = (values.integer("workgroup")?, windows.channels * pixels);
    let area = windows.window * windows.window;
    let computing = |instructions| Step::Compute(settings.share(instructions, STEP));
    let im2col = Launch {
        name: "im2col",
        groups: threads.div_ceil(workgroup),
        workgroup,
        arrays: vec![input, columns],
        script: Script::default()
            .then(1, [computing(WINDOW + ROW * windows.window)])
            .then(area, [Step::Load(0, 0), computing(ELEMENT), Step::Store(1, 0)]),
        map: Arc::new(move |at: At| {
            let thread = at.below(workgroup, threads)?;
            let (channel, pixel) = (thread / pixels, thread % pixels);
            match at.array {
                0 => windows.covered(channel, pixel, at.round),
                _ => Some((channel * area + at.round) * pixels + pixel),
            }
        }),
        settings,
    };
    let edge = values.integer("tile")?;
    let tiles = Tiles { edge, across: pixels.div_ceil(EACH * edge) };
    let parts = |array| (0..EACH).map(move |part| Step::Load(array, part));
    let (begin, tile) = if written { (BEGIN, TILE) } else { (BEGIN + PIXELS, TILE + GATHERED) };
    let gemm = Launch {
        name: "gemm",
        groups: tiles.across * filters.div_ceil(EACH * edge),
        workgroup: tiles.threads(),
        arrays: vec![weights, if written { columns } else { input }, output],
        script: Script::default()
            .then(1, [computing(begin)])
            .then(
                inner.div_ceil(edge),
                [computing(tile)].into_iter().chain(parts(0)).chain(parts(1)).chain([
                    Step::Barrier,
                    computing(STEP * edge),
                    Step::Barrier,
                ]),
            )
            .then(1, [computing(END)])
            .then(1, (0..EACH * EACH).map(|element| Step::Store(2, element))),
        map: Arc::new(move |at: At| {
            let ((x, y), (column, row)) = (tiles.thread(&at), tiles.group(&at));
            let (first_pixel, first_filter) = (EACH * edge * column, EACH * edge * row);
            let (filter, at_inner, pixel) = match at.array {
                0 => (first_filter + y + edge * at.nth, edge * at.round + x, 0),
                1 => (0, edge * at.round + y, first_pixel + x + edge * at.nth),
                _ => (first_filter + y + edge * (at.nth / EACH), 0, first_pixel + x + edge * (at.nth % EACH)),
            };
            if filter >= filters || at_inner >= inner || pixel >= pixels {
                return None;
            }
            match at.array {
                0 => Some(filter * inner + at_inner),
                1 if written => Some(at_inner * pixels + pixel),
                1 => windows.covered(at_inner / area, pixel, at_inner % area),
                _ => Some(filter * pixels + pixel),
            }
        }),
        settings,
    };
    Ok(written.then_some(im2col).into_iter().chain([gemm]).map(Launch::step).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Plain, bases, did, with};

    const GIVEN: [(&str, i64); 11] = [
        ("batch", 4),
        ("scale", 2),
        ("channels", 3),
        ("edge", 5),
        ("filters", 10),
        ("window", 3),
        ("stride", 2),
        ("padding", 1),
        ("workgroup", 8),
        ("tile", 2),
        ("wavefront", 4),
    ];
    /// Two images; outputs of 3 x 3, as windows begin at -1, 1 and 3.
    const PIXELS: u64 = 18;
    const INNER: u64 = 27;

    fn build(windows: &str) -> Vec<Did> {
        let steps = super::super::build("convolution-layer", &with(&GIVEN, &[("windows", windows)]));
        steps.unwrap().iter().map(did).collect()
    }

    /// Every element of every window: its row and column among the windows, and what it covers.
    fn windows() -> Vec<(u64, u64, Option<u64>)> {
        let mut all = Vec::new();
        for (n, c) in (0..2i64).flat_map(|n| (0..3i64).map(move |c| (n, c))) {
            for (y, x) in (0..3i64).flat_map(|y| (0..3i64).map(move |x| (y, x))) {
                for (ky, kx) in (0..3i64).flat_map(|ky| (0..3i64).map(move |kx| (ky, kx))) {
                    let (row, column) = (2 * y - 1 + ky, 2 * x - 1 + kx);
                    let inside = (0..5).contains(&row) && (0..5).contains(&column);
                    let covered = inside.then_some((((n * 3 + c) * 5 + row) * 5 + column) as u64);
                    all.push((((c * 3 + ky) * 3 + kx) as u64, ((n * 3 + y) * 3 + x) as u64, covered));
                }
            }
        }
        all
    }

    #[test]
    fn windows_are_written_out_and_multiplied() {
        let [input, columns, weights, output] =
            bases([4 * 150, 4 * INNER * PIXELS, 4 * 10 * INNER, 4 * 10 * PIXELS]);
        let (mut im2col, mut gemm) = (Plain::default(), Plain::default());
        for (row, column, covered) in windows() {
            if let Some(covered) = covered {
                im2col.load(input, covered, 4);
            }
            im2col.store(columns, row * PIXELS + column, 4);
            // Tiles of 8 x 8: 2 rows of them, for 10 filters, and 3 columns, for 18 pixels.
            (0..2).for_each(|_| gemm.load(columns, row * PIXELS + column, 4));
        }
        for weight in 0..10 * INNER {
            (0..3).for_each(|_| gemm.load(weights, weight, 4));
        }
        (0..10 * PIXELS).for_each(|element| gemm.store(output, element, 4));
        assert_eq!(build("written"), [im2col.launch(), gemm.launch()]);
    }

    #[test]
    fn windows_are_gathered_by_the_product() {
        let [input, _, weights, output] = bases([4 * 150, 0, 4 * 10 * INNER, 4 * 10 * PIXELS]);
        let mut gemm = Plain::default();
        for covered in windows().into_iter().filter_map(|(.., covered)| covered) {
            (0..2).for_each(|_| gemm.load(input, covered, 4));
        }
        for weight in 0..10 * INNER {
            (0..3).for_each(|_| gemm.load(weights, weight, 4));
        }
        (0..10 * PIXELS).for_each(|element| gemm.store(output, element, 4));
        assert_eq!(build("gathered"), [gemm.launch()]);
    }
}
