//! Injected faults that strike one of many: when they do, and that it is told.

use super::Machine;
use super::lanes::REMEMBERED;
use crate::model::component::ComponentId;
use crate::model::fault::Fault;
use crate::model::record::What;
use crate::model::time::EventNumber;
use crate::protocol::node::Node;
use crate::protocol::outbox::{About, Outbox};

/// What a machine knows of the faults that were injected into it.
#[derive(Clone, Debug, Default)]
pub(super) struct Injected {
    /// Of each fault, how many of what it counts had been when it was injected; none if that was before the first event.
    before: Vec<u64>,
    /// They are for the user to find.
    hidden: bool,
    /// The first events in which one struck that is told. Nothing depends on them: no part of the digest.
    struck: Vec<EventNumber>,
}

impl Machine {
    /// That an injected fault strikes is not told from here on.
    pub fn hide_faults(&mut self) {
        self.injected.hidden = true;
    }

    /// Whether a fault strikes number `count` (from 1, since the first event) of what it counts. Its own number counts from when it
    /// was injected.
    pub(super) fn is_struck(&self, count: u64, fault: impl Fn(u64) -> Fault) -> bool {
        let before = |index: usize| self.injected.before.get(index).copied().unwrap_or(0);
        let mut faults = self.fixed.faults.iter().enumerate();
        faults.any(|(index, injected)| {
            count.checked_sub(before(index)).is_some_and(|number| *injected == fault(number))
        })
    }

    /// Some faults follow those that were injected so far.
    pub(super) fn add_faults(&mut self, all: &[Fault]) {
        let known = self.fixed.faults.len();
        self.injected.before.resize(known, 0);
        let counts = all.iter().skip(known).map(|fault| self.count_of(*fault));
        let counts: Vec<u64> = counts.collect();
        self.injected.before.extend(counts);
    }

    /// The injected faults that have changed nothing so far, or never can on this machine; none that are for the user to find.
    #[must_use]
    pub fn idle_faults(&self) -> Vec<Fault> {
        let faults = self.fixed.faults.iter().enumerate().filter(|_| !self.injected.hidden);
        let before = |index: usize| self.injected.before.get(index).copied().unwrap_or(0);
        let is_idle = |(index, fault): &(usize, &Fault)| {
            fault.number().is_some_and(|nth| self.count_of(**fault) < before(*index) + nth)
                || !self.has_part_for(**fault)
        };
        faults.filter(is_idle).map(|(_, fault)| *fault).collect()
    }

    /// Whether the machine has the part in which a fault breaks a rule.
    fn has_part_for(&self, fault: Fault) -> bool {
        let keeps_some = |node: &Node| node.config.table.uncached.is_some() || node.config.by_sector;
        match fault {
            _ if fault.is_of_pages() => self.paging.is_some(),
            _ if fault.is_of_tags() => self.nodes.iter().any(Node::is_tagged),
            _ if fault.is_of_selective_caching() => self.nodes.iter().any(keeps_some),
            _ => true,
        }
    }

    /// How many of what a fault counts have been up to here.
    fn count_of(&self, fault: Fault) -> u64 {
        let paging = self.paging.as_ref();
        match fault {
            Fault::LoseMessage { kind, .. } => self.sent.get(kind as usize).map_or(0, |(count, _)| *count),
            Fault::DropWakeUp { .. } => self.wake_ups,
            Fault::DropReplay { .. } => paging.map_or(0, |paging| paging.told),
            Fault::LosePage { .. } => paging.map_or(0, |paging| paging.came),
            _ => 0,
        }
    }

    /// Tells that a fault has struck.
    pub(super) fn tell_struck(
        &mut self,
        at: ComponentId,
        about: About,
        name: &'static str,
        out: &mut Outbox,
    ) {
        if self.injected.hidden {
            return;
        }
        out.record(at, about, || What::Fault { name });
        if self.injected.struck.len() < REMEMBERED {
            self.injected.struck.push(out.event);
        }
    }

    /// The first events in which an injected fault struck, of those that strike one of many; none that are for the user to find.
    #[must_use]
    pub fn struck(&self) -> &[EventNumber] {
        &self.injected.struck
    }
}
