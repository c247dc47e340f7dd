//! One step: the next event and everything that follows at once.

use super::queue::Event;
use super::tasks::operation;
use super::{Machine, StepOutcome, Transaction};
use crate::model::access::{Access, AccessKind};
use crate::model::address::Range;
use crate::model::fault::Fault;
use crate::model::message::TxnNumber;
use crate::model::record::Records;
use crate::model::time::{EventNumber, Tick};
use crate::parts::agent::{Surroundings, Work};
use crate::protocol::node::Offer;
use crate::protocol::outbox::{About, Completion, Notes, Outbox};

/// Entries of the queue at most that may be left without an event among them: where there are more, something goes on.
const LEFT: usize = 64;

/// What handling an event came to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Handled {
    /// It happened.
    Yes,
    /// It was superseded, or put off, or only let a message leave that an event before it had sent: not an event.
    No,
}

impl Machine {
    /// Executes one event; its records replace those in `records` if it listens.
    pub fn step(&mut self, records: &mut Records) -> StepOutcome {
        let told = records.list.len() as u32;
        records.list.clear();
        if self.plan.due > self.event {
            let mut out = self.outbox(records);
            let taken = self.take_events(Tick::MAX, (self.event + 1, usize::MAX), &mut out);
            self.close(out);
            if taken {
                return StepOutcome::Ran;
            }
        }
        self.step_aside(told, records)
    }

    /// Executes events without records until `limit` events have been executed in all, or the end.
    pub fn run_until(&mut self, limit: EventNumber) -> StepOutcome {
        self.run_on(limit, usize::MAX)
    }

    /// The same, but no further than the event in which a rule is found broken: some are looked at without checks, too.
    pub fn run_unless_broken(&mut self, limit: EventNumber) -> StepOutcome {
        self.run_on(limit, self.violations.len())
    }

    /// The same, until more than so many rules have been broken.
    fn run_on(&mut self, limit: EventNumber, broken: usize) -> StepOutcome {
        let mut silent = Records::silent();
        while self.event < limit && self.violations.len() <= broken {
            // One outbox for all that the queue has.
            let mut out = self.outbox(&mut silent);
            self.take_events(Tick::MAX, (limit.min(self.plan.due), broken), &mut out);
            self.close(out);
            if self.event < limit && self.violations.len() <= broken {
                let outcome = self.step_aside(0, &mut silent);
                if outcome != StepOutcome::Ran {
                    return outcome;
                }
            }
        }
        StepOutcome::Ran
    }

    /// Lets the messages leave that would before a tick, where no event comes before it.
    pub(super) fn pass_time(&mut self, tick: Tick) {
        let mut silent = Records::silent();
        let mut out = self.outbox(&mut silent);
        let happened = tick > 0 && self.take_events(tick - 1, (self.event + 1, usize::MAX), &mut out);
        debug_assert!(!happened, "an event came first");
        self.close(out);
    }

    /// Executes events of the queue until a tick, and until so many have been executed in all, or more than so many rules broken.
    /// `false` if something else comes before that.
    fn take_events(&mut self, last: Tick, (limit, broken): (EventNumber, usize), out: &mut Outbox) -> bool {
        while self.event < limit && self.violations.len() <= broken {
            let Some((tick, event)) = self.next_event(last) else { return false };
            let moment = (self.now, self.event);
            (self.now, self.event) = (tick, self.event + 1);
            (out.tick, out.event) = (self.now, self.event);
            let handled = match event {
                // Most are one of these two.
                Event::Deliver(key) => self.arrive(key, out),
                Event::Agent(agent) => self.run_agent(agent as usize, out),
                event => self.handle(event, out),
            };
            if handled == Handled::Yes {
                self.last = Some(event);
                self.sample_ways(out);
                self.check_event(out);
            } else {
                (self.now, self.event) = moment;
                out.records.list.clear();
            }
        }
        true
    }

