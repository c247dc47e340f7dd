//! `umscope figures`: what the papers report, and what comes out here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;

use super::arguments::{Format, positive};
use super::exit::{Ended, Status, Trouble};
use super::interrupt::Interrupt;
use super::output::Output;
use super::pool;
use crate::diagnostic::{Diagnostic, Result};
use crate::report::figures::experiment::{Experiment, Outcome, Results, Stop};
use crate::report::figures::figure::{Figure, Row};
use crate::report::figures::registry;
use crate::report::figures::workload::Effort;
use crate::report::figures::{self, text};

/// What stands below the help: examples, the ids, the JSON, the statuses.
fn after_help() -> String {
    let ids = |measured: bool| {
        let ids = registry::all().filter(|figure| figure.is_measured() == measured);
        ids.map(|figure| figure.id).collect::<Vec<_>>().join(", ")
    };
    format!(
        "Examples:\n  \
           umscope figures --quick\n  \
           umscope figures umh-block umh-peer --svg charts\n  \
           umscope figures --format json | jq '.[] | select(.holds == false)'\n\n\
         Measured: {}.\n\n\
         Listed, but not measured yet: {}.\n\n\
         JSON: a list of {{id, claim, paper[], ours[], unit, holds, scale, note}}; holds is null where nothing is \
         measured, and the note says what is missing; ours has null for a number of a claim that is not \
         measured.\n\n\
         Exit status: 0 also if figures are missed; 2 wrong input; 130 interrupted (nothing is written).",
        ids(true),
        ids(false)
    )
}

/// Reproduce the papers' figures and claims, ours beside theirs
///
/// Without ID, all of them. A value is what comes out of the mechanism with the paper's parameters; nothing is fitted.
/// Orders and exact numbers hold or do not; any other number holds within a quarter of the paper's. Workloads run
/// shrunk, together with the capacities that they press on: the scale stands beside each figure.
#[derive(Debug, Args)]
#[command(after_long_help = after_help())]
pub struct Figures {
    /// Figures to reproduce [default: all]
    #[arg(value_name = "ID")]
    ids: Vec<String>,

    /// All figures in less than a minute: some of the workloads, shrunk further
    #[arg(long)]
    quick: bool,

    /// Write charts as SVG files into this folder, which is made if need be; charts of the same names are replaced
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,

    /// How to write the figures
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Runs at a time [default: as many as there are processors]
    #[arg(long, value_name = "NUMBER", value_parser = positive, allow_negative_numbers = true)]
    jobs: Option<u64>,
}

impl Figures {
    pub fn carry_out(&self) -> Ended {
        let figures = registry::select(&self.ids)?;
        if let Some(folder) = &self.svg {
            writable(folder)?;
        }
        let effort = if self.quick { Effort::Quick } else { Effort::Whole };
        let interrupt = Interrupt::install()?;
        interrupt.heed();
        let results = run(&figures, effort, self.jobs, &interrupt);
        let rows: Vec<_> = figures.iter().map(|figure| figure.row(effort, &results)).collect();
        if interrupt.is_raised() {
            return Ok(Status::Interrupted);
        }
        if let Some(folder) = &self.svg {
            charts(folder, &rows)?;
        }
        let mut output = Output::standard();
        match self.format {
            Format::Text => output.put(&text::text(&rows))?,
            Format::Json => output.json(&figures::json(&rows))?,
        }
        Ok(Status::Held)
    }
}

/// Runs what the figures need, each run once. After an interrupt some are missing.
fn run(figures: &[&'static Figure], effort: Effort, jobs: Option<u64>, interrupt: &Interrupt) -> Results {
    let needed: BTreeSet<Experiment> = figures.iter().flat_map(|figure| figure.experiments(effort)).collect();
    let needed: Vec<_> = needed.into_iter().collect();
    let results: Mutex<BTreeMap<Experiment, Result<Outcome>>> = Mutex::default();
    let told = |done| format!("{done} of {} runs", needed.len());
    pool::each(needed.len(), jobs, interrupt, told, |index| {
        let Some(experiment) = needed.get(index) else { return ControlFlow::Continue(()) };
        let raised = interrupt.clone();
        let stop: Stop = Arc::new(move || raised.is_raised());
        if let Some(outcome) = experiment.run(&stop).transpose() {
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.insert(experiment.clone(), outcome);
        }
        ControlFlow::Continue(())
    });
    Results(results.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Refuses a folder that cannot be made or is none, before anything is run.
fn writable(folder: &Path) -> Result<()> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let wrong = if folder.is_dir() {
        return Ok(());
    } else if folder.exists() {
        format!("{} is no folder", folder.display())
    } else if parent.is_some_and(|parent| !parent.is_dir()) {
        format!("{} cannot be made: there is no folder to make it in", folder.display())
    } else {
        return Ok(());
    };
    Err(Box::new(Diagnostic::new(wrong).expected("a folder, or the name of a new one in a folder")))
}

/// Writes all charts, each as a whole.
fn charts(folder: &Path, rows: &[Row]) -> std::result::Result<(), Trouble> {
    fs::create_dir_all(folder).map_err(|error| Trouble::Io("make the folder of the charts", error))?;
    for row in rows {
        let Ok(found) = &row.found else { continue };
        for (suffix, chart) in &found.charts {
            let path = folder.join(format!("{}{suffix}.svg", row.figure.id));
            replace(folder, &path, &chart.svg()).map_err(|error| Trouble::Io("write a chart", error))?;
        }
    }
    Ok(())
}

/// Puts a file with `text` in the place of `path`.
fn replace(folder: &Path, path: &Path, text: &str) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".umscope-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut temporary = builder.tempfile_in(folder)?;
    temporary.write_all(text.as_bytes())?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}
