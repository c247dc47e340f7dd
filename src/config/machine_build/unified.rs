//! A GPU whose memory is one half of all memory.

use super::super::check::Known;
use super::super::document::At;
use super::super::fail;
use super::super::machine::{GpuHome, GpuSpec, RemoteDirectorySpec, UnifiedSpec};
use super::super::machine_file::unified::{RemoteDirectoryFile, UnifiedFile};
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

    /// The remote directory of a GPU whose memory is one half of all.
    pub(super) fn remote_directory(
        &self,
        file: Option<&RemoteDirectoryFile>,
        home: GpuHome,
    ) -> Result<Option<RemoteDirectorySpec>> {
        let (check, Some(file)) = (self.check, file) else { return Ok(None) };
        let key = |name: &str| format!("gpu.remote_directory.{name}");
        if home != GpuHome::Unified {
            let message = "gpu.remote_directory is about lines that the CPU caches";
            let complaint = check.document.complain_about("gpu.remote_directory", message);
            return fail(complaint.expected("gpu.memory.home = \"unified\""));
        }
        let power = |name: &str, given: Option<&At<u64>>, usual: u32, limits| {
            let count = check.count(&key(name), given, usual, limits)?;
            if count.is_power_of_two() {
                return Ok(count);
            }
            let span = given.map(|given| &given.span);
            let complaint = check.document.complain(span, format!("{} is {count}", key(name)));
            fail(complaint.expected("a power of two"))
        };
        Ok(Some(RemoteDirectorySpec {
            lines: power("lines", file.lines.as_ref(), 1 << 16, 4..=1 << 24)?,
            ways: power("ways", file.ways.as_ref(), 4, 1..=16)?,
            bits: check.count(&key("bits"), file.bits.as_ref(), 8, 2..=16)?,
            high_water: check.count(&key("high_water"), file.high_water.as_ref(), 100, 1..=100)?,
            flush: check.time(&key("flush"), file.flush.as_ref(), 3_000_000)?,
        }))
    }

    /// That the parts of a GPU fit together if its memory is one half of all.
    pub(super) fn fits_unified(&self, gpu: &GpuSpec, lines: (&Known, &Known)) -> Result<()> {
        let document = self.check.document;
        if gpu.unified.is_none() {
            return Ok(());
        }
        if gpu.count != 1 {
            let message = format!("{} GPUs share the memory of the host", gpu.count);
            let complaint = document.complain_about("gpu.count", message);
            return fail(complaint.expected("one GPU with gpu.memory.home = \"unified\""));
        }
        let filter = gpu.remote_directory.as_ref().map(|filter| (filter.lines, filter.ways * gpu.l2.slices));
        if let Some((lines, least)) = filter.filter(|(lines, least)| lines < least) {
            let message = format!("gpu.remote_directory.lines is {lines}");
            let least = least.next_power_of_two();
            let expected =
                format!("{least} or more: a bucket of gpu.remote_directory.ways for each of gpu.l2.slices");
            return fail(document.complain_about("gpu.remote_directory.lines", message).expected(expected));
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
