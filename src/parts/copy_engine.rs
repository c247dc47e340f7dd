//! The copy engine of a GPU: pages that wait, and those that are on their way.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::model::component::ComponentId;
use crate::model::page::Page;
use crate::model::text::plural;
use crate::model::time::Tick;
use crate::parts::channel::Path;
use crate::parts::dram::Read;
use crate::policy::copies::Side;

/// Pages on their way at a time (ours): enough to fill any link over both memories.
const WINDOW: usize = 16;

/// What does not change.
#[derive(Clone, Debug)]
pub struct Ports {
    pub id: ComponentId,
    /// What leads from the host and to it.
    pub links: (Path, Path),
}

/// Where a page is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Its lines leave the caches; so many of the first ones have.
    Draining(u32),
    /// So many reads of the memory that it leaves have not ended.
    Reading(u32),
    /// It is on the link.
    Crossing,
    /// So many writes of the memory that it comes to have not ended.
    Writing(u32),
}

impl Stage {
    /// In words.
    pub fn told(self) -> String {
        match self {
            Self::Draining(_) => "waits until its lines have left the caches".to_owned(),
            Self::Reading(left) => {
                format!("waits for {} of the memory that it leaves", plural(u64::from(left), "read"))
            }
            Self::Crossing => "is on the link".to_owned(),
            Self::Writing(left) => {
                format!("waits for {} of the memory that it comes to", plural(u64::from(left), "write"))
            }
        }
    }
}

/// The copy engine of one GPU.
#[derive(Clone, Debug)]
pub struct Engine {
    pub ports: Arc<Ports>,
    queue: VecDeque<Page>,
    pub active: BTreeMap<Page, Stage>,
    /// When a page goes on; what a memory controller tells of comes in between.
    due: BTreeMap<(Tick, Page), u32>,
    /// Accesses of memory that pages wait for, by node.
    pub awaited: BTreeMap<(usize, Read), Page>,
    wake: Option<Tick>,
}

impl Engine {
    #[must_use]
    pub fn new(ports: Ports) -> Self {
        Self {
            ports: Arc::new(ports),
            queue: VecDeque::new(),
            active: BTreeMap::new(),
            due: BTreeMap::new(),
            awaited: BTreeMap::new(),
            wake: None,
        }
    }

    /// Pages that wait for it.
    pub fn queued(&self) -> impl Iterator<Item = Page> {
        self.queue.iter().copied()
    }

    /// The path to `side`.
    pub fn path_to(&self, side: Side) -> Path {
        match side {
            Side::Gpu => self.ports.links.0,
            Side::Host => self.ports.links.1,
        }
    }

    pub fn put(&mut self, page: Page) {
        self.queue.push_back(page);
    }

    /// The next page that can set out, if there is room for it.
    pub fn begin(&mut self) -> Option<Page> {
        if self.active.len() >= WINDOW {
            return None;
        }
        let page = self.queue.pop_front()?;
        self.active.insert(page, Stage::Draining(0));
        Some(page)
    }

    /// A page goes on at `tick`.
    pub fn put_off(&mut self, page: Page, tick: Tick) {
        *self.due.entry((tick, page)).or_default() += 1;
    }

    /// A page that goes on now.
    pub fn take_due(&mut self, now: Tick) -> Option<Page> {
        let mut first = self.due.first_entry().filter(|entry| entry.key().0 <= now)?;
        let page = first.key().1;
        *first.get_mut() -= 1;
        if *first.get() == 0 {
            first.remove();
        }
        Some(page)
    }

    /// Whether it is to be woken then.
    pub fn is_planned(&self, tick: Tick) -> bool {
        self.wake == Some(tick)
    }

    /// The page that goes on at `tick` goes on at `later`.
    pub fn postpone(&mut self, tick: Tick, later: Tick) {
        self.wake = None;
        if let Some(page) = self.take_due(tick) {
            self.put_off(page, later);
        }
    }

    /// When it has to be woken, if that is not planned.
    pub fn plan(&mut self) -> Option<Tick> {
        let next = self.due.first_key_value()?.0.0;
        if self.wake.is_some_and(|planned| planned <= next) {
            return None;
        }
        self.wake = Some(next);
        Some(next)
    }

    /// Whether being woken now was planned; it is no longer then.
    pub fn is_due(&mut self, now: Tick) -> bool {
        let is_due = self.wake == Some(now);
        if is_due {
            self.wake = None;
        }
        is_due
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (&self.queue, &self.active, &self.due, &self.awaited).hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine() -> Engine {
        let path = Path::from(0);
        Engine::new(Ports { id: ComponentId(0), links: (path, path) })
    }

    #[test]
    fn so_many_pages_set_out_at_a_time() {
        let mut engine = engine();
        (0..20).for_each(|page| engine.put(Page(page)));
        let begun: Vec<Page> = std::iter::from_fn(|| engine.begin()).collect();
        assert_eq!(begun.len(), WINDOW);
        assert_eq!((engine.queue.len(), engine.active.len()), (4, WINDOW));
        engine.active.remove(&Page(3));
        assert_eq!(engine.begin(), Some(Page(16)));
    }

    #[test]
    fn pages_go_on_in_the_order_of_their_ticks() {
        let mut engine = engine();
        engine.put_off(Page(1), 30);
        assert_eq!((engine.plan(), engine.plan()), (Some(30), None));
        engine.put_off(Page(2), 10);
        assert_eq!(engine.plan(), Some(10));
        assert!(!engine.is_due(9) && engine.is_due(10) && !engine.is_due(10));
        assert_eq!((engine.take_due(10), engine.take_due(10)), (Some(Page(2)), None));
        assert_eq!(engine.plan(), Some(30));
    }

    #[test]
    fn pieces_of_a_page_that_end_at_once_are_several() {
        let mut engine = engine();
        (0..2).for_each(|_| engine.put_off(Page(7), 10));
        let taken: Vec<Page> = std::iter::from_fn(|| engine.take_due(10)).collect();
        assert_eq!(taken, [Page(7); 2]);
    }
}
