//! The columns of the tree in the directory pane, and which bytes of the line its masks and values show.

use crate::debug::frame::Frame;
use crate::debug::frame::directory::DirectoryRow;
use crate::model::address::Range;
use crate::model::inspect::BlockView;

/// Columns of the tree, as far as they fit.
pub struct Columns {
    pub state: u16,
    /// The same as `sharers` if owner and sharers stand in one column.
    pub owner: u16,
    pub sharers: u16,
    pub dirty: u16,
    /// Signs of the dirty column; none where the brackets round the values have to do.
    pub signs: u16,
    pub value: u16,
    /// Bytes that the value column shows.
    pub bytes: u16,
}

impl Columns {
    /// As many bytes as fit, for a value that is not seen is taken for zero: owner and sharers give way to them, and the masks to those
    /// that are worth a look.
    pub fn new(width: u16, names: u16, rows: &[DirectoryRow], (line, worth): (Range, u16)) -> Self {
        let owner = widest(rows.iter().map(|row| row.owner.clone().unwrap_or_default())).max(5) + 1;
        let sharers = |together: bool, short: bool| {
            let texts = rows.iter().map(|row| sharers(row, together));
            widest(texts.map(|text| if short { shortened(&text) } else { text })).clamp(7, 13) + 1
        };
        let holders = [
            (owner, sharers(false, false)),
            (owner, sharers(false, true)),
            (0, sharers(true, false)),
            (0, sharers(true, true)),
        ];
        let kept = rows.iter().any(|row| row.value.is_some());
        let state = names.clamp(10, 22) + 1;
        // Three words only where just these are worth a look.
        let counts = [32, 24, 16, 12, 8, 4, 2, 1].into_iter().filter(|bytes| {
            kept && u32::from(*bytes) <= line.len && (*bytes != 12 || (9..=12).contains(&worth))
        });
        let all = counts.flat_map(|bytes| {
            let both =
                [true, false].map(|masks| holders.map(|holders| Self::with(state, holders, bytes, masks)));
            both.into_iter().flatten()
        });
        let fits = |columns: &Self| columns.value + columns.bytes * 3 <= width;
        // Of those that are as good the first.
        let good = |columns: &Self| (columns.bytes.min(worth), columns.signs > 0, columns.bytes);
        let best = all.filter(fits).reduce(|best, next| if good(&next) > good(&best) { next } else { best });
        best.unwrap_or_else(|| {
            let columns = Self::with(state, holders[0], 0, true);
            let room = width.saturating_sub(columns.dirty + 1);
            // The rest of the row is for what a node waits for.
            let signs = if room >= 16 { 16 } else { 8 };
            Self { signs, ..columns }
        })
    }

    fn with(state: u16, (owner, sharers): (u16, u16), bytes: u16, masks: bool) -> Self {
        let dirty = state + 6 + owner + sharers;
        // The heading `dirty`, then a column that tells whether there are more, then the bracket of the first value.
        let value = dirty + if masks { bytes.max(5) + 2 } else { 1 };
        let signs = if masks { bytes } else { 0 };
        Self { state, owner: state + 6, sharers: state + 6 + owner, dirty, signs, value, bytes }
    }
}

fn widest(texts: impl Iterator<Item = String>) -> u16 {
    texts.map(|text| text.chars().count() as u16).max().unwrap_or(0)
}

/// The sharers of a row; together with the owner in the map's way, the owner first with an exclamation mark.
pub fn sharers(row: &DirectoryRow, together: bool) -> String {
    let owner = row.owner.as_ref().filter(|_| together);
    let others = row.sharers.iter().filter(|name| Some(*name) != owner).cloned();
    let names: Vec<String> = owner.map(|owner| format!("{owner}!")).into_iter().chain(others).collect();
    names.join(" ")
}

/// Names of holders in fewer letters: those of one directory are of one kind.
pub fn shortened(names: &str) -> String {
    names.replace("gpu", "g").replace("cpu", "c").replace("cu", "c")
}

