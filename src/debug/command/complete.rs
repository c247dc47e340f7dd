//! Completion of a command line, from the command table and the query language.

use std::ops::Range;

use super::{ALL, Completes, Takes, find};
use crate::config::machine_keys;
use crate::debug::bookmark::Bookmark;
use crate::debug::session::Session;
use crate::diagnostic::Source;
use crate::model::fault::Fault;
use crate::model::record::KINDS;
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
    let words: Vec<&str> = before.get(rest..start).unwrap_or_default().split_whitespace().collect();
    let is_first = words.is_empty();
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
        Completes::Words(words) if is_first => plain(words.iter().map(|word| bare(word)).collect()),
        Completes::Subject(subjects) if is_first => {
            plain(subjects.iter().map(|(word, _)| bare(word)).collect())
        }
        Completes::Command if is_first => {
            let kinds = KINDS.iter().map(|kind| (kind.name.to_owned(), kind.about.to_owned()));
            plain(commands().chain(kinds).collect())
        }
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
        Completes::Choice if is_first => plain(choices(session)),
        Completes::Position if is_first => plain(positions(session)),
        Completes::Component if is_first => plain(components(session)),
        Completes::Subject(subjects) => {
            let subject = subjects.iter().find(|(word, _)| words == [*word]);
            plain(subject.map(|(_, takes)| taken(session, *takes)).unwrap_or_default())
        }
        Completes::Nothing
        | Completes::Path
        | Completes::Words(_)
        | Completes::Command
        | Completes::Choice
        | Completes::Position
        | Completes::Component => Vec::new(),
    }
}

/// A word that needs no explanation.
fn bare(word: &str) -> (String, String) {
    (word.to_owned(), String::new())
}

/// What the bug may be, by number.
fn choices(session: &Session) -> Vec<(String, String)> {
    let choices = session.hunt.iter().flat_map(|hunt| &hunt.bug.choices);
    (1..).zip(choices).map(|(number, choice): (usize, _)| (number.to_string(), choice.clone())).collect()
}

/// What may follow the word that names a subject.
fn taken(session: &Session, takes: Takes) -> Vec<(String, String)> {
    match takes {
        Takes::Nothing => Vec::new(),
        Takes::Component => components(session),
        Takes::Block => session.machine().blocks(MOST).iter().map(|block| bare(&block.to_string())).collect(),
        Takes::Key => keys(session, ""),
        Takes::Setting => keys(session, "="),
        Takes::Fault => Fault::NAMES.map(bare).to_vec(),
    }
}

/// The keys of the machine, each with its value.
fn keys(session: &Session, end: &str) -> Vec<(String, String)> {
    let Ok((spec, _)) = session.machine_here() else { return Vec::new() };
    let key = |(key, value): (String, toml::Value)| (key + end, value.to_string());
    machine_keys::keys(&spec).into_iter().map(key).collect()
}

fn components(session: &Session) -> Vec<(String, String)> {
    let all = session.machine().components().iter();
    all.map(|(_, component)| (component.path.clone(), component.kind.name().to_owned())).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debug::origin::Origin;

    const TEXT: &str =
        "machine = 'tiny/umh-2gpu'\n[[do]]\nby = 'gpu0.cu0'\nstore = { address = 0x1000, bytes = '07' }\n";

    #[test]
    fn what_the_bug_may_be_is_offered_by_number() {
        let session = crate::debug::sample::bundled("debugging/lost-byte");
        let found = complete(&session, "bug ", 4);
        assert!(found.len() > 1 && found[1].text == "2" && !found[1].about.is_empty(), "{found:?}");
    }

    #[test]
    fn after_the_topic_or_the_change_comes_what_it_is_about() {
        let session = Session::open(Origin::of_text("t", TEXT).unwrap(), None);
        let words = |line: &str| -> Vec<(String, String)> {
            let found = complete(&session, line, line.len()).into_iter();
            found.map(|one| (format!("{}{}", &line[..one.replaces.start], one.text), one.about)).collect()
        };
        let one = |line: &str| match &words(line)[..] {
            [(text, about)] => (text.clone(), about.clone()),
            several => panic!("{several:?}"),
        };
        let told = |text: &str, about: &str| (text.to_owned(), about.to_owned());
        assert_eq!(one("fork set gpu.l1.m"), told("fork set gpu.l1.mshrs=", "4"));
        assert_eq!(one("info machine gpu.l1.m"), told("info machine gpu.l1.mshrs", "4"));
        assert_eq!(one("fork fault lose-m"), told("fork fault lose-message", ""));
        assert_eq!(one("info mshr gpu1.l"), told("info mshr gpu1.l2.0", "l2"));
        for verb in crate::recording::VERBS {
            assert_eq!(one(&format!("fork {verb}")), told(&format!("fork {verb}"), ""));
        }
        assert_eq!(words("fork set gpu.l1.mshrs=4 x"), []);
    }
}
