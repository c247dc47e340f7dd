//! What caches and directories have to store beside the data (UMH, sections 4 and 5, Fig. 7 and 11): the bits of an
//! entry, from the configuration of the machine as it was built.

use super::Machine;
use crate::model::component::{ComponentId, ComponentKind};
use crate::protocol::node::{Node, Role};
use crate::protocol::remote_directory::RemoteDirectoryConfig;

/// Bits of an address (UMH, section 5: "a 64-bit architecture").
const ADDRESS: u32 = 64;

/// The storage of one cache or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    pub component: ComponentId,
    /// Blocks that it can hold, or that the memory behind it has.
    pub entries: u64,
    /// Bytes of a block.
    pub block: u32,
    /// Sub-blocks that its entry keeps apart: one if all of the block is tracked as one.
    pub sub_blocks: u32,
    /// Caches above it that it tracks.
    pub children: u32,
    /// Bits of an entry. Memory has neither tag nor state.
    pub tag: u32,
    pub state: u32,
    /// For the block as a whole: which child owns it, and which share it. A single child is no sharer.
    pub owner: u32,
    pub sharers: u32,
    /// The same for all sub-blocks together, where there are any.
    pub sub_block: u32,
    /// The mask of dirty bytes.
    pub mask: u32,
    /// Bytes of the remote directory, a filter that stands for all entries together ("Selective GPU Caches", section 3.1).
    pub filter: Option<u64>,
}

impl Storage {
    /// Bits of an entry without the byte mask, which lies beside the data.
    #[must_use]
    pub fn directory_bits(&self) -> u32 {
        self.tag + self.state + self.owner + self.sharers + self.sub_block
    }

    /// Bytes of all entries without the byte masks.
    #[must_use]
    pub fn directory_bytes(&self) -> u64 {
        bytes(self.entries, self.directory_bits())
    }

    /// Bytes of all byte masks.
    #[must_use]
    pub fn mask_bytes(&self) -> u64 {
        bytes(self.entries, self.mask)
    }

    /// Bytes of data that the entries cover.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        self.entries.saturating_mul(u64::from(self.block))
    }

    /// Directory bits for each bit of data.
    #[must_use]
    pub fn directory_overhead(&self) -> f64 {
        f64::from(self.directory_bits()) / (f64::from(self.block) * 8.0)
    }

    /// Mask bits for each bit of data (section 4.1.2).
    #[must_use]
    pub fn mask_overhead(&self) -> f64 {
        f64::from(self.mask) / (f64::from(self.block) * 8.0)
    }
}

fn bytes(entries: u64, bits: u32) -> u64 {
    u64::try_from((u128::from(entries) * u128::from(bits)).div_ceil(8)).unwrap_or(u64::MAX)
}

/// Bits that tell `count` things apart.
fn bits_for(count: u64) -> u32 {
    u64::BITS - count.saturating_sub(1).leading_zeros()
}

impl Machine {
    /// The storage of every cache and directory.
    #[must_use]
    pub fn sizes(&self) -> Vec<Storage> {
        self.nodes.iter().map(|node| self.storage(node)).collect()
    }

