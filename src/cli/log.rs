//! `umscope log`: the records of a run that match a query.

use std::ops::ControlFlow;

use clap::Args;

use super::arguments::{Format, Target, number, positive};
use super::drive::drive;
use super::exit::{Ended, say};
use super::interrupt::Interrupt;
use super::output::Output;
use super::run::{say_failures, status};
use super::work::{self, Work};
use crate::debug::describe;
use crate::diagnostic::Diagnostic;
use crate::model::inspect::Inspect;
use crate::query::Possible;
use crate::report;
use crate::scenario;

/// Print the records of a run that match a query
///
/// A record is one thing that happened: a message sent or delivered, a transition, an access completed, an MSHR taken.
/// A line has its name (event.ordinal), cycle, kind, place and what it says.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope log umh/fig5-b1
  umscope log umh/fig5-b1 --where 'transition at gpu*.l1 to N block 0x1000'
  umscope log umh/fig5-b1 --where 'message from hmd* or complete' --format json | jq .text
  umscope log mine.toml --where 'complete latency > 400' --limit 10

JSON is one record a line: event, ordinal, cycle, nanoseconds, kind, at, because (the event that caused it), \
transaction, address, length, fields{the kind's own, `-` in a name as `_`}, text; null for what a record does not have.

Exit status: as that of `umscope run`; 0 if --limit, --to, or a reader that has seen enough ends it earlier.")]
pub struct Log {
    #[command(flatten)]
    target: Target,

    /// Which records; all without it
    #[arg(long = "where", value_name = "QUERY")]
    query: Option<String>,

    /// Only records of this cycle and later ones
    #[arg(long, value_name = "CYCLE", value_parser = number, allow_negative_numbers = true, default_value = "0")]
    from: u64,

    /// Only records up to this cycle
    #[arg(long, value_name = "CYCLE", value_parser = number, allow_negative_numbers = true)]
    to: Option<u64>,

    /// Stop after so many records, one at least
    #[arg(long, value_name = "NUMBER", value_parser = positive, allow_negative_numbers = true)]
    limit: Option<u64>,

    /// How to write them
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Log {
    pub fn carry_out(&self) -> Ended {
        if let Some(to) = self.to.filter(|to| *to < self.from) {
            let error = Diagnostic::new(format!("--to {to} is before --from {}", self.from));
            return Err(Box::new(error.expected("a cycle that is not before it")).into());
        }
        let interrupt = Interrupt::install()?;
        let work = Work::open(&self.target, &interrupt)?;
        let prepared = work.prepare()?;
        work::tell_left_out(prepared.left_out.as_deref());
        let filter = work::filter(self.query.as_deref(), &prepared)?;
        let workload = prepared.blueprint.workload.clone();
        let mut runner = work.runner(prepared, true);
        let mut output = Output::standard();
        let (most, mut told, mut enough) = (self.limit.unwrap_or(u64::MAX), 0, false);
        let report = drive(&mut runner, &work.name, &interrupt, |machine, records| {
            let (components, time) = (machine.components(), machine.time_base());
            let meant = records.iter().filter(|record| {
                record.cycle >= self.from
                    && filter.as_ref().is_none_or(|filter| filter.matches(record, components))
            });
            let past = self.to.is_some_and(|to| time.cycle(machine.tick()) > to);
            for record in meant.filter(|_| !past) {
                if told == most {
                    break;
                }
                told += 1;
                output.line(&match self.format {
                    Format::Text => describe::log_line(record, components),
                    Format::Json => report::json::record(record, components, time).to_string(),
                })?;
            }
            enough = told == most || past || output.is_closed();
            Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        let is_over = !output.is_closed() && !interrupt.is_raised();
        output.done()?;
        work::trusted(&workload)?;
        if told == 0 && is_over {
            let why = filter.as_ref().and_then(|filter| Possible::on(runner.machine()).doubt(filter));
            say(format_args!("no record matches{}", work::because(why)));
        }
        say_failures(&report);
        if matches!(report.ended, scenario::Ended::Stuck(_)) {
            say(format_args!(
                "umscope run {} with the same options tells what can go on no more, and why",
                work.name
            ));
        }
        Ok(status(&report, enough))
    }
}
