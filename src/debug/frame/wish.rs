//! What the screen shows, so that only that is computed.

/// A pane of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pane {
    Map,
    Directory,
    Links,
    Mshrs,
    Warps,
    Transaction,
    /// Who waits for whom.
    Waits,
    Caches,
    /// Pages of paged GPU memory.
    Pages,
    Protocol,
    Log,
    Lesson,
    /// Breakpoints, watchpoints, displays and bookmarks.
    Breakpoints,
    Timeline,
}

impl Pane {
    pub const ALL: [Self; 14] = [
        Self::Map,
        Self::Directory,
        Self::Links,
        Self::Mshrs,
        Self::Warps,
        Self::Transaction,
        Self::Waits,
        Self::Caches,
        Self::Pages,
        Self::Protocol,
        Self::Log,
        Self::Lesson,
        Self::Breakpoints,
        Self::Timeline,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Directory => "directory",
            Self::Links => "links",
            Self::Mshrs => "mshrs",
            Self::Warps => "warps",
            Self::Transaction => "transaction",
            Self::Waits => "waits",
            Self::Caches => "caches",
            Self::Pages => "pages",
            Self::Protocol => "protocol",
            Self::Log => "log",
            Self::Lesson => "lesson",
            Self::Breakpoints => "breakpoints",
            Self::Timeline => "timeline",
        }
    }

    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pane| pane.name() == name)
    }
}

/// A set of panes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaneSet(u16);

impl PaneSet {
    /// Every pane.
    #[must_use]
    pub fn all() -> Self {
        Pane::ALL.into_iter().collect()
    }

    pub fn add(&mut self, pane: Pane) {
        self.0 |= 1 << pane as u16;
    }

    #[must_use]
    pub fn has(self, pane: Pane) -> bool {
        self.0 >> pane as u16 & 1 == 1
    }
}

impl FromIterator<Pane> for PaneSet {
    fn from_iter<I: IntoIterator<Item = Pane>>(panes: I) -> Self {
        let mut set = Self::default();
        panes.into_iter().for_each(|pane| set.add(pane));
        set
    }
}

/// What the screen needs of the next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    pub panes: PaneSet,
    /// Most items in one list (blocks, agents, caches, links).
    pub limit: usize,
    /// Sets of one cache of which the lines are shown.
    pub sets: u32,
    /// Cells that the pages of a GPU are shown in, at most.
    pub cells: usize,
    /// Lines of log.
    pub log_rows: usize,
    /// How many matching records before the position the last line of log is.
    pub log_up: usize,
}

impl Default for Wish {
    fn default() -> Self {
        Self { panes: PaneSet::all(), limit: 256, sets: 64, cells: 1024, log_rows: 60, log_up: 0 }
    }
}
