//! What a scenario does: its accesses, programs, kernels and flushes as the tasks of a workload.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use crate::config::Document;
use crate::config::document::At;
use crate::diagnostic::{Diagnostic, Result};
use crate::machine::{check_addresses, check_arrays, check_kernel};
use crate::model::component::ComponentKind;
use crate::model::inspect::Inspect;
use crate::model::operation::Operation;
use crate::model::units::Size;
use crate::query::Text;
use crate::workload::kernels::{self, MOST_SCALE, Parameter, Parameters, Value};
use crate::workload::{Task, TaskKind, Workload};

use super::access::Accesses;
use super::file::{KernelFile, ScenarioFile};
use super::instruction as instructions;
use super::place::Place;
use super::values::{Given, NumberOrText, Texts};

/// What a task does, before the machine's components are known.
#[derive(Clone, Debug)]
enum Kind {
    Program {
        by: At<String>,
        warp: Option<At<u64>>,
        operations: Arc<[Operation]>,
        /// Where it stands what each accesses.
        places: Vec<Range<usize>>,
    },
    Ready(TaskKind),
    Flush {
        below: Option<At<String>>,
    },
}

/// A task with its dependencies.
#[derive(Clone, Debug)]
struct Entry {
    id: Arc<str>,
    place: Range<usize>,
    /// It is a further step of the entry before it.
    follows: bool,
    after: Vec<usize>,
    delay: u64,
    kind: Kind,
}

/// The tasks of a scenario in the order of the file, checked as far as they can be without its machine.
#[derive(Clone, Debug)]
pub struct Work {
    tasks: Vec<Entry>,
    /// Results that programs name.
    labels: Vec<Arc<str>>,
    scale: Option<At<u64>>,
}

impl Work {
    /// Reads all that `file` does.
    ///
    /// # Errors
    /// If an id is used twice or unknown, tasks wait for each other in a circle, or an access makes no sense.
    pub fn read(file: &ScenarioFile, document: &Document) -> Result<Self> {
        Self::read_for(file, document, None)
    }

    /// The same for a machine with so many threads in a wavefront, where kernels are not told otherwise.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_for(file: &ScenarioFile, document: &Document, wavefront: Option<u32>) -> Result<Self> {
        let scale = scale(file, document)?;
        takers(file, document)?;
        let (seed, with) = (file.seed.map(|seed| seed.0), &file.with);
        let (tasks, waits) = (Vec::new(), Vec::new());
        let mut reader = Reader { document, scale, seed, wavefront, with, tasks, waits };
        reader.accesses(file)?;
        reader.programs(file)?;
        reader.kernels(file)?;
        for (index, at) in file.flushes.iter().enumerate() {
            let flush = &at.value;
            let kind = Kind::Flush { below: flush.below.clone() };
            reader.add(
                flush.id.as_ref(),
                &format!("flush-{}", index + 1),
                &at.span,
                &flush.after,
                flush.delay,
                kind,
            );
        }
        reader.finish()
    }

    /// The ids of tasks and labels, in the order of the file.
    pub fn ids(&self) -> Vec<String> {
        let tasks = self.tasks.iter().map(|task| &task.id);
        tasks.chain(&self.labels).map(ToString::to_string).collect()
    }

    /// The ids of tasks that read nothing, and so have no result.
    pub fn silent(&self) -> Vec<String> {
        let is_silent = |kind: &Kind| match kind {
            Kind::Program { operations, .. } => !operations.iter().any(Operation::reads),
            Kind::Flush { .. } => true,
            Kind::Ready(_) => false,
        };
        let silent = self.tasks.iter().filter(|task| is_silent(&task.kind));
        silent.map(|task| task.id.to_string()).collect()
    }

    /// The factor by which data and capacities shrink.
    pub fn scale(&self) -> u64 {
        self.scale.as_ref().map_or(1, |scale| scale.value)
    }

    pub fn has_kernels(&self) -> bool {
        self.tasks.iter().any(|task| matches!(task.kind, Kind::Ready(_)))
    }

    /// The workload on a machine with these components.
    ///
    /// # Errors
    /// If an agent, or a warp of it, is not there, or work accesses what lies beyond the host memory.
    pub fn workload(&self, document: &Document, machine: &dyn Inspect, memory: Size) -> Result<Workload> {
        let place = Place { document, components: machine.components() };
        let slots = warps_of_a_unit(machine);
        let tasks = self.tasks.iter().map(|entry| {
            let what = match &entry.kind {
                Kind::Program { by, warp, operations, places } => {
                    let (id, agent) = place.agent(by)?;
                    let slots = machine.agent(id).map_or(0, |view| view.warps.len());
                    let warp = warp.as_ref().map(|warp| place.warp(warp, agent, slots)).transpose()?;
                    for (operation, place) in operations.iter().zip(places) {
                        check_addresses(&entry.id, std::slice::from_ref(operation), memory)
                            .map_err(|error| placed(document, place, error))?;
                    }
                    check_spins(&entry.id, operations, machine.keeps_values())
                        .map_err(|error| entry.misfit(document, error))?;
                    let operations = operations.clone().into();
                    TaskKind::Program { agent: agent.path.clone(), warp, operations }
                }
                Kind::Ready(kind) => {
                    if let TaskKind::Kernel(kernel) = kind {
                        check_kernel(kernel, slots).map_err(|error| entry.misfit(document, error))?;
                    }
                    check_arrays(&entry.id, kind, memory).map_err(|error| entry.misfit(document, error))?;
                    kind.clone()
                }
                Kind::Flush { below } => {
                    let below = below.as_ref().map(|name| place.flushed(name)).transpose()?;
                    TaskKind::Flush { below: below.unwrap_or_default() }
                }
            };
            Ok(Task {
                id: entry.id.clone(),
                after: entry.after.clone(),
                delay: entry.delay,
                launch: None,
                what,
            })
        });
        Ok(Workload { tasks: tasks.collect::<Result<_>>()?, ..Workload::default() })
    }
}

