//! Sobel filter: every inner pixel from the nine around it.
//!
//! Map (AMD APP SDK 2.5, `SobelFilter_Kernels.cl`): a thread for each pixel, of four bytes; workgroups are parts of a row. Threads of inner
//! pixels load the nine pixels around theirs, row by row, and store one; those at the border do nothing. Table I's third dimension,
//! 3, is taken for the colours of the picture, which the sample holds as pixels of four bytes. "Iterative" is the sample's
//! `iterations`: as many launches of the same.
//!
//! Computes 180 instructions, counted in the source: nine pixels of four channels become floats, two sums of six for each channel,
//! the root of their squares, and back to bytes.

use std::sync::Arc;

use super::Definition;
use super::array::Array;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

pub const DEFINITION: Definition = Definition {
    name: "sobel-filter",
    title: "Sobel filter: each row is read for three rows of the result, by workgroups of different GPUs",
    source: "AMD APP SDK 2.5, SobelFilter_Kernels.cl; UMH (2016), Table I: 1024 x 768 x 3, the 3 taken for the colours of a pixel of four bytes",
    own: &[
        ParameterDefinition {
            name: "width",
            about: "columns of the picture",
            kind: Kind::Integer { default: 1024, least: 1, most: 1 << 20 },
        },
        ParameterDefinition {
            name: "height",
            about: "rows of the picture",
            kind: Kind::Integer { default: 768, least: 1, most: 1 << 20 },
        },
        ParameterDefinition {
            name: "iterations",
            about: "launches",
            kind: Kind::Integer { default: 1, least: 1, most: 1000 },
        },
        common::SCALE,
        common::WORKGROUP,
        common::WAVEFRONT,
        common::first("input", "the picture"),
        common::next("output", "the result"),
    ],
    shared: &common::computing(180),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let given = (values.integer("width")?, values.integer("height")?);
    let (width, height) = Scale::read(values)?.both(given);
    common::multiple(values, "height", height, 1)?;
    let workgroup = values.integer("workgroup")?.min(width.max(1));
    let across = common::multiple(values, "width", width, workgroup)? / workgroup;
    let input = Array::place(values, "input", width * height, 4, None)?;
    let output = Array::place(values, "output", width * height, 4, Some(&input))?;
    let loads = (0..9).map(|nth| Step::Load(0, nth));
    let launch = Launch {
        name: DEFINITION.name,
        groups: across * height,
        workgroup,
        arrays: vec![input, output],
        script: Script::default().then(1, loads.chain([Step::Compute(settings.compute), Step::Store(1, 4)])),
        map: Arc::new(move |at: At| {
            let (x, y) = (at.group % across * workgroup + at.local, at.group / across);
            let inner = (1..width - 1).contains(&x) && (1..height - 1).contains(&y);
            // The fourth of the nine is the pixel itself.
            inner.then(|| (y + at.nth / 3 - 1) * width + x + at.nth % 3 - 1)
        }),
        settings,
    };
    Ok((0..values.integer("iterations")?).map(|_| launch.clone().step()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Touch, did, steps};
    use crate::model::access::AccessKind::{Load, NStore};

    #[test]
    fn inner_pixels_are_made_from_the_nine_around_them() {
        let given = [
            ("width", 32),
            ("height", 6),
            ("scale", 2),
            ("workgroup", 8),
            ("wavefront", 4),
            ("iterations", 2),
        ];
        let mut expected = Vec::new();
        for (x, y) in (1..5).flat_map(|y| (1..15).map(move |x| (x, y))) {
            for (dx, dy) in (0..3).flat_map(|dy| (0..3).map(move |dx| (dx, dy))) {
                expected.push(Touch::new(Load, 0x10_0000 + 4 * ((y + dy - 1) * 16 + x + dx - 1), 4));
            }
            expected.push(Touch::new(NStore, 0x10_1000 + 4 * (y * 16 + x), 4));
        }
        expected.sort();
        let steps = steps("sobel-filter", &given);
        let expected = Did::Launch(expected);
        assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), [expected.clone(), expected]);
    }
}
