//! What is explored: the nodes of a machine and what connects them, and what may be done to them.

use smallvec::SmallVec;

use super::shape::{Deed, LaneShape, NodeShape};
use super::symmetry::{self, Symmetry};
use super::values;
use crate::diagnostic::{Diagnostic, Result};
use crate::machine::{Machine, Wiring};
use crate::model::access::{Access, AccessKind};
use crate::model::address::{Address, Range};
use crate::model::component::{ComponentId, Components};
use crate::model::inspect::Inspect;
use crate::model::message::Network;
use crate::protocol::homes::Homes;
use crate::protocol::node::{Node, Role, Timeless};
use crate::scenario::Alphabet;

/// Tracked bytes, blocks, and children of a node at most: a bit each in a few words.
const MOST: usize = 8;

/// A machine as it is explored. A state of it is a list of numbers: of each node and lane what stands for its state, and which
/// bytes have been stored non-coherently since their last coherent store.
#[derive(Clone, Debug)]
pub struct System {
    pub names: Components,
    pub nodes: Vec<NodeShape>,
    pub lanes: Vec<LaneShape>,
    /// Per node and component, the first lane to it.
    routes: Vec<Vec<Option<u16>>>,
    pub folded: bool,
    /// Messages in a lane from which on its sender takes nothing that could add to it.
    pub capacity: u32,
    /// Starts of the smallest blocks that hold tracked bytes.
    pub lines: Vec<Address>,
    pub bytes: Vec<Address>,
    pub outstanding: u32,
    /// The state rules are checked between L1s too.
    pub coherent: bool,
    /// Ways of exchanging parts that are alike.
    pub symmetries: Vec<Symmetry>,
    /// Where pages live.
    pub homes: Homes,
}

/// Where nobody keeps account of copies, none is coherent: there is nothing to check in all orders.
fn check_tracked(wiring: &Wiring<'_>) -> Result<()> {
    let mut roots = wiring.nodes.iter().filter(|node| node.config.role == Role::Root);
    let Some(root) = roots.find(|node| !node.config.table.has_directory()) else { return Ok(()) };
    let table = &root.config.table.name;
    let text =
        format!("{table} has no [directory]: nobody keeps account of copies, and software makes them agree");
    let expected = "umscope stress, which checks what fences promise; or a protocol with a directory";
    Err(Box::new(Diagnostic::new(text).expected(expected)))
}

/// Whether its states are all that there is to a machine: no pages that move, and no fault that strikes by number.
fn check_explorable(machine: &Machine) -> Result<()> {
    if machine.page_size().is_some() {
        let text = "its pages move, are copied or change, which is not explored";
        let expected =
            "--hold 1, which does the work of the scenario with events held back; or umscope stress";
        return Err(Box::new(Diagnostic::new(text).expected(expected)));
    }
    let Some(fault) = machine.idle_faults().into_iter().find(|fault| fault.number().is_some()) else {
        return Ok(());
    };
    let text = format!(
        "{} strikes once in a run, by its number: an exploration, which goes through all runs at once, has no first",
        fault.name()
    );
    let expected = "a fault of nodes, such as no-grant-ack, or `umscope run` with this --fault";
    Err(Box::new(Diagnostic::new(text).expected(expected)))
}

impl System {
    /// # Errors
    /// If the machine or the alphabet is too large to be explored, keeps no values, or has a fault that strikes by number.
    pub fn new(machine: &Machine, alphabet: &Alphabet) -> Result<Self> {
        check_explorable(machine)?;
        let wiring = machine.wiring();
        check_tracked(&wiring)?;
        let smallest = wiring.nodes.iter().map(|node| node.config.block).min().unwrap_or(64);
        let touched = alphabet.accesses.iter().map(|(_, range)| range);
        let mut lines: Vec<Address> = touched.flat_map(|range| range.blocks(smallest)).collect();
        lines.sort_unstable();
        lines.dedup();
        let bytes = alphabet.bytes();
        check_size(&wiring, &bytes, &lines, machine)?;
        let names = machine.components().clone();
        let mut system = Self {
            lanes: lanes(&wiring),
            routes: routes(&wiring, names.len()),
            folded: wiring.folded,
            capacity: wiring.buffers.saturating_mul(2),
            lines,
            bytes,
            outstanding: alphabet.outstanding,
            coherent: wiring.coherent,
            homes: wiring.homes.clone(),
            nodes: Vec::new(),
            names,
            symmetries: Vec::new(),
        };
        let nodes = wiring.nodes.iter().enumerate();
        system.nodes = nodes.map(|(number, node)| system.shape(&wiring, (number, node), alphabet)).collect();
        system.symmetries = symmetry::find(&system.nodes, &system.lanes, system.names.len());
        Ok(system)
    }

