//! What is explored of a scenario's machine: the `[explore]` part of its file.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::document::At;
use crate::diagnostic::Result;
use crate::machine::Machine;
use crate::model::access::{AccessKind, AtomicOp};
use crate::model::address::Address;
use crate::model::component::{ComponentId, ComponentKind};
use crate::model::inspect::Inspect;

use super::Scenario;
use super::values::Texts;

/// Bytes that can be told apart, and accesses under way of one compute unit or core, at most.
const MOST_BYTES: usize = 8;
const MOST_OUTSTANDING: u64 = 4;

/// What `umscope explore` does to the machine, in every order. Messages are delivered in every order besides.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub struct ExploreFile {
    /// The bytes that are accessed, each alone: 1 to 8 addresses.
    pub bytes: At<Vec<u64>>,
    /// What is done to them: load, store, n-store and atomic. Default: all four.
    pub accesses: Option<Texts>,
    /// The compute units and cores that do it. Default: all.
    #[serde(default)]
    pub by: Texts,
    /// Accesses that each of them may have under way, 1 to 4. Default: 1.
    pub outstanding: Option<At<u64>>,
    /// Whether any cache may evict any block at any time. Default: true.
    pub evictions: Option<bool>,
    /// Whether any L1 may be emptied by an acquire at any time, with protocols that know it. Default: true.
    pub acquires: Option<bool>,
}

/// The same, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alphabet {
    pub bytes: Vec<Address>,
    pub kinds: Vec<AccessKind>,
    /// None for all.
    pub by: Vec<ComponentId>,
    pub outstanding: u32,
    pub evictions: bool,
    pub acquires: bool,
}

/// Every kind of access by its word. Atomics exchange: what they compute is not looked at.
const KINDS: [(&str, AccessKind); 4] = [
    ("load", AccessKind::Load),
    ("store", AccessKind::Store),
    ("n-store", AccessKind::NStore),
    ("atomic", AccessKind::Atomic(AtomicOp::Exchange)),
];

impl Scenario {
    /// What is explored on `machine`.
    ///
    /// # Errors
    /// If the scenario does not say, or says what there is not.
    pub fn alphabet(&self, machine: &Machine) -> Result<Alphabet> {
        let document = self.document();
        let Some(file) = &self.file().explore else {
            let error = document.complain(None, "the scenario does not say what to explore".to_owned());
            return Err(error.expected("[explore] with bytes = a list of addresses").into());
        };
        let complain = |at: &std::ops::Range<usize>, message: String, expected: &str| {
            Box::new(document.complain(Some(at), message).expected(expected.to_owned()))
        };
        let mut bytes: Vec<Address> = file.bytes.value.iter().copied().map(Address).collect();
        bytes.sort_unstable();
        bytes.dedup();
        let end = machine.spec().host.memory.0;
        if bytes.is_empty() || bytes.len() > MOST_BYTES || bytes.iter().any(|byte| byte.0 >= end) {
            let message = format!("{} addresses are given", bytes.len());
            let expected = format!("1 to {MOST_BYTES} addresses below {end:#x}");
            return Err(complain(&file.bytes.span, message, &expected));
        }
        let kind = |word: &At<String>| {
            let known = KINDS.iter().find(|(name, _)| *name == word.value);
            known.map(|(_, kind)| *kind).ok_or_else(|| {
                let message = format!("{:?} is no kind of access to explore", word.value);
                let error = document.complain(Some(&word.span), message);
                Box::new(error.nearest(&word.value, KINDS.iter().map(|(name, _)| *name)))
            })
        };
        let kinds = match &file.accesses {
            Some(words) => words.0.iter().map(kind).collect::<Result<_>>()?,
            None => KINDS.iter().map(|(_, kind)| *kind).collect(),
        };
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
            let expected = format!("1 to {MOST_OUTSTANDING}");
            return Err(complain(&at.span, format!("outstanding is {}", at.value), &expected));
        }
        Ok(Alphabet {
            bytes,
            kinds,
            by: file.by.0.iter().map(by).collect::<Result<_>>()?,
            outstanding: outstanding as u32,
            evictions: file.evictions.unwrap_or(true),
            acquires: file.acquires.unwrap_or(true),
        })
    }
}
