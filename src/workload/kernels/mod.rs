//! Kernels as pure access maps: which address every lane touches, computed in constant time.
//!
//! Each file is one kernel; the registry below is what `umscope list` and scenario files are served from. The maps
//! were read from the kernels' sources, or stand in for them and say so; the tests compare them with plain loops written in the
//! sources' own terms. What depends on data (graphs, trees, meshes) is generated from a seed: computed when it is asked for, or kept
//! in a few bytes for each vertex.

mod algebraic_multigrid;
mod array;
mod backprop;
mod bank_account;
mod bfs;
mod black_scholes;
mod btree;
mod cns;
mod comd;
mod common;
mod convolution_layer;
mod dct;
mod euler3d;
mod false_sharing;
mod fast_walsh_transform;
mod floyd_warshall;
mod gaussian;
mod graph;
mod haar_wavelet;
mod histogram;
mod histogram_256;
mod hotspot;
mod hotspot3d;
mod kmeans;
mod krylov;
mod launch;
mod lavamd;
mod lbm;
mod lookups;
mod lud;
mod lulesh;
mod matrix_multiplication;
mod mersenne_twister;
mod mini_amr;
mod minife;
mod minimum_spanning_tree;
mod multigrid;
mod mummer;
mod needleman_wunsch;
mod nekbone;
mod parameter;
mod pathfinder;
mod pieces;
mod radix_sort;
mod reduction;
mod rsbench;
mod sad;
mod scan_large_arrays;
mod sgemm;
mod shared_counter;
mod simple_convolution;
mod snap;
mod sobel_filter;
mod srad_v1;
mod srad_v2;
mod sssp;
mod stencil;
mod stream;
mod stream_triad;
mod streamcluster;
mod survey_propagation;
#[cfg(test)]
mod testing;
mod tiles;
mod transpose;
mod transpose_float4;
mod transpose_shape;
mod vector_add;
mod volume;
mod xsbench;

use std::sync::Arc;

pub use common::MOST_SCALE;
pub use parameter::{Kind, Parameter, ParameterDefinition, Parameters, Value};

use self::parameter::Values;
use super::{Kernel, TaskKind};
use crate::diagnostic::{Diagnostic, Result};

/// A kernel that can be asked for by name.
#[derive(Debug)]
pub struct Definition {
    pub name: &'static str,
    pub title: &'static str,
    /// Where the access map comes from.
    pub source: &'static str,
    /// Parameters of this kernel alone, and those that it has in common with others, which follow.
    own: &'static [ParameterDefinition],
    shared: &'static [ParameterDefinition],
    build: fn(&Values<'_>) -> Result<Vec<TaskKind>>,
}

/// Every kernel, in the order in which they are listed.
pub static KERNELS: &[Definition] = &[
    vector_add::DEFINITION,
    black_scholes::DEFINITION,
    dct::DEFINITION,
    haar_wavelet::DEFINITION,
    floyd_warshall::DEFINITION,
    fast_walsh_transform::DEFINITION,
    histogram::DEFINITION,
    matrix_multiplication::DEFINITION,
    transpose::DEFINITION,
    mersenne_twister::DEFINITION,
    reduction::DEFINITION,
    radix_sort::DEFINITION,
    simple_convolution::DEFINITION,
    sobel_filter::DEFINITION,
    scan_large_arrays::DEFINITION,
    backprop::DEFINITION,
    bfs::DEFINITION,
    hotspot::DEFINITION,
    kmeans::DEFINITION,
    needleman_wunsch::DEFINITION,
    pathfinder::DEFINITION,
    srad_v1::DEFINITION,
    srad_v2::DEFINITION,
    stencil::DEFINITION,
    sgemm::DEFINITION,
    sad::DEFINITION,
    gaussian::DEFINITION,
    btree::DEFINITION,
    xsbench::DEFINITION,
    comd::DEFINITION,
    minife::DEFINITION,
    histogram_256::DEFINITION,
    lbm::DEFINITION,
    lulesh::DEFINITION,
    multigrid::DEFINITION,
    rsbench::DEFINITION,
    stream_triad::DEFINITION,
    algebraic_multigrid::DEFINITION,
    bank_account::DEFINITION,
    cns::DEFINITION,
    convolution_layer::DEFINITION,
    euler3d::DEFINITION,
    hotspot3d::DEFINITION,
    lavamd::DEFINITION,
    lud::DEFINITION,
    mini_amr::DEFINITION,
    minimum_spanning_tree::DEFINITION,
    mummer::DEFINITION,
    nekbone::DEFINITION,
    snap::DEFINITION,
    sssp::DEFINITION,
    streamcluster::DEFINITION,
    survey_propagation::DEFINITION,
    stream::DEFINITION,
    shared_counter::DEFINITION,
    false_sharing::DEFINITION,
];

/// The kernel of this name.
///
/// # Errors
/// If there is none; names the nearest.
pub fn find(name: &str) -> Result<&'static Definition> {
    KERNELS.iter().find(|kernel| kernel.name == name).ok_or_else(|| {
        let names: Vec<_> = KERNELS.iter().map(|kernel| kernel.name).collect();
        let unknown = Diagnostic::new(format!("there is no kernel `{name}`"));
        Box::new(unknown.expected(format!("one of {}", names.join(", "))).nearest(name, names))
    })
}

/// What the kernel `name` does, each step after the one before: launches, and the host's own work between them.
/// Parameters that are not given take their defaults.
///
/// # Errors
/// If there is no such kernel or parameter, a parameter is given twice, a value is out of its range, or an array
/// does not fit in the address space.
pub fn build(name: &str, parameters: &Parameters) -> Result<Vec<TaskKind>> {
    find(name)?.build(parameters)
}

