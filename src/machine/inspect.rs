//! Inspection of a machine: every view is read off the parts.

use rustc_hash::FxHashMap;

use super::Machine;
use super::build::SAMPLE_CYCLES;
use super::queue::Event;
use super::tasks::operation;
use super::why::bytes_text;
use crate::model::access::AccessKind;
use crate::model::address::{Address, Range};
use crate::model::component::{ComponentId, Components};
use crate::model::inspect::{
    AgentView, BlockView, BufferView, CacheView, CellCount, Inspect, MemoryView, MshrView, TransactionView,
    WarpView,
};
use crate::model::link_view::{LinkView, PacketView};
use crate::model::lowest::Lowest;
use crate::model::message::{Message, Network, TxnNumber};
use crate::model::operation::{Operation, WarpAccess};
use crate::model::page_view::{FaultView, HomesView, PagesView, PermissionsView, TlbView};
use crate::model::resource::ResourceView;
use crate::model::selective::RemoteLookView;
use crate::model::tags::TagView;
use crate::model::time::{EventNumber, Tick, TimeBase};
use crate::model::wait::WaitLink;
use crate::model::warp::WarpState;
use crate::parts::agent::{Agent, Warp, Work};
use crate::parts::channel::{Channel, Place};
use crate::parts::link::Link;
use crate::parts::port::LaneKey;
use crate::protocol::node::{CellSums, Node, Role};

impl Machine {
    pub(super) fn agent_at(&self, id: ComponentId) -> Option<&Agent> {
        self.agents.get((*self.fixed.agent_of.get(id.index())?)?)
    }

    fn warp_view(&self, warp: &Warp) -> WarpView {
        let work = warp.work.and_then(|work| {
            let task = self.tasks.workload.tasks.get(work.task())?;
            Some(match work {
                Work::Program { .. } => task.id.to_string(),
                Work::Block { block, warp, .. } => format!("{} block {block} warp {warp}", task.id),
            })
        });
        let shown = warp
            .work
            .and_then(|work| operation(&self.tasks.workload, work, warp.current.unwrap_or(warp.next)));
        let first = self
            .first_wait(warp)
            .filter(|_| warp.state_at(self.now).waits_for_accesses())
            .filter(|(_, range)| !shown.as_deref().is_some_and(|one| touches(one, *range)));
        WarpView {
            state: warp.state_at(self.now),
            since: warp.since.min(self.now),
            earlier: first.map(|(kind, range)| format!("{} {}", kind.name_of(range.len), range.start)),
            instruction: shown.as_deref().map(describe_operation),
            work,
            waits: warp.waits.to_vec(),
            page: warp.untranslated().zip(self.page_size()).map(|(page, size)| page.range(size).start),
            done: warp.done(),
        }
    }

    /// The access that a warp waits for first: what [`Inspect::why`] tells of.
    fn first_wait(&self, warp: &Warp) -> Option<(AccessKind, Range)> {
        if let Some(access) = warp.first_untranslated() {
            return Some((access.kind, access.range));
        }
        let txn = self.txns.find(*warp.waits.first()?)?;
        Some((txn.kind, txn.range))
    }

    /// The channels that something is in, with their indices.
    pub(super) fn laden(&self) -> impl Iterator<Item = (usize, &Channel)> {
        let indices = self.laden.iter().map(|index| index as usize);
        indices.filter_map(|index| Some((index, self.channels.get(index)?)))
    }

