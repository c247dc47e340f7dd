//! Prefetching in the order of an earlier run.

use super::Signals;
use crate::model::page::{Page, PageSet};

/// "Oracular profiled prefetching, in which the transfer set is supplemented with prefetch candidates that are inserted in
/// the same order that the application actually touches the pages", from a first run (section 4.2).
pub fn choose(signals: &Signals<'_>) -> Vec<Page> {
    let mut chosen = PageSet::default();
    let candidates = signals.touched.iter().copied();
    candidates
        .filter(|page| signals.absent.contains(*page) && chosen.insert(*page))
        .take(signals.room)
        .collect()
}
