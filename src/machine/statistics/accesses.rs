//! How long accesses took: by what they were, and by how far they had to go.

use super::Sheet;
use crate::config::machine::{NumaSpec, Organisation};
use crate::machine::Machine;
use crate::machine::latency::Class;
use crate::model::level::Level;

/// Of a hundred accesses, so many took no longer.
const PERCENTILES: [u32; 3] = [50, 90, 99];

impl Machine {
    /// Levels that this machine has, the nearest first.
    fn levels(&self) -> impl Iterator<Item = Level> + '_ {
        let peers = self.fixed.spec.host.peer_transfer;
        let several = self.fixed.sockets.len() > 1;
        // There the L2 of a socket stands before its memory, for all of them.
        let is_at_home =
            |numa: &NumaSpec| matches!(numa.organisation, Organisation::MemorySide | Organisation::Static);
        let far_l2 = several && self.fixed.spec.numa().is_some_and(is_at_home);
        Level::ALL.into_iter().filter(move |level| match level {
            Level::Joined => true,
            Level::Peer => peers,
            Level::FarL2 => far_l2,
            Level::FarMemory => several,
            level => self.fixed.level_of.contains(level),
        })
    }

    pub(super) fn access_statistics(&self, sheet: &mut Sheet) {
        let all = self.latencies.all();
        for level in self.levels() {
            let (name, sum) = (level.name(), self.latencies.of_level(level));
            sheet.count(format!("access.{name}.count"), sum.count);
            sheet.share(format!("access.{name}.share"), sum.count, all.count);
            sheet.put(format!("access.{name}.mean_cycles"), self.mean_cycles(sum.ticks, sum.count));
            sheet.share(format!("access.{name}.time_share"), sum.ticks, all.ticks);
            sheet.count(format!("access.{name}.merged"), sum.merged);
            sheet.count(format!("access.{name}.probed"), sum.probed);
        }
        for class in Class::ALL {
            let (name, sum) = (class.name(), self.latencies.of_class(class));
            sheet.count(format!("access.{name}.count"), sum.count);
            sheet.put(format!("access.{name}.mean_cycles"), self.mean_cycles(sum.ticks, sum.count));
            for percent in PERCENTILES {
                let ticks = self.latencies.percentile(class, percent);
                let cycles = ticks.map_or(f64::NAN, |ticks| self.exact_cycles(ticks));
                sheet.put(format!("access.{name}.p{percent}_cycles"), cycles);
            }
            sheet.put(format!("access.{name}.max_cycles"), self.mean_cycles(sum.longest, sum.count.min(1)));
            for level in self.levels() {
                let (one, place) = (self.latencies.of(class, level), level.name());
                sheet.count(format!("access.{name}.{place}.count"), one.count);
                sheet.put(
                    format!("access.{name}.{place}.mean_cycles"),
                    self.mean_cycles(one.ticks, one.count),
                );
            }
        }
    }

    /// How long each task took, and what became of its accesses.
    pub(super) fn task_statistics(&self, sheet: &mut Sheet) {
        for (index, task) in self.tasks().into_iter().enumerate() {
            if let (Some(started), Some(ended)) = (task.started, task.ended) {
                sheet.put(format!("tasks.{}.cycles", task.id), self.cycles(ended.saturating_sub(started)));
            }
            let accesses = self.latencies.of_task(index);
            if accesses.count > 0 {
                sheet.count(format!("tasks.{}.accesses", task.id), accesses.count);
                sheet.share(format!("tasks.{}.l1_share", task.id), accesses.hits, accesses.count);
                let mean = self.mean_cycles(accesses.ticks, accesses.count);
                sheet.put(format!("tasks.{}.mean_cycles", task.id), mean);
            }
        }
    }
}
