//! The runs behind the figures: each a scenario on a machine, and what is kept of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::crossing::{Crossing, Tally};
use crate::diagnostic::{Result, Source};
use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::model::time::TimeBase;
use crate::report;
use crate::scenario::{Ended, Options, Prepared, Runner, Scenario};

/// Events between two looks at whether to stop.
const SLICE: u32 = 4096;

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Experiment {
    /// Text of a scenario file.
    pub scenario: String,
    /// `KEY=VALUE` for its machine.
    pub set: Vec<String>,
    /// By what data and capacities shrink, a power of two.
    pub scale: u64,
}

/// What is kept of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended, in a word.
    pub ended: &'static str,
    /// GPU core cycles.
    pub cycles: u64,
    /// When tasks started and ended, in cycles.
    tasks: Vec<(Arc<str>, f64, f64)>,
    /// If it was asked for.
    pub crossing: Option<Crossing>,
}

/// What all runs gave.
#[derive(Clone, Debug, Default)]
pub struct Results(pub BTreeMap<Experiment, Result<Outcome>>);

impl Experiment {
    /// Builds it.
    ///
    /// # Errors
    /// As [`Scenario::parse`] and [`Scenario::prepare`].
    pub fn prepare(&self) -> Result<Prepared> {
        let set = (self.scale > 1).then(|| format!("scale={}", self.scale));
        let scenario = Scenario::parse(Source::new("figure", self.scenario.as_str()), None)?;
        let options = Options { set: self.set.clone(), ..Options::default() };
        scenario.with(set.as_slice())?.prepare(&options)
    }

    /// Runs it to its end, and counts what crosses the network if that is asked for; `None` if it was stopped.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    pub fn run(&self, count: bool, stop: &dyn Fn() -> bool) -> Result<Option<Outcome>> {
        let prepared = self.prepare()?;
        let mut tally = count.then(|| Tally::of(&prepared.machine));
        let mut runner = Runner::new(prepared.machine, prepared.checker, count);
        loop {
            for _ in 0..SLICE {
                if let Some(ended) = runner.step().cloned() {
                    return Ok(Some(Outcome::of(&runner, &ended, tally.map(|tally| tally.crossing))));
                }
                if let Some(tally) = &mut tally {
                    tally.take(runner.records());
                }
            }
            if stop() {
                return Ok(None);
            }
        }
    }

    /// The machine after a run that is short enough never to be stopped.
    ///
    /// # Errors
    /// As [`Self::prepare`], or how the run ended if not as it should, in words.
    pub fn machine(&self) -> std::result::Result<Machine, String> {
        let prepared = self.prepare().map_err(|error| error.to_string())?;
        let mut runner = prepared.runner();
        loop {
            match runner.step() {
                None => {}
                Some(Ended::Finished) => return Ok(runner.machine().clone()),
                Some(other) => return Err(not_finished(report::ended(other))),
            }
        }
    }
}

impl Outcome {
    fn of(runner: &Runner, ended: &Ended, crossing: Option<Crossing>) -> Self {
        let machine = runner.machine();
        let time = machine.time_base();
        let tasks = machine
            .tasks()
            .into_iter()
            .filter_map(|task| Some((task.id, in_cycles(time, task.started?), in_cycles(time, task.ended?))));
        Self {
            ended: report::ended(ended),
            cycles: time.cycle(machine.tick()),
            tasks: tasks.collect(),
            crossing,
        }
    }

    /// Cycles from the start of the first step of task `id` to the end of its last.
    ///
    /// # Errors
    /// If there is no such task.
    pub fn span(&self, id: &str) -> std::result::Result<f64, String> {
        let is_step =
            |name: &str| name.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let steps = || self.tasks.iter().filter(|(name, _, _)| is_step(name));
        let start = steps().map(|(_, start, _)| *start).reduce(f64::min);
        let end = steps().map(|(_, _, end)| *end).reduce(f64::max);
        start.zip(end).map(|(start, end)| end - start).ok_or_else(|| format!("there is no task {id}"))
    }
}

