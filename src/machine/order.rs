//! The machine without its clock: what is connected with what, and what could happen next if any order were allowed.

use super::queue::Event;
use super::transport::lane_network;
use super::{Machine, Transaction};
use crate::model::access::Access;
use crate::model::address::{Address, Range};
use crate::model::choice::Choice;
use crate::model::component::ComponentId;
use crate::model::message::{Message, Network, TxnNumber};
use crate::model::record::What;
use crate::model::warp::NO_WARP;
use crate::parts::port::LaneKey;
use crate::protocol::homes::Homes;
use crate::protocol::node::{Node, Offer};
use crate::protocol::outbox::{About, Outbox, Ticket};

/// Nodes and what connects them, for whoever schedules them otherwise than the timed queue.
#[derive(Clone, Debug)]
pub struct Wiring<'a> {
    pub nodes: &'a [Node],
    /// Sender and receiver of each channel, by index of the node.
    pub channels: Vec<(usize, usize)>,
    /// Messages that a receiver can buffer, per channel and lane; as many may wait at the sender.
    pub buffers: u32,
    /// All virtual networks share one lane of each channel.
    pub folded: bool,
    /// Compute units and cores, each with the index of its L1.
    pub agents: Vec<(ComponentId, usize)>,
    /// Whether loads can be checked against the stores: every L1 is kept coherent.
    pub coherent: bool,
    /// Where pages live.
    pub homes: &'a Homes,
}

impl Machine {
    /// Its nodes and what connects them.
    #[must_use]
    pub fn wiring(&self) -> Wiring<'_> {
        Wiring {
            nodes: &self.nodes,
            channels: self.channels.iter().map(|channel| (channel.from, channel.to)).collect(),
            buffers: self.fixed.spec.network.buffers.max(1),
            folded: self.fixed.folded,
            agents: self.agents.iter().map(|agent| (agent.config.id, agent.l1)).collect(),
            coherent: self.fixed.coherent,
            homes: &self.homes,
        }
    }
}

impl Machine {
    /// Every delivery that could happen next if any order were allowed.
    #[must_use]
    pub fn choices(&self) -> Vec<Choice> {
        let lanes = self.channels.iter().flat_map(|channel| {
            (0..channel.lanes.len()).filter_map(move |lane| Some((channel, channel.oldest(lane)?)))
        });
        lanes
            .filter(|(channel, message)| self.can_take(channel.to, message))
            .map(|(_, message)| Choice::Deliver {
                from: message.from,
                to: message.to,
                network: self.network_of(message),
            })
            .collect()
    }

    /// A cycle passes with each choice. What was planned for before it has passed comes later.
    pub(super) fn pass_cycle(&mut self) {
        self.now += self.fixed.time.ticks_per_cycle;
        while self.queue.next_tick().is_some_and(|tick| tick < self.now) {
            let Some((_, event)) = self.queue.pop() else { return };
            if let Event::Agent(agent) = event
                && let Some(planned) = self.agent_wake.get_mut(agent as usize)
            {
                *planned = Some(self.now);
            }
            self.queue.push(self.now, event);
        }
    }

    /// Makes a choice, as part of the event under way. What cannot happen now is a violation.
    pub(super) fn apply(&mut self, choice: &Choice, out: &mut Outbox) {
        let done = match choice {
            Choice::Deliver { from, to, network } => self.deliver_oldest(*from, *to, *network, out),
            Choice::Access { by, access } => self.issue_by_hand(*by, access, out),
            Choice::Evict { at, block } => self.evict_by_hand(*at, *block, out),
            Choice::Acquire { by } => self.acquire_by_hand(*by, out),
        };
        if done.is_none() {
            let text = format!("{} is not possible here", choice.text(&self.fixed.components));
            let at = match choice {
                Choice::Deliver { to, .. } => *to,
                Choice::Access { by, .. } | Choice::Acquire { by } => *by,
                Choice::Evict { at, .. } => *at,
            };
            self.violate(at, About::default(), "choice", &text, out);
        }
    }

    /// By which network a choice names a message: that of its lane, or its own where all share one.
    fn network_of(&self, message: &Message) -> Network {
        if self.fixed.folded { message.kind.network() } else { lane_network(message, &self.fixed.faults) }
    }

