//! Value change dump (IEEE 1364-2005, clause 18), for waveform viewers.
//!
//! The variables are the state of every block that changes at a node, the MSHRs in use, what every warp does, how busy
//! every link is, and its lanes if they can turn. States and what warps do are letters, as 8-bit vectors in ASCII. Which blocks there will be is
//! known at the end only, so the changes wait in a file without a name.

mod variable;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, Write};

use super::exporter::Export;
use crate::machine::Machine;
use crate::model::component::ComponentId;
use crate::model::inspect::Inspect;
use crate::model::record::{Record, What};
use crate::model::time::{Tick, TimeBase};
use crate::model::warp::WarpState;
use crate::report::behind::Behind;
use crate::report::load::{self, Load, Loads};
use variable::{Kind, Variable, code, vector};

/// Blocks whose states are followed, at most.
const MOST_BLOCKS: usize = 1 << 20;

/// Writes changes of values.
#[derive(Debug)]
pub struct Vcd {
    time: TimeBase,
    /// Parts of a second that times are counted in: ps, or fs if a tick is shorter.
    unit: (&'static str, u128),
    variables: Vec<Variable>,
    /// Positions in `variables`.
    numbers: BTreeMap<Kind, u32>,
    blocks: usize,
    loads: Loads,
    behind: Behind,
    /// Changes in the present window, of which it is not known yet how busy the links are.
    pending: Vec<(Tick, u32, u32)>,
    changes: BufWriter<File>,
    /// The time that was written last.
    told: Option<u128>,
}

impl Vcd {
    /// For a run that `machine` begins.
    ///
    /// # Errors
    /// If there is no room for a temporary file.
    pub fn new(machine: &Machine) -> io::Result<Self> {
        let time = machine.time_base();
        let fine = u128::from(time.ticks_per_second) > 1_000_000_000_000;
        Ok(Self {
            time,
            unit: if fine { ("1 fs", 1_000_000_000_000_000) } else { ("1 ps", 1_000_000_000_000) },
            variables: Vec::new(),
            numbers: BTreeMap::new(),
            blocks: 0,
            loads: Loads::new(machine),
            behind: Behind::new(machine),
            pending: Vec::new(),
            changes: BufWriter::new(tempfile::tempfile()?),
            told: None,
        })
    }

    fn declare(&mut self, at: ComponentId, kind: Kind, width: u32, initial: u32) -> u32 {
        let next = self.variables.len() as u32;
        let number = *self.numbers.entry(kind).or_insert(next);
        if number == next {
            self.variables.push(Variable { at, kind, width, initial, now: initial });
        }
        number
    }

    /// The variables that are known before the first event.
    fn known(&mut self, machine: &Machine) {
        for (id, component) in machine.components().iter() {
            if component.kind.is_node()
                && let Some(mshrs) = machine.mshrs(id, 0)
            {
                let width = mshrs.capacity.map_or(32, |capacity| 32 - capacity.leading_zeros()).max(1);
                self.declare(id, Kind::Mshrs(id), width, mshrs.used);
            }
            let warps = machine.agent(id).map(|agent| agent.warps).unwrap_or_default();
            for (number, warp) in warps.iter().enumerate() {
                let letter = u32::from(warp.state.letter());
                self.declare(id, Kind::Warp(id, number as u32), 8, letter);
            }
        }
        for link in load::links(machine) {
            self.declare(link, Kind::Load(link), 7, 0);
            if let Some(view) = machine.link(link, 0).filter(|view| view.balance.is_some()) {
                self.declare(link, Kind::Lanes(link), 7, view.lanes);
            }
        }
    }

    fn record(&mut self, record: &Record, machine: &Machine) -> io::Result<()> {
        let at = record.at;
        let (number, value) = match &record.what {
            What::Mshr { used, .. } => (self.numbers.get(&Kind::Mshrs(at)).copied(), *used),
            What::Tag(_) => {
                let Some(used) = load::scores(machine, record) else { return Ok(()) };
                (self.numbers.get(&Kind::Mshrs(at)).copied(), used)
            }
            What::Warp { warp, to, .. } => {
                (self.numbers.get(&Kind::Warp(at, *warp)).copied(), u32::from(to.letter()))
            }
            What::Transition { from, to, .. } => {
                let Some(range) = record.range else { return Ok(()) };
                let kind = Kind::Block(at, range.start.0);
                if !self.numbers.contains_key(&kind) {
                    self.blocks += 1;
                    if self.blocks > MOST_BLOCKS {
                        let message = format!("the states of more than {MOST_BLOCKS} blocks change");
                        return Err(io::Error::other(message + "; choose some with --where"));
                    }
                }
                (Some(self.declare(at, kind, 8, u32::from(from.0))), u32::from(to.0))
            }
            _ => (None, 0),
        };
        self.pending.extend(number.map(|number| (record.tick, number, value)));
        Ok(())
    }

