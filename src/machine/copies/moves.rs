//! A page on its way: out of the caches, out of the memory that it leaves, over the link, into the memory that it comes to.

use super::{Machine, Transfer};
use crate::machine::queue::Event;
use crate::machine::step::Handled;
use crate::machine::transport::carry;
use crate::model::address::{Address, Range};
use crate::model::page::Page;
use crate::model::paging::PageChange;
use crate::model::record::What;
use crate::model::time::Tick;
use crate::parts::copy_engine::{Engine, Stage};
use crate::parts::dram::{Dram, Read};
use crate::policy::copies::Side;
use crate::protocol::node::Node;
use crate::protocol::outbox::{About, Outbox};

impl Machine {
    /// Arrays set out for a side.
    pub(super) fn begin_copy(&mut self, to: Side, arrays: Vec<usize>, out: &mut Outbox) {
        let now = self.now;
        let Some(copies) = self.copies.as_mut() else { return };
        let pages: Vec<Page> = arrays
            .iter()
            .filter_map(|array| copies.arrays.get(*array))
            .flat_map(|array| array.pages.iter())
            .collect();
        copies.counts.to(to).transfers += 1;
        copies.transfer =
            Some(Transfer { to, arrays, outrun: Vec::new(), left: pages.len() as u64, began: now });
        let size = copies.shape.page;
        for page in pages {
            let gpu = out.homes.of(page.range(size).start) as usize;
            if let Some(engine) = copies.engines.get_mut(gpu) {
                engine.put(page);
            }
        }
        for gpu in 0..copies.engines.len() {
            self.send_pages(gpu, out);
        }
    }

    /// As many pages as there is room for set out.
    fn send_pages(&mut self, gpu: usize, out: &mut Outbox) {
        while let Some(copies) = self.copies.as_mut() {
            let Some(to) = copies.transfer.as_ref().map(|transfer| transfer.to) else { return };
            let Some(page) = copies.engines.get_mut(gpu).and_then(Engine::begin) else { return };
            let change = match to {
                Side::Gpu => PageChange::Copied,
                Side::Host => PageChange::WrittenBack,
            };
            if to == Side::Host && !copies.policy.trusts_source() {
                copies.counts.left(page);
            }
            let whole = page.range(copies.shape.page);
            let is_redundant = copies.counts.depart(page, to);
            self.tell_copy(gpu, page, change, out);
            if is_redundant {
                self.tell_copy(gpu, page, PageChange::Redundant, out);
            }
            self.drain_copied(gpu, page, whole, out);
        }
    }

    fn tell_copy(&self, gpu: usize, page: Page, change: PageChange, out: &mut Outbox) {
        let Some(copies) = self.copies.as_ref() else { return };
        let Some(engine) = copies.engines.get(gpu) else { return };
        let set = copies.counts.to_gpu.transfers + copies.counts.to_host.transfers;
        let about = About::new(page.range(copies.shape.page), None);
        out.record(engine.ports.id, about, || What::Page { change, gpu: gpu as u32, set });
    }

    /// After an event about a range: a page in it that is to leave may have left the caches.
    pub(in crate::machine) fn drain_copies(&mut self, range: Range, out: &mut Outbox) {
        let Some(copies) = self.copies.as_ref().filter(|copies| copies.transfer.is_some()) else { return };
        let page = Page::of(range.start, copies.shape.page);
        // Where lines are dealt over the memories, the page is with the engine of its first one.
        let drains = |engine: &Engine| matches!(engine.active.get(&page), Some(Stage::Draining(_)));
        if let Some(gpu) = copies.engines.iter().position(drains) {
            self.drain_copied(gpu, page, range, out);
        }
    }

    /// Evicts the lines of a page that `concerned` tells, and the first that is not known to have left; once all have left all caches, it
    /// is read.
    fn drain_copied(&mut self, gpu: usize, page: Page, concerned: Range, out: &mut Outbox) {
        let Some(copies) = self.copies.as_ref() else { return };
        let range = page.range(copies.shape.page);
        let step = self.fixed.smallest_block;
        let lines: Vec<Range> = range.blocks(step).map(|start| Range::new(start, step)).collect();
        let first = lines.partition_point(|line| line.end() <= concerned.start.0);
        let end = lines.partition_point(|line| line.start.0 < concerned.end());
        self.evict_copied(lines.get(first..end).unwrap_or_default(), out);
        let Some(Stage::Draining(mut gone)) = self.stage_of(gpu, page).copied() else { return };
        while let Some(line) = lines.get(gone as usize) {
            if !(first..end).contains(&(gone as usize)) {
                self.evict_copied(std::slice::from_ref(line), out);
            }
            if self.is_cached(*line) {
                break;
            }
            gone += 1;
        }
        if gone as usize == lines.len() {
            // One that had left may have been loaded again.
            self.evict_copied(&lines, out);
            if !self.is_cached(range) {
                self.access_page(gpu, page, Stage::Reading(0), out);
                return;
            }
            gone = 0;
        }
        if let Some(stage) = self.stage_of(gpu, page) {
            *stage = Stage::Draining(gone);
        }
    }

