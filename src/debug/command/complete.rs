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
    let typed = before.get(start..).unwrap_or_default();
    let place = start..before.len();
    let of = |takes| fitting(taken(session, takes, &words, typed).into_iter(), typed, place.clone());
    match completes {
        Completes::Nothing => Vec::new(),
        Completes::Filter => query(session, Language::Records, before, rest),
        Completes::Stop => query(session, Language::Stop, before, rest),
        Completes::State => query(session, Language::State, before, rest),
        Completes::Watch => watched(session, before, (rest, start)),
        Completes::Slots(slots) => {
            let last = slots.len().saturating_sub(1);
            match slots.get(words.len().min(last)) {
                Some(Takes::Predicate) => query(session, Language::State, before, after(before, rest, last)),
                Some(Takes::Commands) => commands_after(session, before, after(before, rest, last)),
                Some(takes) if words.len() <= last => of(*takes),
                _ => Vec::new(),
            }
        }
        Completes::Each(takes) => of(takes),
        Completes::Subject(subjects) if words.is_empty() => {
            fitting(subjects.iter().map(|(word, _)| bare(word)), typed, place)
        }
        Completes::Subject(subjects) => {
            let subject = subjects.iter().find(|(word, _)| words == [*word]);
            subject.map(|(_, takes)| of(*takes)).unwrap_or_default()
        }
    }
}

/// Where what follows so many words begins.
fn after(before: &str, rest: usize, words: usize) -> usize {
    let mut at = rest;
    for _ in 0..words {
        let text = before.get(at..).unwrap_or_default();
        let blank = text.len() - text.trim_start().len();
        let word = text.split_whitespace().next().map_or(0, str::len);
        at += blank + word;
    }
    at
}

fn query(session: &Session, language: Language, before: &str, rest: usize) -> Vec<Candidate> {
    let query = before.get(rest..).unwrap_or_default();
    // Blocks come and go as the machine runs.
    let blocks = session.machine().blocks(MOST);
    let context = Context { blocks, ..session.context().clone() };
    let list = query::complete(query, query.len(), language, &context);
    let moved = |found: query::Completion| Candidate {
        text: found.text,
        about: found.about,
        replaces: found.replaces.start + rest..found.replaces.end + rest,
    };
    list.into_iter().map(moved).collect()
}

/// What is watched, and its condition.
fn watched(session: &Session, before: &str, (rest, start): (usize, usize)) -> Vec<Candidate> {
    let words = before.get(rest..start).unwrap_or_default();
    if let Some(at) = words.find(" if ") {
        return query(session, Language::State, before, rest + at + " if ".len());
    }
    let mut found = query(session, Language::State, before, rest);
    if !words.trim().is_empty() {
        let typed = before.get(start..).unwrap_or_default();
        let word = ("if".to_owned(), "only where a predicate holds".to_owned());
        found.extend(fitting(std::iter::once(word), typed, start..before.len()));
    }
    found
}

