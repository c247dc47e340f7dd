//! Quantities with units in files: read from strings such as `"4 KiB"`, described in the schema.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::document::unexpected;
use crate::model::units::{Bandwidth, BitEnergy, Duration, Frequency, Size};

macro_rules! in_files {
    ($($name:ident),+ $(,)?) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($name::EXPECTED)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        $name::parse(text).map_err(|why| unexpected(text, &$name::expected(why)))
                    }
                }
                deserializer.deserialize_str(Visitor)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": format!("{}; units: {}", $name::EXPECTED, $name::UNITS.join(", ")),
                    "pattern": format!(r"^\s*[0-9][0-9_]*(\.[0-9]{{1,9}})?\s*({})\s*$", $name::UNITS.join("|")),
                })
            }
        }
    )+};
}

in_files!(Size, Frequency, Duration, Bandwidth, BitEnergy);

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct File {
        size: Size,
    }

    #[test]
    fn a_quantity_needs_its_unit() {
        assert_eq!(toml::from_str::<File>("size = '4 KiB'").unwrap().size, Size(4096));
        let error = toml::from_str::<File>("size = '4 kib'").unwrap_err();
        assert_eq!(error.span(), Some(7..14));
        let expected = "expected a size such as \"4 KiB\" (B, KB, KiB, MB, MiB, GB, GiB)";
        assert!(error.message().contains(expected), "{error}");
        let error = toml::from_str::<File>("size = 4096").unwrap_err();
        assert!(error.message().contains("expected a size such as \"4 KiB\""), "{error}");
    }
}
