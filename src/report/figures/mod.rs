//! The papers' figures and claims, ours beside theirs.
//!
//! The registry is data: each paper's claims with its numbers, and for those that can be measured the runs and what
//! they show. Nothing is fitted: our value is what comes out of the mechanism with the paper's parameters. Exact
//! numbers are read from simulated links, masks and tables. A miss is told as a miss.

mod course;
mod crossing;
pub mod effort;
pub mod experiment;
pub mod figure;
mod numa;
mod page;
pub mod markdown;
pub mod registry;
mod scale_gpu;
mod selective;
mod suite;
pub mod text;
mod umh;

use serde_json::{Value, json};

use figure::Row;

/// The rows as one document: a list in the order of the registry.
#[must_use]
pub fn json(rows: &[Row]) -> Value {
    rows.iter().map(row).collect()
}

fn row(row: &Row) -> Value {
    let figure = row.figure;
    let found = row.found.as_ref();
    json!({
        "id": figure.id,
        "claim": figure.claim,
        "paper": figure.paper,
        "ours": found.map_or(&[][..], |found| &found.ours),
        "unit": figure.unit,
        "holds": found.ok().map(|found| found.holds),
        "scale": found.ok().map(|found| found.scale.as_str()),
        "note": found.map_or_else(String::as_str, |found| found.note.as_str()),
    })
}
