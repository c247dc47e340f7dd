//! The part of a machine file about GPU memory that is a cache with its tags in DRAM.

use schemars::JsonSchema;

use super::super::document::At;
use crate::model::units::Size;

/// GPU memory as a direct-mapped cache of the host's memory. Its tags stand in banks of their own and are read beside the data;
/// what misses goes to a tag miss handler ("`ScaleGPU`: GPU Architecture for Memory-Unaware GPU Programming").
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct TagsFile {
    /// Data that one tag stands for, a power of two from 64 B to 16 KiB, and no more than a row. Default: a row.
    pub data: Option<At<Size>>,
    /// GPU memory in percent of the arrays that the work is about, such as 12.5, in place of `memory.size`. Default: as `memory.size` says.
    pub share: Option<At<f64>>,
    /// Banks of a channel that hold tags and no data. Default: 1.
    pub banks: Option<At<u64>>,
    /// Requests that the tag miss handler of a partition holds, 1 to 4096. Default: 32.
    pub pending: Option<At<u64>>,
    /// Entries of its scoreboard: tags whose data are awaited at once, 1 to 4096. Default: 32.
    pub scoreboard: Option<At<u64>>,
    /// Protocol of the memory. Default: "scale-memory".
    pub protocol: Option<At<String>>,
}
