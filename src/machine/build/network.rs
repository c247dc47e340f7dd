//! What connects GPUs and host, and the channels between neighbours.

use super::{Builder, Way};
use crate::config::machine::Topology;
use crate::model::component::ComponentId;
use crate::parts::channel::{Channel, Lane};
use crate::protocol::node::Role;
use crate::protocol::store::Interleave;

impl Builder<'_> {
    /// PCIe or NVLink between the GPUs and the host, and between GPUs for peer transfers.
    pub(super) fn network(&mut self, gpus: &[(u32, Vec<usize>)], hmds: &[usize], dealing: Interleave) {
        let shared = (self.spec.network.topology == Topology::Shared && !gpus.is_empty()).then(|| {
            let up = self.link("link.host.in".to_owned(), "gpus", "host");
            (up, self.link("link.host.out".to_owned(), "host", "gpus"))
        });
        for (index, tops) in gpus {
            let name = format!("gpu{index}");
            let links = shared.unwrap_or_else(|| {
                let up = self.link(format!("link.{name}.out"), &name, "host");
                (up, self.link(format!("link.{name}.in"), "host", &name))
            });
            if let Some(parts) = self.gpu_parts.get_mut(*index as usize) {
                parts.links = links;
            }
            for (slice, &top) in (0u64..).zip(tops) {
                let reachable = self.reachable(slice, hmds, dealing);
                if reachable.len() == hmds.len() {
                    self.connect(top, hmds, dealing, links);
                } else {
                    self.connect(top, &reachable, Interleave::NONE, links);
                }
            }
        }
        if self.spec.host.peer_transfer {
            self.peers(gpus, shared.map(|(up, _)| up));
        }
    }

    /// The HMDs that a partition's addresses can fall to: half of them for half of the SMDs with Table III's
    /// two HMDs and equal interleaves.
    fn reachable(&self, slice: u64, hmds: &[usize], dealing: Interleave) -> Vec<usize> {
        let Some(gpu) = &self.spec.gpu else { return hmds.to_vec() };
        let (size, slices) = (u64::from(gpu.l2.interleave), u64::from(gpu.l2.slices));
        if size != dealing.size || !slices.is_multiple_of(dealing.count) {
            return hmds.to_vec();
        }
        hmds.get((slice % dealing.count) as usize).map(|hmd| vec![*hmd]).unwrap_or_default()
    }

    /// Channels between partitions that can hold the same block: the same ones of different GPUs, or all if blocks are
    /// larger than the pieces in which addresses are dealt over the partitions.
    fn peers(&mut self, gpus: &[(u32, Vec<usize>)], shared: Option<usize>) {
        let block = |top: &usize| self.configs.get(*top).map_or(0, |(config, _)| config.block);
        let largest = gpus.iter().flat_map(|(_, tops)| tops).map(block).max().unwrap_or(0);
        let any = self.spec.gpu.as_ref().is_some_and(|gpu| gpu.l2.interleave < largest);
        for (a, tops_a) in gpus {
            for (b, tops_b) in gpus {
                if a == b && !any {
                    continue;
                }
                let link = match shared {
                    _ if a == b => self.wire(None, self.gpu_clock.period),
                    Some(link) => link,
                    None => self.link(format!("link.gpu{a}.gpu{b}"), &format!("gpu{a}"), &format!("gpu{b}")),
                };
                for (i, &from) in tops_a.iter().enumerate() {
                    for (j, &to) in tops_b.iter().enumerate() {
                        if from != to && (any || i == j) {
                            self.ways.push(Way { from, to, link });
                        }
                    }
                }
            }
        }
        let tops: Vec<ComponentId> = gpus
            .iter()
            .flat_map(|(_, tops)| tops)
            .filter_map(|&top| self.configs.get(top).map(|(config, _)| config.id))
            .collect();
        for (config, _) in self.configs.iter_mut().filter(|(config, _)| config.role == Role::Root) {
            for (position, child) in config.children.iter().enumerate() {
                if tops.contains(child) {
                    config.peers |= 1 << position;
                }
            }
        }
    }

    pub(super) fn channels(&self) -> Vec<Channel> {
        let block = |node: usize| self.nodes.get(node).map_or(1, |node| node.config.block);
        let count = if self.spec.network.virtual_networks == 1 { 1 } else { 3 };
        self.ways
            .iter()
            .map(|way| Channel {
                from: way.from,
                to: way.to,
                link: way.link,
                lookup: self.lookup.get(way.to).copied().unwrap_or(1),
                buffers: self.spec.network.buffers.max(1),
                block: block(way.from).max(block(way.to)),
                lanes: vec![Lane::default(); count],
            })
            .collect()
    }
}
