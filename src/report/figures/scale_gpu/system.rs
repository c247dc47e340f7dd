//! The machine of Table 1 and the two that it is compared with, the workloads of Table 2, and the runs that the figures share.
//!
//! When all workloads run, they do on a whole machine. For a quick look data are fewer, and so are the rows of the memory, but on a
//! whole machine as many misses would be under way, which would throw out each other's. So a sixth of it runs: one of the six
//! partitions, half of the SMs, each with a third of the warps and of the L1, and a sixth of the bandwidth of the link and of the
//! host's memory.

use crate::report::chart::{Bars, Chart, Series};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Outcome, Results};
use crate::report::figures::suite::{self, Plan, experiment, plan};
use crate::workload::suites::{SCALE_GPU, Workload};

/// How data come to the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// The baseline: a programmer copies them, in as many pieces as the memory needs.
    Copy,
    /// They stay in the host's memory.
    ZeroCopy,
    /// The GPU's memory caches them.
    ScaleGpu,
}

/// GPU memory in percent of the data (Fig. 3).
pub const SHARES: [f64; 4] = [100.0, 50.0, 25.0, 12.5];

/// Bytes of data a tag (Fig. 4).
pub const TAGS: [u32; 4] = [2048, 1024, 512, 256];

/// By what the machine of a quick look is smaller, and what is set of it.
const PART: u64 = 6;
const SMALLER: [&str; 8] = [
    "gpu.cu.count=7",
    "gpu.cu.wavefronts=16",
    "gpu.l1.size=5 KiB",
    "gpu.l1.ways=5",
    "gpu.l1.mshrs=11",
    "gpu.l2.slices=1",
    "host.dram.bandwidth=4.27 GB/s",
    "network.bandwidth=1.333 GB/s",
];

/// A workload, by what its data shrink, and by what the machine is smaller on which it runs.
#[derive(Clone, Copy, Debug)]
pub struct Scaled {
    pub workload: &'static Workload,
    scale: u64,
    part: u64,
}

/// A system with some memory, and bytes of data a tag where it has tags.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    pub system: System,
    pub share: f64,
    pub tag: u32,
}

static PLANS: [Plan; 5] = [
    plan("vectorAdd", 1, Some(16)),
    // Its partial results do not shrink with the data, and have to fit, too.
    plan("histogram", 1, Some(8)),
    plan("hotspot", 1, Some(64)),
    plan("Shortest Path", 1, Some(16)),
    plan("Bank Account", 1, Some(16)),
];

/// What a programmer can divide ("we perform manual code modifications only for vectorAdd, histogram, and hotspot").
const DIVISIBLE: [&str; 3] = ["vectorAdd", "histogram", "hotspot"];

pub const fn setting(system: System, share: f64) -> Setting {
    Setting { system, share, tag: 2048 }
}

pub const BASELINE: Setting = setting(System::Copy, 100.0);

/// The workload of this name, scaled.
#[must_use]
pub fn scaled(name: &str, effort: Effort) -> Option<Scaled> {
    all(effort).into_iter().find(|scaled| scaled.workload.name == name)
}

/// All five, scaled.
#[must_use]
pub fn all(effort: Effort) -> Vec<Scaled> {
    let part = effort.part(PART);
    let planned = suite::planned(SCALE_GPU, &PLANS, effort).into_iter();
    planned.map(|(workload, scale)| Scaled { workload, scale, part }).collect()
}

/// Pieces of a launch that fit into the memory: three quarters more than would fit exactly, rounded down, for what neighbours share.
fn pieces(workload: &Workload, setting: Setting) -> u64 {
    let divisible = DIVISIBLE.contains(&workload.name);
    let needed = setting.system == System::Copy && divisible && setting.share < 100.0;
    if needed { (175.0 / setting.share) as u64 } else { 1 }
}

