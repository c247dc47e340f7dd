//! A memory whose GPU takes no part in the coherence of the CPU: its remote directory says which lines the CPU may have
//! ("Selective GPU Caches", section 3.1).
//!
//! The CPU may cache any line. When it asks for one, the caches of the GPU give it up; from then on the GPU's own accesses are
//! served by the CPU, or by this memory if the CPU answers that it does not have the line (a NACK), and the GPU keeps nothing
//! of what it gets. When the directory is full, the CPU gives up every line of this memory, and all starts anew.

use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

use super::Node;
use super::pending::{Pending, Probing, Service, Want, Who};
use crate::model::address::Address;
use crate::model::bits::ones_of;
use crate::model::component::ComponentId;
use crate::model::fault::Fault;
use crate::model::message::{Message, MessageKind};
use crate::model::paging::Permission;
use crate::model::record::What;
use crate::model::selective::RemoteChange;
use crate::model::state::{Action, State};
use crate::protocol::outbox::{About, Outbox};
use crate::protocol::remote_directory::{Inserted, Look, RemoteDirectory, RemoteDirectoryConfig};
use crate::protocol::store::bit;

/// What becomes of a remote directory that is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Purge {
    #[default]
    No,
    /// What is being served ends first, so that no grant is on its way when the CPU gives up its lines.
    Draining,
    /// Children, a bit each, that have not given up theirs.
    Awaits(u64),
}

/// What a memory knows about the caches beyond the network.
#[derive(Clone, Debug)]
pub struct Remote {
    pub directory: RemoteDirectory,
    pub purge: Purge,
    /// Blocks with requests that wait for the end of it.
    waiting: Vec<Address>,
}

impl Hash for Remote {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.directory.digest(hasher);
        (self.purge, &self.waiting).hash(hasher);
    }
}

/// A [`Remote`] as what decides what it will do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RemoteState {
    held: Vec<(u32, u16)>,
    pub(super) purge: Purge,
    waiting: Vec<Address>,
}

impl Remote {
    #[must_use]
    pub fn new(directory: RemoteDirectory) -> Self {
        Self { directory, purge: Purge::No, waiting: Vec::new() }
    }

    pub(super) fn state(&self) -> RemoteState {
        RemoteState { held: self.directory.held(), purge: self.purge, waiting: self.waiting.clone() }
    }

    pub(super) fn in_state(&self, state: &RemoteState) -> Self {
        let directory = self.directory.holding(&state.held);
        Self { directory, purge: state.purge, waiting: state.waiting.clone() }
    }
}

impl RemoteState {
    /// The same with other places of children.
    pub(super) fn renamed(&mut self, moved: impl Fn(u64) -> u64) {
        if let Purge::Awaits(children) = &mut self.purge {
            *children = moved(*children);
        }
    }
}

impl Node {
    /// Gives a memory a remote directory.
    pub fn set_remote(&mut self, directory: RemoteDirectory) {
        self.remote = Some(Box::new(Remote::new(directory)));
    }

    /// What it knows about the caches beyond the network, if it keeps account of them.
    #[must_use]
    pub fn remote(&self) -> Option<&Remote> {
        self.remote.as_deref()
    }

    /// Whether a child stands on this memory's side of the network, apart from the CPU's coherence.
    pub(super) fn is_own_side(&self, child: u16) -> bool {
        self.remote.is_some() && self.config.own_side & bit(child) != 0
    }

