//! The bundled machines of selective caching against Table 4 of the paper, as typed in from it.

use crate::config::machine::{CacheSpec, DramScheduler, GpuHome};
use crate::machine::{Machine, sample};
use crate::model::component::ComponentKind;
use crate::model::inspect::Inspect;
use crate::model::units::{Bandwidth, Duration, Frequency, Size};

/// Each step, with the protocol of the GPU's caches, and whether it has a client cache and variable-size transfers.
const STEPS: [(&str, Option<&str>, bool, bool); 7] = [
    ("coherent", None, false, false),
    ("coherent-variable", None, true, true),
    ("naive", Some("selective-naive"), false, false),
    ("l1", Some("selective-l1"), false, false),
    ("l1-l2", Some("selective-l1-l2"), false, false),
    ("client", Some("selective-l1-l2"), true, false),
    ("variable", Some("selective-l1-l2"), true, true),
];

fn machines() -> impl Iterator<Item = (Machine, (&'static str, Option<&'static str>, bool, bool))> {
    STEPS.into_iter().map(|step| (sample::bundled(&format!("selective-{}", step.0), &[]), step))
}

fn count(machine: &Machine, kind: ComponentKind) -> usize {
    machine.components().iter().filter(|(_, part)| part.kind == kind).count()
}

/// Twelve cycles of the memory clock that the file names, in whole picoseconds.
fn near(time: Duration, picoseconds: u64) -> bool {
    time.0.abs_diff(picoseconds) <= 1
}

#[test]
fn gpu() {
    for (machine, (step, protocol, ..)) in machines() {
        let gpu = machine.spec().gpu.as_ref().unwrap();
        assert_eq!((gpu.count, gpu.cu.count), (1, 15), "GPU Cores: 15 SMs");
        assert_eq!(gpu.clock, Frequency(1_400_000_000), "@ 1.4Ghz");
        assert_eq!((gpu.l1.size, gpu.l1.latency), (Size(16 << 10), 3), "L1 Caches: 16kB/SM, 3 cycle latency");
        assert_eq!(gpu.l1.mshrs, 64, "L1 MSHRs: 64 Entries/L1");
        let l2 = &gpu.l2.cache;
        assert_eq!(
            (gpu.l2.slices, l2.size, l2.latency),
            (8, Size(128 << 10), 120),
            "L2 Caches: 128kB/Channel"
        );
        assert_eq!(l2.mshrs, 128, "L2 MSHRs: 128 Entries/L2 Slice");
        let named = |cache: &CacheSpec| cache.protocol.clone();
        assert_eq!(named(&gpu.l1).as_deref(), Some(protocol.unwrap_or("vi")), "{step}");
        assert_eq!(named(l2).as_deref(), protocol, "{step}");
        assert_eq!(gpu.remote_directory.is_some(), protocol.is_some(), "{step}");
    }
}

