//! Pages that are taken for read-only when the GPU begins to work, so that it may cache them, and what becomes of the first write to
//! each ("Selective GPU Caches", section 3.3): a protection fault, whose handler discards translations and cached lines of the
//! page before it lets it be written.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};

use super::{GpuPaging, Machine};
use crate::model::fault::Fault;
use crate::model::page::{Page, PageSet};
use crate::model::page_view::{FaultStep, LifeStep};
use crate::model::paging::{FaultStage, Permission};
use crate::model::record::What;
use crate::model::time::{EventNumber, Since, Tick};
use crate::policy::read_only::{Limit, Signals};
use crate::protocol::outbox::Outbox;
use crate::workload::TaskKind;

/// What does not change while a machine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtectionConfig {
    /// From the fault of a core to the change of the page.
    pub host_fault: Tick,
    /// From the interrupt by a GPU to the same.
    pub gpu_fault: Tick,
    /// Pages are marked again whenever a kernel is launched, not only before the first work of a GPU.
    pub every_launch: bool,
    /// When to give up, and the window in which faults are counted.
    pub limit: Option<(Limit, Tick)>,
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Faults that cores raised; of several for the same page at a time, the first.
    pub by_cores: u64,
    /// Faults for which a GPU interrupted a core.
    pub by_gpus: u64,
    /// Pages that became read-write.
    pub changed: u64,
}

/// The protection of a machine's pages, beside the [`Permissions`](crate::protocol::permissions::Permissions) themselves.
#[derive(Clone, Debug)]
pub struct Protection {
    pub(super) config: ProtectionConfig,
    /// The pages have been marked once.
    began: bool,
    /// Too many faults: no page is marked any more, or will not be once the handler ends.
    pub gave_up: bool,
    /// Pages whose fault handler runs, when it changes them, and because of which event.
    handlers: BTreeMap<Page, (Tick, EventNumber)>,
    /// Pages that cores wait to write.
    cores: BTreeSet<Page>,
    /// Pages that a GPU accessed while they were read-only: its caches may have lines of them.
    used: PageSet,
    /// Of all faults in the window.
    recent: VecDeque<Tick>,
    pub counters: Counters,
}

impl Protection {
    #[must_use]
    pub fn new(config: ProtectionConfig) -> Self {
        Self {
            config,
            began: false,
            gave_up: false,
            handlers: BTreeMap::new(),
            cores: BTreeSet::new(),
            used: PageSet::default(),
            recent: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// A GPU accesses a page.
    pub fn note_use(&mut self, page: Page, permission: Permission) {
        if permission == Permission::ReadOnly {
            self.used.insert(page);
        }
    }

    /// When the next handler changes its page.
    #[must_use]
    pub fn next(&self) -> Option<Tick> {
        self.handlers.values().map(|(due, _)| *due).min()
    }

    /// When each handler changes its page.
    pub(super) fn due_mut(&mut self) -> impl Iterator<Item = &mut Tick> {
        self.handlers.values_mut().map(|(due, _)| due)
    }

    /// When the handler of a page changes it.
    #[must_use]
    pub fn due(&self, page: Page) -> Option<Tick> {
        self.handlers.get(&page).map(|(due, _)| *due)
    }

    /// Faults in the window, and the most with which it goes on.
    #[must_use]
    pub fn recent(&self, now: Tick) -> Option<(u64, u64)> {
        let (limit, window) = self.config.limit?;
        let recent = self.recent.iter().filter(|at| **at + window > now).count() as u64;
        Some((recent, limit.faults))
    }

    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.handlers.is_empty() && self.cores.is_empty()
    }

    /// A handler begins, or is under way; whether it begins.
    fn handle(&mut self, page: Page, due: Tick, since: Since) -> bool {
        let now = since.tick;
        let known = self.handlers.get(&page).copied();
        let sooner = known.map_or(due, |(known, _)| known.min(due));
        self.handlers.insert(page, (sooner, known.map_or(since.event, |(_, event)| event)));
        if known.is_some() {
            return false;
        }
        if let Some((limit, window)) = self.config.limit {
            self.recent.push_back(now);
            self.recent.retain(|at| *at + window > now);
            self.gave_up |= limit.gives_up(Signals { faults: self.recent.len() as u64 });
        }
        true
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (self.began, self.gave_up, &self.handlers, &self.cores, &self.used, &self.recent).hash(hasher);
    }
}

impl Machine {
    /// A task starts: before the first work of a GPU, or whenever a kernel is launched, its pages become read-only. Pages with
    /// a write under way stay as they are, since nobody could hold that back any more.
    pub(in crate::machine) fn mark_pages(&mut self, task: usize, out: &mut Outbox) {
        let Some(work) = self.tasks.workload.tasks.get(task).map(|task| &task.what) else { return };
        let (is_gpu_work, is_kernel) = (work.is_on_gpu(), matches!(work, TaskKind::Kernel(_)));
        let Some(paging) = self.paging.as_mut() else { return };
        let Some(protection) = paging.protection.as_mut().filter(|it| !it.gave_up) else { return };
        if !is_gpu_work || protection.began && !(protection.config.every_launch && is_kernel) {
            return;
        }
        let again = std::mem::replace(&mut protection.began, true);
        let writes = self.txns.values().filter(|it| it.kind.writes()).map(|it| it.range.start);
        let writable = out.permissions.mark(writes);
        if again {
            for page in writable.iter() {
                self.tell_permission(page, Permission::ReadOnly, out);
                self.shoot_down_everywhere(page, out);
            }
        }
        self.tell_speculation(true, out);
    }

