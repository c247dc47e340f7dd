//! Lanes that change their direction: samples of how busy links are, what the balancer decides by them, and lanes that
//! quiesce and turn ("Beyond the Socket: NUMA-Aware GPUs", section 4).
//!
//! What is due here happens before the first event of the queue that is not earlier. So it needs something else that is still
//! to happen: it neither keeps a finished machine alive nor hides that one is stuck.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use super::{Machine, StepOutcome};
use crate::config::machine::{AtLaunch, BalancerSpec};
use crate::model::component::ComponentId;
use crate::model::lanes::{
    Flow, Flows, LaneDecision, LaneDirection, LanePhase, LaneReason, LaneReversal, Saturation,
};
use crate::model::link_view::{BalanceView, LaneSample, TurningView};
use crate::model::record::{Records, What};
use crate::model::time::{EventNumber, Tick};
use crate::parts::link::Link;
use crate::policy::lanes::decide;
use crate::protocol::outbox::{About, Outbox};

/// Samples that a link remembers.
const HISTORY: usize = 64;

/// The links whose lanes can change their direction, and what is due for them.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    pairs: Vec<Pair>,
    /// Ticks in a sample.
    sample: Tick,
    /// Ticks for which a lane that turns serves neither direction.
    turn: Tick,
    /// When the first sample began: those of a launch begin with it.
    begin: Tick,
    /// When the sample under way ends. None is under way while nothing goes over any link: none of them could be
    /// saturated then.
    sample_ends: Option<Tick>,
    /// Samples that have ended.
    samples: u64,
}

/// Events that are remembered for a timeline.
pub(super) const REMEMBERED: usize = 256;

/// Both directions of the link of a device.
#[derive(Clone, Debug)]
struct Pair {
    /// Index of the link out and of the link in.
    links: [usize; 2],
    turning: Option<Turning>,
    /// Symmetric again, once what turns has turned.
    restores: bool,
    saturated: [bool; 2],
    /// Utilisation in the last sample.
    utilisation: [u32; 2],
    /// Lanes that each direction has been given.
    gained: [u64; 2],
    /// Ticks in which lanes took no packets because they changed their direction, for each lane.
    lost: Tick,
    history: VecDeque<LaneSample>,
    /// The first events in which lanes began to turn. Nothing depends on them: no part of the digest.
    turned: Vec<EventNumber>,
}

/// Lanes on their way to another direction.
#[derive(Clone, Copy, Debug, Hash)]
struct Turning {
    to: LaneDirection,
    count: u32,
    phase: LanePhase,
    reason: LaneReason,
    /// How busy both directions were in the sample that decided it.
    utilisation: [u32; 2],
    since: Tick,
    /// When the phase ends.
    until: Tick,
}

impl Lanes {
    #[must_use]
    pub fn new(pairs: &[(usize, usize)], sample: Tick, turn: Tick) -> Self {
        let pair = |&(out, into): &(usize, usize)| Pair {
            links: [out, into],
            turning: None,
            restores: false,
            saturated: [false; 2],
            utilisation: [0; 2],
            gained: [0; 2],
            lost: 0,
            history: VecDeque::new(),
            turned: Vec::new(),
        };
        let pairs = pairs.iter().map(pair).collect();
        Self { pairs, sample: sample.max(1), turn, begin: 0, sample_ends: None, samples: 0 }
    }

    /// The first events in which lanes began to turn.
    pub fn turned(&self) -> impl Iterator<Item = EventNumber> + '_ {
        self.pairs.iter().flat_map(|pair| pair.turned.iter().copied())
    }

    /// When the sample ends that a time is in.
    fn end_of_sample(&self, now: Tick) -> Tick {
        let number = now.saturating_sub(self.begin) / self.sample;
        self.begin.saturating_add((number + 1).saturating_mul(self.sample))
    }

    /// When something is due next; the end of time if nothing is.
    fn due(&self) -> Tick {
        let turning = self.pairs.iter().filter_map(|pair| Some(pair.turning?.until));
        turning.chain(self.sample_ends).min().unwrap_or(Tick::MAX)
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (self.begin, self.sample_ends).hash(hasher);
        for pair in &self.pairs {
            (pair.turning, pair.restores, pair.saturated, pair.utilisation).hash(hasher);
        }
    }
}

