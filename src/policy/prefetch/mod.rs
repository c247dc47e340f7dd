//! Which pages fill a transfer set that far-faults did not fill ("Towards High Performance Paged Memory for GPUs",
//! section 4.2), and the tree that real drivers prefetch by.

mod locality;
mod oracle;
mod random;
mod sequential;
mod tree;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::address::Range;
use crate::model::page::{Page, PageSet};
use crate::model::random::Random;

/// A prefetcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Prefetcher {
    #[default]
    None,
    /// Any pages.
    Random,
    /// From the lowest page up.
    Sequential,
    /// The 128 pages beyond the last far-fault, then from the lowest up.
    Locality,
    /// In the order in which an earlier run touched them first. Of what is evicted and wanted again it knows nothing.
    Oracle,
    /// As the drivers of NVIDIA GPUs do: by trees of 2 MiB.
    Tree,
}

/// What a prefetcher may look at.
#[derive(Clone, Copy, Debug)]
pub struct Signals<'a> {
    /// Pages that the transfer set has room for: as many as keep the link busy.
    pub room: usize,
    /// Pages that far-faulted in this interval, in the order in which they did.
    pub demand: &'a [Page],
    /// The page that far-faulted last, in this interval or before.
    pub last: Option<Page>,
    /// Allocated pages that are in host memory, and not on their way.
    pub absent: &'a PageSet,
    /// Pages that are in GPU memory or on their way.
    pub present: &'a PageSet,
    /// The order in which an earlier run touched pages first, from where this one has come to.
    pub touched: &'a [Page],
    /// Bytes of a page.
    pub page: u32,
    /// GPU memory is full, or was: what is brought drives others out.
    pub is_full: bool,
}

impl Prefetcher {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Random => "random",
            Self::Sequential => "sequential",
            Self::Locality => "locality",
            Self::Oracle => "oracle",
            Self::Tree => "tree",
        }
    }

    /// What a driver with this prefetcher allocates where a range is asked for.
    #[must_use]
    pub fn allocated(self, range: Range) -> Range {
        if self == Self::Tree { tree::rounded(range) } else { range }
    }

    /// The pages to bring beside those that are demanded, in the order in which they shall be moved. None twice, and all
    /// of them absent.
    #[must_use]
    pub fn choose(self, signals: &Signals<'_>, random: &mut Random) -> Vec<Page> {
        match self {
            Self::None => Vec::new(),
            Self::Random => random::choose(signals, random),
            Self::Sequential => sequential::choose(signals),
            Self::Locality => locality::choose(signals),
            Self::Oracle => oracle::choose(signals),
            Self::Tree => tree::choose(signals),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(list: impl IntoIterator<Item = u64>) -> Vec<Page> {
        list.into_iter().map(Page).collect()
    }

    fn signals<'a>(absent: &'a PageSet, present: &'a PageSet, demand: &'a [Page]) -> Signals<'a> {
        Signals {
            room: 4,
            demand,
            last: demand.last().copied(),
            absent,
            present,
            touched: &[],
            page: 4096,
            is_full: false,
        }
    }

    #[test]
    fn each_fills_the_set_with_absent_pages() {
        let demand = pages([105]);
        let present: PageSet = pages([105, 106]).into_iter().collect();
        let absent: PageSet =
            pages((0..1000).filter(|page| ![105, 106].contains(page))).into_iter().collect();
        let signals =
            Signals { touched: &pages([106, 9, 7, 9, 400, 500, 600]), ..signals(&absent, &present, &demand) };
        let choose = |prefetcher: Prefetcher| prefetcher.choose(&signals, &mut Random::new(1));
        assert_eq!(choose(Prefetcher::None), []);
        assert_eq!(choose(Prefetcher::Sequential), pages([0, 1, 2, 3]));
        assert_eq!(choose(Prefetcher::Locality), pages([107, 108, 109, 110]));
        assert_eq!(choose(Prefetcher::Oracle), pages([9, 7, 400, 500]));
        let drawn = choose(Prefetcher::Random);
        assert_eq!(drawn.len(), 4);
        assert!(drawn.iter().all(|page| absent.contains(*page)));
        assert_eq!(drawn.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    }

    #[test]
    fn locality_goes_on_in_sequence_beyond_its_window() {
        let demand = pages([900]);
        let present: PageSet = pages([900]).into_iter().collect();
        let absent: PageSet = pages([1, 2, 1028, 1029]).into_iter().collect();
        // 1028 is the 128th page beyond, 1029 the 129th: sequence starts from the lowest.
        assert_eq!(
            Prefetcher::Locality.choose(&signals(&absent, &present, &demand), &mut Random::new(1)),
            pages([1028, 1, 2, 1029])
        );
    }

    /// Section 5.2, "rather than attempting to maximize PCIe bandwidth".
    #[test]
    fn of_full_memory_locality_keeps_to_its_window() {
        let demand = pages([900]);
        let present: PageSet = pages([900]).into_iter().collect();
        let absent: PageSet = pages([1, 2, 1028, 1029]).into_iter().collect();
        let signals = Signals { is_full: true, ..signals(&absent, &present, &demand) };
        assert_eq!(Prefetcher::Locality.choose(&signals, &mut Random::new(1)), pages([1028]));
    }
}
