//! What copies look like from outside: what went where, and where the pages of each GPU are.

use std::collections::BTreeMap;

use super::{Copies, Machine, Moved};
use crate::model::address::Address;
use crate::model::component::ComponentId;
use crate::model::page::{Page, PageSet};
use crate::model::page_view::{CopyView, Mover, PageCell, PageStand, PagesView, SetView};
use crate::model::wait::WaitLink;
use crate::parts::copy_engine::Engine;
use crate::policy::copies::Side;
use crate::workload::TaskKind;

impl Copies {
    /// What was copied to a side so far. To GPUs, what lies there unused counts as redundant.
    #[must_use]
    pub fn moved(&self, to: Side) -> Moved {
        match to {
            Side::Host => self.counts.to_host,
            Side::Gpu => {
                let redundant = self.counts.to_gpu.redundant + self.counts.unused();
                Moved { redundant, ..self.counts.to_gpu }
            }
        }
    }

    /// Bytes of a page.
    #[must_use]
    pub fn page_size(&self) -> u32 {
        self.shape.page
    }

    /// Whether an array is on its way.
    fn is_moved(&self, array: usize) -> bool {
        self.transfer.as_ref().is_some_and(|transfer| transfer.arrays.contains(&array))
    }

    /// Whether an array is on its way to the GPUs.
    fn comes(&self, array: usize) -> bool {
        self.transfer.as_ref().is_some_and(|transfer| transfer.to == Side::Gpu) && self.is_moved(array)
    }

    /// `queued` are the pages that wait for the engine.
    fn stand(&self, engine: &Engine, queued: &PageSet, array: usize, page: Page) -> PageStand {
        let to = self.transfer.as_ref().map(|transfer| transfer.to);
        match (self.arrays.get(array), to) {
            (_, Some(Side::Gpu)) if engine.active.contains_key(&page) => PageStand::Coming,
            (_, Some(Side::Host)) if engine.active.contains_key(&page) => PageStand::Leaving,
            (Some(_), Some(Side::Host)) if self.is_moved(array) && !queued.contains(page) => PageStand::Host,
            (Some(_), Some(Side::Gpu)) if self.is_moved(array) && !queued.contains(page) => PageStand::Unused,
            (Some(array), _) if array.at_gpu && self.counts.is_written(page) => PageStand::Dirty,
            (Some(array), _) if array.at_gpu && self.counts.is_accessed(page) => PageStand::Used,
            (Some(array), _) if array.at_gpu => PageStand::Unused,
            _ => PageStand::Host,
        }
    }
}

impl Machine {
    /// The pages of each GPU on a machine that copies them.
    pub(in crate::machine) fn view_copies(&self, cells: usize) -> Vec<PagesView> {
        let Some(copies) = &self.copies else { return Vec::new() };
        let engines = copies.engines.iter().enumerate();
        engines.map(|(gpu, engine)| self.copied_pages(copies, gpu, engine, cells)).collect()
    }

    fn copied_pages(&self, copies: &Copies, gpu: usize, engine: &Engine, cells: usize) -> PagesView {
        let size = copies.shape.page;
        let is_own = |page: &Page| self.homes.of(page.range(size).start) as usize == gpu;
        let all = copies.arrays.iter().enumerate();
        let all =
            all.flat_map(|(number, array)| array.pages.iter().filter(is_own).map(move |page| (number, page)));
        let queued: PageSet = engine.queued().collect();
        let stands: Vec<(Page, PageStand)> =
            all.map(|(array, page)| (page, copies.stand(engine, &queued, array, page))).collect();
        let mut counts = [0; PageStand::ALL.len()];
        for (count, stand) in counts.iter_mut().zip(PageStand::ALL) {
            *count = stands.iter().filter(|(_, own)| *own == stand).count() as u64;
        }
        let group = (stands.len() as u64).div_ceil(cells.max(1) as u64).next_power_of_two();
        let there: u64 = (copies.arrays.iter().enumerate())
            .filter(|(number, array)| array.has_room || copies.comes(*number))
            .map(|(_, array)| array.pages.iter().filter(is_own).count() as u64)
            .sum();
        let frames = copies.shape.frames / (copies.engines.len() as u64).max(1);
        PagesView {
            gpu: gpu as u32,
            driver: engine.ports.id,
            page: size,
            frames: Some(frames),
            free: frames.saturating_sub(there),
            counts,
            group,
            cells: grouped(&stands, group, size),
            moves: Vec::new(),
            faults: Vec::new(),
            queued: 0,
            due: None,
            last_set: SetView::default(),
            mover: Mover::Copies {
                by: copies.policy.name(),
                under_way: copies.transfer.as_ref().map(|transfer| CopyView {
                    to_gpu: transfer.to == Side::Gpu,
                    left: transfer.left,
                    began: transfer.began,
                }),
            },
            // Those that are there and unused are told apart, and may still be used.
            wasted: copies.counts.to_gpu.redundant + copies.counts.to_host.redundant,
            thrashed: 0,
        }
    }
}

