//! A GPU whose memory is one half of all memory.

use super::super::check::Known;
use super::super::fail;
use super::super::machine::{GpuSpec, UnifiedSpec};
use super::super::machine_file::unified::UnifiedFile;
use super::{Build, KIB, MIB};
use crate::diagnostic::Result;

/// The largest line whose sectors are told apart.
const LINE: u64 = 2 * KIB;

impl Build<'_> {
    pub(super) fn unified(&self, file: &UnifiedFile) -> Result<UnifiedSpec> {
        let check = self.check;
        let page = check.power("gpu.unified.page", file.page.as_ref(), 4 * KIB, 4 * KIB..=2 * MIB)?;
        let share = file.host_share.as_ref();
        Ok(UnifiedSpec {
            host_share: check.count("gpu.unified.host_share", share, 20, 0..=100)?,
            page: page.value as u32,
        })
    }

    /// That the parts of a GPU fit together if its memory is one half of all.
    pub(super) fn fits_unified(&self, gpu: &GpuSpec, lines: (&Known, &Known)) -> Result<()> {
        let document = self.check.document;
        if gpu.unified.is_none() {
            return Ok(());
        }
        if gpu.count != 1 {
            let complaint =
                document.complain(None, format!("{} GPUs share the memory of the host", gpu.count));
            return fail(complaint.expected("one GPU with gpu.memory.home = \"unified\""));
        }
        if !gpu.l2.present {
            let complaint = document.complain(None, "a GPU of this kind has its memory behind its L2");
            return fail(complaint.expected("gpu.l2.present = true"));
        }
        let (l1, l2) = lines;
        if l1.value != l2.value || l2.value > LINE {
            let span = l2.span.as_ref().or(l1.span.as_ref());
            let message = format!("lines are {} B in the L1 and {} B in the L2", l1.value, l2.value);
            return fail(document.complain(span, message).expected(format!("the same, {LINE} B or less")));
        }
        Ok(())
    }
}
