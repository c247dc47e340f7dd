//! The part of a machine file about GPUs of several sockets.

use super::super::machine::Organisation;
use crate::policy::placement::Placement;
use schemars::JsonSchema;

use super::super::document::At;
use crate::model::units::Size;

/// GPUs that are the sockets of one large GPU and share their memories ("Beyond the Socket: NUMA-Aware GPUs").
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct NumaFile {
    /// Which socket's memory a page lives in. Default: "first-touch".
    pub placement: Option<Placement>,
    /// Bytes of a page, a power of two from 256 B to 2 MiB; less than 4 KiB goes with a machine that is shrunk like its data.
    /// Default: "4 KiB".
    pub page: Option<At<Size>>,
    /// What the L2 of a socket caches (Fig. 7). Default: "shared".
    pub l2: Option<Organisation>,
    /// Whether the L2 writes back or through, where it stands on the side of the SMs. Default: "back".
    pub write: Option<WriteWord>,
    /// Whether fences and kernel boundaries concern the L2. Without, values may be stale: the hypothetical L2 of section 5.2
    /// that ignores invalidations. Default: true.
    pub invalidate: Option<bool>,
    /// Cycles after which ways are dealt anew, at the next event, with l2 = "partitioned"; 1 to 1000000000. Default: 5000.
    pub sample: Option<At<u64>>,
    /// Percent from which on a bandwidth counts as saturated, 1 to 100. Default: 99.
    pub threshold: Option<At<u64>>,
}

/// What an L2 does with stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WriteWord {
    Back,
    Through,
}
