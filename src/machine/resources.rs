//! What accesses compete for, and how busy each of it was: what bounds a run is the first of them.

use super::Machine;
use crate::model::component::{Component, ComponentId, Components};
use crate::model::resource::{Resource, ResourceView};
use crate::model::time::Tick;
use crate::parts::channel::Channel;
use crate::parts::link::Link;
use crate::protocol::node::Node;

/// A kind of resource, at a level.
type Key = (Resource, &'static str);

/// A link that is told of, by its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    link: usize,
    key: Key,
    at: ComponentId,
}

/// Those of one kind at one level.
struct Sum {
    key: Key,
    count: u32,
    /// Shares of the time, from 0 to 1, summed.
    busy: f64,
    busiest: f64,
    at: ComponentId,
    /// Ticks that all that used them waited for them, and how many that were, where it is known.
    waits: (Tick, u64),
}

#[derive(Default)]
struct Sums(Vec<Sum>);

impl Sums {
    fn put(&mut self, key: Key, at: ComponentId, busy: f64, waits: (Tick, u64)) {
        self.put_all(key, at, (busy, busy), waits);
    }

    /// The same for several of them at one place: how busy they were, and the busiest of them.
    fn put_all(&mut self, key: Key, at: ComponentId, (busy, most): (f64, f64), waits: (Tick, u64)) {
        // Those of a kind stand together, mostly.
        let Some(sum) = self.0.iter_mut().rev().find(|sum| sum.key == key) else {
            return self.0.push(Sum { key, count: 1, busy, busiest: most, at, waits });
        };
        sum.count += 1;
        sum.busy += busy;
        sum.waits = (sum.waits.0.saturating_add(waits.0), sum.waits.1 + waits.1);
        if most > sum.busiest {
            (sum.busiest, sum.at) = (most, at);
        }
    }
}

/// Of each node the title of its level.
pub(super) fn titles(nodes: &[Node], components: &Components) -> Vec<&'static str> {
    let level = |node: &Node| components.get(node.id()).and_then(Component::level);
    nodes.iter().map(|node| level(node).map_or("", |(_, title)| title)).collect()
}

