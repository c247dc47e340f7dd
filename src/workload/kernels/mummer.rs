//! `MUMmer`: reads are looked up in a genome's suffix tree, letter by letter.
//!
//! A stand-in for `MUMmerGPU`, after its kernel `mummergpuKernel` but with a tree that needs no construction: of a random genome of n letters the
//! suffix tree is nearly full down to the depth d at which 4^d exceeds n, and each deeper suffix hangs on an edge of its own. Nodes lie in
//! memory level by level, sorted by the letters that lead there. A thread for each read, which is a piece of the genome:
//! - goes down from the root: for each letter loads it, the `children` of the node and the next `nodes` entry;
//! - at depth d compares what is left of the read with `genome`, letter by letter;
//! - for each further place in the read where a match may begin: stores the match found, loads the `nodes` entry that has the suffix link, and goes
//!   down one letter more, as above.
//!
//! With n of a power of two between those of four the tree has more nodes than that of so many letters, and shrinks by four or not at all.
//!
//! Genome and reads are drawn from the seed, without errors. Entries of the tree have 16 bytes, as `MUMmerGPU`'s textures.
//!
//! Instructions are counted in Rodinia, `cuda/mummergpu/src/mummergpu_kernel.cu` with the choices of `common.cu`. A number of three bytes
//! takes one for each of these, and shifts and unions; an entry of a texture two for its coordinates and none for its address.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions for a letter along an edge: three comparisons and two branches, two addresses, and three of places.
const STEP: u64 = 10;
/// A letter down the tree: coordinates in two textures (four), whether the read and the edge go on (five), which of four children it is
/// (a comparison and a branch for each), its number (eleven) and whether there is one (two), where its edge begins and ends (fourteen),
/// whether letters must match anyway (two), three of places and an address.
const WALK: u64 = 50;
/// A thread begins: its number, four comparisons, three branches, four addresses, and five of places.
const BEGIN: u64 = 17;
/// A match: its length on the edge, a comparison and a branch.
const MATCH: u64 = 3;
/// The next place in the read: coordinates in a texture (two), the number of the suffix (eleven), five of places, an address, three
/// comparisons, two branches, and seven more for letters that must match anyway.
const NEXT: u64 = 31;

