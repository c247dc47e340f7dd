//! Shrinking a failing scenario until no access, node or block can be left out while it fails in the same way.
//!
//! Delta debugging: candidates are tried in a fixed order, several at a time on all cores; the first one that still
//! fails takes the place of the scenario. What comes of it does not depend on how many cores there are.

mod explicit;
mod failure;
mod pass;
mod rename;

use std::fmt;
use std::sync::atomic::AtomicBool;

use toml::Value;

pub use failure::Failure;

use super::draft::Draft;
use super::prepare::Options;
use super::read::Scenario;
use crate::diagnostic::Result;
use crate::model::text::plural;
use crate::model::threads;
use crate::model::time::EventNumber;
use crate::workload::Workload;
use pass::Pass;

/// A run that does not fail is given up after so many events more than the one that did, twice over.
const PATIENCE: EventNumber = 10_000;

/// A scenario that is being shrunk.
#[derive(Debug)]
pub struct Shrinker {
    best: Draft,
    target: Failure,
    /// All that failed from the beginning: what held there holds in what is smaller, or is not in it.
    known: Vec<Failure>,
    trace: Option<Workload>,
    limit: EventNumber,
    jobs: usize,
    /// The ways of this round that are left, the next one last.
    passes: Vec<Pass>,
    /// The next candidate of the present way.
    index: usize,
    /// Whether this round has made it smaller.
    changed: bool,
    tried: u64,
    notes: Vec<String>,
}

/// How large a scenario is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Single accesses and instructions; a kernel or trace counts as one.
    pub accesses: usize,
    pub tasks: usize,
    pub inputs: usize,
}

impl Shrinker {
    /// Begins to shrink `scenario`; nothing if it does not fail, or `stop` was raised.
    ///
    /// # Errors
    /// As [`Draft::of`] and [`Scenario::prepare`].
    pub fn new(scenario: &Scenario, options: &Options, stop: &AtomicBool) -> Result<Option<Self>> {
        // What is wrong with it is told where it stands.
        scenario.prepare(options)?;
        let mut best = Draft::of(scenario, options)?;
        best.write_machine_out()?;
        // What is said about a run has no part in it.
        for gone in ["say", "break", "about", "source", "title", "bug", "explore"] {
            best.head.remove(gone);
        }
        if let Some(one) = best.head.get_mut("mutate").filter(|value| value.is_str()) {
            *one = Value::Array(vec![one.clone()]);
        }
        let trace = options.trace.clone();
        let (ways, event) = failure::failures(&best, trace.as_ref(), EventNumber::MAX, stop)?;
        let Some(target) = ways.first().cloned() else { return Ok(None) };
        let jobs = threads::jobs(None);
        let limit = event.saturating_add(PATIENCE).saturating_mul(2);
        let passes = Vec::new();
        let mut shrinker = Self {
            best,
            target,
            known: ways,
            trace,
            limit,
            jobs,
            passes,
            index: 0,
            changed: true,
            tried: 0,
            notes: Vec::new(),
        };
        shrinker.write_out(scenario, options, stop)?;
        Ok(Some(shrinker))
    }

    /// Writes kernels and traces out as programs, if it still fails then.
    fn write_out(&mut self, scenario: &Scenario, options: &Options, stop: &AtomicBool) -> Result<()> {
        let has_kernels = self.best.tasks.iter().any(|(key, _)| *key == "kernel");
        if !has_kernels && !self.best.head.contains_key("trace") {
            return Ok(());
        }
        let blueprint = scenario.blueprint(options)?;
        match explicit::explicit(&self.best, &blueprint) {
            Ok(explicit) => self.go_on_with(explicit, stop),
            Err(reason) => self.notes.push(format!("its kernels stay, and are not written out: {reason}")),
        }
        Ok(())
    }

    /// Goes on with what was written out, if it still fails then, and else tells why not.
    fn go_on_with(&mut self, explicit: Draft, stop: &AtomicBool) {
        let reason = match self.ways(&explicit, stop) {
            Ok(ways) if ways.contains(&self.target) => {
                // What else fails now, such as a count of kernels, is left out later.
                self.known.extend(ways);
                self.best = explicit;
                return;
            }
            Ok(_) => "they do not fail so".to_owned(),
            Err(error) => format!("they cannot be run: {}", error.message),
        };
        self.notes.push(format!("its kernels stay: written out as programs {reason}"));
    }

    fn ways(&self, draft: &Draft, stop: &AtomicBool) -> Result<Vec<Failure>> {
        Ok(failure::failures(draft, self.trace.as_ref(), self.limit, stop)?.0)
    }

