//! Eviction of the page that was used longest ago.

use super::Signals;
use crate::model::page::Page;

/// The page that was accessed longest ago (section 5.1: true LRU, an upper bound of what is buildable).
pub fn choose(signals: &mut Signals<'_>) -> Vec<Page> {
    signals.pages.oldest().into_iter().collect()
}
