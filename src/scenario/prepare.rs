//! From a scenario to a machine that is ready to run.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use crate::config::document::At;
use crate::config::machine::MachineSpec;
use crate::config::{self, Document, Shelf};
use crate::diagnostic::{Complaint, Diagnostic, Result};
use crate::machine::{Blueprint, FirstPass, Machine};
use crate::model::inspect::Inspect;
use crate::model::state::State;
use crate::model::text::digits;
use crate::model::time::EventNumber;
use crate::protocol::table::Table;
use crate::query::{Context, Stop};
use crate::recording::Input;
use crate::workload::trace::Format;
use crate::workload::{Task, Workload};

use super::bug::{self, Bug};
use super::checker::Checker;
use super::expectation::Compiler;
use super::file::{BreakFile, Ending, StartFile, StateFile};
use super::narration::{self, Narrator};
use super::read::{Scenario, key_of};
use super::runner::Runner;
use super::setup;
use super::work::{Work, has_other_wavefronts};

/// What `max-cycles` may be. Simulated time may end before, where clocks divide a second finely (`model::time`).
pub const CYCLES: RangeInclusive<u64> = 1..=1_000_000_000_000_000;

/// Cycles after which a run of scripted accesses is stopped, and one of kernels or a trace.
const MOST_CYCLES: (u64, u64) = (10_000_000, 10_000_000_000);

/// The last event that a scenario may begin at: what comes before is run while it is read.
pub const FARTHEST: EventNumber = 1_000_000;
/// Cycles that a transaction may take if nothing else is said: far more than any takes that is not starved.
const TRANSACTION_LIMIT: u64 = 1_000_000;

/// What the command line changes about a scenario.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `KEY=VALUE` for the machine.
    pub set: Vec<String>,
    pub seed: Option<u64>,
    pub max_cycles: Option<u64>,
    /// Whether the rules of the protocol are checked after every event, whatever the scenario says.
    pub checks: Option<bool>,
    /// What the scenario's trace holds; it runs before the scenario's own tasks that wait for nothing.
    pub trace: Option<Workload>,
    /// Where that was read from, and its format if that was stated.
    pub trace_from: Option<(PathBuf, Option<Format>)>,
    /// What is done to the machine on the way, after the events of these numbers, which ascend strictly.
    pub inputs: Vec<(EventNumber, Input)>,
    /// Where an oracle's knowledge comes from, if the machine has one.
    pub first_pass: FirstPass,
    /// Whether what speaks of states that another protocol than its own does not have is left out, and not complained of.
    pub may_leave_out: bool,
}

/// A scenario on its machine, ready to run.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub machine: Machine,
    pub blueprint: Blueprint,
    pub checker: Checker,
    pub narrator: Narrator,
    /// What is to be found, if it is a hunt for a bug.
    pub bug: Option<Bug>,
    pub breaks: Vec<Break>,
    /// The names that queries on this machine may use.
    pub context: Context,
    /// Why the story, or something that is expected or stopped at, was left out, if any was.
    pub left_out: Option<Box<Diagnostic>>,
}

/// What a scenario tells, expects and stops at.
struct Story {
    checker: Checker,
    narrator: Narrator,
    breaks: Vec<Break>,
    left_out: Option<Box<Diagnostic>>,
}

/// What is kept of what speaks of states.
struct Kept<'a> {
    scenario: &'a Scenario,
    options: &'a Options,
    /// The names on the machine as it is.
    context: &'a Context,
    /// The same under the scenario's own protocol, once it has been asked for.
    own: Option<Context>,
    /// Why the first was left out.
    left_out: Option<Box<Diagnostic>>,
}

impl Kept<'_> {
    /// What `compile` makes of the names on this machine; nothing of what another protocol than the scenario's own has no states for.
    fn kept<T>(&mut self, compile: impl Fn(&Context) -> Result<T>) -> Result<Option<T>> {
        match compile(self.context) {
            Err(error) if self.options.may_leave_out && error.complaint == Some(Complaint::State) => {
                // What is wrong under its own protocol, too, is a slip.
                compile(self.own(&error)?)?;
                self.left_out.get_or_insert(error);
                Ok(None)
            }
            compiled => compiled.map(Some),
        }
    }

    /// The names under the scenario's own protocol; `error` where it runs under no other.
    fn own(&mut self, error: &Diagnostic) -> Result<&Context> {
        if self.own.is_none() {
            let tables =
                self.scenario.tables_without_trial(self.options)?.ok_or_else(|| Box::new(error.clone()))?;
            self.own = Some(Context { tables, ..self.context.clone() });
        }
        self.own.as_ref().ok_or_else(|| Box::new(error.clone()))
    }
}

