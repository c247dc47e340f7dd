//! Where the cycles of many accesses went, by what they waited for and where.

use std::collections::BTreeMap;

use super::{Latency, Leg, Sort};
use crate::model::component::{ComponentId, Components};

/// Sums over accesses that did not end at once.
#[derive(Clone, Debug, Default)]
pub struct Spent {
    accesses: u64,
    cycles: u64,
    longest: u64,
    sorts: BTreeMap<Sort, Cycles>,
    places: BTreeMap<(Sort, ComponentId), Cycles>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cycles {
    cycles: u64,
    accesses: u64,
}

/// What came of that.
#[derive(Clone, Debug, PartialEq)]
pub struct Waits {
    /// Accesses that did not end at once, their cycles in all, and those of the longest.
    pub accesses: u64,
    pub cycles: u64,
    pub longest: u64,
    /// What they waited for, the longest first.
    pub sums: Vec<Sum>,
}

/// One thing that accesses waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct Sum {
    pub sort: Sort,
    pub cycles: u64,
    /// Of all their cycles, from 0 to 1.
    pub share: f64,
    /// Those that waited for it at all.
    pub accesses: u64,
    /// Where, the longest first.
    pub places: Vec<Place>,
}

/// Where they waited for it: a link that messages went over or waited for, the memory or node at which that was, or the unit
/// that was to issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub at: String,
    pub cycles: u64,
    pub accesses: u64,
}

impl Spent {
    /// Adds an access. A hit that was issued at once has waited for nothing.
    pub fn add(&mut self, latency: &Latency, components: &Components) {
        if latency.is_hit() {
            return;
        }
        self.accesses += 1;
        self.cycles += latency.cycles();
        self.longest = self.longest.max(latency.cycles());
        let (mut sorts, mut places) = (BTreeMap::new(), BTreeMap::new());
        for leg in &latency.legs {
            let sort = leg.sort(components);
            *sorts.entry(sort).or_insert(0) += leg.cycles;
            *places.entry((sort, place(leg, components))).or_insert(0) += leg.cycles;
        }
        for (sort, cycles) in sorts {
            self.sorts.entry(sort).or_default().add(cycles);
        }
        for (place, cycles) in places {
            self.places.entry(place).or_default().add(cycles);
        }
    }

    #[must_use]
    pub fn waits(&self, components: &Components) -> Waits {
        let sums = self.sorts.iter().map(|(&sort, sum)| self.sum(sort, *sum, components));
        let mut sums: Vec<Sum> = sums.collect();
        sums.sort_by_key(|sum| std::cmp::Reverse(sum.cycles));
        Waits { accesses: self.accesses, cycles: self.cycles, longest: self.longest, sums }
    }

    fn sum(&self, sort: Sort, sum: Cycles, components: &Components) -> Sum {
        let own = self.places.iter().filter(|((of, _), _)| *of == sort);
        let place = |(&(_, at), sum): (&(Sort, ComponentId), &Cycles)| {
            let at = components.path(at).to_owned();
            Place { at, cycles: sum.cycles, accesses: sum.accesses }
        };
        let mut places: Vec<Place> = own.map(place).collect();
        places.sort_by_key(|place| std::cmp::Reverse(place.cycles));
        let share = sum.cycles as f64 / self.cycles.max(1) as f64;
        Sum { sort, cycles: sum.cycles, share, accesses: sum.accesses, places }
    }
}

impl Cycles {
    fn add(&mut self, cycles: u64) {
        self.cycles += cycles;
        self.accesses += 1;
    }
}

/// Where an access was for a leg: of one that goes over two links the second one, whose time it ends with.
fn place(leg: &Leg, components: &Components) -> ComponentId {
    leg.links(components).last().copied().unwrap_or(leg.at)
}
