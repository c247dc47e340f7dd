//! The hardware: compute units and cores, links and channels, DRAM. A part sees its own state and what it is
//! given, never the machine.

pub mod agent;
pub mod channel;
pub mod coalescer;
pub mod copy_engine;
pub mod dram;
pub mod driver;
pub mod gmmu;
pub mod link;
pub mod meter;
pub mod port;
pub mod residency;
pub mod simd;
pub mod tlb;
