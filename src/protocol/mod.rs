//! The coherence protocol: tables as in the papers, and the generic engine that runs them. No time, no files.
//!
//! A [`node::Node`] is one cache or directory of the hierarchy. It takes accesses (an L1), requests, probes and
//! replies, and puts what it sends and what it completes into an [`outbox::Outbox`]; whoever drives it delivers
//! that, with latencies or in any order. What the UMH paper's Table II and section 4 say is made concurrent by a few rules
//! ([`rules`]); each place that keeps one of them says which.

pub mod homes;
pub mod interleave;
pub mod mutation;
pub mod node;
pub mod outbox;
pub mod permissions;
pub mod remote_directory;
pub mod rules;
pub mod store;
pub mod table;
