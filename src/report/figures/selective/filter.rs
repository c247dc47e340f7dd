//! Section 3.1: the remote directory of the stated size, filled with lines drawn at random until one finds no place.

use crate::model::address::Address;
use crate::model::random::Random;
use crate::protocol::remote_directory::{Inserted, Look, RemoteDirectory, RemoteDirectoryConfig};
use crate::report::chart::{Chart, Lines, Series};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::Results;
use crate::report::figures::figure::{Figure, Finding, exact};

pub const FIGURE: Figure = Figure {
    id: "sel-filter",
    claim: "remote directory: 64 KiB tracks 8 MiB at this false-positive rate, never a false negative",
    paper: &[3.0],
    unit: "%",
    place: "Selective caching 3.1",
    experiments: |_| Vec::new(),
    finding,
};

/// Lines of the memory from which a CPU takes some: 4 GiB.
const MEMORY: u64 = 1 << 25;

/// Lines asked for that nobody has inserted.
const OTHERS: u64 = 1 << 18;

/// False positives are looked at every so often while it fills.
const STEPS: u32 = 8;

/// A filter after lines were inserted.
struct Filled {
    directory: RemoteDirectory,
    lines: Vec<Address>,
    random: Random,
}

impl Filled {
    fn new(config: RemoteDirectoryConfig, seed: u64) -> Self {
        Self { directory: RemoteDirectory::new(config), lines: Vec::new(), random: Random::new(seed) }
    }

    fn draw(&mut self) -> Address {
        Address(self.random.below(MEMORY) * u64::from(self.directory.config().block))
    }

    /// Inserts lines until so many fingerprints are there, or none finds a place.
    fn fill(&mut self, fingerprints: u32) {
        while self.directory.len() < fingerprints {
            let line = self.draw();
            if self.directory.insert(line) == Inserted::Full {
                return;
            }
            self.lines.push(line);
        }
    }

    /// Of lines that were not inserted, the share that it claims in percent.
    fn false_positives(&mut self) -> f64 {
        let (mut asked, mut claimed) = (0u64, 0u64);
        while asked < OTHERS {
            let line = self.draw();
            match self.directory.look(line) {
                Look::Known => {}
                look => {
                    asked += 1;
                    claimed += u64::from(look == Look::FalsePositive);
                }
            }
        }
        claimed as f64 / asked as f64 * 100.0
    }

    /// Lines that were inserted and that it denies.
    fn denied(&self) -> usize {
        self.lines.iter().filter(|line| !self.directory.contains(**line)).count()
    }
}

fn finding(_: Effort, _: &Results) -> Result<Finding, String> {
    let config = RemoteDirectoryConfig::PAPER;
    let mut filled = Filled::new(config, 1);
    let (mut points, mut rates) = (Vec::new(), Vec::new());
    for step in 1..=STEPS {
        filled.fill(config.entries / STEPS * step);
        rates.push(filled.false_positives());
        points.push(format!("{:.1}", mib(&filled.directory)));
    }
    let (rate, denied) = (rates.last().copied().unwrap_or(f64::NAN), filled.denied());
    if denied > 0 {
        return Err(format!("it denies {denied} lines that were inserted"));
    }
    let directory = &filled.directory;
    let moved = directory.counters.moved as f64 / directory.counters.inserted.max(1) as f64;
    Ok(Finding {
        ours: vec![Some(rate)],
        holds: exact(rate, 3.0, 0) && config.storage() == 64 << 10,
        scale: "1/1".to_owned(),
        note: format!(
            "cuckoo filter of {} fingerprints of {} bits, {} a bucket, {} KiB; lines drawn at random from 4 GiB; when \
             a line finds no place for the first time it tracks {} lines, {:.2} MiB ({:.1} % of its places), denies \
             none of them and has moved {moved:.1} fingerprints an insertion",
            config.entries,
            config.bits,
            config.ways,
            config.storage() >> 10,
            directory.len(),
            mib(directory),
            f64::from(directory.len()) / f64::from(config.entries) * 100.0,
        ),
        charts: vec![(
            "",
            Chart::Lines(Lines {
                title: "False positives of the remote directory as it fills".to_owned(),
                axis: "% of lines that were never inserted".to_owned(),
                points,
                series: vec![Series { name: "MiB tracked in 64 KiB".to_owned(), values: rates }],
            }),
        )],
    })
}

/// Mebibytes that it tracks.
fn mib(directory: &RemoteDirectory) -> f64 {
    f64::from(directory.len()) * f64::from(directory.config().block) / f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_fingerprints_are_taken_for_others_more_seldom() {
        let rate = |bits| {
            let config = RemoteDirectoryConfig {
                entries: 1 << 10,
                high_water: 1 << 10,
                bits,
                ..RemoteDirectoryConfig::PAPER
            };
            let mut filled = Filled::new(config, 7);
            filled.fill(1 << 9);
            assert_eq!(filled.denied(), 0);
            filled.false_positives()
        };
        let (short, long) = (rate(6), rate(10));
        assert!(short > 10.0 * long && long > 0.0, "{short} {long}");
    }
}
