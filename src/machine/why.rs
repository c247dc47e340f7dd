//! Why a unit cannot go on: the chain of waiting from its warps, or from what was made there by hand.

use super::Machine;
use super::synchronise::Waiter;
use super::transactions::Transaction;
use crate::model::access::Bytes;
use crate::model::component::ComponentId;
use crate::model::inspect::Inspect;
use crate::model::text::hex_head;
use crate::model::time::Tick;
use crate::model::wait::WaitLink;
use crate::model::warp::NO_WARP;
use crate::model::warp::WarpState;
use crate::parts::agent::{Agent, Warp};

impl Machine {
    /// The chain of waiting from a component, or from one of its warps, outwards.
    pub(super) fn why_of(&self, component: ComponentId, warp: Option<u32>) -> Vec<WaitLink> {
        let held = || self.why_copies(component).or_else(|| self.why_up_front(component));
        let before = || self.why_meeting(component).or_else(|| self.why_start(component));
        if let Some(links) = held().or_else(before) {
            return links;
        }
        if let Some(agent) = self.agent_at(component) {
            let waiting = |warp: &Warp| warp.state_at(self.now).is_waiting();
            let first = |is_meant: &dyn Fn(&Warp) -> bool| agent.warps.iter().position(is_meant);
            let first = || first(&waiting).or_else(|| first(&|warp| warp.spins_since.is_some()));
            let slot = warp.or_else(|| first().map(|slot| slot as u32));
            return slot.map_or_else(|| self.why_by_hand(component), |slot| self.why_warp(agent, slot));
        }
        if let Some(links) = self.why_paging(component).or_else(|| self.why_link(component)) {
            return links;
        }
        let Some(node) = self.node(component) else { return Vec::new() };
        let view = node.mshr_view(&self.fixed.components, 1);
        let Some(oldest) = view.entries.first() else { return Vec::new() };
        self.chain(component, oldest.range.start, oldest.txn)
    }

    /// The writebacks that a warp at a fence waits for.
    fn why_fence(&self, agent: &Agent, slot: u32, since: Option<Tick>) -> Vec<WaitLink> {
        let Some(&Some(index)) = self.fixed.agent_of.get(agent.config.id.index()) else { return Vec::new() };
        let nodes = self.awaited_by(Waiter::Warp { agent: index, slot: slot as usize });
        let waits = nodes.iter().filter_map(|node| self.nodes.get(*node)).map(|node| WaitLink {
            at: agent.config.id,
            text: format!(
                "warp {slot} waits until {} has written back what is dirty",
                self.fixed.components.path(node.id())
            ),
            since,
        });
        waits.collect()
    }

    /// What a warp does that looks at a value again and again.
    fn why_spinning(&self, agent: &Agent, slot: u32) -> Option<WaitLink> {
        let since = agent.warps.get(slot as usize)?.spins_since?;
        let at = agent.config.id;
        let instruction = self.agent(at)?.warps.into_iter().nth(slot as usize)?.instruction?;
        Some(WaitLink { at, text: format!("warp {slot}: {instruction}"), since: Some(since) })
    }

    /// What the oldest access waits for that was made by hand, and that no warp waits for.
    fn why_by_hand(&self, component: ComponentId) -> Vec<WaitLink> {
        let agent = self.fixed.agent_of.get(component.index()).copied().flatten();
        let is_its = |txn: &&Transaction| txn.warp == NO_WARP && Some(txn.agent) == agent;
        let Some(txn) = self.txns.oldest_first().find(is_its) else { return Vec::new() };
        let (number, kind, start) = (txn.number.0, txn.name(), txn.range.start);
        let text = format!("waits for transaction {number}: {kind} {start} {}", bytes_text(&txn.bytes));
        let first = WaitLink { at: component, text: text.trim_end().to_owned(), since: Some(txn.issued) };
        let chain = self.transaction(txn.number).map(|view| view.chain).unwrap_or_default();
        std::iter::once(first).chain(chain).collect()
    }

    fn why_warp(&self, agent: &Agent, slot: u32) -> Vec<WaitLink> {
        let spinning = self.why_spinning(agent, slot);
        spinning.into_iter().chain(self.why_waiting(agent, slot)).collect()
    }

    /// The first of those that the warps at a barrier wait for, and what that waits for.
    fn why_barrier(&self, agent: &Agent, slot: u32, since: Option<Tick>) -> Vec<WaitLink> {
        let others = agent.barrier_awaits(slot);
        let of = match others.as_slice() {
            [] => String::new(),
            [one] => format!(", for warp {one}"),
            [first, rest @ ..] => format!(", for warp {first} and {} more", rest.len()),
        };
        let text = format!("warp {slot} waits for its block at a barrier{of}");
        let first = WaitLink { at: agent.config.id, text, since };
        let then = others.first().map(|other| self.why_warp(agent, *other)).unwrap_or_default();
        std::iter::once(first).chain(then).collect()
    }

    fn why_waiting(&self, agent: &Agent, slot: u32) -> Vec<WaitLink> {
        let Some(warp) = agent.warps.get(slot as usize) else { return Vec::new() };
        let at = agent.config.id;
        let since = Some(warp.since.min(self.now));
        let link = |text: String| WaitLink { at, text, since };
        let mut links = match warp.state_at(self.now) {
            WarpState::Memory if warp.state == WarpState::Ready => {
                let until = self.time_base().cycle(warp.since);
                vec![link(format!("warp {slot} waits for its L1, in which it has hit, until cycle {until}"))]
            }
            WarpState::None | WarpState::Done | WarpState::Ready | WarpState::Running => return Vec::new(),
            WarpState::MshrFull => vec![link(format!("warp {slot} waits for a free MSHR of its L1"))],
            WarpState::LinkFull => vec![link(format!("warp {slot} waits for room below its L1"))],
            WarpState::SimdFull => {
                vec![link(format!("warp {slot} waits for a SIMD unit: all compute for other warps"))]
            }
            WarpState::Barrier => self.why_barrier(agent, slot, since),
            WarpState::Translation
            | WarpState::FarFault
            | WarpState::ProtectionFault
            | WarpState::TlbBlocked => self.why_translation(agent, slot),
            WarpState::Memory => Vec::new(),
            WarpState::Fence if warp.untranslated().is_some() => self.why_translation(agent, slot),
            WarpState::Fence => self.why_fence(agent, slot, since),
        };
        if let Some(number) = warp.waits.first().filter(|_| warp.state.waits_for_accesses()) {
            let transaction = self.transaction(*number);
            let what = transaction.as_ref().map_or_else(
                || ", which has ended".to_owned(),
                |txn| format!(": {} {} {}", txn.name(), txn.range.start, bytes_text(&txn.bytes)),
            );
            let text = format!("warp {slot} waits for transaction {}{what}", number.0);
            links.push(link(text.trim_end().to_owned()));
            links.extend(transaction.map(|txn| txn.chain).unwrap_or_default());
        }
        links
    }
}

/// What an access stores, in words.
pub(super) fn bytes_text(bytes: &Bytes) -> String {
    if bytes.is_empty() {
        return String::new();
    }
    format!(":= {}", hex_head(bytes, 8))
}