/// The bytes of the line that masks and values show.
pub struct Window {
    pub line: Range,
    /// Offsets of the bytes that each sign of the masks, and each value, stands for.
    pub signs: Vec<std::ops::Range<u32>>,
    /// Bytes that are worth a look as well, and not shown.
    hidden: u32,
}

/// Bytes that are chosen together: most values are words.
const WORD: u32 = 4;

impl Window {
    /// Of a line that does not fit, the words that the last event was about come first, then those that are dirty anywhere,
    /// those that hold anything, and those that the selected transaction touches. Without values the signs share the whole line.
    pub fn new(frame: &Frame, line: Range, columns: &Columns) -> Self {
        let mut hidden = 0;
        let signs = if columns.bytes > 0 {
            let word = WORD.min(u32::from(columns.bytes));
            let mut words: Vec<u32> = (0..line.len / word).map(|nth| nth * word).collect();
            words.sort_by_cached_key(|from| std::cmp::Reverse(interest(frame, line, *from..from + word)));
            let rest = words.split_off(words.len().min(usize::from(columns.bytes) / word as usize));
            hidden = word
                * rest.into_iter().filter(|from| is_worth(frame, line, *from..from + word)).count() as u32;
            words.sort_unstable();
            words.into_iter().flat_map(|from| from..from + word).map(|offset| offset..offset + 1).collect()
        } else {
            let each = line.len.div_ceil(u32::from(columns.signs.max(1))).max(1);
            let count = line.len.div_ceil(each);
            (0..count).map(|nth| nth * each..(nth * each + each).min(line.len)).collect()
        };
        Self { line, signs, hidden }
    }

    /// Whether a node has dirty bytes that are not shown.
    pub fn hides_dirty(&self, view: &BlockView) -> bool {
        let shown = |offset: &u32| self.signs.iter().any(|sign| sign.contains(offset));
        (0..self.line.len).any(|offset| is_dirty(view, self.line, offset) && !shown(&offset))
    }

    /// What heads masks without values beside them.
    pub fn mask_heading(&self) -> String {
        match self.signs.first().map_or(1, ExactSizeIterator::len) {
            1 => "dirty".to_owned(),
            each => format!("dirty, {each} B each"),
        }
    }

    /// What heads the values: which bytes they and the masks show.
    pub fn value_heading(&self, room: u16) -> String {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for sign in &self.signs {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == sign.start => *last = sign.start,
                _ => runs.push((sign.start, sign.start)),
            }
        }
        let more = (self.hidden > 0).then(|| format!("+{} B", self.hidden));
        let runs = runs.iter().map(|(first, last)| format!("{first}-{last}"));
        let runs: Vec<String> = runs.chain(more).collect();
        let texts = [format!("value, bytes {}", runs.join(" ")), format!("bytes {}", runs.join(" "))];
        let short = || format!("+{}", self.signs.first().map_or(0, |sign| sign.start));
        texts.into_iter().find(|text| text.len() <= usize::from(room)).unwrap_or_else(short)
    }
}

/// Why one would look at these bytes: the last event was about them, dirty anywhere, not zero everywhere, touched by the selected transaction.
fn interest(frame: &Frame, line: Range, bytes: std::ops::Range<u32>) -> [bool; 4] {
    let rows = &frame.directory.rows;
    let dirty = |view: &BlockView| bytes.clone().any(|offset| is_dirty(view, line, offset));
    let here = Range { start: line.start.plus(u64::from(bytes.start)), len: bytes.end - bytes.start };
    let holds = |row: &DirectoryRow| {
        let value = row.value.as_ref().and_then(|value| value.get(bytes.start as usize..bytes.end as usize));
        value.is_some_and(|value| value.iter().any(|byte| *byte != 0))
    };
    [
        frame.directory.happened.iter().any(|range| range.overlaps(here)),
        rows.iter().filter_map(|row| row.view.as_ref()).any(dirty),
        rows.iter().any(holds),
        frame.sequence.as_ref().and_then(|sequence| sequence.range).is_some_and(|range| range.overlaps(here)),
    ]
}

