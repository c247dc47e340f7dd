//! Caches and directories: the letter of each way of each set, and hit rates.

use crate::debug::frame::{Frame, hardware, text};
use crate::model::component::ComponentKind;
use crate::model::inspect::{CacheLine, CacheView};
use crate::report::number::grouped;

use super::per_cent;
use crate::tui::canvas::{Canvas, wrap};
use crate::tui::target::Target;
use crate::tui::theme::{self, Role};

/// Caches from which on L1s come last.
const MANY: usize = 32;

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    if frame.caches.is_empty() {
        canvas.text(1, 0, "This machine has no caches", Role::Dim);
        return;
    }
    let room = usize::from(canvas.width().saturating_sub(17));
    let widest = Work::widest(&frame.caches);
    let [.., shortest] = FORMS;
    let form = FORMS.into_iter().find(|form| form(widest).chars().count() <= room).unwrap_or(shortest);
    // Memories that are caches are few and matter most: they come before all.
    let (tagged, others): (Vec<_>, Vec<_>) =
        frame.caches.iter().partition(|cache| frame.tags.iter().any(|tags| tags.node == cache.node));
    // So does what a breakpoint was about.
    let hit = frame.stop.as_ref().map_or(&[][..], |stop| &stop.hit);
    let stopped = frame.now.iter().find(|happening| hit.contains(&happening.id)).and_then(|one| one.at);
    let (sought, others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|cache| stopped == Some(cache.node));
    // Where there are very many, or ways are dealt, those that others share stand before the L1s.
    let is_l1 = |cache: &&CacheView| {
        frame.info.components.get(cache.node).is_some_and(|part| part.kind == ComponentKind::L1)
    };
    let crowded = others.len() > MANY || others.iter().any(|cache| cache.partition.is_some());
    let (shared, own): (Vec<_>, Vec<_>) = others.into_iter().partition(|cache| crowded && !is_l1(cache));
    let mut y = 0;
    for cache in tagged.into_iter().chain(sought).chain(shared).chain(own) {
        y = one(frame, canvas, y, (cache, form));
    }
    if frame.caches.iter().any(|cache| cache.partition.is_some()) {
        let told =
            "small letters: lines of other sockets; the ways behind : are for them, and lent while empty";
        canvas.paragraph(1, y, told, Role::Dim);
    }
}

/// What a cache did, and how large it is.
#[derive(Clone, Copy, Default)]
struct Work {
    hits: u64,
    all: u64,
    evictions: u64,
    writebacks: u64,
    sets: u32,
    ways: u32,
    block: u32,
}

impl Work {
    fn of(cache: &CacheView) -> Self {
        Self {
            hits: cache.hits,
            all: cache.hits + cache.misses,
            evictions: cache.evictions,
            writebacks: cache.writebacks,
            sets: cache.sets,
            ways: cache.ways,
            block: cache.block,
        }
    }

    /// One whose numbers take no fewer letters than those of any of these.
    fn widest(caches: &[CacheView]) -> Self {
        let larger = |most: Self, cache: Self| Self {
            hits: most.hits.max(cache.all),
            all: most.all.max(cache.all),
            evictions: most.evictions.max(cache.evictions),
            writebacks: most.writebacks.max(cache.writebacks),
            sets: most.sets.max(cache.sets),
            ways: most.ways.max(cache.ways),
            block: most.block.max(cache.block),
        };
        caches.iter().map(Self::of).fold(Self::default(), larger)
    }

    fn hits(self) -> String {
        let rate = if self.all > 0 { per_cent(self.hits as f64 / self.all as f64) } else { "-".into() };
        format!("{}/{} hits ({rate})", self.hits, self.all)
    }

    fn size(self) -> String {
        format!("{}x{}x{}", self.sets, self.ways, self.block)
    }
}

type Form = fn(Work) -> String;

/// What a cache did and how large it is, in fewer and fewer letters: all rows of the pane have the same form.
const FORMS: [Form; 5] = [
    |did| {
        format!("{} {} evicted {} written back  {} B", did.hits(), did.evictions, did.writebacks, did.size())
    },
    |did| format!("{} {} evicted {} written  {} B", did.hits(), did.evictions, did.writebacks, did.size()),
    |did| format!("{} {} ev {} wb  {} B", did.hits(), did.evictions, did.writebacks, did.size()),
    |did| format!("{} {} ev {} wb", did.hits(), did.evictions, did.writebacks),
    |did| format!("{}/{} hits {} ev {} wb", did.hits, did.all, did.evictions, did.writebacks),
];

