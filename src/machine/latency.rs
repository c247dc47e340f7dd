//! How long accesses took: by what they were and by how far they had to go, how they spread, and by the task that made them.

mod spread;

use super::{Machine, Transaction};
use crate::model::access::AccessKind;
use crate::model::address::Range;
use crate::model::cow::CowVec;
use crate::model::level::Level;
use crate::model::message::{Message, MessageKind, Network, TxnKey};
use crate::model::time::Tick;
use crate::parts::agent::Work;
use crate::protocol::outbox::Completion;
use spread::Spread;

/// What an access was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Load,
    Store,
    NStore,
    Atomic,
    /// A coherent store of no bytes: the exclusive access of dynamic synchronisation (UMH, section 4.2.1).
    Exclusive,
}

impl Class {
    pub const ALL: [Self; 5] = [Self::Load, Self::Store, Self::NStore, Self::Atomic, Self::Exclusive];

    /// The word that stands for it in keys.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::NStore => "n_store",
            Self::Atomic => "atomic",
            Self::Exclusive => "exclusive",
        }
    }

    fn of(kind: AccessKind, range: Range) -> Self {
        match kind {
            AccessKind::Store if range.len == 0 => Self::Exclusive,
            AccessKind::Load => Self::Load,
            AccessKind::Store => Self::Store,
            AccessKind::NStore => Self::NStore,
            AccessKind::Atomic(_) => Self::Atomic,
        }
    }
}

/// Accesses that were performed, and the time from issue until then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    pub count: u64,
    /// Those that waited where they were served for a miss under way.
    pub merged: u64,
    /// Those for which a directory had to ask caches other than the accessing one's own.
    pub probed: u64,
    pub ticks: Tick,
    pub shortest: Tick,
    pub longest: Tick,
}

impl Latency {
    fn add(&mut self, ticks: Tick) {
        self.shortest = if self.count == 0 { ticks } else { self.shortest.min(ticks) };
        self.count += 1;
        self.ticks = self.ticks.saturating_add(ticks);
        self.longest = self.longest.max(ticks);
    }

    /// Both together.
    #[must_use]
    pub fn with(self, other: &Self) -> Self {
        Self {
            count: self.count + other.count,
            merged: self.merged + other.merged,
            probed: self.probed + other.probed,
            ticks: self.ticks.saturating_add(other.ticks),
            shortest: match (self.count, other.count) {
                (0, _) => other.shortest,
                (_, 0) => self.shortest,
                _ => self.shortest.min(other.shortest),
            },
            longest: self.longest.max(other.longest),
        }
    }
}

/// Accesses that a task has made: how many, how many of them were hits in their own L1, and the time of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskAccesses {
    pub count: u64,
    pub hits: u64,
    pub ticks: Tick,
}

/// All accesses that were performed.
#[derive(Clone, Debug)]
pub struct Latencies {
    cells: [[Latency; Level::ALL.len()]; Class::ALL.len()],
    spreads: [Spread; Class::ALL.len()],
    tasks: CowVec<TaskAccesses, 64>,
}

impl Latencies {
    /// Of a machine with so many tasks.
    #[must_use]
    pub fn new(tasks: usize) -> Self {
        Self { cells: Default::default(), spreads: Default::default(), tasks: CowVec::new(tasks) }
    }

    /// Makes room for a task more.
    pub fn add_task(&mut self, task: usize) {
        while self.tasks.len() <= task {
            self.tasks.grow();
        }
    }

    /// Counts a hit of a task, which takes so many ticks.
    pub fn count_hit(&mut self, task: Option<usize>, kind: AccessKind, range: Range, ticks: Tick) {
        self.count(task, Class::of(kind, range), Level::L1, ticks);
    }

    fn count(
        &mut self,
        task: Option<usize>,
        class: Class,
        level: Level,
        ticks: Tick,
    ) -> Option<&mut Latency> {
        if let Some(task) = task.and_then(|task| self.tasks.get_mut(task)) {
            task.count += 1;
            task.hits += u64::from(level == Level::L1);
            task.ticks = task.ticks.saturating_add(ticks);
        }
        self.spreads.get_mut(class as usize)?.add(ticks);
        let cell = self.cells.get_mut(class as usize)?.get_mut(level as usize)?;
        cell.add(ticks);
        Some(cell)
    }

