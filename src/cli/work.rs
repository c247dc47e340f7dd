//! Finding what an argument names: a scenario file, a bundled scenario, or a trace with a machine.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::arguments::{Changes, Switch, Target};
use super::exit::say;
use super::interrupt::Interrupt;
use super::progress::Progress;
use crate::config::library::Found;
use crate::config::{self, Kind, MachineChoice};
use crate::debug::command;
use crate::diagnostic::{Diagnostic, Result, Source, TEXT_LIMIT, in_toml, read_text};
use crate::machine::FirstPass;
use crate::model::time::EventNumber;
use crate::query::{Filter, Text};
use crate::recording::{self, Recording, TraceFile};
use crate::report::number::grouped;
use crate::scenario::{Options, Prepared, Runner, Scenario};
use crate::workload::Workload;
use crate::workload::trace::{self, Format, Trace};
use crate::workload::{kernels, suites};

/// Whether a file is meant as a scenario: by its ending, whatever is wrong with it, or by its keys.
fn is_scenario(path: &Path) -> bool {
    let keys = || config::find(Kind::Scenario, &path.to_string_lossy(), None).ok();
    path.extension().is_some_and(|ending| ending == "toml")
        || keys().is_some_and(|found| config::kind_of(&found.source).is_some())
}

/// Whether what this names runs on a machine that is named beside it: a trace, or one of the workloads.
#[must_use]
pub fn is_moved(name: &str) -> bool {
    let path = Path::new(name);
    if recording::write::is_recording(path) {
        return false;
    }
    match config::find(Kind::Scenario, name, None) {
        Ok(found) if config::kind_of(&found.source).is_some() => {
            found.folder.is_none()
                && (suites::scenario(&found.reference, None).is_some() || kernels::find(name).is_ok())
        }
        Err(_) if kernels::find(name).is_ok() => true,
        _ => {
            path.exists() && read_text(path, TEXT_LIMIT).map_or(true, |file| config::kind_of(&file).is_none())
        }
    }
}

const NEEDS_MACHINE: &str =
    "--machine with a name that `umscope list machines` shows, or a path; or a scenario that names both";

/// What runs on a machine that is named beside it.
const TAKES_MACHINE: &str =
    "a trace, or a name that `umscope list workloads` or `list kernels` shows: only these take --machine";

fn names_its_machine(target: &Target) -> Diagnostic {
    let error = Diagnostic::new(format!("{} is a scenario, and names its machine", target.scenario));
    error.expected(format!("{TAKES_MACHINE}; --set changes keys of a scenario's machine"))
}

/// That a kernel alone has no machine, if this is the name of one, and of nothing else.
fn of_kernel(name: &str) -> Option<Box<Diagnostic>> {
    let is_other = config::find(Kind::Scenario, name, None).is_ok();
    let kernel = kernels::find(name).ok().filter(|_| !is_other)?;
    let error = Diagnostic::new(format!("{} is a kernel and names no machine", kernel.name));
    Some(error.expected(NEEDS_MACHINE).into())
}

/// Something to run, read but not yet built.
#[derive(Clone, Debug)]
pub struct Work {
    /// As the user named it.
    pub name: String,
    pub scenario: Scenario,
    pub options: Options,
    /// The scenario file or recording, if it is on disk.
    file: Option<PathBuf>,
    /// Name or path of the machine; of one written in the scenario, the name that it gives itself.
    machine: Option<String>,
    /// Path of the trace, if there is one.
    trace: Option<PathBuf>,
    /// Size and digest of the trace, once somebody has asked: whole traces are read for them.
    known: Arc<OnceLock<Result<(u64, u64)>>>,
    /// The recording that it was read from.
    pub recording: Option<Recording>,
}

impl Work {
    /// Reads what `target` names.
    ///
    /// # Errors
    /// If there is no such thing, it cannot be read, or a trace comes without a machine.
    pub fn open(target: &Target, interrupt: &Interrupt) -> Result<Self> {
        let path = Path::new(&target.scenario);
        // What is called one is one, if only a damaged one: reading it says how.
        let is_called_so = path.extension().is_some_and(|ending| ending == "rec") && path.is_file();
        if is_called_so || recording::write::is_recording(path) {
            return Self::recorded(target, interrupt);
        }
        let format = target.trace_format.as_deref().map(Format::parse).transpose()?;
        let is_trace = format.is_some() || trace::detect(path).is_some();
        match &target.machine {
            Some(machine) if is_trace => Self::trace(target, machine, format, interrupt),
            None if is_trace && path.exists() => {
                let error = Diagnostic::new(format!("{} is a trace and names no machine", target.scenario));
                Err(error.expected(NEEDS_MACHINE).into())
            }
            None if is_trace => {
                let error = Diagnostic::new(format!("there is no file or folder {}", target.scenario));
                Err(error.expected("with --trace-format, the path of a trace").into())
            }
            Some(_) if config::find(Kind::Scenario, &target.scenario, None).is_err() && path.exists() => {
                Err(read_trace(path, format, interrupt).err().unwrap_or_else(|| unknown(target)))
            }
            _ if path.is_file() && !is_scenario(path) => {
                Err(read_trace(path, format, interrupt).err().unwrap_or_else(|| unknown(target)))
            }
            _ => Self::scenario(target, interrupt),
        }
    }

