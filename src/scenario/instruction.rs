//! The instructions of a program, as text: `load r1 0x1000 4`.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Result};
use crate::model::access::{AccessKind, AtomicOp, Bytes};
use crate::model::address::Address;
use crate::model::number::{parse_bytes, parse_number};
use crate::model::operation::{Fence, Lanes, Operation, StoreValue, WarpAccess};
use crate::model::text::plural;
use crate::query::Text;

/// Bytes of an access whose width is not stated.
pub const WORD: u64 = 4;
/// Bytes of one lane's access, at most.
pub const WIDEST: u64 = 64;

/// Instruction words and how they go on.
const FORMS: [(&str, &str); 9] = [
    ("load", "load [NAME] ADDRESS [BYTES] [lanes N [stride BYTES]]"),
    ("store", "store ADDRESS HEX HEX ... [lanes N [stride BYTES]]"),
    ("n-store", "n-store ADDRESS HEX HEX ... [lanes N [stride BYTES]]"),
    ("exclusive", "exclusive ADDRESS"),
    ("atomic", "atomic add|exchange|max|compare-zero-swap [NAME] ADDRESS VALUE [BYTES]"),
    ("spin", "spin ADDRESS HEX HEX ..."),
    ("compute", "compute CYCLES"),
    ("fence", "fence [acquire|release|full]"),
    ("barrier", "barrier"),
];

/// Reads one instruction.
///
/// # Errors
/// Points at the word that is wrong and shows the instruction's form.
pub fn parse(text: &Text) -> Result<Operation> {
    let mut words = Words::of(text);
    let Some(name) = words.next() else {
        return Err(text.complaint("the instruction is empty").expected("such as load r1 0x1000 4").into());
    };
    let Some((_, form)) = FORMS.iter().find(|(known, _)| *known == name) else {
        let names = FORMS.map(|(name, _)| name);
        let error = words.wrong(&format!("there is no instruction {name}"));
        return Err(error.expected(names.join(", ")).nearest(name, names).into());
    };
    words.form = form;
    let operation = match name {
        "load" => load(&mut words)?,
        "store" => store(&mut words, AccessKind::Store)?,
        "n-store" => store(&mut words, AccessKind::NStore)?,
        "exclusive" => Operation::Access(exclusive(words.address()?)),
        "atomic" => atomic(&mut words)?,
        "spin" => spin(&mut words)?,
        "compute" => Operation::Compute(words.number(0, u64::from(u32::MAX))? as u32),
        "fence" => Operation::Fence(words.next().map_or(Ok(Fence::Full), |word| fence(word, &words))?),
        _ => Operation::Barrier,
    };
    match words.next() {
        None => Ok(operation),
        Some(word) => Err(words.wrong(&format!("\"{word}\" is too much")).into()),
    }
}

fn fence(word: &str, words: &Words<'_>) -> Result<Fence> {
    Fence::named(word).ok_or_else(|| words.wrong(&format!("there is no fence {word}")).into())
}

/// The lanes of an access: `count` of them from `base` in steps of `stride`.
pub fn lanes(base: Address, count: u64, stride: i64) -> Lanes {
    if count <= 1 {
        return Lanes::one(base);
    }
    let mask = if count >= 64 { u64::MAX } else { (1 << count) - 1 };
    Lanes::Strided { mask, base, stride }
}

/// A load of so many bytes.
pub fn load_of(lanes: Lanes, width: u64, label: Option<Arc<str>>) -> WarpAccess {
    let width = width.min(WIDEST) as u8;
    WarpAccess { kind: AccessKind::Load, width, lanes, value: StoreValue::Bytes(Bytes::new()), label }
}

/// A store of these bytes.
pub fn store_of(kind: AccessKind, lanes: Lanes, bytes: Bytes) -> WarpAccess {
    WarpAccess { kind, width: bytes.len() as u8, lanes, value: StoreValue::Bytes(bytes), label: None }
}

/// Whether an atomic of so many bytes may be at an address: one that crosses lines would be none.
#[must_use]
pub fn is_aligned(address: Address, width: u64) -> bool {
    address.0.is_multiple_of(width)
}

/// What is wrong with one that may not.
#[must_use]
pub fn misaligned(address: Address, width: u64) -> String {
    format!("an atomic of {} cannot be at {address}, which is no multiple of that", plural(width, "byte"))
}

