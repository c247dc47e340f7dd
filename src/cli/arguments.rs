//! Arguments that several subcommands take.

use clap::{Args, ValueEnum};

use crate::diagnostic::{self, Diagnostic, in_toml};
use crate::model::number::parse_number;
use crate::model::random::MOST_SEED;
use crate::scenario::{CYCLES, fault_table};
use crate::workload::kernels::MOST_SCALE;

/// What is run.
#[derive(Clone, Debug, Args)]
pub struct Target {
    /// A scenario file, the name of a bundled scenario or workload, or a trace (with --machine)
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,

    /// The machine that a trace, or one of `umscope list workloads`, runs on: a bundled name or the path of a machine file
    #[arg(long, value_name = "NAME|PATH")]
    pub machine: Option<String>,

    /// The trace's format, if it cannot be told from the file (see `umscope list trace-formats`)
    #[arg(long, value_name = "FORMAT")]
    pub trace_format: Option<String>,

    #[command(flatten)]
    pub changes: Changes,
}

/// What is changed about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct Changes {
    /// Set a key of the machine file, such as gpu.l1.size="1 KiB", or the scenario's scale, launch, or a parameter of its
    /// kernels, such as with.pieces=8; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,

    /// Shrink kernels' data, caches and GPU memories by this power of two, as --set scale=N
    ///
    /// The data of the kernels that take a scale (see `umscope list kernels`) and the capacities that they press on
    /// shrink together: every L1, L2, LLC, client cache and GPU memory has so many times fewer sets (one at least) of
    /// the same ways and blocks. Host memory, the remote directory, latencies, bandwidths, MSHRs and buffers stay. A
    /// kernel with a scale of its own keeps that; a trace has none.
    #[arg(long, value_name = "N", value_parser = scale, allow_negative_numbers = true)]
    pub scale: Option<u64>,

    /// Seed of everything random, instead of the scenario's, and of what kernels without a `seed` of their own generate
    #[arg(long, value_name = "NUMBER", value_parser = seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,

    /// Stop after so many GPU core cycles, instead of the scenario's limit
    #[arg(long, value_name = "CYCLES", value_parser = cycles, allow_negative_numbers = true)]
    pub max_cycles: Option<u64>,

    /// Cycles after which a transaction that has not ended is a failed check, instead of the scenario's; 0 for none
    #[arg(long, value_name = "CYCLES", value_parser = number, allow_negative_numbers = true)]
    pub transaction_limit: Option<u64>,

    /// Check the protocol's rules after every event (default: what the scenario says; off for a trace)
    #[arg(long, value_name = "WHEN")]
    pub checks: Option<Switch>,

    #[command(flatten)]
    pub tries: Tries,
}

/// What a design is tried with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct Tries {
    /// Another protocol than the scenario's or the machine's: a bundled name or a path. The story of a scenario, and each expectation
    /// that names a state that it lacks, is left out, which is said; shrink and explore refuse it
    #[arg(long, value_name = "NAME|PATH")]
    pub protocol: Option<String>,

    /// Inject a fault, such as no-grant-ack or, where it is a run, 'lose-message message=grant nth=2' (see `umscope list faults`),
    /// instead of the scenario's own; may be given several times
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,

    /// Change a part of the protocol's table, such as 'cache S store = hit > M', 'directory write 1 = { grant = "M" }', 'directory
    /// read 2 = none' or 'merge N E = O', of another table of the machine than the first with its name before it ('scale-memory: inner C
    /// n-store = ...'), instead of what the scenario changes; may be given several times
    #[arg(long, value_name = "CHANGE")]
    pub mutate: Vec<String>,
}

impl Tries {
    /// What of a table is tried, to be told with what came of it: ` (./mine.toml, with cache S store = hit)`.
    #[must_use]
    pub fn told(&self) -> String {
        let changes = (!self.mutate.is_empty()).then(|| format!("with {}", self.mutate.join(" and ")));
        let told: Vec<String> = self.protocol.iter().cloned().chain(changes).collect();
        if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
    }

