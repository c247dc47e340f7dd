//! GPUs of several sockets.

use super::super::fail;
use super::super::machine::{CacheSpec, NumaSpec, Organisation, PagingSpec};
use super::super::machine_file::numa::{NumaFile, WriteWord};
use super::{Build, KIB, MIB};
use crate::config::check::Known;
use crate::diagnostic::Result;
use crate::model::units::Size;
use crate::policy::placement::Placement;

impl Build<'_> {
    /// What makes one GPU of several sockets. An L2 that names no protocol of its own gets that of its organisation.
    pub(super) fn numa(
        &self,
        file: &NumaFile,
        (l1, l2): (&CacheSpec, &mut CacheSpec),
        paging: Option<&PagingSpec>,
        has_copies: bool,
    ) -> Result<NumaSpec> {
        let check = self.check;
        let organisation = file.l2.unwrap_or_default();
        // Smaller than a real page: for machines that are shrunk with their data.
        let usual = paging.map_or(4 * KIB, |paging| u64::from(paging.page));
        let page = check.power("gpu.numa.page", file.page.as_ref(), usual, 256..=2 * MIB)?;
        self.fits_paging(file, &page, paging)?;
        // A line has one home.
        let line = Known { value: u64::from(l2.line), span: None };
        check.at_most(("gpu.l2.line", &line), ("gpu.numa.page", &page))?;
        if !matches!(organisation, Organisation::MemorySide | Organisation::Shared) && l2.ways < 2 {
            let message = "an L2 of one way cannot be divided";
            let complaint = check.document.complain_about("gpu.l2.ways", message);
            return fail(complaint.expected("gpu.l2.ways of 2 or more"));
        }
        if organisation == Organisation::Partitioned && l1.ways < 2 {
            let message = "an L1 of one way cannot be partitioned";
            let complaint = check.document.complain_about("gpu.l1.ways", message);
            return fail(complaint.expected("gpu.l1.ways of 2 or more"));
        }
        let is_home_side = matches!(organisation, Organisation::MemorySide | Organisation::Static);
        if is_home_side && file.write == Some(WriteWord::Through) {
            let message = "the L2 in front of a memory has the last copy of its lines, and writes back";
            let complaint = check.document.complain_about("gpu.numa.write", message);
            return fail(complaint.expected("gpu.numa.l2 = \"shared\" or \"partitioned\" with it"));
        }
        let usual = match (organisation, file.write) {
            (Organisation::MemorySide | Organisation::Static, _) => "gpu-memory-side",
            (_, Some(WriteWord::Through)) => "gpu-write-through",
            (_, Some(WriteWord::Back) | None) => "gpu-coherent",
        };
        let own = l2.protocol.get_or_insert_with(|| usual.to_owned());
        if file.write.is_some() && own != usual {
            let message = format!("gpu.l2.protocol is {own}, and says itself how the L2 writes");
            let complaint = check.document.complain_about("gpu.numa.write", message);
            return fail(complaint.expected(format!("{usual}, or no gpu.numa.write with another protocol")));
        }
        Ok(NumaSpec {
            placement: self.placement(file, has_copies)?,
            page: page.value as u32,
            organisation,
            remote: (organisation == Organisation::Static).then(|| "gpu-write-through".to_owned()),
            invalidate: file.invalidate.unwrap_or(true),
            sample: check.count("gpu.numa.sample", file.sample.as_ref(), 5000, 1..=1_000_000_000)?,
            threshold: check.count("gpu.numa.threshold", file.threshold.as_ref(), 99, 1..=100)?,
        })
    }

    /// Where pages live. What is copied there before a task has to have a place.
    fn placement(&self, file: &NumaFile, has_copies: bool) -> Result<Placement> {
        if has_copies && file.placement == Some(Placement::FirstTouch) {
            let message =
                "what is copied to GPUs before they touch it cannot go to the one that touches it first";
            let complaint = self.check.document.complain_about("gpu.numa.placement", message);
            return fail(complaint.expected("split, page, fine or first with gpu.copies"));
        }
        let usual = if has_copies { Placement::Split } else { Placement::default() };
        Ok(file.placement.unwrap_or(usual))
    }

    /// Pages that are brought to sockets live on one of them.
    fn fits_paging(&self, file: &NumaFile, page: &Known, paging: Option<&PagingSpec>) -> Result<()> {
        let Some(paging) = paging else { return Ok(()) };
        let (complaint, expected) = if page.value != u64::from(paging.page) {
            let sizes = (Size(page.value), Size(u64::from(paging.page)));
            let text =
                format!("gpu.numa.page is {}, gpu.paging.page {}: a page has one size", sizes.0, sizes.1);
            (text, "the same for both, or only gpu.paging.page".to_owned())
        } else if file.placement == Some(Placement::Fine) {
            let text =
                "gpu.numa.placement = \"fine\" deals pieces of a page, and gpu.paging brings whole pages";
            (text.to_owned(), "\"first-touch\", \"page\", \"split\" or \"first\"".to_owned())
        } else {
            return Ok(());
        };
        fail(self.check.document.complain(page.span.as_ref(), complaint).expected(expected))
    }
}
