//! From a machine file to a checked specification: defaults, limits, and what must fit together.

use std::ops::Range;
use std::path::Path;

use super::check::{Check, Known, around};
use super::document::{At, Document};
use super::machine::{
    CacheSpec, CuSpec, DramSpec, GpuHome, GpuMemorySpec, GpuSpec, HostSpec, L2Spec, MachineSpec, NetworkKind,
    NetworkSpec, Topology,
};
use super::machine_file::{
    CacheFile, DramFile, GpuFile, GpuMemoryFile, HomeWord, HostFile, L2File, LlcFile, MachineFile,
    NetworkFile, NetworkWord, TopologyWord,
};
use super::{Kind, fail, find};
use crate::diagnostic::Result;
use crate::model::time::gcd;
use crate::model::units::{Frequency, Size};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Blocks (lines or secondary blocks) that one cache or memory may have.
const BLOCKS: u64 = 1 << 26;

/// Memory of all GPUs, and of the host: an address space of 48 bits.
const MEMORY: u64 = 1 << 48;

/// Ticks a second that suit all clocks and whole picoseconds; more would leave too little simulated time.
const TICKS: u64 = 100_000_000_000_000_000;

/// What a cache is if its file says nothing.
struct CacheDefaults {
    size: u64,
    ways: u32,
    line: u64,
    latency: u32,
    mshrs: u32,
}

/// The machine that `file` describes.
pub(super) fn machine(file: &MachineFile, document: &Document, folder: Option<&Path>) -> Result<MachineSpec> {
    let build = Build { check: Check { document }, folder };
    let (gpu, gpu_block) = match &file.gpu {
        Some(gpu) => build.gpu(gpu).map(|(gpu, block)| (Some(gpu), Some(block)))?,
        None => (None, None),
    };
    let host = build.host(file.host.as_ref().unwrap_or(&HostFile::default()), gpu_block)?;
    if gpu.is_none() && host.cores == 0 {
        let span = file.host.as_ref().and_then(|host| host.cores.as_ref()).map(|cores| &cores.span);
        return fail(
            document.complain(span, "this machine has neither cores nor GPUs").expected("a core or a [gpu]"),
        );
    }
    build.clocks(file, gpu.as_ref(), &host)?;
    Ok(MachineSpec {
        name: file.name.clone().unwrap_or_else(|| document.source().name.to_string()),
        protocol: build.protocol(file.protocol.as_ref())?.unwrap_or_else(|| "nmoesi".to_owned()),
        values: file.values.unwrap_or(true),
        gpu,
        host,
        network: build.network(file.network.as_ref().unwrap_or(&NetworkFile::default()))?,
    })
}

/// The ways of a cache whose file names none: near to `usual`, and such that there is a power of two of sets.
fn default_ways(blocks: u64, usual: u64) -> u32 {
    let odd = blocks >> blocks.trailing_zeros();
    let doublings = (usual / odd).checked_ilog2().unwrap_or(0).min(blocks.trailing_zeros());
    u32::try_from(odd << doublings).unwrap_or(u32::MAX)
}

struct Build<'a> {
    check: Check<'a>,
    folder: Option<&'a Path>,
}

