//! GPU memory that is a direct-mapped cache of the host's, with its tags in DRAM ("`ScaleGPU`", Fig. 1).

use super::Builder;
use super::numa::ranges_of;
use super::pages::count;
use crate::config::machine::{CacheSpec, GpuSpec, TagSpec};
use crate::diagnostic::Result;
use crate::model::component::ComponentKind;
use crate::model::units::Size;
use crate::parts::dram::TagBanks;
use crate::protocol::interleave::Interleave;
use crate::protocol::node::Role;
use crate::protocol::node::tag_miss_handler::TagMissConfig;

impl Builder<'_> {
    /// The partitions of a memory that is a cache, one for each slice.
    pub(super) fn cached_memories(
        &mut self,
        index: u32,
        gpu: &GpuSpec,
        dealing: Interleave,
    ) -> Result<Vec<usize>> {
        let Some(tags) = &gpu.tags else { return Ok(Vec::new()) };
        let capacity = self.partition_size(gpu, tags);
        let cache = CacheSpec {
            size: Size(capacity),
            ways: 1,
            line: tags.data,
            latency: gpu.memory.latency,
            fill: gpu.memory.latency,
            mshrs: 0,
            ports: gpu.memory.ports,
            protocol: Some(tags.protocol.clone()),
        };
        let mut partitions = Vec::new();
        for number in 0..gpu.l2.slices {
            let path = format!("gpu{index}.memory.{number}");
            let node =
                self.node(path, ComponentKind::Memory, &cache, Role::Inner, self.gpu_clock, dealing)?;
            let banks = TagBanks { banks: tags.banks, data: tags.data, capacity };
            self.dram(node, &gpu.memory.dram, dealing, Some(banks));
            if let Some((config, _)) = self.configs.get_mut(node) {
                config.tags = Some(TagMissConfig { pending: tags.pending, scoreboard: tags.scoreboard });
            }
            partitions.push(node);
        }
        Ok(partitions)
    }

    /// Bytes of data that a partition holds, whole rows: as the file says, or its share of what the work touches.
    fn partition_size(&self, gpu: &GpuSpec, tags: &TagSpec) -> u64 {
        let row = gpu.memory.dram.row;
        let Some(share) = tags.share else { return gpu.memory.size.0 };
        let rows = count(ranges_of(&self.blueprint.workload, row)) * u64::from(share);
        rows.div_ceil(1000 * u64::from(gpu.l2.slices.max(1))).max(1) * u64::from(row)
    }
}
