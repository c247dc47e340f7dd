//! Component patterns: dot-separated segments that must match a path's segments in order, gaps allowed;
//! everything beneath a match matches too.

use std::collections::BTreeSet;
use std::fmt;

use crate::model::bits::Bits;
use crate::model::component::{Components, canonical_segment};

/// A pattern such as `gpu*.l1`, which matches `gpu0.cu0.l1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    segments: Vec<String>,
}

impl Pattern {
    /// Reads a pattern: letters, digits, `-`, `_` and `*`, in segments between dots.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*');
        let segments: Vec<_> =
            text.split('.').map(|segment| canonical_segment(segment).into_owned()).collect();
        let sound = segments.iter().all(|segment| !segment.is_empty() && segment.chars().all(legal));
        sound.then_some(Self { segments })
    }

    /// Whether `path` is meant: `l2` matches `gpu0.l2.0`, and `gpu0` everything of that GPU.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let mut rest = path.split('.');
        self.segments.iter().all(|wanted| rest.any(|segment| glob(wanted, &canonical_segment(segment))))
    }

    /// The components of a machine that are meant, by index.
    #[must_use]
    pub fn resolve(&self, components: &Components) -> Bits {
        let mut set = Bits::new(components.len() as u32);
        for (id, component) in components.iter() {
            set.set(id.0, self.matches(&component.path));
        }
        set
    }

    /// Pieces of the machine's paths that have as many segments as this pattern, what it may have meant; each with
    /// the first path that it is of. The beginnings of paths come first.
    pub(super) fn alternatives(&self, components: &Components) -> Vec<(String, String)> {
        let mut list: Vec<(String, String)> = Vec::new();
        let mut known: BTreeSet<String> = BTreeSet::new();
        let count = self.segments.len();
        for (_, component) in components.iter() {
            let piece = component.path.split('.').take(count).collect::<Vec<_>>().join(".");
            if known.insert(piece.clone()) {
                list.push((piece, component.path.clone()));
            }
        }
        for (_, component) in components.iter() {
            let path: Vec<_> = component.path.split('.').take(8).collect();
            for choice in 1u32..1 << path.len() {
                if choice.count_ones() as usize == count {
                    let chosen = path.iter().enumerate().filter(|(i, _)| choice >> i & 1 == 1);
                    let piece = chosen.map(|(_, segment)| *segment).collect::<Vec<_>>().join(".");
                    if known.insert(piece.clone()) {
                        list.push((piece, component.path.clone()));
                    }
                }
            }
        }
        list
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.segments.join("."))
    }
}

/// Whether `text` matches `pattern`, in which `*` stands for any letters. Linear but for one backtrack point.
#[must_use]
pub fn glob(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_leaves_gaps_and_reaches_beneath() {
        for (pattern, path, wanted) in [
            ("gpu*.l1", "gpu0.cu0.l1", true),
            ("gpu*.l1", "gpu0.l2.0", false),
            ("l2", "gpu0.l2.0", true),
            ("gpu1", "gpu1.cu1.l1", true),
            ("l1.gpu0", "gpu0.cu0.l1", false),
            ("sm0", "gpu0.cu0.l1", true),
            ("gpu0.cu0", "gpu0.sm0.l1", true),
            ("sm*", "gpu0.smd0", false),
            ("smd*", "gpu0.smd0", true),
            ("gpu", "gpu0.smd0", false),
            ("h*d0", "host.hmd0", true),
            ("*", "host.hmd0", true),
            ("gpu1*", "gpu1", true),
            ("gpu0.gpu0", "gpu0.l2.0", false),
        ] {
            let parsed = Pattern::parse(pattern).unwrap();
            assert_eq!(parsed.matches(path), wanted, "{pattern} on {path}");
        }
        for wrong in ["", ".", "gpu0.", "gpu 0", "a/b"] {
            assert_eq!(Pattern::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_glob_does_not_use_a_letter_twice() {
        assert!(!glob("ab*ba", "aba"));
        assert!(glob("*lost*", "a write was lost"));
        assert!(glob("a*b*c", "axxbyyc"));
        assert!(!glob("a*b*c", "axxcyyb"));
    }
}
