//! The protocol's rules, checked after every event on the blocks that it touched: one writer or many readers,
//! inclusion, the directory, values of coherent loads, and that no store is lost.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::consistency::Consistency;
use super::stores::{Old, Stores};
use super::{Machine, Transaction, Violation};
use crate::model::access::{Access, AccessKind, Bytes};
use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::model::inspect::Inspect;
use crate::model::message::TxnNumber;
use crate::model::record::What;
use crate::model::time::{EventNumber, Tick};
use crate::protocol::homes::Homes;
use crate::protocol::node::{Node, Role};
use crate::protocol::outbox::{About, Breach, Completion, Outbox, Taken};
use crate::protocol::store::Entry;

/// The rule that whoever may write is alone.
const SINGLE_WRITER: &str = "single-writer";

/// The rule that a transaction breaks which outlives its limit.
const OVERDUE: &str = "overdue";

/// The rule that not all that is left of the work spins for ever, and the events between two looks at it.
const SPINNING: &str = "livelock";
const SPIN_EVENTS: EventNumber = 1 << 16;

/// What the checks remember.
#[derive(Clone, Debug)]
pub struct Checker {
    values: bool,
    stores: Stores,
    /// What was performed for an L1 which has not been told yet.
    taken: BTreeMap<TxnNumber, Served>,
    /// Ranges that this event touched.
    touched: SmallVec<[Range; 4]>,
    /// Of a machine that software keeps coherent.
    pub(super) consistency: Option<Consistency>,
}

/// When an access was performed for an L1, and what it read.
#[derive(Clone, Debug)]
pub(super) struct Served {
    pub event: EventNumber,
    pub read: Bytes,
}

impl Checker {
    /// Bytes that a clone takes, roughly.
    #[must_use]
    pub fn footprint(&self) -> usize {
        self.stores.footprint() + self.consistency.as_ref().map_or(0, Consistency::footprint)
    }

    #[must_use]
    pub fn new(values: bool, consistency: Option<Consistency>) -> Self {
        Self {
            values,
            stores: Stores::default(),
            taken: BTreeMap::new(),
            touched: SmallVec::new(),
            consistency,
        }
    }

    /// Memory before the first event.
    pub fn set_initial(&mut self, address: Address, bytes: &[u8]) {
        if let Some(consistency) = &mut self.consistency {
            consistency.set_initial(address, bytes);
        }
        self.stores.store(address, bytes);
    }

    /// Dirty bytes of a block that is placed before the first event.
    pub fn add_initial(&mut self, by: (Option<ComponentId>, bool), address: Address, bytes: &[u8]) {
        self.stores.store_loosely(by, address, bytes);
    }

    /// Notes an access that was performed for an L1; whether it was the first to say so: who hands on the answer says so, too.
    pub(super) fn note_served(&mut self, taken: &Taken, event: EventNumber) -> bool {
        let is_first = !self.taken.contains_key(&taken.number);
        if is_first {
            self.taken.insert(taken.number, Served { event, read: taken.read.clone() });
        }
        is_first
    }

    /// An access ends: how it was performed before, if that was for its L1.
    pub(super) fn served(&mut self, completion: &Completion) -> Option<Served> {
        self.taken.remove(&completion.number?)
    }

    /// An access above an L1, of the host or not, has stored.
    fn store(&mut self, (at, is_host): (ComponentId, bool), access: &Access, coherent: bool) {
        for run in access.runs() {
            let bytes = access.bytes_of(run);
            if coherent {
                self.stores.store(run.start, bytes);
            } else {
                self.stores.store_loosely((Some(at), is_host), run.start, bytes);
            }
        }
    }
}

impl Machine {
    pub(super) fn note_touched(&mut self, range: Range) {
        if let Some(checker) = self.checker.as_mut() {
            checker.touched.push(range);
        }
    }

