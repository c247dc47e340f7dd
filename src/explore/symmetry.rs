//! Parts that can be exchanged: two GPUs that are built alike and may do the same. States that differ only in which of them is
//! which lead to the same behaviour, so that one of them stands for all.
//!
//! That nodes treat their neighbours alike is not assumed. Whenever a node has been run, each of those that it can be exchanged
//! with is run on the exchanged state and input, and must do the exchanged thing ([`super::system::System::keeps`]). If one ever does
//! not, the search begins again without symmetry.

use super::shape::{Deed, LaneShape, NodeShape};
use crate::model::component::ComponentId;
use crate::model::message::Message;
use crate::protocol::node::Timeless;

/// Exchanges to look for at most. Fewer than there are is sound: fewer states stand for each other.
const MOST: usize = 120;

/// One way of exchanging parts, not that of leaving all as it is.
#[derive(Clone, Debug)]
pub struct Symmetry {
    /// Where each node goes.
    pub nodes: Vec<u8>,
    /// Where each lane goes.
    pub lanes: Vec<u16>,
    /// Which component each one becomes.
    components: Vec<ComponentId>,
    /// Per node, which place among the children of its image each child has.
    children: Vec<Vec<u16>>,
}

impl Symmetry {
    fn component(&self, id: ComponentId) -> ComponentId {
        self.components.get(id.index()).copied().unwrap_or(id)
    }

    /// The state of the node that takes the place of node `index`.
    #[must_use]
    pub fn node(&self, index: usize, state: &Timeless) -> Timeless {
        let children = self.children.get(index).map_or(&[][..], Vec::as_slice);
        let child = |place: u16| children.get(usize::from(place)).copied().unwrap_or(place);
        state.renamed(|id| self.component(id), child)
    }

    #[must_use]
    pub fn message(&self, message: &Message) -> Message {
        Message {
            from: self.component(message.from),
            to: self.component(message.to),
            peer: message.peer.map(|peer| self.component(peer)),
            ..message.clone()
        }
    }
}

/// The ways of exchanging nodes that are built alike, have the same neighbours and may do the same, in a machine of so many
/// components.
#[must_use]
pub fn find(nodes: &[NodeShape], lanes: &[LaneShape], components: usize) -> Vec<Symmetry> {
    let mut found = Vec::new();
    Machine { nodes, lanes, components }.extend(&mut Vec::new(), &mut found);
    found
}

/// What symmetries are looked for in.
struct Machine<'a> {
    nodes: &'a [NodeShape],
    lanes: &'a [LaneShape],
    components: usize,
}

impl Machine<'_> {
    /// Gives the next node an image, in every way that fits to the images so far.
    fn extend(&self, images: &mut Vec<u8>, found: &mut Vec<Symmetry>) {
        if found.len() >= MOST {
            return;
        }
        let next = images.len();
        let Some(shape) = self.nodes.get(next) else {
            let is_identity = images.iter().enumerate().all(|(node, &image)| node == usize::from(image));
            if !is_identity {
                found.extend(self.symmetry(images));
            }
            return;
        };
        for (image, other) in self.nodes.iter().enumerate() {
            if !images.contains(&(image as u8)) && is_alike(shape, other) {
                images.push(image as u8);
                if self.fits(images) {
                    self.extend(images, found);
                }
                images.pop();
            }
        }
    }

    /// Whether the last node's image has the images of its parents, as far as these are known.
    fn fits(&self, images: &[u8]) -> bool {
        let image = |node: u8| images.get(usize::from(node)).copied();
        let parents = |node: usize| self.nodes.get(node).map_or(&[][..], |shape| &shape.parents[..]);
        let parent = |parent: &Option<(u8, u8)>| parent.map(|(parent, _)| parent);
        images.iter().enumerate().all(|(node, &of)| {
            let pairs = parents(node).iter().zip(parents(usize::from(of)));
            pairs.into_iter().all(|(own, others)| match (parent(own), parent(others)) {
                (Some(own), Some(other)) => image(own).is_none_or(|image| image == other),
                (own, other) => own.is_none() && other.is_none(),
            })
        })
    }

    fn symmetry(&self, images: &[u8]) -> Option<Symmetry> {
        let mut components: Vec<ComponentId> =
            (0..self.components).map(|id| ComponentId(id as u32)).collect();
        for (shape, &image) in self.nodes.iter().zip(images) {
            *components.get_mut(shape.id.index())? = self.nodes.get(usize::from(image))?.id;
        }
        let renamed = |id: &ComponentId| components.get(id.index()).copied();
        let lanes = self.lanes.iter().map(|lane| {
            let (from, to) = (*images.get(usize::from(lane.from))?, *images.get(usize::from(lane.to))?);
            let same = |other: &LaneShape| (other.from, other.to, other.network) == (from, to, lane.network);
            self.lanes.iter().position(same).map(|lane| lane as u16)
        });
        let lanes = lanes.collect::<Option<Vec<u16>>>()?;
        let mut children = Vec::new();
        for (shape, &image) in self.nodes.iter().zip(images) {
            let (own, other) = (&shape.template.config, &self.nodes.get(usize::from(image))?.template.config);
            let places: Option<Vec<u16>> =
                own.children.iter().map(|child| other.child(renamed(child)?)).collect();
            let places = places?;
            let peers = |place: &u16| own.peers >> place & 1 == 1;
            let with_peers = (0u16..).zip(&places).filter(|(place, _)| peers(place));
            if with_peers.fold(0, |all, (_, place)| all | 1u64 << place) != other.peers {
                return None;
            }
            children.push(places);
        }
        Some(Symmetry { nodes: images.to_vec(), lanes, components, children })
    }
}

/// Whether two nodes are built alike and may do the same.
fn is_alike(a: &NodeShape, b: &NodeShape) -> bool {
    let (one, other) = (&a.template.config, &b.template.config);
    let same_config = (one.role, one.block, one.unit, one.mask_bytes, one.mshrs, one.header, one.has_memory)
        == (
            other.role,
            other.block,
            other.unit,
            other.mask_bytes,
            other.mshrs,
            other.header,
            other.has_memory,
        )
        && one.dealing == other.dealing
        && one.by_home == other.by_home
        && one.own_side == other.own_side
        && one.parents.len() == other.parents.len()
        && one.children.len() == other.children.len()
        && one.table == other.table
        && one.faults == other.faults
        && a.template.is_placed_like(&b.template);
    let same_deed = |(a, b): (&Deed, &Deed)| match (a, b) {
        (Deed::Access { access: a, .. }, Deed::Access { access: b, .. }) => a == b,
        (Deed::Evict(a), Deed::Evict(b)) => a == b,
        (Deed::Acquire { .. }, Deed::Acquire { .. }) => true,
        _ => false,
    };
    same_config && a.deeds.len() == b.deeds.len() && a.deeds.iter().zip(&b.deeds).all(same_deed)
}

#[cfg(test)]
impl Symmetry {
    /// Breaks it: children keep their places.
    pub fn forget_children(&mut self) {
        for places in &mut self.children {
            places.sort_unstable();
        }
    }
}
