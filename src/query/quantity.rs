//! Quantities: what of a machine's state can be read, compared, watched and displayed.

use std::fmt;

use crate::model::address::{Address, Range};
use crate::model::component::{Component, ComponentId, ComponentKind, Components};
use crate::model::state::State;

use super::context::Subject;
use super::operand::Named;
use super::reading::Reading;

/// Something that a machine has at every moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity(pub(super) What);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    /// Of the nodes' blocks that hold an address.
    Block {
        what: OfBlock,
        nodes: Nodes,
        block: Address,
    },
    /// Bytes; `None` for the host memory.
    Value {
        at: Address,
        width: u32,
        nodes: Option<Nodes>,
    },
    /// MSHR entries in use.
    Occupancy(Nodes),
    Statistic(String),
    /// What the last access of a task, or a labelled access, read.
    Result(String),
    Cycle,
    Event,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OfBlock {
    State,
    Owner,
    Sharers,
    Dirty,
}

impl OfBlock {
    pub fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Owner => "owner",
            Self::Sharers => "sharers",
            Self::Dirty => "dirty",
        }
    }

    /// Which components have it.
    pub fn fits(self) -> fn(ComponentKind) -> bool {
        match self {
            Self::State => |kind| kind.is_node() && kind != ComponentKind::Hmd,
            Self::Owner | Self::Sharers => |kind| kind.is_node() && kind != ComponentKind::L1,
            Self::Dirty => ComponentKind::is_node,
        }
    }
}

/// The nodes that a pattern names, as far as they have what is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Nodes {
    pub named: Named,
    /// The kinds of component that have it.
    pub kinds: Vec<ComponentKind>,
    /// Of memories, only those that are caches of others.
    pub cached: bool,
    /// One of them is enough; otherwise it must be so of each.
    pub any: bool,
}

const ALL_KINDS: [ComponentKind; 11] = [
    ComponentKind::Cu,
    ComponentKind::Core,
    ComponentKind::L1,
    ComponentKind::L2,
    ComponentKind::Llc,
    ComponentKind::Client,
    ComponentKind::Smd,
    ComponentKind::Memory,
    ComponentKind::Hmd,
    ComponentKind::Gmmu,
    ComponentKind::Link,
];

impl Nodes {
    pub fn new(named: Named, fits: fn(ComponentKind) -> bool) -> Self {
        let kinds = ALL_KINDS.into_iter().filter(|kind| fits(*kind)).collect();
        Self { named, kinds, cached: false, any: false }
    }

    /// The kinds of those components of a machine that have it.
    pub fn kinds_of(&self, components: &Components) -> Vec<ComponentKind> {
        let is_there =
            |kind: &ComponentKind| components.iter().any(|(_, one)| one.kind == *kind && self.fits(one));
        self.kinds.iter().copied().filter(is_there).collect()
    }

    fn fits(&self, component: &Component) -> bool {
        let is_root = is_memory(component.kind) && component.parents.is_empty();
        self.kinds.contains(&component.kind) && !(self.cached && is_root)
    }

    fn has(&self, id: ComponentId, component: &Component, components: &Components) -> bool {
        self.fits(component) && self.named.contains(id, components)
    }

    pub fn of<'a>(&'a self, components: &'a Components) -> impl Iterator<Item = ComponentId> + 'a {
        components.iter().filter(|(id, component)| self.has(*id, component, components)).map(|(id, _)| id)
    }
}

impl Quantity {
    /// Whether one of the nodes that it names is enough.
    pub fn is_of_any(&self) -> bool {
        match &self.0 {
            What::Block { nodes, .. } | What::Value { nodes: Some(nodes), .. } | What::Occupancy(nodes) => {
                nodes.any
            }
            _ => false,
        }
    }

