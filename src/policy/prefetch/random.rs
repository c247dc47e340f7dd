//! Prefetching at random.

use super::Signals;
use crate::model::page::Page;
use crate::model::random::Random;

/// "Random prefetching makes page selections by choosing candidates randomly from the allocated virtual address (VA)
/// range" (section 4.2).
pub fn choose(signals: &Signals<'_>, random: &mut Random) -> Vec<Page> {
    let mut left = signals.absent.clone();
    let draw = || {
        let page = left.nth(random.below(left.len()))?;
        left.remove(page);
        Some(page)
    };
    std::iter::from_fn(draw).take(signals.room).collect()
}
