//! `select`: what other commands and all panes mean by "the selected".

use std::fmt;

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::frame::selection::Selection;
use crate::debug::session::Session;
use crate::diagnostic::{Diagnostic, Result};
use crate::model::address::Address;
use crate::model::component::ComponentId;
use crate::model::message::TxnNumber;

use super::Word;

pub const SELECT: Command = Command {
    name: "select",
    aliases: &["sel"],
    usage: "select [block ADDRESS | page N | txn N | COMPONENT [warp N] | none]",
    group: Group::Looking,
    about: "select a block, page, transaction, component or warp",
    details: "What is selected is highlighted in every pane, and meant by finish, why and info. Alone, tells what it is.",
    completes: Completes::Slots(&[
        Takes::ComponentOr(&["block", "page", "txn", "none"]),
        Takes::Words(&["warp"]),
    ]),
    run: select,
};

fn select(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let words = arguments.words();
    match words.as_slice() {
        [] => return Ok(Effect::line(told(session))),
        [only] if only.text == "none" => session.selection = Selection::default(),
        [kind, address] if kind.text == "block" => {
            session.selection.block = Some(session.address(arguments, address)?);
        }
        [kind, number] if matches!(kind.text, "txn" | "transaction") => {
            let number = arguments.number(number, "the number of a transaction")?;
            session.selection.txn = Some(TxnNumber(number));
        }
        [kind, number] if kind.text == "page" => {
            let block = session.page(arguments, number)?;
            session.selection.block = Some(block);
            let doubt = session.doubt_page(block.0 / u64::from(session.context().page.0.max(1)));
            return Ok(Effect::line(told(session) + &doubt));
        }
        [kind] if kind.text == "page" => return Err(arguments.missing("the number of a page")),
        [kind] if kind.text == "block" => return Err(arguments.missing("an address such as 0x1000")),
        [kind] if matches!(kind.text, "txn" | "transaction") => {
            return Err(arguments.missing("the number of a transaction"));
        }
        [path] => {
            session.selection.component = Some(session.component(arguments, path)?);
            session.selection.warp = None;
        }
        [path, kind, number] if kind.text == "warp" => {
            let component = session.component(arguments, path)?;
            session.selection.warp = Some(session.warp(arguments, component, number)?);
            session.selection.component = Some(component);
        }
        [_, kind] if kind.text == "warp" => return Err(arguments.missing("the number of a warp")),
        [_, second, ..] => return Err(arguments.error(second.span.clone(), "nothing is expected here")),
    }
    Ok(Effect::line(told(session)))
}

/// What is selected, in words.
fn told(session: &Session) -> String {
    let selection = session.selection;
    let mut parts = Vec::new();
    parts.extend(selection.block.map(|block| format!("block {block}")));
    parts.extend(selection.txn.map(|txn| {
        let is_here = session.machine().transaction(txn).is_some();
        let stands = if is_here { String::new() } else { format!(", which {}", session.over_or_ahead(txn)) };
        format!("txn {}{stands}", txn.0)
    }));
    if let Some(component) = selection.component {
        let warp = selection.warp.map_or_else(String::new, |warp| format!(" warp {warp}"));
        parts.push(format!("{}{warp}", session.machine().components().path(component)));
    }
    if parts.is_empty() {
        "nothing is selected".to_owned()
    } else {
        format!("selected: {}", parts.join(", "))
    }
}

/// What is the case with a transaction that is not in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::debug) enum Absent {
    /// All work is done, and there was no such transaction.
    Never,
    NotYet,
    Ended,
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "is none of this run",
            Self::NotYet => "has not begun",
            Self::Ended => "has ended",
        })
    }
}

impl Session {
    /// What is the case with a transaction that is not in flight here: it may be one that begins later.
    pub(in crate::debug) fn over_or_ahead(&self, txn: TxnNumber) -> Absent {
        match self.machine().machine() {
            Some(machine) if !machine.has_begun(txn) && machine.is_finished() => Absent::Never,
            Some(machine) if !machine.has_begun(txn) => Absent::NotYet,
            _ => Absent::Ended,
        }
    }

    /// The component that `word` names in full; `sm` is another name for `cu`.
    pub(in crate::debug) fn component(&self, arguments: &Arguments, word: &Word<'_>) -> Result<ComponentId> {
        let components = self.machine().components();
        components.find(word.text).ok_or_else(|| {
            let error = arguments.error(word.span.clone(), format!("no component is called {}", word.text));
            let paths = || components.iter().map(|(_, component)| component.path.as_str());
            let expected = format!("the path of one, such as {}", paths().next().unwrap_or("host.hmd0"));
            Box::new(error.expected(expected).nearest(word.text, paths()))
        })
    }

    /// The address of the page that `word` numbers.
    pub(in crate::debug) fn page(&self, arguments: &Arguments, word: &Word<'_>) -> Result<Address> {
        let number = arguments.number(word, "the number of a page")?;
        let start = number.checked_mul(u64::from(self.context().page.0));
        start.map(Address).filter(|start| self.is_in_memory(*start)).ok_or_else(|| {
            let error = arguments.error(word.span.clone(), format!("there is no page {number:#x}"));
            self.bounded(error)
        })
    }

