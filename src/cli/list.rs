//! `umscope list`: what is bundled.

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::arguments::Format;
use super::exit::{Ended, Status, Trouble};
use super::output::Output;
use crate::config::{self, Kind};
use crate::diagnostic::Diagnostic;
use crate::explore::shown::shown_by;
use crate::model::fault::Fault;
use crate::model::record::{FieldInfo, KINDS, KindInfo};
use crate::protocol::rules::{RULES, Rule};
use crate::scenario::curriculum;
use crate::workload::kernels::{Definition, KERNELS, ParameterDefinition};
use crate::workload::suites::{Rates, SUITES, Suite, Workload};
use crate::workload::trace;

/// List what is bundled: machines, protocols, kernels, workloads, scenarios, sweeps
///
/// Every name can be used where a file is asked for. A file on disk wins over a bundled one of the same name.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope list
  umscope list scenarios        (lessons in the order in which they build on each other)
  umscope list kernels          (with their parameters)
  umscope list kernels sort     (of those with this in their names)
  umscope list faults           (what --fault and [[fault]] take)
  umscope list rules            (of the protocol engine, which most faults switch off)
  umscope list workloads        (of the papers' tables: each is a scenario)
  umscope list records way      (kinds of record and their fields, as queries name them)
  umscope list --format json | jq -r '.machines[].name'

JSON: machines[{name, title}], protocols[{name, title}], kernels[{name, title, source, \
parameters[{name, about, default, expected}]}], workloads[{name, title, source, machine, kernel, with, blocks, \
megabytes, rates{l1_hits, l2_hits, l1_coalesced, coalesced, line_use}, differs}], scenarios[{name, title}], sweeps[{name, title}], \
trace_formats[{name, title}], faults[{name, title, shown_by (a command in which something breaks by it)}], rules[{name, title}], records[{name, title, fields[{name, about}]}]; with a kind given, only its key, and with a NAME only the entries that fit it. `blocks`, `megabytes` and `rates` (in per \
cent; of a GPU with hardware coherence what hits, of one without what is coalesced and used of a line) are those of the \
paper's tables, null where they have none.")]
pub struct List {
    /// Only these
    #[arg(value_enum, ignore_case = true)]
    what: Option<What>,

    /// Only what has this in its name, whatever the case
    name: Option<String>,

    /// How to write it
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    Machines,
    Protocols,
    Kernels,
    Workloads,
    Scenarios,
    Sweeps,
    TraceFormats,
    Faults,
    Rules,
    Records,
}

impl What {
    const ALL: [Self; 10] = [
        Self::Machines,
        Self::Protocols,
        Self::Kernels,
        Self::Workloads,
        Self::Scenarios,
        Self::Sweeps,
        Self::TraceFormats,
        Self::Faults,
        Self::Rules,
        Self::Records,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Machines => "machines",
            Self::Protocols => "protocols",
            Self::Kernels => "kernels",
            Self::Workloads => "workloads",
            Self::Scenarios => "scenarios",
            Self::Sweeps => "sweeps",
            Self::TraceFormats => "trace-formats",
            Self::Faults => "faults",
            Self::Rules => "rules",
            Self::Records => "records",
        }
    }

    /// Names and titles.
    fn entries(self) -> Vec<(String, String)> {
        let files = |kind| config::list(kind).into_iter().map(|entry| (entry.name, entry.title)).collect();
        match self {
            Self::Machines => files(Kind::Machine),
            Self::Protocols => files(Kind::Protocol),
            Self::Scenarios => {
                let mut scenarios: Vec<_> = files(Kind::Scenario);
                scenarios.sort_by_key(|(name, _)| curriculum::place(name));
                scenarios
            }
            Self::Sweeps => files(Kind::Sweep),
            Self::TraceFormats => {
                let entry = |format: trace::Format| (format.name().to_owned(), format.title().to_owned());
                trace::Format::ALL.map(entry).into()
            }
            Self::Faults => {
                Fault::NAMES.iter().map(|name| ((*name).to_owned(), Fault::about(name).to_owned())).collect()
            }
            Self::Rules => {
                let told = |rule: &Rule| {
                    (format!("rule {}", rule.number), format!("{}; without it: {}", rule.says, rule.without))
                };
                RULES.iter().map(told).collect()
            }
            Self::Records => KINDS.iter().map(|kind| (kind.name.to_owned(), kind.about.to_owned())).collect(),
            Self::Workloads => {
                workloads().map(|(suite, workload)| (suite.path(workload), told(workload))).collect()
            }
            Self::Kernels => {
                KERNELS.iter().map(|kernel| (kernel.name.to_owned(), kernel.title.to_owned())).collect()
            }
        }
    }

    fn json(self) -> Value {
        match self {
            Self::Kernels => return KERNELS.iter().map(kernel).collect(),
            Self::Workloads => return workloads().map(|(suite, one)| workload(suite, one)).collect(),
            Self::Records => return KINDS.iter().map(record).collect(),
            Self::Faults => return Fault::NAMES.iter().map(|name| fault(name)).collect(),
            _ => {}
        }
        self.entries().into_iter().map(|(name, title)| json!({ "name": name, "title": title })).collect()
    }
}

