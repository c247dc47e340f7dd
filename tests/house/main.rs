//! The house keeps its order: a folder of `src/` uses only those above it in `src/lib.rs`, and no modules use each other.

#![allow(clippy::unwrap_used)]

mod cycles;

use std::fs;
use std::path::{Path, PathBuf};

/// The folders in the order in which `src/lib.rs` declares them.
fn order() -> Vec<String> {
    let map = fs::read_to_string("src/lib.rs").unwrap();
    map.lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';').map(str::to_owned))
        .collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Folders that a text names as `crate::folder` or, several at once, as `crate::{folder, other::...}`.
fn uses(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("crate::").flat_map(|(at, word)| {
        // `umscope::` and `$crate::` are other words.
        let before = text[..at].chars().next_back();
        let rest = &text[at + word.len()..];
        let is_ours = !before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        if is_ours { named(rest) } else { Vec::new() }
    })
}

/// The first names of what a path begins with: one, or those of a group.
fn named(rest: &str) -> Vec<&str> {
    let Some(group) = rest.strip_prefix('{') else { return vec![name(rest)] };
    let (mut depth, mut begins, mut found) = (0_usize, true, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            c if begins && !c.is_whitespace() => {
                found.push(name(&group[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    found
}

fn name(rest: &str) -> &str {
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    &rest[..end]
}

/// What breaks the order in the file at `path` of the folder at `position`.
fn breaches(order: &[String], position: usize, path: &Path, text: &str) -> Vec<String> {
    uses(text)
        .filter_map(|used| order.iter().position(|folder| folder == used).map(|below| (used, below)))
        .filter(|(_, below)| *below > position)
        .map(|(used, _)| format!("{} uses crate::{used}, which stands below it", path.display()))
        .collect()
}

#[test]
fn no_folder_uses_one_below_it() {
    let order = order();
    assert!(order.len() > 10, "src/lib.rs declares {order:?}");
    let mut found = Vec::new();
    for (position, folder) in order.iter().enumerate() {
        let mut files = Vec::new();
        sources(&Path::new("src").join(folder), &mut files);
        for path in files {
            let text = fs::read_to_string(&path).unwrap();
            found.extend(breaches(&order, position, &path, &text));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_breach_would_be_seen() {
    let order = ["model".to_owned(), "machine".to_owned()];
    let path = Path::new("src/model/x.rs");
    assert_eq!(breaches(&order, 0, path, "use crate::machine::Machine;").len(), 1);
    assert_eq!(breaches(&order, 1, path, "use crate::model::time;").len(), 0);
    let group = "use crate::{\n    model::{time, access},\n    machine::Machine,\n};";
    assert_eq!(breaches(&order, 0, path, group).len(), 1);
    assert_eq!(breaches(&order, 1, path, group).len(), 0);
}
