//! What a session is opened on: a scenario, or a machine alone.

use super::lesson::Lesson;
use super::subject::Subject;
use crate::config::machine::{MachineSpec, NetworkKind};
use crate::diagnostic::Diagnostic;
use crate::model::inspect::Inspect;
use crate::model::text::plural;
use crate::query::Context;
use crate::recording::Mark;
use crate::scenario::{Break, Bug, Options, Prepared, Scenario};

/// A machine at its first position, and what belongs to it.
#[derive(Debug)]
pub struct Origin {
    /// The name to open it by (`umh/fig5-b1`).
    pub name: String,
    pub title: String,
    /// Paper and section.
    pub source: String,
    /// One line about the machine.
    pub about: String,
    pub machine: Box<dyn Subject>,
    /// The names that queries may use; those of the machine if it is not given.
    pub context: Option<Context>,
    pub breaks: Vec<Break>,
    pub lesson: Option<Lesson>,
    /// What is to be found, if it is a hunt for a bug.
    pub bug: Option<Bug>,
    /// How to make it again, and otherwise.
    pub maker: Option<Maker>,
    pub recorded: Option<Recorded>,
    /// Why something of the scenario was left out, if it was.
    pub left_out: Option<Box<Diagnostic>>,
}

/// The end of a recording that is opened.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub mark: Mark,
    /// What an exploration found there: that a request can wait for ever, say, is not to be seen in the machine.
    pub found: Option<String>,
    /// That is a rule that is broken, and not that nothing can move or an expectation failed.
    pub is_violation: bool,
}

/// A scenario with what was said besides.
#[derive(Clone, Debug)]
pub struct Maker {
    pub scenario: Scenario,
    pub options: Options,
}

impl Origin {
    /// A scenario that has been prepared.
    #[must_use]
    pub fn scenario(name: &str, scenario: &Scenario, options: &Options, prepared: Prepared) -> Self {
        let from = prepared.machine.event();
        Self {
            name: name.to_owned(),
            title: scenario.title().to_owned(),
            source: scenario.file().source.clone().unwrap_or_default(),
            about: in_one_line(&prepared.blueprint.spec),
            machine: Box::new(prepared.machine),
            context: Some(prepared.context),
            breaks: prepared.breaks,
            lesson: Lesson::new(prepared.narrator, prepared.checker, from),
            bug: prepared.bug,
            maker: Some(Maker { scenario: scenario.clone(), options: options.clone() }),
            recorded: None,
            left_out: prepared.left_out,
        }
    }
}

/// `2 GPUs, 1 core, PCIe 16 GB/s`
#[must_use]
pub fn in_one_line(spec: &MachineSpec) -> String {
    let mut parts = Vec::new();
    let one = if spec.numa().is_some() { "socket" } else { "GPU" };
    parts.extend(spec.gpu.as_ref().map(|gpu| plural(u64::from(gpu.count), one)));
    parts.push(plural(u64::from(spec.host.cores), "core"));
    let network = match spec.network.kind {
        NetworkKind::Pcie => "PCIe",
        NetworkKind::Nvlink => "NVLink",
    };
    parts.extend(spec.gpu.as_ref().map(|_| format!("{network} {}", spec.network.bandwidth)));
    parts.join(", ")
}

#[cfg(test)]
impl Origin {
    /// The scenario that this text describes.
    pub fn of_text(name: &str, text: &str) -> crate::diagnostic::Result<Self> {
        let scenario = Scenario::parse(crate::diagnostic::Source::new(name, text), None)?;
        let options = Options::default();
        let prepared = scenario.prepare(&options)?;
        Ok(Self::scenario(name, &scenario, &options, prepared))
    }
}

#[cfg(test)]
mod tests;
