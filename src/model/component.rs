//! The components of a machine and the paths that name them (`gpu0.cu1.l1`, `host.hmd0`, `link.gpu0.out`).

use std::borrow::Cow;
use std::fmt;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Index of a component in its machine's [`Components`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentId(pub u32);

impl ComponentId {
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a component is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComponentKind {
    /// A compute unit (streaming multiprocessor).
    Cu,
    /// A CPU core.
    Core,
    /// A first-level cache of a compute unit or core.
    L1,
    /// A slice of a GPU's second-level cache.
    L2,
    /// The CPU's last-level cache.
    Llc,
    /// A cache on the side of the CPU for what GPUs ask.
    Client,
    /// A stacked memory directory with its stacked DRAM.
    Smd,
    /// A host memory directory with its DDR memory.
    Hmd,
    /// A partition of a GPU's own memory.
    Memory,
    /// The memory management unit of a GPU.
    Gmmu,
    /// The driver of a GPU: software on the host.
    Driver,
    /// What copies between the memories of a GPU and the host.
    CopyEngine,
    /// One direction of a link.
    Link,
}

/// Levels of nodes, by their words in keys of statistics, and as titles.
pub const LEVELS: [(&str, &str); 8] = [
    ("gpu_l1", "GPU L1"),
    ("l2", "GPU L2"),
    ("smd", "SMD"),
    ("memory", "GPU memory"),
    ("cpu_l1", "CPU L1"),
    ("llc", "LLC"),
    ("client", "client cache"),
    ("hmd", "HMD"),
];

impl ComponentKind {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cu => "cu",
            Self::Core => "core",
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::Llc => "llc",
            Self::Client => "client",
            Self::Smd => "smd",
            Self::Hmd => "hmd",
            Self::Memory => "memory",
            Self::Gmmu => "gmmu",
            Self::Driver => "driver",
            Self::CopyEngine => "copy-engine",
            Self::Link => "link",
        }
    }

    /// Whether it has MSHRs: a node, or the GMMU for far-faults.
    #[must_use]
    pub fn has_mshrs(self) -> bool {
        self.is_node() || self == Self::Gmmu
    }

    /// Whether it holds blocks with a coherence state or a directory.
    #[must_use]
    pub fn is_node(self) -> bool {
        matches!(self, Self::L1 | Self::L2 | Self::Llc | Self::Client | Self::Smd | Self::Hmd | Self::Memory)
    }
}

/// One component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    pub path: String,
    pub kind: ComponentKind,
    /// The parent in the memory hierarchy, if it is fixed (an L1's parent may depend on the address).
    pub parents: Vec<ComponentId>,
}

/// All components of a machine, in the order of their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Components {
    list: Vec<Component>,
    /// The links of the network that messages from one component to another go over, if any.
    links: FxHashMap<(ComponentId, ComponentId), SmallVec<[ComponentId; 2]>>,
}

/// The beginning of the paths of what is on the side of the host.
const HOST: &str = "host.";

impl Component {
    /// The number of the GPU that it is a part of, or leads to.
    #[must_use]
    pub fn gpu(&self) -> Option<u32> {
        let path = self.path.strip_prefix("link.").unwrap_or(&self.path);
        device(path).strip_prefix("gpu")?.parse().ok()
    }

    /// As [`device`].
    #[must_use]
    pub fn device(&self) -> &str {
        device(&self.path)
    }

    /// As [`Components::is_host`].
    #[must_use]
    pub fn is_host(&self) -> bool {
        self.path.starts_with(HOST)
    }

    /// Of [`LEVELS`], the one that a node belongs to: its word and its title. L1s of cores are apart from those of compute units.
    #[must_use]
    pub fn level(&self) -> Option<(&'static str, &'static str)> {
        let own = match self.kind {
            ComponentKind::L1 if self.is_host() => "cpu_l1",
            ComponentKind::L1 => "gpu_l1",
            kind => kind.name(),
        };
        LEVELS.into_iter().find(|(word, _)| *word == own)
    }
}

impl Components {
    /// Adds a component and returns its id.
    pub fn add(&mut self, path: impl Into<String>, kind: ComponentKind) -> ComponentId {
        let id = ComponentId(self.list.len() as u32);
        self.list.push(Component { path: path.into(), kind, parents: Vec::new() });
        id
    }

    /// Records `parent` as a parent of `child`.
    pub fn connect(&mut self, child: ComponentId, parent: ComponentId) {
        if let Some(component) = self.list.get_mut(child.index())
            && !component.parents.contains(&parent)
        {
            component.parents.push(parent);
        }
    }

    /// Records that messages from `from` to `to` go over a link.
    pub fn cross(&mut self, from: ComponentId, to: ComponentId, link: ComponentId) {
        let links = self.links.entry((from, to)).or_default();
        if !links.contains(&link) {
            links.push(link);
        }
    }

    /// The links of the network that messages go over between two neighbours.
    #[must_use]
    pub fn links_between(&self, from: ComponentId, to: ComponentId) -> &[ComponentId] {
        self.links.get(&(from, to)).map_or(&[], SmallVec::as_slice)
    }

    #[must_use]
    pub fn get(&self, id: ComponentId) -> Option<&Component> {
        self.list.get(id.index())
    }

    /// Whether a component is on the side of the host: its cores, caches and directories.
    #[must_use]
    pub fn is_host(&self, id: ComponentId) -> bool {
        self.get(id).is_some_and(Component::is_host)
    }

    /// The path of `id`, or `?` for an id of another machine.
    #[must_use]
    pub fn path(&self, id: ComponentId) -> &str {
        self.get(id).map_or("?", |component| component.path.as_str())
    }

    /// What `id` is a part of, as [`device`].
    #[must_use]
    pub fn device(&self, id: ComponentId) -> &str {
        device(self.path(id))
    }

    #[must_use]
    pub fn find(&self, path: &str) -> Option<ComponentId> {
        let path = canonical(path);
        self.iter().find(|(_, component)| component.path == path).map(|(id, _)| id)
    }

    pub fn iter(&self) -> impl Iterator<Item = (ComponentId, &Component)> {
        self.list.iter().enumerate().map(|(index, component)| (ComponentId(index as u32), component))
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

/// The first word of a path: `gpu0` or `host` of what is on one, `link` of a link of the network.
#[must_use]
pub fn device(path: &str) -> &str {
    path.split_once('.').map_or(path, |(device, _)| device)
}

/// A path as components have it: `sm3` is another name of `cu3`.
#[must_use]
pub fn canonical(path: &str) -> String {
    path.split('.').map(canonical_segment).collect::<Vec<_>>().join(".")
}

/// The same of one segment, or a pattern of one; `smd0` is no `sm`.
#[must_use]
pub fn canonical_segment(segment: &str) -> Cow<'_, str> {
    match segment.strip_prefix("sm") {
        Some(rest) if rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit() || c == '*') => {
            format!("cu{rest}").into()
        }
        _ => segment.into(),
    }
}

/// Whether a path is `group` or leads beneath it: `gpu0.smd1.mshr` is beneath `gpu0.smd1`, `gpu0.smd10` is not.
#[must_use]
pub fn is_beneath(path: &str, group: &str) -> bool {
    path.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
