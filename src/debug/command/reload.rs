//! `reload`: reads the scenario again after a file changed.

use super::{Command, Completes, Effect, Group};
use crate::debug::session::Session;
use crate::debug::travel::Travel;
use crate::model::text::plural;

/// What was done, from the numbers of branches and bookmarks before and after.
fn told(before: (usize, usize), after: (usize, usize)) -> String {
    let gone = |count: usize, what: &str| (count > 0).then(|| plural(count as u64, what));
    let lost = [
        gone(before.0.saturating_sub(after.0), "branch"),
        gone(before.1.saturating_sub(after.1), "bookmark"),
    ];
    match lost.into_iter().flatten().collect::<Vec<_>>().join(" and ") {
        lost if lost.is_empty() => "read again".to_owned(),
        lost => format!("read again; gone: {lost}"),
    }
}

pub const RELOAD: Command = Command {
    name: "reload",
    aliases: &[],
    usage: "reload",
    group: Group::Session,
    about: "read the scenario again after a file changed",
    details: "Goes to the same event of the new run. Breakpoints, displays, bookmarks and what the log\n\
              shows stay; if one of them no longer fits the machine, nothing is changed. A [[break]] that has changed\n\
              comes in place of the old one. Other branches are gone, with the bookmarks in them.",
    completes: Completes::Nothing,
    run: |session, arguments| {
        arguments.none()?;
        let event = session.event();
        let Some(reload) = session.reload.as_mut() else {
            return Err(Session::complaint("there is no file to read again"));
        };
        let origin = reload()?;
        let count = |session: &Session| (session.branches().list().len(), session.bookmarks().len());
        let before = count(session);
        let left_out = origin.left_out.clone();
        session.restart(origin)?;
        let after = count(session);
        let mut lines = vec![told(before, after)];
        lines.extend(
            left_out.map(|why| {
                format!("warning: left out, with all that speaks of such states: {}", why.message)
            }),
        );
        if let Some(maker) = &session.maker {
            if let Some(own) = maker.scenario.brings() {
                lines.push(format!(
                    "it brings its own {own}, as of when it was recorded, whatever the file says now: `umscope shrink RECORDING --output \
                     FILE` writes a scenario and what it uses, to be changed"
                ));
            }
            lines.extend(maker.scenario.table_doubts(&maker.options));
        }
        Ok(Effect::SaidAndGo(lines, Travel::to(event)))
    },
};
