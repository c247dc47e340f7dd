//! `umscope export`: a run for other tools.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::arguments::Target;
use super::destination::{self, Destination};
use super::drive::drive;
use super::exit::{Ended, Status, Trouble, say};
use super::interrupt::Interrupt;
use super::outputs::{Outputs, Replaces};
use super::run::{say_failures, status};
use super::work::{self, Work};
use crate::diagnostic::Diagnostic;
use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::model::record::Record;
use crate::query::{Filter, Possible};
use crate::report::export::{Csv, Export as Exporter, Mermaid, Perfetto, UvmFaults, Vcd};

/// Write what happens in a run for other tools
///
/// It is run to its end, and written while it runs.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope export umh/fig5-b1 --format perfetto --to trace.json      open it at ui.perfetto.dev
  umscope export umh/fig5-b1 --format vcd --where 'block 0x1000' > block.vcd
  umscope export mine.toml --format csv --where 'complete latency > 400' | sort -t, -k3n
  umscope export umh/fig5-b1 --format mermaid --where 'txn 2' > journey.mmd

perfetto: JSON of the Trace Event Format. A process is a GPU, the host or the links, a thread a component or a \
warp. Transactions (from issue to completion) and kernels are asynchronous slices, what a warp does are slices, \
messages are arrows, changes of state, evictions, stalls, far-faults and pages, tags, ways, lanes, faults and violations are instants, MSHRs in use and \
the utilisation of links are counters. ts is in microseconds; args have the cycle and the record, \
those of counters what they count.

vcd: IEEE 1364, in ps. The state of every block that changes at a node and what every warp does are letters \
(8 bits, ASCII), MSHRs in use are numbers, how busy a link is in windows of 500 cycles is in percent.

csv: a row a record: event, ordinal, cycle, nanoseconds, kind, at, because, transaction, address, length, the own \
fields of all kinds as fields.NAME, `-` in a name as `_` (empty where a kind has none of it), text.

mermaid: a sequence diagram. A lifeline is a component; arrows are accesses and messages (solid with data, dashed \
without, crossed out if not taken until the end), notes what befalls a block, a page or an access; other records are \
left out. Cycles stand in brackets, of a message those at which it was sent and taken. 10,000 arrows and notes at most.

uvm-faults: far-faults in batches, one for each transfer set: s, f,ADDRESS,NANOSECONDS,... for each fault, p,ADDRESS for \
what is prefetched, e,ADDRESS for what is evicted or taken back, b. What wrote it is a compute unit (client and uTLB) of a GPU (GPC). \
A far-fault whose page came before the driver took it, with a prefetch or for another compute unit, stands in the next batch, or \
in one of its own at the end: nothing is moved for it, and NANOSECONDS, when it was raised, is earlier than the arrival of its page. \
Such a log can be run: umscope run LOG --machine paged-gtx480.

--where chooses what is written; the end of what has begun is written in any case. Links are always there.

Exit status: as that of `umscope run`; what has happened until a failure is written. 130 after ctrl-c, and the \
file is left as it was.")]
pub struct Export {
    #[command(flatten)]
    target: Target,

    /// For which tools
    #[arg(long, value_enum)]
    format: Format,

    /// Which records; all without it
    #[arg(long = "where", value_name = "QUERY")]
    query: Option<String>,

    /// Where to write; - or nothing is standard output. A file that is there is replaced once all is written
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// JSON for the viewers of Perfetto and Chrome
    Perfetto,
    /// A value change dump for waveform viewers
    Vcd,
    /// Records as comma-separated values
    Csv,
    /// A sequence diagram that wikis and slides draw
    Mermaid,
    /// The log of far-faults of a patched driver of NVIDIA GPUs
    UvmFaults,
}

impl Format {
    fn exporter(self, machine: &Machine) -> Result<Box<dyn Exporter>, Trouble> {
        Ok(match self {
            Self::Perfetto => Box::new(Perfetto::new(machine)),
            Self::Vcd => Box::new(Vcd::new(machine).map_err(failed)?),
            Self::Csv => Box::new(Csv::default()),
            Self::Mermaid => Box::new(Mermaid::default()),
            Self::UvmFaults if machine.spec().gpu.as_ref().is_none_or(|gpu| gpu.paging.is_none()) => {
                let wrong = Diagnostic::new(
                    "the memory of this machine's GPUs is not paged: there are no far-faults",
                );
                return Err(wrong.expected("a machine with [gpu.paging]").into());
            }
            Self::UvmFaults => Box::new(UvmFaults::default()),
        })
    }
}

fn failed(error: std::io::Error) -> Trouble {
    Trouble::Io("write the export", error)
}

impl Export {
    pub fn carry_out(&self) -> Ended {
        let interrupt = Interrupt::install()?;
        let work = Work::open(&self.target, &interrupt)?;
        let prepared = work.prepare()?;
        work::tell_left_out(prepared.left_out.as_deref());
        let to = destination::file(self.to.as_deref());
        Outputs::default().with("--to", to, Replaces::Anything).check(|| work.reads())?;
        let filter = work::filter(self.query.as_deref(), &prepared)?;
        let workload = prepared.blueprint.workload.clone();
        let mut exporter = self.format.exporter(&prepared.machine)?;
        let mut out = Destination::open(self.to.as_deref())?;
        exporter.begin(&prepared.machine, &mut out).map_err(failed)?;
        let mut runner = work.runner(prepared, true);
        let (mut seen, mut any) = (None, false);
        let report = drive(&mut runner, &work.name, &interrupt, |machine, records| {
            // The end of a run that has no event of its own is told with the records of the last one.
            let new = seen.replace(machine.event()) != Some(machine.event());
            if new || !records.is_empty() {
                let chosen = choose(records, filter.as_ref(), machine);
                any |= chosen.iter().any(|(meant, _)| *meant);
                exporter.event(machine, &chosen, &mut out).map_err(failed)?;
            }
            Ok(if out.is_closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        work::trusted(&workload)?;
        let closed = out.is_closed();
        let status = status(&report, closed);
        say_failures(&report);
        if status == Status::Interrupted && out.is_held_back() {
            say("interrupted: nothing was written");
            return Ok(status);
        }
        exporter.end(runner.machine(), &mut out).map_err(failed)?;
        out.flush().map_err(failed)?;
        out.finish()?;
        if !any && !closed {
            let why = filter.as_ref().and_then(|filter| Possible::on(runner.machine()).doubt(filter));
            say(format_args!("no record matches{}", work::because(why)));
        }
        Ok(status)
    }
}

/// Every record, with whether it is meant.
fn choose<'a>(records: &'a [Record], filter: Option<&Filter>, machine: &Machine) -> Vec<(bool, &'a Record)> {
    let meant = |record: &Record| filter.is_none_or(|filter| filter.matches(record, machine.components()));
    records.iter().map(|record| (meant(record), record)).collect()
}
