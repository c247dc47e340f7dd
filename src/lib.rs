//! umscope: a stepping debugger for the memory system of a CPU with one or many GPUs.
//!
//! The house, in the order of dependency: a module may use those above it, never one below
//! (`tests/house/` keeps it so).

pub mod model;
pub mod diagnostic;
pub mod protocol;
pub mod policy;
pub mod parts;
pub mod workload;
pub mod config;
pub mod machine;
pub mod query;
pub mod recording;
pub mod scenario;
pub mod explore;
pub mod debug;
pub mod report;
pub mod tui;
pub mod cli;
