//! The wait-for graph as it is: warps, blocks under way, MSHRs, ways and lanes. What can go on by itself waits for
//! nothing and has no edge out of it.

use std::collections::BTreeMap;

use super::{Machine, Transaction};
use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::model::message::{Message, MessageKind, Network, TxnNumber};
use crate::model::time::Tick;
use crate::model::wait::{Doing, Party, Wait};
use crate::model::warp::WarpState;
use crate::parts::agent::{Agent, Warp, Work};
use crate::parts::channel::{Lane, Ready};
use crate::protocol::node::tag_miss_handler::Lack;
use crate::protocol::node::{Keeper, Need, Node, Stand};

impl Machine {
    /// Every edge of the wait-for graph, in a fixed order.
    #[must_use]
    pub fn wait_for_graph(&self) -> Vec<Wait> {
        let mut edges = Vec::new();
        let in_flight: BTreeMap<TxnNumber, &Transaction> =
            self.txns.values().map(|txn| (txn.number, txn)).collect();
        for agent in &self.agents {
            for (slot, warp) in agent.warps.iter().enumerate() {
                self.warp_waits(agent, (slot as u32, warp), &in_flight, &mut edges);
            }
        }
        for node in &self.nodes {
            for stand in node.stands() {
                self.stand_waits(node, &stand, &mut edges);
            }
            self.room_waits(node, &mut edges);
        }
        for (index, channel) in self.laden() {
            for lane in 0..channel.lanes.len() {
                self.lane_waits(index, lane, &mut edges);
            }
        }
        dedup(&mut edges);
        edges
    }

    /// The oldest transaction in flight and when it was issued.
    #[must_use]
    pub fn oldest_transaction(&self) -> Option<(TxnNumber, Tick)> {
        self.txns.oldest_first().next().map(|txn| (txn.number, txn.issued))
    }

    /// The oldest transaction in flight, if it has outlived its limit.
    #[must_use]
    pub fn overdue(&self) -> Option<TxnNumber> {
        let limit = self.fixed.time.tick_of_cycle(self.transaction_limit?);
        let (number, issued) = self.oldest_transaction()?;
        (self.now.saturating_sub(issued) > limit).then_some(number)
    }

    /// A transaction may take so many cycles before it counts as overdue; `None` for no limit.
    pub fn set_transaction_limit(&mut self, cycles: Option<u64>) {
        (self.transaction_limit, self.overdue_after) = (cycles, 0);
    }

