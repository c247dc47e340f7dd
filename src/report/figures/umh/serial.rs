//! Section 5: how long a block keeps a link busy.

use super::system::{MACHINE, blocks};
use crate::machine::Machine;
use crate::model::component::ComponentKind;
use crate::model::inspect::Inspect;
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, exact};

const PAPER: [f64; 2] = [512.0, 64.0];

pub const FIGURE: Figure = Figure {
    id: "umh-serial",
    claim: "cycles to move an 8 KiB and a 1 KiB block over a 16 B/cycle link, exactly",
    paper: &PAPER,
    unit: "cycles",
    place: "UMH 5",
    experiments: |_| Vec::new(),
    finding,
};

/// One load that brings one block; 12.8 GB/s are 16 bytes in a cycle of 800 MHz.
fn experiment(kib: u64) -> Experiment {
    let load = "[[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x100000 }\n";
    let changes = ["gpu.count=1", "network.bandwidth=12.8 GB/s"].map(str::to_owned);
    Experiment {
        scenario: format!("machine = \"{MACHINE}\"\n{load}"),
        set: changes.into_iter().chain(blocks(kib)).collect(),
        scale: 1,
        ..Experiment::default()
    }
}

fn finding(_: Effort, _: &Results) -> Result<Finding, String> {
    let cycles = [8, 1].map(|kib| transfer(&experiment(kib).machine()?));
    let cycles = cycles.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(Finding {
        holds: cycles.iter().zip(PAPER).all(|(ours, paper)| exact(*ours, paper, 0)),
        ours: cycles.into_iter().map(Some).collect(),
        scale: "1/1".to_owned(),
        note: "how long the link to the GPU is busy, without the header of the message, which takes as long as a \
               message without data does on the link back"
            .to_owned(),
        charts: Vec::new(),
    })
}

/// What a link has carried.
struct Carried {
    bytes: f64,
    messages: f64,
    /// Cycles.
    busy: f64,
}

/// Cycles for the data of the one message that has some.
fn transfer(machine: &Machine) -> Result<f64, String> {
    let links = machine.components().iter().filter(|(_, component)| component.kind == ComponentKind::Link);
    let mut used: Vec<_> = links
        .map(|(_, link)| carried(machine, &link.path))
        .filter(|carried| carried.messages > 0.0)
        .collect();
    used.sort_by(|one, other| other.bytes.total_cmp(&one.bytes));
    let [data, bare] = used.as_slice() else {
        return Err(format!("{} links were used, not two", used.len()));
    };
    Ok(data.busy - data.messages * bare.busy / bare.messages)
}

fn carried(machine: &Machine, link: &str) -> Carried {
    let value = |name: &str| machine.statistic(&format!("{link}.{name}")).unwrap_or(0.0);
    let now = machine.tick() as f64 / machine.time_base().ticks_per_cycle as f64;
    Carried { bytes: value("bytes"), messages: value("messages"), busy: value("utilisation") * now }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_the_block_takes_twice_as_long_and_twice_the_link_half() {
        let time = |kib, bandwidth: &str| {
            let mut experiment = experiment(kib);
            experiment.set.push(format!("network.bandwidth={bandwidth}"));
            format!("{:.6}", transfer(&experiment.machine().unwrap()).unwrap())
        };
        assert_eq!(
            [time(8, "12.8 GB/s"), time(4, "12.8 GB/s"), time(8, "25.6 GB/s")],
            ["512.000000", "256.000000", "256.000000"]
        );
    }
}