    /// Takes the next event until a tick out of the queue, unless the sample of a link ends before it, or time does.
    pub(super) fn next_event(&mut self, last: Tick) -> Option<(Tick, Event)> {
        let before = self.lanes_due.checked_sub(1)?;
        self.queue.pop_until(last.min(before).min(self.last_tick))
    }

    fn handle(&mut self, event: Event, out: &mut Outbox) -> Handled {
        match event {
            Event::Deliver(key) => self.arrive(key, out),
            Event::Port(node) => self.run_port(node as usize, out),
            Event::Cross(key) => self.cross(key, out),
            Event::Leave(key) => self.run_leave(key, out),
            Event::Wire(link) => self.run_wire(link as usize, out),
            Event::Agent(agent) => self.run_agent(agent as usize, out),
            Event::Task(task) => self.start_task(task as usize, out),
            Event::Memory(node) => self.run_memory(node as usize, out),
            Event::Paging(gpu) => self.run_paging(gpu as usize, out),
            Event::Copies(gpu) => self.run_copies(gpu as usize, out),
        }
    }

    /// What comes before the next event of the queue, or instead of it, after an event that made so many records.
    fn step_aside(&mut self, told: u32, records: &mut Records) -> StepOutcome {
        if self.plan.due <= self.event {
            return self.intervene(records);
        }
        match self.queue.next_tick() {
            Some(tick) if tick > self.last_tick => StepOutcome::Limit(self.fixed.time.cycle(self.last_tick)),
            Some(_) => match self.run_lanes(records) {
                Some(outcome) => outcome,
                None => self.step(records),
            },
            None => self.at_the_end(told, records),
        }
    }

    /// Whether no event follows: only what is none may be left.
    pub(super) fn is_at_rest(&self) -> bool {
        let is_over = || self.ahead(true).is_some_and(|(ahead, goes_on)| !goes_on && ahead.queue.is_empty());
        self.queue.is_empty() || self.queue.len() <= LEFT && is_over()
    }

