//! What connects GPUs and host, and the channels between neighbours.

use super::finish::children_that;
use super::{Builder, Way};
use crate::config::machine::Topology;
use crate::machine::dealing::over_slices;
use crate::machine::lanes::Lanes;
use crate::model::component::ComponentId;
use crate::parts::channel::{Channel, Lane, Path};
use crate::parts::meter::Meter;
use crate::protocol::interleave::Interleave;
use crate::protocol::node::Role;

/// What connects the GPUs with each other and with the host, by index among the links: each made when it is first asked for.
#[derive(Default)]
pub(super) struct Trunks {
    /// The medium that all share: to the host, and from it.
    medium: Option<(usize, usize)>,
    /// Of each device, its link out and its link in.
    ports: Vec<(String, (usize, usize))>,
    /// From one GPU straight to another.
    direct: Vec<((u32, u32), usize)>,
}

impl Trunks {
    /// Both directions of every link: out of its device, and in.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let medium = self.medium.map(|(up, down)| (down, up));
        let ports = self.ports.iter().map(|(_, links)| *links);
        let back = |ends: (u32, u32)| self.direct.iter().find(|(other, _)| *other == (ends.1, ends.0));
        let direct = self.direct.iter().filter(|((from, to), _)| from < to);
        let direct = direct.filter_map(|(ends, out)| Some((*out, back(*ends)?.1)));
        medium.into_iter().chain(ports).chain(direct).collect()
    }

    /// The links over which other GPUs send to one: the medium that all share, those straight from each, or its own.
    pub(super) fn inward(&self, gpu: u32) -> Vec<usize> {
        let name = format!("gpu{gpu}");
        let medium = self.medium.map(|(up, _)| up);
        let own = self.ports.iter().filter(|(device, _)| *device == name).map(|(_, (_, into))| *into);
        let direct = self.direct.iter().filter(|((_, to), _)| *to == gpu).map(|(_, link)| *link);
        let direct: Vec<usize> = direct.collect();
        if direct.is_empty() { medium.into_iter().chain(own).collect() } else { direct }
    }
}

