//! The log of far-faults that a patched driver of NVIDIA GPUs writes (uvm-eval): a batch for each transfer set.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::exporter::Export;
use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::model::paging::{FaultStage, PageChange};
use crate::model::record::{Record, What};
use crate::model::time::Tick;

/// Priority of the lines (a warning of the kernel's).
const PRIORITY: u32 = 4;

/// Bytes of a range that a line tells of, at most.
const RANGE: u64 = 1 << 30;

/// A fault that no batch has told of yet.
#[derive(Clone, Copy, Debug)]
struct Fault {
    address: u64,
    tick: Tick,
    gpu: u32,
    unit: u32,
    writes: bool,
}

/// Writes far-faults in batches.
#[derive(Clone, Debug, Default)]
pub struct UvmFaults {
    /// Number of the next line.
    number: u64,
    /// When the last line was written.
    last: Tick,
    /// The batch that has begun: the GPU and its transfer set. Pages that wait for a frame come later than the others.
    open: Option<(u32, u64)>,
    /// When the last page of it has come: it ends then, as far as is known before the next begins.
    came: Option<Tick>,
    /// Pages that left without a batch under way: the next one tells of them.
    left: Vec<String>,
    waiting: Vec<Fault>,
    /// Faults whose page came with an earlier batch, before the driver took them: the next batch tells of them.
    overtaken: Vec<Fault>,
}

impl UvmFaults {
    fn line(&mut self, machine: &Machine, payload: &str, out: &mut dyn Write) -> io::Result<()> {
        self.line_at(machine, machine.tick(), payload, out)
    }

    fn line_at(
        &mut self,
        machine: &Machine,
        tick: Tick,
        payload: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let microseconds = machine.time_base().nanoseconds(tick) as u64 / 1000;
        (self.number, self.last) = (self.number + 1, tick);
        writeln!(out, "{PRIORITY},{},{microseconds},-;{payload}", self.number)
    }

    fn fault(&mut self, record: &Record) {
        let What::FarFault { stage, gpu, unit, writes, .. } = record.what else { return };
        if !matches!(stage, FaultStage::Raised | FaultStage::Merged | FaultStage::Arrived) {
            return;
        }
        let Some(address) = record.range.map(|range| range.start.0) else { return };
        if stage == FaultStage::Arrived {
            let came = self.waiting.extract_if(.., |fault| (fault.gpu, fault.address) == (gpu, address));
            self.overtaken.extend(came);
        } else {
            let unit = unit.unwrap_or(0);
            self.waiting.push(Fault { address, tick: record.tick, gpu, unit, writes });
        }
    }

    /// Faults of the pages that this event's transfer set serves, and what else it moves.
    fn batch(&mut self, machine: &Machine, records: &[&Record], out: &mut dyn Write) -> io::Result<()> {
        let (mut served, mut moved, mut set) = (BTreeSet::new(), Vec::new(), None);
        for record in records {
            let Some(start) = record.range.map(|range| range.start.0) else { continue };
            match record.what {
                What::FarFault { stage: FaultStage::Serviced, gpu, set: own, .. } => {
                    set = Some((gpu, own));
                    served.insert((gpu, start));
                }
                What::Page { change: PageChange::Prefetched, gpu, set: own } => {
                    set = Some((gpu, own));
                    moved.push(format!("p,{start:x}"));
                }
                What::Page {
                    change: PageChange::Evicted | PageChange::TakenBack | PageChange::CopiedBack,
                    ..
                } => {
                    moved.push(format!("e,{start:x}"));
                }
                _ => {}
            }
        }
        if served.is_empty() && moved.is_empty() {
            return Ok(());
        }
        // What only leaves belongs to the batch that it makes room for.
        if self.open.is_none() && set.is_none() {
            self.left.append(&mut moved);
            return Ok(());
        }
        if self.open.is_none() || set.is_some_and(|set| self.open != Some(set)) {
            self.close(machine, out)?;
            self.begin_batch(machine, set.unwrap_or_default(), out)?;
        }
        let is_served = |fault: &mut Fault| served.contains(&(fault.gpu, fault.address));
        let told: Vec<Fault> = self.waiting.extract_if(.., is_served).collect();
        self.tell(machine, told, out)?;
        for payload in moved {
            self.line(machine, &payload, out)?;
        }
        Ok(())
    }

    /// A batch begins, with the faults that none before it has told of.
    fn begin_batch(&mut self, machine: &Machine, set: (u32, u64), out: &mut dyn Write) -> io::Result<()> {
        self.open = Some(set);
        self.line(machine, "s,", out)?;
        let overtaken = std::mem::take(&mut self.overtaken);
        self.tell(machine, overtaken, out)?;
        for payload in std::mem::take(&mut self.left) {
            self.line(machine, &payload, out)?;
        }
        Ok(())
    }

    /// Notes when pages come.
    fn arrive(&mut self, records: &[&Record]) {
        let arrived = records
            .iter()
            .filter(|record| matches!(record.what, What::Page { change: PageChange::Arrived, .. }));
        self.came = arrived.map(|record| record.tick).max().or(self.came);
    }

    /// Tells of faults in the order in which they were raised, which need not be that in which their pages came.
    fn tell(&mut self, machine: &Machine, mut faults: Vec<Fault>, out: &mut dyn Write) -> io::Result<()> {
        faults.sort_by_key(|fault| fault.tick);
        for fault in faults {
            let payload = fault.payload(machine.time_base().nanoseconds(fault.tick) as u64);
            self.line(machine, &payload, out)?;
        }
        Ok(())
    }

    /// The batch that has begun ends, if there is one.
    fn close(&mut self, machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
        let came = self.came.take();
        if self.open.take().is_none() {
            return Ok(());
        }
        self.line_at(machine, came.unwrap_or(machine.tick()).max(self.last), "b,", out)
    }
}

impl Fault {
    /// Address, time, type of the fault (1, an invalid entry), kind of the access and its mask, instances, type of client
    /// and engine, client, engine, uTLB, GPC, channel, virtual engine.
    fn payload(&self, nanoseconds: u64) -> String {
        let Self { address, gpu, unit, writes, .. } = self;
        let kind = if *writes { 2 } else { 1 };
        format!("f,{address:x},{nanoseconds},1,{kind},{},1,0,0,{unit},0,{unit},{gpu},0,0", 1 << kind)
    }
}

impl Export for UvmFaults {
    fn begin(&mut self, _machine: &Machine, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn event(
        &mut self,
        machine: &Machine,
        records: &[(bool, &Record)],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let chosen: Vec<&Record> =
            records.iter().filter(|(chosen, _)| *chosen).map(|(_, record)| *record).collect();
        for record in &chosen {
            self.fault(record);
        }
        self.batch(machine, &chosen, out)?;
        self.arrive(&chosen);
        Ok(())
    }

    fn end(&mut self, machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
        self.close(machine, out)?;
        if !self.overtaken.is_empty() || !self.left.is_empty() {
            self.begin_batch(machine, (0, 0), out)?;
            self.close(machine, out)?;
        }
        for run in machine.allocated() {
            let (start, end) = (run.start.0, run.end());
            for start in (start..end).step_by(RANGE as usize) {
                let bytes = RANGE.min(end - start);
                let payload =
                    format!("uvm range destroy va_range->node.start, va_range->size: {start:#x}, {bytes}");
                self.line(machine, &payload, out)?;
            }
        }
        Ok(())
    }
}
