//! What decides: small pure functions over named signals, one file each, named as their paper names them.

pub mod copies;
pub mod cta;
pub mod eviction;
pub mod lanes;
pub mod placement;
pub mod prefetch;
pub mod read_only;
pub mod warps;
pub mod ways;
