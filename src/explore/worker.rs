//! One thread's view of the tables, and what can happen in a state: a look into tables where it has happened before.

mod moves;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::effect::{Effect, Input};
use super::hash::place;
use super::summary::NodeSummary;
use super::system::System;
use super::tables::{LaneSummary, MessageSummary, Shared, Tables};
use crate::model::message::Network;

/// In the key of an effect: it is something that is done to the node, and no message.
const DEED: u64 = super::effect::DEED as u64;

/// What can happen in a state: the head of a lane is delivered, or something is done to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    Deliver(u16),
    Deed { node: u8, deed: u8 },
}

/// What numbers become when parts are exchanged.
#[derive(Clone, Debug, Default)]
struct Images {
    nodes: Vec<u32>,
    lanes: Vec<u32>,
}

/// What a number becomes, if that is known. There is a place for it afterwards.
fn known(images: &mut Vec<u32>, id: u32) -> Option<u32> {
    if images.len() <= id as usize {
        images.resize(id as usize + 1, 0);
    }
    images[id as usize].checked_sub(1)
}

/// Why a state, or a step to it, is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Broken {
    pub rule: &'static str,
    pub text: String,
}

/// A thread's own copies of what it has met, in front of the shared tables.
#[derive(Debug)]
pub struct Worker<'a> {
    pub system: &'a System,
    shared: &'a Shared,
    nodes: Vec<NodeSummary>,
    messages: Vec<MessageSummary>,
    lanes: Vec<LaneSummary>,
    effects: Vec<Effect>,
    known: FxHashMap<u64, u32>,
    pushed: FxHashMap<u64, u32>,
    /// Nodes and lanes in which some bytes have become stale, by their number and the bytes.
    old_nodes: FxHashMap<u64, u32>,
    old_lanes: FxHashMap<u64, u32>,
    /// By symmetry, one more than the number of what each node's state, and each lane's content, becomes; 0 if unknown.
    images: Vec<Images>,
    /// Multipliers of the places of a state.
    places: Vec<u128>,
    /// Of the last state that was looked at, the networks out of each node that have a full lane.
    full: Vec<[bool; Network::ALL.len()]>,
    pub moves: Vec<Move>,
    /// The state after the last move.
    pub next: Vec<u32>,
    hash: u128,
}

impl<'a> Worker<'a> {
    #[must_use]
    pub fn new(system: &'a System, shared: &'a Shared) -> Self {
        Self {
            system,
            shared,
            nodes: Vec::new(),
            messages: Vec::new(),
            lanes: Vec::new(),
            effects: Vec::new(),
            known: FxHashMap::default(),
            pushed: FxHashMap::default(),
            old_nodes: FxHashMap::default(),
            old_lanes: FxHashMap::default(),
            images: vec![Images::default(); system.symmetries.len()],
            places: (0..system.width()).map(place).collect(),
            full: vec![[false; Network::ALL.len()]; system.nodes.len()],
            moves: Vec::new(),
            next: Vec::new(),
            hash: 0,
        }
    }

    /// The state before the first event, and its hash.
    #[must_use]
    pub fn initial(&mut self) -> (Vec<u32>, u128) {
        let states = self.system.initial();
        let mut tables = self.shared.lock();
        let mut state: Vec<u32> = states
            .into_iter()
            .enumerate()
            .map(|(index, timeless)| tables.node(self.system, index, timeless))
            .collect();
        self.copy(&tables);
        drop(tables);
        state.resize(self.system.width(), 0);
        let hash = self.hash_of(&state);
        (state, hash)
    }

    /// Copies what others have numbered since.
    pub fn catch_up(&mut self) {
        let tables = self.shared.lock();
        self.copy(&tables);
    }