/// A kernel of one launch.
fn single(kernel: impl Kernel + 'static) -> Vec<TaskKind> {
    vec![TaskKind::Kernel(Arc::new(kernel))]
}

impl Definition {
    /// All its parameters, in the order in which they are listed.
    pub fn parameters(&self) -> impl Iterator<Item = &'static ParameterDefinition> + Clone + use<> {
        self.own.iter().chain(self.shared)
    }

    /// Builds this kernel; errors as in [`build`].
    pub fn build(&self, parameters: &Parameters) -> Result<Vec<TaskKind>> {
        (self.build)(&Values::resolve(self.name, self.parameters(), parameters)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::operation::Operation;

    #[test]
    fn every_kernel_builds_with_its_defaults() {
        for kernel in KERNELS {
            for step in kernel.build(&Parameters::default()).unwrap() {
                let TaskKind::Kernel(built) = step else { continue };
                assert!(built.blocks() > 0 && built.warps_per_block() > 0, "{}", kernel.name);
                assert!(built.operation(0, 0, 0).is_some(), "{}", kernel.name);
                assert!(!built.footprint().is_empty(), "{}", kernel.name);
                assert!(built.operation(u64::MAX, u32::MAX, u64::MAX).is_none(), "{}", kernel.name);
            }
        }
    }

    /// Bytes from lane to lane of a launch's instruction, as the sources' index expressions have them.
    const STRIDES: &[(&str, usize, u64, i64)] = &[
        // The weights: a row of 16.
        ("backprop", 0, 1, 4),
        ("bfs", 1, 0, 1),
        ("hotspot", 0, 0, 4),
        // Points of 34 features; then column by column.
        ("kmeans", 0, 0, 4 * 34),
        ("kmeans", 0, 1, 4),
        ("kmeans", 1, 0, 4),
        // The reference; to the west, a word of each row; to the north.
        ("needleman-wunsch", 0, 1, 4),
        ("needleman-wunsch", 0, 16, 4 * 2049),
        ("needleman-wunsch", 0, 17, 4),
        ("pathfinder", 0, 0, 4),
        ("srad-v1", 0, 0, 4),
        ("srad-v2", 1, 0, 4),
        ("srad-v2", 1, 2, 0),
        ("stencil", 0, 6, 4),
        // Columns of A; the same element of B for a row of threads.
        ("sgemm", 0, 0, 4),
        ("sgemm", 0, 1, 0),
        // A thread for each row.
        ("gaussian", 0, 0, 4 * 512),
        ("gaussian", 0, 1, 0),
        ("btree", 0, 1, 4),
        ("btree", 0, 0, 0),
        ("histogram-256", 0, 1, 4),
        ("histogram-256", 1, 0, 1024),
        ("lbm", 0, 0, 4),
        ("lulesh", 0, 0, 4),
        ("multigrid", 100, 6, 8),
        ("stream-triad", 0, 0, 8),
        ("algebraic-multigrid", 0, 0, 4),
        // Seven entries a row.
        ("algebraic-multigrid", 0, 14, 4 * 7),
        ("bank-account", 0, 0, 4),
        ("cns", 0, 0, 8),
        ("convolution-layer", 0, 1, 4),
        ("euler3d", 0, 0, 4),
        ("hotspot3d", 0, 0, 4),
        ("lavamd", 0, 2, 32),
        ("lud", 0, 0, 4),
        ("minimum-spanning-tree", 0, 0, 4),
        ("mummer", 0, 0, 25),
        ("nekbone", 0, 0, 8),
        ("snap", 0, 2, 8),
        ("streamcluster", 0, 0, 4),
        ("survey-propagation", 0, 0, 4 * 3),
    ];

    #[test]
    fn neighbouring_threads_are_as_far_apart_as_in_the_sources() {
        for &(name, launch, index, expected) in STRIDES {
            let steps = build(name, &Parameters::of(&[("wavefront", Value::Integer(8))])).unwrap();
            let Some(TaskKind::Kernel(kernel)) = steps.get(launch) else { panic!("{name}") };
            // A warp in the middle, where all threads have something to do.
            let block = kernel.blocks() / 2;
            let operations = (0..).map_while(|at| kernel.operation(block, kernel.warps_per_block() / 2, at));
            let operation = operations.filter(|one| matches!(one, Operation::Access(_))).nth(index as usize);
            let Some(Operation::Access(access)) = operation else { panic!("{name} {operation:?}") };
            let addresses: Vec<_> = access.lanes.iter().map(|(_, address)| address.0 as i64).collect();
            assert!(
                addresses.windows(2).all(|pair| pair[1] - pair[0] == expected),
                "{name} {index} {addresses:?}"
            );
            assert!(addresses.len() > 3, "{name} {index}");
        }
    }

    #[test]
    fn every_kernel_can_have_wavefronts_of_either_size() {
        for kernel in KERNELS.iter().filter(|kernel| kernel.parameters().any(|own| own.name == "wavefront")) {
            let steps = [32, 64].map(|threads| {
                let mut given = Parameters::of(&[("wavefront", Value::Integer(threads))]);
                given.offer(kernel.name, "scale", 16);
                build(kernel.name, &given).unwrap_or_else(|error| panic!("{}: {error}", kernel.name)).len()
            });
            assert_eq!(steps[0], steps[1], "{}", kernel.name);
        }
    }

    #[test]
    fn a_slip_is_answered_with_the_nearest_name() {
        let wrong = build("vector-ad", &Parameters::default()).unwrap_err();
        assert_eq!(wrong.suggestion.as_deref(), Some("did you mean vector-add?"));
        let wrong = build("vector-add", &Parameters::of(&[("workgruop", Value::Integer(64))])).unwrap_err();
        assert_eq!(wrong.suggestion.as_deref(), Some("did you mean workgroup?"));
    }
}
