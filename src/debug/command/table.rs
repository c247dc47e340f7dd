//! All commands, and how a typed word finds one.

use std::ops::Range;

use super::{
    Arguments, Command, Completes, Effect, Group, Takes, bookmark, breakpoint, bug, cause, commands,
    condition, deadlock, delete, diff, display, enable, fork, goto, help, info, lesson, log, quit, reload,
    save, select, set, shrink, source, step, travel, until, watch, why,
};
use crate::debug::session::Session;
use crate::diagnostic::{Diagnostic, Result, Source};
use crate::model::record::KINDS;

const HELP: Command = Command {
    name: "help",
    aliases: &["h", "?"],
    usage: "help [COMMAND or KIND]",
    group: Group::Session,
    about: "list the commands, or explain one, or a kind of record",
    details: "\
A kind of record is explained with its fields, by which breakpoints and filters ask for it.
    help way-repartition",
    completes: Completes::Slots(&[Takes::Command]),
    run: help_on,
};

fn help_on(_: &mut Session, arguments: &Arguments) -> Result<Effect> {
    arguments.only(1)?;
    let words = arguments.words();
    match words.first() {
        None => Ok(Effect::Said(help::overview(ALL))),
        Some(word) => {
            let kind = KINDS.iter().find(|kind| kind.name == word.text);
            let is_exact =
                |command: &&Command| command.name == word.text || command.aliases.contains(&word.text);
            let command = match kind {
                Some(_) => ALL.iter().find(is_exact),
                None => Some(find(word.text, arguments.source(), word.span.clone())?),
            };
            let lines = command.into_iter().flat_map(help::explain);
            Ok(Effect::Said(lines.chain(kind.into_iter().flat_map(help::record)).collect()))
        }
    }
}

/// Every command, in the order of help.
pub const ALL: &[Command] = &[
    step::STEP,
    step::REVERSE_STEP,
    travel::CYCLE,
    travel::REVERSE_CYCLE,
    travel::TRANSITION,
    travel::REVERSE_TRANSITION,
    travel::FINISH,
    travel::REVERSE_FINISH,
    travel::CONTINUE,
    travel::REVERSE_CONTINUE,
    until::UNTIL,
    until::REVERSE_UNTIL,
    goto::GOTO,
    goto::RUN,
    goto::START,
    goto::END,
    cause::CAUSE,
    cause::EFFECT,
    bookmark::BOOKMARK,
    breakpoint::BREAK,
    breakpoint::TBREAK,
    watch::WATCH,
    condition::CONDITION,
    condition::IGNORE,
    commands::COMMANDS,
    delete::DELETE,
    enable::ENABLE,
    enable::DISABLE,
    save::SAVE,
    info::INFO,
    why::WHY,
    deadlock::DEADLOCK,
    display::PRINT,
    display::DISPLAY,
    display::UNDISPLAY,
    log::LOG,
    select::SELECT,
    fork::FORK,
    fork::BRANCH,
    fork::BRANCHES,
    diff::DIFF,
    shrink::SHRINK,
    lesson::PREDICT,
    lesson::REVEAL,
    bug::BUG,
    bug::HINT,
    set::SET,
    source::SOURCE,
    reload::RELOAD,
    HELP,
    quit::QUIT,
];

/// Complains of a line that is no command, at `span` of `source`, before it is to be carried out. An empty line and a comment are none, and right.
///
/// # Errors
/// If there is no command of that name, or more than one.
pub fn known(line: &str, source: &Source, span: Range<usize>) -> Result<()> {
    match line.split_whitespace().next().filter(|word| !word.starts_with('#')) {
        Some(word) => find(word, source, span).map(|_| ()),
        None => Ok(()),
    }
}

/// The command that `word` names: by its name, an alias or a unique prefix. `span` is its place in `source`.
///
/// # Errors
/// If there is none, or more than one.
pub fn find(word: &str, source: &Source, span: Range<usize>) -> Result<&'static Command> {
    let exact = ALL.iter().find(|command| command.name == word || command.aliases.contains(&word));
    if let Some(command) = exact {
        return Ok(command);
    }
    let starting: Vec<_> = ALL.iter().filter(|command| command.name.starts_with(word)).collect();
    match starting.as_slice() {
        [only] => Ok(only),
        [] => {
            let names = ALL.iter().flat_map(|command| command.aliases.iter().chain([&command.name]));
            let long = names.copied().filter(|name| name.len() > 2);
            let error = Diagnostic::new(format!("there is no command \"{word}\"")).at(source, span);
            let error = error.expected("a command; help lists them");
            Err(Box::new(match elsewhere(word) {
                Some(meant) => Diagnostic { suggestion: Some(format!("did you mean `{meant}`?")), ..error },
                None => error.nearest(word, long),
            }))
        }
        several => {
            let names: Vec<_> = several.iter().map(|command| command.name).collect();
            let error = Diagnostic::new(format!("\"{word}\" is more than one command")).at(source, span);
            Err(Box::new(error.expected(format!("one of {}", names.join(", ")))))
        }
    }
}

/// What a word means that is no command, but a part of one.
fn elsewhere(word: &str) -> Option<String> {
    if ["block", "txn", "transaction"].contains(&word) {
        return Some(format!("select {word}"));
    }
    super::info::topic_like(word).map(|topic| format!("info {topic}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(word: &str) -> Option<&'static str> {
        find(word, &Source::new(":", word), 0..word.len()).ok().map(|command| command.name)
    }

    #[test]
    fn short_words_find_what_gdb_users_mean() {
        let pairs = [
            ("s", "step"),
            ("rs", "reverse-step"),
            ("c", "continue"),
            ("rc", "reverse-continue"),
            ("b", "break"),
            ("tb", "tbreak"),
            ("i", "info"),
            ("fin", "finish"),
            ("reverse-t", "reverse-transition"),
            ("q", "quit"),
            ("p", "print"),
            ("r", "run"),
            ("u", "until"),
            ("checkpoint", "bookmark"),
        ];
        for (word, command) in pairs {
            assert_eq!(name(word), Some(command), "{word}");
        }
        assert_eq!(name("reverse-"), None);
        assert_eq!(name("xyzzy"), None);
    }

    #[test]
    fn a_slip_is_answered_with_the_nearest_command() {
        let error = find("contineu", &Source::new(":", "contineu"), 0..8).unwrap_err();
        assert_eq!(error.suggestion.as_deref(), Some("did you mean continue?"));
    }

    #[test]
    fn no_two_commands_share_a_word() {
        let mut words: Vec<_> =
            ALL.iter().flat_map(|command| command.aliases.iter().chain([&command.name])).collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count);
        assert!(ALL.iter().all(|command| command.usage.starts_with(command.name)));
    }
}
