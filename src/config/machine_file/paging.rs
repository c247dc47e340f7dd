//! The part of a machine file about paged GPU memory.

use super::super::machine::CopyMode;
use super::super::machine::FaultMode;
use crate::policy::eviction::Evictor;
use crate::policy::prefetch::Prefetcher;
use schemars::JsonSchema;

use super::super::document::At;
use crate::model::units::{Duration, Size};

/// Paged GPU memory ("Towards High Performance Paged Memory for GPUs").
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct PagingFile {
    /// Bytes of a page, a power of two from 4 KiB to 2 MiB. Default: "4 KiB".
    pub page: Option<At<Size>>,
    /// GPU memory as a share of the memory that the work touches, in percent, such as 12.5. Default: all of
    /// `gpu.memory.size` on each partition.
    pub share: Option<At<f64>>,
    /// What a far-fault does to its compute unit. Default: "replay".
    pub faults: Option<FaultMode>,
    /// Far-faults that the GMMU tracks for each compute unit, 1 to 256; where they block it, it has one. Default: 16.
    pub far_faults: Option<At<u64>>,
    /// Entries of the TLB of a compute unit, 1 to 65536. Default: 128.
    pub tlb: Option<At<u64>>,
    /// Pages that a TLB looks up in a core cycle, each for all lines of an instruction, 1 to 64. Default: 4.
    pub tlb_ports: Option<At<u64>>,
    /// From a TLB to the GMMU and back, one way, in core cycles, 0 to 1000000. Default: 10.
    pub tlb_latency: Option<At<u64>>,
    /// Page walks at the same time, 1 to 1024. Default: 64.
    pub walkers: Option<At<u64>>,
    /// Levels of the page table, 1 to 6. Default: 4.
    pub levels: Option<At<u64>>,
    /// The page walk cache; its entries have 8 bytes. Default: "8 KiB".
    pub walk_cache: Option<At<Size>>,
    /// A level that the page walk cache has, in core cycles, 0 to 1000000. Default: 20.
    pub walk_cache_latency: Option<At<u64>>,
    /// A level that memory is asked for. Default: "100 ns".
    pub walk_memory: Option<At<Duration>>,
    /// From the interrupt that wakes the driver to the submission of a transfer set: far-faults that come meanwhile go with it, and
    /// wait for less; 1 ns to 1 s. Default: "20 us".
    pub service: Option<At<Duration>>,
    /// Pages in a transfer set, 1 to 65536; nothing is prefetched beyond so many in flight. Default: 80.
    pub transfer_set: Option<At<u64>>,
    /// What fills a transfer set that far-faults did not fill. Default: "none".
    pub prefetch: Option<At<Prefetcher>>,
    /// Prefetching goes on when GPU memory is full. Default: false.
    pub prefetch_when_full: Option<At<bool>>,
    /// Which page leaves a full GPU memory. Default: "random".
    pub evict: Option<At<Evictor>>,
    /// Until GPU memory is full for the first time, prefetch as the oracle does (section 5). Default: false.
    pub precondition: Option<At<bool>>,
    /// When the data of the work come to the GPU. Default: "on-demand".
    pub copy: Option<At<CopyMode>>,
    /// After the last task, pages that were written go back to the host. Default: false.
    pub copy_back: Option<At<bool>>,
}
