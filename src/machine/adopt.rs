//! Changing how a machine is built while it runs: another machine of the same shape lends its configuration.

use super::Machine;
use crate::config::machine::{GpuSpec, NumaSpec, PagingSpec, ReadOnlySpec, RemoteDirectorySpec};
use crate::policy::prefetch::Prefetcher;
use crate::protocol::node::Node;
use crate::protocol::outbox::Outbox;

impl Machine {
    /// Whether this machine could go on with the configuration of `other`: the same components, places for blocks and
    /// ticks. Timing, the driver's and the links' policies, MSHRs, buffers, cells of tables and faults may differ.
    ///
    /// # Errors
    /// Says in one sentence what differs.
    pub fn can_adopt(&self, other: &Self) -> Result<(), String> {
        let clock = |machine: &Self| {
            let host = machine.fixed.spec.host.clock;
            (machine.fixed.time, machine.fixed.spec.gpu.as_ref().map(|gpu| gpu.clock), host)
        };
        if clock(self) != clock(other) {
            return Err("a clock cannot change under way: all that is planned is counted in its ticks".into());
        }
        if self.fixed.components != other.fixed.components {
            return Err("it would have other components".into());
        }
        let gpus = self.fixed.spec.gpu.as_ref().zip(other.fixed.spec.gpu.as_ref());
        if let Some(key) = gpus.and_then(|(own, new)| settled(own, new)) {
            return Err(format!("what has happened so far depends on {key}"));
        }
        if self.fixed.spec.network.energy != other.fixed.spec.network.energy {
            return Err("what has been sent so far would cost another network.energy, too".into());
        }
        // A tree of blocks rounds up what is allocated.
        if gpus.is_some_and(|(own, new)| grows_trees(own) != grows_trees(new))
            && self.allocated() != other.allocated()
        {
            return Err("other pages would be allocated with that gpu.paging.prefetch".into());
        }
        for (own, new) in self.nodes.iter().zip(&other.nodes) {
            if let Some(what) = differs(own, new) {
                let path = self.fixed.components.path(own.id());
                return Err(format!("{path} would have {what}"));
            }
        }
        for (own, new) in self.agents.iter().zip(&other.agents) {
            if own.warps.len() != new.warps.len() {
                let path = self.fixed.components.path(own.config.id);
                return Err(format!("{path} would have {} warps, not {}", new.warps.len(), own.warps.len()));
            }
        }
        let lanes = |machine: &Self| machine.channels.first().map(|channel| channel.folded);
        if self.links.len() != other.links.len()
            || self.channels.len() != other.channels.len()
            || lanes(self) != lanes(other)
        {
            return Err("its network would have other channels".into());
        }
        if self.fixed.dram_of != other.fixed.dram_of
            || self.drams.iter().zip(&other.drams).any(|(own, new)| !own.is_like(new))
        {
            return Err(
                "its memory would have other channels, banks or rows, or deal addresses over them otherwise"
                    .into(),
            );
        }
        Ok(())
    }

    /// Takes over the configuration of `other`, which [`Self::can_adopt`] allows. What was turned away is tried again.
    pub(super) fn adopt(&mut self, other: &Self, out: &mut Outbox) {
        self.add_faults(&other.fixed.faults);
        (self.fixed, self.last_tick) = (other.fixed.clone(), other.last_tick);
        for (own, new) in self.nodes.iter_mut().zip(&other.nodes) {
            own.adopt(new, self.now);
        }
        for (own, new) in self.agents.iter_mut().zip(&other.agents) {
            own.adopt(new, out);
        }
        self.adopt_lanes(other);
        if let Some((own, new)) = self.ways.as_mut().zip(other.ways.as_ref()) {
            own.adopt(new);
        }
        for (own, new) in self.ports.iter_mut().zip(&other.ports) {
            own.adopt(new, self.now);
        }
        if let Some((own, new)) = self.paging.as_mut().zip(other.paging.as_ref()) {
            own.adopt(new);
        }
        for (own, new) in self.channels.iter_mut().zip(&other.channels) {
            (own.lookup, own.buffers) = (new.lookup, new.buffers);
        }
        for (own, new) in self.drams.iter_mut().zip(&other.drams) {
            own.adopt(new);
        }
        for channel in 0..self.channels.len() {
            for lane in 0..self.channels.get(channel).map_or(0, |channel| channel.lanes.len()) {
                self.pump(channel, lane, out);
            }
        }
        for node in 0..self.nodes.len() {
            self.stir(node, out);
        }
    }
}

/// The key of a part of the GPUs' configuration that differs, and that is taken over nowhere.
fn settled(own: &GpuSpec, new: &GpuSpec) -> Option<&'static str> {
    let paging = own.paging.as_ref().zip(new.paging.as_ref());
    let numa = own.numa.as_ref().zip(new.numa.as_ref());
    let read_only = own.read_only.as_ref().zip(new.read_only.as_ref());
    let directory = own.remote_directory.as_ref().zip(new.remote_directory.as_ref());
    let all = [
        ("gpu.paging", paging.is_some_and(|(own, new)| differs_below_the_driver(own, new))),
        (
            "gpu.paging.prefetch",
            prefetches(own) != prefetches(new) && prefetches(new) == Some(Prefetcher::Oracle),
        ),
        ("gpu.cu.wavefront_size", own.cu.wavefront_size != new.cu.wavefront_size),
        ("gpu.memory.size", paging.is_some() && own.memory.size != new.memory.size),
        ("gpu.read_only", read_only.is_some_and(|(own, new)| differs_beside_faults(own, new))),
        ("gpu.numa", numa.is_some_and(|(own, new)| differs_beside_samples(own, new))),
        ("gpu.unified", own.unified != new.unified),
        ("gpu.tags", own.tags != new.tags),
        ("gpu.copies", own.copies != new.copies),
        ("gpu.remote_directory", directory.is_some_and(|(own, new)| differs_beside_flushes(own, new))),
    ];
    all.into_iter().find_map(|(key, differs)| differs.then_some(key))
}

