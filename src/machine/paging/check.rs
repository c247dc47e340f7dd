//! Rules of paged memory, checked on the pages that an event moved: a page is in one place, and translated only there.

use super::{GpuPaging, Machine, Owner};
use crate::model::component::ComponentId;
use crate::model::page::Page;
use crate::protocol::outbox::Outbox;

impl Machine {
    pub(in crate::machine) fn check_pages(&mut self, out: &mut Outbox) {
        let moved = self.paging.as_mut().map(|paging| std::mem::take(&mut paging.moved)).unwrap_or_default();
        for page in moved {
            if let Some((at, text)) = self.misplaced(page) {
                let about = self.about_page(page);
                self.violate(at, about, "page-place", &text, out);
            }
        }
    }

    /// Where a page is that should not be there, in words.
    fn misplaced(&self, page: Page) -> Option<(ComponentId, String)> {
        let paging = self.paging.as_ref()?;
        let has = |one: &GpuPaging| one.driver.residency.resident().contains(page);
        for (gpu, one) in paging.gpus.iter().enumerate() {
            let owned = paging.owners.get(&page) == Some(&Owner::Gpu(gpu as u32));
            if has(one) && !owned {
                let text = format!("page {page} is in this memory, and it {}", self.whereabouts(page));
                return Some((one.ports.driver, text));
            }
            let units = one.ports.units.iter().filter_map(|unit| self.agents.get(*unit));
            let knows = |unit: &&crate::parts::agent::Agent| {
                unit.tlb.as_ref().is_some_and(|tlb| tlb.entries().contains(&page))
            };
            if let Some(unit) = units.filter(|_| !has(one)).find(knows) {
                let text = format!("its TLB translates page {page}, which {}", self.whereabouts(page));
                return Some((unit.config.id, text));
            }
        }
        None
    }
}
