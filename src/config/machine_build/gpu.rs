//! The GPUs: compute units, L1, L2 and the memory behind it.

use super::super::check::Known;
use super::super::fail;
use super::super::machine::{CuSpec, GpuHome, GpuMemorySpec, GpuSpec, L2Spec, MOST_WAVEFRONTS};
use super::super::machine_file::{CacheFile, GpuFile, GpuMemoryFile, L2File};
use super::cache::{CacheDefaults, PORTS};
use super::{Build, GIB, KIB, MEMORY};
use crate::diagnostic::Result;
use crate::model::units::Size;

impl Build<'_> {
    /// The GPUs, and the largest block that they ask the host for.
    pub(super) fn gpu(&self, file: &GpuFile) -> Result<(GpuSpec, Known)> {
        let check = self.check;
        let l1_defaults =
            CacheDefaults { size: 16 * KIB, ways: 4, line: 64, latency: 2, fill: Some(1), mshrs: 16 };
        let (mut l1, l1_line) =
            self.cache("gpu.l1", file.l1.as_ref().unwrap_or(&CacheFile::default()), &l1_defaults)?;
        let memory_file = file.memory.clone().unwrap_or_default();
        let (memory, secondary) = self.memory(&memory_file)?;
        let tags_file = file.tags.clone().unwrap_or_default();
        let secondary = match memory.home {
            GpuHome::Cache => self.tag_data(&tags_file, &memory.dram)?,
            _ => secondary,
        };
        let l2_file = file.l2.clone().unwrap_or_default();
        let (mut l2, l2_line) = self.l2(&l2_file, &l1_line, memory.home, &secondary)?;
        check.at_most(("gpu.l1.line", &l1_line), ("gpu.l2.line", &l2_line))?;
        let block = match memory.home {
            GpuHome::Smd => {
                check.at_most(("gpu.l2.line", &l2_line), ("gpu.memory.secondary_block", &secondary))?;
                secondary
            }
            GpuHome::Cache => {
                check.at_most(("gpu.l2.line", &l2_line), ("gpu.tags.data", &secondary))?;
                secondary
            }
            _ => l2_line.clone(),
        };
        let count = check.count("gpu.count", file.count.as_ref(), 1, 1..=8)?;
        self.fits_memory(&memory_file, memory.size, u64::from(l2.slices) * u64::from(count))?;
        let smallest_line = l1_line.value;
        if u64::from(memory.mask_bytes) > smallest_line {
            let span = memory_file.mask_bytes.as_ref().map(|bytes| &bytes.span);
            return fail(check.document.complain(span, "a bit of the mask stands for more than a line"));
        }
        let clock = check.clock("gpu.clock", file.clock.as_ref(), 800_000_000)?;
        let is = |home: GpuHome| memory.home == home;
        let paging = self.paging(file.paging.as_ref(), memory.home)?;
        let read_only = self.read_only(file.read_only.as_ref(), memory.home, paging.is_some())?;
        let why = ("numa", "gpu.numa without gpu.memory.home = \"numa\": the GPUs share no memories");
        let has_copies = file.copies.is_some();
        let numa = self.of_home(is(GpuHome::Numa), ("gpu.numa", file.numa.as_ref()), why, |file| {
            self.numa(file, (&l1, &mut l2.cache), paging.as_ref(), has_copies)
        })?;
        let why =
            ("unified", "gpu.unified without gpu.memory.home = \"unified\": no page lives in GPU memory");
        let unified =
            self.of_home(is(GpuHome::Unified), ("gpu.unified", file.unified.as_ref()), why, |file| {
                self.unified(file)
            })?;
        self.has_l2(&l2, memory.home)?;
        let tags = self.tags(file, &memory, count, (&mut l1, &mut l2.cache))?;
        let copies = self.copies(file.copies.as_ref(), memory.home, paging.is_some())?;
        let remote_directory = self.remote_directory(file.remote_directory.as_ref(), memory.home)?;
        let ctas = file.ctas.unwrap_or_default();
        let cu = self.cu(file)?;
        let gpu = GpuSpec {
            count,
            clock,
            cu,
            l1,
            l2,
            memory,
            paging,
            read_only,
            numa,
            unified,
            tags,
            copies,
            remote_directory,
            ctas,
        };
        self.fits_unified(&gpu, (&l1_line, &l2_line))?;
        Ok((gpu, block))
    }

    /// What a machine has only where the misses of its L2s go to such a memory: as given, or by default.
    fn of_home<F: Clone + Default, T>(
        &self,
        is_home: bool,
        (key, given): (&str, Option<&F>),
        (home, why_not): (&str, &str),
        build: impl FnOnce(&F) -> Result<T>,
    ) -> Result<Option<T>> {
        match (is_home, given) {
            (true, given) => build(&given.cloned().unwrap_or_default()).map(Some),
            (false, None) => Ok(None),
            (false, Some(_)) => {
                let complaint = self.check.document.complain_about(key, why_not);
                fail(complaint.expected(format!("gpu.memory.home = \"{home}\" with it")))
            }
        }
    }

    /// That there is an L2 where the memory is built behind one.
    fn has_l2(&self, l2: &L2Spec, home: GpuHome) -> Result<()> {
        let needs_one = matches!(home, GpuHome::Numa | GpuHome::Unified | GpuHome::Cache);
        if l2.present || !needs_one {
            return Ok(());
        }
        let message = "a GPU of this kind has its memory behind its L2";
        let complaint = self.check.document.complain_about("gpu.l2.present", message);
        fail(complaint.expected("gpu.l2.present = true"))
    }

    /// That so many memories fit into the address space.
    fn fits_memory(&self, file: &GpuMemoryFile, size: Size, count: u64) -> Result<()> {
        let total = size.0.saturating_mul(count);
        if total <= MEMORY {
            return Ok(());
        }
        let span = file.size.as_ref().map(|size| &size.span);
        let message = format!("the memories of all GPUs together are {}", Size(total));
        fail(self.check.document.complain(span, message).expected(format!("{} or less", Size(MEMORY))))
    }

    fn cu(&self, file: &GpuFile) -> Result<CuSpec> {
        let check = self.check;
        let file = file.cu.clone().unwrap_or_default();
        let lanes = check.count("gpu.cu.lanes", file.lanes.as_ref(), 4, 1..=64)?;
        let size = file.wavefront_size.as_ref();
        let size =
            size.map(|size| check.count("gpu.cu.wavefront_size", Some(size), 1, 1..=64)).transpose()?;
        let wavefronts =
            check.count("gpu.cu.wavefronts", file.wavefronts.as_ref(), 4, 1..=MOST_WAVEFRONTS)?;
        Ok(CuSpec {
            count: check.count("gpu.cu.count", file.count.as_ref(), 1, 1..=512)?,
            wavefronts,
            lanes,
            simds: check.count("gpu.cu.simds", file.simds.as_ref(), wavefronts, 1..=MOST_WAVEFRONTS)?,
            wavefront_size: size,
            outstanding: check.count("gpu.cu.outstanding", file.outstanding.as_ref(), 1, 1..=64)?,
            scheduler: file.scheduler.unwrap_or_default(),
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
        let defaults = CacheDefaults {
            size: 128 * KIB,
            ways: 16,
            line: l1_line.value.max(64),
            latency: 20,
            fill: None,
            mshrs: 32,
        };
        let plain = CacheFile {
            size: file.size.clone(),
            ways: file.ways.clone(),
            line: file.line.clone(),
            latency: file.latency.clone(),
            fill: file.fill.clone(),
            mshrs: file.mshrs.clone(),
            ports: file.ports.clone(),
            protocol: file.protocol.clone(),
        };
        let (cache, mut line) = self.cache("gpu.l2", &plain, &defaults)?;
        line.span = line.span.or_else(|| l1_line.span.clone());
        let is_cached = matches!(home, GpuHome::Smd | GpuHome::Cache);
        let block = if is_cached { secondary.value } else { line.value };
        let key = "gpu.l2.interleave";
        let interleave =
            check.power(key, file.interleave.as_ref(), block.max(line.value).max(4 * KIB), 8..=GIB)?;
        check.at_most(("gpu.l2.line", &line), (key, &interleave))?;
        if home == GpuHome::Cache {
            check.at_most(("gpu.tags.data", secondary), (key, &interleave))?;
        }
        let latency = file.crossbar_latency.as_ref();
        let width = file.crossbar_width.as_ref();
        let slices = check.count("gpu.l2.slices", file.slices.as_ref(), 1, 1..=128)?;
        if let Some(hash) = file.hash.as_ref().filter(|hash| hash.value && !slices.is_power_of_two()) {
            let complaint =
                check.document.complain(Some(&hash.span), format!("{slices} slices cannot be hashed"));
            return fail(complaint.expected("gpu.l2.slices of a power of two"));
        }
        let spec = L2Spec {
            present: file.present.unwrap_or(true),
            slices,
            cache,
            interleave: interleave.value as u32,
            hash: file.hash.as_ref().is_some_and(|hash| hash.value),
            crossbar_latency: check.count("gpu.l2.crossbar_latency", latency, 1, 0..=1_000_000)?,
            crossbar_width: check.count("gpu.l2.crossbar_width", width, 0, 0..=65_536)?,
        };
        Ok((spec, line))
    }

    fn memory(&self, file: &GpuMemoryFile) -> Result<(GpuMemorySpec, Known)> {
        let check = self.check;
        let home = file.home.unwrap_or_default();
        let key = "gpu.memory.secondary_block";
        let secondary = check.power(key, file.secondary_block.as_ref(), 4 * KIB, 64..=16 * KIB)?;
        let size = check.size("gpu.memory.size", file.size.as_ref(), GIB, 64..=MEMORY)?;
        let dram = file.dram.clone().unwrap_or_default();
        let dram =
            self.dram("gpu.memory.dram", &dram, (8, 2 * KIB, 12_000, 38_400_000_000, home == GpuHome::Smd))?;
        let ways = if home == GpuHome::Cache {
            self.rows(&size, file.ways.as_ref(), &dram)?
        } else {
            self.ways("gpu.memory", &size, file.ways.as_ref(), 4, &secondary)?
        };
        let spec = GpuMemorySpec {
            home,
            size: Size(size.value),
            ways,
            secondary_block: secondary.value as u32,
            mask_bytes: check.choice("gpu.memory.mask_bytes", file.mask_bytes.as_ref(), &[1, 2, 4, 8])?,
            latency: check.count("gpu.memory.latency", file.latency.as_ref(), 2, 0..=1_000_000)?,
            mshrs: check.count("gpu.memory.mshrs", file.mshrs.as_ref(), 32, 1..=4096)?,
            ports: check.count("gpu.memory.ports", file.ports.as_ref(), 1, PORTS)?,
            dram,
        };
        Ok((spec, secondary))
    }
}
