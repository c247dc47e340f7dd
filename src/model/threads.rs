//! How many threads work at a time, and what is done on several of them.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle, available_parallelism, sleep};
use std::time::Duration;

/// As many as are asked for, one at least, else as many as there are processors.
#[must_use]
pub fn jobs(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| available_parallelism().map_or(1, NonZeroUsize::get)).max(1)
}

/// Does the same on several threads, and something else now and then until all of them have ended. What each of them came to.
pub fn attend<T: Send>(threads: usize, work: impl Fn() -> T + Sync, mut meanwhile: impl FnMut()) -> Vec<T> {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(&work)).collect();
        // Short, since the work may be.
        let mut pause = Duration::from_millis(1);
        while threads.iter().any(|thread| !thread.is_finished()) {
            sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
            meanwhile();
        }
        threads.into_iter().map(end).collect()
    })
}

/// Does something with each of some things, each on a thread of its own. What came of them, in their order.
pub fn each<I: Send, T: Send>(things: impl Iterator<Item = I>, work: impl Fn(I) -> T + Sync) -> Vec<T> {
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = things.map(|thing| scope.spawn(move || work(thing))).collect();
        threads.into_iter().map(end).collect()
    })
}

fn end<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::{each, jobs};

    #[test]
    fn there_are_as_many_as_asked_for_and_never_none() {
        assert_eq!([Some(3), Some(0)].map(jobs), [3, 1]);
    }

    #[test]
    fn what_comes_of_each_is_in_the_order_of_the_things() {
        assert_eq!(
            each(0..20, |thing| thing * thing),
            (0..20).map(|thing| thing * thing).collect::<Vec<_>>()
        );
    }
}
