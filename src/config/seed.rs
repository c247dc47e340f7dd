//! Seeds in files: as large as a number of TOML can be, since a scenario that is written has its seed in it.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

use super::document::At;
use crate::model::random::MOST_SEED;

/// A seed from 0 to [`MOST_SEED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;
        impl Visitor<'_> for Whole {
            type Value = Seed;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from 0 to {MOST_SEED}")
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Seed, E> {
                let seed = u64::try_from(number);
                seed.map(Seed).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Seed, E> {
                let seed = Some(Seed(number)).filter(|seed| seed.0 <= MOST_SEED);
                seed.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
            }
        }
        deserializer.deserialize_u64(Whole)
    }
}

impl JsonSchema for Seed {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Seed".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "maximum": MOST_SEED })
    }
}

/// A list of seeds.
///
/// # Errors
/// If one is too large, or no whole number.
pub fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<At<Vec<u64>>>, D::Error> {
    let At { value, span } = At::<Vec<Seed>>::deserialize(deserializer)?;
    Ok(Some(At { value: value.into_iter().map(|seed| seed.0).collect(), span }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct File {
        seed: Option<Seed>,
        #[serde(default, deserialize_with = "list")]
        seeds: Option<At<Vec<u64>>>,
    }

    #[test]
    fn a_seed_is_as_large_as_it_can_be_written_again() {
        let file: File = toml::from_str(&format!("seed = {MOST_SEED}\nseeds = [0, {MOST_SEED}]")).unwrap();
        assert_eq!(file.seed, Some(Seed(MOST_SEED)));
        assert_eq!(file.seeds.map(|seeds| seeds.value), Some(vec![0, MOST_SEED]));
        for (text, span) in [
            ("seed = 9223372036854775808", 7..26),
            ("seeds = [1, 9223372036854775808]", 12..31),
            ("seed = -1", 7..9),
        ] {
            let error = toml::from_str::<File>(text).unwrap_err();
            assert_eq!(error.span(), Some(span), "{text}");
            let expected = "expected a whole number from 0 to 9223372036854775807";
            assert!(error.message().contains(expected), "{error}");
        }
    }
}
