//! The state of the screen: everything that is not in a frame. It knows no terminal and no widget.

use std::sync::Arc;

use crate::debug::frame::Frame;
use crate::debug::frame::session::Tone;
use crate::debug::frame::wish::{Pane, Wish};
use crate::debug::proto::Request;

use super::keymap::{Key, Keymap};
use super::prompt::Prompt;
use super::seen::{Heard, Seen};
use super::target::Target;
use super::theme::Theme;

/// What lies over the panes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overlay {
    /// Keys and commands.
    Help,
    /// The output of a command.
    Output(Vec<String>),
    /// Why the selection waits.
    Why,
    /// The choices of the lesson's question, and the one under the cursor.
    Choices(usize),
}

/// What a pane remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaneState {
    pub up: u16,
    pub left: u16,
    pub cursor: Option<Target>,
    /// Where on the screen it was put: several places may stand for the same item.
    pub at: (u16, u16),
    /// Whether the user scrolled a pane that otherwise follows its end.
    pub held: bool,
    /// Whether the component that is selected must be in view: until the user scrolls.
    pub seeks: bool,
}

/// A line for the user, shown until the next command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    pub lines: Vec<String>,
    pub tone: Tone,
}

/// Keys typed that do not mean anything yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// Digits before a verb.
    pub count: Option<u32>,
    pub keys: Vec<Key>,
    /// A command that waits for a letter.
    pub letter: Option<String>,
}

/// The screen.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // independent switches, each with its own key
pub struct App {
    pub frame: Arc<Frame>,
    pub theme: Theme,
    pub keymap: Keymap,
    pub ascii: bool,
    /// From 0.
    pub layout: usize,
    pub zoom: bool,
    pub focus: Pane,
    pub panes: [PaneState; Pane::ALL.len()],
    pub overlay: Option<Overlay>,
    /// Rows scrolled away in the overlay.
    pub overlay_up: u16,
    pub prompt: Option<Prompt>,
    pub history: Vec<String>,
    /// Events a second when the run is played, and whether it is.
    pub speed: f64,
    pub paced: bool,
    pub message: Option<Message>,
    /// What was answered since the last command or movement.
    pub answers: Vec<Message>,
    pub pending: Pending,
    /// Events to go back to with `X`, each from its cause.
    pub effects: Vec<(u64, u64)>,
    /// Whether a command is being carried out.
    pub busy: bool,
    /// Whether that takes its time.
    pub works: bool,
    pub size: (u16, u16),
    /// What stands where since the last drawing.
    pub seen: Seen,
    pub requests: Vec<Request>,
    /// The last wish sent.
    pub wish: Option<Wish>,
    /// Whether the last command was to go on to the next stop.
    pub continues: bool,
    /// What of the story is new.
    pub heard: Heard,
    /// How many matching records the log is scrolled back.
    pub log_up: usize,
    pub quit: bool,
    pub suspend: bool,
    pub redraw: bool,
}

/// Events a second of a run that is played, at first.
const SPEED: f64 = 4.0;

/// Most lines of the prompt's history.
pub const HISTORY: usize = 1000;

impl App {
    #[must_use]
    pub fn new(frame: Arc<Frame>, theme: Theme, keymap: Keymap, ascii: bool) -> Self {
        Self {
            frame,
            theme,
            keymap,
            ascii,
            layout: 0,
            zoom: false,
            focus: Pane::Map,
            panes: [PaneState::default(); Pane::ALL.len()],
            overlay: None,
            overlay_up: 0,
            prompt: None,
            history: Vec::new(),
            speed: SPEED,
            paced: false,
            message: None,
            answers: Vec::new(),
            pending: Pending::default(),
            effects: Vec::new(),
            busy: false,
            works: false,
            size: (80, 24),
            seen: Seen::default(),
            requests: Vec::new(),
            wish: None,
            continues: false,
            heard: Heard::default(),
            log_up: 0,
            quit: false,
            suspend: false,
            redraw: false,
        }
    }

    #[must_use]
    pub fn pane(&self, pane: Pane) -> PaneState {
        self.panes.get(pane as usize).copied().unwrap_or_default()
    }

    /// What is under the cursor of a pane, unless it has been scrolled out of sight.
    pub fn cursor(&self, pane: Pane) -> Option<Target> {
        let cursor = self.pane(pane).cursor?;
        self.seen.hits.iter().any(|hit| hit.pane == pane && hit.target == cursor).then_some(cursor)
    }

    pub fn pane_mut(&mut self) -> Option<&mut PaneState> {
        self.panes.get_mut(self.focus as usize)
    }

    pub fn say(&mut self, text: impl Into<String>, tone: Tone) {
        self.message = Some(Message { lines: vec![text.into()], tone });
    }

    /// The requests that came up since the last call.
    pub fn take_requests(&mut self) -> Vec<Request> {
        if self.requests.iter().any(|request| matches!(request, Request::Command(_))) {
            self.answers.clear();
        }
        std::mem::take(&mut self.requests)
    }

    /// What the next frame must hold, if that changed since the last call.
    pub fn new_wish(&mut self) -> Option<Wish> {
        let mut wish =
            Wish { panes: self.seen.panes.iter().map(|placed| placed.pane).collect(), ..Wish::default() };
        wish.log_rows = self
            .seen
            .panes
            .iter()
            .find(|placed| placed.pane == Pane::Log)
            .map_or(0, |placed| usize::from(placed.area.height.saturating_sub(2)));
        wish.log_up = self.log_up;
        // Each frame has the lesson, so that a layout can make room for it.
        wish.panes.add(Pane::Lesson);
        if self.wish == Some(wish) {
            return None;
        }
        self.wish = Some(wish);
        self.wish
    }
}
