//! A machine as the keys of a machine file, with its value of each: what a file that leaves nothing to a default would say.

use serde::Serialize;
use toml::Value;

use super::machine::{
    BalancerSpec, CacheSpec, CopiesSpec, CuSpec, DramSpec, GpuHome, GpuMemorySpec, GpuSpec, HostSpec, L2Spec,
    MachineSpec, NetworkSpec, NumaSpec, PagingSpec, ReadOnlySpec, RemoteDirectorySpec, TagSpec, UnifiedSpec,
    WALK_ENTRY,
};
use crate::model::units::Size;

/// Every key of a machine with dots, as `--set` takes them, in the order of a machine file.
#[must_use]
pub fn keys(spec: &MachineSpec) -> Vec<(String, Value)> {
    let mut keys = Keys(Vec::new());
    keys.text("name", &spec.name);
    keys.text("protocol", &spec.protocol);
    keys.put("values", spec.values);
    if let Some(gpu) = &spec.gpu {
        keys.gpu(gpu);
    }
    keys.host(&spec.host);
    keys.network(&spec.network);
    keys.0
}

struct Keys(Vec<(String, Value)>);

impl Keys {
    fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.push((key.to_owned(), value.into()));
    }

    /// A word of a few, or nothing of what cannot be told.
    fn word(&mut self, key: &str, value: impl Serialize) {
        if let Ok(value) = Value::try_from(value) {
            self.put(key, value);
        }
    }

    fn text(&mut self, key: &str, value: &impl ToString) {
        self.put(key, value.to_string());
    }

    fn bytes(&mut self, key: &str, bytes: u32) {
        self.text(key, &Size(u64::from(bytes)));
    }

    /// Thousandths, as percent.
    fn share(&mut self, key: &str, share: Option<u32>) {
        if let Some(share) = share {
            self.put(key, f64::from(share) / 10.0);
        }
    }

    fn gpu(&mut self, spec: &GpuSpec) {
        self.put("gpu.count", spec.count);
        self.text("gpu.clock", &spec.clock);
        self.word("gpu.ctas", spec.ctas);
        self.cu(&spec.cu);
        self.cache("gpu.l1", &spec.l1);
        self.l2(&spec.l2);
        self.memory(&spec.memory);
        if let Some(paging) = &spec.paging {
            self.paging(paging);
            // Elsewhere pages are only mapped.
            if matches!(spec.memory.home, GpuHome::Own | GpuHome::Numa) {
                self.moving_pages(paging);
            }
        }
        spec.read_only.iter().for_each(|pages| self.read_only(pages));
        spec.numa.iter().for_each(|numa| self.numa(numa));
        spec.unified.iter().for_each(|unified| self.unified(unified));
        spec.tags.iter().for_each(|tags| self.tags(tags));
        spec.copies.iter().for_each(|copies| self.copies(copies));
        spec.remote_directory.iter().for_each(|directory| self.remote_directory(directory));
    }

    fn cu(&mut self, spec: &CuSpec) {
        self.put("gpu.cu.count", spec.count);
        self.put("gpu.cu.wavefronts", spec.wavefronts);
        self.put("gpu.cu.lanes", spec.lanes);
        self.put("gpu.cu.simds", spec.simds);
        spec.wavefront_size.iter().for_each(|size| self.put("gpu.cu.wavefront_size", *size));
        self.put("gpu.cu.outstanding", spec.outstanding);
        self.word("gpu.cu.scheduler", spec.scheduler);
    }

    fn cache(&mut self, key: &str, spec: &CacheSpec) {
        let of = |name: &str| format!("{key}.{name}");
        self.text(&of("size"), &spec.size);
        self.put(&of("ways"), spec.ways);
        self.bytes(&of("line"), spec.line);
        self.put(&of("latency"), spec.latency);
        self.put(&of("fill"), spec.fill);
        self.put(&of("mshrs"), spec.mshrs);
        self.put(&of("ports"), spec.ports);
        if let Some(protocol) = &spec.protocol {
            self.text(&of("protocol"), protocol);
        }
    }

    fn l2(&mut self, spec: &L2Spec) {
        self.put("gpu.l2.present", spec.present);
        self.put("gpu.l2.slices", spec.slices);
        self.cache("gpu.l2", &spec.cache);
        self.bytes("gpu.l2.interleave", spec.interleave);
        self.put("gpu.l2.hash", spec.hash);
        self.put("gpu.l2.crossbar_latency", spec.crossbar_latency);
        self.put("gpu.l2.crossbar_width", spec.crossbar_width);
    }

    fn memory(&mut self, spec: &GpuMemorySpec) {
        self.word("gpu.memory.home", spec.home);
        if spec.home == GpuHome::Host {
            return;
        }
        self.text("gpu.memory.size", &spec.size);
        self.put("gpu.memory.ways", spec.ways);
        self.bytes("gpu.memory.secondary_block", spec.secondary_block);
        self.put("gpu.memory.mask_bytes", spec.mask_bytes);
        self.put("gpu.memory.latency", spec.latency);
        self.put("gpu.memory.mshrs", spec.mshrs);
        self.put("gpu.memory.ports", spec.ports);
        self.dram("gpu.memory.dram", &spec.dram);
    }

    fn dram(&mut self, key: &str, spec: &DramSpec) {
        let of = |name: &str| format!("{key}.{name}");
        self.put(&of("channels"), spec.channels);
        self.put(&of("banks"), spec.banks);
        self.bytes(&of("row"), spec.row);
        self.bytes(&of("interleave"), spec.interleave);
        self.text(&of("cas"), &spec.cas);
        self.text(&of("activate"), &spec.activate);
        self.text(&of("precharge"), &spec.precharge);
        self.text(&of("row_cycle"), &spec.row_cycle);
        self.text(&of("row_to_row"), &spec.row_to_row);
        self.text(&of("write_recovery"), &spec.write_recovery);
        self.text(&of("write_to_read"), &spec.write_to_read);
        self.put(&of("hash"), spec.hash);
        match (spec.clock, spec.bus) {
            (Some(clock), Some(bus)) => {
                self.text(&of("clock"), &clock);
                self.text(&of("bus"), &bus);
            }
            _ => self.text(&of("bandwidth"), &spec.bandwidth),
        }
        self.bytes(&of("access"), spec.access);
        self.put(&of("always_reopen"), spec.always_reopen);
        self.word(&of("scheduler"), spec.scheduler);
        self.put(&of("queue"), spec.queue);
        self.put(&of("write_queue"), spec.write_queue);
        self.put(&of("row_hit_cap"), spec.row_hit_cap);
    }

    fn paging(&mut self, spec: &PagingSpec) {
        self.bytes("gpu.paging.page", spec.page);
        self.word("gpu.paging.faults", spec.faults);
        self.put("gpu.paging.far_faults", spec.far_faults);
        self.put("gpu.paging.tlb", spec.tlb);
        self.put("gpu.paging.tlb_ports", spec.tlb_ports);
        self.put("gpu.paging.tlb_latency", spec.tlb_latency);
        self.put("gpu.paging.walkers", spec.walkers);
        self.put("gpu.paging.levels", spec.levels);
        self.text("gpu.paging.walk_cache", &Size(u64::from(spec.walk_cache) * WALK_ENTRY));
        self.put("gpu.paging.walk_cache_latency", spec.walk_cache_latency);
        self.text("gpu.paging.walk_memory", &spec.walk_memory);
        self.text("gpu.paging.service", &spec.service);
        self.put("gpu.paging.transfer_set", spec.transfer_set);
        self.word("gpu.paging.prefetch", spec.prefetch);
    }

    fn moving_pages(&mut self, spec: &PagingSpec) {
        self.share("gpu.paging.share", spec.share);
        self.put("gpu.paging.prefetch_when_full", spec.prefetch_when_full);
        self.word("gpu.paging.evict", spec.evict);
        self.put("gpu.paging.precondition", spec.precondition);
        self.word("gpu.paging.copy", spec.copy);
        self.put("gpu.paging.copy_back", spec.copy_back);
    }

    fn read_only(&mut self, spec: &ReadOnlySpec) {
        self.bytes("gpu.read_only.page", spec.page);
        self.put("gpu.read_only.pages", if spec.everywhere { "all" } else { "host" });
        self.put("gpu.read_only.marks", if spec.every_launch { "launch" } else { "once" });
        self.text("gpu.read_only.host_fault", &spec.host_fault);
        self.text("gpu.read_only.gpu_fault", &spec.gpu_fault);
        self.put("gpu.read_only.pending", spec.pending);
        if let Some((limit, window)) = spec.limit {
            self.put("gpu.read_only.limit", limit);
            self.text("gpu.read_only.window", &window);
        }
        if let Some(tlb) = spec.tlb {
            self.put("gpu.read_only.tlb", tlb);
        }
        self.put("gpu.read_only.tlb_latency", spec.tlb_latency);
        self.put("gpu.read_only.walkers", spec.walkers);
        self.text("gpu.read_only.walk", &spec.walk);
    }

    fn numa(&mut self, spec: &NumaSpec) {
        self.word("gpu.numa.placement", spec.placement);
        self.bytes("gpu.numa.page", spec.page);
        self.word("gpu.numa.l2", spec.organisation);
        self.put("gpu.numa.invalidate", spec.invalidate);
        self.put("gpu.numa.sample", spec.sample);
        self.put("gpu.numa.threshold", spec.threshold);
    }

    fn unified(&mut self, spec: &UnifiedSpec) {
        self.put("gpu.unified.host_share", spec.host_share);
        self.bytes("gpu.unified.page", spec.page);
    }

    fn tags(&mut self, spec: &TagSpec) {
        self.bytes("gpu.tags.data", spec.data);
        self.share("gpu.tags.share", spec.share);
        self.put("gpu.tags.banks", spec.banks);
        self.put("gpu.tags.pending", spec.pending);
        self.put("gpu.tags.scoreboard", spec.scoreboard);
        self.text("gpu.tags.protocol", &spec.protocol);
    }

    fn copies(&mut self, spec: &CopiesSpec) {
        self.word("gpu.copies.by", spec.policy);
        self.share("gpu.copies.share", spec.share);
        self.word("gpu.copies.start", spec.start);
    }

    fn remote_directory(&mut self, spec: &RemoteDirectorySpec) {
        self.put("gpu.remote_directory.lines", spec.lines);
        self.put("gpu.remote_directory.ways", spec.ways);
        self.put("gpu.remote_directory.bits", spec.bits);
        self.put("gpu.remote_directory.high_water", spec.high_water);
        self.text("gpu.remote_directory.flush", &spec.flush);
    }

    fn host(&mut self, spec: &HostSpec) {
        self.put("host.cores", spec.cores);
        self.text("host.clock", &spec.clock);
        self.put("host.outstanding", spec.outstanding);
        self.cache("host.l1", &spec.l1);
        match &spec.llc {
            Some(llc) => self.cache("host.llc", llc),
            None => self.put("host.llc", false),
        }
        self.put("host.hmds", spec.hmds);
        self.bytes("host.interleave", spec.interleave);
        self.put("host.hash", spec.hash);
        self.bytes("host.block", spec.block);
        self.text("host.latency", &spec.latency);
        self.text("host.hop", &spec.hop);
        self.text("host.memory", &spec.memory);
        self.dram("host.dram", &spec.dram);
        self.put("host.peer_transfer", spec.peer_transfer);
        spec.client.iter().for_each(|client| self.cache("host.client", client));
    }

    fn network(&mut self, spec: &NetworkSpec) {
        self.word("network.kind", spec.kind);
        self.word("network.topology", spec.topology);
        self.text("network.bandwidth", &spec.bandwidth);
        self.put("network.lanes", spec.lanes);
        self.text("network.latency", &spec.latency);
        self.put("network.header", spec.header);
        if let Some(payload) = spec.payload {
            self.bytes("network.payload", payload);
        }
        self.bytes("network.granularity", spec.granularity);
        self.put("network.virtual_networks", spec.virtual_networks);
        self.put("network.transfers", if spec.by_sector { "sectors" } else { "line" });
        self.put("network.buffers", spec.buffers);
        self.text("network.energy", &spec.energy);
        spec.balancer.iter().for_each(|balancer| self.balancer(balancer));
    }

    fn balancer(&mut self, spec: &BalancerSpec) {
        self.word("network.balancer.policy", spec.policy);
        self.put("network.balancer.sample", spec.sample);
        self.put("network.balancer.turn", spec.turn);
        self.put("network.balancer.threshold", spec.threshold);
        self.word("network.balancer.at_launch", spec.at_launch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Kind};
    use crate::diagnostic::Source;

    fn file(spec: &MachineSpec) -> String {
        let lines: Vec<String> = keys(spec).iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        lines.concat()
    }

    #[test]
    fn keys_that_matter_without_others_are_there() {
        let spec = config::load_machine("tiny/selective-readonly", None).unwrap();
        let text = file(&spec).replace("walk = \"500 ns\"", "walk = \"20 us\"");
        let slower = config::machine_from_toml(&Source::new("slower", text)).unwrap();
        assert_ne!(slower, spec);
        assert_eq!(config::machine_from_toml(&Source::new("again", file(&slower))).unwrap(), slower);
    }

    #[test]
    fn a_file_with_all_keys_of_a_machine_is_that_machine() {
        for entry in config::list(Kind::Machine) {
            let spec = config::load_machine(&entry.name, None).unwrap();
            let again = config::machine_from_toml(&Source::new("again", file(&spec)));
            assert_eq!(
                again.unwrap_or_else(|error| panic!("{}: {error}", entry.name)),
                spec,
                "{}",
                entry.name
            );
        }
    }
}
