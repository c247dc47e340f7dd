//! A time series of statistics as CSV: a row every so many cycles.

use crate::model::inspect::Inspect;

/// When the next row is due, and what its columns are.
#[derive(Clone, Debug)]
pub struct Series {
    /// Cycles between two rows.
    every: u64,
    /// The first cycle at which the next row is due.
    next: u64,
    columns: Vec<String>,
}

impl Series {
    /// A series of the statistics that `machine` has before its first event.
    #[must_use]
    pub fn new(machine: &dyn Inspect, every: u64) -> Self {
        let columns = machine.statistics().into_iter().map(|(key, _)| key);
        let columns = columns.filter(|key| key != "cycles" && key != "events").collect();
        Self { every: every.max(1), next: every.max(1), columns }
    }

    /// The first line: the names of the columns.
    #[must_use]
    pub fn header(&self) -> String {
        let names = ["cycle".to_owned(), "event".to_owned()].into_iter().chain(self.columns.iter().cloned());
        names.map(|name| quoted(&name)).collect::<Vec<_>>().join(",")
    }

    /// The row for the state of `machine`, if one is due: its cycle is the first with an event at or after the one
    /// asked for, so a stretch without events has no rows.
    pub fn due(&mut self, machine: &dyn Inspect) -> Option<String> {
        let cycle = machine.time_base().cycle(machine.tick());
        if cycle < self.next {
            return None;
        }
        self.next = (cycle / self.every).saturating_add(1).saturating_mul(self.every);
        Some(self.row(machine))
    }

    /// The row for the state of `machine` as it is.
    #[must_use]
    pub fn row(&self, machine: &dyn Inspect) -> String {
        let cycle = machine.time_base().cycle(machine.tick());
        let mut row = format!("{cycle},{}", machine.event());
        let statistics = machine.statistics();
        let mut values = statistics.iter();
        for column in &self.columns {
            row.push(',');
            // Both are in one fixed order; later keys may stand between.
            if let Some((_, value)) = values.find(|(key, _)| key == column) {
                row.push_str(&value.to_string());
            }
        }
        row
    }
}

/// A field of CSV.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
