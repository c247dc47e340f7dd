//! How many threads work at a time.

use std::num::NonZeroUsize;
use std::thread;

/// As many as are asked for, else as many as there are processors.
#[must_use]
pub fn jobs(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZeroUsize::get))
}

#[cfg(test)]
mod tests {
    use super::jobs;

    #[test]
    fn there_are_as_many_as_asked_for_and_never_none() {
        assert_eq!(jobs(Some(3)), 3);
        assert!(jobs(None) >= 1);
    }
}
