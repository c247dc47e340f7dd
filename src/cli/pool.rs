//! Many jobs of the same kind on all processors.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::interrupt::Interrupt;
use super::progress::Progress;
use crate::model::threads::{self, attend};

/// Does `each` for every number below `count`, `jobs` at a time (as many as there are processors if that is not said),
/// in threads of their own. After ctrl-c or a break no more are begun. `told` tells how far it is.
pub fn each(
    count: usize,
    jobs: Option<usize>,
    interrupt: &Interrupt,
    told: impl Fn(usize) -> String,
    each: impl Fn(usize) -> ControlFlow<()> + Sync,
) {
    let jobs = threads::jobs(jobs);
    let (next, done, enough) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let worker = || {
        loop {
            // Whoever has taken a number does it: all below one that breaks are done, however many jobs there are.
            if interrupt.is_raised() || enough.load(Ordering::Relaxed) {
                break;
            }
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            if each(number).is_break() {
                enough.store(true, Ordering::Relaxed);
            }
            done.fetch_add(1, Ordering::Relaxed);
        }
    };
    let mut progress = Progress::start();
    attend(jobs.clamp(1, count.max(1)), worker, || {
        let done = done.load(Ordering::Relaxed);
        progress.tell_share(|| (done as f64 / count.max(1) as f64, told(done)));
    });
}

/// What `find` finds for every number below `count`, in their order, done as by [`each`].
pub fn gather<T: Send>(
    count: usize,
    jobs: Option<usize>,
    interrupt: &Interrupt,
    told: impl Fn(usize) -> String,
    find: impl Fn(usize) -> ControlFlow<T, Option<T>> + Sync,
) -> Vec<T> {
    let found = Mutex::new(Vec::new());
    each(count, jobs, interrupt, told, |number| {
        let (what, flow) = match find(number) {
            ControlFlow::Continue(what) => (what, ControlFlow::Continue(())),
            ControlFlow::Break(what) => (Some(what), ControlFlow::Break(())),
        };
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        found.extend(what.map(|what| (number, what)));
        flow
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(number, _)| *number);
    found.into_iter().map(|(_, what)| what).collect()
}
