//! Paged GPU memory and pages taken for read-only: translations, faults, and the pages that moved or changed.

use super::Sheet;
use crate::machine::Machine;
use crate::model::paging::FaultStage;

/// Stages to which any number of requests come for one fault.
const COUNTED: [FaultStage; 4] =
    [FaultStage::Merged, FaultStage::Dropped, FaultStage::Nacked, FaultStage::Replayed];

impl Machine {
    pub(super) fn paging_statistics(&self, sheet: &mut Sheet) {
        let Some(paging) = &self.paging else { return };
        let tlbs = || self.agents.iter().filter_map(|agent| agent.tlb.as_ref());
        let hits: u64 = tlbs().map(|tlb| tlb.hits).sum();
        let missed: u64 = tlbs().map(|tlb| tlb.missed).sum();
        let merged: u64 = tlbs().map(|tlb| tlb.merged).sum();
        sheet.share("paging.tlb.hit_rate".to_owned(), hits, hits + missed + merged);
        sheet.count("paging.tlb.hits".to_owned(), hits);
        sheet.count("paging.tlb.misses".to_owned(), missed);
        sheet.count("paging.tlb.merges".to_owned(), merged);
        sheet.count("paging.tlb.shoot_downs".to_owned(), tlbs().map(|tlb| tlb.shot_down).sum());
        sheet.count("paging.walks".to_owned(), paging.gpus.iter().map(|one| one.gmmu.walked).sum());
        let most = paging.gpus.iter().map(|one| one.gmmu.high_water).max().unwrap_or(0);
        sheet.count("paging.far_fault_mshrs.most".to_owned(), most as u64);
        let whose = if paging.protection().is_some() { "read_only" } else { "paging" };
        for stage in COUNTED {
            let count = paging.gpus.iter().filter_map(|one| one.stages.get(stage as usize)).sum();
            sheet.count(format!("{whose}.faults.{}", stage.name()), count);
        }
        if let Some(protection) = paging.protection() {
            let counters = protection.counters;
            sheet.count("read_only.faults.cores".to_owned(), counters.by_cores);
            sheet.count("read_only.faults.gpus".to_owned(), counters.by_gpus);
            sheet.count("read_only.changed".to_owned(), counters.changed);
            sheet.count("read_only.gave_up".to_owned(), u64::from(protection.gave_up));
            return;
        }
        let drivers = || paging.gpus.iter().filter_map(|one| one.driver.as_ref());
        let mut put = |name: &str, of: fn(&crate::parts::driver::Counters) -> u64| {
            let sum = drivers().map(|driver| of(&driver.counters)).sum();
            sheet.count(format!("paging.{name}"), sum);
        };
        put("far_faults", |counters| counters.faults);
        put("demanded", |counters| counters.demanded);
        put("prefetched", |counters| counters.prefetched);
        put("copied", |counters| counters.copied);
        put("prefetched_used", |counters| counters.used);
        put("prefetched_wasted", |counters| counters.wasted);
        put("evicted", |counters| counters.evicted);
        put("taken_back", |counters| counters.taken_back);
        put("copied_back", |counters| counters.copied_back);
        put("written_back", |counters| counters.written_back);
        put("thrashed", |counters| counters.thrashed);
        let unused = drivers().map(|driver| driver.residency.unused().len()).sum();
        sheet.count("paging.prefetched_unused".to_owned(), unused);
        let moved = |driver: &crate::parts::driver::Driver| {
            let counters = &driver.counters;
            counters.demanded + counters.prefetched + counters.copied + counters.written_back
        };
        let pages = if paging.only_maps() { 0 } else { drivers().map(moved).sum::<u64>() };
        sheet.count("paging.bytes".to_owned(), u64::from(paging.page) * pages);
    }
}
