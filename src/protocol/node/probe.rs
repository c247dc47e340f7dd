//! Answering the parent's probes.

use std::sync::Arc;

use smallvec::SmallVec;

use super::pending::{BlockProbe, Pending, ProbeJob, Probing};
use super::{Node, Role};
use crate::model::address::Address;
use crate::model::bits::Bits;
use crate::model::fault::Fault;
use crate::model::message::{Held, Message, MessageKind};
use crate::model::patch::Patch;
use crate::model::sectors::Sectors;
use crate::model::state::{Action, State};
use crate::protocol::outbox::{About, Outbox};
use crate::protocol::store::Entry;
use crate::protocol::table::{Next, Step};

impl Node {
    /// Splits a probe into the blocks of this node that it concerns; each answers as soon as it may.
    pub(super) fn receive_probe(&mut self, message: &Message, out: &mut Outbox) {
        let size = self.config.block;
        let count = message.range.len.div_ceil(size);
        let broadcasts = self.config.broadcasts();
        let blocks: SmallVec<[Address; 4]> = message
            .range
            .blocks(size)
            .filter(|block| broadcasts || self.store.get(*block).is_some() || self.pending.contains(*block))
            .collect();
        let action = if message.kind == MessageKind::ProbeRead { Action::Read } else { Action::Write };
        let job = ProbeJob {
            range: message.range,
            kind: message.kind,
            parent: message.from,
            peer: message.peer,
            txn: message.txn,
            number: message.number,
            supplies: message.once,
            supplied: false,
            left: blocks.len() as u32,
            copies: Bits::new(count),
            owned: Bits::new(count),
            dirty: None,
            sectors: Sectors::NONE,
            data_bytes: 0,
            gave: None,
            serves_peer: false,
            for_peer: None,
        };
        let key = message.range.start;
        self.jobs.insert(key, Arc::new(job));
        if blocks.is_empty() && self.config.role != Role::Root {
            // It answers as one that does not have the block.
            self.count_cell(Some(State::I), action);
        }
        for block in blocks {
            let probe = BlockProbe {
                job: key,
                action,
                started: false,
                awaiting: 0,
                since: out.tick,
                number: message.number,
                cause: message.cause,
            };
            self.begin(block, out, |_, pending, _| pending.probe = Some(probe));
        }
        self.answer_if_done(key, out);
    }

    /// No child is being asked for this block: asks those that the probe concerns, or answers.
    /// A node that waits for its parent comes here too, and answers against its stable state
    /// (rule 1).
    pub(super) fn start_probe(&mut self, pending: &mut Pending, out: &mut Outbox) {
        let Some(mut probe) = pending.probe else { return };
        let recalls = probe.action == Action::Write || self.gives_up(pending.block, probe.action);
        let targets = self
            .store
            .get(pending.block)
            // They are busy only where rule 2 is off.
            .filter(|_| pending.is_quiet())
            .map_or(0, |entry| if recalls { entry.holders() } else { entry.owners() });
        let targets = if self.config.broadcasts() { self.all_children() } else { targets };
        probe.started = true;
        probe.awaiting = targets;
        pending.probe = Some(probe);
        if targets == 0 {
            self.finish_probe(pending, out);
            return;
        }
        let kind = if recalls { MessageKind::ProbeWrite } else { MessageKind::ProbeRead };
        let txn = self.jobs.get(probe.job).and_then(|job| job.txn);
        let range = self.range_of(pending.block);
        self.probe_children(targets, Probing::new(kind, range, (txn, probe.number)), out);
    }

    /// Whether the table makes the block leave on this probe, so that the children must give it up first: `O` and a
    /// read, as one copy of the UMH paper prints it.
    fn gives_up(&self, block: Address, action: Action) -> bool {
        let cell = self.config.table.cell(self.state(block), action, self.config.role != super::Role::Leaf);
        self.state(block) != State::I && cell.is_some_and(|cell| cell.next == Next::To(State::I))
    }

