//! Caches and directories: the letter of each way of each set, and hit rates.

use crate::debug::frame::Frame;
use crate::model::inspect::CacheView;

use super::per_cent;
use crate::tui::target::Target;
use crate::tui::theme::{self, Role};
use crate::tui::view::canvas::Canvas;

/// Sets drawn of one cache; the rest is summed up.
const SETS: u32 = 64;

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    if frame.caches.is_empty() {
        canvas.text(1, 0, "This machine has no caches", Role::Dim);
        return;
    }
    let mut y = 0;
    for cache in &frame.caches {
        y = one(frame, canvas, y, cache);
    }
}

fn one(frame: &Frame, canvas: &mut Canvas, y: u16, cache: &CacheView) -> u16 {
    let path = frame.info.components.path(cache.node);
    canvas.field(1, y, 14, path, Role::Text);
    canvas.item(1, y, 14, Target::Component(cache.node));
    let all = cache.hits + cache.misses;
    let rate = if all > 0 { per_cent(cache.hits as f64 / all as f64) } else { "-".into() };
    let text = format!(
        "{}/{all} hits ({rate}) {} evicted {} written back  {}x{}x{} B",
        cache.hits, cache.evictions, cache.writebacks, cache.sets, cache.ways, cache.block
    );
    let room = canvas.width().saturating_sub(17);
    canvas.field(16, y, room, &text, Role::Dim);
    sets(canvas, y + 1, cache)
}

/// `SM|N.|..`: the ways of each set.
fn sets(canvas: &mut Canvas, y: u16, cache: &CacheView) -> u16 {
    let (start, mut x, mut row) = (3, 3, y);
    let ways = cache.ways.clamp(1, 64) as usize;
    for set in cache.lines.chunks(ways).take(SETS as usize) {
        if x + ways as u16 + 1 > canvas.width() && x > start {
            (x, row) = (start, row + 1);
        }
        for line in set {
            let from = x;
            match line {
                Some((address, state)) => {
                    x = canvas.text(x, row, &state.letter().to_string(), theme::state(*state));
                    canvas.item(from, row, 1, Target::Block(*address));
                }
                None => x = canvas.text(x, row, ".", Role::Dim),
            }
        }
        x = canvas.text(x, row, "│", Role::Border);
    }
    if cache.sets > SETS {
        canvas.text(start, row + 1, &format!("... and {} sets more", cache.sets - SETS), Role::Dim);
        row += 1;
    }
    row + 1
}
