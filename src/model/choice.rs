//! What could happen next, where the order of delivery is free: one line of text each.
//!
//! ```text
//!     deliver gpu0.cu0.l1 > gpu0.l2.0 request
//!     load host.cpu0 0x1004 4                 store gpu0.cu0 0x1000 07
//!     n-store gpu0.cu0 0x1000 07              atomic-exchange gpu0.cu0 0x1000 01
//!     evict gpu0.l2.0 0x1000                  acquire gpu0.cu0
//! ```

use std::fmt;
use std::str::SplitWhitespace;

use super::access::{Access, AccessKind, Bytes};
use super::address::{Address, Range};
use super::component::{ComponentId, Components};
use super::message::Network;
use super::number::{parse_bytes, parse_number};

/// One thing that can happen next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// The oldest message from one node to another on a virtual network is taken: the one that carries it, which is
    /// its own unless a fault says otherwise.
    Deliver { from: ComponentId, to: ComponentId, network: Network },
    /// A compute unit or core issues an access.
    Access { by: ComponentId, access: Access },
    /// A node evicts a block of itself.
    Evict { at: ComponentId, block: Address },
    /// A compute unit or core empties its L1 of what an acquire invalidates.
    Acquire { by: ComponentId },
}

/// What a line says that is no choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoChoice {
    pub message: String,
    pub expected: String,
    /// The word that is wrong, and those that it could have been.
    pub word: String,
    pub known: Vec<String>,
}

impl NoChoice {
    fn new(message: String, expected: &str) -> Self {
        Self { message, expected: expected.to_owned(), word: String::new(), known: Vec::new() }
    }
}

impl Choice {
    /// As a line of text.
    #[must_use]
    pub fn text<'a>(&'a self, names: &'a Components) -> impl fmt::Display + 'a {
        Line { choice: self, names }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(line: &str, names: &Components) -> Result<Self, NoChoice> {
        let mut words = line.split_whitespace();
        let verb = words.next().unwrap_or_default();
        let component = |words: &mut SplitWhitespace<'_>, what: &str| {
            let path = words.next().unwrap_or_default();
            names.find(path).ok_or_else(|| NoChoice {
                message: match path {
                    "" => "a component is missing here".to_owned(),
                    _ => format!("no component is called {path:?}"),
                },
                expected: what.to_owned(),
                word: path.to_owned(),
                known: names.iter().map(|(_, component)| component.path.clone()).collect(),
            })
        };
        let choice = match verb {
            "deliver" => {
                let from = component(&mut words, "the path of the sender")?;
                if words.next() != Some(">") {
                    return Err(NoChoice::new("between sender and receiver there is no >".into(), "A > B"));
                }
                let to = component(&mut words, "the path of the receiver")?;
                let word = words.next().unwrap_or_default();
                let network = Network::ALL.into_iter().find(|network| network.name() == word);
                let wrong = || NoChoice::new(format!("{word:?} is no network"), "request, probe or reply");
                Self::Deliver { from, to, network: network.ok_or_else(wrong)? }
            }
            "evict" => {
                let at = component(&mut words, "the path of a cache")?;
                Self::Evict { at, block: address(words.next())? }
            }
            "acquire" => Self::Acquire { by: component(&mut words, "the path of a compute unit or core")? },
            _ => {
                let Some(kind) = AccessKind::ALL.into_iter().find(|kind| kind.name() == verb) else {
                    let verbs = ["deliver", "evict", "acquire"].into_iter();
                    let known =
                        verbs.chain(AccessKind::ALL.into_iter().map(AccessKind::name)).map(str::to_owned);
                    return Err(NoChoice {
                        message: format!("{verb:?} is nothing that can happen"),
                        expected: "deliver, load, store, n-store, an atomic, evict or acquire".to_owned(),
                        word: verb.to_owned(),
                        known: known.collect(),
                    });
                };
                let by = component(&mut words, "the path of a compute unit or core")?;
                let start = address(words.next())?;
                let rest: Vec<&str> = words.by_ref().collect();
                let access = if kind.writes() { written(kind, start, &rest)? } else { read(start, &rest)? };
                return Ok(Self::Access { by, access });
            }
        };
        match words.next() {
            None => Ok(choice),
            Some(more) => {
                Err(NoChoice::new(format!("{more:?} is more than this line can say"), "the end of the line"))
            }
        }
    }
}