    fn tell_speculation(&self, on: bool, out: &mut Outbox) {
        let driver = self.paging.as_ref().and_then(|paging| paging.gpus.first()).map(|one| one.ports.driver);
        let about = crate::protocol::outbox::About::default();
        out.record(driver.unwrap_or_else(|| self.host_component()), about, || What::Speculation { on });
    }

    fn shoot_down_everywhere(&mut self, page: Page, out: &mut Outbox) {
        let units: Vec<usize> = self
            .paging
            .iter()
            .flat_map(|paging| &paging.gpus)
            .flat_map(|one| one.ports.units.iter().copied())
            .collect();
        self.shoot_down(&units, page, out);
    }

    /// A core writes a page that it may not write: its own handler runs.
    pub(super) fn fault_of_core(&mut self, agent: usize, page: Page, out: &mut Outbox) {
        let (now, about) = (self.now, self.about_page(page));
        let since = Since { tick: now, event: out.event };
        let Some(who) = self.agents.get(agent).map(|agent| agent.config.id) else { return };
        let Some(paging) = self.paging.as_mut() else { return };
        let Some(protection) = paging.protection.as_mut() else { return };
        protection.cores.insert(page);
        let is_changing = paging.draining.contains_key(&page);
        let begins = !is_changing && protection.handle(page, now + protection.config.host_fault, since);
        protection.counters.by_cores += u64::from(begins);
        if let Some(first) = paging.gpus.first_mut().filter(|_| begins) {
            first.lives.tell(page, FaultStep { step: LifeStep::Raised { used: 0, most: 0 }, at: now, who });
        }
        let stage = if begins { FaultStage::Raised } else { FaultStage::Merged };
        out.record(who, about, || What::ProtectionFault { stage, who, writes: true });
    }

    /// A GPU has interrupted a core for the fault of a page.
    pub(super) fn fault_of_gpu(&mut self, page: Page, out: &Outbox) {
        let now = self.now;
        let since = Since { tick: now, event: out.event };
        let Some(paging) = self.paging.as_mut() else { return };
        let Some(protection) = paging.protection.as_mut() else { return };
        if out.permission(page.range(paging.page).start) != Permission::Changing {
            protection.handle(page, now + protection.config.gpu_fault, since);
        }
        protection.counters.by_gpus += 1;
        self.wake_paging(0);
    }

