//! Blocks that may not be kept here: each access goes on alone, or those that meet in an MSHR share what one of them fetches
//! ("Selective GPU Caches", sections 3.1, 3.2.1 and 3.2.3).
//!
//! A block may not be kept if its home is another memory, or if the parent answers "use once", because somebody beyond the
//! network may have it. What comes then stays in the MSHR until those that waited for it are served; the rest is dropped.

use std::sync::Arc;

use super::pending::{Pending, Want, Who};
use super::{Decision, Node, Role};
use crate::model::access::{Access, Bytes};
use crate::model::address::{Address, Range};
use crate::model::fault::Fault;
use crate::model::message::{Message, MessageKind, TxnNumber};
use crate::model::paging::Permission;
use crate::model::patch::Patch;
use crate::model::record::What;
use crate::model::sectors::Sectors;
use crate::model::state::{Action, State};
use crate::protocol::outbox::{About, Outbox, Outgoing, TagRead};
use crate::protocol::table::{Next, Step};

impl Want {
    /// Whether it wants bytes, and nobody is granted anything.
    pub(super) fn is_load(&self) -> bool {
        self.action == Action::Load && self.is_performed_here()
    }
}

impl Node {
    /// Whether a block may not be kept here, whatever the parent says: its home is another memory, and somebody may write it.
    pub(super) fn is_uncached(&self, block: Address, out: &Outbox) -> bool {
        self.config.table.uncached.is_some()
            && self.config.role != Role::Root
            && self.is_remote(block, &out.homes)
            && !self.config.has_fault(Fault::KeepHostLines)
            && out.permission(block) != Permission::ReadOnly
            && !self.is_thought_read_only(block)
    }

    /// Whether no TLB was told that the page of a block may be written, so that a line from before is used.
    fn is_thought_read_only(&self, block: Address) -> bool {
        self.config.has_fault(Fault::SkipShootDown) && self.store.get(block).is_some()
    }

    /// What becomes of an action on a block that may not be kept.
    pub(super) fn decide_uncached(&self, action: Action) -> Decision {
        match self.config.table.uncached_cell(action, self.config.role != Role::Leaf) {
            Some(cell) if cell.step == Step::Fetch => Decision::Parent(cell),
            Some(cell) if cell.step == Step::Forward => Decision::PassUp(cell),
            _ => Decision::Never,
        }
    }

    /// The sectors that an access touches, where that makes a difference.
    pub(super) fn sectors_of(&self, block: Address, access: &Access) -> Sectors {
        if self.config.table.uncached.is_none() && !self.config.sectored {
            return Sectors::NONE;
        }
        let runs = access.runs().into_iter();
        runs.fold(Sectors::of(access.range.start_only(), block), |all, run| all.with(Sectors::of(run, block)))
    }

    /// Whether nothing that is on its way has all that a want needs.
    pub(super) fn lacks_sectors(pending: &Pending, want: &Want) -> bool {
        let coming = pending.asked.as_ref().map_or(Sectors::NONE, |asked| asked.coming);
        pending.uncached && want.is_load() && !want.sectors.without(want.got).without(coming).is_empty()
    }

    /// Whether a load wants bytes of a store that has been handed on and not been answered, one of the first so many. What was asked
    /// for before that store comes before its answer, and is too old for a load that came behind it.
    pub(super) fn overlaps_passed(pending: &Pending, first: usize, want: &Want) -> bool {
        let touches = |store: &Want| match &want.access {
            Some(_) => store.range.start.0 < want.range.end() && want.range.start.0 < store.range.end(),
            None => !Sectors::of(store.range, pending.block).both(want.sectors).is_empty(),
        };
        pending.passed.iter().take(first).filter(|passed| !passed.is_load()).any(touches)
    }

