//! The journey of one transaction, or of a block that goes its way for none: what a sequence diagram draws.

use crate::model::address::Range;
use crate::model::component::ComponentId;
use crate::model::fault::LOSE_MESSAGE;
use crate::model::inspect::TransactionView;
use crate::model::message::{Message, TxnNumber};
use crate::model::record::{MshrChange, Record, RecordId, What};
use crate::model::state::{Action, State};

use super::text::{self, Names};

/// One transaction, from its issue to now; or what has happened to a block since the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
    /// None of a block that is flushed, drained or recalled for no access.
    pub txn: Option<TxnNumber>,
    /// Who asked for what: `gpu1.cu1 n-store 0x1004`.
    pub title: String,
    /// The bytes that its access touches.
    pub range: Option<Range>,
    /// Nodes that took part, in the order of their first part: one lifeline each.
    pub lifelines: Vec<ComponentId>,
    pub steps: Vec<SequenceStep>,
    /// Its issue is among the records: nothing came before the first step.
    pub has_beginning: bool,
    /// The transaction, while it is in flight.
    pub view: Option<TransactionView>,
    /// The cycle at which its access was performed.
    pub completed: Option<u64>,
}

/// One row of the diagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceStep {
    pub id: RecordId,
    pub cycle: u64,
    pub what: StepKind,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    UnderWay,
    Delivered,
    /// An injected fault has lost it.
    Lost,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// A message, and what became of it.
    Message {
        from: ComponentId,
        to: ComponentId,
        label: String,
        data: bool,
        fate: Fate,
    },
    Transition {
        at: ComponentId,
        from: State,
        to: State,
        action: Action,
    },
    /// An action that left the state as it was.
    Hit {
        at: ComponentId,
        state: State,
        action: Action,
    },
    /// Anything else worth a line: issue, completion, merge, directory change.
    Note {
        at: ComponentId,
        text: String,
    },
}

/// Whether a record tells of a block on its way, for a transaction or for none.
#[must_use]
pub fn is_of_journey(record: &Record) -> bool {
    let is_drawn = matches!(
        record.what,
        What::Message(_)
            | What::Delivery(_)
            | What::Transition { .. }
            | What::Hit { .. }
            | What::Merge { .. }
            | What::Evict { .. }
    );
    is_drawn && record.range.is_some()
}

impl SequenceStep {
    #[must_use]
    pub fn is_message(&self) -> bool {
        matches!(self.what, StepKind::Message { .. })
    }
}

impl Sequence {
    /// The journey of `txn` as its records tell it, oldest first. `None` without any.
    #[must_use]
    pub fn new(
        txn: TxnNumber,
        view: Option<TransactionView>,
        records: &[Record],
        names: &Names,
    ) -> Option<Self> {
        let title = view.as_ref().map_or_else(String::new, |view| {
            format!("{} {} {}", names.path(view.agent), view.name(), view.range.start)
        });
        let range = view.as_ref().map(|view| view.range);
        let sequence = Self { txn: Some(txn), title, range, view, ..Self::default() };
        sequence.with(records, names)
    }

    /// What has happened to a line for no transaction, as records tell it, and whether these are all. `None` without any.
    #[must_use]
    pub fn of_line(line: Range, (records, is_whole): (&[Record], bool), names: &Names) -> Option<Self> {
        let title = format!("{}, for no access", line.start);
        let sequence = Self { title, range: Some(line), has_beginning: is_whole, ..Self::default() };
        sequence.with(records, names)
    }

    fn with(mut self, records: &[Record], names: &Names) -> Option<Self> {
        let txn = self.txn;
        for record in records.iter().filter(|record| record.txn == txn) {
            self.add(record, names);
        }
        (!self.steps.is_empty()).then_some(self)
    }

