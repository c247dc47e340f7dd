//! The Trace Event Format that Perfetto (ui.perfetto.dev) and Chrome open ("Trace Event Format", Google, 2016).
//!
//! A process is a group of components (`gpu0`, `host`, `link`), a thread is a component or a warp. Transactions and
//! kernels are asynchronous slices, what a warp does is a slice of its thread, messages are arrows between the
//! slices in which they are sent and taken, changes of state are instants, MSHRs and links are counters. Times are
//! microseconds; slices and instants have the cycle among their arguments, counters what they count.

mod event;
mod track;

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::exporter::Export;
use super::flights::Flights;
use crate::debug::describe;
use crate::machine::Machine;
use crate::model::component::{ComponentId, Components};
use crate::model::inspect::Inspect;
use crate::model::message::Message;
use crate::model::record::{Field, Record, What};
use crate::model::text::hex;
use crate::model::time::{Tick, TimeBase};
use crate::model::warp::NO_WARP;
use crate::model::warp::WarpState;
use crate::report::behind::Behind;
use crate::report::load::{self, Load, Loads};
use event::Event;
use track::{Track, Tracks};

/// Writes trace events.
#[derive(Debug)]
pub struct Perfetto {
    tracks: Tracks,
    time: TimeBase,
    loads: Loads,
    behind: Behind,
    /// Transactions that have begun, with their tracks and names.
    transactions: BTreeMap<u64, (Track, String, Tick)>,
    /// Kernels that have begun, by launch.
    kernels: BTreeMap<u32, (Track, String)>,
    /// Warps whose slice has begun.
    warps: BTreeMap<(ComponentId, u32), (Track, WarpState)>,
    /// Numbers of the arrows that have not arrived.
    flights: Flights<u64>,
    arrows: u64,
    /// Whether nothing stands before the next event.
    first: bool,
}

impl Perfetto {
    /// For a run that `machine` begins.
    #[must_use]
    pub fn new(machine: &Machine) -> Self {
        Self {
            tracks: Tracks::new(machine.components()),
            time: machine.time_base(),
            loads: Loads::new(machine),
            behind: Behind::new(machine),
            transactions: BTreeMap::new(),
            kernels: BTreeMap::new(),
            warps: BTreeMap::new(),
            flights: Flights::default(),
            arrows: 0,
            first: true,
        }
    }

    fn microseconds(&self, tick: Tick) -> f64 {
        self.time.nanoseconds(tick) / 1000.0
    }

