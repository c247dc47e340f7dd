//! Memories that are caches: what became of requests at their tags.

use super::Sheet;
use crate::machine::Machine;
use crate::model::tags::{TagCounters, TagOutcome};
use crate::model::text::key_word;

impl Machine {
    pub(super) fn tag_statistics(&self, sheet: &mut Sheet) {
        let mut all = TagCounters::default();
        let mut handlers = self.nodes.iter().filter_map(|node| node.tag_miss_handler()).peekable();
        if handlers.peek().is_none() {
            return;
        }
        handlers.for_each(|handler| all.add(&handler.counters));
        for outcome in TagOutcome::ALL {
            sheet.count(format!("tags.{}", key_word(outcome.name())), all.of(outcome));
        }
        sheet.count("tags.replays_missed".to_owned(), all.replays_missed);
        sheet.count("tags.pending_high_water".to_owned(), u64::from(all.pending_high_water));
        sheet.count("tags.scoreboard_high_water".to_owned(), u64::from(all.scoreboard_high_water));
        // First look-ups only: nodes count no others.
        let tagged = self.nodes.iter().filter(|node| node.is_tagged());
        let (hits, misses) = tagged
            .fold((0, 0), |(hits, misses), node| (hits + node.counters.hits, misses + node.counters.misses));
        sheet.count("tags.first_hits".to_owned(), hits);
        sheet.share("tags.hit_rate".to_owned(), hits, hits + misses);
    }
}
