//! What the memories behind directories did: each, and those of GPUs and host together.

use super::Sheet;
use crate::machine::Machine;
use crate::model::record::RowAccess;
use crate::parts::dram::DramCounters;

impl Machine {
    pub(super) fn dram_statistics(&self, sheet: &mut Sheet) {
        let mut levels: Vec<(&str, DramCounters)> = Vec::new();
        let mut each = Sheet::default();
        for (node, dram) in self.nodes.iter().zip(&self.fixed.dram_of) {
            let Some(dram) = dram.and_then(|(index, _)| self.drams.get(index)) else { continue };
            let Some(component) = self.fixed.components.get(node.id()) else { continue };
            let level = component.kind.name();
            let counters = DramCounters { busy: dram.busy_until(self.now).0, ..dram.counters() };
            self.put_dram(&component.path, &counters, &mut each);
            match levels.iter_mut().find(|(name, _)| *name == level) {
                Some((_, sum)) => sum.add(&counters),
                None => levels.push((level, counters)),
            }
        }
        for (name, sum) in levels {
            self.put_dram(&format!("levels.{name}"), &sum, sheet);
        }
        sheet.0.append(&mut each.0);
    }

    fn put_dram(&self, prefix: &str, counters: &DramCounters, sheet: &mut Sheet) {
        for (access, count) in RowAccess::ALL.into_iter().zip(counters.rows) {
            let name = match access {
                RowAccess::Hit => "row_hits",
                RowAccess::Miss => "row_misses",
                RowAccess::Conflict => "row_conflicts",
                RowAccess::Reopen => "row_reopens",
            };
            sheet.count(format!("{prefix}.dram.{name}"), count);
        }
        let hits = counters.rows.get(RowAccess::Hit as usize).copied().unwrap_or(0);
        sheet.share(format!("{prefix}.dram.row_hit_rate"), hits, counters.rows.iter().sum());
        sheet.count(format!("{prefix}.dram.reads"), counters.reads);
        sheet.count(format!("{prefix}.dram.writes"), counters.writes);
        sheet.count(format!("{prefix}.dram.bytes"), counters.bytes);
        let queued = counters.queue_high_water.map_or(f64::NAN, f64::from);
        sheet.put(format!("{prefix}.dram.queue_high_water"), queued);
        sheet.put(format!("{prefix}.dram.busy_cycles"), self.cycles(counters.busy));
    }
}