/// A breakpoint that the debugger begins with.
#[derive(Clone, Debug)]
pub struct Break {
    pub stop: Stop,
    /// Pass by so many times.
    pub ignore: u64,
    pub once: bool,
    pub commands: Vec<String>,
}

impl Scenario {
    /// Everything that its machine is built from.
    ///
    /// # Errors
    /// If the machine, a protocol, a component or a state that it names is not there.
    pub fn blueprint(&self, options: &Options) -> Result<Blueprint> {
        let mut blueprint = self.foundation(options)?;
        // A machine without work tells which components there are.
        let probe = Machine::build(&blueprint).map_err(|error| self.placed(error, options))?;
        let document = &self.document;
        let memory = blueprint.spec.host.memory;
        let wavefront = blueprint.spec.gpu.as_ref().and_then(|gpu| gpu.cu.wavefront_size);
        let mut workload = match wavefront {
            Some(threads) if has_other_wavefronts(&self.file, threads) => {
                Work::read_for(&self.file, document, wavefront)?.workload(document, &probe, memory)?
            }
            _ => self.work.workload(document, &probe, memory)?,
        };
        if let Some(trace) = &options.trace {
            append(&mut workload, trace, self.launch()?);
        }
        blueprint.workload = Arc::new(workload);
        let block = |at: &At<_>| setup::block(&at.value, document, &probe, memory);
        blueprint.initial = self.file.states.iter().map(block).collect::<Result<_>>()?;
        blueprint.allocated = setup::allocated(&self.file.allocate, document, memory)?;
        blueprint.memory = setup::memory(&self.file.memory, document, memory)?;
        Ok(blueprint)
    }

    /// A complaint of the machine itself, which knows no files, gets the place of the key that it begins with, if that is here and
    /// was not set otherwise.
    fn placed(&self, mut error: Box<Diagnostic>, options: &Options) -> Box<Diagnostic> {
        let key = error.message.split_once(": ").map(|(key, _)| key);
        let is_set = |key: &str| options.set.iter().any(|set| key_of(set) == key);
        let is_here = |key: &&str| error.source.is_none() && key.contains('.') && !is_set(key);
        if let Some(key) = key.filter(is_here) {
            let place = self.document.complain_about(key, "");
            if place.span.is_some() {
                (error.source, error.span) = (place.source, place.span);
            }
        }
        error
    }

    /// The machine without anything to do or to begin with.
    pub(super) fn foundation(&self, options: &Options) -> Result<Blueprint> {
        let mut spec = self.machine(&options.set)?;
        let mut tables = tables(&mut spec, &self.shelf)?;
        for text in &self.file.mutate.0 {
            setup::mutate(text, &self.document, &mut tables)?;
        }
        let faults = self.file.faults.iter().map(|fault| setup::fault(fault, &self.document));
        Ok(Blueprint {
            spec,
            tables,
            workload: Arc::new(Workload::default()),
            seed: options.seed.or(self.file.seed.map(|seed| seed.0)).unwrap_or(0),
            max_cycles: options.max_cycles.map_or_else(|| self.max_cycles(), Ok)?,
            checks: options.checks.or(self.file.checks).unwrap_or(true),
            faults: faults.collect::<Result<_>>()?,
            initial: Vec::new(),
            memory: Vec::new(),
            allocated: Vec::new(),
            first_pass: options.first_pass.clone(),
        })
    }

    /// Builds the machine and compiles all queries for it.
    ///
    /// # Errors
    /// As [`Self::blueprint`], and if a query names what the machine does not have.
    pub fn prepare(&self, options: &Options) -> Result<Prepared> {
        let blueprint = self.blueprint(options)?;
        let mut machine = Machine::build(&blueprint).map_err(|error| self.placed(error, options))?;
        if self.file.bug.is_some() {
            machine.hide_faults();
        }
        // One that is asked for holds without checks, too.
        let usual = blueprint.checks.then_some(TRANSACTION_LIMIT);
        machine.set_transaction_limit(self.file.transaction_limit.or(usual).filter(|limit| *limit > 0));
        self.agrees(&blueprint, &machine)?;
        if !options.inputs.is_empty() || !self.file.inputs.is_empty() {
            machine.plan(self.plan(options, &machine)?);
        }
        self.begin(&mut machine)?;
        let mut context = Context::of(&machine);
        context.ids = self.work.ids();
        context.silent = self.work.silent();
        context
            .ids
            .extend(options.trace.iter().flat_map(|trace| &trace.tasks).map(|task| task.id.to_string()));
        let Story { checker, narrator, breaks, left_out } =
            self.story(&context, &blueprint.tables, options)?;
        let bug = self.file.bug.as_ref().map(|at| bug::bug(at, &self.document)).transpose()?;
        Ok(Prepared { machine, blueprint, checker, narrator, bug, breaks, context, left_out })
    }

