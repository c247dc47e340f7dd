//! Where the time of a run with several tasks went.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::table::Table;
use super::values::Values;
use crate::machine::TaskWork;
use crate::report::number::grouped;

/// Tasks that are shown.
const SHOWN: usize = 8;

/// Letters of a kernel's name, at most.
const LETTERS: usize = 20;

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
    let several = kernels(works).collect::<BTreeSet<_>>().len() > 1;
    for (_, task) in tasks.iter().take(SHOWN) {
        let key = |name: &str| format!("tasks.{task}.{name}");
        let work = works.iter().find(|(id, _)| **id == **task).map(|(_, work)| told(work, several));
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

/// The names of all that is launched.
fn kernels(works: &[(Arc<str>, TaskWork)]) -> impl Iterator<Item = &Arc<str>> {
    works.iter().filter_map(|(_, work)| match work {
        TaskWork::Launch { kernel, .. } => Some(kernel),
        _ => None,
    })
}

/// Who does a task; of launches of `several` kernels, which of these.
fn told(work: &TaskWork, several: bool) -> String {
    match work {
        TaskWork::Launch { kernel, .. } if several => {
            let more = if kernel.chars().count() > LETTERS { "…" } else { "" };
            format!("{}, {}{more}", work.short(), kernel.chars().take(LETTERS).collect::<String>())
        }
        _ => work.short().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_is_told_with_its_kernel_where_there_are_several() {
        let launch = |kernel: &str| TaskWork::Launch { number: 3, kernel: Arc::from(kernel), blocks: 1 };
        assert_eq!(told(&launch("permute"), false), "launch 3");
        assert_eq!(told(&launch("permute"), true), "launch 3, permute");
        assert_eq!(told(&launch("_Z9histogramPjS_S_jjj"), true), "launch 3, _Z9histogramPjS_S_jj…");
        let works = ["histogram", "permute", "histogram"].map(|kernel| (Arc::from("run"), launch(kernel)));
        assert_eq!(kernels(&works).collect::<BTreeSet<_>>().len(), 2);
    }
}
