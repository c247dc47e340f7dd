//! The bundled machines of the UMH paper against its Table III, as typed in from the paper.

use crate::config::machine::{CacheSpec, DramScheduler, DramSpec, GpuHome, NetworkKind, Topology};
use crate::machine::{Machine, sample};
use crate::model::component::ComponentKind;
use crate::model::inspect::Inspect;
use crate::model::units::{Bandwidth, Frequency, Size};
use crate::parts::dram::Dram;

/// "# of GPUs", "# of SMDs", and of "Network size" the SMDs of each of the two HMDs.
const ROWS: [(u32, usize, usize); 3] = [(1, 4, 2), (2, 8, 4), (4, 16, 8)];

fn machines() -> impl Iterator<Item = (Machine, (u32, usize, usize), &'static str)> {
    ROWS.into_iter().flat_map(|row| {
        ["pcie", "nvlink"]
            .map(|network| (sample::bundled(&format!("umh-{}gpu-{network}", row.0), &[]), row, network))
    })
}

fn count(machine: &Machine, kind: ComponentKind) -> usize {
    machine.components().iter().filter(|(_, part)| part.kind == kind).count()
}

#[test]
fn gpu_specs() {
    for (machine, (gpus, ..), _) in machines() {
        let gpu = machine.spec().gpu.as_ref().unwrap();
        assert_eq!(gpu.clock, Frequency(800_000_000), "Clock Frequency");
        assert_eq!(gpu.cu.count, 16, "Compute Units");
        assert_eq!(count(&machine, ComponentKind::Cu), 16 * gpus as usize, "Compute Units");
        assert_eq!(gpu.cu.lanes, 16, "SIMD Width");
        assert_eq!(gpu.cu.wavefront_size, Some(64), "Wavefront Size");
        assert!(gpu.cu.wavefronts * 64 >= 256, "Workgroup Size");
        assert_eq!(gpu.l1.size, Size(16 << 10), "L1 cache Size");
    }
}

#[test]
fn gpu_memory() {
    for (machine, (gpus, ..), _) in machines() {
        let gpu = machine.spec().gpu.as_ref().unwrap();
        let dram = &gpu.memory.dram;
        assert_eq!(dram.clock, Some(Frequency(1_200_000_000)), "Frequency");
        assert_eq!(gpu.l2.slices, 4, "Partitions");
        assert_eq!(dram.scheduler, DramScheduler::FrFcfs, "DRAM controller");
        assert!(machine.drams.iter().all(|dram| matches!(dram, Dram::FrFcfs(_))), "DRAM controller");
        assert_eq!(gpu.l2.crossbar_width, 0, "L1-L2 Interconnect: Ideal");
        assert_eq!(dram.bus, Some(Size(32)), "Memory Bus Width");
        assert_eq!(dram.bandwidth, Bandwidth(38_400_000_000), "32 B at 1,200 MHz");
        assert_eq!(gpu.memory.size.0 * u64::from(gpu.l2.slices), 4 << 30, "Capacity");
        assert_eq!(gpu.l2.cache.size, Size(128 << 10), "L2 Cache Size");
        assert_eq!(count(&machine, ComponentKind::L2), 4 * gpus as usize, "Partitions");
        assert!(dram.always_reopen, "section 5.4");
    }
}

