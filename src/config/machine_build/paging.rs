//! Paged GPU memory.

use std::ops::Range;

use super::super::document::At;
use super::super::fail;
use super::super::machine::{CopyMode, GpuHome, PagingSpec, WALK_ENTRY};
use super::super::machine_file::paging::PagingFile;
use super::{Build, KIB, MIB};
use crate::diagnostic::Result;
use crate::model::units::{Duration, Size};
use crate::policy::prefetch::Prefetcher;

/// What a key was given, or its default.
fn value<T: Copy + Default>(key: Option<&At<T>>) -> T {
    key.map(|key| key.value).unwrap_or_default()
}

/// Where a key was given.
fn span<T>(key: Option<&At<T>>) -> Option<&Range<usize>> {
    key.map(|key| &key.span)
}

impl Build<'_> {
    /// The paging of a GPU: always of one with memory of its own, and of others if the file says so.
    pub(super) fn paging(&self, file: Option<&PagingFile>, home: GpuHome) -> Result<Option<PagingSpec>> {
        let Some(file) = file.cloned().or_else(|| (home == GpuHome::Own).then(PagingFile::default)) else {
            return Ok(None);
        };
        if !matches!(home, GpuHome::Own | GpuHome::Numa) {
            self.only_maps(&file)?;
        }
        self.agrees(&file)?;
        self.pages(&file).map(Some)
    }

    /// That nothing is said of pages that move, where they are only mapped.
    fn only_maps(&self, file: &PagingFile) -> Result<()> {
        let moving = [
            ("share", span(file.share.as_ref())),
            ("evict", span(file.evict.as_ref())),
            ("prefetch_when_full", span(file.prefetch_when_full.as_ref())),
            ("precondition", span(file.precondition.as_ref())),
            ("copy", span(file.copy.as_ref())),
            ("copy_back", span(file.copy_back.as_ref())),
        ];
        let Some((key, span)) = moving.into_iter().find_map(|(key, span)| Some((key, span?))) else {
            return Ok(());
        };
        let message = format!(
            "gpu.paging.{key} is about pages that move, and here the hardware moves data: far-faults only map pages"
        );
        let complaint = self.check.document.complain(Some(span), message);
        fail(complaint.expected("gpu.memory.home = \"own\" or \"numa\" with it"))
    }

    /// That what copies all data leaves nothing to do for what brings pages one by one.
    fn agrees(&self, file: &PagingFile) -> Result<()> {
        if value(file.copy.as_ref()) == CopyMode::OnDemand {
            return Ok(());
        }
        let prefetch =
            span(file.prefetch.as_ref()).filter(|_| value(file.prefetch.as_ref()) != Prefetcher::None);
        let precondition = span(file.precondition.as_ref()).filter(|_| value(file.precondition.as_ref()));
        let (key, span) = match (prefetch, precondition) {
            (Some(span), _) => ("prefetch", span),
            (None, Some(span)) => ("precondition", span),
            (None, None) => return Ok(()),
        };
        let message = format!(
            "gpu.paging.{key} chooses pages to bring, and gpu.paging.copy brings all before any far-faults"
        );
        fail(self.check.document.complain(Some(span), message).expected("one of them"))
    }

    fn pages(&self, file: &PagingFile) -> Result<PagingSpec> {
        let check = self.check;
        let page = check.power("gpu.paging.page", file.page.as_ref(), 4 * KIB, 4 * KIB..=2 * MIB)?;
        let walk_cache = check.size("gpu.paging.walk_cache", file.walk_cache.as_ref(), 8 * KIB, 0..=MIB)?;
        if !walk_cache.value.is_multiple_of(WALK_ENTRY) {
            let message = format!("gpu.paging.walk_cache is {}", Size(walk_cache.value));
            let complaint = check.document.complain(walk_cache.span.as_ref(), message);
            return fail(complaint.expected(format!("a multiple of {WALK_ENTRY} B, an entry")));
        }
        let cycles = 0..=1_000_000;
        Ok(PagingSpec {
            page: page.value as u32,
            share: check.thousandths("gpu.paging.share", file.share.as_ref())?,
            faults: file.faults.unwrap_or_default(),
            far_faults: check.count("gpu.paging.far_faults", file.far_faults.as_ref(), 16, 1..=256)?,
            tlb: check.count("gpu.paging.tlb", file.tlb.as_ref(), 128, 1..=65_536)?,
            tlb_ports: check.count("gpu.paging.tlb_ports", file.tlb_ports.as_ref(), 4, 1..=64)?,
            tlb_latency: check.count(
                "gpu.paging.tlb_latency",
                file.tlb_latency.as_ref(),
                10,
                cycles.clone(),
            )?,
            walkers: check.count("gpu.paging.walkers", file.walkers.as_ref(), 64, 1..=1024)?,
            levels: check.count("gpu.paging.levels", file.levels.as_ref(), 4, 1..=6)?,
            walk_cache: (walk_cache.value / WALK_ENTRY) as u32,
            walk_cache_latency: check.count(
                "gpu.paging.walk_cache_latency",
                file.walk_cache_latency.as_ref(),
                20,
                cycles,
            )?,
            walk_memory: check.time("gpu.paging.walk_memory", file.walk_memory.as_ref(), 100_000)?,
            // Without any time pages would come and go in one moment, for ever.
            service: self.check.within(
                "gpu.paging.service",
                file.service.as_ref(),
                Duration(20_000_000),
                |time| (1_000..=1_000_000_000_000).contains(&time.0),
                "1 ns to 1 s",
            )?,
            transfer_set: check.count(
                "gpu.paging.transfer_set",
                file.transfer_set.as_ref(),
                80,
                1..=65_536,
            )?,
            prefetch: value(file.prefetch.as_ref()),
            prefetch_when_full: value(file.prefetch_when_full.as_ref()),
            evict: value(file.evict.as_ref()),
            precondition: value(file.precondition.as_ref()),
            copy: value(file.copy.as_ref()),
            copy_back: value(file.copy_back.as_ref()),
        })
    }
}
