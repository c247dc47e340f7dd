//! Kernels as pure access maps: which address every lane touches, computed in constant time.
//!
//! Each file is one kernel; the registry below is what `umscope list` and scenario files are served from. The maps
//! were read from the kernels' sources; the tests compare them with plain loops written in the sources' own terms.

mod array;
mod common;
mod false_sharing;
mod parameter;
mod shared_counter;
mod stream;
#[cfg(test)]
mod testing;
mod transpose;
mod transpose_float4;
mod vector_add;

use std::sync::Arc;

pub use parameter::{Kind, Parameter, ParameterDefinition, Parameters, Value};

use self::parameter::Values;
use super::Kernel;
use crate::diagnostic::{Diagnostic, Result};

/// A kernel that can be asked for by name.
#[derive(Debug)]
pub struct Definition {
    pub name: &'static str,
    pub title: &'static str,
    /// Where the access map comes from.
    pub source: &'static str,
    pub parameters: &'static [ParameterDefinition],
    build: fn(&Values<'_>) -> Result<Arc<dyn Kernel>>,
}

/// Every kernel, in the order in which they are listed.
pub static KERNELS: &[Definition] = &[
    vector_add::DEFINITION,
    transpose::DEFINITION,
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

/// Builds the kernel `name`; parameters that are not given take their defaults.
///
/// # Errors
/// If there is no such kernel or parameter, a parameter is given twice, a value is out of its range, or an array
/// does not fit in the address space.
pub fn build(name: &str, parameters: &Parameters) -> Result<Arc<dyn Kernel>> {
    find(name)?.build(parameters)
}

impl Definition {
    /// Builds this kernel; errors as in [`build`].
    pub fn build(&self, parameters: &Parameters) -> Result<Arc<dyn Kernel>> {
        (self.build)(&Values::resolve(self.name, self.parameters, parameters)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_builds_with_its_defaults() {
        for kernel in KERNELS {
            let built = kernel.build(&Parameters::default()).unwrap();
            assert!(built.blocks() > 0 && built.warps_per_block() > 0, "{}", kernel.name);
            assert!(built.operation(0, 0, 0).is_some(), "{}", kernel.name);
            assert!(!built.footprint().is_empty(), "{}", kernel.name);
            assert!(built.operation(u64::MAX, u32::MAX, u64::MAX).is_none(), "{}", kernel.name);
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
