//! What accesses competed for, the busiest first, and MSHRs.

use super::table::Table;
use crate::model::resource::{Resource, ResourceView};
use crate::report::number::{mean, percent};

/// Rows at most of what serves and of MSHRs, and the share of time from which on a resource is worth one.
const MOST: [usize; 2] = [4, 3];
const WORTH: f64 = 0.1;

/// A row for each kind that was busy.
pub fn table(resources: &[ResourceView]) -> Table {
    let mut table = Table::new(["resources", "busy", "mean wait", "of", "busiest", ""]);
    let (holds, serves): (Vec<_>, Vec<_>) = resources.iter().partition(|view| view.kind == Resource::Mshrs);
    let shown = [serves, holds].into_iter().zip(MOST).flat_map(|(views, most)| views.into_iter().take(most));
    let shown: Vec<_> = shown.filter(|view| view.busiest >= WORTH).collect();
    for view in &shown {
        let wait = view.wait.map_or("-".to_owned(), mean);
        let cells =
            [percent(view.mean), wait, view.count.to_string(), percent(view.busiest), view.at.clone()];
        table.row(view.name(), cells);
    }
    let others = resources.iter().filter(|view| view.busiest > 0.0).count() - shown.len();
    if others > 0 && !shown.is_empty() {
        table.note(format!("and {others} more: --format json has them"));
    }
    table
}