    fn stage_of(&mut self, gpu: usize, page: Page) -> Option<&mut Stage> {
        self.copies.as_mut()?.engines.get_mut(gpu)?.active.get_mut(&page)
    }

    /// Lines that are to be copied leave every cache that has them and nothing under way about them.
    fn evict_copied(&mut self, lines: &[Range], out: &mut Outbox) {
        let Some(shape) = self.copies.as_ref().map(|copies| copies.shape.clone()) else { return };
        for &node in &shape.caches {
            let holds = |target: &&mut Node| lines.len() == 1 || target.holds_anything();
            let Some(target) = self.nodes.get_mut(node).filter(holds) else { continue };
            let (mut acted, block) = (false, target.config.block);
            for address in lines.iter().flat_map(|line| line.blocks(block)) {
                acted |= target.evict_block(address, out);
            }
            if acted {
                self.after_node(node, out);
            }
        }
    }

    /// Whether a cache has something of a range that is to be copied, or it is on its way to memory still.
    fn is_cached(&self, range: Range) -> bool {
        let Some(copies) = self.copies.as_ref() else { return false };
        let mut caches = copies.shape.caches.iter().filter_map(|node| self.nodes.get(*node));
        caches.any(|node| node.is_busy_with(range))
            || self.channels.iter().any(|channel| channel.carries(range))
    }

    /// A page is read from the memory that it leaves, or written to the one that it comes to.
    fn access_page(&mut self, gpu: usize, page: Page, stage: Stage, out: &mut Outbox) {
        let Some(copies) = self.copies.as_ref() else { return };
        let Some(to) = copies.transfer.as_ref().map(|transfer| transfer.to) else { return };
        let writes = matches!(stage, Stage::Writing(_));
        let side = if writes { to } else { to.other() };
        let range = page.range(copies.shape.page);
        let mut pieces = 0;
        for (node, start, bytes) in self.pieces(side, range, out) {
            pieces += 1;
            self.access_piece((gpu, page), node, (start, bytes, writes), out);
        }
        let stage = if writes { Stage::Writing(pieces) } else { Stage::Reading(pieces) };
        if let Some(engine) = self.copies.as_mut().and_then(|copies| copies.engines.get_mut(gpu)) {
            engine.active.insert(page, stage);
        }
        if pieces == 0 {
            self.advance_page(gpu, page, out);
        }
        self.wake_copies(gpu);
    }

    /// The memories of a side that a range is dealt over: of each, where its part begins, and its bytes.
    fn pieces(&self, side: Side, range: Range, out: &Outbox) -> Vec<(usize, Address, u32)> {
        let mut pieces: Vec<(usize, Address, u32)> = Vec::new();
        let step = self.fixed.smallest_block;
        for start in range.blocks(step) {
            let Some(node) = self.memory_on(side, start, &out.homes) else { continue };
            match pieces.iter_mut().find(|(other, _, _)| *other == node) {
                Some((_, _, bytes)) => *bytes += step,
                None => pieces.push((node, start, step)),
            }
        }
        pieces
    }

    fn access_piece(
        &mut self,
        (gpu, page): (usize, Page),
        node: usize,
        (start, bytes, writes): (Address, u32, bool),
        out: &mut Outbox,
    ) {
        let now = self.now;
        let about = About::new(Range::new(start, bytes), None).because(out.event);
        let Some((dram, dealing)) = self.dram_behind(node) else {
            self.put_off(gpu, page, now);
            return;
        };
        let local = dealing.local(start);
        match dram {
            Dram::InOrder(dram) => {
                let end = dram.access(local, bytes, writes, now);
                self.put_off(gpu, page, end);
            }
            Dram::FrFcfs(controller) => {
                let access = if writes {
                    controller.write_told(local, bytes, about)
                } else {
                    controller.read(local, bytes, about)
                };
                if let Some(engine) = self.copies.as_mut().and_then(|copies| copies.engines.get_mut(gpu)) {
                    engine.awaited.insert((node, access), page);
                }
                self.advance_memory(node, out);
            }
        }
    }

    fn put_off(&mut self, gpu: usize, page: Page, tick: crate::model::time::Tick) {
        if let Some(engine) = self.copies.as_mut().and_then(|copies| copies.engines.get_mut(gpu)) {
            engine.put_off(page, tick);
        }
    }

    /// A memory controller has done something that a page may have waited for.
    pub(in crate::machine) fn copy_accessed(&mut self, node: usize, access: Read, out: &mut Outbox) -> bool {
        let engines = self.copies.as_mut().map_or(&mut [][..], |copies| &mut copies.engines);
        let found = engines
            .iter_mut()
            .enumerate()
            .find_map(|(gpu, engine)| engine.awaited.remove(&(node, access)).map(|page| (gpu, page)));
        let Some((gpu, page)) = found else { return false };
        self.advance_page(gpu, page, out);
        self.wake_copies(gpu);
        true
    }

