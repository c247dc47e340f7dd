//! The machines of NUMA-aware GPUs, Table 1, and the runs that its figures share.
//!
//! A whole machine takes too long. A socket has half of the SMs, each with an eighth of the warps, of the L1 and of what it computes,
//! and a sixteenth part of the L2, of the memory's bandwidth and of the link: what the SMs of a socket share is still
//! asked for by many of them, which is what an L2 that keeps remote lines saves. Data and blocks of threads shrink as
//! the socket does, some data further. The L2 does not shrink with these: what the warps of a socket want at one time is as much
//! as ever, and one way, which is all that local or remote lines may be left with, has to have room for what is awaited. Pages
//! shrink as the data do: what sockets share of pages would otherwise be most of them. The host does nothing: the paper's
//! sockets have none.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{geometric_mean, mean};
pub use crate::report::figures::suite::{Scaled, sentences, time_ratios};
use crate::report::figures::suite::{experiment, names};
use crate::workload::kernels;
use crate::workload::suites::{NUMA, Workload};

/// Four sockets of Table 1.
const MACHINE: &str = "numa-4socket";

/// By what a socket is smaller.
pub const PART: u64 = 16;

/// SMs of a socket, and warps, KiB of L1 and MSHRs of each: an eighth of the paper's and the machine's, of as many SMs as have
/// a socket's part of the warps. Of the MSHRs a quarter: one instruction of a warp asks for up to 32 lines.
const SMS: u64 = 8 * 64 / PART;
const WARPS: u64 = 8;
const L1: u64 = 16;
const L1_MSHRS: u64 = 32;

/// SIMD units of an SM, and by what an instruction takes longer on one, so that sockets compute a [`PART`] of what those of 64 SMs do that
/// have two.
const SIMDS: u64 = 1;
const SLOWER: u64 = SMS * SIMDS * PART / (64 * 2);

/// Threads of a block, at most: what an SM has room for.
const BLOCK: u64 = WARPS * 32;

/// Kernels of square blocks, whose parameter is an edge.
const SQUARES: [&str; 2] = ["hotspot", "gaussian"];

/// What a launch costs a kernel of full size, in cycles.
const LAUNCH: u64 = 1600;

/// What the machine does by the clock, in cycles (sections 4.1 and 5.1). Where data shrink further than sockets do, launches are shorter,
/// and these as well, so that as many samples are in a launch; a tenth at least, as a few lines take as long.
const PACED: [(&str, u64); 3] =
    [("gpu.numa.sample", 5000), ("network.balancer.sample", 5000), ("network.balancer.turn", 100)];
const LEAST_PACE: u64 = 10;

/// A page of a machine of full size, and the least one, in bytes.
const PAGE: u64 = 4096;
const LEAST_PAGE: u64 = 256;

/// The L2 of a socket, in KiB, and the bandwidth of its memory and of a direction of its link, in GB/s.
const SLICE: u64 = 4096 / PART;
const MEMORY: u64 = 768 / PART;
const LINK: u64 = 64 / PART;

/// The workloads of a quick look, and by what their data shrink: streams, stencils, graphs, tables that all read, meshes,
/// and the phases of a multigrid. Particles are not among them: with so few of `CoMD`'s that it takes no longer than the others
/// together, most of the SMs of eight sockets would have no block.
const QUICK: [(&str, u64); 8] = [
    ("Other-Stream-Triad", 512),
    ("Rodinia-Hotspot", 32),
    ("Rodinia-Euler3D", 32),
    ("HPC-RSBench", 512),
    ("HPC-Lulesh-Unstruct-Mesh1", 32),
    ("HPC-HPGMG", 1024),
    ("Lonestar-SSSP", 128),
    ("Rodinia-Backprop", 128),
];

/// What the data of a workload shrink to at most when all run, in megabytes: so much takes more than an hour on two cores for all figures.
const MOST: u64 = 32;

/// What takes minutes a run all the same, and by what its data shrink further: iterations over all of them, pairs of particles, lookups
/// in tables that lie on one socket, graphs that take many rounds, and a launch for each row and column of a matrix.
const LONG: [(&str, u64); 7] = [
    ("HPC-AMG", 2),
    ("HPC-CoMD", 2),
    ("HPC-CoMD-Ta", 2),
    ("HPC-HPGMG", 2),
    ("HPC-RSBench", 4),
    ("Lonestar-MST-Graph", 2),
    ("Rodinia-Gaussian", 4),
];

/// By what the data of a workload shrink when all run: as the sockets do, or further where that would be too much.
fn whole(workload: &Workload) -> u64 {
    let megabytes = workload.table.map_or(64, |row| row.megabytes);
    let further = LONG.iter().find(|(name, _)| *name == workload.name).map_or(1, |(_, times)| *times);
    (megabytes / MOST).next_power_of_two().max(PART) * further
}

