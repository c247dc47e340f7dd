//! A screen as text, as a picture (SVG), and as a page (HTML).

use std::fmt::Write;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::xml::escaped;

/// Width and height of a character in a picture, in pixels.
const CELL: (u32, u32) = (9, 18);

/// Colours of text and background where the screen leaves them to the terminal.
const DEFAULTS: (&str, &str) = ("#d8dee9", "#16191f");

const FONT: &str = "'DejaVu Sans Mono','Menlo','Consolas',monospace";

/// Lines of text, without what stands blank at their ends.
#[must_use]
pub fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for row in rows(buffer) {
        let line: String = row.iter().map(|run| run.text.as_str()).collect();
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A picture.
#[must_use]
pub fn svg(buffer: &Buffer, title: &str) -> String {
    let (width, height) = CELL;
    let (columns, lines) = (u32::from(buffer.area.width) * width, u32::from(buffer.area.height) * height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{columns}\" height=\"{lines}\" viewBox=\"0 0 {columns} \
         {lines}\">\n<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n<g font-family=\"{FONT}\" \
         font-size=\"15\" xml:space=\"preserve\">\n",
        escaped(title),
        DEFAULTS.1
    );
    for (row, runs) in (0..).zip(rows(buffer)) {
        for run in runs {
            let (x, y, wide) = (run.column * width, row * height, run.columns * width);
            if run.look.background != DEFAULTS.1 {
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{height}\" fill=\"{}\"/>",
                    run.look.background
                );
            }
            if !run.text.trim().is_empty() {
                let _ = writeln!(
                    svg,
                    "<text x=\"{x}\" y=\"{}\" textLength=\"{wide}\" fill=\"{}\"{}>{}</text>",
                    y + height - 5,
                    run.look.text,
                    run.look.attributes(),
                    escaped(&run.text)
                );
            }
        }
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// A page of its own.
#[must_use]
pub fn html(buffer: &Buffer, title: &str) -> String {
    let (text, background) = DEFAULTS;
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{}</title></head>\n\
         <body style=\"background:{background}\">\n<pre style=\"font-family:{FONT};line-height:1.2;color:{text}\">\n",
        escaped(title)
    );
    for runs in rows(buffer) {
        for run in runs {
            let look = &run.look;
            if look.is_plain() {
                html.push_str(&escaped(&run.text));
            } else {
                let _ = write!(html, "<span style=\"{}\">{}</span>", look.style(), escaped(&run.text));
            }
        }
        html.push('\n');
    }
    html.push_str("</pre>\n</body>\n</html>\n");
    html
}

/// How characters look.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Look {
    text: String,
    background: String,
    shape: Modifier,
}

/// Shapes of letters, with their attributes in a picture and their styles on a page.
const SHAPES: [(Modifier, &str, &str); 4] = [
    (Modifier::BOLD, " font-weight=\"bold\"", ";font-weight:bold"),
    (Modifier::ITALIC, " font-style=\"italic\"", ";font-style:italic"),
    (Modifier::UNDERLINED, " text-decoration=\"underline\"", ";text-decoration:underline"),
    (Modifier::DIM, " opacity=\"0.6\"", ";opacity:0.6"),
];

impl Look {
    fn of(cell: &Cell) -> Self {
        let (mut text, mut background) = (css(cell.fg, DEFAULTS.0), css(cell.bg, DEFAULTS.1));
        if cell.modifier.contains(Modifier::REVERSED) {
            std::mem::swap(&mut text, &mut background);
        }
        let shapes = SHAPES.into_iter().fold(Modifier::empty(), |all, (shape, _, _)| all | shape);
        Self { text, background, shape: cell.modifier & shapes }
    }

    fn is_plain(&self) -> bool {
        self.shape.is_empty() && (self.text.as_str(), self.background.as_str()) == DEFAULTS
    }

    fn shapes(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let shape = self.shape;
        let mine = SHAPES.into_iter().filter(move |(one, _, _)| shape.contains(*one));
        mine.map(|(_, attribute, style)| (attribute, style))
    }

