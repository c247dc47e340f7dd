//! A time series as CSV: a row every so many cycles, with what has been counted until then or since the last row, what is
//! then, and how much went over each link since the last row.

mod columns;

use std::collections::BTreeMap;
use std::path::Path;

use super::behind::Behind;
use super::csv;
use super::load::{self, BusySince};
use crate::diagnostic;
use crate::machine::{Machine, TaskView};
use crate::model::component::ComponentId;
use crate::model::inspect::Inspect;
use crate::model::text::key_word;
use crate::model::warp::WarpState;

use columns::Columns;
pub use columns::{Missing, Wanted};

/// What the keys of the statistics of tasks begin with.
const TASKS: &str = "tasks.";

/// Tasks that have columns: a workload may have thousands.
const MOST_TASKS: usize = 100;

/// The statistics that the first tasks come to have.
fn task_keys(machine: &Machine) -> Vec<String> {
    let of_task = |task: TaskView| {
        ["cycles", "accesses", "l1_share", "mean_cycles"].map(|end| format!("{TASKS}{}.{end}", task.id))
    };
    machine.tasks().into_iter().take(MOST_TASKS).flat_map(of_task).collect()
}

/// When the next row is due, and what its columns are.
#[derive(Clone, Debug)]
pub struct Series {
    /// Cycles between two rows.
    every: u64,
    /// The cycle of the next row.
    next: u64,
    sources: Sources,
    columns: Columns,
    behind: Behind,
}

/// What all columns are made from.
#[derive(Clone, Debug)]
struct Sources {
    counters: Vec<String>,
    /// Statistics of tasks: unlike other counters, they are not there before there is something to tell.
    tasks: Vec<String>,
    nodes: Vec<ComponentId>,
    /// Compute units and cores by the first word of their paths.
    groups: BTreeMap<String, Vec<ComponentId>>,
    links: Vec<LinkSince>,
}

/// A link since the last row.
#[derive(Clone, Debug)]
struct LinkSince {
    link: ComponentId,
    busy: BusySince,
    bytes: u64,
}

/// The first columns of every table of samples.
const FIRST: [&str; 2] = ["cycle", "event"];

/// That a table of samples may be written to `path`: nothing is there, or an earlier one, or a device.
///
/// # Errors
/// If something else is there.
pub fn may_replace(path: &Path) -> diagnostic::Result<()> {
    diagnostic::may_replace(path, &FIRST.join(","), "table of samples")
}

impl Series {
    /// A series of what `machine` has before its first event.
    ///
    /// # Errors
    /// The first pattern of those wanted that no column fits.
    pub fn new(machine: &Machine, every: u64, wanted: &Wanted) -> Result<Self, Missing> {
        let sources = Sources::new(machine);
        let columns = Columns::new(&sources.names(machine), wanted)?;
        let every = every.max(1);
        Ok(Self { every, next: every, sources, columns, behind: Behind::new(machine) })
    }

    /// The first line: the names of the columns.
    #[must_use]
    pub fn header(&self) -> String {
        csv::row(FIRST.into_iter().chain(self.columns.names()))
    }

    /// After every event: gives `put` each row that has become due, until it has enough (`false`). The row of a cycle
    /// tells how all was when it began; a stretch without events has its rows too.
    ///
    /// # Errors
    /// Those of `put`.
    pub fn event<E>(
        &mut self,
        machine: &Machine,
        mut put: impl FnMut(&str) -> Result<bool, E>,
    ) -> Result<(), E> {
        let time = machine.time_base();
        let cycle = time.cycle(machine.tick());
        while cycle >= self.next {
            let then = self.behind.at(machine, time.tick_of_cycle(self.next));
            let row = row(self.next, &mut self.sources, &mut self.columns, then);
            self.next = self.next.saturating_add(self.every);
            if !put(&row)? {
                break;
            }
        }
        self.behind.follow(machine);
        Ok(())
    }

    /// The rows between the last event and the end, and the row of the end, until `put` has enough (`false`).
    ///
    /// # Errors
    /// Those of `put`.
    pub fn end<E>(
        &mut self,
        machine: &Machine,
        mut put: impl FnMut(&str) -> Result<bool, E>,
    ) -> Result<(), E> {
        let time = machine.time_base();
        let end = time.cycle(machine.tick());
        while self.next < end {
            let then = self.behind.after(machine, time.tick_of_cycle(self.next));
            let row = row(self.next, &mut self.sources, &mut self.columns, then);
            self.next = self.next.saturating_add(self.every);
            if !put(&row)? {
                return Ok(());
            }
        }
        put(&row(end, &mut self.sources, &mut self.columns, machine)).map(|_| ())
    }
}

