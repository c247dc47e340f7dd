//! The records that made the edges of a diagnosis, found by replay.

use super::Diagnosis;
use super::sentence::Sentence;
use crate::debug::describe;
use crate::debug::subject::Subject;
use crate::machine::StepOutcome;
use crate::model::record::{Record, Records, What};
use crate::model::wait::{Doing, Party};

/// Finds the event and record behind each sentence. `machine` stands at or before the first of them.
pub fn trace(diagnosis: &mut Diagnosis, mut machine: Box<dyn Subject>, goes_on: &dyn Fn() -> bool) {
    let mut records = Records::listening();
    let mut best: Vec<Option<u32>> = vec![None; diagnosis.sentences.len()];
    let is_over = |machine: &dyn Subject| machine.event() >= diagnosis.event || !goes_on();
    while !is_over(&*machine) && machine.step(&mut records) == StepOutcome::Ran {
        for (sentence, best) in diagnosis.sentences.iter_mut().zip(&mut best) {
            for record in &records.list {
                let Some(rank) = rank(sentence, record) else { continue };
                if best.is_none_or(|known| rank < known) {
                    *best = Some(rank);
                    sentence.event = Some(record.id.event);
                    sentence.record = Some(describe::log_line(record, machine.components()));
                }
            }
        }
    }
}

/// How well a record fits as the one that made an edge; smaller is better, `None` not at all.
fn rank(sentence: &Sentence, record: &Record) -> Option<u32> {
    if let (Party::Lane { from, to, .. }, Some(event)) = (sentence.from, sentence.event) {
        let is_sending = record.id.event == event
            && matches!(&record.what, What::Message(message) if message.from == from && message.to == to
                && Some(message.range.start) == sentence.block);
        return is_sending.then_some(0);
    }
    // An access that has ended is in no list of those in flight any more: its record is all there is.
    if let (Party::Warp(..), Some(txn)) = (sentence.from, sentence.txn) {
        let is_then = sentence.event.is_none_or(|event| record.id.event == event);
        let is_issue = is_then && matches!(record.what, What::Issue { .. });
        return (is_issue && record.txn == Some(txn)).then_some(0);
    }
    let is_about = record.at == sentence.from.component()
        && record.tick == sentence.since
        && (sentence.block.is_none()
            || record.range.is_none()
            || record.range.is_some_and(|range| {
                sentence.block.is_some_and(|block| {
                    range.contains(block) || (block.0..block.0 + 64).contains(&range.start.0)
                })
            }));
    if !is_about {
        return None;
    }
    let doing = match sentence.from {
        Party::Block { doing, .. } => Some(doing),
        _ => None,
    };
    let fits = match (&record.what, doing) {
        (What::Message(_), Some(Doing::Asks | Doing::Serves | Doing::WritesBack | Doing::Forwards))
        | (What::Delivery(_), Some(Doing::Queues | Doing::Answers))
        | (What::Evict { .. }, Some(Doing::Evicts))
        | (What::Mshr { .. }, Some(Doing::KeepsMshr))
        | (What::Issue { .. } | What::Warp { .. }, None) => 1,
        (What::Delivery(_), _) => 2,
        _ => 3,
    };
    Some(fits)
}