    /// The address that `word` is, of a byte that there is.
    fn address(&self, arguments: &Arguments, word: &Word<'_>) -> Result<Address> {
        let address = Address(arguments.number(word, "an address such as 0x1000")?);
        if self.is_in_memory(address) {
            return Ok(address);
        }
        let error = arguments.error(word.span.clone(), format!("there is no address {address}"));
        Err(self.bounded(error))
    }

    fn is_in_memory(&self, address: Address) -> bool {
        self.machine().machine().is_none_or(|machine| address.0 < machine.spec().host.memory.0)
    }

    /// What there is instead.
    fn bounded(&self, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        let memory = self.machine().machine().map(|machine| machine.spec().host.memory);
        error.expected = memory.map(|memory| format!("what lies in the host memory of {memory}"));
        error
    }

    /// The warp of `component` that `word` numbers.
    pub(in crate::debug) fn warp(
        &self,
        arguments: &Arguments,
        component: ComponentId,
        word: &Word<'_>,
    ) -> Result<u32> {
        let number = arguments.number(word, "the number of a warp")?;
        let counts = self.machine().warp_counts(component);
        let count: u32 = counts.map_or(0, |counts| counts.iter().sum());
        u32::try_from(number).ok().filter(|number| *number < count).ok_or_else(|| {
            let path = self.machine().components().path(component);
            let error = arguments.error(word.span.clone(), format!("{path} has no warp {number}"));
            match count.checked_sub(1) {
                None => error,
                Some(last) => Box::new(error.expected(format!("0 to {last}"))),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::debug::interrupt::Interrupt;
    use crate::debug::origin::Origin;
    use crate::debug::session::Session;

    #[test]
    fn what_is_missing_or_not_there_is_told() {
        let text = "machine = \"tiny/umh-2gpu\"\n[[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x1000 }\n";
        let mut session = Session::open(Origin::of_text("t", text).unwrap(), None);
        for (line, wanted) in [
            ("select block", "an address such as"),
            ("select txn", "the number of a transaction"),
            ("select page", "the number of a page"),
            ("select page 0xffffffffffffffff", "there is no page"),
            ("select page 0x200000", "there is no page 0x200000"),
            ("select block 0x200000000", "what lies in the host memory of 8 GiB"),
            ("select gpu0.cu0 warp", "the number of a warp"),
            ("select gpu0.cu0 warp 4", "gpu0.cu0 has no warp 4"),
            ("why gpu0.cu0 warp 99", "0 to 3"),
            ("why 3", "did you mean why txn 3?"),
            ("why 0x1000", "did you mean why block 0x1000?"),
            ("select gpu0.l2.0 warp 0", "gpu0.l2.0 has no warp 0"),
            ("goto cycle", "the number of a cycle"),
            ("set lines 0", "1 to 100000"),
            ("delete bookmark", "the name of a bookmark"),
            ("info warps gpu0 gpu1", "one component or pattern is enough"),
        ] {
            let error = session.execute(line, &Interrupt::default()).unwrap_err().to_string();
            assert!(error.contains(wanted), "{line}: {error}");
        }
        assert!(session.selection().component.is_none(), "nothing was selected");
        let mut told = |line: &str| match session.execute(line, &Interrupt::default()) {
            Ok(answer) => answer.lines.join("\n"),
            Err(error) => error.to_string(),
        };
        assert_eq!(told("select page 3"), "selected: block 0x3000");
        assert_eq!(told("why page 3"), "nothing waits for page 0x3, which begins at address 0x3000");
        told("select none");
        assert_eq!(told("select txn 999"), "selected: txn 999, which has not begun");
        assert_eq!(told("why"), "transaction 999 has not begun, and none is in flight");
        assert!(told("why txn 999").contains("transaction 999 has not begun: it waits for nothing"));
        told("end");
        assert_eq!(told("select txn 1"), "selected: txn 1, which has ended");
        assert_eq!(told("select txn 999"), "selected: txn 999, which is none of this run");
        session.execute("select gpu0.cu0 warp 3", &Interrupt::default()).unwrap();
        assert_eq!(session.selection().warp, Some(3));
    }

    #[test]
    fn each_transaction_is_told_what_it_waits_for_itself() {
        let text = "machine = \"tiny/umh-2gpu\"\n[[do]]\nid = \"a\"\nby = \"gpu0.cu0\"\nload = { address = 0x1000 }\n[[do]]\nid = \"b\"\n\
                    after = \"a\"\nby = \"gpu1.cu0\"\nload = { address = 0x1000 }\n[[do]]\nafter = \"b\"\nby = \"gpu0.cu0\"\n\
                    store = { address = 0x1000, value = 7 }\n[[do]]\nafter = \"b\"\nby = \"gpu0.cu1\"\nload = { address = 0x1080 }\n";
        let mut session = Session::open(Origin::of_text("t", text).unwrap(), None);
        let mut at_smd = |line: &str| {
            let answer = session.execute(line, &Interrupt::default()).unwrap().lines;
            answer.into_iter().find(|line| line.contains("gpu0.smd0")).unwrap_or_default()
        };
        at_smd("goto 37");
        let (store, load) = (at_smd("why txn 3"), at_smd("why txn 4"));
        assert!(store.contains("waits for write") && !load.contains("waits for write"), "{store}\n{load}");
    }
}
