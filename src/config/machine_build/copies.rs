//! Bulk copies between host and GPUs.

use super::super::fail;
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
            share: self.share(file)?,
            start: match file.start {
                Some(SideWord::Gpu) => Side::Gpu,
                Some(SideWord::Host) | None => Side::Host,
            },
        })
    }

    /// Percent with a decimal, in thousandths.
    fn share(&self, file: &CopiesFile) -> Result<Option<u32>> {
        let Some(share) = &file.share else { return Ok(None) };
        if !(0.1..=100.0).contains(&share.value) {
            let message = format!("gpu.copies.share is {}", share.value);
            let complaint = self.check.document.complain(Some(&share.span), message);
            return fail(complaint.expected("0.1 to 100 percent of what the work touches"));
        }
        Ok(Some((share.value * 10.0).round() as u32))
    }
}