    fn storage(&self, node: &Node) -> Storage {
        let config = &node.config;
        let filter = node.remote_directory_config().map(RemoteDirectoryConfig::storage);
        let children = if filter.is_some() { 0 } else { self.tracked_by(node) };
        let sub_blocks = if config.role == Role::Leaf { 1 } else { config.block / config.unit.max(1) };
        // Section 5: ceil(log2(n + 1)) bits for the owner, n for the sharers; a single cache above needs no sharers.
        let owner = if children > 0 { bits_for(u64::from(children) + 1) } else { 0 };
        let sharers = if children > 1 { children } else { 0 };
        let whole = sub_blocks == 1;
        // A memory that holds a share of what the work touches has its own size where there is none.
        let is_sized = node.is_tagged() && self.tasks.workload.tasks.is_empty();
        let (entries, tag, state) = match node.geometry() {
            Some((sets, ways, partitions)) => {
                let own = || (self.memory_blocks(node) / u64::from(ways.max(1))) as u32;
                let sets = if is_sized { own() } else { sets };
                // Section 5: t = 64 - s - o - p.
                let known =
                    bits_for(u64::from(sets)) + bits_for(u64::from(config.block)) + partitions.ilog2();
                let states = bits_for(config.table.rows.len() as u64);
                (u64::from(sets) * u64::from(ways), ADDRESS.saturating_sub(known), states)
            }
            None => (self.memory_blocks(node), 0, 0),
        };
        let mask = self.fixed.spec.gpu.as_ref().map_or(0, |gpu| config.block / gpu.memory.mask_bytes.max(1));
        Storage {
            component: node.id(),
            entries,
            block: config.block,
            sub_blocks,
            children,
            tag,
            state,
            owner: if whole { owner } else { 0 },
            sharers: if whole { sharers } else { 0 },
            sub_block: if whole { 0 } else { sub_blocks * (owner + sharers) },
            mask,
            filter,
        }
    }

    /// Caches above a node that it keeps account of: not those that fetch copies which nobody tracks.
    fn tracked_by(&self, node: &Node) -> u32 {
        if !node.config.table.has_directory() {
            return 0;
        }
        let is_child = |other: &&Node| node.config.children.contains(&other.id());
        let children = self.nodes.iter().filter(is_child);
        let asks =
            |child: &&Node| child.config.table.requests(child.config.role != Role::Leaf).next().is_some();
        children.filter(asks).count() as u32
    }