    /// What it tells, expects and stops at; what speaks of states that no protocol here has may be left out. A story is told as a whole.
    fn story(&self, context: &Context, tables: &[Arc<Table>], options: &Options) -> Result<Story> {
        fn compiler<'a>(scenario: &'a Scenario, context: &'a Context) -> Compiler<'a> {
            Compiler { document: &scenario.document, context }
        }
        let mut keep = Kept { scenario: self, options, context, own: None, left_out: None };
        let expectations = self.file.expectations.iter();
        let expectations =
            expectations.map(|at| keep.kept(|context| compiler(self, context).expectation(at)));
        let expectations = expectations.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        let checker = Checker::new(expectations, self.file.ends.unwrap_or_default());
        let says = self.file.says.iter().map(|at| {
            keep.kept(|context| {
                let tables = if context.tables.is_empty() { tables } else { &context.tables };
                narration::say(compiler(self, context), at, tables)
            })
        });
        let says = says.collect::<Result<Option<_>>>()?.unwrap_or_default();
        let breaks = self.file.breaks.iter();
        let breaks = breaks.map(|at| keep.kept(|context| stop(compiler(self, context), at)));
        let breaks = breaks.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        Ok(Story { checker, narrator: Narrator { says }, breaks, left_out: keep.left_out })
    }

    /// The tables of its machine under its own protocol, where it is tried with another one.
    fn tables_without_trial(&self, options: &Options) -> Result<Option<Vec<Arc<Table>>>> {
        let set = || options.set.iter().map(String::as_str);
        if !set().chain(self.document.set_texts()).any(|text| key_of(text) == "protocol") {
            return Ok(None);
        }
        // What is changed besides about the protocol that is tried need not be possible in its own.
        let own = |text: &&str| !["protocol", "mutate"].contains(&key_of(text));
        let kept: Vec<String> = self.document.set_texts().filter(own).map(ToOwned::to_owned).collect();
        let scenario = Self::parse_on(self.document.source().clone(), self.shelf.clone())?.with(&kept)?;
        let set = set().filter(own).map(ToOwned::to_owned).collect();
        let blueprint = scenario.foundation(&Options { set, ..Options::default() })?;
        Ok(Some(Machine::build(&blueprint)?.tables().to_vec()))
    }

    /// Runs the machine to the moment that the scenario begins at.
    fn begin(&self, machine: &mut Machine) -> Result<()> {
        let Some(start) = &self.file.start else { return Ok(()) };
        let StartFile { event, digest } = &start.value;
        let wrong = |at: &std::ops::Range<usize>, message: String| self.document.complain(Some(at), message);
        if event.value > FARTHEST {
            let error = wrong(&event.span, format!("event {} is too far to begin at", event.value));
            return Err(error.expected(format!("an event up to {FARTHEST}")).into());
        }
        machine.run_until(event.value);
        if machine.event() < event.value {
            let message = format!("the run ends at event {} already", machine.event());
            return Err(wrong(&event.span, message).into());
        }
        let found = digits(machine.digest());
        match digest {
            Some(digest) if digest.value != found => {
                let error = wrong(&digest.span, format!("at event {} this is another machine", event.value));
                Err(error.expected(format!("{found}, as it is now")).into())
            }
            _ => Ok(()),
        }
    }

