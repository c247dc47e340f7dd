//! The chain of what a transaction waits for, from its L1 outwards to the message that carries it.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::onward::{Followed, MAX_CHAIN, Onward};
use super::{Machine, Transaction};
use crate::model::address::Address;
use crate::model::bits::Bits;
use crate::model::component::ComponentId;
use crate::model::inspect::TransactionView;
use crate::model::message::{Message, MessageKind, TxnNumber};
use crate::model::text::plural;
use crate::model::time::Tick;
use crate::model::wait::WaitLink;
use crate::parts::channel::{Channel, Place};
use crate::parts::link::Link;
use crate::protocol::node::WaitsFor;

/// Where the messages of transactions that are asked about are.
type Transit = FxHashMap<TxnNumber, Sought>;

/// What is known about the messages of one transaction.
#[derive(Default)]
struct Sought {
    /// The channels that they are in.
    channels: SmallVec<[usize; 2]>,
    /// What it asks for, until the message is found that it waits for.
    missing: Option<Address>,
}

/// Who waits for whom from a node outwards, as far as nodes know: where messages are is looked for once for many of these.
struct Walk {
    address: Address,
    number: Option<TxnNumber>,
    /// The nodes that it has come to.
    nodes: SmallVec<[ComponentId; 8]>,
    links: Vec<WaitLink>,
    /// As many of them as matter before its own message has come: then others are ahead.
    own: usize,
    /// Whose message it comes down to: that of the transaction that is ahead.
    carrier: Option<TxnNumber>,
    /// Where it goes on if there is no such message.
    onward: Option<Onward>,
}

impl Machine {
    /// Follows an address from a node outwards: who waits for whom.
    pub(super) fn chain(
        &self,
        from: ComponentId,
        address: Address,
        number: Option<TxnNumber>,
    ) -> Vec<WaitLink> {
        let walk = self.follow(from, address, number);
        let transit = self.transit([&walk].into_iter());
        self.settle(walk, &transit, &mut Followed::new()).0
    }

    fn follow(&self, from: ComponentId, address: Address, number: Option<TxnNumber>) -> Walk {
        let (mut links, mut own, mut carrier, mut last) = (Vec::new(), None, number, None);
        let (mut at, mut seen) = (from, SmallVec::<[ComponentId; 8]>::new());
        while links.len() < MAX_CHAIN && !seen.contains(&at) {
            seen.push(at);
            let Some(node) = self.node(at) else { break };
            let busy = node.busy(address);
            let mine = busy.iter().find(|busy| number.is_some() && busy.number == number).or(busy.first());
            let Some(mine) = mine else { break };
            if mine.number != number {
                own = own.or(Some(links.len()));
            }
            let ahead = match mine.number {
                Some(other) if number.is_some_and(|number| number != other) => {
                    carrier = Some(other);
                    format!(" for transaction {}, which is ahead", other.0)
                }
                _ => String::new(),
            };
            let (block, doing) = (node.block_of(address), mine.describe(&self.fixed.components));
            let text = format!("block {block} {doing}{ahead}");
            links.push(WaitLink { at, text, since: Some(mine.since) });
            last = Some((node, mine.clone()));
            at = match &mine.waits {
                WaitsFor::Parent(parent, _) => *parent,
                WaitsFor::Children(children, _) => match children.first() {
                    Some(child) => *child,
                    None => break,
                },
                WaitsFor::Ack(_)
                | WaitsFor::Rule(..)
                | WaitsFor::PeerData(_)
                | WaitsFor::Mshr
                | WaitsFor::Way(_)
                | WaitsFor::Others
                | WaitsFor::Purge
                | WaitsFor::Turn(_) => break,
            };
        }
        let own = own.unwrap_or(links.len());
        let onward = last.and_then(|(node, busy)| Onward::of_busy(node, address, &busy));
        Walk { address, number, nodes: seen, links, own, carrier, onward }
    }

    /// The whole chain: a walk, the message that it comes down to, and what that waits for; and whose message stands at
    /// its end, if that is another's.
    fn settle(
        &self,
        mut walk: Walk,
        transit: &Transit,
        followed: &mut Followed,
    ) -> (Vec<WaitLink>, Option<TxnNumber>) {
        let message = |number| self.in_transit((walk.address, walk.number), number, transit);
        let own = message(walk.number);
        if own.is_some() {
            // What is ahead does not matter before its own message has come.
            walk.links.truncate(walk.own);
        }
        let is_own = own.is_some();
        let (mut ahead, onward) = match own.or_else(|| message(walk.carrier)) {
            Some((link, onward)) => {
                walk.links.push(link);
                (walk.carrier.filter(|_| !is_own), onward)
            }
            None => (None, walk.onward),
        };
        if let Some(onward) = onward {
            ahead = self.go_on(onward, walk.number, &mut walk.links, followed).or(ahead);
        }
        (walk.links, ahead.filter(|ahead| walk.number != Some(*ahead)))
    }

