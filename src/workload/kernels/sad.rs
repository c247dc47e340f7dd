//! Motion estimation: sums of absolute differences of each 4 x 4 block of a frame with all places near it in the frame before.
//!
//! Map (Parboil, `sad`, the plain `sad4.cu` and `largerBlocks.cu`), with a frame of M macroblocks of 16 x 16 pixels, P sums of each block
//! (one for each place, padded), and the sums of larger blocks before those of smaller ones in one array:
//! - `mb_sad_calc`, a workgroup for each 4 x 4 block: thread t takes the places from `each` t on. Of each place it loads sixteen pixels of
//!   `reference`, clamped to the frame, and those of `frame`, and stores the sum: `sads[25 M P + 16 m P + (4 y + x) P + place]` of block
//!   (x, y) of macroblock m;
//! - `larger_sad_calc_8`, a workgroup of 32 x 4 for each macroblock, a line of it for each 8 x 8 pixels: of two places at a time it loads the
//!   four sums of their blocks, and stores those of the two blocks of 4 x 8, the two of 8 x 4, and the one of 8 x 8;
//! - `larger_sad_calc_16`, a workgroup of 32: the same, from the four of 8 x 8 to 8 x 16, 16 x 8 and 16 x 16.
//!
//! The second sum of 16 x 8 goes to the place of the next macroblock's first, as in the source. The source reads `reference` as a texture,
//! whose tiling and cache are not modelled: it lies in memory row by row. The sums are cleared before the first launch, which is left out.

use std::sync::Arc;

use super::Definition;
use super::array::{Array, Layout};
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Pixels along an edge of a macroblock, and of its smallest blocks.
const MACROBLOCK: u64 = 16;
const BLOCK: u64 = 4;
/// Pixels of a smallest block.
const PIXELS: u64 = BLOCK * BLOCK;
/// Smallest blocks of a macroblock.
const BLOCKS: u64 = 16;
/// Blocks of all sizes of a macroblock.
const ALL_BLOCKS: u64 = 41;
/// Threads of a workgroup at most.
const MOST_THREADS: u64 = 1024;

/// Instructions of a place: for each of sixteen pixels its column in the reference, converted, index and address in the frame, difference,
/// absolute value and sum (seven); for each of four rows the row of both, converted (three); then place and remainder by the width of the
/// range (three), two sums, the address of the result and the loop (three).
const PLACE: u64 = PIXELS * 7 + BLOCK * 3 + 9;
/// What a thread begins with: eight for the place of its block, two comparisons with branches (four), thirteen for where it lies in both
/// frames and in the result, and eight for the first and the last of its places.
const BEGIN: u64 = 33;
/// Two places of larger blocks: four addresses, five sums, and the loop.
const PAIR: u64 = 12;
/// What a thread of `larger_sad_calc_8` begins with: five for its block, and seven or eight for each of four parts of the sums.
const BEGIN_8: u64 = 34;
/// The same of `larger_sad_calc_16`.
const BEGIN_16: u64 = 13;

pub const DEFINITION: Definition = Definition {
    name: "sad",
    title: "Motion estimation: each block is compared with a thousand places, whose sums are then added up for larger blocks",
    source: "Parboil, sad: 176 x 144 pixels, 1089 places within 16 pixels",
    own: &[
        common::count("width", "macroblocks of 16 x 16 pixels in a row of the frame", 11, 1 << 12),
        common::count("height", "and in a column", 9, 1 << 12),
        ParameterDefinition {
            name: "range",
            about: "pixels in each direction within which a place is looked for",
            kind: Kind::Integer { default: 16, least: 1, most: 64 },
        },
        common::count("each", "places that a thread compares", 18, 1 << 14),
        common::power("line", "threads side by side that add up the sums of a larger block", 32, 256),
        common::SCALE,
        common::WARP,
        common::first("reference", "the frame before, of 2 B a pixel"),
        common::next("frame", "the frame"),
        common::next("sads", "sums of all blocks and places, of 2 B"),
    ],
    shared: &common::computing_cuda(PLACE),
    build,
};

/// A frame and the places that are looked at.
#[derive(Clone, Copy)]
struct Search {
    /// Macroblocks in a row and a column.
    width: u64,
    height: u64,
    range: u64,
    /// Places that a thread compares.
    each: u64,
    /// Threads that go through the places of a larger block.
    line: u64,
    settings: Settings,
}

