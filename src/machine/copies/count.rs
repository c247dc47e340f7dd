//! What was copied, and how much of it nobody needed.

use crate::model::page::{Page, PageSet};
use crate::model::time::Tick;
use crate::policy::copies::Side;

/// Pages copied in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    pub transfers: u64,
    pub pages: u64,
    /// Of them, those that nobody needed: to GPUs, pages that none of them accessed before they left again; to the host, pages that
    /// no GPU had written ("UMH", Fig. 3).
    pub redundant: u64,
    /// Ticks in which tasks, or the end, waited for it.
    pub time: Tick,
}

/// All copies so far.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    pub to_gpu: Moved,
    pub to_host: Moved,
    /// Pages that GPUs have accessed, and written, since they came.
    accessed: PageSet,
    written: PageSet,
    /// Pages that have come to GPUs and not left.
    there: PageSet,
}

impl Counts {
    /// Those to one side.
    pub fn to(&mut self, side: Side) -> &mut Moved {
        match side {
            Side::Gpu => &mut self.to_gpu,
            Side::Host => &mut self.to_host,
        }
    }

    pub fn touch(&mut self, page: Page, by_gpu: bool, writes: bool) {
        if by_gpu {
            self.accessed.insert(page);
            if writes {
                self.written.insert(page);
            }
        }
    }

    /// A page sets out for a side; whether nobody needed that, as far as it is known by now.
    pub fn depart(&mut self, page: Page, to: Side) -> bool {
        self.to(to).pages += 1;
        if to == Side::Gpu {
            self.leave(page);
            self.there.insert(page);
            return false;
        }
        let is_redundant = !self.written.remove(page);
        self.to_host.redundant += u64::from(is_redundant);
        is_redundant
    }

    /// A page is no longer at the GPUs, or is replaced there: if none of them has accessed it, it came for nothing.
    fn leave(&mut self, page: Page) {
        let is_unused = !self.accessed.remove(page);
        if self.there.remove(page) && is_unused {
            self.to_gpu.redundant += 1;
        }
    }

    #[must_use]
    pub fn is_written(&self, page: Page) -> bool {
        self.written.contains(page)
    }

    #[must_use]
    pub fn is_accessed(&self, page: Page) -> bool {
        self.accessed.contains(page)
    }

    /// Pages that came to GPUs and were not accessed there so far.
    pub fn unused(&self) -> u64 {
        self.there.iter().filter(|page| !self.accessed.contains(*page)).count() as u64
    }

    /// What has come to the host is no longer the GPUs' concern, where it is not trusted there.
    pub fn left(&mut self, page: Page) {
        self.leave(page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_needed_is_told() {
        let mut counts = Counts::default();
        let (used, written, unused) = (Page(1), Page(2), Page(3));
        for page in [used, written, unused] {
            assert!(!counts.depart(page, Side::Gpu));
        }
        counts.touch(used, true, false);
        counts.touch(written, true, true);
        counts.touch(unused, false, true);
        assert_eq!(counts.unused(), 1);
        let redundant = [used, written, unused].map(|page| {
            counts.left(page);
            counts.depart(page, Side::Host)
        });
        assert_eq!(redundant, [true, false, true]);
        assert_eq!((counts.to_gpu.redundant, counts.to_host.redundant), (1, 2));
    }
}