impl Entry {
    /// Why the machine cannot do it, told where it stands.
    fn misfit(&self, document: &Document, error: Box<Diagnostic>) -> Box<Diagnostic> {
        placed(document, &self.place, error)
    }
}

fn placed(document: &Document, place: &Range<usize>, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    let (source, place) = document.locate(place.clone());
    (error.source, error.span) = (Some(source.clone()), Some(place));
    error
}

/// Warps that a compute unit has room for; none without a GPU.
fn warps_of_a_unit(machine: &dyn Inspect) -> u32 {
    let mut units = machine.components().iter().filter(|(_, one)| one.kind == ComponentKind::Cu);
    let unit = units.next().and_then(|(id, _)| machine.agent(id));
    unit.map_or(0, |unit| unit.warps.len() as u32)
}

struct Reader<'a> {
    document: &'a Document,
    scale: Option<At<u64>>,
    /// Of the inputs that kernels generate.
    seed: Option<u64>,
    /// Threads in a wavefront of the machine, if it says so.
    wavefront: Option<u32>,
    /// Parameters of all kernels that take them.
    with: &'a Given,
    tasks: Vec<Entry>,
    /// What each task waits for, as written.
    waits: Vec<&'a Texts>,
}

impl<'a> Reader<'a> {
    fn add(
        &mut self,
        id: Option<&At<String>>,
        default: &str,
        place: &Range<usize>,
        after: &'a Texts,
        delay: u64,
        kind: Kind,
    ) {
        let (id, place) = match id {
            Some(id) => (id.value.as_str(), &id.span),
            None => (default, place),
        };
        let (id, place) = (id.into(), place.clone());
        self.tasks.push(Entry { id, place, follows: false, after: Vec::new(), delay, kind });
        self.waits.push(after);
    }

    fn accesses(&mut self, file: &'a ScenarioFile) -> Result<()> {
        for (index, at) in file.accesses.iter().enumerate() {
            let access = &at.value;
            let operations = [Accesses { document: self.document }.operation(access, &at.span)?].into();
            let places = vec![access.address_span().unwrap_or_else(|| at.span.clone())];
            let kind = Kind::Program { by: access.by.clone(), warp: access.warp.clone(), operations, places };
            self.add(
                access.id.as_ref(),
                &format!("do-{}", index + 1),
                &at.span,
                &access.after,
                access.delay,
                kind,
            );
        }
        Ok(())
    }

