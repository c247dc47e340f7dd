//! What is there before the first event: blocks, bytes of memory, and the faults to inject.

use std::sync::Arc;

use crate::config::document::At;
use crate::config::{Document, mutation};
use crate::diagnostic::{Diagnostic, Result, Source, in_toml};
use crate::machine::{InitialBlock, Machine};
use crate::model::access::Bytes;
use crate::model::address::{Address, Range};
use crate::model::component::ComponentKind;
use crate::model::fault::{Fault, LOSE_MESSAGE};
use crate::model::inspect::Inspect;
use crate::model::message::MessageKind;
use crate::model::number::parse_bytes;
use crate::model::state::State;
use crate::model::units::Size;
use crate::protocol::table::Table;

use super::file::{AllocateFile, BytesFile, FaultFile, StateFile};
use super::place::Place;

/// The initial bytes that a file lists.
///
/// # Errors
/// If they are no bytes.
fn bytes(list: &[BytesFile], document: &Document) -> Result<Vec<(Address, Bytes)>> {
    let read = |entry: &BytesFile| {
        let bytes = parse_bytes(&entry.bytes.value).filter(|bytes| !bytes.is_empty()).ok_or_else(|| {
            let error = document.complain(Some(&entry.bytes.span), "these are not bytes");
            error.expected("pairs of hexadecimal digits such as \"07 00\"")
        })?;
        Ok((Address(entry.address), bytes))
    };
    list.iter().map(read).collect()
}

/// The bytes of a host memory of this size before the first event.
///
/// # Errors
/// If some are no bytes, or lie beyond its end.
pub fn memory(list: &[BytesFile], document: &Document, size: Size) -> Result<Vec<(Address, Bytes)>> {
    let all = bytes(list, document)?;
    for (entry, (address, bytes)) in list.iter().zip(&all) {
        if address.0.saturating_add(bytes.len() as u64) > size.0 {
            let message = format!("these bytes at {address} lie beyond the host memory of {size}");
            let error = document.complain(Some(&entry.bytes.span), message);
            return Err(error.expected(format!("an end at {:#x} or before", size.0)).into());
        }
    }
    Ok(all)
}

/// Most bytes that one `[[allocate]]` may have. The pages of all are counted by the machine.
const ALLOCATED: u64 = 2 << 30;

/// What `[[allocate]]` names, of a host memory of `size`.
///
/// # Errors
/// If it is empty, too large, or lies beyond the end of the memory.
pub fn allocated(list: &[At<AllocateFile>], document: &Document, size: Size) -> Result<Vec<Range>> {
    let range = |At { value, span }: &At<AllocateFile>| {
        let (start, bytes) = (Address(value.address), value.size.0);
        if bytes == 0 || bytes > ALLOCATED || start.0.saturating_add(bytes) > size.0 {
            let message = format!("{} at {start} cannot be allocated", value.size);
            let expected = format!("1 B to {} that end at {:#x} or before", Size(ALLOCATED), size.0);
            return Err(document.complain(Some(span), message).expected(expected).into());
        }
        Ok(Range::new(start, bytes as u32))
    };
    list.iter().map(range).collect()
}

/// The initial block that a `[[state]]` describes, on a machine like `probe`.
///
/// # Errors
/// If a component or state is not there.
pub fn block(file: &StateFile, document: &Document, probe: &Machine, size: Size) -> Result<InitialBlock> {
    if file.address >= size.0 {
        let message = format!("address {} lies beyond the host memory of {size}", Address(file.address));
        let error = document.complain(Some(&file.node.span), message);
        return Err(error.expected(format!("an address below {:#x}", size.0)).into());
    }
    let place = Place { document, components: probe.components() };
    let (node, component) = place.node(&file.node)?;
    let state = file.state.as_ref().map(|name| self::state(name, document, probe, node)).transpose()?;
    if let (ComponentKind::Hmd, Some(name)) = (component.kind, &file.state) {
        return Err(document.complain(Some(&name.span), format!("{} keeps no state", component.path)).into());
    }
    let child = |name: &At<String>| place.child(node, name).map(|child| child.path.clone());
    Ok(InitialBlock {
        node: component.path.clone(),
        address: Address(file.address),
        state,
        owner: file.owner.as_ref().filter(|name| name.value != "none").map(child).transpose()?,
        sharers: file.sharers.0.iter().map(child).collect::<Result<_>>()?,
        dirty: bytes(&file.dirty, document)?,
    })
}

fn state(
    name: &At<String>,
    document: &Document,
    probe: &Machine,
    node: crate::model::component::ComponentId,
) -> Result<State> {
    let table = probe.table(node);
    let known = |state: &State| table.is_none_or(|table| table.row(*state).is_some());
    State::parse(&name.value).filter(known).ok_or_else(|| {
        let error = document.complain(Some(&name.span), format!("{} is not a state", name.value));
        let letters = table.map(|table| {
            let letters: Vec<_> = table.rows.iter().map(|row| row.state.to_string()).collect();
            format!("a state of {}: {}", table.name, letters.join(" "))
        });
        error.expected(letters.unwrap_or_else(|| "one upper-case letter".into())).into()
    })
}

