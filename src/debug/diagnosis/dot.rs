//! The wait-for graph for Graphviz.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::Diagnosis;
use crate::model::component::Components;
use crate::model::wait::Party;

/// The whole graph as a digraph: what can never go on has a thick frame; the circle or chain that is told is filled, with thick
/// arrows that have the numbers of their sentences.
#[must_use]
pub fn dot(diagnosis: &Diagnosis, names: &Components) -> String {
    let mut text =
        String::from("digraph waits {\n  rankdir = LR;\n  node [shape = box, fontname = \"monospace\"];\n");
    let _ = writeln!(text, "  label = {};", quoted(&diagnosis.headline()));
    let parties: BTreeSet<Party> = diagnosis.edges.iter().flat_map(|edge| [edge.from, edge.to]).collect();
    for party in &parties {
        let is_told = diagnosis.sentences.iter().any(|sentence| [sentence.from, sentence.to].contains(party));
        let style = match party {
            Party::Lost(..) | Party::WakeUp(..) => ", style = dashed, penwidth = 3",
            _ if is_told => ", style = filled, fillcolor = lightgrey, penwidth = 3",
            _ if diagnosis.dead.contains(party) => ", penwidth = 3",
            _ => "",
        };
        let name = quoted(&party.text(names));
        let _ = writeln!(text, "  {name} [label = {name}{style}];");
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

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
