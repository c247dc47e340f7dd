//! The part of a machine file about GPUs of several sockets.

use schemars::JsonSchema;

use super::super::document::At;
use crate::model::units::Size;

/// GPUs that are the sockets of one large GPU and share their memories ("Beyond the Socket: NUMA-Aware GPUs").
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct NumaFile {
    /// Which socket's memory a page lives in. Default: "first-touch".
    pub placement: Option<PlacementWord>,
    /// Bytes of a page, a power of two from 256 B to 2 MiB; less than 4 KiB goes with a machine that is shrunk like its data.
    /// Default: "4 KiB".
    pub page: Option<At<Size>>,
    /// What the L2 of a socket caches (Fig. 7). Default: "shared".
    pub l2: Option<OrganisationWord>,
    /// Whether the L2 writes back or through, where it stands on the side of the SMs. Default: "back".
    pub write: Option<WriteWord>,
    /// Whether fences and kernel boundaries concern the L2. Without, values may be stale: the hypothetical L2 of section 5.2
    /// that ignores invalidations. Default: true.
    pub invalidate: Option<bool>,
    /// Cycles after which ways are dealt anew, with l2 = "partitioned". Default: 5000.
    pub sample: Option<At<u64>>,
    /// Percent from which on a bandwidth counts as saturated, 1 to 100. Default: 99.
    pub threshold: Option<At<u64>>,
}

/// Which socket's memory a page lives in (section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlacementWord {
    /// Addresses go round the slices of one socket, then of the next: pieces smaller than a page.
    Fine,
    /// Pages go round the sockets.
    Page,
    /// That of the first socket that accesses it.
    FirstTouch,
    /// Every array of the work is divided into as many equal ranges as there are sockets ("separate data ranges", "UMH", section
    /// 3.1.2).
    Split,
    /// That of the first socket, all of them ("data is allocated on only one device", "UMH", section 1).
    First,
}

/// What the L2 of a socket caches (Fig. 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OrganisationWord {
    /// (a) Lines of its own memory, for all sockets.
    MemorySide,
    /// (b) Half of it does that; the other half caches lines of other sockets.
    Static,
    /// (c) Whatever its own SMs access.
    Shared,
    /// (d) The same, in ways for local and ways for remote lines, in L1s and L2, that are dealt anew as it runs.
    Partitioned,
}

/// What an L2 does with stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WriteWord {
    Back,
    Through,
}
