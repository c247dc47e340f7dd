//! The command line: editing, history, completion, and how an error is shown under the word it is about.

use std::ops::Range;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::debug::command::Candidate;
use crate::diagnostic::Diagnostic;

use super::canvas::{fit, wrap};
use super::theme::Role;

/// What the line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Command,
    /// A query for the log.
    Filter,
    /// An answer to the lesson's question.
    Predict,
    /// The commands of this breakpoint, a line each.
    Commands(u32),
}

/// Most characters of a line.
const LENGTH: usize = 4000;

/// Most suggestions shown at a time.
const SHOWN: usize = 6;

/// A line being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    pub kind: Kind,
    text: Vec<char>,
    cursor: usize,
    /// The line of the history that is shown, counted from the end, and the line typed before.
    past: Option<(usize, Vec<char>)>,
    suggestions: Vec<Candidate>,
    /// The place of the word to be completed, and the suggestion taken.
    completing: Option<(Range<usize>, usize)>,
}

impl Prompt {
    #[must_use]
    pub fn new(kind: Kind, text: &str) -> Self {
        let text: Vec<char> = text.chars().filter(|character| !character.is_control()).take(LENGTH).collect();
        Self { kind, cursor: text.len(), text, past: None, suggestions: Vec::new(), completing: None }
    }

    #[must_use]
    pub fn text(&self) -> String {
        self.text.iter().collect()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn edited(&mut self) {
        self.suggestions.clear();
        self.completing = None;
        self.past = None;
    }

    pub fn insert(&mut self, character: char) {
        if !character.is_control() && self.text.len() < LENGTH {
            self.text.insert(self.cursor.min(self.text.len()), character);
            self.cursor += 1;
            self.edited();
        }
    }

    pub fn backspace(&mut self) {
        if self.cursor > 0 {
            self.cursor -= 1;
            self.delete();
        }
    }

    pub fn delete(&mut self) {
        if self.cursor < self.text.len() {
            self.text.remove(self.cursor);
        }
        self.edited();
    }

    /// Deletes the word before the cursor.
    pub fn delete_word(&mut self) {
        let before = self.text.iter().take(self.cursor).rposition(|character| !character.is_whitespace());
        let word = before.map_or(0, |end| {
            self.text.iter().take(end).rposition(|character| character.is_whitespace()).map_or(0, |at| at + 1)
        });
        self.text.drain(word..self.cursor.min(self.text.len()));
        self.cursor = word;
        self.edited();
    }

    /// Deletes everything before the cursor.
    pub fn delete_to_start(&mut self) {
        self.text.drain(..self.cursor.min(self.text.len()));
        self.cursor = 0;
        self.edited();
    }

    pub fn left(&mut self) {
        self.cursor = self.cursor.saturating_sub(1);
        self.completing = None;
    }

    pub fn right(&mut self) {
        self.cursor = (self.cursor + 1).min(self.text.len());
        self.completing = None;
    }

    pub fn home(&mut self) {
        self.cursor = 0;
    }

    pub fn end(&mut self) {
        self.cursor = self.text.len();
    }

    /// Shows the line `back` steps further into the past (negative: towards now).
    pub fn recall(&mut self, history: &[String], back: isize) {
        let (at, typed) = match self.past.take() {
            Some((at, typed)) => (at as isize + back, typed),
            None => (back, self.text.clone()),
        };
        if at <= 0 {
            self.text = typed;
        } else {
            let at = (at as usize).min(history.len());
            let Some(line) = history.len().checked_sub(at).and_then(|index| history.get(index)) else {
                return;
            };
            self.text = line.chars().collect();
            self.past = Some((at, typed));
        }
        self.cursor = self.text.len();
        self.suggestions.clear();
        self.completing = None;
    }

    /// The next suggestion in turn; without suggestions, the line and byte offset to ask the engine about.
    pub fn complete(&mut self, back: bool) -> Option<(String, usize)> {
        if self.kind == Kind::Predict {
            return None;
        }
        let Some((place, chosen)) = self.completing.clone().filter(|_| self.suggestions.len() > 1) else {
            let before: String = self.text.iter().take(self.cursor).collect();
            let prefix = self.prefix();
            return Some((format!("{prefix}{}", self.text()), prefix.len() + before.len()));
        };
        let count = self.suggestions.len();
        let next = if back { (chosen + count - 1) % count } else { (chosen + 1) % count };
        self.replace(place.start, next);
        None
    }

    /// A filter is completed as the command that says the same.
    fn prefix(&self) -> &'static str {
        if self.kind == Kind::Filter { "log " } else { "" }
    }

