//! B+ tree: a workgroup for each query goes down the tree, a thread for each key of a node.
//!
//! Map (Rodinia, `b+tree/kernel/kernel_gpu_cuda.cu`, findK; `common.h`), with nodes of `order` keys: 2 `order` + 5 words, the location, the
//! indices of the children, the keys, whether it is a leaf and how many keys it has. For query b, in each level above the leaves:
//! - all threads load `current[b]`, thread t `nodes[current].keys[t]` and the query; those whose key is not larger load the next key;
//! - the thread between whose keys the query lies loads `offset[b]` and the child's index, and stores `offset[b]`;
//! - thread 0 loads `offset[b]` and stores `current[b]`.
//!
//! At the leaf all load `current[b]`, a key and the query; the one that finds it loads the index and the record, and stores `answers[b]`.
//!
//! The tree is full, but for its last nodes, and lies in memory level by level; queries are drawn from the seed. In a full tree of order
//! 256 a million records are two steps below the root. A tree that Rodinia builds by inserting is less full.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Map, Script, Step};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a level: three for the loop, two for where the key is, whose neighbour is next to it, two comparisons, two branches,
/// and one for thread 0.
const LEVEL: u64 = 10;
/// What a thread begins with: three addresses, whether it is thread 0, and two for the loop's last test.
const BEGIN: u64 = 6;
/// The child's index: two for where it is, a conversion, a comparison and a branch for whether there is such a node.
const CHILD: u64 = 5;
/// At the leaf: two for where the key is, a comparison and a branch.
const LEAF: u64 = 4;
/// What a query finds: the addresses of the record and of the answer.
const RECORD: u64 = 2;

pub const DEFINITION: Definition = Definition {
    name: "btree",
    title: "B+ tree: every query reads the root, then pages of its own",
    source: "Rodinia, cuda/b+tree (findK): order 256, a million records, 10,000 queries; the tree is generated",
    own: &[
        common::count("size", "records", 1_000_000, 1 << 32),
        common::count("queries", "queries, and workgroups", 10_000, 1 << 32),
        common::power("order", "keys of a node, and threads of a workgroup", 256, 1024),
        common::SCALE,
        common::WARP,
        common::first("nodes", "the tree, words"),
        common::next("records", "the records, words"),
        common::next("keys", "the queries, words"),
        common::next("current", "the node where each query is, eight bytes"),
        common::next("offset", "the node where it goes, eight bytes"),
        common::next("answers", "what it found, words"),
    ],
    shared: &common::computing_cuda(LEVEL),
    build,
};

/// A full tree.
#[derive(Clone, Copy, Debug)]
struct Tree {
    order: u64,
    records: u64,
    /// Levels above the leaves.
    height: u32,
}

impl Tree {
    fn of(records: u64, order: u64) -> Self {
        let deep = |height: &u32| order.checked_pow(height + 1).is_none_or(|most| most >= records);
        // An order of 1 would never hold more than one record.
        Self { order, records, height: (0..63).find(deep).unwrap_or(63) }
    }

    /// Nodes of a level: the root's is 0.
    fn nodes_of(&self, level: u32) -> u64 {
        self.records.div_ceil(self.below(level))
    }

    fn nodes(&self) -> u64 {
        (0..=self.height).map(|level| self.nodes_of(level)).sum()
    }

    /// Records below a node of a level.
    fn below(&self, level: u32) -> u64 {
        self.order.saturating_pow(self.height + 1 - level)
    }

    /// The node of a level that leads to a record.
    fn node(&self, level: u32, record: u64) -> u64 {
        let before: u64 = (0..level).map(|level| self.nodes_of(level)).sum();
        before + record / self.below(level)
    }

    /// Which of the node's children leads there, or which of a leaf's keys is the record's.
    fn child(&self, level: u32, record: u64) -> u64 {
        record % self.below(level) / (self.below(level) / self.order).max(1)
    }

    /// Words of a node.
    fn words(&self) -> u64 {
        2 * self.order + 5
    }

    /// The word of a node's n-th child.
    fn index(&self, node: u64, nth: u64) -> u64 {
        node * self.words() + 1 + nth
    }