fn grows_trees(gpu: &GpuSpec) -> bool {
    prefetches(gpu) == Some(Prefetcher::Tree)
}

fn prefetches(gpu: &GpuSpec) -> Option<Prefetcher> {
    gpu.paging.as_ref().map(|paging| paging.prefetch)
}

/// Whether two ways of paging differ in more than what only the driver looks at, and how many faults are borne.
fn differs_below_the_driver(own: &PagingSpec, new: &PagingSpec) -> bool {
    let as_new = PagingSpec {
        service: new.service,
        transfer_set: new.transfer_set,
        prefetch: new.prefetch,
        prefetch_when_full: new.prefetch_when_full,
        evict: new.evict,
        faults: new.faults,
        far_faults: new.far_faults,
        ..own.clone()
    };
    as_new != *new
}

/// Whether read-only pages differ in more than what a fault takes, and when they are given up.
fn differs_beside_faults(own: &ReadOnlySpec, new: &ReadOnlySpec) -> bool {
    let as_new = ReadOnlySpec {
        host_fault: new.host_fault,
        gpu_fault: new.gpu_fault,
        pending: new.pending,
        limit: new.limit,
        ..own.clone()
    };
    as_new != *new
}

/// Whether remote directories differ in more than what it takes the CPU to flush its caches.
fn differs_beside_flushes(own: &RemoteDirectorySpec, new: &RemoteDirectorySpec) -> bool {
    let as_new = RemoteDirectorySpec { flush: new.flush, ..own.clone() };
    as_new != *new
}

/// Whether sockets differ in more than when and by what ways are dealt.
fn differs_beside_samples(own: &NumaSpec, new: &NumaSpec) -> bool {
    let as_new = NumaSpec { sample: new.sample, threshold: new.threshold, ..own.clone() };
    as_new != *new
}

/// What of a node would be of another shape.
fn differs(own: &Node, new: &Node) -> Option<String> {
    let (a, b) = (&own.config, &new.config);
    if own.geometry() != new.geometry()
        || a.block != b.block
        || a.unit != b.unit
        || a.dealing != b.dealing
        || a.by_home != b.by_home
    {
        return Some("other places for blocks".into());
    }
    if a.mask_bytes != b.mask_bytes || a.values != b.values {
        return Some("another byte mask".into());
    }
    if a.parents != b.parents || a.children != b.children || a.peers != b.peers {
        return Some("other neighbours".into());
    }
    let states = |node: &Node| node.config.table.rows.iter().map(|row| row.state).collect::<Vec<_>>();
    if states(own) != states(new) {
        return Some(format!("other states under {} than under {}", b.table.name, a.table.name));
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::machine::sample::{performing, program};
    use crate::machine::{Change, Machine, Planned};
    use crate::model::access::AccessKind::{Load, Store};
    use crate::model::inspect::Inspect;

    const MODES: [&[&str]; 2] =
        [&["gpu.paging.faults=block"], &["gpu.paging.faults=replay", "gpu.paging.far_faults=2"]];

    /// Five warps that want eight pages of four.
    fn faulting(set: &[&str]) -> Machine {
        let work = [
            program("gpu0.cu0", Load, &[0x1000, 0x2000]),
            program("gpu0.cu0", Store, &[0x3000, 0x1040]),
            program("gpu0.cu0", Load, &[0x4000]),
            program("gpu0.cu1", Store, &[0x5000, 0x2040]),
            program("gpu0.cu1", Load, &[0x6000, 0x7000, 0x8000]),
        ];
        performing("tiny/paged-1gpu", set, work.to_vec())
    }

    #[test]
    fn faults_that_block_and_faults_that_are_replayed_change_places_under_way() {
        for (own, other) in [(0, 1), (1, 0)] {
            let mut usual = faulting(MODES[own]);
            usual.run_until(u64::MAX);
            let mut times = std::collections::BTreeSet::new();
            for event in 0..usual.event() {
                let mut machine = faulting(MODES[own]);
                let change = Change::Adopt(Arc::new(faulting(MODES[other])));
                machine.plan(Arc::from([Planned { event, text: "faults".into(), change }]));
                machine.run_until(u64::MAX);
                assert!(machine.is_finished() && machine.violations().is_empty(), "after event {event}");
                times.insert(machine.tick());
            }
            let mut changed = faulting(MODES[other]);
            changed.run_until(u64::MAX);
            assert!(times.contains(&changed.tick()), "changed before anything has happened");
            assert!(times.len() > 2, "a change in the midst of it makes a difference");
        }
    }
}