/// The last of several commands.
fn commands_after(session: &Session, before: &str, from: usize) -> Vec<Candidate> {
    let from = before.get(from..).and_then(|text| text.rfind(';')).map_or(from, |at| from + at + 1);
    let text = before.get(from..).unwrap_or_default();
    let found = complete(session, text, text.len()).into_iter();
    let moved =
        |one: Candidate| Candidate { replaces: one.replaces.start + from..one.replaces.end + from, ..one };
    found.map(moved).collect()
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

/// What may stand at a place, behind some words.
fn taken(session: &Session, takes: Takes, words: &[&str], typed: &str) -> Vec<(String, String)> {
    let all = |words: &[&str]| words.iter().map(|word| bare(word)).collect::<Vec<_>>();
    match takes {
        Takes::Nothing | Takes::Predicate | Takes::Commands => Vec::new(),
        Takes::Words(words) => all(words),
        Takes::Component => components(session),
        Takes::ComponentOr(words) => [all(words), components(session)].concat(),
        Takes::Block => session.machine().blocks(MOST).iter().map(|block| bare(&block.to_string())).collect(),
        Takes::Key => keys(session, ""),
        Takes::Setting => keys(session, "="),
        Takes::Fault => Fault::NAMES.map(bare).to_vec(),
        Takes::Breakpoint => breakpoints(session),
        Takes::Deletable if words.last() == Some(&"bookmark") => bookmarks(session),
        Takes::Deletable if words.is_empty() => [breakpoints(session), all(&["bookmark"])].concat(),
        Takes::Deletable => breakpoints(session),
        Takes::Display => {
            session.displays.iter().map(|display| (display.id.to_string(), display.text.clone())).collect()
        }
        Takes::Position => positions(session),
        Takes::Command => {
            let kinds = KINDS.iter().map(|kind| (kind.name.to_owned(), kind.about.to_owned()));
            commands().chain(kinds).collect()
        }
        Takes::Branch => {
            let branches = session.branches().list().iter();
            branches.map(|branch| (branch.number.to_string(), branch.what())).collect()
        }
        Takes::Choice => choices(session),
        Takes::Answer => answers(session),
        Takes::Path => paths(typed),
    }
}

fn breakpoints(session: &Session) -> Vec<(String, String)> {
    session.breakpoints().list().iter().map(|found| (found.id.to_string(), found.line())).collect()
}

fn bookmarks(session: &Session) -> Vec<(String, String)> {
    let place = |bookmark: &Bookmark| bookmark.place(session.branches());
    session.bookmarks().iter().map(|(name, bookmark)| (name.clone(), place(bookmark))).collect()
}

/// The choices of the question that is asked here, by number.
fn answers(session: &Session) -> Vec<(String, String)> {
    let lesson = session.timeline.lesson();
    let asked = lesson.and_then(|lesson| lesson.open_at(session.event()));
    let choices = asked.map_or(&[][..], |(_, asked)| &asked.ask.choices);
    (1..).zip(choices).map(|(number, choice): (usize, _)| (number.to_string(), choice.clone())).collect()
}

/// Files and folders whose path begins so; a folder ends with a slash.
fn paths(typed: &str) -> Vec<(String, String)> {
    let (folder, name) = typed.rfind('/').map_or(("", typed), |at| typed.split_at(at + 1));
    let place = if folder.is_empty() { "." } else { folder };
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let path = |entry: std::fs::DirEntry| {
        let own = entry.file_name().into_string().ok()?;
        let is_meant = own.starts_with(name) && (!own.starts_with('.') || name.starts_with('.'));
        let slash = if entry.path().is_dir() { "/" } else { "" };
        (is_meant && !own.contains(char::is_whitespace)).then(|| format!("{folder}{own}{slash}"))
    };
    let mut found: Vec<String> = entries.flatten().filter_map(path).collect();
    found.sort_unstable();
    found.iter().map(|path| bare(path)).collect()
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
    let fixed = fixed.into_iter().map(|(word, about)| (word.to_owned(), about.to_owned()));
    fixed.chain(bookmarks(session)).collect()
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

    #[test]
    fn each_place_of_a_command_has_its_own_words() {
        let mut session = Session::open(Origin::of_text("t", TEXT).unwrap(), None);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("some.cmd"), "").unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        let path = folder.path().display().to_string();
        for line in ["break complete", "bookmark here", "display cycle"] {
            session.execute(line, &crate::debug::interrupt::Interrupt::default()).unwrap();
        }
        let offered = |line: &str| -> Vec<String> {
            let found = complete(&session, line, line.len()).into_iter();
            found.map(|one| format!("{}{}", &line[..one.replaces.start], one.text)).collect()
        };
        for (line, wanted) in [
            ("ignore ", "ignore 1"),
            ("condition 1 occ", "condition 1 occupancy"),
            ("commands 1 step; inf", "commands 1 step; info"),
            ("commands 1 step; info lat", "commands 1 step; info latency"),
            ("watch cycle i", "watch cycle if"),
            ("watch cycle if occ", "watch cycle if occupancy"),
            ("set quiz o", "set quiz on"),
            ("set qui", "set quiz"),
            ("delete b", "delete bookmark"),
            ("delete bookmark h", "delete bookmark here"),
            ("undisplay ", "undisplay 1"),
            ("select gpu0.cu0 w", "select gpu0.cu0 warp"),
            ("why bl", "why block"),
            ("enable 1 ", "enable 1 1"),
        ] {
            assert!(offered(line).contains(&wanted.to_owned()), "{line}: {:?}", offered(line));
        }
        for line in ["ignore 1 ", "source a ", "set lines ", "select gpu0.cu0 warp "] {
            assert_eq!(offered(line), [""; 0], "{line}");
        }
        assert_eq!(
            offered(&format!("source {path}/s")),
            [format!("source {path}/some.cmd"), format!("source {path}/sub/")]
        );
    }
}
