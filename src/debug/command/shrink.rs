//! `shrink`: the smallest scenario that fails as this run does.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::{Arguments, Command, Completes, Effect, Group};
use crate::debug::frame::text::plural;
use crate::debug::job::Job;
use crate::debug::session::Session;
use crate::diagnostic::Result;
use crate::scenario::shrink::Shrinker;

pub const SHRINK: Command = Command {
    name: "shrink",
    aliases: &[],
    usage: "shrink FILE",
    group: Group::WhatIf,
    about: "write the smallest scenario that fails as this run does",
    details: "\
Accesses, compute units, cores, GPUs, slices and blocks are left out while the same check or expectation fails, or it
still ends in a deadlock. An interrupt ends it with the smallest found so far. A file that is there is not overwritten.",
    completes: Completes::Path,
    run: shrink,
};

/// Shrinking under way, and where what comes of it goes.
#[derive(Debug)]
struct Shrinking {
    name: String,
    shrinker: Shrinker,
    file: File,
}

impl Job for Shrinking {
    fn advance(&mut self, _: u64) -> Option<Vec<String>> {
        self.shrinker.advance(&AtomicBool::new(false)).then(|| self.written())
    }

    fn interrupt(&mut self) -> Vec<String> {
        let mut lines = self.written();
        lines.push("interrupted: more could be left out".to_owned());
        lines
    }
}

impl Shrinking {
    /// Writes the smallest so far.
    fn written(&mut self) -> Vec<String> {
        let text = self.shrinker.best(&self.name).text();
        let mut lines = self.shrinker.notes().to_vec();
        lines.push(match self.file.write_all(text.as_bytes()) {
            Ok(()) => {
                let left = plural(self.shrinker.extent().accesses as u64, "instruction");
                format!("{}: {left} left, after {} tries", self.shrinker.target(), self.shrinker.tried())
            }
            Err(error) => format!("cannot write the file: {error}"),
        });
        lines
    }
}

fn shrink(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    if arguments.is_empty() {
        return Err(arguments.missing("the file to write"));
    }
    let path = Path::new(arguments.text());
    if path.exists() {
        return Err(arguments.complaint("cannot write this file: it is there already"));
    }
    let (scenario, options) = session.whole()?;
    let Some(shrinker) = Shrinker::new(scenario, &options, &AtomicBool::new(false))? else {
        let error = Session::complaint("this run does not fail: there is nothing to shrink");
        return Err(Box::new(error.expected("a failed check or expectation, or a deadlock")));
    };
    let file = File::create_new(path)
        .map_err(|error| arguments.complaint(format!("cannot write this file: {error}")))?;
    Ok(Effect::Work(Box::new(Shrinking { name: session.name.clone(), shrinker, file })))
}
