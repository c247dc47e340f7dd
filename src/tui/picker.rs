//! The picker of lessons and scenarios: type to filter, enter opens.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use super::canvas::{self, fit, wrap};
use super::glyphs;
use super::pane::reflow;
use super::settings::Settings;
use super::terminal::{Screen, Signal};
use super::theme::{Role, Theme};
use crate::scenario::curriculum;

/// Something that can be opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The name to open it by (`umh/fig5-b1`); what stands before the slash is its group.
    pub name: String,
    pub title: String,
    /// Paper and section.
    pub source: String,
    /// What it shows, in a few sentences.
    pub about: String,
    /// Whether it tells a story.
    pub lesson: bool,
}

/// The state of the picker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picker {
    entries: Vec<Entry>,
    /// What is looked for, once that was begun: only then `q` is a letter of it.
    filter: Option<String>,
    chosen: usize,
    /// Lessons that were told to their end.
    told: BTreeSet<String>,
    /// Rows of the list on the last drawing: (row on the screen, index among those that match).
    rows: Vec<(u16, usize)>,
}

/// What a key made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Stay,
    Open(String),
    Leave,
}

/// Most characters of the filter.
const LENGTH: usize = 200;

/// Rows of what is told of an entry below the list.
const BELOW: u16 = 7;

/// How picking ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Picked {
    /// The scenario of this name.
    Open(String),
    Left,
    /// A signal came.
    Signal,
}

/// Lets the user pick.
///
/// # Errors
/// If there is no terminal, or it fails.
pub fn pick(picker: &mut Picker, settings: &Settings) -> io::Result<Picked> {
    let mut screen = Screen::take()?;
    loop {
        screen.draw(|target| {
            let buffer = target.buffer_mut();
            picker.draw(buffer, &settings.theme);
            if settings.ascii {
                glyphs::translate(buffer);
            }
        })?;
        while !event::poll(Duration::from_millis(50))? {
            match screen.signal() {
                Some(Signal::End) => return Ok(Picked::Signal),
                Some(Signal::Stop) => screen.suspend()?,
                Some(Signal::Resumed) => screen.resume()?,
                None => continue,
            }
            break;
        }
        while event::poll(Duration::ZERO)? {
            match event::read()? {
                Event::Key(key) if is_suspend(&key) => screen.suspend()?,
                event => match picker.handle(&event) {
                    Outcome::Stay => {}
                    Outcome::Open(name) => return Ok(Picked::Open(name)),
                    Outcome::Leave => return Ok(Picked::Left),
                },
            }
        }
    }
}

fn is_suspend(key: &KeyEvent) -> bool {
    key.code == KeyCode::Char('z') && key.modifiers.contains(KeyModifiers::CONTROL)
}

impl Picker {
    #[must_use]
    pub fn new(mut entries: Vec<Entry>) -> Self {
        entries.sort_by_key(|entry| curriculum::place(&entry.name));
        Self { entries, ..Self::default() }
    }

    /// The entries that the filter leaves: those that hold every word typed.
    fn matching(&self) -> Vec<&Entry> {
        let text = |entry: &Entry| format!("{} {} {} {}", entry.name, entry.title, entry.source, entry.about);
        self.entries.iter().filter(|entry| self.finds(&text(entry))).collect()
    }

    /// Whether a text holds every word typed.
    fn finds(&self, text: &str) -> bool {
        let filter = self.filter.as_deref().unwrap_or_default().to_lowercase();
        let text = text.to_lowercase();
        filter.split_whitespace().all(|word| text.contains(word))
    }

    /// The entry that what was typed means: the first whose name holds it, rather than one that only speaks of it.
    fn meant(&self) -> usize {
        self.matching().iter().position(|entry| self.finds(&entry.name)).unwrap_or(0)
    }

