//! Section 5.3, Fig. 10: less and less GPU memory.

use super::evict::LRU_PREFETCH;
use super::system::{self, LOCALITY, bars, oversubscribed, ratios, runs};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding};

const PAPER: [f64; 2] = [0.0, 60.0];

pub const FIGURE: Figure = Figure {
    id: "page-range",
    claim: "range of oversubscription slowdowns; backprop, minife, hotspot stand 2x",
    paper: &PAPER,
    unit: "x",
    place: "Paged memory 5.3, Fig 10",
    experiments,
    finding,
};

/// Those that "expand the application footprint 2x or more ... with little performance degradation".
const STAND: [&str; 3] = ["backprop", "minife", "hotspot"];

/// What little degradation is, and what is none at all.
const LITTLE: f64 = 2.0;
const NONE: f64 = 1.1;

/// The best combination of section 5.2, which its section 5.3 does not name again, with so many percent of the pages.
const SHARES: [&str; 3] = ["95", "75", "25"];

fn at(share: &str) -> Vec<String> {
    LRU_PREFETCH.iter().map(|change| change.replace("share=50", &format!("share={share}"))).collect()
}

fn experiments(effort: Effort) -> Vec<Experiment> {
    let settings = SHARES.map(at);
    let settings: Vec<Vec<&str>> =
        settings.iter().map(|set| set.iter().map(String::as_str).collect()).collect();
    let mut all: Vec<&[&str]> = settings.iter().map(Vec::as_slice).collect();
    all.extend([LOCALITY, LRU_PREFETCH]);
    runs(oversubscribed(effort), &all)
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = oversubscribed(effort);
    let of = |share: &str| {
        let set = at(share);
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        ratios(&workloads, results, &set, LOCALITY)
    };
    let (most, three_quarters, half, quarter) = (of("95")?, of("75")?, of("50")?, of("25")?);
    let all = || [&most, &three_quarters, &half, &quarter].into_iter().flatten().copied();
    let (least, worst) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let stand = STAND.iter().filter_map(|name| system::of(&workloads, &half, name)).collect::<Vec<_>>();
    let stands = !stand.is_empty() && stand.iter().all(|slowdown| *slowdown < LITTLE);
    let spreads = least < NONE && worst > 10.0;
    Ok(Finding {
        // The paper's "0x" is a slowdown that cannot be seen.
        ours: vec![Some(least - 1.0), Some(worst)],
        holds: stands && spreads,
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            &format!(
                "backprop, minife and hotspot less than {LITTLE}x slower with half of the memory: {}; from none to more \
                 than 10x: {}",
                system::word(stands),
                system::word(spreads)
            ),
            &format!("at 25 % {}", system::extremes(&workloads, &quarter)),
            "LRU with prefetch",
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            bars(
                "Oversubscription (Fig. 10)",
                "time over that with all in memory",
                &workloads,
                &[("95 %", &most), ("75 %", &three_quarters), ("50 %", &half), ("25 %", &quarter)],
            ),
        )],
    })
}
