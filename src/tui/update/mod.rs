//! What events do to the state of the screen, and what they ask of the engine.

mod command;
mod key;
mod motion;
mod mouse;

use std::sync::Arc;

use crossterm::event::{Event, KeyEventKind};

use crate::debug::frame::Frame;
use crate::debug::frame::session::Tone;
use crate::debug::frame::wish::Pane;
use crate::debug::proto::Answer;

use super::app::{App, Message, Overlay};
use super::prompt::{self, Kind, Prompt};
use super::words::{PUT_OFF, with_keys};

/// Answers told together, at most.
const ANSWERS: usize = 1000;

/// Panes that scroll to the component that is selected.
const SEEKING: [Pane; 3] = [Pane::Caches, Pane::Links, Pane::Mshrs];

impl App {
    /// Takes an event of the terminal.
    pub fn handle(&mut self, event: &Event) {
        match event {
            Event::Key(pressed) if pressed.kind != KeyEventKind::Release => self.key(pressed),
            Event::Mouse(mouse) => self.mouse(*mouse),
            Event::Resize(width, height) => self.size = (*width, *height),
            Event::Paste(text) => self.paste(text),
            _ => {}
        }
    }

    /// Takes a new frame.
    pub fn show(&mut self, frame: Arc<Frame>) {
        let question = |frame: &Frame| {
            let lesson = frame.lesson.as_ref()?;
            lesson.question.as_ref().map(|question| (question.text.clone(), question.revealed.is_some()))
        };
        if question(&self.frame) != question(&frame) && matches!(self.overlay, Some(Overlay::Choices(_))) {
            self.overlay = None;
        }
        self.hear(&frame);
        let component = frame.selection.component;
        if component.is_some() && component != self.frame.selection.component {
            for pane in SEEKING {
                if let Some(state) = self.panes.get_mut(pane as usize) {
                    state.seeks = true;
                }
            }
        }
        // While the engine takes lines as the commands of a breakpoint, no key may mean anything else.
        match (&self.prompt, frame.collecting) {
            (None, Some(id)) => self.ask(Kind::Commands(id), ""),
            (Some(Prompt { kind: Kind::Commands(_), .. }), None) => self.prompt = None,
            _ => {}
        }
        if frame.position.event != self.frame.position.event {
            // What is answered from here on is about another moment, and the timeline is walked from there.
            self.answers.clear();
            if let Some(state) = self.panes.get_mut(Pane::Timeline as usize) {
                state.cursor = None;
            }
        }
        let is_put_off =
            |message: &Message| message.lines.first().is_some_and(|line| line.starts_with(PUT_OFF));
        if frame.run.is_at_rest() && self.message.as_ref().is_some_and(is_put_off) {
            self.message = None;
        }
        self.frame = frame;
    }

    /// What is new of a story is in sight, however far the pane had been scrolled.
    fn hear(&mut self, frame: &Frame) {
        let told = |frame: &Frame| frame.lesson.as_ref().map_or(0, |lesson| lesson.said.len());
        let asked = |frame: &Frame| {
            let question = frame.lesson.as_ref()?.question.as_ref()?;
            Some((question.text.clone(), question.revealed.is_some()))
        };
        let (before, now) = (told(&self.frame), told(frame));
        if now != before {
            self.heard.pieces = if now > before { before } else { 0 };
        }
        if frame.run.is_at_rest() && frame.position.event != self.heard.at {
            (self.heard.since, self.heard.at) = (self.heard.at, frame.position.event);
        }
        if (now != before || asked(frame) != asked(&self.frame))
            && let Some(state) = self.panes.get_mut(Pane::Lesson as usize)
        {
            (state.up, state.held) = (0, false);
        }
    }

    /// Takes the engine's answers.
    pub fn answered(&mut self, answers: Vec<Answer>) {
        let known = self.answers.len();
        for answer in answers {
            match answer {
                Answer::Lines(lines) if lines.is_empty() => {}
                Answer::Lines(lines) => self.answers.push(Message { lines, tone: Tone::Plain }),
                Answer::Error(error) => {
                    let lines = prompt::complaint(&error, self.size.0.saturating_sub(2));
                    self.answers.push(Message { lines, tone: Tone::Bad });
                }
                Answer::Completions { line, cursor, candidates } => {
                    if let Some(prompt) = &mut self.prompt {
                        prompt.suggest(&line, cursor, candidates);
                    }
                }
                Answer::Quit => self.quit = true,
            }
        }
        if self.answers.len() > known {
            self.tell_answers();
        }
    }

    /// One line is told below the panes, as a complaint is; more than that lies over them.
    fn tell_answers(&mut self) {
        let old = self.answers.len().saturating_sub(ANSWERS);
        self.answers.drain(..old);
        let lines = self.answers.iter().flat_map(|answer| &answer.lines);
        let lines = lines.map(|line| with_keys(line, &self.keymap)).collect();
        if let [only] = self.answers.as_slice()
            && (only.tone == Tone::Bad || only.lines.len() == 1)
        {
            self.message = Some(Message { lines, tone: only.tone });
            return;
        }
        self.message = None;
        self.overlay = Some(Overlay::Output(lines));
        self.overlay_up = 0;
    }

    /// Whether the engine is running or carrying out a long command.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.busy || !self.frame.run.is_at_rest()
    }
}
