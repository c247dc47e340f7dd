//! How busy links are in the course of a run.

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::model::component::ComponentId;
use crate::model::inspect::Inspect;
use crate::model::time::Tick;
use crate::report::load::{BusySince, links};

/// Windows, at most: each two become one when there are so many. An even number.
const WINDOWS: usize = 128;

/// Cycles of the first windows.
const FIRST: u64 = 100;

/// Shares of time, window by window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Cycles of a window.
    pub cycles: f64,
    /// Links by their paths, each with the share of every window in which it was busy, 0 to 1.
    pub links: Vec<(String, Vec<f64>)>,
}

/// A run that is looked at.
#[derive(Debug)]
pub struct Watch {
    /// Length of a window, and the end of the present one.
    span: Tick,
    next: Tick,
    links: Vec<Watched>,
}

#[derive(Debug)]
struct Watched {
    link: ComponentId,
    busy: BusySince,
    shares: Vec<f64>,
}

impl Watch {
    /// Before the first event.
    #[must_use]
    pub fn new(machine: &Machine) -> Self {
        let span = machine.time_base().tick_of_cycle(FIRST).max(1);
        let watched = |link| Watched { link, busy: BusySince::new(link), shares: Vec::new() };
        Self { span, next: span, links: links(machine).map(watched).collect() }
    }

    /// Closes the windows that are over.
    pub fn look(&mut self, machine: &Machine) {
        while machine.tick() >= self.next {
            for watched in &mut self.links {
                watched.shares.push(watched.busy.look(machine, self.next));
            }
            self.next += self.span;
            if self.links.first().is_some_and(|watched| watched.shares.len() == WINDOWS) {
                self.halve();
            }
        }
    }

    /// Each two windows become one.
    fn halve(&mut self) {
        for watched in &mut self.links {
            let pairs = watched.shares.chunks(2);
            watched.shares = pairs.map(|pair| pair.iter().sum::<f64>() / pair.len() as f64).collect();
        }
        self.span *= 2;
        self.next = self.span * (WINDOWS as u64 / 2 + 1);
    }

    /// What was seen. A last window that is not over is left out.
    #[must_use]
    pub fn end(self, machine: &Machine) -> Course {
        let names = machine.components();
        let link = |watched: Watched| (names.path(watched.link).to_owned(), watched.shares);
        Course {
            cycles: self.span as f64 / machine.time_base().ticks_per_cycle as f64,
            links: self.links.into_iter().map(link).collect(),
        }
    }
}
