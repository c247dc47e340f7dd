//! `umscope check`: what is wrong with a file, without running it.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use serde_json::{Map, Value, json};

use super::arguments::{Changes, Format};
use super::exit::{Ended, Status, complain, say};
use super::interrupt::Interrupt;
use super::output::Output;
use super::sweep::Plan;
use super::work::{self, Work, read_trace};
use crate::config::machine::MachineSpec;
use crate::config::machine_keys;
use crate::config::{self, Kind};
use crate::diagnostic::{Diagnostic, Result, Source, TEXT_LIMIT, in_toml, read_text};
use crate::machine::Machine;
use crate::model::component::ComponentKind;
use crate::model::inspect::Inspect;
use crate::model::units::Size;
use crate::protocol::table::Table;
use crate::recording::write::is_recording;
use crate::report::sizes;
use crate::scenario::{Options, Prepared, Scenario};
use crate::workload::{TaskKind, kernels, trace};

/// Diagnose a machine, protocol, scenario or sweep file, or a trace, without running it
///
/// The file is read, everything that it names is looked up, and the machine is built; then it says what it is. A
/// protocol's table is searched for what loses a store, shows an old value or never ends; what is only unlikely to be
/// meant is a warning. A name that `umscope list` shows will do, too.
///
/// With --sizes it says what every cache and directory of the machine, or of the scenario's machine, has to store beside
/// its data: the bits of an entry by what they are for, all entries, and the overhead over the data. With --keys it says the
/// value of every key of the machine file, defaults too; that is a machine file itself.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope check mine.toml
  umscope check tiny/umh-2gpu
  umscope check nmoesi --format json
  umscope check umh-4gpu-nvlink --sizes
  umscope check tiny/umh-2gpu --keys > mine.toml
  umscope check nmoesi --keys > my-protocol.toml
  umscope check umh-1gpu-pcie --sizes --set 'gpu.memory.secondary_block=64 B'

JSON: file, kind (machine, protocol, scenario, sweep or trace), name, errors, warnings, and the facts about it as flat keys.
With --sizes, sizes is a list with an object for each kind of cache or directory that differs; with --keys, keys has the keys of \
the machine file with their values.

Exit status: 0 nothing is wrong; 2 something is, and its place is told.")]
pub struct Check {
    /// A file, or the name of a bundled one
    #[arg(value_name = "FILE")]
    file: String,

    /// The trace's format, if it is a trace and cannot be told from the file (see `umscope list trace-formats`)
    #[arg(long, value_name = "FORMAT")]
    trace_format: Option<String>,

    /// What caches and directories have to store beside their data
    #[arg(long)]
    sizes: bool,

    /// Every key of the machine file with its value, defaults too: a machine file that says all. Of a protocol, its file
    #[arg(long, conflicts_with = "sizes")]
    keys: bool,

    /// Set a key of the machine file, such as gpu.l1.size="1 KiB"; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// How to write what it is
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What was found out about a file.
struct Found {
    kind: &'static str,
    name: String,
    facts: Vec<(&'static str, Value)>,
    /// What is wrong with it though it can be read.
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    /// The machine that was built of it.
    built: Option<Box<Built>>,
    /// The text of a protocol.
    text: Option<Arc<str>>,
}

/// A machine and what it was built from.
struct Built {
    spec: MachineSpec,
    machine: Machine,
}

impl Built {
    fn of(prepared: Prepared) -> Box<Self> {
        Box::new(Self { spec: prepared.blueprint.spec, machine: prepared.machine })
    }
}

impl Found {
    fn new(kind: &'static str, name: String, facts: Vec<(&'static str, Value)>) -> Self {
        Self { kind, name, facts, errors: Vec::new(), warnings: Vec::new(), built: None, text: None }
    }