fn address(word: Option<&str>) -> Result<Address, NoChoice> {
    let word = word.unwrap_or_default();
    let wrong = || NoChoice {
        word: word.to_owned(),
        ..NoChoice::new(format!("{word:?} is no address"), "such as 0x1000")
    };
    parse_number(word).map(Address).ok_or_else(wrong)
}

fn read(start: Address, rest: &[&str]) -> Result<Access, NoChoice> {
    let wrong = || NoChoice::new(format!("{:?} is no length", rest.join(" ")), "bytes to read, 0 to 64");
    let [len] = rest else { return Err(wrong()) };
    let len: u32 = len.parse().ok().filter(|len| *len <= 64).ok_or_else(wrong)?;
    Ok(Access { kind: AccessKind::Load, range: Range::new(start, len), bytes: Bytes::new(), mask: None })
}

fn written(kind: AccessKind, start: Address, rest: &[&str]) -> Result<Access, NoChoice> {
    let wrong = |word: &str| NoChoice::new(format!("{word:?} is no byte"), "pairs of hexadecimal digits");
    let no_byte = rest.iter().find(|word| parse_bytes(word).is_none());
    let bytes = parse_bytes(&rest.join(" ")).ok_or_else(|| wrong(no_byte.unwrap_or(&"")))?;
    if bytes.len() > 64 {
        return Err(NoChoice::new(format!("{} bytes are stored", bytes.len()), "64 at most"));
    }
    let range = Range::new(start, bytes.len() as u32);
    Ok(Access { kind, range, bytes, mask: None })
}

struct Line<'a> {
    choice: &'a Choice,
    names: &'a Components,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = |id: ComponentId| self.names.path(id);
        match self.choice {
            Choice::Deliver { from, to, network } => {
                write!(f, "deliver {} > {} {}", path(*from), path(*to), network.name())
            }
            Choice::Access { by, access } => {
                write!(f, "{} {} {}", access.kind.name(), path(*by), access.range.start)?;
                if !access.kind.writes() {
                    return write!(f, " {}", access.range.len);
                }
                access.bytes.iter().try_for_each(|byte| write!(f, " {byte:02x}"))
            }
            Choice::Evict { at, block } => write!(f, "evict {} {block}", path(*at)),
            Choice::Acquire { by } => write!(f, "acquire {}", path(*by)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::component::ComponentKind;

    fn names() -> Components {
        let mut names = Components::default();
        names.add("gpu0.cu0", ComponentKind::Cu);
        names.add("gpu0.cu0.l1", ComponentKind::L1);
        names.add("gpu0.l2.0", ComponentKind::L2);
        names
    }

    #[test]
    fn every_line_is_read_as_it_is_written() {
        let names = names();
        for line in [
            "deliver gpu0.cu0.l1 > gpu0.l2.0 request",
            "load gpu0.cu0 0x1004 4",
            "store gpu0.cu0 0x1000 07 08",
            "store gpu0.cu0 0x1000",
            "n-store gpu0.cu0 0x1000 ff",
            "atomic-exchange gpu0.cu0 0x1000 01",
            "evict gpu0.l2.0 0x1000",
            "acquire gpu0.cu0",
        ] {
            let choice = Choice::parse(line, &names).unwrap();
            assert_eq!(choice.text(&names).to_string(), line);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let names = names();
        for (line, message) in [
            ("", "\"\" is nothing that can happen"),
            ("delivr a > b request", "\"delivr\" is nothing that can happen"),
            ("deliver gpu9 > gpu0.l2.0 request", "no component is called \"gpu9\""),
            ("deliver gpu0.l2.0 gpu0.l2.0 request", "between sender and receiver there is no >"),
            ("deliver gpu0.l2.0 > gpu0.cu0.l1 fast", "\"fast\" is no network"),
            ("load gpu0.cu0 0x1000 65", "\"65\" is no length"),
            ("store gpu0.cu0 0x1000 7", "\"7\" is no byte"),
            ("evict gpu0.l2.0 x", "\"x\" is no address"),
            ("evict gpu0.l2.0 0x1000 1", "\"1\" is more than this line can say"),
        ] {
            assert_eq!(Choice::parse(line, &names).unwrap_err().message, message);
        }
    }
}
