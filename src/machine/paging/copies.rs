//! Copies that programmers direct: all data go to the GPU before its first work begins, and what was written comes back
//! after the last ("copy then execute", "Towards High Performance Paged Memory for GPUs", section 2).

use super::Machine;
use crate::config::machine::CopyMode;
use crate::model::component::ComponentId;
use crate::model::page::Page;
use crate::model::wait::WaitLink;
use crate::protocol::outbox::Outbox;

/// What is copied, and how far that has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Copies {
    pub mode: CopyMode,
    /// What was written is copied back after the last task.
    pub back: bool,
    began: bool,
    /// Tasks that wait until all is there.
    held: Vec<usize>,
}

impl Copies {
    #[must_use]
    pub fn new(mode: CopyMode, back: bool) -> Self {
        Self { mode, back, began: false, held: Vec::new() }
    }

    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.held.is_empty()
    }
}

impl Machine {
    /// Whether a task that is to start has to wait for its data.
    pub(in crate::machine) fn copies_first(&mut self, task: usize, out: &mut Outbox) -> bool {
        let on_gpu = self.tasks.workload.tasks.get(task).is_some_and(|task| task.what.is_on_gpu());
        let Some(paging) = self.paging.as_mut() else { return false };
        if paging.copies.mode == CopyMode::OnDemand || !on_gpu {
            return false;
        }
        if !std::mem::replace(&mut paging.copies.began, true) {
            for gpu in 0..paging.gpus.len() {
                self.copy_all(gpu, out);
            }
        }
        let Some(paging) = self.paging.as_mut().filter(|paging| paging.is_copying()) else { return false };
        paging.copies.held.push(task);
        true
    }

    /// Why a component has nothing to do while all data go to the GPU first.
    pub(in crate::machine) fn why_up_front(&self, component: ComponentId) -> Option<Vec<WaitLink>> {
        let paging = self.paging.as_ref().filter(|paging| paging.is_copying())?;
        let is_idle = self.agent_at(component)?.warps.iter().all(|warp| warp.work.is_none());
        let waits = self.held_up(&paging.copies.held, component).filter(|_| is_idle)?;
        let copies = paging.gpus.iter().filter_map(|one| {
            let left = one.driver.as_ref()?.residency.coming().len();
            let text = format!("copies to the GPU: pages to come {left}");
            (left > 0).then_some(WaitLink { at: one.ports.driver, text, since: None })
        });
        Some(std::iter::once(waits).chain(copies).collect())
    }

    fn copy_all(&mut self, gpu: usize, out: &mut Outbox) {
        let Some(orders) = self.driver(gpu).map(super::Driver::copy_all) else { return };
        self.carry_out(gpu, orders, out);
        self.wake_paging(gpu);
    }

    /// A page has come: it may have been the last that tasks wait for.
    pub(super) fn go_on_with_tasks(&mut self) {
        let Some(paging) = self.paging.as_mut().filter(|paging| !paging.is_copying()) else { return };
        for task in std::mem::take(&mut paging.copies.held) {
            self.queue.push(self.now, super::Event::Task(task as u32));
        }
    }

    /// The last task has ended: what was written goes back.
    pub(in crate::machine) fn copy_back(&mut self, out: &mut Outbox) {
        let Some(paging) = self.paging.as_ref().filter(|paging| paging.copies.back) else { return };
        let written = |one: &super::GpuPaging| -> Vec<Page> {
            let Some(residency) = one.driver.as_ref().map(|driver| &driver.residency) else {
                return Vec::new();
            };
            residency.dirty().iter().filter(|page| residency.resident().contains(*page)).collect()
        };
        let all: Vec<Vec<Page>> = paging.gpus.iter().map(written).collect();
        for (gpu, pages) in all.into_iter().enumerate() {
            for page in pages {
                self.copy_home(gpu, page, out);
            }
        }
    }
}

impl super::Paging {
    fn is_copying(&self) -> bool {
        let is_coming = |driver: &super::Driver| !driver.residency.coming().is_empty();
        self.gpus.iter().filter_map(|one| one.driver.as_ref()).any(is_coming)
    }
}
