//! The TLB of a compute unit: fully associative, least recently used, with hits under misses; and what it knows of
//! faults ("Towards High Performance Paged Memory for GPUs", section 3 and Table 1; "Selective GPU Caches", section 3.3).

use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

use crate::model::page::{Page, PageSet};
use crate::model::sorted::SortedMap;
use crate::model::time::{Since, Tick};

/// What does not change while a TLB lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlbConfig {
    /// None: it has the translation of every page, but for those shot down, as a machine has whose pages stay where they are.
    pub entries: Option<u32>,
    /// Faults that the GMMU tracks for this compute unit.
    pub far_faults: u32,
    /// Pages that it looks up in a cycle.
    pub ports: u32,
    /// With more faults pending than these it takes nothing, so that the compute unit is blocked. One that bears none blocks at the
    /// first (section 2.1); page walks alone block nothing.
    pub bears: u32,
}

/// What came of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Hit,
    /// The GMMU has to be asked.
    Miss,
    /// The GMMU has been asked already.
    Merged,
    /// The TLB takes nothing.
    Blocked,
}

/// What has become of a request to the GMMU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Progress {
    /// The page walk is under way.
    #[default]
    Walking,
    /// "Nack-Replayable": a far-fault that the GMMU tracks; it tells when the page is there.
    Tracked,
    /// A far-fault that the GMMU does not track: to be replayed when one of the others has ended.
    Dropped,
}

/// A translation that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Miss {
    pub since: Since,
    pub progress: Progress,
    /// The access that missed first writes. Its entry may be here, without the permission for that.
    pub writes: bool,
    /// Its fault was raised by another compute unit.
    joined: bool,
    /// Order among those dropped.
    turn: u64,
}

/// A TLB.
#[derive(Clone, Debug)]
pub struct Tlb {
    config: TlbConfig,
    /// Pages it translates, least recently used first, if it holds so many. An entry goes whenever the permission of its page
    /// changes, so that it always has the current one.
    entries: Vec<Page>,
    /// If it holds all: those that it does not.
    absent: PageSet,
    misses: SortedMap<Page, Miss>,
    /// If it blocks on a fault: pages whose translation has come, for somebody who has not looked again yet. Whoever waited for these
    /// gets them though the TLB has blocked since.
    owed: SmallVec<[Page; 2]>,
    /// Nacks of far-faults that have not ended.
    pub nacks: u32,
    /// Those of them whose far-fault another compute unit has raised; without these they are the counter of section 3.
    pub joined: u32,
    turns: u64,
    /// When it looked a page up last, and which at that time: a port looks one up for all that access it.
    looked: (Tick, SmallVec<[Page; 4]>),
    /// Of accesses: those that were translated at once, that asked the GMMU, and that joined such a miss.
    pub hits: u64,
    pub missed: u64,
    pub merged: u64,
    pub shot_down: u64,
}

impl Tlb {
    #[must_use]
    pub fn new(config: TlbConfig) -> Self {
        Self {
            config,
            entries: Vec::new(),
            absent: PageSet::default(),
            misses: SortedMap::default(),
            owed: SmallVec::new(),
            nacks: 0,
            joined: 0,
            turns: 0,
            looked: (0, SmallVec::new()),
            hits: 0,
            missed: 0,
            merged: 0,
            shot_down: 0,
        }
    }

    /// Has from here on as many ports, bears and counts as many faults as another; it holds as many translations as ever.
    pub fn adopt(&mut self, other: &Self) {
        self.config = TlbConfig { entries: self.config.entries, ..other.config };
    }

    /// Looks a page up for an access, which its permission allows or not.
    pub fn look(&mut self, page: Page, (writes, is_allowed): (bool, bool), since: Since) -> Look {
        if self.nacks > self.config.bears {
            return if is_allowed && self.owed.contains(&page) { Look::Hit } else { Look::Blocked };
        }
        self.owed.retain(|owed| *owed != page);
        if self.looked.0 != since.tick {
            self.looked = (since.tick, SmallVec::new());
        }
        if !self.looked.1.contains(&page) {
            self.looked.1.push(page);
        }
        if is_allowed && self.find(page) {
            return Look::Hit;
        }
        if self.misses.contains(page) {
            self.merged += 1;
            return Look::Merged;
        }
        self.missed += 1;
        self.misses
            .insert(page, Miss { since, progress: Progress::Walking, writes, joined: false, turn: 0 }.into());
        Look::Miss
    }

    /// Whether it can look up a page now, or has.
    #[must_use]
    pub fn has_port(&self, page: Page, now: Tick) -> bool {
        let (at, pages) = &self.looked;
        *at != now || pages.len() < self.config.ports as usize || pages.contains(&page)
    }

    /// Whether it has the translation of a page, which is then the one used last.
    fn find(&mut self, page: Page) -> bool {
        if self.config.entries.is_none() {
            return !self.absent.contains(page);
        }
        let place = self.entries.iter().rposition(|entry| *entry == page);
        if let Some(place) = place {
            self.entries[place..].rotate_left(1);
        }
        place.is_some()
    }

