//! `shrink`: the smallest scenario that fails as this run does.

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::job::Job;
use crate::debug::session::Session;
use crate::diagnostic::{Result, cannot, try_out, write_new};
use crate::scenario::shrink::Shrinker;
use crate::scenario::{Options, Scenario};

pub const SHRINK: Command = Command {
    name: "shrink",
    aliases: &[],
    usage: "shrink FILE",
    group: Group::WhatIf,
    about: "write the smallest scenario that fails as this run does",
    details: "\
Accesses, compute units, cores, GPUs, slices and blocks are left out while the same check or expectation fails, or it
still ends in a deadlock. An interrupt ends it with the smallest found so far. A file that is there is not overwritten.",
    completes: Completes::Slots(&[Takes::Path]),
    run: shrink,
};

/// How long it is waited for before the next look at an interrupt.
const NAP: Duration = Duration::from_millis(2);

/// Shrinking in a thread of its own: its runs take their time. And where what comes of it goes.
#[derive(Debug)]
struct Shrinking {
    name: String,
    path: PathBuf,
    stop: Arc<AtomicBool>,
    worker: Option<JoinHandle<Result<Option<Shrinker>>>>,
}

impl Job for Shrinking {
    fn advance(&mut self, _: u64) -> Option<Result<Vec<String>>> {
        if self.worker.as_ref().is_some_and(|worker| !worker.is_finished()) {
            thread::sleep(NAP);
            return None;
        }
        Some(self.result())
    }

    fn interrupt(&mut self) -> Vec<String> {
        self.stop.store(true, Ordering::Relaxed);
        match self.result() {
            Ok(mut lines) => {
                lines.push("interrupted: more could be left out".to_owned());
                lines
            }
            Err(error) => error.to_string().lines().map(str::to_owned).collect(),
        }
    }
}

impl Drop for Shrinking {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Shrinking {
    /// Writes what has come of it.
    fn result(&mut self) -> Result<Vec<String>> {
        let worker = self.worker.take().map(JoinHandle::join);
        let shrinker = worker.map_or(Ok(None), |done| done.unwrap_or_else(|panic| resume_unwind(panic)))?;
        let Some(shrinker) = shrinker else {
            let error = Session::complaint("this run does not fail: there is nothing to shrink");
            return Err(Box::new(error.expected("a failed check or expectation, or a deadlock")));
        };
        let mut best = shrinker.best(&self.name);
        best.put_at(&self.path);
        let text = best.text();
        write_new(&self.path, text.as_bytes()).map_err(|error| cannot(&self.path, &error))?;
        let mut lines = shrinker.notes().to_vec();
        let left = shrinker.extent();
        lines.push(format!("{}: {left} left, after {} tries", shrinker.target(), shrinker.tried()));
        Ok(lines)
    }
}

/// Shrinks until nothing more can be left out, or it is to stop; nothing if the run does not fail.
fn smallest(scenario: &Scenario, options: &Options, stop: &AtomicBool) -> Result<Option<Shrinker>> {
    let Some(mut shrinker) = Shrinker::new(scenario, options, stop)? else { return Ok(None) };
    while !stop.load(Ordering::Relaxed) && !shrinker.advance(stop) {}
    Ok(Some(shrinker))
}

fn shrink(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    if arguments.is_empty() {
        return Err(arguments.missing("the file to write"));
    }
    let path = arguments.path().to_owned();
    if path.exists() {
        return Err(arguments.complaint("cannot write this file: it is there already"));
    }
    try_out(&path)?;
    let (scenario, options) = session.whole()?;
    let (scenario, stop) = (scenario.clone(), Arc::new(AtomicBool::new(false)));
    let asked = stop.clone();
    let worker = thread::Builder::new().name("shrink".to_owned());
    let worker = worker.spawn(move || smallest(&scenario, &options, &asked));
    let worker = worker.map_err(|error| arguments.complaint(format!("no thread can be started: {error}")))?;
    Ok(Effect::Work(Box::new(Shrinking { name: session.name.clone(), path, stop, worker: Some(worker) })))
}