/// Whether one would look at these bytes whatever is selected.
fn is_worth(frame: &Frame, line: Range, bytes: std::ops::Range<u32>) -> bool {
    interest(frame, line, bytes)[..3].contains(&true)
}

/// How many bytes of a line are worth a look.
pub fn worth(frame: &Frame, line: Range) -> u16 {
    let word = WORD.min(line.len.max(1));
    let words = (0..line.len / word).filter(|nth| is_worth(frame, line, nth * word..nth * word + word));
    (words.count() as u32 * word) as u16
}

/// The bit of a mask that stands for the byte at this offset of the line.
fn bit(view: &BlockView, line: Range, offset: u32) -> Option<u32> {
    let place = (line.start.0 + u64::from(offset)).saturating_sub(view.range.start.0);
    u32::try_from(place / u64::from(view.granule.max(1))).ok()
}

/// Whether a node has made the byte at this offset of the line dirty.
pub fn is_dirty(view: &BlockView, line: Range, offset: u32) -> bool {
    view.dirty.as_ref().is_some_and(|mask| bit(view, line, offset).is_some_and(|bit| mask.get(bit)))
}

/// Whether a node has the byte at this offset of the line, as far as its state lets it have any.
pub fn is_here(view: &BlockView, line: Range, offset: u32) -> bool {
    view.here.as_ref().is_none_or(|mask| bit(view, line, offset).is_some_and(|bit| mask.get(bit)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debug::frame::directory::Directory;
    use crate::debug::frame::sequence::Sequence;
    use crate::model::address::Address;

    #[test]
    fn what_the_last_event_was_about_is_in_the_window() {
        let line = Range::new(Address(0x1000), 64);
        let happened = vec![Range::new(Address(0x1024), 4), Range::new(Address(0x2000), 4)];
        let frame = Frame { directory: Directory { happened, ..Directory::default() }, ..Frame::default() };
        let columns = Columns::with(11, (6, 8), 8, true);
        assert_eq!(Window::new(&frame, line, &columns).value_heading(40), "value, bytes 0-3 36-39");
    }

    fn row(value: Vec<u8>) -> DirectoryRow {
        DirectoryRow {
            node: crate::model::component::ComponentId(0),
            name: "gpu0.smd0".to_owned(),
            depth: 0,
            last: Vec::new(),
            view: None,
            owner: None,
            sharers: Vec::new(),
            busy: false,
            value: Some(value),
            was: None,
        }
    }

    /// Fig. 5 (c): while the line is collected for a store to its third word, the first two hold what is collected.
    #[test]
    fn words_that_hold_something_come_before_those_that_are_only_wanted() {
        let line = Range::new(Address(0x1000), 64);
        let value = (0..64).map(|at| u8::from(at < 4) * 7).collect();
        let range = Some(Range::new(Address(0x1008), 4));
        let sequence = Sequence { range, ..Sequence::default() };
        let happened = vec![Range::new(Address(0x1004), 4)];
        let directory = Directory { happened, rows: vec![row(value)], ..Directory::default() };
        let frame = Frame { directory, sequence: Some(sequence), ..Frame::default() };
        let columns = Columns::with(11, (6, 8), 8, true);
        assert_eq!(Window::new(&frame, line, &columns).value_heading(40), "value, bytes 0-7");
        let columns = Columns::with(11, (6, 8), 4, true);
        assert_eq!(Window::new(&frame, line, &columns).value_heading(40), "value, bytes 4-7 +4 B");
    }

    #[test]
    fn a_wide_pane_shows_more_bytes() {
        let row = row(vec![0; 64]);
        let line = Range::new(Address(0), 64);
        let shown = |width, worth| {
            let columns = Columns::new(width, 10, std::slice::from_ref(&row), (line, worth));
            (columns.bytes, columns.signs > 0)
        };
        assert_eq!([80, 100, 198].map(|width| shown(width, 0).0), [8, 16, 32]);
        // The masks give way to bytes that are worth a look.
        assert_eq!([80, 100].map(|width| shown(width, 12)), [(12, true), (16, true)]);
        assert_eq!([70, 64].map(|width| shown(width, 12)), [(12, false), (12, false)]);
    }
}
