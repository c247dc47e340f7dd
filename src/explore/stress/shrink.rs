//! Making a failing run small. All behind the failure goes first. Where much is left, short runs of other seeds are tried: one
//! that breaks the rule is smaller to begin with. Then instructions are left out as long as the same rule breaks: all of an
//! agent or about a line, then fewer and fewer of those that are left.

use std::collections::BTreeSet;

use super::Plan;
use super::accesses::Ground;
use super::program::{Deed, Stream, task_name};
use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::model::random::seed_of;

/// Instructions that all runs of shrinking may have together, of one failure.
const WORK: usize = 2_000_000;

/// So many instructions or fewer are soon made less.
const FEW: usize = 500;

/// Instructions that may have begun beyond those that a warp has done.
const AHEAD: u64 = 64;

/// Accesses of short runs, and how many of them are tried.
const SHORT: [(u64, u64); 4] = [(30, 4_000), (150, 1_500), (800, 400), (4_000, 100)];

/// What counts as one line.
const LINE: u64 = 64;

/// What a failure was made to.
#[derive(Clone, Debug)]
pub struct Small {
    pub streams: Vec<Stream>,
    /// How they break the rule; nothing if no run has been made smaller.
    pub text: Option<String>,
    /// No instruction of them can be left out: neither the work that may be spent was done before, nor was it to stop.
    pub is_least: bool,
    /// They are of another run, which was shorter and broke the same rule.
    pub is_of_another: bool,
}

/// Fewer instructions that break the same rule, until none can be left out, the work is done that may be spent on it, or it
/// is to stop. What is left, and of how many, is told on the way.
pub fn shrink(
    plan: &Plan,
    streams: &[Stream],
    rule: &str,
    stop: &dyn Fn() -> bool,
    told: &mut dyn FnMut(usize, usize),
) -> Small {
    let all = count(streams);
    let best = streams.to_vec();
    let mut shrinking = Shrinking { plan, rule, best, text: None, left: WORK, stop, told, all };
    shrinking.cut_behind();
    let is_of_another = count(&shrinking.best) > FEW && shrinking.short();
    loop {
        let before = count(&shrinking.best);
        shrinking.drop_agents();
        shrinking.drop_lines();
        shrinking.drop_parts();
        if count(&shrinking.best) == before || shrinking.left == 0 {
            break;
        }
    }
    shrinking.best.retain(|stream| !stream.deeds.is_empty());
    let is_least = shrinking.left > 0 && !stop();
    Small { streams: shrinking.best, text: shrinking.text, is_least, is_of_another }
}

fn count(streams: &[Stream]) -> usize {
    streams.iter().map(|stream| stream.deeds.len()).sum()
}

/// The smallest so far.
struct Shrinking<'a> {
    plan: &'a Plan,
    rule: &'a str,
    best: Vec<Stream>,
    /// How it breaks the rule, once it has been run.
    text: Option<String>,
    /// Instructions that may still be run.
    left: usize,
    stop: &'a dyn Fn() -> bool,
    told: &'a mut dyn FnMut(usize, usize),
    /// Instructions that there were.
    all: usize,
}

impl Shrinking<'_> {
    /// Takes a short run that breaks the rule instead, if there is one.
    fn short(&mut self) -> bool {
        let Ok(machine) = Machine::build(&self.plan.blueprint) else { return false };
        let ground = Ground::of(&self.plan.blueprint.spec, &machine);
        for (accesses, tries) in SHORT {
            for attempt in 0..tries {
                if (self.stop)() {
                    return false;
                }
                let streams = ground.streams(accesses, seed_of(self.plan.seed ^ accesses, attempt));
                if count(&streams) < count(&self.best) && self.take_failing(streams) {
                    return true;
                }
            }
        }
        false
    }

    fn take_failing(&mut self, streams: Vec<Stream>) -> bool {
        let broken = self.plan.breaks(&streams, self.stop).filter(|(broken, _)| broken == self.rule);
        let Some((_, text)) = broken else { return false };
        (self.best, self.text) = (streams, Some(text));
        true
    }

    /// Takes these instead, if they fail in the same way.
    fn take(&mut self, streams: Vec<Stream>) -> bool {
        let work = count(&streams).max(1);
        if work > self.left || (self.stop)() {
            self.left = 0;
            return false;
        }
        self.left -= work;
        let fails = self.take_failing(streams);
        if fails {
            (self.told)(count(&self.best), self.all);
        }
        fails
    }

    /// Leaves out the instructions for which something is so; they are told by stream and place.
    fn drop_those(&mut self, is_left_out: impl Fn(usize, usize, &Deed) -> bool) -> bool {
        let keep = |(number, stream): (usize, &Stream)| {
            let deeds = stream.deeds.iter().enumerate();
            let kept = deeds.filter(|(place, deed)| !is_left_out(number, *place, deed));
            Stream { agent: stream.agent.clone(), deeds: kept.map(|(_, deed)| deed.clone()).collect() }
        };
        let fewer: Vec<Stream> = self.best.iter().enumerate().map(keep).collect();
        count(&fewer) < count(&self.best) && self.take(fewer)
    }

    /// What nobody had come to when it failed.
    fn cut_behind(&mut self) {
        let Some(ran) = self.plan.ran(&self.best, self.stop) else { return };
        let agents = ran.machine.components().iter().filter_map(|(id, _)| ran.machine.agent(id));
        let warps: Vec<_> = agents.flat_map(|agent| agent.warps).collect();
        let come = |number: usize| {
            let name = task_name(number);
            warps.iter().find(|warp| warp.work.as_ref() == Some(&name)).map(|warp| warp.done + AHEAD)
        };
        let ends: Vec<_> = (0..self.best.len()).map(come).collect();
        self.drop_those(|stream, place, _| {
            ends.get(stream).copied().flatten().is_some_and(|end| place as u64 >= end)
        });
    }

    fn drop_agents(&mut self) {
        for number in 0..self.best.len() {
            self.drop_those(|stream, _, _| stream == number);
        }
    }

    /// All that is about a line at once.
    fn drop_lines(&mut self) {
        let line = |deed: &Deed| deed.address().map(|address| address.0 / LINE);
        let lines: BTreeSet<u64> =
            self.best.iter().flat_map(|stream| &stream.deeds).filter_map(line).collect();
        for number in lines {
            self.drop_those(|_, _, deed| line(deed) == Some(number));
        }
    }

    /// Half of all that is left, then a quarter, down to each instruction.
    fn drop_parts(&mut self) {
        let mut part = count(&self.best) / 2;
        while part > 0 && self.left > 0 {
            let mut start = 0;
            while start < count(&self.best) && self.left > 0 {
                let starts: Vec<usize> = self
                    .best
                    .iter()
                    .scan(0, |sum, stream| {
                        let before = *sum;
                        *sum += stream.deeds.len();
                        Some(before)
                    })
                    .collect();
                let at =
                    |stream: usize, place: usize| starts.get(stream).map_or(place, |first| first + place);
                if !self.drop_those(|stream, place, _| (start..start + part).contains(&at(stream, place))) {
                    start += part;
                }
            }
            part /= 2;
        }
    }
}
