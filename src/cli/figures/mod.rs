//! `umscope figures`: what the papers report, and what comes out here.

mod runs;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::arguments::jobs;
use super::destination;
use super::exit::{Ended, Status, Trouble, say};
use super::interrupt::Interrupt;
use super::output::Output;
use super::shard::{Shard, shard};
use crate::diagnostic::{Diagnostic, Result, write_whole};
use crate::report::figures::effort::Effort;
use crate::report::figures::figure::Row;
use crate::report::figures::registry;
use crate::report::figures::{self, markdown, text};
use runs::{Found, Runs};

/// What stands below the help: examples, the ids, the JSON, the statuses.
fn after_help() -> String {
    let ids = registry::all().map(|figure| figure.id).collect::<Vec<_>>().join(", ");
    format!(
        "Examples:\n  \
           umscope figures --quick\n  \
           umscope figures umh-block umh-peer --svg charts\n  \
           umscope figures scale                                    (all of a paper)\n  \
           umscope figures --format json | jq '.[] | select(.holds == false)'\n  \
           umscope figures --to runs.jsonl                          (again with the same file: goes on)\n  \
           umscope figures --to shard1.jsonl --shard 1/2            (and 2/2 elsewhere)\n  \
           umscope figures --merge shard1.jsonl shard2.jsonl --format markdown > scoreboard.md\n\n\
         --to: a line of JSON that tells the runs, then a line for each that is done, added as soon as it is. A run is \
         known by what it is built from: if its scenario or machine has changed, it is run again; what else is in \
         --to stays there, and --merge tells what it leaves out.\n\n\
         Figures: {ids}.\n\n\
         JSON: a list of {{id, claim, paper[], ours[], unit, holds, scale, note}}; holds is null where nothing is \
         measured, and the note says what is missing; ours has null for a number of a claim that is not \
         measured, or that there is none of: the note says so.\n\n\
         Exit status: 0 also if figures are missed; 1 --merge without --to lacks results; 2 wrong input; 130 interrupted (what is done stays in --to; \
         the figures that it suffices for are printed, and the others as not measured)."
    )
}

/// Reproduce the papers' figures and claims, ours beside theirs
///
/// Without ID, all of them. A value is what comes out of the mechanism with the paper's parameters; nothing is fitted.
/// Orders and exact numbers hold or do not; any other number holds within a quarter of the paper's. Workloads may run
/// shrunk: the scale stands beside each figure, of data alone or of the machine, too.
#[derive(Debug, Args)]
#[command(after_long_help = after_help())]
pub struct Figures {
    /// Figures to reproduce [default: all]
    #[arg(value_name = "ID")]
    ids: Vec<String>,

    /// All figures in two minutes on two cores: some of the workloads, shrunk further
    #[arg(long)]
    quick: bool,

    /// Write charts as SVG files into this folder, which is made if need be; charts of the same names are replaced
    #[arg(long, value_name = "DIR", conflicts_with = "shard")]
    svg: Option<PathBuf>,

    /// Where results of runs are kept, and from where it goes on; without it (or with -) nowhere
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,

    /// Only this part of the runs, such as 3/8: of eight, the third; no figures, only results
    #[arg(long, value_name = "PART", value_parser = shard, requires = "to")]
    shard: Option<Shard>,

    /// Take results from these files, too, such as those of other shards; without --to nothing is run
    #[arg(long, value_name = "FILE", num_args = 1..)]
    merge: Vec<PathBuf>,

    /// How to write the figures
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Runs at a time [default: as many as there are processors]
    #[arg(long, value_name = "NUMBER", value_parser = jobs, allow_negative_numbers = true)]
    jobs: Option<usize>,
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
        let kept = destination::file(self.to.as_deref());
        let runs = Runs { effort, to: kept, shard: self.shard, merge: &self.merge, jobs: self.jobs };
        let Found { results, missing } = runs.carry_out(&figures, &interrupt)?;
        let status = if interrupt.is_raised() {
            Status::Interrupted
        } else if missing > 0 && runs.takes_only() {
            Status::Failed
        } else {
            Status::Held
        };
        if self.shard.is_some() {
            return Ok(status);
        }
        let rows: Vec<_> = figures.iter().map(|figure| figure.row(effort, &results)).collect();
        if let Some(folder) = self.svg.as_ref().filter(|_| status != Status::Interrupted) {
            charts(folder, &rows)?;
        }
        let mut output = Output::standard();
        match self.format {
            Format::Text => output.put(&text::text(&rows, status == Status::Interrupted))?,
            Format::Json => output.json(&figures::json(&rows))?,
            Format::Markdown => output.put(&markdown::page(&rows, &self.command()))?,
        }
        Ok(status)
    }

    /// What has to be typed to see the same again.
    fn command(&self) -> String {
        let quick = self.quick.then(|| "--quick".to_owned());
        let words =
            ["umscope".to_owned(), "figures".to_owned()].into_iter().chain(self.ids.clone()).chain(quick);
        words.collect::<Vec<_>>().join(" ")
    }
}

/// How figures are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
    /// A table for each paper, for a page
    Markdown,
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
    fs::create_dir_all(folder)
        .map_err(|error| Diagnostic::new(format!("{} cannot be made: {error}", folder.display())))?;
    for row in rows {
        let Ok(found) = &row.found else { continue };
        if found.charts.is_empty() {
            say(format_args!("there is no chart of {}", row.figure.id));
        }
        for (suffix, chart) in &found.charts {
            let path = folder.join(format!("{}{suffix}.svg", row.figure.id));
            write_whole(&path, chart.svg(&text::beside(row)).as_bytes())?;
        }
    }
    Ok(())
}
