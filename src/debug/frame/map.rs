//! The machine as a picture: devices with their nodes, and the links between them.

use crate::model::address::Range;
use crate::model::component::{ComponentId, ComponentKind, Components};
use crate::model::link_view::LinkView;
use crate::model::record::{Record, What};
use crate::model::state::State;
use crate::model::warp::WarpState;

use super::crowd::Unit;
use super::focus::Focus;
use super::selection::Selection;
use super::text::near;

/// The picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// The finest block that holds the selected address.
    pub line: Option<Range>,
    pub devices: Vec<Device>,
    pub links: Vec<LinkView>,
}

/// A GPU or the host: what shares the first segment of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// `gpu0` or `host`.
    pub name: String,
    /// In the order of the machine's components.
    pub nodes: Vec<MapNode>,
}

/// A node or agent in the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapNode {
    pub id: ComponentId,
    pub kind: ComponentKind,
    /// The path without the device.
    pub label: String,
    pub mark: Mark,
    /// State of the selected block before the last event, if that changed it.
    pub was: Option<State>,
    /// Whether the last event happened here.
    pub touched: bool,
}

/// What a node shows about the selected block, or an agent about its warps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing to show.
    None,
    /// A state, and the one it waits for.
    State { now: Option<State>, target: Option<State>, busy: bool },
    /// What the directory of a home without states lists (an HMD): short names of owner and sharers.
    Holders { owner: Option<String>, sharers: Vec<String>, busy: bool },
    /// How many warps are in each state, `None` slots left out.
    Warps(Vec<(WarpState, u32)>),
}

impl Map {
    /// The picture of a machine, with what its compute units (by id, ascending) do and the state of the block in focus.
    #[must_use]
    pub fn build(
        components: &Components,
        (links, units): (&[LinkView], &[Unit]),
        focus: Option<&Focus>,
        selection: &Selection,
        last: &[Record],
    ) -> Self {
        let mut map = Self { line: focus.map(|focus| focus.line), ..Self::default() };
        for (id, component) in components.iter() {
            if component.kind == ComponentKind::Link {
                map.links.extend(links.iter().find(|link| link.link == id).cloned());
                continue;
            }
            let (device, label) = component.path.split_once('.').unwrap_or(("", &component.path));
            let node = MapNode {
                id,
                kind: component.kind,
                label: label.to_owned(),
                mark: mark(components, (id, component.kind), units, focus),
                was: was(id, selection, last),
                touched: last.iter().any(|record| record.place() == Some(id)),
            };
            match map.devices.iter_mut().find(|known| known.name == device) {
                Some(known) => known.nodes.push(node),
                None => map.devices.push(Device { name: device.to_owned(), nodes: vec![node] }),
            }
        }
        map
    }
}

/// The state that the last event took away from `node` for the selected block.
pub(super) fn was(node: ComponentId, selection: &Selection, last: &[Record]) -> Option<State> {
    let address = selection.block?;
    last.iter().find_map(|record| match record.what {
        What::Transition { from, to, .. }
            if from != to
                && record.at == node
                && record.range.is_some_and(|range| range.contains(address)) =>
        {
            Some(from)
        }
        _ => None,
    })
}

fn mark(
    components: &Components,
    (id, kind): (ComponentId, ComponentKind),
    units: &[Unit],
    focus: Option<&Focus>,
) -> Mark {
    if matches!(kind, ComponentKind::Cu | ComponentKind::Core) {
        let unit = units.binary_search_by_key(&id, |unit| unit.agent).ok().and_then(|place| units.get(place));
        return unit.map_or(Mark::None, |unit| {
            let counts = WarpState::ALL.into_iter().zip(unit.counts);
            Mark::Warps(counts.filter(|(state, count)| *state != WarpState::None && *count > 0).collect())
        });
    }
    let Some(focus) = focus else {
        return Mark::None;
    };
    let view = focus.at(id);
    let busy = view.is_some_and(|view| view.doing.is_some());
    if focus.homes.contains(&id) && view.is_none_or(|view| view.state.is_none()) {
        let unit = view.and_then(|view| view.units.iter().find(|unit| unit.range.contains(focus.address)));
        let Some(unit) = unit else {
            return Mark::Holders { owner: None, sharers: Vec::new(), busy };
        };
        return Mark::Holders {
            owner: unit.owner.map(|holder| short(components, id, holder)),
            sharers: unit.sharers.iter().map(|holder| short(components, id, *holder)).collect(),
            busy: busy || unit.busy,
        };
    }
    match view {
        Some(view) => Mark::State { now: view.state, target: view.target, busy },
        None => Mark::State { now: None, target: None, busy },
    }
}

/// A child's name from its parent's side: its device (`gpu0`) where that is enough.
pub(super) fn short(components: &Components, parent: ComponentId, id: ComponentId) -> String {
    let path = components.path(id);
    let kind = components.get(id).map(|component| component.kind);
    let name = match (kind, path.split_once('.')) {
        // A GPU has one SMD for an address, and one slice of its L2.
        (Some(ComponentKind::Smd), Some((device, _))) => device,
        (Some(ComponentKind::L2), Some((device, rest))) => {
            if near(components, parent, id) == rest {
                rest
            } else {
                device
            }
        }
        // The host has one.
        (Some(ComponentKind::Llc), Some((_, rest))) => rest,
        _ => near(components, parent, id),
    };
    name.strip_suffix(".l1").unwrap_or(name).to_owned()
}