    /// Asks for the sectors that a want needs and that are not on their way.
    pub(super) fn ask_for_sectors(&mut self, pending: &mut Pending, want: &Want, out: &mut Outbox) {
        let range = self.range_of(pending.block);
        let Some(asked) = pending.asked.as_mut() else { return };
        let missing = if pending.uncached { want.sectors } else { self.missing(pending.block, want.sectors) };
        let sectors = missing.without(want.got).without(asked.coming);
        let coming = if self.config.by_sector { sectors } else { Sectors::all(self.config.block) };
        asked.coming = asked.coming.with(coming);
        let mut message = self.message(MessageKind::Fetch, asked.parent, range, out);
        (message.txn, message.number) = Self::key_of(want);
        message.sectors = sectors;
        if pending.uncached {
            self.counters.uncached_requests += 1;
        } else {
            self.counters.sector_misses += u64::from(asked.next == Next::Same);
        }
        self.send(message, out);
    }

    /// Joins a fetch that is being served with those of the same child that wait behind it, from `index` on: where sectors go alone,
    /// one answer brings what all of them ask for (section 3.2.3: "only those 32B blocks that have been requested"), if the child finds
    /// them by its mask.
    pub(super) fn join_fetches(&self, pending: &mut Pending, want: &mut Want, mut index: usize) {
        if !self.config.by_sector || self.config.answers_each || !want.is_fetch() {
            return;
        }
        while let Some(next) = pending.queue.get(index).filter(|next| next.is_load()) {
            let is_like = next.is_fetch() && next.who == want.who && next.range == want.range;
            if !is_like || pending.acquire == Some(0) || self.answers_later(pending, next) {
                index += 1;
                continue;
            }
            want.sectors = want.sectors.with(next.sectors);
            pending.queue.remove(index);
            Self::note_served(pending);
        }
    }

    /// The bytes of a fetch have come: they are kept, or serve those that wait for them.
    pub(super) fn take_fetched(&mut self, pending: &mut Pending, message: &Message, out: &mut Outbox) {
        let block = pending.block;
        let Some(asked) = pending.asked.as_mut() else { return };
        let is_kept = !pending.uncached && !message.once && asked.spoiled.is_none();
        asked.coming = asked.coming.without(message.sectors);
        let is_last = asked.coming.is_empty();
        if self.config.sectored && asked.spoiled.is_some() {
            // A coherent cache has answered the probe: it uses none of them, and asks again.
            if is_last {
                pending.asked = None;
            }
            return;
        }
        match (&mut asked.data, &message.patch) {
            (Some(known), Some(fresh)) => {
                let known = Arc::make_mut(known);
                for run in message.sectors.runs(fresh.range()) {
                    known.copy_in(run.start, fresh.read(run).unwrap_or_default());
                }
            }
            (known, fresh) => known.clone_from(fresh),
        }
        if is_kept {
            asked.has_data = true;
            self.end_request(pending, message, out);
            return;
        }
        // That it may not be kept was not known when it was asked for.
        if !pending.uncached && message.once {
            let (state, action) = (self.state(block), asked.action);
            self.recount_uncached(state, action);
        }
        self.counters.uncached_requests += u64::from(!pending.uncached && asked.action == Action::Load);
        pending.uncached |= message.once;
        self.use_once(pending, message.sectors, message.number, out);
        if is_last {
            pending.asked = None;
            self.release_mshr(pending, message.number, out);
            if self.store.get(block).is_some() {
                self.store.remove(block);
                self.note_free(block);
            }
        }
    }

    /// What was counted as asked for by a cell turns out not to be kept.
    fn recount_uncached(&mut self, state: State, action: Action) {
        if let Some(count) = self.cell_count(Some(state), action) {
            *count = count.saturating_sub(1);
            self.count_cell(None, action);
        }
    }