    /// The copy engine of a GPU does what is due.
    pub(in crate::machine) fn run_copies(&mut self, gpu: usize, out: &mut Outbox) -> Handled {
        let now = self.now;
        let engine = |machine: &mut Self| -> Option<Page> {
            machine.copies.as_mut()?.engines.get_mut(gpu)?.take_due(now)
        };
        let is_due = self
            .copies
            .as_mut()
            .and_then(|copies| copies.engines.get_mut(gpu))
            .is_some_and(|engine| engine.is_due(now));
        if !is_due {
            return Handled::No;
        }
        while let Some(page) = engine(self) {
            self.advance_page(gpu, page, out);
        }
        self.wake_copies(gpu);
        Handled::Yes
    }

    /// Whether the copies of a GPU are to go on then.
    pub(in crate::machine) fn are_copies_due(&self, gpu: usize, tick: Tick) -> bool {
        let engine = self.copies.as_ref().and_then(|copies| copies.engines.get(gpu));
        engine.is_some_and(|engine| engine.is_planned(tick))
    }

    /// What was to go on of them at `tick` goes on at `later`.
    pub(in crate::machine) fn postpone_copies(&mut self, gpu: usize, tick: Tick, later: Tick) {
        if let Some(engine) = self.copies.as_mut().and_then(|copies| copies.engines.get_mut(gpu)) {
            engine.postpone(tick, later);
        }
        self.wake_copies(gpu);
    }

    fn wake_copies(&mut self, gpu: usize) {
        let engine = self.copies.as_mut().and_then(|copies| copies.engines.get_mut(gpu));
        if let Some(at) = engine.and_then(Engine::plan) {
            self.queue.push(at.max(self.now), Event::Copies(gpu as u32));
        }
    }

    /// A page goes on.
    fn advance_page(&mut self, gpu: usize, page: Page, out: &mut Outbox) {
        let now = self.now;
        let Some(copies) = self.copies.as_mut() else { return };
        let Some(to) = copies.transfer.as_ref().map(|transfer| transfer.to) else { return };
        let Some(engine) = copies.engines.get_mut(gpu) else { return };
        let Some(stage) = engine.active.get_mut(&page) else { return };
        match *stage {
            Stage::Reading(left) if left > 1 => *stage = Stage::Reading(left - 1),
            Stage::Writing(left) if left > 1 => *stage = Stage::Writing(left - 1),
            Stage::Draining(_) => {}
            Stage::Reading(_) => {
                *stage = Stage::Crossing;
                let path = engine.path_to(to);
                let due = carry(&mut self.links, path, u64::from(copies.shape.page), now);
                engine.put_off(page, due);
                self.arm_sampler();
            }
            Stage::Crossing => {
                self.copy_bytes(to, page, out);
                self.access_page(gpu, page, Stage::Writing(0), out);
            }
            Stage::Writing(_) => {
                engine.active.remove(&page);
                self.page_copied(gpu, page, out);
            }
        }
    }

    /// Bytes of a page go from the memory of one side to that of the other.
    fn copy_bytes(&mut self, to: Side, page: Page, out: &Outbox) {
        let Some(range) = self.copies.as_ref().map(|copies| page.range(copies.shape.page)) else { return };
        let homes = &out.homes;
        self.move_bytes(
            range,
            |machine, address| machine.memory_on(to.other(), address, homes),
            |machine, address| machine.memory_on(to, address, homes),
        );
    }

    /// A page has come; with the last one, its arrays have.
    fn page_copied(&mut self, gpu: usize, page: Page, out: &mut Outbox) {
        let now = self.now;
        let Some(copies) = self.copies.as_mut() else { return };
        let Some(transfer) = copies.transfer.as_mut() else { return };
        transfer.left = transfer.left.saturating_sub(1);
        let (to, is_last) = (transfer.to, transfer.left == 0);
        let change = match to {
            Side::Gpu => PageChange::Arrived,
            Side::Host => PageChange::Gone,
        };
        if is_last && let Some(transfer) = copies.transfer.take() {
            for number in transfer.arrays {
                let is_outrun = transfer.outrun.binary_search(&number).is_ok();
                if let Some(array) = copies.arrays.get_mut(number) {
                    array.set(to, !is_outrun);
                    array.has_room |= to == Side::Gpu;
                    array.set(to.other(), is_outrun || copies.policy.trusts_source());
                }
            }
            copies.counts.to(to).time += now - transfer.began;
        }
        self.tell_copy(gpu, page, change, out);
        if is_last {
            self.try_held();
            self.copies_after(out);
        } else {
            self.send_pages(gpu, out);
        }
    }
}
