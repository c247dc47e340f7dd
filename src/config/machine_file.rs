//! The machine file as it is written: every key, its meaning and its default.
//!
//! The documentation of each field is also its description in the JSON schema.

pub mod balancer;
pub mod copies;
pub mod numa;
pub mod paging;
pub mod read_only;
pub mod tags;
pub mod unified;

use super::machine::DramScheduler;
use super::machine::GpuHome;
use super::machine::NetworkKind;
use super::machine::Topology;
use crate::policy::cta::Schedule;
use crate::policy::warps::WarpScheduler;
use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::document::At;
use super::names::two_names;
use crate::model::units::{Bandwidth, BitEnergy, Duration, Frequency, Size};

/// A machine: a CPU with its memory, and GPUs that share it.
#[derive(Clone, Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(title = "umscope machine file")]
pub struct MachineFile {
    /// What the machine is, in a few words.
    pub name: Option<String>,
    /// Where its numbers come from, such as a paper and its table.
    pub source: Option<String>,
    /// Protocol of every cache and directory that does not name its own: a bundled name or a path. Default: "nmoesi".
    pub protocol: Option<At<String>>,
    /// Whether bytes are kept, not only masks of which bytes are dirty. Default: true.
    pub values: Option<bool>,
    /// The GPUs. Default: none.
    pub gpu: Option<GpuFile>,
    /// The CPU and its memory.
    pub host: Option<HostFile>,
    /// What connects the GPUs with the CPU.
    pub network: Option<NetworkFile>,
}

/// The GPUs, all alike.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
#[schemars(transform = two_names)]
pub struct GpuFile {
    /// GPUs, 1 to 8. Default: 1.
    pub count: Option<At<u64>>,
    /// Core clock; its cycles are the ones that positions are quoted in. Default: "800 MHz".
    pub clock: Option<At<Frequency>>,
    /// Compute units.
    #[serde(alias = "sm")]
    pub cu: Option<CuFile>,
    /// The cache of a compute unit. Default: 16 KiB, 4 ways, 64 B lines, 2 cycles, 16 MSHRs.
    pub l1: Option<CacheFile>,
    /// The cache that the compute units of a GPU share. Default of a slice: 128 KiB, 16 ways, 20 cycles, 32 MSHRs.
    pub l2: Option<L2File>,
    /// What stands behind the L2.
    pub memory: Option<GpuMemoryFile>,
    /// How pages come to GPU memory that is the GPU's own (`memory.home = "own"`), which they have to; or to the memory of the
    /// socket that is their home (`memory.home = "numa"`), where without this all data are at the start.
    pub paging: Option<paging::PagingFile>,
    /// Pages that the GPU may cache although they live elsewhere, since nobody has written them yet. Default: none.
    pub read_only: Option<read_only::ReadOnlyFile>,
    /// GPUs that are the sockets of one large GPU (`memory.home = "numa"`).
    pub numa: Option<numa::NumaFile>,
    /// Pages that live in host memory or in GPU memory (`memory.home = "unified"`).
    pub unified: Option<unified::UnifiedFile>,
    /// GPU memory that is a cache of the host's, with tags in DRAM (`memory.home = "cache"`).
    pub tags: Option<tags::TagsFile>,
    /// Copies between host memory and the memories of the GPUs, which then have the data only for a time (`memory.home =
    /// "numa"`; not with `paging`). Default: none, the GPUs' memories are all there is.
    pub copies: Option<copies::CopiesFile>,
    /// What the GPU knows about the CPU's caches, with `memory.home = "unified"`, if it takes no part in their coherence.
    /// Default: it takes part.
    pub remote_directory: Option<unified::RemoteDirectoryFile>,
    /// How the thread blocks of a kernel are dealt over the GPUs. Default: "modulo".
    pub ctas: Option<Schedule>,
}

