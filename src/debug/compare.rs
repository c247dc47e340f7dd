//! Two runs side by side: the first record at which they part, and what led to it.
//!
//! Records are compared by what they say, not by their names: an input is an event that only one of the runs has.

use std::collections::VecDeque;

use super::describe;
use super::subject::Subject;
use super::timeline::Timeline;
use crate::machine::{Machine, StepOutcome};
use crate::model::address::{Address, Range};
use crate::model::message::Message;
use crate::model::record::{Record, Records, What};
use crate::model::text::plural;
use crate::model::time::EventNumber;

/// Records of each run shown before they part, and after.
const AROUND: usize = 5;

/// Steps from an effect to its cause that are followed.
const CHAIN: usize = 12;

/// One of two runs.
#[derive(Debug)]
pub struct Side {
    pub timeline: Timeline,
    records: Records,
    waiting: VecDeque<Record>,
    inputs: Vec<Record>,
    end: Option<StepOutcome>,
}

/// How a run goes on where two part.
#[derive(Clone, Debug)]
pub struct Course {
    /// What was done to its machine on the way.
    pub inputs: Vec<Record>,
    /// The first records that the other does not have.
    pub records: Vec<Record>,
    /// What led to the first of them, nearest cause first.
    pub causes: Vec<Record>,
    /// Why there is no record, if the run ended here.
    pub end: Option<StepOutcome>,
    /// The position of the first record, or the last position.
    pub event: EventNumber,
    pub cycle: u64,
}

/// What two runs came to.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The event up to which they are one run, whose records are not counted; `None` if they were compared from their beginning.
    pub common: Option<EventNumber>,
    /// Records that both have.
    pub alike: u64,
    /// The last of them, as the first run has them.
    pub before: Vec<Record>,
    /// How each goes on; nothing if they are the same to the end.
    pub parts: Option<[Course; 2]>,
}

/// A comparison under way.
#[derive(Debug)]
pub struct Comparison {
    sides: [Side; 2],
    /// Whether the same records at other times are the same.
    ignore_time: bool,
    same_components: bool,
    common: Option<EventNumber>,
    alike: u64,
    before: VecDeque<Record>,
}

impl Side {
    fn new(timeline: Timeline) -> Self {
        Self {
            timeline,
            records: Records::listening(),
            waiting: VecDeque::new(),
            inputs: Vec::new(),
            end: None,
        }
    }

    /// Makes the next record, within `fuel` events. Whether it is there, or there is none.
    fn fill(&mut self, fuel: &mut u64) -> bool {
        while self.waiting.is_empty() && self.end.is_none() {
            if *fuel == 0 {
                return false;
            }
            *fuel -= 1;
            self.records.list.clear();
            let outcome = self.timeline.step(&mut self.records);
            for record in self.records.list.drain(..) {
                match record.what {
                    What::Input { .. } => self.inputs.push(record),
                    _ => self.waiting.push_back(record),
                }
            }
            if outcome != StepOutcome::Ran {
                self.end = Some(outcome);
            }
        }
        true
    }

    /// How it goes on from here.
    fn course(mut self) -> Course {
        let mut fuel = 1 << 12;
        while self.waiting.len() < AROUND && self.end.is_none() && fuel > 0 {
            let mut more = Side { waiting: VecDeque::new(), ..self };
            more.fill(&mut fuel);
            let mut waiting = std::mem::take(&mut self.waiting);
            waiting.append(&mut more.waiting);
            self = Side { waiting, ..more };
        }
        let records: Vec<_> = self.waiting.iter().take(AROUND).cloned().collect();
        let causes = records.first().map_or_else(Vec::new, |first| causes(&self.timeline, first));
        let machine = self.timeline.machine();
        let (event, cycle) = records
            .first()
            .map_or_else(|| (machine.event(), machine.cycle()), |first| (first.id.event, first.cycle));
        Course {
            end: self.end.filter(|_| records.is_empty()),
            inputs: self.inputs,
            records,
            causes,
            event,
            cycle,
        }
    }
}

