//! Prefetching from the lowest page on.

use super::Signals;
use crate::model::page::Page;

/// "Sequential prefetch chooses pages from lowest to highest virtual page number order" (section 4.2).
pub fn choose(signals: &Signals<'_>) -> Vec<Page> {
    signals.absent.iter().take(signals.room).collect()
}