impl Pair {
    fn link(&self, direction: LaneDirection) -> usize {
        self.links[direction as usize]
    }

    /// What was decided last, and by what.
    fn remember(&mut self, sample: LaneSample) {
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(sample);
    }

    /// Lanes that packets can take, and the utilisation in the last sample.
    fn flows(&self, links: &[Link]) -> Flows {
        self.flows_of(links, self.utilisation)
    }

    /// The same with the utilisation of another sample.
    fn flows_of(&self, links: &[Link], utilisation: [u32; 2]) -> Flows {
        let flow = |direction: LaneDirection| Flow {
            utilisation: utilisation[direction as usize],
            lanes: links.get(self.link(direction)).map_or(0, |link| link.lanes),
        };
        Flows { out: flow(LaneDirection::Out), into: flow(LaneDirection::In) }
    }
}

impl Machine {
    fn balancer(&self) -> Option<&BalancerSpec> {
        self.fixed.spec.network.balancer.as_ref()
    }

    /// Something goes over a link: the sample under way is one that counts.
    pub(super) fn arm_sampler(&mut self) {
        let Some(lanes) = self.lanes.as_mut().filter(|lanes| lanes.sample_ends.is_none()) else { return };
        lanes.sample_ends = Some(lanes.end_of_sample(self.now));
        self.lanes_due = lanes.due();
    }

    /// What is due for the lanes, as one event; nothing if all work is done.
    pub(super) fn run_lanes(&mut self, records: &mut Records) -> Option<StepOutcome> {
        let due = std::mem::replace(&mut self.lanes_due, Tick::MAX);
        if self.is_quiet() {
            // Should there be work again, the first message begins a sample.
            self.lanes.as_mut()?.sample_ends = None;
            return None;
        }
        let mut lanes = self.lanes.take()?;
        self.now = self.now.max(due);
        (self.event, self.last) = (self.event + 1, None);
        let mut out = self.outbox(records);
        for pair in &mut lanes.pairs {
            self.turn_on(pair, lanes.turn, &mut out);
        }
        if lanes.sample_ends.is_some_and(|end| end <= self.now) {
            self.sample_links(&mut lanes, &mut out);
        }
        self.lanes_due = lanes.due();
        self.lanes = Some(lanes);
        self.check_event(&mut out);
        self.close(out);
        Some(StepOutcome::Ran)
    }

    /// A sample ends: what was saturated in it, and what is to become of the lanes.
    fn sample_links(&mut self, lanes: &mut Lanes, out: &mut Outbox) {
        let Some(end) = lanes.sample_ends else { return };
        let mut goes_on = false;
        for pair in &mut lanes.pairs {
            for direction in LaneDirection::ALL {
                let meter = self.links.get_mut(pair.link(direction)).and_then(|link| link.meter.as_mut());
                let Some(meter) = meter else { continue };
                let busy = meter.close(end);
                goes_on |= busy > 0 || !meter.is_idle();
                pair.utilisation[direction as usize] = busy;
            }
            self.tell_saturation(pair, out);
            let decision = self.decide_lanes(pair);
            let flows = pair.flows(&self.links);
            pair.remember(LaneSample { end, flows, decision });
            if let Some(at) = self.visible(pair.link(LaneDirection::Out)) {
                out.record(at, About::default(), || What::LaneSample { flows, decision });
            }
            if let Some(to) = decision.to {
                self.begin_turn(pair, to, 1, decision.reason, lanes.turn, out);
            }
        }
        lanes.samples += 1;
        lanes.sample_ends = goes_on.then(|| lanes.end_of_sample(end.max(self.now)));
    }

