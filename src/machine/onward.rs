//! On from where a chain of waiting ends: along the wait-for graph, as far as it goes.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::Machine;
use super::waits::{mshr_waits, way_waits};
use crate::model::address::Address;
use crate::model::message::{Network, TxnNumber};
use crate::model::wait::{Doing, Party, Wait, WaitLink};
use crate::protocol::node::{Busy, Node, Stand, WaitsFor};

/// Steps of a chain of waiting at most; longer ones are cycles.
pub(super) const MAX_CHAIN: usize = 24;

/// Where a chain goes on.
#[derive(Clone, Copy, Debug)]
pub struct Onward {
    pub from: Party,
    /// What this one waits for has been said.
    pub is_said: bool,
}

impl Onward {
    /// From what a node does about the block of an address.
    pub fn of_busy(node: &Node, address: Address, busy: &Busy) -> Option<Self> {
        let (at, block) = (node.id(), node.block_of(address));
        let from = match busy.waits {
            WaitsFor::Mshr => Party::Mshrs(at),
            WaitsFor::Way(set) => Party::Ways(at, set),
            WaitsFor::Turn(head) => Party::Block { at, block: head, doing: Doing::Queues },
            _ => {
                let stands = node.stands_at(block);
                let own = || stands.iter();
                let is_asked = |doing: Doing| doing != Doing::Queues;
                let stand = own()
                    .find(|stand| is_asked(stand.doing) && stand.txn == busy.number)
                    .or_else(|| own().find(|stand| is_asked(stand.doing)))
                    .or_else(|| own().next())?;
                Party::Block { at, block: stand.block, doing: stand.doing }
            }
        };
        Some(Self { from, is_said: matches!(from, Party::Block { .. }) })
    }
}

/// Where the edges of the wait-for graph lead that have been followed: many chains come down to the same.
pub type Followed = BTreeMap<Party, Option<Wait>>;

impl Machine {
    /// Adds to a chain what comes after its end. Returns whose message that comes down to.
    pub(super) fn go_on(
        &self,
        start: Onward,
        own: Option<TxnNumber>,
        links: &mut Vec<WaitLink>,
        followed: &mut Followed,
    ) -> Option<TxnNumber> {
        let (mut party, mut block) = (start.from, None);
        let mut seen = SmallVec::<[Party; 8]>::new();
        while links.len() < MAX_CHAIN {
            if seen.contains(&party) {
                if let Some(last) = links.last_mut() {
                    let party = party.text(&self.fixed.components);
                    last.text.push_str(&format!(", and so it comes back to {party}"));
                }
                return None;
            }
            let is_said = start.is_said && seen.is_empty();
            seen.push(party);
            let Some(edge) = followed.entry(party).or_insert_with(|| self.edge_of(party)) else {
                let (link, number) = self.in_lane(party, block, own)?;
                links.push(link);
                return number;
            };
            if edge.to.is_lost() || !is_said && !is_within(edge) {
                links.push(self.link_of(edge));
            }
            (party, block) = (edge.to, edge.block);
        }
        None
    }

    /// The edge of the wait-for graph that leads away from a party and is the oldest.
    fn edge_of(&self, party: Party) -> Option<Wait> {
        let mut edges = Vec::new();
        match party {
            Party::Mshrs(at) => mshr_waits(self.node(at)?, &mut edges),
            Party::Ways(at, set) => way_waits(self.node(at)?, set, &mut edges),
            Party::Block { at, block, doing: doing @ (Doing::KeepsMshr | Doing::KeepsWay) } => {
                self.keeper_waits(self.node(at)?, block, doing, &mut edges);
            }
            Party::Block { at, block, doing } => {
                let node = self.node(at)?;
                let is_it = |stand: &Stand| (stand.block, stand.doing) == (block, doing);
                for stand in node.stands_at(block).into_iter().filter(is_it) {
                    self.stand_waits(node, &stand, &mut edges);
                }
            }
            Party::Lane { .. } => {
                if let Some((channel, lane)) = self.lane_of(party) {
                    self.lane_waits(channel, lane, &mut edges);
                }
            }
            Party::Warp(..) | Party::Lost(..) | Party::WakeUp(..) | Party::Arrival(..) | Party::Page(..) => {}
        }
        edges.into_iter().filter(|edge| edge.from == party).min_by_key(|edge| edge.since)
    }

    fn lane_of(&self, party: Party) -> Option<(usize, usize)> {
        let Party::Lane { from, to, network } = party else { return None };
        let sender = (*self.fixed.node_of.get(from.index())?)?;
        let channel = self.channel_between(sender, to)?;
        let lane = network.map_or(Some(0), |network| Network::ALL.iter().position(|one| *one == network))?;
        Some((channel, lane))
    }

    /// Where the message about a block is that a lane carries; if there is none, where its head is.
    fn in_lane(
        &self,
        party: Party,
        block: Option<Address>,
        own: Option<TxnNumber>,
    ) -> Option<(WaitLink, Option<TxnNumber>)> {
        let (channel, lane) = self.lane_of(party)?;
        let channel = self.channels.get(channel)?;
        let node = self.nodes.get(channel.from)?;
        let places = || channel.lanes.get(lane).into_iter().flat_map(|lane| lane.places(self.now));
        let is_about = |at: Address| {
            places().find(|(_, message)| node.block_of(message.range.start) == node.block_of(at))
        };
        let head = || places().find(|(place, _)| place.is_sent()).or_else(|| places().next());
        let (place, message) = block.and_then(is_about).or_else(head)?;
        Some((self.standing(channel, place, message, own), message.number))
    }

    fn link_of(&self, edge: &Wait) -> WaitLink {
        let subject = match edge.from {
            Party::Block { block, .. } => format!("block {block}"),
            Party::Mshrs(_) => "its MSHRs".to_owned(),
            Party::Ways(_, set) => format!("set {set}"),
            party => party.text(&self.fixed.components),
        };
        let text = format!("{subject} {}", edge.text);
        WaitLink { at: edge.from.component(), text, since: Some(edge.since) }
    }
}

/// Whether an edge leads to something else that the same node does about the same block, of which the next edge tells more.
fn is_within(edge: &Wait) -> bool {
    let place = |party: Party| match party {
        Party::Block { at, block, .. } => Some((at, block)),
        _ => None,
    };
    place(edge.from).is_some() && place(edge.from) == place(edge.to)
}
