//! Caches and memories: their geometry and their numbers.

use std::ops::RangeInclusive;

use super::super::check::{Known, around};
use super::super::document::At;
use super::super::fail;
use super::super::machine::{CacheSpec, DramSpec};
use super::super::machine_file::{CacheFile, DramFile};
use super::{Build, GIB, KIB, MIB};
use crate::diagnostic::Result;
use crate::model::units::{Bandwidth, Duration, Size};

/// Blocks (lines or secondary blocks) that one cache or memory may have.
const BLOCKS: u64 = 1 << 26;

/// Messages that a node may take in a cycle.
pub(super) const PORTS: RangeInclusive<u32> = 1..=16;

/// What a cache is if its file says nothing.
pub(super) struct CacheDefaults {
    pub size: u64,
    pub ways: u32,
    pub line: u64,
    pub latency: u32,
    /// As its latency if there is nothing.
    pub fill: Option<u32>,
    pub mshrs: u32,
}

/// The ways of a cache whose file names none: near to `usual`, and such that there is a power of two of sets.
fn default_ways(blocks: u64, usual: u64) -> u32 {
    let odd = blocks >> blocks.trailing_zeros();
    let doublings = (usual / odd).checked_ilog2().unwrap_or(0).min(blocks.trailing_zeros());
    u32::try_from(odd << doublings).unwrap_or(u32::MAX)
}

