//! How busy links are from one moment to the next.

use crate::machine::Machine;
use crate::model::component::{ComponentId, ComponentKind};
use crate::model::inspect::Inspect;
use crate::model::record::{Record, What};
use crate::model::time::Tick;

/// Time that a link is busy, dealt out over the time that passes: a message counts as a whole when it is put on the
/// link, but takes until its last byte is through.
#[derive(Clone, Copy, Debug, Default)]
pub struct Busy {
    /// Ticks that have been counted in all.
    counted: f64,
    /// Of these, those that lie in the future.
    left: f64,
}

impl Busy {
    /// `total` ticks have been counted since the start.
    pub fn count(&mut self, total: f64) {
        self.left += (total - self.counted).max(0.0);
        self.counted = self.counted.max(total);
    }

    /// The share of the next `span` ticks in which it is busy, 0 to 1.
    pub fn pass(&mut self, span: Tick) -> f64 {
        let used = self.left.min(span as f64);
        self.left -= used;
        if span == 0 { 0.0 } else { used / span as f64 }
    }
}

/// One direction of a link: what it is called, how busy it is, and what it was last told to be.
#[derive(Clone, Debug)]
struct Watched {
    link: ComponentId,
    busy: Busy,
    told: f64,
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

/// Ticks that a link has been busy since the start.
#[must_use]
pub fn busy(machine: &dyn Inspect, link: ComponentId) -> f64 {
    machine.link(link, 0).map_or(0.0, |link| link.utilisation * machine.tick() as f64)
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
        let watched = |link| Watched { link, busy: Busy::default(), told: 0.0 };
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

    /// What has changed in the windows that are over at `now`; `before` is the machine before what happens then.
    pub fn close(&mut self, before: &Machine, now: Tick) -> Vec<Load> {
        let mut changes = Vec::new();
        self.count(before);
        while self.is_over(now) {
            let (from, span) = (self.from, self.span);
            changes.extend(self.pass(from, span));
            self.from += span;
            if self.links.iter().all(|link| link.busy.left == 0.0 && link.told == 0.0) {
                // Nothing more in a stretch in which nothing moves.
                self.from = now - now % span;
            }
        }
        changes
    }

    /// What has changed in the window that is not over when `machine` ends.
    pub fn end(&mut self, machine: &Machine) -> Vec<Load> {
        self.count(machine);
        let (from, span) = (self.from, machine.tick().saturating_sub(self.from));
        if span == 0 { Vec::new() } else { self.pass(from, span) }
    }

    fn count(&mut self, machine: &Machine) {
        for watched in &mut self.links {
            watched.busy.count(busy(machine, watched.link));
        }
    }

    fn pass(&mut self, from: Tick, span: Tick) -> Vec<Load> {
        let mut changes = Vec::new();
        for watched in &mut self.links {
            let share = watched.busy.pass(span);
            if (share - watched.told).abs() > f64::EPSILON {
                watched.told = share;
                changes.push(Load { from, link: watched.link, share });
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_makes_the_link_busy_until_its_end() {
        let mut busy = Busy::default();
        busy.count(250.0);
        let percent = |share: f64| (share * 100.0).round() as u32;
        assert_eq!([(); 4].map(|()| percent(busy.pass(100))), [100, 100, 50, 0]);
        busy.count(275.0);
        assert_eq!([100, 0].map(|span| percent(busy.pass(span))), [25, 0]);
    }
}
