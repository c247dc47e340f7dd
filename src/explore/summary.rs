//! What the checks need to know of a node's state, as a few words of bits.

use super::system::System;
use super::values;
use crate::model::address::{Address, Range};
use crate::model::patch::Patch;
use crate::model::state::State;
use crate::protocol::node::{Node, Role, Timeless};

/// A node's state at a glance. Lines and bytes are bits in the order of the system; children have eight bits each.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeSummary {
    pub content: u128,
    pub is_idle: bool,
    /// An access from above is under way.
    pub waits: bool,
    /// Lines of which it holds a copy, those that it may write without asking, and those of which it supplies the data.
    pub held: u8,
    pub exclusive: u8,
    pub owner: u8,
    /// Lines of which it has an entry, so that its directory can list anybody.
    pub has: u8,
    /// Lines that its directory lists for child `n`: byte `n`. And those of which it names it as the owner.
    pub lists: u64,
    pub owns: u64,
    /// Tracked bytes that are current, or loose, in memory or in a dirty copy here.
    pub current: u8,
    pub loose: u8,
    /// Tracked bytes of which it has a class that a store elsewhere would change.
    pub live: u8,
}

/// Of which tracked bytes a patch has a class that a store elsewhere would change.
pub trait Live {
    fn live(&self, patch: &Patch) -> u8;
}

impl Live for System {
    fn live(&self, patch: &Patch) -> u8 {
        let class = |at: &Address| patch.read(Range::new(*at, 1)).and_then(|bytes| bytes.first().copied());
        let is_live = |at| class(at).is_some_and(|class| class != values::STALE);
        bits(self.bytes.iter().map(is_live))
    }
}

/// Bit `n` for the `n`-th.
fn bits(all: impl Iterator<Item = bool>) -> u8 {
    all.enumerate().fold(0, |bits, (place, is)| bits | u8::from(is) << place)
}

impl NodeSummary {
    #[must_use]
    pub fn new(system: &System, index: usize, timeless: &Timeless, content: u128) -> Self {
        let Some(shape) = system.nodes.get(index) else { return Self::default() };
        let node = shape.template.in_state(timeless);
        let is_root = shape.role == Role::Root;
        let table = &shape.template.config.table;
        let state = |line: &_| {
            let entry = node.entry(*line).map_or(State::I, |entry| entry.state);
            if is_root { State::I } else { entry }
        };
        let states: Vec<State> = system.lines.iter().map(state).collect();
        let mut live = 0;
        timeless.clone().patches_mut(|patch| live |= system.live(patch));
        let kept = |class: u8| bits(system.bytes.iter().map(|&at| keeps(&node, at, class)));
        let listed = |owner: bool| {
            let children = node.config.children.iter().enumerate();
            children.fold(0, |all, (place, &child)| {
                let lists = |line: &_| {
                    node.listed(*line, child).is_some_and(|(lists, owns)| if owner { owns } else { lists })
                };
                all | u64::from(bits(system.lines.iter().map(lists))) << (8 * place)
            })
        };
        Self {
            content,
            is_idle: node.is_idle(),
            waits: node.accesses_under_way() > 0,
            held: bits(states.iter().map(|&state| state != State::I)),
            exclusive: bits(states.iter().map(|&state| state != State::I && table.is_exclusive(state))),
            owner: bits(states.iter().map(|&state| state != State::I && table.is_owner(state))),
            has: bits(system.lines.iter().map(|line| node.entry(*line).is_some())),
            lists: listed(false),
            owns: listed(true),
            current: kept(values::CURRENT),
            loose: kept(values::LOOSE),
            live,
        }
    }
}

/// Whether a byte of this class is here for good: in memory, or in a dirty copy.
fn keeps(node: &Node, at: Address, class: u8) -> bool {
    let range = Range::new(at, 1);
    let is_class = || node.value(range).is_some_and(|value| value == [class]);
    match node.config.role {
        Role::Root => node.entry(at).is_some() && is_class(),
        _ => node.is_dirty(range) && is_class(),
    }
}