/// The workloads to run. What runs partly on the host is left out where all run: the paper's sockets have none. So is what is the
/// same as another one once its blocks fit on an SM (the second of SSSP's worklists), and, for the time that they take, the layers of
/// networks (`ML-`), whose batches shrink no further than by 32.
#[must_use]
pub fn workloads(effort: Effort) -> Vec<Scaled> {
    let named = |(name, scale): &(&str, u64)| {
        let found = NUMA.iter().find(|workload| workload.name == *name)?;
        Some((found, *scale))
    };
    match effort {
        Effort::Quick => QUICK.iter().filter_map(named).collect(),
        Effort::Whole => {
            let fits =
                |workload: &&Workload| workload.name != "HPC-HPGMG-UVM" && !workload.name.starts_with("ML-");
            let mut seen = BTreeSet::new();
            let all = NUMA.iter().filter(fits).map(|workload| (workload, whole(workload)));
            all.filter(|&(workload, scale)| seen.insert(work(workload, scale))).collect()
        }
    }
}

/// What a workload does: its kernel, and all that it is told.
fn work(workload: &Workload, scale: u64) -> (&'static str, BTreeMap<String, String>) {
    let mut told = BTreeMap::new();
    if let Some(threads) = threads(workload) {
        told.insert("workgroup".to_owned(), threads.to_string());
    }
    told.extend(workload.with.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())));
    let ours = parameters(workload, scale);
    let ours = ours.iter().filter_map(|line| line.split_once(" = "));
    told.extend(ours.map(|(name, value)| (name.to_owned(), value.to_owned())));
    (workload.kernel, told)
}

/// Threads of a block.
fn threads(workload: &Workload) -> Option<u64> {
    let given = workload.with.iter().find(|(name, _)| *name == "workgroup");
    given.and_then(|(_, threads)| threads.parse().ok()).or_else(|| {
        let kernel = kernels::find(workload.kernel).ok()?;
        kernel.parameters().find(|one| one.name == "workgroup")?.kind.default()
    })
}

/// What locality alone reaches of a GPU four times as large, from which on a workload tells nothing of the rest (section 3.1: "we choose
/// to exclude benchmarks that achieve >= 99 % of the theoretical performance with software-only locality optimizations").
const REACHED: f64 = 0.99;

/// The workloads that sections 4 and 5 and Fig. 10 are about, and the others, in words to be told. All of them count in section 6 ("Still,
/// we include all benchmarks in our final results").
///
/// # Errors
/// If a run that tells them apart is not there, in words.
pub fn improvable(effort: Effort, results: &Results) -> Result<(Vec<Scaled>, String), String> {
    let all = workloads(effort);
    let reached = time_ratios(&all, results, |one| larger(4, one), |one| sockets(4, one, &[]))?;
    let (done, left): (Vec<_>, Vec<_>) =
        all.into_iter().zip(reached).partition(|(_, share)| *share >= REACHED);
    let [done, left] = [done, left].map(|some| some.into_iter().map(|(one, _)| one).collect::<Vec<Scaled>>());
    let told = match done.as_slice() {
        [] => String::new(),
        some => format!("without {}, which locality alone brings to 99 % of a larger GPU (3.1)", names(some)),
    };
    Ok((left, told))
}

/// The runs of each workload on four sockets with each of some changes, and those that tell which of them count.
#[must_use]
pub fn on_each(effort: Effort, all: &[&[Change]]) -> Vec<Experiment> {
    let of = |one: Scaled| {
        let changed = all.iter().map(move |changes| sockets(4, one, changes));
        changed.chain([larger(4, one)]).collect::<Vec<_>>()
    };
    workloads(effort).into_iter().flat_map(of).collect()
}

/// The scale in words.
#[must_use]
pub fn scale_text(workloads: &[Scaled]) -> String {
    let all = workloads.iter().map(|(_, scale)| *scale);
    let (least, most) = (all.clone().min().unwrap_or(1), all.max().unwrap_or(1));
    format!("sockets 1/{PART}, data 1/{least} to 1/{most}")
}

/// A change to the four sockets.
pub type Change = (&'static str, &'static str);

