//! What stands for what: node states, messages and the contents of lanes, each with a number. Numbers depend on who came first;
//! hashes of contents do not.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::effect::{Effect, Input, Raw};
use super::hash::wide;
use super::summary::{Live, NodeSummary};
use super::system::System;
use crate::model::message::{Message, Network};
use crate::protocol::node::Timeless;

/// What is known of a message without looking at it.
#[derive(Clone, Copy, Debug)]
pub struct MessageSummary {
    pub network: Network,
    /// Tracked bytes of which it carries a class that a store elsewhere would change.
    pub live: u8,
    pub content: u128,
}

/// What is known of a lane's content without looking at it.
#[derive(Clone, Copy, Debug, Default)]
pub struct LaneSummary {
    /// The oldest message.
    pub head: u32,
    /// What is left without it.
    pub rest: u32,
    pub len: u32,
    pub live: u8,
    /// 0 for an empty lane.
    pub content: u128,
}

/// Everything that has been numbered so far. Lane 0 is empty.
#[derive(Debug, Default)]
pub struct Tables {
    pub nodes: Vec<Arc<Timeless>>,
    /// Which node each state is of.
    of: Vec<u8>,
    pub node_summaries: Vec<NodeSummary>,
    node_ids: FxHashMap<u128, u32>,
    pub messages: Vec<Arc<Message>>,
    pub message_summaries: Vec<MessageSummary>,
    message_ids: FxHashMap<u128, u32>,
    pub lanes: Vec<Arc<[u32]>>,
    pub lane_summaries: Vec<LaneSummary>,
    lane_ids: FxHashMap<u128, u32>,
    pub effects: FxHashMap<u64, Arc<Effect>>,
    /// Table cells that any effect used, a bit each, by node.
    pub cells: Vec<u64>,
}

/// The tables as threads share them.
#[derive(Debug)]
pub struct Shared {
    tables: Mutex<Tables>,
    /// Two nodes that were to be exchanged do not do the same.
    is_asymmetric: AtomicBool,
}

impl Shared {
    #[must_use]
    pub fn new(system: &System) -> Self {
        let mut tables = Tables { cells: vec![0; system.nodes.len()], ..Tables::default() };
        tables.lanes.push(Arc::from([]));
        tables.lane_summaries.push(LaneSummary::default());
        tables.lane_ids.insert(0, 0);
        Self { tables: Mutex::new(tables), is_asymmetric: AtomicBool::new(false) }
    }

    pub fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that two nodes that were to be exchanged do not do the same.
    pub fn note_asymmetry(&self) {
        self.is_asymmetric.store(true, Ordering::Relaxed);
    }

    #[must_use]
    pub fn is_asymmetric(&self) -> bool {
        self.is_asymmetric.load(Ordering::Relaxed)
    }
}

impl Tables {
    /// The number of a node's state.
    pub fn node(&mut self, system: &System, index: usize, timeless: Timeless) -> u32 {
        let content = wide(&(index, &timeless));
        if let Some(&id) = self.node_ids.get(&content) {
            return id;
        }
        let id = self.nodes.len() as u32;
        self.node_summaries.push(NodeSummary::new(system, index, &timeless, content));
        self.nodes.push(Arc::new(timeless));
        self.of.push(index as u8);
        self.node_ids.insert(content, id);
        id
    }

    pub fn message(&mut self, system: &System, message: Message) -> u32 {
        let content = wide(&message);
        if let Some(&id) = self.message_ids.get(&content) {
            return id;
        }
        let id = self.messages.len() as u32;
        let live = message.patch.as_deref().map_or(0, |patch| system.live(patch));
        self.message_summaries.push(MessageSummary { network: message.kind.network(), live, content });
        self.messages.push(Arc::new(message));
        self.message_ids.insert(content, id);
        id
    }

    /// The number of a lane that holds these messages, the oldest first.
    pub fn lane(&mut self, messages: &[u32]) -> u32 {
        let Some((&head, rest)) = messages.split_first() else { return 0 };
        let content = |id: u32| self.message_summaries.get(id as usize).map_or(0, |message| message.content);
        let hash = wide(&messages.iter().map(|&id| content(id)).collect::<Vec<_>>());
        if let Some(&id) = self.lane_ids.get(&hash) {
            return id;
        }
        let live = |id: &u32| self.message_summaries.get(*id as usize).map_or(0, |message| message.live);
        let live = messages.iter().map(live).fold(0, |all, live| all | live);
        let rest = self.lane(rest);
        let id = self.lanes.len() as u32;
        let summary = LaneSummary { head, rest, len: messages.len() as u32, live, content: hash };
        self.lane_summaries.push(summary);
        self.lanes.push(Arc::from(messages));
        self.lane_ids.insert(hash, id);
        id
    }

    /// Every input that a node was ever given: its key, the node, its state, and the input.
    #[must_use]
    pub fn inputs(&self) -> Vec<(u64, usize, Arc<Timeless>, Input)> {
        let of = |&key: &u64| {
            let node = (key >> 32) as usize;
            let input = Input::of(key as u32, &self.messages)?;
            Some((key, usize::from(*self.of.get(node)?), self.nodes.get(node)?.clone(), input))
        };
        self.effects.keys().filter_map(of).collect()
    }

    /// Gives numbers to what came of an input.
    pub fn effect(&mut self, system: &System, index: usize, raw: Option<Raw>) -> Effect {
        let Some(raw) = raw else { return Effect::default() };
        if let Some(cells) = self.cells.get_mut(index) {
            *cells |= raw.cells;
        }
        let node = self.node(system, index, raw.node);
        let sends =
            raw.sends.into_iter().map(|(lane, message)| (lane, self.message(system, message))).collect();
        let Raw { stored, completes, broken, .. } = raw;
        Effect { taken: true, node, sends, stored, completes, broken }
    }

    /// Bytes that all of it takes, roughly, with what so many threads copy of it: what they look up, and not what stands for it.
    #[must_use]
    pub fn footprint(&self, threads: usize) -> usize {
        let own = self.nodes.len() * 1024 + self.messages.len() * 256 + self.lanes.len() * 96;
        let copied = self.nodes.len() * size_of::<NodeSummary>()
            + self.messages.len() * size_of::<MessageSummary>()
            + self.lanes.len() * size_of::<LaneSummary>()
            + self.effects.len() * (size_of::<Effect>() + 32);
        own + self.effects.len() * (size_of::<Effect>() + 32) + copied * (1 + threads)
    }
}