    /// Whether it fails in the same way, and in no other than it did.
    ///
    /// # Errors
    /// If it is no scenario.
    fn fails(&self, draft: &Draft, stop: &AtomicBool) -> Result<bool> {
        let ways = self.ways(draft, stop)?;
        Ok(ways.contains(&self.target) && ways.iter().all(|way| self.known.contains(way)))
    }

    /// Tries a few candidates. Returns whether nothing more can be left out.
    pub fn advance(&mut self, stop: &AtomicBool) -> bool {
        let Some(pass) = self.passes.last().copied() else {
            if !std::mem::take(&mut self.changed) {
                return true;
            }
            self.passes = pass::round(&self.best);
            self.passes.reverse();
            self.index = 0;
            return self.passes.is_empty();
        };
        let mut batch = Vec::new();
        let mut over = false;
        let mut next = self.index;
        while batch.len() < self.jobs && !over {
            match pass::candidate(&self.best, pass, next) {
                Some(candidate) => batch.extend(candidate.map(|draft| (next, draft))),
                None => over = true,
            }
            next += usize::from(!over);
        }
        self.tried += batch.len() as u64;
        match self.first_that_fails(&batch, stop) {
            Some((index, draft)) => {
                (self.best, self.index, self.changed) = (draft, index, true);
            }
            None if over => {
                self.passes.pop();
                self.index = 0;
            }
            None => self.index = next,
        }
        false
    }

    fn first_that_fails(&self, batch: &[(usize, Draft)], stop: &AtomicBool) -> Option<(usize, Draft)> {
        // What is no scenario any more is no smaller one.
        let failed = threads::each(batch.iter(), |(_, draft)| self.fails(draft, stop).unwrap_or(false));
        batch.iter().zip(failed).find(|(_, failed)| *failed).map(|(candidate, _)| candidate.clone())
    }

    /// The kind of failure that is kept.
    #[must_use]
    pub fn target(&self) -> &Failure {
        &self.target
    }

    /// Scenarios tried so far.
    #[must_use]
    pub fn tried(&self) -> u64 {
        self.tried
    }

    /// What could not be done.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The smallest so far, with what it is as its comment.
    #[must_use]
    pub fn best(&self, name: &str) -> Draft {
        let mut best = self.best.clone();
        best.head.insert("title".into(), Value::String(format!("{name}, shrunk")));
        best.comment = vec![format!("{}: {}.", name, self.target)];
        best
    }

    /// How large the smallest so far is.
    #[must_use]
    pub fn extent(&self) -> Extent {
        extent(&self.best)
    }
}

impl Extent {
    /// It as a part of what there was before, in words.
    #[must_use]
    pub fn of(self, before: Self) -> String {
        match before.inputs {
            0 => format!("{} of {before}", self.accesses),
            _ => format!("{self} of {before}"),
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plural(self.accesses as u64, "instruction"))?;
        if self.inputs > 0 {
            write!(f, " and {}", plural(self.inputs as u64, "input"))?;
        }
        Ok(())
    }
}

