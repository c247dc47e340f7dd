//! The command line: editing, history, completion, and how an error is shown under the word it is about.

use std::fmt;
use std::sync::Arc;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::debug::frame::Frame;
use crate::diagnostic::Diagnostic;
use crate::model::record::KINDS;

use super::theme::Role;

/// What the line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Command,
    /// A query for the log.
    Filter,
    /// An answer to the lesson's question.
    Predict,
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
    suggestions: Vec<String>,
    /// Where the word to be completed begins, and the suggestion taken.
    completing: Option<(usize, usize)>,
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

    /// Completes the word before the cursor: as far as it is certain, then one suggestion after the other.
    pub fn complete(&mut self, completer: &Completer, frame: &Frame, back: bool) {
        if let Some((start, chosen)) = self.completing
            && self.suggestions.len() > 1
        {
            let count = self.suggestions.len();
            let next = if back { (chosen + count - 1) % count } else { (chosen + 1) % count };
            self.replace(start, next);
            return;
        }
        let line = self.text();
        let before: String = self.text.iter().take(self.cursor).collect();
        let (start, suggestions) = completer.complete(self.kind, &line, before.len(), frame);
        let start = line.get(..start).map_or(self.cursor, |before| before.chars().count());
        self.suggestions = suggestions;
        match self.suggestions.len() {
            0 => {}
            1 => {
                self.replace(start, 0);
                if self.cursor == self.text.len() {
                    self.text.push(' ');
                    self.cursor += 1;
                }
                self.suggestions.clear();
                self.completing = None;
            }
            _ => self.replace(start, if back { self.suggestions.len() - 1 } else { 0 }),
        }
    }

    fn replace(&mut self, start: usize, chosen: usize) {
        let Some(word) = self.suggestions.get(chosen) else {
            return;
        };
        let start = start.min(self.cursor).min(self.text.len());
        self.text.splice(start..self.cursor.min(self.text.len()), word.chars());
        self.cursor = start + word.chars().count();
        self.completing = Some((start, chosen));
    }

    /// The line as shown in `width` columns, and the column of the cursor.
    #[must_use]
    pub fn shown(&self, width: u16) -> (String, u16) {
        let sign = match self.kind {
            Kind::Command => ":",
            Kind::Filter => "/",
            Kind::Predict => "your answer: ",
        };
        let room = usize::from(width).saturating_sub(sign.width()).max(1);
        let wide = |character: &char| character.width().unwrap_or(0);
        let mut start = 0;
        while self.text.iter().skip(start).take(self.cursor - start).map(wide).sum::<usize>() >= room {
            start += 1;
        }
        let before: usize = self.text.iter().skip(start).take(self.cursor - start).map(wide).sum();
        let text: String = self.text.iter().skip(start).collect();
        (format!("{sign}{text}"), (sign.width() + before) as u16)
    }

    /// Lines under the prompt: the suggestions around the one taken.
    #[must_use]
    pub fn below(&self) -> Vec<(String, Role)> {
        let chosen = self.completing.map_or(0, |(_, chosen)| chosen);
        let first = chosen.saturating_sub(SHOWN / 2).min(self.suggestions.len().saturating_sub(SHOWN));
        let line = |(nth, text): (usize, &String)| {
            let taken = self.completing.is_some() && nth == chosen;
            let mark = if taken { "▸" } else { " " };
            (format!("  {mark}{text} "), if taken { Role::Cursor } else { Role::Hint })
        };
        self.suggestions.iter().enumerate().skip(first).take(SHOWN).map(line).collect()
    }

    #[must_use]
    pub fn hints(&self) -> &'static [(&'static str, &'static str)] {
        match self.kind {
            Kind::Command => {
                &[("enter", "do it"), ("tab", "complete"), ("up", "earlier"), ("esc", "leave"), ("help", "all commands")]
            }
            Kind::Filter => &[("enter", "filter (empty: all)"), ("tab", "complete"), ("esc", "leave")],
            Kind::Predict => &[("enter", "answer"), ("tab", "choices"), ("esc", "not now")],
        }
    }
}

/// Completes lines: takes the line, the byte offset of the cursor and the frame; gives the byte offset where the word
/// begins, and what it may become.
pub type Complete = dyn Fn(&str, usize, &Frame) -> (usize, Vec<String>) + Send + Sync;

/// What completes command lines; without one of the debugger's, the words that the frame knows.
#[derive(Clone, Default)]
pub struct Completer(pub Option<Arc<Complete>>);

impl fmt::Debug for Completer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Completer(given)" } else { "Completer(own)" })
    }
}

