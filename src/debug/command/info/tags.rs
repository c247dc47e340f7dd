//! Tags in DRAM and tag miss handlers.

use super::cut;
use crate::debug::command::Arguments;
use crate::debug::frame::text;
use crate::debug::session::Session;
use crate::diagnostic::Result;
use crate::model::tags::{TagOutcome, TagRequest, TagScore, TagView};

/// Of each memory that is a cache: what its tags have seen, its pending queue and its scoreboard.
pub(super) fn tags(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    if let Some(word) = arguments.words().first() {
        return Err(arguments.error(word.span.clone(), "nothing is expected after info tags"));
    }
    let machine = session.machine();
    let all: Vec<TagView> = machine.components().iter().filter_map(|(id, _)| machine.tags(id)).collect();
    if all.is_empty() {
        return Ok(vec!["no memory of this machine is a cache with its tags in DRAM".to_owned()]);
    }
    let lines = all.iter().flat_map(|tags| of_memory(session, tags)).collect();
    Ok(cut(session, lines, "tags"))
}

fn of_memory(session: &Session, tags: &TagView) -> Vec<String> {
    let machine = session.machine();
    let time = machine.time_base();
    let mut lines = vec![format!(
        "{}  {} of {} pending, {} of {} on the scoreboard, {} writes on their way to the host",
        machine.components().path(tags.node),
        tags.queue.len(),
        tags.queue_capacity,
        tags.scores.len(),
        tags.score_capacity,
        tags.relayed
    )];
    let hits = tags.counters.of(TagOutcome::Hit);
    lines.push(format!("    hits: {hits}, {} of them at the first look-up", tags.first_hits));
    lines.extend(text::tag_counts(tags).into_iter().map(|line| format!("    {line}")));
    let number = |txn: Option<crate::model::message::TxnNumber>| {
        txn.map_or_else(String::new, |txn| format!(" txn {}", txn.0))
    };
    let request = |request: &TagRequest| {
        let what = if request.writes { "write" } else { "read" };
        let (range, since) = (request.range, time.cycle(request.since));
        format!("    pending {what} {range}{} since cycle {since}", number(request.txn))
    };
    let score = |score: &TagScore| {
        let bit = u8::from(score.arrived);
        format!("    tag {}{}: counter {}, arrival bit {bit}", score.range, number(score.txn), score.count)
    };
    lines.extend(tags.queue.iter().map(request));
    lines.extend(tags.scores.iter().map(score));
    lines
}