    /// Reads the recording that is named.
    ///
    /// # Errors
    /// If it is broken, its trace has changed, or something shall be changed about it.
    fn recorded(target: &Target, interrupt: &Interrupt) -> Result<Self> {
        let changes = &target.changes;
        if target.machine.is_some() || target.trace_format.is_some() || *changes != Changes::default() {
            let error =
                Diagnostic::new(format!("{} is a recording: it says itself what is set", target.scenario));
            return Err(error
                .expected("its name alone; `fork` in `umscope debug` changes things on the way")
                .into());
        }
        let recording = recording::read(Path::new(&target.scenario))?;
        if let Some(changed) = recording.origin.trace.as_ref().map(TraceFile::changed).transpose()?.flatten()
        {
            let error = Diagnostic::new(changed);
            return Err(error.expected("the trace that was recorded").into());
        }
        Self::of_recording(&target.scenario, recording, interrupt)
    }

    /// What `recording`, from the file of this name, was made of.
    ///
    /// # Errors
    /// If that makes no sense any more, or its trace cannot be read.
    pub fn of_recording(name: &str, recording: Recording, interrupt: &Interrupt) -> Result<Self> {
        let (scenario, mut options) = Scenario::recorded(&recording)?;
        let trace = options.trace_from.clone();
        if let Some((path, format)) = &trace {
            options.trace = Some(read_trace(path, *format, interrupt)?.workload);
        }
        let machine = named(&scenario);
        let trace = trace.map(|(path, _)| path);
        let (name, file) = (name.to_owned(), Some(PathBuf::from(name)));
        let (known, recording) = (Arc::default(), Some(recording));
        Ok(Self { name, scenario, options, file, machine, trace, known, recording })
    }

    /// Reads the scenario that is named.
    ///
    /// # Errors
    /// As [`Scenario::load`]; a scenario names its own machine.
    fn scenario(target: &Target, interrupt: &Interrupt) -> Result<Self> {
        let Some(machine) = &target.machine else {
            let loaded = Self::load(&target.scenario, None, &target.changes, interrupt);
            return loaded.map_err(|error| of_kernel(&target.scenario).unwrap_or(error));
        };
        let found = config::find(Kind::Scenario, &target.scenario, None);
        if found.as_ref().is_ok_and(|found| found.folder.is_some()) {
            return Err(names_its_machine(target).into());
        }
        let machine = config::find(Kind::Machine, machine, None)?.reference;
        let workload =
            found.as_ref().ok().and_then(|found| suites::scenario(&found.reference, Some(&machine)));
        let kernel =
            || suites::kernel(&target.scenario, &machine).map(|text| (target.scenario.clone(), text));
        let Some((name, text)) = workload.or_else(kernel) else {
            return Err(found.map_or_else(
                |mut error| {
                    error.expected = Some(TAKES_MACHINE.into());
                    let kernel = kernels::find(&target.scenario).err().and_then(|unknown| unknown.suggestion);
                    error.suggestion = error.suggestion.take().or(kernel);
                    error
                },
                |_| names_its_machine(target).into(),
            ));
        };
        let source = Source::new(format!("{name}.toml"), text);
        let found = Found { source, folder: None, reference: name.clone() };
        Self::found(name, found, &target.changes, interrupt)
    }

