//! The CPU, its caches, and the directories in front of its memory.

use super::super::check::Known;
use super::super::fail;
use super::super::machine::{CacheSpec, GpuSpec, HostSpec};
use super::super::machine_file::{CacheFile, HostFile, LlcFile};
use super::cache::CacheDefaults;
use super::{Build, GIB, KIB, MEMORY, MIB};
use crate::diagnostic::Result;
use crate::model::units::Size;

impl Build<'_> {
    pub(super) fn host(
        &self,
        file: &HostFile,
        gpu: Option<&GpuSpec>,
        gpu_block: Option<&Known>,
    ) -> Result<HostSpec> {
        let check = self.check;
        let is_apart = gpu.is_some_and(|gpu| gpu.remote_directory.is_some());
        // Of a coherent GPU it keeps to the machine's protocol, as all caches do.
        let client = |file| self.client(file, gpu_block, is_apart.then_some("selective-client"));
        let cores = check.count("host.cores", file.cores.as_ref(), 1, 0..=64)?;
        let l1_defaults =
            CacheDefaults { size: 32 * KIB, ways: 8, line: 64, latency: 4, fill: Some(1), mshrs: 8 };
        let (l1, l1_line) =
            self.cache("host.l1", file.l1.as_ref().unwrap_or(&CacheFile::default()), &l1_defaults)?;
        let (llc, cpu_block, cpu_key) = match self.llc(file, &l1_line)? {
            Some((llc, line)) => (Some(llc), line, "host.llc.line"),
            None => (None, l1_line, "host.l1.line"),
        };
        let cpu_block = (cores > 0).then_some(cpu_block);
        let largest = [cpu_block.as_ref(), gpu_block].into_iter().flatten().map(|known| known.value).max();
        let block = check.power("host.block", file.block.as_ref(), largest.unwrap_or(64), 8..=64 * KIB)?;
        self.fits_new_gpu(&block, gpu_block)?;
        for (key, below) in [(cpu_key, cpu_block.as_ref()), ("the block of a GPU", gpu_block)] {
            if let Some(below) = below {
                check.at_most((key, below), ("host.block", &block))?;
            }
        }
        let key = "host.interleave";
        let interleave = check.power(key, file.interleave.as_ref(), block.value.max(4 * KIB), 8..=GIB)?;
        check.at_most(("host.block", &block), (key, &interleave))?;
        let dram = file.dram.clone().unwrap_or_default();
        Ok(HostSpec {
            cores,
            clock: check.clock("host.clock", file.clock.as_ref(), 2_400_000_000)?,
            outstanding: check.count("host.outstanding", file.outstanding.as_ref(), 1, 1..=64)?,
            l1,
            llc: llc.filter(|_| cores > 0),
            hmds: check.choice("host.hmds", file.hmds.as_ref(), &[1, 2, 4, 8])?,
            interleave: interleave.value as u32,
            hash: file.hash.unwrap_or(false),
            block: block.value as u32,
            latency: check.time("host.latency", file.latency.as_ref(), 500)?,
            hop: check.time("host.hop", file.hop.as_ref(), 2_000)?,
            memory: Size(check.size("host.memory", file.memory.as_ref(), 8 * GIB, 4 * KIB..=MEMORY)?.value),
            dram: self.dram("host.dram", &dram, (16, 8 * KIB, 14_000, 25_600_000_000, false))?,
            peer_transfer: file.peer_transfer.unwrap_or(false),
            client: file.client.as_ref().map(client).transpose()?,
        })
    }

    /// A key of a GPU that is set gives one to a machine without: that its blocks fit is told of that key.
    fn fits_new_gpu(&self, block: &Known, gpu_block: Option<&Known>) -> Result<()> {
        let document = self.check.document;
        let Some(larger) = gpu_block.filter(|gpu| gpu.value > block.value && document.is_set("gpu")) else {
            return Ok(());
        };
        let (larger, block) = (Size(larger.value), Size(block.value));
        let message = format!(
            "this gives a GPU to a machine that has none; its block of {larger} is larger than host.block ({block})"
        );
        let expected = format!("a machine with GPUs, or host.block = \"{larger}\" with it");
        fail(document.complain_about("gpu", message).expected(expected))
    }

    /// The cache for what GPUs ask.
    fn client(
        &self,
        file: &CacheFile,
        gpu_block: Option<&Known>,
        protocol: Option<&str>,
    ) -> Result<CacheSpec> {
        let line = gpu_block.map_or(128, |block| block.value);
        let defaults = CacheDefaults { size: 512 * KIB, ways: 8, line, latency: 200, fill: None, mshrs: 128 };
        let (mut cache, known) = self.cache("host.client", file, &defaults)?;
        if let Some(block) = gpu_block {
            self.check.at_most(("the line of a GPU", block), ("host.client.line", &known))?;
        }
        cache.protocol = cache.protocol.or_else(|| protocol.map(str::to_owned));
        Ok(cache)
    }

    /// That whoever has a cache for GPUs has a GPU that uses it.
    pub(super) fn fits_client(&self, gpu: Option<&GpuSpec>, host: &HostSpec) -> Result<()> {
        let document = self.check.document;
        let Some(client) = &host.client else { return Ok(()) };
        if gpu.is_none_or(|gpu| gpu.unified.is_none()) {
            let message = "host.client is for a GPU that asks for lines of host memory";
            let complaint = document.complain_about("host.client", message);
            return fail(complaint.expected("gpu.memory.home = \"unified\""));
        }
        if client.line > host.block {
            let message =
                format!("host.client.line is {} B, larger than host.block ({} B)", client.line, host.block);
            let complaint = document.complain_about("host.client.line", message);
            return fail(complaint.expected(format!("{} B or less", host.block)));
        }
        Ok(())
    }

    fn llc(&self, file: &HostFile, l1_line: &Known) -> Result<Option<(CacheSpec, Known)>> {
        let default = CacheFile::default();
        let cache = match &file.llc {
            Some(LlcFile::Switch(false)) => return Ok(None),
            Some(LlcFile::Switch(true)) | None => &default,
            Some(LlcFile::Cache(cache)) => cache.as_ref(),
        };
        let defaults = CacheDefaults {
            size: 2 * MIB,
            ways: 16,
            line: l1_line.value.max(64),
            latency: 30,
            fill: None,
            mshrs: 32,
        };
        let (llc, mut line) = self.cache("host.llc", cache, &defaults)?;
        line.span = line.span.or_else(|| l1_line.span.clone());
        self.check.at_most(("host.l1.line", l1_line), ("host.llc.line", &line))?;
        Ok(Some((llc, line)))
    }
}