    /// What every event tells of a record, and `more`.
    fn arguments(record: &Record, more: Value) -> Value {
        let mut arguments = match more {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        arguments.insert("cycle".into(), json!(record.cycle));
        arguments.insert("record".into(), json!(format!("{}.{}", record.id.event, record.id.ordinal)));
        if let Some(range) = record.range {
            arguments.insert("block".into(), json!(range.start.to_string()));
        }
        if let Some(txn) = record.txn {
            arguments.insert("transaction".into(), json!(txn.0));
        }
        Value::Object(arguments)
    }

    fn put(&mut self, event: Event, out: &mut dyn Write) -> io::Result<()> {
        let comma = if std::mem::take(&mut self.first) { "" } else { "," };
        write!(out, "{comma}\n{}", Value::Object(event.keys))
    }

    /// Names a process or thread, for good.
    fn name(&mut self, what: &str, of: Track, key: &str, is: Value, out: &mut dyn Write) -> io::Result<()> {
        let arguments = Value::Object(Map::from_iter([(key.to_owned(), is)]));
        self.put(Event::new("M", what, of, 0.0).about(arguments), out)
    }

    /// The track of a component; named when it is used first.
    fn component(&mut self, id: ComponentId, names: &Components, out: &mut dyn Write) -> io::Result<Track> {
        let (track, new) = self.tracks.component(id);
        if new {
            self.thread(track, names.path(id), out)?;
        }
        Ok(track)
    }

    /// The track of a warp; named when it is used first.
    fn warp(
        &mut self,
        of: ComponentId,
        warp: u32,
        names: &Components,
        out: &mut dyn Write,
    ) -> io::Result<Track> {
        let (track, new) = self.tracks.warp(of, warp);
        if new {
            self.thread(track, &format!("{} warp {warp}", names.path(of)), out)?;
        }
        Ok(track)
    }

    fn thread(&mut self, track: Track, name: &str, out: &mut dyn Write) -> io::Result<()> {
        self.name("thread_name", track, "name", json!(name), out)?;
        self.name("thread_sort_index", track, "sort_index", json!(self.tracks.order(track)), out)
    }

    fn begin_slice(&mut self, record: &Record, names: &Components, out: &mut dyn Write) -> io::Result<()> {
        let at = self.microseconds(record.tick);
        match &record.what {
            What::Issue { kind, warp, bytes } => {
                let (Some(txn), Some(range)) = (record.txn, record.range) else { return Ok(()) };
                let track = self.component(record.at, names, out)?;
                let name = format!("{} {}", kind.name(), range.start);
                let warp = (*warp != NO_WARP).then_some(*warp);
                let arguments = json!({ "warp": warp, "bytes": hex(bytes), "length": range.len });
                let event = Event::new("b", &name, track, at)
                    .identified("transaction", txn.0)
                    .about(Self::arguments(record, arguments));
                self.transactions.insert(txn.0, (track, name, record.tick));
                self.put(event, out)
            }
            What::Kernel { name, launch, ended: false } => {
                let track = self.component(record.at, names, out)?;
                let event = Event::new("b", name, track, at)
                    .identified("kernel", u64::from(*launch))
                    .about(Self::arguments(record, Value::Null));
                self.kernels.insert(*launch, (track, name.to_string()));
                self.put(event, out)
            }
            What::Warp { warp, to, .. } if !matches!(to, WarpState::None | WarpState::Done) => {
                let track = self.warp(record.at, *warp, names, out)?;
                self.warps.insert((record.at, *warp), (track, *to));
                let event = Event::new("B", to.name(), track, at).with("cat", "warp");
                self.put(event.about(Self::arguments(record, Value::Null)), out)
            }
            _ => Ok(()),
        }
    }

    fn end_slice(&mut self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        let at = self.microseconds(record.tick);
        match &record.what {
            What::Complete { bytes, latency, .. } => {
                let begun = record.txn.and_then(|txn| Some((txn.0, self.transactions.remove(&txn.0)?)));
                let Some((number, (track, name, issued))) = begun else { return Ok(()) };
                // A hit is told as it is issued, and one that has joined a miss takes as long, at least.
                let at = self
                    .microseconds(record.tick.max(issued.saturating_add(self.time.tick_of_cycle(*latency))));
                let arguments = json!({ "bytes": hex(bytes), "latency_cycles": latency });
                let event = Event::new("e", &name, track, at).identified("transaction", number);
                self.put(event.about(Self::arguments(record, arguments)), out)
            }
            What::Kernel { launch, ended: true, .. } => {
                let Some((track, name)) = self.kernels.remove(launch) else { return Ok(()) };
                let event = Event::new("e", &name, track, at).identified("kernel", u64::from(*launch));
                self.put(event.about(Self::arguments(record, Value::Null)), out)
            }
            What::Warp { warp, .. } => {
                let Some((track, state)) = self.warps.remove(&(record.at, *warp)) else { return Ok(()) };
                let event = Event::new("E", state.name(), track, at).with("cat", "warp");
                self.put(event.about(Self::arguments(record, Value::Null)), out)
            }
            _ => Ok(()),
        }
    }

    /// A message is sent: the beginning of an arrow, in a slice of no length that the arrow is tied to.
    fn send(
        &mut self,
        record: &Record,
        message: &Message,
        names: &Components,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.arrows += 1;
        self.flights.send(record.id.event, message, self.arrows);
        let text = format!("send {} to {}", message.kind.name(), names.path(message.to));
        let arrow = Event::new("s", message.kind.name(), self.component(message.from, names, out)?, 0.0);
        self.tied(record, &text, message, arrow.identified("message", self.arrows), out)
    }

    /// A message is taken: the end of its arrow, if that has begun.
    fn take(
        &mut self,
        record: &Record,
        message: &Message,
        names: &Components,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Some(number) = self.flights.take(message) else { return Ok(()) };
        let text = format!("take {} from {}", message.kind.name(), names.path(message.from));
        let arrow = Event::new("f", message.kind.name(), self.component(message.to, names, out)?, 0.0)
            .with("bp", "e")
            .identified("message", number);
        self.tied(record, &text, message, arrow, out)
    }

    /// An end of an arrow, in its slice.
    fn tied(
        &mut self,
        record: &Record,
        text: &str,
        message: &Message,
        arrow: Event,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let at = self.microseconds(record.tick);
        let arguments = json!({ "bytes": message.size, "network": message.kind.network().name() });
        let (track, _) = self.tracks.component(record.at);
        let begin = Event::new("B", text, track, at).with("cat", "message");
        self.put(begin.about(Self::arguments(record, arguments)), out)?;
        self.put(arrow.with("ts", at), out)?;
        let end = Event::new("E", text, track, at).with("cat", "message");
        self.put(end.about(json!({ "cycle": record.cycle })), out)
    }

    fn instant(
        &mut self,
        name: &str,
        record: &Record,
        names: &Components,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let track = self.component(record.at, names, out)?;
        let event = Event::new("i", name, track, self.microseconds(record.tick)).with("s", "t");
        let arguments = Self::arguments(record, json!({ "text": describe::record(record, names) }));
        self.put(event.with("cat", record.kind()).about(arguments), out)
    }

    fn mshrs(
        &mut self,
        record: &Record,
        used: u32,
        names: &Components,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let track = Track { thread: 0, ..self.tracks.component_without_name(record.at) };
        let name = format!("{} MSHRs", names.path(record.at));
        let event = Event::new("C", &name, track, self.microseconds(record.tick));
        self.put(event.about(json!({ "used": used })), out)
    }

    fn loads(&mut self, loads: &[Load], names: &Components, out: &mut dyn Write) -> io::Result<()> {
        for load in loads {
            let track = Track { thread: 0, ..self.tracks.component_without_name(load.link) };
            let name = format!("{} utilisation", names.path(load.link));
            let event = Event::new("C", &name, track, self.microseconds(load.from));
            self.put(event.about(json!({ "percent": load.share * 100.0 })), out)?;
        }
        Ok(())
    }

    /// Counters of lanes, from a moment on.
    fn lanes(
        &mut self,
        at: Tick,
        lanes: impl IntoIterator<Item = (ComponentId, u32)>,
        names: &Components,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for (link, lanes) in lanes {
            let track = Track { thread: 0, ..self.tracks.component_without_name(link) };
            let event = Event::new("C", &format!("{} lanes", names.path(link)), track, self.microseconds(at));
            self.put(event.about(json!({ "lanes": lanes })), out)?;
        }
        Ok(())
    }

    fn chosen(&mut self, record: &Record, names: &Components, out: &mut dyn Write) -> io::Result<()> {
        match &record.what {
            What::Message(message) => self.send(record, message, names, out),
            What::Transition { from, to, .. } => self.instant(&format!("{from} > {to}"), record, names, out),
            What::Mshr { used, .. } => self.mshrs(record, *used, names, out),
            What::Tlb { .. }
            | What::Walk(_)
            | What::FarFault { .. }
            | What::Page { .. }
            | What::ProtectionFault { .. }
            | What::Tag(_)
            | What::RemoteDirectory { .. } => {
                let name = format!("{} {}", record.kind(), stage(record));
                self.instant(name.trim_end(), record, names, out)
            }
            What::Hop(_)
            | What::Permission { .. }
            | What::Speculation { .. }
            | What::PageHome { .. }
            | What::RemoteMiss { .. }
            | What::WayRepartition { .. }
            | What::WaySample { .. }
            | What::LaneSample { .. }
            | What::UseOnce { .. }
            | What::Overtaken
            | What::Nack { .. }
            | What::Evict { .. }
            | What::Promote { .. }
            | What::Stall { .. }
            | What::NoCredit { .. }
            | What::LaneReversal(_)
            | What::Saturation(_)
            | What::Input { .. }
            | What::Fault { .. }
            | What::Violation { .. } => self.instant(record.kind(), record, names, out),
            What::Issue { .. } | What::Kernel { .. } | What::Warp { .. } => {
                self.begin_slice(record, names, out)
            }
            // Ends of slices and arrows are there whatever is chosen; hits, directories and DRAM are left out.
            What::Complete { .. }
            | What::Delivery(_)
            | What::Hit { .. }
            | What::Directory { .. }
            | What::Merge { .. }
            | What::Activate { .. }
            | What::Dram { .. } => Ok(()),
        }
    }

    /// What has not ended when the run does.
    fn unfinished(&mut self, machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
        let at = self.microseconds(machine.tick());
        let arguments = json!({ "cycle": self.time.cycle(machine.tick()), "unfinished": true });
        for (_, (track, state)) in std::mem::take(&mut self.warps) {
            let event = Event::new("E", state.name(), track, at).with("cat", "warp");
            self.put(event.about(arguments.clone()), out)?;
        }
        for (number, (track, name, _)) in std::mem::take(&mut self.transactions) {
            let event = Event::new("e", &name, track, at).identified("transaction", number);
            self.put(event.about(arguments.clone()), out)?;
        }
        for (launch, (track, name)) in std::mem::take(&mut self.kernels) {
            let event = Event::new("e", &name, track, at).identified("kernel", u64::from(launch));
            self.put(event.about(arguments.clone()), out)?;
        }
        Ok(())
    }
}

/// The word for how far something has come that has a life of its own.
fn stage(record: &Record) -> &'static str {
    let field = ["stage", "outcome", "change"].into_iter().find_map(|name| record.field(name));
    match field {
        Some(Field::Word(word)) => word,
        Some(Field::Words(words)) => words.first().copied().unwrap_or_default(),
        _ => "",
    }
}

