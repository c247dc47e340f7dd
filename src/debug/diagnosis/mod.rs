//! Why a machine cannot go on: the part of its wait-for graph that nothing can ever open, named and told.
//!
//! What waits for nothing can go on by itself. What needs all of several can go on if each of them can; what needs one
//! of several (an MSHR, a way) if any can. The rest is dead whatever is delivered first: either it stands in a circle
//! (a deadlock), or it waits for something that will never come (a lost message, a lost wake-up). Where nothing is dead
//! and a transaction is too old all the same, a fork of the machine is run on: if accesses end, but not this one, it is
//! starved; if none does, the machine goes round in a livelock.

mod doom;
mod dot;
mod graph;
mod onward;
mod sentence;
mod spinning;
#[cfg(test)]
mod tests;
mod trace;

use std::collections::BTreeSet;

use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::model::message::TxnNumber;
use crate::model::text::plural;
use crate::model::time::EventNumber;
use crate::model::wait::{Party, Wait};
use graph::Graph;

pub use doom::{Doom, doom};
pub use dot::{dot, may_replace};
pub use sentence::Sentence;
pub use trace::trace;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Some wait for each other in a circle.
    Deadlock,
    /// A message is awaited that nobody will send again.
    LostMessage,
    /// What is waited for has come, and who waits has not been told: a warp of the end of its access, a scoreboard of its data.
    LostWakeUp,
    /// Events go on, but no access ends.
    Livelock,
    /// Others are served again and again, this one is not.
    Starvation,
    /// It is under way, and nobody who came later is served before it.
    Slow,
    /// It cannot go on, and the graph does not say why.
    Unknown,
}

impl Verdict {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Deadlock => "deadlock",
            Self::LostMessage => "lost-message",
            Self::LostWakeUp => "lost-wake-up",
            Self::Livelock => "livelock",
            Self::Starvation => "starvation",
            Self::Slow => "slow",
            Self::Unknown => "unknown",
        }
    }

    /// For a headline.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Deadlock => "DEADLOCK",
            Self::LostMessage => "LOST MESSAGE",
            Self::LostWakeUp => "LOST WAKE-UP",
            Self::Livelock => "LIVELOCK",
            Self::Starvation => "STARVATION",
            Self::Slow => "SLOW",
            Self::Unknown => "STUCK",
        }
    }
}

/// What is known of why a machine cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    pub verdict: Verdict,
    pub event: EventNumber,
    pub cycle: u64,
    /// Nothing at all can move any more.
    pub complete: bool,
    /// Transactions that can never end, or the one that is starved, oldest first.
    pub transactions: Vec<TxnNumber>,
    /// Warps that can never go on.
    pub warps: u64,
    /// What those that are told spin on has been stored elsewhere.
    pub is_stored: bool,
    /// One an edge: the circle, or the chain from a warp to what will not come.
    pub sentences: Vec<Sentence>,
    /// The sentences close a circle.
    pub is_circle: bool,
    /// Further circles, or further things that were lost, that are not told.
    pub others: usize,
    /// What was seen when a fork of the machine was run on, and what about the machine makes it possible.
    pub notes: Vec<String>,
    /// Since when it could not be avoided, once that has been looked for.
    pub doom: Option<Doom>,
    /// The graph, and those of it that can never go on.
    pub edges: Vec<Wait>,
    pub dead: BTreeSet<Party>,
}

/// Transactions that are listed at most.
const VICTIMS: usize = 16;

impl Diagnosis {
    /// The first line: `DEADLOCK at cycle 8811: 3 transactions can never end`.
    #[must_use]
    pub fn headline(&self) -> String {
        // Where an access is not translated there is no transaction yet; before a lost wake-up it has ended.
        let (count, cannot) = if self.transactions.is_empty() || self.verdict == Verdict::LostWakeUp {
            (plural(self.warps, "warp"), "can never go on")
        } else {
            (plural(self.transactions.len() as u64, "transaction"), "can never end")
        };
        let what = match self.verdict {
            Verdict::Starvation => "others are served, and it waits".to_owned(),
            Verdict::Slow => "it is under way, and ends before any that was issued later".to_owned(),
            Verdict::Livelock if self.spins() => {
                let warps =
                    if self.warps == 1 { "1 warp spins" } else { &format!("{} warps spin", self.warps) };
                let why = if self.is_stored {
                    "has been stored, and does not come there"
                } else {
                    "nobody is left to store"
                };
                format!("{warps} on what {why}")
            }
            Verdict::Livelock => "events go on, and no access ends".to_owned(),
            _ if self.complete && self.transactions.is_empty() && self.warps == 0 => {
                "nothing can move, and work is left".to_owned()
            }
            _ if self.complete => format!("nothing can move, {count} {cannot}"),
            _ if self.transactions.is_empty() && self.warps == 0 => {
                "no access waits for it, but something can never be done, though others go on".to_owned()
            }
            _ => format!("{count} {cannot}, though others go on"),
        };
        format!("{} at event {}, cycle {}: {what}", self.verdict.title(), self.event, self.cycle)
    }

    /// The headline, and a numbered sentence for each edge.
    #[must_use]
    pub fn chain(&self) -> Vec<String> {
        let mut lines = vec![self.headline()];
        for (index, sentence) in self.sentences.iter().enumerate() {
            lines.push(format!("{:>3}  {}", index + 1, sentence.text()));
        }
        if self.is_circle {
            lines.push("     which is (1) again".to_owned());
        }
        lines
    }

