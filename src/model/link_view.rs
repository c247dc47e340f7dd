//! Views of a link: how busy it is, what is on it, and what its balancer knows of its lanes.

use super::address::Range;
use super::component::ComponentId;
use super::lanes::{Flow, Flows, LaneDecision, LaneDirection, LanePhase};
use super::message::{MessageKind, Network, TxnNumber};
use super::time::Tick;

/// A packet on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketView {
    pub kind: MessageKind,
    pub from: ComponentId,
    pub to: ComponentId,
    pub range: Range,
    pub txn: Option<TxnNumber>,
    /// Bytes on this link, the headers of all packets among them.
    pub size: u32,
    pub has_data: bool,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkView {
    pub link: ComponentId,
    /// The component or group at the sending end and at the receiving end, as paths.
    pub ends: (String, String),
    /// Lanes that packets can take now.
    pub lanes: u32,
    /// Bytes per second, of these lanes.
    pub bandwidth: u64,
    /// Share of time busy since the start, 0 to 1.
    pub utilisation: f64,
    /// Share of time busy in each of the last samples, oldest first, 0 to 1.
    pub history: Vec<f32>,
    /// Cycles in one sample.
    pub sample_cycles: u64,
    pub bytes: u64,
    /// Share of those bytes that were data, 0 to 1; unknown while there are none.
    pub efficiency: Option<f64>,
    /// Messages with data, by their size, smallest first.
    pub transfers: Vec<TransferView>,
    /// Messages waiting to be sent, per virtual network.
    pub queued: Vec<(Network, u32)>,
    /// Messages waiting in the receivers' buffers and their capacity, per virtual network.
    pub buffered: Vec<(Network, u32, u32)>,
    /// What arrives next, of what is on it; and how much that is in all.
    pub in_flight: Vec<PacketView>,
    pub flying: usize,
    /// If its lanes can change their direction, or are watched as if they could.
    pub balance: Option<BalanceView>,
}

impl LinkView {
    /// Share of time busy in the last sample that has ended, that of its balancer if it has one, 0 to 1; before there is one,
    /// since the start.
    #[must_use]
    pub fn lately(&self) -> f64 {
        let own = || self.history.last().map_or(self.utilisation, |share| f64::from(*share));
        self.sampled().map_or_else(own, |flow| f64::from(flow.utilisation) / 100.0)
    }

    /// The last sample of its balancer, if there is one.
    #[must_use]
    pub fn sampled(&self) -> Option<Flow> {
        let balance = self.balance.as_ref()?;
        Some(balance.samples.last()?.flows.of(balance.direction))
    }
}

/// Messages of one size that carried data over a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferView {
    /// Bytes of data in each.
    pub data: u32,
    /// Bytes with the header.
    pub size: u32,
    pub count: u64,
}

impl TransferView {
    /// Share of its bytes that are data, 0 to 1 ("Selective GPU Caches", Table 4: "Req. Efficiency").
    #[must_use]
    pub fn efficiency(self) -> f64 {
        f64::from(self.data) / f64::from(self.size.max(1))
    }
}

/// What the balancer of a link knows, seen from one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BalanceView {
    /// The other direction.
    pub other: ComponentId,
    /// This direction.
    pub direction: LaneDirection,
    /// Utilisation that counts as saturated, in percent.
    pub threshold: u32,
    pub sample_cycles: u64,
    pub turning: Option<TurningView>,
    /// Lanes that this direction was given so far.
    pub gained: u64,
    /// The last samples, oldest first.
    pub samples: Vec<LaneSample>,
}

/// Lanes on their way to another direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurningView {
    pub to: LaneDirection,
    pub count: u32,
    pub phase: LanePhase,
    /// When the phase ends.
    pub until: Tick,
}

/// What the balancer of a link saw at the end of a sample, and decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneSample {
    pub end: Tick,
    /// Before the decision.
    pub flows: Flows,
    pub decision: LaneDecision,
}