impl Completer {
    fn complete(&self, kind: Kind, line: &str, cursor: usize, frame: &Frame) -> (usize, Vec<String>) {
        // A filter is completed as the command that it becomes.
        let prefix = match kind {
            Kind::Command => "",
            Kind::Filter => "filter ",
            Kind::Predict => {
                let question = frame.lesson.as_ref().and_then(|lesson| lesson.question.as_ref());
                return (0, question.map(|question| question.choices.clone()).unwrap_or_default());
            }
        };
        let (start, words) = match &self.0 {
            Some(given) => given(&format!("{prefix}{line}"), cursor + prefix.len(), frame),
            None => own(&format!("{prefix}{line}"), cursor + prefix.len(), frame),
        };
        (start.saturating_sub(prefix.len()).min(cursor), words)
    }
}

/// Completion from what the frame knows: commands first, then record kinds, fields, paths and blocks.
fn own(line: &str, cursor: usize, frame: &Frame) -> (usize, Vec<String>) {
    let before = line.get(..cursor).unwrap_or(line);
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = before.get(start..).unwrap_or("");
    let mut words: Vec<String> = Vec::new();
    if before.get(..start).unwrap_or("").trim().is_empty() {
        for command in &frame.info.commands {
            words.push(command.name.clone());
        }
    } else {
        let queries = ["at", "block", "page", "txn", "cycle", "event", "and", "or", "not", "to", "from", "state of", "is"];
        words.extend(KINDS.iter().map(|kind| kind.name.to_owned()));
        words.extend(queries.map(str::to_owned));
        words.extend(KINDS.iter().flat_map(|kind| kind.fields).map(|field| field.name.to_owned()));
        words.extend(frame.info.components.iter().map(|(_, component)| component.path.clone()));
        words.extend(frame.directory.blocks.iter().map(|block| block.address.to_string()));
    }
    words.retain(|candidate| candidate.starts_with(word));
    let mut unique: Vec<String> = Vec::new();
    for candidate in words {
        if !unique.contains(&candidate) {
            unique.push(candidate);
        }
    }
    (start, unique)
}

/// A complaint as lines: what was typed, a caret under the word, and what to do.
#[must_use]
pub fn complaint(error: &Diagnostic) -> Vec<String> {
    let mut advice = error.message.clone();
    if let Some(expected) = &error.expected {
        advice.push_str(&format!("; expected {expected}"));
    }
    if let Some(suggestion) = &error.suggestion {
        advice.push_str(&format!(": {suggestion}"));
    }
    let (Some(source), Some(span)) = (&error.source, &error.span) else {
        return vec![advice];
    };
    let start = span.start.min(source.text.len());
    let begin = source.text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let line = source.text.get(begin..).unwrap_or("").lines().next().unwrap_or("");
    let before = source.text.get(begin..start).unwrap_or("").width();
    let marked = source.text.get(start..span.end.min(begin + line.len())).map_or(1, |word| word.width().max(1));
    vec![format!(":{line}"), format!(" {}{} {advice}", " ".repeat(before), "^".repeat(marked))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debug::frame::session::{CommandInfo, Info};
    use crate::diagnostic::Source;

    fn frame() -> Frame {
        let command = |name: &str| CommandInfo { name: name.into(), ..CommandInfo::default() };
        let info = Info { commands: vec![command("step"), command("state"), command("break")], ..Info::default() };
        Frame { info: Arc::new(info), ..Frame::default() }
    }

    #[test]
    fn tab_walks_through_the_suggestions() {
        let mut prompt = Prompt::new(Kind::Command, "st");
        prompt.complete(&Completer::default(), &frame(), false);
        assert_eq!(prompt.text(), "step");
        prompt.complete(&Completer::default(), &frame(), false);
        assert_eq!(prompt.text(), "state");
        prompt.complete(&Completer::default(), &frame(), true);
        assert_eq!(prompt.text(), "step");
        let mut prompt = Prompt::new(Kind::Command, "br");
        prompt.complete(&Completer::default(), &frame(), false);
        assert_eq!(prompt.text(), "break ");
        "tran".chars().for_each(|character| prompt.insert(character));
        prompt.complete(&Completer::default(), &frame(), false);
        assert_eq!(prompt.text(), "break transition ");
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
        let error = Diagnostic::new("no component matches gpu0.l9").at(&source, 20..27).nearest("gpu0.l9", ["gpu0.l1"]);
        insta::assert_snapshot!(complaint(&error).join("\n"), @r"
        :break transition at gpu0.l9 to N
                             ^^^^^^^ no component matches gpu0.l9: did you mean gpu0.l1?
        ");
    }

    #[test]
    fn a_long_line_scrolls_under_its_cursor() {
        let prompt = Prompt::new(Kind::Command, &"x".repeat(200));
        let (_, column) = prompt.shown(40);
        assert!(column < 40);
    }
}