    fn copy(&mut self, tables: &Tables) {
        self.nodes.extend_from_slice(tables.node_summaries.get(self.nodes.len()..).unwrap_or_default());
        let messages = tables.message_summaries.get(self.messages.len()..).unwrap_or_default();
        self.messages.extend_from_slice(messages);
        self.lanes.extend_from_slice(tables.lane_summaries.get(self.lanes.len()..).unwrap_or_default());
    }

    fn content(&self, place: usize, id: u32) -> u128 {
        let nodes = self.system.nodes.len();
        if place < nodes {
            self.nodes.get(id as usize).map_or(0, |node| node.content)
        } else if place < nodes + self.system.lanes.len() {
            self.lanes.get(id as usize).map_or(0, |lane| lane.content)
        } else {
            u128::from(id)
        }
    }

    /// The hash of a state from nothing.
    #[must_use]
    pub fn hash_of(&self, state: &[u32]) -> u128 {
        state.iter().enumerate().fold(0, |all, (place, &id)| {
            let by = self.places.get(place).copied().unwrap_or(1);
            all.wrapping_add(self.content(place, id).wrapping_mul(by))
        })
    }

    /// Changes one number of the next state.
    fn set(&mut self, place: usize, id: u32) {
        let Some(&old) = self.next.get(place) else { return };
        if old == id {
            return;
        }
        let change = self.content(place, id).wrapping_sub(self.content(place, old));
        let by = self.places.get(place).copied().unwrap_or(1);
        self.hash = self.hash.wrapping_add(change.wrapping_mul(by));
        self.next[place] = id;
    }

    #[must_use]
    pub fn node(&self, state: &[u32], index: usize) -> NodeSummary {
        state.get(index).and_then(|&id| self.nodes.get(id as usize)).copied().unwrap_or_default()
    }

    fn lane(&self, id: u32) -> LaneSummary {
        self.lanes.get(id as usize).copied().unwrap_or_default()
    }

    /// The oldest message of a lane.
    #[must_use]
    pub fn head(&self, state: &[u32], lane: usize) -> Option<MessageSummary> {
        let id = *state.get(self.system.nodes.len() + lane)?;
        self.messages.get(self.lane(id).head as usize).copied().filter(|_| id != 0)
    }

    /// What an input does to a node in a state.
    fn effect(&mut self, index: usize, node: u32, input: u64) -> &Effect {
        let key = u64::from(node) << 32 | input;
        let place = match self.known.get(&key) {
            Some(&place) => place as usize,
            None => self.learn(index, node, input, key),
        };
        // Every place that is known is there.
        &self.effects[place]
    }

    #[cold]
    fn learn(&mut self, index: usize, node: u32, input: u64, key: u64) -> usize {
        let effect = self.ask(index, node, input, key);
        self.effects.push((*effect).clone());
        self.known.insert(key, (self.effects.len() - 1) as u32);
        self.effects.len() - 1
    }

    /// Finds the effect in the shared tables, or runs the node and puts it there.
    fn ask(&mut self, index: usize, node: u32, input: u64, key: u64) -> Arc<Effect> {
        let tables = self.shared.lock();
        if let Some(effect) = tables.effects.get(&key).cloned() {
            self.copy(&tables);
            return effect;
        }
        let timeless = tables.nodes.get(node as usize).cloned();
        let input = Input::of(input as u32, &tables.messages);
        drop(tables);
        // Without the lock: this is what takes time.
        let raw = timeless.zip(input).and_then(|(state, input)| {
            let raw = self.system.run(index, &state, &input);
            let mut all = self.system.symmetries.iter();
            if !all.all(|symmetry| self.system.keeps(symmetry, index, &state, &input, raw.as_ref())) {
                self.shared.note_asymmetry();
            }
            raw
        });
        let mut tables = self.shared.lock();
        let effect = Arc::new(tables.effect(self.system, index, raw));
        tables.effects.insert(key, effect.clone());
        self.copy(&tables);
        effect
    }

