//! The page at the head of the way to a GPU, or from it: as its bytes come over the link, piece by piece, they are read in the memory at
//! one end and written at the other. Nobody waits for that: the memories do it in turn with all else that is asked of them.

use super::{GpuPaging, Machine};
use crate::config::machine::CopyMode;
use crate::model::address::Range;
use crate::model::page::Page;
use crate::model::paging::MoveReason;
use crate::model::time::Tick;
use crate::parts::channel::Path;
use crate::parts::driver::Planned;
use crate::parts::link::Link;
use crate::protocol::outbox::{Outbox, Touch, TouchKind};

/// Bytes of a piece at least, and pieces of a page at most (ours): few events, and none of them takes a memory for long.
const PIECE: u32 = 4096;
const PIECES: u32 = 64;

/// Which way a page goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    ToGpu,
    ToHost,
}

/// How far a page is that has several pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Crossing {
    /// When the next of its pieces has come, but the last, which comes with the page.
    pub next: Tick,
    step: Tick,
    piece: u32,
    passed: u32,
}

impl Crossing {
    /// Of a page of so many bytes, which take a `span` on the link, the last of them at `due`.
    fn of(bytes: u32, span: Tick, due: Tick) -> Option<Self> {
        let pieces = (bytes / PIECE).min(PIECES);
        if pieces < 2 {
            return None;
        }
        let step = span / Tick::from(pieces);
        let next = due.saturating_sub(span) + step;
        Some(Self { next, step, piece: bytes / pieces, passed: 0 })
    }

    /// A piece has come: the first byte of it, and the next is awaited, unless that is the last.
    fn pass(&mut self, bytes: u32) -> u32 {
        let from = self.passed;
        self.passed += self.piece;
        self.next = if self.passed + self.piece < bytes { self.next + self.step } else { Tick::MAX };
        from
    }
}

/// Whether a page is used while it comes.
pub(super) fn streams(planned: Planned, mode: CopyMode) -> bool {
    planned.reason == MoveReason::Copied && mode == CopyMode::Overlapped
}

/// Ticks that bytes take over the slower of the links of a path.
fn span(links: &[Link], path: Path, bytes: u64) -> Tick {
    let of = |link: usize| links.get(link).map_or(0, |link| link.span_of(bytes));
    of(path.first).max(path.second.map_or(0, of))
}

impl GpuPaging {
    fn crossing(&mut self, way: Way) -> &mut Option<Crossing> {
        match way {
            Way::ToGpu => &mut self.coming,
            Way::ToHost => &mut self.going,
        }
    }

    /// The page at the head, and when its last byte comes.
    fn head(&self, way: Way, mode: CopyMode) -> Option<(Page, Tick)> {
        match way {
            Way::ToGpu => {
                let (due, planned) = *self.arrivals.front()?;
                (!streams(planned, mode)).then_some((planned.page, due))
            }
            Way::ToHost => self.departures.front().map(|(due, page, _)| (*page, *due)),
        }
    }
}

impl Machine {
    /// A page is at the head: its pieces come from now on.
    pub(super) fn begin_crossing(&mut self, gpu: usize, way: Way) {
        let Some(paging) = self.paging.as_mut().filter(|paging| paging.brings_pages() && !paging.only_maps())
        else {
            return;
        };
        let (bytes, mode) = (paging.page, paging.copies.mode);
        let Some(one) = paging.gpus.get_mut(gpu) else { return };
        let path = if way == Way::ToGpu { one.ports.links.0 } else { one.ports.links.1 };
        let head = one.head(way, mode);
        let crossing =
            head.and_then(|(_, due)| Crossing::of(bytes, span(&self.links, path, bytes.into()), due));
        *one.crossing(way) = crossing;
    }

    /// Pieces that have come.
    pub(super) fn cross_pieces(&mut self, gpu: usize, out: &mut Outbox) {
        let now = self.now;
        for way in [Way::ToHost, Way::ToGpu] {
            while let Some((page, range)) = self.take_piece(gpu, way, now) {
                self.pass_memories(gpu, page, range, way, out);
            }
        }
    }

    fn take_piece(&mut self, gpu: usize, way: Way, now: Tick) -> Option<(Page, (u32, u32))> {
        let paging = self.paging.as_mut()?;
        let (bytes, mode) = (paging.page, paging.copies.mode);
        let one = paging.gpus.get_mut(gpu)?;
        let (page, _) = one.head(way, mode)?;
        let crossing = one.crossing(way).as_mut().filter(|crossing| crossing.next <= now)?;
        Some((page, (crossing.pass(bytes), crossing.piece)))
    }

    /// A page has come, and with it the rest of its bytes; the next one is at the head.
    pub(super) fn end_crossing(&mut self, gpu: usize, page: Page, way: Way, out: &mut Outbox) {
        let Some(paging) = self.paging.as_mut().filter(|paging| paging.brings_pages() && !paging.only_maps())
        else {
            return;
        };
        let bytes = paging.page;
        let Some(one) = paging.gpus.get_mut(gpu) else { return };
        let passed = one.crossing(way).take().map_or(0, |crossing| crossing.passed);
        self.pass_memories(gpu, page, (passed, bytes - passed.min(bytes)), way, out);
        self.begin_crossing(gpu, way);
    }

    /// Bytes of a page, from one on so many, are read at one end and written at the other.
    fn pass_memories(&mut self, gpu: usize, page: Page, (from, len): (u32, u32), way: Way, out: &mut Outbox) {
        let Some(paging) = self.paging.as_ref() else { return };
        let range = Range::new(page.range(paging.page).start.plus(from.into()), len);
        let (source, target) = if way == Way::ToGpu { (None, Some(gpu)) } else { (Some(gpu), None) };
        self.pass_memory(source, range, TouchKind::Read, out);
        self.pass_memory(target, range, TouchKind::Write, out);
    }

    /// Bytes of the memory of a GPU, or of the host's, are read or written.
    pub(super) fn pass_memory(
        &mut self,
        gpu: Option<usize>,
        range: Range,
        what: TouchKind,
        out: &mut Outbox,
    ) {
        for (start, bytes) in self.dealt(gpu, range) {
            let memory = gpu.map_or_else(|| self.host_memory(start), |gpu| self.gpu_memory(gpu, start));
            let Some(memory) = memory else { continue };
            self.touch_memory(memory, Touch { what, range: Range::new(start, bytes) }, out);
            self.advance_memory(memory, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_evenly_and_the_last_with_the_page() {
        assert_eq!(Crossing::of(4096, 100, 500), None);
        let mut crossing = Crossing::of(16384, 400, 1000).unwrap();
        let mut seen = Vec::new();
        while crossing.next < Tick::MAX {
            let at = crossing.next;
            seen.push((at, crossing.pass(16384)));
        }
        assert_eq!((seen, crossing.passed), (vec![(700, 0), (800, 4096), (900, 8192)], 12288));
        assert_eq!(Crossing::of(2 << 20, 6400, 10_000).unwrap().piece, 32768);
    }
}