/// An atomic with this operand.
pub fn atomic_of(op: AtomicOp, address: Address, operand: Bytes, label: Option<Arc<str>>) -> WarpAccess {
    WarpAccess { label, ..store_of(AccessKind::Atomic(op), Lanes::one(address), operand) }
}

/// The exclusive access request of dynamic synchronisation: a coherent store of no bytes.
pub fn exclusive(address: Address) -> WarpAccess {
    store_of(AccessKind::Store, Lanes::one(address), Bytes::new())
}

/// `value` little-endian in `width` bytes, if it fits.
pub fn little_endian(value: u64, width: u64) -> Option<Bytes> {
    let fits = width >= 8 || value >> (8 * width) == 0;
    fits.then(|| value.to_le_bytes().into_iter().take(width as usize).collect())
}

fn load(words: &mut Words<'_>) -> Result<Operation> {
    let label = words.label();
    let address = words.address()?;
    let width = if words.at_number() { words.number(1, WIDEST)? } else { WORD };
    let lanes = words.lanes(address, width)?;
    Ok(Operation::Access(load_of(lanes, width, label)))
}

fn store(words: &mut Words<'_>, kind: AccessKind) -> Result<Operation> {
    let address = words.address()?;
    let bytes = words.bytes()?;
    let lanes = words.lanes(address, bytes.len() as u64)?;
    Ok(Operation::Access(store_of(kind, lanes, bytes)))
}

fn spin(words: &mut Words<'_>) -> Result<Operation> {
    let address = words.address()?;
    let bytes = words.bytes()?;
    Ok(Operation::SpinUntil(load_of(Lanes::one(address), bytes.len() as u64, None), bytes))
}

fn atomic(words: &mut Words<'_>) -> Result<Operation> {
    let Some(op) = words.next().and_then(AtomicOp::named) else {
        return Err(words.wrong("an atomic needs its operation").into());
    };
    let label = words.label();
    let address = words.address()?;
    let place = words.last.clone();
    let value = words.number(0, u64::MAX)?;
    let width = if words.at_number() { words.width()? } else { WORD };
    let Some(operand) = little_endian(value, width) else {
        return Err(words.wrong(&format!("{value} does not fit in {}", plural(width, "byte"))).into());
    };
    if !is_aligned(address, width) {
        let error = words.text.error(place, misaligned(address, width));
        return Err(Box::new(error.expected(format!("a multiple of {width}"))));
    }
    Ok(Operation::Access(atomic_of(op, address, operand, label)))
}

/// The words of an instruction.
struct Words<'a> {
    text: &'a Text,
    at: usize,
    /// The last word taken.
    last: std::ops::Range<usize>,
    form: &'static str,
}

impl<'a> Words<'a> {
    fn of(text: &'a Text) -> Self {
        Self { text, at: 0, last: 0..0, form: "" }
    }

    fn peek(&self) -> Option<(&'a str, std::ops::Range<usize>)> {
        let rest = self.text.as_str().get(self.at..)?;
        let start = self.at + (rest.len() - rest.trim_start().len());
        let word = rest.split_whitespace().next()?;
        Some((word, start..start + word.len()))
    }

