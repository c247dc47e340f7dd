//! Floyd-Warshall: all shortest paths of a graph, a launch for each node that paths may lead through.
//!
//! Map (AMD APP SDK 2.5, `FloydWarshall_Kernels.cl`): the host launches for k = 0, 1, 2 ... `nodes` - 1 and touches no data between
//! launches. The thread of column x and row y loads `distance[y, x]`, `distance[y, k]` and `distance[k, x]`; where the way through
//! k is shorter it stores `distance[y, x]` and `path[y, x]`; then it loads all three again and stores `distance[y, x]`, shorter or
//! not. So row k and column k are read by every workgroup while their owners store them.
//!
//! Which ways are shorter depends on the graph: here it is a `shorter` percentage of them, chosen by the seed. `MGPUSim`'s
//! version of the kernel stores only where the way is shorter; this is not modelled.
//!
//! Computes 18 instructions in all, half with each of its loads, as in `MGPUSim`'s disassembly of the source.

use std::sync::Arc;

use super::Definition;
use super::array::Array;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

pub const DEFINITION: Definition = Definition {
    name: "floyd-warshall",
    title: "Shortest paths: row k and column k are read by all while their owners store them, in every launch",
    source: "AMD APP SDK 2.5, FloydWarshall_Kernels.cl; UMH (2016), Table I: 256",
    own: &[
        common::power("nodes", "nodes of the graph, and launches", 256, 4096),
        ParameterDefinition {
            name: "shorter",
            about: "percentage of ways that a launch makes shorter",
            kind: Kind::Integer { default: 2, least: 0, most: 100 },
        },
        common::SCALE,
        common::WORKGROUP,
        common::WAVEFRONT,
        common::first("distance", "the matrix of distances"),
        common::next("path", "the matrix of nodes that paths lead through"),
    ],
    shared: &common::computing(9),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let nodes = Scale::read(values)?.edge(values.integer("nodes")?, None);
    common::multiple(values, "nodes", nodes, 1)?;
    let shorter = values.integer("shorter")?;
    let workgroup = values.integer("workgroup")?.min(nodes * nodes);
    let distance = Array::place(values, "distance", nodes * nodes, 4, None)?;
    let path = Array::place(values, "path", nodes * nodes, 4, Some(&distance))?;
    let loads = [Step::Load(0, 0), Step::Load(0, 1), Step::Load(0, 2), Step::Compute(settings.compute)];
    let script = Script::default()
        .then(1, loads)
        .then(1, [Step::Store(0, 3), Step::Store(1, 3)])
        .then(1, loads)
        .then(1, [Step::Store(0, 0)]);
    let launch = |k: u64| Launch {
        name: DEFINITION.name,
        groups: (nodes * nodes).div_ceil(workgroup),
        workgroup,
        arrays: vec![distance, path],
        script: script.clone(),
        map: Arc::new(move |at: At| {
            let thread = at.group * workgroup + at.local;
            let (x, y) = (thread % nodes, thread / nodes);
            match at.nth {
                _ if y >= nodes => None,
                0 => Some(thread),
                1 => Some(y * nodes + k),
                2 => Some(k * nodes + x),
                _ => {
                    let drawn = common::scramble(settings.seed, k * nodes * nodes + thread);
                    (drawn % 100 < shorter).then_some(thread)
                }
            }
        }),
        settings,
    };
    Ok((0..nodes).map(|k| launch(k).step()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Touch, did, steps};
    use crate::model::access::AccessKind::{Load, NStore};

    fn launch(k: u64, shorter: bool, nodes: u64) -> Did {
        let mut expected = Vec::new();
        for (x, y) in (0..nodes).flat_map(|y| (0..nodes).map(move |x| (x, y))) {
            let element = |row: u64, column: u64| 0x10_0000 + 4 * (row * nodes + column);
            for address in [element(y, x), element(y, k), element(k, x)] {
                expected.extend([Touch::new(Load, address, 4); 2]);
            }
            expected.push(Touch::new(NStore, element(y, x), 4));
            if shorter {
                expected.push(Touch::new(NStore, element(y, x), 4));
                expected.push(Touch::new(NStore, 0x1000 + element(y, x), 4));
            }
        }
        expected.sort();
        Did::Launch(expected)
    }

    #[test]
    fn every_launch_reads_its_row_and_column() {
        // 6 by 6 leaves a workgroup of which a part has nothing to do.
        for (shorter, all, scale, nodes) in [(0, false, 4, 8), (100, true, 4, 8), (0, false, 8, 6)] {
            let given =
                [("nodes", 16), ("scale", scale), ("shorter", shorter), ("workgroup", 16), ("wavefront", 4)];
            let steps = steps("floyd-warshall", &given);
            let expected: Vec<_> = (0..nodes).map(|k| launch(k, all, nodes)).collect();
            assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn about_as_many_ways_are_shorter_as_asked() {
        let steps = steps("floyd-warshall", &[("nodes", 32), ("shorter", 25)]);
        let mut stores = 0;
        for step in &steps {
            let Did::Launch(touched) = did(step) else { panic!("no launch") };
            stores += touched.len() - 7 * 32 * 32;
        }
        let share = stores * 100 / (2 * 32 * 32 * 32);
        assert!((24..=26).contains(&share), "{share}");
    }
}
