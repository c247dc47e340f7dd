//! Completion of a command line, from the command table and the query language.

use std::ops::Range;

use super::{ALL, Completes, find};
use crate::debug::bookmark::Bookmark;
use crate::debug::session::Session;
use crate::diagnostic::Source;
use crate::query::{self, Context, Language};

/// One way to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub text: String,
    /// What it means.
    pub about: String,
    /// The bytes of the line that it replaces.
    pub replaces: Range<usize>,
}

/// Candidates at most.
const MOST: usize = 200;

/// What may stand at byte `cursor` of `line`.
#[must_use]
pub fn complete(session: &Session, line: &str, cursor: usize) -> Vec<Candidate> {
    let Some(before) = line.get(..cursor) else { return Vec::new() };
    let indent = before.len() - before.trim_start().len();
    let word = before.split_whitespace().next().unwrap_or_default();
    let rest = indent + word.len();
    if rest == cursor {
        return fitting(commands(), word, indent..cursor);
    }
    let Ok(command) = find(word, &Source::new(":", line), indent..rest) else { return Vec::new() };
    arguments(session, command.completes, before, rest)
}

fn commands() -> impl Iterator<Item = (String, String)> {
    ALL.iter().map(|command| (command.name.to_owned(), command.about.to_owned()))
}

fn arguments(session: &Session, completes: Completes, before: &str, rest: usize) -> Vec<Candidate> {
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let is_first = before.get(rest..start).is_some_and(|between| between.trim().is_empty());
    let typed = before.get(start..).unwrap_or_default();
    let place = start..before.len();
    let plain = |words: Vec<(String, String)>| fitting(words.into_iter(), typed, place.clone());
    let of_query = |language| {
        let query = before.get(rest..).unwrap_or_default();
        // Blocks come and go as the machine runs.
        let blocks = session.machine().blocks(MOST);
        let context = Context { blocks, ..session.context().clone() };
        let list = query::complete(query, query.len(), language, &context);
        list.into_iter()
            .map(|found| Candidate {
                text: found.text,
                about: found.about,
                replaces: found.replaces.start + rest..found.replaces.end + rest,
            })
            .collect()
    };
    match completes {
        Completes::Filter => of_query(Language::Records),
        Completes::Stop => of_query(Language::Stop),
        Completes::State => of_query(Language::State),
        Completes::Words(words) if is_first => {
            plain(words.iter().map(|word| ((*word).to_owned(), String::new())).collect())
        }
        Completes::Command if is_first => plain(commands().collect()),
        Completes::Breakpoint => plain(
            session.breakpoints().list().iter().map(|found| (found.id.to_string(), found.line())).collect(),
        ),
        Completes::Branch => plain(
            session
                .branches()
                .list()
                .iter()
                .map(|branch| (branch.number.to_string(), branch.what()))
                .collect(),
        ),
        Completes::Position if is_first => plain(positions(session)),
        Completes::Component if is_first => plain(
            session
                .machine()
                .components()
                .iter()
                .map(|(_, component)| (component.path.clone(), component.kind.name().to_owned()))
                .collect(),
        ),
        Completes::Nothing
        | Completes::Path
        | Completes::Words(_)
        | Completes::Command
        | Completes::Position
        | Completes::Component => Vec::new(),
    }
}

fn positions(session: &Session) -> Vec<(String, String)> {
    let fixed = [
        ("start", "the first position"),
        ("end", "the end of the run"),
        ("cycle", "a cycle"),
        ("event", "an event"),
    ];
    let place = |bookmark: &Bookmark| bookmark.place(session.branches());
    let bookmarks = session.bookmarks().iter().map(|(name, bookmark)| (name.clone(), place(bookmark)));
    fixed.into_iter().map(|(word, about)| (word.to_owned(), about.to_owned())).chain(bookmarks).collect()
}

fn fitting(
    words: impl Iterator<Item = (String, String)>,
    typed: &str,
    place: Range<usize>,
) -> Vec<Candidate> {
    words
        .filter(|(word, _)| word.starts_with(typed))
        .take(MOST)
        .map(|(text, about)| Candidate { text, about, replaces: place.clone() })
        .collect()
}