    /// Whether nothing can happen any more, though work is left.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        let is_over = if self.goes_by_choice() { self.deliverable().is_empty() } else { self.is_at_rest() };
        is_over && self.plan.due > self.event && !self.is_quiet()
    }

    /// What about the machine itself makes a deadlock possible: that its virtual networks share their buffers.
    #[must_use]
    pub fn folded_note(&self) -> Option<String> {
        self.fixed.folded.then(|| {
            "requests, probes and replies share one virtual network here: `network.virtual_networks = 1`"
                .to_owned()
        })
    }

    /// Messages on their way or waiting to be sent: from, to, type and range.
    #[must_use]
    pub fn messages_under_way(&self) -> Vec<(ComponentId, ComponentId, MessageKind, Range)> {
        let lanes = self.laden().flat_map(|(_, channel)| &channel.lanes);
        let messages = lanes.flat_map(|lane| {
            let outgoing = lane.outgoing.iter().map(|(_, message)| message);
            lane.incoming.iter().map(|(_, message)| message).chain(outgoing)
        });
        messages.map(|message| (message.from, message.to, message.kind, message.range)).collect()
    }

    fn warp_waits(
        &self,
        agent: &Agent,
        (slot, warp): (u32, &Warp),
        in_flight: &BTreeMap<TxnNumber, &Transaction>,
        edges: &mut Vec<Wait>,
    ) {
        let from = Party::Warp(agent.config.id, slot);
        let Some(l1) = self.nodes.get(agent.l1) else { return };
        let mut wait = |to: Party, text: String, block: Option<Address>, txn: Option<TxnNumber>| {
            let event = txn.and_then(|txn| in_flight.get(&txn)).map(|txn| txn.issued_at);
            edges.push(Wait { from, to, text, since: warp.since, block, txn, event });
        };
        match warp.state {
            WarpState::MshrFull => {
                wait(Party::Mshrs(l1.id()), "waits for a free MSHR of its L1".into(), None, None);
            }
            WarpState::LinkFull => {
                for &parent in &l1.config.parents {
                    let to = self.lane_party(l1.id(), parent, Network::Request);
                    let text = format!("waits for room towards {}", self.fixed.components.path(parent));
                    wait(to, text, None, None);
                }
            }
            WarpState::Barrier => {
                for (other, late) in agent.warps.iter().enumerate() {
                    let is_mate = shares_barrier(warp, late);
                    if is_mate && late.state != WarpState::Barrier {
                        let to = Party::Warp(agent.config.id, other as u32);
                        wait(to, format!("waits at a barrier for warp {other}"), None, None);
                    }
                }
            }
            WarpState::Translation
            | WarpState::FarFault
            | WarpState::ProtectionFault
            | WarpState::TlbBlocked => {
                if let Some((to, text)) = self.translation_waits(agent, slot, warp) {
                    wait(to, text, None, None);
                }
            }
            WarpState::Memory | WarpState::Fence => {
                // A fence waits for what is not translated, too.
                if warp.untranslated().is_some()
                    && let Some((to, text)) = self.translation_waits(agent, slot, warp)
                {
                    wait(to, text, None, None);
                }
                for &number in &warp.waits {
                    let (to, text, block) =
                        access_wait(l1, (agent.config.id, slot), (number, in_flight.get(&number).copied()));
                    wait(to, text, block, Some(number));
                }
            }
            // Units are never held for long.
            WarpState::None
            | WarpState::Ready
            | WarpState::Running
            | WarpState::SimdFull
            | WarpState::Done => {}
        }
    }

    pub(super) fn stand_waits(&self, node: &Node, stand: &Stand, edges: &mut Vec<Wait>) {
        let at = node.id();
        let from = Party::Block { at, block: stand.block, doing: stand.doing };
        for need in &stand.needs {
            for (to, text) in self.meet(node, *need) {
                let (block, txn, since) = (Some(stand.block), stand.txn, stand.since);
                edges.push(Wait { from, to, text, since, block, txn, event: None });
            }
        }
    }

    /// MSHRs and ways, and those that keep them.
    pub(super) fn room_waits(&self, node: &Node, edges: &mut Vec<Wait>) {
        let wanted: Vec<u32> = node
            .stands()
            .iter()
            .flat_map(|stand| &stand.needs)
            .filter_map(|need| if let Need::Way(set) = need { Some(*set) } else { None })
            .collect();
        for set in wanted {
            way_waits(node, set, edges);
            for keeper in &node.way_holders(set) {
                self.keeper_needs(node, keeper, Doing::KeepsWay, edges);
            }
        }
        mshr_waits(node, edges);
        for keeper in &full_mshrs(node) {
            self.keeper_needs(node, keeper, Doing::KeepsMshr, edges);
        }
    }

    /// What must end before a block lets go of its MSHR or way.
    pub(super) fn keeper_waits(&self, node: &Node, block: Address, doing: Doing, edges: &mut Vec<Wait>) {
        let holders = match doing {
            Doing::KeepsMshr => full_mshrs(node),
            _ => node.way_holders(node.set_of(block)),
        };
        for keeper in holders.iter().filter(|(kept, _, _)| *kept == block) {
            self.keeper_needs(node, keeper, doing, edges);
        }
    }

    fn keeper_needs(&self, node: &Node, keeper: &Keeper, doing: Doing, edges: &mut Vec<Wait>) {
        let (block, since, needs) = keeper;
        let from = Party::Block { at: node.id(), block: *block, doing };
        for need in needs {
            let met = self.meet(node, *need).into_iter();
            edges.extend(met.map(|(to, text)| held(from, to, text, *since, *block)));
        }
    }

    /// The head of a lane that its receiver cannot take.
    pub(super) fn lane_waits(&self, index: usize, lane: usize, edges: &mut Vec<Wait>) {
        let Some(channel) = self.channels.get(index) else { return };
        let come = channel.lanes.get(lane).filter(|lane| lane.head_due().is_some());
        let Some((ready, head)) = come.and_then(|lane| lane.incoming.front()) else { return };
        if self.can_take(channel.to, head) {
            return;
        }
        let (Some(receiver), from) = (self.nodes.get(channel.to), head.from) else { return };
        let party = self.party_of(from, head.to, lane);
        let untaken = format!(
            "has {} for block {} at its head, which {} does not take before",
            a(head.kind.name()),
            head.range.start,
            self.fixed.components.path(head.to)
        );
        let mut wait = |to: Party, what: &str| {
            let text = format!("{untaken} {what}");
            let (since, block, txn, event) = (*ready, Some(head.range.start), head.number, Some(head.cause));
            edges.push(Wait { from: party, to, text, since, block, txn, event });
        };
        self.onward_waits(channel.to, head, &mut wait);
        receiver_waits(receiver, head, &mut wait);
    }

    /// What the receiver of `head` has no room to send on.
    fn onward_waits(&self, receiver: usize, head: &Message, wait: &mut impl FnMut(Party, &str)) {
        let Some(node) = self.nodes.get(receiver) else { return };
        let out = self.fixed.out.get(receiver).into_iter().flatten();
        for out in out.filter_map(|&index| self.channels.get(index as usize)) {
            for (lane, queue) in out.lanes.iter().enumerate() {
                let Some(next) = self.nodes.get(out.to) else { continue };
                let counts = self.fixed.folded
                    || head.kind.network() == Network::Request
                    || (head.kind.network() == Network::Probe && lane != Network::Request as usize);
                if queue.full && counts && !may_leave(queue) {
                    let to = self.party_of(node.id(), next.id(), lane);
                    wait(to, &format!("it has room towards {}", self.fixed.components.path(next.id())));
                }
            }
        }
    }
}

