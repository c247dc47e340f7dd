//! The text of a fault at the prompt and in recordings: its name, for `lose-message` the type of the message, and
//! which one, from 1.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, Result, Source};
use crate::model::fault::Fault;
use crate::model::message::MessageKind;

/// Reads the fault that stands at `span` of `source`.
///
/// # Errors
/// If there is none of that name, or it does not take what follows.
pub fn parse(source: &Source, span: Range<usize>) -> Result<Fault> {
    let text = source.text.get(span.clone()).unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    let wrong = |part: &str, message: String| {
        let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len());
        let start = span.start + start;
        Diagnostic::new(message).at(source, start..start + part.len())
    };
    let missing = |expected: &str| {
        let end = span.start + text.trim_end().len();
        Box::new(Diagnostic::new("something is missing here").at(source, end..end).expected(expected))
    };
    let number = |word: Option<&&str>| match word {
        None => Ok(1),
        Some(word) => match word.parse::<u64>() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(Box::new(wrong(word, format!("{word} is not which one")).expected("a number from 1"))),
        },
    };
    let Some((&name, rest)) = words.split_first() else {
        return Err(missing(&Fault::NAMES.join(", ")));
    };
    let (fault, taken) = match name {
        "lose-message" => {
            let names = MessageKind::ALL.map(MessageKind::name);
            let Some(word) = rest.first() else { return Err(missing(&names.join(", "))) };
            let kind = MessageKind::ALL.into_iter().find(|kind| kind.name() == *word).ok_or_else(|| {
                let error = wrong(word, format!("there is no message {word}"));
                Box::new(error.expected(names.join(", ")).nearest(word, names))
            })?;
            (Fault::LoseMessage { kind, nth: number(rest.get(1))? }, 2)
        }
        "drop-wake-up" => (Fault::DropWakeUp { nth: number(rest.first())? }, 1),
        _ => {
            let fault = Fault::plain(name).ok_or_else(|| {
                let error = wrong(name, format!("there is no fault {name}"));
                Box::new(error.expected(Fault::NAMES.join(", ")).nearest(name, Fault::NAMES))
            })?;
            (fault, 0)
        }
    };
    match rest.get(taken) {
        Some(word) => Err(Box::new(wrong(word, format!("{name} takes no {word}")))),
        None => Ok(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Fault> {
        let source = Source::new(":fault", format!("fault {text}"));
        let end = source.text.len();
        parse(&source, 6..end)
    }

    #[test]
    fn a_fault_is_written_as_it_is_read() {
        let all = Fault::all_plain().chain([
            Fault::DropWakeUp { nth: 3 },
            Fault::LoseMessage { kind: MessageKind::GrantAck, nth: 2 },
        ]);
        for fault in all {
            assert_eq!(read(&fault.to_string()).unwrap(), fault);
        }
        assert_eq!(read("drop-wake-up").unwrap(), Fault::DropWakeUp { nth: 1 });
    }

    #[test]
    fn what_is_wrong_is_shown_where_it_stands() {
        for (text, column, message, suggestion) in [
            ("", 7, "something is missing here", None),
            ("no-grant-akc", 7, "there is no fault no-grant-akc", Some("no-grant-ack")),
            ("lose-message", 19, "something is missing here", None),
            ("lose-message gratn", 20, "there is no message gratn", Some("grant")),
            ("lose-message grant 0", 26, "0 is not which one", None),
            ("drop-wake-up grant", 20, "grant is not which one", None),
            ("no-grant-ack 2", 20, "no-grant-ack takes no 2", None),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!((error.message.as_str(), error.position()), (message, Some((1, column))), "{text}");
            assert_eq!(error.suggestion, suggestion.map(|word| format!("did you mean {word}?")), "{text}");
        }
    }
}
