//! Contended accesses a second: the four traces of `gentrace.py` on the machine that other simulators were measured on.
//!
//!     cargo bench --bench contended                 # all four, medians of three
//!     cargo bench --bench contended -- shared 1     # one, once: for instruction counts
//!
//! Four L1s (32 KiB, 8 ways, 64 B, 2 cycles, 16 MSHRs), two L2s (256 KiB, 8 ways, 20 cycles, 32 MSHRs; a pair of L1s
//! each), memory of 200 cycles, links of 72 B/cycle, at most 8 accesses in flight a core; NMOESI. The work is made
//! before the clock starts.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use umscope::diagnostic::Source;
use umscope::machine::{Blueprint, Machine, StepOutcome};
use umscope::model::access::AccessKind;
use umscope::model::address::Address;
use umscope::model::inspect::Inspect;
use umscope::model::operation::{Lanes, Operation, StoreValue, WarpAccess};
use umscope::scenario::{Options, Scenario};
use umscope::workload::{Task, TaskKind, Workload};

const MACHINE: &str = r#"
title = "Four L1s, two L2s, one memory"
checks = false
[machine]
name = "four L1s, two L2s"
protocol = "nmoesi"
values = false
[machine.gpu]
count = 2
clock = "1 GHz"
cu = { count = 2, wavefronts = 1, lanes = 1, outstanding = 8 }
l1 = { size = "32 KiB", ways = 8, line = "64 B", latency = 2, mshrs = 16 }
l2 = { slices = 1, size = "256 KiB", ways = 8, line = "64 B", latency = 20, mshrs = 32, crossbar_width = 72 }
memory = { home = "host" }
[machine.host]
cores = 0
hmds = 1
block = "64 B"
latency = "200 ns"
hop = "0 ns"
[machine.network]
kind = "nvlink"
bandwidth = "72 GB/s"
latency = "0 ns"
header = 8
[[do]]
by = "gpu0.cu0"
load = { address = 0x0, len = 4 }
"#;

/// What others reach (accesses a second), and the kinds of traces.
const KINDS: [(&str, f64); 4] =
    [("private", 1_610_000.0), ("shared", 132_000.0), ("hot", 217_000.0), ("stream", 120_000.0)];

const CORES: u64 = 4;
/// Accesses, unless a third argument says otherwise.
const TOTAL: u64 = 1_000_000;

/// As in `gentrace.py`.
fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn stream(kind: &str, core: u64, total: u64) -> Arc<[Operation]> {
    let mut state = mix(0xD1B5_4A32_D192_ED03_u64.wrapping_mul(core + 1));
    let accesses = (0..total / CORES).map(|line| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let r = mix(state);
        let kind_of = if (r >> 40) % 100 < 30 { AccessKind::Store } else { AccessKind::Load };
        let base = 0x0100_0000;
        let address = match kind {
            "private" => base + core * 0x10_0000 + ((r % (16 * 1024)) & !3),
            "shared" => base + ((r % (1 << 20)) & !3),
            "hot" => base + ((r % 4096) & !3),
            _ => base + core * 0x100_0000 + line * 64 % (16 << 20),
        };
        Operation::Access(WarpAccess {
            kind: kind_of,
            width: 4,
            lanes: Lanes::one(Address(address)),
            value: StoreValue::Seed(1),
            label: None,
        })
    });
    accesses.collect()
}

fn blueprint(kind: &str, total: u64) -> Blueprint {
    let scenario = Scenario::parse(Source::new("bench", MACHINE), None).unwrap();
    let mut blueprint = scenario.blueprint(&Options::default()).unwrap();
    let tasks = (0..CORES).map(|core| Task {
        id: format!("core{core}").into(),
        after: Vec::new(),
        delay: 0,
        launch: None,
        what: TaskKind::Program {
            agent: format!("gpu{}.cu{}", core / 2, core % 2),
            warp: None,
            operations: stream(kind, core, total).into(),
        },
    });
    blueprint.workload = Arc::new(Workload { tasks: tasks.collect(), ..Workload::default() });
    blueprint.max_cycles = u64::MAX;
    blueprint
}

fn run(kind: &str, total: u64) -> (Machine, Duration) {
    let mut machine = Machine::build(&blueprint(kind, total)).unwrap();
    let start = Instant::now();
    assert_eq!(machine.run_until(u64::MAX), StepOutcome::Finished);
    (machine, start.elapsed())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let times: usize = arguments.get(1).and_then(|word| word.parse().ok()).unwrap_or(3);
    let total: u64 = arguments.get(2).and_then(|word| word.parse().ok()).unwrap_or(TOTAL);
    let wanted = |kind: &str| arguments.first().is_none_or(|word| word == kind);
    for (kind, others) in KINDS.into_iter().filter(|(kind, _)| wanted(kind)) {
        let mut runs: Vec<_> = (0..times).map(|_| run(kind, total)).collect();
        runs.sort_unstable_by_key(|(_, time)| *time);
        let (machine, time) = &runs[runs.len() / 2];
        let speed = total as f64 / time.as_secs_f64();
        let events = machine.event();
        println!(
            "{kind:<8} {speed:>10.0} accesses/s ({:.2} of Multi2Sim 4.2)  {:>5.1} events/access  {:>9.0} events/s  {} cycles",
            speed / others,
            events as f64 / total as f64,
            events as f64 / time.as_secs_f64(),
            machine.time_base().cycle(machine.tick()),
        );
    }
}