    /// What is on links, what waits for them, and what waits behind them, in one look at the channels; of each link so many
    /// messages at most.
    fn traffic(&self, links: impl Iterator<Item = usize>, most: usize) -> FxHashMap<usize, Traffic<'_>> {
        let mut all: FxHashMap<usize, Traffic<'_>> = links.map(|link| (link, Traffic::new(most))).collect();
        for (_, channel) in self.laden() {
            let (first, last) = (channel.path.first, channel.path.last());
            for end in [Some(first), Some(last).filter(|last| *last != first)].into_iter().flatten() {
                let Some(traffic) = all.get_mut(&end) else { continue };
                for (place, message) in channel.lanes.iter().flat_map(|lane| lane.places(self.now)) {
                    traffic.take(place, message, (end == first, end == last), self.now);
                }
            }
        }
        all
    }

    fn link_view(&self, link: ComponentId, index: usize, traffic: Traffic<'_>) -> Option<LinkView> {
        let (wire, shown) = (self.links.get(index)?, self.fixed.visible_links.get(index)?.as_ref()?);
        let capacity = self.fixed.buffers_behind.get(index).copied().unwrap_or_default();
        // Where the networks are folded they share one lane and its buffers.
        let lanes: &[(usize, usize)] = if self.fixed.folded { &[(0, 3)] } else { &[(0, 1), (1, 2), (2, 3)] };
        let lanes = || Network::ALL.into_iter().zip(lanes.iter().copied());
        let sum = |counts: &[u32; 3], (from, to): (usize, usize)| {
            counts.get(from..to).into_iter().flatten().sum::<u32>()
        };
        Some(LinkView {
            link,
            ends: (shown.1.clone(), shown.2.clone()),
            lanes: wire.lanes,
            bandwidth: self.fixed.spec.network.bandwidth.0 * u64::from(wire.lanes)
                / u64::from(wire.nominal().max(1)),
            utilisation: wire.utilisation(self.now),
            history: wire.history(self.now),
            sample_cycles: SAMPLE_CYCLES,
            bytes: wire.bytes(),
            efficiency: self.efficiency(wire),
            transfers: self.transfers(wire),
            queued: lanes().map(|(network, lane)| (network, sum(&traffic.queued, lane))).collect(),
            buffered: lanes()
                .map(|(network, lane)| {
                    let room = capacity.get(lane.0).copied().unwrap_or(0);
                    (network, sum(&traffic.used, lane), room)
                })
                .collect(),
            flying: traffic.count as usize,
            in_flight: traffic.flying.into_values().map(|message| packet(message, wire)).collect(),
            balance: self.balance_view(index),
        })
    }
}

/// What is on a link and at its ends; counts by virtual network.
struct Traffic<'a> {
    /// The first of those on it, by when they arrive; those that arrive together stay in their order.
    flying: Lowest<(Tick, u32), &'a Message>,
    count: u32,
    queued: [u32; 3],
    used: [u32; 3],
}

impl<'a> Traffic<'a> {
    fn new(most: usize) -> Self {
        Self { flying: Lowest::new(most), count: 0, queued: [0; 3], used: [0; 3] }
    }

    /// Takes account of a message on a path that begins with this link, or ends with it, or both.
    fn take(&mut self, place: Place, message: &'a Message, (leaves, comes): (bool, bool), now: Tick) {
        let network = message.kind.network();
        match place {
            Place::Reading | Place::Later(_) | Place::NoCredit | Place::WaitsForFirst if leaves => {
                add(&mut self.queued, network, 1);
            }
            Place::WaitsForSecond if comes => add(&mut self.queued, network, 1),
            Place::ToSwitch(due) if !comes => self.fly(due, message, now),
            Place::Coming(due) if comes => self.fly(due, message, now),
            _ => {}
        }
        if comes && place.is_sent() {
            add(&mut self.used, network, 1);
        }
    }

    fn fly(&mut self, due: Tick, message: &'a Message, now: Tick) {
        if due > now {
            self.flying.add((due, self.count), message);
            self.count += 1;
        }
    }
}

fn add(counts: &mut [u32; 3], network: Network, more: u32) {
    if let Some(count) = counts.get_mut(network as usize) {
        *count += more;
    }
}

/// A message as a link carries it.
fn packet(message: &Message, wire: &Link) -> PacketView {
    PacketView {
        kind: message.kind,
        from: message.from,
        to: message.to,
        range: message.range,
        txn: message.number,
        size: u32::try_from(wire.on_the_wire(message.size)).unwrap_or(u32::MAX),
        has_data: message.has_data,
    }
}

fn describe_access(access: &WarpAccess) -> String {
    let mut lanes = access.lanes.iter();
    let name = access.kind.name_of(u32::from(access.width));
    let Some((_, first)) = lanes.next() else { return name.to_owned() };
    let more = lanes.count();
    let bytes = if access.kind.writes() && more == 0 {
        bytes_text(&access.value.bytes(first, access.width))
    } else {
        String::new()
    };
    let lanes = if more > 0 { format!(" x{} lanes", more + 1) } else { String::new() };
    format!("{name} {first}{lanes} {bytes}").trim_end().to_owned()
}