    pub(super) fn violate(
        &mut self,
        at: ComponentId,
        about: About,
        rule: &'static str,
        text: &str,
        out: &mut Outbox,
    ) {
        let path = self.fixed.components.path(at);
        let place = if text.starts_with(path) { String::new() } else { format!("at {path}: ") };
        let text: std::sync::Arc<str> = format!("{place}{text}").into();
        let copy = text.clone();
        out.record(at, about, || What::Violation { rule, text: copy });
        self.violations.push(Violation { event: self.event, rule, text });
    }

    /// An access was performed: what it read must be the last coherent store, unless its own L1 has stored since, or
    /// a non-coherent one since.
    pub(super) fn check_access(&mut self, completion: &Completion, out: &mut Outbox) {
        let coherent = self.fixed.coherent;
        if self.consistency().is_some() {
            self.check_consistency(completion, out);
            return;
        }
        let Some(checker) = self.checker.as_mut() else { return };
        if !checker.values || !coherent {
            return;
        }
        let at = completion.node;
        let served = checker.served(completion);
        let by = (at, self.fixed.components.is_host(at));
        // What it read where it was performed was looked at then.
        let is_known = served.as_ref().is_some_and(|served| served.read == completion.read);
        let old = if is_known { None } else { checker.stores.old(by, completion.range, &completion.read) };
        if completion.kind.writes() && served.is_none() {
            checker.store(by, &completion.access(), completion.coherent);
        }
        // Until a store that its L1 has handed on is answered, a load may see that, or what was there before.
        let is_own = |old: &Old| self.node(at).is_some_and(|node| node.has_handed_on(old.address));
        if let Some(old) = old.filter(|old| !is_own(old)) {
            self.tell_old(at, About::new(completion.range, completion.number), completion.kind, old, out);
        }
    }

    fn tell_old(&mut self, at: ComponentId, about: About, kind: AccessKind, old: Old, out: &mut Outbox) {
        let Old { address, value, coherent: last, is_own } = old;
        let kind = kind.name();
        let text = if value == last {
            let who = if is_own { "its own L1" } else { "a kernel before" };
            format!("the {kind} read {value:#04x} at {address}, but {who} has stored there since")
        } else {
            format!(
                "the {kind} read {value:#04x} at {address}, but the last coherent store wrote {last:#04x}"
            )
        };
        self.violate(at, about, "stale-read", &text, out);
    }

    /// An access was performed for an L1 that is not told yet: from now on everybody else sees what it stored, and what it reads is
    /// what was stored last until now.
    pub(super) fn check_taken(&mut self, taken: &Taken, out: &mut Outbox) {
        let coherent = self.fixed.coherent;
        let writer = self.txns.find(taken.number).and_then(|txn| self.agents.get(txn.agent));
        let at = writer.and_then(|agent| self.nodes.get(agent.l1)).map(Node::id);
        let Some(checker) = self.checker.as_mut().filter(|checker| checker.values && coherent) else {
            return;
        };
        let Some(at) = at.filter(|_| checker.note_served(taken, self.event)) else { return };
        let by = (at, self.fixed.components.is_host(at));
        let old = checker.stores.old(by, taken.range, &taken.read);
        if taken.kind.writes() {
            checker.store(by, &taken.access(), taken.kind != AccessKind::NStore);
        }
        if let Some(old) = old {
            self.tell_old(at, About::new(taken.range, Some(taken.number)), taken.kind, old, out);
        }
    }

    /// A kernel is to begin, as soon as what others have stored before has come to where it looks. While something else is under way,
    /// nobody knows what that is.
    pub(super) fn begin_meeting(&mut self) {
        let mut tasks = self.tasks.states.iter();
        let others_wait = tasks.any(|state| state.started.is_none() && !state.flushing.is_empty());
        let is_known = self.txns.is_empty() && !self.is_gpu_working() && !others_wait;
        if let Some(checker) = &mut self.checker {
            checker.stores.begin_meeting(is_known);
        }
    }