    fn attributes(&self) -> String {
        self.shapes().map(|(attribute, _)| attribute).collect()
    }

    fn style(&self) -> String {
        let shapes: String = self.shapes().map(|(_, style)| style).collect();
        format!("color:{};background:{}{shapes}", self.text, self.background)
    }
}

/// Neighbouring characters that look alike.
#[derive(Clone, Debug)]
struct Stretch {
    column: u32,
    columns: u32,
    text: String,
    look: Look,
}

fn rows(buffer: &Buffer) -> impl Iterator<Item = Vec<Stretch>> {
    let width = usize::from(buffer.area.width).max(1);
    buffer.content.chunks(width).map(|cells| {
        let mut runs: Vec<Stretch> = Vec::new();
        // The cells after a wide character belong to it.
        let mut covered = 0;
        for (column, cell) in (0..).zip(cells) {
            if covered > 0 {
                covered -= 1;
                continue;
            }
            let columns = unicode_width::UnicodeWidthStr::width(cell.symbol()).max(1) as u32;
            covered = columns - 1;
            let look = Look::of(cell);
            match runs.last_mut() {
                Some(last) if last.look == look => {
                    last.text.push_str(cell.symbol());
                    last.columns += columns;
                }
                _ => runs.push(Stretch { column, columns, text: cell.symbol().to_owned(), look }),
            }
        }
        runs
    })
}

/// The sixteen colours that terminals have names for.
const NAMED: [&str; 16] = [
    "#2e3440", "#bf616a", "#a3be8c", "#ebcb8b", "#5e81ac", "#b48ead", "#88c0d0", "#c8ced9", "#677084",
    "#e06c75", "#b5d99c", "#f5d76e", "#81a1c1", "#d3a4cc", "#8fd3e0", "#eceff4",
];

fn css(colour: Color, default: &str) -> String {
    let named = |index: usize| NAMED.get(index).copied().unwrap_or(default).to_owned();
    match colour {
        Color::Reset => default.to_owned(),
        Color::Black => named(0),
        Color::Red => named(1),
        Color::Green => named(2),
        Color::Yellow => named(3),
        Color::Blue => named(4),
        Color::Magenta => named(5),
        Color::Cyan => named(6),
        Color::Gray => named(7),
        Color::DarkGray => named(8),
        Color::LightRed => named(9),
        Color::LightGreen => named(10),
        Color::LightYellow => named(11),
        Color::LightBlue => named(12),
        Color::LightMagenta => named(13),
        Color::LightCyan => named(14),
        Color::White => named(15),
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        Color::Indexed(index @ 0..=15) => named(usize::from(index)),
        // The cube of 6 x 6 x 6 colours, and 24 greys after it.
        Color::Indexed(index @ 16..=231) => {
            let level = |place: u8| match (index - 16) / place % 6 {
                0 => 0,
                step => 55 + 40 * step,
            };
            format!("#{:02x}{:02x}{:02x}", level(36), level(6), level(1))
        }
        Color::Indexed(index) => {
            let grey = 8 + 10 * (index - 232);
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    fn sample() -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 6, 2));
        buffer.set_string(0, 0, "a<b", Style::new());
        buffer.set_string(0, 1, "漢x", Style::new().fg(Color::Indexed(196)).add_modifier(Modifier::REVERSED));
        buffer
    }

    #[test]
    fn text_keeps_wide_characters_in_their_columns() {
        assert_eq!(text(&sample()), "a<b\n漢x\n");
    }

    #[test]
    fn pictures_escape_and_colour() {
        let html = html(&sample(), "<t>");
        assert!(html.contains("<title>&lt;t&gt;</title>"), "{html}");
        assert!(html.contains("a&lt;b"), "{html}");
        assert!(html.contains("color:#16191f;background:#ff0000\">漢x</span>"), "{html}");
        let svg = svg(&sample(), "t");
        assert!(
            svg.contains("<rect x=\"0\" y=\"18\" width=\"27\" height=\"18\" fill=\"#ff0000\"/>"),
            "{svg}"
        );
    }
}
