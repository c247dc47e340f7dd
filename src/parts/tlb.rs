//! The TLB of a compute unit: fully associative, least recently used, with hits under misses; and what it knows of
//! far-faults ("Towards High Performance Paged Memory for GPUs", section 3 and Table 1).

use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

use crate::model::page::Page;
use crate::model::sorted::SortedMap;
use crate::model::time::Since;

/// What does not change while a TLB lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlbConfig {
    pub entries: u32,
    /// Far-faults that the GMMU tracks for this compute unit.
    pub far_faults: u32,
    /// It takes nothing while a far-fault is pending (section 2.1), so that the compute unit is blocked; and, until it is known
    /// whether a miss is one, only hits ("supporting hit under miss").
    pub blocks: bool,
}

/// What came of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Hit,
    /// The GMMU has to be asked.
    Miss,
    /// The GMMU has been asked already.
    Merged,
    /// The TLB takes nothing, or no second miss.
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
    /// The access that missed first writes.
    pub writes: bool,
    /// Order among those dropped.
    turn: u64,
}

/// A TLB.
#[derive(Clone, Debug)]
pub struct Tlb {
    config: TlbConfig,
    /// Pages it translates, least recently used first.
    entries: Vec<Page>,
    misses: SortedMap<Page, Miss>,
    /// Far-faults that it was told of and that have not ended: the counter of section 3.
    pub nacks: u32,
    turns: u64,
    pub hits: u64,
    pub missed: u64,
    pub shot_down: u64,
}

impl Tlb {
    #[must_use]
    pub fn new(config: TlbConfig) -> Self {
        Self {
            config,
            entries: Vec::new(),
            misses: SortedMap::default(),
            nacks: 0,
            turns: 0,
            hits: 0,
            missed: 0,
            shot_down: 0,
        }
    }

    /// Looks a page up for an access.
    pub fn look(&mut self, page: Page, writes: bool, since: Since) -> Look {
        if self.config.blocks && self.nacks > 0 {
            return Look::Blocked;
        }
        if let Some(place) = self.entries.iter().rposition(|entry| *entry == page) {
            self.entries[place..].rotate_left(1);
            self.hits += 1;
            return Look::Hit;
        }
        if self.misses.contains(page) {
            return Look::Merged;
        }
        if self.config.blocks && !self.misses.is_empty() {
            return Look::Blocked;
        }
        self.missed += 1;
        self.misses.insert(page, Miss { since, progress: Progress::Walking, writes, turn: 0 }.into());
        Look::Miss
    }

    /// The GMMU has translated a page.
    pub fn fill(&mut self, page: Page) {
        self.misses.remove(page);
        if self.entries.len() as u32 >= self.config.entries.max(1) {
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
        true
    }

    /// A Nack-Replayable. If it pushes the count above the far-faults that the GMMU tracks, "it now knows that this
    /// translation request is not being handled".
    pub fn nack(&mut self, page: Page) -> Progress {
        self.nacks += 1;
        self.turns += 1;
        let (above, turn) = (self.nacks > self.config.far_faults, self.turns);
        let progress = if above { Progress::Dropped } else { Progress::Tracked };
        if let Some(miss) = self.misses.get_mut(page) {
            (miss.progress, miss.turn) = (progress, turn);
        }
        progress
    }

    /// A far-fault that the GMMU tracks has ended. The pages to ask for again: this one, and all that were dropped, in the order
    /// in which they were. Their pages may have come for others; those for which there is no room will be dropped again.
    pub fn resolve(&mut self, page: Page) -> SmallVec<[Page; 2]> {
        let mut dropped: SmallVec<[(u64, Page); 4]> = self
            .misses
            .iter()
            .filter(|(other, miss)| miss.progress == Progress::Dropped && *other != page)
            .map(|(other, miss)| (miss.turn, other))
            .collect();
        dropped.sort_unstable();
        let all = std::iter::once(page).chain(dropped.into_iter().map(|(_, page)| page));
        all.filter(|page| self.ask_again(*page)).collect()
    }

    /// Drops a translation, if it is there.
    pub fn shoot_down(&mut self, page: Page) -> bool {
        let Some(place) = self.entries.iter().position(|entry| *entry == page) else { return false };
        self.entries.remove(place);
        self.shot_down += 1;
        true
    }

    /// Pages translated, least recently used first.
    #[must_use]
    pub fn entries(&self) -> &[Page] {
        &self.entries
    }

    /// Translations that are missing.
    pub fn misses(&self) -> impl Iterator<Item = (Page, &Miss)> {
        self.misses.iter()
    }

    #[must_use]
    pub fn config(&self) -> TlbConfig {
        self.config
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (&self.entries, self.nacks, self.turns).hash(hasher);
        self.misses.iter().for_each(|entry| entry.hash(hasher));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tlb(entries: u32, far_faults: u32, blocks: bool) -> Tlb {
        Tlb::new(TlbConfig { entries, far_faults, blocks })
    }

    fn look(tlb: &mut Tlb, page: u64) -> Look {
        tlb.look(Page(page), false, Since::default())
    }

    #[test]
    fn the_least_recently_used_entry_goes() {
        let mut tlb = tlb(2, 4, false);
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
    fn a_fault_beyond_those_tracked_is_replayed_when_another_ends() {
        let mut tlb = tlb(8, 2, false);
        (1..=4).for_each(|page| assert_eq!(look(&mut tlb, page), Look::Miss));
        let told: Vec<_> = (1..=4).map(|page| tlb.nack(Page(page))).collect();
        assert_eq!(told, [Progress::Tracked, Progress::Tracked, Progress::Dropped, Progress::Dropped]);
        assert_eq!(tlb.resolve(Page(2))[..], [Page(2), Page(3), Page(4)]);
        assert_eq!(tlb.nacks, 1);
        tlb.fill(Page(2));
        assert_eq!([4, 3].map(|page| tlb.nack(Page(page))), [Progress::Tracked, Progress::Dropped]);
        assert_eq!(tlb.resolve(Page(1))[..], [Page(1), Page(3)]);
    }

    #[test]
    fn a_blocking_tlb_takes_nothing_while_a_fault_is_pending() {
        let mut tlb = tlb(8, 2, true);
        look(&mut tlb, 1);
        tlb.fill(Page(1));
        look(&mut tlb, 2);
        assert_eq!(look(&mut tlb, 1), Look::Hit, "a page walk does not block");
        assert_eq!(look(&mut tlb, 3), Look::Blocked, "but for other misses");
        tlb.nack(Page(2));
        assert_eq!(look(&mut tlb, 1), Look::Blocked);
        tlb.resolve(Page(2));
        assert_eq!(look(&mut tlb, 1), Look::Hit);
    }
}