impl Builder<'_> {
    /// PCIe or NVLink between the GPUs and the host, and between GPUs for peer transfers.
    pub(super) fn network(&mut self, gpus: &[(u32, Vec<usize>)], hmds: &[usize], dealing: Interleave) {
        for (index, tops) in gpus {
            let links = self.host_links(*index);
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
            self.peers(gpus);
        }
    }

    /// What carries messages from a GPU to the host, and back.
    pub(super) fn host_links(&mut self, gpu: u32) -> (Path, Path) {
        let name = format!("gpu{gpu}");
        match self.spec.network.topology {
            Topology::Shared => {
                let (up, down) = self.medium();
                (up.into(), down.into())
            }
            Topology::PointToPoint => {
                let (out, into) = self.port(&name, "host");
                (out.into(), into.into())
            }
            Topology::Switch => {
                let (own, host) = (self.port(&name, "switch"), self.port("host", "switch"));
                (Path::switched(own.0, host.1), Path::switched(host.0, own.1))
            }
        }
    }

    /// What carries messages from one GPU (socket) to another.
    pub(super) fn socket_links(&mut self, from: u32, to: u32) -> Path {
        let (sender, receiver) = (format!("gpu{from}"), format!("gpu{to}"));
        match self.spec.network.topology {
            Topology::Shared => self.medium().0.into(),
            Topology::PointToPoint => {
                let known = self.trunks.direct.iter().find(|(ends, _)| *ends == (from, to));
                if let Some((_, link)) = known {
                    return (*link).into();
                }
                let latency = self.ticks(self.spec.network.latency);
                let link = self.link(format!("link.{sender}.{receiver}"), &sender, &receiver, latency);
                self.trunks.direct.push(((from, to), link));
                link.into()
            }
            Topology::Switch => {
                let (own, other) = (self.port(&sender, "switch"), self.port(&receiver, "switch"));
                Path::switched(own.0, other.1)
            }
        }
    }

    /// The medium that all devices share: to the host, and from it.
    fn medium(&mut self) -> (usize, usize) {
        if let Some(medium) = self.trunks.medium {
            return medium;
        }
        let latency = self.ticks(self.spec.network.latency);
        let up = self.link("link.host.in".to_owned(), "gpus", "host", latency);
        let down = self.link("link.host.out".to_owned(), "host", "gpus", latency);
        *self.trunks.medium.insert((up, down))
    }

    /// The links of a device out to `far` and in from there. Of the latency from device to device, a link to the switch has
    /// half; what does not divide by two is on the way in.
    fn port(&mut self, device: &str, far: &str) -> (usize, usize) {
        if let Some((_, links)) = self.trunks.ports.iter().find(|(name, _)| name == device) {
            return *links;
        }
        let whole = self.ticks(self.spec.network.latency);
        let (there, back) = match self.spec.network.topology {
            Topology::Switch => (whole / 2, whole - whole / 2),
            Topology::Shared | Topology::PointToPoint => (whole, whole),
        };
        let out = self.link(format!("link.{device}.out"), device, far, there);
        let into = self.link(format!("link.{device}.in"), far, device, back);
        self.trunks.ports.push((device.to_owned(), (out, into)));
        (out, into)
    }

    /// The HMDs that a partition's addresses can fall to: half of them for half of the SMDs with Table III's
    /// two HMDs and equal interleaves.
    fn reachable(&self, slice: u64, hmds: &[usize], dealing: Interleave) -> Vec<usize> {
        let Some(gpu) = &self.spec.gpu else { return hmds.to_vec() };
        match dealing.index_of_all(over_slices(gpu), slice) {
            Some(one) => hmds.get(one).map(|hmd| vec![*hmd]).unwrap_or_default(),
            None => hmds.to_vec(),
        }
    }

    /// Channels between partitions that can hold the same block: the same ones of different GPUs, or all if blocks are
    /// larger than the pieces in which addresses are dealt over the partitions.
    fn peers(&mut self, gpus: &[(u32, Vec<usize>)]) {
        let block = |top: &usize| self.configs.get(*top).map_or(0, |(config, _)| config.block);
        let largest = gpus.iter().flat_map(|(_, tops)| tops).map(block).max().unwrap_or(0);
        let any = self.spec.gpu.as_ref().is_some_and(|gpu| gpu.l2.interleave < largest);
        for (a, tops_a) in gpus {
            for (b, tops_b) in gpus {
                if a == b && !any {
                    continue;
                }
                let path = if a == b {
                    self.wire(None, self.gpu_clock.period).into()
                } else {
                    self.socket_links(*a, *b)
                };
                for (i, &from) in tops_a.iter().enumerate() {
                    for (j, &to) in tops_b.iter().enumerate() {
                        if from != to && (any || i == j) {
                            let lookup = self.lookup.get(to).copied().unwrap_or(1);
                            self.ways.push(Way { from, to, path, lookup });
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
            config.peers = children_that(config, |child| tops.contains(&child));
        }
    }

    /// The lanes that can change their direction, if a balancer watches them. Their links get meters.
    pub(super) fn lanes(&mut self) -> Option<Lanes> {
        let spec = self.spec.network.balancer.as_ref()?;
        let cycles = |count: u32| self.time.tick_of_cycle(u64::from(count));
        let (sample, turn) = (cycles(spec.sample), cycles(spec.turn));
        let pairs = self.trunks.pairs();
        for link in pairs.iter().flat_map(|(out, into)| [*out, *into]) {
            if let Some(link) = self.links.get_mut(link) {
                link.meter = Some(Box::new(Meter::new(sample)));
            }
        }
        Some(Lanes::new(&pairs, sample, turn))
    }

    pub(super) fn channels(&self) -> Vec<Channel> {
        let block = |node: usize| self.nodes.get(node).map_or(1, |node| node.config.block);
        let folded = self.spec.network.virtual_networks == 1;
        self.ways
            .iter()
            .map(|way| Channel {
                from: way.from,
                to: way.to,
                path: way.path,
                lookup: way.lookup,
                buffers: self.spec.network.buffers.max(1),
                block: block(way.from).max(block(way.to)),
                lanes: <[Lane; 3]>::default(),
                folded,
            })
            .collect()
    }
}