impl Comparison {
    /// Compares two runs from where they are.
    #[must_use]
    pub fn new(a: Timeline, b: Timeline, ignore_time: bool) -> Self {
        let same_components = a.machine().components() == b.machine().components();
        let sides = [Side::new(a), Side::new(b)];
        Self { sides, ignore_time, same_components, common: None, alike: 0, before: VecDeque::new() }
    }

    /// The same, of runs that are known to be one up to an event: its records before that are not counted.
    #[must_use]
    pub fn alike_until(self, common: EventNumber) -> Self {
        Self { common: Some(common).filter(|event| *event > self.sides[0].timeline.start()), ..self }
    }

    /// Where the first run is.
    #[must_use]
    pub fn event(&self) -> EventNumber {
        self.sides[0].timeline.event()
    }

    /// The machines that are compared.
    #[must_use]
    pub fn machines(&self) -> [&dyn Subject; 2] {
        [self.sides[0].timeline.machine(), self.sides[1].timeline.machine()]
    }

    /// Goes on for about `fuel` events; `true` once it is known what came of it.
    pub fn advance(&mut self, mut fuel: u64) -> bool {
        loop {
            let [a, b] = &mut self.sides;
            if !a.fill(&mut fuel) || !b.fill(&mut fuel) {
                return false;
            }
            let next = self.sides.iter().map(|side| side.waiting.front()).collect::<Option<Vec<_>>>();
            if !next.is_some_and(|next| self.are_alike(next[0], next[1])) {
                return true;
            }
            let [a, b] = &mut self.sides;
            b.waiting.pop_front();
            let is_new =
                a.waiting.front().is_some_and(|next| self.common.is_none_or(|common| next.id.event > common));
            self.alike += u64::from(is_new);
            if self.before.len() >= AROUND {
                self.before.pop_front();
            }
            self.before.extend(a.waiting.pop_front());
        }
    }

    /// What came of it.
    #[must_use]
    pub fn verdict(self) -> Verdict {
        let [a, b] = self.sides;
        let ended = |side: &Side| side.waiting.is_empty().then_some(side.end).flatten();
        let is_same = match (ended(&a), ended(&b)) {
            (Some(one), Some(other)) => is_same_end(one, other, self.ignore_time),
            _ => false,
        };
        let parts = (!is_same).then(|| [a.course(), b.course()]);
        Verdict { common: self.common, alike: self.alike, before: self.before.into(), parts }
    }

    fn are_alike(&self, a: &Record, b: &Record) -> bool {
        if !self.ignore_time && a.cycle != b.cycle {
            return false;
        }
        if self.same_components {
            return a.at == b.at && a.txn == b.txn && a.range == b.range && says_same(a, b, self.ignore_time);
        }
        let [one, other] = self.machines();
        let text = |record: &Record, machine: &dyn Subject| {
            let plain = Record { because: None, ..record.clone() };
            describe::with_kind(&plain, machine.components())
        };
        text(a, one) == text(b, other)
    }
}

fn is_same_end(a: StepOutcome, b: StepOutcome, ignore_time: bool) -> bool {
    a == b || (ignore_time && matches!((a, b), (StepOutcome::Limit(_), StepOutcome::Limit(_))))
}

/// Whether two records say the same; the numbers of events in them do not count.
fn says_same(a: &Record, b: &Record, ignore_time: bool) -> bool {
    let plain = |message: &Message| Message { cause: 0, txn: None, ..message.clone() };
    match (&a.what, &b.what) {
        (What::Message(one), What::Message(other))
        | (What::Hop(one), What::Hop(other))
        | (What::Delivery(one), What::Delivery(other))
        | (What::Stall { message: one }, What::Stall { message: other }) => {
            one.kind == other.kind && one.to == other.to && plain(one) == plain(other)
        }
        (
            What::Complete { kind, warp, bytes, .. },
            What::Complete { kind: other_kind, warp: other_warp, bytes: other_bytes, .. },
        ) if ignore_time => (kind, warp, bytes) == (other_kind, other_warp, other_bytes),
        (one, other) => one == other,
    }
}

