//! The fields of records by their names, as queries and exports see them.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Record, RowAccess, What};
use crate::model::access::{AccessKind, Bytes};
use crate::model::address::Range;
use crate::model::component::ComponentId;
use crate::model::lanes::{Flows, LaneDecision, LaneReversal, Saturation};
use crate::model::message::Message;
use crate::model::paging::PageWalk;
use crate::model::sectors::Sectors;
use crate::model::selective::RemoteChange;
use crate::model::state::State;
use crate::model::tags::TagRecord;
use crate::model::warp::NO_WARP;
use crate::model::ways::{WayDecision, WayStep};

/// The value of a record's field, as queries and exports see it.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    Component(ComponentId),
    Components(SmallVec<[ComponentId; 4]>),
    State(State),
    /// A word and the classes it belongs to; a query matches any of them.
    Words(&'static [&'static str]),
    Word(&'static str),
    Text(Arc<str>),
    Number(u64),
    Bytes(Bytes),
}

impl Record {
    /// The value of this record's own field `name` (see [`KINDS`]); the shared ones are plain members.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Field> {
        match &self.what {
            What::Issue { .. } | What::Complete { .. } | What::Promote { .. } => self.access_field(name),
            What::Message(message)
            | What::Hop(message)
            | What::Delivery(message)
            | What::Stall { message } => message_field(message, name),
            What::Transition { .. }
            | What::Hit { .. }
            | What::Directory { .. }
            | What::Mshr { .. }
            | What::Merge { .. }
            | What::Evict { .. } => node_field(&self.what, name),
            What::Warp { warp, from, to } => match name {
                "warp" => Some(Field::Number(u64::from(*warp))),
                "from" => Some(Field::Word(from.name())),
                "to" => Some(Field::Word(to.name())),
                _ => None,
            },
            What::Kernel { name: kernel, launch, ended } => match name {
                "name" => Some(Field::Text(kernel.clone())),
                "launch" => Some(Field::Number(u64::from(*launch))),
                "ended" => Some(Field::Number(u64::from(*ended))),
                _ => None,
            },
            What::NoCredit { network } => (name == "network").then(|| Field::Word(network.name())),
            What::LaneReversal(reversal) => reversal_field(reversal, name),
            What::Saturation(saturation) => saturation_field(*saturation, name),
            What::Activate { bank, row, access } => bank_field((*bank, *row, *access), None, name),
            What::Dram { tags, .. } if name == "tags" => Some(Field::Number(u64::from(*tags))),
            What::Dram { bank, row, access, writes, .. } => {
                bank_field((*bank, *row, *access), Some(*writes), name)
            }
            What::Tlb { .. }
            | What::Walk(_)
            | What::FarFault { .. }
            | What::ProtectionFault { .. }
            | What::Permission { .. }
            | What::Speculation { .. }
            | What::Page { .. }
            | What::PageHome { .. }
            | What::RemoteMiss { .. } => paging_field(&self.what, name),
            What::WayRepartition { local, .. } if name == "local" => Some(Field::Number(u64::from(*local))),
            What::WaySample { l1_remote, .. } if name == "l1-remote" => {
                Some(Field::Number(u64::from(*l1_remote)))
            }
            What::WaySample { moved, .. } if name == "moved" => Some(Field::Number(u64::from(*moved))),
            What::WayRepartition { remote, decision, .. } | What::WaySample { remote, decision, .. } => {
                way_field(*remote, *decision, name)
            }
            What::LaneSample { flows, decision } => lane_sample_field(flows, *decision, name),
            What::Tag(record) => tag_field(*record, name),
            other => told_field(other, name),
        }
    }

    /// A field of what a warp or core wants.
    fn access_field(&self, name: &str) -> Option<Field> {
        let (kind, warp, bytes, latency) = match &self.what {
            What::Issue { kind, warp, bytes } => (*kind, *warp, Some(bytes), None),
            What::Complete { kind, warp, bytes, latency } => (*kind, *warp, Some(bytes), Some(*latency)),
            What::Promote { kind, warp } => (*kind, *warp, None, None),
            _ => return None,
        };
        match name {
            "kind" if bytes.is_none() => Some(Field::Word(kind.name())),
            "kind" => Some(access_kind(kind, self.range)),
            "warp" => (warp != NO_WARP).then(|| Field::Number(u64::from(warp))),
            "value" => bytes.cloned().map(Field::Bytes),
            "latency" => latency.map(Field::Number),
            _ => None,
        }
    }
}

