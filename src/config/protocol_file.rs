//! The protocol file as it is written.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::document::At;
use crate::model::message::MessageKind;

/// A coherence protocol as the papers print it: a table of stable states and actions, what a directory does for
/// each request, and how dirty data merge.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
#[schemars(title = "umscope protocol file")]
pub struct ProtocolFile {
    /// The name that machines use for it.
    pub name: String,
    /// What it is, in one line.
    pub title: Option<String>,
    /// The paper and table it is taken from.
    pub source: Option<String>,
    /// What each state means: any of "exclusive", "owner", "noncoherent", "partial" and "conflict", or "" for a plain shared copy.
    pub state: ByName<String>,
    /// The table of a cache without children (an L1): a row per state, "steps > next" per action.
    pub cache: ByName<RowFile>,
    /// Cells that differ for a node with children (an L2, LLC or SMD); there `load`, `store` and `n-store` are a
    /// child's requests to read, write, and read non-coherently.
    #[serde(default)]
    pub inner: ByName<RowFile>,
    /// What becomes of accesses to a block that may not be kept here: whose home is another memory, or that a cache beyond
    /// the network may have. Default: every block may be kept.
    pub uncached: Option<UncachedFile>,
    /// What a directory does for a request of a child.
    #[serde(default)]
    pub directory: DirectoryFile,
    /// When dirty data arrive from a child that was in the state of the row: own state before = own state after.
    #[serde(default)]
    pub merge: ByName<ByName<String>>,
    /// The same for data that arrive in the answer to a probe, if that differs from a writeback.
    pub merge_answer: Option<ByName<ByName<String>>>,
}

/// One row of the table. A cell is "step", "step > next" or "impossible"; next is a state's letter or `granted`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    rename_all = "kebab-case",
    expecting = "a row such as { load = \"hit\" }"
)]
pub struct RowFile {
    /// hit, read, read-nc, write or fetch.
    pub load: Option<At<String>>,
    /// hit, read, write, fetch, forward, allocate, flush, relay or both.
    pub store: Option<At<String>>,
    /// A non-coherent store: hit, read, read-nc, write, fetch, forward, allocate, flush, relay or both.
    pub n_store: Option<At<String>>,
    /// writeback, notify or silent.
    pub evict: Option<At<String>>,
    /// Another node reads (a probe from the parent): data or ack.
    pub read: Option<At<String>>,
    /// Another node writes (a probe from the parent): data or ack.
    pub write: Option<At<String>>,
    /// A fence that empties the cache: writeback or silent.
    pub acquire: Option<At<String>>,
}

/// Accesses to a block that may not be kept.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct UncachedFile {
    /// In a cache without children (an L1).
    pub cache: UncachedRow,
    /// In a node with children, whose requests they are.
    pub inner: UncachedRow,
}

/// Either `fetch > I`, which serves all that wait for the bytes when they come and drops the rest, or `forward`, with which
/// each access goes on alone.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a row such as { load = \"fetch > I\" }")]
pub struct UncachedRow {
    /// fetch > I, or forward.
    pub load: At<String>,
    /// forward.
    pub store: At<String>,
    /// A non-coherent store: forward.
    pub n_store: At<String>,
}

/// What a directory does for each request: the first rule whose condition holds.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case", expecting = "a table")]
pub struct DirectoryFile {
    pub read: Vec<RuleFile>,
    pub read_nc: Vec<RuleFile>,
    pub write: Vec<RuleFile>,
}

impl DirectoryFile {
    /// The rules for a request; none for what no directory answers.
    #[must_use]
    pub fn rules(&self, request: MessageKind) -> &[RuleFile] {
        match request {
            MessageKind::Read => &self.read,
            MessageKind::ReadNc => &self.read_nc,
            MessageKind::Write => &self.write,
            _ => &[],
        }
    }
}

/// One rule of a directory.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a rule such as { probe = \"write others\", grant = \"M\" }")]
pub struct RuleFile {
    /// When it applies. Default: always.
    pub when: Option<WhenWord>,
    /// Whom it asks first. Default: nobody.
    pub probe: Option<ProbeWord>,
    /// The state that it grants. A read is granted an exclusive state only by a node that is itself exclusive.
    pub grant: At<String>,
}

/// When a rule applies.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub enum WhenWord {
    /// Another child than the requester is the owner.
    #[serde(rename = "owned by another")]
    OwnedByAnother,
    /// No other child than the requester has a copy.
    #[serde(rename = "no sharers")]
    NoSharers,
}

/// Whom a rule probes.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub enum ProbeWord {
    /// The owner, for a reader.
    #[serde(rename = "read owner")]
    ReadOwner,
    /// Every other holder, for a writer.
    #[serde(rename = "write others")]
    WriteOthers,
}

/// Values by a state's letter, in the order of the file.
#[derive(Clone, Debug)]
pub struct ByName<T>(pub Vec<(At<String>, At<T>)>);

impl<T> Default for ByName<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ByName<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rows<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Rows<T> {
            type Value = ByName<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table with a key for each state")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ByName<T>, A::Error> {
                let mut rows = Vec::new();
                while let Some(row) = map.next_entry::<At<String>, At<T>>()? {
                    rows.push(row);
                }
                rows.sort_by_key(|(name, _)| name.span.start);
                Ok(ByName(rows))
            }
        }
        deserializer.deserialize_map(Rows(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for ByName<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("ByState_{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({ "type": "object", "patternProperties": { "^[A-Z]$": value }, "additionalProperties": false })
    }
}