    /// The same, with what is wrong with the tables that a scenario brings along, or uses from the disk.
    fn with_tables(mut self, scenario: &Scenario, options: &Options) -> Result<Self> {
        for table in scenario.own_tables(options)? {
            let (_, faults) = config::protocol::examine(&table)?;
            self.errors.extend(faults.errors);
            self.warnings.extend(faults.warnings);
        }
        Ok(self)
    }
}

impl Check {
    pub fn carry_out(&self) -> Ended {
        // Ends the process: there is nothing to tell of half a file.
        let found = self.look(&Interrupt::install()?)?;
        found.errors.iter().for_each(complain);
        for warning in &found.warnings {
            say(warning);
        }
        let is_wrong = !found.errors.is_empty();
        if is_wrong && self.format == Format::Text {
            return Ok(Status::Wrong);
        }
        let built = self.wanted(&found)?;
        let mut output = Output::standard();
        match self.format {
            Format::Json => {
                let mut document = Map::new();
                document.insert("file".into(), json!(self.file));
                document.insert("kind".into(), json!(found.kind));
                document.insert("name".into(), json!(found.name));
                for (key, list) in [("errors", &found.errors), ("warnings", &found.warnings)] {
                    let list: Vec<String> = list.iter().map(ToString::to_string).collect();
                    document.insert(key.into(), json!(list));
                }
                document.extend(found.facts.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
                if let Some(built) = built {
                    let (key, value) = self.wished(built);
                    document.insert(key.into(), value);
                }
                output.json(&Value::Object(document))?;
            }
            Format::Text if self.keys && found.text.is_some() => {
                output.line(found.text.as_deref().unwrap_or_default().trim_end())?;
                output.done()?;
            }
            Format::Text if self.keys => {
                // Neither a path nor a title may end the comment.
                let heading = format!("# {}: a {}, {}", self.file, found.kind, found.name);
                output.line(&heading.replace(char::is_control, " "))?;
                for (key, value) in built.map(|built| machine_keys::keys(&built.spec)).unwrap_or_default() {
                    output.line(&format!("{key} = {value}"))?;
                }
                output.done()?;
            }
            Format::Text => {
                // A trace has no name but its file's.
                let name = Some(found.name.as_str()).filter(|name| *name != self.file);
                let name = name.map_or_else(String::new, |name| format!(", {name}"));
                output.line(&format!("{}: a {}{name}", self.file, found.kind))?;
                // What there is none of is not worth a line.
                let nothing = [Value::Null, json!(0), json!([])];
                for (key, value) in found.facts.iter().filter(|(_, value)| !nothing.contains(value)) {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    output.line(&format!("  {:<22} {value}", key.replace('_', " ")))?;
                }
                for line in built.map(|built| sizes::lines(&built.machine)).unwrap_or_default() {
                    output.line(&line)?;
                }
                output.done()?;
            }
        }
        Ok(if is_wrong { Status::Wrong } else { Status::Held })
    }

    /// The machine of which more is asked for.
    fn wanted<'a>(&self, found: &'a Found) -> Result<Option<&'a Built>> {
        let built = found.built.as_deref();
        let has_keys = found.text.is_some() && self.format == Format::Text;
        let asked =
            [("--sizes", self.sizes), ("--keys", self.keys && !has_keys), ("--set", !self.set.is_empty())];
        if let (None, Some((option, _))) = (built, asked.into_iter().find(|(_, asked)| *asked)) {
            let message = format!("{option} is about a machine, and {} is a {}", self.file, found.kind);
            return Err(Box::new(Diagnostic::new(message).expected("a machine or a scenario")));
        }
        Ok(built.filter(|_| self.sizes || self.keys))
    }

    /// What is asked for beside the facts, and its key.
    fn wished(&self, built: &Built) -> (&'static str, Value) {
        if self.sizes {
            return ("sizes", sizes::json(&built.machine));
        }
        let keys = machine_keys::keys(&built.spec).into_iter();
        ("keys", Value::Object(keys.map(|(key, value)| (key, json!(value))).collect()))
    }

    fn look(&self, interrupt: &Interrupt) -> Result<Found> {
        let path = Path::new(&self.file);
        if is_recording(path) {
            let error = Diagnostic::new(format!("{} is a recording", path.display()));
            return Err(Box::new(error.expected("umscope replay, which checks one")));
        }
        let named = self.trace_format.as_deref().map(trace::Format::parse).transpose()?;
        if let Some(format) = named.or_else(|| trace::detect(path)) {
            return self.trace(path, format, interrupt);
        }
        match self.kind(path)? {
            Kind::Machine => self.machine(),
            Kind::Protocol => self.protocol(),
            Kind::Scenario => self.scenario(interrupt),
            Kind::Sweep => self.sweep(interrupt),
        }
    }

