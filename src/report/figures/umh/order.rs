//! Fig. 13: who is fastest and who slowest, on one, two and four GPUs, over PCIe and `NVLink`.

use super::baseline::{COMPARED, COUNTS, NETWORKS, Network, Setting, System, on, runs};
use super::system::{Scaled, compared, not_compared, outcomes, scale_text, sentences, times, unless};
use crate::model::text::plural;
use crate::report::chart::{Bars, Chart, Series};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding};

pub const FIGURE: Figure = Figure {
    id: "umh-order",
    claim: "UMH fastest, zero-copy slowest for almost every workload; NVLink beats PCIe for all",
    paper: &[],
    unit: "order",
    place: "UMH 6.1.1, Fig 13",
    experiments,
    finding,
};

/// "Almost every": of ten, nine.
const ALMOST: f64 = 0.9;

/// Why it is missed.
const REASON: &str = "zero-copy wins where all GPUs store to the same blocks in every launch (FW, FWT), memcpy where several read the \
                      same blocks or UMH fetches what it will overwrite; what is used once crosses the same link under all three";

fn settings() -> Vec<Setting> {
    let of = |gpus| NETWORKS.map(|network| COMPARED.map(|system| (system, gpus, network)));
    COUNTS.into_iter().flat_map(of).flatten().collect()
}

fn experiments(effort: Effort) -> Vec<Experiment> {
    runs(&compared(effort), &settings())
}

/// How often each of the three parts of the claim holds, over how often it could.
#[derive(Default)]
struct Tally {
    cases: usize,
    umh_fastest: usize,
    zero_copy_slowest: usize,
    links: usize,
    nvlink_faster: usize,
    exceptions: Vec<String>,
}

impl Tally {
    fn count(&mut self, workloads: &[Scaled], results: &Results, gpus: u32) -> Result<(), String> {
        for network in NETWORKS {
            let of = |system| times(workloads, results, on((system, gpus, network)));
            let (umh, memcpy, zero_copy) = (of(System::Umh)?, of(System::Memcpy)?, of(System::ZeroCopy)?);
            for ((((workload, _), umh), memcpy), zero_copy) in
                workloads.iter().zip(umh).zip(memcpy).zip(zero_copy)
            {
                self.cases += 1;
                self.umh_fastest += usize::from(umh <= memcpy && umh <= zero_copy);
                self.zero_copy_slowest += usize::from(zero_copy >= memcpy && zero_copy >= umh);
                if umh > memcpy || umh > zero_copy {
                    self.exceptions.push(format!("{} {gpus} {}", workload.name, network.name()));
                }
            }
        }
        for system in COMPARED {
            let of = |network| times(workloads, results, on((system, gpus, network)));
            for (pcie, nvlink) in of(Network::Pcie)?.into_iter().zip(of(Network::Nvlink)?) {
                self.links += 1;
                self.nvlink_faster += usize::from(nvlink < pcie);
            }
        }
        Ok(())
    }
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = compared(effort);
    let mut tally = Tally::default();
    for gpus in COUNTS {
        tally.count(&workloads, results, gpus)?;
    }
    let almost = |part: usize, whole: usize| part as f64 >= ALMOST * whole as f64;
    let counts = format!(
        "UMH fastest in {} of {} cases, zero-copy slowest in {}, NVLink faster in {} of {}",
        tally.umh_fastest, tally.cases, tally.zero_copy_slowest, tally.nvlink_faster, tally.links
    );
    let exceptions = if tally.exceptions.is_empty() {
        String::new()
    } else {
        format!("UMH is not the fastest for {}", tally.exceptions.join(", "))
    };
    let charts: Result<Vec<_>, String> = COUNTS
        .into_iter()
        .zip(["-1gpu", "-2gpu", "-4gpu"])
        .map(|(gpus, suffix)| Ok((suffix, chart(&workloads, results, gpus)?)))
        .collect();
    let holds = almost(tally.umh_fastest, tally.cases)
        && almost(tally.zero_copy_slowest, tally.cases)
        && tally.nvlink_faster == tally.links;
    Ok(Finding {
        ours: Vec::new(),
        holds,
        scale: scale_text(&workloads),
        note: sentences(&[&counts, &exceptions, unless(holds, effort, REASON), &not_compared(effort)]),
        charts: charts?,
    })
}

fn initial(name: &str) -> String {
    name.chars().take(1).flat_map(char::to_uppercase).collect()
}

/// A system on a network, in a letter each.
fn initials(system: System, network: Network) -> String {
    format!("{} {}", initial(system.name()), initial(network.name()))
}

/// Runtimes in the manner of Fig. 13: copies to the GPUs, work, copies and flushes back, over the time of memcpy on PCIe.
fn chart(workloads: &[Scaled], results: &Results, gpus: u32) -> Result<Chart, String> {
    let base = times(workloads, results, on((System::Memcpy, gpus, Network::Pcie)))?;
    let (mut groups, mut clusters) = (Vec::new(), Vec::new());
    let names = ["to the GPUs", "work", "back to the host"];
    let mut series = names.map(|name| Series { name: name.to_owned(), values: Vec::new() });
    for (index, (workload, _)) in workloads.iter().enumerate() {
        for network in NETWORKS {
            for system in COMPARED {
                let outcome = outcomes(workloads, results, on((system, gpus, network)))?;
                let (Some(outcome), Some(base)) = (outcome.get(index), base.get(index)) else { continue };
                let [into, mut back] = outcome.copying;
                back += outcome.span("flush").unwrap_or(0.0);
                let work = outcome.cycles as f64 - into - back;
                for (series, part) in series.iter_mut().zip([into, work, back]) {
                    series.values.push(part / base);
                }
                groups.push(initials(system, network));
            }
        }
        clusters.push((workload.name.to_owned(), COMPARED.len() * NETWORKS.len()));
    }
    let letters = COMPARED.map(|system| format!("{} {}", initial(system.name()), system.name())).join(", ");
    let links = NETWORKS.map(|network| format!("{} {}", initial(network.name()), network.name())).join(", ");
    Ok(Chart::Bars(Bars {
        title: format!("Runtime with {} (UMH, Fig. 13): {letters}; {links}", plural(u64::from(gpus), "GPU")),
        axis: "time over that of memcpy on PCIe".to_owned(),
        groups,
        clusters,
        series: series.into(),
        stacked: true,
    }))
}
