//! Kernels as pure access maps: which address every lane touches, computed in constant time.
//!
//! Each file is one kernel; the registry below is what `umscope list` and scenario files are served from. The maps
//! were read from the kernels' sources; the tests compare them with plain loops written in the sources' own terms.

mod array;
mod black_scholes;
mod common;
mod dct;
mod false_sharing;
mod fast_walsh_transform;
mod floyd_warshall;
mod haar_wavelet;
mod histogram;
mod launch;
mod matrix_multiplication;
mod mersenne_twister;
mod parameter;
mod radix_sort;
mod reduction;
mod scan_large_arrays;
mod shared_counter;
mod simple_convolution;
mod sobel_filter;
mod stream;
#[cfg(test)]
mod testing;
mod transpose;
mod transpose_float4;
mod vector_add;

use std::sync::Arc;

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

    #[test]
    fn a_slip_is_answered_with_the_nearest_name() {
        let wrong = build("vector-ad", &Parameters::default()).unwrap_err();
        assert_eq!(wrong.suggestion.as_deref(), Some("did you mean vector-add?"));
        let wrong = build("vector-add", &Parameters::of(&[("workgruop", Value::Integer(64))])).unwrap_err();
        assert_eq!(wrong.suggestion.as_deref(), Some("did you mean workgroup?"));
    }
}
