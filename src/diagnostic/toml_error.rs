//! What the TOML reader complains about, said in the words of this program.

use std::ops::Range;

use super::{Complaint, Diagnostic, Source};

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
        let mut unknown = unknown("key", name, expected).complaining(Complaint::Key(name.to_owned()));
        if let Some(heading) = heading(source, span) {
            unknown.message = format!("{} in {heading}", unknown.message);
        }
        return unknown;
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
    if what.ends_with(" as i128") || what.ends_with(" as u128") || TOO_LARGE.contains(&what) {
        let number = source.text.get(span.clone()).unwrap_or("this number");
        let size = if number.starts_with('-') { "small" } else { "large" };
        let widest = if what == SIGNED { WIDEST_SIGNED } else { WIDEST };
        return Diagnostic::new(format!("{} is too {size}", number.trim())).expected(widest);
    }
    if what.starts_with("wanted exactly 1 element") {
        return Diagnostic::new("wrong type: a table").expected("one of the words it may be, in quotes");
    }
    if what == "invalid boolean" {
        return Diagnostic::new("string values must be quoted").expected("true, false, or a text in quotes");
    }
    if expected == Some("a sequence") {
        let kind = what.strip_prefix("invalid type: ").unwrap_or(what);
        return no_list(kind, source, span);
    }
    if let Some(heading) = one_too_many(what, source, span) {
        return Diagnostic::new("wrong type: a list of tables")
            .expected(format!("[{heading}], since there is only one"));
    }
    let what = what.strip_prefix("invalid type: ").map_or_else(
        || {
            what.strip_prefix("invalid value: ")
                .map_or_else(|| what.to_owned(), |value| format!("wrong value: {value}"))
        },
        |kind| format!("wrong type: {}", plain_type(kind)),
    );
    let diagnostic = Diagnostic::new(what);
    match expected {
        Some(expected) => diagnostic.expected(plain(expected)),
        None => diagnostic,
    }
}

/// Something else where a list has to be: one of the things that may be listed, mostly.
fn no_list(kind: &str, source: &Source, span: &Range<usize>) -> Diagnostic {
    let diagnostic = Diagnostic::new(format!("wrong type: {}", plain_type(kind)));
    let line = source.text.get(span.start..).and_then(|rest| rest.lines().next());
    let heading = line.and_then(header).map(|heading| heading.trim_matches(['[', ']']));
    let is_single = line.is_some_and(|line| !line.starts_with("[["));
    let heading = heading.filter(|_| kind == "map" && is_single);
    let headed =
        || Some(key_of(source, span)).filter(|key| kind.starts_with("string") && HEADINGS.contains(key));
    match heading.or_else(headed) {
        Some(name) => {
            diagnostic.expected(format!("[[{name}]], a heading for each, since there may be several"))
        }
        None if kind.starts_with("string") => diagnostic.expected("a list such as [\"one\", \"two\"]"),
        None => diagnostic.expected("a list such as [1, 2]"),
    }
}

/// The name of a table that is written as a list of them: its first key takes the first table for its value.
fn one_too_many<'a>(what: &str, source: &'a Source, span: &Range<usize>) -> Option<&'a str> {
    let line = source.text.get(span.start..)?.lines().next()?;
    let heading = header(line).filter(|_| what == "invalid type: map" && line.starts_with("[["))?;
    Some(heading.trim_matches(['[', ']']))
}

/// The key whose value begins at `span`.
fn key_of<'a>(source: &'a Source, span: &Range<usize>) -> &'a str {
    let before = source.text.get(..span.start).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default().split('=').next().unwrap_or_default().trim()
}

/// Keys of a scenario file whose values are tables, of which there may be several.
const HEADINGS: [&str; 12] = [
    "do", "program", "kernel", "flush", "state", "memory", "allocate", "fault", "input", "say", "break",
    "expect",
];