/// Whether an operation accesses a byte of a range.
fn touches(operation: &Operation, range: Range) -> bool {
    match operation {
        Operation::Access(access) | Operation::SpinUntil(access, _) => {
            let width = u32::from(access.width);
            access.lanes.iter().any(|(_, address)| Range::new(address, width).overlaps(range))
        }
        Operation::Compute(_) | Operation::Barrier | Operation::Fence(_) => false,
    }
}

fn describe_operation(operation: &Operation) -> String {
    match operation {
        Operation::Compute(cycles) => format!("compute {cycles}"),
        Operation::Access(access) => describe_access(access),
        Operation::SpinUntil(access, until) => {
            format!(
                "spin on {} until {}",
                describe_access(access),
                bytes_text(until).trim_start_matches(":= ")
            )
        }
        Operation::Barrier => "barrier".to_owned(),
        Operation::Fence(fence) => format!("fence {}", fence.name()),
    }
}

impl Machine {
    /// Each virtual network of a channel that holds something.
    fn buffers_of<'a>(&'a self, channel: &'a Channel) -> impl Iterator<Item = BufferView> + 'a {
        let from = self.nodes.get(channel.from).map_or(ComponentId(0), Node::id);
        let lanes = Network::ALL.into_iter().enumerate().zip(&channel.lanes);
        lanes.filter(|(_, lane)| !lane.is_empty()).map(move |((number, network), lane)| BufferView {
            from,
            network: (!channel.folded).then_some(network),
            held: lane.incoming.len() as u32,
            room: channel.buffers,
            waiting: lane.outgoing.len() as u32,
            oldest: channel.oldest(number).map(|message| (message.kind, message.range.start)),
            blocked: lane.blocked,
        })
    }
}

impl Inspect for Machine {
    fn components(&self) -> &Components {
        &self.fixed.components
    }

    fn time_base(&self) -> TimeBase {
        self.fixed.time
    }

    fn event(&self) -> EventNumber {
        self.event
    }

    fn tick(&self) -> Tick {
        self.now
    }

    fn block(&self, node: ComponentId, address: Address) -> Option<BlockView> {
        let node = self.node(node)?;
        let view = node.block_view(address, &self.fixed.components)?;
        // A place is that of many blocks, and of those of other partitions, too, that nobody asks it for.
        let is_asked = |child: &ComponentId| self.parent(*child, address) == Some(node.id());
        (!view.displaced || node.config.children.iter().any(is_asked)).then_some(view)
    }

    fn parent(&self, node: ComponentId, address: Address) -> Option<ComponentId> {
        self.node(node)?.config.parent(address, &self.homes)
    }

    fn blocks(&self, limit: usize) -> Vec<Address> {
        if limit == 0 {
            return Vec::new();
        }
        let line = self.nodes.iter().map(|node| node.config.block).min().unwrap_or(64);
        let mut all = Lowest::new(limit);
        for node in &self.nodes {
            // What children have of a large block need not be all of it.
            let is_coarse = node.config.is_directory() && node.config.block > line;
            node.known_blocks(all.last()).for_each(|block| {
                if is_coarse && all.wants(block) {
                    let units = node.active_units(block);
                    units
                        .iter()
                        .flat_map(|unit| unit.blocks(line))
                        .take(limit)
                        .for_each(|at| all.add(at, ()));
                } else {
                    all.add(block, ());
                }
            });
        }
        all.into_keys().collect()
    }

    fn keeps_values(&self) -> bool {
        self.fixed.spec.values
    }

    fn value(&self, node: ComponentId, address: Address, len: u32) -> Option<Vec<u8>> {
        let node = self.node(node)?;
        // Memory that is not this node's to keep is not zero, but elsewhere, or nowhere.
        let is_elsewhere = |range: Range| {
            node.config.role == Role::Root
                && (range.end() > self.fixed.spec.host.memory.0
                    || self.node_behind(range.start, &self.homes).is_some_and(|home| home.id() != node.id()))
        };
        let value = |range| (!is_elsewhere(range)).then(|| node.value(range))?;
        let parts: Option<Vec<_>> = Range::new(address, len).by_block(node.config.block).map(value).collect();
        parts.map(|parts| parts.concat())
    }

    fn mshrs(&self, node: ComponentId, entries: usize) -> Option<MshrView> {
        if let Some(view) = self.view_far_faults(node, entries) {
            return Some(view);
        }
        Some(self.node(node)?.mshr_view(&self.fixed.components, entries))
    }

