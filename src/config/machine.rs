//! A machine file as a typed specification: plain numbers in base units, already checked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::units::{Bandwidth, BitEnergy, Duration, Frequency, Size};
use crate::policy::copies::{CopyPolicy, Side};
use crate::policy::cta::Schedule;
use crate::policy::eviction::Evictor;
use crate::policy::lanes::LanePolicy;
use crate::policy::placement::Placement;
use crate::policy::prefetch::Prefetcher;
use crate::policy::warps::WarpScheduler;

/// A whole machine.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineSpec {
    pub name: String,
    /// Name or path of the protocol table of every node that does not name its own.
    pub protocol: String,
    /// Whether bytes are kept (protocol scenarios) or only masks (performance runs).
    pub values: bool,
    pub gpu: Option<GpuSpec>,
    pub host: HostSpec,
    pub network: NetworkSpec,
}

impl MachineSpec {
    /// What makes its GPUs the sockets of one, if something does.
    #[must_use]
    pub fn numa(&self) -> Option<&NumaSpec> {
        self.gpu.as_ref()?.numa.as_ref()
    }

    /// The protocols of the GPUs' L1s, of their L2s and of the rest, as one reads them, each once.
    #[must_use]
    pub fn protocol_names(&self) -> String {
        let caches = self.gpu.iter().flat_map(|gpu| [&gpu.l1.protocol, &gpu.l2.cache.protocol]);
        let mut names: Vec<&str> = Vec::new();
        for name in caches.map(|own| own.as_deref().unwrap_or(&self.protocol)).chain([self.protocol.as_str()])
        {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ")
    }

    /// The protocol of every part that names one, the machine's own first.
    pub fn protocols(&mut self) -> Vec<&mut String> {
        let mut names = vec![&mut self.protocol];
        if let Some(gpu) = &mut self.gpu {
            names.extend(&mut gpu.l1.protocol);
            names.extend(&mut gpu.l2.cache.protocol);
            names.extend(gpu.numa.as_mut().and_then(|numa| numa.remote.as_mut()));
            names.extend(gpu.tags.as_mut().map(|tags| &mut tags.protocol));
        }
        names.extend(self.host.client.as_mut().and_then(|client| client.protocol.as_mut()));
        names.extend(&mut self.host.l1.protocol);
        names.extend(self.host.llc.as_mut().and_then(|llc| llc.protocol.as_mut()));
        names
    }

    /// Every cache and GPU memory `by` times smaller, a power of two: fewer sets, a power of two still, of the same ways
    /// and blocks; each keeps one at least.
    pub fn shrink(&mut self, by: u64) {
        let caches = self.gpu.iter_mut().flat_map(|gpu| [&mut gpu.l1, &mut gpu.l2.cache]);
        let host = [&mut self.host.l1].into_iter().chain(&mut self.host.llc).chain(&mut self.host.client);
        for cache in caches.chain(host) {
            let set = u64::from(cache.ways) * u64::from(cache.line);
            cache.size = Size((cache.size.0 / by.max(1)).max(set));
        }
        if let Some(gpu) = &mut self.gpu {
            let set = match gpu.memory.home {
                GpuHome::Cache => u64::from(gpu.memory.dram.row),
                _ => u64::from(gpu.memory.ways) * u64::from(gpu.memory.secondary_block),
            };
            gpu.memory.size = Size((gpu.memory.size.0 / by.max(1)).max(set));
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct GpuSpec {
    /// 1 to 8.
    pub count: u32,
    /// Core clock; its cycles are the ones that people are shown.
    pub clock: Frequency,
    pub cu: CuSpec,
    pub l1: CacheSpec,
    pub l2: L2Spec,
    pub memory: GpuMemorySpec,
    /// Of a GPU with memory of its own.
    pub paging: Option<PagingSpec>,
    /// Pages that are taken for read-only.
    pub read_only: Option<ReadOnlySpec>,
    /// Of GPUs that share their memories.
    pub numa: Option<NumaSpec>,
    /// Of a GPU whose memory is one half of all.
    pub unified: Option<UnifiedSpec>,
    /// Of a GPU whose memory is a direct-mapped cache of the host's.
    pub tags: Option<TagSpec>,
    /// Of GPUs whose memories have their data from the host.
    pub copies: Option<CopiesSpec>,
    /// Of a GPU that takes no part in the coherence of the CPU.
    pub remote_directory: Option<RemoteDirectorySpec>,
    /// How thread blocks are dealt over GPUs.
    pub ctas: Schedule,
}

/// Warp slots that a compute unit has at most.
pub const MOST_WAVEFRONTS: u32 = 64;

#[derive(Clone, Debug, PartialEq)]
pub struct CuSpec {
    pub count: u32,
    /// Warp (wavefront) slots in a compute unit, 1 to [`MOST_WAVEFRONTS`].
    pub wavefronts: u32,
    /// Lanes that issue in one cycle (SIMD width); a wavefront of 64 on 16 lanes takes 4 cycles to issue.
    pub lanes: u32,
    /// SIMD units: so many wavefronts compute at a time, 1 to 64. As many as wavefronts: none waits for one.
    pub simds: u32,
    /// Threads in a wavefront of a kernel that is not told otherwise, 1 to 64; nothing: as in the kernel's source.
    pub wavefront_size: Option<u32>,
    /// Memory instructions that a warp may have in flight.
    pub outstanding: u32,
    pub scheduler: WarpScheduler,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CacheSpec {
    pub size: Size,
    pub ways: u32,
    /// Block size in bytes, a power of two.
    pub line: u32,
    /// Lookup, in cycles of the clock of its device.
    pub latency: u32,
    /// Until it takes what comes from below, in the same cycles.
    pub fill: u32,
    pub mshrs: u32,
    /// Messages that it takes in a cycle, 1 to 16.
    pub ports: u32,
    /// Its own table, if it differs from the machine's.
    pub protocol: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct L2Spec {
    /// Without it the L1s stand over what would be behind it.
    pub present: bool,
    pub slices: u32,
    /// Each slice.
    pub cache: CacheSpec,
    /// Addresses are dealt over the slices (and memory partitions) in pieces of this many bytes.
    pub interleave: u32,
    /// By all bits of a piece's number.
    pub hash: bool,
    /// Crossbar between L1s and slices: one-way latency in core cycles.
    pub crossbar_latency: u32,
    /// Bytes per core cycle of each crossbar port; 0 for an ideal one (Table III: "L1-L2 Interconnect: Ideal").
    pub crossbar_width: u32,
}

/// What stands behind a GPU's L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GpuHome {
    /// A stacked memory directory: GPU memory caches host memory (UMH).
    #[default]
    Smd,
    /// Nothing: the L2 goes straight to host memory.
    Host,
    /// The GPU's own memory, one partition a slice, with the pages that were brought there.
    Own,
    /// The memories of all GPUs, one partition a slice: each page has a home among them.
    Numa,
    /// The GPU's own memory and that of the host: each page has its home in one of them.
    Unified,
    /// The GPU's memory as a cache of the host's, with tags in DRAM, one partition a slice (`ScaleGPU`).
    Cache,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GpuMemorySpec {
    pub home: GpuHome,
    /// Capacity of one stack; one per L2 slice.
    pub size: Size,
    pub ways: u32,
    /// Bytes, 64 to 16384, a power of two.
    pub secondary_block: u32,
    /// Bytes that one bit of a byte mask stands for: 1, 2, 4 or 8.
    pub mask_bytes: u32,
    /// SMD lookup in core cycles.
    pub latency: u32,
    pub mshrs: u32,
    /// Messages that a directory or partition takes in a cycle, 1 to 16.
    pub ports: u32,
    pub dram: DramSpec,
}

/// What a far-fault does to its compute unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FaultMode {
    /// The warp waits, the others go on.
    #[default]
    Replay,
    /// The TLB takes nothing until the page is there.
    Block,
}

/// When the data of the work come to the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CopyMode {
    /// Page by page, as far-faults and prefetchers ask.
    #[default]
    OnDemand,
    /// All of them, before the work begins.
    UpFront,
    /// While the work runs, which has them all at once: the bound of all that overlaps.
    Overlapped,
}

/// Bytes of an entry of the walk cache.
pub const WALK_ENTRY: u64 = 8;

/// Paged GPU memory.
#[derive(Clone, Debug, PartialEq)]
pub struct PagingSpec {
    /// Bytes of a page.
    pub page: u32,
    /// GPU memory in thousandths of what the work touches; the memory's size if there is none.
    pub share: Option<u32>,
    pub faults: FaultMode,
    /// Tracked of those that a compute unit has raised; where compute units block, one is.
    pub far_faults: u32,
    /// Entries.
    pub tlb: u32,
    /// Look-ups of a TLB in a cycle.
    pub tlb_ports: u32,
    /// One way, in core cycles.
    pub tlb_latency: u32,
    pub walkers: u32,
    pub levels: u32,
    /// Entries.
    pub walk_cache: u32,
    /// In core cycles.
    pub walk_cache_latency: u32,
    pub walk_memory: Duration,
    pub service: Duration,
    /// Pages; so many are in flight at most before prefetching waits.
    pub transfer_set: u32,
    pub prefetch: Prefetcher,
    pub prefetch_when_full: bool,
    pub evict: Evictor,
    pub precondition: bool,
    pub copy: CopyMode,
    pub copy_back: bool,
}

/// Pages that are taken for read-only ("Selective GPU Caches", section 3.3).
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOnlySpec {
    /// Bytes of a page.
    pub page: u32,
    /// Pages of GPU memory, too, not only those of host memory.
    pub everywhere: bool,
    /// They are marked at every launch of a kernel, not only before the first work.
    pub every_launch: bool,
    pub host_fault: Duration,
    pub gpu_fault: Duration,
    /// Faults of a compute unit.
    pub pending: u32,
    /// Most faults, and in what time.
    pub limit: Option<(u32, Duration)>,
    /// Entries; all pages if there is none.
    pub tlb: Option<u32>,
    /// One way, in core cycles.
    pub tlb_latency: u32,
    pub walkers: u32,
    pub walk: Duration,
}

/// What the L2 of a socket caches ("Beyond the Socket: NUMA-Aware GPUs", Fig. 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Organisation {
    /// (a) Lines of its own memory, for all sockets.
    MemorySide,
    /// (b) Half of it does that; the other half caches lines of other sockets.
    Static,
    /// (c) Whatever its own SMs access.
    #[default]
    Shared,
    /// (d) The same, in ways for local and ways for remote lines.
    Partitioned,
}

/// GPUs that are the sockets of one large GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct NumaSpec {
    pub placement: Placement,
    /// Bytes of a page.
    pub page: u32,
    pub organisation: Organisation,
    /// Protocol of the remote half of a static L2.
    pub remote: Option<String>,
    /// Fences and kernel boundaries concern the L2.
    pub invalidate: bool,
    /// Cycles after which ways are dealt anew.
    pub sample: u32,
    /// Percent from which on a bandwidth is saturated.
    pub threshold: u32,
}

/// Memory of which one half is the host's and one the GPU's.
#[derive(Clone, Debug, PartialEq)]
pub struct UnifiedSpec {
    /// Percent of all pages that live in host memory.
    pub host_share: u32,
    /// Bytes of a page.
    pub page: u32,
}

/// GPU memory as a direct-mapped cache of the host's, with its tags in DRAM ("`ScaleGPU`", section 3).
#[derive(Clone, Debug, PartialEq)]
pub struct TagSpec {
    /// Bytes of data that a tag stands for.
    pub data: u32,
    /// GPU memory in thousandths of what the work touches; the memory's size if there is none.
    pub share: Option<u32>,
    /// Banks of a channel that hold tags and no data.
    pub banks: u32,
    /// Requests that the tag miss handler of a partition holds.
    pub pending: u32,
    /// Tags that it fetches the data of at once.
    pub scoreboard: u32,
    /// Protocol of the memory.
    pub protocol: String,
}

/// Bulk copies between the memories of host and GPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct CopiesSpec {
    pub policy: CopyPolicy,
    /// GPU memory in thousandths of what the work touches; the memories' size if there is none.
    pub share: Option<u32>,
    /// Which side has the data at the start.
    pub start: Side,
}

/// What a GPU knows about the CPU's caches.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteDirectorySpec {
    /// In all slices of the memory together.
    pub lines: u32,
    pub ways: u32,
    /// Of a fingerprint.
    pub bits: u32,
    /// Percent.
    pub high_water: u32,
    /// What the software takes that flushes the CPU's caches.
    pub flush: Duration,
}

