//! Commands with places to fill, the commands that only the screen knows, and the screen's own actions.

use crate::debug::frame::selection::Selection;
use crate::debug::frame::session::Tone;
use crate::debug::frame::wish::Pane;
use crate::debug::proto::Request;
use crate::debug::settings::{FASTEST, SLOWEST};
use crate::diagnostic::nearest;
use crate::model::component::ComponentKind;

use crate::tui::action::Action;
use crate::tui::app::{App, HISTORY, Overlay, Pending};
use crate::tui::keymap::OWN;
use crate::tui::layout;
use crate::tui::prompt::Kind;
use crate::tui::settings;
use crate::tui::target::Target;
use crate::tui::words;

/// What is told of what has no earlier cause.
const UNCAUSED: &str =
    "This has no earlier cause: it comes from the program itself, or it was time for it, as for a sample";

impl App {
    pub(super) fn act(&mut self, action: Action, count: Option<u32>) {
        if let Some(number) = action.layout() {
            self.show_layout(number);
            return;
        }
        if self.overlay.is_some() && self.scroll_overlay(action) {
            return;
        }
        match action {
            Action::Cancel => self.cancel(),
            // There is no log to be seen beneath it.
            Action::Filter if self.overlay == Some(Overlay::Help) => {}
            Action::NextPane => self.next_pane(1),
            Action::PreviousPane => self.next_pane(-1),
            Action::Zoom => self.zoom = !self.zoom,
            Action::Prompt => self.ask(Kind::Command, ""),
            Action::Filter => {
                let filter = self.frame.log.filter.clone();
                self.ask(Kind::Filter, &filter);
            }
            Action::Predict => self.predict(),
            Action::Why => self.why(),
            Action::Help => self.open(Overlay::Help),
            Action::Cause => self.cause(),
            Action::Uncause => self.uncause(),
            Action::Play if self.is_running() => self.requests.push(Request::Interrupt),
            Action::Play => self.play(),
            Action::Faster => self.change_speed(2.0),
            Action::Slower => self.change_speed(0.5),
            Action::Interrupt => self.interrupt(),
            Action::Suspend => self.suspend = true,
            Action::Redraw => self.redraw = true,
            Action::Quit => self.leave(),
            Action::Select => self.select(),
            _ => self.move_by(action, count.unwrap_or(1)),
        }
    }

    fn open(&mut self, overlay: Overlay) {
        self.overlay_up = 0;
        self.overlay = if self.overlay.as_ref() == Some(&overlay) { None } else { Some(overlay) };
    }

    /// Leaves the session.
    pub fn leave(&mut self) {
        self.requests.push(Request::Interrupt);
        self.requests.push(Request::Quit);
        self.quit = true;
    }

    /// Runs slowly enough to watch.
    fn play(&mut self) {
        // The speed of an earlier run is not taken back before this one has its own.
        self.paced = false;
        self.command(words::CONTINUE);
        self.paced = true;
        self.requests.insert(0, Request::Speed(Some(self.speed)));
    }

    fn change_speed(&mut self, factor: f64) {
        self.speed = (self.speed * factor).clamp(SLOWEST, FASTEST);
        if self.paced {
            self.requests.push(Request::Speed(Some(self.speed)));
        }
        let key = self.keymap.key_of(Action::Play).unwrap_or("play").to_owned();
        self.say(format!("{} events a second ({key} plays)", self.speed), Tone::Plain);
    }

    fn interrupt(&mut self) {
        if self.is_running() {
            self.requests.push(Request::Interrupt);
        } else if self.prompt.take().is_some() {
            self.pending = Pending::default();
        } else if self.message.as_ref().is_some_and(|message| message.lines == [LEAVING]) {
            self.leave();
        } else {
            self.say(LEAVING, Tone::Warning);
        }
    }

    /// Closes what is open, innermost first; with nothing open, selects nothing.
    fn cancel(&mut self) {
        if self.overlay.take().is_some() || self.message.take().is_some() {
            return;
        }
        if self.zoom {
            self.zoom = false;
            return;
        }
        self.requests.push(Request::Select(Selection::default()));
    }

