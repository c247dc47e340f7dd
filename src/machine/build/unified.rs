//! A host and a GPU whose memories are the two halves of one: every page lives in one of them, and both sides reach it line by
//! line ("Selective GPU Caches", Fig. 3).

use super::{Builder, Way};
use crate::config::machine::{CacheSpec, GpuSpec, RemoteDirectorySpec, UnifiedSpec};
use crate::diagnostic::{Diagnostic, Result};
use crate::machine::dealing::{over_hmds, over_slices};
use crate::machine::numa::Socket;
use crate::model::component::ComponentKind;
use crate::model::time::{ByteRate, Tick};
use crate::parts::channel::Path;
use crate::policy::placement::bandwidth_aware;
use crate::protocol::homes::{Homes, Repeated};
use crate::protocol::interleave::Interleave;
use crate::protocol::node::Role;
use crate::protocol::permissions::HOST;
use crate::protocol::remote_directory::{RemoteDirectory, RemoteDirectoryConfig};

/// The home that is not the host's.
const GPU: u32 = 1;

/// Where pages live.
pub(super) fn homes(unified: &UnifiedSpec) -> Homes {
    let homes = bandwidth_aware(unified.host_share).into();
    Homes::Repeated(Repeated { page: unified.page, homes })
}

/// The part of the remote directory that is about one slice of a memory.
pub(super) fn remote_directory(spec: &RemoteDirectorySpec, slices: u32, line: u32) -> RemoteDirectory {
    let share = (spec.lines / slices.max(1)).max(spec.ways);
    let entries = if share.is_power_of_two() { share } else { share.next_power_of_two() / 2 }.max(spec.ways);
    let high_water = (u64::from(entries) * u64::from(spec.high_water) / 100).max(1) as u32;
    let (ways, bits) = (spec.ways, spec.bits);
    RemoteDirectory::new(RemoteDirectoryConfig { block: line, entries, ways, bits, high_water })
}

impl Builder<'_> {
    /// The GPU with its memory, the host with its own, and what connects them.
    pub(super) fn unified(&mut self, gpu: &GpuSpec) -> Result<()> {
        self.check_apart(gpu)?;
        let slicing = over_slices(gpu);
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
        if self.spec.network.by_sector && gpu.remote_directory.is_none() {
            self.by_sector(&[&l1s, &slices]);
        }
        let over_host = over_hmds(&self.spec.host);
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
        if gpu.remote_directory.is_some() {
            self.apart(&slices, &memories);
        }
        self.sockets = vec![Socket::default(), Socket { l1s, slices, memories, ..Socket::default() }];
        Ok(())
    }

    /// That the caches of a GPU that takes no part in the CPU's coherence know what to do with lines that they may not keep.
    /// Those of other tables would keep them, or ask memories for what these do not answer, again and again.
    fn check_apart(&self, gpu: &GpuSpec) -> Result<()> {
        if gpu.remote_directory.is_none() {
            return Ok(());
        }
        for (key, cache) in [("gpu.l1.protocol", &gpu.l1), ("gpu.l2.protocol", &gpu.l2.cache)] {
            let table = self.table(cache.protocol.as_ref())?;
            if table.uncached.is_some() {
                continue;
            }
            let usual = if cache.protocol.is_some() { "," } else { ", as that of the machine," };
            let message = format!(
                "{key} is {}{usual} which has no [uncached] part: a GPU with gpu.remote_directory may not keep all lines",
                table.name
            );
            let expected = "selective-naive, selective-l1, selective-l1-l2, or another table with [uncached]";
            return Err(Box::new(Diagnostic::new(message).expected(expected)));
        }
        Ok(())
    }

    /// Nodes whose own home is this one.
    fn side(&mut self, nodes: &[&[usize]], home: u32) {
        for &node in nodes.iter().copied().flatten() {
            if let Some((config, _)) = self.configs.get_mut(node) {
                config.home = Some(home);
            }
        }
    }

    /// Nodes that keep lines of the other memory by sector.
    fn by_sector(&mut self, nodes: &[&[usize]]) {
        for &node in nodes.iter().copied().flatten() {
            if let Some((config, _)) = self.configs.get_mut(node) {
                config.sectored = true;
            }
        }
    }

    fn wires(&mut self, latency: Tick) -> (Path, Path) {
        (self.wire(None, latency).into(), self.wire(None, latency).into())
    }

    /// The GPU takes no part in the CPU's coherence: its slices do not keep to the protocol of the memories' other children.
    fn apart(&mut self, slices: &[usize], memories: &[usize]) {
        for (&slice, &memory) in slices.iter().zip(memories) {
            let Some(slice) = self.configs.get(slice).map(|(config, _)| config.id) else { continue };
            let Some((config, _)) = self.configs.get_mut(memory) else { continue };
            let place = config.children.iter().position(|child| *child == slice);
            config.own_side = place.map_or(0, |place| 1 << place);
        }
    }

    /// The cache before the host's memory for what the GPU asks (section 3.2.2).
    fn client(&mut self, cache: &CacheSpec, hmds: &[usize], dealing: Interleave) -> Result<usize> {
        let (path, clock) = ("host.client".to_owned(), self.host_clock);
        let node = self.node(path, ComponentKind::Client, cache, Role::Inner, clock, Interleave::NONE)?;
        let links = self.wires(self.ticks(self.spec.host.hop));
        self.connect(node, hmds, dealing, links);
        self.starts_beside(node, hmds);
        self.host_caches.push(node);
        Ok(node)
    }

    /// The memory controllers begin with a request when the client cache does: a miss waits only for what is left of their own
    /// lookup, and a hit takes nothing from the memory.
    fn starts_beside(&mut self, client: usize, hmds: &[usize]) {
        let passed = self.lookup.get(client).copied().unwrap_or(0);
        let to_memory = |way: &&mut Way| way.from == client && hmds.contains(&way.to);
        for way in self.ways.iter_mut().filter(to_memory) {
            way.lookup = way.lookup.saturating_sub(passed).max(1);
        }
    }
}