pub const DEFINITION: Definition = Definition {
    name: "mummer",
    title: "MUMmer: every read walks down a suffix tree, whose top is shared and whose depth is not",
    source: "a stand-in for MUMmerGPU (Rodinia, cuda/mummergpu): its walk, in a tree of a random genome",
    own: &[
        common::count("size", "letters of the genome", 1_000_000, 1 << 30),
        common::count("reads", "reads, a thread each", 50_000, 1 << 32),
        common::count("length", "letters of a read", 25, 1 << 16),
        common::count("match_length", "letters of the shortest match", 20, 1 << 16),
        common::SCALE,
        common::workgroup(256),
        common::WARP,
        common::first("nodes", "parent, suffix link and edge of each node, 16 bytes"),
        common::next("children", "children of each node, 16 bytes"),
        common::next("genome", "its letters, bytes"),
        common::next("queries", "the reads, bytes"),
        common::next("matches", "the node and length of each match, eight bytes"),
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

/// The suffix tree of a random genome, and the reads.
#[derive(Clone, Copy, Debug)]
struct Tree {
    genome: u64,
    length: u64,
    depth: u64,
    seed: u64,
}

impl Tree {
    /// Nodes above a depth.
    fn above(depth: u64) -> u64 {
        ((1u64 << (2 * depth)) - 1) / 3
    }

    /// Where a read lies in the genome.
    fn place(&self, read: u64) -> u64 {
        common::scramble(self.seed, read) % (self.genome - self.length + 1)
    }

    fn letter(&self, place: u64) -> u64 {
        common::scramble(!self.seed, place) % 4
    }

    /// The node to which the `depth` letters from a place on lead.
    fn node(&self, place: u64, depth: u64) -> u64 {
        let letters = (0..depth).map(|nth| self.letter(place + nth));
        Self::above(depth) + letters.fold(0, |path, letter| 4 * path + letter)
    }
}

/// Which letter, counted from the place of the access, or which node.
const HERE: u64 = 0;
const BELOW: u64 = 1;
const LINK: u64 = 2;

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let scale = Scale::read(values)?;
    let (genome, reads) = (scale.of(values.integer("size")?), scale.of(values.integer("reads")?));
    common::multiple(values, "reads", reads, 1)?;
    let length = values.integer("length")?;
    if length > genome {
        return Err(values.complain("length", "`length` must not be more than `size`, scaled"));
    }
    let depth = (0..30).find(|depth| 1 << (2 * depth) >= genome).unwrap_or(30).min(length);
    // Where a match may begin, other than at the first letter.
    let others = length.saturating_sub(values.integer("match_length")?.max(depth));
    let workgroup = values.integer("workgroup")?.min(reads);
    let nodes = Tree::above(depth + 1);
    let mut layout = Layout::new(values);
    let arrays = vec![
        layout.array("nodes", nodes, 16)?,
        layout.array("children", nodes, 16)?,
        layout.array("genome", genome, 1)?,
        layout.array("queries", reads * length, 1)?,
        layout.array("matches", reads * (others + 1), 8)?,
    ];
    let tree = Tree { genome, length, depth, seed: settings.seed };
    let computing = |instructions| Step::Compute(settings.share(instructions, STEP));
    let script = Script::default()
        .then(1, [computing(BEGIN)])
        .then(depth, [Step::Load(3, HERE), Step::Load(1, HERE), Step::Load(0, BELOW), computing(WALK)])
        .then(length - depth, [Step::Load(3, BELOW), Step::Load(2, BELOW), computing(STEP)])
        .then(1, [computing(MATCH), Step::Store(4, HERE)])
        .then(
            others,
            [
                Step::Load(0, LINK),
                Step::Load(3, LINK),
                Step::Load(1, LINK),
                Step::Load(0, LINK + 1),
                computing(NEXT + WALK + MATCH),
                Step::Store(4, BELOW),
            ],
        );
    let map = move |at: At| {
        let read = at.below(workgroup, reads)?;
        let place = tree.place(read);
        let (round, depth) = (at.round, tree.depth);
        Some(match (at.array, at.nth) {
            (1, HERE) => tree.node(place, round),
            (0, BELOW) => tree.node(place, round + 1),
            // The next place in the read: first a letter less, then one more.
            (0 | 1, LINK) => tree.node(place + round + 1, depth.saturating_sub(1)),
            (0, _) => tree.node(place + round + 1, depth),
            (2, _) => place + depth + round,
            (3, HERE) => read * length + round,
            (3, BELOW) => read * length + depth + round,
            (3, _) => read * length + depth + round,
            (_, HERE) => read * (others + 1),
            _ => read * (others + 1) + round + 1,
        })
    };
    let launch = Launch {
        name: DEFINITION.name,
        groups: reads.div_ceil(workgroup),
        workgroup,
        arrays,
        script,
        map: Arc::new(map),
        settings,
    };
    Ok(vec![launch.step()])
}

#[cfg(test)]
mod tests {
    use super::super::common::scramble;
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn every_read_walks_down_and_on() {
        let given = [
            ("size", 400),
            ("reads", 20),
            ("scale", 2),
            ("length", 9),
            ("match_length", 6),
            ("workgroup", 4),
            ("wavefront", 2),
            ("seed", 8),
        ];
        let text: Vec<u64> = (0..200).map(|place| scramble(!8, place) % 4).collect();
        // 4^4 = 256 is more than 200 letters. Nodes are found by the letters that lead there.
        let depth = 4;
        let node = |letters: &[u64]| {
            let before: u64 = (0..letters.len() as u32).map(|level| 4u64.pow(level)).sum();
            let digits = letters.iter().map(|letter| char::from_digit(*letter as u32, 4).unwrap());
            before + u64::from_str_radix(&format!("0{}", digits.collect::<String>()), 4).unwrap()
        };
        let [nodes, children, genome, queries, matches] = bases([16 * 341, 16 * 341, 200, 90, 8 * 10 * 4]);
        let mut expected = Plain::default();
        for read in 0..10 {
            let place = (scramble(8, read) % 192) as usize;
            let letters = &text[place..place + 9];
            for at in 0..depth {
                expected.load(queries, read * 9 + at as u64, 1);
                expected.load(children, node(&letters[..at]), 16);
                expected.load(nodes, node(&letters[..=at]), 16);
            }
            for at in depth..9 {
                expected.load(queries, read * 9 + at as u64, 1);
                expected.load(genome, (place + at) as u64, 1);
            }
            expected.store(matches, read * 4, 8);
            for start in 1..=3 {
                let letters = &letters[start..start + depth];
                expected.load(nodes, node(&letters[..depth - 1]), 16);
                expected.load(queries, read * 9 + (start + depth - 1) as u64, 1);
                expected.load(children, node(&letters[..depth - 1]), 16);
                expected.load(nodes, node(letters), 16);
                expected.store(matches, read * 4 + start as u64, 8);
            }
        }
        assert_eq!(did(&steps("mummer", &given)[0]), expected.launch());
    }
}