    /// The same, and what else is known.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.chain();
        let told = |txn: &&TxnNumber| self.sentences.iter().any(|sentence| sentence.txn == Some(**txn));
        if self.transactions.len() > 1.max(self.transactions.iter().filter(told).count()) {
            lines.push(self.victims());
        }
        if self.others > 0 {
            let what = if self.is_circle { "circle" } else { "such wait" };
            lines.push(format!("and {} more", plural(self.others as u64, what)));
        }
        if self.verdict != Verdict::Slow && !self.spins() {
            lines.push(self.unavoidable());
        }
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        lines
    }

    /// The transactions that can never end, where the sentences name a part of them.
    fn victims(&self) -> String {
        let shown: Vec<_> = self.transactions.iter().take(VICTIMS).map(|txn| txn.0.to_string()).collect();
        let more = self.transactions.len().saturating_sub(shown.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("none of these can end: {}{more} (why txn N)", shown.join(", "))
    }

    /// No transaction is too old: accesses end, and are made again.
    fn spins(&self) -> bool {
        self.verdict == Verdict::Livelock && self.transactions.is_empty()
    }

    /// Since when it could not be avoided, as a line.
    #[must_use]
    pub fn unavoidable(&self) -> String {
        match self.doom {
            None => "since when it could not be avoided has not been found out".to_owned(),
            Some(Doom::Since { event, cycle, is_first }) => {
                let proved = if is_first { "" } else { " (not proved before that event)" };
                format!("unavoidable since event {event}, cycle {cycle}{proved}")
            }
            Some(Doom::Avoidable) => {
                "it can be avoided even now: some order of delivery, without new accesses, ends it".to_owned()
            }
            Some(Doom::Open(tried)) => {
                format!("whether it can be avoided even now was not decided in {tried} deliveries")
            }
        }
    }
}

/// What is wrong with a machine that has come to rest with work left, or in which a transaction has become too old;
/// `None` if all is well: nothing is dead, and nothing too old.
#[must_use]
pub fn diagnose(machine: &Machine) -> Option<Diagnosis> {
    let edges = machine.wait_for_graph();
    let graph = Graph::new(&edges);
    let dead = graph.dead();
    let stuck = machine.is_stuck();
    let mut diagnosis = Diagnosis {
        verdict: Verdict::Unknown,
        event: machine.event(),
        cycle: machine.time_base().cycle(machine.tick()),
        complete: stuck,
        transactions: transactions(machine, &edges, &dead),
        warps: dead.iter().filter(|party| matches!(party, Party::Warp(..))).count() as u64,
        sentences: Vec::new(),
        is_circle: false,
        others: 0,
        is_stored: false,
        notes: machine.folded_note().into_iter().collect(),
        doom: None,
        edges: Vec::new(),
        dead: BTreeSet::new(),
    };
    if dead.is_empty() {
        let Some(overdue) = machine.overdue() else {
            // At rest with work left, but not for anything that the graph knows; or spinning.
            diagnosis.edges = edges;
            let spins = !stuck && spinning::judge(machine, &mut diagnosis);
            return (stuck || spins).then_some(diagnosis);
        };
        onward::judge(machine, overdue, &graph, &mut diagnosis);
    } else if let Some((circle, others)) = graph.circle(&dead) {
        diagnosis.verdict = Verdict::Deadlock;
        diagnosis.is_circle = true;
        diagnosis.others = others;
        diagnosis.sentences = circle.into_iter().map(|edge| Sentence::new(edge, machine)).collect();
    } else if let Some((chain, others)) = graph.chain_to_lost(&dead) {
        let is_wake_up = chain.last().is_some_and(|edge| edge.to.is_wake_up());
        diagnosis.verdict = if is_wake_up { Verdict::LostWakeUp } else { Verdict::LostMessage };
        diagnosis.others = others;
        diagnosis.sentences = chain.into_iter().map(|edge| Sentence::new(edge, machine)).collect();
    }
    diagnosis.notes.extend(warps(machine, &dead));
    diagnosis.edges = edges;
    diagnosis.dead = dead;
    Some(diagnosis)
}

/// Warps that are named at most.
const NAMED: usize = 8;

/// Which warps can never go on, where there are several.
fn warps(machine: &Machine, dead: &BTreeSet<Party>) -> Option<String> {
    let components = machine.components();
    let warps: Vec<String> = dead
        .iter()
        .filter(|party| matches!(party, Party::Warp(..)))
        .map(|warp| warp.text(components))
        .collect();
    let more = warps.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let named = warps.get(..NAMED.min(warps.len())).unwrap_or_default().join(", ");
    (warps.len() > 1).then(|| format!("those that can never go on are {named}{more}"))
}

/// The transactions that can never end: of warps that wait for what can never go on, and, where accesses are made by hand, without
/// a warp, those for whose sake a node does what can never go on.
fn transactions(machine: &Machine, edges: &[Wait], dead: &BTreeSet<Party>) -> Vec<TxnNumber> {
    let is_of_warp = |edge: &&Wait| matches!(edge.from, Party::Warp(..)) && dead.contains(&edge.to);
    let is_by_hand = |edge: &&Wait| {
        dead.contains(&edge.from) && edge.txn.is_some_and(|number| machine.is_in_flight_by_hand(number))
    };
    let ending = edges.iter().filter(|edge| is_of_warp(edge) || is_by_hand(edge));
    let numbers: BTreeSet<TxnNumber> = ending.filter_map(|edge| edge.txn).collect();
    numbers.into_iter().collect()
}