    /// What the file is: by its keys if it is on disk, else by where its name is bundled.
    fn kind(&self, path: &Path) -> Result<Kind> {
        let with_ending = format!("{}.toml", self.file);
        let bundled = Kind::ALL.into_iter().find(|kind| config::is_bundled(*kind, &self.file));
        for path in [path, Path::new(&with_ending)] {
            let is_empty = || path.metadata().is_ok_and(|file| file.is_file() && file.len() == 0);
            if path.exists() && !(bundled.is_some() && is_empty()) {
                let kind = |source: Source| config::kind_of(&source).ok_or_else(|| no_kind(&source));
                let is_toml = path.extension().is_some_and(|ending| ending == "toml");
                return read_text(path, TEXT_LIMIT)
                    .and_then(kind)
                    .map_err(|error| if is_toml { error } else { trace::unknown(path) });
            }
        }
        let bundled = bundled
            .or_else(|| Kind::ALL.into_iter().find(|kind| config::find(*kind, &self.file, None).is_ok()));
        bundled.ok_or_else(|| {
            let names: Vec<_> =
                Kind::ALL.into_iter().flat_map(config::list).map(|entry| entry.name).collect();
            let is_kernel = kernels::find(&self.file).is_ok();
            let what = if is_kernel { ", only a kernel of that name" } else { "" };
            let error = Diagnostic::new(format!("there is no file `{}`{what}", self.file));
            let expected = "a path, or a scenario, machine or protocol that `umscope list` shows";
            Box::new(error.expected(expected).nearest(&self.file, names.iter().map(String::as_str)))
        })
    }

    fn trace(&self, path: &Path, format: trace::Format, interrupt: &Interrupt) -> Result<Found> {
        let trace = read_trace(path, Some(format), interrupt)?;
        let tasks = trace.workload.tasks.iter();
        let kernels = tasks.filter(|task| matches!(task.what, TaskKind::Kernel(_))).count();
        let copies = trace.workload.tasks.len() - kernels - trace.cores.len();
        let copied: u64 = trace.copied.iter().map(|range| u64::from(range.len)).sum();
        Ok(Found::new(
            "trace",
            self.file.clone(),
            vec![
                ("format", json!(trace.format.name())),
                ("kernels", json!(kernels)),
                ("copies_between_kernels", json!(copies)),
                ("cores", json!(trace.cores.len())),
                ("core_numbers", json!(trace.cores)),
                ("instructions", json!(trace.counts.instructions)),
                ("lane_loads", json!(trace.counts.lane_loads)),
                ("lane_stores", json!(trace.counts.lane_stores)),
                ("lane_atomics", json!(trace.counts.lane_atomics)),
                ("copied_footprint_bytes", json!(copied)),
                ("footprint_bytes", json!(trace.footprint_bytes())),
            ],
        ))
    }

    fn machine(&self) -> Result<Found> {
        let spec = config::load_machine_with(&self.file, None, &self.set)?;
        // An empty scenario has its protocols looked up and its parts built.
        let found = config::find(Kind::Machine, &self.file, None)?;
        let text = format!("machine = {}\n", in_toml(&found.reference));
        let scenario = Scenario::parse(Source::new(found.source.name, text), None)?;
        let options = Options { set: self.set.clone(), ..Options::default() };
        let prepared = scenario.prepare(&options)?;
        let mut found = Found::new("machine", spec.name.clone(), parts(&spec, &prepared));
        found.built = Some(Built::of(prepared));
        found.with_tables(&scenario, &options)
    }

    fn protocol(&self) -> Result<Found> {
        let found = config::find(Kind::Protocol, &self.file, None)?;
        let (table, faults) = config::protocol::examine(&found.source)?;
        let text = Some(found.source.text);
        Ok(Found { errors: faults.errors, warnings: faults.warnings, text, ..protocol(&table) })
    }

    fn sweep(&self, interrupt: &Interrupt) -> Result<Found> {
        let plan = Plan::load(&self.file, &[], None, interrupt)?;
        let mut found = Found::new("sweep", plan.title.clone(), vec![("points", json!(plan.points.len()))]);
        let left_out = plan.left_out.iter();
        found
            .warnings
            .extend(left_out.map(|(point, why)| work::left_out(why, &format!(" in the point {point}"))));
        Ok(found)
    }

    fn scenario(&self, interrupt: &Interrupt) -> Result<Found> {
        let changes = Changes { set: self.set.clone(), ..Changes::default() };
        let work = Work::load(&self.file, None, &changes, interrupt)?;
        let prepared = work.prepare()?;
        let file = work.scenario.file();
        if file.explore.is_some() {
            work.scenario.alphabet(&prepared.machine)?;
        }
        work::known_commands(&work.scenario)?;
        let mut found = Found::new(
            "scenario",
            work.scenario.title().to_owned(),
            vec![
                ("machine", json!(work.machine_name(&prepared))),
                ("protocol", json!(prepared.blueprint.spec.protocol)),
                ("protocols", protocols(&prepared)),
                ("tasks", json!(prepared.blueprint.workload.tasks.len())),
                ("expectations", json!(prepared.checker.expectations().len())),
                ("narration", json!(file.says.len())),
                ("questions", json!(file.says.iter().filter(|say| say.value.ask.is_some()).count())),
                ("breakpoints", json!(prepared.breaks.len())),
                ("faults", json!(file.faults.len())),
            ],
        );
        found.warnings.extend(prepared.left_out.as_deref().map(|why| work::left_out(why, "")));
        found.built = Some(Built::of(prepared));
        found.with_tables(&work.scenario, &work.options)
    }
}