impl Build<'_> {
    pub(super) fn cache(
        &self,
        key: &str,
        file: &CacheFile,
        defaults: &CacheDefaults,
    ) -> Result<(CacheSpec, Known)> {
        let check = self.check;
        let line = check.power(&format!("{key}.line"), file.line.as_ref(), defaults.line, 8..=16 * KIB)?;
        let size = check.size(&format!("{key}.size"), file.size.as_ref(), defaults.size, 8..=GIB)?;
        let ways = self.ways(key, &size, file.ways.as_ref(), defaults.ways, &line)?;
        let latency =
            check.count(&format!("{key}.latency"), file.latency.as_ref(), defaults.latency, 0..=1_000_000)?;
        let fill = check.count(
            &format!("{key}.fill"),
            file.fill.as_ref(),
            defaults.fill.unwrap_or(latency),
            0..=1_000_000,
        )?;
        let mshrs = check.count(&format!("{key}.mshrs"), file.mshrs.as_ref(), defaults.mshrs, 1..=4096)?;
        let ports = check.count(&format!("{key}.ports"), file.ports.as_ref(), 1, PORTS)?;
        let protocol = self.protocol(file.protocol.as_ref())?;
        let (size, line_bytes) = (Size(size.value), line.value as u32);
        let spec = CacheSpec { size, ways, line: line_bytes, latency, fill, mshrs, ports, protocol };
        Ok((spec, line))
    }

    /// Ways of a cache of `size` with blocks of `line`, so that there is a power of two of sets.
    pub(super) fn ways(
        &self,
        key: &str,
        size: &Known,
        given: Option<&At<u64>>,
        default: u32,
        line: &Known,
    ) -> Result<u32> {
        let document = self.check.document;
        let (bytes, block) = (Size(size.value), Size(line.value));
        let blocks = size.value / line.value.max(1);
        let place = size.span.as_ref().or(line.span.as_ref());
        if blocks == 0 || !size.value.is_multiple_of(line.value) {
            let complaint =
                document.complain(place, format!("{key}.size is {bytes}, no multiple of its block"));
            return fail(complaint.expected(format!("a multiple of {block}")));
        }
        if blocks > BLOCKS {
            let complaint = document.complain(place, format!("{key}.size makes {blocks} blocks of {block}"));
            return fail(complaint.expected(format!("{BLOCKS} blocks or fewer")));
        }
        let usual = default_ways(blocks, u64::from(default));
        let ways = u64::from(self.check.count(&format!("{key}.ways"), given, usual, 1..=65_536)?);
        let sets = blocks / ways.max(1);
        if sets == 0 || !blocks.is_multiple_of(ways) {
            let span = given.map(|ways| &ways.span).or(place);
            let message = format!("{key}.ways is {ways}, which does not divide {blocks} blocks of {block}");
            return fail(document.complain(span, message).expected(format!("a divisor of {blocks}")));
        }
        if !sets.is_power_of_two() {
            let (below, above) = around(sets);
            let message = format!("{key} has {sets} sets, which is not a power of two");
            let fits = |sets: u64| Size(sets * ways * line.value);
            let expected = format!("a size such as \"{}\" or \"{}\"", fits(below), fits(above));
            return fail(document.complain(place, message).expected(expected));
        }
        Ok(ways as u32)
    }

    /// A memory; the defaults are banks, row, each of its three times in picoseconds, bandwidth and whether it reopens.
    pub(super) fn dram(
        &self,
        key: &str,
        file: &DramFile,
        defaults: (u32, u64, u64, u64, bool),
    ) -> Result<DramSpec> {
        let check = self.check;
        let (banks, row, time, bandwidth, reopen) = defaults;
        let row = check.power(&format!("{key}.row"), file.row.as_ref(), row, 64..=MIB)?.value;
        let dealt = (format!("{key}.interleave"), file.interleave.as_ref());
        let channels = check.count(&format!("{key}.channels"), file.channels.as_ref(), 1, 1..=16)?;
        let banks = check.count(&format!("{key}.banks"), file.banks.as_ref(), banks, 1..=1024)?;
        let gap = |name: &str, given: Option<&At<Duration>>| check.time(&format!("{key}.{name}"), given, 0);
        Ok(DramSpec {
            channels,
            banks,
            row: row as u32,
            interleave: check.power(&dealt.0, dealt.1, row, 64..=row)?.value as u32,
            cas: check.time(&format!("{key}.cas"), file.cas.as_ref(), time)?,
            activate: check.time(&format!("{key}.activate"), file.activate.as_ref(), time)?,
            precharge: check.time(&format!("{key}.precharge"), file.precharge.as_ref(), time)?,
            row_cycle: gap("row_cycle", file.row_cycle.as_ref())?,
            row_to_row: gap("row_to_row", file.row_to_row.as_ref())?,
            write_recovery: gap("write_recovery", file.write_recovery.as_ref())?,
            write_to_read: gap("write_to_read", file.write_to_read.as_ref())?,
            hash: self.hashed_banks(key, file.hash.as_ref(), channels * banks)?,
            bandwidth: self.data_bus(key, file, bandwidth)?,
            access: check.power(&format!("{key}.access"), file.access.as_ref(), 1, 1..=4 * KIB)?.value as u32,
            clock: file.clock.as_ref().map(|clock| clock.value),
            bus: file.bus.as_ref().map(|bus| bus.value),
            always_reopen: file.always_reopen.unwrap_or(reopen),
            scheduler: file.scheduler.unwrap_or_default(),
            queue: check.count(&format!("{key}.queue"), file.queue.as_ref(), 32, 1..=256)?,
            write_queue: check.count(
                &format!("{key}.write_queue"),
                file.write_queue.as_ref(),
                16,
                1..=256,
            )?,
            row_hit_cap: check.count(
                &format!("{key}.row_hit_cap"),
                file.row_hit_cap.as_ref(),
                16,
                0..=1024,
            )?,
        })
    }

    /// Whether a DRAM is dealt over its banks by all bits of an address, which so many of them must allow.
    fn hashed_banks(&self, key: &str, hash: Option<&At<bool>>, banks: u32) -> Result<bool> {
        let Some(hash) = hash.filter(|hash| hash.value) else { return Ok(false) };
        if banks.is_power_of_two() {
            return Ok(true);
        }
        let complaint = self
            .check
            .document
            .complain(Some(&hash.span), format!("{banks} banks cannot be hashed ({key}.hash)"));
        fail(complaint.expected("channels times banks of a power of two"))
    }

    /// The bandwidth of a DRAM: as it is given, or its clock times the bytes of a cycle.
    fn data_bus(&self, key: &str, file: &DramFile, usual: u64) -> Result<Bandwidth> {
        let check = self.check;
        let (clock, bus) = match (&file.clock, &file.bus) {
            (None, None) => {
                return check.bandwidth(&format!("{key}.bandwidth"), file.bandwidth.as_ref(), usual);
            }
            (Some(clock), Some(bus)) => (clock, bus),
            (Some(At { span, .. }), None) => {
                let complaint = check.document.complain(Some(span), format!("{key}.clock needs {key}.bus"));
                return fail(complaint.expected("\"32 B\" or the like there"));
            }
            (None, Some(At { span, .. })) => {
                let complaint = check.document.complain(Some(span), format!("{key}.bus needs {key}.clock"));
                return fail(complaint.expected("\"1200 MHz\" or the like there"));
            }
        };
        if let Some(bandwidth) = &file.bandwidth {
            let message = format!("{key}.bandwidth is given beside its clock and bus");
            return fail(check.document.complain(Some(&bandwidth.span), message).expected("one of the two"));
        }
        let frequency = check.clock(&format!("{key}.clock"), Some(clock), usual)?;
        let bytes = check.power(&format!("{key}.bus"), Some(bus), 1, 1..=4 * KIB)?.value;
        let given = At { value: Bandwidth(frequency.0.saturating_mul(bytes)), span: clock.span.clone() };
        check.bandwidth(&format!("{key}.clock times {key}.bus"), Some(&given), usual)
    }
}
