//! Which memory each page lives in: the home of an address, by the number of a socket (or of the host).
//!
//! Homes are a value of the machine. What decides them is a policy; nodes are told them with everything else that they are
//! given (in the [`Outbox`](super::outbox::Outbox)) and choose their parent by them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::interleave::Interleave;
use crate::model::address::Address;
use crate::model::cow::CowVec;
use crate::model::page::Page;

/// Pages that are copied together when one of them gets a home after a clone.
const CHUNK: usize = 256;

/// Where every address lives.
#[derive(Clone, Debug, Default)]
pub enum Homes {
    /// In one place for all that is asked here.
    #[default]
    Single,
    /// Dealt over the homes in pieces, for ever.
    Dealt(Interleave),
    /// Page by page, the same homes over and over.
    Repeated(Repeated),
    /// Page by page, as it was decided.
    Paged(PageHomes),
}

/// The homes of as many pages as there are in the list, and of all that follow in the same way.
#[derive(Clone, Debug)]
pub struct Repeated {
    /// Bytes of a page.
    pub page: u32,
    /// Not empty.
    pub homes: Arc<[u8]>,
}

/// The homes that pages were given so far.
#[derive(Clone, Debug)]
pub struct PageHomes {
    /// Bytes of a page.
    page: u32,
    /// The first place of each run of `CHUNK` pages, by its number.
    runs: FxHashMap<u64, usize>,
    /// One more than the home; 0 without one.
    places: CowVec<u8, CHUNK>,
}

impl Homes {
    /// No page of `page` bytes has a home yet.
    #[must_use]
    pub fn undecided(page: u32) -> Self {
        Self::Paged(PageHomes { page, runs: FxHashMap::default(), places: CowVec::new(0) })
    }

    /// The home of an address; the first one for a page that has none yet.
    #[must_use]
    pub fn of(&self, address: Address) -> u32 {
        match self {
            Self::Single => 0,
            Self::Dealt(dealing) => dealing.index(address) as u32,
            Self::Repeated(repeated) => repeated.of(address),
            Self::Paged(pages) => pages.of(address).unwrap_or(0),
        }
    }

    /// Whether the page of an address has to be given a home.
    #[must_use]
    pub fn is_undecided(&self, address: Address) -> bool {
        matches!(self, Self::Paged(pages) if pages.of(address).is_none())
    }

    /// Gives the page of an address the home that `choose` names.
    pub fn decide(&mut self, address: Address, choose: impl Fn(Page) -> u32) {
        if let Self::Paged(pages) = self {
            let page = Page::of(address, pages.page);
            pages.decide(page, choose(page));
        }
    }

    /// The page of an address has no home any more.
    pub fn forget(&mut self, address: Address) {
        if let Self::Paged(pages) = self {
            let page = Page::of(address, pages.page);
            pages.set(page, 0);
        }
    }

    /// The pages that were given a home, ascending, with their size.
    #[must_use]
    pub fn decided(&self) -> Vec<(Page, u32)> {
        match self {
            Self::Paged(pages) => pages.all(),
            _ => Vec::new(),
        }
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        self.decided().hash(hasher);
    }
}

impl Repeated {
    fn of(&self, address: Address) -> u32 {
        let page = Page::of(address, self.page).0;
        let place = page % (self.homes.len() as u64).max(1);
        self.homes.get(place as usize).copied().map_or(0, u32::from)
    }
}

impl PageHomes {
    fn of(&self, address: Address) -> Option<u32> {
        let page = Page::of(address, self.page).0;
        let first = self.runs.get(&(page / CHUNK as u64))?;
        let place = *self.places.get(first + (page % CHUNK as u64) as usize)?;
        place.checked_sub(1).map(u32::from)
    }

    fn decide(&mut self, page: Page, home: u32) {
        self.set(page, u8::try_from(home + 1).unwrap_or(u8::MAX));
    }

    fn set(&mut self, page: Page, home: u8) {
        let (page, places) = (page.0, &mut self.places);
        let first = *self.runs.entry(page / CHUNK as u64).or_insert_with(|| places.grow());
        if let Some(place) = places.get_mut(first + (page % CHUNK as u64) as usize) {
            *place = home;
        }
    }

    fn all(&self) -> Vec<(Page, u32)> {
        let mut runs: Vec<(u64, usize)> = self.runs.iter().map(|(&run, &first)| (run, first)).collect();
        runs.sort_unstable();
        let pages = runs.into_iter().flat_map(|(run, first)| {
            (0..CHUNK).filter_map(move |at| {
                let place = *self.places.get(first + at)?;
                Some((Page(run * CHUNK as u64 + at as u64), u32::from(place.checked_sub(1)?)))
            })
        });
        pages.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dealt_homes_go_round() {
        let homes = Homes::Dealt(Interleave::in_turn(4096, 4));
        let found: Vec<u32> = (0..6).map(|page| homes.of(Address(page * 4096 + 8))).collect();
        assert_eq!(found, [0, 1, 2, 3, 0, 1]);
        assert!(!homes.is_undecided(Address(0)));
    }

    #[test]
    fn repeated_homes_begin_again() {
        let homes = Homes::Repeated(Repeated { page: 4096, homes: [1, 1, 0].into() });
        let found: Vec<u32> = (0..7).map(|page| homes.of(Address(page * 4096 + 8))).collect();
        assert_eq!(found, [1, 1, 0, 1, 1, 0, 1]);
        assert!(!homes.is_undecided(Address(0)));
    }

    #[test]
    fn a_page_keeps_the_home_that_it_was_given() {
        let mut homes = Homes::undecided(4096);
        assert!(homes.is_undecided(Address(0x12_3000)));
        homes.decide(Address(0x12_3040), |_| 3);
        homes.decide(Address(0xffff_0000_0000), |_| 1);
        let before = homes.clone();
        homes.decide(Address(0), |_| 2);
        assert_eq!(homes.of(Address(0x12_3fff)), 3);
        assert!(homes.is_undecided(Address(0x12_4000)) && before.is_undecided(Address(0)));
        assert_eq!(homes.decided(), [(Page(0), 2), (Page(0x123), 3), (Page(0xf_fff0_0000), 1)]);
        assert_eq!(before.decided().len(), 2);
    }
}
