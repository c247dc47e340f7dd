//! Discrete cosine transform of blocks of 8 x 8: every element of a block is read by a row of threads.
//!
//! Map (AMD APP SDK 2.5, `DCT_Kernels.cl`), with blocks of edge e, a workgroup each: for k below e, the thread of local column
//! i and row j loads `dct[e * k + i]` and `input[(e * Y + k) * width + e * X + j]`; after a barrier on local memory it loads
//! `dct[e * k + j]` for k below e, and stores `output` at its own place. The intermediate block in local memory is cycles.
//!
//! Computes eight instructions for each k, counted in the source: a product that is added, and the addresses of its factors.

use std::sync::Arc;

use super::Definition;
use super::array::Array;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

pub const DEFINITION: Definition = Definition {
    name: "dct",
    title: "Discrete cosine transform: blocks that share nothing but a table that all read",
    source: "AMD APP SDK 2.5, DCT_Kernels.cl; UMH (2016), Table I: 1024 x 1024",
    own: &[
        common::power("width", "columns of the image", 1024, 1 << 20),
        common::power("height", "rows of the image", 1024, 1 << 20),
        common::SCALE,
        ParameterDefinition {
            name: "edge",
            about: "edge of a block and of its workgroup",
            kind: Kind::PowerOfTwo { default: 8, most: 32 },
        },
        common::WAVEFRONT,
        common::first("input", "the image, floats"),
        common::next("dct", "the table of cosines"),
        common::next("output", "the transformed image"),
    ],
    shared: &common::computing(8),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let edge = values.integer("edge")?;
    let given = (values.integer("width")?, values.integer("height")?);
    let (width, height) = Scale::read(values)?.both(given);
    let across = common::multiple(values, "width", width, edge)? / edge;
    let down = common::multiple(values, "height", height, edge)? / edge;
    let input = Array::place(values, "input", width * height, 4, None)?;
    let dct = Array::place(values, "dct", edge * edge, 4, Some(&input))?;
    let output = Array::place(values, "output", width * height, 4, Some(&dct))?;
    let compute = Step::Compute(settings.compute);
    let launch = Launch {
        name: DEFINITION.name,
        groups: across * down,
        workgroup: edge * edge,
        arrays: vec![input, dct, output],
        script: Script::default()
            .then(edge, [Step::Load(1, 0), Step::Load(0, 0), compute])
            .then(1, [Step::Barrier])
            .then(edge, [Step::Load(1, 1), compute])
            .then(1, [Step::Store(2, 0)]),
        map: Arc::new(move |at: At| {
            let (left, top) = (at.group % across * edge, at.group / across * edge);
            let (i, j, k) = (at.local % edge, at.local / edge, at.round);
            Some(match (at.array, at.nth) {
                (0, _) => (top + k) * width + left + j,
                (1, 0) => edge * k + i,
                (1, _) => edge * k + j,
                _ => (top + j) * width + left + i,
            })
        }),
        settings,
    };
    Ok(vec![launch.step()])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Touch, did, steps};
    use crate::model::access::AccessKind::{Load, NStore};
    use crate::model::operation::Operation;
    use crate::workload::TaskKind;

    #[test]
    fn every_thread_touches_what_the_map_says() {
        let given = [("width", 64), ("height", 32), ("scale", 2), ("edge", 8), ("wavefront", 16)];
        let (width, height) = (32, 32);
        let mut expected = Vec::new();
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            let (group_x, group_y, i, j) = (x / 8, y / 8, x % 8, y % 8);
            for k in 0..8 {
                let from = (8 * group_y + k) * width + 8 * group_x + j;
                expected.push(Touch::new(Load, 0x10_0000 + 4 * from, 4));
                expected.push(Touch::new(Load, 0x10_1000 + 4 * (8 * k + i), 4));
                expected.push(Touch::new(Load, 0x10_1000 + 4 * (8 * k + j), 4));
            }
            expected.push(Touch::new(NStore, 0x10_2000 + 4 * (y * width + x), 4));
        }
        expected.sort();
        assert_eq!(steps("dct", &given).iter().map(did).collect::<Vec<_>>(), [Did::Launch(expected)]);
    }

    #[test]
    fn a_lane_is_where_the_map_puts_it() {
        // Lane 10 of the first wavefront of block X = 1, Y = 0 is i = 2, j = 1; the fourth round of both loops is k = 3.
        let steps = steps("dct", &[("width", 32), ("height", 32), ("wavefront", 16)]);
        let TaskKind::Kernel(kernel) = &steps[0] else { panic!("no launch") };
        let address = |index| {
            let Some(Operation::Access(access)) = kernel.operation(1, 0, index) else { panic!("no access") };
            access.lanes.iter().find(|(lane, _)| *lane == 10).unwrap().1.0
        };
        assert_eq!(address(9), 0x10_1000 + 4 * (8 * 3 + 2));
        assert_eq!(address(10), 0x10_0000 + 4 * (3 * 32 + 8 + 1));
        assert_eq!(address(25 + 2 * 3), 0x10_1000 + 4 * (8 * 3 + 1));
    }
}
