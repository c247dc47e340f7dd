//! The part of a machine file about pages that live in host memory or in GPU memory.

use schemars::JsonSchema;

use super::super::document::At;
use crate::model::units::Size;

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