    /// Takes an event of the terminal.
    pub fn handle(&mut self, event: &Event) -> Outcome {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key),
            Event::Paste(text) => {
                text.chars()
                    .filter(|character| !character.is_control())
                    .for_each(|character| self.add(character));
                self.chosen = self.meant();
                Outcome::Stay
            }
            Event::Mouse(mouse) => match mouse.kind {
                MouseEventKind::ScrollDown => self.walk(3),
                MouseEventKind::ScrollUp => self.walk(-3),
                MouseEventKind::Down(_) => match self.rows.iter().find(|(row, _)| *row == mouse.row) {
                    Some((_, index)) if *index == self.chosen => self.open(),
                    Some((_, index)) => {
                        self.chosen = *index;
                        Outcome::Stay
                    }
                    None => Outcome::Stay,
                },
                _ => Outcome::Stay,
            },
            _ => Outcome::Stay,
        }
    }

    fn key(&mut self, key: &KeyEvent) -> Outcome {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c' | 'd') if ctrl => return Outcome::Leave,
            KeyCode::Char('n') if ctrl => return self.walk(1),
            KeyCode::Char('p') if ctrl => return self.walk(-1),
            KeyCode::Char('u') if ctrl => self.filter = None,
            KeyCode::Enter => return self.open(),
            KeyCode::Char('q') if self.filter.is_none() && !ctrl => return Outcome::Leave,
            KeyCode::Esc => self.filter = None,
            KeyCode::Down | KeyCode::Tab => return self.walk(1),
            KeyCode::Up | KeyCode::BackTab => return self.walk(-1),
            KeyCode::PageDown => return self.walk(10),
            KeyCode::PageUp => return self.walk(-10),
            KeyCode::Home => return self.walk(isize::MIN / 2),
            KeyCode::End => return self.walk(isize::MAX / 2),
            KeyCode::Backspace => {
                self.filter = self.filter.take().filter(|text| !text.is_empty()).map(shorter);
            }
            KeyCode::Char('/') if self.filter.as_deref().is_none_or(str::is_empty) => {
                self.filter = Some(String::new());
            }
            KeyCode::Char(character) if !ctrl => self.add(character),
            _ => return Outcome::Stay,
        }
        self.chosen = self.meant();
        Outcome::Stay
    }

    fn add(&mut self, character: char) {
        let filter = self.filter.get_or_insert_default();
        if filter.len() < LENGTH {
            filter.push(character);
        }
    }

    fn walk(&mut self, by: isize) -> Outcome {
        let last = self.matching().len().saturating_sub(1);
        self.chosen = (self.chosen as isize).saturating_add(by).clamp(0, last as isize) as usize;
        Outcome::Stay
    }

    /// Opens the chosen entry. Whoever comes back finds it chosen in the whole list.
    fn open(&mut self) -> Outcome {
        let Some(name) = self.matching().get(self.chosen).map(|entry| entry.name.clone()) else {
            return Outcome::Stay;
        };
        self.filter = None;
        self.chosen = self.entries.iter().position(|entry| entry.name == name).unwrap_or(0);
        Outcome::Open(name)
    }

    /// A lesson was told to its end: the one that follows is chosen.
    pub fn told(&mut self, name: &str) {
        self.told.insert(name.to_owned());
        let next = curriculum::next(name);
        let place = next.and_then(|next| self.entries.iter().position(|entry| entry.name == next));
        self.chosen = place.unwrap_or(self.chosen);
    }

    /// Draws the picker.
    pub fn draw(&mut self, buffer: &mut Buffer, theme: &Theme) {
        let area = buffer.area;
        buffer.set_style(area, theme.style(Role::Text));
        self.rows.clear();
        if area.width < 24 || area.height < 6 {
            let text = fit("Make the terminal larger", area.width);
            if area.height > 0 {
                buffer.set_stringn(area.x, area.y, text, usize::from(area.width), theme.style(Role::Warning));
            }
            return;
        }
        let mut put = |x: u16, y: u16, text: &str, role: Role| {
            let room = area.right().saturating_sub(x);
            buffer.set_stringn(x, y, fit(text, room), usize::from(room), theme.style(role));
        };
        put(1, 0, "umscope", Role::Header);
        put(10, 0, "watch the memory of a CPU with GPUs, message by message", Role::Dim);
        put(1, 1, "/", Role::Key);
        match &self.filter {
            None => put(3, 1, "type to filter; / first if that begins with q", Role::Dim),
            Some(filter) => {
                let width = area.width.saturating_sub(5);
                put(3, 1, &fit(filter, width), Role::Prompt);
                put(3 + (filter.width() as u16).min(width), 1, " ", Role::Cursor);
            }
        }
        let leave = if self.filter.is_none() { ("q", "leave") } else { ("esc", "show all") };
        let mut x = 1;
        for (key, does) in [("enter", "open"), ("↑ ↓", "choose"), ("/", "filter"), leave] {
            put(x, area.height - 1, key, Role::Key);
            x += key.width() as u16 + 1;
            put(x, area.height - 1, does, Role::Hint);
            x += does.width() as u16 + 2;
        }
        put(x + 2, area.height - 1, "◆ a lesson  ✓ told to its end", Role::Dim);
        let (list, about) = places(Rect::new(area.x, area.y + 2, area.width, area.height - 3));
        canvas::frame(buffer, list, theme.style(Role::Border));
        self.list(buffer, list, theme);
        if let Some(about) = about {
            canvas::frame(buffer, about, theme.style(Role::Border));
            self.about(buffer, about, theme);
        }
    }

    fn list(&mut self, buffer: &mut Buffer, area: Rect, theme: &Theme) {
        let matching = self.matching();
        let height = usize::from(area.height.saturating_sub(2));
        let mut lines: Vec<(Option<usize>, String, String)> = Vec::new();
        let mut group = "";
        for (index, entry) in matching.iter().enumerate() {
            let (folder, name) = entry.name.rsplit_once('/').unwrap_or(("", &entry.name));
            if folder != group {
                lines.push((None, folder.to_uppercase(), String::new()));
                group = folder;
            }
            let mark = match () {
                () if self.told.contains(&entry.name) => "✓ ",
                () if entry.lesson => "◆ ",
                () => "  ",
            };
            lines.push((Some(index), format!("{mark}{name}"), entry.title.clone()));
        }
        let at = lines.iter().position(|(index, _, _)| *index == Some(self.chosen)).unwrap_or(0);
        let first = at.saturating_sub(height / 2).min(lines.len().saturating_sub(height));
        let names = lines.iter().map(|(_, name, _)| name.width()).max().unwrap_or(8).clamp(8, 26) as u16;
        let mut rows = Vec::new();
        for (row, (index, name, title)) in lines.iter().skip(first).take(height).enumerate() {
            let y = area.y + 1 + row as u16;
            let (x, room) = (area.x + 2, area.width.saturating_sub(4));
            let role = if index.is_some() { Role::Strong } else { Role::Title };
            buffer.set_stringn(x, y, fit(name, names.min(room)), usize::from(room), theme.style(role));
            let left = room.saturating_sub(names + 2);
            buffer.set_stringn(
                x + names + 2,
                y,
                fit(title, left),
                usize::from(left),
                theme.style(Role::Text),
            );
            if let Some(index) = index {
                rows.push((y, *index));
                if *index == self.chosen {
                    buffer.set_style(Rect::new(area.x + 1, y, area.width - 2, 1), theme.style(Role::Cursor));
                    buffer.set_stringn(area.x + 1, y, "▸", 1, theme.style(Role::Cursor));
                }
            }
        }
        if lines.is_empty() {
            let text = fit(
                "Nothing matches. esc shows all again; workloads: umscope list workloads",
                area.width.saturating_sub(4),
            );
            buffer.set_stringn(area.x + 2, area.y + 1, text, usize::from(area.width), theme.style(Role::Dim));
        }
        let mut sign = |y: u16, sign: &str| {
            buffer.set_stringn(area.right() - 1, y, sign, 1, theme.style(Role::Key));
        };
        if first > 0 {
            sign(area.y + 1, "▲");
        }
        if first + height < lines.len() {
            sign(area.bottom() - 2, "▼");
        }
        self.rows = rows;
    }

    fn about(&self, buffer: &mut Buffer, area: Rect, theme: &Theme) {
        let matching = self.matching();
        let Some(entry) = matching.get(self.chosen) else {
            return;
        };
        let width = area.width.saturating_sub(4);
        let mut lines: Vec<(String, Role)> = Vec::new();
        lines.extend(wrap(&entry.title, width).into_iter().map(|line| (line, Role::Header)));
        lines.extend(wrap(&entry.source, width).into_iter().map(|line| (line, Role::Dim)));
        if area.height > BELOW {
            lines.push((String::new(), Role::Text));
        }
        lines.extend(wrap(&reflow(&entry.about), width).into_iter().map(|line| (line, Role::Text)));
        let rows = usize::from(area.height.saturating_sub(2));
        for (row, (line, role)) in lines.iter().take(rows).enumerate() {
            let y = area.y + 1 + row as u16;
            // The text goes on where there is no more room.
            let is_cut = row + 1 == rows && lines.len() > rows;
            let line = if is_cut { fit(&format!("{line} …"), width) } else { line.clone() };
            buffer.set_stringn(area.x + 2, y, line, usize::from(width), theme.style(*role));
        }
    }
}