    fn link(&self, link: ComponentId, packets: usize) -> Option<LinkView> {
        let index = (*self.fixed.link_of.get(link.index())?)?;
        let traffic = self.traffic(std::iter::once(index), packets).remove(&index)?;
        self.link_view(link, index, traffic)
    }

    fn buffers(&self, node: ComponentId) -> Vec<BufferView> {
        let leads_there = |channel: &&Channel| self.nodes.get(channel.to).is_some_and(|to| to.id() == node);
        let channels = self.channels.iter().filter(|channel| !channel.is_empty()).filter(leads_there);
        channels.flat_map(|channel| self.buffers_of(channel)).collect()
    }

    fn links(&self, packets: usize) -> Vec<LinkView> {
        let links: Vec<(ComponentId, usize)> = (self.fixed.link_of.iter().enumerate())
            .filter_map(|(id, index)| Some((ComponentId(id as u32), (*index)?)))
            .collect();
        let mut traffic = self.traffic(links.iter().map(|(_, index)| *index), packets);
        let view = |(id, index)| self.link_view(id, index, traffic.remove(&index)?);
        links.into_iter().filter_map(view).collect()
    }

    fn agent(&self, agent: ComponentId) -> Option<AgentView> {
        let agent = self.agent_at(agent)?;
        let warps = agent.warps.iter().map(|warp| self.warp_view(warp)).collect();
        Some(AgentView { agent: agent.config.id, warps })
    }

    fn warp_counts(&self, agent: ComponentId) -> Option<[u32; WarpState::ALL.len()]> {
        Some(self.agent_at(agent)?.in_state(self.now))
    }

    fn cache(&self, node: ComponentId, sets: u32) -> Option<CacheView> {
        let mut view = self.node(node)?.cache_view(sets)?;
        let ports = self.port_counters(node);
        view.port_utilisation = ports.utilisation();
        view.port_wait = if ports.taken == 0 { 0.0 } else { self.mean_cycles(ports.waited, ports.taken) };
        view.partition = self.partition_view(node);
        let parents = self.node(node).filter(|_| view.uncached.is_some()).map(|node| &node.config.parents);
        view.remote_directory =
            parents.into_iter().flatten().find_map(|parent| self.node(*parent)?.remote_view());
        Some(view)
    }

    fn resources(&self) -> Vec<ResourceView> {
        self.resource_views()
    }

    fn memory(&self, node: ComponentId) -> Option<MemoryView> {
        let (dram, _) = (*self.fixed.dram_of.get((*self.fixed.node_of.get(node.index())?)?)?)?;
        self.drams.get(dram)?.view()
    }

    fn remote_look(&self, node: ComponentId, address: Address) -> Option<RemoteLookView> {
        let behind = |parent: &ComponentId| self.node(*parent)?.remote_look(address);
        let node = self.node(node)?;
        node.remote_look(address).or_else(|| node.config.parents.iter().find_map(behind))
    }

    fn tags(&self, node: ComponentId) -> Option<TagView> {
        let mut view = self.node(node)?.tag_view()?;
        let tag_banks = self.fixed.spec.gpu.as_ref().and_then(|gpu| Some((gpu, gpu.tags.as_ref()?)));
        let first = tag_banks.map_or(0, |(gpu, tags)| gpu.memory.dram.banks - tags.banks);
        let banks = Inspect::memory(self, node).map(|memory| memory.banks).unwrap_or_default();
        view.banks = banks.into_iter().filter(|bank| bank.bank >= first).collect();
        Some(view)
    }

    fn smallest_block(&self) -> u32 {
        self.fixed.smallest_block
    }