impl Build<'_> {
    /// The GPUs, and the largest block that they ask the host for.
    fn gpu(&self, file: &GpuFile) -> Result<(GpuSpec, Known)> {
        let check = self.check;
        let l1_defaults = CacheDefaults { size: 16 * KIB, ways: 4, line: 64, latency: 2, mshrs: 16 };
        let (l1, l1_line) =
            self.cache("gpu.l1", file.l1.as_ref().unwrap_or(&CacheFile::default()), &l1_defaults)?;
        let memory_file = file.memory.clone().unwrap_or_default();
        let (memory, secondary) = self.memory(&memory_file)?;
        let l2_file = file.l2.clone().unwrap_or_default();
        let (l2, l2_line) = self.l2(&l2_file, &l1_line, memory.home, &secondary)?;
        check.at_most(("gpu.l1.line", &l1_line), ("gpu.l2.line", &l2_line))?;
        let block = if memory.home == GpuHome::Smd {
            check.at_most(("gpu.l2.line", &l2_line), ("gpu.memory.secondary_block", &secondary))?;
            secondary
        } else {
            l2_line
        };
        let count = check.count("gpu.count", file.count.as_ref(), 1, 1..=8)?;
        let total = memory.size.0.saturating_mul(u64::from(l2.slices) * u64::from(count));
        if total > MEMORY {
            let span = memory_file.size.as_ref().map(|size| &size.span);
            let message = format!("the memories of all GPUs together are {}", Size(total));
            return fail(
                check.document.complain(span, message).expected(format!("{} or less", Size(MEMORY))),
            );
        }
        let smallest_line = l1_line.value;
        if u64::from(memory.mask_bytes) > smallest_line {
            let span = memory_file.mask_bytes.as_ref().map(|bytes| &bytes.span);
            return fail(check.document.complain(span, "a bit of the mask stands for more than a line"));
        }
        let clock = check.clock("gpu.clock", file.clock.as_ref(), 800_000_000)?;
        Ok((GpuSpec { count, clock, cu: self.cu(file)?, l1, l2, memory }, block))
    }

    fn cu(&self, file: &GpuFile) -> Result<CuSpec> {
        let check = self.check;
        let file = file.cu.clone().unwrap_or_default();
        let lanes = check.count("gpu.cu.lanes", file.lanes.as_ref(), 4, 1..=64)?;
        let size = file.wavefront_size.as_ref();
        Ok(CuSpec {
            count: check.count("gpu.cu.count", file.count.as_ref(), 1, 1..=64)?,
            wavefronts: check.count("gpu.cu.wavefronts", file.wavefronts.as_ref(), 4, 1..=64)?,
            lanes,
            wavefront_size: check.count("gpu.cu.wavefront_size", size, lanes, 1..=64)?,
            outstanding: check.count("gpu.cu.outstanding", file.outstanding.as_ref(), 1, 1..=64)?,
        })
    }

    fn l2(
        &self,
        file: &L2File,
        l1_line: &Known,
        home: GpuHome,
        secondary: &Known,
    ) -> Result<(L2Spec, Known)> {
        let check = self.check;
        let defaults =
            CacheDefaults { size: 128 * KIB, ways: 16, line: l1_line.value.max(64), latency: 20, mshrs: 32 };
        let plain = CacheFile {
            size: file.size.clone(),
            ways: file.ways.clone(),
            line: file.line.clone(),
            latency: file.latency.clone(),
            mshrs: file.mshrs.clone(),
            protocol: file.protocol.clone(),
        };
        let (cache, line) = self.cache("gpu.l2", &plain, &defaults)?;
        let block = if home == GpuHome::Smd { secondary.value } else { line.value };
        let key = "gpu.l2.interleave";
        let interleave =
            check.power(key, file.interleave.as_ref(), block.max(line.value).max(4 * KIB), 8..=GIB)?;
        check.at_most(("gpu.l2.line", &line), (key, &interleave))?;
        let latency = file.crossbar_latency.as_ref();
        let width = file.crossbar_width.as_ref();
        let spec = L2Spec {
            slices: check.count("gpu.l2.slices", file.slices.as_ref(), 1, 1..=16)?,
            cache,
            interleave: interleave.value as u32,
            crossbar_latency: check.count("gpu.l2.crossbar_latency", latency, 1, 0..=1_000_000)?,
            crossbar_width: check.count("gpu.l2.crossbar_width", width, 0, 0..=65_536)?,
        };
        Ok((spec, line))
    }

    fn memory(&self, file: &GpuMemoryFile) -> Result<(GpuMemorySpec, Known)> {
        let check = self.check;
        let home = match file.home {
            Some(HomeWord::Host) => GpuHome::Host,
            Some(HomeWord::Smd) | None => GpuHome::Smd,
        };
        let key = "gpu.memory.secondary_block";
        let secondary = check.power(key, file.secondary_block.as_ref(), 4 * KIB, 64..=16 * KIB)?;
        let size = check.size("gpu.memory.size", file.size.as_ref(), GIB, 64..=MEMORY)?;
        let ways = self.ways("gpu.memory", &size, file.ways.as_ref(), 4, &secondary)?;
        let dram = file.dram.clone().unwrap_or_default();
        let spec = GpuMemorySpec {
            home,
            size: Size(size.value),
            ways,
            secondary_block: secondary.value as u32,
            mask_bytes: check.choice("gpu.memory.mask_bytes", file.mask_bytes.as_ref(), &[1, 2, 4, 8])?,
            latency: check.count("gpu.memory.latency", file.latency.as_ref(), 2, 0..=1_000_000)?,
            mshrs: check.count("gpu.memory.mshrs", file.mshrs.as_ref(), 32, 1..=4096)?,
            dram: self.dram("gpu.memory.dram", &dram, (8, 2 * KIB, 12_000, 38_400_000_000, true))?,
        };
        Ok((spec, secondary))
    }

    fn cache(&self, key: &str, file: &CacheFile, defaults: &CacheDefaults) -> Result<(CacheSpec, Known)> {
        let check = self.check;
        let line = check.power(&format!("{key}.line"), file.line.as_ref(), defaults.line, 8..=16 * KIB)?;
        let size = check.size(&format!("{key}.size"), file.size.as_ref(), defaults.size, 8..=GIB)?;
        let ways = self.ways(key, &size, file.ways.as_ref(), defaults.ways, &line)?;
        let latency =
            check.count(&format!("{key}.latency"), file.latency.as_ref(), defaults.latency, 0..=1_000_000)?;
        let mshrs = check.count(&format!("{key}.mshrs"), file.mshrs.as_ref(), defaults.mshrs, 1..=4096)?;
        let protocol = self.protocol(file.protocol.as_ref())?;
        let spec =
            CacheSpec { size: Size(size.value), ways, line: line.value as u32, latency, mshrs, protocol };
        Ok((spec, line))
    }

    /// Ways of a cache of `size` with blocks of `line`, so that there is a power of two of sets.
    fn ways(
        &self,
        key: &str,
        size: &Known,
        given: Option<&At<u64>>,
        default: u32,
        line: &Known,
    ) -> Result<u32> {
        let document = self.check.document;
        let (bytes, block) = (Size(size.value), Size(line.value));
        let blocks = size.value / line.value.max(1);
        let place = size.span.as_ref().or(line.span.as_ref());
        if blocks == 0 || !size.value.is_multiple_of(line.value) {
            let complaint =
                document.complain(place, format!("{key}.size is {bytes}, no multiple of its block"));
            return fail(complaint.expected(format!("a multiple of {block}")));
        }
        if blocks > BLOCKS {
            let complaint = document.complain(place, format!("{key}.size makes {blocks} blocks of {block}"));
            return fail(complaint.expected(format!("{BLOCKS} blocks or fewer")));
        }
        let usual = default_ways(blocks, u64::from(default));
        let ways = u64::from(self.check.count(&format!("{key}.ways"), given, usual, 1..=65_536)?);
        let sets = blocks / ways.max(1);
        if sets == 0 || !blocks.is_multiple_of(ways) {
            let span = given.map(|ways| &ways.span).or(place);
            let message = format!("{key}.ways is {ways}, which does not divide {blocks} blocks of {block}");
            return fail(document.complain(span, message).expected(format!("a divisor of {blocks}")));
        }
        if !sets.is_power_of_two() {
            let (below, above) = around(sets);
            let message = format!("{key} has {sets} sets, which is not a power of two");
            let fits = |sets: u64| Size(sets * ways * line.value);
            let expected = format!("a size such as \"{}\" or \"{}\"", fits(below), fits(above));
            return fail(document.complain(place, message).expected(expected));
        }
        Ok(ways as u32)
    }

    /// A memory; the defaults are banks, row, each of its three times in picoseconds, bandwidth and whether it reopens.
    fn dram(&self, key: &str, file: &DramFile, defaults: (u32, u64, u64, u64, bool)) -> Result<DramSpec> {
        let check = self.check;
        let (banks, row, time, bandwidth, reopen) = defaults;
        Ok(DramSpec {
            banks: check.count(&format!("{key}.banks"), file.banks.as_ref(), banks, 1..=1024)?,
            row: check.power(&format!("{key}.row"), file.row.as_ref(), row, 64..=MIB)?.value as u32,
            cas: check.time(&format!("{key}.cas"), file.cas.as_ref(), time)?,
            activate: check.time(&format!("{key}.activate"), file.activate.as_ref(), time)?,
            precharge: check.time(&format!("{key}.precharge"), file.precharge.as_ref(), time)?,
            bandwidth: check.bandwidth(&format!("{key}.bandwidth"), file.bandwidth.as_ref(), bandwidth)?,
            always_reopen: file.always_reopen.unwrap_or(reopen),
        })
    }

    fn host(&self, file: &HostFile, gpu_block: Option<Known>) -> Result<HostSpec> {
        let check = self.check;
        let cores = check.count("host.cores", file.cores.as_ref(), 1, 0..=64)?;
        let l1_defaults = CacheDefaults { size: 32 * KIB, ways: 8, line: 64, latency: 4, mshrs: 8 };
        let (l1, l1_line) =
            self.cache("host.l1", file.l1.as_ref().unwrap_or(&CacheFile::default()), &l1_defaults)?;
        let (llc, cpu_block, cpu_key) = match self.llc(file, &l1_line)? {
            Some((llc, line)) => (Some(llc), line, "host.llc.line"),
            None => (None, l1_line, "host.l1.line"),
        };
        let cpu_block = (cores > 0).then_some(cpu_block);
        let largest = [&cpu_block, &gpu_block].into_iter().flatten().map(|known| known.value).max();
        let block = check.power("host.block", file.block.as_ref(), largest.unwrap_or(64), 8..=64 * KIB)?;
        for (key, below) in [(cpu_key, &cpu_block), ("the block of a GPU", &gpu_block)] {
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
            block: block.value as u32,
            latency: check.time("host.latency", file.latency.as_ref(), 500)?,
            hop: check.time("host.hop", file.hop.as_ref(), 2_000)?,
            memory: Size(check.size("host.memory", file.memory.as_ref(), 8 * GIB, 4 * KIB..=MEMORY)?.value),
            dram: self.dram("host.dram", &dram, (16, 8 * KIB, 14_000, 25_600_000_000, false))?,
            peer_transfer: file.peer_transfer.unwrap_or(false),
        })
    }

    fn llc(&self, file: &HostFile, l1_line: &Known) -> Result<Option<(CacheSpec, Known)>> {
        let default = CacheFile::default();
        let cache = match &file.llc {
            Some(LlcFile::Switch(false)) => return Ok(None),
            Some(LlcFile::Switch(true)) | None => &default,
            Some(LlcFile::Cache(cache)) => cache,
        };
        let defaults =
            CacheDefaults { size: 2 * MIB, ways: 16, line: l1_line.value.max(64), latency: 30, mshrs: 32 };
        let (llc, line) = self.cache("host.llc", cache, &defaults)?;
        self.check.at_most(("host.l1.line", l1_line), ("host.llc.line", &line))?;
        Ok(Some((llc, line)))
    }

    fn network(&self, file: &NetworkFile) -> Result<NetworkSpec> {
        let check = self.check;
        let (kind, usual, bandwidth, lanes, latency) = match file.kind {
            Some(NetworkWord::Nvlink) => {
                (NetworkKind::Nvlink, Topology::PointToPoint, 80_000_000_000, 8, 100_000)
            }
            Some(NetworkWord::Pcie) | None => {
                (NetworkKind::Pcie, Topology::Shared, 16_000_000_000, 16, 250_000)
            }
        };
        Ok(NetworkSpec {
            kind,
            topology: match file.topology {
                Some(TopologyWord::Shared) => Topology::Shared,
                Some(TopologyWord::PointToPoint) => Topology::PointToPoint,
                None => usual,
            },
            bandwidth: check.bandwidth("network.bandwidth", file.bandwidth.as_ref(), bandwidth)?,
            lanes: check.count("network.lanes", file.lanes.as_ref(), lanes, 1..=64)?,
            latency: check.time("network.latency", file.latency.as_ref(), latency)?,
            header: check.count("network.header", file.header.as_ref(), 16, 1..=1024)?,
            virtual_networks: check.choice(
                "network.virtual_networks",
                file.virtual_networks.as_ref(),
                &[3, 1],
            )?,
            buffers: check.count("network.buffers", file.buffers.as_ref(), 4, 1..=1024)?,
        })
    }

    /// The name of a protocol that exists, its path made independent of the machine file's folder.
    fn protocol(&self, given: Option<&At<String>>) -> Result<Option<String>> {
        let Some(At { value, span }) = given else { return Ok(None) };
        match find(Kind::Protocol, value, self.folder) {
            Ok(found) => Ok(Some(found.reference)),
            Err(error) => {
                let mut complaint = self.check.document.complain(Some(span), error.message);
                complaint.expected = error.expected;
                complaint.suggestion = error.suggestion;
                fail(complaint)
            }
        }
    }

    /// That there is a tick that suits all clocks and whole picoseconds, and is not too short.
    fn clocks(&self, file: &MachineFile, gpu: Option<&GpuSpec>, host: &HostSpec) -> Result<()> {
        let clocks = gpu.map(|gpu| gpu.clock).into_iter().chain([host.clock]);
        let ticks = clocks.clone().try_fold(1_000_000_000_000, |ticks: u64, Frequency(clock)| {
            (clock / gcd(clock, ticks)).checked_mul(ticks).filter(|&ticks| ticks <= TICKS)
        });
        if ticks.is_some() {
            return Ok(());
        }
        let gpu_span = file.gpu.as_ref().and_then(|gpu| gpu.clock.as_ref()).map(|clock| &clock.span);
        let host_span = file.host.as_ref().and_then(|host| host.clock.as_ref()).map(|clock| &clock.span);
        let span: Option<&Range<usize>> = host_span.or(gpu_span);
        let clocks: Vec<String> = clocks.map(|clock| clock.to_string()).collect();
        let message = format!("no tick is short enough for {} and a picosecond", clocks.join(", "));
        fail(
            self.check
                .document
                .complain(span, message)
                .expected("clocks with fewer digits, such as \"1.4 GHz\""),
        )
    }
}

#[cfg(test)]
mod tests;
