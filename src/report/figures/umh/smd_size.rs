//! Section 5, Fig. 7 and 11: what an SMD stores beside the data, from the machine and its protocol table.

use super::system::MACHINE;
use crate::machine::{Machine, Storage};
use crate::model::component::ComponentKind;
use crate::model::inspect::Inspect;
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, exact};

const PAPER: [f64; 4] = [72.0, 36.0, 35.0, 1.0];

pub const FIGURE: Figure = Figure {
    id: "umh-smd-size",
    claim: "SMD storage for a 1 GiB stack with 64 B lines, bits of a line; with sub-blocks bits of an entry, and \
            of a line in it, exactly",
    paper: &PAPER,
    unit: "MiB, bits, bits, bits",
    place: "UMH 5, Fig 7, 11",
    experiments: |_| Vec::new(),
    finding,
};

/// A machine that does nothing yet. Section 5 calculates with a direct-mapped directory.
fn experiment(block: &str) -> Experiment {
    let load = "[[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x100000 }\n";
    let set = vec!["gpu.memory.ways=1".to_owned(), format!("gpu.memory.secondary_block={block}")];
    Experiment {
        scenario: format!("machine = \"{MACHINE}\"\n{load}"),
        set,
        scale: 1,
        ..Experiment::default()
    }
}

/// Bits of an entry for the block, and for each line in it.
fn bits(entry: &Storage) -> (u32, u32) {
    let lines = entry.owner + entry.sharers + entry.sub_block;
    (entry.tag + entry.state, lines / entry.sub_blocks.max(1))
}

fn mib(entry: &Storage) -> f64 {
    entry.directory_bytes() as f64 / f64::from(1 << 20)
}

fn finding(_: Effort, _: &Results) -> Result<Finding, String> {
    let entry = |block| {
        let prepared = experiment(block).prepare().map_err(|error| error.to_string())?;
        entry(&prepared.machine).ok_or_else(|| "the machine has no SMD".to_owned())
    };
    let (lines, blocks) = (entry("64 B")?, entry("4 KiB")?);
    let (block, line) = bits(&blocks);
    let ours = [mib(&lines), f64::from(lines.directory_bits()), f64::from(block), f64::from(line)];
    Ok(Finding {
        holds: ours.iter().zip(PAPER).all(|(ours, paper)| exact(*ours, paper, 0)),
        ours: ours.map(Some).into(),
        scale: "1/1".to_owned(),
        note: format!(
            "from sets, ways, states and children of the simulated SMD, direct-mapped as in the paper; an entry of \
             a 4 KiB block has {block} + {} bits, a directory of them {} MiB",
            blocks.sub_blocks * line,
            mib(&blocks)
        ),
        charts: Vec::new(),
    })
}

/// What the first SMD stores.
fn entry(machine: &Machine) -> Option<Storage> {
    let is_smd = |storage: &Storage| {
        machine.components().get(storage.component).is_some_and(|it| it.kind == ComponentKind::Smd)
    };
    machine.sizes().into_iter().find(is_smd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_shrinks_with_larger_blocks() {
        let of = |block| entry(&experiment(block).prepare().unwrap().machine).unwrap();
        assert_eq!((bits(&of("64 B")), of("64 B").entries), ((35, 1), 1 << 24));
        assert_eq!((bits(&of("4 KiB")), of("4 KiB").entries), ((35, 1), 1 << 18));
        assert!((mib(&of("4 KiB")) - 3.093_75).abs() < 1e-9);
    }

    #[test]
    fn more_ways_need_longer_tags() {
        let mut ways = experiment("64 B");
        ways.set.push("gpu.memory.ways=4".to_owned());
        assert_eq!(bits(&entry(&ways.prepare().unwrap().machine).unwrap()).0, 37);
    }
}
