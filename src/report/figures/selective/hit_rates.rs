//! Table 1: what the caches of the hardware-coherent GPU hold. The paper's simulator counts an access that joins a miss under way as
//! no miss ("hit reserved" of GPGPU-Sim), and so does this.

use super::system::{self, COHERENT, rates, runs, statistics, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::Results;
use crate::report::figures::figure::{Figure, Finding, mean, near};
use crate::workload::suites::Rates;

const PAPER: [f64; 2] = [44.4, 51.6];

pub const FIGURE: Figure = Figure {
    id: "sel-hitrates",
    claim: "hardware-coherent L1 and L2 hit rates, average",
    paper: &PAPER,
    unit: "%",
    place: "Selective caching Table 1",
    experiments: |effort| runs(effort, &[COHERENT]),
    finding,
};

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let percent = |level: &str| {
        let all = ["hits", "merges", "misses"]
            .map(|what| statistics(&workloads, results, COHERENT, &format!("levels.{level}.{what}")));
        let [hits, merges, misses] = all;
        let counts = hits?.into_iter().zip(merges?).zip(misses?);
        let rate = |((hits, merges), misses): ((f64, f64), f64)| (hits + merges) / (hits + misses) * 100.0;
        Ok::<_, String>(counts.map(rate).collect::<Vec<_>>())
    };
    let (first, second) = (percent("gpu_l1")?, percent("l2")?);
    let means = [mean(&first), mean(&second)];
    let table: [fn(&Rates) -> f64; 2] = [|rates| rates.l1_hits, |rates| rates.l2_hits];
    let [first_told, second_told] = table.map(|what| system::published(&workloads, what));
    Ok(Finding {
        holds: means.iter().zip(PAPER).all(|(ours, paper)| near(*ours, paper)),
        ours: means.map(Some).into(),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            "what joins a miss under way counts as a hit, as in the paper's simulator",
            &format!("L1 {}, {}", system::extremes(&workloads, &first), system::apart(&first, &first_told)),
            &format!(
                "L2 {}, {}",
                system::extremes(&workloads, &second),
                system::apart(&second, &second_told)
            ),
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            rates(
                "Hit rates (Table 1)",
                "% of look-ups",
                &workloads,
                &[
                    ("L1", &first),
                    ("L1, Table 1", &first_told),
                    ("L2", &second),
                    ("L2, Table 1", &second_told),
                ],
            ),
        )],
    })
}