    /// What of a node stays the same in all states.
    fn shape(&self, wiring: &Wiring<'_>, (number, node): (usize, &Node), alphabet: &Alphabet) -> NodeShape {
        let index = |id: ComponentId| wiring.nodes.iter().position(|node| node.id() == id);
        let parent = |line: &Address| {
            let parent = index(node.config.parent(*line, wiring.homes)?)?;
            let place = wiring.nodes.get(parent)?.config.child(node.id())?;
            Some((parent as u8, place as u8))
        };
        NodeShape {
            id: node.id(),
            role: node.config.role,
            template: node.emptied(),
            parents: self.lines.iter().map(parent).collect(),
            deeds: self.deeds(wiring, number, alphabet),
            is_tracked: node.config.is_tracked(),
            is_checked: node.config.role == Role::Leaf
                && node.config.is_tracked()
                && !node.config.table.fetches(),
            serves_checked: node.config.role == Role::Root || node.config.is_tracked(),
            is_exact: is_exact(wiring, node),
        }
    }

    fn deeds(&self, wiring: &Wiring<'_>, number: usize, alphabet: &Alphabet) -> Vec<Deed> {
        let Some(node) = wiring.nodes.get(number) else { return Vec::new() };
        let mut deeds = Vec::new();
        let agents = wiring.agents.iter().filter(|(_, l1)| *l1 == number).map(|(by, _)| *by);
        for by in agents.filter(|by| alphabet.by.is_empty() || alphabet.by.contains(by)) {
            for &(kind, range) in &alphabet.accesses {
                deeds.push(Deed::Access { by, access: access_of(node, kind, range) });
            }
            if alphabet.acquires && node.is_synchronised() {
                deeds.push(Deed::Acquire { by });
            }
        }
        if alphabet.acquires && node.config.role == Role::Inner && node.is_synchronised() {
            deeds.push(Deed::Acquire { by: node.id() });
        }
        if alphabet.evictions && node.config.role != Role::Root {
            let mut blocks: Vec<Address> =
                self.lines.iter().map(|line| line.block(node.config.block)).collect();
            blocks.sort_unstable();
            blocks.dedup();
            deeds.extend(blocks.into_iter().map(Deed::Evict));
        }
        deeds
    }

    /// The place of a byte among the tracked ones.
    #[must_use]
    pub fn tracked(&self, at: Address) -> Option<u32> {
        self.bytes.iter().position(|byte| *byte == at).map(|place| place as u32)
    }

    /// The lane from a node to another component for messages of a network.
    #[must_use]
    pub fn lane(&self, from: usize, to: ComponentId, network: Network) -> Option<usize> {
        let first = (*self.routes.get(from)?.get(to.index())?)? as usize;
        Some(if self.folded { first } else { first + network as usize })
    }

    /// The states of all nodes before the first event: memory holds what was stored last, and nobody else anything.
    #[must_use]
    pub fn initial(&self) -> Vec<Timeless> {
        self.nodes
            .iter()
            .map(|shape| {
                let mut node = shape.template.clone();
                for byte in self.bytes.iter().filter(|_| shape.role == Role::Root) {
                    if shape.template.config.values && self.is_home(shape, *byte) {
                        node.set_memory(*byte, &[values::CURRENT]);
                    }
                }
                node.timeless()
            })
            .collect()
    }

    /// Whether a root is the one that serves an address: some child would ask it.
    fn is_home(&self, root: &NodeShape, byte: Address) -> bool {
        self.nodes.iter().any(|shape| shape.template.config.parent(byte, &self.homes) == Some(root.id))
    }

