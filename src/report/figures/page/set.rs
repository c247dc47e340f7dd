//! Sections 4.1 and 4.3: what a page costs on the link, measured there.

use super::system::MACHINE;
use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding};

const PAPER: [f64; 3] = [80.0, 0.25, 128.0];

/// The paper rounds to binary and decimal units as it likes.
const WITHIN: f64 = 0.03;

pub const FIGURE: Figure = Figure {
    id: "page-set",
    claim: "pages that fill 20 us of a 16 GB/s link; time of a 4 KiB and of a 2 MiB page, within 3 %",
    paper: &PAPER,
    unit: "pages, us, us",
    place: "Paged memory 4.1, 4.3",
    experiments: |_| Vec::new(),
    finding,
};

/// One far-fault.
fn experiment(page: &str) -> Experiment {
    let load = "[[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x200000, len = 4 }\n";
    let set = vec![format!("gpu.paging.page={page}")];
    Experiment {
        scenario: format!("machine = \"{MACHINE}\"\nchecks = false\n{load}"),
        set,
        scale: 1,
        ..Experiment::default()
    }
}

fn finding(_: Effort, _: &Results) -> Result<Finding, String> {
    let small = microseconds(&experiment("4 KiB").machine()?)?;
    let large = microseconds(&experiment("2 MiB").machine()?)?;
    let ours = [20.0 / small, small, large];
    Ok(Finding {
        holds: ours.iter().zip(PAPER).all(|(ours, paper)| (ours / paper - 1.0).abs() <= WITHIN),
        ours: ours.map(Some).into(),
        scale: "1/1".to_owned(),
        note: format!("busy time of the link from the host after one far-fault, {MACHINE}"),
        charts: Vec::new(),
    })
}

/// How long the link from the host was busy with the page that moved.
fn microseconds(machine: &Machine) -> Result<f64, String> {
    let value = |name: &str| machine.statistic(name).unwrap_or(0.0);
    if (value("paging.demanded") - 1.0).abs() > f64::EPSILON {
        return Err(format!("{} pages moved, not one", value("paging.demanded")));
    }
    let time = machine.time_base();
    Ok(value("link.host.out.utilisation") * time.nanoseconds(machine.tick()) / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_takes_its_bytes_over_the_bandwidth() {
        let time = |experiment: &Experiment| microseconds(&experiment.machine().unwrap()).unwrap();
        assert!((time(&experiment("4 KiB")) - 0.256).abs() < 1e-3);
        let mut slow = experiment("4 KiB");
        slow.set.push("network.bandwidth=8 GB/s".to_owned());
        assert!((time(&slow) - 0.512).abs() < 1e-3);
    }
}
