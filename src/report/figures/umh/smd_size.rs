//! Section 5, Fig. 7 and 11: what an SMD stores beside the data, from the machine and its protocol table.

use super::system::MACHINE;
use crate::machine::Storage;
use crate::model::component::ComponentKind;
use crate::model::inspect::Inspect;
use crate::report::chart::{Bars, Chart, Series};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, exact};

const SMD: ComponentKind = ComponentKind::Smd;
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

/// Sizes of a block and of a stack that the charts compare.
const BLOCKS: [&str; 6] = ["64 B", "1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB"];
const STACKS: [&str; 4] = ["1 GiB", "2 GiB", "4 GiB", "8 GiB"];

/// A machine that does nothing yet. Section 5 calculates with a direct-mapped directory.
fn experiment(stack: &str, block: &str) -> Experiment {
    let load = "[[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x100000 }\n";
    let mut set = vec!["gpu.memory.ways=1".to_owned(), format!("gpu.memory.size={stack}")];
    // What holds blocks of GPUs has none smaller, and those that meet are dealt together (section 5.3).
    let all =
        ["gpu.memory.secondary_block", "host.block", "gpu.l2.interleave", "host.interleave", "host.llc.line"];
    let large = ["8 KiB", "16 KiB"].contains(&block);
    set.extend(all.iter().take(if large { all.len() } else { 1 }).map(|key| format!("{key}={block}")));
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
    let (lines, blocks) = (entry(STACKS[0], "64 B", SMD)?, entry(STACKS[0], "4 KiB", SMD)?);
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
        charts: vec![("-block", by_block()?), ("-stack", by_stack()?)],
    })
}

/// What an SMD stores, by the size of a secondary block.
fn by_block() -> Result<Chart, String> {
    let values: Result<_, _> =
        BLOCKS.iter().map(|block| Ok(mib(&entry(STACKS[0], block, SMD)?))).collect::<Result<_, String>>();
    Ok(chart("SMD of a 1 GiB stack by the size of a block (UMH, Fig. 7)", &BLOCKS, vec![("SMD", values?)]))
}

/// What an SMD and an HMD store, by the size of a stack.
fn by_stack() -> Result<Chart, String> {
    let of = |kind| {
        STACKS.iter().map(|stack| Ok(mib(&entry(stack, "4 KiB", kind)?))).collect::<Result<_, String>>()
    };
    let series = vec![("SMD", of(SMD)?), ("HMD", of(ComponentKind::Hmd)?)];
    Ok(chart("SMD and HMD by the size of a stack, 4 GPUs, 2 HMDs (UMH, Fig. 11)", &STACKS, series))
}

fn chart(title: &str, groups: &[&str], series: Vec<(&str, Vec<f64>)>) -> Chart {
    let named = |(name, values): (&str, _)| Series { name: name.to_owned(), values };
    Chart::Bars(Bars {
        title: title.to_owned(),
        axis: "MiB".to_owned(),
        groups: groups.iter().copied().map(str::to_owned).collect(),
        series: series.into_iter().map(named).collect(),
        clusters: Vec::new(),
        stacked: false,
    })
}

/// What the first directory of a kind stores.
fn entry(stack: &str, block: &str, kind: ComponentKind) -> Result<Storage, String> {
    let machine = experiment(stack, block).prepare().map_err(|error| error.to_string())?.machine;
    let is_it = |storage: &Storage| {
        machine.components().get(storage.component).is_some_and(|component| component.kind == kind)
    };
    machine.sizes().into_iter().find(is_it).ok_or_else(|| "the machine has no such directory".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_shrinks_with_larger_blocks() {
        let of = |block| entry("1 GiB", block, SMD).unwrap();
        assert_eq!((bits(&of("64 B")), of("64 B").entries), ((35, 1), 1 << 24));
        assert_eq!((bits(&of("4 KiB")), of("4 KiB").entries), ((35, 1), 1 << 18));
        assert!((mib(&of("4 KiB")) - 3.093_75).abs() < 1e-9);
    }

    #[test]
    fn more_ways_need_longer_tags() {
        let mut ways = experiment("1 GiB", "64 B");
        ways.set.push("gpu.memory.ways=4".to_owned());
        let machine = ways.prepare().unwrap().machine;
        assert!(machine.sizes().iter().any(|storage| bits(storage) == (37, 1)));
    }
}
