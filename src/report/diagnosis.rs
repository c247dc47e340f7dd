//! A diagnosis as JSON.

use serde_json::{Value, json};

use crate::debug::diagnosis::{Diagnosis, Doom, Sentence};

/// What keeps a machine from going on.
#[must_use]
pub fn json(diagnosis: &Diagnosis) -> Value {
    let (since, avoidable) = match diagnosis.doom {
        Some(Doom::Since { event, cycle, is_first }) => {
            (Some(json!({ "event": event, "cycle": cycle, "first": is_first })), Some(false))
        }
        Some(Doom::Avoidable) => (None, Some(true)),
        Some(Doom::Open(_)) | None => (None, None),
    };
    json!({
        "verdict": diagnosis.verdict.name(),
        "event": diagnosis.event,
        "cycle": diagnosis.cycle,
        "complete": diagnosis.complete,
        "circle": diagnosis.is_circle,
        "transactions": diagnosis.transactions.iter().map(|number| number.0).collect::<Vec<_>>(),
        "waits": diagnosis.sentences.iter().map(sentence).collect::<Vec<_>>(),
        "unavoidable": since,
        "avoidable": avoidable,
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
