//! The machine without its clock: what is connected with what, and what could happen next if any order were allowed.

use super::Machine;
use crate::model::component::ComponentId;
use crate::protocol::node::Node;

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
        }
    }
}
