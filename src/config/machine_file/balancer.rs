//! The part of a machine file about lanes that change their direction.

use super::super::machine::AtLaunch;
use crate::policy::lanes::LanePolicy;
use schemars::JsonSchema;

use super::super::document::At;

/// The link load balancer of "Beyond the Socket: NUMA-Aware GPUs", section 4.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct BalancerFile {
    /// Whether lanes turn. Default: "dynamic".
    pub policy: Option<LanePolicy>,
    /// From one decision to the next, in core cycles, 1 to 1000000000. Default: 5000.
    pub sample: Option<At<u64>>,
    /// How long a lane belongs to neither direction while it turns, in core cycles, 0 to 1000000. Default: 100.
    pub turn: Option<At<u64>>,
    /// How busy a direction has to be in a sample to count as saturated, in percent, 1 to 100. Default: 99.
    pub threshold: Option<At<u64>>,
    /// What becomes of the lanes when a kernel is launched. Default: "symmetric".
    pub at_launch: Option<AtLaunch>,
}
