//! Text of lessons: lines of a file become paragraphs, which a screen breaks where it must.

/// Joins lines that follow each other with a blank; keeps empty lines, and indented ones (tables) and items of lists as they are.
#[must_use]
pub fn flow(text: &str) -> String {
    let mut flowing = String::new();
    let mut open = false;
    for line in text.trim_matches('\n').lines() {
        let plain = !line.trim().is_empty() && !line.starts_with(char::is_whitespace);
        let is_item = ["- ", "* "].iter().any(|mark| line.starts_with(mark));
        if !flowing.is_empty() {
            flowing.push(if open && plain && !is_item { ' ' } else { '\n' });
        }
        flowing.push_str(line.trim_end());
        open = plain;
    }
    flowing
}

#[cfg(test)]
mod tests {
    use super::flow;

    #[test]
    fn lines_flow_together_and_tables_do_not() {
        assert_eq!(flow("one\ntwo \nthree\n"), "one two three");
        assert_eq!(flow("one\n\ntwo"), "one\n\ntwo");
        assert_eq!(flow("all:\n  a  b\n  c  d\nend\nof it"), "all:\n  a  b\n  c  d\nend of it");
        assert_eq!(flow("both:\n- one\n  two\n- three\nfour"), "both:\n- one\n  two\n- three four");
        assert_eq!(flow(""), "");
    }
}
