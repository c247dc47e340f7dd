//! The part of a machine file about pages that are taken for read-only.

use schemars::JsonSchema;

use super::super::document::At;
use crate::model::units::{Duration, Size};

/// Promiscuous read-only caching ("Selective GPU Caches", section 3.3): pages are taken for read-only when the GPU begins to
/// work, so that it may cache them; the first write to one is a protection fault.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct ReadOnlyFile {
    /// Bytes of a page, a power of two from 4 KiB to 2 MiB. Default: "4 KiB".
    pub page: Option<At<Size>>,
    /// Which pages. Default: "host".
    pub pages: Option<PagesWord>,
    /// When they are marked. Default: "once".
    pub marks: Option<MarksWord>,
    /// From a core's fault to the change of the page. Default: "4 us".
    pub host_fault: Option<At<Duration>>,
    /// From the interrupt for a GPU's fault to the same. Default: "20 us".
    pub gpu_fault: Option<At<Duration>>,
    /// Faults that a compute unit may have pending, 1 to 256; one more, and it takes no access. Default: 16.
    pub pending: Option<At<u64>>,
    /// Most faults in a window with which pages are still taken for read-only, 0 to 1000000. Default: any number.
    pub limit: Option<At<u64>>,
    /// The window of `limit`. Default: "100 us".
    pub window: Option<At<Duration>>,
    /// Entries of the TLB of a compute unit, 1 to 65536. Default: all pages, so that only what was shot down is walked for, as on
    /// machines whose translations cost nothing.
    pub tlb: Option<At<u64>>,
    /// From a TLB to the GMMU and back, one way, in core cycles, 0 to 1000000. Default: 10.
    pub tlb_latency: Option<At<u64>>,
    /// Page walks at the same time, 1 to 1024. Default: 64.
    pub walkers: Option<At<u64>>,
    /// A page walk. Default: "500 ns".
    pub walk: Option<At<Duration>>,
}

/// Pages that are taken for read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PagesWord {
    /// Those of host memory (section 4).
    Host,
    /// Those of GPU memory, too: lines that the remote directory claims may be cached if they are in such a page.
    All,
}

/// When pages are marked as read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MarksWord {
    /// Before the first work of a GPU.
    Once,
    /// Whenever a kernel is launched, those that were written since, too.
    Launch,
}
