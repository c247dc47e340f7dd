//! Bulk copies between host and GPUs.

use super::super::machine::CopiesSpec;
use super::super::machine_file::copies::{CopierWord, CopiesFile, SideWord};
use super::Build;
use crate::diagnostic::Result;
use crate::policy::copies::{CopyPolicy, Side};

impl Build<'_> {
    /// The copies that a file asks for.
    pub(super) fn copies(&self, file: &CopiesFile) -> Result<CopiesSpec> {
        Ok(CopiesSpec {
            policy: match file.by {
                Some(CopierWord::Runtime) => CopyPolicy::Runtime,
                Some(CopierWord::Programmer) | None => CopyPolicy::Programmer,
            },
            share: self.check.thousandths("gpu.copies.share", file.share.as_ref())?,
            start: match file.start {
                Some(SideWord::Gpu) => Side::Gpu,
                Some(SideWord::Host) | None => Side::Host,
            },
        })
    }
}
