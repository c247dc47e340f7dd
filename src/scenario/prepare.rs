//! From a scenario file to a machine that is ready to run.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use crate::config::document::At;
use crate::config::machine::MachineSpec;
use crate::config::settings::{self, Setting};
use crate::config::{self, Document, Kind, MachineChoice, Shelf};
use crate::diagnostic::{Diagnostic, Result, Source};
use crate::machine::{Blueprint, FirstPass, Machine};
use crate::model::inspect::Inspect;
use crate::model::state::State;
use crate::model::time::EventNumber;
use crate::protocol::table::Table;
use crate::query::{Context, Stop};
use crate::recording::Input;
use crate::workload::trace::Format;
use crate::workload::{Task, Workload};

use super::bug::{self, Bug};
use super::checker::Checker;
use super::expectation::Compiler;
use super::file::{BreakFile, Ending, ScenarioFile, StartFile, StateFile};
use super::narration::{self, Narrator};
use super::prose;
use super::runner::Runner;
use super::setup;
use super::work::{Work, has_other_wavefronts, takes};

/// What `max-cycles` may be. Simulated time may end before, where clocks divide a second finely (`model::time`).
pub const CYCLES: RangeInclusive<u64> = 1..=1_000_000_000_000_000;

/// Keys that have an option of their own on the command line.
const OPTIONS: [(&str, &str); 5] = [
    ("protocol", "--protocol"),
    ("fault", "--fault"),
    ("mutate", "--mutate"),
    ("scale", "--scale"),
    ("seed", "--seed"),
];

/// Cycles after which a run of scripted accesses is stopped, and one of kernels or a trace.
const MOST_CYCLES: (u64, u64) = (10_000_000, 10_000_000_000);

/// The last event that a scenario may begin at: what comes before is run while it is read.
pub const FARTHEST: EventNumber = 1_000_000;
/// Cycles that a transaction may take if nothing else is said: far more than any takes that is not starved.
const TRANSACTION_LIMIT: u64 = 1_000_000;

/// The key of a `KEY=VALUE`.
fn key_of(text: &str) -> &str {
    text.split_once('=').map_or("", |(key, _)| key.trim())
}

/// A scenario as read.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(super) file: ScenarioFile,
    pub(super) document: Document,
    /// Where the names in it are looked up.
    pub(super) shelf: Shelf,
    /// What it sets of its machine.
    pub(super) settings: Vec<Setting>,
    work: Work,
}

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
    /// Under another protocol, whether a story and expectations are left out that speak of what it does not have.
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
    /// Why the story and what is expected were left out, if they were.
    pub left_out: Option<Box<Diagnostic>>,
}

/// What a scenario tells, expects and stops at.
struct Story {
    checker: Checker,
    narrator: Narrator,
    breaks: Vec<Break>,
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
    /// Reads the scenario that `name` is a path to or the bundled name of.
    ///
    /// # Errors
    /// If there is none, or as [`Self::parse`].
    pub fn load(name: &str) -> Result<Self> {
        let found = config::find(Kind::Scenario, name, None)?;
        Self::parse(found.source, found.folder)
    }

    /// Reads a scenario; paths in it are relative to `folder`.
    ///
    /// # Errors
    /// If it is no TOML, has unknown keys, or what it does makes no sense.
    pub fn parse(source: Source, folder: Option<PathBuf>) -> Result<Self> {
        Self::parse_on(source, Shelf::at(folder))
    }