/// The heading above a dotted key (`gpu.count`), under which it is meant as another one than without.
fn heading<'a>(source: &'a Source, span: &Range<usize>) -> Option<&'a str> {
    source.text.get(span.end..).filter(|rest| rest.starts_with('.'))?;
    let (above, before) = source.text.get(..span.start)?.rsplit_once('\n')?;
    above.lines().rev().find_map(header).filter(|_| before.trim().is_empty())
}

/// The heading that a line is, without what is remarked after it.
fn header(line: &str) -> Option<&str> {
    let heading = line.split('#').next().unwrap_or_default().trim();
    let of_name = |letter: char| letter.is_ascii_alphanumeric() || "_-.\"'".contains(letter);
    let inner = heading.strip_prefix('[')?.strip_suffix(']')?;
    let name = inner.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(inner);
    (!name.is_empty() && name.chars().all(of_name)).then_some(heading)
}

/// The name between backticks that follows `prefix` at the start of `text`.
fn quoted_after<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    text.strip_prefix(prefix)?.strip_prefix('`')?.strip_suffix('`')
}

/// An unknown name among those that the reader lists, each between backticks.
fn unknown(what: &str, name: &str, expected: Option<&str>) -> Diagnostic {
    let diagnostic = Diagnostic::new(format!("unknown {what} `{name}`"));
    let Some(expected) = expected else { return diagnostic };
    let known = || expected.split('`').skip(1).step_by(2);
    let mut diagnostic = diagnostic.expected(expected).nearest(name, known());
    if MACHINE.contains(&name) && known().any(|known| known == "set") {
        diagnostic.suggestion = Some(format!("did you mean [set.{name}]? It changes the machine"));
    }
    let mut others = SAME.iter().filter(|words| words.contains(&name)).flatten();
    if let Some(other) = others.find(|word| known().any(|known| known == **word)) {
        diagnostic.suggestion = Some(format!("did you mean {other}?"));
    }
    diagnostic
}

/// Tables of a machine file, which a scenario may change under `set`.
const MACHINE: [&str; 3] = ["gpu", "host", "network"];

/// Names that one key has and another has not, though they say the same.
const SAME: [[&str; 2]; 1] = [["len", "width"]];

/// What the TOML reader says of a number that no kind of number has room for.
const TOO_LARGE: [&str; 3] = ["integer number overflowed", SIGNED, "i64 value was too large"];

/// The same where a text is read before it is known what it is.
const SIGNED: &str = "u64 value was too large";
const WIDEST_SIGNED: &str = "a whole number of at most 63 bits: up to 9223372036854775807";

/// Where it is not known which kind of number was wanted.
const WIDEST: &str = "a whole number of at most 64 bits: up to 18446744073709551615";

const WHOLE: &str = "a whole number, 0 or more";

/// What was found, without the names of Rust's types.
fn plain_type(kind: &str) -> String {
    match kind {
        "sequence" => "a list".to_owned(),
        "map" => "a table or a date".to_owned(),
        _ => kind.replacen("floating point", "number", 1),
    }
}

