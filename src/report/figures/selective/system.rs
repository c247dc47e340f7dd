//! The machines of Table 4, one for each step, the workloads of Tables 1 to 3, and the runs that the figures share.
//!
//! When all workloads run, they do on whole machines. For a quick look these take too long, and smaller data on them find caches that
//! hold them and runs that are over before a fault is. So an eighth of the machine runs: two fifths of the SMs, each with a third of
//! the warps and of the L1, one of the eight channels with its slice of the L2, and an eighth of the CPU's memory, of the link and of
//! the client cache.

use std::ops::Deref;

use crate::report::chart::Chart;
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Outcome, Results};
use crate::report::figures::figure::mean;
use crate::report::figures::suite::{self, Plan, plan};
pub use crate::report::figures::suite::{Scaled, bars, extremes, of, sentences, word};
use crate::report::number::grouped;
use crate::workload::suites::{Rates, SELECTIVE};

/// By what the machine of a quick look is smaller.
const PART: u64 = 8;

/// What is set of it, but for what a [`Change`] tells.
const SMALLER: [&str; 8] = [
    "gpu.sm.count=6",
    "gpu.sm.warps=16",
    "gpu.l1.size=5 KiB",
    "gpu.l1.ways=5",
    "gpu.l1.mshrs=21",
    "gpu.l2.slices=1",
    "host.hmds=1",
    "host.llc.size=1 MiB",
];

/// Of the whole machine: bandwidths of the CPU's memory and of the link in GB/s, the client cache in KiB and its MSHRs.
const MEMORY: f64 = 80.0;
const LINK: f64 = 90.0;
const CLIENT_CACHE: u64 = 512;
const CLIENT_MSHRS: u64 = 512;

/// What is changed of a machine of Table 4. Sizes and bandwidths are those of the whole machine, and shrink with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// A key and its value.
    Set(&'static str),
    /// The size of the client cache, in KiB.
    ClientCache(u64),
    /// The bandwidth of a direction of the link, in GB/s.
    Link(f64),
}

/// A machine of Table 4 with changes to it.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub name: &'static str,
    changes: &'static [Change],
}

impl Machine {
    const fn of(name: &'static str) -> Self {
        Self { name, changes: &[] }
    }

    /// The same machine with other changes.
    #[must_use]
    pub const fn with(self, changes: &'static [Change]) -> Self {
        Self { name: self.name, changes }
    }

    fn has_client_cache(self) -> bool {
        [CLIENT, VARIABLE, READ_ONLY, COHERENT_VARIABLE].iter().any(|other| other.name == self.name)
    }

    /// What is set of it, if `1/part` of it runs.
    fn set(self, part: u64) -> Vec<String> {
        let mut set = if part == 1 { Vec::new() } else { self.smaller(part) };
        set.extend(self.changes.iter().map(|change| match change {
            Change::Set(text) => (*text).to_owned(),
            Change::ClientCache(size) => format!("host.client.size={} KiB", size / part),
            Change::Link(bandwidth) => link(*bandwidth, part),
        }));
        set
    }

    fn smaller(self, part: u64) -> Vec<String> {
        let mut set: Vec<String> = SMALLER.map(str::to_owned).into();
        set.push(format!("host.dram.bandwidth={} GB/s", MEMORY / part as f64));
        set.push(link(LINK, part));
        if self.has_client_cache() {
            set.push(format!("host.client.size={} KiB", CLIENT_CACHE / part));
            set.push(format!("host.client.mshrs={}", CLIENT_MSHRS / part));
        }
        set
    }
}

fn link(bandwidth: f64, part: u64) -> String {
    format!("network.bandwidth={} GB/s", bandwidth / part as f64)
}

/// What all others are compared with.
pub const COHERENT: Machine = Machine::of("selective-coherent");
pub const NAIVE: Machine = Machine::of("selective-naive");
pub const L1: Machine = Machine::of("selective-l1");
pub const L1_L2: Machine = Machine::of("selective-l1-l2");
pub const CLIENT: Machine = Machine::of("selective-client");
pub const VARIABLE: Machine = Machine::of("selective-variable");
pub const READ_ONLY: Machine = Machine::of("selective-readonly");

/// The first of all with a client cache and variable-size transfers.
pub const COHERENT_VARIABLE: Machine = Machine::of("selective-coherent-variable");

/// The steps of Fig. 5 to 8, each on top of the ones before.
pub const STEPS: [(&str, Machine); 6] = [
    ("naive", NAIVE),
    ("L1 coalescing", L1),
    ("L1+L2 coalescing", L1_L2),
    ("client cache", CLIENT),
    ("variable transfers", VARIABLE),
    ("read-only", READ_ONLY),
];

/// In the order of the suite. The paper tells no sizes; those that shrink take longest, and are far beyond all caches still. In a quick
/// look data are as small as they can be with all compute units at work: a GPU that is not full waits for latencies, not for the
/// memory of the CPU.
static PLANS: [Plan; 12] = [
    plan("backprop", 1, Some(64)),
    plan("bfs", 4, None),
    plan("btree", 1, Some(16)),
    plan("cns", 2, None),
    plan("comd", 2, None),
    plan("kmeans", 2, None),
    plan("minife", 1, None),
    plan("mummer", 1, Some(16)),
    plan("needle", 1, None),
    plan("pathfinder", 1, None),
    plan("srad_v1", 1, Some(8)),
    plan("xsbench", 8, Some(128)),
];

