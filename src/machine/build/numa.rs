//! GPUs that are the sockets of one: their L2s in one of the four organisations, the memories that are homes, and what
//! connects them ("Beyond the Socket: NUMA-Aware GPUs", Fig. 7).

use super::{Builder, GpuParts};
use crate::config::machine::{CacheSpec, GpuSpec, NumaSpec, Organisation};
use crate::diagnostic::Result;
use crate::machine::dealing::over_slices;
use crate::machine::numa::Socket;
use crate::model::component::ComponentKind;
use crate::model::page::PageRun;
use crate::model::time::{ByteRate, Tick};
use crate::model::units::Size;
use crate::parts::channel::Path;
use crate::policy::placement::{Placement, split};
use crate::protocol::homes::Homes;
use crate::protocol::interleave::Interleave;
use crate::protocol::node::Role;
use crate::workload::Workload;

/// Where pages live at the start.
pub(super) fn homes(gpu: &GpuSpec, numa: &NumaSpec, workload: &Workload) -> Homes {
    let count = u64::from(gpu.count);
    let dealt = |size: u64| Homes::Dealt(Interleave::in_turn(size, count));
    match numa.placement {
        _ if gpu.count == 1 => Homes::Single,
        Placement::Fine => dealt(u64::from(gpu.l2.interleave) * u64::from(gpu.l2.slices)),
        Placement::Page => dealt(u64::from(numa.page)),
        Placement::FirstTouch => recorded(workload, numa.page),
        Placement::First => Homes::Dealt(Interleave::NONE),
        Placement::Split => divided(ranges_of(workload, numa.page), numa.page, gpu.count),
    }
}

/// Where a trace says that its memory was; whoever touches the rest first is its home.
fn recorded(workload: &Workload, page: u32) -> Homes {
    let mut homes = Homes::undecided(page);
    for (range, home) in &workload.homes {
        PageRun::of(*range, page).iter().for_each(|one| homes.decide(one.range(page).start, |_| *home));
    }
    homes
}

/// What the tasks of some work name as one range each, in pages.
pub(super) fn ranges_of(workload: &Workload, page: u32) -> Vec<PageRun> {
    let ranges = workload.tasks.iter().flat_map(|task| task.what.footprint());
    ranges.map(|range| PageRun::of(range, page)).collect()
}

/// Every array, a range or several that overlap, divided over the sockets. Those of a single page, which cannot be divided, go round.
fn divided(ranges: Vec<PageRun>, page: u32, sockets: u32) -> Homes {
    let mut homes = Homes::undecided(page);
    let mut whole = (0..sockets.max(1)).cycle();
    for array in PageRun::merged(ranges) {
        let first = if array.count == 1 { whole.next().unwrap_or(0) } else { 0 };
        for (nth, one) in array.iter().enumerate() {
            homes.decide(one.range(page).start, |_| first + split(nth as u64, array.count, sockets));
        }
    }
    homes
}

