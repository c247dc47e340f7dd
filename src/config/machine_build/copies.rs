//! Bulk copies between host and GPUs.

use super::super::fail;
use super::super::machine::{CopiesSpec, GpuHome};
use super::super::machine_file::copies::{CopierWord, CopiesFile, SideWord};
use super::Build;
use crate::diagnostic::Result;
use crate::policy::copies::{CopyPolicy, Side};

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
            return fail(self.check.document.complain(None, message));
        }
        if is_paged {
            let message = "gpu.copies and gpu.paging both bring data to the memories of the GPUs";
            return fail(self.check.document.complain(None, message).expected("one of them"));
        }
        Ok(Some(CopiesSpec {
            policy: match file.by {
                Some(CopierWord::Runtime) => CopyPolicy::Runtime,
                Some(CopierWord::Programmer) | None => CopyPolicy::Programmer,
            },
            share: self.check.thousandths("gpu.copies.share", file.share.as_ref())?,
            start: match file.start {
                Some(SideWord::Gpu) => Side::Gpu,
                Some(SideWord::Host) | None => Side::Host,
            },
        }))
    }
}
