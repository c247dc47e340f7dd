//! Table 4: data over all that crosses the link, for loads of one, two and four sectors.

use super::system::VARIABLE;
use crate::machine::Machine;
use crate::model::component::ComponentKind;
use crate::model::inspect::Inspect;
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding};

const PAPER: [f64; 3] = [2.0 / 3.0, 0.8, 8.0 / 9.0];

pub const FIGURE: Figure = Figure {
    id: "sel-link",
    claim: "link efficiency at 32, 64, 128 B with a header flit of 16 B, exactly",
    paper: &PAPER,
    unit: "share",
    place: "Selective caching Table 4",
    experiments: |_| Vec::new(),
    finding,
};

/// One load of so many bytes from a line that lives in host memory, as all lines do here.
fn experiment(bytes: u32) -> Experiment {
    let lanes = bytes / 4;
    let load =
        format!("[[do]]\nby = \"gpu0.cu0\"\nload = {{ address = 0x100000, len = 4, lanes = {lanes} }}\n");
    let set = vec!["gpu.unified.host_share=100".to_owned()];
    Experiment {
        scenario: format!("machine = \"{}\"\n{load}", VARIABLE.name),
        set,
        scale: 1,
        ..Experiment::default()
    }
}

fn finding(_: Effort, _: &Results) -> Result<Finding, String> {
    let shares = [32, 64, 128].map(|bytes| efficiency(&experiment(bytes).machine()?, bytes));
    let shares = shares.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(Finding {
        holds: shares.iter().zip(PAPER).all(|(ours, paper)| (ours - paper).abs() < 1e-9),
        ours: shares.into_iter().map(Some).collect(),
        scale: "1/1".to_owned(),
        note: "bytes that a load asked for, over those that the simulated link to the GPU carried for it"
            .to_owned(),
        charts: Vec::new(),
    })
}

/// Bytes asked for over those that the busier direction carried.
fn efficiency(machine: &Machine, bytes: u32) -> Result<f64, String> {
    let links = machine.components().iter().filter(|(_, component)| component.kind == ComponentKind::Link);
    let carried = links.filter_map(|(_, link)| machine.statistic(&format!("{}.bytes", link.path)));
    let most = carried.fold(0.0, f64::max);
    if most > 0.0 { Ok(f64::from(bytes) / most) } else { Err("no link carried anything".to_owned()) }
}