    /// The GMMU has translated a page.
    pub fn fill(&mut self, page: Page) {
        self.misses.remove(page);
        if self.config.bears == 0 && !self.owed.contains(&page) {
            self.owed.push(page);
        }
        if self.find(page) {
            return;
        }
        let Some(most) = self.config.entries else {
            self.absent.remove(page);
            return;
        };
        if self.entries.len() as u32 >= most.max(1) {
            self.entries.remove(0);
        }
        self.entries.push(page);
    }

    /// Whether a page waits for something else than a walk, which begins now.
    fn ask_again(&mut self, page: Page) -> bool {
        let Some(miss) = self.misses.get_mut(page).filter(|miss| miss.progress != Progress::Walking) else {
            return false;
        };
        miss.progress = Progress::Walking;
        self.nacks = self.nacks.saturating_sub(1);
        self.joined = self.joined.saturating_sub(u32::from(std::mem::take(&mut miss.joined)));
        true
    }

    /// A Nack-Replayable. If it pushes the count above the far-faults that the GMMU tracks, "it now knows that this
    /// translation request is not being handled". One that has `joined` the fault of another compute unit is tracked, and counts for none.
    pub fn nack(&mut self, page: Page, joined: bool) -> Progress {
        self.nacks += 1;
        self.joined += u32::from(joined);
        self.turns += 1;
        let (above, turn) = (!joined && self.counted() > self.config.far_faults, self.turns);
        let progress = if above { Progress::Dropped } else { Progress::Tracked };
        if let Some(miss) = self.misses.get_mut(page) {
            (miss.progress, miss.joined, miss.turn) = (progress, joined, turn);
        }
        progress
    }

    /// Far-faults that it was told of and that no other compute unit has raised.
    #[must_use]
    pub fn counted(&self) -> u32 {
        self.nacks.saturating_sub(self.joined)
    }

    /// A far-fault that the GMMU tracks has ended. The pages to ask for again: this one, and all that were dropped, in the order
    /// in which they were. Their pages may have come for others; those for which there is no room will be dropped again.
    pub fn resolve(&mut self, page: Page) -> SmallVec<[Page; 2]> {
        let mut dropped: SmallVec<[(u64, Page); 4]> = self
            .misses
            .in_any_order()
            .filter(|(other, miss)| miss.progress == Progress::Dropped && *other != page)
            .map(|(other, miss)| (miss.turn, other))
            .collect();
        dropped.sort_unstable();
        let all = std::iter::once(page).chain(dropped.into_iter().map(|(_, page)| page));
        all.filter(|page| self.ask_again(*page)).collect()
    }

    /// Drops a translation, if it is there.
    pub fn shoot_down(&mut self, page: Page) -> bool {
        self.owed.retain(|owed| *owed != page);
        if !self.find(page) {
            return false;
        }
        if self.config.entries.is_some() {
            self.entries.pop();
        } else {
            self.absent.insert(page);
        }
        self.shot_down += 1;
        true
    }

    /// Pages translated, least recently used first; none are listed if it holds all.
    #[must_use]
    pub fn entries(&self) -> &[Page] {
        &self.entries
    }

    /// The translation of a page, if it is missing.
    #[must_use]
    pub fn miss(&self, page: Page) -> Option<&Miss> {
        self.misses.get(page)
    }

    /// Whether all that is missing waits for a walk, and nothing for a fault.
    #[must_use]
    pub fn only_walks(&self) -> bool {
        self.misses.in_any_order().all(|(_, miss)| miss.progress == Progress::Walking)
    }

    /// Translations that are missing, by page.
    pub fn misses(&self) -> impl Iterator<Item = (Page, &Miss)> {
        self.misses.iter()
    }