    /// The kernel begins. What is under way may still read what was there before.
    pub(super) fn end_meeting(&mut self) {
        if !self.txns.is_empty() {
            return;
        }
        if let Some(checker) = &mut self.checker {
            checker.stores.end_meeting();
        }
    }

    /// The state rules, on the blocks that this event touched. The records of impossible cells and homeless
    /// data count as violations too.
    pub(super) fn check_event(&mut self, out: &mut Outbox) {
        let is_unlimited = self.transaction_limit.is_none();
        if self.checker.is_some() || self.paging.is_some() || !is_unlimited || !out.breaches.is_empty() {
            self.check_rules(out);
        }
    }

    /// Apart, so that where nothing is checked an event costs one question.
    #[inline(never)]
    fn check_rules(&mut self, out: &mut Outbox) {
        for Breach { at, about, rule, text } in std::mem::take(&mut out.breaches) {
            self.violate(at, about, rule, &text, out);
        }
        if self.now > self.overdue_after {
            self.check_overdue(out);
        }
        if self.event.is_multiple_of(SPIN_EVENTS) {
            self.check_spinning(out);
        }
        self.check_pages(out);
        let Some(checker) = self.checker.as_mut() else { return };
        let touched = std::mem::take(&mut checker.touched);
        for range in touched {
            self.check_range(range, out);
        }
    }

    /// A transaction that has outlived its limit, and has not ended. Until the oldest has, no other can.
    fn check_overdue(&mut self, out: &mut Outbox) {
        let limit = self.transaction_limit.map_or(Tick::MAX, |limit| self.fixed.time.tick_of_cycle(limit));
        let oldest = self.oldest_transaction().map_or(self.now, |(_, issued)| issued);
        self.overdue_after = self.now.max(oldest.saturating_add(limit));
        let Some(txn) = self.overdue().and_then(|number| self.txns.find(number)).cloned() else { return };
        self.tell_overdue(&txn, "has not ended after", out);
    }

    /// The same of one that has ended just now.
    pub(super) fn check_duration(&mut self, txn: &Transaction, out: &mut Outbox) {
        let Some(limit) = self.transaction_limit else { return };
        if self.now.saturating_sub(txn.issued) > self.fixed.time.tick_of_cycle(limit) {
            self.tell_overdue(txn, "took more than", out);
        }
    }

