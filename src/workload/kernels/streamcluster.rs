//! `Streamcluster`: for one candidate after the other, what would be saved if it became a centre.
//!
//! Map (Rodinia, `streamcluster_cuda.cu` and `kernel_compute_cost`), with a thread for each point p of n, and a launch for each candidate x: for each dimension i
//! loads `coordinates[i n + p]` and `coordinates[i n + x]`; then the point's weight and cost, of 32 bytes; if it would change over stores `switches[p]` and
//! loads and stores the last of the point's k + 1 words of `work`; else loads the centre to which it belongs, that centre's number, and loads and stores the
//! word of it. Then the host loads all of `work`, and `switches`.
//!
//! Whether a point would change over, and to which centre it belongs, is drawn from the seed; so are the candidates, whose number
//! is chosen: a run of the source has thousands.
//!
//! Instructions are counted in Rodinia, `cuda/streamcluster/streamcluster_cuda.cu`.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, HostLoop, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a dimension: two indices and two addresses, a difference, its square that is added, and three of the loop.
const STEP: u64 = 9;
/// Whether a point would change over: two of the thread's number, three comparisons and branches, two addresses and a product.
const CHANGE: u64 = 11;
/// What it would save: two of the place of its words, two addresses, a difference and a sum.
const SAVED: u64 = 6;

pub const DEFINITION: Definition = Definition {
    name: "streamcluster",
    title: "Streamcluster: coordinates streamed through for each candidate, and a host that adds up what points would save",
    source: "Rodinia, cuda/streamcluster: 65,536 points of 256 dimensions, 10 centres",
    own: &[
        common::count("size", "points", 65_536, 1 << 32),
        common::count("dimensions", "dimensions", 256, 1 << 16),
        common::count("centres", "centres", 10, 1 << 10),
        ParameterDefinition {
            name: "switching",
            about: "percentage of points that would change over",
            kind: Kind::Integer { default: 10, least: 0, most: 100 },
        },
        common::iterations("candidates", 2),
        common::SCALE,
        common::workgroup(512),
        common::WARP,
        common::first("coordinates", "dimension by dimension, floats"),
        common::next("points", "weight, centre and cost of each, eight words"),
        common::next("centre_table", "the number of each centre, words"),
        common::next("work", "what each point would save, by centre, words"),
        common::next("switches", "whether it would change over, bytes"),
        common::SYNC,
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

/// Words of a point, and where they are: weight, centre, cost.
const POINT: u64 = 8;
const WEIGHT: u64 = 0;
const CENTRE: u64 = 4;
const COST: u64 = 6;

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::with_host(values)?;
    let size = common::multiple(values, "size", Scale::read(values)?.of(values.integer("size")?), 1)?;
    let (dimensions, centres) = (values.integer("dimensions")?, values.integer("centres")?);
    let (switching, workgroup) = (values.integer("switching")?, values.integer("workgroup")?);
    let stride = centres + 1;
    let mut layout = Layout::new(values);
    let coordinates = layout.array("coordinates", size * dimensions, 4)?;
    let points = layout.array("points", size * POINT, 4)?;
    let table = layout.array("centre_table", size, 4)?;
    let work = layout.array("work", size * stride, 4)?;
    let switches = layout.array("switches", size, 1)?;
    let seed = settings.seed;
    let computing = |instructions| Step::Compute(settings.share(instructions, STEP));
    let script = Script::default()
        .then(dimensions, [Step::Load(0, 0), Step::Load(0, 1), Step::Compute(settings.compute)])
        .then(1, [Step::Load(1, WEIGHT), Step::Load(1, COST), computing(CHANGE), Step::Store(4, 0)])
        .then(1, [Step::Load(1, CENTRE), Step::Load(2, 0), Step::Load(3, 0), computing(SAVED)])
        .then(1, [Step::Store(3, 0)]);
    let candidate = |number: u64| {
        let x = common::scramble(!seed, number) % size;
        let map = move |at: At| {
            let point = at.below(workgroup, size)?;
            let would = common::scramble(seed ^ number, point) % 100 < switching;
            let centre = common::scramble(seed, point) % centres;
            match (at.array, at.nth) {
                (0, 0) => Some(at.round * size + point),
                (0, _) => Some(at.round * size + x),
                (1, CENTRE) => (!would).then_some(point * POINT + CENTRE),
                (1, word) => Some(point * POINT + word),
                (2, _) => (!would).then(|| common::scramble(seed ^ 1, centre) % size),
                (3, _) => Some(point * stride + if would { centres } else { centre }),
                _ => would.then_some(point),
            }
        };
        Launch {
            name: "kernel_compute_cost",
            groups: size.div_ceil(workgroup),
            workgroup,
            arrays: vec![coordinates, points, table, work, switches],
            script: script.clone(),
            map: Arc::new(map),
            settings,
        }
        .step()
    };
    let mut steps = Vec::new();
    for number in 0..values.integer("iterations")? {
        steps.push(candidate(number));
        let script = Script::default().then(size * stride, [Step::Load(0, 0)]).then(size, [Step::Load(1, 0)]);
        HostLoop { arrays: vec![work, switches], script }
            .add(&mut steps, settings, &[0, 1], |at| Some(at.round));
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::super::common::scramble;
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn every_point_is_measured_against_each_candidate() {
        let given = [
            ("size", 60),
            ("scale", 2),
            ("dimensions", 3),
            ("centres", 4),
            ("switching", 40),
            ("workgroup", 8),
            ("wavefront", 4),
            ("seed", 5),
            ("iterations", 2),
        ];
        let num = 30;
        let [coord, p, table, work, switches] = bases([4 * 3 * num, 32 * num, 4 * num, 20 * num, num]);
        let mut expected = Vec::new();
        for number in 0..2 {
            let (mut launch, mut host) = (Plain::default(), Plain::default());
            let x = scramble(!5, number) % num;
            let mut switched = 0;
            for tid in 0..num {
                for i in 0..3 {
                    launch.load(coord, i * num + tid, 4);
                    launch.load(coord, i * num + x, 4);
                }
                launch.load(p, 8 * tid, 4);
                launch.load(p, 8 * tid + 6, 4);
                let word = if scramble(5 ^ number, tid) % 100 < 40 {
                    switched += 1;
                    launch.store(switches, tid, 1);
                    4
                } else {
                    let assign = scramble(5, tid) % 4;
                    launch.load(p, 8 * tid + 4, 4);
                    launch.load(table, scramble(5 ^ 1, assign) % num, 4);
                    assign
                };
                launch.load(work, 5 * tid + word, 4);
                launch.store(work, 5 * tid + word, 4);
            }
            assert!((6..20).contains(&switched), "{switched}");
            (0..5 * num).for_each(|word| host.host_load(work, word, 4));
            (0..num).for_each(|tid| host.host_load(switches, tid, 1));
            expected.extend([launch.launch(), host.host()]);
        }
        assert_eq!(steps("streamcluster", &given).iter().map(did).collect::<Vec<_>>(), expected);
    }
}
