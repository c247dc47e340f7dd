//! What stands between a need of a node and its end: a message on its way, another node at work, or nothing at all.

use super::Machine;
use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::model::message::{Message, MessageKind, Network};
use crate::model::wait::{Doing, Party};
use crate::parts::channel::Lane;
use crate::protocol::node::{Need, Node};

/// What a node asks its parent with for a grant.
const ASKING: [MessageKind; 3] = [MessageKind::Read, MessageKind::ReadNc, MessageKind::Write];

/// Those that a need waits for, each with the rest of the sentence.
type Met = Vec<(Party, String)>;

impl Machine {
    /// What a need of a node waits for.
    pub(super) fn meet(&self, node: &Node, need: Need) -> Met {
        let me = node.id();
        match need {
            Need::Own(block, doing) => {
                vec![(Party::Block { at: me, block, doing }, own_text(doing).to_owned())]
            }
            Need::Mshr => vec![(Party::Mshrs(me), "waits for a free MSHR".to_owned())],
            Need::Way(set) => vec![(Party::Ways(me, set), "waits for a free way".to_owned())],
            Need::Grant { parent, request, range } => self.meet_grant(me, parent, request, range),
            Need::PeerData { parent, range } => self.meet_peer_data(me, parent, range),
            Need::Answer { child, range } => self.meet_answer(me, child, range),
            Need::GrantAck { child, range } => self.meet_grant_ack(me, child, range),
            Need::Purged { child, range } => self.meet_purged(me, child, range),
            Need::EvictAck { parent, range } => self.meet_evict_ack(me, parent, range),
            Need::Reply { parent, range } => self.meet_reply(me, parent, range),
        }
    }

    fn path(&self, id: ComponentId) -> &str {
        self.fixed.components.path(id)
    }

    fn lost(&self, from: ComponentId, to: ComponentId, what: &str) -> Met {
        let (sender, receiver) = (self.path(from), self.path(to));
        // Either of two goes one way and the other back.
        let way = if what.contains(" or ") {
            format!("between {sender} and {receiver}")
        } else {
            format!("of {sender} to {receiver}")
        };
        let text = format!("waits for {what} {way}, which is neither there nor on its way");
        vec![(Party::Lost(from, to), text)]
    }

    fn meet_grant(&self, me: ComponentId, parent: ComponentId, request: MessageKind, range: Range) -> Met {
        let what = if request == MessageKind::Fetch { "data" } else { "grant" };
        let above = self.path(parent);
        if let Some(lane) = self.carrying(me, parent, range, &[request]) {
            return vec![(lane, format!("waits for {above}: its {} is on the way", request.name()))];
        }
        let kinds = [MessageKind::Grant, MessageKind::Reply];
        if let Some(lane) = self.carrying(parent, me, range, &kinds) {
            return vec![(lane, format!("waits for the {what} that {above} has sent"))];
        }
        match self.node(parent).and_then(|above| above.stand_of_request(me, range.start)) {
            Some((_, Doing::Serves)) if self.has_granted(parent, me, range) => {
                self.lost(parent, me, "the grant")
            }
            Some((block, doing)) => {
                vec![(Party::Block { at: parent, block, doing }, format!("waits for the {what} of {above}"))]
            }
            None if self.node(me).is_some_and(|node| node.has_fetched(range.start)) => {
                let text = "waits for its arrival bit: the data have come, and nobody will set it".to_owned();
                vec![(Party::Arrival(me, range.start), text)]
            }
            None => self.lost(me, parent, &format!("the {} or the {what}", request.name())),
        }
    }