    /// Whether something was found that need not end: a transaction has outlived its limit, or all that is left of the work spins.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.violations.iter().any(|violation| [OVERDUE, SPINNING].contains(&violation.rule))
    }

    /// All that is left of the work spins, as it did so many events ago. What was stored before has come to where it can be read
    /// since, and nobody is left to store.
    fn check_spinning(&mut self, out: &mut Outbox) {
        let spinners = self.lone_spinners();
        let (is_so_still, first) = (spinners == self.spinning, spinners.first().copied());
        self.spinning = spinners;
        let Some((at, slot, since)) = first.filter(|_| is_so_still && !self.is_stalled()) else { return };
        let more = match self.spinning.len() - 1 {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        let cycle = self.time_base().cycle(since);
        let why = match self.has_what_spins(at, slot) {
            Some(node) => {
                format!("on what {} has, and its L1 is not told of", self.fixed.components.path(node))
            }
            None => "on what nobody is left to store".to_owned(),
        };
        let text = format!("warp {slot}{more} spins since cycle {cycle} {why}");
        self.violate(at, About::default(), SPINNING, &text, out);
    }

    /// One violation in a run.
    fn tell_overdue(&mut self, txn: &Transaction, how: &str, out: &mut Outbox) {
        if self.is_stalled() {
            return;
        }
        let Some(at) = self.agents.get(txn.agent).map(|agent| agent.config.id) else { return };
        let (number, limit) = (txn.number, self.transaction_limit.unwrap_or(0));
        let about = About::new(txn.range, Some(number));
        let text =
            format!("transaction {}, {} of {}, {how} {limit} cycles", number.0, txn.name(), txn.range.start);
        self.violate(at, about, OVERDUE, &text, out);
    }

    fn check_range(&mut self, range: Range, out: &mut Outbox) {
        let found = self.find_breach(range, &out.homes);
        if let Some((at, rule, text)) = found {
            self.violate(at, About::new(range, None), rule, &text, out);
        }
    }

    /// The rule that the copies of the block at `address` break as they stand, in words.
    #[must_use]
    pub fn breach(&self, address: Address) -> Option<String> {
        self.find_breach(Range::new(address, 1), &self.homes).map(|(_, rule, text)| format!("{rule}: {text}"))
    }

    fn find_breach(&self, range: Range, homes: &Homes) -> Option<(ComponentId, &'static str, String)> {
        let mut is_claimed = false;
        let unlisted = self.tracked().find_map(|node| {
            let mut held = node.held(range);
            held.find_map(|entry| {
                is_claimed |=
                    node.config.table.is_owner(entry.state) || node.config.table.is_exclusive(entry.state);
                self.holder_breach(node, entry, homes)
            })
        });
        let leaves = || if self.fixed.coherent { self.writer_breach(range, homes) } else { None };
        let writer = || leaves().or_else(|| self.sibling_breach(range, homes));
        unlisted.or_else(|| if is_claimed { writer() } else { None })
    }

    /// The caches whose copies their parents list.
    fn tracked(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.config.role != Role::Root && node.config.is_tracked())
    }

    /// A child with a copy must be listed by a parent that has the block.
    fn holder_breach(
        &self,
        node: &Node,
        entry: &Entry,
        homes: &Homes,
    ) -> Option<(ComponentId, &'static str, String)> {
        let parent = self.node(node.config.parent(entry.block, homes)?)?;
        let (rule, wrong) = match parent.listed(entry.block, node.id()) {
            Some((true, _)) => return None,
            Some((false, _)) => ("directory", "list"),
            None => ("inclusion", "have"),
        };
        let (name, above) = (self.fixed.components.path(node.id()), self.fixed.components.path(parent.id()));
        let text =
            format!("{name} holds block {} in {}, but {above} does not {wrong} it", entry.block, entry.state);
        Some((node.id(), rule, text))
    }

    /// A cache that may write without asking, or below which somebody may, is alone among those of its parent; and one that owns a
    /// block is its only owner there.
    fn sibling_breach(&self, range: Range, homes: &Homes) -> Option<(ComponentId, &'static str, String)> {
        self.tracked().find_map(|node| {
            let table = &node.config.table;
            let mut claims =
                node.held(range).filter(|line| table.is_exclusive(line.state) || table.is_owner(line.state));
            claims.find_map(|line| {
                let is_alone = table.is_exclusive(line.state);
                let parent = node.config.parent(line.block, homes);
                let span = Range::new(line.block, node.config.block);
                let mut others = self.tracked().filter(|other| {
                    other.id() != node.id() && other.config.parent(line.block, homes) == parent
                });
                let (other, copy) = others.find_map(|other| {
                    let mut held = other.held(span);
                    let copy = held.find(|copy| is_alone || other.config.table.is_owner(copy.state))?;
                    Some((other, copy))
                })?;
                let rule = if is_alone { SINGLE_WRITER } else { "single-owner" };
                Some(self.two_holders(rule, (node, line), (other, copy)))
            })
        })
    }

    fn two_holders(
        &self,
        rule: &'static str,
        (writer, line): (&Node, &Entry),
        (other, copy): (&Node, &Entry),
    ) -> (ComponentId, &'static str, String) {
        let path = |node: &Node| self.fixed.components.path(node.id());
        // Of a secondary block the other may have a line.
        let what = if copy.block == line.block { "it".to_owned() } else { copy.block.to_string() };
        let text = format!(
            "{} holds line {} in {} while {} holds {what} in {}",
            path(writer),
            line.block,
            line.state,
            path(other),
            copy.state
        );
        (writer.id(), rule, text)
    }

    /// The memory that a node's copies of an address come from: where data are copied, each side has one.
    fn root_of(&self, node: &Node, address: Address, homes: &Homes) -> ComponentId {
        let mut at = node;
        while let Some(parent) = at.config.parent(address, homes).and_then(|parent| self.node(parent)) {
            at = parent;
        }
        at.id()
    }

    /// An L1 that may write without asking is alone among those above the same memory.
    fn writer_breach(&self, range: Range, homes: &Homes) -> Option<(ComponentId, &'static str, String)> {
        let leaves = || self.nodes.iter().filter(|node| node.config.role == Role::Leaf);
        let beside = |writer: &Node, line: &Entry| {
            let memory = self.root_of(writer, line.block, homes);
            let line = Range::new(line.block, writer.config.block);
            let mut others = leaves().filter(|node| node.id() != writer.id());
            others.find_map(|node| {
                let copy = node.held(line).next()?;
                (self.root_of(node, line.start, homes) == memory).then_some((node, copy))
            })
        };
        let (writer, line, other, copy) = leaves().find_map(|node| {
            let mut exclusive = node.held(range).filter(|line| node.config.table.is_exclusive(line.state));
            exclusive.find_map(|line| {
                let (other, copy) = beside(node, line)?;
                Some((node, line, other, copy))
            })
        })?;
        Some(self.two_holders(SINGLE_WRITER, (writer, line), (other, copy)))
    }

    /// All is quiet: every store must still be somewhere.
    pub(super) fn check_end(&mut self, out: &mut Outbox) {
        let coherent = self.fixed.coherent;
        self.check_kept(out);
        if self.checker.is_some() {
            self.check_directories(out);
        }
        let Some(checker) = self.checker.as_ref().filter(|checker| checker.values && coherent) else {
            return;
        };
        let lost = checker.stores.bytes().filter(|(address, known, place)| {
            let may_be_left = |value| known.may_be_left(*place, value);
            !self.is_kept(*address, may_be_left, &out.homes)
        });
        let lost: Vec<(Address, String)> = lost
            .map(|(address, known, place)| (address, self.lost_store(address, known.last(place), &out.homes)))
            .take(8)
            .collect();
        for (address, text) in lost {
            let at = self.node_behind(address, &out.homes).map_or(ComponentId(0), Node::id);
            let about = About::new(Range::new(address, 1), None);
            self.violate(at, about, "lost-store", &text, out);
        }
    }

    /// What was stored to a byte that nobody has any more, by whom if that is known, and what memory has instead.
    fn lost_store(
        &self,
        address: Address,
        (value, writer): (u8, Option<ComponentId>),
        homes: &Homes,
    ) -> String {
        let by = writer.map_or_else(String::new, |id| format!(" by {}", self.fixed.components.path(id)));
        let home = self.node_behind(address, homes).and_then(|home| home.value(Range::new(address, 1)));
        let has = home.and_then(|bytes| bytes.first().copied());
        let has = has.map_or_else(String::new, |has| format!(", and memory has {has:#04x}"));
        format!("the store of {value:#04x} at {address}{by} is nowhere any more{has}")
    }

    /// Whether a value that may be left of a byte is in a dirty copy, or in memory.
    fn is_kept(&self, address: Address, may_be_left: impl Fn(u8) -> bool, homes: &Homes) -> bool {
        let range = Range::new(address, 1);
        let fits =
            |value: Option<Vec<u8>>| value.and_then(|value| value.first().copied()).is_some_and(&may_be_left);
        let is_dirty = |node: &&Node| node.config.role != Role::Root && node.is_dirty(range);
        self.nodes.iter().filter(is_dirty).any(|node| fits(node.value(range)))
            || fits(self.node_behind(address, homes).and_then(|home| home.value(range)))
    }
}
