//! Statistics: what the parts have counted, as flat dotted keys in a fixed order. Times are in quoted cycles, amounts in
//! bytes, shares from 0 to 1; what is not known (a rate of nothing) is not a number.

mod accesses;
mod coalescing;
mod copies;
mod links;
mod memory;
mod nodes;
mod numa;
mod paging;
mod selective;
mod synchronisation;
mod tags;
#[cfg(test)]
mod tests;
mod warps;

use rustc_hash::FxHashMap;

use super::Machine;
use crate::model::message::MessageKind;
use crate::model::text::key_word;
use crate::model::time::Tick;

/// Statistics as they are gathered.
#[derive(Debug, Default)]
struct Sheet(Vec<(String, f64)>);

impl Sheet {
    fn put(&mut self, key: String, value: f64) {
        self.0.push((key, value));
    }

    fn count(&mut self, key: String, value: u64) {
        self.put(key, value as f64);
    }

    /// A part of a whole; unknown if there is no whole.
    fn share(&mut self, key: String, part: u64, whole: u64) {
        self.put(key, if whole == 0 { f64::NAN } else { part as f64 / whole as f64 });
    }
}

/// The parts of all statistics, in their order.
const SECTIONS: [fn(&Machine, &mut Sheet); 17] = [
    Machine::run_statistics,
    Machine::access_statistics,
    Machine::warp_statistics,
    Machine::message_statistics,
    Machine::level_statistics,
    Machine::node_statistics,
    Machine::link_statistics,
    Machine::dram_statistics,
    Machine::paging_statistics,
    Machine::copy_statistics,
    Machine::numa_statistics,
    Machine::remote_directory_statistics,
    Machine::coalescing_statistics,
    Machine::tag_statistics,
    Machine::synchronisation_statistics,
    Machine::launch_statistics,
    Machine::task_statistics,
];

/// Which section has a statistic: found out once, since whoever asks for one asks again after each event.
pub(super) type SectionOf = FxHashMap<String, usize>;

impl Machine {
    pub(super) fn all_statistics(&self) -> Vec<(String, f64)> {
        let mut sheet = Sheet::default();
        for section in SECTIONS {
            section(self, &mut sheet);
        }
        sheet.0
    }

    /// One of them; only its section is made.
    pub(super) fn one_statistic(&self, key: &str) -> Option<f64> {
        let known = self.fixed.section_of.get_or_init(|| self.sections()).get(key);
        // Those of tasks come up as these end.
        let section = known.and_then(|section| SECTIONS.get(*section)).copied();
        let mut sheet = Sheet::default();
        section.unwrap_or(Self::task_statistics)(self, &mut sheet);
        sheet.0.into_iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    fn sections(&self) -> SectionOf {
        let mut sections = SectionOf::default();
        for (index, section) in SECTIONS.iter().enumerate() {
            let mut sheet = Sheet::default();
            section(self, &mut sheet);
            sections.extend(sheet.0.into_iter().map(|(key, _)| (key, index)));
        }
        sections
    }

    fn run_statistics(&self, sheet: &mut Sheet) {
        sheet.count("cycles".to_owned(), self.fixed.time.cycle(self.now));
        sheet.count("events".to_owned(), self.event);
        sheet.count("accesses".to_owned(), self.accesses());
        sheet.count("work_cycles".to_owned(), self.fixed.time.cycle(self.worked_until()));
        sheet.count("violations".to_owned(), self.violations.len() as u64);
    }

    fn message_statistics(&self, sheet: &mut Sheet) {
        for (kind, (count, bytes)) in MessageKind::ALL.into_iter().zip(self.sent) {
            let kind = key_word(kind.name());
            sheet.count(format!("messages.{kind}.count"), count);
            sheet.count(format!("messages.{kind}.bytes"), bytes);
        }
    }

    /// Kernels launched so far, where there are any to launch.
    fn launch_statistics(&self, sheet: &mut Sheet) {
        let tasks = self.tasks.workload.tasks.iter().zip(&self.tasks.states);
        let launches: Vec<_> =
            tasks.filter_map(|(task, state)| Some((task.launch_overhead()?, state.started))).collect();
        if launches.is_empty() {
            return;
        }
        let begun = || launches.iter().filter(|(_, started)| started.is_some());
        sheet.count("launches.count".to_owned(), begun().count() as u64);
        let all = begun().fold(0_u64, |all, (cycles, _)| all.saturating_add(*cycles));
        sheet.count("launches.cycles".to_owned(), all);
        let flushed = self.nodes.iter().map(|node| node.counters.launch_bytes).sum();
        let until = |state: &super::tasks::TaskState| state.started.unwrap_or(self.now);
        let spans = self.tasks.states.iter();
        let spans = spans.filter_map(|state| Some(until(state).saturating_sub(state.flushes_since?)));
        sheet.put("launches.flush_cycles".to_owned(), self.cycles(spans.sum()));
        sheet.count("launches.flush_bytes".to_owned(), flushed);
    }

    /// A span in quoted cycles, whole ones.
    fn cycles(&self, span: Tick) -> f64 {
        self.fixed.time.cycle(span) as f64
    }

    /// The mean of some spans in quoted cycles; unknown if there are none.
    pub(super) fn mean_cycles(&self, sum: Tick, count: u64) -> f64 {
        if count == 0 { f64::NAN } else { self.exact_cycles(sum as f64) / count as f64 }
    }

    /// A span of ticks in quoted cycles and parts of one.
    pub(super) fn exact_cycles(&self, ticks: f64) -> f64 {
        ticks / self.fixed.time.ticks_per_cycle.max(1) as f64
    }
}