    /// Writes the changes of the windows that are over, in the order of their times.
    fn flush(&mut self, loads: &[Load]) -> io::Result<()> {
        let mut loads = loads.iter().peekable();
        for (tick, number, value) in std::mem::take(&mut self.pending) {
            while let Some(load) = loads.next_if(|load| load.from <= tick) {
                self.load(load)?;
            }
            self.change(tick, number, value)?;
        }
        loads.try_for_each(|load| self.load(load))
    }

    fn load(&mut self, load: &Load) -> io::Result<()> {
        let Some(number) = self.numbers.get(&Kind::Load(load.link)).copied() else { return Ok(()) };
        self.change(load.from, number, (load.share * 100.0).round() as u32)
    }

    fn change(&mut self, tick: Tick, number: u32, value: u32) -> io::Result<()> {
        match self.variables.get_mut(number as usize) {
            Some(variable) if variable.now != value => variable.now = value,
            _ => return Ok(()),
        }
        self.moment(tick)?;
        writeln!(self.changes, "{} {}", vector(value), code(number))
    }

    fn moment(&mut self, tick: Tick) -> io::Result<()> {
        let time = u128::from(tick) * self.unit.1 / u128::from(self.time.ticks_per_second.max(1));
        if self.told != Some(time) {
            writeln!(self.changes, "#{time}")?;
            self.told = Some(time);
        }
        Ok(())
    }
}

impl Export for Vcd {
    fn begin(&mut self, machine: &Machine, _out: &mut dyn Write) -> io::Result<()> {
        self.known(machine);
        Ok(())
    }

    fn event(
        &mut self,
        machine: &Machine,
        records: &[(bool, &Record)],
        _out: &mut dyn Write,
    ) -> io::Result<()> {
        if self.loads.is_over(machine.tick()) {
            let loads = self.loads.close(&mut self.behind, machine);
            self.flush(&loads)?;
        }
        for (_, record) in records.iter().filter(|(chosen, _)| *chosen) {
            self.record(record, machine)?;
            for (link, lanes) in load::lanes(machine, record).into_iter().flatten() {
                let number = self.numbers.get(&Kind::Lanes(link)).copied();
                self.pending.extend(number.map(|number| (record.tick, number, lanes)));
            }
        }
        self.behind.follow(machine);
        Ok(())
    }

    fn end(&mut self, machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
        let loads = self.loads.end(machine);
        self.flush(&loads)?;
        self.moment(machine.tick())?;
        writeln!(out, "$version umscope {} $end", env!("CARGO_PKG_VERSION"))?;
        let warps = WarpState::ALL.map(|state| format!("{} {}", state.letter(), state.name()));
        writeln!(
            out,
            "$comment States are letters of the protocol, warps {}, in ASCII; busy is in percent $end",
            warps.join(", ")
        )?;
        writeln!(out, "$timescale {} $end", self.unit.0)?;
        variable::declarations(&self.variables, machine.components(), out)?;
        writeln!(out, "#0\n$dumpvars")?;
        for (number, variable) in self.variables.iter().enumerate() {
            writeln!(out, "{} {}", vector(variable.initial), code(number as u32))?;
        }
        writeln!(out, "$end")?;
        self.changes.flush()?;
        let file = self.changes.get_mut();
        file.rewind()?;
        let mut changes = BufReader::new(file);
        // What changes at the very beginning follows the values that are there.
        skip_zero(&mut changes)?;
        io::copy(&mut changes, out).map(|_| ())
    }
}

/// Passes by a time of 0 at the beginning of the changes, which has been written already.
fn skip_zero(changes: &mut (impl io::BufRead + Seek)) -> io::Result<()> {
    let mut line = String::new();
    changes.read_line(&mut line)?;
    if line.trim_end() != "#0" {
        changes.rewind()?;
    }
    Ok(())
}
