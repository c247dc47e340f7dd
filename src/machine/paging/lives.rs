//! What became of faults: when each came to which stage, for those who look.

use std::collections::{BTreeMap, VecDeque};

use crate::model::page::Page;
use crate::model::page_view::{FaultStep, LifeStep};

/// Lives that are remembered after their end.
const ENDED: usize = 64;

/// Steps of a life that are remembered: one that others join, or that is dropped again and again, has any number.
const STEPS: usize = 24;

/// Whether a fault comes to a step once, whoever joins it.
fn is_own(step: LifeStep) -> bool {
    !matches!(step, LifeStep::Merged | LifeStep::Nacked | LifeStep::Dropped | LifeStep::Replayed)
}

/// Whether a compute unit is told: that may be on its way when the page comes.
fn is_answer(step: LifeStep) -> bool {
    matches!(step, LifeStep::Nacked | LifeStep::Replayed)
}

/// The life of one fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Life {
    pub page: Page,
    pub steps: VecDeque<FaultStep>,
}

/// Lives under way, and the last that have ended.
#[derive(Clone, Debug, Default)]
pub struct Lives {
    open: BTreeMap<Page, Life>,
    ended: VecDeque<Life>,
}

impl Lives {
    /// A fault of a page goes on. It has ended when the page is there, or may be written; what compute units are told then is
    /// still its own.
    pub fn tell(&mut self, page: Page, told: FaultStep) {
        if is_answer(told.step) && !self.open.contains_key(&page) {
            if let Some(life) = self.ended.iter_mut().rev().find(|life| life.page == page) {
                life.steps.push_back(told);
            }
            return;
        }
        let life = self.open.entry(page).or_insert_with(|| Life { page, ..Life::default() });
        if life.steps.len() >= STEPS {
            // How it began stays, and so does what the driver did.
            let repeated = life.steps.iter().skip(1).position(|step| !is_own(step.step));
            life.steps.remove(repeated.map_or(0, |place| place + 1));
        }
        life.steps.push_back(told);
        if told.step == LifeStep::Arrived
            && let Some(life) = self.open.remove(&page)
        {
            if self.ended.len() >= ENDED {
                self.ended.pop_front();
            }
            self.ended.push_back(life);
        }
    }

    /// The page of a fault goes over a link, if there is one.
    pub fn tell_sent(&mut self, page: Page, told: FaultStep) {
        if self.is_open(page) {
            self.tell(page, told);
        }
    }

    /// A TLB that has replayed has the translation: so ends its part of the fault.
    pub fn tell_filled(&mut self, page: Page, told: FaultStep) {
        let Some(life) = self.ended.iter_mut().rev().find(|life| life.page == page) else { return };
        let mut own = life.steps.iter().rev().filter(|step| step.who == told.who);
        if own.next().is_some_and(|step| step.step == LifeStep::Replayed) {
            life.steps.push_back(told);
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
    use crate::model::component::ComponentId;

    const RAISED: LifeStep = LifeStep::Raised { used: 1, most: 4 };

    fn told(step: LifeStep) -> FaultStep {
        FaultStep { step, at: 1, who: ComponentId(0) }
    }

    fn steps(lives: &Lives) -> Option<(Vec<LifeStep>, bool)> {
        let (life, open) = lives.of(Page(7))?;
        Some((life.steps.iter().map(|step| step.step).collect(), open))
    }

    #[test]
    fn a_life_that_many_join_keeps_its_beginning() {
        let mut lives = Lives::default();
        let joined = (0..3 * STEPS).map(|_| LifeStep::Merged);
        for step in [RAISED, LifeStep::Queued].into_iter().chain(joined) {
            lives.tell(Page(7), told(step));
        }
        let (steps, _) = steps(&lives).unwrap();
        assert_eq!((steps.len(), &steps[..2]), (STEPS, &[RAISED, LifeStep::Queued][..]));
    }

    const OVER: [LifeStep; 3] = [RAISED, LifeStep::Arrived, LifeStep::Replayed];

    /// One that is over.
    fn over() -> Lives {
        let mut lives = Lives::default();
        for step in OVER {
            lives.tell(Page(7), told(step));
        }
        lives
    }

    #[test]
    fn a_life_ends_with_its_page_and_keeps_its_replays() {
        let mut lives = over();
        assert_eq!(steps(&lives), Some((OVER.to_vec(), false)));
        lives.tell(Page(7), told(RAISED));
        assert_eq!(steps(&lives), Some((vec![RAISED], true)));
        for page in 8..8 + ENDED as u64 {
            lives.tell(Page(page), told(LifeStep::Arrived));
        }
        assert_eq!((lives.ended.len(), lives.open().count()), (ENDED, 1));
    }

    #[test]
    fn an_answer_that_comes_after_the_page_begins_no_life() {
        let mut lives = over();
        lives.tell(Page(7), told(LifeStep::Nacked));
        assert_eq!(steps(&lives), Some(([&OVER[..], &[LifeStep::Nacked]].concat(), false)));
        lives.tell(Page(8), told(LifeStep::Nacked));
        assert!(lives.of(Page(8)).is_none());
    }

    #[test]
    fn a_translation_ends_a_life_of_who_has_replayed() {
        let mut lives = over();
        // Another's, which hit in the page table; its own; and one that it did not wait for.
        lives.tell_filled(Page(7), FaultStep { who: ComponentId(1), ..told(LifeStep::Filled) });
        lives.tell_filled(Page(7), told(LifeStep::Filled));
        lives.tell_filled(Page(7), told(LifeStep::Filled));
        assert_eq!(steps(&lives), Some(([&OVER[..], &[LifeStep::Filled]].concat(), false)));
    }

    #[test]
    fn a_page_that_nobody_has_faulted_on_has_no_life() {
        let mut lives = Lives::default();
        lives.tell_sent(Page(7), told(LifeStep::Sent { ahead: 0 }));
        assert_eq!(steps(&lives), None);
    }
}