/// The row of a cycle.
fn row(cycle: u64, sources: &mut Sources, columns: &mut Columns, machine: &Machine) -> String {
    let mut row = format!("{cycle},{}", machine.event());
    for value in columns.row(&sources.values(machine)) {
        row.push(',');
        row.push_str(&csv::number(value));
    }
    row
}

impl Sources {
    fn new(machine: &Machine) -> Self {
        let components = machine.components();
        let links: Vec<_> = load::links(machine).collect();
        // A share of all the time so far is no use beside that of an interval.
        let shares: Vec<_> = links.iter().map(|id| format!("{}.utilisation", components.path(*id))).collect();
        let counted = |key: &String| {
            key != "cycles" && key != "events" && !key.starts_with(TASKS) && !shares.contains(key)
        };
        let nodes = components.iter().filter(|(id, _)| machine.mshrs(*id, 0).is_some());
        let mut groups: BTreeMap<String, Vec<ComponentId>> = BTreeMap::new();
        for (id, component) in components.iter().filter(|(id, _)| machine.agent(*id).is_some()) {
            groups.entry(component.device().to_owned()).or_default().push(id);
        }
        let since = |link| LinkSince { link, busy: BusySince::new(link), bytes: 0 };
        Self {
            counters: machine.statistics().into_iter().map(|(key, _)| key).filter(counted).collect(),
            tasks: task_keys(machine),
            nodes: nodes.map(|(id, _)| id).collect(),
            groups,
            links: links.into_iter().map(since).collect(),
        }
    }

    /// The columns after cycle and event, in the order of the values.
    fn names(&self, machine: &Machine) -> Vec<String> {
        let path = |id: ComponentId| machine.components().path(id);
        let mut names: Vec<String> = self.counters.iter().chain(&self.tasks).cloned().collect();
        names.extend(self.nodes.iter().map(|&node| format!("{}.mshrs_used", path(node))));
        let states = |group| WarpState::ALL.map(|state| format!("{group}.warps.{}", key_word(state.name())));
        names.extend(self.groups.keys().flat_map(states));
        for since in &self.links {
            let link = path(since.link);
            names.extend([format!("{link}.interval.bytes"), format!("{link}.interval.utilisation")]);
        }
        names
    }

