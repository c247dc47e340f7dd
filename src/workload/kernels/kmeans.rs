//! K-means: the points are turned into columns of features, then each looks for its nearest cluster, again and again.
//!
//! Map (Rodinia, `kmeans_cuda_kernel.cu` and `kmeans_cuda.cu`), a thread for each point p of n, with f features:
//! - `invert_mapping`, once: for each feature i loads `points[f p + i]`, stores `features[p + n i]`;
//! - `kmeansPoint`, in each iteration, in a square grid of workgroups: for each cluster, for each feature i, loads `features[p + n i]`;
//!   stores `membership[p]`; then the host loads `membership`, point by point, for the new centres. What it reads of the features for them is
//!   left out: they are in an array of its own.
//!
//! The centres stand in constant memory, whose traffic is not modelled. The source fetches the features of `kmeansPoint` as textures, over
//! a cache of their own; here they are loads like others. How many iterations a run needs depends on the data: here
//! it is a parameter.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, HostLoop, Launch, Script, Step};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions for a feature: the index of the point's (all that a texture needs), that of the centre's and its read from constant memory,
/// a difference, a square that is added, and three for the loop.
const FEATURE: u64 = 8;
/// A cluster: where its centre is, a comparison, two selections, and five for loops.
const CLUSTER: u64 = 9;
/// What a thread of `kmeansPoint` begins with: three for its point, two for whether there is one, and two for the loop's last test.
const BEGIN: u64 = 7;
/// A branch and the address of what it stores.
const STORE: u64 = 2;
/// A feature in `invert_mapping`: two indices and addresses, and three for the loop.
const INVERT: u64 = 7;
/// What a thread begins with there: its point, two for whether there is one, where its features are, and two for the loop's last test.
const BEGIN_INVERT: u64 = 6;

pub const DEFINITION: Definition = Definition {
    name: "kmeans",
    title: "K-means: columns of features read again for each cluster, and a host that reads every point's cluster",
    source: "Rodinia, cuda/kmeans: 494,020 points of 34 features (as kdd_cup has), 5 clusters",
    own: &[
        common::count("size", "points", 494_020, 1 << 32),
        common::count("features", "features of a point", 34, 1024),
        common::count("clusters", "clusters", 5, 1024),
        common::iterations("iterations; how many a run needs depends on the data", 2),
        common::SCALE,
        common::workgroup(256),
        common::WARP,
        common::first("points", "the features, point by point, floats"),
        common::next("features_by_point", "the same, feature by feature"),
        common::next("membership", "the cluster of each point, words"),
        common::SYNC,
    ],
    shared: &common::computing_cuda(FEATURE),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::with_host(values)?;
    let size = Scale::read(values)?.of(values.integer("size")?);
    common::multiple(values, "size", size, 1)?;
    let (features, clusters) = (values.integer("features")?, values.integer("clusters")?);
    let workgroup = values.integer("workgroup")?;
    let mut layout = Layout::new(values);
    let points = layout.array("points", size * features, 4)?;
    let columns = layout.array("features_by_point", size * features, 4)?;
    let membership = layout.array("membership", size, 4)?;
    // The smallest square that has a thread for each point.
    let row = size.div_ceil(workgroup);
    let edge = row.isqrt() + u64::from(row.isqrt().pow(2) < row);
    let compute = |instructions| Step::Compute(settings.share(instructions, FEATURE));
    let launch = |name, arrays, script| Launch {
        name,
        groups: edge * edge,
        workgroup,
        arrays,
        script,
        map: Arc::new(move |at: At| {
            let point = at.below(workgroup, size)?;
            let feature = at.round % features;
            Some(match (at.array, at.nth) {
                (0, 0) => point * features + feature,
                (0, _) | (1, 0) => point + size * feature,
                _ => point,
            })
        }),
        settings,
    };
    let invert = Script::default()
        .then(1, [compute(BEGIN_INVERT)])
        .then(features, [Step::Load(0, 0), compute(INVERT), Step::Store(1, 0)]);
    let mut steps = vec![launch("invert_mapping", vec![points, columns], invert).step()];
    for _ in 0..values.integer("iterations")? {
        let nearest = Script::default()
            .then(1, [compute(BEGIN)])
            .then(clusters * features, [Step::Load(0, 1), compute(FEATURE)])
            .then(1, [compute(CLUSTER * clusters + STORE), Step::Store(1, 1)]);
        steps.push(launch("kmeansPoint", vec![columns, membership], nearest).step());
        let script = Script::default().then(size, [Step::Load(0, 0)]);
        HostLoop { arrays: vec![membership], script }.add(&mut steps, settings, &[0], |at| Some(at.round));
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn points_are_inverted_once_and_read_for_each_cluster() {
        let given = [
            ("size", 80),
            ("scale", 2),
            ("features", 3),
            ("clusters", 2),
            ("workgroup", 8),
            ("wavefront", 4),
            ("iterations", 2),
        ];
        let steps = steps("kmeans", &given);
        let crate::workload::TaskKind::Kernel(kernel) = &steps[1] else { panic!("no launch") };
        // Five workgroups would do; the next square is nine.
        assert_eq!(kernel.blocks(), 9);
        let (npoints, nfeatures) = (40, 3);
        let [input, output, membership] = bases([4 * 120, 4 * 120, 160]);
        let mut invert = Plain::default();
        for (point, i) in (0..npoints).flat_map(|point| (0..nfeatures).map(move |i| (point, i))) {
            invert.load(input, point * nfeatures + i, 4);
            invert.store(output, point + npoints * i, 4);
        }
        let mut expected = vec![invert.launch()];
        for _ in 0..2 {
            let (mut nearest, mut host) = (Plain::default(), Plain::default());
            for point in 0..npoints {
                for (_, j) in (0..2).flat_map(|cluster| (0..nfeatures).map(move |j| (cluster, j))) {
                    nearest.load(output, point + j * npoints, 4);
                }
                nearest.store(membership, point, 4);
                host.host_load(membership, point, 4);
            }
            expected.extend([nearest.launch(), host.host()]);
        }
        assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), expected);
    }
}