/// The links of the network, and the wires of crossbars that are as wide as something.
pub(super) fn wires(
    nodes: &[Node],
    titles: &[&'static str],
    (links, shown): (&[Link], &[Option<ComponentId>]),
    channels: &[Channel],
) -> Vec<Wire> {
    let ends = wire_ends(nodes, links.len(), channels);
    let wire = |link: usize| {
        if let Some(at) = *shown.get(link)? {
            return Some(Wire { link, key: (Resource::Link, "network"), at });
        }
        let (kind, node) = ends
            .get(link)
            .copied()
            .flatten()
            .filter(|_| links.get(link).is_some_and(|link| !link.is_ideal()))?;
        Some(Wire { link, key: (kind, titles.get(node)?), at: nodes.get(node)?.id() })
    };
    (0..links.len()).filter_map(wire).collect()
}

/// By link: whether it ends at one node or begins there, and at which, as far as channels use it.
fn wire_ends(nodes: &[Node], links: usize, channels: &[Channel]) -> Vec<Option<(Resource, usize)>> {
    let mut ends: Vec<Option<(usize, usize, bool, bool)>> = vec![None; links];
    for channel in channels {
        for link in [Some(channel.path.first), channel.path.second].into_iter().flatten() {
            let Some(known) = ends.get_mut(link) else { continue };
            let (from, to) = (channel.from, channel.to);
            let (first, last, one_from, one_to) = known.unwrap_or((from, to, true, true));
            *known = Some((first, last, one_from && first == from, one_to && last == to));
        }
    }
    let told = |(from, to, one_from, one_to): (usize, usize, bool, bool)| {
        // Between two, it is the wire of the one above.
        let is_up = nodes.get(from)?.config.parents.contains(&nodes.get(to)?.id());
        match (one_from, one_to) {
            (true, is_alone) if !is_alone || is_up => Some((Resource::CrossbarFrom, from)),
            (_, true) => Some((Resource::CrossbarTo, to)),
            _ => None,
        }
    };
    ends.into_iter().map(|ends| ends.and_then(told)).collect()
}

impl Machine {
    /// All that is used, by kind, the busiest first; MSHRs, which hold who waits for the others, behind those. Of all the time so far.
    pub(super) fn resource_views(&self) -> Vec<ResourceView> {
        let mut sums = Sums::default();
        if self.now > 0 {
            self.put_ports(&mut sums);
            self.put_mshrs(&mut sums);
            self.put_memories(&mut sums);
            self.put_links(&mut sums);
            self.put_walkers(&mut sums);
            self.put_simds(&mut sums);
        }
        let used = sums.0.iter().filter(|sum| sum.busiest > 0.0);
        let mut views: Vec<ResourceView> = used.map(|sum| self.resource_view(sum)).collect();
        let is_held = |view: &ResourceView| view.kind == Resource::Mshrs;
        views.sort_by(|one, other| {
            is_held(one).cmp(&is_held(other)).then(other.busiest.total_cmp(&one.busiest))
        });
        views
    }

    fn resource_view(&self, sum: &Sum) -> ResourceView {
        let ((kind, level), (waited, users)) = (sum.key, sum.waits);
        ResourceView {
            kind,
            level,
            count: sum.count,
            mean: sum.busy / f64::from(sum.count.max(1)),
            busiest: sum.busiest,
            at: self.fixed.components.path(sum.at).to_owned(),
            wait: (users > 0).then(|| self.mean_cycles(waited, users)),
        }
    }

    fn share(&self, ticks: Tick, of: u64) -> f64 {
        ticks as f64 / self.now.max(1) as f64 / of.max(1) as f64
    }

    fn put_ports(&self, sums: &mut Sums) {
        for ((node, port), title) in self.nodes.iter().zip(&self.ports).zip(&self.fixed.titles) {
            let ports = port.counters(self.now);
            sums.put((Resource::Ports, title), node.id(), ports.utilisation(), (ports.waited, ports.taken));
        }
    }

    fn put_mshrs(&self, sums: &mut Sums) {
        for (node, title) in self.nodes.iter().zip(&self.fixed.titles) {
            let offered = node.mshrs_offered(self.now);
            if offered > 0 {
                let busy = node.mshr_ticks(self.now) as f64 / offered as f64;
                sums.put((Resource::Mshrs, title), node.id(), busy, (0, 0));
            }
        }
    }

    fn put_memories(&self, sums: &mut Sums) {
        for ((node, dram), title) in self.nodes.iter().zip(&self.fixed.dram_of).zip(&self.fixed.titles) {
            let Some(dram) = dram.and_then(|(index, _)| self.drams.get(index)) else { continue };
            let (bus, banks) = dram.busy_until(self.now);
            let channels = u64::from(dram.timing().channels.max(1));
            let count = channels * u64::from(dram.timing().banks.max(1));
            let (waited, waiters) = (dram.counters().waited, dram.waiters());
            sums.put((Resource::Bus, title), node.id(), self.share(bus, channels), (waited.1, waiters));
            let busy = (self.share(banks, count), self.share(dram.busiest_bank(self.now), 1));
            sums.put_all((Resource::Banks, title), node.id(), busy, (waited.0, waiters));
        }
    }

    fn put_links(&self, sums: &mut Sums) {
        for wire in &self.fixed.wires {
            let Some(link) = self.links.get(wire.link) else { continue };
            let messages = link.carried.iter().map(|(count, _)| count).sum();
            sums.put(wire.key, wire.at, link.utilisation(self.now), (link.queued, messages));
        }
    }

    fn put_walkers(&self, sums: &mut Sums) {
        for one in self.paging.iter().flat_map(|paging| &paging.gpus) {
            let busy = self.share(one.gmmu.walk_ticks(self.now), u64::from(one.gmmu.config().walkers));
            sums.put((Resource::Walkers, "GMMU"), one.ports.gmmu, busy, (0, 0));
        }
    }

    fn put_simds(&self, sums: &mut Sums) {
        for agent in &self.agents {
            if let Some(simds) = &agent.simds {
                let busy = simds.utilisation(self.now);
                sums.put((Resource::Simds, "compute units"), agent.config.id, busy, simds.waits(self.now));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::sample::working;
    use crate::model::access::AccessKind::Load;
    use crate::model::inspect::Inspect;
    use crate::model::record::Records;
    use crate::model::resource::ResourceView;

    #[test]
    fn resources_are_as_busy_as_statistics_say() {
        let lines = |cu: u64| (0..64).map(|line| (2 * line + cu) * 0x1000).collect::<Vec<_>>();
        let work = [("gpu0.cu0", Load, lines(0)), ("gpu0.cu1", Load, lines(1))];
        let changes = ["gpu.cu.outstanding=8", "gpu.l2.crossbar_width=16"];
        let mut machine = working("tiny/umh-1gpu", &changes, &work);
        assert_eq!(machine.resources(), [], "nothing has happened");
        machine.run_until(u64::MAX);
        let all = machine.resources();
        let (mshrs, others): (Vec<_>, Vec<_>) = all.iter().partition(|view| view.name().ends_with("MSHRs"));
        for some in [&others, &mshrs] {
            assert!(some.is_sorted_by(|one, other| one.busiest >= other.busiest));
        }
        assert_eq!(all.last(), mshrs.last().copied());
        let of = |name: &str| all.iter().find(|view| view.name() == name).unwrap();
        let statistic = |key: String| machine.statistic(&key).unwrap();
        let cycles = machine.tick() as f64 / machine.time_base().ticks_per_cycle as f64;
        let near = |view: &ResourceView, share: f64| {
            assert!((view.busiest - share).abs() < 2.0 / cycles, "{view:?} {share}");
        };
        for name in ["GPU L1 ports", "GPU L2 ports", "SMD ports", "HMD ports"] {
            let view = of(name);
            near(view, statistic(format!("{}.port_utilisation", view.at)));
            let wait = statistic(format!("{}.port_queued_mean_cycles", view.at));
            assert!(view.count > 1 || (view.wait.unwrap() - wait).abs() < 1e-9, "{view:?} {wait}");
        }
        let mshrs = of("GPU L1 MSHRs");
        near(mshrs, statistic(format!("{}.mshr_mean", mshrs.at)) / 4.0);
        near(of("links"), statistic(format!("{}.utilisation", of("links").at)));
        let host = of("HMD DRAM bus");
        near(host, statistic(format!("{}.dram.busy_cycles", host.at)) / cycles);
        // A line of 64 B and its header take more than four cycles over 16 B; the stacks' lines come that way.
        assert!(of("crossbar to GPU L1").busiest > 0.0 && of("crossbar from GPU L1").busiest > 0.0);
        assert_eq!(of("crossbar to GPU L1").count, 2);
    }

    #[test]
    fn how_busy_mshrs_were_does_not_change_with_their_number() {
        let lines = (0..64).map(|line| line * 0x1000).collect::<Vec<_>>();
        let build = |mshrs: &str| {
            let changes = ["gpu.cu.outstanding=8", mshrs];
            working("tiny/umh-1gpu", &changes, &[("gpu0.cu0", Load, lines.clone())])
        };
        let mut machine = build("gpu.l1.mshrs=4");
        machine.run_until(200);
        let share = |machine: &super::Machine| {
            let all = machine.resources();
            all.into_iter().find(|view| view.name() == "GPU L1 MSHRs").map(|view| view.busiest).unwrap()
        };
        let (before, other, mut records) = (share(&machine), build("gpu.l1.mshrs=8"), Records::silent());
        let mut out = machine.outbox(&mut records);
        machine.adopt(&other, &mut out);
        machine.close(out);
        assert!(before > 0.4 && (share(&machine) - before).abs() < 1e-9, "{before}");
    }

    #[test]
    fn a_bank_is_busy_from_opening_its_row_until_the_data_have_moved() {
        let mut machine = working("tiny/umh-1gpu", &[], &[("gpu0.cu0", Load, vec![0x1000])]);
        machine.run_until(u64::MAX);
        let spec = &machine.fixed.spec.host.dram;
        let all = machine.resources();
        let banks = all.iter().find(|view| view.name() == "HMD DRAM banks").unwrap();
        // A block of 4 KiB out of rows that were closed.
        let rows = machine.statistic(&format!("{}.dram.row_misses", banks.at)).unwrap();
        let hits = machine.statistic(&format!("{}.dram.row_hits", banks.at)).unwrap();
        let per_second = machine.time_base().ticks_per_second as f64 / 1e12;
        let opening = rows * spec.activate.0 as f64 + (rows + hits) * spec.cas.0 as f64;
        let moving = 4096.0 / spec.bandwidth.0 as f64 * 1e12;
        let share = (opening + moving) * per_second / machine.tick() as f64 / f64::from(spec.banks);
        assert!((banks.mean - share).abs() < 1e-4, "{} {share}", banks.mean);
        let all = f64::from(spec.banks);
        assert!((share..share * all).contains(&banks.busiest), "{} {share}: one of {all}", banks.busiest);
    }
}
