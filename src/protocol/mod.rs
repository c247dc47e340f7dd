//! The coherence protocol: tables as in the papers, and the generic engine that runs them. No time, no files.

pub mod table;