impl Machine {
    /// What copies wait for, and what waits for copies: of a copy engine, or of a compute unit whose work has not begun.
    pub(in crate::machine) fn why_copies(&self, component: ComponentId) -> Option<Vec<WaitLink>> {
        let copies = self.copies.as_ref()?;
        let own = copies.engines.iter().find(|engine| engine.ports.id == component);
        let is_at_work = || {
            self.agent_at(component).is_none_or(|agent| agent.warps.iter().any(|warp| warp.work.is_some()))
        };
        let engine = match own {
            Some(engine) => engine,
            None if copies.held.is_empty() || is_at_work() => return None,
            None if copies.transfer.is_none() => return self.why_no_copy(copies, component),
            None => copies.engines.iter().find(|engine| !engine.active.is_empty())?,
        };
        let transfer = copies.transfer.as_ref()?;
        let (at, since) = (engine.ports.id, Some(transfer.began));
        let waits = if own.is_none() { Some(self.held_up(&copies.held, component)?) } else { None };
        let to = if transfer.to == Side::Gpu { "the GPUs" } else { "the host" };
        let text = format!("copies to {to}: pages to come {}", transfer.left);
        let mut links: Vec<WaitLink> = waits.into_iter().chain([WaitLink { at, text, since }]).collect();
        if let Some((page, stage)) = engine.active.iter().next() {
            let text = format!("page {page} {}", stage.told());
            links.push(WaitLink { at, text, since: None });
        }
        Some(links)
    }

    /// The same where nothing is copied.
    fn why_no_copy(&self, copies: &Copies, component: ComponentId) -> Option<Vec<WaitLink>> {
        let at = copies.engines.first()?.ports.id;
        let text = "copies nothing before what the GPUs do has ended".to_owned();
        Some(vec![self.held_up(&copies.held, component)?, WaitLink { at, text, since: None }])
    }

    /// That a component has no work before one of the tasks that copies hold up begins.
    pub(in crate::machine) fn held_up(&self, held: &[usize], component: ComponentId) -> Option<WaitLink> {
        let mut held = held.iter().filter_map(|task| self.tasks.workload.tasks.get(*task));
        let task = held.find(|task| self.is_done_by(&task.what, component))?;
        let text = format!("has nothing to do before {} begins, which waits for its data", task.id);
        Some(WaitLink { at: component, text, since: None })
    }

    /// Whether a compute unit or core has a part in a task.
    pub(in crate::machine) fn is_done_by(&self, task: &TaskKind, component: ComponentId) -> bool {
        match task {
            TaskKind::Program { agent, .. } => self.fixed.components.path(component) == agent,
            TaskKind::Kernel(_) => !self.fixed.components.is_host(component),
            TaskKind::Flush { .. } => false,
        }
    }
}

/// Pages in cells of `group`, each with what is most telling about them.
fn grouped(stands: &[(Page, PageStand)], group: u64, size: u32) -> Vec<PageCell> {
    let mut cells: BTreeMap<u64, PageStand> = BTreeMap::new();
    for (page, stand) in stands {
        let cell = cells.entry(page.0 / group).or_insert(*stand);
        *cell = (*cell).min(*stand);
    }
    let bytes = group * u64::from(size);
    let cell = |(number, stand): (u64, PageStand)| PageCell {
        first: Address(number * bytes),
        len: bytes,
        stand,
        heat: None,
    };
    cells.into_iter().map(cell).collect()
}