/// The compute units of one GPU.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
#[schemars(transform = two_names)]
pub struct CuFile {
    /// Compute units in a GPU, 1 to 512. Default: 1.
    pub count: Option<At<u64>>,
    /// Wavefronts (warps) that a compute unit holds, 1 to 64. Default: 4.
    #[serde(alias = "warps")]
    pub wavefronts: Option<At<u64>>,
    /// Lanes that issue in one cycle (SIMD width), 1 to 64. Default: 4.
    pub lanes: Option<At<u64>>,
    /// SIMD units: so many wavefronts compute at a time, the others wait for one; 1 to 64. Default: as many as wavefronts.
    pub simds: Option<At<u64>>,
    /// Threads in a wavefront of a kernel that is not told otherwise (`with.wavefront`), 1 to 64. Default: as in the kernel's
    /// source, 64 or 32.
    #[serde(alias = "warp_size")]
    pub wavefront_size: Option<At<u64>>,
    /// Memory instructions that a wavefront may have in flight, 1 to 64. Default: 1.
    pub outstanding: Option<At<u64>>,
    /// Which wavefront issues next. Default: greedy.
    pub scheduler: Option<WarpScheduler>,
}

/// A cache.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
#[schemars(transform = two_names)]
pub struct CacheFile {
    /// Capacity. Size divided by line and ways gives the number of sets, which must be a power of two.
    pub size: Option<At<Size>>,
    /// Blocks in a set, 1 to 65536.
    pub ways: Option<At<u64>>,
    /// Size of a block, a power of two from 8 B to 16 KiB. Default: "64 B", or that of the caches above it.
    #[serde(alias = "block")]
    pub line: Option<At<Size>>,
    /// Lookup, in cycles of its device, 0 to 1000000, of which 0 is 1. Of an L1, until a hit is there: what misses is asked for at once.
    pub latency: Option<At<u64>>,
    /// Of a cache with others above it: cycles until it takes what comes from below, and what it answers with that leaves.
    /// 0 to 1000000. Default: as `latency`.
    pub fill: Option<At<u64>>,
    /// Misses that may be under way, 1 to 4096.
    pub mshrs: Option<At<u64>>,
    /// Messages that it takes in a cycle of its device, 1 to 16. Default: 1.
    pub ports: Option<At<u64>>,
    /// Its own protocol, if it differs from the machine's.
    pub protocol: Option<At<String>>,
}

/// The second-level cache of a GPU.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
#[schemars(transform = two_names)]
pub struct L2File {
    /// Whether there is one. Without it the L1s stand over the memory stacks, dealt over them as over slices, or with
    /// `memory.home = "host"` over the host. Default: true.
    pub present: Option<bool>,
    /// Slices, and with an SMD as many memory stacks, 1 to 128. Default: 1.
    pub slices: Option<At<u64>>,
    /// Capacity of one slice. Size divided by line and ways gives the number of sets, which must be a power of two.
    pub size: Option<At<Size>>,
    /// Blocks in a set, 1 to 65536.
    pub ways: Option<At<u64>>,
    /// Size of a block, a power of two from 8 B to 16 KiB. Default: that of the L1.
    #[serde(alias = "block")]
    pub line: Option<At<Size>>,
    /// Lookup, in core cycles, 0 to 1000000.
    pub latency: Option<At<u64>>,
    /// Core cycles until it takes what comes from below, and what it answers with that leaves; 0 to 1000000.
    /// Default: as `latency`.
    pub fill: Option<At<u64>>,
    /// Misses that may be under way in one slice, 1 to 4096.
    pub mshrs: Option<At<u64>>,
    /// Messages that one slice takes in a core cycle, 1 to 16. Default: 1.
    pub ports: Option<At<u64>>,
    /// Its own protocol, if it differs from the machine's.
    pub protocol: Option<At<String>>,
    /// Addresses are dealt over the slices in pieces of this size, a power of two. Default: "4 KiB", or the largest block of
    /// the GPU if that is larger.
    pub interleave: Option<At<Size>>,
    /// Whether pieces are dealt by all bits of their number and not only the lowest, so that strides of a power of two do not
    /// camp on some slices. For a power of two of slices. Default: false.
    pub hash: Option<At<bool>>,
    /// Crossbar between L1s and slices, one way, in core cycles, 0 to 1000000. Default: 1.
    pub crossbar_latency: Option<At<u64>>,
    /// Bytes per core cycle of each crossbar port, 0 to 65536; 0 is an ideal one. Default: 0.
    pub crossbar_width: Option<At<u64>>,
}