/// What the reader expects, without the names of Rust's types.
fn plain(expected: &str) -> &str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => WHOLE,
        "i64" | "i32" => "a whole number",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "a text in quotes",
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
        all: Option<Vec<Entry>>,
        fault: Option<Vec<Entry>>,
        #[serde(rename = "one")]
        _one: Option<Entry>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Entry {
        #[serde(rename = "a")]
        _a: Option<u32>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Pcie,
        Nvlink,
    }

    const HUGE: &str = "size=340282366920938463463374607431768211456";

    #[test]
    fn another_word_for_the_same_is_suggested() {
        let suggested = |name, known| unknown("key", name, Some(known)).suggestion;
        assert_eq!(suggested("width", "`address`, `len`, `lanes`").as_deref(), Some("did you mean len?"));
        assert_eq!(suggested("len", "`value`, `width`").as_deref(), Some("did you mean width?"));
        assert_eq!(suggested("len", "`value`"), None);
    }

    #[test]
    fn a_dotted_key_under_a_heading_is_told_with_it() {
        let told = |text: &str| {
            let error = toml::from_str::<File>(text).unwrap_err();
            from_toml(&error, &Source::new("f.toml", text)).message
        };
        assert_eq!(told("size=1\n[[all]] # one\n gpu.count = 2"), "unknown key `gpu` in [[all]]");
        assert_eq!(told("size=1\n[[all]]\na.gpu.count = 2"), "wrong type: a table or a date");
        assert_eq!(told("size=1\n[[all]]\n[gpu.l1]"), "unknown key `gpu`");
        assert_eq!(told("size=1\ngpu.count = 2"), "unknown key `gpu`");
    }

    #[test]
    fn the_readers_complaints_are_reworded() {
        for (text, place, message, expected, suggestion) in [
            (
                "size = 1\nsice = 2",
                (2, 1),
                "unknown key `sice`",
                "one of `size`, `kind`, `all`, `fault`, `one`",
                "did you mean size?",
            ),
            ("size=1\nkind='pci'", (2, 6), "unknown value `pci`", "`pcie` or `nvlink`", "did you mean pcie?"),
            ("size=1\nkind='?'", (2, 6), "unknown value `?`", "`pcie` or `nvlink`", ""),
            ("\nkind='pcie'", (1, 1), "the key `size` is missing", "", ""),
            ("size=1\n size=2", (2, 2), "the key `size` is given twice", "", ""),
            ("size='x'", (1, 6), "wrong type: string \"x\"", WHOLE, ""),
            ("size=-1", (1, 6), "wrong value: integer `-1`", WHOLE, ""),
            ("size=1.5", (1, 6), "wrong type: number `1.5`", WHOLE, ""),
            ("size=[1]", (1, 6), "wrong type: a list", WHOLE, ""),
            ("size=18446744073709551616", (1, 6), "18446744073709551616 is too large", WIDEST, ""),
            ("size=-99999999999999999999", (1, 6), "-99999999999999999999 is too small", WIDEST, ""),
            (HUGE, (1, 6), "340282366920938463463374607431768211456 is too large", WIDEST, ""),
            ("size=", (1, 6), "string values must be quoted", "literal string", ""),
            (
                "size=1\nkind=tiny",
                (2, 6),
                "string values must be quoted",
                "true, false, or a text in quotes",
                "",
            ),
            (
                "size=1\n[all]\na=1",
                (2, 1),
                "wrong type: a table or a date",
                "[[all]], a heading for each, since there may be several",
                "",
            ),
            (
                "size=1\nfault='a'",
                (2, 7),
                "wrong type: string \"a\"",
                "[[fault]], a heading for each, since there may be several",
                "",
            ),
            (
                "size=1\n[[one]]\na=1",
                (2, 1),
                "wrong type: a list of tables",
                "[one], since there is only one",
                "",
            ),
            ("size=1\nall='a'", (2, 5), "wrong type: string \"a\"", "a list such as [\"one\", \"two\"]", ""),
        ] {
            let error = toml::from_str::<File>(text).unwrap_err();
            let diagnostic = from_toml(&error, &Source::new("a", text));
            assert_eq!(diagnostic.message, message, "{text}");
            assert_eq!(diagnostic.position(), Some(place), "{text}");
            assert_eq!(diagnostic.expected.unwrap_or_default(), expected, "{text}");
            assert_eq!(diagnostic.suggestion.unwrap_or_default(), suggestion, "{text}");
        }
        let file = toml::from_str::<File>("size=1\nkind='nvlink'").unwrap();
        assert!(
            file.size == 1
                && matches!(file.kind, Some(Kind::Nvlink))
                && file.all.is_none()
                && file.fault.is_none()
        );
    }
}
