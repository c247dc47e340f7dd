//! A host and a GPU whose memories are the two halves of one: every page lives in one of them, and both sides reach it line by
//! line ("Selective GPU Caches", Fig. 3).

use super::Builder;
use crate::config::machine::{CacheSpec, GpuSpec, UnifiedSpec};
use crate::diagnostic::Result;
use crate::machine::numa::Socket;
use crate::model::component::ComponentKind;
use crate::model::time::{ByteRate, Tick};
use crate::parts::channel::Path;
use crate::policy::placement::bandwidth_aware;
use crate::protocol::homes::{Homes, Repeated};
use crate::protocol::node::Role;
use crate::protocol::store::Interleave;

/// The number of each home, as placement counts them.
const HOST: u32 = 0;
const GPU: u32 = 1;

/// Where pages live.
pub(super) fn homes(unified: &UnifiedSpec) -> Homes {
    let homes = bandwidth_aware(unified.host_share).into();
    Homes::Repeated(Repeated { page: unified.page, homes })
}

impl Builder<'_> {
    /// The GPU with its memory, the host with its own, and what connects them.
    pub(super) fn unified(&mut self, gpu: &GpuSpec, _unified: &UnifiedSpec) -> Result<()> {
        let slicing = Interleave { size: u64::from(gpu.l2.interleave), count: u64::from(gpu.l2.slices) };
        let l1s = self.units(0, gpu)?;
        let slices = self.slices("gpu0.l2", gpu.l2.slices, &gpu.l2.cache, slicing)?;
        let latency = self.gpu_clock.cycles(u64::from(gpu.l2.crossbar_latency));
        let width = gpu.l2.crossbar_width;
        let rate = (width > 0).then(|| ByteRate::new(u64::from(width), self.gpu_clock.period));
        self.cross(&l1s, &slices, slicing, (rate, latency));
        let memories = self.partitions(0, gpu, slicing)?;
        let (hmds, tops) = self.host(&self.spec.host)?;
        self.side(&[&l1s, &slices, &memories], GPU);
        self.side(&[&hmds, &tops], HOST);
        let over_host = Interleave { size: u64::from(self.spec.host.interleave), count: hmds.len() as u64 };
        let (up, down) = self.host_links(0);
        let for_gpu = match self.spec.host.client.clone() {
            Some(client) => vec![self.client(&client, &hmds, over_host)?],
            None => hmds.clone(),
        };
        let dealt = if for_gpu.len() == 1 { Interleave::NONE } else { over_host };
        let (near, hop) = (self.gpu_clock.period, self.ticks(self.spec.host.hop));
        for (&slice, &memory) in slices.iter().zip(&memories) {
            self.reach_home(slice, &for_gpu, dealt, (up, down));
            let wires = self.wires(near);
            self.reach_home(slice, &[memory], Interleave::NONE, wires);
        }
        for &top in &tops {
            let wires = self.wires(hop);
            self.reach_home(top, &hmds, over_host, wires);
            self.reach_home(top, &memories, slicing, (down, up));
        }
        self.sockets = vec![Socket::default(), Socket { l1s, slices, remote: Vec::new(), memories }];
        Ok(())
    }

    /// Nodes whose own home is this one.
    fn side(&mut self, nodes: &[&[usize]], home: u32) {
        for &node in nodes.iter().copied().flatten() {
            if let Some((config, _)) = self.configs.get_mut(node) {
                config.socket = home;
            }
        }
    }

    fn wires(&mut self, latency: Tick) -> (Path, Path) {
        (self.wire(None, latency).into(), self.wire(None, latency).into())
    }

    /// Connects a node with its parents of the next home.
    fn reach_home(&mut self, child: usize, parents: &[usize], dealing: Interleave, links: (Path, Path)) {
        let first = self.configs.get(child).map_or(0, |(config, _)| config.parents.len() as u32);
        self.connect(child, parents, dealing, links);
        if let Some((config, _)) = self.configs.get_mut(child) {
            config.by_home.push((first, dealing));
        }
    }

    /// The cache before the host's memory for what the GPU asks (section 3.2.2).
    fn client(&mut self, cache: &CacheSpec, hmds: &[usize], dealing: Interleave) -> Result<usize> {
        let (path, clock) = ("host.client".to_owned(), self.host_clock);
        let node = self.node(path, ComponentKind::Client, cache, Role::Inner, clock, Interleave::NONE)?;
        let links = self.wires(self.ticks(self.spec.host.hop));
        self.connect(node, hmds, dealing, links);
        self.host_caches.push(node);
        Ok(node)
    }
}
