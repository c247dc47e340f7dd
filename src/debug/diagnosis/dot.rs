//! The wait-for graph for Graphviz.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use super::Diagnosis;
use crate::diagnostic::{self, Result};
use crate::model::component::Components;
use crate::model::wait::{Doing, Party};

/// How a graph begins.
const BEGIN: &str = "digraph waits {";

/// That a graph may be written to `path`: nothing is there, or an earlier graph, or a device.
///
/// # Errors
/// If something else is there.
pub fn may_replace(path: &Path) -> Result<()> {
    diagnostic::may_replace(path, BEGIN, "graph")
}

/// The whole graph as a digraph, a shape for each kind of party: what can never go on has a thick frame; the circle or chain that
/// is told is filled, with thick arrows that have the numbers of their sentences; who stands on a circle has a double frame.
#[must_use]
pub fn dot(diagnosis: &Diagnosis, names: &Components) -> String {
    let mut text = format!("{BEGIN}\n  rankdir = LR;\n  node [fontname = \"monospace\"];\n");
    let parties: BTreeSet<Party> = diagnosis.edges.iter().flat_map(|edge| [edge.from, edge.to]).collect();
    let mut shapes: BTreeSet<_> = parties.iter().copied().map(shape).collect();
    if diagnosis.is_circle {
        shapes.insert(("double frame", "on the circle"));
    }
    let legend: Vec<_> = shapes.into_iter().map(|(shape, kind)| format!("{shape}: {kind}")).collect();
    let label = format!("{}\n{}", diagnosis.headline(), legend.join(", "));
    let _ = writeln!(text, "  label = {};", quoted(&label));
    for party in &parties {
        let is_told = diagnosis.sentences.iter().any(|sentence| [sentence.from, sentence.to].contains(party));
        let style = match party {
            _ if party.is_lost() => ", style = dashed, penwidth = 3",
            _ if is_told && diagnosis.is_circle => {
                ", style = filled, fillcolor = lightgrey, penwidth = 3, peripheries = 2"
            }
            _ if is_told => ", style = filled, fillcolor = lightgrey, penwidth = 3",
            _ if diagnosis.dead.contains(party) => ", penwidth = 3",
            _ => "",
        };
        let (name, (shape, _)) = (quoted(&party.text(names)), shape(*party));
        let _ = writeln!(text, "  {name} [label = {name}, shape = {shape}{style}];");
    }
    for edge in &diagnosis.edges {
        let told = diagnosis
            .sentences
            .iter()
            .position(|sentence| (sentence.from, sentence.to) == (edge.from, edge.to));
        let style =
            told.map_or_else(String::new, |index| format!(" [label = \"{}\", penwidth = 3]", index + 1));
        let (from, to) = (edge.from.text(names), edge.to.text(names));
        let _ = writeln!(text, "  {} -> {}{style};", quoted(&from), quoted(&to));
    }
    text.push_str("}\n");
    text
}

/// The shape of a party, as Graphviz calls it, and what has that shape.
fn shape(party: Party) -> (&'static str, &'static str) {
    match party {
        Party::Warp(..) | Party::WakeUp(..) => ("ellipse", "warp"),
        Party::Block { doing: Doing::Queues, .. } => ("cylinder", "queue"),
        Party::Block { doing: Doing::Asks | Doing::Serves | Doing::Forwards, .. } => ("box", "request"),
        Party::Block { doing: Doing::Answers, .. } => ("diamond", "probe"),
        Party::Block { doing: Doing::Evicts | Doing::WritesBack, .. } => ("parallelogram", "eviction"),
        Party::Block { doing: Doing::KeepsMshr | Doing::KeepsWay, .. }
        | Party::Mshrs(_)
        | Party::Ways(..) => ("tab", "MSHR or way"),
        Party::Lane { .. } => ("cds", "lane"),
        Party::Lost(..) => ("hexagon", "message"),
        Party::Arrival(..) => ("house", "arrival bit"),
        Party::Page(..) => ("note", "page"),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
