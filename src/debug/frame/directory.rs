//! Blocks x nodes: who holds what, in which state, and what the directories say about it.

use crate::model::address::{Address, Range};
use crate::model::component::{ComponentId, ComponentKind};
use crate::model::inspect::{BlockView, Inspect};
use crate::model::record::{Record, What};
use crate::model::state::State;

use super::focus::{DEEPEST, Focus, Homes};
use super::map::{short, was};
use super::selection::Selection;
use super::text::near;

/// The directory pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// The finest block that holds the selected address.
    pub line: Option<Range>,
    /// The bytes that the last event was about, of whatever line.
    pub happened: Vec<Range>,
    /// The tree of nodes that hold or await that block, parents before children.
    pub rows: Vec<DirectoryRow>,
    /// The nodes that have columns in [`Directory::blocks`].
    pub nodes: Vec<ComponentId>,
    /// Every block that somebody holds, up to the limit wished for.
    pub blocks: Vec<BlockLine>,
    /// Whether there are more blocks than that.
    pub more: bool,
    /// There are too many nodes for a list of blocks.
    pub unlisted: bool,
}

/// A node's place in the tree and what it knows about the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryRow {
    pub node: ComponentId,
    /// Its path; without the device further down, where that is the one of its parent.
    pub name: String,
    pub depth: u16,
    /// Whether it is the last child of its parent, and its parents of theirs, outermost first.
    pub last: Vec<bool>,
    pub view: Option<BlockView>,
    /// Short names of the owner and sharers of the unit that holds the address.
    pub owner: Option<String>,
    pub sharers: Vec<String>,
    /// Whether that unit is being served.
    pub busy: bool,
    /// The bytes of the line, if values are kept.
    pub value: Option<Vec<u8>>,
    /// The state before the last event, if that changed it.
    pub was: Option<State>,
}

/// One block over all nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockLine {
    pub address: Address,
    /// State and target at each of [`Directory::nodes`].
    pub cells: Vec<(Option<State>, Option<State>)>,
    /// Which of these it is at home in.
    pub homes: Homes,
}

/// Nodes beyond which blocks are listed without who has them: that could not be read.
const COLUMNS: usize = 64;

/// Nodes beyond which no blocks are listed: of very many, the first few that anybody holds tell nothing, and take long to find.
const LISTED: usize = 256;

impl Directory {
    #[must_use]
    pub fn build(
        machine: &dyn Inspect,
        focus: Option<&Focus>,
        selection: &Selection,
        last: &[Record],
        limit: usize,
    ) -> Self {
        let mut directory = Self::default();
        directory.list(machine, limit);
        if let Some(focus) = focus {
            directory.tree(machine, focus, selection, last);
        }
        directory
    }

    fn list(&mut self, machine: &dyn Inspect, limit: usize) {
        let nodes = machine.components().iter();
        self.nodes = nodes
            .filter(|(_, node)| node.kind.is_node() && node.kind != ComponentKind::Hmd)
            .map(|(id, _)| id)
            .collect();
        self.unlisted = self.nodes.len() > LISTED;
        let most = if self.unlisted { 0 } else { limit.saturating_add(1) };
        let mut blocks = machine.blocks(most);
        self.more = blocks.len() > limit;
        blocks.truncate(limit);
        if self.nodes.len() > COLUMNS {
            self.nodes.clear();
        }
        let columns = &self.nodes;
        let line = |address| {
            if columns.is_empty() {
                return BlockLine { address, cells: Vec::new(), homes: Homes::new() };
            }
            let focus = Focus::new(machine, address);
            let cell = |node| focus.at(node).map_or((None, None), |view| (view.state, view.target));
            BlockLine { address, cells: columns.iter().map(|node| cell(*node)).collect(), homes: focus.homes }
        };
        self.blocks = blocks.into_iter().map(line).collect();
    }

    fn tree(&mut self, machine: &dyn Inspect, focus: &Focus, selection: &Selection, last: &[Record]) {
        self.line = Some(focus.line);
        self.happened = last.iter().flat_map(bytes_of).collect();
        // Whoever has lost the block just now is still listed.
        let lost = |node: ComponentId| was(node, selection, last).is_some();
        let tree = Tree::new(machine, focus, lost);
        let roots = tree.children(None);
        let context = RowContext { machine, selection, last, line: focus.line };
        self.grow(&tree, (None, &roots), &[], &context);
    }