    fn programs(&mut self, file: &'a ScenarioFile) -> Result<()> {
        for (index, at) in file.programs.iter().enumerate() {
            let program = &at.value;
            let read = |line: &At<String>| {
                instructions::parse(&Text::within(self.document.source(), line.span.clone(), &line.value))
            };
            let operations: Vec<_> = program.instructions.iter().map(read).collect::<Result<_>>()?;
            let (by, warp) = (program.by.clone(), program.warp.clone());
            let places = program.instructions.iter().map(|line| line.span.clone()).collect();
            let kind = Kind::Program { by, warp, operations: operations.into(), places };
            let default = format!("program-{}", index + 1);
            self.add(program.id.as_ref(), &default, &at.span, &program.after, program.delay, kind);
        }
        Ok(())
    }

    /// A kernel is one task, or several in a row: the last is called what the kernel is called, the others so with
    /// a number.
    fn kernels(&mut self, file: &'a ScenarioFile) -> Result<()> {
        for (index, at) in file.kernels.iter().enumerate() {
            let kernel = &at.value;
            let steps = self.kernel(kernel)?;
            let (id, place) = match &kernel.id {
                Some(id) => (id.value.clone(), &id.span),
                None => (format!("kernel-{}", index + 1), &at.span),
            };
            let last = steps.len();
            for (number, step) in (1..).zip(steps) {
                let id = if number == last { id.as_str().into() } else { format!("{id}.{number}").into() };
                let follows = number > 1;
                let delay = if follows { 0 } else { kernel.delay };
                let (place, kind) = (place.clone(), Kind::Ready(step));
                self.tasks.push(Entry { id, place, follows, after: Vec::new(), delay, kind });
                self.waits.push(&kernel.after);
            }
        }
        Ok(())
    }

    fn kernel(&self, kernel: &KernelFile) -> Result<Vec<TaskKind>> {
        let scale = self.scale.as_ref().map(|scale| scale.value);
        self.scaled(kernel, scale).map_err(|mut error| {
            let smaller = std::iter::successors(scale, |scale| Some(scale / 2)).skip(1);
            let largest = smaller
                .take_while(|scale| *scale > 0)
                .find(|scale| self.scaled(kernel, Some(*scale)).is_ok());
            if let Some(largest) = largest {
                error.suggestion = Some(format!("the largest scale that leaves work here is {largest}"));
            }
            if error.source.is_none() {
                let span = error.span.take().unwrap_or_else(|| kernel.name.span.clone());
                let (source, place) = self.document.locate(span);
                (error.source, error.span) = (Some(source.clone()), Some(place));
            }
            error
        })
    }

    /// What a kernel does with its data shrunk by `scale`.
    fn scaled(&self, kernel: &KernelFile, scale: Option<u64>) -> Result<Vec<TaskKind>> {
        let takes = |(name, _): &&(At<String>, At<NumberOrText>)| takes(kernel, &name.value);
        let common = self.with.0.iter().filter(takes).map(parameter);
        let mut list: Vec<Parameter> = common.collect();
        let own = kernel.with.0.iter().map(parameter);
        let own: Vec<_> = own.filter(|own| !list.iter().any(|common| common.name == own.name)).collect();
        list.extend(own);
        let mut parameters = Parameters { list };
        if let Some(scale) = scale {
            parameters.offer(&kernel.name.value, "scale", scale);
        }
        if let Some(seed) = self.seed {
            parameters.offer(&kernel.name.value, "seed", seed);
        }
        if let Some(wavefront) = self.wavefront {
            parameters.offer(&kernel.name.value, "wavefront", u64::from(wavefront));
        }
        kernels::build(&kernel.name.value, &parameters)
    }