/// What stands behind the L2 of a GPU.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
#[schemars(transform = two_names)]
pub struct GpuMemoryFile {
    /// Where a miss of the L2 goes. Default: "smd".
    pub home: Option<GpuHome>,
    /// Capacity of one stack; there is one behind each L2 slice. Default: "1 GiB".
    pub size: Option<At<Size>>,
    /// Secondary blocks in a set, 1 to 65536. Default: 4, or as many as there are.
    pub ways: Option<At<u64>>,
    /// Size of a secondary block, a power of two from 64 B to 16 KiB. Default: "4 KiB".
    #[serde(alias = "block")]
    pub secondary_block: Option<At<Size>>,
    /// Bytes that one bit of a dirty mask stands for: 1, 2, 4 or 8. Smaller stores become coherent. Default: 1.
    pub mask_bytes: Option<At<u64>>,
    /// Lookup in the directory, in core cycles, 0 to 1000000. Default: 2.
    pub latency: Option<At<u64>>,
    /// Misses that may be under way in one directory, 1 to 4096. Default: 32.
    pub mshrs: Option<At<u64>>,
    /// Messages that one directory, or one partition of a memory without, takes in a core cycle, 1 to 16. Default: 1.
    pub ports: Option<At<u64>>,
    /// The stacked DRAM. Default: 8 banks, 2 KiB rows, 12 ns each for column, activate and precharge, 38.4 GB/s, rows
    /// reopened as `always_reopen` says.
    pub dram: Option<DramFile>,
}

/// A memory.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct DramFile {
    /// Channels behind one controller, 1 to 16, each with its banks and a share of the bandwidth. Default: 1.
    pub channels: Option<At<u64>>,
    /// Banks of a channel, 1 to 1024.
    pub banks: Option<At<u64>>,
    /// Row buffer, a power of two from 64 B to 1 MiB.
    pub row: Option<At<Size>>,
    /// Neighbouring bytes that lie in one bank before the next one has its turn, a power of two from 64 B to a row. Default: a
    /// row, which suits rows that stay open; where none does, less lets more banks work at once.
    pub interleave: Option<At<Size>>,
    /// Column access in an open row.
    pub cas: Option<At<Duration>>,
    /// Opening a row.
    pub activate: Option<At<Duration>>,
    /// Closing a row.
    pub precharge: Option<At<Duration>>,
    /// Between openings of two rows of a bank (tRC). Default: "0 ns", as of the next three: what opening, columns and data take.
    pub row_cycle: Option<At<Duration>>,
    /// Between openings of rows in two banks of a channel (tRRD).
    pub row_to_row: Option<At<Duration>>,
    /// From the last byte of a write until its row can be closed (tWR).
    pub write_recovery: Option<At<Duration>>,
    /// From the last byte of a write until a read can ask for a column of the channel (tCDLR, tWTR); "0 ns": it waits for no write.
    pub write_to_read: Option<At<Duration>>,
    /// Deal `interleave` over channels and banks by all bits of an address, so that strides of a power of two do not all fall to the
    /// same bank. Channels times banks are a power of two then, and none holds tags. Default: false.
    pub hash: Option<At<bool>>,
    /// Data bus of all channels together; or say its clock and width.
    pub bandwidth: Option<At<Bandwidth>>,
    /// Clock of the data bus, with `bus`.
    pub clock: Option<At<Frequency>>,
    /// Bytes that move in one cycle of `clock`, 1 B to 4 KiB.
    pub bus: Option<At<Size>>,
    /// Bytes that an access moves at least, a power of two from 1 B to 4 KiB. Default: "1 B".
    pub access: Option<At<Size>>,
    /// Every access closes the row and opens its own (UMH, section 5.4, of an SMD). Default: true of GPU memory with home = "smd", false of others.
    pub always_reopen: Option<bool>,
    /// How the controller orders its requests. Default: "in-order".
    pub scheduler: Option<DramScheduler>,
    /// Requests that fr-fcfs chooses among in a channel, 1 to 256: the oldest so many reads, or writes. Default: 32.
    pub queue: Option<At<u64>>,
    /// Writes that gather in a channel before fr-fcfs drains half of them, 1 to 256. Without reads it drains them at once.
    /// Default: 16.
    pub write_queue: Option<At<u64>>,
    /// Younger row hits that may pass an older request of their bank, 0 to 1024; bounds starvation. Default: 16.
    pub row_hit_cap: Option<At<u64>>,
}

