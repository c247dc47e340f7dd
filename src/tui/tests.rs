//! The whole screen from a hand-made frame: how it reads, what keys ask for, and that nothing makes it panic.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::app::App;
use super::keymap::Keymap;
use super::sample::Sample;
use super::theme::Theme;
use super::view;
use crate::debug::frame::Frame;

pub fn app(frame: Frame, width: u16, height: u16) -> App {
    let mut app =
        App::new(Arc::new(frame), Theme::embedded("default").unwrap(), Keymap::embedded().unwrap(), false);
    app.size = (width, height);
    draw(&mut app);
    app
}

pub fn draw(app: &mut App) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, app.size.0, app.size.1));
    app.seen = view::draw(app, &mut buffer);
    buffer
}

pub fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let row: String = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect();
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

#[test]
fn print() {
    for (layout, width, height) in [(0, 80, 24), (1, 80, 24), (0, 120, 40), (1, 120, 40), (0, 200, 60)] {
        let mut app = app(Sample::frame(), width, height);
        app.layout = layout;
        println!("{}", text(&draw(&mut app)));
    }
}

#[test]
fn print_live() {
    use super::live;
    let mut session = live::session();
    for (commands, width, height, layout) in [
        (&[][..], 80, 24, 0),
        (&["step"], 80, 24, 0),
        (&["step 10", "select txn 1", "select block 0x1000"], 80, 24, 0),
        (&["until issue at gpu1.*", "step 30", "select txn 2"], 120, 40, 0),
        (&["until message type probe", "step 3"], 120, 40, 1),
        (&["continue"], 200, 60, 0),
        (&["reverse-transition"], 80, 24, 6),
        (&["reverse-transition"], 120, 40, 2),
        (&["reverse-transition"], 80, 24, 3),
        (&["reverse-transition"], 80, 24, 4),
        (&["reverse-transition"], 80, 24, 5),
        (&["reverse-transition"], 80, 24, 7),
    ] {
        let frame = live::frame(&mut session, commands);
        let mut app = app(frame, width, height);
        app.layout = layout;
        draw(&mut app);
        println!("{}", text(&draw(&mut app)));
    }
}
