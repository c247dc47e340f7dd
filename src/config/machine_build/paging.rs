//! Paged GPU memory.

use super::super::machine::PagingSpec;
use super::super::machine_file::paging::PagingFile;
use super::{Build, KIB, MIB};
use crate::diagnostic::Result;

impl Build<'_> {
    /// The paging of a GPU's memory.
    pub(super) fn paging(&self, file: &PagingFile) -> Result<PagingSpec> {
        let check = self.check;
        let page = check.power("gpu.paging.page", file.page.as_ref(), 4 * KIB, 4 * KIB..=2 * MIB)?;
        let walk_cache = check.size("gpu.paging.walk_cache", file.walk_cache.as_ref(), 8 * KIB, 0..=MIB)?;
        let cycles = 0..=1_000_000;
        Ok(PagingSpec {
            page: page.value as u32,
            share: check.thousandths("gpu.paging.share", file.share.as_ref())?,
            faults: file.faults.unwrap_or_default(),
            far_faults: check.count("gpu.paging.far_faults", file.far_faults.as_ref(), 16, 1..=256)?,
            tlb: check.count("gpu.paging.tlb", file.tlb.as_ref(), 128, 1..=65_536)?,
            tlb_latency: check.count(
                "gpu.paging.tlb_latency",
                file.tlb_latency.as_ref(),
                10,
                cycles.clone(),
            )?,
            walkers: check.count("gpu.paging.walkers", file.walkers.as_ref(), 64, 1..=1024)?,
            levels: check.count("gpu.paging.levels", file.levels.as_ref(), 4, 1..=6)?,
            walk_cache: (walk_cache.value / 8) as u32,
            walk_cache_latency: check.count(
                "gpu.paging.walk_cache_latency",
                file.walk_cache_latency.as_ref(),
                20,
                cycles,
            )?,
            walk_memory: check.time("gpu.paging.walk_memory", file.walk_memory.as_ref(), 100_000)?,
            service: check.time("gpu.paging.service", file.service.as_ref(), 20_000_000)?,
            transfer_set: check.count(
                "gpu.paging.transfer_set",
                file.transfer_set.as_ref(),
                80,
                1..=65_536,
            )?,
            prefetch: file.prefetch.unwrap_or_default(),
            prefetch_when_full: file.prefetch_when_full.unwrap_or(false),
            evict: file.evict.unwrap_or_default(),
            precondition: file.precondition.unwrap_or(false),
            copy: file.copy.unwrap_or_default(),
            copy_back: file.copy_back.unwrap_or(false),
        })
    }
}
