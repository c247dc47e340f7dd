//! Results of tests as `JUnit` XML, which build servers read.

use std::fmt::Write;

use super::xml::escaped;

/// One scenario that was tested.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    pub name: &'a str,
    /// The file, or the bundled name.
    pub path: &'a str,
    pub seconds: f64,
    /// What failed, a line each.
    pub failures: Vec<String>,
    /// Why it could not be run at all.
    pub error: Option<String>,
    /// Whether it was broken off before it had failed or passed.
    pub is_cut: bool,
}

impl Case<'_> {
    fn is_skipped(&self) -> bool {
        self.is_cut && self.error.is_none() && self.failures.is_empty()
    }
}

/// One test suite.
#[must_use]
pub fn suite(cases: &[Case<'_>]) -> String {
    let failures = cases.iter().filter(|case| case.error.is_none() && !case.failures.is_empty()).count();
    let errors = cases.iter().filter(|case| case.error.is_some()).count();
    let skipped = cases.iter().filter(|case| case.is_skipped()).count();
    let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        text,
        "<testsuite name=\"umscope\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{seconds:.3}\">",
        cases.len()
    );
    for case in cases {
        let _ = write!(
            text,
            "  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
            escaped(case.path),
            escaped(case.name),
            case.seconds
        );
        match (&case.error, case.failures.first()) {
            (Some(error), _) => {
                let first = error.lines().next().unwrap_or_default();
                element(&mut text, "error", first, error);
            }
            (None, Some(first)) => element(&mut text, "failure", first, &case.failures.join("\n")),
            (None, None) if case.is_skipped() => element(&mut text, "skipped", "interrupted", ""),
            (None, None) => text.push_str("/>\n"),
        }
    }
    text.push_str("</testsuite>\n");
    text
}

/// Ends a test case that has one thing to say.
fn element(text: &mut String, name: &str, message: &str, whole: &str) {
    let _ = writeln!(text, ">\n    <{name} message=\"{}\">{}</{name}>", escaped(message), escaped(whole));
    text.push_str("  </testcase>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_tells_failures_from_errors_and_escapes() {
        let case = |failures: &[&str], error: Option<&str>| Case {
            name: "a <b> & \"c\"\u{1}",
            path: "umh/a",
            seconds: 0.5,
            failures: failures.iter().map(|text| (*text).to_owned()).collect(),
            error: error.map(str::to_owned),
            is_cut: false,
        };
        let cut = |failures: &[&str]| Case { is_cut: true, ..case(failures, None) };
        let (failed, broken) = (case(&["x < y", "z"], None), case(&[], Some("broken\nhere")));
        let text = suite(&[case(&[], None), failed, broken, cut(&[]), cut(&["y"])]);
        assert!(
            text.contains("tests=\"5\" failures=\"2\" errors=\"1\" skipped=\"1\" time=\"2.500\""),
            "{text}"
        );
        assert_eq!(text.matches("<skipped message=\"interrupted\">").count(), 1, "{text}");
        assert!(text.contains("name=\"a &lt;b&gt; &amp; &quot;c&quot;\u{fffd}\" time=\"0.500\"/>"), "{text}");
        assert!(text.contains("<failure message=\"x &lt; y\">x &lt; y\nz</failure>"), "{text}");
        assert!(text.contains("<error message=\"broken\">broken\nhere</error>"), "{text}");
    }
}