#[test]
fn memory_system() {
    for (machine, (step, _, has_client, _)) in machines() {
        let spec = machine.spec();
        let gpu = spec.gpu.as_ref().unwrap();
        assert_eq!(gpu.memory.home, GpuHome::Unified);
        assert_eq!(
            (gpu.unified.as_ref().unwrap().host_share, gpu.unified.as_ref().unwrap().page),
            (20, 4096)
        );
        let (gddr5, ddr4) = (&gpu.memory.dram, &spec.host.dram);
        assert_eq!(gddr5.bandwidth.0 * 8, 336_000_000_000, "GPU GDDR5: 8-channels, 336GB/sec aggregate");
        assert_eq!(count(&machine, ComponentKind::Memory), 8);
        assert_eq!(ddr4.bandwidth.0 * 4, 80_000_000_000, "CPU DDR4: 4-channels, 80GB/sec aggregate");
        assert_eq!(count(&machine, ComponentKind::Hmd), 4);
        // RCD=RP=12, RC=40, CL=WR=12, of 1.4 GHz and of 1.2 GHz.
        for (dram, picoseconds, row_cycle) in [(gddr5, 8_571, 28_571), (ddr4, 10_000, 33_333)] {
            assert_eq!(dram.scheduler, DramScheduler::FrFcfs);
            let twelve = [dram.cas, dram.activate, dram.precharge, dram.write_recovery];
            assert!(twelve.into_iter().all(|time| near(time, picoseconds)));
            assert!(near(dram.row_cycle, row_cycle));
        }
        assert_eq!(ddr4.access, 64, "DDR4 Burst Len.: 8, of 8 B each");
        let client = spec.host.client.as_ref();
        assert_eq!(client.is_some(), has_client, "{step}");
        assert_eq!(count(&machine, ComponentKind::Client), usize::from(has_client));
        if let Some(client) = client {
            assert_eq!(
                (client.size, client.ways, client.line),
                (Size(512 << 10), 8, 128),
                "512KB, 8-way, 128B"
            );
            // Cycles of the host, of which two make one of the GPU: 100 of the 200 are those of the link.
            assert_eq!((client.latency, spec.host.clock.0), (200, 2 * gpu.clock.0), "200 cycle latency");
        }
    }
}

#[test]
fn interconnect() {
    for (machine, (.., is_variable)) in machines() {
        let network = &machine.spec().network;
        assert_eq!(network.bandwidth, Bandwidth(90_000_000_000), "90 GB/s Full-Duplex");
        // There and back: 100 GPU core cycles.
        assert!(near(network.latency, 35_714), "Link Latency");
        assert_eq!(network.by_sector, is_variable);
        assert_eq!(network.granularity, 32, "section 3.2.3: no link transfers less than 32 B");
        let share = |data: u32| data * 100 / (data + network.header);
        assert_eq!([32, 64, 128].map(share), [66, 80, 88], "Req. Efficiency: 32B=66%, 64B=80%, 128B=88%");
    }
}

/// A miss of the client cache takes as long as without it; the L2's latency is passed once, on the way in.
#[test]
fn lookups() {
    for (machine, (step, _, has_client, _)) in machines() {
        let lookup = |from: &str, to: &str| {
            let id = |path: &str| {
                machine.components().iter().find(|(id, _)| machine.components().path(*id) == path)
            };
            let (from, to) = (id(from).unwrap().0, id(to).unwrap().0);
            let is_way = |channel: &&crate::parts::channel::Channel| {
                machine.nodes[channel.from].id() == from && machine.nodes[channel.to].id() == to
            };
            let ticks = machine.channels.iter().find(is_way).unwrap().lookup;
            (ticks as f64 / machine.fixed.time.ticks_per_cycle as f64).round() as u64
        };
        assert_eq!(lookup("gpu0.cu0.l1", "gpu0.l2.0"), 120, "{step}");
        assert_eq!(lookup("gpu0.l2.0", "gpu0.memory.0"), 100, "{step}");
        assert_eq!(lookup("gpu0.memory.0", "gpu0.l2.0"), 1, "{step}");
        let beyond = if has_client { "host.client" } else { "host.hmd0" };
        assert_eq!(lookup("gpu0.l2.0", beyond), 100, "{step}");
        if has_client {
            assert_eq!((lookup("host.client", "host.hmd0"), lookup("host.hmd0", "host.client")), (0, 1));
        }
    }
}

#[test]
fn the_remote_directory_takes_64_kib_for_8_mib() {
    let machine = sample::bundled("selective-naive", &[]);
    let all: Vec<_> =
        machine.nodes.iter().filter_map(|node| Some(node.remote()?.directory.config())).collect();
    assert_eq!(all.len(), 8);
    assert_eq!(all.iter().map(|one| one.storage()).sum::<u64>(), 64 << 10);
    assert_eq!(all.iter().map(|one| u64::from(one.entries) * u64::from(one.block)).sum::<u64>(), 8 << 20);
}