    /// Whether no event follows before the last cycle of the run. Where much goes on that is not looked at, and it seems that one does.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        if self.queue.is_empty() || self.queue.len() > LEFT || self.next_planned().is_some() {
            return false;
        }
        let (ahead, goes_on) = self.clone().advanced();
        !goes_on && ahead.queue.next_tick().is_some_and(|tick| tick > ahead.last_tick)
    }

    /// Whether no event follows, and nothing is planned.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.next_planned().is_none() && self.is_at_rest()
    }

    /// This machine once all has happened that is no event and comes before the next one of its queue; `None` if nothing can.
    pub(super) fn settled(&self) -> Option<Self> {
        let (ahead, goes_on) = self.ahead(false)?;
        if !goes_on {
            return Some(ahead);
        }
        let mut settled = self.clone();
        settled.lift_limit();
        settled.pass_time(ahead.now);
        Some(settled)
    }

    /// This machine after the next event of its queue, however late that comes, and whether there is one; `None` if the queue has nothing,
    /// or something else is to be done first, unless what is planned does not count.
    fn ahead(&self, with_plan: bool) -> Option<(Self, bool)> {
        if self.queue.is_empty() || with_plan && self.plan.due <= self.event {
            return None;
        }
        let mut ahead = self.clone();
        ahead.lift_limit();
        Some(ahead.advanced())
    }

    /// The machine after the next event of its queue, and whether there is one.
    fn advanced(mut self) -> (Self, bool) {
        let mut silent = Records::silent();
        let mut out = self.outbox(&mut silent);
        let goes_on = self.take_events(Tick::MAX, (self.event + 1, usize::MAX), &mut out);
        self.close(out);
        (self, goes_on)
    }

    pub(super) fn outbox<'a>(&mut self, records: &'a mut Records) -> Outbox<'a> {
        let lists = self.buffers.take().unwrap_or_default();
        let mut out = Outbox::new(self.event, self.now, self.fixed.time, lists, records);
        out.homes = std::mem::take(&mut self.homes);
        out.permissions = std::mem::take(&mut self.permissions);
        out.notes = if self.checker.is_some() { Notes::Taken } else { Notes::Nothing };
        out
    }

    /// Takes back what an outbox was lent.
    pub(super) fn close(&mut self, out: Outbox) {
        let (lists, homes, permissions) = out.into_parts();
        (self.buffers, self.homes, self.permissions) = (Some(lists), homes, permissions);
    }

    /// Nothing is left to happen: either all is done, or nothing can ever move again. What is found now is told behind the records of the
    /// last event.
    fn at_the_end(&mut self, told: u32, records: &mut Records) -> StepOutcome {
        if !self.is_quiet() {
            return StepOutcome::Stuck;
        }
        if !self.finished_checked {
            self.finished_checked = true;
            let mut out = self.outbox(records);
            out.ordinal = told;
            self.check_end(&mut out);
            self.close(out);
        }
        StepOutcome::Finished
    }

    /// A node has handled an input: its messages leave, its completions go to the agent above it.
    pub(super) fn after_node(&mut self, node: usize, out: &mut Outbox) {
        if !out.taken.is_empty() {
            self.note_taken(out);
        }
        self.dispatch(node, out);
        if !out.completions.is_empty()
            && let Some(Some(agent)) = self.fixed.agent_above.get(node).copied()
        {
            let mut completions = std::mem::take(&mut out.completions);
            for completion in &completions {
                self.finish_access(completion, out);
                if self.is_dropped() {
                    let about = About::new(completion.range, completion.number);
                    self.tell_struck(completion.node, about, "drop-wake-up", out);
                    continue;
                }
                if let Some(agent) = self.agents.get_mut(agent) {
                    agent.complete(completion, &mut self.told, out);
                }
            }
            self.take_told(agent, out);
            completions.clear();
            out.completions = completions;
        }
        if out.flushed {
            out.flushed = false;
            self.node_flushed(node, out);
        }
        if out.released {
            out.released = false;
            self.node_released(node, out);
        }
        self.stir(node, out);
    }

    fn is_dropped(&mut self) -> bool {
        self.wake_ups += 1;
        self.is_struck(self.wake_ups, |nth| Fault::DropWakeUp { nth })
    }

    fn finish_access(&mut self, completion: &Completion, out: &mut Outbox) {
        self.check_access(completion, out);
        self.note_performed(completion.node, completion.kind, completion.range);
        if let Some(transaction) = completion.txn.and_then(|key| self.txns.remove(key)) {
            self.check_duration(&transaction, out);
            self.count_miss(completion, &transaction);
        }
    }

    pub(super) fn run_memory(&mut self, node: usize, out: &mut Outbox) -> Handled {
        let happened = self.is_memory_due(node) && self.advance_memory(node, out);
        if happened { Handled::Yes } else { Handled::No }
    }

    fn run_agent(&mut self, index: usize, out: &mut Outbox) -> Handled {
        let Some(planned) = self.agent_wake.get_mut(index) else { return Handled::No };
        if *planned != Some(self.now) {
            return Handled::No;
        }
        *planned = None;
        let Some(l1) = self.agents.get(index).map(|agent| agent.l1) else { return Handled::No };
        let has_room = self.has_room_below(l1);
        if has_room && self.hit_unwatched(index, l1, out) {
            self.wake(index);
            return Handled::Yes;
        }
        self.issue(index, l1, has_room, out);
        if !out.completions.is_empty() {
            let mut completions = std::mem::take(&mut out.completions);
            for completion in completions.drain(..) {
                self.finish_access(&completion, out);
            }
            out.completions = completions;
        }
        self.dispatch(l1, out);
        self.take_told(index, out);
        self.wake(index);
        Handled::Yes
    }

    fn issue(&mut self, index: usize, l1: usize, has_room: bool, out: &mut Outbox) {
        let (txns, made) = (&mut self.txns, &mut self.txns_made);
        let (latencies, event) = (&mut self.latencies, self.event);
        let workload = &self.tasks.workload;
        let (Some(agent), Some(node)) = (self.agents.get_mut(index), self.nodes.get_mut(l1)) else { return };
        let (at, hit_time) = (node.id(), node.config.hit_time);
        let mut touched: Option<(Range, AccessKind, Offer)> = None;
        let (is_checked, mut begun) = (self.checker.is_some(), Vec::new());
        let mut begin = |(warp, work): (u32, Option<Work>), access: &Access, offer: Offer, issued: Tick| {
            *made += 1;
            let number = TxnNumber(*made);
            touched = Some((access.range, access.kind, offer));
            if is_checked {
                begun.push((number, access.clone()));
            }
            if offer == Offer::Hit {
                latencies.count_hit(work.map(Work::task), access.kind, access.range, hit_time);
            }
            let transaction = || Transaction::begin(number, (index, warp), access, (issued, event));
            ((offer == Offer::Miss).then(|| txns.insert(transaction())), number)
        };
        let fetch = |work: Work, at: u64| operation(workload, work, at);
        let quiet = !out.records.on && self.checker.is_none();
        let paging = &self.paging;
        let is_here = |page| paging.as_ref().is_none_or(|paging| paging.is_at_host(page));
        let mut around = Surroundings {
            l1: node,
            has_room,
            quiet,
            operation: &fetch,
            begin: &mut begin,
            is_here: &is_here,
            is_deep: self.fixed.reach.below.get(index).is_some_and(|below| !below.is_empty()),
        };
        agent.issue(&mut around, &mut self.told, out);
        for (number, access) in begun {
            self.note_begun(l1, number, &access);
        }
        if let Some((range, kind, offer)) = touched {
            self.note_touched(range);
            self.touch_page(index, range, kind.writes(), out);
            self.touch_copies(index, range, kind.writes());
            // Of a hit that nobody looks at nothing else tells.
            if offer == Offer::Hit {
                self.note_performed(at, kind, range);
            }
        }
    }

    /// Ends what an agent has ended, and keeps results.
    fn take_told(&mut self, agent: usize, out: &mut Outbox) {
        if self.told.is_empty() {
            return;
        }
        let told = std::mem::take(&mut self.told);
        self.ask_for_pages(agent, told.asked, out);
        for address in told.placed {
            self.place_page(agent, address, out);
        }
        for (slot, fence) in told.fences {
            self.fence(agent, slot, fence, out);
        }
        for (label, bytes) in told.results {
            self.tasks.results.insert(label, bytes);
        }
        for (work, bytes) in told.ended {
            self.work_ended(agent, work, bytes, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::machine::StepOutcome;
    use crate::machine::sample::{performing, program, working};
    use crate::model::access::AccessKind::{Load, NStore, Store};
    use crate::model::address::Address;
    use crate::model::inspect::Inspect;
    use crate::model::message::MessageKind;
    use crate::model::operation::{Fence, Operation};
    use crate::model::record::{Records, What};
    use crate::workload::{Operations, TaskKind};

    /// Blocks of more lines than a word has bits.
    #[test]
    fn lines_of_a_large_block_do_not_wait_for_each_other() {
        let latency = |line: u64| {
            let whole = ["gpu.memory.secondary_block", "host.block", "gpu.l2.interleave", "host.interleave"];
            let mut changes: Vec<String> = whole.iter().map(|key| format!("{key}=8 KiB")).collect();
            changes.push("gpu.memory.size=64 KiB".to_owned());
            let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
            let mut work = vec![
                program("gpu1.cu0", Load, &[0x40]),
                program("gpu0.cu0", Load, &[0x80]),
                program("gpu0.cu0", Store, &[0]),
                program("gpu0.cu1", Load, &[line]),
            ];
            (work[1].after, work[2].after, work[3].after, work[3].delay) = (vec![0], vec![1], vec![1], 60);
            let mut machine = performing("tiny/umh-2gpu", &changes, work);
            let (mut records, mut found) = (Records::listening(), None);
            let unit = machine.components().find("gpu0.cu1.l1");
            while machine.step(&mut records) == StepOutcome::Ran {
                for record in &records.list {
                    match record.what {
                        What::Complete { latency, .. } if Some(record.at) == unit => found = Some(latency),
                        _ => {}
                    }
                }
            }
            found.unwrap()
        };
        assert_eq!(latency(0x1000), latency(0x1040), "64 lines after one that waits, and 65");
    }

    /// A bit of the mask that stands for more than is stored makes the store coherent, whether or not bytes are kept.
    #[test]
    fn stores_of_a_part_of_a_mask_bit_are_coherent_with_and_without_values() {
        let promoted = |values: &str, bytes: &str| {
            let changes = [format!("gpu.memory.mask_bytes={bytes}")];
            let changes: Vec<&str> = changes.iter().map(String::as_str).chain([values]).collect();
            let lines: Vec<u64> = (0..8).map(|nth| 0x1000 + 68 * nth).collect();
            let mut machine =
                performing("tiny/umh-2gpu-mask4", &changes, vec![program("gpu0.cu0", NStore, &lines)]);
            assert_eq!(machine.run_until(u64::MAX), StepOutcome::Finished);
            (machine.statistic("gpu0.cu0.l1.promotions"), machine.statistic("messages.write.count"))
        };
        for bytes in ["4", "8"] {
            assert_eq!(promoted("values=true", bytes), promoted("values=false", bytes), "{bytes}");
        }
        assert_eq!(promoted("values=false", "4").0, Some(0.0));
        assert_eq!(promoted("values=false", "8").0, Some(8.0));
    }

    #[test]
    fn an_issue_names_the_event_that_let_its_warp_go_on() {
        let mut machine = working("tiny/umh-1gpu", &[], &[("gpu0.cu0", Load, vec![0x1000, 0x2000])]);
        let (mut records, mut performed, mut issues) = (Records::listening(), None, Vec::new());
        while machine.step(&mut records) == StepOutcome::Ran {
            for record in &records.list {
                match record.kind() {
                    "issue" => issues.push((record.because, performed)),
                    "complete" => performed = Some(record.id.event),
                    _ => {}
                }
            }
        }
        let [(first, None), (second, Some(done))] = issues[..] else { panic!("{issues:?}") };
        assert!(first.is_some(), "its work began some time");
        assert_eq!(second, Some(done));
    }

    /// What hits is waited for, too, and what has joined a miss takes as long as a hit.
    #[test]
    fn records_tell_what_warps_spend_their_time_on() {
        let changes = ["gpu.l1.latency=9", "gpu.cu.wavefronts=4"];
        let work: Vec<_> = (0..3)
            .map(|warp| ("gpu0.cu0", Load, vec![0x1000, 0x1000, 0x1040 * warp, 0x1000, 0x1000]))
            .collect();
        let mut machine = working("tiny/umh-1gpu", &changes, &work);
        let (mut records, mut now) = (Records::listening(), BTreeMap::new());
        let (unit, mut sums) = (machine.components().find("gpu0.cu0").unwrap(), BTreeMap::new());
        while machine.step(&mut records) == StepOutcome::Ran {
            for record in records.list.iter().filter(|record| record.at == unit) {
                let What::Warp { warp, from, to } = record.what else { continue };
                let (before, since) = now.insert(warp, (to, record.tick)).unwrap_or((from, 0));
                assert_eq!(before, from, "warp {warp} at {}", record.tick);
                *sums.entry(from.name()).or_insert(0) += record.tick - since;
            }
        }
        let cycles = |state: &str| machine.statistic(&format!("gpu0.cu0.warp_cycles.{state}")).unwrap();
        let told = |state: &str| machine.time_base().cycle(sums[state]) as f64;
        assert!(cycles("memory") > 27.0 && cycles("ready") > 0.0);
        for state in ["memory", "ready"] {
            assert!((told(state) - cycles(state)).abs() <= 3.0, "{state}: {} {}", told(state), cycles(state));
        }
    }

    #[test]
    fn a_warp_that_has_computed_and_waits_for_what_it_hit_does_not_run() {
        let changes = ["gpu.l1.latency=40", "gpu.cu.outstanding=2"];
        let mut task = program("gpu0.cu0", Load, &[0x1000, 0x1000, 0x1000]);
        if let TaskKind::Program { operations: Operations::Listed(listed), .. } = &mut task.what {
            let mut all = listed.to_vec();
            all.insert(1, Operation::Fence(Fence::Full));
            all.extend([Operation::Compute(2), Operation::Fence(Fence::Full)]);
            *listed = all.into();
        }
        let mut machine = performing("tiny/umh-1gpu", &changes, vec![task]);
        machine.run_until(u64::MAX);
        let cycles = |state: &str| machine.statistic(&format!("gpu0.cu0.warp_cycles.{state}")).unwrap();
        assert!((cycles("running") - 2.0).abs() < 1.5, "{}", cycles("running"));
    }

    #[test]
    fn lines_that_wait_for_the_only_way_of_an_l1_get_it_in_the_order_in_which_they_came() {
        let changes = ["gpu.l1.size=64 B", "gpu.l1.ways=1", "gpu.l1.mshrs=8", "gpu.cu.wavefronts=8"];
        let lines = (0..6).map(|line| ("gpu0.cu0", Load, vec![0x1000 + line * 0x40]));
        let mut machine = working("tiny/umh-1gpu", &changes, &lines.collect::<Vec<_>>());
        let (mut records, mut issued, mut performed) = (Records::listening(), Vec::new(), Vec::new());
        let l1 = machine.components().find("gpu0.cu0.l1").unwrap();
        let mut waits = 0;
        while machine.step(&mut records) == StepOutcome::Ran {
            let last = machine.block(l1, Address(0x1140)).and_then(|view| view.doing);
            waits += u32::from(last.as_deref() == Some("waits for a free way of set 0"));
            for record in &records.list {
                match record.kind() {
                    "issue" => issued.push(record.txn),
                    "complete" => performed.push(record.txn),
                    _ => {}
                }
            }
        }
        assert_eq!((issued.len(), issued), (6, performed));
        assert!(waits > 0, "the last line waits for the way");
    }

    #[test]
    fn lines_that_wait_for_a_way_whose_line_is_recalled_first_keep_their_order() {
        let changes = ["gpu.l2.size=64 B", "gpu.l2.ways=1", "gpu.l1.mshrs=8", "gpu.cu.wavefronts=8"];
        let line = |cu: usize, nth: u64| {
            (["gpu0.cu0", "gpu0.cu1"][cu], Load, vec![0x1000 + (2 * nth + cu as u64) * 0x40])
        };
        let lines: Vec<_> = (0..8).flat_map(|nth| [line(0, nth), line(1, nth)]).collect();
        let mut machine = working("tiny/umh-1gpu", &changes, &lines);
        let l2 = machine.components().find("gpu0.l2.0").unwrap();
        let (mut records, mut came, mut performed) = (Records::listening(), Vec::new(), Vec::new());
        while machine.step(&mut records) == StepOutcome::Ran {
            for record in &records.list {
                match &record.what {
                    What::Delivery(message) if record.at == l2 && message.kind == MessageKind::Read => {
                        came.push(record.txn);
                    }
                    What::Complete { .. } => performed.push(record.txn),
                    _ => {}
                }
            }
        }
        assert_eq!((came.len(), came), (16, performed));
    }
}
