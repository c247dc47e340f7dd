//! Who looks at a run while it goes on: samples, a recording, sums of what was waited for, a condition to stop.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use crate::cli::exit::Trouble;
use crate::cli::output::Output;
use crate::cli::record::Recorder;
use crate::debug::breakpoint::{Breakpoint, Trigger};
use crate::debug::describe;
use crate::debug::latency::{Spent, Trail};
use crate::diagnostic::{Diagnostic, Named, cannot, create_alone};
use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::model::record::Record;
use crate::query::{Possible, Stop, Text};
use crate::report::series::{Missing, Series, Wanted};
use crate::report::{self, Stopped};
use crate::scenario::{Prepared, Report, Runner};

/// All that look.
pub struct Onlookers {
    pub sampler: Option<Sampler>,
    pub recorder: Option<Recorder>,
    pub trail: Option<(Trail, Spent)>,
    pub stop: Option<Breakpoint>,
    /// Where that has stopped it.
    pub stopped: Option<Stopped>,
}

/// What they know in the end.
pub struct Seen {
    pub spent: Option<Spent>,
    pub stopped: Option<Stopped>,
    /// What speaks against where the run was to stop, if it did not.
    pub vain: Option<String>,
}

impl Onlookers {
    pub fn is_none(&self) -> bool {
        self.sampler.is_none() && self.recorder.is_none() && self.stop.is_none() && self.trail.is_none()
    }

    /// Whether one of them wants records.
    pub fn listens(&self) -> bool {
        self.stop.is_some() || self.trail.is_some()
    }

    /// Whether there were samples, and nobody reads them any more.
    pub fn is_closed(&self) -> bool {
        self.sampler.as_ref().is_some_and(|sampler| sampler.sink.is_closed())
    }

    /// All look at the machine after an event; breaks off where the run is to stop.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn look(&mut self, machine: &Machine, records: &[Record]) -> Result<ControlFlow<()>, Trouble> {
        let is_closed = self.sampler.as_mut().map_or(Ok(false), |sampler| sampler.look(machine))?;
        if let Some(recorder) = &mut self.recorder {
            recorder.look(machine)?;
        }
        if let Some((trail, spent)) = &mut self.trail {
            let ended = records.iter().filter_map(|record| trail.note(record, machine.components()));
            ended.for_each(|latency| spent.add(&latency, machine.components()));
        }
        self.stopped = self.stop.as_mut().and_then(|stop| hit(stop, machine, records));
        let is_over = self.stopped.is_some() || is_closed;
        Ok(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// The run is over: what is written is closed.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn end(self, runner: &Runner, report: &Report) -> Result<Seen, Trouble> {
        if let Some(sampler) = self.sampler {
            sampler.end(runner.machine())?;
        }
        if let Some(recorder) = self.recorder {
            recorder.end(runner.mark(), report)?;
        }
        let vain = match self.stop.as_ref().map(|stop| &stop.trigger) {
            Some(Trigger::Record(filter)) if self.stopped.is_none() => {
                Possible::on(runner.machine()).doubt(filter)
            }
            _ => None,
        };
        Ok(Seen { spent: self.trail.map(|(_, spent)| spent), stopped: self.stopped, vain })
    }
}

/// Writes rows of statistics while a run goes on.
pub struct Sampler {
    series: Series,
    sink: Output<Box<dyn Write>>,
}

impl Sampler {
    /// Begins to write, every so many cycles, to a file or standard output.
    ///
    /// # Errors
    /// If it cannot be written, or has no such columns.
    pub fn begin(
        machine: &Machine,
        (every, wanted): (u64, &Wanted),
        file: Option<&Path>,
    ) -> Result<Self, Trouble> {
        let series = Series::new(machine, every, wanted).map_err(|missing| match missing {
            Missing::Anywhere(pattern) if machine.statistic(&pattern).is_some() => Diagnostic::new(format!(
                "no column is called {pattern}: a row has what belongs to its moment, or to the cycles before it"
            ))
            .expected("such as link.host.out.interval.utilisation; cycle and event stand in every row"),
            Missing::Anywhere(pattern) => Diagnostic::new(format!("no column is called {pattern}"))
                .expected("a name of a statistic that `umscope run --stats` shows, such as gpu0.l2.0.misses, with * for any part of it; cycle and event stand in every row"),
            Missing::OfInterval(pattern) => {
                Diagnostic::new(format!("{pattern} is of all the time so far, and --interval leaves it out"))
                    .expected("counts, such as *.hits and *.misses, or no --interval")
            }
        })?;
        let sink: Box<dyn Write> = match file {
            None => Box::new(std::io::stdout()),
            Some(path) => {
                Box::new(Named::new(create_alone(path).map_err(|error| cannot(path, &error))?, path))
            }
        };
        let mut sampler = Self { series, sink: Output::new(sink) };
        let header = sampler.series.header();
        sampler.sink.line(&header)?;
        Ok(sampler)
    }

    /// Looks at the machine after an event; tells whether nobody reads any more.
    fn look(&mut self, machine: &Machine) -> Result<bool, Trouble> {
        let Self { series, sink } = self;
        series.event(machine, |row| put(sink, row))?;
        Ok(self.sink.is_closed())
    }

    fn end(mut self, machine: &Machine) -> Result<(), Trouble> {
        let Self { series, sink } = &mut self;
        series.end(machine, |row| put(sink, row))?;
        self.sink.done()
    }
}

/// Writes a row; tells whether anybody reads more.
fn put(sink: &mut Output<Box<dyn Write>>, row: &str) -> Result<bool, Trouble> {
    sink.line(row)?;
    Ok(!sink.is_closed())
}

/// What a run is stopped at, as the debugger would stop there.
///
/// # Errors
/// If `text` is no such query.
pub fn stop(text: &Text, prepared: &Prepared) -> Result<Option<Breakpoint>, Trouble> {
    let stop = Stop::compile(text, &prepared.context)?;
    let made = Trigger::of(stop, &prepared.context);
    let made = made.map(|(trigger, text, condition)| Breakpoint::new(1, trigger, text, condition));
    Ok(made.map(|mut stop| {
        stop.arm(&prepared.machine);
        stop
    }))
}

/// Where `stop` stops, as it is told: its record, or of what becomes true the first of the event, if there is one.
fn hit(stop: &mut Breakpoint, machine: &Machine, records: &[Record]) -> Option<Stopped> {
    let trip = stop.trips(machine, records)?;
    let components = machine.components();
    let named = records.iter().find(|record| trip.records.first().is_none_or(|id| record.id == *id));
    Some(Stopped {
        json: named.map(|record| report::json::record(record, components, machine.time_base())),
        text: named.map_or_else(|| stop.what(), |record| describe::log_line(record, components)),
    })
}