    pub(super) fn all_children(&self) -> u64 {
        let count = self.config.children.len().min(64) as u32;
        1u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1)
    }

    /// Whether the CPU may have a block, so that the GPU may not keep what it gets of it.
    pub(super) fn is_known_beyond(&self, block: Address, out: &Outbox) -> bool {
        // Nobody writes what is read-only, so that both may have it.
        if out.permission(block) == Permission::ReadOnly {
            return false;
        }
        let claims = |remote: &Remote| remote.directory.contains(block);
        self.remote.as_deref().is_some_and(claims) && !self.config.has_fault(Fault::KeepBesideCpu)
    }

    /// Whether a request can be served now. One of the CPU enters its block into the remote directory; while that is full,
    /// it waits, and so does what would have to ask the CPU.
    pub(super) fn admit(&mut self, block: Address, want: &mut Want, out: &mut Outbox) -> bool {
        let Who::Child(child) = want.who else { return true };
        let is_own = self.is_own_side(child);
        let Some(remote) = self.remote.as_deref_mut() else { return true };
        if remote.purge == Purge::No {
            if is_own {
                return true;
            }
            let change = match remote.directory.insert(block) {
                Inserted::New => RemoteChange::Insert,
                Inserted::Present => RemoteChange::Present,
                Inserted::Full => RemoteChange::Full,
            };
            want.claimed = change == RemoteChange::Present;
            self.tell_remote(change, Self::about(want), out);
            if change != RemoteChange::Full {
                return true;
            }
            self.counters.forced_flushes += 1;
        } else if is_own && !remote.directory.contains(block) {
            return true;
        }
        let Some(remote) = self.remote.as_deref_mut() else { return true };
        if remote.purge == Purge::No {
            remote.purge = Purge::Draining;
        }
        if !remote.waiting.contains(&block) {
            remote.waiting.push(block);
        }
        false
    }

    fn tell_remote(&self, change: RemoteChange, about: About, out: &mut Outbox) {
        let Some(remote) = self.remote.as_deref() else { return };
        let (lines, capacity) = (remote.directory.len(), remote.directory.config().high_water);
        out.record(self.config.id, about, || What::RemoteDirectory { change, lines, capacity });
    }

    /// Probes those beyond the directory's children: the GPU's caches for the CPU, or the CPU for the GPU.
    pub(super) fn probe_across(&mut self, block: Address, service: &mut Service, out: &mut Outbox) {
        let Who::Child(child) = service.want.who else { return };
        if self.remote.is_none() {
            return;
        }
        let range = self.unit_range(block, service.unit);
        let key = Self::key_of(&service.want);
        if !self.is_own_side(child) {
            // A filter that claims to have a line may be wrong, and the GPU may have it.
            let is_trusted = self.config.has_fault(Fault::TrustFilter) && service.want.claimed;
            // Of a page that nobody may write, too: the L2 may have stored to it before a launch made it read-only again.
            if !is_trusted && !self.config.has_fault(Fault::SkipGpuProbe) {
                service.awaiting |= self.config.own_side;
                let probe = Probing::new(MessageKind::ProbeWrite, range, key);
                self.probe_children(self.config.own_side, probe, out);
            }
            return;
        }
        let look = self.remote.as_deref_mut().map_or(Look::Absent, |remote| remote.directory.look(block));
        if look == Look::Absent || self.config.has_fault(Fault::ServeBesideCpu) {
            return;
        }
        let targets = self.all_children() & !self.config.own_side;
        service.look = Some(look);
        service.awaiting |= targets;
        // A load wants the bytes even if they are clean.
        let (kind, once) = if service.want.action == Action::Load {
            (MessageKind::ProbeRead, true)
        } else {
            (MessageKind::ProbeWrite, false)
        };
        self.probe_children(targets, Probing { once, ..Probing::new(kind, range, key) }, out);
    }

    /// The CPU has answered about a block that it may have: with the bytes, or that it does not have them. Of a store only a false
    /// positive is told.
    pub(super) fn note_supply(
        &mut self,
        block: Address,
        service: &mut Service,
        message: &Message,
        out: &mut Outbox,
    ) {
        let Some(look) = service.look else { return };
        service.want.supplied |= message.has_data;
        if service.awaiting != 0
            || service.want.supplied
            || message.held.as_ref().is_some_and(|held| held.copies.any())
        {
            return;
        }
        let false_positive = look == Look::FalsePositive;
        // A store wants no bytes: that none come does not tell whether the CPU had the block until now.
        if service.want.action != Action::Load && !false_positive {
            return;
        }
        self.counters.nacks += 1;
        self.counters.false_positives += u64::from(false_positive);
        let about = About::new(self.range_of(block), service.want.number).because(message.cause);
        out.record(self.config.id, about, || What::Nack { false_positive });
    }

    /// A write probe has passed bytes that are on their way here: who waits for them may still have them, and nobody keeps
    /// them.
    pub(super) fn overtake(&self, pending: &mut Pending, action: Action, out: &mut Outbox) {
        let waiting = u32::try_from(pending.queue.len()).unwrap_or(u32::MAX);
        let Some(asked) = pending.asked.as_mut() else { return };
        let concerns = asked.kind == MessageKind::Fetch && action == Action::Write && asked.spoiled.is_none();
        if !concerns || self.config.has_fault(Fault::KeepOvertaken) {
            return;
        }
        asked.spoiled = Some(waiting);
        let about = About::new(self.range_of(pending.block), asked.number);
        out.record(self.config.id, about, || What::Overtaken);
    }

    /// The parent wants everything back that lives in its memory.
    pub(super) fn receive_flush(&mut self, message: &Message, out: &mut Outbox) {
        self.purging.push(message.from);
        let homes = &out.homes;
        let is_its = |block: Address| self.config.parent(block, homes) == Some(message.from);
        let held: Vec<Address> = self
            .store
            .entries()
            .filter(|(_, entry)| entry.state != State::I && is_its(entry.block))
            .map(|(_, entry)| entry.block)
            .collect();
        for block in held {
            let mut probe = message.clone();
            (probe.kind, probe.range) = (MessageKind::ProbeWrite, self.range_of(block));
            self.store.focus(block);
            self.receive_probe(&probe, out);
        }
    }

    /// Whether a full remote directory may have begun something.
    pub(super) fn may_purge(&self) -> bool {
        self.remote.is_some() || !self.purging.is_empty()
    }

    /// Goes on with that: the memory tells the CPU once nothing is being served, and the CPU answers once all its blocks have.
    pub(super) fn purge_more(&mut self, out: &mut Outbox) {
        self.purge_ended(out);
        let is_draining = self.remote.as_ref().is_some_and(|remote| remote.purge == Purge::Draining);
        if !is_draining || !self.pending.in_any_order().all(|(_, pending)| pending.serving.is_empty()) {
            return;
        }
        let targets = self.all_children() & !self.config.own_side;
        if let Some(remote) = self.remote.as_deref_mut() {
            remote.purge = Purge::Awaits(targets);
        }
        let about = About::default();
        self.tell_remote(RemoteChange::Flush, about, out);
        for position in ones_of(targets) {
            let Some(&to) = self.config.children.get(position as usize) else { continue };
            let range = self.range_of(Address(0));
            let message = self.message(MessageKind::Flush, to, range, out);
            self.send(message, out);
        }
    }

    /// Tells the memories of which nothing is left here.
    fn purge_ended(&mut self, out: &mut Outbox) {
        if self.purging.is_empty() {
            return;
        }
        let purging = std::mem::take(&mut self.purging);
        let (left, done): (SmallVec<[ComponentId; 1]>, SmallVec<[ComponentId; 1]>) =
            purging.into_iter().partition(|memory| self.jobs.values().any(|job| job.parent == *memory));
        self.purging = left;
        for memory in done {
            let range = self.range_of(Address(0));
            let message = self.message(MessageKind::Flushed, memory, range, out);
            self.send(message, out);
        }
    }

    /// The CPU has given up all lines of this memory.
    pub(super) fn receive_flushed(&mut self, message: &Message, out: &mut Outbox) {
        let Some(child) = self.config.child(message.from) else { return };
        let Some(remote) = self.remote.as_deref_mut() else { return };
        let Purge::Awaits(children) = &mut remote.purge else { return };
        *children &= !bit(child);
        if *children != 0 {
            return;
        }
        remote.directory.clear();
        remote.purge = Purge::No;
        let waiting = std::mem::take(&mut remote.waiting);
        self.tell_remote(RemoteChange::Clear, About::default(), out);
        for block in waiting {
            self.go_on(block, out, |_, _, _| true);
        }
    }

    /// Whether a block waits until a full remote directory has been cleared.
    pub(super) fn awaits_purge(&self, block: Address) -> bool {
        self.remote.as_deref().is_some_and(|remote| remote.waiting.contains(&block))
    }

    /// What takes the place of an exact directory of the CPU's copies.
    #[must_use]
    pub fn remote_directory_config(&self) -> Option<RemoteDirectoryConfig> {
        self.remote.as_deref().map(|remote| remote.directory.config())
    }

    /// The children that have been told to give up their lines and have not, a bit each.
    pub(super) fn purge_awaits(&self) -> Option<u64> {
        match self.remote.as_deref()?.purge {
            Purge::Awaits(children) => Some(children),
            Purge::No | Purge::Draining => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::remote_directory::RemoteDirectoryConfig;

    #[test]
    fn its_state_says_all_that_it_will_say() {
        let config = RemoteDirectoryConfig { block: 128, entries: 8, ways: 4, bits: 4, high_water: 8 };
        let mut remote = Remote::new(RemoteDirectory::new(config));
        let lines = [0u64, 5, 9].map(|line| Address(line * 128));
        for line in lines {
            remote.directory.insert(line);
        }
        let again = Remote::new(RemoteDirectory::new(config)).in_state(&remote.state());
        assert_eq!(again.state(), remote.state());
        assert!(lines.iter().all(|line| again.directory.contains(*line)));
    }
}
