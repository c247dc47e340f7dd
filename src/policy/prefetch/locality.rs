//! Prefetching after the last far-fault.

use super::Signals;
use crate::model::page::Page;

/// Pages beyond the last far-fault that are looked at (section 4.2).
const WINDOW: u64 = 128;

/// "It identifies the last far-faulting page, and then inserts the subsequent [80 - |S|] pages required to complete the transfer set
/// from the next VA sequential 128 pages beyond this faulting page. If the locality prefetcher runs out of local pages to
/// prefetch it will also choose candidate pages in VA-sequential order" (section 4.2), unless memory is full: then it keeps to the window,
/// "rather than attempting to maximize PCIe bandwidth" (section 5.2).
pub fn choose(signals: &Signals<'_>) -> Vec<Page> {
    let Some(last) = signals.last else { return super::sequential::choose(signals) };
    let (first, end) = (Page(last.0.saturating_add(1)), Page(last.0.saturating_add(WINDOW + 1)));
    let mut chosen: Vec<Page> = Vec::new();
    let mut next = signals.absent.next(first);
    while let Some(page) = next.filter(|page| *page < end && chosen.len() < signals.room) {
        chosen.push(page);
        next = signals.absent.next(Page(page.0 + 1));
    }
    if signals.is_full {
        return chosen;
    }
    let is_far = |page: &Page| *page < first || *page >= end;
    let left = signals.room - chosen.len();
    chosen.extend(signals.absent.iter().filter(is_far).take(left));
    chosen
}
