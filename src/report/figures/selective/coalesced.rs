//! Table 2: requests that find one for the same block in flight.

use super::system::{self, L1, L1_L2, rates, runs, statistics, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::Results;
use crate::report::figures::figure::{Figure, Finding, mean, near};
use crate::workload::suites::Rates;

const PAPER: [f64; 2] = [30.7, 35.4];

pub const FIGURE: Figure = Figure {
    id: "sel-coalesced",
    claim: "share of requests coalesced: L1, L1+L2, average",
    paper: &PAPER,
    unit: "%",
    place: "Selective caching Table 2",
    experiments: |effort| runs(effort, &[L1, L1_L2]),
    finding,
};

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let percent = |machine| {
        let shares = statistics(&workloads, results, machine, "coalescing.share")?;
        Ok::<_, String>(shares.into_iter().map(|share| share * 100.0).collect::<Vec<_>>())
    };
    let (first, both) = (percent(L1)?, percent(L1_L2)?);
    let means = [mean(&first), mean(&both)];
    let table: [fn(&Rates) -> f64; 2] = [|rates| rates.l1_coalesced, |rates| rates.coalesced];
    let [first_told, both_told] = table.map(|what| system::published(&workloads, what));
    Ok(Finding {
        holds: means[0] < means[1] && means.iter().zip(PAPER).all(|(ours, paper)| near(*ours, paper)),
        ours: means.map(Some).into(),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            &format!("L1 {}, {}", system::extremes(&workloads, &first), system::apart(&first, &first_told)),
            &format!("L1+L2 {}, {}", system::extremes(&workloads, &both), system::apart(&both, &both_told)),
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            rates(
                "Requests coalesced (Table 2)",
                "% of requests",
                &workloads,
                &[
                    ("L1", &first),
                    ("L1, Table 2", &first_told),
                    ("L1+L2", &both),
                    ("L1+L2, Table 2", &both_told),
                ],
            ),
        )],
    })
}
