//! What accesses waited for, the longest first.

use super::table::Table;
use crate::debug::latency::{Place, Waits};
use crate::report::number::{grouped, mean, percent};

/// A row for each thing that they waited for, and where that was most.
pub fn table(waits: Option<&Waits>) -> Table {
    let heads = ["waited for", "of latency", "cycles each", "of accesses", "most at", "", "then at", ""];
    let mut table = Table::new(heads);
    let Some(waits) = waits.filter(|waits| waits.accesses > 0) else { return table };
    let of = |cycles: u64| cycles as f64 / waits.cycles.max(1) as f64;
    let each = |cycles: u64| cycles as f64 / waits.accesses as f64;
    let place = |place: Option<&Place>| {
        place.map_or(Default::default(), |place| [percent(of(place.cycles)), place.at.clone()])
    };
    for sum in &waits.sums {
        let [share, at] = place(sum.places.first());
        let [next_share, next_at] = place(sum.places.get(1));
        let accesses = percent(each(sum.accesses));
        let cells = [percent(sum.share), mean(each(sum.cycles)), accesses, share, at, next_share, next_at];
        table.row(sum.sort.name(), cells);
    }
    let (count, longest) = (grouped(waits.accesses), grouped(waits.longest));
    let all = mean(each(waits.cycles));
    table.note(format!("{count} accesses that did not end at once: {all} cycles each, {longest} at most"));
    table
}