    /// The same as keys of a scenario file, beside what else is `set` by keys.
    ///
    /// # Errors
    /// If `set` names a protocol, too, or a fault is written wrongly.
    pub fn keys(&self, set: &[String]) -> diagnostic::Result<Vec<String>> {
        let names_one = |set: &&String| set.split('=').next().is_some_and(|key| key.trim() == "protocol");
        if let Some(other) = set.iter().find(names_one).filter(|_| self.protocol.is_some()) {
            let error = Diagnostic::new(format!("--protocol and --set {other} both name a protocol"));
            return Err(Box::new(error.expected("one of them")));
        }
        let list = |key: &str, items: Vec<String>| {
            (!items.is_empty()).then(|| format!("{key}=[{}]", items.join(", ")))
        };
        let faults = self.fault.iter().map(|fault| fault_table(fault)).collect::<diagnostic::Result<_>>()?;
        let changes = self.mutate.iter().map(|change| in_toml(change)).collect();
        let protocol = self.protocol.as_ref().map(|name| format!("protocol={}", in_toml(name)));
        Ok(protocol.into_iter().chain(list("fault", faults)).chain(list("mutate", changes)).collect())
    }
}

impl Changes {
    /// What is set of the scenario file, and what of the machine file.
    ///
    /// # Errors
    /// As [`Tries::keys`].
    pub fn split(&self) -> diagnostic::Result<(Vec<String>, Vec<String>)> {
        let key = |text: &String| text.split_once('=').map_or("", |(key, _)| key.trim()).to_owned();
        let is_own = |text: &String| {
            let key = key(text);
            ["scale", "launch"].contains(&key.as_str()) || key.starts_with("with.")
        };
        let (mut scenario, machine): (Vec<_>, Vec<_>) = self.set.iter().cloned().partition(is_own);
        if let Some(twice) = scenario.iter().find(|set| key(set) == "scale" && self.scale.is_some()) {
            let error = Diagnostic::new(format!("--scale and --set {twice} both set the scale"));
            return Err(Box::new(error.expected("one of them")));
        }
        scenario.extend(self.scale.map(|scale| format!("scale={scale}")));
        scenario.extend(self.seed.map(|seed| format!("seed={seed}")));
        scenario.extend(self.transaction_limit.map(|cycles| format!("transaction-limit={cycles}")));
        scenario.extend(self.tries.keys(&machine)?);
        Ok((scenario, machine))
    }
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

/// How a result is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// A whole number as queries write it: `1000`, `1_000` or `0x3e8`.
pub fn number(text: &str) -> Result<u64, String> {
    parse_number(text)
        .ok_or_else(|| format!("expected a whole number up to {}, such as 1000, 1_000 or 0x3e8", u64::MAX))
}

/// A seed, as large as a scenario file can say it.
fn seed(text: &str) -> Result<u64, String> {
    let seed = parse_number(text).filter(|seed| *seed <= MOST_SEED);
    seed.ok_or_else(|| format!("expected a whole number up to {MOST_SEED}, such as 1000, 1_000 or 0x3e8"))
}

/// As many cycles as a run may take.
fn cycles(text: &str) -> Result<u64, String> {
    let (least, most) = (CYCLES.start(), CYCLES.end());
    let limited = |cycles| CYCLES.contains(&cycles).then_some(cycles);
    parse_number(text).and_then(limited).ok_or_else(|| format!("expected {least} to {most} GPU core cycles"))
}

/// By what data and capacities may shrink.
fn scale(text: &str) -> Result<u64, String> {
    let fits = |scale: &u64| scale.is_power_of_two() && *scale <= MOST_SCALE;
    parse_number(text).filter(fits).ok_or_else(|| format!("expected a power of two from 1 to {MOST_SCALE}"))
}

/// Threads that a run may have, at most.
const MOST_JOBS: u64 = 1024;

/// How many threads work at a time.
pub fn jobs(text: &str) -> Result<usize, String> {
    let jobs = number(text).ok().filter(|jobs| (1..=MOST_JOBS).contains(jobs));
    jobs.map(|jobs| jobs as usize).ok_or_else(|| format!("expected a number from 1 to {MOST_JOBS}"))
}

/// A whole number above zero.
pub fn positive(text: &str) -> Result<u64, String> {
    number(text)
        .and_then(|number| if number == 0 { Err("expected a number above 0".into()) } else { Ok(number) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_one_that_a_scenario_file_can_say() {
        assert_eq!(seed("0x7fff_ffff_ffff_ffff"), Ok(MOST_SEED));
        let larger = seed("9223372036854775808").unwrap_err();
        assert!(larger.starts_with("expected a whole number up to 9223372036854775807"), "{larger}");
    }
}
