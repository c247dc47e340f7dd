//! Eviction at random.

use super::Signals;
use crate::model::page::Page;
use crate::model::random::Random;

/// Any page (section 5.1: "surprisingly competitive with LRU").
pub fn choose(signals: &Signals<'_>, random: &mut Random) -> Vec<Page> {
    signals.resident.nth(random.below(signals.resident.len())).into_iter().collect()
}