    fn scroll_overlay(&mut self, action: Action) -> bool {
        let (rows, height) = self.seen.overlay;
        let most = rows.saturating_sub(height);
        let up = self.overlay_up.min(most);
        self.overlay_up = match action {
            Action::Up => up.saturating_sub(1),
            Action::Down => (up + 1).min(most),
            Action::PageUp => up.saturating_sub(height.max(1)),
            Action::PageDown => up.saturating_add(height.max(1)).min(most),
            Action::Top => 0,
            Action::Bottom => most,
            _ => return false,
        };
        true
    }

    /// Shows the layout of this number, from 0.
    pub fn show_layout(&mut self, number: usize) {
        self.layout = number.min(layout::names().len() - 1);
        self.zoom = false;
        self.overlay = None;
        let name = layout::names().get(self.layout).copied().unwrap_or_default();
        if let Some(pane) = match name {
            "coherence" => Some(Pane::Directory),
            "overview" => Some(Pane::Map),
            "permissions" => Some(Pane::Pages),
            other => Pane::parse(other),
        } {
            self.focus = pane;
        }
    }

    fn next_pane(&mut self, by: isize) {
        let all: Vec<Pane> = if self.zoom {
            Pane::ALL.to_vec()
        } else {
            self.seen.panes.iter().map(|placed| placed.pane).collect()
        };
        let at = all.iter().position(|pane| *pane == self.focus);
        let count = all.len() as isize;
        if count == 0 {
            return;
        }
        let next = at.map_or(0, |at| (at as isize + by).rem_euclid(count));
        if let Some(pane) = all.get(next as usize) {
            self.focus = *pane;
        }
    }

    fn predict(&mut self) {
        let lesson = self.frame.lesson.as_ref();
        match lesson.and_then(|lesson| lesson.question.as_ref()) {
            Some(question) if question.predicted.is_some() => self.command("reveal"),
            Some(question) if question.choices.is_empty() => self.ask(Kind::Predict, ""),
            Some(_) => self.open(Overlay::Choices(0)),
            None => self.say("No question is open here; a lesson asks when it comes to one, :set quiz on asks wherever a table decides the next state", Tone::Plain),
        }
    }

    /// Whether the debugger knows more than what the frame has: of an access that has ended, where its time went; of a rule that is
    /// broken, of lanes that turn and ways that move, what led to it; and of what can never go on, why.
    fn asks_the_debugger(&self) -> bool {
        let frame = &*self.frame;
        let has_more = frame.selection.txn.is_some() || frame.deadlock.is_some();
        frame.has_reason || frame.why.links.is_empty() && has_more
    }

    /// Goes to the cause of the record under the cursor or selected, or of the event that just happened.
    fn cause(&mut self) {
        let record = match self.cursor(Pane::Log) {
            Some(Target::Record { id, .. }) if self.focus == Pane::Log => Some(id),
            _ => self.frame.selection.record,
        };
        let logged = record.and_then(|id| self.frame.log.lines.iter().find(|line| line.id == id));
        let happened = || self.frame.now.iter().find_map(|happening| happening.because);
        let because = logged.map_or_else(happened, |line| line.because);
        if let Some(event) = because {
            let here = self.frame.position.event;
            let effect = logged.map_or(here, |line| line.id.event);
            // One has come to a record of the log as to a cause.
            if effect != here {
                self.effects.push((here, effect));
            }
            self.effects.push((effect, event));
            self.command(&format!("goto event {event}"));
        } else {
            let silent = self.frame.unrecorded.clone().filter(|_| logged.is_none());
            self.say(silent.unwrap_or_else(|| UNCAUSED.to_owned()), Tone::Plain);
        }
    }

    fn uncause(&mut self) {
        let here = self.frame.position.event;
        if let Some((event, _)) = self.effects.pop_if(|(_, cause)| *cause == here) {
            self.command(&format!("goto event {event}"));
        } else if self.effects.is_empty() {
            self.say("There is no effect to go back to: x goes to a cause first", Tone::Plain);
        } else if self.is_running() {
            self.say("X goes back once the cause is reached", Tone::Plain);
        } else {
            self.effects.clear();
            self.say("One has gone elsewhere since x: no effect leads on from here", Tone::Plain);
        }
    }

