//! The protocol tables of a machine: who works by each, what of it was used, and what was used last.

use std::sync::Arc;

use crate::model::component::{ComponentId, ComponentKind, Components};
use crate::model::inspect::{CellCount, Inspect};
use crate::model::message::MessageKind;
use crate::model::record::{Record, What};
use crate::model::state::{Action, State};
use crate::protocol::mutation::rule_text;
use crate::protocol::table::Table;

/// A protocol table as the nodes of one rank use it.
#[derive(Clone, Debug)]
pub struct ProtocolView {
    pub table: Arc<Table>,
    /// Whether the cells of nodes with children are shown.
    pub inner: bool,
    /// The kinds of node that work by it, in words.
    pub nodes: String,
    pub counts: Vec<CellCount>,
    /// What the last event used of it.
    pub last: Option<LastCell>,
}

/// The nodes of one rank that work by one table.
#[derive(Clone, Debug)]
pub struct Ruled {
    pub table: Arc<Table>,
    /// Whether they have children.
    pub inner: bool,
    pub nodes: Vec<ComponentId>,
}

/// The cell that the last event used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastCell {
    pub at: ComponentId,
    pub state: State,
    pub to: State,
    pub action: Action,
}

/// Every table: first the one of the selected node, or the one by which the last event was decided.
#[must_use]
pub fn views(
    machine: &dyn Inspect,
    tables: &[Ruled],
    selected: Option<ComponentId>,
    last: &[Record],
) -> Vec<ProtocolView> {
    let last = last.iter().rev().find_map(|record| match record.what {
        What::Transition { from, to, action } => Some(LastCell { at: record.at, state: from, to, action }),
        What::Hit { state, action, .. } => Some(LastCell { at: record.at, state, to: state, action }),
        _ => None,
    });
    let about = [selected, last.map(|cell| cell.at)];
    let place = |id| tables.iter().position(|ruled| ruled.nodes.contains(&id));
    let first = about.into_iter().flatten().find_map(place).unwrap_or(0);
    let (before, from) = tables.split_at(first.min(tables.len()));
    let view = |ruled: &Ruled| ProtocolView {
        table: ruled.table.clone(),
        inner: ruled.inner,
        nodes: ruled.kinds(machine.components()),
        counts: machine.cells(&ruled.nodes),
        last: last.filter(|cell| ruled.nodes.contains(&cell.at)),
    };
    from.iter().take(1).chain(before).chain(from.iter().skip(1)).map(view).collect()
}

/// What a table says beside its cells, of nodes with children: how its directory answers each request, and what a node becomes when
/// dirty bytes come from a child. Of what it speaks, and what it says.
#[must_use]
pub fn beside_cells(table: &Table) -> Vec<(String, String)> {
    let requests = [MessageKind::Read, MessageKind::ReadNc, MessageKind::Write];
    let answered = requests.into_iter().filter(|request| !table.directory(*request).is_empty());
    let rules = answered.map(|request| {
        let words = |rule| rule_text(rule).replace(['{', '}', '"'], "").trim().to_owned();
        let rules: Vec<String> = table.directory(request).iter().map(|rule| words(*rule)).collect();
        (format!("directory, {}", request.name()), rules.join("; else "))
    });
    let merges = |label: &'static str, all: &[(State, State, State)]| {
        let mut children: Vec<State> = Vec::new();
        for (child, ..) in all {
            if !children.contains(child) {
                children.push(*child);
            }
        }
        let all = all.to_vec();
        children.into_iter().map(move |child| {
            let own = all.iter().filter(|(from, ..)| *from == child);
            let words: Vec<String> = own.map(|(_, before, after)| format!("{before}>{after}")).collect();
            (format!("{label} of {child}"), words.join(", "))
        })
    };
    let merged: Vec<_> = merges("dirty bytes", &table.merge).collect();
    let answers = if table.answer_merge == table.merge { &[][..] } else { &table.answer_merge };
    rules.chain(merged).chain(merges("dirty answer", answers)).collect()
}

impl Ruled {
    /// The kinds of its nodes, and on which side they are if all are on one: `host L1`, `GPU L2, SMD`.
    #[must_use]
    pub fn kinds(&self, components: &Components) -> String {
        let found: Vec<_> = self.nodes.iter().filter_map(|id| components.get(*id)).collect();
        let mut names: Vec<&str> = Vec::new();
        for component in &found {
            let name = shown(component.kind);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let hosts = found.iter().filter(|component| component.is_host()).count();
        let side = match hosts {
            0 => "GPU ",
            all if all == found.len() => "host ",
            _ => "",
        };
        format!("{side}{}", names.join(", "))
    }
}

fn shown(kind: ComponentKind) -> &'static str {
    match kind {
        ComponentKind::L1 => "L1",
        ComponentKind::L2 => "L2",
        ComponentKind::Llc => "LLC",
        ComponentKind::Smd => "SMD",
        other => other.name(),
    }
}
