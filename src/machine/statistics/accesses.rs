//! How long accesses took: by what they were, and by how far they had to go.

use super::Sheet;
use crate::machine::Machine;
use crate::machine::latency::{Class, Latency};
use crate::model::level::Level;

impl Machine {
    /// Levels that this machine has, the nearest first.
    fn levels(&self) -> impl Iterator<Item = Level> + '_ {
        let peers = self.fixed.spec.host.peer_transfer;
        Level::ALL.into_iter().filter(move |level| match level {
            Level::Joined => true,
            Level::Peer => peers,
            level => self.fixed.level_of.contains(level),
        })
    }

    pub(super) fn access_statistics(&self, sheet: &mut Sheet) {
        let cell = |class: Class, level: Level| {
            let levels = self.latencies.get(class as usize);
            levels.and_then(|levels| levels.get(level as usize)).copied().unwrap_or_default()
        };
        let all = self.latencies.as_flattened().iter().fold(Latency::default(), Latency::with);
        for level in self.levels() {
            let name = level.name();
            let sum = Class::ALL.iter().fold(Latency::default(), |sum, &class| sum.with(&cell(class, level)));
            sheet.count(format!("access.{name}.count"), sum.count);
            sheet.share(format!("access.{name}.share"), sum.count, all.count);
            sheet.put(format!("access.{name}.mean_cycles"), self.mean_cycles(sum.ticks, sum.count));
            sheet.share(format!("access.{name}.time_share"), sum.ticks, all.ticks);
            sheet.count(format!("access.{name}.merged"), sum.merged);
            sheet.count(format!("access.{name}.probed"), sum.probed);
        }
        for class in Class::ALL {
            let name = class.name();
            let sum = Level::ALL.iter().fold(Latency::default(), |sum, &level| sum.with(&cell(class, level)));
            sheet.count(format!("access.{name}.count"), sum.count);
            sheet.put(format!("access.{name}.mean_cycles"), self.mean_cycles(sum.ticks, sum.count));
            sheet.put(format!("access.{name}.max_cycles"), self.mean_cycles(sum.longest, 1));
            for level in self.levels() {
                let (one, place) = (cell(class, level), level.name());
                sheet.count(format!("access.{name}.{place}.count"), one.count);
                sheet.put(
                    format!("access.{name}.{place}.mean_cycles"),
                    self.mean_cycles(one.ticks, one.count),
                );
            }
        }
    }
}
