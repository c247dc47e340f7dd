//! The chain of what a transaction waits for, from its L1 outwards to the message that carries it.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Machine, Transaction};
use crate::model::address::Address;
use crate::model::component::ComponentId;
use crate::model::inspect::{TransactionView, WaitLink};
use crate::model::message::{Message, MessageKind, TxnNumber};
use crate::model::time::Tick;
use crate::parts::channel::{Channel, Lane, Place};
use crate::parts::link::Link;
use crate::protocol::node::WaitsFor;

/// Steps of a chain of waiting at most; longer ones are cycles.
const MAX_CHAIN: usize = 24;

/// The channels in which transactions have messages under way.
pub(super) type Transit = FxHashMap<TxnNumber, SmallVec<[usize; 2]>>;

impl Machine {
    /// Follows an address from a node outwards: who waits for whom.
    pub(super) fn chain(
        &self,
        from: ComponentId,
        address: Address,
        number: Option<TxnNumber>,
        transit: Option<&Transit>,
    ) -> Vec<WaitLink> {
        let mut links = Vec::new();
        let mut at = from;
        let mut seen = BTreeSet::new();
        // Whose message it comes down to: that of the transaction that is ahead.
        let mut carrier = number;
        let own = self.in_transit(address, number, transit);
        while links.len() < MAX_CHAIN && seen.insert(at) {
            let Some(node) = self.node(at) else { break };
            let Some(view) = node.block_view(address, &self.fixed.components) else { break };
            let busy = node.busy(address);
            let mine = busy.iter().find(|busy| number.is_some() && busy.number == number).or(busy.first());
            let Some(mine) = mine else { break };
            if own.is_some() && mine.number != number {
                // What is ahead there does not matter before its own message has come.
                break;
            }
            let doing = view.doing.unwrap_or_default();
            let ahead = match mine.number {
                Some(other) if number.is_some_and(|number| number != other) => {
                    carrier = Some(other);
                    format!(" for transaction {}, which is ahead", other.0)
                }
                _ => String::new(),
            };
            let text = format!("block {} {doing}{ahead}", view.range.start);
            links.push(WaitLink { at, text, since: Some(mine.since) });
            at = match &mine.waits {
                WaitsFor::Parent(parent, _) => *parent,
                WaitsFor::Children(children, _) => match children.first() {
                    Some(child) => *child,
                    None => break,
                },
                WaitsFor::Ack(_)
                | WaitsFor::PeerData(_)
                | WaitsFor::Mshr
                | WaitsFor::Way(_)
                | WaitsFor::Others
                | WaitsFor::Purge
                | WaitsFor::Turn(_) => break,
            };
        }
        links.extend(own.or_else(|| self.in_transit(address, carrier, transit)));
        links
    }

    /// Where all messages are that are under way.
    pub(super) fn transit(&self) -> Transit {
        let mut transit = Transit::default();
        for (index, channel) in self.laden() {
            for lane in channel.lanes.iter().filter(|lane| !lane.is_empty()) {
                let messages = lane.outgoing.iter().map(|(_, message)| message);
                let messages = messages.chain(lane.incoming.iter().map(|(_, message)| message));
                for number in messages.filter_map(|message| message.number) {
                    let channels = transit.entry(number).or_default();
                    if channels.last() != Some(&index) {
                        channels.push(index);
                    }
                }
            }
        }
        transit
    }

    /// The message that carries a transaction now, if one is on its way.
    /// Without `transit`, which is worth its while for many, all channels are looked through.
    fn in_transit(
        &self,
        address: Address,
        number: Option<TxnNumber>,
        transit: Option<&Transit>,
    ) -> Option<WaitLink> {
        let number = number?;
        let channels: Box<dyn Iterator<Item = &Channel>> = match transit {
            Some(transit) => {
                let known = transit.get(&number)?;
                Box::new(known.iter().filter_map(|index| self.channels.get(*index)))
            }
            None => Box::new(self.laden().map(|(_, channel)| channel)),
        };
        // What only acknowledges is not what it waits for, as long as there is another.
        let mut trailing = None;
        for channel in channels {
            for (place, message) in channel.lanes.iter().flat_map(Lane::places) {
                if message.number != Some(number) || !message.range.contains(address) {
                    continue;
                }
                let link = self.standing(channel, place, message);
                if !matches!(message.kind, MessageKind::GrantAck | MessageKind::EvictAck) {
                    return Some(link);
                }
                trailing = trailing.or(Some(link));
            }
        }
        trailing
    }