    /// Puts the tasks in the order of the file and resolves what they wait for.
    fn finish(self) -> Result<Work> {
        let document = self.document;
        let mut entries: Vec<_> = self.tasks.into_iter().zip(self.waits).collect();
        entries.sort_by_key(|(task, _)| task.place.start);
        let mut index: BTreeMap<Arc<str>, usize> = BTreeMap::new();
        for (number, (task, _)) in entries.iter().enumerate() {
            if task.id.is_empty() {
                let error = document.complain(Some(&task.place), "an id is empty");
                return Err(error.expected("a name, or no id").into());
            }
            if index.insert(task.id.clone(), number).is_some() {
                let error = document.complain(Some(&task.place), format!("the id {} is used twice", task.id));
                return Err(error.into());
            }
        }
        for (number, (task, waits)) in entries.iter_mut().enumerate() {
            if task.follows {
                task.after.push(number.saturating_sub(1));
                continue;
            }
            for wait in &waits.0 {
                let found = index.get(wait.value.as_str()).copied().ok_or_else(|| {
                    let error =
                        document.complain(Some(&wait.span), format!("there is no task {}", wait.value));
                    error.nearest(&wait.value, index.keys().map(|id| &**id))
                })?;
                task.after.push(found);
            }
        }
        let tasks: Vec<_> = entries.into_iter().map(|(task, _)| task).collect();
        no_circles(&tasks, document)?;
        let labels = labels(&tasks, &index, document)?;
        Ok(Work { tasks, labels, scale: self.scale })
    }
}

/// A parameter as a kernel takes it.
fn parameter((name, value): &(At<String>, At<NumberOrText>)) -> Parameter {
    Parameter {
        name: name.value.clone(),
        name_span: Some(name.span.clone()),
        value: match &value.value {
            NumberOrText::Number(number) => Value::Integer(*number),
            NumberOrText::Text(text) => Value::Text(text.clone()),
        },
        value_span: Some(value.span.clone()),
    }
}

fn is_known(kernel: &KernelFile) -> bool {
    kernels::find(&kernel.name.value).is_ok()
}

/// Whether some kernel of a scenario has wavefronts of another size than `threads` unless it is told.
pub(super) fn has_other_wavefronts(file: &ScenarioFile, threads: u32) -> bool {
    let other = |kernel: &KernelFile| {
        let is_given = file.with.0.iter().chain(&kernel.with.0).any(|(name, _)| name.value == "wavefront");
        let default = |kernel: &kernels::Definition| {
            let size = kernel.parameters().find(|parameter| parameter.name == "wavefront");
            size.and_then(|parameter| parameter.kind.default())
        };
        let own = kernels::find(&kernel.name.value).ok().and_then(default);
        !is_given && own.is_some_and(|own| own != u64::from(threads))
    };
    file.kernels.iter().any(|kernel| other(&kernel.value))
}

/// Whether a kernel has a parameter of this name.
pub(super) fn takes(kernel: &KernelFile, name: &str) -> bool {
    kernels::find(&kernel.name.value)
        .is_ok_and(|kernel| kernel.parameters().any(|parameter| parameter.name == name))
}

/// That each parameter which is given to all kernels is one of any. What is no kernel is told later.
fn takers(file: &ScenarioFile, document: &Document) -> Result<()> {
    let kernels = || file.kernels.iter().map(|kernel| &kernel.value);
    let idle = file
        .with
        .0
        .iter()
        .find(|(name, _)| !kernels().any(|kernel| takes(kernel, &name.value) || !is_known(kernel)));
    let Some((name, _)) = idle else { return Ok(()) };
    let known = kernels().filter_map(|kernel| kernels::find(&kernel.name.value).ok());
    let mut known: Vec<_> = known.flat_map(|kernel| kernel.parameters().map(|one| one.name)).collect();
    let mut seen = BTreeSet::new();
    known.retain(|name| seen.insert(*name));
    let error = document.complain(Some(&name.span), format!("no kernel here takes `{}`", name.value));
    let expected = if known.is_empty() { "work with a [[kernel]]".to_owned() } else { known.join(", ") };
    Err(error.expected(expected).nearest(&name.value, known).into())
}

