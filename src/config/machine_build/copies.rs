//! Bulk copies between host and GPUs.

use super::super::fail;
use super::super::machine::{CopiesSpec, GpuHome};
use super::super::machine_file::copies::CopiesFile;
use super::Build;
use crate::diagnostic::Result;

impl Build<'_> {
    /// The copies that a file asks for.
    pub(super) fn copies(
        &self,
        file: Option<&CopiesFile>,
        home: GpuHome,
        is_paged: bool,
    ) -> Result<Option<CopiesSpec>> {
        let Some(file) = file else { return Ok(None) };
        if home != GpuHome::Numa {
            let message =
                "gpu.copies without gpu.memory.home = \"numa\": there are no memories to copy between";
            let complaint = self.check.document.complain_about("gpu.copies", message);
            return fail(complaint.expected("gpu.memory.home = \"numa\" with it"));
        }
        if is_paged {
            let message = "gpu.copies and gpu.paging both bring data to the memories of the GPUs";
            return fail(self.check.document.complain_about("gpu.copies", message).expected("one of them"));
        }
        Ok(Some(CopiesSpec {
            policy: file.by.unwrap_or_default(),
            share: self.check.thousandths("gpu.copies.share", file.share.as_ref())?,
            start: file.start.unwrap_or_default(),
        }))
    }
}
