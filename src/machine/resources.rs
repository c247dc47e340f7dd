//! What accesses compete for, and how busy each of it was: what bounds a run is the first of them.

use std::collections::BTreeMap;

use super::Machine;
use crate::model::component::{ComponentId, title_of_level};
use crate::model::resource::{Resource, ResourceView};
use crate::protocol::node::Node;

/// One of several of a kind.
struct One {
    at: ComponentId,
    /// Share of the time, from 0 to 1.
    busy: f64,
    /// Quoted cycles that all that used it waited for it, and how many that were, where it is known.
    waits: Option<(f64, u64)>,
}

/// Those of one kind at one level.
type Kinds = BTreeMap<(Resource, &'static str), Vec<One>>;

impl Machine {
    /// All that is used, by kind, the busiest first; MSHRs, which hold who waits for the others, behind those. Of all the time so far.
    pub(super) fn resource_views(&self) -> Vec<ResourceView> {
        let mut kinds = Kinds::new();
        if self.now > 0 {
            self.put_nodes(&mut kinds);
            self.put_memories(&mut kinds);
            self.put_links(&mut kinds);
            self.put_walkers(&mut kinds);
        }
        let path = |at| self.fixed.components.path(at).to_owned();
        let mut views: Vec<_> = kinds.into_iter().filter_map(|kind| sum_up(kind, path)).collect();
        let is_held = |view: &ResourceView| view.kind == Resource::Mshrs;
        views.sort_by(|one, other| {
            is_held(one).cmp(&is_held(other)).then(other.busiest.total_cmp(&one.busiest))
        });
        views
    }

    fn share(&self, ticks: u64, of: u64) -> f64 {
        ticks as f64 / self.now.max(1) as f64 / of.max(1) as f64
    }

    fn level_title(&self, node: &Node) -> &'static str {
        self.level_name(node).map_or("", title_of_level)
    }

    fn put_nodes(&self, kinds: &mut Kinds) {
        for (node, port) in self.nodes.iter().zip(&self.ports) {
            let (at, ports) = (node.id(), port.counters(self.now));
            let title = self.level_title(node);
            let waits = Some((self.exact_cycles(ports.waited as f64), ports.taken));
            let one = One { at, busy: ports.utilisation(), waits };
            kinds.entry((Resource::Ports, title)).or_default().push(one);
            let mshrs = node.config.mshrs;
            if mshrs > 0 {
                let busy = self.share(node.mshr_ticks(self.now), u64::from(mshrs));
                kinds.entry((Resource::Mshrs, title)).or_default().push(One { at, busy, waits: None });
            }
        }
    }

    fn put_memories(&self, kinds: &mut Kinds) {
        for (node, dram) in self.nodes.iter().zip(&self.fixed.dram_of) {
            let Some(dram) = dram.and_then(|(index, _)| self.drams.get(index)) else { continue };
            let (at, title) = (node.id(), self.level_title(node));
            let (bus, taken) = dram.busy_until(self.now);
            let channels = u64::from(dram.timing().channels.max(1));
            let banks = channels * u64::from(dram.timing().banks.max(1));
            let of = [(Resource::Bus, bus, channels), (Resource::Banks, taken, banks)];
            for (kind, ticks, count) in of {
                let one = One { at, busy: self.share(ticks, count), waits: None };
                kinds.entry((kind, title)).or_default().push(one);
            }
        }
    }

    /// Links of the network, and the wires of crossbars that are as wide as something.
    fn put_links(&self, kinds: &mut Kinds) {
        let ends = self.wire_ends();
        for ((link, shown), ends) in self.links.iter().zip(&self.fixed.visible_links).zip(ends) {
            let (key, at) = match (shown, ends) {
                (Some((id, _, _)), _) => ((Resource::Link, "network"), *id),
                (None, Some((kind, node))) if !link.is_ideal() => ((kind, self.level_title(node)), node.id()),
                (None, _) => continue,
            };
            let messages = link.carried.iter().map(|(count, _)| count).sum();
            let waits = Some((self.exact_cycles(link.queued as f64), messages));
            kinds.entry(key).or_default().push(One { at, busy: link.utilisation(self.now), waits });
        }
    }

    /// By link: whether it ends at one node or begins there, and at which, as far as channels use it.
    fn wire_ends(&self) -> Vec<Option<(Resource, &Node)>> {
        let mut ends: Vec<Option<(usize, usize, bool, bool)>> = vec![None; self.links.len()];
        for channel in &self.channels {
            for link in [Some(channel.path.first), channel.path.second].into_iter().flatten() {
                let Some(known) = ends.get_mut(link) else { continue };
                let (from, to) = (channel.from, channel.to);
                let (first, last, one_from, one_to) = known.unwrap_or((from, to, true, true));
                *known = Some((first, last, one_from && first == from, one_to && last == to));
            }
        }
        let told = |(from, to, one_from, one_to): (usize, usize, bool, bool)| {
            let (from, to) = (self.nodes.get(from)?, self.nodes.get(to)?);
            // Between two, it is the wire of the one above.
            let is_up = from.config.parents.contains(&to.id());
            match (one_from, one_to) {
                (true, is_alone) if !is_alone || is_up => Some((Resource::CrossbarFrom, from)),
                (_, true) => Some((Resource::CrossbarTo, to)),
                _ => None,
            }
        };
        ends.into_iter().map(|ends| ends.and_then(told)).collect()
    }

    fn put_walkers(&self, kinds: &mut Kinds) {
        for one in self.paging.iter().flat_map(|paging| &paging.gpus) {
            let busy = self.share(one.gmmu.walk_ticks(self.now), u64::from(one.gmmu.config().walkers));
            let one = One { at: one.ports.gmmu, busy, waits: None };
            kinds.entry((Resource::Walkers, "GMMU")).or_default().push(one);
        }
    }
}

/// Several of a kind as one row; nothing if none was ever used.
fn sum_up(
    ((kind, level), all): ((Resource, &'static str), Vec<One>),
    path: impl Fn(ComponentId) -> String,
) -> Option<ResourceView> {
    let busiest = all.iter().max_by(|one, other| one.busy.total_cmp(&other.busy))?;
    if busiest.busy == 0.0 {
        return None;
    }
    let waits = all.iter().filter_map(|one| one.waits);
    let (cycles, users) = waits.fold((0.0, 0), |(sum, count), (cycles, users)| (sum + cycles, count + users));
    Some(ResourceView {
        kind,
        level,
        count: all.len() as u32,
        mean: all.iter().map(|one| one.busy).sum::<f64>() / all.len() as f64,
        busiest: busiest.busy,
        at: path(busiest.at),
        wait: (users > 0).then(|| cycles / users as f64),
    })
}

#[cfg(test)]
mod tests {
    use crate::machine::sample::working;
    use crate::model::access::AccessKind::Load;
    use crate::model::inspect::Inspect;
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
        assert!((banks.busiest - share).abs() < 1e-4, "{} {share}", banks.busiest);
    }
}