    /// Takes the ways in which `line` may go on at byte `cursor`, if that is still what is typed.
    pub fn suggest(&mut self, line: &str, cursor: usize, candidates: Vec<Candidate>) {
        let prefix = self.prefix();
        let before: String = self.text.iter().take(self.cursor).collect();
        let same = line.strip_prefix(prefix) == Some(&self.text()) && cursor == prefix.len() + before.len();
        let Some(first) = candidates.first().filter(|_| same) else {
            return;
        };
        let start = first.replaces.start.saturating_sub(prefix.len());
        let start = before.get(..start).map_or(self.cursor, |before| before.chars().count());
        let only = candidates.len() == 1;
        self.suggestions = candidates;
        self.replace(start, 0);
        if only {
            if self.cursor == self.text.len() {
                self.text.push(' ');
                self.cursor += 1;
            }
            self.suggestions.clear();
            self.completing = None;
        }
    }

    fn replace(&mut self, start: usize, chosen: usize) {
        let Some(word) = self.suggestions.get(chosen) else {
            return;
        };
        let start = start.min(self.cursor).min(self.text.len());
        let word = word.text.clone();
        self.text.splice(start..self.cursor.min(self.text.len()), word.chars());
        self.cursor = start + word.chars().count();
        self.completing = Some((start..self.cursor, chosen));
    }

    /// The line as shown in `width` columns, and the column of the cursor.
    #[must_use]
    pub fn shown(&self, width: u16) -> (String, u16) {
        let sign = match self.kind {
            Kind::Command => ":".to_owned(),
            Kind::Filter => "/".to_owned(),
            Kind::Predict => "your answer: ".to_owned(),
            Kind::Commands(id) => format!("commands of breakpoint {id}: "),
        };
        let room = usize::from(width).saturating_sub(sign.width()).max(1);
        // Back from the cursor as far as there is room; no more than fits of what follows it.
        let (mut start, mut before) = (self.cursor, 0);
        for character in self.text.iter().take(self.cursor).rev() {
            let wide = character.width().unwrap_or(0);
            if before + wide >= room {
                break;
            }
            (start, before) = (start - 1, before + wide);
        }
        let text: String = self.text.iter().skip(start).take(room + self.cursor - start).collect();
        (format!("{sign}{text}"), (sign.width() + before) as u16)
    }

    /// Lines under the prompt: the suggestions around the one taken.
    #[must_use]
    pub fn below(&self) -> Vec<(String, Role)> {
        let chosen = self.completing.as_ref().map_or(0, |(_, chosen)| *chosen);
        let first = chosen.saturating_sub(SHOWN / 2).min(self.suggestions.len().saturating_sub(SHOWN));
        let line = |(nth, one): (usize, &Candidate)| {
            let taken = self.completing.is_some() && nth == chosen;
            let mark = if taken { "▸" } else { " " };
            (format!(" {mark}{:<20}  {}", one.text, one.about), if taken { Role::Cursor } else { Role::Hint })
        };
        self.suggestions.iter().enumerate().skip(first).take(SHOWN).map(line).collect()
    }

    #[must_use]
    pub fn hints(&self) -> &'static [(&'static str, &'static str)] {
        match self.kind {
            Kind::Command => &[
                ("enter", "do it"),
                ("tab", "complete"),
                ("up", "earlier"),
                ("esc", "leave"),
                ("help", "all commands"),
            ],
            Kind::Filter => &[("enter", "filter (empty: all)"), ("tab", "complete"), ("esc", "leave")],
            Kind::Predict => &[("enter", "answer (empty: show it)"), ("esc", "not now")],
            Kind::Commands(_) => {
                &[("enter", "one more"), ("tab", "complete"), ("esc", "that was all (or: end)")]
            }
        }
    }
}

/// A complaint as lines of at most `width` columns: what was typed, a caret under the word, and what to do.
#[must_use]
pub fn complaint(error: &Diagnostic, width: u16) -> Vec<String> {
    let mut advice = error.message.clone();
    if let Some(expected) = &error.expected {
        advice = format!("{advice}; expected {expected}");
    }
    if let Some(suggestion) = &error.suggestion {
        advice = format!("{advice}: {suggestion}");
    }
    if !error.others.is_empty() {
        advice = format!("{advice} (the first of {})", error.others.len() + 1);
    }
    let (Some(source), Some(span)) = (&error.source, &error.span) else {
        return wrap(&advice, width);
    };
    // A path begins with a slash, too.
    let (is_filter, is_command) = (&*source.name == "/", source.name.starts_with(':'));
    let typed = is_filter || is_command;
    if let (false, Some((line, column))) = (typed, error.position()) {
        advice = format!("{}:{line}:{column}: {advice}", source.name);
    }
    let start = span.start.min(source.text.len());
    let begin = source.text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let line = source.text.get(begin..).unwrap_or("").lines().next().unwrap_or("");
    let before = source.text.get(begin..start).unwrap_or("");
    let marked =
        source.text.get(start..span.end.min(begin + line.len())).map_or(1, |word| word.width().max(1));
    let cut = cut_before(before, marked, width);
    let kept = before.get(cut..).unwrap_or("").width();
    let sign = if cut > 0 {
        "…"
    } else if is_filter {
        "/"
    } else if typed {
        ":"
    } else {
        " "
    };
    let typed = format!("{sign}{}", line.get(cut..).unwrap_or(""));
    let carets = format!(" {}{}", " ".repeat(kept), "^".repeat(marked));
    if carets.width() + 1 + advice.width() <= usize::from(width) {
        return vec![fit(&typed, width), format!("{carets} {advice}")];
    }
    let mut lines = vec![fit(&typed, width), fit(&carets, width)];
    lines.extend(wrap(&advice, width));
    lines
}