    /// The children have answered: this block's own answer, from the table.
    pub(super) fn finish_probe(&mut self, pending: &mut Pending, out: &mut Outbox) {
        let Some(probe) = pending.probe.take() else { return };
        let block = pending.block;
        let from = self.state(block);
        let about = About::new(self.range_of(block), probe.number).because(probe.cause);
        let cell = self.config.table.cell(from, probe.action, self.config.role != super::Role::Leaf);
        if cell.is_none() {
            self.report_unforeseen(probe.action, from, about, out);
        }
        let to = match cell.map(|cell| cell.next) {
            Some(Next::To(state)) => state,
            _ => from,
        };
        let gives = cell.is_some_and(|cell| cell.step == Step::Data);
        self.overtake(pending, probe.action, out);
        self.give(block, from, gives, probe);
        self.transition(block, probe.action, to, about, out);
        let (is_held, is_owner) = (to != State::I, self.config.table.is_owner(to));
        self.counters.lost += u64::from(from != State::I && !is_held);
        if let Some(job) = self.jobs.get_mut(probe.job) {
            let position = (block.0.saturating_sub(job.range.start.0) / u64::from(self.config.block)) as u32;
            job.copies.set(position, is_held);
            job.owned.set(position, is_owner);
            job.left = job.left.saturating_sub(1);
        }
        if !is_held && pending.asked.is_none() && pending.queue.is_empty() {
            self.store.remove(block);
            self.note_free(block);
        } else if !is_held {
            self.forget_sectors(block);
        }
        self.answer_if_done(probe.job, out);
    }

    /// Puts this block's dirty bytes into the answer; who gives data to a read cleans its mask
    /// (rule 13).
    fn give(&mut self, block: Address, state: State, gives: bool, probe: BlockProbe) {
        let keep = probe.action == Action::Read && self.config.has_fault(Fault::KeepMaskOnRead);
        let without = self.config.has_fault(Fault::AnswerWithoutData);
        let sent = self.store.get(block).map_or((Sectors::NONE, 0), |entry| self.sectors_to_send(entry));
        let Some(job) = self.jobs.get_mut(probe.job) else { return };
        let Some(entry) = self.store.get_mut(block) else { return };
        let dirty = entry.data.mask.any();
        if gives && job.peer.is_some() && entry.state != State::I {
            job.serves_peer = true;
            job.for_peer = entry.data.has_values().then(|| Arc::new(entry.data.clean_copy(job.range)));
        }
        if job.supplies && !dirty && entry.state != State::I {
            job.supplied = true;
            job.data_bytes += entry.data.len;
        }
        if !gives || !dirty {
            return;
        }
        if !without {
            gather(job, entry, sent);
            job.gave = Some(match job.gave {
                Some(before) if !self.config.table.row(before).is_some_and(|row| row.noncoherent) => before,
                _ => state,
            });
        }
        if !keep {
            entry.data.mask.clear();
        }
    }

    /// Sends the answer once every block has given its own: a probed child always answers, `I` included
    /// (rule 10).
    fn answer_if_done(&mut self, key: Address, out: &mut Outbox) {
        if self.jobs.get(key).is_none_or(|job| job.left > 0) {
            return;
        }
        let Some(job) = self.jobs.remove(key).map(Arc::unwrap_or_clone) else { return };
        let mut answer = self.message(MessageKind::Answer, job.parent, job.range, out);
        (answer.txn, answer.number) = (job.txn, job.number);
        let held = Held { block: self.config.block, copies: job.copies, owned: job.owned };
        answer.held = Some(Box::new(held));
        answer.granted = job.gave;
        answer.size += job.data_bytes;
        answer.sectors = job.sectors;
        answer.has_data = job.dirty.is_some() || job.supplied;
        answer.patch = job.dirty.map(Arc::new);
        if let Some(peer) = job.peer.filter(|_| job.serves_peer) {
            let mut handed = self.message(MessageKind::PeerData, peer, job.range, out);
            (handed.txn, handed.number) = (job.txn, job.number);
            handed.size += job.range.len;
            handed.has_data = true;
            handed.patch = job.for_peer;
            answer.peer = job.peer;
            self.counters.peer_transfers += 1;
            self.send(handed, out);
        }
        self.send(answer, out);
    }
}

impl Node {
    /// Bytes are written back while an answer is gathered that has older ones of them: it comes after them, and must not put the
    /// older ones over them. A block that has answered a read probe may be stored to non-coherently, and be evicted, before
    /// the others of the probe have answered.
    pub(super) fn renew_answers(&mut self, newer: &Patch) {
        if self.jobs.is_empty() {
            return;
        }
        self.jobs.each_mut(|job| {
            if let Some(gathered) = &mut job.dirty {
                gathered.renew(newer);
            }
        });
    }
}

/// Adds an entry's dirty bytes to what a probe has gathered.
fn gather(job: &mut ProbeJob, entry: &Entry, (sectors, bytes): (Sectors, u32)) {
    let values = entry.data.has_values();
    let all = job.dirty.get_or_insert_with(|| Patch::empty(job.range, entry.data.granule, values));
    all.merge(&entry.data);
    job.data_bytes += bytes;
    job.sectors = job.sectors.with(sectors);
}