/// Workloads, each with its scale, and the part of the machine on which they run.
#[derive(Debug)]
pub struct Work {
    part: u64,
    workloads: Vec<Scaled>,
}

impl Deref for Work {
    type Target = [Scaled];

    fn deref(&self) -> &[Scaled] {
        &self.workloads
    }
}

impl Work {
    /// The run of a workload on a machine.
    fn on(&self, machine: Machine) -> impl Fn(Scaled) -> Experiment {
        let set = machine.set(self.part);
        move |scaled| suite::run(machine.name, scaled, &set)
    }
}

/// The workloads to run.
#[must_use]
pub fn workloads(effort: Effort) -> Work {
    Work { part: effort.part(PART), workloads: suite::planned(SELECTIVE, &PLANS, effort) }
}

/// The runs of all workloads on each of the machines.
#[must_use]
pub fn runs(effort: Effort, machines: &[Machine]) -> Vec<Experiment> {
    let work = workloads(effort);
    let of = |scaled: &Scaled| machines.iter().map(|machine| work.on(*machine)(*scaled)).collect::<Vec<_>>();
    work.iter().flat_map(of).collect()
}

/// What each workload's run on a machine gave.
///
/// # Errors
/// If one is not there, in words.
pub fn outcomes<'a>(work: &Work, results: &'a Results, machine: Machine) -> Result<Vec<&'a Outcome>, String> {
    suite::outcomes(work, results, work.on(machine))
}

/// A statistic of each workload's run on a machine.
///
/// # Errors
/// As [`outcomes`], or if there is no such statistic.
pub fn statistics(work: &Work, results: &Results, machine: Machine, key: &str) -> Result<Vec<f64>, String> {
    outcomes(work, results, machine)?.into_iter().map(|outcome| outcome.statistic(key)).collect()
}

/// Of each workload, the throughput on a machine over that on another.
///
/// # Errors
/// As [`outcomes`].
pub fn throughput(
    work: &Work,
    results: &Results,
    machine: Machine,
    over: Machine,
) -> Result<Vec<f64>, String> {
    suite::time_ratios(work, results, work.on(over), work.on(machine))
}

/// Why read-only pages look worse in short runs of what writes the same pages again and again, with how short ours are.
///
/// # Errors
/// As [`outcomes`].
pub fn about_faults(work: &Work, results: &Results) -> Result<String, String> {
    let cycles =
        || Ok::<_, String>(outcomes(work, results, VARIABLE)?.into_iter().map(|outcome| outcome.cycles));
    let (least, most) = (cycles()?.min().unwrap_or(0), cycles()?.max().unwrap_or(0));
    Ok(format!(
        "a fault takes 28,000 cycles, and each page has one at most: the more iterations go over the same pages, the less they weigh \
         (minife makes 10 of the 200 of its source, srad_v1 2 of 100), while btree writes each page once, whatever its size; ours take {} to {} cycles without faults",
        grouped(least),
        grouped(most)
    ))
}

/// What a table of the paper says of each workload, in per cent.
#[must_use]
pub fn published(workloads: &[Scaled], what: fn(&Rates) -> f64) -> Vec<f64> {
    workloads.iter().map(|(workload, _)| workload.rates.as_ref().map_or(f64::NAN, what)).collect()
}

/// How far ours are from what a table says of the same workloads.
#[must_use]
pub fn apart(ours: &[f64], table: &[f64]) -> String {
    let points: Vec<f64> = ours.iter().zip(table).map(|(ours, table)| (ours - table).abs()).collect();
    format!("{:.1} points from the table's on average", mean(&points))
}

/// Bars of rates, whose mean is the tables': the arithmetic one.
#[must_use]
pub fn rates(title: &str, axis: &str, workloads: &[Scaled], series: &[(&str, &Vec<f64>)]) -> Chart {
    Chart::Bars(suite::bars_and(("mean", mean), title, axis, workloads, series))
}

/// What every note says at its end.
#[must_use]
pub fn about(workloads: &[Scaled]) -> String {
    suite::names(workloads)
}

/// The scale in words.
#[must_use]
pub fn scale_text(work: &Work) -> String {
    suite::scale_text_on(work.part, work)
}

/// The axis of most charts.
pub const AXIS: &str = "throughput over that of the hardware-coherent GPU";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_machine_has_what_a_part_of_it_is_counted_from() {
        let machine =
            workloads(Effort::Whole).on(CLIENT)(workloads(Effort::Whole)[8]).prepare().unwrap().machine;
        let spec = machine.spec();
        let memory = spec.host.dram.bandwidth.0 * u64::from(spec.host.hmds);
        assert_eq!((memory, spec.network.bandwidth.0), ((MEMORY * 1e9) as u64, (LINK * 1e9) as u64));
        let client = spec.host.client.as_ref().unwrap();
        assert_eq!((client.size.0 >> 10, u64::from(client.mshrs)), (CLIENT_CACHE, CLIENT_MSHRS));
    }

    #[test]
    fn every_workload_of_the_suite_is_planned() {
        let names: Vec<_> = workloads(Effort::Whole).iter().map(|(workload, _)| workload.name).collect();
        assert_eq!(names, SELECTIVE.iter().map(|workload| workload.name).collect::<Vec<_>>());
        assert!(!workloads(Effort::Quick).is_empty());
    }
}
