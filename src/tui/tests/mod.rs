//! The whole screen from a hand-made frame: how it reads, what keys ask for, and that nothing makes it panic.

mod drawing;
mod keys;
mod told;

use std::sync::Arc;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::app::{App, Overlay};
use super::help;
use super::keymap::Keymap;
use super::layout::names;
use super::live;
use super::sample::Sample;
use super::theme::Theme;
use crate::debug::frame::session::{Position, Reveal, RunState, Stop, Tone};
use crate::debug::frame::wish::{Pane, PaneSet};
use crate::debug::frame::{Frame, Knot};
use crate::debug::proto::{Answer, Request};
use crate::diagnostic::{Diagnostic, Source};
use crate::model::address::Address;

fn app(frame: Frame, width: u16, height: u16) -> App {
    let mut app = App::new(
        Arc::new(frame),
        Theme::embedded("default").unwrap().unwrap(),
        Keymap::embedded().unwrap(),
        false,
    );
    app.see(width, height);
    app
}

fn draw(app: &mut App) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, app.size.0, app.size.1));
    app.draw(&mut buffer);
    buffer
}

fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let row: String = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect();
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

fn screen(app: &mut App) -> String {
    text(&draw(app))
}

fn press(app: &mut App, keys: &str) -> Vec<Request> {
    for word in keys.split_whitespace() {
        let key = super::keymap::Key::parse(word).unwrap();
        let modifiers = if key.ctrl { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
        app.handle(&Event::Key(KeyEvent::new(key.code, modifiers)));
        draw(app);
    }
    app.take_requests()
}

fn commands(requests: &[Request]) -> Vec<&str> {
    let mut commands = Vec::new();
    for request in requests {
        if let Request::Command(command) = request {
            commands.push(command.as_str());
        }
    }
    commands
}