fn one(frame: &Frame, canvas: &mut Canvas, y: u16, (cache, form): (&CacheView, Form)) -> u16 {
    canvas.reserve(y);
    canvas.item(1, y, 14, Target::Component(cache.node));
    if canvas.shows(y) {
        canvas.field(1, y, 14, frame.info.components.path(cache.node), Role::Text);
        let room = canvas.width().saturating_sub(17);
        canvas.field(16, y, room, &form(Work::of(cache)), Role::Dim);
    }
    let y = details(frame, canvas, y + 1, cache);
    sets(canvas, y, cache)
}

/// What is told of it beside its contents, and what its tags have seen, if it has any in DRAM.
fn details(frame: &Frame, canvas: &mut Canvas, y: u16, cache: &CacheView) -> u16 {
    let mut y = y;
    let tags = frame.tags.iter().find(|tags| tags.node == cache.node);
    let tags = tags.map(text::tag_counts).unwrap_or_default();
    let width = canvas.width().saturating_sub(4);
    let told = hardware::of_cache(cache, frame.time).into_iter().chain(tags);
    for text in told.flat_map(|text| wrap(&text, width)) {
        canvas.reserve(y);
        if canvas.shows(y) {
            canvas.field(3, y, width, &text, Role::Dim);
        }
        y = y.saturating_add(1);
    }
    y
}

/// `SM|N.|..`: the ways of each set; `S.:i`, if some are for remote lines. Of more sets than are told, those that hold anything
/// have their numbers: `12 S.|`.
fn sets(canvas: &mut Canvas, y: u16, cache: &CacheView) -> u16 {
    let ways = cache.ways.max(1) as usize;
    let local =
        cache.partition.as_ref().map(|partition| cache.ways.saturating_sub(partition.remote) as usize);
    let others = cache.sets.saturating_sub(cache.told.len() as u32);
    let digits = cache.told.iter().max().filter(|_| others > 0).map(|most| most.to_string().len());
    let one = ways + 1 + usize::from(local.is_some()) + digits.map_or(0, |digits| digits + 1);
    let across = usize::from(canvas.width().saturating_sub(4)) / one;
    let sets: Vec<_> = cache.told.iter().zip(cache.lines.chunks(ways)).collect();
    let mut row = y;
    for sets in sets.chunks(across.max(1)) {
        canvas.reserve(row);
        if canvas.shows(row) {
            let mut x = 3;
            for (number, set) in sets {
                if let Some(digits) = digits {
                    x = canvas.text(x, row, &format!("{number:digits$} "), Role::Dim);
                }
                x = one_set(canvas, (x, row), set, local);
            }
        }
        row = row.saturating_add(1);
    }
    if others > 0 {
        let text = match (cache.told.is_empty(), cache.holds_more) {
            (true, false) => format!("all {} sets are empty", grouped(u64::from(cache.sets))),
            (_, true) => format!("... and more of {} sets", grouped(u64::from(cache.sets))),
            (false, false) if others == 1 => "the other set is empty".to_owned(),
            (false, false) => format!("the other {} sets are empty", grouped(u64::from(others))),
        };
        canvas.text(3, row, &text, Role::Dim);
        row = row.saturating_add(1);
    }
    row
}

fn one_set(canvas: &mut Canvas, (x, y): (u16, u16), set: &[Option<CacheLine>], local: Option<usize>) -> u16 {
    let mut x = x;
    for (way, line) in set.iter().enumerate() {
        if local == Some(way) {
            x = canvas.text(x, y, ":", Role::Border);
        }
        let from = x;
        if let Some(line) = line {
            let letter = line.state.letter();
            let letter = if line.remote { letter.to_ascii_lowercase() } else { letter };
            x = canvas.text(x, y, letter.encode_utf8(&mut [0; 4]), theme::state(line.state));
            canvas.item(from, y, 1, Target::Block(line.block));
        } else {
            x = canvas.text(x, y, ".", Role::Dim);
        }
    }
    canvas.text(x, y, "│", Role::Border)
}