/// Where a fault has its parameters.
const PARAMETERS: &str = "a [[fault]] of the scenario with name, message and nth, --fault 'NAME KEY=VALUE', or `fork fault` in the debugger";

/// A fault and its keys as words, `lose-message message=probe-read nth=2`, as the table that a scenario has for it.
///
/// # Errors
/// If a word sets nothing.
pub fn fault_table(text: &str) -> Result<String> {
    let mut words = text.split_whitespace();
    let mut table = format!("{{ name = {}", in_toml(words.next().unwrap_or_default()));
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            let error = Diagnostic::new(format!("\"{word}\" sets nothing"));
            return Err(Box::new(error.expected("KEY=VALUE, such as message=probe-read or nth=2")));
        };
        let value = if value.parse::<u64>().is_ok() { value.to_owned() } else { in_toml(value) };
        table.push_str(&format!(", {key} = {value}"));
    }
    table.push_str(" }");
    Ok(table)
}

/// The fault that a `[[fault]]` names.
///
/// # Errors
/// If there is none of that name, or it takes no such parameter.
pub fn fault(file: &At<FaultFile>, document: &Document) -> Result<Fault> {
    let FaultFile { name, message, nth } = &file.value;
    let unknown = || {
        let own = name.value.split_once(' ').filter(|(own, _)| Fault::NAMES.contains(own));
        if let Some((own, _)) = own {
            let error = document.complain(Some(&name.span), format!("{own} takes no parameters here"));
            return error.expected(PARAMETERS);
        }
        let error = document.complain(Some(&name.span), format!("there is no fault {}", name.value));
        error.expected("a name that `umscope list faults` shows").nearest(&name.value, Fault::NAMES)
    };
    if !Fault::NAMES.contains(&name.value.as_str()) {
        return Err(unknown().into());
    }
    let takes = match name.value.as_str() {
        LOSE_MESSAGE => (true, true),
        "drop-wake-up" | "drop-replay" | "lose-page" => (false, true),
        _ => (false, false),
    };
    for (given, taken, key) in [
        (message.as_ref().map(|at| &at.span), takes.0, "message"),
        (nth.as_ref().map(|at| &at.span), takes.1, "nth"),
    ] {
        if let (Some(span), false) = (given, taken) {
            return Err(document.complain(Some(span), format!("{} takes no {key}", name.value)).into());
        }
    }
    let number = nth.as_ref().map_or(1, |nth| nth.value);
    if let (Some(nth), 0) = (nth, number) {
        return Err(document.complain(Some(&nth.span), "the first is number 1").into());
    }
    Ok(match name.value.as_str() {
        LOSE_MESSAGE => Fault::LoseMessage { kind: message_kind(file, document)?, nth: number },
        "drop-wake-up" => Fault::DropWakeUp { nth: number },
        "drop-replay" => Fault::DropReplay { nth: number },
        "lose-page" => Fault::LosePage { nth: number },
        other => Fault::plain(other).ok_or_else(unknown)?,
    })
}

/// Changes the table that a `mutate` is about.
///
/// # Errors
/// If it is no change of one of them.
pub fn mutate(text: &At<String>, document: &Document, tables: &mut [Arc<Table>]) -> Result<()> {
    // The text without its quotes, if it is written without escapes; else by itself.
    let place = document.complain(Some(&text.span), "");
    let raw = document.text(&text.span);
    let (source, span) = match (place.source, place.span) {
        (Some(source), Some(span)) if raw.contains(text.value.as_str()) => {
            let start = span.start + raw.find(text.value.as_str()).unwrap_or(0);
            (source, start..start + text.value.len())
        }
        _ => {
            let name = document.source().name.clone();
            (Source::new(name, text.value.as_str()), 0..text.value.len())
        }
    };
    let mutation = mutation::parse(&source, span, tables)?;
    let changed = mutation.apply_to(tables);
    changed.map_err(|message| Box::new(document.complain(Some(&text.span), message)))
}

fn message_kind(file: &At<FaultFile>, document: &Document) -> Result<MessageKind> {
    let names = MessageKind::ALL.map(MessageKind::name);
    let Some(message) = &file.value.message else {
        let error = document.complain(Some(&file.span), "which message shall be lost?");
        let expected = format!("message = one of {}, in {PARAMETERS}", names.join(", "));
        return Err(error.expected(expected).into());
    };
    let found = MessageKind::ALL.into_iter().find(|kind| kind.name() == message.value);
    found.ok_or_else(|| {
        let error = document.complain(Some(&message.span), format!("there is no message {}", message.value));
        error.expected(names.join(", ")).nearest(&message.value, names).into()
    })
}
