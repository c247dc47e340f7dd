//! The ways in which a scenario can be made smaller: each makes candidates, by number.

use toml::{Table, Value};

use super::rename;
use crate::scenario::draft::{Draft, TaskTable};

/// One way. `chunk` is how many neighbours go at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Tasks are left out.
    Tasks { chunk: usize },
    /// Entries of a list of tables are left out.
    List { key: &'static str, chunk: usize },
    /// Inputs are left out, and those after them come earlier: what is left out was an event, too.
    Earlier { chunk: usize },
    /// Instructions of programs are left out.
    Instructions { chunk: usize },
    /// Numbers of kernels are halved.
    Kernels,
    /// The machine has less of something.
    Machine,
    /// What one compute unit or core does, another does; then those that are left are numbered anew.
    Agents,
    /// What is done to one block is done to another.
    Blocks,
    /// Keys of tasks are left out.
    Plain,
}

/// What a machine can have less of, and the least of it.
const COUNTS: [(&[&str], i64); 7] = [
    (&["gpu", "count"], 1),
    (&["gpu", "cu", "count"], 1),
    (&["gpu", "l2", "slices"], 1),
    (&["gpu", "cu", "wavefronts"], 1),
    (&["host", "cores"], 0),
    (&["host", "hmds"], 1),
    (&["network", "buffers"], 1),
];

/// Keys of a task without which it may fail as well.
const PLAIN: [&str; 5] = ["delay", "warp", "after", "lanes", "stride"];

/// All ways for a scenario of this size, in the order in which they are tried.
pub fn round(draft: &Draft) -> Vec<Pass> {
    let mut passes = Vec::new();
    let chunks = |count: usize| {
        std::iter::successors(Some(count.div_ceil(2)), |&chunk| (chunk > 1).then_some(chunk / 2))
    };
    let inputs = draft.list("input").len();
    for chunk in chunks(inputs).filter(|_| inputs > 0) {
        passes.extend([Pass::Earlier { chunk }, Pass::List { key: "input", chunk }]);
    }
    let tasks = draft.tasks.len();
    passes.extend(chunks(tasks).filter(|_| tasks > 0).map(|chunk| Pass::Tasks { chunk }));
    let longest = draft.tasks.iter().filter_map(instructions).map(<[Value]>::len).max().unwrap_or(0);
    passes.extend(chunks(longest).filter(|_| longest > 1).map(|chunk| Pass::Instructions { chunk }));
    passes.push(Pass::Kernels);
    for key in ["expect", "state", "memory", "allocate", "fault", "mutate"] {
        let count = draft.list(key).len();
        passes.extend(chunks(count).filter(|_| count > 0).map(|chunk| Pass::List { key, chunk }));
    }
    passes.extend([Pass::Agents, Pass::Machine, Pass::Blocks, Pass::Plain]);
    passes
}

fn instructions(task: &TaskTable) -> Option<&[Value]> {
    let (key, table) = task;
    table.get("do").filter(|_| *key == "program")?.as_array().map(Vec::as_slice)
}

/// Candidate number `index`, from 0; the outer nothing where there are no more, the inner where this number is none.
pub fn candidate(draft: &Draft, pass: Pass, index: usize) -> Option<Option<Draft>> {
    match pass {
        Pass::Tasks { chunk } => tasks(draft, chunk, index).map(Some),
        Pass::List { key, chunk } => shorter(draft, key, index * chunk, chunk).map(Some),
        Pass::Earlier { chunk } => shorter(draft, "input", index * chunk, chunk).map(|mut smaller| {
            let gone = draft.list("input").len() - smaller.list("input").len();
            earlier(&mut smaller, index * chunk, gone);
            Some(smaller)
        }),
        Pass::Instructions { chunk } => fewer_instructions(draft, chunk, index),
        Pass::Kernels => kernels(draft, index),
        Pass::Machine => machine(draft, index),
        Pass::Agents => rename::agents(draft, index),
        Pass::Blocks => rename::blocks(draft, index),
        Pass::Plain => plain(draft, index),
    }
}

/// Without so many entries of a list of tables, and without the list if none is left; nothing if there are none from there on.
fn shorter(draft: &Draft, key: &str, from: usize, count: usize) -> Option<Draft> {
    let list = draft.list(key);
    let left = (from < list.len()).then(|| without(list, from, count))?;
    let mut smaller = draft.clone();
    smaller.head.remove(key);
    if !left.is_empty() {
        smaller.head.insert(key.into(), Value::Array(left));
    }
    Some(smaller)
}

/// Has the inputs from `from` on come so many events earlier.
fn earlier(draft: &mut Draft, from: usize, events: usize) {
    let events = i64::try_from(events).unwrap_or(0);
    let inputs = draft.head.get_mut("input").and_then(Value::as_array_mut);
    for value in inputs.into_iter().flatten().skip(from) {
        if let Some(Value::Integer(event)) = value.get_mut("event") {
            *event = (*event - events).max(0);
        }
    }
}