    /// The states that the scenario begins with must not contradict each other, unless that is what it is about.
    fn agrees(&self, blueprint: &Blueprint, machine: &Machine) -> Result<()> {
        if !blueprint.checks || self.file.ends == Some(Ending::Violation) {
            return Ok(());
        }
        for (at, initial) in self.file.states.iter().zip(&blueprint.initial) {
            if let Some(breach) = machine.breach(initial.address) {
                return Err(self.contradiction(at, &breach));
            }
            let block =
                machine.components().find(&initial.node).and_then(|id| machine.block(id, initial.address));
            if block.is_some_and(|block| block.state == Some(State::I) && !block.units.is_empty()) {
                let message = format!("{} has a holder of a block that it does not have", initial.node);
                let error = self.document.complain(Some(&at.value.node.span), message);
                return Err(error.expected("its state there, such as state = \"S\"").into());
            }
        }
        match (self.file.states.last(), machine.disagrees_somewhere()) {
            (Some(last), Some(breach)) => Err(self.contradiction(last, &breach)),
            _ => Ok(()),
        }
    }

    fn contradiction(&self, at: &At<StateFile>, breach: &str) -> Box<Diagnostic> {
        let message = format!("the states to begin with contradict each other: {breach}");
        let error = self.document.complain(Some(&at.value.node.span), message);
        error.expected("every holder listed by its parent, and no other; one writer or many readers").into()
    }

    /// What a launch of a kernel of its trace takes, if it says so.
    fn launch(&self) -> Result<Option<u64>> {
        let Some(given) = &self.file.launch else { return Ok(None) };
        if given.value <= *CYCLES.end() {
            return Ok(Some(given.value));
        }
        let error = self.document.complain(Some(&given.span), format!("launch is {}", given.value));
        Err(error.expected(format!("at most {} GPU core cycles", CYCLES.end())).into())
    }

    fn max_cycles(&self) -> Result<u64> {
        let long = self.work.has_kernels() || self.file.trace.is_some();
        let default = if long { MOST_CYCLES.1 } else { MOST_CYCLES.0 };
        self.file.max_cycles.as_ref().map_or(Ok(default), |given| max_cycles(given, &self.document))
    }
}

/// What a file gives as `max-cycles`.
///
/// # Errors
/// If it is none of [`CYCLES`].
pub fn max_cycles(given: &At<u64>, document: &Document) -> Result<u64> {
    if CYCLES.contains(&given.value) {
        return Ok(given.value);
    }
    let error = document.complain(Some(&given.span), format!("max-cycles is {}", given.value));
    Err(error.expected(format!("{} to {} GPU core cycles", CYCLES.start(), CYCLES.end())).into())
}

impl Prepared {
    /// Ready to run to its end. Without checks and expectations on records none are made.
    #[must_use]
    pub fn runner(self) -> Runner {
        Runner::new(self.machine, self.checker, self.blueprint.checks)
    }
}

/// Loads every protocol table that a machine names, and has the machine name them as they call themselves.
fn tables(spec: &mut MachineSpec, shelf: &Shelf) -> Result<Vec<Arc<Table>>> {
    let mut tables: Vec<Arc<Table>> = Vec::new();
    let shelf = shelf.by_reference();
    for name in spec.protocols() {
        let mut table = config::load_protocol_from(&shelf, name)?;
        if tables.iter().any(|known| known.name == table.name && **known != table) {
            table.name.clone_from(name);
        }
        name.clone_from(&table.name);
        if !tables.iter().any(|known| known.name == table.name) {
            tables.push(Arc::new(table));
        }
    }
    Ok(tables)
}

/// Adds the tasks of `more`, which keep their dependencies among themselves.
fn append(workload: &mut Workload, more: &Workload, launch: Option<u64>) {
    let offset = workload.tasks.len();
    for task in &more.tasks {
        let mut task = Task { launch, ..task.clone() };
        task.after.iter_mut().for_each(|index| *index += offset);
        workload.tasks.push(task);
    }
    workload.homes.extend_from_slice(&more.homes);
    workload.allocated.extend_from_slice(&more.allocated);
}

fn stop(compiler: Compiler<'_>, at: &At<BreakFile>) -> Result<Break> {
    let file = &at.value;
    let on = file.on.as_ref().map(|on| compiler.matching(on)).transpose()?.map(|matching| matching.filter);
    let when = file
        .condition
        .as_ref()
        .map(|text| crate::query::Predicate::compile(&compiler.text(text), compiler.context));
    let stop = Stop { on, when: when.transpose()? };
    if stop.on.is_none() && stop.when.is_none() {
        let error = compiler.complain(&at.span, "this breaks at nothing");
        return Err(error.expected("on = a query, or if = a predicate").into());
    }
    let commands = file.commands.iter().map(|line| line.value.clone()).collect();
    Ok(Break { stop, ignore: file.ignore, once: file.once, commands })
}