/// How a memory controller orders its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DramScheduler {
    /// As they come, without a queue: a bank has done with one request, its column access included, before it begins the next, so that
    /// hits of its open row do not overlap.
    #[default]
    InOrder,
    /// First ready, first come first served (UMH, Table III).
    FrFcfs,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DramSpec {
    /// Channels behind one controller; each has banks and an equal share of the bandwidth.
    pub channels: u32,
    /// Of a channel.
    pub banks: u32,
    /// Row buffer in bytes.
    pub row: u32,
    /// Neighbouring bytes in one bank; a divisor of the row.
    pub interleave: u32,
    /// Column access (row already open).
    pub cas: Duration,
    /// Opening a row.
    pub activate: Duration,
    /// Closing a row.
    pub precharge: Duration,
    /// Between openings of two rows of a bank (tRC); of rows in two banks of a channel (tRRD).
    pub row_cycle: Duration,
    pub row_to_row: Duration,
    /// From the last byte of a write until its row can be closed (tWR); until a read can ask for a column (tCDLR).
    pub write_recovery: Duration,
    pub write_to_read: Duration,
    /// Dealt over channels and banks by all bits of an address.
    pub hash: bool,
    /// Of all channels together.
    pub bandwidth: Bandwidth,
    /// Bytes that an access moves at least.
    pub access: u32,
    /// Memory clock, and bytes moved in one of its cycles, where the file gives those instead of a bandwidth.
    pub clock: Option<Frequency>,
    pub bus: Option<Size>,
    /// Every access closes the row and opens its own (UMH, section 5.4: an SMD request).
    pub always_reopen: bool,
    pub scheduler: DramScheduler,
    /// Requests that the scheduler of a channel chooses among.
    pub queue: u32,
    /// Writes of a channel that gather before half of them are drained.
    pub write_queue: u32,
    /// Younger row hits that may pass an older request of their bank.
    pub row_hit_cap: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HostSpec {
    pub cores: u32,
    pub clock: Frequency,
    /// Memory instructions that a core may have in flight.
    pub outstanding: u32,
    pub l1: CacheSpec,
    /// Shared last-level cache; without it the cores' L1s stand below the HMDs.
    pub llc: Option<CacheSpec>,
    pub hmds: u32,
    /// Addresses are dealt over the HMDs in pieces of this many bytes.
    pub interleave: u32,
    /// By all bits of a piece's number.
    pub hash: bool,
    /// Directory block of an HMD in bytes.
    pub block: u32,
    /// HMD lookup.
    pub latency: Duration,
    /// Wire from core L1 to LLC and from LLC to HMD, one way.
    pub hop: Duration,
    pub memory: Size,
    pub dram: DramSpec,
    /// GPUs that own a block hand it to each other (UMH, Fig. 5 b-2).
    pub peer_transfer: bool,
    /// A cache for what GPUs ask.
    pub client: Option<CacheSpec>,
}

/// The kind of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NetworkKind {
    #[default]
    Pcie,
    Nvlink,
}