/// What led to a record: the event's own input if it is another record, its cause, the cause of that, and so on.
#[must_use]
pub fn causes(timeline: &Timeline, record: &Record) -> Vec<Record> {
    let mut chain: Vec<Record> = Vec::new();
    let mut at = record.clone();
    while chain.len() < CHAIN {
        // Without a cause of its own it follows from what came in at its event.
        let event = at.because.unwrap_or(at.id.event);
        if event <= timeline.start() || event > at.id.event {
            break;
        }
        let records = timeline.records(event - 1, event);
        let Some(next) = telling(&records, &at).cloned() else { break };
        chain.push(next.clone());
        at = next;
    }
    chain
}

/// The record among those of an event that tells best why `effect` came of it.
fn telling<'a>(records: &'a [Record], effect: &Record) -> Option<&'a Record> {
    let own = records.iter().filter(|found| found.id < effect.id);
    let of_same = |found: &&Record| found.txn.is_some() && found.txn == effect.txn;
    let with_cause = || own.clone().filter(|found| found.because.is_some());
    let issue = || own.clone().filter(|found| matches!(found.what, What::Issue { .. } | What::Input { .. }));
    with_cause()
        .find(of_same)
        .or_else(|| issue().find(of_same))
        .or_else(|| with_cause().next())
        .or_else(|| issue().next())
}

impl Verdict {
    /// Where the first messages that differ carry other bytes, and which, if nothing else tells them apart: no record shows these.
    #[must_use]
    pub fn other_bytes(&self) -> Option<(Address, [String; 2])> {
        let [a, b] = self.parts.as_ref()?;
        let message = |course: &Course| match &course.records.first()?.what {
            What::Message(message) | What::Hop(message) | What::Delivery(message) => Some(message.clone()),
            _ => None,
        };
        let (one, other) = (message(a)?, message(b)?);
        if (one.kind, one.from, one.to, one.range) != (other.kind, other.from, other.to, other.range) {
            return None;
        }
        let all = (one.range.start.0..one.range.end()).map(Address);
        let told = |address| [carried(&one, address), carried(&other, address)];
        all.map(|address| (address, told(address))).find(|(_, [a, b])| a != b)
    }

    /// The records that both have.
    fn counted(&self) -> String {
        let records = plural(self.alike, "record");
        self.common.map_or_else(
            || records.clone(),
            |event| format!("all up to event {event} and {records} after it"),
        )
    }

    /// In lines, for people: what both have, how each goes on, and why.
    #[must_use]
    pub fn lines(&self, names: [&str; 2], machines: [&dyn Subject; 2]) -> Vec<String> {
        let Some(parts) = &self.parts else {
            let is_stuck = machines[0].machine().is_some_and(Machine::is_stuck);
            let end = if is_stuck { ", where both can go on no more: a deadlock" } else { "" };
            return vec![format!("the same: {} to the end{end}", self.counted())];
        };
        let mut lines = vec![format!("{} alike, then they part", self.counted())];
        let line = |record: &Record, machine: &dyn Subject| describe::log_line(record, machine.components());
        lines.extend(self.before.iter().map(|record| format!("  {}", line(record, machines[0]))));
        for ((mark, course), (name, machine)) in
            ['-', '+'].into_iter().zip(parts).zip(names.iter().zip(machines))
        {
            lines.push(format!("{mark} {name}: event {}, cycle {}", course.event, course.cycle));
            lines.extend(course.records.iter().map(|record| format!("{mark} {}", line(record, machine))));
            lines.extend(course.end.map(|end| format!("{mark} {}", ended(end))));
        }
        if let Some((address, [a, b])) = self.other_bytes() {
            lines.push(format!(
                "their first messages carry other bytes: at {address} {a} in {} and {b} in {}",
                names[0], names[1]
            ));
        }
        for (course, (name, machine)) in parts.iter().zip(names.iter().zip(machines)) {
            lines.extend(
                course.inputs.iter().map(|record| format!("{name} {}", line(record, machine).trim_start())),
            );
            if !course.causes.is_empty() {
                lines.push(format!("what led to it in {name}:"));
                lines.extend(course.causes.iter().map(|record| format!("  {}", line(record, machine))));
            }
        }
        lines
    }
}

/// What a message carries at an address: the byte, and whether it was stored.
fn carried(message: &Message, address: Address) -> String {
    let Some(patch) = message.patch.as_deref() else { return "nothing".to_owned() };
    let one = Range::new(address, 1);
    let byte = patch.read(one).map_or_else(|| "a byte".to_owned(), |byte| format!("{:02x}", byte[0]));
    if patch.marked(one) { format!("{byte}, dirty,") } else { byte }
}

