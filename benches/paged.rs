//! How fast far-faults are simulated: events a second of kernels on the paged machine of the paper.
//!
//! `cargo bench --bench paged`, or with a part of a name, such as `cargo bench --bench paged oversubscribed`. What the
//! driver and the prefetchers cost of it: `perf record` on the program that this prints, and the share of
//! `parts::driver`, `parts::residency`, `policy` and `machine::paging` in `perf report`.

#![allow(clippy::unwrap_used)]

use std::time::Instant;

use umscope::diagnostic::Source;
use umscope::machine::{Machine, StepOutcome};
use umscope::model::inspect::Inspect;
use umscope::scenario::{Options, Scenario};

/// A name, the kernel with its parameters, and what is set of the machine.
const RUNS: [(&str, &str, &[&str]); 3] = [
    ("on-demand", "name = \"hotspot\"\nwith = { size = 512 }", &[]),
    ("locality", "name = \"hotspot\"\nwith = { size = 512 }", &["gpu.paging.prefetch=locality"]),
    (
        "oversubscribed",
        "name = \"hotspot\"\nwith = { size = 512 }",
        &[
            "gpu.paging.share=50",
            "gpu.paging.evict=lru",
            "gpu.paging.prefetch=locality",
            "gpu.paging.prefetch_when_full=true",
        ],
    ),
];

fn machine(kernel: &str, set: &[&str]) -> Machine {
    let text = format!("machine = \"paged-gtx480\"\nchecks = false\n[[kernel]]\nid = \"work\"\n{kernel}\n");
    let scenario = Scenario::parse(Source::new("bench", text), None).unwrap();
    let set = set.iter().map(|change| (*change).to_owned()).collect();
    scenario.prepare(&Options { set, ..Options::default() }).unwrap().machine
}

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    for (name, kernel, set) in RUNS.iter().filter(|(name, ..)| name.contains(&wanted)) {
        let mut machine = machine(kernel, set);
        let start = Instant::now();
        assert_eq!(machine.run_until(u64::MAX), StepOutcome::Finished);
        let seconds = start.elapsed().as_secs_f64();
        let value = |key: &str| machine.statistic(key).unwrap_or(0.0);
        println!(
            "{name:16} {:>12} events  {:>6.2} million a second  {} far-faults, {} pages moved",
            machine.event(),
            machine.event() as f64 / seconds / 1e6,
            value("paging.far_faults"),
            value("paging.demanded") + value("paging.prefetched"),
        );
    }
}
