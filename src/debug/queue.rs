//! Commands that wait to be carried out: typed, from a file, or attached to a breakpoint.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Result, Source};

/// Files and breakpoint commands may nest so deep.
const DEEPEST: u32 = 16;

/// Most commands that wait.
const MOST: usize = 100_000;

/// The line that ends the commands of a breakpoint.
pub const END: &str = "end";

/// One line and where it comes from.
#[derive(Clone, Debug)]
pub struct Line {
    pub source: Source,
    pub span: Range<usize>,
    /// 0 for a typed line.
    pub depth: u32,
}

/// The lines that wait, and the list of commands that is being typed in.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: VecDeque<Line>,
    /// The breakpoint whose commands the next lines are.
    collecting: Option<Collected>,
}

/// Commands of a breakpoint that are typed in, or stand in a file.
#[derive(Debug)]
struct Collected {
    id: u32,
    commands: Vec<String>,
    /// The depth of the line that asked for them.
    depth: u32,
}

impl Line {
    /// A typed line. What goes wrong with it is told as `:WORD`.
    #[must_use]
    pub fn typed(text: &str) -> Self {
        let word = text.split_whitespace().next().unwrap_or_default();
        let word: String = word.chars().take(32).collect();
        Self { source: Source::new(format!(":{word}"), text), span: 0..text.len(), depth: 0 }
    }

    #[must_use]
    pub fn text(&self) -> &str {
        self.source.text.get(self.span.clone()).unwrap_or_default().trim()
    }
}

impl Queue {
    pub fn push(&mut self, line: Line) {
        self.waiting.push_back(line);
    }

    pub fn pop(&mut self) -> Option<Line> {
        let depth = self.waiting.front().map_or(0, |line| line.depth);
        if let Some(own) =
            self.collecting.as_ref().map(|collected| collected.depth).filter(|own| *own > depth)
        {
            // The end of a file ends what is collected in it.
            return Some(Line { depth: own, ..Line::typed(END) });
        }
        self.waiting.pop_front()
    }

    /// Puts the lines of `source` before all others. `depth` is that of the line that asks for it.
    ///
    /// # Errors
    /// If files nest too deep, or too many lines would wait.
    pub fn insert(&mut self, source: &Source, depth: u32) -> Result<()> {
        let complaint = |text: String| Err(Box::new(Diagnostic::new(text)));
        if depth >= DEEPEST {
            return complaint(format!("commands that call commands nest more than {DEEPEST} deep"));
        }
        let mut start = 0;
        let mut lines = Vec::new();
        for text in source.text.split_inclusive('\n') {
            lines.push(Line { source: source.clone(), span: start..start + text.len(), depth: depth + 1 });
            start += text.len();
        }
        if lines.len() + self.waiting.len() > MOST {
            return complaint(format!("more than {MOST} commands would wait"));
        }
        lines.into_iter().rev().for_each(|line| self.waiting.push_front(line));
        Ok(())
    }

    /// Lets the commands of a breakpoint wait before all others.
    ///
    /// # Errors
    /// If too many lines would wait.
    pub fn insert_commands(&mut self, id: u32, commands: &[String]) -> Result<()> {
        let text: Arc<str> = commands.join("\n").into();
        let source = Source { name: format!("commands of breakpoint {id}").into(), text };
        // They follow a stop, not a command: they are no deeper than a file that the user names.
        self.insert(&source, 0)
    }

    /// Forgets what files and breakpoints left waiting; typed lines stay.
    pub fn abandon(&mut self) {
        self.waiting.retain(|line| line.depth == 0);
    }

    /// Forgets all that waits, but not what is being typed in. How much that was.
    pub fn clear(&mut self) -> usize {
        std::mem::take(&mut self.waiting).len()
    }

    /// Takes the next lines, up to `end`, as the commands of breakpoint `id`. `depth` is that of the line that asks for it.
    pub fn collect(&mut self, id: u32, depth: u32) {
        self.collecting = Some(Collected { id, commands: Vec::new(), depth });
    }

    /// Takes none from here on, and forgets those that it has.
    pub fn stop_collecting(&mut self) {
        self.collecting = None;
    }

    /// The breakpoint whose commands are being typed in.
    #[must_use]
    pub fn collecting(&self) -> Option<u32> {
        self.collecting.as_ref().map(|collected| collected.id)
    }

    /// Takes one such line. Returns the whole list at its end.
    pub fn gather(&mut self, text: &str) -> Option<(u32, Vec<String>)> {
        if text == END {
            return self.collecting.take().map(|Collected { id, commands, .. }| (id, commands));
        }
        if let Some(Collected { commands, .. }) = &mut self.collecting
            && commands.len() < MOST
        {
            commands.push(text.to_owned());
        }
        None
    }
}