/// Why there is no next event, in words.
#[must_use]
pub fn ended(outcome: StepOutcome) -> String {
    match outcome {
        StepOutcome::Ran => "goes on".to_owned(),
        StepOutcome::Finished => "all work is done".to_owned(),
        StepOutcome::Stuck => "nothing can move: deadlock".to_owned(),
        StepOutcome::Limit(cycle) => format!("the last cycle {cycle} is reached"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::origin::Origin;
    use super::super::timeline::Budget;
    use super::*;

    const TEXT: &str = r#"
machine = "tiny/umh-2gpu"
[[do]]
id = "a"
by = "gpu0.cu0"
store = { address = 0x1000, bytes = "07" }
[[do]]
after = "a"
by = "gpu1.cu0"
load = { address = 0x1000 }
"#;

    fn timeline(text: &str) -> Timeline {
        Timeline::new(Origin::of_text("t", text).unwrap().machine, Budget::default())
    }

    fn verdict(a: &str, b: &str, ignore_time: bool) -> Verdict {
        let mut comparison = Comparison::new(timeline(a), timeline(b), ignore_time);
        while !comparison.advance(3) {}
        comparison.verdict()
    }

    #[test]
    fn messages_that_differ_only_in_their_bytes_are_told_apart() {
        let of = |bytes: &str| format!("{TEXT}[[memory]]\naddress = 0x1008\nbytes = \"{bytes}\"\n");
        let (address, bytes) = verdict(&of("09"), &of("0a"), false).other_bytes().unwrap();
        assert_eq!((address, bytes), (Address(0x1008), ["09".to_owned(), "0a".to_owned()]));
        let issues = verdict(TEXT, &TEXT.replace("07", "08"), false);
        assert!(issues.parts.is_some() && issues.other_bytes().is_none(), "the issue shows what it stores");
    }

    #[test]
    fn a_run_is_the_same_as_itself() {
        let same = verdict(TEXT, TEXT, false);
        assert!(same.parts.is_none() && same.alike > 20);
    }

    #[test]
    fn two_runs_part_at_the_first_record_that_differs_and_tell_its_causes() {
        let other = TEXT.replace("load = { address = 0x1000 }", "load = { address = 0x1004 }");
        let [a, b] = verdict(TEXT, &other, false).parts.unwrap();
        assert_eq!(a.event, b.event);
        let issued = |course: &Course| matches!(course.records[0].what, What::Issue { .. });
        assert!(issued(&a) && issued(&b));
        let fault = "\n[[fault]]\nname = \"skip-invalidation\"\n";
        let stored =
            TEXT.replace("load = { address = 0x1000 }", "store = { address = 0x1000, bytes = '01' }");
        let parts = verdict(&stored, &(stored.clone() + fault), false).parts.unwrap();
        assert!(parts.iter().all(|course| course.causes.len() > 2));
    }

    #[test]
    fn a_slower_run_of_the_same_order_differs_in_time_alone() {
        let slower = TEXT.replace("\"tiny/umh-2gpu\"", "\"tiny/umh-2gpu\"\nmax-cycles = 100000");
        assert!(verdict(TEXT, &slower, false).parts.is_none());
        let late = TEXT.replace("id = \"a\"", "id = \"a\"\ndelay = 100");
        assert!(verdict(TEXT, &late, false).parts.is_some());
        assert!(verdict(TEXT, &late, true).parts.is_none());
    }

    #[test]
    fn a_run_that_stops_parts_from_one_that_goes_on() {
        let fault = "\n[[fault]]\nname = \"lose-message\"\nmessage = \"grant-ack\"\n";
        let parts = verdict(TEXT, &(TEXT.to_owned() + fault), false).parts.unwrap();
        let [a, b] = &parts;
        let strikes =
            |course: &Course| course.records.iter().any(|record| matches!(record.what, What::Fault { .. }));
        assert!(!a.records.is_empty() && !strikes(a), "{a:?}");
        assert!(strikes(b), "{b:?}");
    }
}