fn fault(name: &str) -> Value {
    json!({ "name": name, "title": Fault::about(name), "shown_by": shown_by(name) })
}

fn kernel(kernel: &Definition) -> Value {
    let parameter = |parameter: &ParameterDefinition| {
        json!({
            "name": parameter.name,
            "about": parameter.about,
            "default": parameter.kind.default_text(),
            "expected": parameter.kind.expected(),
        })
    };
    let parameters: Vec<_> = kernel.parameters().map(parameter).collect();
    json!({
        "name": kernel.name,
        "title": kernel.title,
        "source": kernel.source,
        "parameters": parameters,
    })
}

fn record(kind: &KindInfo) -> Value {
    let field = |field: &FieldInfo| json!({ "name": field.name, "about": field.about });
    let fields: Vec<_> = kind.fields.iter().map(field).collect();
    json!({ "name": kind.name, "title": kind.about, "fields": fields })
}

fn workloads() -> impl Iterator<Item = (&'static Suite, &'static Workload)> {
    SUITES.iter().flat_map(|suite| suite.workloads.iter().map(move |workload| (suite, workload)))
}

/// What stands for a workload, what its paper's table says of it, and in what the two differ.
fn told(workload: &Workload) -> String {
    let row = workload.table.map_or_else(String::new, |row| {
        let blocks = row.blocks.map(|blocks| format!("{blocks} blocks, ")).unwrap_or_default();
        let within = if workload.differs.is_empty() { " (within an eighth)" } else { "" };
        format!("; the paper: {blocks}{} MB{within}", row.megabytes)
    });
    let rates = workload.rates.map_or_else(String::new, |rates| format!("; the paper: {}", rates.text()));
    let differs = if workload.differs.is_empty() { "" } else { "; differs in " };
    format!("{}{row}{rates}{differs}{}", workload.kernel, workload.differs)
}

fn workload(suite: &Suite, workload: &Workload) -> Value {
    let with: Map<_, _> =
        workload.with.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    json!({
        "name": suite.path(workload),
        "title": workload.name,
        "source": suite.source,
        "machine": suite.machine,
        "kernel": workload.kernel,
        "with": with,
        "blocks": workload.table.and_then(|row| row.blocks),
        "megabytes": workload.table.map(|row| row.megabytes),
        "rates": workload.rates.map(rates),
        "differs": workload.differs,
    })
}

fn rates(rates: Rates) -> Value {
    json!({
        "l1_hits": rates.l1_hits,
        "l2_hits": rates.l2_hits,
        "l1_coalesced": rates.l1_coalesced,
        "coalesced": rates.coalesced,
        "line_use": rates.line_use,
    })
}