    #[must_use]
    pub fn config(&self) -> TlbConfig {
        self.config
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (&self.entries, &self.absent, &self.owed, self.nacks, self.joined, self.turns, &self.looked)
            .hash(hasher);
        self.misses.iter().for_each(|entry| entry.hash(hasher));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tlb(entries: u32, far_faults: u32, bears: u32) -> Tlb {
        Tlb::new(TlbConfig { entries: Some(entries), far_faults, ports: 1, bears })
    }

    fn look(tlb: &mut Tlb, page: u64) -> Look {
        tlb.look(Page(page), (false, true), Since::default())
    }

    #[test]
    fn the_least_recently_used_entry_goes() {
        let mut tlb = tlb(2, 4, u32::MAX);
        for page in [1, 2] {
            assert_eq!(look(&mut tlb, page), Look::Miss);
            assert_eq!(look(&mut tlb, page), Look::Merged);
            tlb.fill(Page(page));
        }
        assert_eq!(look(&mut tlb, 1), Look::Hit);
        look(&mut tlb, 3);
        tlb.fill(Page(3));
        assert_eq!(tlb.entries(), [Page(1), Page(3)]);
        assert!(tlb.shoot_down(Page(1)) && !tlb.shoot_down(Page(2)));
        assert_eq!(look(&mut tlb, 1), Look::Miss);
    }

    #[test]
    fn it_looks_up_as_many_pages_in_a_cycle_as_it_has_ports() {
        let config = TlbConfig { entries: Some(8), far_faults: 2, ports: 2, bears: 2 };
        let mut tlb = Tlb::new(config);
        let at = |tick| Since { tick, event: 0 };
        for (tick, page, left) in [(5, 1, true), (5, 2, false), (6, 3, true)] {
            tlb.look(Page(page), (false, true), at(tick));
            assert_eq!(tlb.has_port(Page(9), tick), left, "page {page}");
            assert!(tlb.has_port(Page(page), tick), "what it has looked up takes no other port");
        }
    }

    #[test]
    fn a_fault_beyond_those_tracked_is_replayed_when_another_ends() {
        let mut tlb = tlb(8, 2, u32::MAX);
        (1..=4).for_each(|page| assert_eq!(look(&mut tlb, page), Look::Miss));
        let told: Vec<_> = (1..=4).map(|page| tlb.nack(Page(page), false)).collect();
        assert_eq!(told, [Progress::Tracked, Progress::Tracked, Progress::Dropped, Progress::Dropped]);
        assert_eq!(tlb.resolve(Page(2))[..], [Page(2), Page(3), Page(4)]);
        assert_eq!(tlb.nacks, 1);
        tlb.fill(Page(2));
        assert_eq!([4, 3].map(|page| tlb.nack(Page(page), false)), [Progress::Tracked, Progress::Dropped]);
        assert_eq!(tlb.resolve(Page(1))[..], [Page(1), Page(3)]);
    }

    #[test]
    fn a_fault_that_another_unit_has_raised_counts_for_none() {
        let mut tlb = tlb(8, 1, 2);
        (1..=3).for_each(|page| assert_eq!(look(&mut tlb, page), Look::Miss));
        let told = [(1, true), (2, false), (3, true)].map(|(page, joined)| tlb.nack(Page(page), joined));
        assert_eq!(told, [Progress::Tracked; 3]);
        assert_eq!((tlb.nacks, tlb.counted()), (3, 1));
        assert_eq!(look(&mut tlb, 4), Look::Blocked, "they are pending nevertheless");
        assert_eq!(tlb.resolve(Page(3))[..], [Page(3)]);
        assert_eq!((tlb.nacks, tlb.counted()), (2, 1));
    }

    #[test]
    fn a_blocking_tlb_takes_nothing_while_a_fault_is_pending() {
        let mut tlb = tlb(8, 2, 0);
        look(&mut tlb, 1);
        tlb.fill(Page(1));
        look(&mut tlb, 2);
        assert_eq!(look(&mut tlb, 1), Look::Hit, "a page walk does not block");
        assert_eq!(look(&mut tlb, 3), Look::Miss, "nor other misses");
        tlb.fill(Page(3));
        tlb.nack(Page(2), false);
        assert_eq!(look(&mut tlb, 1), Look::Blocked);
        assert_eq!(look(&mut tlb, 4), Look::Blocked);
        assert_eq!(look(&mut tlb, 3), Look::Hit, "who waited for it has it");
        tlb.shoot_down(Page(3));
        assert_eq!(look(&mut tlb, 3), Look::Blocked);
        tlb.resolve(Page(2));
        assert_eq!(look(&mut tlb, 1), Look::Hit);
    }

    #[test]
    fn one_that_holds_all_misses_what_was_shot_down_and_what_is_not_allowed() {
        let mut tlb = Tlb::new(TlbConfig { entries: None, far_faults: 2, ports: 1, bears: 2 });
        let write =
            |tlb: &mut Tlb, page, is_allowed| tlb.look(Page(page), (true, is_allowed), Since::default());
        assert_eq!(write(&mut tlb, 1, true), Look::Hit);
        assert_eq!(write(&mut tlb, 2, false), Look::Miss);
        assert_eq!(look(&mut tlb, 2), Look::Hit, "it may be read meanwhile");
        assert_eq!(write(&mut tlb, 2, false), Look::Merged);
        assert!(tlb.shoot_down(Page(2)) && !tlb.shoot_down(Page(2)));
        assert_eq!(look(&mut tlb, 2), Look::Merged);
        tlb.fill(Page(2));
        assert_eq!(write(&mut tlb, 2, true), Look::Hit);
    }

    #[test]
    fn a_fault_more_than_it_bears_blocks_it_until_one_has_ended() {
        let mut tlb = Tlb::new(TlbConfig { entries: None, far_faults: 2, ports: 1, bears: 2 });
        for page in 1..=3 {
            assert_eq!(tlb.look(Page(page), (true, false), Since::default()), Look::Miss);
        }
        let told: Vec<_> = (1..=3).map(|page| tlb.nack(Page(page), false)).collect();
        assert_eq!(told, [Progress::Tracked, Progress::Tracked, Progress::Dropped]);
        assert_eq!(look(&mut tlb, 9), Look::Blocked);
        assert_eq!(tlb.resolve(Page(1))[..], [Page(1), Page(3)]);
        assert_eq!(look(&mut tlb, 9), Look::Hit);
    }
}
