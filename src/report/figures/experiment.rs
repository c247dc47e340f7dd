//! The runs behind the figures: each a scenario on a machine, and what is kept of it.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use rustc_hash::FxHasher;

use super::course::{Course, Watch};
use super::crossing::Crossing;
use crate::diagnostic::{Result, Source};
use crate::machine::{FirstPass, Machine};
use crate::model::inspect::Inspect;
use crate::model::record::Record;
use crate::model::text::digits;
use crate::model::time::TimeBase;
use crate::report;
use crate::scenario::{Ended, Options, Prepared, Runner, Scenario};

/// Whether a run is to be stopped.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Experiment {
    /// Text of a scenario file.
    pub scenario: String,
    /// `KEY=VALUE` for its machine.
    pub set: Vec<String>,
    /// By what data and capacities shrink, a power of two.
    pub scale: u64,
    /// How busy links are is looked at all the time.
    pub watched: bool,
}

/// What is kept of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How it ended, in a word.
    pub ended: String,
    /// GPU core cycles until the work was done.
    pub cycles: u64,
    /// When tasks started and ended, in cycles.
    tasks: Vec<(String, f64, f64)>,
    pub crossing: Crossing,
    /// Of GPUs of several sockets, the share of what leaves their compute units that goes to another.
    pub remote_share: Option<f64>,
    /// Watts of the links, over the run.
    pub link_power: Option<f64>,
    /// Share of time that the link from the host was busy, if there is one.
    pub link_use: Option<f64>,
    /// Other statistics that figures read, by their keys.
    pub statistics: BTreeMap<String, f64>,
    /// Cycles in which tasks, or the end, waited for bulk copies: to the GPUs, and to the host.
    pub copying: [f64; 2],
    /// Of a run that was watched, how busy links were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<Course>,
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
        self.prepare_with(FirstPass::Unwatched)
    }

    /// What it is built from: the same for runs that give the same.
    ///
    /// # Errors
    /// As [`Scenario::parse`] and [`Scenario::machine`].
    pub fn key(&self) -> Result<String> {
        let scenario = Scenario::parse(Source::new("figure", self.scenario.as_str()), None)?;
        let spec = scenario.machine(&self.set)?;
        let mut hasher = FxHasher::default();
        for part in [env!("CARGO_PKG_VERSION"), &self.scenario, &format!("{spec:?}"), &self.scale.to_string()]
        {
            hasher.write_usize(part.len());
            hasher.write(part.as_bytes());
        }
        if self.watched {
            hasher.write(b"watched");
        }
        Ok(digits(hasher.finish()))
    }

    /// The same, with what an oracle knows.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    pub fn prepare_with(&self, first_pass: FirstPass) -> Result<Prepared> {
        let set = (self.scale > 1).then(|| format!("scale={}", self.scale));
        let scenario = Scenario::parse(Source::new("figure", self.scenario.as_str()), None)?;
        let options = Options { set: self.set.clone(), first_pass, ..Options::default() };
        scenario.with(set.as_slice())?.prepare(&options)
    }

    /// Runs it to its end; `None` if it was stopped.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    pub fn run(&self, stop: &Stop) -> Result<Option<Outcome>> {
        let watch = stop.clone();
        let prepared = match self.prepare_with(FirstPass::Watched(Arc::new(move |_| !watch()))) {
            Err(_) if stop() => return Ok(None),
            other => other?,
        };
        let mut runner = Runner::new(prepared.machine, prepared.checker, false);
        let go_on = |_: &Machine| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        if !self.watched {
            let ended = runner.finish(go_on);
            return Ok(ended.map(|ended| Outcome::of(&runner, &ended)));
        }
        let mut watch = Watch::new(runner.machine());
        let look = |machine: &Machine, _: &[Record]| {
            watch.look(machine);
            ControlFlow::Continue(())
        };
        let ended = runner.finish_seen(look, go_on);
        Ok(ended.map(|ended| {
            let course = Some(watch.end(runner.machine()));
            Outcome { course, ..Outcome::of(&runner, &ended) }
        }))
    }

    /// The machine after a run that is short enough never to be stopped.
    ///
    /// # Errors
    /// As [`Self::prepare`], or how the run ended if not as it should, in words.
    pub fn machine(&self) -> std::result::Result<Machine, String> {
        let prepared = self.prepare().map_err(|error| error.to_string())?;
        let mut runner = prepared.runner();
        match runner.finish(|_| ControlFlow::Continue(())) {
            Some(other) if other != Ended::Finished => Err(not_finished(report::ended(&other))),
            _ => Ok(runner.machine().clone()),
        }
    }
}