impl Builder<'_> {
    /// All sockets, connected with each other; the nodes through which the host reaches each memory.
    pub(super) fn sockets(&mut self, gpu: &GpuSpec, numa: &NumaSpec) -> Result<Vec<Vec<usize>>> {
        let dealing = over_slices(gpu);
        let dealt = match homes(gpu, numa, &self.blueprint.workload) {
            Homes::Dealt(homes) => homes,
            _ => Interleave::NONE,
        };
        let mut sockets = Vec::new();
        for index in 0..gpu.count {
            let socket = self.socket(index, gpu, numa, dealing)?;
            for &node in [&socket.l1s, &socket.slices, &socket.remote, &socket.memories].into_iter().flatten()
            {
                if let Some((config, store)) = self.configs.get_mut(node) {
                    config.home = Some(index);
                    *store = store.emptied().of_homes(dealt);
                }
            }
            sockets.push(socket);
        }
        let clock = self.gpu_clock;
        let latency = clock.cycles(u64::from(gpu.l2.crossbar_latency));
        let width = gpu.l2.crossbar_width;
        let rate = (width > 0).then(|| ByteRate::new(u64::from(width), clock.period));
        for index in 0..sockets.len() {
            match numa.organisation {
                Organisation::MemorySide => self.memory_side(index, &sockets, dealing, (rate, latency)),
                Organisation::Static => self.divided(index, &sockets, dealing, (rate, latency)),
                Organisation::Shared | Organisation::Partitioned => {
                    self.sm_side(index, &sockets, dealing, (rate, latency));
                }
            }
        }
        let is_memory_side = matches!(numa.organisation, Organisation::MemorySide | Organisation::Static);
        let faces = |socket: &Socket| {
            if is_memory_side { socket.slices.clone() } else { socket.memories.clone() }
        };
        let homes = sockets.iter().map(faces).collect();
        self.sockets = sockets;
        Ok(homes)
    }

    /// The sockets, once all links are there.
    pub(super) fn finished_sockets(&self) -> Vec<Socket> {
        let finished =
            |(index, socket): (u32, &Socket)| Socket { inward: self.trunks.inward(index), ..socket.clone() };
        (0..).zip(&self.sockets).map(finished).collect()
    }

    /// What of each socket pages have to do with: a page of any leaves the caches of all.
    pub(super) fn paged_sockets(&mut self) {
        let each = || self.sockets.iter();
        let l1s = each().flat_map(|socket| &socket.l1s);
        let l2s = each().flat_map(|socket| socket.slices.iter().chain(&socket.remote));
        let caches: Vec<usize> = l1s.chain(l2s).copied().collect();
        let memories: Vec<Vec<usize>> = each().map(|socket| socket.memories.clone()).collect();
        for (index, memories) in (0..).zip(memories) {
            let links = self.host_links(index);
            self.gpu_parts.push(GpuParts { caches: caches.clone(), memories, links });
        }
    }

    /// The parts of one socket.
    fn socket(&mut self, index: u32, gpu: &GpuSpec, numa: &NumaSpec, dealing: Interleave) -> Result<Socket> {
        let l1s = self.units(index, gpu)?;
        let mut cache = gpu.l2.cache.clone();
        if numa.organisation == Organisation::Static {
            (cache.size, cache.ways) = (Size(cache.size.0 / 2), cache.ways / 2);
        }
        let slices = self.slices(&format!("gpu{index}.l2"), gpu.l2.slices, &cache, dealing)?;
        let remote = match &numa.remote {
            Some(protocol) => {
                let cache = CacheSpec { protocol: Some(protocol.clone()), ..cache };
                self.slices(&format!("gpu{index}.remote"), gpu.l2.slices, &cache, dealing)?
            }
            None => Vec::new(),
        };
        let memories = self.partitions(index, gpu, dealing)?;
        Ok(Socket { l1s, slices, remote, memories, inward: Vec::new() })
    }

    pub(super) fn slices(
        &mut self,
        path: &str,
        count: u32,
        cache: &CacheSpec,
        dealing: Interleave,
    ) -> Result<Vec<usize>> {
        let (kind, clock) = (ComponentKind::L2, self.gpu_clock);
        let each = (0..count).map(|slice| format!("{path}.{slice}"));
        each.map(|path| self.node(path, kind, cache, Role::Inner, clock, dealing)).collect()
    }

    /// (a) Each slice stands before its memory, and the SMs of all sockets ask it.
    fn memory_side(
        &mut self,
        index: usize,
        sockets: &[Socket],
        dealing: Interleave,
        wire: (Option<ByteRate>, Tick),
    ) {
        let Some(own) = sockets.get(index) else { return };
        let all: Vec<&[usize]> = sockets.iter().map(|socket| socket.slices.as_slice()).collect();
        for &l1 in &own.l1s {
            self.connect_homes(l1, index, &all, dealing, wire);
        }
        self.pair(&own.slices, &own.memories);
    }

    /// (b) The same for local lines; remote ones are cached in the other half of the L2.
    fn divided(
        &mut self,
        index: usize,
        sockets: &[Socket],
        dealing: Interleave,
        wire: (Option<ByteRate>, Tick),
    ) {
        let Some(own) = sockets.get(index) else { return };
        for &l1 in &own.l1s {
            let (up, down) = (self.wire(wire.0, wire.1), self.wire(wire.0, wire.1));
            self.connect(l1, &own.slices, dealing, (up, down));
            self.connect(l1, &own.remote, dealing, (up, down));
            let first = |home: usize| if home == index { 0 } else { own.slices.len() as u32 };
            if let Some((config, _)) = self.configs.get_mut(l1) {
                config.by_home = (0..sockets.len()).map(|home| (first(home), dealing)).collect();
            }
        }
        for (slice, &cache) in own.remote.iter().enumerate() {
            let all: Vec<&[usize]> =
                sockets.iter().map(|socket| socket.slices.get(slice..=slice).unwrap_or(&[])).collect();
            self.connect_homes(cache, index, &all, Interleave::NONE, (None, self.gpu_clock.period));
        }
        self.pair(&own.slices, &own.memories);
    }

    /// (c), (d) Each slice caches what the SMs of its socket ask for, from the memories of all.
    fn sm_side(
        &mut self,
        index: usize,
        sockets: &[Socket],
        dealing: Interleave,
        wire: (Option<ByteRate>, Tick),
    ) {
        let Some(own) = sockets.get(index) else { return };
        self.cross(&own.l1s, &own.slices, dealing, wire);
        for (slice, &cache) in own.slices.iter().enumerate() {
            let all: Vec<&[usize]> =
                sockets.iter().map(|socket| socket.memories.get(slice..=slice).unwrap_or(&[])).collect();
            self.connect_homes(cache, index, &all, Interleave::NONE, (None, self.gpu_clock.period));
        }
    }

    /// Each slice over its memory.
    fn pair(&mut self, slices: &[usize], memories: &[usize]) {
        for (&slice, &memory) in slices.iter().zip(memories) {
            let period = self.gpu_clock.period;
            let (up, down) = (self.wire(None, period), self.wire(None, period));
            self.connect(slice, &[memory], Interleave::NONE, (up, down));
        }
    }

    /// Connects a node of a socket with its parents of each home: those of its own by a wire, the others over the network.
    fn connect_homes(
        &mut self,
        child: usize,
        socket: usize,
        parents: &[&[usize]],
        dealing: Interleave,
        wire: (Option<ByteRate>, Tick),
    ) {
        for (home, parents) in parents.iter().enumerate() {
            let (here, there) = (socket as u32, home as u32);
            let links: (Path, Path) = if home == socket {
                (self.wire(wire.0, wire.1).into(), self.wire(wire.0, wire.1).into())
            } else {
                (self.socket_links(here, there), self.socket_links(there, here))
            };
            self.reach_home(child, parents, dealing, links);
        }
    }

    /// Connects a node with its parents of the next home.
    pub(super) fn reach_home(
        &mut self,
        child: usize,
        parents: &[usize],
        dealing: Interleave,
        links: (Path, Path),
    ) {
        let first = self.configs.get(child).map_or(0, |(config, _)| config.parents.len() as u32);
        self.connect(child, parents, dealing, links);
        if let Some((config, _)) = self.configs.get_mut(child) {
            config.by_home.push((first, dealing));
        }
    }

    /// Connects the caches of the host with every home.
    pub(super) fn host_homes(&mut self, tops: &[usize], homes: &[Vec<usize>], dealing: Interleave) {
        for (home, parents) in homes.iter().enumerate() {
            let (down, up) = self.host_links(home as u32);
            for &top in tops {
                self.reach_home(top, parents, dealing, (up, down));
            }
        }
    }
}
