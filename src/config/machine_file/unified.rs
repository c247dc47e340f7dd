//! The part of a machine file about pages that live in host memory or in GPU memory.

use schemars::JsonSchema;

use super::super::document::At;
use crate::model::units::{Duration, Size};

/// The remote directory of a GPU that takes no part in the coherence of the CPU: which lines of its memory the CPU may have
/// ("Selective GPU Caches", section 3.1). A cuckoo filter, dealt over the slices of the memory.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct RemoteDirectoryFile {
    /// Lines that it has room for in all slices together, 4 to 16777216, a power of two. Default: 65536, which is 8 MiB of
    /// lines of 128 B.
    pub lines: Option<At<u64>>,
    /// Fingerprints in a bucket, a power of two, 1 to 16. Default: 4.
    pub ways: Option<At<u64>>,
    /// Bits of a fingerprint, 2 to 16. Default: 8.
    pub bits: Option<At<u64>>,
    /// Percent of its room from which on it counts as full, 1 to 100. Default: 100.
    pub high_water: Option<At<u64>>,
    /// What the software that flushes the CPU's caches when it is full takes, before the first line leaves. Default: "3 us".
    pub flush: Option<At<Duration>>,
}

/// One memory of two halves: each page lives in host memory or in the memory of the GPU, and both sides access it line by line
/// ("Selective GPU Caches", sections 3 and 4).
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct UnifiedFile {
    /// Percent of all pages that bandwidth-aware placement puts into host memory, 0 to 100. Default: 20.
    pub host_share: Option<At<u64>>,
    /// Bytes of a page, a power of two from 4 KiB to 2 MiB. Default: "4 KiB".
    pub page: Option<At<Size>>,
}