#[test]
fn cpu_and_multi_gpu_system() {
    for (machine, (gpus, smds, of_an_hmd), network) in machines() {
        let spec = machine.spec();
        let gpu = spec.gpu.as_ref().unwrap();
        assert_eq!(gpu.count, gpus, "# of GPUs");
        assert_eq!(count(&machine, ComponentKind::Smd), smds, "# of SMDs");
        assert_eq!(count(&machine, ComponentKind::Hmd), 2, "# of HMDs");
        assert_eq!(gpu.memory.size, Size(1 << 30), "Stack Size");
        assert_eq!(smds / gpus as usize, 4, "Stack/GPU");
        assert_eq!((gpu.memory.home, gpu.memory.ways), (GpuHome::Smd, 1), "direct-mapped: section 5");
        assert_eq!(gpu.memory.secondary_block, 4 << 10, "Secondary Block");
        let expected = match network {
            "pcie" => (NetworkKind::Pcie, Topology::Shared, Bandwidth(16_000_000_000)),
            _ => (NetworkKind::Nvlink, Topology::PointToPoint, Bandwidth(80_000_000_000)),
        };
        let built = &spec.network;
        assert_eq!((built.kind, built.topology, built.bandwidth), expected, "PCIe BW, NVLink BW");
        for node in machine.nodes.iter().filter(|node| node.config.parents.is_empty()) {
            let is_smd =
                |child| machine.components().get(child).is_some_and(|part| part.kind == ComponentKind::Smd);
            let below = node.config.children.iter().filter(|&&child| is_smd(child)).count();
            assert_eq!(below, of_an_hmd, "Network size");
        }
    }
}

#[test]
fn the_llc_and_the_interleaves() {
    for (machine, ..) in machines() {
        let spec = machine.spec();
        assert_eq!(spec.host.llc.as_ref().unwrap().size, Size(2 << 20), "section 5.3");
        assert_eq!(spec.gpu.as_ref().unwrap().l2.interleave, 4 << 10, "section 5.3");
        assert!(spec.host.peer_transfer, "section 6.1");
    }
    for (gpus, ..) in ROWS {
        let machine = sample::bundled(&format!("umh-{gpus}gpu-nvlink"), &["gpu.l2.interleave=64 B"]);
        // Any stack may be asked for any block now, and any may hand it over.
        let hmd = machine.nodes.last().unwrap();
        assert_eq!(hmd.config.children.len(), 4 * gpus as usize + 1);
        let smds: Vec<usize> = (0..machine.nodes.len())
            .filter(|&node| {
                machine.nodes[node].config.has_memory && !machine.nodes[node].config.parents.is_empty()
            })
            .collect();
        let pairs = machine.channels.iter().filter(|way| smds.contains(&way.from) && smds.contains(&way.to));
        assert_eq!(pairs.count(), smds.len() * (smds.len() - 1));
    }
}

/// What UMH is compared with differs from it in nothing but how data come to the GPUs.
#[test]
fn baselines() {
    for (umh, (gpus, ..), network) in machines() {
        let umh = umh.spec();
        for kind in ["memcpy", "zerocopy", "managed"] {
            let name = format!("baseline-{kind}-{gpus}gpu-{network}");
            let machine = sample::bundled(&name, &[]);
            let (own, gpu, of_umh) =
                (machine.spec(), machine.spec().gpu.as_ref().unwrap(), umh.gpu.as_ref().unwrap());
            assert_eq!((&gpu.cu, &gpu.l1, gpu.count), (&of_umh.cu, &of_umh.l1, of_umh.count), "{name}");
            assert_eq!(
                (gpu.l2.slices, gpu.l2.cache.size),
                (of_umh.l2.slices, of_umh.l2.cache.size),
                "{name}"
            );
            assert_eq!((&own.network, &own.host.dram), (&umh.network, &umh.host.dram), "{name}");
            assert_eq!(own.protocol, umh.protocol, "{name}");
            if kind != "zerocopy" {
                let open = DramSpec { always_reopen: true, interleave: 64, ..gpu.memory.dram.clone() };
                assert_eq!(
                    (open, gpu.memory.size),
                    (of_umh.memory.dram.clone(), of_umh.memory.size),
                    "{name}"
                );
                // Section 5.3: that the LLC holds secondary blocks is a modification that UMH makes.
                let in_blocks = own.host.llc.clone().map(|llc| CacheSpec { line: 4096, ..llc });
                assert_eq!((in_blocks, own.host.block), (umh.host.llc.clone(), 64), "{name}");
            }
        }
    }
}