    fn decide_lanes(&self, pair: &Pair) -> LaneDecision {
        match self.balancer() {
            Some(_) if pair.turning.is_some() => LaneDecision { to: None, reason: LaneReason::Turning },
            Some(spec) => decide(spec.policy, pair.flows(&self.links), spec.threshold),
            None => LaneDecision { to: None, reason: LaneReason::Static },
        }
    }

    fn tell_saturation(&self, pair: &mut Pair, out: &mut Outbox) {
        let threshold = self.balancer().map_or(u32::MAX, |spec| spec.threshold);
        let flows = pair.flows(&self.links);
        for direction in LaneDirection::ALL {
            let flow = flows.of(direction);
            let is_saturated = flow.utilisation >= threshold;
            let was = std::mem::replace(&mut pair.saturated[direction as usize], is_saturated);
            if let Some(at) = self.visible(pair.link(direction)).filter(|_| was != is_saturated) {
                out.record(at, About::default(), || What::Saturation(Saturation { is_saturated, flow }));
            }
        }
    }

    fn visible(&self, link: usize) -> Option<ComponentId> {
        self.fixed.visible_links.get(link)?.as_ref().map(|(id, _, _)| *id)
    }

    /// A kernel is launched: "at kernel launch the links are always reconfigured to contain symmetric link bandwidth", unless
    /// they keep their lanes, and samples are those of its execution.
    pub(super) fn lanes_at_launch(&mut self, out: &mut Outbox) {
        let keeps = self.balancer().is_none_or(|spec| spec.at_launch == AtLaunch::Keep);
        let Some(mut lanes) = self.lanes.take() else { return };
        for pair in lanes.pairs.iter_mut().filter(|_| !keeps) {
            pair.restores = true;
            self.restore(pair, lanes.turn, out);
        }
        self.lanes = Some(lanes);
        self.restart_samples();
    }

    /// Samples of all links begin anew.
    fn restart_samples(&mut self) {
        let now = self.now;
        let Some(lanes) = self.lanes.as_mut() else { return };
        for link in &mut self.links {
            link.restart_samples(now);
        }
        lanes.begin = now;
        lanes.sample_ends = lanes.sample_ends.map(|_| lanes.end_of_sample(now));
        self.lanes_due = lanes.due();
    }

    /// Turns as many lanes as make a link symmetric, unless others turn already.
    fn restore(&mut self, pair: &mut Pair, turn: Tick, out: &mut Outbox) {
        if !pair.restores || pair.turning.is_some() {
            return;
        }
        pair.restores = false;
        let Flows { out: Flow { lanes: outwards, .. }, into: Flow { lanes: inwards, .. } } =
            pair.flows(&self.links);
        let to = if outwards < inwards { LaneDirection::Out } else { LaneDirection::In };
        let count = outwards.abs_diff(inwards) / 2;
        if count > 0 {
            let decision = LaneDecision { to: Some(to), reason: LaneReason::Launch };
            pair.remember(LaneSample { end: self.now, flows: pair.flows(&self.links), decision });
            self.begin_turn(pair, to, count, LaneReason::Launch, turn, out);
        }
    }

    /// Lanes of the direction that loses them take no packet any more, and turn "after quiescing all packets" on them: when what
    /// has left has arrived.
    fn begin_turn(
        &mut self,
        pair: &mut Pair,
        to: LaneDirection,
        count: u32,
        reason: LaneReason,
        turn: Tick,
        out: &mut Outbox,
    ) {
        let Some(losing) = self.links.get_mut(pair.link(to.opposite())) else { return };
        losing.set_lanes(losing.lanes.saturating_sub(count), self.now);
        let until = losing.clear_at().max(self.now);
        let (phase, since) = (LanePhase::Quiesce, self.now);
        let utilisation = pair.utilisation;
        if pair.turned.len() < REMEMBERED {
            pair.turned.push(self.event);
        }
        pair.turning = Some(Turning { to, count, phase, reason, utilisation, since, until });
        self.tell_turn(pair, out);
        self.turn_on(pair, turn, out);
    }

