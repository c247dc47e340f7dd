//! Bookmarks: named positions. A position lies on the branch where it was named, and on all that have the same past.

use super::branch::Branches;
use crate::model::time::EventNumber;

/// A named position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bookmark {
    pub event: EventNumber,
    /// Where it was named.
    pub branch: u32,
}

impl Bookmark {
    /// Whether the branch with the cursor passes through it.
    #[must_use]
    pub fn is_here(&self, branches: &Branches) -> bool {
        branches.share(self.branch, branches.current(), self.event)
    }

    /// Where it is: `event 29`, with its branch if that is another one.
    #[must_use]
    pub fn place(&self, branches: &Branches) -> String {
        let branch =
            if self.is_here(branches) { String::new() } else { format!(" of branch {}", self.branch) };
        format!("event {}{branch}", self.event)
    }
}

#[cfg(test)]
mod tests {
    use crate::debug::interrupt::Interrupt;
    use crate::debug::origin::Origin;
    use crate::debug::session::Session;

    const TEXT: &str = r#"
machine = "tiny/umh-2gpu"
[[do]]
by = "gpu0.cu0"
store = { address = 0x1000, bytes = "07" }
"#;

    #[test]
    fn a_bookmark_leads_back_to_its_branch_and_stays_where_the_past_is_the_same() {
        let mut session = Session::open(Origin::of_text("t", TEXT).unwrap(), None);
        let mut run = |line: &str| {
            let lines = session.execute(line, &Interrupt::default()).unwrap().lines;
            (session.event(), session.branches().current(), lines.join("\n"))
        };
        run("goto 3");
        run("bookmark before");
        run("goto 5");
        run("fork set network.latency=\"2 us\"");
        run("goto 8");
        run("bookmark after");
        let there = run("info position").2;
        assert_eq!(run("goto before").1, 2, "what came before the change is the same on both branches");
        run("branch 1");
        assert_eq!(run("info bookmarks").2, "after  event 8 of branch 2\nbefore  event 3");
        assert_eq!(run("goto before").1, 1);
        let back = run("goto after");
        assert_eq!((back.0, back.1, run("info position").2), (8, 2, there));
    }

    #[test]
    fn what_counts_nothing_is_told_what_does() {
        let mut session = Session::open(Origin::of_text("t", TEXT).unwrap(), None);
        let mut complaint = |line: &str| session.execute(line, &Interrupt::default()).unwrap_err();
        let error = complaint("goto evnt 3");
        assert_eq!((error.message.as_str(), error.position()), ("evnt counts nothing here", Some((1, 6))));
        assert_eq!(error.suggestion.as_deref(), Some("did you mean event?"));
        for line in ["goto 3 4", "goto end 3", "goto event 3 4"] {
            assert_eq!(complaint(line).message, "nothing is expected here", "{line}");
        }
    }
}