    /// Serves the loads at the head of the queue whose sectors have come; what nobody waits for is dropped.
    fn use_once(
        &mut self,
        pending: &mut Pending,
        brought: Sectors,
        number: Option<TxnNumber>,
        out: &mut Outbox,
    ) {
        let Some((data, spoiled)) = pending.asked.as_ref().map(|asked| (asked.data.clone(), asked.spoiled))
        else {
            return;
        };
        let bound = |count: Option<u32>| count.map_or(usize::MAX, |count| count as usize);
        let mut eligible = bound(pending.acquire).min(bound(spoiled));
        let (mut index, mut used, mut served) = (0, Sectors::NONE, 0);
        while index < eligible && pending.queue.get(index).is_some_and(Want::is_load) {
            let is_late = |want: &Want| Self::overlaps_passed(pending, want.behind as usize, want);
            if pending.queue.get(index).is_some_and(is_late) {
                index += 1;
                continue;
            }
            let Some(want) = pending.queue.get_mut(index) else { break };
            let fits = brought.both(want.sectors);
            (want.got, used) = (want.got.with(fits), used.with(fits));
            if !want.sectors.without(want.got).is_empty() {
                index += 1;
                continue;
            }
            let Some(want) = pending.queue.remove(index) else { break };
            eligible -= 1;
            served += 1;
            Self::note_served(pending);
            self.counters.uncached_loads += 1;
            self.hand(&want, data.as_deref(), out);
        }
        if let Some(asked) = pending.asked.as_mut().filter(|asked| asked.spoiled.is_some()) {
            asked.spoiled = u32::try_from(eligible).ok();
        }
        let dropped = brought.without(used);
        self.count_sectors(pending.block, (brought, dropped), out);
        let about = About::new(self.range_of(pending.block), number);
        out.record(self.config.id, about, || What::UseOnce { served, brought, dropped });
    }

    /// Counts what came of a block for loads, and what of it nobody waited for.
    fn count_sectors(&mut self, block: Address, (brought, dropped): (Sectors, Sectors), out: &Outbox) {
        let (brought, dropped) = (u64::from(brought.count()), u64::from(dropped.count()));
        let is_far = self.is_remote(block, &out.homes);
        let counters = &mut self.counters;
        counters.sectors_brought += brought;
        counters.sectors_dropped += dropped;
        if is_far {
            counters.far_sectors_brought += brought;
            counters.far_sectors_dropped += dropped;
        }
    }

    /// Gives a load the bytes that came for it.
    fn hand(&mut self, want: &Want, data: Option<&Patch>, out: &mut Outbox) {
        match (want.who, want.access.clone()) {
            (Who::Child(child), _) => {
                let data = data.map(|data| Arc::new(data.clean_copy(want.range)));
                self.reply_load(child, want, data, true, out);
            }
            (Who::Local(_), Some(access)) => {
                let bytes = data.and_then(|data| data.read(access.range));
                let read = bytes.map(|bytes| bytes.iter().copied().collect()).unwrap_or_default();
                self.complete(want, &access, read, Bytes::new(), out);
            }
            (Who::Local(_), None) => {}
        }
    }

    /// What is here of the bytes that a want is about.
    pub(super) fn bytes_here(&self, want: &Want) -> Option<Arc<Patch>> {
        let entry = self.store.get(self.block_of(want.range.start))?;
        entry.data.has_values().then(|| Arc::new(entry.data.clean_copy(want.range)))
    }

    /// Answers a child's fetch, or the load that it has forwarded. A memory reads whole lines, whatever is asked of them.
    pub(super) fn reply_load(
        &self,
        child: u16,
        want: &Want,
        data: Option<Arc<Patch>>,
        once: bool,
        out: &mut Outbox,
    ) {
        let Some(&to) = self.config.children.get(child as usize) else { return };
        let line =
            if want.is_fetch() { want.range } else { Range::block(want.range.start, self.config.unit) };
        let mut message = self.message(MessageKind::Reply, to, want.range, out);
        (message.txn, message.number) = Self::key_of(want);
        message.sectors = if self.config.by_sector && !want.sectors.is_empty() {
            want.sectors
        } else {
            Sectors::all(line.len)
        };
        message.once = once;
        message.has_data = true;
        message.size += message.sectors.bytes(line.len);
        message.patch = data;
        let read = if self.config.has_memory && !want.supplied { line } else { Range::new(line.start, 0) };
        out.sends.push(Outgoing { message, read, tag: TagRead::None });
    }
}