    /// A grant has come without its data: they are on their way, or the owner has not been asked yet.
    fn meet_peer_data(&self, me: ComponentId, parent: ComponentId, range: Range) -> Met {
        for sender in self.nodes.iter().map(Node::id) {
            if let Some(lane) = self.carrying(sender, me, range, &[MessageKind::PeerData]) {
                return vec![(lane, format!("waits for the data that {} has sent", self.path(sender)))];
            }
        }
        let Some(above) = self.node(parent) else { return Vec::new() };
        let start = above.stand_of_request(me, range.start).map(|(start, _)| start);
        let service = above
            .stands_at(range.start)
            .into_iter()
            .find(|stand| Some(stand.block) == start && stand.doing == Doing::Serves);
        let needs = service.map(|stand| stand.needs).unwrap_or_default();
        let owners = needs.into_iter().filter(|need| matches!(need, Need::Answer { .. }));
        let met: Met = owners.flat_map(|need| self.meet(above, need)).collect();
        if met.is_empty() {
            // Whether the owner had none, or has sent them and they were lost, is nowhere to be seen any more.
            let text = format!(
                "waits for the data that go with its grant: neither an owner nor {} has them on the way to it",
                self.path(parent)
            );
            return vec![(Party::Lost(parent, me), text)];
        }
        met
    }

    fn meet_answer(&self, me: ComponentId, child: ComponentId, range: Range) -> Met {
        let below = self.path(child);
        let probes = [MessageKind::ProbeRead, MessageKind::ProbeWrite];
        if let Some(lane) = self.carrying(me, child, range, &probes) {
            return vec![(lane, format!("waits for the answer of {below}: the probe is on the way"))];
        }
        if let Some(lane) = self.carrying(child, me, range, &[MessageKind::Answer]) {
            return vec![(lane, format!("waits for the answer that {below} has sent"))];
        }
        let blocks = self.node(child).map(|child| child.unanswered(range)).unwrap_or_default();
        if blocks.is_empty() {
            return self.lost(child, me, "the probe or the answer");
        }
        let text = format!("waits for the answer of {below}");
        let party = |block: Address| Party::Block { at: child, block, doing: Doing::Answers };
        blocks.into_iter().map(|block| (party(block), text.clone())).collect()
    }

    fn meet_grant_ack(&self, me: ComponentId, child: ComponentId, range: Range) -> Met {
        let below = self.path(child);
        if let Some(lane) = self.carrying(me, child, range, &[MessageKind::Grant]) {
            return vec![(lane, format!("waits until {below} has its grant"))];
        }
        if let Some(lane) = self.carrying(child, me, range, &[MessageKind::GrantAck]) {
            return vec![(lane, format!("waits for the acknowledgement that {below} has sent"))];
        }
        // Who asks again has had the grant.
        let asks_again = self.asks_again(me, child, range);
        let asking = self.node(child).filter(|child| !asks_again && child.awaits_grant(range.start));
        let Some(node) = asking else {
            return self.lost(child, me, "the acknowledgement");
        };
        // It has the grant and waits for the data of a peer, or the grant was lost.
        let block = range.start.block(node.config.block);
        let has_grant = node.stands_at(block).iter().any(|stand| {
            stand.block == block && stand.needs.iter().any(|need| matches!(need, Need::PeerData { .. }))
        });
        if has_grant {
            let to = Party::Block { at: child, block, doing: Doing::Asks };
            return vec![(to, format!("waits until {below} has its data"))];
        }
        let text =
            format!("waits for the acknowledgement of {below}, whose grant is neither there nor on its way");
        vec![(Party::Lost(me, child), text)]
    }

    fn meet_evict_ack(&self, me: ComponentId, parent: ComponentId, range: Range) -> Met {
        let above = self.path(parent);
        let kinds = [MessageKind::Writeback, MessageKind::Notify];
        if let Some(lane) = self.carrying(me, parent, range, &kinds) {
            return vec![(lane, format!("waits until {above} has taken it"))];
        }
        if let Some(lane) = self.carrying(parent, me, range, &[MessageKind::EvictAck]) {
            return vec![(lane, format!("waits for the acknowledgement that {above} has sent"))];
        }
        // What is stored there like anything else may have to wait for it.
        match self.node(parent).and_then(|above| above.stand_of_request(me, range.start)) {
            Some((block, doing)) => {
                let text = format!("waits until {above} has taken it");
                vec![(Party::Block { at: parent, block, doing }, text)]
            }
            None => self.lost(parent, me, "the writeback or its acknowledgement"),
        }
    }

