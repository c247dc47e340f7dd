//! What a node counts.

use crate::model::time::Tick;

/// Statistics read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub hits: u64,
    pub misses: u64,
    /// Requests that joined one under way for the same block.
    pub merges: u64,
    pub evictions: u64,
    pub recalls: u64,
    pub writebacks: u64,
    /// Probes sent to children, probes that came from the parent, and blocks that these or a flush took away.
    pub probes: u64,
    pub probed: u64,
    pub lost: u64,
    pub merged_bytes: u64,
    pub peer_transfers: u64,
    pub promotions: u64,
    pub mshr_full: u64,
    /// Ticks that MSHRs were in use, less the moment at which each of those in use was taken.
    pub(super) mshr_ticks: Tick,
    /// Bytes that a flush of this node wrote back.
    pub flushed_bytes: u64,
    /// Those that it wrote back since a kernel was to begin.
    pub launch_bytes: u64,
    /// Hits and misses of blocks whose home is another socket.
    pub remote_hits: u64,
    pub remote_misses: u64,
    /// Probes of lines that the remote directory claims, that the CPU turned out not to have; and those of lines that it
    /// never had.
    pub nacks: u64,
    pub false_positives: u64,
    /// How often the CPU had to give up all lines.
    pub forced_flushes: u64,
    /// Loads of blocks that may not be kept, and the requests that were sent for them.
    pub uncached_loads: u64,
    pub uncached_requests: u64,
    /// Sectors that came for such loads, and those that nobody waited for.
    pub sectors_brought: u64,
    pub sectors_dropped: u64,
    /// Those of them that came from another memory.
    pub far_sectors_brought: u64,
    pub far_sectors_dropped: u64,
    /// Fetches of sectors that were missing from lines kept by sector, whose state allowed what was wanted.
    pub sector_misses: u64,
    /// Bytes that fences and kernel boundaries wrote back, and blocks that they emptied.
    pub released_bytes: u64,
    pub invalidated: u64,
}

impl Counters {
    /// Counts of several nodes together.
    pub fn add(&mut self, other: &Self) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.merges += other.merges;
        self.evictions += other.evictions;
        self.recalls += other.recalls;
        self.writebacks += other.writebacks;
        self.probes += other.probes;
        self.probed += other.probed;
        self.lost += other.lost;
        self.merged_bytes += other.merged_bytes;
        self.peer_transfers += other.peer_transfers;
        self.promotions += other.promotions;
        self.mshr_full += other.mshr_full;
        self.mshr_ticks = self.mshr_ticks.wrapping_add(other.mshr_ticks);
        self.flushed_bytes += other.flushed_bytes;
        self.launch_bytes += other.launch_bytes;
        self.remote_hits += other.remote_hits;
        self.remote_misses += other.remote_misses;
        self.nacks += other.nacks;
        self.false_positives += other.false_positives;
        self.forced_flushes += other.forced_flushes;
        self.uncached_loads += other.uncached_loads;
        self.uncached_requests += other.uncached_requests;
        self.sectors_brought += other.sectors_brought;
        self.sectors_dropped += other.sectors_dropped;
        self.far_sectors_brought += other.far_sectors_brought;
        self.far_sectors_dropped += other.far_sectors_dropped;
        self.sector_misses += other.sector_misses;
        self.released_bytes += other.released_bytes;
        self.invalidated += other.invalidated;
    }
}
