//! The chain of what a transaction waits for, from its L1 outwards to the message that carries it.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Machine, Transaction};
use crate::model::address::Address;
use crate::model::component::ComponentId;
use crate::model::inspect::{TransactionView, WaitLink};
use crate::model::message::{MessageKind, TxnNumber};
use crate::parts::channel::{Channel, Ready, WAITS};
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
            for lane in channel.lanes.iter().filter(|lane| !lane.is_empty()) {
                let waiting = lane.outgoing.iter().map(|(ready, message)| (Err(*ready), message));
                let passed = lane.beyond_switch();
                let flying = lane
                    .incoming
                    .iter()
                    .enumerate()
                    .map(|(nth, (tick, message))| (Ok((*tick, nth >= passed)), message));
                for (at, message) in waiting.chain(flying) {
                    if message.number != Some(number) || !message.range.contains(address) {
                        continue;
                    }
                    let to = self.fixed.components.path(message.to);
                    let due = self.fixed.time.cycle(at.map_or(self.now, |(tick, _)| tick));
                    let text = match (at, lane.blocked, at.is_ok_and(|(tick, _)| tick > self.now)) {
                        (Err(Ready::Read(_)), ..) => {
                            format!("{} to {to} waits for the memory here to read it", message.kind.name())
                        }
                        (Err(Ready::At(_)), ..) => {
                            format!("{} to {to} waits for a free buffer there", message.kind.name())
                        }
                        (Ok((WAITS, _)), ..) => {
                            format!("{} for {to} waits until its link is free", message.kind.name())
                        }
                        (Ok((_, true)), ..) => {
                            format!(
                                "{} for {to} is on its way to the switch, due at {due}",
                                message.kind.name()
                            )
                        }
                        (Ok(_), true, _) => {
                            format!("{} to {to} waits at the head of its buffer", message.kind.name())
                        }
                        (Ok(_), false, true) => {
                            format!("{} is on its way to {to}, due at {due}", message.kind.name())
                        }
                        (Ok(_), false, false) => {
                            format!("{} to {to} is next to be taken", message.kind.name())
                        }
                    };
                    let link = WaitLink { at: message.from, text, since: None };
                    if !matches!(message.kind, MessageKind::GrantAck | MessageKind::EvictAck) {
                        return Some(link);
                    }
                    trailing = trailing.or(Some(link));
                }
            }
        }
        trailing
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
