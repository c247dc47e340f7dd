//! Which pages a machine keeps track of, and that they are not too many: a few bytes of a trace can name all addresses.

use super::Builder;
use super::numa::ranges_of;
use crate::config::machine::{GpuSpec, NumaSpec, PagingSpec};
use crate::diagnostic::{Diagnostic, Result};
use crate::model::address::Range;
use crate::model::page::{PageRun, PageSet};
use crate::model::units::Size;
use crate::policy::placement::Placement;

/// Most pages that a machine keeps track of: 256 GiB of data in pages of 4 KiB. Each takes a bit in every set that it is
/// in, and some 16 bytes while it is copied: a GiB for all of them.
const MOST_PAGES: u64 = 1 << 26;

impl Builder<'_> {
    /// That there are not too many pages. It is asked before any set is filled with them.
    ///
    /// # Errors
    /// If there are.
    pub(super) fn check_pages(&self) -> Result<()> {
        let Some(gpu) = self.spec.gpu.as_ref() else { return Ok(()) };
        let workload = &self.blueprint.workload;
        if let Some(spec) = &gpu.paging {
            bounded("gpu.paging.page", spec.page, self.paged(spec))?;
        }
        if let Some(spec) = &gpu.read_only {
            bounded("gpu.read_only.page", spec.page, ranges_of(workload, spec.page))?;
        }
        if let Some(spec) = &gpu.numa {
            bounded("gpu.numa.page", spec.page, self.homed(gpu, spec))?;
        }
        if gpu.tags.as_ref().is_some_and(|tags| tags.share.is_some()) {
            let row = gpu.memory.dram.row;
            bounded("gpu.memory.dram.row", row, ranges_of(workload, row))?;
        }
        Ok(())
    }

    /// The pages that drivers may bring: those of the work, and those that are allocated.
    pub(super) fn paged(&self, spec: &PagingSpec) -> Vec<PageRun> {
        let workload = &self.blueprint.workload;
        let of = |range: &Range| PageRun::of(spec.prefetch.allocated(*range), spec.page);
        // A trace has addresses of a process: they end nowhere.
        let end = self.spec.host.memory.0 / u64::from(spec.page.max(1));
        let inside =
            |PageRun { first, count }| PageRun { first, count: count.min(end.saturating_sub(first.0)) };
        let own = self.blueprint.allocated.iter().map(of).map(inside);
        let mut runs = ranges_of(workload, spec.page);
        runs.extend(own.chain(workload.allocated.iter().map(of)));
        runs
    }

    /// The pages of sockets that are copied, or have a home at the start.
    fn homed(&self, gpu: &GpuSpec, numa: &NumaSpec) -> Vec<PageRun> {
        let workload = &self.blueprint.workload;
        let is_placed = |placement: Placement| gpu.count > 1 && numa.placement == placement;
        let mut runs = Vec::new();
        if gpu.copies.is_some() || is_placed(Placement::Split) {
            runs = ranges_of(workload, numa.page);
        }
        if is_placed(Placement::FirstTouch) {
            runs.extend(workload.homes.iter().map(|(range, _)| PageRun::of(*range, numa.page)));
        }
        runs
    }
}

/// That these are not too many, of as many bytes as `key` says.
fn bounded(key: &str, page: u32, runs: Vec<PageRun>) -> Result<()> {
    let count = count(runs);
    if count <= MOST_PAGES {
        return Ok(());
    }
    let size = Size(u64::from(page));
    let message = format!("{key}: the work has {count} pages of {size}, too many to keep track of");
    let expected =
        format!("at most {MOST_PAGES}: a larger {key}, or a trace or arrays that span less memory");
    Err(Box::new(Diagnostic::new(message).expected(expected)))
}

/// How many pages these are, each counted once.
pub(super) fn count(runs: Vec<PageRun>) -> u64 {
    PageRun::merged(runs).iter().map(|run| run.count).sum()
}

/// All pages of these runs.
pub(super) fn set_of(runs: Vec<PageRun>) -> PageSet {
    PageRun::merged(runs).into_iter().flat_map(PageRun::iter).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::{load_machine_with, load_protocol};
    use crate::machine::sample::{everything, touching_everything};
    use crate::machine::{Blueprint, FirstPass, Machine};
    use crate::model::page::Page;
    use crate::workload::{Task, Workload};

    /// Work of the host that touches everything.
    fn touching() -> Workload {
        let what = touching_everything();
        let task = Task { id: "everything".into(), after: Vec::new(), delay: 0, launch: None, what };
        Workload { tasks: vec![task], ..Workload::default() }
    }

    fn refused(machine: &str, change: Option<&str>, workload: Workload) -> Box<Diagnostic> {
        let changes: Vec<String> = change.into_iter().map(str::to_owned).collect();
        let mut spec = load_machine_with(machine, None, &changes).unwrap();
        let names: Vec<String> = spec.protocols().into_iter().map(|name| (*name).clone()).collect();
        let blueprint = Blueprint {
            tables: names.iter().map(|name| Arc::new(load_protocol(name, None).unwrap())).collect(),
            workload: Arc::new(workload),
            seed: 0,
            max_cycles: u64::MAX,
            checks: false,
            faults: Vec::new(),
            initial: Vec::new(),
            memory: Vec::new(),
            allocated: Vec::new(),
            first_pass: FirstPass::default(),
            spec,
        };
        Machine::build(&blueprint).unwrap_err()
    }

    #[test]
    fn too_many_pages_are_refused_before_any_is_kept() {
        for (machine, change, key) in [
            ("tiny/paged-1gpu", None, "gpu.paging.page"),
            ("tiny/selective-readonly", None, "gpu.read_only.page"),
            ("tiny/memcpy-1gpu", None, "gpu.numa.page"),
            ("tiny/numa-4socket", Some("gpu.numa.placement=split"), "gpu.numa.page"),
            ("tiny/scalegpu", Some("gpu.tags.share=50"), "gpu.memory.dram.row"),
        ] {
            let error = refused(machine, change, touching());
            assert!(error.message.starts_with(&format!("{key}: the work has ")), "{machine}: {error}");
            assert!(error.expected.unwrap().contains(&format!("a larger {key}")), "{machine}");
        }
    }

    #[test]
    fn what_is_only_allocated_or_at_home_counts_too() {
        let allocated = Workload { allocated: everything(), ..Workload::default() };
        let error = refused("tiny/paged-1gpu", None, allocated);
        let told = "gpu.paging.page: the work has 137438953472 pages of 4 KiB, too many to keep track of";
        assert_eq!(error.message, told);
        let homes = everything().into_iter().map(|range| (range, 1)).collect();
        let error = refused("tiny/numa-4socket", None, Workload { homes, ..Workload::default() });
        assert!(error.message.starts_with("gpu.numa.page: "), "{error}");
    }

    #[test]
    fn pages_that_several_name_count_once() {
        let run = |first, count| PageRun { first: Page(first), count };
        assert_eq!(count(vec![run(8, 2), run(1, 3), run(3, 2), run(1, 1), run(40, 0)]), 6);
        assert_eq!(set_of(vec![run(8, 2), run(1, 3), run(3, 2)]).len(), 6);
        assert!(bounded("key", 4096, vec![run(9, MOST_PAGES), run(9, 7)]).is_ok());
        assert!(bounded("key", 4096, vec![run(9, MOST_PAGES), run(0, 1)]).is_err());
    }
}