/// What the receiver of `head` lacks itself, or has to end first.
fn receiver_waits(receiver: &Node, head: &Message, wait: &mut impl FnMut(Party, &str)) {
    let at = receiver.id();
    if let Some(lack) = receiver.lack(head) {
        let room = match lack {
            Lack::PendingQueue => "its pending queue has room",
            Lack::Scoreboard => "its scoreboard has room",
        };
        wait(Party::Mshrs(at), room);
        return;
    }
    if head.kind.network() == Network::Request && !receiver.accepts(head) {
        wait(Party::Mshrs(at), "it has a free MSHR");
    }
    if !receiver.sinks(head) {
        let block = head.range.start.block(receiver.config.block);
        let stands = receiver.stands_at(block).into_iter();
        for stand in stands.filter(|stand| matches!(stand.doing, Doing::Serves | Doing::Evicts)) {
            let to = Party::Block { at, block: stand.block, doing: stand.doing };
            wait(to, "it has done with the block");
        }
    }
}

/// With its article.
fn a(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// Whether what waits at the sending end only waits for memory, or for software.
fn may_leave(lane: &Lane) -> bool {
    lane.incoming.is_empty() && lane.outgoing.iter().all(|(ready, _)| !matches!(ready, Ready::At(_)))
}

/// A node's MSHRs, of which none is free, wait for those that have them.
pub(super) fn mshr_waits(node: &Node, edges: &mut Vec<Wait>) {
    let (at, holders) = (node.id(), full_mshrs(node));
    edges.extend(holders.iter().map(|keeper| kept(Party::Mshrs(at), at, keeper, Doing::KeepsMshr)));
}

/// The ways of a set wait for those that have them.
pub(super) fn way_waits(node: &Node, set: u32, edges: &mut Vec<Wait>) {
    let (at, holders) = (node.id(), node.way_holders(set));
    edges.extend(holders.iter().map(|keeper| kept(Party::Ways(at, set), at, keeper, Doing::KeepsWay)));
}

/// A node's MSHRs, or the ways of a set, wait for a block that has one.
fn kept(room: Party, at: ComponentId, (block, since, _): &Keeper, doing: Doing) -> Wait {
    let what = if doing == Doing::KeepsMshr { "have one for" } else { "has a way for" };
    let text = format!("{what} block {block}, which is not done");
    held(room, Party::Block { at, block: *block, doing }, text, *since, *block)
}

fn held(from: Party, to: Party, text: String, since: Tick, block: Address) -> Wait {
    Wait { from, to, text, since, block: Some(block), txn: None, event: None }
}

/// The blocks that keep a node's MSHRs, if none is free.
fn full_mshrs(node: &Node) -> Vec<Keeper> {
    let holders = node.mshr_holders();
    if node.is_tagged() {
        return holders;
    }
    let is_full = node.config.mshrs > 0 && holders.len() as u32 >= node.config.mshrs;
    if is_full { holders } else { Vec::new() }
}

/// Each edge once.
fn dedup(edges: &mut Vec<Wait>) {
    let mut seen = std::collections::BTreeSet::new();
    edges.retain(|edge| seen.insert((edge.from, edge.to)));
}

/// What a warp, of a unit and slot, waits for that waits for a transaction: what its L1 does about it, or, once that has ended, to be
/// told.
fn access_wait(
    l1: &Node,
    (unit, slot): (ComponentId, u32),
    (number, txn): (TxnNumber, Option<&Transaction>),
) -> (Party, String, Option<Address>) {
    let Some(txn) = txn else {
        let text = format!("waits for transaction {}, which has ended", number.0);
        return (Party::WakeUp(unit, slot), text, None);
    };
    let (name, start) = (txn.name(), txn.range.start);
    let block = start.block(l1.config.block);
    let text = format!("waits for its {name} of {start} (transaction {})", number.0);
    (Party::Block { at: l1.id(), block, doing: access_stand(l1, block) }, text, Some(block))
}

/// Where an access that an L1 has taken stands: behind others, or handed on.
fn access_stand(l1: &Node, block: Address) -> Doing {
    let stands = l1.stands_at(block);
    let has = |doing: Doing| stands.iter().any(|stand| stand.block == block && stand.doing == doing);
    if has(Doing::Queues) { Doing::Queues } else { Doing::Forwards }
}

fn shares_barrier(one: &Warp, other: &Warp) -> bool {
    match (one.work, other.work) {
        (Some(Work::Block { task, block, .. }), Some(Work::Block { task: t, block: b, .. })) => {
            (task, block) == (t, b)
        }
        _ => false,
    }
}