    /// Where all messages are that these walks may come down to, in one look at what is under way.
    fn transit<'a>(&self, walks: impl Iterator<Item = &'a Walk>) -> Transit {
        let mut transit = Transit::default();
        let mut near = Bits::new(self.nodes.len() as u32);
        for walk in walks {
            let (Some(own), Some(carrier)) = (walk.number, walk.carrier) else { continue };
            transit.entry(own).or_default().missing = Some(walk.address);
            transit.entry(carrier).or_default();
            let nodes = walk.nodes.iter().filter_map(|node| *self.fixed.node_of.get(node.index())?);
            nodes.for_each(|node| near.set(node as u32, true));
        }
        // Mostly they are among the oldest: few of very many need to be looked up.
        let (first, last) = (transit.keys().min().copied(), transit.keys().max().copied());
        let (Some(first), Some(last)) = (first, last) else { return transit };
        let mut missing = transit.values().filter(|sought| sought.missing.is_some()).count();
        // Mostly they come to one of these nodes, or leave it.
        let is_near = |channel: &Channel| near.get(channel.from as u32) || near.get(channel.to as u32);
        let all = || self.laden();
        let nearest = all().filter(|(_, channel)| is_near(channel));
        for (index, channel) in nearest.chain(all().filter(|(_, channel)| !is_near(channel))) {
            // Who is ahead need not be known of those whose own messages are found.
            if missing == 0 {
                break;
            }
            let mut note = |message: &Message| {
                let Some(number) = message.number.filter(|number| *number >= first && *number <= last) else {
                    return;
                };
                let Some(sought) = transit.get_mut(&number) else { return };
                if sought.channels.last() != Some(&index) {
                    sought.channels.push(index);
                }
                if !is_trailing(message) && sought.missing.take_if(|at| message.range.contains(*at)).is_some()
                {
                    missing -= 1;
                }
            };
            for lane in channel.lanes.iter().filter(|lane| !lane.is_empty()) {
                lane.outgoing.iter().for_each(|(_, message)| note(message));
                lane.incoming.iter().for_each(|(_, message)| note(message));
            }
        }
        transit
    }

    /// The message that carries a transaction now, if one is on its way.
    fn in_transit(
        &self,
        (address, own): (Address, Option<TxnNumber>),
        number: Option<TxnNumber>,
        transit: &Transit,
    ) -> Option<(WaitLink, Option<Onward>)> {
        let number = number?;
        let channels = transit.get(&number)?.channels.iter().filter_map(|index| self.channels.get(*index));
        let mut trailing = None;
        for channel in channels {
            let lanes = channel.lanes.iter().enumerate();
            let places = lanes.flat_map(|(lane, queue)| queue.places(self.now).map(move |at| (lane, at)));
            for (lane, (place, message)) in places {
                if message.number != Some(number) || !message.range.contains(address) {
                    continue;
                }
                let from = self.party_of(message.from, message.to, lane);
                let onward = place.is_stuck().then_some(Onward { from, is_said: false });
                let found = (self.standing(channel, place, message, own), onward);
                if !is_trailing(message) {
                    return Some(found);
                }
                trailing = trailing.or(Some(found));
            }
        }
        trailing
    }

    /// Where a message is, and what it waits for there; and whose it is, if that is not the transaction asked about.
    pub(super) fn standing(
        &self,
        channel: &Channel,
        place: Place,
        message: &Message,
        own: Option<TxnNumber>,
    ) -> WaitLink {
        let other = message.number.filter(|number| own.is_some_and(|own| own != *number));
        let of = other.map_or_else(String::new, |number| format!(" of transaction {}", number.0));
        let (kind, to) = (message.kind.name().to_owned() + &of, self.fixed.components.path(message.to));
        let (mut since, cycle) = (None, |tick: Tick| self.fixed.time.cycle(tick));
        let text = match place {
            Place::Reading if message.has_data => {
                format!("{kind} to {to} waits for the memory here to read its data")
            }
            Place::Reading => format!("{kind} to {to} waits for the memory here to read the tag"),
            Place::Later(due) if message.kind == MessageKind::Flush => {
                format!("{kind} to {to} waits for the software that flushes, until {}", cycle(due))
            }
            Place::Later(due) => {
                format!("{kind} to {to} waits for the memory here, which has read by {}", cycle(due))
            }
            Place::NoCredit => format!("{kind} to {to} waits for a free buffer there"),
            Place::WaitsForFirst | Place::WaitsForSecond => {
                let is_first = place == Place::WaitsForFirst;
                let link = if is_first { channel.path.first } else { channel.path.last() };
                since = self.links.get(link).map(Link::busy_since);
                format!(
                    "{kind} for {to} waits for {}, which has been busy without a pause",
                    self.link_name(link)
                )
            }
            Place::ToSwitch(due) => {
                format!("{kind} for {to} is on its way to the switch, due at {}", cycle(due))
            }
            Place::Blocked => format!("{kind} to {to} waits at the head of its buffer"),
            Place::Behind => format!("{kind} to {to} waits behind others in its buffer"),
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
            Place::Reading | Place::Later(_) | Place::ToSwitch(_) | Place::Behind | Place::Coming(_) => false,
        };
        let mut waiting = Vec::new();
        for channel in self.laden().map(|(_, channel)| channel).filter(uses) {
            let places = channel.lanes.iter().flat_map(|lane| lane.places(self.now));
            let placed = places.filter(|(place, _)| waits(channel, *place));
            waiting.extend(placed.map(|(place, message)| (channel, place, message)));
        }
        let mut links = Vec::new();
        if link.is_busy(self.now) {
            let gpus = self.paging.iter().flat_map(|paging| &paging.gpus);
            let pages = gpus.flat_map(|one| self.moves(one)).filter(|moved| moved.link == component).count();
            let pages = (pages > 0).then(|| format!("{} to go over it", plural(pages as u64, "page")));
            let text = match (waiting.len(), pages) {
                (0, None) => "is busy, and no message waits for it".to_owned(),
                (0, Some(pages)) => format!("is busy, with {pages}"),
                (count, pages) => {
                    let messages = plural(count as u64, "message");
                    let wait = if count == 1 { "waits" } else { "wait" };
                    let pages = pages.map_or_else(String::new, |pages| format!(", with {pages}"));
                    format!("is full, and {messages} {wait} for it{pages}")
                }
            };
            links.push(WaitLink { at: component, text, since: Some(link.busy_since()) });
        }
        let oldest = waiting.into_iter().min_by_key(|(_, _, message)| message.cause);
        if let Some((channel, place, message)) = oldest {
            links.push(self.standing(channel, place, message, None));
            if place == Place::NoCredit {
                let lane = channel.lane_of(message.kind.network());
                let places = channel.lanes.get(lane).into_iter().flat_map(|lane| lane.places(self.now));
                let mut sent = places.filter(|(place, _)| place.is_sent());
                links
                    .extend(sent.next().map(|(place, message)| self.standing(channel, place, message, None)));
            }
        }
        Some(links)
    }

    /// Transactions; the first so many with the chain of what they wait for.
    pub(super) fn transaction_views<'a>(
        &self,
        txns: impl Iterator<Item = &'a Transaction>,
        chained: usize,
    ) -> Vec<TransactionView> {
        let walk = |(nth, txn): (usize, &'a Transaction)| {
            let agent = self.agents.get(txn.agent)?;
            let l1 = self.nodes.get(agent.l1)?.id();
            let walk = (nth < chained).then(|| self.follow(l1, txn.range.start, Some(txn.number)));
            Some((txn, agent.config.id, walk))
        };
        let walks: Vec<_> = txns.enumerate().filter_map(walk).collect();
        let transit = self.transit(walks.iter().filter_map(|(_, _, walk)| walk.as_ref()));
        let mut followed = Followed::new();
        let view = |(txn, agent, walk): (&Transaction, ComponentId, Option<Walk>)| {
            let settled = walk.map(|walk| self.settle(walk, &transit, &mut followed));
            let (chain, ahead) = settled.unwrap_or_default();
            TransactionView {
                number: txn.number,
                agent,
                warp: txn.warp,
                kind: txn.kind,
                range: txn.range,
                bytes: txn.bytes.clone(),
                issued: txn.issued,
                issued_at: txn.issued_at,
                chain,
                ahead,
            }
        };
        walks.into_iter().map(view).collect()
    }
}

/// Whether a message only acknowledges: no transaction waits for it, as long as there is another.
fn is_trailing(message: &Message) -> bool {
    matches!(message.kind, MessageKind::GrantAck | MessageKind::EvictAck)
}