    fn node_of(&self, id: ComponentId) -> Option<usize> {
        *self.fixed.node_of.get(id.index())?
    }

    /// The index of an agent and of its L1.
    fn agent_of(&self, id: ComponentId) -> Option<(usize, usize)> {
        let agent = (*self.fixed.agent_of.get(id.index())?)?;
        Some((agent, self.agents.get(agent)?.l1))
    }

    fn deliver_oldest(
        &mut self,
        from: ComponentId,
        to: ComponentId,
        network: Network,
        out: &mut Outbox,
    ) -> Option<()> {
        let (from, to) = (self.node_of(from)?, self.node_of(to)?);
        let index = self.channels.iter().position(|channel| (channel.from, channel.to) == (from, to))?;
        let channel = self.channels.get(index)?;
        let is_it = |message: &Message| self.network_of(message) == network;
        let mut lanes = 0..channel.lanes.len();
        let lane = lanes.find(|lane| channel.oldest(*lane).is_some_and(is_it))?;
        if !self.can_take(to, channel.oldest(lane)?) {
            return None;
        }
        let key = LaneKey::new(index, lane);
        self.set_held(to, key, false);
        let channel = self.channels.get_mut(index)?;
        let mut message = channel.take_oldest(lane)?;
        if let Some(next) = channel.lanes.get(lane)?.head_due() {
            self.queue.push(next.max(self.now), Event::Deliver(key));
        }
        let waiting = channel.is_waiting(lane).then_some(key);
        self.hand_over(to, &mut message, waiting, out);
        Some(())
    }

    fn issue_by_hand(&mut self, by: ComponentId, access: &Access, out: &mut Outbox) -> Option<()> {
        let (agent, l1) = self.agent_of(by)?;
        let block = self.nodes.get(l1)?.config.block;
        if !self.has_room_below(l1)
            || access.range.end() > access.range.start.block(block).0 + u64::from(block)
        {
            return None;
        }
        if let Some(placed) = self.agents.get(agent).and_then(|agent| agent.place(access.range.start, out)) {
            self.place_page(agent, placed, out);
        }
        let offer = self.nodes.get_mut(l1)?.offer(access, out);
        if offer == Offer::Full {
            return None;
        }
        self.txns_made += 1;
        let number = TxnNumber(self.txns_made);
        let transaction = || Transaction::begin(number, (agent, NO_WARP), access, (self.now, self.event));
        let key = (offer == Offer::Miss).then(|| self.txns.insert(transaction()));
        let (kind, bytes) = (access.kind, &access.bytes);
        out.record(by, About::new(access.range, Some(number)), || What::Issue {
            kind,
            warp: NO_WARP,
            bytes: bytes.clone(),
        });
        self.note_touched(access.range);
        self.note_begun(l1, number, access);
        let ticket = Ticket { warp: NO_WARP, instruction: 0, issued: self.now };
        self.nodes.get_mut(l1)?.access(offer, ticket, access.clone(), (key, Some(number)), out);
        self.agents.get_mut(agent)?.accesses += 1;
        self.after_node(l1, out);
        Some(())
    }

    fn evict_by_hand(&mut self, at: ComponentId, block: Address, out: &mut Outbox) -> Option<()> {
        let node = self.node_of(at)?;
        if !self.nodes.get_mut(node)?.evict_block(block, out) {
            return None;
        }
        self.note_touched(Range::new(block, 1));
        self.after_node(node, out);
        Some(())
    }

    fn acquire_by_hand(&mut self, by: ComponentId, out: &mut Outbox) -> Option<()> {
        // Of a compute unit or core, its L1.
        let l1 = self.agent_of(by).map(|(_, l1)| l1).or_else(|| self.node_of(by))?;
        self.nodes.get_mut(l1)?.acquire(out);
        self.after_node(l1, out);
        let below = self.agent_of(by).map(|(agent, _)| (agent, self.fixed.reach.below.get(agent)));
        if let Some((agent, below)) = below
            && below.is_none_or(Vec::is_empty)
        {
            self.note_acquired(agent);
        }
        Some(())
    }
}