    /// The handlers that are due change their pages; if there were too many faults, all pages.
    pub(super) fn serve_protection(&mut self, out: &mut Outbox) {
        let now = self.now;
        let Some(paging) = self.paging.as_mut() else { return };
        let Some(protection) = paging.protection.as_mut() else { return };
        let handlers = protection.handlers.iter().filter(|(_, (due, _))| *due <= now);
        let due: Vec<(Page, EventNumber)> = handlers.map(|(page, (_, cause))| (*page, *cause)).collect();
        let first = due.first().map(|(_, cause)| *cause);
        let all = protection.gave_up && out.permissions.is_on() && !due.is_empty();
        if all {
            out.cause = first;
            for page in self.give_up(out) {
                self.begin_change(page, out);
            }
        } else {
            for (page, cause) in due {
                out.cause = Some(cause);
                self.begin_change(page, out);
            }
        }
        out.cause = None;
    }

    /// No page is taken for read-only any more. Those that have to be changed, since a GPU has used them or somebody waits.
    fn give_up(&mut self, out: &mut Outbox) -> Vec<Page> {
        let Some(paging) = self.paging.as_mut() else { return Vec::new() };
        let Some(protection) = paging.protection.as_mut() else { return Vec::new() };
        let bytes = paging.page;
        let is_marked = |page: &Page| out.permission(page.range(bytes).start) == Permission::ReadOnly;
        let mut pages: BTreeSet<Page> = protection.used.iter().filter(is_marked).collect();
        pages.extend(protection.handlers.keys());
        // They are read-only until each of them begins to change.
        for page in &pages {
            out.permissions.begin_change(*page);
        }
        out.permissions.give_up();
        self.tell_speculation(false, out);
        pages.into_iter().collect()
    }

    /// A page is no longer read-only: its translations go, and its lines leave the caches of the GPUs.
    fn begin_change(&mut self, page: Page, out: &mut Outbox) {
        let Some(paging) = self.paging.as_mut() else { return };
        let Some(protection) = paging.protection.as_mut() else { return };
        protection.handlers.remove(&page);
        paging.draining.insert(page, Vec::new());
        out.permissions.begin_change(page);
        self.tell_open(page, FaultStage::Serviced, out);
        self.tell_permission(page, Permission::Changing, out);
        self.shoot_down_everywhere(page, out);
        if self.fixed.faults.contains(&Fault::SkipShootDown) {
            // Lines would be discarded "as part of the TLB shootdown".
            if let Some(paging) = self.paging.as_mut() {
                paging.draining.remove(&page);
            }
            self.end_change(page, out);
        } else {
            self.drain(page, out);
        }
    }

    /// Tells of the faults of a page that are under way: a page may change without one, when too many others had some.
    fn tell_open(&mut self, page: Page, stage: FaultStage, out: &mut Outbox) {
        let is_open = |one: &GpuPaging| one.lives.of(page).is_some_and(|(_, open)| open);
        let gpus = self.paging.iter().flat_map(|paging| paging.gpus.iter().map(is_open));
        for (gpu, _) in gpus.collect::<Vec<_>>().into_iter().enumerate().filter(|(_, open)| *open) {
            self.tell_fault(gpu, page, stage, 0, out);
        }
    }

    fn tell_permission(&mut self, page: Page, permission: Permission, out: &mut Outbox) {
        let about = self.about_page(page);
        let is_checked = self.checker.is_some();
        let Some(paging) = self.paging.as_mut() else { return };
        paging.moved.extend(is_checked.then_some(page));
        let Some(first) = paging.gpus.first() else { return };
        out.record(first.ports.driver, about, || What::Permission { permission });
    }

    /// No GPU has lines of a page: it may be written, and those who wait to are told.
    pub(super) fn end_change(&mut self, page: Page, out: &mut Outbox) {
        out.permissions.end_change(page);
        self.tell_permission(page, Permission::ReadWrite, out);
        self.tell_open(page, FaultStage::Arrived, out);
        let Some(paging) = self.paging.as_mut() else { return };
        let Some(protection) = paging.protection.as_mut() else { return };
        protection.counters.changed += 1;
        protection.used.remove(page);
        let cores = if protection.cores.remove(&page) { paging.cores.clone() } else { Vec::new() };
        let units: Vec<_> = paging.gpus.iter_mut().map(|one| one.gmmu.arrived(page)).collect();
        self.tell_cores(&cores, page, out);
        for (gpu, units) in units.iter().enumerate() {
            self.replay_all(gpu, units, page, out);
            self.wake_paging(gpu);
        }
    }
}

#[cfg(test)]
mod tests;
