//! Paged GPU memory: far-faults, translations, and the pages that moved.

use super::Sheet;
use crate::machine::Machine;

impl Machine {
    pub(super) fn paging_statistics(&self, sheet: &mut Sheet) {
        let Some(paging) = &self.paging else { return };
        let tlbs = || self.agents.iter().filter_map(|agent| agent.tlb.as_ref());
        let hits: u64 = tlbs().map(|tlb| tlb.hits).sum();
        let missed: u64 = tlbs().map(|tlb| tlb.missed).sum();
        sheet.share("paging.tlb.hit_rate".to_owned(), hits, hits + missed);
        sheet.count("paging.tlb.misses".to_owned(), missed);
        sheet.count("paging.tlb.shoot_downs".to_owned(), tlbs().map(|tlb| tlb.shot_down).sum());
        sheet.count("paging.walks".to_owned(), paging.gpus.iter().map(|one| one.gmmu.walked).sum());
        let most = paging.gpus.iter().map(|one| one.gmmu.high_water).max().unwrap_or(0);
        sheet.count("paging.far_fault_mshrs.most".to_owned(), most as u64);
        let mut put = |name: &str, of: fn(&crate::parts::driver::Counters) -> u64| {
            let sum = paging.gpus.iter().map(|one| of(&one.driver.counters)).sum();
            sheet.count(format!("paging.{name}"), sum);
        };
        put("far_faults", |counters| counters.faults);
        put("demanded", |counters| counters.demanded);
        put("prefetched", |counters| counters.prefetched);
        put("copied", |counters| counters.copied);
        put("prefetched_used", |counters| counters.used);
        put("prefetched_wasted", |counters| counters.wasted);
        put("evicted", |counters| counters.evicted);
        put("written_back", |counters| counters.written_back);
        put("thrashed", |counters| counters.thrashed);
        let unused = paging.gpus.iter().map(|one| one.driver.residency.unused().len()).sum();
        sheet.count("paging.prefetched_unused".to_owned(), unused);
        let bytes = self.links.iter().map(|link| link.paged).sum();
        sheet.count("paging.bytes".to_owned(), bytes);
    }
}