/// All but the last letter.
fn shorter(mut text: String) -> String {
    text.pop();
    text
}

/// Where the list stands, and what is told of the chosen entry: beside the list, or below it, where titles that the list
/// has no room for can be read.
fn places(body: Rect) -> (Rect, Option<Rect>) {
    if body.width >= 90 {
        let list = Rect { width: body.width * 3 / 5, ..body };
        let about = Rect::new(list.right() - 1, body.y, body.width - list.width + 1, body.height);
        return (list, Some(about));
    }
    if body.height < 3 * BELOW {
        return (body, None);
    }
    let list = Rect { height: body.height - BELOW + 1, ..body };
    (list, Some(Rect { y: list.bottom() - 1, height: BELOW, ..body }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::buffer::Cell;

    #[test]
    fn a_list_that_goes_on_says_so() {
        let entry = |nth: usize| Entry { name: format!("mine{nth:02}"), ..Entry::default() };
        let mut picker = Picker::new((0..40).map(entry).collect());
        let area = Rect::new(0, 0, 80, 24);
        let theme = Theme::embedded("default").unwrap().unwrap();
        let signs = |picker: &mut Picker| {
            let mut buffer = Buffer::empty(area);
            picker.draw(&mut buffer, &theme);
            let at = |y: u16| buffer.cell((79, y)).map(|cell| cell.symbol().to_owned()).unwrap_or_default();
            (at(3), at(15))
        };
        assert_eq!(signs(&mut picker), ("│".into(), "▼".into()));
        picker.walk(20);
        assert_eq!(signs(&mut picker), ("▲".into(), "▼".into()));
        picker.walk(20);
        assert_eq!(signs(&mut picker), ("▲".into(), "│".into()));
    }

    #[test]
    fn a_title_that_the_list_has_no_room_for_stands_whole_below_it() {
        let title =
            "A title of so many words that no list on a narrow screen has room for them, at eighty columns";
        let entry = Entry { name: "mine".into(), title: title.into(), ..Entry::default() };
        let mut picker = Picker::new(vec![entry]);
        let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 24));
        picker.draw(&mut buffer, &Theme::embedded("default").unwrap().unwrap());
        let row = |y: u16| (2..79).filter_map(|x| buffer.cell((x, y))).map(Cell::symbol).collect();
        let rows: Vec<String> = (17..19).map(row).collect();
        assert_eq!(
            rows.concat().split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches(" │"),
            title
        );
    }

    #[test]
    fn after_a_lesson_the_one_that_follows_is_chosen() {
        let entry = |name: &str| Entry { name: name.into(), lesson: true, ..Entry::default() };
        let mut picker = Picker::new(["umh/fig5-b1", "umh/fig5-a"].map(entry).to_vec());
        let enter = Event::Key(KeyCode::Enter.into());
        assert_eq!(picker.handle(&enter), Outcome::Open("umh/fig5-a".into()));
        picker.told("umh/fig5-a");
        let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 24));
        picker.draw(&mut buffer, &Theme::embedded("default").unwrap().unwrap());
        let row =
            |y: u16| -> String { (0..20).filter_map(|x| buffer.cell((x, y))).map(Cell::symbol).collect() };
        assert!((2..24).any(|y| row(y).contains("✓ fig5-a")), "{:?}", row(4));
        assert_eq!(picker.handle(&enter), Outcome::Open("umh/fig5-b1".into()));
    }

    #[test]
    fn q_leaves_unless_a_filter_was_begun() {
        let mut picker = Picker::new(vec![Entry { name: "queue".into(), ..Entry::default() }]);
        let mut press = |code: KeyCode| picker.handle(&Event::Key(code.into()));
        assert_eq!(press(KeyCode::Char('q')), Outcome::Leave);
        assert_eq!(press(KeyCode::Esc), Outcome::Stay, "one esc too many does not end it");
        for code in ['/', '/', 'q', 'u'] {
            assert_eq!(press(KeyCode::Char(code)), Outcome::Stay);
        }
        for _ in 0..2 {
            assert_eq!(press(KeyCode::Backspace), Outcome::Stay);
        }
        assert_eq!(press(KeyCode::Char('q')), Outcome::Stay, "an empty filter is one, too");
        assert_eq!(press(KeyCode::Enter), Outcome::Open("queue".into()));
        assert_eq!(press(KeyCode::Char('q')), Outcome::Leave);
        assert_eq!(picker.handle(&Event::Paste("que\n".into())), Outcome::Stay);
        assert_eq!(picker.filter.as_deref(), Some("que"));
    }

    #[test]
    fn what_is_typed_means_a_name_rather_than_a_text() {
        let entry =
            |name: &str, about: &str| Entry { name: name.into(), about: about.into(), ..Entry::default() };
        let entries = vec![entry("umh/smd-eviction", "a fifth block"), entry("paging/fifth-fault", "")];
        let opened = |typed: &str| {
            let mut picker = Picker::new(entries.clone());
            for letter in typed.chars() {
                picker.handle(&Event::Key(KeyCode::Char(letter).into()));
            }
            picker.handle(&Event::Key(KeyCode::Enter.into()))
        };
        assert_eq!(opened("fifth"), Outcome::Open("paging/fifth-fault".into()));
        assert_eq!(opened("block"), Outcome::Open("umh/smd-eviction".into()));
    }

    #[test]
    fn the_list_begins_with_the_users_own_then_the_first_lesson() {
        let given = ["kernels/a", "litmus/a", "m2s/a", "mine", "umh/byte-mask", "umh/fig5-a", "umh/fig5-b1"];
        let names = |given: &[&str]| -> Vec<String> {
            let entry = |name: &&str| Entry { name: (*name).into(), ..Entry::default() };
            let picker = Picker::new(given.iter().map(entry).collect());
            picker.entries.into_iter().map(|entry| entry.name).collect()
        };
        let sorted = ["mine", "umh/fig5-a", "umh/fig5-b1", "umh/byte-mask", "litmus/a", "kernels/a", "m2s/a"];
        assert_eq!(names(&given), sorted);
    }
}
