//! Shapes of values in scenario files that a plain structure cannot say: one or many, and parameter tables.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::config::document::At;

/// A text or a list of texts.
#[derive(Clone, Debug, Default)]
pub struct Texts(pub Vec<At<String>>);

impl JsonSchema for Texts {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Texts".into()
    }
    fn json_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }]
        })
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = At::<Found>::deserialize(deserializer)?;
        Ok(Self(match found.value {
            Found::One(value) => vec![At { value, span: found.span }],
            Found::Many(list) => list,
        }))
    }
}

enum Found {
    One(String),
    Many(Vec<At<String>>),
}

impl<'de> Deserialize<'de> for Found {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Found;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Found, E> {
                Ok(Found::One(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Found, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                Ok(Found::Many(texts))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A number or a word.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(untagged)]
pub enum NumberOrText {
    Number(i64),
    Text(String),
}

impl<'de> Deserialize<'de> for NumberOrText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = NumberOrText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number up to {} or a text", i64::MAX)
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<NumberOrText, E> {
                Ok(NumberOrText::Number(number))
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<NumberOrText, E> {
                let unexpected = serde::de::Unexpected::Unsigned(number);
                let number = i64::try_from(number).map_err(|_| E::invalid_value(unexpected, &self))?;
                Ok(NumberOrText::Number(number))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<NumberOrText, E> {
                Ok(NumberOrText::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// The parameters of a kernel, in the order of the file.
#[derive(Clone, Debug, Default, JsonSchema)]
#[schemars(with = "std::collections::BTreeMap<String, NumberOrText>")]
pub struct Given(pub Vec<(At<String>, At<NumberOrText>)>);

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Table;
        impl<'de> Visitor<'de> for Table {
            type Value = Given;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of parameters such as { width = 64 }")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Given, A::Error> {
                let mut list = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    list.push(entry);
                }
                Ok(Given(list))
            }
        }
        deserializer.deserialize_map(Table)
    }
}
