//! Runs go into a journal, one by one, on all processors.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::Journal;
use crate::cli::exit::Trouble;
use crate::cli::interrupt::Interrupt;
use crate::cli::pool;

/// Does the runs that are `left`, `jobs` at a time, and adds each to the journal as soon as it is done. `run` gives the row of a point, or nothing
/// if it was interrupted.
///
/// # Errors
/// The first trouble of a run, or of writing; no more are begun then.
pub fn fill(
    journal: Journal,
    left: &[usize],
    (jobs, interrupt): (Option<usize>, &Interrupt),
    told: impl Fn(usize) -> String,
    run: impl Fn(usize) -> Result<Option<Value>, Trouble> + Sync,
) -> Result<Journal, Trouble> {
    let shared = Mutex::new((journal, None::<Trouble>));
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    pool::each(left.len(), jobs, interrupt, told, |index| {
        let Some(&number) = left.get(index) else { return ControlFlow::Continue(()) };
        let added = match run(number) {
            Ok(Some(row)) => lock().0.add(number, &row),
            Ok(None) => return ControlFlow::Break(()),
            Err(trouble) => Err(trouble),
        };
        let Err(trouble) = added else { return ControlFlow::Continue(()) };
        lock().1.get_or_insert(trouble);
        ControlFlow::Break(())
    });
    match shared.into_inner().unwrap_or_else(PoisonError::into_inner) {
        (_, Some(trouble)) => Err(trouble),
        (journal, None) => Ok(journal),
    }
}