    /// Makes a move: the state afterwards is in `next`. Returns its hash, and what the move itself broke.
    pub fn make(&mut self, state: &[u32], hash: u128, one: Move) -> (u128, Option<Broken>) {
        self.next.clear();
        self.next.extend_from_slice(state);
        self.hash = hash;
        let count = self.system.nodes.len();
        let (node, input) = self.input(state, one);
        if let Move::Deliver(lane) = one {
            let place = count + lane as usize;
            self.set(place, self.lane(state[place]).rest);
        }
        let effect = self.effect(node, state[node], input).clone();
        if effect.stored.coherent != 0 {
            self.outdate(effect.stored.coherent, node);
        }
        self.set(node, effect.node);
        for &(lane, message) in &effect.sends {
            let place = count + lane as usize;
            let with = self.push(self.next[place], message);
            self.set(place, with);
        }
        let last = self.next.len() - 1;
        let loose = effect.stored.after(self.next[last] as u8);
        self.set(last, u32::from(loose));
        let broken = effect.broken.map(|broken| Broken { rule: broken.0, text: self.at(node, &broken.1) });
        (self.hash, broken)
    }

    /// The content of a lane with one message more.
    fn push(&mut self, lane: u32, message: u32) -> u32 {
        let key = u64::from(lane) << 32 | u64::from(message);
        if let Some(&known) = self.pushed.get(&key) {
            return known;
        }
        let mut tables = self.shared.lock();
        let mut messages = tables.lanes.get(lane as usize).map_or_else(Vec::new, |lane| lane.to_vec());
        messages.push(message);
        let id = tables.lane(&messages);
        self.copy(&tables);
        drop(tables);
        self.pushed.insert(key, id);
        id
    }

    /// Everything that anybody but the node that stored has of some bytes is stale now.
    fn outdate(&mut self, bytes: u8, except: usize) {
        let count = self.system.nodes.len();
        for node in (0..count).filter(|node| *node != except) {
            let id = self.next[node];
            if self.nodes.get(id as usize).is_some_and(|node| node.live & bytes != 0) {
                let old = self.old_node(node, id, bytes);
                self.set(node, old);
            }
        }
        for place in count..self.next.len() - 1 {
            let id = self.next[place];
            if id != 0 && self.lane(id).live & bytes != 0 {
                let old = self.old_lane(id, bytes);
                self.set(place, old);
            }
        }
    }

    fn old_node(&mut self, index: usize, id: u32, bytes: u8) -> u32 {
        let key = u64::from(id) << 8 | u64::from(bytes);
        if let Some(&known) = self.old_nodes.get(&key) {
            return known;
        }
        let mut tables = self.shared.lock();
        let Some(timeless) = tables.nodes.get(id as usize).cloned() else { return id };
        let old = tables.node(self.system, index, self.system.outdated(index, &timeless, bytes));
        self.copy(&tables);
        drop(tables);
        self.old_nodes.insert(key, old);
        old
    }

    fn old_lane(&mut self, id: u32, bytes: u8) -> u32 {
        let key = u64::from(id) << 8 | u64::from(bytes);
        if let Some(&known) = self.old_lanes.get(&key) {
            return known;
        }
        let mut tables = self.shared.lock();
        let messages = tables.lanes.get(id as usize).map_or_else(Vec::new, |lane| lane.to_vec());
        let mut old = Vec::new();
        for message in messages {
            let Some(message) = tables.messages.get(message as usize).cloned() else { continue };
            old.push(tables.message(self.system, self.system.outdated_message(&message, bytes)));
        }
        let old = tables.lane(&old);
        self.copy(&tables);
        drop(tables);
        self.old_lanes.insert(key, old);
        old
    }

    /// Puts in place of the next state the one that stands for it and all that differ from it in which part is which. Returns
    /// its hash.
    pub fn represent(&mut self) -> u128 {
        let mut least = (self.hash, None);
        for symmetry in 0..self.images.len() {
            let hash = self.image_hash(symmetry);
            if hash < least.0 {
                least = (hash, Some(symmetry));
            }
        }
        if let Some(symmetry) = least.1 {
            self.exchange(symmetry);
            self.hash = least.0;
        }
        least.0
    }

