//! Rules of paged memory, checked on the pages that an event moved: a page is in one place, and translated only there.

use super::{GpuPaging, Machine, Owner};
use crate::model::component::ComponentId;
use crate::model::page::Page;
use crate::model::paging::Permission;
use crate::protocol::node::Node;
use crate::protocol::outbox::Outbox;
use crate::protocol::permissions::HOST;

impl Machine {
    pub(in crate::machine) fn check_pages(&mut self, out: &mut Outbox) {
        let moved = self.paging.as_mut().map(|paging| std::mem::take(&mut paging.moved));
        // A page may have moved twice.
        let mut moved = moved.unwrap_or_default();
        moved.sort_unstable();
        moved.dedup();
        for page in moved {
            let breach = if self.paging.as_ref().is_some_and(|paging| paging.brings_pages()) {
                self.misplaced(page).map(|(at, text)| (at, "page-place", text))
            } else {
                self.kept(page, out).map(|(at, text)| (at, "read-only-lines", text))
            };
            if let Some((at, rule, text)) = breach {
                let about = self.about_page(page);
                self.violate(at, about, rule, &text, out);
            }
        }
    }

    /// Where there is a translation or a line from before a page became read-write, in words.
    fn kept(&self, page: Page, out: &Outbox) -> Option<(ComponentId, String)> {
        let paging = self.paging.as_ref()?;
        let range = page.range(paging.page);
        if out.permission(range.start) != Permission::ReadWrite || out.homes.of(range.start) != HOST {
            return None;
        }
        let holds = |node: &&Node| range.blocks(node.config.block).any(|block| node.entry(block).is_some());
        let caches = paging.all_gpu_caches();
        let cache = caches.iter().filter_map(|node| self.nodes.get(*node)).find(holds)?;
        Some((cache.id(), format!("keeps lines of page {page}, which may be written now")))
    }

    /// Where a page is that should not be there, in words.
    fn misplaced(&self, page: Page) -> Option<(ComponentId, String)> {
        let paging = self.paging.as_ref()?;
        let has = |one: &GpuPaging| one.has(page);
        let is_translated =
            |gpu: usize, one: &GpuPaging| has(one) || paging.is_shared() && paging.maps(gpu, page);
        for (gpu, one) in paging.gpus.iter().enumerate() {
            let owned = paging.owners.get(&page) == Some(&Owner::Gpu(gpu as u32));
            if has(one) && !owned && !paging.only_maps() {
                let text = format!("page {page} is in this memory, and it {}", self.whereabouts(page));
                return Some((one.ports.driver, text));
            }
            let units = one.ports.units.iter().filter_map(|unit| self.agents.get(*unit));
            let knows = |unit: &&crate::parts::agent::Agent| {
                unit.tlb.as_ref().is_some_and(|tlb| tlb.entries().contains(&page))
            };
            if let Some(unit) = units.filter(|_| !is_translated(gpu, one)).find(knows) {
                let text = format!("its TLB translates page {page}, which {}", self.whereabouts(page));
                return Some((unit.config.id, text));
            }
        }
        None
    }
}
