//! What is explored of a scenario's machine: the `[explore]` part of its file.

use crate::config::document::At;
use crate::diagnostic::{Diagnostic, Result};
use crate::machine::Machine;
use crate::model::access::{AccessKind, AtomicOp};
use crate::model::address::{Address, Range};
use crate::model::component::{ComponentId, ComponentKind};
use crate::model::inspect::Inspect;
use crate::model::number::parse_number;

use super::Scenario;

/// Accesses to choose from, their bytes, and those of one compute unit or core under way, at most.
const MOST_ACCESSES: usize = 32;
const MOST_BYTES: u64 = 64;
const MOST_OUTSTANDING: u64 = 4;

/// The `[explore]` part of a scenario file, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alphabet {
    pub accesses: Vec<(AccessKind, Range)>,
    /// None for all.
    pub by: Vec<ComponentId>,
    pub outstanding: u32,
    pub evictions: bool,
    pub acquires: bool,
}

/// A coherent store of no bytes.
const EXCLUSIVE: &str = "exclusive";

/// Every kind of access by its word. Atomics exchange: what they compute is not looked at.
const KINDS: [(&str, AccessKind); 5] = [
    ("load", AccessKind::Load),
    ("store", AccessKind::Store),
    ("n-store", AccessKind::NStore),
    ("atomic", AccessKind::Atomic(AtomicOp::Exchange)),
    (EXCLUSIVE, AccessKind::Store),
];

impl Alphabet {
    /// The bytes that are stored to.
    #[must_use]
    pub fn bytes(&self) -> Vec<Address> {
        let stores = self.accesses.iter().filter(|(kind, _)| kind.writes());
        let each = |(_, range): &(AccessKind, Range)| {
            let start = range.start;
            (0..u64::from(range.len)).map(move |offset| start.plus(offset))
        };
        let mut bytes: Vec<Address> = stores.flat_map(each).collect();
        bytes.sort_unstable();
        bytes.dedup();
        bytes
    }
}

impl Scenario {
    /// What is explored on `machine`.
    ///
    /// # Errors
    /// If the scenario does not say, or says what there is not.
    pub fn alphabet(&self, machine: &Machine) -> Result<Alphabet> {
        let document = self.document();
        let Some(file) = &self.file().explore else {
            let error = document.complain(None, "the scenario does not say what to explore");
            return Err(error.expected("[explore] with accesses = [\"load 0x1000 4\", ...]; or --hold 1, which does its own work").into());
        };
        if file.accesses.0.is_empty() || file.accesses.0.len() > MOST_ACCESSES {
            let message = format!("there are {} accesses to explore", file.accesses.0.len());
            let error = document.complain_about("explore.accesses", message);
            return Err(error.expected(format!("1 to {MOST_ACCESSES}")).into());
        }
        let end = machine.spec().host.memory.0;
        let access = |at: &At<String>| {
            self::access(&at.value, end).map_err(|(message, expected)| {
                let word = at.value.split_whitespace().next().unwrap_or_default();
                let error: Diagnostic = document.complain(Some(&at.span), message).expected(expected);
                // What is known already is not meant to be another.
                let known = || KINDS.iter().map(|(name, _)| *name);
                let is_known = known().any(|name| name == word);
                Box::new(if is_known { error } else { error.nearest(word, known()) })
            })
        };
        let accesses = file.accesses.0.iter().map(access).collect::<Result<_>>()?;
        let names = machine.components();
        let agent = |kind| matches!(kind, ComponentKind::Cu | ComponentKind::Core);
        let by = |path: &At<String>| {
            let found = names.iter().find(|(_, one)| one.path == path.value && agent(one.kind));
            found.map(|(id, _)| id).ok_or_else(|| {
                let known = names.iter().filter(|(_, one)| agent(one.kind));
                let error = document
                    .complain(Some(&path.span), format!("no compute unit or core is called {}", path.value));
                Box::new(error.nearest(&path.value, known.map(|(_, one)| one.path.as_str())))
            })
        };
        let outstanding = file.outstanding.as_ref().map_or(1, |at| at.value);
        if let Some(at) = file.outstanding.as_ref().filter(|at| !(1..=MOST_OUTSTANDING).contains(&at.value)) {
            let error = document.complain(Some(&at.span), format!("outstanding is {}", at.value));
            return Err(error.expected(format!("1 to {MOST_OUTSTANDING}")).into());
        }
        Ok(Alphabet {
            accesses,
            by: file.by.0.iter().map(by).collect::<Result<_>>()?,
            outstanding: outstanding as u32,
            evictions: file.evictions.unwrap_or(true),
            acquires: file.acquires.unwrap_or(true),
        })
    }
}

/// Reads an access of a machine with so many bytes of memory; else what is wrong, and what was expected.
fn access(text: &str, end: u64) -> std::result::Result<(AccessKind, Range), (String, String)> {
    let mut words = text.split_whitespace();
    let (name, start, len) = (words.next().unwrap_or_default(), words.next(), words.next());
    let form = || {
        "load, store, n-store or atomic, an address and a length, such as load 0x1000 8; or exclusive and an address"
            .to_owned()
    };
    let found = KINDS.iter().find(|(word, _)| *word == name).map(|(_, kind)| *kind);
    let kind = found.ok_or_else(|| (format!("{name:?} is no kind of access to explore"), form()))?;
    let start = start.and_then(parse_number).ok_or_else(|| (format!("{text:?} has no address"), form()))?;
    let len = match len {
        None => Some(u64::from(name != EXCLUSIVE)),
        Some(len) if name != EXCLUSIVE => parse_number(len).filter(|len| (1..=MOST_BYTES).contains(len)),
        Some(_) => return Err((format!("{text:?} has a length"), "exclusive and an address".to_owned())),
    };
    let len = len.ok_or_else(|| {
        (format!("{text:?} is of no length that can be explored"), format!("1 to {MOST_BYTES} bytes"))
    })?;
    if words.next().is_some() {
        return Err((format!("{text:?} says more than an access"), form()));
    }
    if start.saturating_add(len) > end {
        let message = format!("{text:?} reaches beyond the host memory");
        return Err((message, format!("addresses below {end:#x}")));
    }
    Ok((kind, Range::new(Address(start), len as u32)))
}
