//! Which pages are in the memory of a GPU: the driver's page tables of both sides.

use std::hash::{Hash, Hasher};

use crate::model::page::{Page, PageSet};
use crate::model::paging::MoveReason;
use crate::model::recency::Recency;
use crate::model::time::Tick;
use crate::policy::eviction::{BLOCK, Signals};

/// Where a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In host memory.
    Host,
    /// On its way to the GPU: it has a frame there.
    Coming,
    /// In GPU memory.
    Gpu,
    /// Being evicted: no longer translated, and its frame not yet free.
    Leaving,
    /// With another GPU, on its way there or leaving it, on a machine where all translate it then.
    Away,
}

/// The pages of one GPU.
#[derive(Clone, Debug)]
pub struct Residency {
    /// Bytes of a page.
    page: u32,
    /// Frames of GPU memory.
    frames: u64,
    allocated: PageSet,
    /// Allocated and in host memory.
    absent: PageSet,
    coming: PageSet,
    /// Those of them that somebody waits for, whatever they set out for.
    awaited: PageSet,
    resident: PageSet,
    leaving: PageSet,
    away: PageSet,
    /// Resident or coming: what prefetchers take for present.
    present: PageSet,
    dirty: PageSet,
    /// Prefetched, and not touched yet.
    unused: PageSet,
    /// Resident, and not waited for: what was demanded may not leave before it has been touched, or those who wait
    /// for it might drive each other's pages out for ever.
    settled: PageSet,
    pages: Recency,
    blocks: Recency,
}

impl Residency {
    /// All pages in host memory.
    #[must_use]
    pub fn new(page: u32, frames: u64, allocated: PageSet) -> Self {
        Self {
            page,
            frames,
            absent: allocated.clone(),
            allocated,
            coming: PageSet::default(),
            awaited: PageSet::default(),
            resident: PageSet::default(),
            leaving: PageSet::default(),
            away: PageSet::default(),
            present: PageSet::default(),
            dirty: PageSet::default(),
            unused: PageSet::default(),
            settled: PageSet::default(),
            pages: Recency::default(),
            blocks: Recency::default(),
        }
    }

    #[must_use]
    pub fn place(&self, page: Page) -> Place {
        if self.resident.contains(page) {
            Place::Gpu
        } else if self.coming.contains(page) {
            Place::Coming
        } else if self.leaving.contains(page) {
            Place::Leaving
        } else if self.away.contains(page) {
            Place::Away
        } else {
            Place::Host
        }
    }

    /// A page that nobody has foreseen: from here on it is in host memory like the others.
    pub fn allocate(&mut self, page: Page) {
        if self.allocated.insert(page) {
            self.absent.insert(page);
        }
    }

    /// A page is another GPU's for now.
    pub fn lend(&mut self, page: Page) {
        if self.absent.remove(page) {
            self.away.insert(page);
        }
    }

    /// A page of another GPU is in host memory again.
    pub fn regain(&mut self, page: Page) {
        if self.away.remove(page) {
            self.absent.insert(page);
        }
    }

    /// A page gets a frame, and is on its way.
    pub fn reserve(&mut self, page: Page) {
        self.absent.remove(page);
        self.coming.insert(page);
        self.present.insert(page);
    }

    /// Somebody waits for a page, which may be on its way.
    pub fn await_page(&mut self, page: Page) {
        if self.coming.contains(page) {
            self.awaited.insert(page);
        }
    }

    /// A page has come.
    pub fn arrive(&mut self, page: Page, reason: MoveReason, now: Tick) {
        self.coming.remove(page);
        self.resident.insert(page);
        if !self.awaited.remove(page) && reason != MoveReason::Demanded {
            self.settle(page, now);
        }
        if reason == MoveReason::Prefetched {
            self.unused.insert(page);
        }
    }

    fn settle(&mut self, page: Page, now: Tick) {
        self.settled.insert(page);
        self.pages.touch(page, now);
        self.blocks.touch(self.block(page), now);
    }

    /// A page is accessed; whether that is the first use of a prefetched one.
    pub fn touch(&mut self, page: Page, writes: bool, now: Tick) -> bool {
        if writes {
            self.dirty.insert(page);
        }
        self.settle(page, now);
        self.unused.remove(page)
    }

    /// A page is no longer translated; whether it was prefetched for nothing.
    pub fn leave(&mut self, page: Page) -> bool {
        self.resident.remove(page);
        self.present.remove(page);
        self.settled.remove(page);
        self.leaving.insert(page);
        self.pages.forget(page);
        let block = self.block(page);
        let per_block = self.per_block();
        if self.settled.count_in(Page(block.0 * per_block), per_block) == 0 {
            self.blocks.forget(block);
        }
        self.unused.remove(page)
    }

