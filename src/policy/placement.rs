//! Which memory a page lives in: of several sockets ("Beyond the Socket: NUMA-Aware GPUs", section 3), or of host and GPU
//! ("Selective GPU Caches", section 4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::page::Page;

/// A placement of memory over sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// "Fine-grained memory interleaving at a sub-page granularity across memory channels": in pieces of `gpu.l2.interleave` times
    /// the slices.
    Fine,
    /// "Round-robin page level interleaving".
    Page,
    /// A page goes "to local GPU memory as soon as the first access (also called first-touch allocation) is performed".
    #[default]
    FirstTouch,
    /// "Separate data ranges of the application's address space on separate GPUs" (UMH, section 3.1.2): of each array.
    Split,
    /// "Data is allocated on only one device [...] even if multiple [...] are available" (UMH, section 1): the first.
    First,
}

impl Placement {
    /// As machine files write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Page => "page",
            Self::FirstTouch => "first-touch",
            Self::Split => "split",
            Self::First => "first",
        }
    }
}

/// The home of page `nth` of the `count` of an array that is divided into equal ranges.
#[must_use]
pub fn split(nth: u64, count: u64, sockets: u32) -> u32 {
    (nth * u64::from(sockets.max(1)) / count.max(1)) as u32
}

/// The home of a page that `toucher` accesses first; pages that no socket touches first go round.
#[must_use]
pub fn first_touch(toucher: Option<u32>, page: Page, sockets: u32) -> u32 {
    toucher.unwrap_or_else(|| (page.0 % u64::from(sockets.max(1))) as u32)
}

/// "Bandwidth-aware page placement": the homes of a hundred pages in a row, of which `percent` live in host memory (home 0) and
/// the others in GPU memory (home 1), as evenly spread as can be, since the accesses to each memory shall be in proportion to
/// its pages whatever part of the data is in use.
#[must_use]
pub fn bandwidth_aware(percent: u32) -> Vec<u8> {
    let before = |page: u32| page * percent.min(100) / 100;
    (0..100).map(|page| u8::from(before(page + 1) == before(page))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_the_host_is_exact_and_evenly_spread() {
        for percent in 0..=100 {
            let homes = bandwidth_aware(percent);
            let at_gpu: u32 = homes.iter().map(|home| u32::from(*home)).sum();
            assert_eq!(100 - at_gpu, percent);
        }
        assert_eq!(bandwidth_aware(20)[..10], [1, 1, 1, 1, 0, 1, 1, 1, 1, 0]);
    }

    #[test]
    fn an_array_is_divided_into_equal_ranges() {
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|nth| split(nth, 7, 4)), [0, 0, 1, 1, 2, 2, 3]);
        assert_eq!([0, 1].map(|nth| split(nth, 2, 4)), [0, 2]);
    }

    #[test]
    fn a_page_goes_to_who_touches_it_first() {
        assert_eq!(first_touch(Some(3), Page(8), 4), 3);
        assert_eq!([4, 5, 6, 7].map(|page| first_touch(None, Page(page), 4)), [0, 1, 2, 3]);
    }
}
