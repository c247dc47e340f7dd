//! `umscope frame`: one screen as text or as a picture.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::arguments::{Target, number};
use super::debug;
use super::exit::{Ended, Status};
use super::interrupt::Interrupt;
use super::look::Look;
use super::output::Output;
use crate::debug::frame::wish::Wish;
use crate::debug::interrupt;
use crate::debug::session::Session;
use crate::report::picture;
use crate::tui::app::App;
use crate::tui::layout;
use crate::tui::settings::Settings;

/// Print the debugger's screen at a cycle
///
/// The screen is the one that `umscope debug SCENARIO --at CYCLE` opens; it needs no terminal.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope frame umh/fig5-b1 --at 1200
  umscope frame umh/fig5-b1 --at 1200 --layout coherence --size 160x50
  umscope frame umh/fig5-b1 --at 1200 --format svg > frame.svg")]
pub struct Frame {
    #[command(flatten)]
    target: Target,

    /// The first event of this cycle, or of a later one; the end, if the run ends before [default: the start, or the
    /// end of a recording that ended badly or was kept there]
    #[arg(long, value_name = "CYCLE", value_parser = number, allow_negative_numbers = true)]
    at: Option<u64>,

    /// Columns and rows, 60x16 to 1000x1000
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = size, default_value = "120x40")]
    size: (u16, u16),

    /// How to write it
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    look: Look,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines of text, without colours
    #[default]
    Text,
    /// A picture
    Svg,
    /// A page of its own
    Html,
}

/// Most columns, and most rows.
const LARGEST: u16 = 1000;

/// `120x40`
fn size(text: &str) -> Result<(u16, u16), String> {
    let (columns, rows) = layout::SMALLEST;
    let side = |least, text: &str| text.parse::<u16>().ok().filter(|side| (least..=LARGEST).contains(side));
    let both = text.split_once(['x', 'X']).and_then(|(x, y)| Some((side(columns, x)?, side(rows, y)?)));
    both.ok_or_else(|| {
        format!("expected columns and rows, {columns}x{rows} to {LARGEST}x{LARGEST}, such as 120x40")
    })
}

impl Frame {
    pub fn carry_out(&self) -> Ended {
        // Ends the process: there is nothing to tell of half a way.
        Interrupt::install()?;
        let settings = self.look.settings()?;
        let debug::Opened { mut session, there, .. } = debug::open(&self.target)?;
        if let Some(command) = debug::first(self.at, there) {
            let name = &self.target.scenario;
            debug::go(&mut session, &command, name, &interrupt::Interrupt::default())?;
        }
        let title = format!("{}, cycle {}", self.target.scenario, session.cycle());
        let buffer = draw(&mut session, settings, self.size);
        let text = match self.format {
            Format::Text => picture::text(&buffer),
            Format::Svg => picture::svg(&buffer, &title),
            Format::Html => picture::html(&buffer, &title),
        };
        Output::standard().put(&text)?;
        Ok(Status::Held)
    }
}

/// The screen of `session` as it is now.
fn draw(session: &mut Session, settings: Settings, (columns, rows): (u16, u16)) -> Buffer {
    let info = Arc::new(session.info());
    let frame = Arc::new(session.frame(&info, &Wish::default()));
    let mut app = App::new(frame, settings.theme, settings.keymap, settings.ascii);
    app.show_layout(settings.layout.unwrap_or_else(|| layout::first(&app.frame)));
    app.see(columns, rows);
    // What is on the screen decides what a frame holds.
    if let Some(wish) = app.new_wish() {
        app.show(Arc::new(session.frame(&info, &wish)));
    }
    app.see(columns, rows);
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    app.draw(&mut buffer);
    buffer
}
