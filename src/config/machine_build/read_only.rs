//! Pages that are taken for read-only.

use super::super::fail;
use super::super::machine::{GpuHome, ReadOnlySpec};
use super::super::machine_file::read_only::{MarksWord, PagesWord, ReadOnlyFile};
use super::{Build, KIB, MIB};
use crate::diagnostic::Result;

impl Build<'_> {
    /// Which pages are taken for read-only, and what it costs to be wrong.
    pub(super) fn read_only(
        &self,
        file: Option<&ReadOnlyFile>,
        home: GpuHome,
        is_paged: bool,
    ) -> Result<Option<ReadOnlySpec>> {
        let Some(file) = file else { return Ok(None) };
        if matches!(home, GpuHome::Own | GpuHome::Numa) {
            let message = if home == GpuHome::Own {
                "gpu.read_only with gpu.memory.home = \"own\": pages that move are never taken for read-only"
            } else {
                "gpu.read_only with gpu.memory.home = \"numa\": taken for read-only are pages of the host, and all live on sockets"
            };
            let complaint = self.check.document.complain_about("gpu.read_only", message);
            return fail(complaint.expected("another gpu.memory.home with it"));
        }
        if is_paged {
            let message = "gpu.read_only and gpu.paging both say which pages a GPU may translate";
            return fail(
                self.check.document.complain_about("gpu.read_only", message).expected("one of them"),
            );
        }
        self.read_only_pages(file).map(Some)
    }

    fn read_only_pages(&self, file: &ReadOnlyFile) -> Result<ReadOnlySpec> {
        let check = self.check;
        let page = check.power("gpu.read_only.page", file.page.as_ref(), 4 * KIB, 4 * KIB..=2 * MIB)?;
        let latency = file.tlb_latency.as_ref();
        let limit = check.count("gpu.read_only.limit", file.limit.as_ref(), 0, 0..=1_000_000)?;
        let window = check.time("gpu.read_only.window", file.window.as_ref(), 100_000_000)?;
        let tlb = check.count("gpu.read_only.tlb", file.tlb.as_ref(), 1, 1..=65_536)?;
        Ok(ReadOnlySpec {
            page: page.value as u32,
            everywhere: file.pages == Some(PagesWord::All),
            every_launch: file.marks == Some(MarksWord::Launch),
            host_fault: check.time("gpu.read_only.host_fault", file.host_fault.as_ref(), 4_000_000)?,
            gpu_fault: check.time("gpu.read_only.gpu_fault", file.gpu_fault.as_ref(), 20_000_000)?,
            pending: check.count("gpu.read_only.pending", file.pending.as_ref(), 16, 1..=256)?,
            limit: file.limit.as_ref().map(|_| (limit, window)),
            tlb: file.tlb.as_ref().map(|_| tlb),
            tlb_latency: check.count("gpu.read_only.tlb_latency", latency, 10, 0..=1_000_000)?,
            walkers: check.count("gpu.read_only.walkers", file.walkers.as_ref(), 64, 1..=1024)?,
            walk: check.time("gpu.read_only.walk", file.walk.as_ref(), 500_000)?,
        })
    }
}