pub const TRADITIONAL: [Change; 2] = [("gpu.numa.placement", "fine"), ("gpu.ctas", "round-robin")];
pub const PAGES: [Change; 2] = [("gpu.numa.placement", "page"), ("gpu.ctas", "round-robin")];
pub const STATIC: Change = ("gpu.numa.l2", "static");
pub const SHARED: Change = ("gpu.numa.l2", "shared");
pub const AWARE: Change = ("gpu.numa.l2", "partitioned");
pub const DYNAMIC: Change = ("network.balancer.policy", "dynamic");
/// Twice as wide links.
pub const DOUBLED: Change = ("network.bandwidth", "8 GB/s");

/// A run on sockets of Table 1, with changes.
#[must_use]
pub fn sockets(count: u32, scaled: Scaled, changes: &[Change]) -> Experiment {
    let mut set = vec![format!("gpu.count={count}"), format!("network.bandwidth={LINK} GB/s")];
    let changed = |key: &str| changes.iter().find(|(name, _)| *name == key);
    let others = changes.iter().filter(|(key, _)| PACED.iter().all(|(name, _)| name != key));
    set.extend(others.map(|(key, value)| format!("{key}={value}")));
    for (key, usual) in PACED {
        let cycles = changed(key).and_then(|(_, value)| value.parse().ok()).unwrap_or(usual);
        set.push(format!("{key}={}", paced(cycles, scaled.1)));
    }
    run(1, scaled, set)
}

/// So many cycles of the whole machine, with data that have shrunk so far.
fn paced(cycles: u64, scale: u64) -> u64 {
    (cycles * PART / scale).max(cycles / LEAST_PACE).min(cycles)
}

/// A run on the hypothetical GPU of one socket that is so many times as large (section 3.1).
#[must_use]
pub fn larger(times: u32, scaled: Scaled) -> Experiment {
    run(times, scaled, vec!["gpu.count=1".to_owned()])
}

/// A run on GPUs of so many parts.
fn run(times: u32, (workload, scale): Scaled, mut set: Vec<String>) -> Experiment {
    set.extend([
        format!("gpu.sm.count={}", SMS * u64::from(times)),
        format!("gpu.sm.warps={WARPS}"),
        format!("gpu.sm.simds={SIMDS}"),
        format!("gpu.l1.size={L1} KiB"),
        format!("gpu.l1.mshrs={L1_MSHRS}"),
        format!("gpu.l2.slices={times}"),
        format!("gpu.l2.size={SLICE} KiB"),
        format!("gpu.memory.dram.bandwidth={MEMORY} GB/s"),
        format!("gpu.numa.page={} B", (PAGE / scale).max(LEAST_PAGE)),
    ]);
    experiment(MACHINE, workload, &parameters(workload, scale), set)
}

/// What is told to the kernel of a workload on parts of sockets.
fn parameters(workload: &Workload, scale: u64) -> Vec<String> {
    let launch = (LAUNCH * PART / scale).max(1);
    let mut with = vec![format!("scale = {scale}")];
    let Ok(kernel) = kernels::find(workload.kernel) else { return with };
    let takes = |name: &str| kernel.parameters().any(|one| one.name == name);
    let computes = kernel.parameters().find(|one| one.name == "compute").and_then(|one| one.kind.default());
    with.extend(computes.map(|cycles| format!("compute = {}", SLOWER * cycles)));
    with.extend(takes("launch").then(|| format!("launch = {launch}")));
    with.extend(takes("sync").then(|| "sync = \"none\"".to_owned()));
    with.extend(threads(workload).filter(|&threads| threads > BLOCK).map(|_| format!("workgroup = {BLOCK}")));
    let is_square = SQUARES.contains(&workload.kernel);
    with.extend(is_square.then(|| format!("edge = {}", BLOCK.isqrt())));
    with
}

/// The mean of speedups that the paper may mean as well, where it says "on average", as a gain in percent.
#[must_use]
pub fn plain_gain(speedups: &[f64]) -> f64 {
    100.0 * (mean(speedups) - 1.0)
}

/// The mean of speedups as a gain in percent.
#[must_use]
pub fn gain(speedups: &[f64]) -> f64 {
    100.0 * (geometric_mean(speedups) - 1.0)
}

/// The largest of them.
#[must_use]
pub fn best(speedups: &[f64]) -> f64 {
    speedups.iter().copied().fold(f64::NAN, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_work_counts_twice() {
        let all = workloads(Effort::Whole);
        let works: BTreeSet<_> = all.iter().map(|&(workload, scale)| work(workload, scale)).collect();
        assert_eq!((all.len(), works.len()), (25, 25));
        assert_eq!((paced(5000, PART), paced(5000, 2 * PART), paced(100, 4096)), (5000, 2500, 10));
        let has = |name: &str| all.iter().any(|(workload, _)| workload.name == name);
        assert!(has("Lonestar-SSSP-Wln") && !has("Lonestar-SSSP-Wlc"));
    }
}
