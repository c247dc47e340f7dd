//! `select`: what other commands and all panes mean by "the selected".

use super::{Arguments, Command, Completes, Effect, Group};
use crate::debug::frame::selection::Selection;
use crate::debug::session::Session;
use crate::diagnostic::Result;
use crate::model::address::Address;
use crate::model::component::ComponentId;
use crate::model::message::TxnNumber;

use super::Word;

pub const SELECT: Command = Command {
    name: "select",
    aliases: &["sel"],
    usage: "select [block ADDRESS | txn N | COMPONENT [warp N] | none]",
    group: Group::Looking,
    about: "select a block, transaction, component or warp",
    details: "What is selected is highlighted in every pane, and meant by finish, why and info. Alone, tells what it is.",
    completes: Completes::Component,
    run: select,
};

fn select(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let words = arguments.words();
    match words.as_slice() {
        [] => return Ok(Effect::line(told(session))),
        [only] if only.text == "none" => session.selection = Selection::default(),
        [kind, address] if kind.text == "block" => {
            session.selection.block = Some(Address(arguments.number(address, "an address such as 0x1000")?));
        }
        [kind, number] if matches!(kind.text, "txn" | "transaction") => {
            let number = arguments.number(number, "the number of a transaction")?;
            session.selection.txn = Some(TxnNumber(number));
        }
        [path] => {
            session.selection.component = Some(session.component(arguments, path)?);
            session.selection.warp = None;
        }
        [path, kind, number] if kind.text == "warp" => {
            let warp = arguments.number(number, "the number of a warp")?;
            session.selection.component = Some(session.component(arguments, path)?);
            session.selection.warp = u32::try_from(warp).ok();
        }
        [_, second, ..] => return Err(arguments.error(second.span.clone(), "nothing is expected here")),
    }
    Ok(Effect::line(told(session)))
}

/// What is selected, in words.
fn told(session: &Session) -> String {
    let selection = session.selection;
    let mut parts = Vec::new();
    parts.extend(selection.block.map(|block| format!("block {block}")));
    parts.extend(selection.txn.map(|txn| format!("txn {}", txn.0)));
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

impl Session {
    /// The component that `word` names in full; `sm` is another name for `cu`.
    pub(in crate::debug) fn component(&self, arguments: &Arguments, word: &Word<'_>) -> Result<ComponentId> {
        let components = self.machine().components();
        let canonical = word.text.replace(".sm", ".cu");
        components.find(word.text).or_else(|| components.find(&canonical)).ok_or_else(|| {
            let error = arguments.error(word.span.clone(), format!("no component is called {}", word.text));
            let paths = || components.iter().map(|(_, component)| component.path.as_str());
            let expected = format!("the path of one, such as {}", paths().next().unwrap_or("host.hmd0"));
            Box::new(error.expected(expected).nearest(word.text, paths()))
        })
    }
}
