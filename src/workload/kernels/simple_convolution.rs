//! Convolution without local memory: every thread reads the window around its element, and the whole mask.
//!
//! Map (AMD APP SDK 2.5, `SimpleConvolution_Kernels.cl`): the thread of column x and row y goes through the window, column by
//! column, clipped at the borders of the image; it loads `input[j, i]` and the mask's element for it, and stores `output[y, x]`. The window of
//! a mask of m columns begins (m - 1) / 2 to the left and has m columns; likewise for rows.
//!
//! Two differences to the source. It ends the window (m - 1) / 2 to the right, so that of an even mask, such as the paper's 16 x 16,
//! it would leave out a row and a column: here they are used. And threads at a border stay in step with their neighbours, where
//! the source's loops begin with the first column that is there.
//!
//! Computes 18 instructions for each element of the mask, as in `MGPUSim`'s disassembly of the source: addresses, mostly.

use std::sync::Arc;

use super::Definition;
use super::array::Array;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

pub const DEFINITION: Definition = Definition {
    name: "simple-convolution",
    title: "Convolution: windows overlap, so that neighbouring workgroups read the same lines",
    source: "AMD APP SDK 2.5, SimpleConvolution_Kernels.cl; UMH (2016), Table I: 512 x 512, section 6.1.3: mask 16 x 16",
    own: &[
        common::power("width", "columns of the image", 512, 1 << 20),
        common::power("height", "rows of the image", 512, 1 << 20),
        ParameterDefinition {
            name: "mask_edge",
            about: "rows and columns of the mask",
            kind: Kind::Integer { default: 16, least: 1, most: 64 },
        },
        common::SCALE,
        common::WORKGROUP,
        common::WAVEFRONT,
        common::first("input", "the image, words"),
        common::next("mask", "the mask, floats"),
        common::next("output", "the result"),
    ],
    shared: &common::computing(18),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let given = (values.integer("width")?, values.integer("height")?);
    let (width, height) = Scale::read(values)?.both(given);
    let size = common::multiple(values, "width", width * height, 1)?;
    let edge = values.integer("mask_edge")?;
    let workgroup = values.integer("workgroup")?.min(size);
    let input = Array::place(values, "input", size, 4, None)?;
    let mask = Array::place(values, "mask", edge * edge, 4, Some(&input))?;
    let output = Array::place(values, "output", size, 4, Some(&mask))?;
    let before = (edge - 1) / 2;
    let launch = Launch {
        name: DEFINITION.name,
        groups: size / workgroup,
        workgroup,
        arrays: vec![input, mask, output],
        script: Script::default()
            .then(edge * edge, [Step::Load(0, 0), Step::Load(1, 0), Step::Compute(settings.compute)])
            .then(1, [Step::Store(2, 0)]),
        map: Arc::new(move |at: At| {
            let thread = at.group * workgroup + at.local;
            if at.array == 2 {
                return Some(thread);
            }
            let (across, down) = (at.round / edge, at.round % edge);
            let i = (thread % width + across).checked_sub(before).filter(|i| *i < width)?;
            let j = (thread / width + down).checked_sub(before).filter(|j| *j < height)?;
            Some(if at.array == 0 { j * width + i } else { down * edge + across })
        }),
        settings,
    };
    Ok(vec![launch.step()])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Touch, did, steps};
    use crate::model::access::AccessKind::{Load, NStore};

    fn convolution(edge: i64) -> Did {
        let given = [("width", 32), ("height", 16), ("mask_edge", edge), ("workgroup", 16), ("wavefront", 8)];
        did(&steps("simple-convolution", &given)[0])
    }

    #[test]
    fn every_thread_touches_what_the_map_says() {
        let mut expected = Vec::new();
        for (x, y) in (0..16i64).flat_map(|y| (0..32i64).map(move |x| (x, y))) {
            for (i, j) in ((x - 1).max(0)..=(x + 1).min(31))
                .flat_map(|i| ((y - 1).max(0)..=(y + 1).min(15)).map(move |j| (i, j)))
            {
                expected.push(Touch::new(Load, 0x10_0000 + 4 * (32 * j + i) as u64, 4));
                let mask = 3 * (j - y + 1) + (i - x + 1);
                expected.push(Touch::new(Load, 0x10_1000 + 4 * mask as u64, 4));
            }
            expected.push(Touch::new(NStore, 0x10_2000 + 4 * (32 * y + x) as u64, 4));
        }
        expected.sort();
        assert_eq!(convolution(3), Did::Launch(expected));
    }

    #[test]
    fn all_of_an_even_mask_is_used() {
        let Did::Launch(touched) = convolution(4) else { panic!("no launch") };
        let used = |element: u64| touched.contains(&Touch::new(Load, 0x10_1000 + 4 * element, 4));
        assert!((0..16).all(used) && !used(16));
        // Windows of 4 clipped to 32 columns lose 1 at the left and 2 + 1 at the right; rows likewise.
        assert_eq!(touched.len(), 2 * (32 * 4 - 4) * (16 * 4 - 4) + 512);
    }
}
