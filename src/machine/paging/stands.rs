//! Where the pages of a GPU are, 64 at a time.

use super::GpuPaging;
use crate::model::address::Address;
use crate::model::page::{Page, PageSet};
use crate::model::page_view::{PageCell, PageStand};
use crate::model::paging::MoveReason;
use crate::model::time::Tick;
use crate::parts::driver::Driver;

/// Kinds of stands.
const KINDS: usize = PageStand::ALL.len();

/// The pages of a GPU, told apart.
#[derive(Debug)]
pub struct Stands<'a> {
    driver: &'a Driver,
    /// Pages that far-faults ask for.
    faulted: PageSet,
    /// Pages on their way because a far-fault asked for them.
    demanded: PageSet,
}

impl<'a> Stands<'a> {
    #[must_use]
    pub fn of(one: &GpuPaging, driver: &'a Driver) -> Self {
        let coming = one.arrivals.iter().map(|(_, planned)| planned).chain(driver.planned());
        let demanded = coming.filter(|planned| planned.reason == MoveReason::Demanded);
        Self {
            driver,
            faulted: one.gmmu.far_faults().map(|(page, _)| page).collect(),
            demanded: demanded.map(|planned| planned.page).collect(),
        }
    }

    /// The 64 pages from `number * 64` on: of each stand the pages that have it, in the order of [`PageStand::ALL`]. Those that
    /// thrash are asked for or on their way, too.
    fn word(&self, number: u64) -> [u64; KINDS] {
        let residency = &self.driver.residency;
        let evicted = self.driver.evicted_word(number);
        let [absent, coming, leaving, resident] =
            [residency.absent(), residency.coming(), residency.leaving(), residency.resident()]
                .map(|set| set.word(number));
        let (dirty, unused) = (residency.dirty().word(number), residency.unused().word(number));
        let faulted = self.faulted.word(number) & !(resident | leaving | coming);
        // What only a prefetcher wants again does not thrash.
        let thrashing = evicted & (coming & self.demanded.word(number) | faulted);
        [
            thrashing,
            faulted,
            coming,
            leaving,
            resident & dirty,
            resident & unused & !dirty,
            resident & !dirty & !unused,
            absent & evicted & !faulted,
            absent & !evicted & !faulted,
            residency.away().word(number) & !faulted,
        ]
    }

    /// Pages of each stand.
    #[must_use]
    pub fn counts(&self) -> [u64; KINDS] {
        let allocated = self.driver.residency.allocated();
        let mut counts = [0; KINDS];
        let mut next = allocated.next(Page(0));
        while let Some(page) = next {
            let number = page.0 / 64;
            let words = self.word(number);
            counts.iter_mut().zip(words).for_each(|(count, word)| *count += u64::from(word.count_ones()));
            next = allocated.next(Page((number + 1) * 64));
        }
        counts
    }

    /// All pages, `group` (a power of two) in a cell.
    #[must_use]
    pub fn cells(&self, group: u64, now: Tick) -> Vec<PageCell> {
        let residency = &self.driver.residency;
        let bytes = u64::from(residency.page());
        let mut cells = Vec::new();
        let mut next = residency.allocated().next(Page(0));
        while let Some(page) = next {
            let first = page.0 / group * group;
            cells.push(PageCell {
                first: Address(first * bytes),
                len: group * bytes,
                stand: self.most_telling(first, group),
                heat: self.heat(Page(first), group, now),
            });
            next = residency.allocated().next(Page(first + group));
        }
        cells
    }

    /// What moves or is asked for, if anything does; or else where most of the pages are.
    fn most_telling(&self, first: u64, group: u64) -> PageStand {
        let mut counts = [0u32; KINDS];
        for number in first / 64..(first + group).div_ceil(64) {
            let within = if group >= 64 { !0 } else { ((1 << group) - 1) << (first % 64) };
            let words = self.word(number);
            counts.iter_mut().zip(words).for_each(|(count, word)| *count += (word & within).count_ones());
        }
        let mut all = PageStand::ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0);
        let moving = |(stand, _): &(PageStand, u32)| *stand <= PageStand::Leaving;
        let first = all.clone().find(moving);
        let most = || all.by_ref().max_by_key(|(stand, count)| (*count, std::cmp::Reverse(*stand)));
        first.or_else(most).map_or(PageStand::Host, |(stand, _)| stand)
    }

    /// Half of it is gone when the service time of a far-fault has passed.
    fn heat(&self, first: Page, group: u64, now: Tick) -> Option<f32> {
        let driver = self.driver;
        let age = now.saturating_sub(driver.residency.newest_in(first, group)?);
        let half = driver.config().service.max(1);
        Some(half as f32 / (half + age) as f32)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::machine::StepOutcome;
    use crate::machine::sample::working;
    use crate::model::access::AccessKind::Load;
    use crate::model::record::Records;

    /// The pane tells first of a page that it thrashes, and beside that where it is.
    #[test]
    fn a_page_that_thrashes_is_asked_for_and_then_on_its_way() {
        let pages = [0x1000, 0x2000, 0x3000, 0x1000].to_vec();
        let small = ["gpu.memory.size=8 KiB", "gpu.paging.evict=lru"];
        let mut machine = working("tiny/paged-1gpu", &small, &[("gpu0.cu0", Load, pages)]);
        let (mut records, mut seen) = (Records::silent(), BTreeSet::new());
        while machine.step(&mut records) == StepOutcome::Ran {
            let [thrashing, faulted, coming, ..] = machine.view_pages(8)[0].counts;
            if thrashing > 0 {
                seen.insert((faulted, coming));
            }
        }
        assert!(machine.is_finished());
        assert_eq!(seen, BTreeSet::from([(1, 0), (0, 1)]));
    }
}