    /// Blocks of the memory behind one HMD, or of one partition of a GPU's own.
    fn memory_blocks(&self, node: &Node) -> u64 {
        let (host, block) = (&self.fixed.spec.host, u64::from(node.config.block.max(1)));
        let is_own = self.fixed.components.get(node.id()).is_some_and(|it| it.kind == ComponentKind::Memory);
        match self.fixed.spec.gpu.as_ref().filter(|_| is_own) {
            Some(gpu) => gpu.memory.size.0 / block,
            None => host.memory.0 / u64::from(host.hmds.max(1)) / block,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::inspect::Inspect;

    fn sizes(machine: &str, changes: &[&str], kind: ComponentKind) -> Vec<Storage> {
        let machine = crate::machine::sample::bundled(machine, changes);
        let of_kind = |size: &Storage| {
            machine.components().get(size.component).is_some_and(|component| component.kind == kind)
        };
        machine.sizes().into_iter().filter(of_kind).collect()
    }

    fn one(machine: &str, changes: &[&str], kind: ComponentKind) -> Storage {
        sizes(machine, changes, kind).remove(0)
    }

    #[test]
    fn an_smd_with_lines_takes_36_bits_a_line_and_72_mb_a_stack() {
        let smd = one("umh-1gpu-pcie", &["gpu.memory.secondary_block=64 B"], ComponentKind::Smd);
        assert_eq!((smd.entries, smd.data_bytes()), (16 << 20, 1 << 30));
        assert_eq!((smd.tag, smd.state, smd.owner, smd.sharers, smd.sub_block), (32, 3, 1, 0, 0));
        assert_eq!((smd.directory_bits(), smd.directory_bytes()), (36, 72 << 20));
    }

    #[test]
    fn an_smd_with_sub_blocks_takes_35_bits_and_one_a_line() {
        for (size, lines) in [("1 KiB", 16), ("4 KiB", 64), ("8 KiB", 128), ("16 KiB", 256)] {
            let block = format!("gpu.memory.secondary_block={size}");
            let interleave = format!("gpu.l2.interleave={size}");
            let host = if lines > 64 { size } else { "4 KiB" };
            let (hmd, dealt) = (format!("host.block={host}"), format!("host.interleave={host}"));
            let changes = [block.as_str(), &interleave, &hmd, &dealt];
            let smd = one("umh-4gpu-nvlink", &changes, ComponentKind::Smd);
            assert_eq!((smd.tag + smd.state, smd.sub_block), (35, lines), "{size}");
            assert_eq!(smd.directory_bits(), 35 + lines);
            assert_eq!(
                smd.directory_bytes(),
                (1u64 << 30) / (u64::from(lines) * 64) * u64::from(35 + lines) / 8
            );
        }
    }

    #[test]
    fn a_tag_is_longer_with_more_ways_less_memory_or_fewer_partitions() {
        let tag = |changes: &[&str]| one("umh-2gpu-pcie", changes, ComponentKind::Smd).tag;
        assert_eq!(tag(&[]), 32);
        assert_eq!(tag(&["gpu.memory.ways=4"]), 34);
        assert_eq!(tag(&["gpu.memory.size=512 MiB"]), 33);
        assert_eq!(tag(&["gpu.l2.slices=2"]), 33);
        // Dealt by lines, every stack may hold any block: section 5.3.
        assert_eq!(tag(&["gpu.l2.interleave=64 B"]), 34);
    }

    #[test]
    fn a_byte_mask_takes_an_eighth_or_a_thirty_second() {
        for (bytes, overhead) in [("1", 0.125), ("2", 0.0625), ("4", 0.03125), ("8", 0.015_625)] {
            let granule = format!("gpu.memory.mask_bytes={bytes}");
            for kind in [ComponentKind::L1, ComponentKind::L2, ComponentKind::Smd, ComponentKind::Hmd] {
                let size = one("umh-2gpu-nvlink", &[&granule], kind);
                assert_eq!(
                    (size.mask_overhead(), size.mask_bytes()),
                    (overhead, (size.data_bytes() as f64 * overhead) as u64)
                );
            }
        }
    }

    #[test]
    fn the_directory_of_the_llc_takes_7_kb() {
        let llc = one("umh-4gpu-pcie", &[], ComponentKind::Llc);
        assert_eq!((llc.entries, llc.data_bytes(), llc.sub_block), (512, 2 << 20, 64));
        // 47 bits of tag with 16 ways; 43, and 7,040 bytes, if it were direct-mapped.
        assert_eq!((llc.directory_bits(), llc.directory_bytes()), (47 + 3 + 64, 7296));
        assert_eq!((llc.directory_bytes() + 512) / 1024, 7);
    }

    #[test]
    fn an_hmd_has_neither_tags_nor_states_but_owners_and_sharers() {
        for (gpus, smds, owner) in [(1, 2, 2), (2, 4, 3), (4, 8, 4)] {
            let machine = format!("umh-{gpus}gpu-pcie");
            // Without a CPU only SMDs stand below it: n of section 5.2.
            let hmd = one(&machine, &["host.cores=0"], ComponentKind::Hmd);
            assert_eq!((hmd.tag, hmd.state, hmd.children), (0, 0, smds), "{machine}");
            assert_eq!((hmd.owner, hmd.sharers, hmd.entries), (owner, smds, 2 << 20), "{machine}");
            let with_cpu = one(&machine, &[], ComponentKind::Hmd);
            assert_eq!(with_cpu.sharers, smds + 1, "{machine}");
        }
    }

    #[test]
    fn only_what_is_tracked_and_what_is_there_is_counted() {
        // Write-through L1s fetch copies that no L2 tracks; sockets are kept coherent by software.
        let l2 = one("numa-4socket", &[], ComponentKind::L2);
        assert_eq!((l2.children, l2.owner, l2.sharers), (0, 0, 0));
        let memory = one("numa-4socket", &[], ComponentKind::Memory);
        assert_eq!((memory.data_bytes(), memory.directory_bits()), (1 << 30, 0));
        assert_eq!(one("selective-variable", &[], ComponentKind::L2).sharers, 0);
        let tags = one("scalegpu", &[], ComponentKind::Memory);
        assert_eq!(tags.data_bytes(), 8 << 20);
    }

    #[test]
    fn the_states_are_those_of_the_protocol() {
        for (protocol, bits) in [("nmoesi", 3), ("moesi", 3), ("mesi", 2), ("msi", 2)] {
            let own = format!("protocol={protocol}");
            assert_eq!(one("umh-1gpu-pcie", &[&own], ComponentKind::L1).state, bits, "{protocol}");
        }
    }
}
