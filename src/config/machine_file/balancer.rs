//! The part of a machine file about lanes that change their direction.

use schemars::JsonSchema;

use super::super::document::At;

/// The link load balancer of "Beyond the Socket: NUMA-Aware GPUs", section 4.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct BalancerFile {
    /// Whether lanes turn. Default: "dynamic".
    pub policy: Option<PolicyWord>,
    /// From one decision to the next, in core cycles, 1 to 1000000000. Default: 5000.
    pub sample: Option<At<u64>>,
    /// How long a lane belongs to neither direction while it turns, in core cycles, 0 to 1000000. Default: 100.
    pub turn: Option<At<u64>>,
    /// How busy a direction has to be in a sample to count as saturated, in percent, 1 to 100. Default: 99.
    pub threshold: Option<At<u64>>,
    /// What becomes of the lanes when a kernel is launched. Default: "symmetric".
    pub at_launch: Option<LaunchWord>,
}

/// Whether lanes turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PolicyWord {
    /// They stay; the links are sampled all the same.
    Static,
    /// From a direction that is not saturated to one that is, and back towards symmetry when both are.
    Dynamic,
}

/// What becomes of lanes when a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LaunchWord {
    /// They turn until each direction has as many.
    Symmetric,
    /// They stay.
    Keep,
}