    /// The hash of the next state with parts exchanged.
    fn image_hash(&mut self, symmetry: usize) -> u128 {
        let system = self.system;
        let Some(to) = system.symmetries.get(symmetry) else { return self.hash };
        let count = system.nodes.len();
        let loose = self.next.len() - 1;
        let mut hash = 0u128;
        for (node, &image) in to.nodes.iter().enumerate() {
            let id = self.node_image(symmetry, node, self.next[node]);
            let by = self.places[usize::from(image)];
            hash = hash.wrapping_add(self.content(usize::from(image), id).wrapping_mul(by));
        }
        for (lane, &image) in to.lanes.iter().enumerate() {
            let id = self.next[count + lane];
            if id == 0 {
                continue;
            }
            let id = self.lane_image(symmetry, id);
            let place = count + usize::from(image);
            hash = hash.wrapping_add(self.content(place, id).wrapping_mul(self.places[place]));
        }
        hash.wrapping_add(self.content(loose, self.next[loose]).wrapping_mul(self.places[loose]))
    }

    /// Exchanges parts of the next state.
    fn exchange(&mut self, symmetry: usize) {
        let system = self.system;
        let Some(to) = system.symmetries.get(symmetry) else { return };
        let count = system.nodes.len();
        let from = self.next.clone();
        for (node, &image) in to.nodes.iter().enumerate() {
            self.next[usize::from(image)] = self.node_image(symmetry, node, from[node]);
        }
        for (lane, &image) in to.lanes.iter().enumerate() {
            self.next[count + usize::from(image)] = self.lane_image(symmetry, from[count + lane]);
        }
    }

    fn node_image(&mut self, symmetry: usize, index: usize, id: u32) -> u32 {
        if let Some(image) = known(&mut self.images[symmetry].nodes, id) {
            return image;
        }
        let system = self.system;
        let Some(to) = system.symmetries.get(symmetry) else { return id };
        let mut tables = self.shared.lock();
        let Some(timeless) = tables.nodes.get(id as usize).cloned() else { return id };
        let image = tables.node(system, usize::from(to.nodes[index]), to.node(index, &timeless));
        self.copy(&tables);
        drop(tables);
        self.images[symmetry].nodes[id as usize] = image + 1;
        image
    }

    fn lane_image(&mut self, symmetry: usize, id: u32) -> u32 {
        if id == 0 {
            return 0;
        }
        if let Some(image) = known(&mut self.images[symmetry].lanes, id) {
            return image;
        }
        let system = self.system;
        let Some(to) = system.symmetries.get(symmetry) else { return id };
        let mut tables = self.shared.lock();
        let messages = tables.lanes.get(id as usize).map_or_else(Vec::new, |lane| lane.to_vec());
        let mut images = Vec::new();
        for message in messages {
            let Some(message) = tables.messages.get(message as usize).cloned() else { continue };
            images.push(tables.message(system, to.message(&message)));
        }
        let image = tables.lane(&images);
        self.copy(&tables);
        drop(tables);
        self.images[symmetry].lanes[id as usize] = image + 1;
        image
    }

    /// A sentence about a node.
    #[must_use]
    pub fn at(&self, node: usize, text: &str) -> String {
        let id = self.system.nodes.get(node).map(|shape| shape.id);
        format!("at {}: {text}", id.map_or("?", |id| self.system.names.path(id)))
    }

    /// Whether nothing is under way in a state.
    #[must_use]
    pub fn is_quiet(&self, state: &[u32]) -> bool {
        let count = self.system.nodes.len();
        state[count..state.len() - 1].iter().all(|&lane| lane == 0)
            && (0..count).all(|index| self.node(state, index).is_idle)
    }
}
