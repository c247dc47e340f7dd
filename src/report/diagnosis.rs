//! A diagnosis as JSON.

use serde_json::{Value, json};

use crate::debug::diagnosis::{Diagnosis, Sentence};

/// What keeps a machine from going on.
#[must_use]
pub fn json(diagnosis: &Diagnosis) -> Value {
    json!({
        "verdict": diagnosis.verdict.name(),
        "event": diagnosis.event,
        "cycle": diagnosis.cycle,
        "complete": diagnosis.complete,
        "circle": diagnosis.is_circle,
        "transactions": diagnosis.transactions.iter().map(|number| number.0).collect::<Vec<_>>(),
        "waits": diagnosis.sentences.iter().map(sentence).collect::<Vec<_>>(),
        "unavoidable": diagnosis.doom.map(|doom| {
            json!({ "event": doom.event, "cycle": doom.cycle, "first": doom.is_first })
        }),
        "others": diagnosis.others,
        "notes": diagnosis.notes,
    })
}

fn sentence(sentence: &Sentence) -> Value {
    json!({
        "who": sentence.who,
        "waits": sentence.waits,
        "for": sentence.whom,
        "since_cycle": sentence.since_cycle,
        "block": sentence.block.map(|block| block.to_string()),
        "transaction": sentence.txn.map(|txn| txn.0),
        "event": sentence.event,
        "record": sentence.record.as_deref().map(str::trim),
    })
}