/// A launch that adds up what smaller blocks have.
#[derive(Clone, Copy)]
struct Larger {
    name: &'static str,
    /// Lines of threads of a workgroup, each for as many larger blocks.
    lines: u64,
    begin: u64,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let size = (values.integer("width")?, values.integer("height")?);
    let (width, height) = Scale::read(values)?.both(size);
    for (name, edge) in [("width", width), ("height", height)] {
        common::multiple(values, name, edge, 1)?;
    }
    let (range, each, line) = (values.integer("range")?, values.integer("each")?, values.integer("line")?);
    let search = Search { width, height, range, each, line, settings };
    if search.threads() > MOST_THREADS {
        let message = format!(
            "{} places, {} a thread, take {} threads",
            search.places(),
            search.each,
            search.threads()
        );
        let mut complaint = values.complain("each", message);
        complaint.expected = Some(format!("places a thread that leave no more than {MOST_THREADS} threads"));
        return Err(complaint);
    }
    let pixels = search.macroblocks() * MACROBLOCK * MACROBLOCK;
    let mut layout = Layout::new(values);
    let reference = layout.array("reference", pixels, 2)?;
    let frame = layout.array("frame", pixels, 2)?;
    let sads = layout.array("sads", ALL_BLOCKS * search.macroblocks() * search.padded(), 2)?;
    let small = Larger { name: "larger_sad_calc_8", lines: 4, begin: BEGIN_8 };
    let large = Larger { name: "larger_sad_calc_16", lines: 1, begin: BEGIN_16 };
    Ok(vec![
        search.compare(vec![reference, frame, sads]),
        search.add_up(small, sads, move |at| search.small_block(at)),
        search.add_up(large, sads, move |at| search.large_block(at)),
    ])
}

impl Search {
    fn macroblocks(&self) -> u64 {
        self.width * self.height
    }

    /// Places along an edge of the range, and all of them.
    fn across(&self) -> u64 {
        2 * self.range + 1
    }
    fn places(&self) -> u64 {
        self.across() * self.across()
    }

    /// Sums of a block in memory.
    fn padded(&self) -> u64 {
        self.places().next_multiple_of(8)
    }

    /// Threads that compare a block.
    fn threads(&self) -> u64 {
        self.places().div_ceil(self.each)
    }

    fn compare(self, arrays: Vec<Array>) -> TaskKind {
        let Self { each, settings, .. } = self;
        let places = self.places();
        let pixels = |array| (0..PIXELS).map(move |pixel| Step::Load(array, pixel));
        let end = [Step::Compute(settings.compute), Step::Store(2, 0)];
        let script = Script::default().then(1, [Step::Compute(settings.share(BEGIN, PLACE))]).then_each(
            move |_, local| places.saturating_sub(local * each).min(each),
            pixels(0).chain(pixels(1)).chain(end),
        );
        let map = Arc::new(move |at: At| self.pixel_or_sum(at));
        let groups = self.macroblocks() * BLOCKS;
        Launch { name: "mb_sad_calc", groups, workgroup: self.threads(), arrays, script, map, settings }
            .step()
    }

    fn pixel_or_sum(&self, at: At) -> Option<u64> {
        let place = Some(at.local * self.each + at.round).filter(|place| *place < self.places())?;
        let blocks = self.width * BLOCK;
        let (column, row) = (at.group % blocks, at.group / blocks);
        if at.array == 2 {
            let macroblock = row / BLOCK * self.width + column / BLOCK;
            let block = row % BLOCK * BLOCK + column % BLOCK;
            let before = 25 * self.macroblocks() + macroblock * BLOCKS + block;
            return Some(before * self.padded() + place);
        }
        let (x, y) = (column * BLOCK + at.nth % BLOCK, row * BLOCK + at.nth / BLOCK);
        let (wide, high) = (self.width * MACROBLOCK, self.height * MACROBLOCK);
        if at.array == 1 {
            return Some(y * wide + x);
        }
        let clamped = |pixel: u64, by: u64, edge: u64| (pixel + by).saturating_sub(self.range).min(edge - 1);
        let across = self.across();
        Some(clamped(y, place / across, high) * wide + clamped(x, place % across, wide))
    }

    /// A launch that adds up the sums of blocks, two places at once.
    fn add_up(
        self,
        larger: Larger,
        sads: Array,
        sums: impl Fn(At) -> u64 + Send + Sync + 'static,
    ) -> TaskKind {
        let Self { line, settings, .. } = self;
        let pairs = self.places().div_ceil(2);
        let steps = (0..4).map(|nth| Step::Load(0, nth));
        let ends = [Step::Compute(settings.share(PAIR, PLACE))].into_iter();
        let script =
            Script::default().then(1, [Step::Compute(settings.share(larger.begin, PLACE))]).then_each(
                move |_, local| pairs.saturating_sub(local % line).div_ceil(line),
                steps.chain(ends).chain((4..9).map(|nth| Step::Store(0, nth))),
            );
        let half = self.padded() / 2;
        let map = Arc::new(move |at: At| {
            let pair = at.local % line + at.round * line;
            (pair < pairs).then(|| sums(at) * half + pair)
        });
        let workgroup = line * larger.lines;
        let arrays = vec![sads.of(4)];
        Launch { name: larger.name, groups: self.macroblocks(), workgroup, arrays, script, map, settings }
            .step()
    }

