//! What became of faults: when each came to which stage, for those who look.

use std::collections::{BTreeMap, VecDeque};

use crate::model::component::ComponentId;
use crate::model::page::Page;
use crate::model::paging::FaultStage;
use crate::model::time::Tick;

/// Lives that are remembered after their end.
const ENDED: usize = 64;

/// Steps of a life that are remembered: one that others join, or that is dropped again and again, has any number.
const STEPS: usize = 24;

/// Whether a fault comes to a stage once, whoever joins it.
fn is_own(stage: FaultStage) -> bool {
    !matches!(stage, FaultStage::Merged | FaultStage::Nacked | FaultStage::Dropped | FaultStage::Replayed)
}

/// What is told of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    pub stage: FaultStage,
    /// The transfer set, from 1; 0 for none.
    pub set: u64,
    /// The compute unit or core that it is about, or the part that took it.
    pub who: ComponentId,
}

/// The life of one fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Life {
    pub page: Page,
    pub steps: VecDeque<(Tick, Told)>,
}

/// Lives under way, and the last that have ended.
#[derive(Clone, Debug, Default)]
pub struct Lives {
    open: BTreeMap<Page, Life>,
    ended: VecDeque<Life>,
}

impl Lives {
    /// A fault of a page goes on. It has ended when the page is there, or may be written; the replays that follow are still its own.
    pub fn tell(&mut self, page: Page, told: Told, now: Tick) {
        let after = told.stage == FaultStage::Replayed && !self.open.contains_key(&page);
        if let Some(life) = self.ended.iter_mut().rev().find(|life| after && life.page == page) {
            life.steps.push_back((now, told));
            return;
        }
        let life = self.open.entry(page).or_insert_with(|| Life { page, ..Life::default() });
        if life.steps.len() >= STEPS {
            // How it began stays, and so does what the driver did.
            let repeated = life.steps.iter().skip(1).position(|(_, step)| !is_own(step.stage));
            life.steps.remove(repeated.map_or(0, |place| place + 1));
        }
        life.steps.push_back((now, told));
        if told.stage == FaultStage::Arrived
            && let Some(life) = self.open.remove(&page)
        {
            if self.ended.len() >= ENDED {
                self.ended.pop_front();
            }
            self.ended.push_back(life);
        }
    }

    /// The last life of a page; whether it is under way.
    #[must_use]
    pub fn of(&self, page: Page) -> Option<(&Life, bool)> {
        let ended = || self.ended.iter().rev().find(|life| life.page == page).map(|life| (life, false));
        self.open.get(&page).map(|life| (life, true)).or_else(ended)
    }

    /// Whether a fault of a page is under way.
    #[must_use]
    pub fn is_open(&self, page: Page) -> bool {
        self.open.contains_key(&page)
    }

    /// Lives under way.
    pub fn open(&self) -> impl Iterator<Item = &Life> {
        self.open.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_that_many_join_keeps_its_beginning() {
        let mut lives = Lives::default();
        let told = |stage| Told { stage, set: 0, who: ComponentId(0) };
        let joined = (0..3 * STEPS).map(|_| FaultStage::Merged);
        for stage in [FaultStage::Raised, FaultStage::Queued].into_iter().chain(joined) {
            lives.tell(Page(7), told(stage), 1);
        }
        let life = lives.of(Page(7)).unwrap().0;
        let stages: Vec<_> = life.steps.iter().map(|(_, told)| told.stage).collect();
        assert_eq!((stages.len(), &stages[..2]), (STEPS, &[FaultStage::Raised, FaultStage::Queued][..]));
    }

    #[test]
    fn a_life_ends_with_its_page_and_keeps_its_replays() {
        let mut lives = Lives::default();
        let told = |stage| Told { stage, set: 0, who: ComponentId(0) };
        let mut tell = |stage, now| lives.tell(Page(7), told(stage), now);
        for (now, stage) in
            [FaultStage::Raised, FaultStage::Arrived, FaultStage::Replayed].into_iter().enumerate()
        {
            tell(stage, now as Tick);
        }
        assert_eq!(lives.of(Page(7)).map(|(life, open)| (life.steps.len(), open)), Some((3, false)));
        lives.tell(Page(7), told(FaultStage::Raised), 9);
        assert_eq!(lives.of(Page(7)).map(|(life, open)| (life.steps.len(), open)), Some((1, true)));
        for page in 8..8 + ENDED as u64 {
            lives.tell(Page(page), told(FaultStage::Arrived), 9);
        }
        assert_eq!((lives.ended.len(), lives.open().count()), (ENDED, 1));
    }
}