    fn add(&mut self, record: &Record, names: &Names) {
        match &record.what {
            What::Message(message) => self.message(record, message, Fate::UnderWay),
            What::Delivery(message) => self.deliver(record, message),
            What::Fault { name: LOSE_MESSAGE } => self.lose(record),
            What::Transition { from, to, action } => {
                self.lifeline(record.at);
                self.step(
                    record,
                    StepKind::Transition { at: record.at, from: *from, to: *to, action: *action },
                );
            }
            What::Hit { state, action, .. } => {
                self.lifeline(record.at);
                self.step(record, StepKind::Hit { at: record.at, state: *state, action: *action });
            }
            What::Issue { kind, .. } | What::Complete { kind, .. } => {
                self.range = self.range.or(record.range);
                self.has_beginning |= matches!(record.what, What::Issue { .. });
                if self.title.is_empty() {
                    let start = record.range.map_or_else(String::new, |range| range.start.to_string());
                    self.title = format!("{} {} {start}", names.path(record.at), record.name_of(*kind));
                }
                if matches!(record.what, What::Complete { .. }) {
                    self.completed = Some(record.cycle);
                }
                self.note(record, names);
            }
            What::Merge { .. } | What::Promote { .. } | What::Violation { .. } => {
                self.note(record, names);
            }
            What::Evict { .. } => self.evict(record, names),
            // From here on others ask for it: without this, its journey would end untold.
            What::Mshr { change: MshrChange::Merge, .. } => {
                self.lifeline(record.at);
                let text = "joins a request under way".to_owned();
                self.step(record, StepKind::Note { at: record.at, text });
            }
            _ => {}
        }
    }

    fn note(&mut self, record: &Record, names: &Names) {
        self.step(record, StepKind::Note { at: record.at, text: text::describe(record, names) });
    }

    /// An eviction is of another block than the one that the transaction is for, so it names its victim.
    fn evict(&mut self, record: &Record, names: &Names) {
        self.step(record, StepKind::Note { at: record.at, text: text::predicate(record, names) });
    }

    fn lifeline(&mut self, node: ComponentId) {
        if !self.lifelines.contains(&node) {
            self.lifelines.push(node);
        }
    }

    fn step(&mut self, record: &Record, what: StepKind) {
        self.steps.push(SequenceStep { id: record.id, cycle: record.cycle, what });
    }

    fn message(&mut self, record: &Record, message: &Message, fate: Fate) {
        self.lifeline(message.from);
        self.lifeline(message.to);
        let what = StepKind::Message {
            from: message.from,
            to: message.to,
            label: text::message(message),
            data: message.has_data,
            fate,
        };
        self.step(record, what);
    }

    /// Channels are first in, first out, so the oldest undelivered message of this kind is the one delivered. One that was sent before
    /// the records begin is seen to arrive.
    fn deliver(&mut self, record: &Record, message: &Message) {
        let name = text::message(message);
        for step in &mut self.steps {
            if let StepKind::Message { from, to, label, fate, .. } = &mut step.what
                && *fate == Fate::UnderWay
                && *from == message.from
                && *to == message.to
                && *label == name
            {
                *fate = Fate::Delivered;
                return;
            }
        }
        self.message(record, message, Fate::Delivered);
    }

    /// What a node has sent last is lost.
    fn lose(&mut self, record: &Record) {
        let sent = self.steps.last_mut().filter(|step| step.id.event == record.id.event);
        if let Some(StepKind::Message { from, fate, .. }) = sent.map(|step| &mut step.what)
            && *from == record.at
        {
            *fate = Fate::Lost;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debug::interrupt::Interrupt;
    use crate::debug::origin::Origin;
    use crate::debug::session::Session;

    const LOAD: &str =
        "machine = 'tiny/umh-1gpu'\n[[do]]\nby = 'gpu0.cu0'\nload = { address = 0x1000, len = 4 }\n";

    #[test]
    fn a_message_that_was_sent_before_the_records_begin_is_seen_to_arrive() {
        let mut session = Session::open(Origin::of_text("load", LOAD).unwrap(), None);
        session.execute("until delivery", &Interrupt::default()).unwrap();
        let records = session.last_records().to_vec();
        let txn = records[0].txn.unwrap();
        let sequence = Sequence::new(txn, None, &records, session.machine().components()).unwrap();
        let fate = |step: &SequenceStep| match step.what {
            StepKind::Message { fate, .. } => Some(fate),
            _ => None,
        };
        assert_eq!((sequence.has_beginning, fate(&sequence.steps[0])), (false, Some(Fate::Delivered)));
    }
}
