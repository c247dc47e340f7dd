//! What went over the links, and which messages were sent.

use super::table::Table;
use super::values::Values;
use crate::model::component::ComponentKind;
use crate::model::inspect::Inspect;
use crate::model::message::MessageKind;
use crate::model::text::key_word;
use crate::report::number::{self, bytes};

/// Links that are shown; the busiest.
const LINKS: usize = 8;

fn paths(machine: &dyn Inspect) -> impl Iterator<Item = &str> {
    let links = machine.components().iter().filter(|(_, component)| component.kind == ComponentKind::Link);
    links.map(|(_, link)| link.path.as_str())
}

/// Whether links end at a switch: what crosses it goes over two.
fn is_switched(machine: &dyn Inspect) -> bool {
    let links = machine.components().iter().filter(|(_, component)| component.kind == ComponentKind::Link);
    let mut views = links.filter_map(|(id, _)| machine.link(id, 0));
    views.any(|link| link.ends.0 == "switch" || link.ends.1 == "switch")
}

/// A row for each of the busiest links.
pub fn links(machine: &dyn Inspect, values: &Values) -> Table {
    let key = |path: &str, name: &str| format!("{path}.{name}");
    let mut used: Vec<&str> = paths(machine).filter(|path| values.is_some(&key(path, "bytes"))).collect();
    let share = |path: &str| values.get(&key(path, "utilisation"));
    used.sort_by(|one, other| share(other).total_cmp(&share(one)));
    let mut table = Table::new(["links", "busy", "bytes", "messages", "mean wait", "coherence/data"]);
    for path in used.iter().take(LINKS) {
        table.row(
            *path,
            [
                values.percent(&key(path, "utilisation")),
                values.bytes(&key(path, "bytes")),
                values.count(&key(path, "messages")),
                values.mean(&key(path, "queued_mean_cycles")),
                values.percent(&key(path, "coherence_share")),
            ],
        );
    }
    if used.len() > LINKS {
        table.note(format!("and {} more", used.len() - LINKS));
    }
    let once = if is_switched(machine) { ", what crosses a switch counted once" } else { "" };
    if values.get("network.coherence_share").is_finite() {
        let (coherence, data) = (values.bytes("network.coherence_bytes"), values.bytes("network.data_bytes"));
        let share = values.percent("network.coherence_share");
        table.note(format!("in all {coherence} of coherence to {data} of data{once}: {share}"));
    }
    if values.is_some("network.energy_joules") {
        let (energy, power) = (values.get("network.energy_joules"), values.get("network.power_watts"));
        table.note(format!("energy {}, a power of {}{once}", number::energy(energy), number::power(power)));
    }
    if values.is_some("network.samples") {
        table.note(format!(
            "lanes turned: {} in {} samples, for {} cycles of a lane, quiescing among them",
            values.count("network.lane_reversals"),
            values.count("network.samples"),
            values.count("network.lane_reversal_cycles")
        ));
    }
    table
}

/// A row for each kind of message that was sent: anywhere, and over the links.
pub fn messages(machine: &dyn Inspect, values: &Values) -> Table {
    let mut table = Table::new(["messages", "count", "bytes", "bytes, link by link"]);
    for kind in MessageKind::ALL {
        let name = key_word(kind.name());
        let key = |name: &str, what: &str| format!("messages.{name}.{what}");
        if values.is_some(&key(&name, "count")) {
            let linked = |path: &str| values.get(&format!("{path}.messages.{name}.bytes"));
            let linked: f64 = paths(machine).map(linked).filter(|bytes| bytes.is_finite()).sum::<f64>() + 0.0;
            let cells =
                [values.count(&key(&name, "count")), values.bytes(&key(&name, "bytes")), bytes(linked)];
            table.row(kind.name(), cells);
        }
    }
    table
}