    /// The same machine, every part of which is only itself.
    #[must_use]
    pub fn without_symmetry(&self) -> Self {
        let mut plain = self.clone();
        plain.symmetries.clear();
        plain
    }

    /// Numbers that a state is made of.
    #[must_use]
    pub fn width(&self) -> usize {
        self.nodes.len() + self.lanes.len() + 1
    }
}

/// An access, which writes what becomes the newest.
fn access_of(node: &Node, kind: AccessKind, range: Range) -> Access {
    let mut access = Access { kind, range, bytes: SmallVec::new(), mask: None };
    if kind.writes() {
        let may_differ = node.config.table.uncached.is_none();
        let loose = kind == AccessKind::NStore && may_differ && !node.must_promote(&access);
        let class = if loose { values::STORING_LOOSE } else { values::STORING };
        access.bytes = SmallVec::from_elem(class, range.len as usize);
    }
    access
}

/// What a directory lists is there: its units are its children's blocks, and they leave it only by a message.
fn is_exact(wiring: &Wiring<'_>, parent: &Node) -> bool {
    let child = |id: &ComponentId| wiring.nodes.iter().find(|node| node.id() == *id);
    let fits = |child: &Node| child.config.block == parent.config.unit && !child.config.leaves_silently();
    parent.config.children.iter().filter_map(child).all(fits)
}

fn lanes(wiring: &Wiring<'_>) -> Vec<LaneShape> {
    let of = |&(from, to): &(usize, usize)| {
        let networks: &[Option<Network>] = if wiring.folded {
            &[None]
        } else {
            &[Some(Network::Request), Some(Network::Probe), Some(Network::Reply)]
        };
        networks.iter().map(move |&network| LaneShape { from: from as u8, to: to as u8, network })
    };
    wiring.channels.iter().flat_map(of).collect()
}

fn routes(wiring: &Wiring<'_>, components: usize) -> Vec<Vec<Option<u16>>> {
    let per = if wiring.folded { 1 } else { Network::ALL.len() };
    let mut routes = vec![vec![None; components]; wiring.nodes.len()];
    for (channel, &(from, to)) in wiring.channels.iter().enumerate() {
        let to = wiring.nodes.get(to).map(|node| node.id().index());
        if let Some(place) = to.and_then(|to| routes.get_mut(from)?.get_mut(to)) {
            *place = u16::try_from(channel * per).ok();
        }
    }
    routes
}

fn check_size(wiring: &Wiring<'_>, bytes: &[Address], lines: &[Address], machine: &Machine) -> Result<()> {
    let most = |what: String| Diagnostic::new(what).expected(format!("at most {MOST} to explore")).into();
    if let Some(node) = wiring.nodes.iter().find(|node| node.config.children.len() > MOST) {
        let path = machine.components().path(node.id());
        return Err(most(format!("{path} has {} children", node.config.children.len())));
    }
    if bytes.len() > MOST {
        return Err(most(format!("{} bytes are stored to", bytes.len())));
    }
    if lines.len() > MOST {
        return Err(most(format!("{} blocks are accessed", lines.len())));
    }
    let smallest = wiring.nodes.iter().map(|node| node.config.block).min().unwrap_or(64);
    let leaf = |node: &&Node| node.config.role == Role::Leaf;
    if let Some(odd) = wiring.nodes.iter().filter(leaf).find(|node| node.config.block != smallest) {
        let path = machine.components().path(odd.id());
        return Err(Diagnostic::new(format!("the lines of {path} are larger than those of another L1"))
            .expected("lines of one size in all L1s to explore")
            .into());
    }
    if wiring.nodes.len() > 64 {
        return Err(Diagnostic::new(format!(
            "the machine has {} caches and directories",
            wiring.nodes.len()
        ))
        .expected("at most 64 to explore")
        .into());
    }
    if wiring.nodes.iter().any(|node| !node.config.values) {
        return Err(Diagnostic::new("the machine keeps no values, so that no lost store could be seen")
            .expected("values = true")
            .into());
    }
    Ok(())
}