    /// Where a message is, and what it waits for there.
    fn standing(&self, channel: &Channel, place: Place, message: &Message) -> WaitLink {
        let (kind, to) = (message.kind.name(), self.fixed.components.path(message.to));
        let (mut since, cycle) = (None, |tick: Tick| self.fixed.time.cycle(tick));
        let text = match place {
            Place::Reading => format!("{kind} to {to} waits for the memory here to read it"),
            Place::NoCredit => format!("{kind} to {to} waits for a free buffer there"),
            Place::WaitsForFirst | Place::WaitsForSecond => {
                let is_first = place == Place::WaitsForFirst;
                let link = if is_first { channel.path.first } else { channel.path.last() };
                since = self.links.get(link).map(Link::busy_since);
                format!("{kind} for {to} waits until {} is free, which is full", self.link_name(link))
            }
            Place::ToSwitch(due) => {
                format!("{kind} for {to} is on its way to the switch, due at {}", cycle(due))
            }
            Place::Blocked => format!("{kind} to {to} waits at the head of its buffer"),
            Place::Coming(due) if due > self.now => {
                format!("{kind} is on its way to {to}, due at {}", cycle(due))
            }
            Place::Coming(_) => format!("{kind} to {to} is next to be taken"),
        };
        WaitLink { at: message.from, text, since }
    }

    fn link_name(&self, link: usize) -> &str {
        let shown = self.fixed.visible_links.get(link).and_then(Option::as_ref);
        shown.map_or("its link", |(id, _, _)| self.fixed.components.path(*id))
    }

    /// Why what is to go over a link does not: since when it has had no pause, and what waits longest for it.
    pub(super) fn why_link(&self, component: ComponentId) -> Option<Vec<WaitLink>> {
        let mut shown = self.fixed.visible_links.iter();
        let index = shown.position(|link| link.as_ref().is_some_and(|(id, _, _)| *id == component))?;
        let link = self.links.get(index)?;
        let uses = |channel: &&Channel| channel.path.first == index || channel.path.second == Some(index);
        let waits = |channel: &Channel, place: Place| match place {
            Place::NoCredit | Place::WaitsForFirst => channel.path.first == index,
            Place::WaitsForSecond | Place::Blocked => channel.path.last() == index,
            Place::Reading | Place::ToSwitch(_) | Place::Coming(_) => false,
        };
        let mut waiting = Vec::new();
        for channel in self.laden().map(|(_, channel)| channel).filter(uses) {
            let places = channel.lanes.iter().flat_map(Lane::places);
            let placed = places.filter(|(place, _)| waits(channel, *place));
            waiting.extend(placed.map(|(place, message)| (channel, place, message)));
        }
        let mut links = Vec::new();
        if link.is_busy(self.now) {
            let text = match waiting.len() {
                0 => "is busy, and nothing waits for it".to_owned(),
                1 => "is full, and a message waits for it".to_owned(),
                count => format!("is full, and {count} messages wait for it"),
            };
            links.push(WaitLink { at: component, text, since: Some(link.busy_since()) });
        }
        let oldest = waiting.into_iter().min_by_key(|(_, _, message)| message.cause);
        if let Some((channel, place, message)) = oldest {
            links.push(self.standing(channel, place, message));
            if place == Place::NoCredit {
                let lane = channel.lane_of(message.kind.network());
                let sent = channel.lanes.get(lane).into_iter().flat_map(Lane::places);
                let mut sent =
                    sent.skip_while(|(place, _)| matches!(place, Place::NoCredit | Place::Reading));
                links.extend(sent.next().map(|(place, message)| self.standing(channel, place, message)));
            }
        }
        Some(links)
    }

    pub(super) fn transaction_view(
        &self,
        txn: &Transaction,
        transit: Option<&Transit>,
    ) -> Option<TransactionView> {
        let agent = self.agents.get(txn.agent)?;
        let l1 = self.nodes.get(agent.l1)?.id();
        Some(TransactionView {
            number: txn.number,
            agent: agent.config.id,
            warp: txn.warp,
            kind: txn.kind,
            range: txn.range,
            bytes: txn.bytes.clone(),
            issued: txn.issued,
            issued_at: txn.issued_at,
            chain: self.chain(l1, txn.range.start, Some(txn.number), transit),
        })
    }
}
