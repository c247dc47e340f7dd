//! Holds back what comes next: how long each thing takes is one of many ways in which it could go, and what is wrong with a
//! protocol often shows only where something takes longer than usual.

use super::Machine;
use super::queue::Event;
use crate::model::message::Message;
use crate::model::time::Tick;
use crate::parts::channel::{Channel, Lane, Ready};
use crate::parts::port::{LaneKey, Port};

impl Machine {
    /// What comes next in the timed queue comes so many cycles later, and with it what is behind it in its lane. Returns what
    /// that is; nothing if nothing is to come.
    pub(super) fn hold(&mut self, cycles: u64) -> Option<String> {
        let (tick, event) = self.take_due()?;
        let what = self.tell_due(event, tick);
        let later = cycles.saturating_mul(self.fixed.time.ticks_per_cycle).saturating_add(tick);
        self.postpone(event, tick, later);
        Some(what)
    }

    /// Whether something is to come that could be held back.
    #[must_use]
    pub fn has_due(&self) -> bool {
        self.clone().take_due().is_some()
    }

    /// Takes the next event out of the queue that was not superseded.
    fn take_due(&mut self) -> Option<(Tick, Event)> {
        loop {
            let (tick, event) = self.next_event(Tick::MAX)?;
            let is_wanted = match event {
                Event::Deliver(key) => self.head_at(key, tick).is_some(),
                Event::Port(node) => self.ports.get(node as usize).is_some_and(Port::is_awaited),
                Event::Agent(agent) => self.agent_wake.get(agent as usize) == Some(&Some(tick)),
                Event::Paging(gpu) => self.is_paging_due(gpu as usize, tick),
                Event::Copies(gpu) => self.are_copies_due(gpu as usize, tick),
                Event::Memory(node) => self.is_memory_planned(node as usize, tick),
                Event::Leave(key) => self.lane_mut(key).is_some_and(|lane| lane.first_due(tick).is_some()),
                Event::Cross(_) | Event::Wire(_) | Event::Task(_) => true,
            };
            if is_wanted {
                return Some((tick, event));
            }
        }
    }

    /// An event that was to come at `tick` comes at `later`.
    fn postpone(&mut self, event: Event, tick: Tick, later: Tick) {
        match event {
            Event::Paging(gpu) => return self.postpone_paging(gpu as usize, tick, later),
            Event::Copies(gpu) => return self.postpone_copies(gpu as usize, tick, later),
            Event::Deliver(key) => {
                if let Some((ready, _)) = self.lane_mut(key).and_then(|lane| lane.incoming.front_mut()) {
                    *ready = later;
                }
            }
            Event::Cross(key) => {
                if let Some((due, _)) = self.lane_mut(key).and_then(Lane::at_switch) {
                    *due = later;
                }
            }
            Event::Leave(key) => {
                if let Some(lane) = self.lane_mut(key)
                    && let Some((ready, _)) =
                        lane.first_due(tick).and_then(|place| lane.outgoing.get_mut(place))
                {
                    *ready = Ready::Later(later);
                }
            }
            Event::Agent(agent) => {
                if let Some(planned) = self.agent_wake.get_mut(agent as usize) {
                    *planned = Some(later);
                }
            }
            Event::Memory(node) => self.postpone_memory(node as usize, later),
            Event::Port(_) | Event::Wire(_) | Event::Task(_) => {}
        }
        self.queue.push(later, event);
    }

    /// An event in words.
    fn tell_due(&self, event: Event, tick: Tick) -> String {
        let path = |id| self.fixed.components.path(id);
        let node = |index: u32| self.nodes.get(index as usize).map_or("", |node| path(node.id()));
        match event {
            Event::Deliver(key) | Event::Cross(key) => self.tell_head(key),
            Event::Leave(key) => self.tell_leaving(key, tick),
            Event::Port(index) => format!("what waits for {}", node(index)),
            Event::Wire(link) => {
                let link = self.fixed.visible_links.get(link as usize).and_then(Option::as_ref);
                format!("what waits for {}", link.map_or("a link", |(id, _, _)| path(*id)))
            }
            Event::Agent(agent) => {
                let agent = self.agents.get(agent as usize);
                format!("what {} issues", agent.map_or("", |agent| path(agent.config.id)))
            }
            Event::Task(task) => {
                let task = self.tasks.workload.tasks.get(task as usize);
                format!("the start of {}", task.map_or("", |task| &task.id))
            }
            Event::Memory(index) => format!("the memory behind {}", node(index)),
            Event::Paging(gpu) => self.tell_paging(gpu as usize, tick),
            Event::Copies(gpu) => format!("the copies of gpu{gpu}"),
        }
    }

    /// The message at the head of a lane.
    fn tell_head(&self, key: LaneKey) -> String {
        let lane = usize::from(key.lane);
        let channel: Option<&Channel> = self.channels.get(key.channel as usize);
        channel
            .and_then(|channel| channel.oldest(lane))
            .map_or_else(String::new, |head| self.tell_message(head))
    }

    /// The message of a lane that may leave from a tick on.
    fn tell_leaving(&self, key: LaneKey, tick: Tick) -> String {
        let channel: Option<&Channel> = self.channels.get(key.channel as usize);
        let lane = channel.and_then(|channel| channel.lanes.get(usize::from(key.lane)));
        let message = lane.and_then(|lane| lane.outgoing.get(lane.first_due(tick)?));
        message.map_or_else(String::new, |(_, message)| self.tell_message(message))
    }

    fn tell_message(&self, message: &Message) -> String {
        let path = |id| self.fixed.components.path(id);
        format!(
            "{} {} from {} to {}",
            message.kind.name(),
            message.range.start,
            path(message.from),
            path(message.to)
        )
    }
}