impl Outcome {
    fn of(runner: &Runner, ended: &Ended) -> Self {
        let machine = runner.machine();
        let time = machine.time_base();
        let tasks = machine.tasks().into_iter().filter_map(|task| {
            Some((task.id.to_string(), in_cycles(time, task.started?), in_cycles(time, task.ended?)))
        });
        Self {
            ended: report::ended(ended).to_owned(),
            cycles: time.cycle(machine.worked_until()),
            tasks: tasks.collect(),
            crossing: Crossing::of(machine),
            remote_share: known(machine.statistic("numa.remote_share")),
            link_power: known(machine.statistic("network.power_watts")),
            statistics: machine
                .statistics()
                .into_iter()
                .filter(|(key, value)| is_kept(key) && value.is_finite())
                .collect(),
            copying: ["gpu", "host"]
                .map(|side| known(machine.statistic(&format!("copies.to_{side}.cycles"))).unwrap_or(0.0)),
            link_use: known(machine.statistic("link.host.out.utilisation")),
            course: None,
        }
    }

    /// When kernels were launched, and other work began, in cycles.
    pub fn starts(&self) -> impl Iterator<Item = f64> {
        self.tasks.iter().map(|(_, start, _)| *start)
    }

    /// One of the other statistics.
    ///
    /// # Errors
    /// If it is not kept, or the run gave no number for it.
    pub fn statistic(&self, key: &str) -> std::result::Result<f64, String> {
        self.statistics.get(key).copied().ok_or_else(|| format!("a run has no statistic {key}"))
    }

    /// Cycles from the end of the last step of task `id` to that of the run.
    ///
    /// # Errors
    /// If there is no such task.
    pub fn after(&self, id: &str) -> std::result::Result<f64, String> {
        // The end of the run is told in whole cycles.
        self.steps(id).map(|(_, end)| (self.cycles as f64 - end).max(0.0))
    }

    /// Cycles from the start of the first step of task `id` to the end of its last.
    ///
    /// # Errors
    /// If there is no such task.
    pub fn span(&self, id: &str) -> std::result::Result<f64, String> {
        self.steps(id).map(|(start, end)| end - start)
    }

    /// The start of the first step of task `id` and the end of its last.
    fn steps(&self, id: &str) -> std::result::Result<(f64, f64), String> {
        let is_step =
            |name: &str| name.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let steps = || self.tasks.iter().filter(|(name, _, _)| is_step(name));
        let start = steps().map(|(_, start, _)| *start).reduce(f64::min);
        let end = steps().map(|(_, _, end)| *end).reduce(f64::max);
        start.zip(end).ok_or_else(|| format!("there is no task {id}"))
    }
}

/// Whether figures read a statistic: those of single nodes are too many to keep.
fn is_kept(key: &str) -> bool {
    let is_link = || key.strip_prefix("link.").and_then(|rest| rest.strip_suffix(".bytes")).is_some();
    ["levels.", "coalescing.", "read_only."].iter().any(|start| key.starts_with(start)) || is_link()
}

/// A statistic that is a number.
fn known(statistic: Option<f64>) -> Option<f64> {
    statistic.filter(|value| value.is_finite())
}

fn in_cycles(time: TimeBase, tick: u64) -> f64 {
    tick as f64 / time.ticks_per_cycle as f64
}

impl Results {
    /// Whether the machine or its work is refused, so that there is nothing to run.
    #[must_use]
    pub fn is_refused(&self, experiment: &Experiment) -> bool {
        matches!(self.0.get(experiment), Some(Err(_)))
    }

