//! Several threads at the same work.

use std::panic::resume_unwind;
use std::thread::{ScopedJoinHandle, scope, sleep};
use std::time::Duration;

/// Does the same on several threads, and something else now and then until all of them have ended. What each of them came to.
pub fn attend<T: Send>(threads: usize, work: impl Fn() -> T + Sync, mut meanwhile: impl FnMut()) -> Vec<T> {
    scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(&work)).collect();
        // Short, since the work may be.
        let mut pause = Duration::from_millis(1);
        while threads.iter().any(|thread| !thread.is_finished()) {
            sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
            meanwhile();
        }
        let ends = threads.into_iter().map(ScopedJoinHandle::join);
        ends.map(|end| end.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
