//! Bulk copies between host memory and the memories of the GPUs.

use super::Builder;
use super::pages::count;
use crate::config::machine::{CopiesSpec, GpuSpec};
use crate::diagnostic::{Diagnostic, Result};
use crate::machine::copies::{Copies, Shape};
use crate::model::address::Range;
use crate::model::component::ComponentKind;
use crate::model::page::{Page, PageRun};
use crate::parts::copy_engine::{Engine, Ports};
use crate::policy::copies::CopyPolicy;
use crate::workload::Workload;

impl Builder<'_> {
    /// The copies of the machine, if it has any.
    ///
    /// # Errors
    /// If the data of a task do not fit into the memories of the GPUs.
    pub(super) fn copies(&mut self) -> Result<Option<Copies>> {
        let Some(gpu) = self.spec.gpu.as_ref() else { return Ok(None) };
        let (Some(spec), Some(numa)) = (gpu.copies.as_ref(), gpu.numa.as_ref()) else { return Ok(None) };
        let ranges = super::numa::ranges_of(&self.blueprint.workload, numa.page);
        let frames = frames(gpu, spec, numa.page, &ranges);
        self.fits(spec.policy, numa.page, frames)?;
        let mut engines = Vec::new();
        for number in 0..gpu.count {
            let (up, down) = self.host_links(number);
            let id = self.components.add(format!("gpu{number}.copy"), ComponentKind::CopyEngine);
            engines.push(Engine::new(Ports { id, links: (down, up) }));
        }
        let of_gpus = self
            .sockets
            .iter()
            .flat_map(|socket| socket.l1s.iter().chain(&socket.slices).chain(&socket.remote));
        let caches = of_gpus.chain(&self.host_caches).copied().collect();
        let mut units = vec![false; self.agents.len()];
        for unit in self.gpu_agents.iter().flatten() {
            if let Some(is_gpu) = units.get_mut(*unit) {
                *is_gpu = true;
            }
        }
        let shape = Shape { page: numa.page, frames, caches, units };
        let arrays = arrays(&self.blueprint.workload, &ranges, numa.page);
        Ok(Some(Copies::new(spec.policy, spec.start, &arrays, engines, shape)))
    }

    /// That a GPU never needs more data at once than all of them have room for.
    fn fits(&self, policy: CopyPolicy, page: u32, frames: u64) -> Result<()> {
        let tasks = &self.blueprint.workload.tasks;
        let pages =
            |ranges: Vec<Range>| count(ranges.into_iter().map(|range| PageRun::of(range, page)).collect());
        let needed = match policy {
            CopyPolicy::Programmer => {
                let of_gpus = tasks.iter().filter(|task| task.what.is_on_gpu());
                of_gpus.map(|task| pages(task.what.footprint())).max().unwrap_or(0)
            }
            CopyPolicy::AddressSpace | CopyPolicy::Runtime => {
                pages(tasks.iter().flat_map(|task| task.what.footprint()).collect())
            }
        };
        if needed <= frames {
            return Ok(());
        }
        let complaint = format!(
            "gpu.copies: the work needs {needed} pages of {page} bytes at once, and the memories of the GPUs hold {frames}"
        );
        let expected = "more memory, smaller data, or, with memcpy, more `pieces` (such as --set with.pieces=16) of a kernel that can be split: vector-add, histogram-256 and hotspot can";
        Err(Box::new(Diagnostic::new(complaint).expected(expected)))
    }
}

/// What is copied as a whole. A page that an array fills in part stands by itself: a kernel that overwrites the array keeps the rest of it.
fn arrays(workload: &Workload, ranges: &[PageRun], page: u32) -> Vec<PageRun> {
    let full = |range: Range| {
        let size = u64::from(page.max(1));
        let (first, end) = (range.start.0.div_ceil(size), range.end() / size);
        (first < end).then(|| PageRun { first: Page(first), count: end - first })
    };
    let footprints = workload.tasks.iter().flat_map(|task| task.what.footprint());
    let all: Vec<PageRun> = ranges.iter().copied().chain(footprints.filter_map(full)).collect();
    PageRun::cut(&all)
}

/// Pages that fit into the memories of all GPUs.
fn frames(gpu: &GpuSpec, spec: &CopiesSpec, page: u32, ranges: &[PageRun]) -> u64 {
    let Some(share) = spec.share else {
        let size = gpu.memory.size.0.saturating_mul(u64::from(gpu.l2.slices) * u64::from(gpu.count));
        return size / u64::from(page.max(1));
    };
    // A share is a part of a thousand.
    (count(ranges.to_vec()) * u64::from(share)).div_ceil(1000).max(1)
}