    fn key(&self, node: u64, nth: u64) -> u64 {
        self.index(node, self.order + 1 + nth)
    }
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let scale = Scale::read(values)?;
    let size = |name| common::multiple(values, name, scale.of(values.integer(name)?), 1);
    let (records, queries) = (size("size")?, size("queries")?);
    let order = common::multiple(values, "order", values.integer("order")?, 2)?;
    let tree = Tree::of(records, order);
    let mut layout = Layout::new(values);
    let arrays = vec![
        layout.array("nodes", tree.nodes() * tree.words(), 4)?,
        layout.array("records", records, 4)?,
        layout.array("keys", queries, 4)?,
        layout.array("current", queries, 8)?,
        layout.array("offset", queries, 8)?,
        layout.array("answers", queries, 4)?,
    ];
    let compute = |instructions| Step::Compute(settings.share(instructions, LEVEL));
    let level = [
        [Step::Load(3, 0), Step::Load(0, KEY), Step::Load(2, 0), Step::Load(0, NEXT_KEY)].as_slice(),
        &[compute(LEVEL), Step::Load(4, MATCH), Step::Load(0, INDEX), compute(CHILD)],
        &[Step::Store(4, MATCH), Step::Barrier],
        &[Step::Load(4, FIRST), Step::Store(3, FIRST), Step::Barrier],
    ]
    .concat();
    let leaf = [
        [Step::Load(3, 0), Step::Load(0, LEAF_KEY), Step::Load(2, 0), compute(LEAF)].as_slice(),
        &[Step::Load(0, LEAF_INDEX), compute(RECORD), Step::Load(1, MATCH), Step::Store(5, MATCH)],
    ]
    .concat();
    let begin = Script::default().then(1, [compute(BEGIN)]);
    let launch = Launch {
        name: "findK",
        groups: queries,
        workgroup: order,
        arrays,
        script: begin.then(u64::from(tree.height), level).then(1, leaf),
        map: descent(tree, settings.seed),
        settings,
    };
    Ok(vec![launch.step()])
}

/// What an access is for; any other number: all threads touch what belongs to the query.
const KEY: u64 = 1;
const NEXT_KEY: u64 = 2;
const INDEX: u64 = 3;
const LEAF_KEY: u64 = 4;
const LEAF_INDEX: u64 = 5;
/// Only the thread that found the child, or the record.
const MATCH: u64 = 6;
/// Only thread 0.
const FIRST: u64 = 7;

fn descent(tree: Tree, seed: u64) -> Map {
    Arc::new(move |at: At| {
        let record = common::scramble(seed, at.group) % tree.records;
        let at_leaf = matches!(at.nth, LEAF_KEY | LEAF_INDEX) || matches!(at.array, 1 | 5);
        let level = if at_leaf { tree.height } else { at.round as u32 };
        let (node, child) = (tree.node(level, record), tree.child(level, record));
        let found = at.local == child;
        match (at.array, at.nth) {
            (0, KEY | LEAF_KEY) => Some(tree.key(node, at.local)),
            (0, NEXT_KEY) => (at.local <= child).then(|| tree.key(node, at.local + 1)),
            (0, _) => found.then(|| tree.index(node, child)),
            (1, _) => found.then_some(record),
            (_, MATCH) => found.then_some(at.group),
            (_, FIRST) => (at.local == 0).then_some(at.group),
            _ => Some(at.group),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};
    use super::*;

    /// A tree of order 4 in the source's own terms: (indices, keys) of each node, a key for each fourth record.
    #[test]
    fn queries_go_down_the_tree() {
        let given =
            [("size", 100), ("scale", 2), ("queries", 12), ("order", 4), ("wavefront", 2), ("seed", 9)];
        let (records, queries) = (50u64, 6u64);
        // Levels of 1, 4 and 13 nodes, each with the first record of its children.
        let levels: [Vec<u64>; 3] = [vec![0], vec![0, 16, 32, 48], (0..13).map(|leaf| 4 * leaf).collect()];
        let words = 1 + 5 + 5 + 1 + 1;
        let [nodes, values, keys, current, offset, answers] =
            bases([4 * words * 18, 4 * records, 4 * queries, 8 * queries, 8 * queries, 4 * queries]);
        let mut expected = Plain::default();
        for bid in 0..queries {
            let query = common::scramble(9, bid) % records;
            let mut before = 0;
            for (depth, level) in levels.iter().enumerate() {
                let nth = level.iter().rposition(|first| *first <= query).unwrap();
                let node = (before + nth as u64) * words;
                before += level.len() as u64;
                let step = [16, 4, 1][depth];
                let found = (query - level[nth]) / step;
                for thid in 0..4 {
                    expected.load(current, bid, 8);
                    expected.load(nodes, node + 6 + thid, 4);
                    expected.load(keys, bid, 4);
                    if depth < 2 && thid <= found {
                        expected.load(nodes, node + 6 + thid + 1, 4);
                    }
                    if thid == found {
                        expected.load(nodes, node + 1 + thid, 4);
                        if depth == 2 {
                            expected.load(values, query, 4);
                            expected.store(answers, bid, 4);
                        } else {
                            expected.load(offset, bid, 8);
                            expected.store(offset, bid, 8);
                        }
                    }
                }
                if depth < 2 {
                    expected.load(offset, bid, 8);
                    expected.store(current, bid, 8);
                }
            }
        }
        assert_eq!(did(&steps("btree", &given)[0]), expected.launch());
    }

    #[test]
    fn a_node_of_order_256_is_that_of_the_source() {
        let tree = Tree::of(1_000_000, 256);
        assert_eq!((4 * tree.words(), tree.height, tree.nodes()), (2068, 2, 1 + 16 + 3907));
    }
}