    /// A command typed at the prompt: the screen's own words are carried out here.
    pub(super) fn typed(&mut self, line: &str) {
        let line = line.trim_start_matches(':').trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "layout" => match layout::find(rest) {
                Some(number) => self.show_layout(number),
                None => self.no_such("layout", rest, &layout::names()),
            },
            "pane" => match Pane::parse(rest) {
                Some(pane) => {
                    self.focus = pane;
                    self.zoom = !self.seen.panes.iter().any(|placed| placed.pane == pane);
                }
                None => self.no_such("pane", rest, &Pane::ALL.map(Pane::name)),
            },
            "theme" => match settings::chosen(rest) {
                Ok(theme) => self.theme = theme,
                // The user's own file is broken.
                Err(error) if error.source.is_some() => self.say(error.to_string(), Tone::Bad),
                Err(_) => {
                    let known = settings::theme_names();
                    self.no_such("theme", rest, &known.iter().map(String::as_str).collect::<Vec<_>>());
                }
            },
            "set" if OWN.contains(&rest.split_whitespace().next().unwrap_or_default()) => self.typed(rest),
            "help" | "h" if rest.is_empty() => self.open(Overlay::Help),
            "help" | "h" if OWN.contains(&rest) => self.typed(rest),
            "quit" | "q" | "exit" if rest.is_empty() => self.leave(),
            _ => self.command(line),
        }
    }

    fn no_such(&mut self, what: &str, name: &str, known: &[&str]) {
        let there = known.join(", ");
        if name.is_empty() {
            self.say(format!("Which {what}? There are {there}"), Tone::Warning);
            return;
        }
        let near = nearest(name, known.iter().copied())
            .map_or_else(|| ".".to_owned(), |near| format!(": did you mean {near}?"));
        self.say(format!("no {what} is called {name:?}{near} There are {there}"), Tone::Bad);
    }

    pub(super) fn remember(&mut self, line: &str) {
        if self.history.last().is_none_or(|last| last != line) {
            self.history.push(line.to_owned());
        }
        if self.history.len() > HISTORY {
            self.history.remove(0);
        }
    }

    /// Fills the places of a key's command and sends it.
    pub(super) fn template(&mut self, template: &str, count: Option<u32>) {
        let mut command =
            template.replace("{count}", &count.map_or(String::new(), |count| count.to_string()));
        for (place, what, filled) in [
            ("{break}", "block, node or transaction", self.page_query().or_else(|| self.break_query())),
            ("{watch}", "block and a node, in the map or the directory,", self.watch_query()),
            ("{block}", "block", self.frame.selection.block.map(|block| block.to_string())),
            ("{component}", "node", self.component_path()),
            ("{txn}", "transaction", self.frame.selection.txn.map(|txn| txn.0.to_string())),
            ("{event}", "record", self.event_under_cursor().map(|event| event.to_string())),
            (
                "{record}",
                "record",
                self.frame.selection.record.map(|id| format!("{}.{}", id.event, id.ordinal)),
            ),
        ] {
            if !command.contains(place) {
                continue;
            }
            let Some(text) = filled else {
                self.say(format!("Select a {what} first: move to it and press enter"), Tone::Warning);
                return;
            };
            command = command.replace(place, &text);
        }
        let command = command.trim_end().to_owned();
        if command.contains("{letter}") {
            self.say(format!("{} ... press a letter", command.replace("{letter}", "")), Tone::Plain);
            self.pending.letter = Some(command);
        } else {
            self.typed(&command);
        }
    }

    fn component_path(&self) -> Option<String> {
        self.frame.selection.component.map(|id| self.frame.info.components.path(id).to_owned())
    }

    fn event_under_cursor(&self) -> Option<u64> {
        match self.cursor(self.focus) {
            Some(Target::Record { id, .. }) => Some(id.event),
            Some(Target::Event(event)) => Some(event),
            _ => self.frame.selection.record.map(|id| id.event),
        }
    }

    /// A query that matches what happens next to a page that is under the cursor or selected.
    fn page_query(&self) -> Option<String> {
        let (first, len) = match self.cursor(self.focus) {
            Some(Target::Pages { first, len }) => Some((first, len)),
            None if self.focus == Pane::Pages => self.frame.selection.block.map(|block| (block, 0)),
            _ => None,
        }?;
        let pages = &self.frame.pages;
        let size = pages.gpus.first().map_or(0, |gpu| u64::from(gpu.page));
        // A cell may stand for several pages.
        let at = match len.checked_div(size) {
            Some(count) if count > 1 => {
                let page = first.0 / size;
                format!("page {page:#x}..{:#x}", page + count - 1)
            }
            _ => format!("block {first}"),
        };
        Some(match (&pages.permissions, pages.gpus.is_empty()) {
            (Some(_), _) => format!("protection-fault {at} or page-permission {at}"),
            (None, false) => format!("far-fault {at} or page-move {at}"),
            (None, true) => format!("page-home {at}"),
        })
    }

    /// A query that matches what happens next to what is under the cursor or selected.
    fn break_query(&self) -> Option<String> {
        let cursor = self.cursor(self.focus);
        let at = cursor.map_or(self.frame.selection, |target| target.choose(self.frame.selection));
        let components = &self.frame.info.components;
        if let Some(Target::Txn { txn, .. }) = cursor {
            return Some(format!("complete txn {}", txn.0));
        }
        let component = at.component.and_then(|id| components.get(id));
        let block = at.block.map_or(String::new(), |block| format!(" block {block}"));
        match component {
            Some(part) if part.kind == ComponentKind::Link => Some(format!("message link {}", part.path)),
            Some(part) if matches!(part.kind, ComponentKind::Cu | ComponentKind::Core) => {
                Some(format!("issue at {}", part.path))
            }
            Some(part) if part.kind == ComponentKind::Hmd => {
                Some(format!("directory at {}{block}", part.path))
            }
            Some(part) => Some(format!("transition at {}{block}", part.path)),
            None => at.block.map(|block| format!("transition block {block}")),
        }
    }

    fn watch_query(&self) -> Option<String> {
        let cursor = self.cursor(self.focus);
        let at = cursor.map_or(self.frame.selection, |target| target.choose(self.frame.selection));
        let part = self.frame.info.components.get(at.component?)?;
        let block = at.block?;
        let what = if part.kind == ComponentKind::Hmd { "sharers" } else { "state" };
        part.kind.is_node().then(|| format!("{what} of {} block {block}", part.path))
    }

    /// Chooses what is under the cursor.
    pub(super) fn select(&mut self) {
        let shown = self.cursor(self.focus);
        if shown.is_none() {
            self.move_by(Action::Down, 1);
        }
        // Nobody travels to what has not been seen under the cursor.
        let travels = |target: &Target| matches!(target, Target::Event(_));
        if let Some(target) = self.cursor(self.focus).filter(|target| shown.is_some() || !travels(target)) {
            self.choose(target);
        }
    }

    /// Why what is under the cursor waits, or what is selected.
    fn why(&mut self) {
        let selected = self.frame.selection;
        // Where something went wrong, that is what is asked about, wherever a cursor was left.
        let is_wrong = self.frame.stop.as_ref().is_some_and(|stop| stop.tone == Tone::Bad);
        let meant = self.cursor(self.focus).filter(|_| !is_wrong);
        let meant = meant.filter(|target| !matches!(target, Target::Event(_)));
        if let Some(target) = meant.filter(|target| target.choose(selected) != selected) {
            self.choose(target);
            self.command("why");
        } else if self.asks_the_debugger() {
            self.command("why");
        } else {
            self.open(Overlay::Why);
        }
    }

    pub(super) fn choose(&mut self, target: Target) {
        match target {
            Target::Event(event) => self.command(&format!("goto event {event}")),
            target => self.requests.push(Request::Select(target.choose(self.frame.selection))),
        }
    }
}

const LEAVING: &str = "Nothing is running. ctrl-c again leaves; q does too";
