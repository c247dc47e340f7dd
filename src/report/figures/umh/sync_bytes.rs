//! Section 6.2: the most data that one dynamic synchronisation moves.

use super::system::MACHINE;
use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::model::message::MessageKind;
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, exact};

const PAPER: [f64; 2] = [32.0, 288.0];

pub const FIGURE: Figure = Figure {
    id: "umh-sync-bytes",
    claim: "most data one dynamic synchronisation moves, 4 GPUs: without and with write-back L1s, exactly",
    paper: &PAPER,
    unit: "KiB",
    place: "UMH 6.2",
    experiments: |_| Vec::new(),
    finding,
};

/// Every compute unit stores to all lines of one block of 4 KiB; then a core asks for it, or nobody does.
fn experiment(write_back: bool, synchronise: bool) -> Experiment {
    let units: Vec<_> = (0..4).flat_map(|gpu| (0..16).map(move |cu| format!("gpu{gpu}.cu{cu}"))).collect();
    let mut scenario = format!("machine = \"{MACHINE}\"\nchecks = false\n");
    for unit in &units {
        let store = "n-store 0x100000 07 00 00 00 lanes 64 stride 64";
        scenario += &format!("[[program]]\nid = \"{unit}\"\nby = \"{unit}\"\ndo = [\"{store}\"]\n");
    }
    if synchronise {
        let after: Vec<_> = units.iter().map(|unit| format!("\"{unit}\"")).collect();
        let after = after.join(", ");
        scenario +=
            &format!("[[program]]\nby = \"host.cpu0\"\nafter = [{after}]\ndo = [\"exclusive 0x100000\"]\n");
    }
    // The write-through protocol forwards each store to the L2.
    let set = if write_back { Vec::new() } else { vec!["gpu.l1.protocol=vi".to_owned()] };
    Experiment { scenario, set, scale: 1, ..Experiment::default() }
}

fn finding(_: Effort, _: &Results) -> Result<Finding, String> {
    let kib = [false, true].map(moved).into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(Finding {
        holds: kib.iter().zip(PAPER).all(|(ours, paper)| exact(*ours, paper, 0)),
        ours: kib.into_iter().map(Some).collect(),
        scale: "1/1".to_owned(),
        note: "data in answers to probes and in writebacks, at every level, after all 64 compute units have stored \
               to all lines of one block; without write-back L1s they are write-through (vi)"
            .to_owned(),
        charts: Vec::new(),
    })
}

/// KiB that the synchronisation alone moves.
fn moved(write_back: bool) -> Result<f64, String> {
    let sent = |synchronise| Ok::<_, String>(flushed(&experiment(write_back, synchronise).machine()?));
    Ok((sent(true)? - sent(false)?) / 1024.0)
}

/// Bytes of data that caches have given to those below them.
fn flushed(machine: &Machine) -> f64 {
    let header = f64::from(machine.spec().network.header);
    let value = |key: String| machine.statistic(&key).unwrap_or(0.0);
    let payload = |kind: MessageKind| {
        let name = kind.name();
        value(format!("messages.{name}.bytes")) - header * value(format!("messages.{name}.count"))
    };
    payload(MessageKind::Answer) + payload(MessageKind::Writeback)
}
