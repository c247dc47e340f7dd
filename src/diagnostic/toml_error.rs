//! What the TOML reader complains about, said in the words of this program.

use std::ops::Range;

use super::{Diagnostic, Source};

/// The complaint of the TOML reader about `source`: its place, what was expected, and the nearest known name.
#[must_use]
pub fn from_toml(error: &toml::de::Error, source: &Source) -> Diagnostic {
    let span = error.span().unwrap_or(0..0);
    explain(error.message(), source, &span).at(source, span)
}

fn explain(message: &str, source: &Source, span: &Range<usize>) -> Diagnostic {
    let (what, expected) = match message.rfind(", expected ") {
        Some(at) => (message.get(..at).unwrap_or(message), message.get(at + ", expected ".len()..)),
        None => (message, None),
    };
    if let Some(name) = quoted_after(what, "unknown field ") {
        return unknown("key", name, expected);
    }
    if let Some(name) = quoted_after(what, "unknown variant ") {
        return unknown("value", name, expected);
    }
    if let Some(name) = quoted_after(what, "missing field ") {
        return Diagnostic::new(format!("the key `{name}` is missing"));
    }
    if let Some(name) = quoted_after(what, "duplicate field ") {
        return Diagnostic::new(format!("`{name}` is given twice, under two names"));
    }
    if what == "duplicate key" {
        let name = source.text.get(span.clone()).unwrap_or("?");
        return Diagnostic::new(format!("the key `{name}` is given twice"));
    }
    let what = what.strip_prefix("invalid type: ").map_or_else(
        || {
            what.strip_prefix("invalid value: ")
                .map_or_else(|| what.to_owned(), |value| format!("wrong value: {value}"))
        },
        |kind| format!("wrong type: {kind}"),
    );
    let diagnostic = Diagnostic::new(what);
    match expected {
        Some(expected) => diagnostic.expected(plain(expected)),
        None => diagnostic,
    }
}

/// The name between backticks that follows `prefix` at the start of `text`.
fn quoted_after<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    text.strip_prefix(prefix)?.strip_prefix('`')?.strip_suffix('`')
}

/// An unknown name among those that the reader lists, each between backticks.
fn unknown(what: &str, name: &str, expected: Option<&str>) -> Diagnostic {
    let diagnostic = Diagnostic::new(format!("unknown {what} `{name}`"));
    let Some(expected) = expected else { return diagnostic };
    let known = expected.split('`').skip(1).step_by(2);
    diagnostic.expected(expected).nearest(name, known)
}

/// What the reader expects, without the names of Rust's types.
fn plain(expected: &str) -> &str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" | "i32" => "a whole number that is not negative",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list such as [1, 2]",
        "a map" => "a table",
        _ if expected.starts_with("struct ") => "a table",
        _ => expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        size: u32,
        kind: Option<Kind>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Pcie,
        Nvlink,
    }

    #[test]
    fn the_readers_complaints_are_reworded() {
        for (text, place, message, expected, suggestion) in [
            ("size = 1\nsice = 2", (2, 1), "unknown key `sice`", "`size` or `kind`", "did you mean size?"),
            ("size=1\nkind='pci'", (2, 6), "unknown value `pci`", "`pcie` or `nvlink`", "did you mean pcie?"),
            ("size=1\nkind='?'", (2, 6), "unknown value `?`", "`pcie` or `nvlink`", ""),
            ("\nkind='pcie'", (1, 1), "the key `size` is missing", "", ""),
            ("size=1\n size=2", (2, 2), "the key `size` is given twice", "", ""),
            ("size='x'", (1, 6), "wrong type: string \"x\"", "a whole number that is not negative", ""),
            ("size=-1", (1, 6), "wrong value: integer `-1`", "a whole number that is not negative", ""),
            ("size=", (1, 6), "string values must be quoted", "literal string", ""),
        ] {
            let error = toml::from_str::<File>(text).unwrap_err();
            let diagnostic = from_toml(&error, &Source::new("a", text));
            assert_eq!(diagnostic.message, message, "{text}");
            assert_eq!(diagnostic.position(), Some(place), "{text}");
            assert_eq!(diagnostic.expected.unwrap_or_default(), expected, "{text}");
            assert_eq!(diagnostic.suggestion.unwrap_or_default(), suggestion, "{text}");
        }
        let file = toml::from_str::<File>("size=1\nkind='nvlink'").unwrap();
        assert!(file.size == 1 && matches!(file.kind, Some(Kind::Nvlink)));
    }
}