    /// A page is back in host memory, and its frame is free; whether it was dirty.
    pub fn gone(&mut self, page: Page) -> bool {
        self.leaving.remove(page);
        if self.allocated.contains(page) {
            self.absent.insert(page);
        }
        self.dirty.remove(page)
    }

    /// What an eviction policy may look at.
    pub fn signals(&mut self) -> Signals<'_> {
        let per_block = self.per_block();
        Signals { resident: &self.settled, pages: &mut self.pages, blocks: &mut self.blocks, per_block }
    }

    fn per_block(&self) -> u64 {
        u64::from((BLOCK / self.page.max(1)).max(1))
    }

    fn block(&self, page: Page) -> Page {
        Page(page.0 / self.per_block())
    }

    /// Frames that hold nothing and are promised to nobody.
    #[must_use]
    pub fn free(&self) -> u64 {
        self.frames.saturating_sub(self.resident.len() + self.coming.len() + self.leaving.len())
    }

    /// Frames that are free, become so, or would if all that may be evicted were.
    #[must_use]
    pub fn obtainable(&self) -> u64 {
        self.free() + self.leaving.len() + self.settled.len()
    }

    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    #[must_use]
    pub fn page(&self) -> u32 {
        self.page
    }

    /// Whether a page is here, and was touched since those who waited for it were told: it may be taken away.
    #[must_use]
    pub fn is_settled(&self, page: Page) -> bool {
        self.settled.contains(page)
    }

    #[must_use]
    pub fn is_dirty(&self, page: Page) -> bool {
        self.dirty.contains(page)
    }

    #[must_use]
    pub fn allocated(&self) -> &PageSet {
        &self.allocated
    }

    #[must_use]
    pub fn absent(&self) -> &PageSet {
        &self.absent
    }

    #[must_use]
    pub fn present(&self) -> &PageSet {
        &self.present
    }

    #[must_use]
    pub fn resident(&self) -> &PageSet {
        &self.resident
    }

    #[must_use]
    pub fn leaving(&self) -> &PageSet {
        &self.leaving
    }

    #[must_use]
    pub fn away(&self) -> &PageSet {
        &self.away
    }

    #[must_use]
    pub fn coming(&self) -> &PageSet {
        &self.coming
    }

    #[must_use]
    pub fn dirty(&self) -> &PageSet {
        &self.dirty
    }

    /// When any of the `count` pages from `from` on was accessed last.
    #[must_use]
    pub fn newest_in(&self, from: Page, count: u64) -> Option<Tick> {
        self.pages.newest_in(from, count)
    }

    #[must_use]
    pub fn unused(&self) -> &PageSet {
        &self.unused
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (&self.absent, &self.coming, &self.awaited, &self.resident, &self.leaving, &self.away).hash(hasher);
        (&self.dirty, &self.unused, &self.settled, &self.pages, &self.blocks).hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_round() {
        let mut pages = Residency::new(4096, 2, (0..4).map(Page).collect());
        assert_eq!((pages.free(), pages.place(Page(1))), (2, Place::Host));
        pages.reserve(Page(1));
        assert_eq!((pages.free(), pages.place(Page(1))), (1, Place::Coming));
        pages.arrive(Page(1), MoveReason::Prefetched, 5);
        assert!(pages.unused().contains(Page(1)));
        assert!(pages.touch(Page(1), true, 6) && !pages.touch(Page(1), false, 7));
        assert_eq!((pages.free(), pages.place(Page(1))), (1, Place::Gpu));
        assert!(!pages.leave(Page(1)));
        assert_eq!((pages.free(), pages.place(Page(1))), (1, Place::Leaving));
        assert_eq!((pages.pages.oldest(), pages.blocks.oldest()), (None, None));
        assert!(pages.gone(Page(1)), "it was dirty");
        pages.reserve(Page(2));
        pages.await_page(Page(2));
        pages.arrive(Page(2), MoveReason::Prefetched, 8);
        assert!(!pages.is_settled(Page(2)), "it may not leave before who waits for it has had it");
        assert!(pages.touch(Page(2), false, 9) && pages.is_settled(Page(2)));
        pages.leave(Page(2));
        pages.gone(Page(2));
        assert_eq!((pages.free(), pages.place(Page(1)), pages.absent().len()), (2, Place::Host, 4));
    }
}
