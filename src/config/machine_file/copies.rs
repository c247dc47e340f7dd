//! The part of a machine file about copies between the memories of host and GPUs.

use schemars::JsonSchema;

use super::super::document::At;

/// Bulk copies between host memory and the memories of the GPUs (`memory.home = "numa"`), before tasks that need them: memcpy, or
/// unified memory in software ("UMH", sections 1 and 3). The host keeps its own memory and caches.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct CopiesFile {
    /// Who directs them. Default: "programmer".
    pub by: Option<CopierWord>,
    /// Memory of the GPUs in percent of what the work touches, such as 12.5; arrays that do not fit make room for each other between
    /// tasks, and what one task uses has to fit. Default: `memory.size`.
    pub share: Option<At<f64>>,
    /// Which side has the data at the start. Default: "host".
    pub start: Option<SideWord>,
}

/// Who directs copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CopierWord {
    /// Before a task, the arrays that it uses and the other side has written since; after the last, those that GPUs have written.
    Programmer,
    /// Before a task, all data, unless its side had them last: whoever had them last is assumed to have modified them all.
    Runtime,
}

/// Host memory, or the memories of the GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SideWord {
    Host,
    Gpu,
}
