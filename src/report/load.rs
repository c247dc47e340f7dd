//! How busy links are from one moment to the next.

use super::behind::Behind;
use crate::machine::Machine;
use crate::model::component::{ComponentId, ComponentKind};
use crate::model::inspect::Inspect;
use crate::model::record::{Record, What};
use crate::model::time::Tick;

/// How many entries of a scoreboard are in use at the end of the event of a record of a tag: they are told like MSHRs, but no record
/// of its own has their number.
pub fn scores(machine: &Machine, record: &Record) -> Option<u32> {
    match record.what {
        What::Tag(_) => machine.mshrs(record.at, 0).map(|scores| scores.used),
        _ => None,
    }
}

/// One direction of a link: what it is called, how busy it is, and what it was last told to be.
#[derive(Clone, Debug)]
struct Watched {
    link: ComponentId,
    busy: BusySince,
    told: f64,
}

/// How long a link has been busy until the last look at it.
#[derive(Clone, Copy, Debug)]
pub struct BusySince {
    link: ComponentId,
    from: Tick,
    busy: Tick,
}

impl BusySince {
    /// From the start.
    #[must_use]
    pub fn new(link: ComponentId) -> Self {
        Self { link, from: 0, busy: 0 }
    }

    /// The share of the time since the last look in which it was busy, 0 to 1; `tick` is not before the last event of
    /// `machine`, or little before it.
    pub fn look(&mut self, machine: &Machine, tick: Tick) -> f64 {
        let busy = machine.busy_until(self.link, tick);
        let (span, more) = (tick.saturating_sub(self.from), busy.saturating_sub(self.busy));
        (self.from, self.busy) = (tick, self.busy.max(busy));
        if span == 0 { 0.0 } else { more.min(span) as f64 / span as f64 }
    }
}

/// How busy a link is from a moment on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    pub from: Tick,
    pub link: ComponentId,
    /// 0 to 1.
    pub share: f64,
}

/// How busy all links are in windows of one length.
#[derive(Clone, Debug)]
pub struct Loads {
    /// Length of a window.
    span: Tick,
    /// Where the present window begins.
    from: Tick,
    links: Vec<Watched>,
}

/// The links of a machine.
pub fn links(machine: &dyn Inspect) -> impl Iterator<Item = ComponentId> {
    let links = machine.components().iter().filter(|(_, component)| component.kind == ComponentKind::Link);
    links.map(|(id, _)| id)
}

/// The lanes of both directions of a link after a record about them.
#[must_use]
pub fn lanes(machine: &dyn Inspect, record: &Record) -> Option<[(ComponentId, u32); 2]> {
    let What::LaneReversal(reversal) = &record.what else { return None };
    let other = machine.link(record.at, 0)?.balance?.other;
    let lanes = |direction| reversal.flows.of(direction).lanes;
    Some([(record.at, lanes(reversal.to)), (other, lanes(reversal.to.opposite()))])
}

impl Loads {
    /// Windows as long as the machine's own samples.
    #[must_use]
    pub fn new(machine: &dyn Inspect) -> Self {
        let cycles = links(machine).find_map(|link| Some(machine.link(link, 0)?.sample_cycles)).unwrap_or(1);
        let watched = |link| Watched { link, busy: BusySince::new(link), told: 0.0 };
        Self {
            span: machine.time_base().tick_of_cycle(cycles).max(1),
            from: 0,
            links: links(machine).map(watched).collect(),
        }
    }

    /// Whether the present window is over at `now`.
    #[must_use]
    pub fn is_over(&self, now: Tick) -> bool {
        now >= self.from.saturating_add(self.span)
    }

    /// What has changed in the windows that are over when the last event of `machine` happens, which `behind` follows.
    pub fn close(&mut self, behind: &mut Behind, machine: &Machine) -> Vec<Load> {
        let now = machine.tick();
        let mut changes = Vec::new();
        while self.is_over(now) {
            let end = self.from + self.span;
            let then = behind.at(machine, end);
            changes.extend(self.pass(then, end));
            let is_busy = |link| then.busy_until(link, now) > then.busy_until(link, end);
            if self.links.iter().all(|watched| watched.told == 0.0 && !is_busy(watched.link)) {
                // Nothing more in a stretch in which nothing moves.
                let last = now - now % self.span;
                changes.extend(self.pass(behind.at(machine, last), last));
            }
        }
        changes
    }

    /// What has changed in the window that is not over when `machine` ends.
    pub fn end(&mut self, machine: &Machine) -> Vec<Load> {
        let end = machine.tick();
        if end == self.from { Vec::new() } else { self.pass(machine, end) }
    }

    /// What has changed in the window that ends at a tick.
    fn pass(&mut self, machine: &Machine, end: Tick) -> Vec<Load> {
        let mut changes = Vec::new();
        let from = std::mem::replace(&mut self.from, end);
        for watched in &mut self.links {
            let share = watched.busy.look(machine, end);
            if (share - watched.told).abs() > f64::EPSILON {
                watched.told = share;
                changes.push(Load { from, link: watched.link, share });
            }
        }
        changes
    }
}
