//! What becomes of one mutant: caught, equivalent, or neither.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::place::{
    ACCESSES, CROWD, Changed, LARGE, MEMORY, Place, Places, STEPS, Shape, TESTED, stressed, walked,
};
use crate::cli::counterexample;
use crate::cli::exit::Trouble;
use crate::cli::interrupt::Interrupt;
use crate::config;
use crate::diagnostic::{Diagnostic, Source, in_toml};
use crate::explore::fairness::{self, Fairness};
use crate::explore::mutants::{self, Mutant, Verdict};
use crate::explore::search::{Counts, Limits};
use crate::explore::way::Violation;
use crate::protocol::table::Table;
use crate::report::number::grouped;
use crate::scenario::Options;

/// What became of a mutant.
pub struct Judged {
    pub name: String,
    pub caught: bool,
    pub equivalent: bool,
    /// What caught it, or what is known of it.
    pub by: String,
    pub recording: Option<PathBuf>,
}

/// What is known of a mutant that is not caught on the shapes.
#[derive(Default)]
struct Known {
    /// Shapes of which all states are fine, and their number.
    correct: Vec<(&'static str, u64)>,
    /// A shape of which not all states were looked at.
    open: Option<(&'static str, u64)>,
}

impl Known {
    fn text(&self) -> String {
        let walked = format!(
            "{} random steps on {LARGE} and {} accesses on {TESTED}",
            grouped(STEPS),
            grouped(ACCESSES)
        );
        match self.open {
            Some((shape, states)) => {
                format!("{} states of {shape} are fine, and there are more", grouped(states))
            }
            None if self.correct.is_empty() => {
                format!("the same: no node does anything else on any shape; {walked} break nothing")
            }
            None => {
                let all =
                    self.correct.iter().map(|(shape, states)| format!("{shape} ({})", grouped(*states)));
                let all: Vec<String> = all.collect();
                format!(
                    "correct: differs in cost only, all states of {}; {walked} break nothing",
                    all.join(", ")
                )
            }
        }
    }
}

/// Judges mutants of one protocol, several at a time.
pub struct Judge<'a> {
    pub table: &'a Table,
    pub source: &'a Source,
    pub places: &'a Places,
    /// Of one exploration of a mutant.
    pub limits: Limits,
    /// The folder of the recordings of what is caught, if the user wants them.
    pub record: Option<&'a Path>,
    pub interrupt: &'a Interrupt,
    /// How many states have been looked at of all mutants.
    pub states: AtomicU64,
}

impl Judge<'_> {
    pub fn judge(&self, mutant: Mutant) -> Result<Judged, Trouble> {
        let name = mutant.to_string();
        let is = |caught, equivalent, by: String| Judged {
            name: name.clone(),
            caught,
            equivalent,
            by,
            recording: None,
        };
        if let Mutant::Table(change) = &mutant
            && let Some(why) = config::mutation::refused(change)
        {
            return Ok(is(true, false, format!("table: {why}")));
        }
        let changed = match mutant {
            Mutant::Rule(_) => self.table.clone(),
            Mutant::Table(change) => change.apply(self.table).map_err(Diagnostic::new)?,
        };
        let faults = config::protocol::examine_changed(self.source, &changed)?;
        // What is wrong with the table itself is no news of its mutant.
        let own = config::protocol::examine_changed(self.source, self.table)?;
        if let Some(error) = faults.first_beyond(&own) {
            return Ok(is(true, false, format!("table: {}", error.message)));
        }
        let changed = Changed { mutant, own: self.table, table: Arc::new(changed) };
        let mut known = Known::default();
        if let Some((place, violation)) = self.find(&changed, &mut known)? {
            let by = format!("{} on {} in {} steps", violation.rule, place.name, violation.choices.len());
            let recording = self.record(&changed, place, &violation)?;
            return Ok(Judged { recording, ..is(true, false, by) });
        }
        if let Some(failure) = stressed(changed.blueprint(&self.places.tested), self.interrupt)? {
            let (rule, event) = (failure.rule, grouped(failure.event));
            return Ok(is(true, false, format!("{rule} after {event} events of umscope stress {TESTED}")));
        }
        let overruled = if mutant.is_overruled(self.table) {
            "; dirty bytes are written back whatever this cell says"
        } else {
            ""
        };
        let text = known.text() + overruled;
        Ok(is(false, known.open.is_none(), text))
    }

    /// Whether a search goes on, which tells how far it is from time to time.
    fn go_on(&self) -> impl FnMut(Counts) -> bool + '_ {
        let mut before = 0;
        move |counts| {
            self.states.fetch_add(counts.states.saturating_sub(before), Ordering::Relaxed);
            before = counts.states;
            !self.interrupt.is_raised()
        }
    }

    /// Looks for what is wrong with a mutant: on all shapes, then at random on a larger machine.
    fn find(&self, changed: &Changed<'_>, known: &mut Known) -> Result<Option<(&Place, Violation)>, Trouble> {
        for shape in &self.places.shapes {
            if let Some(violation) = self.look(shape, changed, known)? {
                return Ok(Some((&shape.place, violation)));
            }
        }
        let large = &self.places.large;
        Ok(walked(&changed.on(large)?, 1, self.interrupt).map(|violation| (large, violation)))
    }

    /// Looks at a mutant on a shape: what is wrong with it there, or what is known of it now.
    fn look(
        &self,
        shape: &Shape,
        changed: &Changed<'_>,
        known: &mut Known,
    ) -> Result<Option<Violation>, Trouble> {
        let name = shape.place.name;
        let system = changed.on(&shape.place)?;
        let counts = match mutants::judge(&shape.base, &system, self.limits, self.go_on()) {
            Verdict::Same => return Ok(None),
            Verdict::Caught(outcome) => return Ok(outcome.violations.into_iter().next()),
            Verdict::Open(outcome) => {
                known.open.get_or_insert((name, outcome.counts.states));
                return Ok(None);
            }
            Verdict::Correct(counts) => counts,
        };
        match (name == CROWD).then(|| fairness::judge(&system, MEMORY, self.go_on())) {
            Some(Fairness::Broken(violation)) => return Ok(Some(violation)),
            Some(Fairness::Unknown(_)) => {
                known.open.get_or_insert((name, counts.states));
            }
            _ => known.correct.push((name, counts.states)),
        }
        Ok(None)
    }

    /// The recording of how a mutant was caught, if the user wants it.
    fn record(
        &self,
        changed: &Changed<'_>,
        place: &Place,
        violation: &Violation,
    ) -> Result<Option<PathBuf>, Trouble> {
        let Some(folder) = self.record else { return Ok(None) };
        let with = match changed.mutant {
            Mutant::Rule(fault) => format!("fault=[{{ name = {} }}]", in_toml(fault.name())),
            Mutant::Table(change) => format!("mutate=[{}]", in_toml(&change.to_string())),
        };
        let scenario = place.scenario.clone().with(&[with])?;
        let path = folder.join(file_name(&changed.mutant.to_string()));
        let names = changed.on(place)?.names;
        let what = (&scenario, place.name, &Options::default());
        counterexample::of(what, &names, violation)?.1.write(&path)?;
        Ok(Some(path))
    }
}

/// A name of a mutant as that of a file.
fn file_name(name: &str) -> PathBuf {
    let plain: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    Path::new(&words.join("-")).with_extension("rec")
}