    fn next(&mut self) -> Option<&'a str> {
        let Some((word, span)) = self.peek() else {
            self.last = self.text.as_str().len()..self.text.as_str().len();
            return None;
        };
        self.at = span.end;
        self.last = span;
        Some(word)
    }

    /// A complaint about the last word taken.
    fn wrong(&self, message: &str) -> Diagnostic {
        let error = self.text.error(self.last.clone(), message);
        if self.form.is_empty() { error } else { error.expected(self.form) }
    }

    fn at_number(&self) -> bool {
        self.peek().is_some_and(|(word, _)| word.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// Takes the name of a result, if one is here: it starts with a letter.
    fn label(&mut self) -> Option<Arc<str>> {
        let (word, _) =
            self.peek().filter(|(word, _)| word.starts_with(|c: char| c.is_ascii_alphabetic()))?;
        self.next();
        Some(word.into())
    }

    fn number(&mut self, least: u64, most: u64) -> Result<u64> {
        let Some(word) = self.next() else { return Err(self.wrong("a number is missing").into()) };
        match parse_number(word) {
            Some(number) if (least..=most).contains(&number) => Ok(number),
            Some(_) => Err(self.wrong(&format!("{word} is not from {least} to {most}")).into()),
            None => Err(self.wrong(&format!("\"{word}\" is not a number")).into()),
        }
    }

    fn width(&mut self) -> Result<u64> {
        let width = self.number(1, 8)?;
        if width.is_power_of_two() { Ok(width) } else { Err(self.wrong("a width is 1, 2, 4 or 8").into()) }
    }

    fn address(&mut self) -> Result<Address> {
        let Some(word) = self.next() else { return Err(self.wrong("an address is missing").into()) };
        let address = parse_number(word).map(Address);
        address.ok_or_else(|| self.wrong(&format!("\"{word}\" is not an address")).into())
    }

    /// Takes pairs of hexadecimal digits up to `lanes` or the end.
    fn bytes(&mut self) -> Result<Bytes> {
        let mut bytes = Bytes::new();
        while let Some((word, _)) = self.peek().filter(|(word, _)| *word != "lanes") {
            self.next();
            let Some(more) = parse_bytes(word) else {
                return Err(self.wrong(&format!("\"{word}\" is not a byte in hexadecimal")).into());
            };
            bytes.extend_from_slice(&more);
        }
        if bytes.is_empty() || bytes.len() as u64 > WIDEST {
            return Err(self.wrong(&format!("1 to {WIDEST} bytes are needed")).into());
        }
        Ok(bytes)
    }

    /// Takes `lanes N [stride BYTES]`, if it is here.
    fn lanes(&mut self, address: Address, width: u64) -> Result<Lanes> {
        let mut stride = width;
        let mut count = 1;
        if self.peek().is_some_and(|(word, _)| word == "lanes") {
            self.next();
            count = self.number(1, 64)?;
            if self.peek().is_some_and(|(word, _)| word == "stride") {
                self.next();
                stride = self.number(0, u64::from(u32::MAX))?;
            }
        }
        Ok(lanes(address, count, stride as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Operation> {
        parse(&Text::new("program", text))
    }

    #[test]
    fn instructions_are_read() {
        let Operation::Access(load) = read("load r1 0x1000").unwrap() else { panic!() };
        assert_eq!((load.kind, load.width, load.label.as_deref()), (AccessKind::Load, 4, Some("r1")));
        let Operation::Access(store) = read("n-store 0x2000 07 00 lanes 4 stride 64").unwrap() else {
            panic!()
        };
        assert_eq!((store.kind, store.width), (AccessKind::NStore, 2));
        assert_eq!(store.lanes.iter().last(), Some((3, Address(0x20c0))));
        let Operation::Access(atomic) = read("atomic add r2 0x3000 1 8").unwrap() else { panic!() };
        assert_eq!((atomic.kind, atomic.width), (AccessKind::Atomic(AtomicOp::Add), 8));
        let Operation::SpinUntil(load, bytes) = read("spin 0x2000 01").unwrap() else { panic!() };
        assert_eq!((load.width, &bytes[..]), (1, &[1][..]));
        assert_eq!(read("fence").unwrap(), Operation::Fence(Fence::Full));
        assert_eq!(read("fence acquire").unwrap(), Operation::Fence(Fence::Acquire));
        assert_eq!(read("compute 20").unwrap(), Operation::Compute(20));
        let Operation::Access(none) = read("exclusive 0x40").unwrap() else { panic!() };
        assert_eq!((none.kind, none.width), (AccessKind::Store, 0));
    }

    #[test]
    fn slips_are_pointed_at() {
        for (text, message, column) in [
            ("laod r1 0x1000", "there is no instruction laod", 1),
            ("load r1", "an address is missing", 8),
            ("load 0x1000 65", "65 is not from 1 to 64", 13),
            ("store 0x1000 7", "\"7\" is not a byte in hexadecimal", 14),
            ("store 0x1000", "1 to 64 bytes are needed", 7),
            ("atomic sub 0x0 1", "an atomic needs its operation", 8),
            ("atomic add 0x0 300 1", "300 does not fit in 1 byte", 20),
            (
                "atomic add 0x103e 1",
                "an atomic of 4 bytes cannot be at 0x103e, which is no multiple of that",
                12,
            ),
            ("fence up", "there is no fence up", 7),
            ("barrier 3", "\"3\" is too much", 9),
            ("", "the instruction is empty", 1),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!((error.message.as_str(), error.position()), (message, Some((1, column))), "{text}");
        }
        assert_eq!(read("laod 0").unwrap_err().suggestion.as_deref(), Some("did you mean load?"));
    }
}