/// How large a draft is.
#[must_use]
pub fn extent(draft: &Draft) -> Extent {
    let length = |table: &toml::Table| table.get("do").and_then(Value::as_array).map_or(1, Vec::len);
    Extent {
        accesses: draft.tasks.iter().map(|(_, table)| length(table)).sum(),
        tasks: draft.tasks.len(),
        inputs: draft.list("input").len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;

    static NOBODY: AtomicBool = AtomicBool::new(false);

    fn shrunk(text: &str, jobs: usize) -> (Draft, Failure, Vec<String>) {
        let scenario = Scenario::parse(Source::new("t", text), None).unwrap();
        let mut shrinker = Shrinker::new(&scenario, &Options::default(), &NOBODY).unwrap().unwrap();
        shrinker.jobs = jobs;
        while !shrinker.advance(&NOBODY) {}
        (shrinker.best("t"), shrinker.target.clone(), shrinker.notes.clone())
    }

    /// Twelve accesses of several agents to several blocks, and a fault that needs three of them.
    fn scattered() -> String {
        let mut text = "machine = 'tiny/umh-4gpu'\nfault = [{ name = 'skip-invalidation' }]\n".to_owned();
        for number in 0..12 {
            let (gpu, block) = (number % 4, 0x1000 + number / 4 * 0x1000);
            let after = if number > 0 { format!("after = 'a{}'\n", number - 1) } else { String::new() };
            let what = if number % 3 == 2 {
                "store = { address = ADDRESS, bytes = '07' }"
            } else {
                "load.address = ADDRESS"
            };
            let what = what.replace("ADDRESS", &block.to_string());
            text.push_str(&format!("[[do]]\nid = 'a{number}'\n{after}by = 'gpu{gpu}.cu1'\n{what}\n"));
        }
        text
    }

    #[test]
    fn what_is_left_is_needed_and_fails_alike() {
        let (best, target, _) = shrunk(&scattered(), 2);
        assert!(matches!(target, Failure::Violation(_)), "{target}");
        let (found, _) = failure::failures(&best, None, 100_000, &NOBODY).unwrap();
        assert_eq!(found, [target]);
        assert!(best.tasks.len() <= 3, "{}", best.text());
        let text = best.text();
        assert!(!text.contains("gpu3") && !text.contains("0x2000"), "{text}");
        for index in 0..best.tasks.len() {
            let smaller = pass::candidate(&best, Pass::Tasks { chunk: 1 }, index).flatten().unwrap();
            let (found, _) = failure::failures(&smaller, None, 100_000, &NOBODY).unwrap();
            assert_eq!(found, [], "{}", smaller.text());
        }
    }

    #[test]
    fn it_does_not_depend_on_the_number_of_cores() {
        assert_eq!(shrunk(&scattered(), 1).0, shrunk(&scattered(), 3).0);
    }

    #[test]
    fn a_kernel_is_written_out_if_it_is_small() {
        let text = "machine = 'tiny/umh-2gpu'\nfault = [{ name = 'lose-message', message = 'grant', nth = 5 }]\n\
                    [[kernel]]\nname = 'vector-add'\nwith = { size = 256, workgroup = 64, wavefront = 32 }\n";
        let (best, target, notes) = shrunk(text, 2);
        assert_eq!(target, Failure::Deadlock);
        assert!(notes.is_empty(), "{notes:?}");
        assert!(
            extent(&best).accesses <= 5 && best.tasks.iter().all(|(key, _)| *key == "program"),
            "{}",
            best.text()
        );
    }

    #[test]
    fn why_what_is_written_out_cannot_be_run_is_told() {
        let scenario = Scenario::parse(Source::new("t", scattered()), None).unwrap();
        let mut shrinker = Shrinker::new(&scenario, &Options::default(), &NOBODY).unwrap().unwrap();
        let before = shrinker.best.clone();
        let mut wrong = before.clone();
        wrong.tasks[0].1.insert("by".into(), Value::String("gpu9.cu0".into()));
        shrinker.go_on_with(wrong, &NOBODY);
        assert_eq!(shrinker.best, before);
        let note = &shrinker.notes[0];
        assert!(note.ends_with("cannot be run: there is no compute unit or core gpu9.cu0"), "{note}");
    }

    #[test]
    fn an_expectation_that_fails_is_kept_and_the_others_are_not() {
        let text = "machine = 'tiny/umh-2gpu'\n\
            do = [{ by = 'gpu0.cu0', load = { address = 0x1000 } }, { by = 'gpu1.cu0', load = { address = 0x2000 } }]\n\
            expect = [{ never = 'message type write' }, { count = 'message type read at gpu1', is = 7 }]\n";
        let (best, target, _) = shrunk(text, 2);
        assert!(matches!(&target, Failure::Expectation(text) if text.contains("gpu1")), "{target}");
        assert_eq!(best.list("expect").len(), 1, "{}", best.text());
    }

    #[test]
    fn the_same_condition_fails_in_the_end() {
        // The second of two on one line fails; without the first store the first one would, too.
        let text = "machine = 'tiny/umh-2gpu'\n\
            do = [{ by = 'gpu0.cu0', store = { address = 0x1000, bytes = '07' } }, { by = 'gpu0.cu0', store = { address = 0x2000, bytes = '08' } }]\n\
            expect = [{ that = ['state of gpu0.cu0.l1 block 0x1000 is M', 'state of gpu0.cu0.l1 block 0x2000 is S'] }]\n";
        let (best, target, _) = shrunk(text, 2);
        let condition = "in the end: state of gpu0.cu0.l1 block 0x2000 is S";
        assert_eq!(target, Failure::Expectation(condition.into()));
        let (found, _) = failure::failures(&best, None, 100_000, &NOBODY).unwrap();
        assert_eq!(found, [target], "{}", best.text());
    }

    #[test]
    fn what_does_not_fail_is_not_shrunk() {
        let text = "machine = 'tiny/umh-2gpu'\ndo = [{ by = 'gpu0.cu0', load = { address = 0x1000 } }]\n";
        let scenario = Scenario::parse(Source::new("t", text), None).unwrap();
        assert!(Shrinker::new(&scenario, &Options::default(), &NOBODY).unwrap().is_none());
    }
}
