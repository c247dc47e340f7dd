//! UTF-8 or ASCII, decided in one place: panes always draw in UTF-8, and an ASCII screen is translated cell by cell.

use ratatui::buffer::Buffer;

/// Whether the locale of this process promises UTF-8. Without any locale variable it does not.
#[must_use]
pub fn locale_is_utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| variable(name).filter(|value| !value.is_empty()))
        .is_some_and(|value| {
            let value = value.to_ascii_lowercase();
            value.contains("utf-8") || value.contains("utf8")
        })
}

/// Bars of rising height, for a share from 0 to 1.
#[must_use]
pub fn bar(share: f64) -> char {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let index = (share.clamp(0.0, 1.0) * 8.0) as usize;
    BARS.get(index.min(7)).copied().unwrap_or(' ')
}

/// The ASCII character that stands for `glyph`.
#[must_use]
pub fn ascii(glyph: char) -> char {
    match glyph {
        '\u{20}'..='\u{7e}' => glyph,
        '─' | '╌' | '━' | '▃' => '-',
        '│' | '┃' | '‖' => '|',
        '═' | '▄' => '=',
        '▶' | '→' | '▸' | '»' | '›' => '>',
        '◀' | '←' | '«' => '<',
        '▲' | '↑' => '^',
        '▼' | '↓' => 'v',
        '·' | '▁' => '.',
        '▂' => ':',
        '▆' | '•' | '●' | '◆' => '*',
        '▇' | '█' | '■' => '#',
        '○' => 'o',
        '…' => '~',
        '✓' => 'y',
        '✗' | '×' => 'x',
        '▅' | '\u{2500}'..='\u{257f}' => '+',
        _ => '?',
    }
}

/// Translates a drawn screen.
pub fn translate(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let glyph = cell.symbol().chars().next().map_or(' ', ascii);
            cell.set_char(glyph);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_locale_variable_that_is_set_decides() {
        let locale = |all: &'static str, lang: &'static str| {
            move |name: &str| match name {
                "LC_ALL" => Some(all.to_owned()),
                "LANG" => Some(lang.to_owned()),
                _ => None,
            }
        };
        assert!(locale_is_utf8(locale("", "en_GB.UTF-8")));
        assert!(!locale_is_utf8(locale("C", "en_GB.UTF-8")));
        assert!(!locale_is_utf8(|_| None));
    }

    #[test]
    fn every_glyph_has_an_ascii_character() {
        for glyph in "─│┌┬┼═▶◀·•…→▸›▁█".chars() {
            assert!(ascii(glyph).is_ascii() && ascii(glyph) != '?', "{glyph}");
        }
        for glyph in "é字".chars() {
            assert_eq!(ascii(glyph), '?');
        }
    }
}
