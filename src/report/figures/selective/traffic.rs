//! Section 5.1.3, Fig. 7: what crosses the link when lines are not kept.

use super::system::{self, CLIENT, COHERENT, VARIABLE, bars, runs, statistics, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::Results;
use crate::report::figures::figure::{Figure, Finding, geometric_mean, mean, near};

const PAPER: [f64; 2] = [4.0, 2.6];

pub const FIGURE: Figure = Figure {
    id: "sel-traffic",
    claim: "interconnect traffic over hardware-coherent: fixed, variable size",
    paper: &PAPER,
    unit: "x",
    place: "Selective caching 5.1.3",
    experiments: |effort| runs(effort, &[COHERENT, CLIENT, VARIABLE]),
    finding,
};

/// The directions of the link between host and GPU.
const LINKS: [&str; 2] = ["link.gpu0.out", "link.gpu0.in"];

/// Messages that tell the directory of the coherent GPU what has come and gone: the paper does not say whether its own sends any.
const BOOKKEEPING: [&str; 3] = ["grant_ack", "notify", "evict_ack"];

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    // The sum of these statistics, a workload each.
    let sum = |machine, keys: &[String]| {
        let mut sums = vec![0.0; workloads.len()];
        for key in keys {
            let values = statistics(&workloads, results, machine, key)?;
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        Ok::<_, String>(sums)
    };
    let bytes = |machine| sum(machine, &LINKS.map(|link| format!("{link}.bytes")));
    let coherent = bytes(COHERENT)?;
    let told = |link| BOOKKEEPING.map(|kind| format!("{link}.messages.{kind}.bytes"));
    let bookkeeping = sum(COHERENT, &LINKS.map(told).concat())?;
    let over = |own: &[f64], coherent: &[f64]| -> Vec<f64> {
        own.iter().zip(coherent).map(|(own, other)| own / other).collect()
    };
    let own = [bytes(CLIENT)?, bytes(VARIABLE)?];
    let [fixed, variable] = [over(&own[0], &coherent), over(&own[1], &coherent)];
    let without: Vec<f64> = coherent.iter().zip(&bookkeeping).map(|(all, told)| all - told).collect();
    let shares = over(&bookkeeping, &coherent);
    let means = [mean(&fixed), mean(&variable)];
    Ok(Finding {
        holds: means[1] < means[0] && means.iter().zip(PAPER).all(|(ours, paper)| near(*ours, paper)),
        ours: means.map(Some).into(),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            "means of ratios",
            &format!("as geometric means {:.2} and {:.2}", geometric_mean(&fixed), geometric_mean(&variable)),
            &format!("fixed {}", system::extremes(&workloads, &fixed)),
            &format!("variable {}", system::extremes(&workloads, &variable)),
            &format!(
                "{:.0} % of the coherent GPU's bytes are grant-acks, notices of evictions and their acknowledgements, without which the means are {:.2} and {:.2}",
                100.0 * mean(&shares),
                mean(&over(&own[0], &without)),
                mean(&over(&own[1], &without))
            ),
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            bars(
                "Traffic between CPU and GPU (Fig. 7)",
                "bytes over those of the hardware-coherent GPU",
                &workloads,
                &[("lines of 128 B", &fixed), ("variable size", &variable)],
            ),
        )],
    })
}
