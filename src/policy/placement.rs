//! Which socket's memory a page lives in ("Beyond the Socket: NUMA-Aware GPUs", section 3).

use crate::model::page::Page;

/// A placement of memory over sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// "Fine-grained memory interleaving at a sub-page granularity across memory channels".
    Fine,
    /// "Round-robin page level interleaving".
    Page,
    /// A page goes "to local GPU memory as soon as the first access (also called first-touch allocation) is performed".
    FirstTouch,
}

/// The home of a page that `toucher` accesses first; pages that no socket touches first go round.
#[must_use]
pub fn first_touch(toucher: Option<u32>, page: Page, sockets: u32) -> u32 {
    toucher.unwrap_or_else(|| (page.0 % u64::from(sockets.max(1))) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_to_who_touches_it_first() {
        assert_eq!(first_touch(Some(3), Page(8), 4), 3);
        assert_eq!([4, 5, 6, 7].map(|page| first_touch(None, Page(page), 4)), [0, 1, 2, 3]);
    }
}