fn in_cycles(time: TimeBase, tick: u64) -> f64 {
    tick as f64 / time.ticks_per_cycle as f64
}

impl Results {
    /// What the run `experiment` gave.
    ///
    /// # Errors
    /// If it could not be built, was not run, or did not end as it should, in words.
    pub fn of(&self, experiment: &Experiment) -> std::result::Result<&Outcome, String> {
        match self.0.get(experiment) {
            Some(Ok(outcome)) if outcome.ended == "finished" => Ok(outcome),
            Some(Ok(outcome)) => Err(not_finished(outcome.ended)),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("a run is missing".to_owned()),
        }
    }
}

fn not_finished(ended: &str) -> String {
    format!("a run did not end as it should: {ended}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Experiment {
        let scenario = "machine = 'tiny/umh-2gpu'\n[[kernel]]\nid = 'work'\nname = 'reduction'\n\
                        with = { size = 1024, workgroup = 16, wavefront = 4 }\n";
        Experiment { scenario: scenario.to_owned(), set: Vec::new(), scale: 1 }
    }

    #[test]
    fn a_run_gives_its_cycles_and_what_crossed_the_network() {
        let outcome = sample().run(true, &|| false).unwrap().unwrap();
        assert_eq!(outcome.ended, "finished");
        let span = outcome.span("work").unwrap();
        assert!(span > 0.0 && span <= outcome.cycles as f64, "{outcome:?}");
        let crossing = outcome.crossing.unwrap();
        assert!(crossing.data > 0 && crossing.requests > 0, "{crossing:?}");
        let uncounted = sample().run(false, &|| false).unwrap().unwrap();
        assert_eq!((uncounted.cycles, uncounted.crossing), (outcome.cycles, None));
        assert!(outcome.span("wor").is_err());
    }

    #[test]
    fn what_crosses_is_what_the_links_carried() {
        let prepared = sample().prepare().unwrap();
        let header = f64::from(prepared.machine.spec().network.header);
        let mut tally = Tally::of(&prepared.machine);
        let mut runner = Runner::new(prepared.machine, prepared.checker, true);
        while runner.step().is_none() {
            tally.take(runner.records());
        }
        let statistics = runner.machine().statistics();
        let sum = |name: &str| {
            let of_links =
                statistics.iter().filter(|(key, _)| key.starts_with("link.") && key.ends_with(name));
            of_links.map(|(_, value)| value).sum::<f64>()
        };
        let data = sum(".bytes") - header * sum(".messages");
        assert!(data > 0.0 && (tally.crossing.data as f64 - data).abs() < 0.5, "{tally:?}");
        let bare = (tally.crossing.coherence() + tally.crossing.requests) as f64 / header;
        assert!(bare > 0.0 && bare < sum(".messages"), "{tally:?}");
    }

    #[test]
    fn a_run_stops_when_it_is_told_to() {
        let long = Experiment { scale: 1, scenario: sample().scenario.replace("1024", "65536"), ..sample() };
        assert!(long.run(false, &|| true).unwrap().is_none());
    }

    #[test]
    fn what_did_not_end_well_is_no_result() {
        let mut results = Results::default();
        assert!(results.of(&sample()).unwrap_err().contains("missing"));
        let outcome = sample().run(true, &|| false).unwrap().unwrap();
        results.0.insert(sample(), Ok(Outcome { ended: "deadlock", ..outcome }));
        assert!(results.of(&sample()).unwrap_err().contains("deadlock"));
        let wrong = Experiment { set: vec!["gpu.cuont=2".to_owned()], ..sample() };
        results.0.insert(wrong.clone(), wrong.run(false, &|| false).map(Option::unwrap));
        assert!(results.of(&wrong).unwrap_err().contains("cuont"));
        assert!(wrong.machine().is_err());
    }
}