    /// Lanes whose phase is over go on to the next.
    fn turn_on(&mut self, pair: &mut Pair, turn: Tick, out: &mut Outbox) {
        while let Some(turning) = pair.turning.as_mut().filter(|turning| turning.until <= self.now) {
            if turning.phase == LanePhase::Quiesce {
                (turning.phase, turning.until) = (LanePhase::Turn, self.now.saturating_add(turn));
                self.tell_turn(pair, out);
                continue;
            }
            turning.phase = LanePhase::Done;
            let (to, count) = (turning.to, turning.count);
            pair.lost += (self.now - turning.since).saturating_mul(u64::from(count));
            if let Some(gaining) = self.links.get_mut(pair.links[to as usize]) {
                gaining.set_lanes(gaining.lanes + count, self.now);
            }
            pair.gained[to as usize] += u64::from(count);
            self.tell_turn(pair, out);
            pair.turning = None;
            self.restore(pair, turn, out);
        }
    }

    fn tell_turn(&self, pair: &Pair, out: &mut Outbox) {
        let Some(Turning { to, count, phase, reason, utilisation, .. }) = pair.turning else { return };
        let Some(at) = self.visible(pair.link(to)) else { return };
        let flows = pair.flows_of(&self.links, utilisation);
        out.record(at, About::default(), || {
            What::LaneReversal(LaneReversal { to, phase, reason, count, flows })
        });
    }

    /// Takes over how `other` balances its lanes. They stay where they are, if as many of them are there.
    pub(super) fn adopt_lanes(&mut self, other: &Self) {
        let shape = |machine: &Self| -> Option<Vec<([usize; 2], Option<u32>)>> {
            let lanes = machine.lanes.as_ref()?;
            let nominal = |pair: &Pair| machine.links.get(pair.links[0]).map(Link::nominal);
            Some(lanes.pairs.iter().map(|pair| (pair.links, nominal(pair))).collect())
        };
        let is_same = shape(self).is_some_and(|own| Some(own) == shape(other));
        let sample = |machine: &Self| machine.lanes.as_ref().map(|lanes| lanes.sample);
        let is_like = is_same && sample(self) == sample(other);
        for (own, new) in self.links.iter_mut().zip(&other.links) {
            own.adopt(new, is_same, self.now);
            if !is_like {
                own.meter.clone_from(&new.meter);
            }
        }
        match (self.lanes.as_mut().filter(|_| is_same), &other.lanes) {
            (Some(own), Some(new)) => {
                (own.sample, own.turn) = (new.sample, new.turn);
                own.sample_ends = own.sample_ends.filter(|_| is_like);
            }
            _ => self.lanes.clone_from(&other.lanes),
        }
        self.lanes_due = self.lanes.as_ref().map_or(Tick::MAX, |lanes| lanes.due());
        if !is_like {
            self.restart_samples();
        }
    }

    /// What the balancer knows about a direction of a link.
    pub(super) fn balance_view(&self, link: usize) -> Option<BalanceView> {
        let (lanes, spec) = (self.lanes.as_ref()?, self.balancer()?);
        let pair = lanes.pairs.iter().find(|pair| pair.links.contains(&link))?;
        let direction = if pair.links[0] == link { LaneDirection::Out } else { LaneDirection::In };
        Some(BalanceView {
            other: self.visible(pair.link(direction.opposite()))?,
            direction,
            threshold: spec.threshold,
            sample_cycles: u64::from(spec.sample),
            turning: pair.turning.map(|turning| TurningView {
                to: turning.to,
                count: turning.count,
                phase: turning.phase,
                until: turning.until,
            }),
            gained: pair.gained[direction as usize],
            samples: pair.history.iter().copied().collect(),
        })
    }

    /// Samples that have ended, lanes that have turned, and the ticks that this took from them; nothing if none can.
    pub(super) fn lane_counts(&self) -> Option<(u64, u64, Tick)> {
        let lanes = self.lanes.as_ref()?;
        let gained = lanes.pairs.iter().flat_map(|pair| pair.gained).sum();
        Some((lanes.samples, gained, lanes.pairs.iter().map(|pair| pair.lost).sum()))
    }
}

#[cfg(test)]
mod tests;