    /// Reads the scenario of this name or path (from `relative_to`, else from the current folder), and its trace if it
    /// has one.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn load(
        name: &str,
        relative_to: Option<&Path>,
        changes: &Changes,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let found = config::find(Kind::Scenario, name, relative_to)?;
        Self::found(name.to_owned(), found, changes, interrupt)
    }

    fn found(name: String, found: Found, changes: &Changes, interrupt: &Interrupt) -> Result<Self> {
        let (set, mut options) = options(changes)?;
        let file = found.folder.is_some().then(|| PathBuf::from(found.reference));
        let scenario = Scenario::parse(found.source, found.folder)?.with(&set)?;
        let mut trace = None;
        if let Some((path, format)) = scenario.trace()? {
            options.trace = Some(read_to_run(&path, format, interrupt)?);
            options.trace_from = Some((path.clone(), format));
            trace = Some(path);
        }
        let machine = named(&scenario);
        Ok(Self { name, scenario, options, file, machine, trace, known: Arc::default(), recording: None })
    }

    /// A trace alone is a scenario without checks: it is run for its numbers.
    fn trace(target: &Target, machine: &str, format: Option<Format>, interrupt: &Interrupt) -> Result<Self> {
        let found = config::find(Kind::Machine, machine, None)?;
        let title = Path::new(&target.scenario).file_name().map(|name| name.to_string_lossy().into_owned());
        let file = format!(
            "title = {}\nmachine = {}\ntrace = {}\nchecks = false\n",
            in_toml(&format!("Trace {}", title.as_deref().unwrap_or(&target.scenario))),
            in_toml(&found.reference),
            in_toml(&target.scenario),
        );
        let (set, options) = options(&target.changes)?;
        let scenario = Scenario::parse(Source::new(target.scenario.as_str(), file), None)?.with(&set)?;
        let workload = read_to_run(Path::new(&target.scenario), format, interrupt)?;
        let path = PathBuf::from(&target.scenario);
        let trace_from = Some((path.clone(), format));
        let options = Options { trace: Some(workload), trace_from, ..options };
        let machine = Some(machine.to_owned());
        let (name, trace, known) = (target.scenario.clone(), Some(path), Arc::default());
        Ok(Self { name, scenario, options, file: None, machine, trace, known, recording: None })
    }

    /// The text of its scenario; of one that was made for a trace or on a machine, without the paths of these.
    #[must_use]
    pub fn own_text(&self) -> String {
        let text = self.scenario.source().text.to_string();
        if self.file.is_some() {
            return text;
        }
        let trace = self.trace.as_ref().map(|trace| trace.display().to_string());
        let named = trace.into_iter().chain(self.machine.clone());
        named.fold(text, |text, path| text.replace(&in_toml(&path), "\"\""))
    }

    /// Builds the machine, with all queries of the scenario.
    ///
    /// # Errors
    /// As [`Scenario::prepare`].
    pub fn prepare(&self) -> Result<Prepared> {
        let first_pass = FirstPass::Watched(Arc::new(shown()));
        let mut prepared = self.scenario.prepare(&Options { first_pass, ..self.options.clone() })?;
        prepared.blueprint.first_pass = FirstPass::default();
        Ok(prepared)
    }

    /// Runs it under the eyes of its checker; a recording must come to the states that were recorded.
    #[must_use]
    pub fn runner(&self, prepared: Prepared, listen: bool) -> Runner {
        let runner = Runner::new(prepared.machine, prepared.checker, listen);
        match &self.recording {
            Some(recording) => runner.as_recorded(recording),
            None => runner,
        }
    }

    /// Size and digest of its trace, if it has one: as the first of its clones finds them that asks.
    ///
    /// # Errors
    /// If the trace cannot be read.
    pub fn trace_digest(&self) -> Result<Option<(u64, u64)>> {
        let Some(path) = &self.trace else { return Ok(None) };
        let taken = || TraceFile::of(path, None).map(|trace| (trace.size, trace.digest));
        self.known.get_or_init(taken).clone().map(Some)
    }

    /// What is known of the trace of another work need not be found out again, if this has the same one.
    pub fn share_trace(&mut self, other: &Self) {
        if self.trace == other.trace {
            self.known = other.known.clone();
        }
    }

    /// The files and folders that this was read from.
    ///
    /// # Errors
    /// If one that it names cannot be found.
    pub fn reads(&self) -> Result<Vec<PathBuf>> {
        let own = [self.file.clone(), self.trace.clone()].into_iter().flatten();
        Ok(own.chain(self.scenario.reads(&self.options)?).collect())
    }

    /// What the machine of `prepared` is called.
    #[must_use]
    pub fn machine_name(&self, prepared: &Prepared) -> String {
        self.machine.clone().unwrap_or_else(|| prepared.blueprint.spec.name.clone())
    }
}

/// The machine that a scenario names.
fn named(scenario: &Scenario) -> Option<String> {
    match &scenario.file().machine {
        MachineChoice::Named(name) => Some(name.value.clone()),
        MachineChoice::Inline(_) => None,
    }
}

/// What is set of the scenario file, and what else changes.
///
/// # Errors
/// As [`Changes::split`].
fn options(changes: &Changes) -> Result<(Vec<String>, Options)> {
    let (scenario, machine) = changes.split()?;
    let options = Options {
        set: machine,
        seed: changes.seed,
        max_cycles: changes.max_cycles,
        checks: changes.checks.map(|switch| switch == Switch::On),
        trace: None,
        trace_from: None,
        inputs: Vec::new(),
        first_pass: FirstPass::default(),
        may_leave_out: true,
    };
    Ok((scenario, options))
}