    fn grow(
        &mut self,
        tree: &Tree,
        (parent, nodes): (Option<ComponentId>, &[usize]),
        lasts: &[bool],
        context: &RowContext,
    ) {
        for (nth, index) in nodes.iter().enumerate() {
            let Some((node, view)) = tree.views.get(*index) else {
                continue;
            };
            let mut last = lasts.to_vec();
            last.push(nth + 1 == nodes.len());
            self.rows.push(context.row(parent, *node, view.clone(), &last));
            if last.len() < DEEPEST {
                self.grow(tree, (Some(*node), &tree.children(Some(*node))), &last, context);
            }
        }
    }
}

/// The nodes with the parent that the address goes to, and whether they or anything beneath them know the block.
struct Tree<'a> {
    views: &'a [(ComponentId, Option<BlockView>)],
    parents: Vec<Option<ComponentId>>,
    shown: Vec<bool>,
}

impl<'a> Tree<'a> {
    fn new(machine: &dyn Inspect, focus: &'a Focus, lost: impl Fn(ComponentId) -> bool) -> Self {
        let views = &focus.views;
        let parents: Vec<_> = views.iter().map(|(node, _)| machine.parent(*node, focus.address)).collect();
        let known: Vec<bool> = views.iter().map(|(node, view)| view.is_some() || lost(*node)).collect();
        let mut shown = known.clone();
        let place = |node: ComponentId| views.iter().position(|(id, _)| *id == node);
        for index in (0..views.len()).filter(|index| known.get(*index) == Some(&true)) {
            let above = |at: &usize| parents.get(*at).copied().flatten().and_then(place);
            for up in std::iter::successors(above(&index), above).take(DEEPEST) {
                if let Some(mark) = shown.get_mut(up) {
                    *mark = true;
                }
            }
        }
        Self { views, parents, shown }
    }

    fn children(&self, parent: Option<ComponentId>) -> Vec<usize> {
        let nodes = self.parents.iter().zip(&self.shown).enumerate();
        nodes.filter(|(_, (of, shown))| **of == parent && **shown).map(|(index, _)| index).collect()
    }
}

/// The bytes that a record is about: those of an access or a violation, and those that count of what a message carries.
fn bytes_of(record: &Record) -> Vec<Range> {
    match &record.what {
        What::Issue { .. } | What::Complete { .. } | What::Violation { .. } => {
            record.range.into_iter().collect()
        }
        What::Message(message) | What::Delivery(message) => {
            let patch = message.patch.as_deref();
            patch.into_iter().flat_map(|patch| patch.mask.iter().map(|bit| patch.piece(bit))).collect()
        }
        _ => Vec::new(),
    }
}

struct RowContext<'a> {
    machine: &'a dyn Inspect,
    selection: &'a Selection,
    last: &'a [Record],
    line: Range,
}

/// The bytes of a line of which not all are here.
fn partly(view: Option<&BlockView>, line: Range) -> Option<Vec<u8>> {
    let view = view.filter(|view| view.here.is_some())?;
    let from = line.start.0.checked_sub(view.range.start.0)? as usize;
    Some(view.bytes.as_deref()?.iter().copied().skip(from).take(line.len.min(256) as usize).collect())
}

impl RowContext<'_> {
    fn row(
        &self,
        parent: Option<ComponentId>,
        node: ComponentId,
        view: Option<BlockView>,
        last: &[bool],
    ) -> DirectoryRow {
        let names = self.machine.components();
        let name = match parent.filter(|_| last.len() > 2) {
            Some(parent) => near(names, parent, node),
            None => names.path(node),
        };
        let unit = view
            .as_ref()
            .and_then(|view| view.units.iter().find(|unit| unit.range.contains(self.line.start)));
        let len = self.line.len.min(256);
        DirectoryRow {
            node,
            name: name.to_owned(),
            depth: last.len().saturating_sub(1) as u16,
            last: last.to_vec(),
            owner: unit.and_then(|unit| unit.owner).map(|id| short(names, node, id)),
            sharers: unit.map_or_else(Vec::new, |unit| {
                unit.sharers.iter().map(|id| short(names, node, *id)).collect()
            }),
            busy: unit.is_some_and(|unit| unit.busy),
            value: self
                .machine
                .value(node, self.line.start, len)
                .or_else(|| partly(view.as_ref(), self.line)),
            was: was(node, self.selection, self.last),
            view,
        }
    }
}
