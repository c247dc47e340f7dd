//! Statistics by key, and how their values are written in a table.

use std::collections::BTreeMap;

use crate::report::number::{self, grouped};

/// What stands where nothing is known.
const UNKNOWN: &str = "-";

/// The statistics of a run.
#[derive(Debug)]
pub struct Values<'a>(BTreeMap<&'a str, f64>);

impl<'a> Values<'a> {
    pub fn new(statistics: &'a [(String, f64)]) -> Self {
        Self(statistics.iter().map(|(key, value)| (key.as_str(), *value)).collect())
    }

    /// One of them; not a number if it is unknown or there is none of this key.
    pub fn get(&self, key: &str) -> f64 {
        self.0.get(key).copied().unwrap_or(f64::NAN)
    }

    /// What stands between the beginning and the end of keys, in alphabetical order.
    pub fn between(&self, start: &str, end: &str) -> Vec<&'a str> {
        let keys = self.0.keys().filter_map(|key| key.strip_prefix(start)?.strip_suffix(end));
        keys.collect()
    }

    /// Whether it is there and not zero.
    pub fn is_some(&self, key: &str) -> bool {
        self.get(key) > 0.0
    }

    pub fn count(&self, key: &str) -> String {
        known(self.get(key), |value| grouped(value as u64))
    }

    /// A count in few places.
    pub fn short(&self, key: &str) -> String {
        known(self.get(key), number::short)
    }

    pub fn percent(&self, key: &str) -> String {
        known(self.get(key), number::percent)
    }

    pub fn bytes(&self, key: &str) -> String {
        known(self.get(key), number::bytes)
    }

    /// A mean: with a decimal where that says something.
    pub fn mean(&self, key: &str) -> String {
        known(self.get(key), number::mean)
    }
}

fn known(value: f64, text: impl Fn(f64) -> String) -> String {
    if value.is_finite() { text(value) } else { UNKNOWN.to_owned() }
}