/// Bytes of `before` that must go so that the word after it is in view.
fn cut_before(before: &str, marked: usize, width: u16) -> usize {
    let room = usize::from(width).saturating_sub(2 + marked).max(usize::from(width) / 2);
    let starts = before.char_indices().map(|(at, _)| at);
    starts.chain([before.len()]).find(|at| before[*at..].width() <= room).unwrap_or(before.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;

    fn candidates(words: &[&str], replaces: Range<usize>) -> Vec<Candidate> {
        let one = |word: &&str| Candidate {
            text: (*word).into(),
            about: String::new(),
            replaces: replaces.clone(),
        };
        words.iter().map(one).collect()
    }

    #[test]
    fn tab_asks_once_and_then_walks_through_the_suggestions() {
        let mut prompt = Prompt::new(Kind::Command, "st");
        assert_eq!(prompt.complete(false), Some(("st".into(), 2)));
        prompt.suggest("st", 2, candidates(&["step", "start"], 0..2));
        assert_eq!(prompt.text(), "step");
        assert_eq!(prompt.complete(false), None);
        assert_eq!(prompt.text(), "start");
        assert_eq!(prompt.complete(true), None);
        assert_eq!(prompt.text(), "step");
    }

    #[test]
    fn an_answer_for_another_line_is_dropped_and_a_filter_is_completed_as_a_log_command() {
        let mut prompt = Prompt::new(Kind::Filter, "tran");
        assert_eq!(prompt.complete(false), Some(("log tran".into(), 8)));
        prompt.suggest("log tra", 7, candidates(&["transition"], 4..7));
        assert_eq!(prompt.text(), "tran");
        prompt.suggest("log tran", 8, candidates(&["transition"], 4..8));
        assert_eq!(prompt.text(), "transition ");
    }

    #[test]
    fn history_goes_back_and_returns_to_what_was_typed() {
        let history = ["step".to_owned(), "continue".to_owned()];
        let mut prompt = Prompt::new(Kind::Command, "br");
        for expected in ["continue", "step", "step"] {
            prompt.recall(&history, 1);
            assert_eq!(prompt.text(), expected);
        }
        prompt.recall(&history, -1);
        prompt.recall(&history, -1);
        assert_eq!(prompt.text(), "br");
    }

    #[test]
    fn words_are_deleted_whole() {
        let mut prompt = Prompt::new(Kind::Command, "break at gpu0  ");
        prompt.delete_word();
        assert_eq!(prompt.text(), "break at ");
        prompt.delete_to_start();
        assert!(prompt.is_empty());
    }

    #[test]
    fn a_complaint_has_its_caret_under_the_word() {
        let text = "break transition at gpu0.l9 to N";
        let source = Source { name: ":break".into(), text: text.into() };
        let error = Diagnostic::new("no component matches gpu0.l9")
            .at(&source, 20..27)
            .nearest("gpu0.l9", ["gpu0.l1"]);
        insta::assert_snapshot!(complaint(&error, 80).join("\n"), @r"
        :break transition at gpu0.l9 to N
                             ^^^^^^^ no component matches gpu0.l9: did you mean gpu0.l1?
        ");
    }

    #[test]
    fn a_complaint_too_long_for_its_line_goes_on_below() {
        let text = "break transition at gpu0.l9 to N";
        let source = Source { name: ":break".into(), text: text.into() };
        let error = Diagnostic::new("no component matches gpu0.l9")
            .at(&source, 20..27)
            .expected("a path such as gpu0.l2.0")
            .nearest("gpu0.l9", ["gpu0.l1"]);
        insta::assert_snapshot!(complaint(&error, 60).join("\n"), @r"
        :break transition at gpu0.l9 to N
                             ^^^^^^^
        no component matches gpu0.l9; expected a path such as
        gpu0.l2.0: did you mean gpu0.l1?
        ");
        let several = error.clone().and([Diagnostic::new("one more")]);
        assert!(complaint(&several, 200)[1].ends_with("did you mean gpu0.l1? (the first of 2)"));
        insta::assert_snapshot!(complaint(&error, 24).join("\n"), @r"
        … transition at gpu0.l9…
                        ^^^^^^^
        no component matches
        gpu0.l9; expected a path
        such as gpu0.l2.0: did
        you mean gpu0.l1?
        ");
    }

    #[test]
    fn a_long_line_scrolls_under_its_cursor() {
        let prompt = Prompt::new(Kind::Command, &"x".repeat(200));
        let (_, column) = prompt.shown(40);
        assert!(column < 40);
    }
}
