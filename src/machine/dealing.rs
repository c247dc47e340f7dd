//! How addresses are dealt over equal neighbours.

use crate::config::machine::{GpuSpec, HostSpec};
use crate::protocol::interleave::Interleave;

/// Over the slices of a GPU's L2 and the partitions of its memory.
pub(super) fn over_slices(gpu: &GpuSpec) -> Interleave {
    let l2 = &gpu.l2;
    Interleave { size: u64::from(l2.interleave), count: u64::from(l2.slices), hashed: l2.hash }
}

/// Over the HMDs.
pub(super) fn over_hmds(host: &HostSpec) -> Interleave {
    Interleave { size: u64::from(host.interleave), count: u64::from(host.hmds), hashed: host.hash }
}