    /// The same; the names in it are looked up on `shelf`.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_on(source: Source, shelf: Shelf) -> Result<Self> {
        let document = Document::new(source);
        let file: ScenarioFile = document.read()?;
        let settings = if file.set.is_empty() { Vec::new() } else { settings::read(document.source())? };
        let work = Work::read(&file, &document)?;
        let shelf = shelf.bringing(brought(&file, &document));
        Ok(Self { file, document, shelf, settings, work })
    }

    /// The same with keys of its file set to other values, each `KEY=VALUE`.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn with(self, set: &[String]) -> Result<Self> {
        if set.is_empty() {
            return Ok(self);
        }
        let mut document = self.document.clone();
        for text in set {
            let option = OPTIONS.iter().find(|(own, _)| *own == key_of(text));
            document.set_by(option.map_or("--set", |(_, option)| option), text)?;
        }
        let file: ScenarioFile = document.read()?;
        let work = Work::read(&file, &document)?;
        Ok(Self { file, document, work, ..self })
    }

    /// What it shows; its file's name if it does not say.
    #[must_use]
    pub fn title(&self) -> &str {
        self.file.title.as_deref().unwrap_or(&self.document.source().name)
    }

    /// What it is about, as paragraphs.
    #[must_use]
    pub fn about(&self) -> Option<String> {
        self.file.about.as_deref().map(prose::flow)
    }

    /// Everything that the file says.
    #[must_use]
    pub fn file(&self) -> &ScenarioFile {
        &self.file
    }

    pub(super) fn document(&self) -> &Document {
        &self.document
    }

    /// The file's text.
    #[must_use]
    pub fn source(&self) -> &Source {
        self.document.source()
    }

    /// The path of its trace, from the current folder, and its format if the scenario says it.
    ///
    /// # Errors
    /// If there is no such file or format, or a format without a trace.
    pub fn trace(&self) -> Result<Option<(PathBuf, Option<Format>)>> {
        let complain = |at: &At<String>, message| self.document.complain(Some(&at.span), message);
        let Some(trace) = &self.file.trace else {
            let idle = |span, message: &str| -> Result<_> {
                Err(self.document.complain(Some(span), message).expected("trace = a path, too").into())
            };
            return match (&self.file.trace_format, &self.file.launch) {
                (Some(at), _) => idle(&at.span, "there is no trace to be of this format"),
                (None, Some(at)) => idle(&at.span, "there is no trace whose launches could take this"),
                (None, None) => Ok(None),
            };
        };
        let folder = self.shelf.folder();
        let path = folder.map_or_else(|| trace.value.clone().into(), |folder| folder.join(&trace.value));
        if let Err(error) = path.metadata() {
            let message = format!("the trace {} cannot be read: {error}", path.display());
            return Err(complain(trace, message).expected("the path of a file or folder").into());
        }
        let parse = |at: &At<String>| {
            let (source, place) = self.document.locate(at.span.clone());
            Format::parse(&at.value).map_err(|error| Box::new(error.at(source, place)))
        };
        Ok(Some((path, self.file.trace_format.as_ref().map(parse).transpose()?)))
    }

    /// The specification of its machine.
    ///
    /// # Errors
    /// If there is no such machine, it contradicts itself, or an override does not fit it.
    pub fn machine(&self, set: &[String]) -> Result<MachineSpec> {
        let mut spec = self.own_machine(set).map_err(|error| self.meant_for_kernels(error))?;
        // What the command line sets counts more.
        let is_set = set.iter().any(|text| key_of(text) == "protocol");
        if let Some(protocol) = self.file.protocol.as_ref().filter(|_| !is_set) {
            let found = self.shelf.find(Kind::Protocol, &protocol.value);
            spec.protocol = found.map_err(|error| self.pointed(protocol, error))?.reference;
        }
        spec.shrink(self.work.scale());
        Ok(spec)
    }

    /// The same, with the protocol that the machine itself names.
    pub(super) fn own_machine(&self, set: &[String]) -> Result<MachineSpec> {
        let spec = match &self.file.machine {
            MachineChoice::Named(name) => {
                config::load_machine_from(&self.shelf, &name.value, &self.settings, set)
                    .map_err(|error| self.pointed(name, error))?
            }
            MachineChoice::Inline(machine) if set.is_empty() && self.settings.is_empty() => {
                machine.specification(&self.document, &self.shelf)?
            }
            MachineChoice::Inline(_) => self.overridden(set)?,
        };
        Ok(spec)
    }

    /// The machine written in the scenario, with overrides.
    fn overridden(&self, set: &[String]) -> Result<MachineSpec> {
        let mut document = self.document.clone();
        for setting in &self.settings {
            document.lay(&["machine"], setting);
        }
        for text in set {
            document.set_within(&["machine"], text)?;
        }
        let file: ScenarioFile = document.read().map_err(config::schema::completed)?;
        match &file.machine {
            MachineChoice::Inline(machine) => machine.specification(&document, &self.shelf),
            MachineChoice::Named(name) => {
                config::load_machine_from(&self.shelf, &name.value, &self.settings, set)
            }
        }
    }

    /// Of a parameter of a kernel that was set as if it were a key of the machine, an error tells what to set.
    fn meant_for_kernels(&self, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        let set = error.source.as_ref().filter(|source| &*source.name == "--set");
        let key = set.map(|source| key_of(&source.text).to_owned()).unwrap_or_default();
        let is_one = self.file.kernels.iter().any(|kernel| takes(&kernel.value, &key));
        if is_one && error.message == format!("unknown key `{key}`") {
            error.suggestion = Some(format!("did you mean with.{key}?"));
        }
        error
    }

    /// An error about a name that has no place of its own gets the place of the name.
    fn pointed(&self, name: &At<String>, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        if error.source.is_none() {
            let (source, place) = self.document.locate(name.span.clone());
            (error.source, error.span) = (Some(source.clone()), Some(place));
        }
        error
    }

    /// Everything that its machine is built from.
    ///
    /// # Errors
    /// If the machine, a protocol, a component or a state that it names is not there.
    pub fn blueprint(&self, options: &Options) -> Result<Blueprint> {
        let mut blueprint = self.foundation(options)?;
        // A machine without work tells which components there are.
        let probe = Machine::build(&blueprint)?;
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
            seed: options.seed.or(self.file.seed).unwrap_or(0),
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
        let mut machine = Machine::build(&blueprint)?;
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
        let tables = if context.tables.is_empty() { &blueprint.tables } else { &context.tables };
        let (story, left_out) = match self.story(&context, tables) {
            Err(why) if options.may_leave_out && self.has_other_protocol(options) => {
                let checker = Checker::new(Vec::new(), self.file.ends.unwrap_or_default());
                (Story { checker, narrator: Narrator::default(), breaks: Vec::new() }, Some(why))
            }
            story => (story?, None),
        };
        let Story { checker, narrator, breaks } = story;
        let bug = self.file.bug.as_ref().map(|at| bug::bug(at, &self.document)).transpose()?;
        Ok(Prepared { machine, blueprint, checker, narrator, bug, breaks, context, left_out })
    }

    fn story(&self, context: &Context, tables: &[Arc<Table>]) -> Result<Story> {
        let compiler = Compiler { document: &self.document, context };
        let expectations = self.file.expectations.iter().map(|at| compiler.expectation(at));
        let checker = Checker::new(expectations.collect::<Result<_>>()?, self.file.ends.unwrap_or_default());
        let says = self.file.says.iter().map(|at| narration::say(compiler, at, tables));
        let narrator = Narrator { says: says.collect::<Result<_>>()? };
        let breaks = self.file.breaks.iter().map(|at| stop(compiler, at)).collect::<Result<_>>()?;
        Ok(Story { checker, narrator, breaks })
    }

    /// Whether it is tried with another protocol than its own.
    fn has_other_protocol(&self, options: &Options) -> bool {
        let set = options.set.iter().map(String::as_str);
        set.chain(self.document.set_texts()).any(|text| key_of(text) == "protocol")
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
        let found = format!("{:016x}", machine.digest());
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

/// The protocols that a scenario brings along. One that is written as it is stands in as many lines as it does in that file, so that
/// what is said about it points there.
fn brought(file: &ScenarioFile, document: &Document) -> Vec<(String, Source)> {
    let protocols = file.protocols.iter().map(|(name, at)| {
        let (source, place) = document.locate(at.span.clone());
        let text = at.value.trim_start_matches('\u{feff}');
        let begins = source.text.get(place.clone()).and_then(|own| own.find(text)).map(|at| place.start + at);
        let protocol = match begins.and_then(|begins| source.text.get(..begins)) {
            Some(before) => {
                Source::new(source.name.clone(), "\n".repeat(before.matches('\n').count()) + text)
            }
            None => Source::new(format!("{} [protocols] {name}", source.name), text),
        };
        (name.clone(), protocol)
    });
    protocols.collect()
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
