//! Writing a recording while a run goes on.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use super::exit::Trouble;
use super::work::Work;
use crate::diagnostic::{Named, cannot, create_alone};
use crate::machine::Machine;
use crate::recording::{End, Ending, Mark, Marker, Writer};
use crate::scenario::{Ended, Report};

/// A recording that grows with its run. Whatever ends the run, what has been written is good.
#[derive(Debug)]
pub struct Recorder {
    writer: Writer<BufWriter<Named<File>>>,
    marker: Marker,
}

impl Recorder {
    /// Begins the recording of `work` at `path`, where one may be replaced.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(path: &Path, work: &Work) -> Result<Self, Trouble> {
        let recording = work.scenario.recording(&work.name, &work.options)?;
        let file = create_alone(path).map_err(|error| cannot(path, &error))?;
        let sink = BufWriter::new(Named::new(file, path));
        let mut writer = Writer::begin(sink, &recording.origin).map_err(failed)?;
        let mut inputs = recording.inputs.iter();
        inputs.try_for_each(|(event, input)| writer.input(*event, input)).map_err(failed)?;
        Ok(Self { writer, marker: Marker::default() })
    }

    /// Looks at the machine after an event.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn look(&mut self, machine: &Machine) -> Result<(), Trouble> {
        match self.marker.look(machine) {
            Some(mark) => self.writer.mark(mark).map_err(failed),
            None => Ok(()),
        }
    }

    /// The run is over, and this is how its last event left the machine.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn end(self, mark: Mark, report: &Report) -> Result<(), Trouble> {
        let how = match report.ended {
            Ended::Violation => Ending::Violation,
            Ended::Stuck(_) => Ending::Deadlock,
            // That it has not ended may be all that has failed.
            Ended::Limit(..) if report.failures.len() <= 1 => Ending::Limit,
            _ if !report.passed => Ending::Failed,
            Ended::Finished => Ending::Finished,
            Ended::Limit(..) => Ending::Limit,
            Ended::Interrupted => Ending::Interrupted,
        };
        self.writer.end(&End { mark, how, found: None }).map_err(failed)?;
        Ok(())
    }
}

fn failed(error: io::Error) -> Trouble {
    Trouble::Io("write the recording", error)
}