/// By what data and capacities shrink. Capacities alone do not: that would be another machine for the same work.
fn scale(file: &ScenarioFile, document: &Document) -> Result<Option<At<u64>>> {
    let Some(scale) = &file.scale else { return Ok(None) };
    if !scale.value.is_power_of_two() || scale.value > MOST_SCALE {
        let error = document.complain(Some(&scale.span), format!("scale is {}", scale.value));
        return Err(error.expected(format!("a power of two from 1 to {MOST_SCALE}")).into());
    }
    let shrinks = |kernel: &At<KernelFile>| takes(&kernel.value, "scale") || !is_known(&kernel.value);
    if scale.value > 1 && !file.kernels.iter().any(shrinks) {
        let error = document.complain(Some(&scale.span), "there is no work here that a scale shrinks");
        return Err(error
            .expected("a [[kernel]] with the parameter scale, which `umscope list kernels` shows")
            .into());
    }
    Ok(Some(scale.clone()))
}

/// Refuses tasks that can never start because they wait for each other.
fn no_circles(tasks: &[Entry], document: &Document) -> Result<()> {
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); tasks.len()];
    let mut missing: Vec<usize> = tasks.iter().map(|task| task.after.len()).collect();
    for (number, task) in tasks.iter().enumerate() {
        for &before in &task.after {
            if let Some(list) = followers.get_mut(before) {
                list.push(number);
            }
        }
    }
    let mut ready: Vec<usize> = (0..tasks.len()).filter(|&number| missing.get(number) == Some(&0)).collect();
    while let Some(number) = ready.pop() {
        for &follower in followers.get(number).into_iter().flatten() {
            if let Some(count) = missing.get_mut(follower) {
                *count -= 1;
                if *count == 0 {
                    ready.push(follower);
                }
            }
        }
    }
    let Some((task, _)) = tasks.iter().zip(&missing).find(|(_, missing)| **missing > 0) else {
        return Ok(());
    };
    let message = format!("{} can never start: {}", task.id, circle(tasks, &missing, task));
    Err(document.complain(Some(&task.place), message).into())
}

/// What spins reads a value again and again, which there must be.
fn check_spins(id: &str, operations: &[Operation], keeps_values: bool) -> Result<()> {
    let spins = operations.iter().any(|operation| matches!(operation, Operation::SpinUntil(..)));
    if keeps_values || !spins {
        return Ok(());
    }
    let message = format!("{id} spins until it reads a value, and this machine keeps none");
    Err(Diagnostic::new(message).expected("a machine with `values = true`, or no spin").into())
}

/// The circle that a task comes to from which one goes on to what each comes after, and which has not started.
fn circle(tasks: &[Entry], missing: &[usize], task: &Entry) -> String {
    let before = |task: &Entry| task.after.iter().copied().find(|before| missing.get(*before) > Some(&0));
    let mut way: Vec<usize> = Vec::new();
    let mut next = before(task);
    while let Some(at) = next.filter(|at| !way.contains(at)) {
        way.push(at);
        next = tasks.get(at).and_then(before);
    }
    let begins = way.iter().position(|at| Some(*at) == next).unwrap_or(0);
    let members: Vec<&str> = way.iter().skip(begins).filter_map(|at| Some(&*tasks.get(*at)?.id)).collect();
    match members.as_slice() {
        [one] => format!("{one} comes after itself"),
        [first, others @ ..] => {
            let others = others.join(", which comes after ");
            format!("{first} comes after {others}, which comes after {first} again")
        }
        [] => "what it comes after waits in a circle".to_owned(),
    }
}

/// The names of results in programs; each may be given once, and not to a task.
fn labels(tasks: &[Entry], index: &BTreeMap<Arc<str>, usize>, document: &Document) -> Result<Vec<Arc<str>>> {
    let (mut labels, mut known) = (Vec::new(), BTreeMap::new());
    for task in tasks {
        let Kind::Program { operations, .. } = &task.kind else { continue };
        for operation in operations.iter() {
            let (Operation::Access(access) | Operation::SpinUntil(access, _)) = operation else { continue };
            let Some(label) = &access.label else { continue };
            let before = index.get_key_value(label).map(|(id, _)| id.clone());
            if let Some(other) = before.or_else(|| known.insert(label.clone(), task.id.clone())) {
                let message = format!("the name {label} is used twice, in {other} and in {}", task.id);
                let error = document.complain(Some(&task.place), message);
                return Err(error.expected("a name of its own for each result").into());
            }
            labels.push(label.clone());
        }
    }
    Ok(labels)
}
