//! The part of a machine file about copies between the memories of host and GPUs.

use crate::policy::copies::CopyPolicy;
use crate::policy::copies::Side;
use schemars::JsonSchema;

use super::super::document::At;

/// Bulk copies between host memory and the memories of the GPUs (`memory.home = "numa"`), before tasks that need them: memcpy, or
/// unified memory in software ("UMH", sections 1 and 3). The host keeps its own memory and caches.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct CopiesFile {
    /// Who directs them. Default: "programmer".
    pub by: Option<CopyPolicy>,
    /// Memory of the GPUs in percent of the arrays that the work is about, such as 12.5; arrays that do not fit make room for each other between
    /// tasks, and what one task uses has to fit. Default: `memory.size`.
    pub share: Option<At<f64>>,
    /// Which side has the data at the start. Default: "host".
    pub start: Option<Side>,
}