    /// The block that access `nth` of a thread for 8 x 8 pixels is about, counted from the first of the largest.
    fn small_block(&self, at: At) -> u64 {
        let (all, line) = (self.macroblocks(), at.local / self.line);
        let (x, y) = (line % 2, line / 2);
        let from = 25 * all + at.group * 16 + y * 8 + x * 2;
        let narrow = 17 * all + at.group * 8 + y * 4 + x * 2;
        let flat = 9 * all + at.group * 8 + y * 4 + x;
        match at.nth {
            0 => from,
            1 => from + 1,
            2 => from + 4,
            3 => from + 5,
            4 => narrow,
            5 => narrow + 1,
            6 => flat,
            7 => flat + 2,
            _ => 5 * all + at.group * 4 + y * 2 + x,
        }
    }

    /// The same for 16 x 16.
    fn large_block(&self, at: At) -> u64 {
        let all = self.macroblocks();
        let (from, narrow, flat) = (5 * all + at.group * 4, 3 * all + at.group * 2, all + at.group * 2);
        match at.nth {
            0..4 => from + at.nth,
            4 => narrow,
            5 => narrow + 1,
            6 => flat,
            7 => flat + 2,
            _ => at.group,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    const WIDTH: u64 = 2;
    const HEIGHT: u64 = 3;
    const RANGE: i64 = 2;
    const POSITIONS: u64 = 25;
    const PADDED: u64 = 32;
    const MACROBLOCKS: u64 = WIDTH * HEIGHT;

    /// The source's `mb_sad_calc`, in its terms.
    fn compared(reference: u64, frame: u64, sads: u64) -> Plain {
        let mut expected = Plain::default();
        let image = 16 * WIDTH;
        for (by, bx) in (0..4 * HEIGHT).flat_map(|by| (0..4 * WIDTH).map(move |bx| (by, bx))) {
            let (mb_x, mb_y, block_x, block_y) = (bx >> 2, by >> 2, bx & 3, by & 3);
            let (frame_x, frame_y) = (((mb_x << 2) + block_x) << 2, ((mb_y << 2) + block_y) << 2);
            let base = MACROBLOCKS * PADDED * 25
                + (mb_y * WIDTH + mb_x) * PADDED * 16
                + (4 * block_y + block_x) * PADDED;
            for pos in 0..POSITIONS {
                let off_x = frame_x as i64 - RANGE + pos as i64 % 5;
                let off_y = frame_y as i64 - RANGE + pos as i64 / 5;
                for (y, x) in (0..4).flat_map(|y| (0..4).map(move |x| (y, x))) {
                    let column = (off_x + x).clamp(0, image as i64 - 1);
                    let row = (off_y + y).clamp(0, 16 * HEIGHT as i64 - 1);
                    expected.load(reference, row as u64 * image + column as u64, 2);
                    expected.load(frame, (frame_y + y as u64) * image + frame_x + x as u64, 2);
                }
                expected.store(sads, base + pos, 2);
            }
        }
        expected
    }

    /// What both of the other launches do with a pair of places.
    fn added(expected: &mut Plain, sads: u64, [from, third, narrow, flat, whole]: [u64; 5]) {
        for pair in 0..POSITIONS.div_ceil(2) {
            let word = |block: u64| block * PADDED / 2 + pair;
            for block in [from, from + 1, from + third, from + third + 1] {
                expected.load(sads, word(block), 4);
            }
            for block in [narrow, narrow + 1, flat, flat + 2, whole] {
                expected.store(sads, word(block), 4);
            }
        }
    }

    #[test]
    fn blocks_are_compared_with_all_places_and_added_up() {
        let given =
            [("width", 4), ("height", 3), ("scale", 2), ("range", RANGE), ("each", 6), ("wavefront", 4)];
        let pixels = 256 * MACROBLOCKS;
        let [reference, frame, sads] = bases([2 * pixels, 2 * pixels, 2 * 41 * MACROBLOCKS * PADDED]);
        let (mut eight, mut sixteen) = (Plain::default(), Plain::default());
        for macroblock in 0..MACROBLOCKS {
            for (ty, tx) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let blocks = [
                    25 * MACROBLOCKS + macroblock * 16 + ty * 8 + tx * 2,
                    4,
                    17 * MACROBLOCKS + macroblock * 8 + ty * 4 + tx * 2,
                    9 * MACROBLOCKS + macroblock * 8 + ty * 4 + tx,
                    5 * MACROBLOCKS + macroblock * 4 + ty * 2 + tx,
                ];
                added(&mut eight, sads, blocks);
            }
            let blocks = [
                5 * MACROBLOCKS + macroblock * 4,
                2,
                3 * MACROBLOCKS + macroblock * 2,
                MACROBLOCKS + macroblock * 2,
                macroblock,
            ];
            added(&mut sixteen, sads, blocks);
        }
        let expected = [compared(reference, frame, sads), eight, sixteen].map(Plain::launch);
        assert_eq!(steps("sad", &given).iter().map(did).collect::<Vec<_>>(), expected);
    }
}