    /// What the run `experiment` gave.
    ///
    /// # Errors
    /// If it could not be built, was not run, or did not end as it should, in words.
    pub fn of(&self, experiment: &Experiment) -> std::result::Result<&Outcome, String> {
        match self.0.get(experiment) {
            Some(Ok(outcome)) if outcome.ended == "finished" => Ok(outcome),
            Some(Ok(outcome)) => Err(not_finished(&outcome.ended)),
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
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::model::component::{ComponentId, ComponentKind};
    use crate::model::message::Network;
    use crate::model::record::What;

    fn never() -> Stop {
        Arc::new(|| false)
    }

    fn sample() -> Experiment {
        let scenario = "machine = 'tiny/umh-2gpu'\n[[kernel]]\nid = 'work'\nname = 'reduction'\n\
                        with = { size = 1024, workgroup = 16, wavefront = 4 }\n";
        Experiment { scenario: scenario.to_owned(), set: Vec::new(), scale: 1, ..Experiment::default() }
    }

    #[test]
    fn a_run_gives_its_cycles_and_what_crossed_the_network() {
        let outcome = sample().run(&never()).unwrap().unwrap();
        assert_eq!(outcome.ended, "finished");
        let span = outcome.span("work").unwrap();
        assert!(span > 0.0 && span <= outcome.cycles as f64, "{outcome:?}");
        let crossing = outcome.crossing;
        assert!(crossing.data > 0.0 && crossing.requests > 0.0, "{crossing:?}");
        assert!(crossing.probes > 0.0 && crossing.probes < crossing.coherence, "{crossing:?}");
        assert!(outcome.span("wor").is_err());
    }

    #[test]
    fn a_watched_run_is_the_same_and_its_links_are_as_busy_window_by_window_as_in_all() {
        let usual = sample().run(&never()).unwrap().unwrap();
        let watched = Experiment { watched: true, ..sample() };
        assert_ne!(watched.key().unwrap(), sample().key().unwrap());
        let seen = watched.run(&never()).unwrap().unwrap();
        let course = seen.course.clone().unwrap();
        assert_eq!(Outcome { course: None, ..seen }, usual);
        let machine = sample().machine().unwrap();
        for (name, shares) in &course.links {
            assert!(
                shares.len() < 128 && shares.iter().all(|share| (0.0..=1.0).contains(share)),
                "{shares:?}"
            );
            let busy = shares.iter().sum::<f64>() * course.cycles;
            let all = machine.statistic(&format!("{name}.utilisation")).unwrap() * usual.cycles as f64;
            // The last window may not be over.
            assert!(busy <= all + 1.0 && busy + course.cycles >= all, "{name}: {busy} of {all}");
        }
        assert!(course.links.iter().any(|(_, shares)| shares.iter().any(|share| *share > 0.5)));
    }

    #[test]
    fn what_crosses_is_what_the_messages_say() {
        let prepared = sample().prepare().unwrap();
        let kinds: Vec<_> = prepared.machine.components().iter().map(|(_, it)| it.kind).collect();
        let is = |id: ComponentId, kind| kinds.get(id.index()) == Some(&kind);
        let mut runner = Runner::new(prepared.machine, prepared.checker, true);
        let (mut data, mut requests) = (0, 0);
        while runner.step().is_none() {
            for record in runner.records() {
                let What::Message(message) = &record.what else { continue };
                let up = is(message.from, ComponentKind::Smd) && is(message.to, ComponentKind::Hmd);
                let down = is(message.from, ComponentKind::Hmd) && is(message.to, ComponentKind::Smd);
                if (up || down) && message.has_data {
                    data += message.size - runner.machine().spec().network.header;
                } else if up && message.kind.network() == Network::Request {
                    requests += message.size;
                }
            }
        }
        let crossing = Crossing::of(runner.machine());
        assert_eq!((crossing.data, crossing.requests), (f64::from(data), f64::from(requests)));
    }

    #[test]
    fn a_run_stops_when_it_is_told_to() {
        let long = Experiment { scale: 1, scenario: sample().scenario.replace("1024", "65536"), ..sample() };
        assert!(long.prepare().is_ok());
        let asked = AtomicUsize::new(0);
        let third = Arc::new(move || asked.fetch_add(1, Ordering::Relaxed) >= 2) as Stop;
        assert!(long.run(&third).unwrap().is_none());
    }

    #[test]
    fn what_did_not_end_well_is_no_result() {
        let mut results = Results::default();
        assert!(results.of(&sample()).unwrap_err().contains("missing"));
        let outcome = sample().run(&never()).unwrap().unwrap();
        results.0.insert(sample(), Ok(Outcome { ended: "deadlock".to_owned(), ..outcome }));
        assert!(results.of(&sample()).unwrap_err().contains("deadlock"));
        let wrong = Experiment { set: vec!["gpu.cuont=2".to_owned()], ..sample() };
        results.0.insert(wrong.clone(), wrong.run(&never()).map(Option::unwrap));
        assert!(results.of(&wrong).unwrap_err().contains("cuont"));
        assert!(wrong.machine().is_err());
    }
}