/// A field of what happens to a block, or for one, at a node.
fn node_field(what: &What, name: &str) -> Option<Field> {
    match what {
        What::Transition { from, to, action } => match name {
            "from" => Some(Field::State(*from)),
            "to" => Some(Field::State(*to)),
            "action" => Some(Field::Word(action.name())),
            _ => None,
        },
        What::Hit { state, action, waited } => match name {
            "state" => Some(Field::State(*state)),
            "action" => Some(Field::Word(action.name())),
            "waited" => Some(Field::Number(u64::from(*waited))),
            _ => None,
        },
        What::Directory { owner, sharers, rule } => match name {
            "owner" => owner.map(Field::Component),
            "sharers" => Some(Field::Components(sharers.clone())),
            "rule" => rule.map(|number| Field::Number(u64::from(number))),
            _ => None,
        },
        What::Mshr { change, used, capacity } => match name {
            "change" => Some(Field::Word(change.name())),
            "used" => Some(Field::Number(u64::from(*used))),
            "capacity" => Some(Field::Number(u64::from(*capacity))),
            _ => None,
        },
        What::Merge { from, bytes, .. } => match name {
            "from" => Some(Field::Component(*from)),
            "bytes" => Some(Field::Number(u64::from(*bytes))),
            _ => None,
        },
        What::Evict { state, dirty } => match name {
            "state" => Some(Field::State(*state)),
            "dirty" => Some(Field::Number(u64::from(*dirty))),
            _ => None,
        },
        _ => None,
    }
}

fn tag_field(record: TagRecord, name: &str) -> Option<Field> {
    match name {
        "outcome" => Some(Field::Word(record.outcome.name())),
        "writes" => Some(Field::Number(u64::from(record.writes))),
        "pending" => Some(Field::Number(u64::from(record.pending))),
        "scoreboard" => Some(Field::Number(u64::from(record.scoreboard))),
        _ => None,
    }
}

/// A field of what happens to pages and their translations.
fn paging_field(what: &What, name: &str) -> Option<Field> {
    match what {
        What::Tlb { change } => (name == "change").then(|| Field::Word(change.name())),
        What::Walk(walk) => walk_field(*walk, name),
        What::FarFault { stage, set, unit, writes, .. } => match name {
            "unit" => unit.map(|unit| Field::Number(u64::from(unit))),
            "writes" => Some(Field::Number(u64::from(*writes))),
            _ => page_field("stage", stage.name(), *set, name),
        },
        What::ProtectionFault { stage, who, writes } => match name {
            "stage" => Some(Field::Word(stage.name())),
            "who" => Some(Field::Component(*who)),
            "writes" => Some(Field::Number(u64::from(*writes))),
            _ => None,
        },
        What::Permission { permission } => (name == "permission").then(|| Field::Word(permission.name())),
        What::Speculation { on } => (name == "on").then(|| Field::Number(u64::from(*on))),
        What::Page { change, set, .. } => page_field("change", change.name(), *set, name),
        What::PageHome { home } | What::RemoteMiss { home } => {
            (name == "home").then(|| Field::Number(u64::from(*home)))
        }
        _ => None,
    }
}

/// A field of a page walk.
fn walk_field(walk: PageWalk, name: &str) -> Option<Field> {
    match name {
        "change" => Some(Field::Word(walk.change())),
        "unit" => Some(Field::Number(u64::from(walk.unit))),
        "cached" => Some(Field::Number(u64::from(walk.cached))),
        "memory" => Some(Field::Number(u64::from(walk.memory))),
        "cycles" => walk.cycles.map(Field::Number),
        _ => None,
    }
}

