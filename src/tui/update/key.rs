//! Keys: the open prompt or overlay first, then digits and key sequences, then the keymap.

use crossterm::event::{KeyCode, KeyEvent};

use crate::debug::frame::session::{RunState, Tone};
use crate::debug::frame::wish::Pane;
use crate::debug::proto::Request;

use crate::tui::action::Action;
use crate::tui::app::{App, Overlay, Pending};
use crate::tui::keymap::{Do, Key, Lookup};
use crate::tui::layout::SMALLEST;
use crate::tui::prompt::{Kind, Prompt};
use crate::tui::words::{CONTINUE, PUT_OFF};

/// Digits beyond which a count does not grow.
const COUNT: u32 = 1_000_000_000;

impl App {
    /// Takes a key that was pressed.
    pub fn key(&mut self, event: &KeyEvent) {
        let key = Key::of(event);
        let is_small = self.size.0 < SMALLEST.0 || self.size.1 < SMALLEST.1;
        if key.ctrl && matches!(key.code, KeyCode::Char('c' | 'z')) {
            self.bound(key);
        } else if is_small {
            // Nobody should do what they cannot see, but leave.
            if key.code == KeyCode::Char('q') {
                self.act(Action::Quit, None);
            }
        } else if self.prompt.is_some() {
            self.prompt_key(key);
        } else if let Some(Overlay::Choices(chosen)) = self.overlay {
            self.choice_key(key, chosen);
        } else {
            self.bound(key);
        }
    }

    /// A key by the keymap.
    fn bound(&mut self, key: Key) {
        if let Some(command) = self.pending.letter.take() {
            self.message = None;
            if let KeyCode::Char(letter) = key.code
                && letter.is_alphanumeric()
            {
                self.command(&command.replace("{letter}", &letter.to_string()));
            }
            self.pending = Pending::default();
            return;
        }
        if self.digit(key) || self.answers(key) {
            return;
        }
        self.pending.keys.push(key);
        let found = match self.keymap.find(&self.pending.keys, self.focus) {
            Lookup::Begun => return,
            Lookup::Found(binding) => Some(binding.does.clone()),
            Lookup::Unbound => None,
        };
        let typed = std::mem::take(&mut self.pending);
        match found {
            Some(Do::Action(action)) => self.act(action, typed.count),
            Some(Do::Command(template)) => self.template(&template, typed.count),
            None if typed.keys.len() > 1 => self.bound(key),
            None => self.unbound(key),
        }
    }

    fn unbound(&mut self, key: Key) {
        let Some(name) = key.name() else { return };
        let help = self.keymap.key_of(Action::Help).unwrap_or("?").to_owned();
        self.say(format!("{name} is not bound here; {help} lists all keys"), Tone::Warning);
    }

    /// The choice of this number of a question that is open and not answered.
    fn choice(&self, number: u32) -> Option<String> {
        let question = self.frame.lesson.as_ref().and_then(|lesson| lesson.question.as_ref());
        let open = question.filter(|asked| asked.predicted.is_none())?;
        open.choices.get((number as usize).checked_sub(1)?).cloned()
    }

    /// Where something is asked, a choice's number and enter answer it.
    fn answers(&mut self, key: Key) -> bool {
        let number =
            self.pending.count.filter(|_| key.code == KeyCode::Enter && self.pending.keys.is_empty());
        let Some(choice) = number.and_then(|number| self.choice(number)) else { return false };
        (self.pending, self.message) = (Pending::default(), None);
        self.command(&format!("predict {choice}"));
        true
    }

    /// Collects the digits of a count; a zero begins none.
    fn digit(&mut self, key: Key) -> bool {
        let KeyCode::Char(character) = key.code else {
            return false;
        };
        let Some(digit) = character.to_digit(10).filter(|_| !key.ctrl && !key.alt) else {
            return false;
        };
        if digit == 0 && self.pending.count.is_none() {
            return false;
        }
        let count = self.pending.count.unwrap_or(0).saturating_mul(10).saturating_add(digit);
        self.pending.count = Some(count.min(COUNT));
        if let Some(choice) = self.choice(count) {
            self.say(
                format!("enter answers {count}: {choice}; another key does what it does {count} times"),
                Tone::Plain,
            );
        }
        true
    }

    fn prompt_key(&mut self, key: Key) {
        let Some(prompt) = &mut self.prompt else {
            return;
        };
        match (key.code, key.ctrl) {
            (KeyCode::Esc, _) => self.leave_prompt(),
            // A line feed is what ctrl-j types, and what some programs send for enter.
            (KeyCode::Enter, _) | (KeyCode::Char('j'), true) => self.enter(),
            (KeyCode::Tab, _) => self.complete(false),
            (KeyCode::BackTab, _) => self.complete(true),
            (KeyCode::Up, _) | (KeyCode::Char('p'), true) => prompt.recall(&self.history, 1),
            (KeyCode::Down, _) | (KeyCode::Char('n'), true) => prompt.recall(&self.history, -1),
            (KeyCode::Left, _) => prompt.left(),
            (KeyCode::Right, _) => prompt.right(),
            (KeyCode::Home, _) | (KeyCode::Char('a'), true) => prompt.home(),
            (KeyCode::End, _) | (KeyCode::Char('e'), true) => prompt.end(),
            (KeyCode::Char('w'), true) => prompt.delete_word(),
            (KeyCode::Char('u'), true) => prompt.delete_to_start(),
            (KeyCode::Delete, _) => prompt.delete(),
            (KeyCode::Backspace, _) if prompt.is_empty() => self.leave_prompt(),
            (KeyCode::Backspace, _) => prompt.backspace(),
            (KeyCode::Char(character), false) => prompt.insert(character),
            _ => {}
        }
    }

