//! Fields of comma-separated values (RFC 4180).

/// A field as it stands in a row: in quotes if it must be.
#[must_use]
pub fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A row without its line break.
#[must_use]
pub fn row<T: AsRef<str>>(fields: impl IntoIterator<Item = T>) -> String {
    fields.into_iter().map(|field| quoted(field.as_ref())).collect::<Vec<_>>().join(",")
}

/// A number; empty if it is none.
#[must_use]
pub fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_field_is_quoted() {
        assert_eq!(
            row(["a", "b,c", "say \"x\"", "two\nlines", ""]),
            "a,\"b,c\",\"say \"\"x\"\"\",\"two\nlines\","
        );
        assert_eq!([number(0.5), number(3.0), number(f64::NAN)], ["0.5", "3", ""]);
    }
}
