//! Where the time of a run with several tasks went.

use std::sync::Arc;

use super::table::Table;
use super::values::Values;
use crate::machine::TaskWork;
use crate::report::number::grouped;

/// Tasks that are shown.
const SHOWN: usize = 8;

/// A row for each of the tasks that took longest, if there are several.
pub fn table(works: &[(Arc<str>, TaskWork)], values: &Values) -> Table {
    let mut table = Table::new(["tasks, longest first", "cycles", "accesses", "hits", "mean cycles"]);
    let mut tasks: Vec<(f64, &str)> = values
        .between("tasks.", ".cycles")
        .into_iter()
        .map(|task| (values.get(&format!("tasks.{task}.cycles")), task))
        .collect();
    if tasks.len() < 2 {
        return table;
    }
    tasks.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    for (_, task) in tasks.iter().take(SHOWN) {
        let key = |name: &str| format!("tasks.{task}.{name}");
        let work = works.iter().find(|(id, _)| **id == **task).map(|(_, work)| work.short());
        table.row(
            work.map_or_else(|| (*task).to_owned(), |work| format!("{task}, {work}")),
            [
                values.count(&key("cycles")),
                values.count(&key("accesses")),
                values.percent(&key("l1_share")),
                values.mean(&key("mean_cycles")),
            ],
        );
    }
    let others = tasks.get(SHOWN..).unwrap_or_default();
    if !others.is_empty() {
        let cycles: f64 = others.iter().map(|(cycles, _)| cycles).sum();
        let (count, cycles) = (grouped(others.len() as u64), grouped(cycles as u64));
        table.note(format!("and {count} more, of {cycles} cycles in all: --stats has them"));
    }
    table
}