/// The shape of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// All GPUs and the host share one medium in each direction.
    Shared,
    /// Each GPU has its own link to the host, and one to each other GPU for peer transfers.
    PointToPoint,
    /// Each GPU, and the host, has one link to a switch.
    Switch,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NetworkSpec {
    pub kind: NetworkKind,
    pub topology: Topology,
    /// Of one direction of one link, all lanes.
    pub bandwidth: Bandwidth,
    /// Lanes per direction.
    pub lanes: u32,
    /// One way, from device to device: through a switch, half of it on each link.
    pub latency: Duration,
    /// Bytes of a message without its data.
    pub header: u32,
    /// Bytes of data in a packet at most, each of which has a header of its own; none where a message is one packet.
    pub payload: Option<u32>,
    /// Data of a message go in whole pieces of so many bytes.
    pub granularity: u32,
    /// 3 (request, probe, reply) or 1 (all folded together).
    pub virtual_networks: u32,
    /// Caches of a GPU get of a line of the host's memory the sectors that they wait for, not all of it.
    pub by_sector: bool,
    /// Messages that a receiver can buffer, per sender and virtual network.
    pub buffers: u32,
    /// From device to device, the switch included.
    pub energy: BitEnergy,
    /// If the links are sampled.
    pub balancer: Option<BalancerSpec>,
}

/// Who looks at how busy the links are, and turns their lanes ("Beyond the Socket: NUMA-Aware GPUs", section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BalancerSpec {
    pub policy: LanePolicy,
    /// Core cycles between two decisions.
    pub sample: u32,
    /// Core cycles for which a lane that turns belongs to neither direction.
    pub turn: u32,
    /// Percent of a sample that a direction has to be busy to count as saturated.
    pub threshold: u32,
    pub at_launch: AtLaunch,
}

/// What becomes of lanes when a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AtLaunch {
    /// As many in each direction.
    #[default]
    Symmetric,
    /// They stay.
    Keep,
}
