//! Every order in which things can happen on a small machine: the same protocol nodes as in simulation, with messages delivered,
//! accesses issued and blocks evicted in any order. First in, first out per sender, receiver and virtual network; buffers and
//! credits as the machine has them; a message is neither lost nor doubled.
//!
//! A [`system::System`] is what is explored. A node runs once for each pair of a state and an input ([`effect`]); all else is
//! looking into [`tables`]. [`search`] goes through all states breadth first, [`check`] has the rules.

mod check;
pub mod coverage;
pub mod effect;
pub mod fairness;
pub mod hash;
pub mod holds;
pub mod mutants;
pub mod outcome;
pub mod random;
pub mod search;
pub mod shape;
mod shorten;
pub mod shown;
pub mod stress;
pub mod summary;
pub mod symmetry;
pub mod system;
pub mod tables;
pub mod termination;
pub mod values;
pub mod visited;
pub mod way;
pub mod worker;

#[cfg(test)]
mod tests;