    fn complete(&mut self, back: bool) {
        let asked = self.prompt.as_mut().and_then(|prompt| prompt.complete(back));
        if let Some((line, cursor)) = asked {
            self.requests.push(Request::Complete { line, cursor });
        }
    }

    /// Closes the prompt. A list of commands ends there: nothing typed later shall get into it.
    fn leave_prompt(&mut self) {
        if self.prompt.take().is_some_and(|prompt| matches!(prompt.kind, Kind::Commands(_))) {
            self.command("end");
        }
    }

    /// Takes what was pasted. Nothing of it is done before enter is pressed: a line break is a blank, but among the commands of a
    /// breakpoint, which are a line each.
    pub fn paste(&mut self, text: &str) {
        let Some(kind) = self.prompt.as_ref().map(|prompt| prompt.kind) else {
            let prompt = self.keymap.key_of(Action::Prompt).unwrap_or(":").to_owned();
            self.say(format!("There is no prompt to paste into: {prompt} opens one"), Tone::Warning);
            return;
        };
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let is_list = matches!(kind, Kind::Commands(_));
        let text = if is_list { &*text } else { text.trim_end_matches('\n') };
        for (nth, line) in text.split('\n').enumerate() {
            if nth > 0 && is_list {
                self.enter();
            }
            let Some(prompt) = &mut self.prompt else { continue };
            if nth > 0 && !is_list {
                prompt.insert(' ');
            }
            line.chars().for_each(|character| prompt.insert(if character == '\t' { ' ' } else { character }));
        }
    }

    /// The line is complete.
    fn enter(&mut self) {
        let Some(prompt) = self.prompt.take() else {
            return;
        };
        let line = prompt.text();
        let line = line.trim();
        match prompt.kind {
            Kind::Command if line.is_empty() => {}
            Kind::Predict if line.is_empty() => self.command("reveal"),
            Kind::Command => {
                self.remember(line);
                self.typed(line);
            }
            Kind::Filter => {
                self.requests.push(Request::Filter(line.to_owned()));
                if !line.is_empty() && !self.seen.panes.iter().any(|placed| placed.pane == Pane::Log) {
                    let key = self.keymap.key_of(Action::Layout8).unwrap_or(":layout log");
                    self.say(format!("The log is filtered: {key} shows it"), Tone::Plain);
                }
            }
            Kind::Predict => self.command(&format!("predict {line}")),
            Kind::Commands(_) => {
                if !line.is_empty() {
                    self.command(line);
                }
                if line != "end" {
                    self.ask(prompt.kind, "");
                }
            }
        }
    }

    fn choice_key(&mut self, key: Key, chosen: usize) {
        let lesson = self.frame.lesson.as_ref();
        let choices =
            lesson.and_then(|lesson| lesson.question.as_ref()).map_or(&[][..], |asked| &asked.choices);
        let last = choices.len().saturating_sub(1);
        let answer = |nth: usize| choices.get(nth).map(|choice| format!("predict {choice}"));
        let said = match key.code {
            KeyCode::Up | KeyCode::Char('k') => {
                self.overlay = Some(Overlay::Choices(chosen.saturating_sub(1)));
                return;
            }
            KeyCode::Down | KeyCode::Char('j') | KeyCode::Tab => {
                self.overlay = Some(Overlay::Choices((chosen + 1).min(last)));
                return;
            }
            KeyCode::Enter => answer(chosen),
            KeyCode::Char('r') => Some("reveal".to_owned()),
            KeyCode::Char(digit @ '1'..='9') => answer(digit as usize - '1' as usize),
            KeyCode::Esc | KeyCode::Char('q' | 'p') => {
                self.overlay = None;
                return;
            }
            _ => return,
        };
        if let Some(said) = said {
            self.overlay = None;
            self.command(&said);
        }
    }

    /// Opens the prompt.
    pub fn ask(&mut self, kind: Kind, text: &str) {
        self.message = None;
        self.prompt = Some(Prompt::new(kind, text));
    }

    /// Sends a command to the engine.
    pub fn command(&mut self, command: &str) {
        self.message = None;
        if matches!(self.overlay, Some(Overlay::Output(_))) {
            self.overlay = None;
        }
        let runs = matches!(self.frame.run, RunState::Running { events_per_second: None });
        let continues = command == CONTINUE;
        if runs && continues && self.continues {
            // Once more would pass by the next stop.
            let stop = self.keymap.key_of(Action::Interrupt).unwrap_or("interrupt");
            self.say(format!("It runs to the next stop already ({stop} stops it)"), Tone::Warning);
            return;
        }
        self.continues = continues;
        if std::mem::take(&mut self.paced) {
            self.requests.push(Request::Speed(None));
        } else if self.works || !self.frame.run.is_at_rest() {
            let stop = self.keymap.key_of(Action::Interrupt).unwrap_or("interrupt");
            let text = if self.frame.run.is_at_rest() {
                format!("{PUT_OFF}command: {command} ({stop} forgets it)")
            } else {
                format!("{PUT_OFF}run: {command} ({stop} stops the run and forgets it)")
            };
            self.say(text, Tone::Warning);
        }
        self.requests.push(Request::Command(command.to_owned()));
    }
}
