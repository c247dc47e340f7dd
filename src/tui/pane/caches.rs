//! Caches and directories: the letter of each way of each set, and hit rates.

use crate::debug::frame::{Frame, hardware, text};
use crate::model::address::Address;
use crate::model::inspect::CacheView;
use crate::model::state::State;

use super::per_cent;
use crate::tui::target::Target;
use crate::tui::theme::{self, Role};
use crate::tui::view::canvas::{Canvas, wrap};

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    if frame.caches.is_empty() {
        canvas.text(1, 0, "This machine has no caches", Role::Dim);
        return;
    }
    let room = canvas.width().saturating_sub(17);
    let fits =
        |form: &Form| frame.caches.iter().all(|cache| form(cache).chars().count() <= usize::from(room));
    let [.., shortest] = FORMS;
    let form = FORMS.into_iter().find(fits).unwrap_or(shortest);
    // Memories that are caches are few and matter most: they come before all.
    let (tagged, others): (Vec<_>, Vec<_>) =
        frame.caches.iter().partition(|cache| frame.tags.iter().any(|tags| tags.node == cache.node));
    let mut y = 0;
    for cache in tagged.into_iter().chain(others) {
        y = one(frame, canvas, y, (cache, &form(cache)));
    }
}

type Form = fn(&CacheView) -> String;

/// What a cache did and how large it is, in fewer and fewer letters: all rows of the pane have the same form.
const FORMS: [Form; 5] = [
    |cache| {
        let (did, gone) = (hits(cache), cache.writebacks);
        format!("{did} {} evicted {gone} written back  {} B", cache.evictions, size(cache))
    },
    |cache| {
        let (did, gone) = (hits(cache), cache.writebacks);
        format!("{did} {} evicted {gone} written  {} B", cache.evictions, size(cache))
    },
    |cache| format!("{} {} ev {} wb  {} B", hits(cache), cache.evictions, cache.writebacks, size(cache)),
    |cache| format!("{} {} ev {} wb", hits(cache), cache.evictions, cache.writebacks),
    |cache| {
        let all = cache.hits + cache.misses;
        format!("{}/{all} hits {} ev {} wb", cache.hits, cache.evictions, cache.writebacks)
    },
];

fn hits(cache: &CacheView) -> String {
    let all = cache.hits + cache.misses;
    let rate = if all > 0 { per_cent(cache.hits as f64 / all as f64) } else { "-".into() };
    format!("{}/{all} hits ({rate})", cache.hits)
}

fn size(cache: &CacheView) -> String {
    format!("{}x{}x{}", cache.sets, cache.ways, cache.block)
}

fn one(frame: &Frame, canvas: &mut Canvas, y: u16, (cache, text): (&CacheView, &str)) -> u16 {
    let path = frame.info.components.path(cache.node);
    canvas.field(1, y, 14, path, Role::Text);
    canvas.item(1, y, 14, Target::Component(cache.node));
    let room = canvas.width().saturating_sub(17);
    canvas.field(16, y, room, text, Role::Dim);
    let y = details(frame, canvas, y + 1, cache);
    sets(canvas, y, cache)
}

/// What is told of it beside its contents, and what its tags have seen, if it has any in DRAM.
fn details(frame: &Frame, canvas: &mut Canvas, y: u16, cache: &CacheView) -> u16 {
    let mut y = y;
    let tags = frame.tags.iter().find(|tags| tags.node == cache.node);
    let tags = tags.map(text::tag_counts).unwrap_or_default();
    let width = canvas.width().saturating_sub(4);
    let told = hardware::of_cache(cache).into_iter().chain(tags);
    for text in told.flat_map(|text| wrap(&text, width)) {
        canvas.reserve(y);
        if canvas.shows(y) {
            canvas.field(3, y, width, &text, Role::Dim);
        }
        y = y.saturating_add(1);
    }
    y
}

/// `SM|N.|..`: the ways of each set.
fn sets(canvas: &mut Canvas, y: u16, cache: &CacheView) -> u16 {
    let ways = cache.ways.max(1) as usize;
    let across = usize::from(canvas.width().saturating_sub(4)) / (ways + 1);
    let sets: Vec<_> = cache.lines.chunks(ways).collect();
    let others = cache.sets.saturating_sub(sets.len() as u32);
    let mut row = y;
    for sets in sets.chunks(across.max(1)) {
        canvas.reserve(row);
        if canvas.shows(row) {
            let mut x = 3;
            for set in sets {
                x = one_set(canvas, x, row, set);
            }
        }
        row = row.saturating_add(1);
    }
    if others > 0 {
        canvas.text(3, row, &format!("... and {others} sets more"), Role::Dim);
        row = row.saturating_add(1);
    }
    row
}

fn one_set(canvas: &mut Canvas, x: u16, y: u16, set: &[Option<(Address, State)>]) -> u16 {
    let mut x = x;
    for line in set {
        let from = x;
        if let Some((address, state)) = line {
            x = canvas.text(x, y, &state.letter().to_string(), theme::state(*state));
            canvas.item(from, y, 1, Target::Block(*address));
        } else {
            x = canvas.text(x, y, ".", Role::Dim);
        }
    }
    canvas.text(x, y, "│", Role::Border)
}