/// A run of a workload until everything is in the host's memory.
#[must_use]
pub fn run(Scaled { workload, scale, part }: Scaled, setting: Setting) -> Experiment {
    let machine = match setting.system {
        System::Copy => "scalegpu-copy",
        System::ZeroCopy => "scalegpu-zerocopy",
        System::ScaleGpu => "scalegpu",
    };
    let mut set: Vec<String> = if part == 1 { Vec::new() } else { SMALLER.map(str::to_owned).into() };
    // Sets are a power of two.
    let l2 = (L2 * part / scale).clamp(LEAST_L2, L2);
    set.push(format!("gpu.l2.size={} B", 1 << l2.ilog2()));
    match setting.system {
        System::Copy => set.push(format!("gpu.copies.share={}", setting.share)),
        System::ZeroCopy => {}
        System::ScaleGpu => {
            set.push(format!("gpu.tags.share={}", setting.share));
            set.push(format!("gpu.tags.data={} B", setting.tag));
        }
    }
    let mut with = Vec::new();
    // Iterations that use each other's results; the paper does not say how many.
    with.extend((workload.name == "hotspot").then(|| "iterations = 8".to_owned()));
    let pieces = pieces(workload, setting);
    with.extend((pieces > 1).then(|| format!("pieces = {pieces}")));
    with.push(format!("launch = {}", (LAUNCH * part / scale).clamp(1, LAUNCH)));
    with.push(format!("scale = {scale}"));
    experiment(machine, workload, &with, set)
}

/// What a launch costs a kernel of full size, in cycles.
const LAUNCH: u64 = 1600;

/// Bytes of a slice of the L2, and those that its misses under way need at least.
const L2: u64 = 128 << 10;
const LEAST_L2: u64 = 16 << 10;

/// The time of a run in cycles.
///
/// # Errors
/// If it is not there, in words.
pub fn time(results: &Results, scaled: Scaled, setting: Setting) -> Result<f64, String> {
    Ok(outcome(results, scaled, setting)?.cycles as f64)
}

fn outcome(results: &Results, scaled: Scaled, setting: Setting) -> Result<&Outcome, String> {
    let name = scaled.workload.name;
    results
        .of(&run(scaled, setting))
        .map_err(|why| format!("{name}, {:?} with {} %: {why}", setting.system, setting.share))
}

/// How much faster than a time another is, in percent.
#[must_use]
pub fn faster(slow: f64, fast: f64) -> f64 {
    100.0 * (slow / fast - 1.0)
}

/// The scale of all in words.
#[must_use]
pub fn scale_text(all: &[Scaled]) -> String {
    let workloads: Vec<_> = all.iter().map(|scaled| (scaled.workload, scaled.scale)).collect();
    suite::scale_text_on(all.first().map_or(1, |scaled| scaled.part), &workloads)
}

/// Runtimes in the manner of Fig. 3: to the GPU, kernel, to the host, over the baseline with all memory. Runs that there are not,
/// since the baseline cannot make them, are left out.
#[must_use]
pub fn runtimes(results: &Results, scaled: Scaled) -> Chart {
    let base = time(results, scaled, BASELINE).unwrap_or(f64::NAN);
    let systems = [System::Copy, System::ScaleGpu];
    let mut bars: Vec<(String, Setting)> = systems
        .iter()
        .flat_map(|&system| SHARES.map(|share| (system, share)))
        .map(|(system, share)| (format!("{} {share} %", name(system)), setting(system, share)))
        .collect();
    bars.push((name(System::ZeroCopy).to_owned(), setting(System::ZeroCopy, 100.0)));
    let names = ["to the GPU", "kernel", "to the host"];
    let mut series = names.map(|name| Series { name: name.to_owned(), values: Vec::new() });
    let mut groups = Vec::new();
    for (group, setting) in bars {
        let Ok(outcome) = outcome(results, scaled, setting) else { continue };
        let [into, copied] = outcome.copying;
        let back = if setting.system == System::Copy { copied } else { outcome.after("run").unwrap_or(0.0) };
        let parts = [into, outcome.cycles as f64 - into - back, back];
        for (series, part) in series.iter_mut().zip(parts) {
            series.values.push(part / base);
        }
        groups.push(group);
    }
    Chart::Bars(Bars {
        title: format!(
            "{}: runtime over the baseline with all memory (ScaleGPU, Fig. 3)",
            scaled.workload.name
        ),
        axis: "runtime".to_owned(),
        groups,
        series: series.into(),
        clusters: Vec::new(),
        stacked: true,
    })
}

fn name(system: System) -> &'static str {
    match system {
        System::Copy => "baseline",
        System::ZeroCopy => "zero-copy",
        System::ScaleGpu => "ScaleGPU",
    }
}