/// What a kernel can be told: a line for each parameter with its default, and what it may be instead.
fn parameters(kernel: &str, output: &mut Output) -> Result<(), Trouble> {
    let definitions = KERNELS.iter().filter(|known| known.name == kernel).flat_map(Definition::parameters);
    for parameter in definitions {
        let default = parameter.kind.default_text();
        // What is no value, such as "after the array before it".
        let default = if default.contains(' ') { format!("({default})") } else { default };
        let given = format!("{} = {default}", parameter.name);
        output.line(&format!("    {given:<26} {}: {}", parameter.about, parameter.kind.expected()))?;
    }
    Ok(())
}

/// What a record of a kind says: a line for each of its fields.
fn fields(kind: &str) -> impl Iterator<Item = String> {
    KINDS.iter().filter(move |known| known.name == kind).flat_map(KindInfo::lines)
}

impl List {
    pub fn carry_out(&self) -> Ended {
        let kinds = self.what.map_or_else(|| What::ALL.to_vec(), |what| vec![what]);
        self.check_name(&kinds)?;
        match self.format {
            Format::Json => self.document(&kinds)?,
            Format::Text => self.lines(&kinds)?,
        }
        Ok(Status::Held)
    }

    /// Whether this name is asked for.
    fn fits(&self, name: &str) -> bool {
        let part = self.name.as_ref().map(|part| part.to_ascii_lowercase());
        part.is_none_or(|part| name.to_ascii_lowercase().contains(&part))
    }

    /// That something has what is looked for in its name.
    fn check_name(&self, kinds: &[What]) -> Result<(), Trouble> {
        let Some(part) = &self.name else { return Ok(()) };
        let names: Vec<String> = kinds.iter().flat_map(|what| what.entries()).map(|(name, _)| name).collect();
        if names.iter().any(|name| self.fits(name)) {
            return Ok(());
        }
        let what = self.what.map_or("what is bundled", What::name);
        let error = Diagnostic::new(format!("none of {what} has {part:?} in its name"));
        let error = error.expected(format!("a part of a name that `umscope list {what}` shows"));
        Err(error.nearest(part, names.iter().map(String::as_str)).into())
    }

    fn document(&self, kinds: &[What]) -> Result<(), Trouble> {
        let fits = |entry: &Value| entry["name"].as_str().is_some_and(|name| self.fits(name));
        let list = |what: &What| {
            let all = what.json();
            all.as_array().into_iter().flatten().filter(|entry| fits(entry)).cloned().collect()
        };
        let keys: Map<_, _> = kinds.iter().map(|what| (what.name().replace('-', "_"), list(what))).collect();
        Output::standard().json(&Value::Object(keys))
    }

    fn lines(&self, kinds: &[What]) -> Result<(), Trouble> {
        let mut output = Output::standard();
        let fitting = |what: &What| {
            let entries: Vec<_> = what.entries().into_iter().filter(|(name, _)| self.fits(name)).collect();
            (what.name(), entries)
        };
        let lists: Vec<_> = kinds.iter().map(fitting).collect();
        let names = lists.iter().flat_map(|(_, entries)| entries.iter().map(|(name, _)| name.len()));
        let width = names.max().unwrap_or(0);
        for (index, (heading, entries)) in lists.iter().enumerate() {
            if lists.len() > 1 {
                output.line(&format!("{}{heading}", if index > 0 { "\n" } else { "" }))?;
            }
            let indent = if lists.len() > 1 { "  " } else { "" };
            for (name, title) in entries {
                output.line(&format!("{indent}{name:width$}  {title}"))?;
                match self.what {
                    Some(What::Kernels) => parameters(name, &mut output)?,
                    Some(What::Records) => fields(name).try_for_each(|line| output.line(&line))?,
                    _ => {}
                }
            }
        }
        output.done()
    }
}
