//! STREAM triad: a[i] = b[i] + s c[i].
//!
//! Map (STREAM, the triad, as a CUDA kernel): thread i loads `b[i]` and `c[i]`, stores `a[i]`, again in each iteration.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a thread, from the definition: its index, comparison and branch, three addresses, and a product that is added.
const STEP: u64 = 7;

pub const DEFINITION: Definition = Definition {
    name: "stream-triad",
    title: "STREAM triad: three vectors streamed through, nothing shared",
    source: "STREAM (McCalpin), triad; 1,048,576 doubles, chosen",
    own: &[
        common::count("size", "elements of each vector", 1_048_576, 1 << 40),
        ParameterDefinition {
            name: "workgroup",
            about: "threads of a workgroup",
            kind: Kind::Integer { default: 192, least: 1, most: 1024 },
        },
        common::iterations("iterations", 1),
        common::SCALE,
        common::WARP,
        common::first("a", "the result, doubles"),
        common::next("b", "first input"),
        common::next("c", "second input"),
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let size = common::multiple(values, "size", Scale::read(values)?.of(values.integer("size")?), 1)?;
    let workgroup = values.integer("workgroup")?;
    let mut layout = Layout::new(values);
    let arrays = vec![layout.array("a", size, 8)?, layout.array("b", size, 8)?, layout.array("c", size, 8)?];
    let launch = || Launch {
        name: DEFINITION.name,
        groups: size.div_ceil(workgroup),
        workgroup,
        arrays: arrays.clone(),
        script: Script::default().then(
            1,
            [Step::Load(1, 0), Step::Load(2, 0), Step::Compute(settings.compute), Step::Store(0, 0)],
        ),
        map: Arc::new(move |at: At| at.below(workgroup, size)),
        settings,
    };
    Ok((0..values.integer("iterations")?).map(|_| launch().step()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn vectors_are_streamed_through() {
        let given = [("size", 100), ("scale", 2), ("workgroup", 12), ("wavefront", 4), ("iterations", 2)];
        let [a, b, c] = bases([400; 3]);
        let launch = || {
            let mut launch = Plain::default();
            for i in 0..50 {
                launch.load(b, i, 8);
                launch.load(c, i, 8);
                launch.store(a, i, 8);
            }
            launch.launch()
        };
        let all: Vec<_> = steps("stream-triad", &given).iter().map(did).collect();
        assert_eq!(all, [launch(), launch()]);
    }
}
