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
    /// What is known of why, a line each.
    pub reasons: Vec<String>,
    /// Why it could not be run at all.
    pub error: Option<String>,
    /// What its reader should know besides.
    pub note: Option<String>,
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
        let body = body(case);
        if body.is_empty() {
            text.push_str("/>\n");
        } else {
            let _ = writeln!(text, ">\n{body}  </testcase>");
        }
    }
    text.push_str("</testsuite>\n");
    text
}

/// What is said of a test case: how it failed, and what is to be known besides.
fn body(case: &Case<'_>) -> String {
    let element = |name: &str, message: &str, whole: &str| {
        format!("    <{name} message=\"{}\">{}</{name}>\n", escaped(message), escaped(whole))
    };
    let mut text = match (&case.error, case.failures.first()) {
        (Some(error), _) => element("error", error.lines().next().unwrap_or_default(), error),
        (None, Some(first)) => {
            let lines: Vec<&str> = case.failures.iter().chain(&case.reasons).map(String::as_str).collect();
            element("failure", first, &lines.join("\n"))
        }
        (None, None) if case.is_skipped() => element("skipped", "interrupted", ""),
        (None, None) => String::new(),
    };
    if let Some(note) = &case.note {
        let _ = writeln!(text, "    <system-out>{}</system-out>", escaped(note));
    }
    text
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
            reasons: vec!["since <w>".to_owned()],
            error: error.map(str::to_owned),
            note: None,
            is_cut: false,
        };
        let cut = |failures: &[&str]| Case { is_cut: true, ..case(failures, None) };
        let (failed, broken) = (case(&["x < y", "z"], None), case(&[], Some("broken\nhere")));
        let noted = |case| suite(&[Case { note: Some("but <this>".to_owned()), ..case }]);
        let note = "\n    <system-out>but &lt;this&gt;</system-out>\n  </testcase>";
        assert!(noted(case(&[], None)).contains(&format!("time=\"0.500\">{note}")));
        assert!(noted(case(&["x"], None)).contains(&format!("</failure>{note}")));
        let text = suite(&[case(&[], None), failed, broken, cut(&[]), cut(&["y"])]);
        assert!(
            text.contains("tests=\"5\" failures=\"2\" errors=\"1\" skipped=\"1\" time=\"2.500\""),
            "{text}"
        );
        assert_eq!(text.matches("<skipped message=\"interrupted\">").count(), 1, "{text}");
        assert!(text.contains("name=\"a &lt;b&gt; &amp; &quot;c&quot;\u{fffd}\" time=\"0.500\"/>"), "{text}");
        assert!(
            text.contains("<failure message=\"x &lt; y\">x &lt; y\nz\nsince &lt;w&gt;</failure>"),
            "{text}"
        );
        assert!(text.contains("<error message=\"broken\">broken\nhere</error>"), "{text}");
    }
}