/// The CPU and its memory.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct HostFile {
    /// Cores, 0 to 64. Default: 1.
    pub cores: Option<At<u64>>,
    /// Clock of the cores and their caches. Default: "2.4 GHz".
    pub clock: Option<At<Frequency>>,
    /// Memory instructions that a core may have in flight, 1 to 64. Default: 1.
    pub outstanding: Option<At<u64>>,
    /// The cache of a core. Default: 32 KiB, 8 ways, 64 B lines, 4 cycles, 8 MSHRs.
    pub l1: Option<CacheFile>,
    /// The cache that the cores share, or `false` for none. Default: 2 MiB, 16 ways, 30 cycles, 32 MSHRs.
    pub llc: Option<LlcFile>,
    /// Host memory directories, each with a memory of its own: 1, 2, 4 or 8. Default: 1.
    pub hmds: Option<At<u64>>,
    /// Addresses are dealt over the HMDs in pieces of this size, a power of two. Default: "4 KiB", or the directory block if
    /// that is larger.
    pub interleave: Option<At<Size>>,
    /// Whether pieces are dealt by all bits of their number and not only the lowest. Default: false.
    pub hash: Option<bool>,
    /// Block of the directories, a power of two. Default: the largest block below.
    pub block: Option<At<Size>>,
    /// Lookup in the directory. Default: "0.5 ns".
    pub latency: Option<At<Duration>>,
    /// Wire from a core's L1 to the LLC and from there to an HMD, one way. Default: "2 ns".
    pub hop: Option<At<Duration>>,
    /// Capacity of the memory, all of it. Default: "8 GiB".
    pub memory: Option<At<Size>>,
    /// The DRAM behind one HMD. Default: 16 banks, 8 KiB rows, 14 ns each for column, activate and precharge, 25.6 GB/s.
    pub dram: Option<DramFile>,
    /// GPUs that own a block hand it to each other (UMH, Fig. 5 b-2), where `host.block` is no larger than theirs. Default: false.
    pub peer_transfer: Option<bool>,
    /// A cache for what GPUs ask of host memory, with `gpu.memory.home = "unified"` ("Selective GPU Caches", section 3.2.2).
    /// Its latency is in host cycles; that of the directory, `host.latency`, passes meanwhile. Default: none; of one that is named: 512 KiB, 8 ways, lines as in the GPU, 200 cycles,
    /// 128 MSHRs, protocol "selective-client".
    pub client: Option<CacheFile>,
}

/// The last-level cache, or `false`.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub enum LlcFile {
    /// `false`: the L1s of the cores stand below the HMDs. `true`: the default.
    Switch(bool),
    Cache(Box<CacheFile>),
}

