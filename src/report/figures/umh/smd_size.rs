//! Section 5, Fig. 7 and 11: what an SMD stores beside the data, from the machine and its protocol table.

use super::system::MACHINE;
use crate::machine::Machine;
use crate::model::component::{ComponentId, ComponentKind};
use crate::model::inspect::Inspect;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, How, exact};
use crate::report::figures::workload::Effort;

const PAPER: [f64; 4] = [72.0, 36.0, 35.0, 1.0];

pub const FIGURE: Figure = Figure {
    id: "umh-smd-size",
    claim: "SMD storage for a 1 GiB stack with 64 B lines, bits of a line; with sub-blocks bits of an entry, and \
            of a line in it, exactly",
    paper: &PAPER,
    unit: "MiB, bits, bits, bits",
    place: "UMH 5, Fig 7, 11",
    how: How::Measured { experiments: |_| Vec::new(), crossing: false, finding },
};

/// Bits of an address (section 5: "a 64-bit architecture").
const ADDRESS: u32 = 64;

/// A machine that does nothing yet. Section 5 calculates with a direct-mapped directory.
fn experiment(block: &str) -> Experiment {
    let load = "[[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x100000 }\n";
    let set = vec!["gpu.memory.ways=1".to_owned(), format!("gpu.memory.secondary_block={block}")];
    Experiment { scenario: format!("machine = \"{MACHINE}\"\n{load}"), set, scale: 1 }
}

/// The bits of an entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// Entries of the directory.
    entries: u64,
    /// Tag and state.
    block: u32,
    /// Owner and sharers of one line.
    line: u32,
    lines: u32,
}

impl Entry {
    fn bits(self) -> u32 {
        self.block + self.lines * self.line
    }

    fn directory_mib(self) -> f64 {
        self.entries as f64 * f64::from(self.bits()) / 8.0 / f64::from(1 << 20)
    }
}

fn finding(_: Effort, _: &Results) -> Result<Finding, String> {
    let entry = |block| {
        let prepared = experiment(block).prepare().map_err(|error| error.to_string())?;
        entry(&prepared.machine).ok_or_else(|| "the machine has no SMD".to_owned())
    };
    let (lines, blocks) = (entry("64 B")?, entry("4 KiB")?);
    let ours =
        [lines.directory_mib(), f64::from(lines.bits()), f64::from(blocks.block), f64::from(blocks.line)];
    Ok(Finding {
        holds: ours.iter().zip(PAPER).all(|(ours, paper)| exact(*ours, paper, 0)),
        ours: ours.map(Some).into(),
        scale: "1/1".to_owned(),
        note: format!(
            "from sets, ways, states and children of the simulated SMD, direct-mapped as in the paper; an entry of \
             a 4 KiB block has {} + {} bits, a directory of them {} MiB",
            blocks.block,
            blocks.lines * blocks.line,
            blocks.directory_mib()
        ),
        charts: Vec::new(),
    })
}

/// Bits that tell `count` things apart.
fn bits(count: u64) -> u32 {
    u64::BITS - count.saturating_sub(1).leading_zeros()
}

/// An entry of the first SMD (section 5: a tag of 64 - s - o - p bits, a state, and for every line an owner among n
/// caches above in ceil(log2(n + 1)) bits and n sharers, if there are several).
fn entry(machine: &Machine) -> Option<Entry> {
    let components = machine.components();
    let smds = components.iter().filter(|(_, component)| component.kind == ComponentKind::Smd);
    let smds: Vec<_> = smds.map(|(id, component)| (id, component.path.as_str())).collect();
    let (smd, path) = *smds.first()?;
    let gpu = path.split('.').next()?;
    let partitions = smds.iter().filter(|(_, path)| path.split('.').next() == Some(gpu)).count() as u64;
    let children = components.iter().filter(|(_, component)| component.parents.contains(&smd));
    let children: Vec<ComponentId> = children.map(|(id, _)| id).collect();
    let directory = machine.cache(smd, 0)?;
    let line = machine.cache(*children.first()?, 0)?.block;
    let states = machine.table(smd)?.rows.len() as u64;
    let tag = ADDRESS - bits(u64::from(directory.sets)) - bits(u64::from(directory.block)) - bits(partitions);
    let sharers = if children.len() > 1 { children.len() as u32 } else { 0 };
    Some(Entry {
        entries: u64::from(directory.sets) * u64::from(directory.ways),
        block: tag + bits(states),
        line: bits(children.len() as u64 + 1) + sharers,
        lines: directory.block / line.max(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_shrinks_with_larger_blocks() {
        let of = |block| entry(&experiment(block).prepare().unwrap().machine).unwrap();
        assert_eq!(of("64 B"), Entry { entries: 1 << 24, block: 35, line: 1, lines: 1 });
        assert_eq!(of("4 KiB"), Entry { entries: 1 << 18, block: 35, line: 1, lines: 64 });
        assert!((of("4 KiB").directory_mib() - 3.093_75).abs() < 1e-9);
    }

    #[test]
    fn more_ways_need_longer_tags() {
        let mut ways = experiment("64 B");
        ways.set.push("gpu.memory.ways=4".to_owned());
        assert_eq!(entry(&ways.prepare().unwrap().machine).unwrap().block, 37);
    }
}