/// What a file on disk is that has none of the keys that would tell.
fn no_kind(source: &Source) -> Box<Diagnostic> {
    match config::Document::new(source.clone()).read::<toml::Table>() {
        Err(error) => error,
        Ok(table) if table.is_empty() => {
            let empty = Diagnostic::new(format!("{} is empty", source.name));
            Box::new(empty.expected("a machine, a protocol, a scenario or a sweep"))
        }
        Ok(_) => Box::new(
            Diagnostic::new("this is no machine, protocol, scenario or sweep")
                .of(source)
                .expected("the keys gpu or host (a machine), cache (a protocol), machine (a scenario), or set (a sweep)"),
        ),
    }
}

fn protocol(table: &Table) -> Found {
    let states: Vec<_> = table.rows.iter().map(|row| row.state.letter().to_string()).collect();
    let cells = table.rows.iter().flat_map(|row| &row.leaf).flatten().count();
    let inner_cells = table.rows.iter().flat_map(|row| &row.inner).flatten().count();
    let rules = [&table.read, &table.read_nc, &table.write];
    Found::new(
        "protocol",
        table.name.clone(),
        vec![
            ("title", json!(table.title)),
            ("source", if table.source.is_empty() { Value::Null } else { json!(table.source) }),
            ("states", json!(states.join(" "))),
            ("cells", json!(cells)),
            ("inner_cells", json!(inner_cells)),
            ("directory_rules", json!(rules.iter().map(|rules| rules.len()).sum::<usize>())),
            ("merges", json!(table.merge.len())),
        ],
    )
}

/// How many there are of each part, and how large they are.
fn parts(spec: &MachineSpec, prepared: &Prepared) -> Vec<(&'static str, Value)> {
    let components = prepared.machine.components();
    let count = |kind: ComponentKind| components.iter().filter(|(_, part)| part.kind == kind).count();
    let mut facts = vec![("protocol", json!(spec.protocol)), ("protocols", protocols(prepared))];
    if let Some(gpu) = &spec.gpu {
        facts.extend([
            ("gpus", json!(gpu.count)),
            ("compute_units", json!(count(ComponentKind::Cu))),
            ("gpu_l1", json!(gpu.l1.size.to_string())),
            ("gpu_l2_slices", json!(count(ComponentKind::L2))),
        ]);
        if gpu.l2.present {
            facts.push(("gpu_l2_slice", json!(gpu.l2.cache.size.to_string())));
        }
        facts.push(("smds", json!(count(ComponentKind::Smd))));
        if count(ComponentKind::Smd) > 0 {
            facts.extend([
                ("smd_memory", json!(gpu.memory.size.to_string())),
                ("secondary_block", json!(Size(u64::from(gpu.memory.secondary_block)).to_string())),
            ]);
        }
        if count(ComponentKind::Memory) > 0 {
            facts.extend([
                ("gpu_memory_partitions", json!(count(ComponentKind::Memory))),
                ("gpu_memory_partition", json!(gpu.memory.size.to_string())),
            ]);
        }
        facts.extend(
            gpu.tags.as_ref().map(|tags| ("data_a_tag", json!(Size(u64::from(tags.data)).to_string()))),
        );
    }
    let links = count(ComponentKind::Link);
    facts.extend([
        ("cpu_cores", json!(count(ComponentKind::Core))),
        ("hmds", json!(count(ComponentKind::Hmd))),
        ("host_memory", json!(spec.host.memory.to_string())),
        ("links", json!(links)),
    ]);
    facts.extend((links > 0).then(|| ("link_bandwidth", json!(spec.network.bandwidth.to_string()))));
    facts
}

/// The protocols of all nodes, the machine's own first.
fn protocols(prepared: &Prepared) -> Value {
    let mut names: Vec<&str> = Vec::new();
    for table in prepared.machine.tables() {
        if !names.contains(&table.name.as_str()) {
            names.push(&table.name);
        }
    }
    json!(names.join(", "))
}