    /// A child gives up all that lives in a memory, block by block, as if each were probed.
    fn meet_purged(&self, me: ComponentId, child: ComponentId, range: Range) -> Met {
        let below = self.path(child);
        let text = format!("waits until {below} has given up all lines of this memory");
        if let Some(lane) = self.carrying(me, child, range, &[MessageKind::Flush]) {
            return vec![(lane, format!("{text}: it is being told"))];
        }
        if let Some(lane) = self.carrying(child, me, range, &[MessageKind::Flushed]) {
            return vec![(lane, format!("waits for the flushed that {below} has sent"))];
        }
        let Some(blocks) = self.node(child).and_then(|child| child.unpurged(me)) else {
            return self.lost(child, me, "the flush or the flushed");
        };
        let party = |block: Address| Party::Block { at: child, block, doing: Doing::Answers };
        blocks.into_iter().map(|block| (party(block), text.clone())).collect()
    }

    fn meet_reply(&self, me: ComponentId, parent: ComponentId, range: Range) -> Met {
        let above = self.path(parent);
        if let Some(lane) = self.carrying(me, parent, range, &[MessageKind::Forward]) {
            return vec![(lane, format!("waits for {above}: it is on the way"))];
        }
        if let Some(lane) = self.carrying(parent, me, range, &[MessageKind::Reply]) {
            return vec![(lane, format!("waits for the reply that {above} has sent"))];
        }
        match self.node(parent).and_then(|above| above.stand_of_request(me, range.start)) {
            Some((block, doing)) => {
                vec![(Party::Block { at: parent, block, doing }, format!("waits for the reply of {above}"))]
            }
            None => self.lost(me, parent, "the forward or its reply"),
        }
    }

    /// Whether a child whose request is being served has sent another one for the same.
    fn asks_again(&self, parent: ComponentId, child: ComponentId, range: Range) -> bool {
        let queued = self.node(parent).and_then(|parent| parent.stand_of_request(child, range.start));
        matches!(queued, Some((_, Doing::Queues))) || self.carrying(child, parent, range, &ASKING).is_some()
    }

    /// Whether a parent has granted what a child asked for.
    fn has_granted(&self, parent: ComponentId, child: ComponentId, range: Range) -> bool {
        let is_for_it = |need: &Need| matches!(need, Need::GrantAck { child: to, range: of } if *to == child && of.start == range.start);
        self.node(parent).is_some_and(|parent| {
            let stands = parent.stands_at(range.start);
            stands.iter().any(|stand| stand.doing == Doing::Serves && stand.needs.iter().any(is_for_it))
        })
    }

    /// The lane that has a message of one of these kinds about this range, if one is on its way.
    fn carrying(
        &self,
        from: ComponentId,
        to: ComponentId,
        range: Range,
        kinds: &[MessageKind],
    ) -> Option<Party> {
        let is_it = |message: &Message| {
            message.from == from
                && message.to == to
                && message.range.start == range.start
                && kinds.contains(&message.kind)
        };
        let sender = (*self.fixed.node_of.get(from.index())?)?;
        let channel = self.channels.get(self.channel_between(sender, to)?)?;
        let holds = |lane: &Lane| {
            lane.incoming.iter().any(|(_, message)| is_it(message))
                || lane.outgoing.iter().any(|(_, message)| is_it(message))
        };
        let lane = channel.lanes.iter().position(holds)?;
        Some(self.party_of(from, to, lane))
    }

    /// The lane of this index from one node to another.
    pub(super) fn party_of(&self, from: ComponentId, to: ComponentId, lane: usize) -> Party {
        let network = (!self.fixed.folded).then(|| Network::ALL.get(lane).copied()).flatten();
        Party::Lane { from, to, network }
    }

    /// The lane that carries a network from one node to another.
    pub(super) fn lane_party(&self, from: ComponentId, to: ComponentId, network: Network) -> Party {
        Party::Lane { from, to, network: (!self.fixed.folded).then_some(network) }
    }
}

fn own_text(doing: Doing) -> &'static str {
    match doing {
        Doing::Asks => "waits until its own request has been granted",
        Doing::Serves => "waits until the request before it has been served",
        Doing::Answers => "waits until a probe has been answered",
        Doing::Evicts => "waits until the block has been evicted",
        Doing::WritesBack => "waits until the writeback has been acknowledged",
        _ => "waits for its turn",
    }
}
