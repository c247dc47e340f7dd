//! Fewer compute units, cores and blocks: what one of them does or holds becomes another's.

use std::collections::BTreeSet;

use toml::Value;

use crate::model::number::parse_number;
use crate::scenario::draft::Draft;

/// Bytes of the pieces that are taken for blocks: no machine has smaller ones than it needs to tell apart.
const BLOCK: u64 = 64;

/// What one agent does another does, by pairs; then each number is made as small as can be.
pub fn agents(draft: &Draft, index: usize) -> Option<Option<Draft>> {
    let used: Vec<_> = used(draft).into_iter().collect();
    let pairs =
        used.iter().enumerate().flat_map(|(number, from)| used.iter().take(number).map(move |to| (from, to)));
    let pairs: Vec<_> = pairs.collect();
    if let Some((from, to)) = pairs.get(index) {
        return Some(Some(replaced(draft, |path| (path == *from).then(|| (*to).clone()))));
    }
    (index == pairs.len()).then(|| {
        let renumbered = renumbered(&used);
        let changes = renumbered != used;
        let to = |path: &str| {
            let position = used.iter().position(|known| known == path)?;
            renumbered.get(position).cloned()
        };
        changes.then(|| replaced(draft, to))
    })
}

/// Compute units and cores that do something, in order.
fn used(draft: &Draft) -> BTreeSet<String> {
    let by = draft.tasks.iter().filter_map(|(_, table)| table.get("by")?.as_str());
    by.map(str::to_owned).collect()
}

/// `gpu3.cu5` and `gpu7.cu2` become `gpu0.cu0` and `gpu1.cu0`.
fn renumbered(used: &[String]) -> Vec<String> {
    let mut devices: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut named = Vec::new();
    for path in used {
        let (device, unit) = path.split_once('.').unwrap_or((path, ""));
        if !devices.iter().any(|(known, _)| *known == device) {
            devices.push((device, Vec::new()));
        }
        let is_gpu = |name: &str| name.starts_with("gpu");
        let gpu = devices.iter().filter(|(known, _)| is_gpu(known)).position(|(known, _)| *known == device);
        let Some((_, units)) = devices.iter_mut().find(|(known, _)| *known == device) else { continue };
        if !units.contains(&unit) {
            units.push(unit);
        }
        let number = units.iter().position(|known| *known == unit).unwrap_or(0);
        let word: String = unit.chars().take_while(char::is_ascii_alphabetic).collect();
        let device = gpu.map_or_else(|| device.to_owned(), |gpu| format!("gpu{gpu}"));
        named.push(format!("{device}.{word}{number}"));
    }
    named
}

/// The same where agents, and what lies beneath them, go by other names.
fn replaced(draft: &Draft, to: impl Fn(&str) -> Option<String>) -> Draft {
    let word = |word: &str| {
        // Beneath `gpu0.cu1` lies `gpu0.cu1.l1`.
        let mut ends = word.match_indices('.').map(|(at, _)| at).chain([word.len()]).skip(1);
        ends.find_map(|end| Some(to(word.get(..end)?)? + word.get(end..)?))
    };
    mapped(draft, &|_, text| words(text, &word), &|_, number| number)
}

/// What is done to one block is done to another, by pairs.
pub fn blocks(draft: &Draft, index: usize) -> Option<Option<Draft>> {
    let found = std::cell::RefCell::new(BTreeSet::new());
    let note = |address: u64| {
        found.borrow_mut().insert(address / BLOCK);
    };
    mapped(
        draft,
        &|_, text| {
            text.split_whitespace().filter_map(hex).for_each(&note);
            text.to_owned()
        },
        &|key, number| {
            if key == "address" {
                note(u64::try_from(number).unwrap_or(0));
            }
            number
        },
    );
    let found: Vec<_> = found.into_inner().into_iter().collect();
    let pairs = found
        .iter()
        .enumerate()
        .flat_map(|(number, from)| found.iter().take(number).map(move |to| (*from, *to)));
    let (from, to) = pairs.clone().nth(index)?;
    let moved = |address: u64| if address / BLOCK == from { to * BLOCK + address % BLOCK } else { address };
    let word = |word: &str| hex(word).map(|address| format!("{:#x}", moved(address)));
    Some(Some(mapped(draft, &|_, text| words(text, &word), &|key, number| match u64::try_from(number) {
        Ok(address) if key == "address" => i64::try_from(moved(address)).unwrap_or(number),
        _ => number,
    })))
}

fn hex(word: &str) -> Option<u64> {
    word.starts_with("0x").then(|| parse_number(word))?
}

/// A text with some of its words replaced.
fn words(text: &str, word: &dyn Fn(&str) -> Option<String>) -> String {
    let replaced: Vec<_> =
        text.split(' ').map(|part| word(part).unwrap_or_else(|| part.to_owned())).collect();
    replaced.join(" ")
}

/// The same draft, each text and number of its tasks, states, inputs and expectations mapped.
fn mapped(draft: &Draft, text: &dyn Fn(&str, &str) -> String, number: &dyn Fn(&str, i64) -> i64) -> Draft {
    let mut draft = draft.clone();
    for (_, table) in &mut draft.tasks {
        table.iter_mut().for_each(|(key, value)| map(key, value, text, number));
    }
    for (key, value) in &mut draft.head {
        if matches!(key.as_str(), "state" | "memory" | "allocate" | "input" | "expect" | "fault") {
            map(key, value, text, number);
        }
    }
    draft
}

fn map(key: &str, value: &mut Value, text: &dyn Fn(&str, &str) -> String, number: &dyn Fn(&str, i64) -> i64) {
    match value {
        // Ids are names of their own.
        Value::String(_) if matches!(key, "id" | "after" | "name") => {}
        Value::String(old) => *old = text(key, old),
        Value::Integer(old) => *old = number(key, *old),
        Value::Array(list) => list.iter_mut().for_each(|value| map(key, value, text, number)),
        Value::Table(table) => table.iter_mut().for_each(|(key, value)| map(key, value, text, number)),
        _ => {}
    }
}
