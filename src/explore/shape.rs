//! The parts of a machine as it is explored: its nodes before anything has happened, what can be done to them, and its lanes.

use smallvec::SmallVec;

use crate::model::access::Access;
use crate::model::address::Address;
use crate::model::component::ComponentId;
use crate::model::message::Network;
use crate::protocol::node::{Node, Role};

/// One thing that can be done to a node from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    Access { by: ComponentId, access: Access },
    Evict(Address),
    Acquire { by: ComponentId },
}

/// A node before anything has happened.
#[expect(clippy::struct_excessive_bools, reason = "each is about something else")]
#[derive(Clone, Debug)]
pub struct NodeShape {
    pub id: ComponentId,
    pub role: Role,
    /// It is empty.
    pub template: Node,
    /// Its parent for each line, with its place among that parent's children.
    pub parents: SmallVec<[Option<(u8, u8)>; 2]>,
    /// What can be done to it.
    pub deeds: Vec<Deed>,
    /// A directory tracks what it holds.
    pub is_tracked: bool,
    /// Loads from above read the last coherent store to be performed, wherever that was, or a store of their own that is handed on.
    pub is_checked: bool,
    /// What it gives to a child that keeps it untracked, or reads for it, is the last coherent store to be performed.
    pub serves_checked: bool,
    /// Of a directory: its children leave it only when told, and never silently, so that what it lists is there.
    pub is_exact: bool,
}

/// One lane: first in, first out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneShape {
    pub from: u8,
    pub to: u8,
    /// What it carries; everything if the networks are folded.
    pub network: Option<Network>,
}