fn without(list: &[Value], from: usize, count: usize) -> Vec<Value> {
    let (before, rest) = list.split_at(from.min(list.len()));
    before.iter().chain(rest.iter().skip(count)).cloned().collect()
}

fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Leaves tasks out. What comes after one of them comes after what that came after.
fn tasks(draft: &Draft, chunk: usize, index: usize) -> Option<Draft> {
    let gone = index * chunk..(index * chunk + chunk).min(draft.tasks.len());
    if gone.is_empty() {
        return None;
    }
    let mut smaller = draft.clone();
    for (_, removed) in smaller.tasks.drain(gone).rev().collect::<Vec<_>>() {
        let id = removed.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let before = texts(removed.get("after"));
        for (_, table) in &mut smaller.tasks {
            let mut after = texts(table.get("after"));
            if !after.contains(&id) {
                continue;
            }
            after.retain(|name| *name != id);
            after.extend(before.iter().filter(|name| !after.contains(name)).cloned().collect::<Vec<_>>());
            match after.as_slice() {
                [] => drop(table.remove("after")),
                [one] => drop(table.insert("after".into(), Value::String(one.clone()))),
                _ => {
                    let list = after.into_iter().map(Value::String).collect();
                    table.insert("after".into(), Value::Array(list));
                }
            }
        }
    }
    Some(smaller)
}

fn fewer_instructions(draft: &Draft, chunk: usize, index: usize) -> Option<Option<Draft>> {
    let mut left = index;
    for (number, task) in draft.tasks.iter().enumerate() {
        let Some(list) = instructions(task) else { continue };
        let pieces = list.len().div_ceil(chunk);
        if left >= pieces {
            left -= pieces;
            continue;
        }
        let shorter = without(list, left * chunk, chunk);
        // A program of nothing is no program: tasks are left out elsewhere.
        if shorter.is_empty() {
            return Some(None);
        }
        let mut smaller = draft.clone();
        if let Some((_, table)) = smaller.tasks.get_mut(number) {
            table.insert("do".into(), Value::Array(shorter));
        }
        return Some(Some(smaller));
    }
    None
}

fn kernels(draft: &Draft, index: usize) -> Option<Option<Draft>> {
    let numbers = draft.tasks.iter().enumerate().flat_map(|(number, (_, table))| {
        let with = table.get("with").and_then(Value::as_table).into_iter().flatten();
        with.filter_map(move |(key, value)| {
            Some((number, key.clone(), value.as_integer().filter(|value| *value > 1)?))
        })
    });
    let (number, key, value) = { numbers }.nth(index)?;
    let mut smaller = draft.clone();
    let with = smaller.tasks.get_mut(number).and_then(|(_, table)| table.get_mut("with"));
    if let Some(Value::Table(with)) = with {
        with.insert(key, Value::Integer(value / 2));
    }
    Some(Some(smaller))
}

/// The least first, then half as much, then one less.
fn machine(draft: &Draft, index: usize) -> Option<Option<Draft>> {
    let mut smaller = draft.clone();
    let machine = smaller.machine()?;
    if index < COUNTS.len() * 3 {
        let (path, least) = COUNTS.get(index / 3)?;
        let Some(value) = number_at(machine, path) else { return Some(None) };
        let less = match index % 3 {
            0 => *least,
            1 => value / 2,
            _ => value - 1,
        };
        if less >= value || less < *least {
            return Some(None);
        }
        put(machine, path, Value::Integer(less));
        return Some(Some(smaller));
    }
    match index - COUNTS.len() * 3 {
        0 => Some(machine.remove("gpu").map(|_| smaller)),
        1 => {
            let host = machine.get_mut("host").and_then(Value::as_table_mut);
            let has = host.as_ref().is_some_and(|host| host.get("llc") != Some(&Value::Boolean(false)));
            put(machine, &["host", "llc"], Value::Boolean(false));
            Some(has.then_some(smaller))
        }
        _ => None,
    }
}

fn number_at(table: &Table, path: &[&str]) -> Option<i64> {
    let (last, tables) = path.split_last()?;
    let inner = tables.iter().try_fold(table, |table, name| table.get(*name)?.as_table())?;
    inner.get(*last)?.as_integer()
}

fn put(table: &mut Table, path: &[&str], value: Value) {
    let Some((last, tables)) = path.split_last() else { return };
    let mut inner = table;
    for name in tables {
        let next = inner.entry(*name).or_insert_with(|| Value::Table(Table::new()));
        let Value::Table(next) = next else { return };
        inner = next;
    }
    inner.insert((*last).into(), value);
}

fn plain(draft: &Draft, index: usize) -> Option<Option<Draft>> {
    let (number, key) = (index / PLAIN.len(), PLAIN.get(index % PLAIN.len())?);
    let mut smaller = draft.clone();
    let (_, table) = smaller.tasks.get_mut(number)?;
    let mut gone = table.remove(*key).is_some();
    for (_, value) in table.iter_mut() {
        if let Value::Table(inner) = value {
            gone |= inner.remove(*key).is_some();
        }
    }
    Some(gone.then_some(smaller))
}
