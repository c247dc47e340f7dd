//! The DRAM of the bundled machines against the papers' tables, where no other test has it.

use crate::config::machine::DramSpec;
use crate::config::{Kind, list};
use crate::machine::{Machine, sample};
use crate::model::units::{Bandwidth, Duration};
use crate::parts::dram::Dram;

fn bundled(is_meant: impl Fn(&str) -> bool) -> Vec<(String, Machine)> {
    let names = list(Kind::Machine).into_iter().map(|entry| entry.name);
    names.filter(|name| is_meant(name)).map(|name| (name.clone(), sample::bundled(&name, &[]))).collect()
}

fn gpu(machine: &Machine) -> DramSpec {
    machine.spec().gpu.as_ref().unwrap().memory.dram.clone()
}

/// Cycles of a clock of so many kHz.
fn is_cycles(time: Duration, cycles: u64, kilohertz: u64) -> bool {
    time.0.abs_diff(cycles * 1_000_000_000 / kilohertz) <= 1000
}

/// "`ScaleGPU`", Table 1.
#[test]
fn scalegpu() {
    // Under zero-copy a GPU's own memory is not used.
    let machines = bundled(|name| name.starts_with("scalegpu") && name != "scalegpu-zerocopy");
    assert_eq!(machines.len(), 2);
    for (name, machine) in machines {
        let dram = gpu(&machine);
        assert_eq!((dram.banks, dram.row, dram.queue, dram.access), (16, 2048, 16, 64), "{name}");
        let is = |time, cycles| is_cycles(time, cycles, 750_000);
        assert!(
            is(dram.cas, 12) && is(dram.activate, 12) && is(dram.precharge, 12),
            "{name}: tCL, tRCD, tRP"
        );
        assert!(is(dram.row_cycle, 40) && is(dram.row_to_row, 6), "{name}: tRC, tRRD");
        assert!(is(dram.write_recovery, 12) && is(dram.write_to_read, 5), "{name}: tWR, tCDLR");
    }
}

/// "Towards High Performance Paged Memory for GPUs", Table 1.
#[test]
fn paged() {
    let machines = bundled(|name| name.starts_with("paged-"));
    assert!(!machines.is_empty());
    for (name, machine) in machines {
        let dram = gpu(&machine);
        assert_eq!(
            dram.bandwidth,
            Bandwidth(384_000_000_000 / 12),
            "{name}: 12-channels, 384GB/sec aggregate"
        );
        let is = |time, cycles| is_cycles(time, cycles, 1_400_000);
        let twelve = [dram.cas, dram.activate, dram.precharge, dram.write_recovery];
        assert!(twelve.into_iter().all(|time| is(time, 12)), "{name}: RCD=RP=12, CL=WR=12");
        assert!(is(dram.row_cycle, 40), "{name}: RC=40");
    }
}

/// "Selective GPU Caches", Table 4, of the last of its steps.
#[test]
fn selective() {
    for (name, machine) in bundled(|name| name.starts_with("selective-")) {
        let (gddr5, ddr4) = (gpu(&machine), machine.spec().host.dram.clone());
        assert!(
            is_cycles(gddr5.row_cycle, 40, 1_400_000) && is_cycles(gddr5.write_recovery, 12, 1_400_000),
            "{name}"
        );
        assert!(
            is_cycles(ddr4.row_cycle, 40, 1_200_000) && is_cycles(ddr4.write_recovery, 12, 1_200_000),
            "{name}"
        );
    }
}

/// Ours: without it, a stride of a power of two falls to one bank.
#[test]
fn banks_of_umh_and_its_baselines_are_dealt_by_all_bits() {
    let machines = bundled(|name| name.starts_with("umh-") || name.starts_with("baseline-"));
    assert!(machines.len() > 20, "{}", machines.len());
    for (name, machine) in machines {
        assert!(
            !machine.drams.is_empty() && machine.drams.iter().all(|dram: &Dram| dram.timing().hashed),
            "{name}"
        );
    }
}
