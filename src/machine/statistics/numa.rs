//! GPUs that are the sockets of one: what left their compute units for which memory, and what software coherence cost.

use super::Sheet;
use crate::machine::Machine;
use crate::machine::ways::Tally;
use crate::protocol::node::Counters;

impl Machine {
    pub(super) fn numa_statistics(&self, sheet: &mut Sheet) {
        if self.fixed.spec.gpu.as_ref().is_none_or(|gpu| gpu.numa.is_none()) {
            return;
        }
        let sum = |nodes: &mut dyn Iterator<Item = &usize>| {
            let mut all = Counters::default();
            nodes.filter_map(|node| self.nodes.get(*node)).for_each(|node| all.add(&node.counters));
            all
        };
        let (mut requests, mut remote) = (0, 0);
        for (number, socket) in self.fixed.sockets.iter().enumerate() {
            let own = sum(&mut socket.l1s.iter());
            let away = own.remote_misses;
            sheet.count(format!("numa.gpu{number}.local_requests"), own.misses.saturating_sub(away));
            sheet.count(format!("numa.gpu{number}.remote_requests"), away);
            (requests, remote) = (requests + own.misses, remote + away);
        }
        // Loads that miss in an L1, and all stores and atomics.
        sheet.share("numa.remote_share".to_owned(), remote, requests);
        let sockets = self.fixed.sockets.iter();
        let l2 = sum(&mut sockets.flat_map(|socket| socket.slices.iter().chain(&socket.remote)));
        let (hits, misses) =
            (l2.hits.saturating_sub(l2.remote_hits), l2.misses.saturating_sub(l2.remote_misses));
        sheet.share("numa.l2.local_hit_rate".to_owned(), hits, hits + misses);
        sheet.share("numa.l2.remote_hit_rate".to_owned(), l2.remote_hits, l2.remote_hits + l2.remote_misses);
        let all = sum(&mut (0..self.nodes.len()).collect::<Vec<_>>().iter());
        sheet.count("numa.invalidated".to_owned(), all.invalidated);
        sheet.count("numa.released_bytes".to_owned(), all.released_bytes);
        let homes = self.view_homes(1).filter(|view| !view.cells.is_empty());
        for number in 0..self.fixed.sockets.len() {
            let home = homes.as_ref().and_then(|view| view.homes.get(number));
            let pages = home.map_or(f64::NAN, |home| home.pages as f64);
            sheet.put(format!("numa.gpu{number}.pages"), pages);
        }
        self.way_statistics(sheet);
    }

    /// Ways that caches give to lines of other sockets now, as shares of all, where they are dealt.
    fn way_statistics(&self, sheet: &mut Sheet) {
        let share = |nodes: &mut dyn Iterator<Item = &usize>| {
            let (mut remote, mut all) = (0, 0);
            for node in nodes.filter_map(|node| self.nodes.get(*node)) {
                remote += u64::from(node.remote_ways());
                all += node.ways().map_or(0, u64::from);
            }
            (remote, all)
        };
        let Some(ways) = &self.ways else { return };
        let sockets = || self.fixed.sockets.iter();
        let mut all = Tally::default();
        for number in 0..self.fixed.sockets.len() {
            let own = ways.tally(number);
            tell_tally(sheet, &format!("numa.gpu{number}"), own);
            all.samples += own.samples;
            all.to_remote += own.to_remote;
            all.to_local += own.to_local;
            all.equalised += own.equalised;
        }
        tell_tally(sheet, "numa", all);
        for (number, socket) in sockets().enumerate() {
            for (level, nodes) in [("l1", &socket.l1s), ("l2", &socket.slices)] {
                let (remote, all) = share(&mut nodes.iter());
                sheet.share(format!("numa.gpu{number}.{level}.remote_way_share"), remote, all);
            }
        }
        let (remote, all) = share(&mut sockets().flat_map(|socket| &socket.l1s));
        sheet.share("numa.l1.remote_way_share".to_owned(), remote, all);
        let (remote, all) = share(&mut sockets().flat_map(|socket| &socket.slices));
        sheet.share("numa.l2.remote_way_share".to_owned(), remote, all);
    }
}

/// Samples of caches whose ways are dealt, and those that moved one.
fn tell_tally(sheet: &mut Sheet, of: &str, tally: Tally) {
    sheet.count(format!("{of}.way_samples"), tally.samples);
    sheet.count(format!("{of}.way_moves.to_remote"), tally.to_remote);
    sheet.count(format!("{of}.way_moves.to_local"), tally.to_local);
    sheet.count(format!("{of}.way_moves.equalise"), tally.equalised);
}
