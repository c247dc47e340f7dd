//! One event of a trace.

use serde_json::{Map, Value, json};

use super::track::Track;

/// An event, of a phase: `B`, `i`, `C` ...
#[derive(Debug)]
pub struct Event {
    pub keys: Map<String, Value>,
}

impl Event {
    pub fn new(phase: &str, name: &str, track: Track, microseconds: f64) -> Self {
        let mut keys = Map::new();
        keys.insert("ph".into(), json!(phase));
        keys.insert("name".into(), json!(name));
        keys.insert("pid".into(), json!(track.process));
        keys.insert("tid".into(), json!(track.thread));
        keys.insert("ts".into(), json!(microseconds));
        Self { keys }
    }

    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.keys.insert(key.into(), value.into());
        self
    }

    pub fn identified(self, category: &str, id: u64) -> Self {
        self.with("cat", category).with("id", id)
    }

    pub fn about(self, arguments: Value) -> Self {
        self.with("args", arguments)
    }
}