/// Shows how far the first run of an oracle is.
fn shown() -> impl Fn(EventNumber) -> bool + Send + Sync {
    let progress: Mutex<Option<Progress>> = Mutex::new(None);
    move |events| {
        let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        let progress = progress.get_or_insert_with(Progress::start);
        progress.tell(|| format!("first run, for the oracle: event {}", grouped(events)));
        true
    }
}

/// What is left out where another protocol is tried; followed by the first of it.
pub const LEFT_OUT: &str = "the story, and what is expected or stopped at by states or cells that this protocol does not have, is left out";

/// The same of what is only checked, as a warning.
pub fn left_out(why: &Diagnostic, place: &str) -> Diagnostic {
    let message = format!("this is left out under another protocol{place}: {}", why.message);
    Diagnostic { message, ..why.clone() }
}

/// Says that something of a scenario is left out, if it is.
pub fn tell_left_out(why: Option<&Diagnostic>) {
    why.map(left_out_told).iter().for_each(say);
}

/// The same in words.
pub fn left_out_told(why: &Diagnostic) -> String {
    format!("warning: {LEFT_OUT}:\n{why}")
}

/// That what a scenario's breakpoints carry out are commands of the debugger.
///
/// # Errors
/// If one is none.
pub fn known_commands(scenario: &Scenario) -> Result<()> {
    let mut lines = scenario.file().breaks.iter().flat_map(|at| &at.value.commands);
    lines.try_for_each(|line| command::known(&line.value, scenario.source(), line.span.clone()))
}

/// Says which of a scenario's own tables `umscope check` refuses. It runs all the same, for what comes of them. What cannot be
/// found or read is complained of when the machine is built.
pub fn doubt(scenario: &Scenario, options: &Options) {
    let tables = scenario.table_faults(options).into_iter();
    tables.filter_map(|(table, faults)| faults.error_told(&table)).for_each(say);
}

/// What `--where` asks for.
///
/// # Errors
/// If it is no query about this machine.
pub fn filter(query: Option<&str>, prepared: &Prepared) -> Result<Option<Filter>> {
    query.map(|query| Filter::compile(&Text::new("--where", query), &prepared.context)).transpose()
}

/// `: why`, or nothing.
#[must_use]
pub fn because(why: Option<String>) -> String {
    why.map_or_else(String::new, |why| format!(": {why}"))
}

/// Reads a trace and shows how far it is; an interrupt breaks it off.
///
/// # Errors
/// As [`trace::read`].
pub fn read_trace(path: &Path, format: Option<Format>, interrupt: &Interrupt) -> Result<Trace> {
    let mut progress = Progress::start();
    let name = path.display().to_string();
    let interrupt = interrupt.clone();
    let told = move |read| {
        progress.tell(|| format!("{name}: {} instructions read", grouped(read)));
        if interrupt.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    trace::read(path, format, Box::new(told))
}

/// The same for a run: says if cores get other numbers than they have in the trace.
fn read_to_run(path: &Path, format: Option<Format>, interrupt: &Interrupt) -> Result<Workload> {
    let trace = read_trace(path, format, interrupt)?;
    if let Some(text) = trace.renumbered() {
        say(text);
    }
    Ok(trace.workload)
}

fn unknown(target: &Target) -> Box<Diagnostic> {
    let message = format!("{} is neither a scenario nor a trace", target.scenario);
    Box::new(Diagnostic::new(message).expected("what `umscope list scenarios` shows, or a path"))
}

/// Why the results of a run are void, if they are: a trace whose index was lost.
///
/// # Errors
/// The first complaint of a kernel.
pub fn trusted(workload: &Arc<Workload>) -> Result<()> {
    void(workload.complaint())
}

/// That nothing makes the results of a run void.
///
/// # Errors
/// What does.
pub fn void(complaint: Option<Box<Diagnostic>>) -> Result<()> {
    complaint.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_digest_of_a_trace_is_taken_once_and_that_it_cannot_be_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cores.txt");
        fs::copy("tests/data/traces/cores_rw.txt", &path).unwrap();
        let target = Target {
            scenario: path.display().to_string(),
            machine: Some("tiny/umh-1gpu".into()),
            trace_format: None,
            changes: Changes::default(),
        };
        let open = || Work::open(&target, &Interrupt::default()).unwrap();
        let (first, mut second) = (open(), open());
        let clone = first.clone();
        let digest = first.trace_digest().unwrap();
        assert!(digest.is_some());
        fs::remove_file(&path).unwrap();
        assert_eq!(clone.trace_digest().unwrap(), digest);
        assert!(second.trace_digest().unwrap_err().message.contains("cannot be read"));
        second.share_trace(&first);
        assert_eq!(second.trace_digest().unwrap(), digest);
    }
}
