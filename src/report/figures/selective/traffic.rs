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

/// Statistics of all bytes between host and GPU.
const BYTES: [&str; 2] = ["link.gpu0.out.bytes", "link.gpu0.in.bytes"];

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let bytes = |machine| {
        let [out, into] = BYTES.map(|key| statistics(&workloads, results, machine, key));
        Ok::<_, String>(out?.iter().zip(into?).map(|(out, into)| out + into).collect::<Vec<_>>())
    };
    let coherent = bytes(COHERENT)?;
    let over = |machine| {
        Ok::<_, String>(
            bytes(machine)?.iter().zip(&coherent).map(|(own, other)| own / other).collect::<Vec<_>>(),
        )
    };
    let (fixed, variable) = (over(CLIENT)?, over(VARIABLE)?);
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