    /// What it is now: once for each node that its pattern names, or once for the machine.
    #[must_use]
    pub fn read(&self, subject: &dyn Subject) -> Vec<(Option<ComponentId>, Reading)> {
        let components = subject.components();
        let each = |nodes: &Nodes, read: &dyn Fn(ComponentId) -> Reading| {
            nodes.of(components).map(|id| (Some(id), read(id))).collect()
        };
        match &self.0 {
            What::Block { what, nodes, block } => each(nodes, &|id| of_block(subject, *what, id, *block)),
            What::Value { at, width, nodes: Some(nodes) } => each(nodes, &|id| {
                subject.value(id, *at, *width).map_or_else(|| no_value(subject, "not held"), Reading::Bytes)
            }),
            What::Value { at, width, nodes: None } => memory(subject, *at, *width),
            What::Occupancy(nodes) => each(nodes, &|id| {
                let used = subject.mshrs(id, 0).map(|view| Reading::Number(f64::from(view.used)));
                used.unwrap_or(Reading::Absent("no MSHRs"))
            }),
            What::Statistic(key) => {
                // A mean of nothing is no number.
                let value = subject.statistic(key).filter(|value| !value.is_nan()).map(Reading::Number);
                vec![(None, value.unwrap_or(Reading::Absent("unknown")))]
            }
            What::Result(_) if !subject.keeps_values() => vec![(None, no_value(subject, ""))],
            What::Result(id) => {
                let bytes = subject.task_view(id).and_then(|task| task.result);
                let read = bytes.map(|bytes| Reading::Bytes(bytes.to_vec()));
                vec![(None, read.unwrap_or(Reading::Absent("not known yet")))]
            }
            What::Cycle => {
                vec![(None, Reading::Number(subject.time_base().cycle(subject.tick()) as f64))]
            }
            What::Event => vec![(None, Reading::Number(subject.event() as f64))],
        }
    }

    /// What it is called at one of its nodes.
    pub(super) fn name_at(&self, node: Option<ComponentId>, components: &Components) -> String {
        let path = node.map_or("memory", |id| components.path(id));
        match &self.0 {
            What::Block { what, block, .. } => format!("{} of {path} block {block}", what.name()),
            What::Value { at, width, .. } => format!("value at {} in {path}", place(*at, *width)),
            What::Occupancy(_) => format!("occupancy of {path}.mshr"),
            _ => self.to_string(),
        }
    }
}

fn of_block(subject: &dyn Subject, what: OfBlock, node: ComponentId, address: Address) -> Reading {
    let view = subject.block(node, address);
    if what == OfBlock::State {
        return view.map_or(Reading::State(State::I, None), |view| {
            view.state.map_or(Reading::Absent("none"), |state| Reading::State(state, view.target))
        });
    }
    if what == OfBlock::Dirty {
        return view.map_or(Reading::Dirty(Vec::new(), 0), |view| {
            Reading::dirty(view.dirty.as_ref(), view.granule, view.range.len)
        });
    }
    let wanted = Range::new(address, 1);
    let unit = view.and_then(|view| view.units.into_iter().find(|unit| unit.range.overlaps(wanted)));
    match (what, unit) {
        (OfBlock::Owner, unit) => Reading::Owner(unit.and_then(|unit| unit.owner)),
        (_, unit) => Reading::Sharers(unit.map(|unit| unit.sharers).unwrap_or_default()),
    }
}

/// What is no cache of anything.
fn is_memory(kind: ComponentKind) -> bool {
    matches!(kind, ComponentKind::Hmd | ComponentKind::Memory)
}

/// The bytes of the memory where `at` lives now: that of the host, or of the GPU that is the home of its page or has it.
fn memory(subject: &dyn Subject, at: Address, width: u32) -> Vec<(Option<ComponentId>, Reading)> {
    let components = subject.components();
    let homes = components.iter().filter(|(_, component)| {
        // A memory with a parent is a cache of it.
        is_memory(component.kind) && component.parents.is_empty()
    });
    let mut values = homes.filter_map(|(id, _)| subject.value(id, at, width));
    vec![(None, values.next().map_or_else(|| no_value(subject, "not in memory"), Reading::Bytes))]
}

/// Why there is no value: `why`, unless this machine keeps none at all.
fn no_value(subject: &dyn Subject, why: &'static str) -> Reading {
    Reading::Absent(if subject.keeps_values() {
        why
    } else {
        "not kept, since the machine has `values = false`"
    })
}

/// Where a value is, as it is typed: one byte is what an address alone means.
fn place(at: Address, width: u32) -> String {
    if width == 1 { at.to_string() } else { format!("{at}+{width}") }
}

impl fmt::Display for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let any = if self.any { "any " } else { "" };
        write!(f, "{any}{}", self.named)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            What::Block { what, nodes, block } => {
                write!(f, "{} of {nodes} block {block}", what.name())
            }
            What::Value { at, width, nodes } => {
                write!(f, "value at {} in ", place(*at, *width))?;
                match nodes {
                    Some(nodes) => nodes.fmt(f),
                    None => f.write_str("memory"),
                }
            }
            What::Occupancy(nodes) => write!(f, "occupancy of {nodes}.mshr"),
            What::Statistic(key) => write!(f, "statistic {key}"),
            What::Result(id) => write!(f, "result of {id}"),
            What::Cycle => f.write_str("cycle"),
            What::Event => f.write_str("event"),
        }
    }
}