    /// What they are; no number where there is nothing to tell.
    fn values(&mut self, machine: &Machine) -> Vec<f64> {
        let statistics = machine.statistics();
        let mut known = statistics.iter();
        // Both are in one fixed order; later keys may stand between.
        let mut counter =
            |column: &String| known.find(|(key, _)| key == column).map_or(f64::NAN, |(_, value)| *value);
        let mut values: Vec<f64> = self.counters.iter().map(&mut counter).collect();
        let of_tasks: BTreeMap<&str, f64> = statistics
            .iter()
            .filter(|(key, _)| key.starts_with(TASKS))
            .map(|(key, value)| (key.as_str(), *value))
            .collect();
        let task = |column: &String| of_tasks.get(column.as_str()).copied().unwrap_or(f64::NAN);
        values.extend(self.tasks.iter().map(task));
        let used = |node: &ComponentId| machine.mshrs(*node, 0).map_or(0, |mshrs| mshrs.used);
        values.extend(self.nodes.iter().map(|node| f64::from(used(node))));
        for agents in self.groups.values() {
            let mut counts = [0_u32; WarpState::ALL.len()];
            for of_one in agents.iter().filter_map(|id| machine.warp_counts(*id)) {
                counts.iter_mut().zip(of_one).for_each(|(all, more)| *all += more);
            }
            values.extend(counts.map(f64::from));
        }
        for since in &mut self.links {
            let bytes = machine.link(since.link, 0).map_or(0, |link| link.bytes);
            let more = bytes.saturating_sub(std::mem::replace(&mut since.bytes, bytes));
            values.extend([more as f64, since.busy.look(machine, machine.tick())]);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::record::Records;
    use crate::scenario::{Options, Scenario};
    use std::convert::Infallible;

    /// The columns of a run, by name.
    fn columns(name: &str, every: u64) -> (BTreeMap<String, Vec<f64>>, Machine) {
        chosen(name, every, &Wanted::default())
    }

    fn chosen(name: &str, every: u64, wanted: &Wanted) -> (BTreeMap<String, Vec<f64>>, Machine) {
        let scenario = Scenario::load(name).unwrap();
        let mut machine = scenario.prepare(&Options::default()).unwrap().machine;
        let mut series = Series::new(&machine, every, wanted).unwrap();
        let header = series.header();
        let mut rows: Vec<String> = Vec::new();
        let mut records = Records::silent();
        while machine.step(&mut records) == crate::machine::StepOutcome::Ran {
            let put = |row: &str| {
                rows.push(row.to_owned());
                Ok::<_, Infallible>(true)
            };
            series.event(&machine, put).unwrap();
        }
        let put = |row: &str| {
            rows.push(row.to_owned());
            Ok::<_, Infallible>(true)
        };
        series.end(&machine, put).unwrap();
        let mut columns: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for row in &rows {
            assert_eq!(row.split(',').count(), header.split(',').count());
            for (name, value) in header.split(',').zip(row.split(',')) {
                columns.entry(name.to_owned()).or_default().push(value.parse().unwrap_or(f64::NAN));
            }
        }
        (columns, machine)
    }

    #[test]
    fn a_row_tells_how_it_is_when_its_cycle_begins() {
        let (columns, _) = columns("umh/fig5-b1", 100);
        // The log of this scenario: the first access misses at cycle 0 and is done at 806, the second goes on.
        let cycles = &columns["cycle"];
        assert_eq!(cycles[..23], (1..24).map(|row| f64::from(row * 100).min(2209.0)).collect::<Vec<_>>());
        assert_eq!(
            columns["gpu0.cu0.l1.mshrs_used"][..10],
            [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]
        );
        assert_eq!(columns["gpu0.warps.memory"][7..10], [1.0, 0.0, 0.0]);
        assert_eq!(columns["gpu1.warps.memory"][7..10], [0.0, 1.0, 1.0]);
        assert_eq!(columns["event"][..4], [4.0, 4.0, 5.0, 5.0]);
    }

    #[test]
    fn time_passes_between_events_and_links_are_busy_when_they_are() {
        let (columns, _) = columns("paging/one-far-fault", 5000);
        // The warp translates until cycle 580, and waits for the driver from then on.
        let waited = &columns["warp_cycles.far_fault"];
        assert_eq!(waited[..5], [4420.0, 9420.0, 14_420.0, 19_420.0, 24_420.0]);
        // 2 MiB over 16 GB/s begin at cycle 28,570.
        let (columns, _) = self::columns("paging/large-pages", 10_000);
        let shares = &columns["link.host.out.interval.utilisation"];
        assert!(shares[..2].iter().all(|share| share.abs() < 1e-9), "{shares:?}");
        assert!((shares[2] - 0.143).abs() < 0.001, "{shares:?}");
        assert!(shares[3..20].iter().all(|share| (*share - 1.0).abs() < 1e-9), "{shares:?}");
    }

    #[test]
    fn launches_are_counted_from_the_first_row_on() {
        let (columns, machine) = columns("kernels/radix-sort", 100);
        let launches = &columns["launches.count"];
        assert!(launches[0] < *launches.last().unwrap(), "{launches:?}");
        assert!(launches.is_sorted(), "{launches:?}");
        assert_eq!(launches.last().copied(), machine.statistic("launches.count"));
        assert_eq!(columns["launches.cycles"].last().copied(), machine.statistic("launches.cycles"));
    }

    #[test]
    fn tasks_have_columns_before_they_have_anything_to_tell() {
        let (columns, machine) = columns("umh/fig5-b1", 100);
        let (first, second) = (&columns["tasks.first.cycles"], &columns["tasks.second.mean_cycles"]);
        assert!(first[0].is_nan() && second[10].is_nan(), "{first:?} {second:?}");
        for key in ["tasks.first.cycles", "tasks.second.accesses", "tasks.second.mean_cycles"] {
            assert_eq!(columns[key].last().copied(), machine.statistic(key), "{key}");
        }
    }

    #[test]
    fn what_counts_is_of_the_interval_if_that_is_asked_for() {
        let name = "kernels/vector-add-2gpu";
        let choice = |patterns: &[&str], interval| Wanted {
            patterns: patterns.iter().map(|pattern| (*pattern).to_owned()).collect(),
            interval,
        };
        let (some, machine) =
            chosen(name, 100, &choice(&["gpu*.l2.*.hits", "access.load.*", "*.warps.memory"], true));
        let names: Vec<&str> = some.keys().map(String::as_str).collect();
        assert!(names.contains(&"gpu1.l2.0.hits") && names.contains(&"access.load.mean_cycles"), "{names:?}");
        assert!(
            names.contains(&"gpu0.warps.memory") && !names.iter().any(|name| name.contains("p50")),
            "{names:?}"
        );
        let sum = |name: &str| some[name].iter().filter(|value| value.is_finite()).sum::<f64>();
        assert_eq!(Some(sum("access.load.count")), machine.statistic("access.load.count"));
        assert!(sum("access.load.count") > some["access.load.count"][0]);
        let of_rows = some["access.load.mean_cycles"].iter().zip(&some["access.load.count"]);
        let cycles: f64 =
            of_rows.filter(|(mean, _)| mean.is_finite()).map(|(mean, count)| mean * count).sum();
        let all = machine.statistic("access.load.mean_cycles").unwrap() * sum("access.load.count");
        assert!((cycles - all).abs() < 1e-3, "{cycles} {all}");
        let wrong = Series::new(&machine, 1, &choice(&["gpu0.*", "gpu7.*"], false)).unwrap_err();
        assert_eq!(wrong, Missing::Anywhere("gpu7.*".to_owned()));
        for of_all_time in ["levels.l2.hit_rate", "levels.gpu_l1.mshr_high_water"] {
            let wrong = Series::new(&machine, 100, &choice(&[of_all_time], true)).unwrap_err();
            assert_eq!(wrong, Missing::OfInterval(of_all_time.to_owned()));
            assert!(Series::new(&machine, 100, &choice(&[of_all_time], false)).is_ok());
        }
    }

    /// What is taken for a sum never shrinks.
    #[test]
    fn sums_only_grow() {
        for name in [
            "kernels/radix-sort",
            "paging/scan",
            "numa/local-phase",
            "scalegpu/burst",
            "selective/full-filter",
            "numa/lanes-turn",
            "baselines/redundant-copies",
            "paging/prefetch-evicts",
        ] {
            let (columns, _) = columns(name, 200);
            for (key, values) in columns.iter().filter(|(key, _)| columns::is_sum(key)) {
                let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
                assert!(known.is_sorted(), "{name}: {key} {known:?}");
            }
        }
    }

    /// What is counted is a sum, whatever a state elsewhere is called.
    #[test]
    fn what_is_counted_is_told_of_the_time_since_the_row_before() {
        for counter in ["copies.to_host.pages", "read_only.faults.gpus", "read_only.faults.cores", "accesses"]
        {
            assert!(columns::is_sum(counter), "{counter}");
        }
        for state in
            ["numa.gpu0.pages", "link.host.in.lanes", "remote_directory.lines", "gpu0.cu0.l1.mshrs_used"]
        {
            assert!(!columns::is_sum(state), "{state}");
        }
    }

    #[test]
    fn intervals_add_up() {
        let vectors = "kernels/vector-add-2gpu";
        // Between the last event and a row what waits for a wire may go over it.
        let queued = "numa/ways-instead";
        for (name, every) in [(vectors, 1), (vectors, 7), (vectors, 100), (vectors, 1_000_000), (queued, 50)]
        {
            let (columns, machine) = columns(name, every);
            for link in load::links(&machine) {
                let path = machine.components().path(link);
                let bytes: f64 = columns[&format!("{path}.interval.bytes")].iter().sum();
                assert_eq!(bytes as u64, machine.link(link, 0).unwrap().bytes, "{path} every {every}");
                let mut last = 0.0;
                let spans = columns["cycle"].iter().map(|cycle| cycle - std::mem::replace(&mut last, *cycle));
                let shares = &columns[&format!("{path}.interval.utilisation")];
                assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
                let busy: f64 = spans.zip(shares).map(|(span, share)| span * share).sum();
                let all = machine.link(link, 0).unwrap().utilisation * last;
                assert!((busy - all).abs() <= 2.0, "{path} every {every}: {busy} of {all}");
            }
        }
    }
}