    /// Accesses of a class that were served at a level.
    #[must_use]
    pub fn of(&self, class: Class, level: Level) -> Latency {
        self.cells
            .get(class as usize)
            .and_then(|levels| levels.get(level as usize))
            .copied()
            .unwrap_or_default()
    }

    /// All that were served at a level.
    #[must_use]
    pub fn of_level(&self, level: Level) -> Latency {
        Class::ALL.iter().fold(Latency::default(), |sum, &class| sum.with(&self.of(class, level)))
    }

    /// All of a class.
    #[must_use]
    pub fn of_class(&self, class: Class) -> Latency {
        Level::ALL.iter().fold(Latency::default(), |sum, &level| sum.with(&self.of(class, level)))
    }

    #[must_use]
    pub fn all(&self) -> Latency {
        Class::ALL.iter().fold(Latency::default(), |sum, &class| sum.with(&self.of_class(class)))
    }

    /// The ticks that so many of a hundred accesses of a class took at most, if there are any.
    #[must_use]
    pub fn percentile(&self, class: Class, percent: u32) -> Option<f64> {
        let Latency { shortest, longest, .. } = self.of_class(class);
        let ticks = self.spreads.get(class as usize)?.percentile(percent)?;
        Some(ticks.max(shortest as f64).min(longest as f64))
    }

    /// Those of a task.
    #[must_use]
    pub fn of_task(&self, task: usize) -> TaskAccesses {
        self.tasks.get(task).copied().unwrap_or_default()
    }
}

impl Machine {
    /// A message is about to be taken: notes how far its transaction has come.
    pub(super) fn note_reached(&mut self, node: usize, message: &Message) {
        let reached = match (message.kind.network(), message.kind) {
            (Network::Request, _) => self.level_of(node),
            (Network::Reply, MessageKind::PeerData) => self.supplier(node, message),
            (Network::Reply, _) => return,
            (Network::Probe, _) => None,
        };
        let Some(transaction) = message.txn.and_then(|key| self.txns.get_mut(key)) else { return };
        let home = self.nodes.get(node).and_then(|node| node.config.home);
        let own = self.agents.get(transaction.agent).and_then(|agent| agent.config.socket);
        let is_far = home.is_some_and(|home| own.is_some_and(|own| home != own));
        match reached.map(|level| if is_far { level.far() } else { level }) {
            // A write of another block, whose place was needed, is no part of the access.
            Some(level) if level > transaction.reached && message.range.overlaps(transaction.range) => {
                (transaction.reached, transaction.merged) = (level, false);
            }
            Some(_) => {}
            // A recall of another block, for room, is no part of the access.
            None => transaction.probed |= message.range.contains(transaction.range.start),
        }
    }

    /// The request of a transaction has joined a miss under way where it has come to.
    pub(super) fn note_merged(&mut self, txn: Option<TxnKey>) {
        if let Some(transaction) = txn.and_then(|key| self.txns.get_mut(key)) {
            transaction.merged = true;
        }
    }

    fn level_of(&self, node: usize) -> Option<Level> {
        self.fixed.level_of.get(node).copied()
    }

    /// Who supplied the data of a peer transfer: home has to if the sibling has none to hand over.
    fn supplier(&self, node: usize, message: &Message) -> Option<Level> {
        let sender = self.fixed.node_of.get(message.from.index()).copied().flatten()?;
        let level = self.level_of(sender)?;
        Some(if self.level_of(node) == Some(level) { Level::Peer } else { level })
    }

    /// Counts an access that was performed and has a transaction. What its L1 performs at once is a hit beside stores under way.
    pub(super) fn count_miss(&mut self, completion: &Completion, transaction: &Transaction) {
        let node = self.fixed.node_of.get(completion.node.index()).copied().flatten();
        let hit = node.and_then(|node| self.nodes.get(node)).map_or(0, |node| node.config.hit_time);
        let ticks = self.now.saturating_sub(completion.ticket.issued).max(hit);
        let agent = self.agents.get(transaction.agent);
        let warp = agent.and_then(|agent| agent.warps.get(transaction.warp as usize));
        let task = warp.and_then(|warp| warp.work).map(Work::task);
        let class = Class::of(completion.kind, completion.range);
        let level = if completion.at_once { Level::L1 } else { transaction.reached };
        let cell = self.latencies.count(task, class, level, ticks);
        if let Some(latency) = cell {
            latency.merged += u64::from(transaction.merged);
            latency.probed += u64::from(transaction.probed);
        }
    }
}
