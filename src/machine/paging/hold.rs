//! Holds back what is due: of the parts that bring pages to a GPU, the first.

use super::{GpuPaging, Paging, Protection};
use crate::machine::Machine;
use crate::model::page::Page;
use crate::model::time::Tick;

/// What has something to do at a time of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A piece of the page at the head.
    Going,
    Coming,
    Departure,
    Arrival,
    Reply,
    Walk,
    Driver,
    Stream,
}

impl GpuPaging {
    /// The first part that is due at `tick`.
    fn first(&self, tick: Tick) -> Option<Part> {
        let is_due = |(_, next): &(Part, Option<Tick>)| next.is_some_and(|next| next <= tick);
        self.heads().into_iter().find(is_due).map(|(part, _)| part)
    }

    /// What that part was to do at `tick` it does at `later`, and what comes after it no earlier.
    fn postpone(&mut self, tick: Tick, later: Tick) {
        let put_off = |due: &mut Tick| *due = later.max(*due);
        match self.first(tick) {
            Some(Part::Going) => self.going.iter_mut().for_each(|crossing| put_off(&mut crossing.next)),
            Some(Part::Coming) => self.coming.iter_mut().for_each(|crossing| put_off(&mut crossing.next)),
            Some(Part::Departure) => self.departures.iter_mut().for_each(|(due, ..)| put_off(due)),
            Some(Part::Arrival) => self.arrivals.iter_mut().for_each(|(due, _)| put_off(due)),
            Some(Part::Reply) => self.replies.iter_mut().for_each(|(due, _)| put_off(due)),
            Some(Part::Walk) => self.gmmu.postpone(tick, later),
            Some(Part::Driver) => self.driver.iter_mut().for_each(|driver| driver.postpone(later)),
            Some(Part::Stream) => self.streams_until = Some(later),
            None => {}
        }
    }
}

impl Paging {
    /// What the driver of the whole machine was to do at `tick` it does at `later`. Whether there was anything.
    fn postpone_others(&mut self, tick: Tick, later: Tick) -> bool {
        let recalled = self.recalled.values_mut().filter_map(|(due, _)| due.as_mut());
        let handlers = self.protection.iter_mut().flat_map(Protection::due_mut);
        let due = recalled.chain(handlers).find(|due| **due <= tick);
        due.map(|due| *due = later).is_some()
    }
}

impl Machine {
    /// Whether the paging of a GPU is planned for then.
    pub(in crate::machine) fn is_paging_due(&self, gpu: usize, tick: Tick) -> bool {
        let one = self.paging.as_ref().and_then(|paging| paging.gpus.get(gpu));
        one.is_some_and(|one| one.wake == Some(tick))
    }

    /// What was due there at `tick` is at `later`: what comes first of it.
    pub(in crate::machine) fn postpone_paging(&mut self, gpu: usize, tick: Tick, later: Tick) {
        let Some(paging) = self.paging.as_mut() else { return };
        let others = if gpu == 0 { paging.postpone_others(tick, later) } else { false };
        if let Some(one) = paging.gpus.get_mut(gpu) {
            one.wake = None;
            if !others {
                one.postpone(tick, later);
            }
        }
        self.wake_paging(gpu);
    }

    /// What is due there, in words.
    pub(in crate::machine) fn tell_paging(&self, gpu: usize, tick: Tick) -> String {
        let Some(paging) = self.paging.as_ref() else { return String::new() };
        let Some(one) = paging.gpus.get(gpu) else { return String::new() };
        let first = |page: Option<Page>| {
            page.map_or_else(String::new, |page| page.range(paging.page).start.to_string())
        };
        match one.first(tick) {
            Some(Part::Arrival | Part::Coming) => {
                let head = one.arrivals.front().map(|(_, planned)| planned.page);
                format!("page {} on its way to gpu{gpu}", first(head))
            }
            Some(Part::Departure | Part::Going) => {
                let head = one.departures.front().map(|(_, page, _)| *page);
                format!("page {} on its way to the host", first(head))
            }
            Some(Part::Reply) => {
                let head = one.replies.front().map(|(_, outcome)| outcome.walk.page);
                format!("what the GMMU of gpu{gpu} has found of {}", first(head))
            }
            Some(Part::Walk) => format!("the GMMU of gpu{gpu}"),
            Some(Part::Driver) => format!("the driver of gpu{gpu}"),
            Some(Part::Stream) | None => "the driver".to_owned(),
        }
    }
}