/// What connects the GPUs with the CPU.
#[derive(Clone, Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct NetworkFile {
    /// Default: "pcie".
    pub kind: Option<NetworkKind>,
    /// Default: "shared" with PCIe, "point-to-point" with NVLink.
    pub topology: Option<Topology>,
    /// Of one direction of one link, all lanes. Default: "16 GB/s" with PCIe, "80 GB/s" with NVLink.
    pub bandwidth: Option<At<Bandwidth>>,
    /// Lanes per direction, 1 to 64. Default: 16 with PCIe, 8 with NVLink.
    pub lanes: Option<At<u64>>,
    /// One way, from device to device; through a switch half of it is on each of the two links. Default: "250 ns" with PCIe,
    /// "100 ns" with NVLink.
    pub latency: Option<At<Duration>>,
    /// Bytes of a message without its data, 1 to 1024. Default: 16.
    pub header: Option<At<u64>>,
    /// Data of a packet at most, 8 B to 64 KiB: a message with more goes in several, each with a header. Default: any message
    /// is one packet. Pages and copies that move have headers where this or `granularity` is set, and are their bytes alone else.
    pub payload: Option<At<Size>>,
    /// Data of a message go in whole pieces of this size, 1 B to 128 B, a power of two. Default: "1 B".
    pub granularity: Option<At<Size>>,
    /// 3 for requests, probes and replies, or 1 for all of them together, which can deadlock. Default: 3.
    pub virtual_networks: Option<At<u64>>,
    /// How much of a line of the host's memory comes to the caches of a GPU whose memory is one half of all: "sectors" is the 32 B pieces
    /// that somebody waits for. Default: "line".
    pub transfers: Option<At<TransfersWord>>,
    /// Messages that a receiver can buffer, per sender and virtual network, 1 to 1024. Default: 4.
    pub buffers: Option<At<u64>>,
    /// What moves a bit from device to device, the switch included. Default: "10 pJ/bit" ("Beyond the Socket: NUMA-Aware GPUs",
    /// section 6).
    pub energy: Option<At<BitEnergy>>,
    /// Samples the links, and turns lanes to where they are needed. Default: the lanes are fixed, and nobody looks.
    pub balancer: Option<balancer::BalancerFile>,
}

/// How much of a line comes to a cache that may not keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransfersWord {
    /// All of it.
    Line,
    /// The pieces of 32 B that somebody waits for ("Selective GPU Caches", section 3.2.3).
    Sectors,
}

/// The machine of a scenario: a name or path, or the machine itself.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub enum MachineChoice {
    /// A bundled name, or the path of a machine file.
    Named(At<String>),
    /// A machine written out.
    Inline(Box<MachineFile>),
}

impl<'de> Deserialize<'de> for LlcFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = LlcFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a cache such as { size = \"2 MiB\" }, or false")
            }
            fn visit_bool<E: serde::de::Error>(self, switch: bool) -> std::result::Result<LlcFile, E> {
                Ok(LlcFile::Switch(switch))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<LlcFile, A::Error> {
                CacheFile::deserialize(MapAccessDeserializer::new(map))
                    .map(|cache| LlcFile::Cache(Box::new(cache)))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl<'de> Deserialize<'de> for MachineChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = (Option<String>, Option<MachineFile>);
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name or path of a machine, or a machine as a table")
            }
            fn visit_str<E: serde::de::Error>(self, name: &str) -> std::result::Result<Self::Value, E> {
                Ok((Some(name.to_owned()), None))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<Self::Value, A::Error> {
                MachineFile::deserialize(MapAccessDeserializer::new(map)).map(|file| (None, Some(file)))
            }
        }
        struct Choice((Option<String>, Option<MachineFile>));
        impl<'de> Deserialize<'de> for Choice {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                deserializer.deserialize_any(Either).map(Choice)
            }
        }
        let At { value: Choice((name, file)), span } = At::deserialize(deserializer)?;
        Ok(match file {
            Some(file) => Self::Inline(Box::new(file)),
            None => Self::Named(At { value: name.unwrap_or_default(), span }),
        })
    }
}
