//! Siblings, modules of one folder, do not use each other in a circle: what both need is a third one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module's path from the root: `["query", "filter"]`.
type Module = Vec<String>;

/// Every module, and all that it names of this crate, by whole paths.
struct Modules(BTreeMap<Module, Vec<Used>>);

impl Modules {
    fn read(root: &Path) -> Self {
        let mut files = Vec::new();
        crate::sources(root, &mut files);
        let module = |path: &Path| {
            let inner = path.strip_prefix(root).unwrap().with_extension("");
            let names = inner.iter().map(|name| name.to_str().unwrap().to_owned());
            names.filter(|name| !matches!(name.as_str(), "mod" | "lib")).collect::<Module>()
        };
        let of_tests = |module: &Module| module.iter().any(|name| name == "tests");
        let texts = files.iter().map(|path| (module(path), code(&fs::read_to_string(path).unwrap())));
        Self::new(&texts.filter(|(module, _)| !of_tests(module)).collect())
    }

    fn new(texts: &BTreeMap<Module, String>) -> Self {
        Self(texts.iter().map(|(module, text)| (module.clone(), uses(texts, module, text))).collect())
    }

    /// The module in which what `path` names is written down: names that are passed on are followed.
    fn home(&self, path: &[String], hops: usize) -> Module {
        let known = (0..=path.len()).rev().find(|len| self.0.contains_key(&path[..*len])).unwrap_or(0);
        let (module, rest) = path.split_at(known);
        let Some(name) = rest.first().filter(|_| hops > 0) else { return module.to_vec() };
        let passed_on = self.0.get(module).into_iter().flatten().filter(|used| used.is_public);
        let mut from = passed_on.map(|used| &used.path).filter(|from| from.last() == Some(name));
        match from.find(|from| from[..] != path[..=known]) {
            Some(from) => self.home(&[from, &rest[1..]].concat(), hops - 1),
            None => module.to_vec(),
        }
    }

    /// Which of its siblings each module uses: by folder, pairs with where that is.
    fn edges(&self) -> BTreeMap<Module, BTreeMap<(String, String), String>> {
        let mut edges: BTreeMap<Module, BTreeMap<(String, String), String>> = BTreeMap::new();
        for (module, uses) in &self.0 {
            for used in uses {
                let home = self.home(&used.path, 6);
                let shared = module.iter().zip(&home).take_while(|(one, other)| one == other).count();
                if let (Some(from), Some(to)) = (module.get(shared), home.get(shared)) {
                    let place = format!("{} names {}", module.join("::"), used.path.join("::"));
                    let folder = edges.entry(module[..shared].to_vec()).or_default();
                    folder.entry((from.clone(), to.clone())).or_insert(place);
                }
            }
        }
        edges
    }

    /// The uses that lead back to where they come from.
    fn circles(&self) -> Vec<String> {
        let mut found = Vec::new();
        for uses in self.edges().values() {
            for ((from, to), place) in uses {
                if reaches(uses, to, from) {
                    found.push(place.clone());
                }
            }
        }
        found
    }
}

/// Something that a module names.
struct Used {
    path: Vec<String>,
    is_public: bool,
}

/// All that a module names of this crate, of whose modules these are the texts.
fn uses(texts: &BTreeMap<Module, String>, module: &[String], text: &str) -> Vec<Used> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("use ") {
        let before = text[..at].rsplit('\n').next().unwrap_or_default().trim();
        if before.is_empty() || before == "pub" || before.starts_with("pub(") {
            let tree = text[at + 4..].split(';').next().unwrap_or_default();
            let paths = expanded(tree).into_iter().filter_map(|path| whole(texts, module, &path));
            found.extend(paths.map(|path| Used { path, is_public: !before.is_empty() }));
        }
    }
    for word in ["crate::", "super::"] {
        for (at, _) in text.match_indices(word) {
            let is_begun = text[..at].ends_with(|c: char| c.is_alphanumeric() || "_:$".contains(c));
            let end = text[at..].find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
            let path = text[at..end.map_or(text.len(), |end| at + end)].trim_end_matches(':');
            let path = (!is_begun).then(|| whole(texts, module, &segments(path))).flatten();
            found.extend(path.map(|path| Used { path, is_public: false }));
        }
    }
    found
}

/// A path as it is written in `module`, from the root. Nothing if it leads to another crate.
fn whole(texts: &BTreeMap<Module, String>, module: &[String], path: &[String]) -> Option<Vec<String>> {
    let first = path.first()?;
    if first == "crate" {
        return Some(path[1..].to_vec());
    }
    if first != "self" && first != "super" {
        let child = [module, std::slice::from_ref(first)].concat();
        return texts.contains_key(&child).then(|| [module, path].concat());
    }
    let relative = path.iter().take_while(|name| *name == "self" || *name == "super").count();
    let up = path[..relative].iter().filter(|name| *name == "super").count();
    Some([module.get(..module.len().checked_sub(up)?)?, &path[relative..]].concat())
}

fn reaches(uses: &BTreeMap<(String, String), String>, from: &str, to: &str) -> bool {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(here) = next.pop() {
        if here == to {
            return true;
        }
        if seen.insert(here.clone()) {
            next.extend(uses.keys().filter(|(from, _)| *from == here).map(|(_, to)| to.clone()));
        }
    }
    false
}

/// A text without comments, and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").map(|name| name.split(" as ").next().unwrap_or_default().trim().to_owned()).collect()
}

/// The paths of a `use`, whose braces may hold several.
fn expanded(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let Some((prefix, group)) = tree.split_once('{') else { return vec![segments(tree)] };
    let group = group.trim_end().strip_suffix('}').unwrap_or(group);
    let (mut depth, mut part, mut parts) = (0_usize, String::new(), Vec::new());
    for c in group.chars().chain([',']) {
        match c {
            ',' if depth == 0 => parts.push(std::mem::take(&mut part)),
            _ => {
                depth = (depth + usize::from(c == '{')).saturating_sub(usize::from(c == '}'));
                part.push(c);
            }
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| expanded(&format!("{}{}", prefix.trim(), part.trim()))).collect()
}

#[test]
fn no_siblings_use_each_other_in_a_circle() {
    let modules = Modules::read(Path::new("src"));
    assert!(modules.0.len() > 300 && modules.edges().len() > 30, "{} modules", modules.0.len());
    let circles = modules.circles();
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

#[test]
fn a_circle_would_be_seen() {
    let modules = |texts: &[(&str, &str)]| {
        Modules::new(&texts.iter().map(|(path, text)| (segments(path), code(text))).collect())
    };
    let plain = modules(&[
        ("a", "pub mod b;\npub mod c;"),
        ("a::b", "use super::c::{D, e::F};"),
        ("a::c", "use crate::a::b;"),
    ]);
    assert_eq!(plain.circles(), ["a::b names a::c::D", "a::c names a::b"]);
    let passed_on = modules(&[
        ("a", "pub use b::B;\npub mod b;\nmod c;"),
        ("a::b", "fn f() -> super::c::C {}"),
        ("a::c", "use super::B as Other;"),
    ]);
    assert_eq!(passed_on.circles(), ["a::b names a::c::C", "a::c names a::B"]);
    let fine = modules(&[
        ("a", "pub use b::B;"),
        ("a::b", "// super::c\nuse std::fmt;"),
        ("a::c", "use super::B;"),
        ("d", "use crate::a::{B, c};"),
    ]);
    assert_eq!(fine.circles(), [""; 0]);
}