    fn last_deed(&self) -> Option<String> {
        let name = |id: ComponentId| self.fixed.components.path(id);
        let node = |index: u32| self.nodes.get(index as usize).map(|node| name(node.id()));
        let end = |key: LaneKey, is_sender: bool| {
            let channel = self.channels.get(key.channel as usize)?;
            node(if is_sender { channel.from } else { channel.to } as u32)
        };
        Some(match self.last? {
            Event::Deliver(key) => format!("{} could not take a message that has come", end(key, false)?),
            Event::Port(index) => format!("{} looked for a message that it can take", node(index)?),
            Event::Cross(key) => format!("a message to {} came to the switch", end(key, false)?),
            Event::Leave(key) => {
                format!("{} was done with what it sends, and looked for room", end(key, true)?)
            }
            Event::Wire(link) => {
                let link = self.fixed.visible_links.get(link as usize)?.as_ref();
                format!("{} became free", link.map_or("a link", |link| name(link.0)))
            }
            Event::Agent(agent) => {
                format!("{} looked for something to issue", name(self.agents.get(agent as usize)?.config.id))
            }
            Event::Task(task) => format!("task {} was to start", task + 1),
            Event::Memory(index) => format!("the controller of {} looked for an access", node(index)?),
            Event::Paging(gpu) => format!("the paging of gpu{gpu} looked for what is due"),
            Event::Copies(gpu) => format!("the copies of gpu{gpu} read or wrote a part of a page"),
        })
    }

    fn page_size(&self) -> Option<u32> {
        let copied = || self.copies.as_ref().map(|copies| copies.page_size());
        self.paging.as_ref().map(|paging| paging.page).or_else(copied)
    }

    fn permissions(&self, cells: usize) -> Option<PermissionsView> {
        self.view_permissions(cells)
    }

    fn homes(&self, cells: usize) -> Option<HomesView> {
        self.view_homes(cells)
    }

    fn pages(&self, cells: usize) -> Vec<PagesView> {
        if self.copies.is_some() { self.view_copies(cells) } else { self.view_pages(cells) }
    }

    fn fault(&self, address: Address, gpu: Option<u32>) -> Option<FaultView> {
        self.view_fault(address, gpu)
    }

    fn tlb(&self, agent: ComponentId) -> Option<TlbView> {
        self.view_tlb(self.agent_at(agent)?)
    }

    fn transactions(&self, limit: usize, chained: usize) -> Vec<TransactionView> {
        self.transaction_views(self.txns.oldest_first().take(limit), chained)
    }

    fn transaction_range(&self, number: TxnNumber) -> Option<Range> {
        Some(self.txns.find(number)?.range)
    }

    fn transaction(&self, number: TxnNumber) -> Option<TransactionView> {
        let txn = self.txns.find(number)?;
        self.transaction_views(std::iter::once(txn), 1).pop()
    }

    fn why(&self, component: ComponentId, warp: Option<u32>) -> Vec<WaitLink> {
        self.why_of(component, warp)
    }

    fn cells(&self, nodes: &[ComponentId]) -> Vec<CellCount> {
        // Mostly all have the same table.
        let mut tables: Vec<CellSums> = Vec::new();
        for node in nodes.iter().filter_map(|id| self.node(*id)) {
            if !tables.iter_mut().any(|sums| node.add_cells(sums)) {
                tables.push(node.cell_sums());
            }
        }
        let mut sums: Vec<CellCount> = Vec::new();
        for count in tables.iter().flat_map(CellSums::counts) {
            match sums.iter_mut().find(|sum| sum.state == count.state && sum.action == count.action) {
                Some(sum) => sum.count += count.count,
                None => sums.push(count),
            }
        }
        sums
    }

    fn statistics(&self) -> Vec<(String, f64)> {
        self.all_statistics()
    }

    fn statistic(&self, key: &str) -> Option<f64> {
        self.one_statistic(key)
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::sample::working;
    use crate::model::access::AccessKind::Load;
    use crate::model::inspect::Inspect;

    #[test]
    fn of_a_cache_with_many_sets_those_that_hold_something_are_told() {
        // Sets 1, 4 and 6 of eight.
        let work = [("gpu0.cu0", Load, vec![0x1040, 0x1100, 0x1180])];
        let mut machine = working("tiny/umh-1gpu", &["gpu.l1.size=1 KiB"], &work);
        let l1 = machine.components().find("gpu0.cu0.l1").unwrap();
        machine.run_until(u64::MAX);
        let told = |most: u32| {
            let view = machine.cache(l1, most).unwrap();
            assert_eq!(view.lines.len(), view.told.len() * view.ways as usize);
            (view.told, view.holds_more, view.lines.iter().flatten().count())
        };
        assert_eq!(told(8), ((0..8).collect(), false, 3));
        assert_eq!(told(7), (vec![1, 4, 6], false, 3));
        assert_eq!(told(3), (vec![1, 4, 6], false, 3));
        assert_eq!(told(2), (vec![1, 4], true, 2));
        assert_eq!(told(0), (vec![], true, 0));
    }
}
