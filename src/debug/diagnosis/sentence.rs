//! An edge of the wait-for graph as a sentence.

use crate::machine::Machine;
use crate::model::address::Address;
use crate::model::inspect::Inspect;
use crate::model::message::TxnNumber;
use crate::model::time::{EventNumber, Tick};
use crate::model::wait::{Party, Wait};

/// Who waits, for what, who has it, since when, and the record that made it so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    pub from: Party,
    pub to: Party,
    /// Both in words.
    pub who: String,
    pub whom: String,
    /// What the first does: "waits for the grant of host.hmd0".
    pub waits: String,
    pub since: Tick,
    pub since_cycle: u64,
    pub block: Option<Address>,
    pub txn: Option<TxnNumber>,
    /// The event that made it, once it is known, and its record as a line of the log.
    pub event: Option<EventNumber>,
    pub record: Option<String>,
}

impl Sentence {
    pub(super) fn new(wait: &Wait, machine: &Machine) -> Self {
        let names = machine.components();
        // A message that an exploration takes before it would come has waited for nothing yet.
        let since = wait.since.min(machine.tick());
        Self {
            from: wait.from,
            to: wait.to,
            who: wait.from.text(names),
            whom: wait.to.text(names),
            waits: wait.text.clone(),
            since,
            since_cycle: machine.time_base().cycle(since),
            block: wait.block,
            txn: wait.txn,
            event: wait.event,
            record: None,
        }
    }

    /// `the request of gpu0.smd0 for block 0x1000 waits for the grant of host.hmd0 (since cycle 8602, event 19988)`.
    #[must_use]
    pub fn text(&self) -> String {
        // What waits may have been made long before it began to wait.
        let made = match self.from {
            Party::Lane { .. } => "sent by ",
            Party::Warp(..) if self.txn.is_some() => "issued by ",
            _ => "",
        };
        let event = self.event.map_or_else(String::new, |event| format!(", {made}event {event}"));
        let txn = self.txn.map_or_else(String::new, |txn| format!(", transaction {}", txn.0));
        format!("{} {} (since cycle {}{event}{txn})", self.who, self.waits, self.since_cycle)
    }
}
