//! Histogram: each workgroup counts a contiguous part in local memory, the host adds up the counts.
//!
//! Map (AMD APP SDK 2.5, `Histogram_Kernels.cl` and `Histogram.cpp`), with `W` threads and `B` bins: thread `l` of group `g` loads
//! `data[g * W * B + i * W + l]` for `i` below `B`, counts in bytes of its own in local memory (so each thread takes as many
//! elements as a byte counts), and stores `out[g * B + i * W + l]` for `i` below `B / W`. The host then adds each count
//! `out[g * B + j]` to `bins[j]`, group by group. Counting in local memory is modelled as cycles.
//!
//! Computes seven instructions for an element, counted in the source: its counter is found in local memory, read and written.

use std::sync::Arc;

use super::Definition;
use super::array::Array;
use super::common::{self, Scale, Settings};
use super::launch::{At, HostLoop, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

pub const DEFINITION: Definition = Definition {
    name: "histogram",
    title: "Counting: each workgroup streams a part of its own, the host adds up what they found",
    source: "AMD APP SDK 2.5, Histogram_Kernels.cl; UMH (2016), Table I: 2048 x 2048",
    own: &[
        ParameterDefinition {
            name: "width",
            about: "elements in a row",
            kind: Kind::PowerOfTwo { default: 2048, most: 1 << 20 },
        },
        ParameterDefinition {
            name: "height",
            about: "rows",
            kind: Kind::PowerOfTwo { default: 2048, most: 1 << 20 },
        },
        common::power("bins", "values that are counted; a thread takes as many elements", 256, 1 << 16),
        common::SCALE,
        common::workgroup(128),
        common::WAVEFRONT,
        common::first("data", "the elements, words"),
        common::next("output", "the counts of each workgroup"),
        common::next("sums", "the host's sums"),
        common::SYNC,
    ],
    shared: &common::computing(7),
    build,
};

/// Summing up a bin takes so many times as long as counting an element: 32 words with four counts of a byte each.
const SUMMING: u32 = 50;

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::with_host(values)?;
    let (width, height) = (values.integer("width")?, values.integer("height")?);
    let bins = values.integer("bins")?;
    let size = Scale::read(values)?.of(width * height);
    let threads = common::multiple(values, "width", size, bins)? / bins;
    let workgroup = values.integer("workgroup")?.min(threads).min(bins);
    let groups = threads / workgroup;
    let data = Array::place(values, "data", size, 4, None)?;
    let output = Array::place(values, "output", groups * bins, 4, Some(&data))?;
    let sums = Array::place(values, "sums", bins, 4, Some(&output))?;
    let launch = Launch {
        name: DEFINITION.name,
        groups,
        workgroup,
        arrays: vec![data, output],
        script: Script::default()
            .then(bins, [Step::Load(0, 0), Step::Compute(settings.compute)])
            .then(1, [Step::Barrier])
            .then(bins / workgroup, [Step::Compute(SUMMING * settings.compute), Step::Store(1, 0)]),
        map: Arc::new(move |at: At| {
            let part = if at.array == 0 { workgroup * bins } else { bins };
            Some(at.group * part + at.round * workgroup + at.local)
        }),
        settings,
    };
    let mut steps = vec![launch.step()];
    let script =
        Script::default().then(groups * bins, [Step::Load(0, 0), Step::Load(1, 0), Step::Store(1, 0)]);
    HostLoop { arrays: vec![output, sums], script }.add(&mut steps, settings, &[0], move |at| {
        Some(if at.array == 0 { at.round } else { at.round % bins })
    });
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Touch, did, steps};
    use crate::model::access::AccessKind::{Load, NStore, Store};

    #[test]
    fn each_group_counts_a_part_and_the_host_adds_up() {
        // 1,024 elements in groups of 8 threads that take 32 elements each: four groups.
        let given = [("width", 64), ("height", 16), ("bins", 32), ("workgroup", 8), ("wavefront", 4)];
        let (mut launch, mut host) = (Vec::new(), Vec::new());
        for (g, l) in (0..4).flat_map(|g| (0..8).map(move |l| (g, l))) {
            for i in 0..32 {
                launch.push(Touch::new(Load, 0x10_0000 + 4 * (g * 256 + i * 8 + l), 4));
            }
            for i in 0..4 {
                launch.push(Touch::new(NStore, 0x10_1000 + 4 * (g * 32 + i * 8 + l), 4));
            }
        }
        for (g, j) in (0..4).flat_map(|g| (0..32).map(move |j| (g, j))) {
            host.push(Touch::new(Store, 0x10_1000 + 4 * (g * 32 + j), 0));
            host.push(Touch::new(Load, 0x10_1000 + 4 * (g * 32 + j), 4));
            host.push(Touch::new(Load, 0x10_2000 + 4 * j, 4));
            host.push(Touch::new(Store, 0x10_2000 + 4 * j, 4));
        }
        launch.sort();
        let steps = steps("histogram", &given);
        assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), [Did::Launch(launch), Did::Host(host)]);
    }
}