impl Export for Perfetto {
    fn begin(&mut self, machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        for (number, group) in self.tracks.groups().into_iter().enumerate() {
            let track = Track { process: number as u32 + 1, thread: 0 };
            self.name("process_name", track, "name", json!(group), out)?;
            self.name("process_sort_index", track, "sort_index", json!(number), out)?;
        }
        let links = load::links(machine).filter_map(|id| machine.link(id, 0));
        let lanes: Vec<_> =
            links.filter(|view| view.balance.is_some()).map(|view| (view.link, view.lanes)).collect();
        self.lanes(0, lanes, machine.components(), out)
    }

    fn event(
        &mut self,
        machine: &Machine,
        records: &[(bool, &Record)],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let names = machine.components();
        if self.loads.is_over(machine.tick()) {
            let loads = self.loads.close(&mut self.behind, machine);
            self.loads(&loads, names, out)?;
        }
        for &(chosen, record) in records {
            self.end_slice(record, out)?;
            if let What::Delivery(message) = &record.what {
                self.take(record, message, names, out)?;
            }
            if chosen {
                let lanes = load::lanes(machine, record).into_iter().flatten();
                self.lanes(record.tick, lanes, names, out)?;
                self.chosen(record, names, out)?;
                if let Some(used) = load::scores(machine, record) {
                    self.mshrs(record, used, names, out)?;
                }
            }
        }
        self.behind.follow(machine);
        Ok(())
    }

    fn end(&mut self, machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
        let loads = self.loads.end(machine);
        self.loads(&loads, machine.components(), out)?;
        self.unfinished(machine, out)?;
        writeln!(out, "\n]}}")
    }
}