/// A field of what a part tells about others, or of what was done to the machine.
fn told_field(what: &What, name: &str) -> Option<Field> {
    match what {
        What::UseOnce { served, brought, dropped } => once_field((*served, *brought, *dropped), name),
        What::Overtaken => None,
        What::RemoteDirectory { change, lines, capacity } => remote_field(*change, (*lines, *capacity), name),
        What::Nack { false_positive } => {
            (name == "false-positive").then(|| Field::Number(u64::from(*false_positive)))
        }
        What::Input { text } => (name == "text").then(|| Field::Text(text.clone())),
        What::Fault { name: fault } => (name == "name").then(|| Field::Word(fault)),
        What::Violation { rule, text } => match name {
            "rule" => Some(Field::Word(rule)),
            "text" => Some(Field::Text(text.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// A field of bytes that came and are not kept: loads served, sectors that came, and those dropped.
fn once_field((served, brought, dropped): (u32, Sectors, Sectors), name: &str) -> Option<Field> {
    match name {
        "served" => Some(Field::Number(u64::from(served))),
        "sectors" => Some(Field::Number(u64::from(brought.count()))),
        "dropped" => Some(Field::Number(u64::from(dropped.count()))),
        _ => None,
    }
}

/// A field of a change of a remote directory: lines in it, and those that it has room for.
fn remote_field(change: RemoteChange, (lines, capacity): (u32, u32), name: &str) -> Option<Field> {
    match name {
        "change" => Some(Field::Word(change.name())),
        "lines" => Some(Field::Number(u64::from(lines))),
        "capacity" => Some(Field::Number(u64::from(capacity))),
        _ => None,
    }
}

/// A field of what happens to a page in a transfer set: `word` is called `of`.
fn page_field(of: &str, word: &'static str, set: u64, name: &str) -> Option<Field> {
    match name {
        "set" => (set > 0).then_some(Field::Number(set)),
        _ => (name == of).then_some(Field::Word(word)),
    }
}

/// A field of what happens in a row of a bank.
fn bank_field((bank, row, access): (u32, u64, RowAccess), writes: Option<bool>, name: &str) -> Option<Field> {
    match name {
        "bank" => Some(Field::Number(u64::from(bank))),
        "row" => Some(Field::Number(row)),
        "access" => Some(Field::Word(access.name())),
        "writes" => writes.map(|writes| Field::Number(u64::from(writes))),
        _ => None,
    }
}

fn saturation_field(saturation: Saturation, name: &str) -> Option<Field> {
    match name {
        "saturated" => Some(Field::Number(u64::from(saturation.is_saturated))),
        "use" => Some(Field::Number(u64::from(saturation.flow.utilisation))),
        "lanes" => Some(Field::Number(u64::from(saturation.flow.lanes))),
        _ => None,
    }
}

/// A field of how ways are dealt now, and by what that was decided.
fn way_field(remote: u32, decision: WayDecision, name: &str) -> Option<Field> {
    let number = match name {
        "step" => return Some(Field::Word(decision.step.name())),
        "remote" => u64::from(remote),
        // A launch halves the ways, whatever was measured.
        _ if decision.step == WayStep::Halve => return None,
        "memory" => u64::from(decision.memory),
        "ingress" => u64::from(decision.ingress),
        "reads" => decision.reads,
        "room" => decision.room,
        _ => return None,
    };
    Some(Field::Number(number))
}

fn lane_sample_field(flows: &Flows, decision: LaneDecision, name: &str) -> Option<Field> {
    match name {
        "reason" => Some(Field::Word(decision.reason.name())),
        "to" => decision.to.map(|to| Field::Word(to.name())),
        _ => flow_field(flows, name),
    }
}

/// Lanes and utilisation of both directions of a link.
fn flow_field(flows: &Flows, name: &str) -> Option<Field> {
    let number = match name {
        "out-lanes" => flows.out.lanes,
        "in-lanes" => flows.into.lanes,
        "out-use" => flows.out.utilisation,
        "in-use" => flows.into.utilisation,
        _ => return None,
    };
    Some(Field::Number(u64::from(number)))
}

fn reversal_field(reversal: &LaneReversal, name: &str) -> Option<Field> {
    match name {
        "from" => Some(Field::Word(reversal.to.opposite().name())),
        "to" => Some(Field::Word(reversal.to.name())),
        "phase" => Some(Field::Word(reversal.phase.name())),
        "reason" => Some(Field::Word(reversal.reason.name())),
        "count" => Some(Field::Number(u64::from(reversal.count))),
        _ => flow_field(&reversal.flows, name),
    }
}

/// The kind of an access. An exclusive one is a store, too: of no bytes.
fn access_kind(kind: AccessKind, range: Option<Range>) -> Field {
    match kind.name_of(range.map_or(1, |range| range.len)) {
        "exclusive" => Field::Words(&["exclusive", "store"]),
        name => Field::Word(name),
    }
}

fn message_field(message: &Message, name: &str) -> Option<Field> {
    match name {
        "type" => Some(Field::Words(message.kind.words())),
        "from" => Some(Field::Component(message.from)),
        "to" => Some(Field::Component(message.to)),
        "network" => Some(Field::Word(message.kind.network().name())),
        "size" => Some(Field::Number(u64::from(message.size))),
        "data" => Some(Field::Number(u64::from(message.has_data))),
        _ => None,
    }
}
