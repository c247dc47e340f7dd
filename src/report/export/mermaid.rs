//! A sequence diagram in the notation of Mermaid (mermaid.js.org), which wikis and slides draw: a lifeline for each
//! component in the order of their first part, accesses and messages as arrows, what happens at a component as notes.
//!
//! An arrow stands where its message is taken. A diagram has no scale of time, so everything tells its cycle in brackets.

use std::io::{self, Write};
use std::sync::Arc;

use super::exporter::Export;
use super::flights::Flights;
use crate::debug::frame::text;
use crate::machine::Machine;
use crate::model::component::{ComponentId, Components};
use crate::model::inspect::Inspect;
use crate::model::message::Message;
use crate::model::record::{Record, What};

/// Arrows and notes at most: nobody reads more, and no viewer draws them.
const MOST: usize = 10_000;

/// Writes a diagram at the end: its lifelines stand before its arrows.
#[derive(Debug, Default)]
pub struct Mermaid {
    lifelines: Vec<ComponentId>,
    rows: Vec<String>,
    /// Chosen messages on their way, with the cycle at which they were sent.
    flights: Flights<(u64, Arc<Message>)>,
}

/// Whether a record is told beside the arrows: what befalls a block, a page or an access, not who keeps count of it.
fn is_noted(what: &What) -> bool {
    matches!(
        what,
        What::Issue { .. }
            | What::Complete { .. }
            | What::Transition { .. }
            | What::Evict { .. }
            | What::Merge { .. }
            | What::Promote { .. }
            | What::Kernel { .. }
            | What::Stall { .. }
            | What::LaneReversal(_)
            | What::FarFault { .. }
            | What::Page { .. }
            | What::ProtectionFault { .. }
            | What::Permission { .. }
            | What::PageHome { .. }
            | What::WayRepartition { .. }
            | What::Tag(_)
            | What::Nack { .. }
            | What::Overtaken
            | What::Input { .. }
            | What::Fault { .. }
            | What::Violation { .. }
    )
}

/// A text in which nothing is read as notation.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '#' => plain.push_str("#35;"),
            ';' => plain.push_str("#59;"),
            '\n' => plain.push(' '),
            _ => plain.push(letter),
        }
    }
    plain
}

/// What a message is and is about.
fn label(message: &Message) -> String {
    format!("{} {}", text::message(message), message.range.start)
}

impl Mermaid {
    /// The name of a component's lifeline in the rows.
    fn lifeline(&mut self, id: ComponentId) -> String {
        let known = self.lifelines.iter().position(|known| *known == id);
        let place = known.unwrap_or_else(|| {
            self.lifelines.push(id);
            self.lifelines.len() - 1
        });
        format!("p{place}")
    }

    fn put(&mut self, row: String) -> io::Result<()> {
        if self.rows.len() == MOST {
            let message =
                "a diagram of more than 10,000 arrows and notes; choose some with --where, such as 'txn 1'";
            return Err(io::Error::other(message));
        }
        self.rows.push(row);
        Ok(())
    }

    fn arrow(&mut self, (from, to): (ComponentId, ComponentId), sign: &str, text: &str) -> io::Result<()> {
        let (from, to) = (self.lifeline(from), self.lifeline(to));
        self.put(format!("{from}{sign}{to}: {}", plain(text)))
    }

    /// A message that was sent at a cycle is taken.
    fn take(&mut self, message: &Message, sent: u64, taken: u64) -> io::Result<()> {
        let sign = if message.has_data { "->>" } else { "-->>" };
        let text = format!("{} ({sent} to {taken})", label(message));
        self.arrow((message.from, message.to), sign, &text)
    }

    fn note(&mut self, record: &Record, names: &Components) -> io::Result<()> {
        let tells_where = matches!(record.what, What::Issue { .. } | What::Complete { .. });
        let block = record.range.filter(|_| !tells_where).map(|range| format!("{} ", range.start));
        let what = text::describe(record, names).trim_end().replace("  ", ", ");
        let text = format!("{}{what} ({})", block.unwrap_or_default(), record.cycle);
        if matches!(record.what, What::Issue { .. })
            && let Some(l1) = names.find(&format!("{}.l1", names.path(record.at)))
        {
            return self.arrow((record.at, l1), "->>", &text);
        }
        let over = self.lifeline(record.at);
        self.put(format!("Note over {over}: {}", plain(&text)))
    }

    fn record(&mut self, chosen: bool, record: &Record, names: &Components) -> io::Result<()> {
        match &record.what {
            What::Message(message) if chosen => {
                // Whoever sends first stands before who takes first.
                self.lifeline(message.from);
                self.lifeline(message.to);
                self.flights.send(record.id.event, message, (record.cycle, message.clone()));
                Ok(())
            }
            What::Delivery(message) => match self.flights.take(message) {
                Some((sent, _)) => self.take(message, sent, record.cycle),
                None => Ok(()),
            },
            what if chosen && is_noted(what) => self.note(record, names),
            _ => Ok(()),
        }
    }
}

impl Export for Mermaid {
    fn begin(&mut self, _machine: &Machine, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn event(
        &mut self,
        machine: &Machine,
        records: &[(bool, &Record)],
        _out: &mut dyn Write,
    ) -> io::Result<()> {
        records.iter().try_for_each(|(chosen, record)| self.record(*chosen, record, machine.components()))
    }

    fn end(&mut self, machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
        let left: Vec<(u64, Arc<Message>)> = self.flights.left().cloned().collect();
        for (sent, message) in left {
            let text = format!(
                "{} ({sent}, not taken until {})",
                label(&message),
                machine.time_base().cycle(machine.tick())
            );
            self.arrow((message.from, message.to), "-x", &text)?;
        }
        writeln!(out, "sequenceDiagram")?;
        for (place, id) in self.lifelines.iter().enumerate() {
            writeln!(out, "    participant p{place} as {}", machine.components().path(*id))?;
        }
        self.rows.iter().try_for_each(|row| writeln!(out, "    {row}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_read_as_notation() {
        assert_eq!(plain("a;b #1\nc: d > e"), "a#59;b #35;1 c: d > e");
    }
}
