//! Variables of a value change dump, their names and codes.

use std::io::{self, Write};

use crate::model::address::Address;
use crate::model::component::{ComponentId, Components};

/// What a variable tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// MSHRs in use.
    Mshrs(ComponentId),
    /// What a warp does.
    Warp(ComponentId, u32),
    /// How busy a link is, in percent.
    Load(ComponentId),
    /// The lanes of a link.
    Lanes(ComponentId),
    /// The state of the block at this address.
    Block(ComponentId, u64),
}

/// A variable of a component.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    pub at: ComponentId,
    pub kind: Kind,
    /// In bits.
    pub width: u32,
    /// Its value before the first event.
    pub initial: u32,
    /// The value that was written last.
    pub now: u32,
}

impl Kind {
    fn name(self) -> String {
        match self {
            Self::Mshrs(_) => "mshrs_used".to_owned(),
            Self::Warp(_, warp) => format!("warp{warp}"),
            Self::Load(_) => "busy_percent".to_owned(),
            Self::Lanes(_) => "lanes".to_owned(),
            Self::Block(_, address) => format!("block_{}", Address(address)),
        }
    }
}

/// The name of a variable in the changes: its number in the 94 characters that can be printed, lowest digit first.
#[must_use]
pub fn code(number: u32) -> String {
    let mut rest = number;
    let mut code = String::new();
    loop {
        code.push((b'!' + (rest % 94) as u8) as char);
        rest /= 94;
        if rest == 0 {
            return code;
        }
        rest -= 1;
    }
}

/// A value as a vector of bits. Zeros on its left may be left out.
#[must_use]
pub fn vector(value: u32) -> String {
    format!("b{value:b}")
}

/// The scopes that a component lies in, outermost first. A name may not begin with a digit, so that of a numbered part
/// is joined to the one before; what may not stand in a name is underlined.
fn scopes(path: &str) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    for part in path.split('.') {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let part: String = part.chars().map(|letter| if plain(letter) { letter } else { '_' }).collect();
        match scopes.last_mut() {
            Some(last) if part.starts_with(|letter: char| letter.is_ascii_digit()) => {
                last.push('_');
                last.push_str(&part);
            }
            _ => scopes.push(part),
        }
    }
    scopes
}

/// Writes the declarations of all variables, in the scopes of their components.
///
/// # Errors
/// If it cannot be written.
pub fn declarations(variables: &[Variable], components: &Components, out: &mut dyn Write) -> io::Result<()> {
    let placed = variables.iter().enumerate().map(|(number, variable)| {
        (scopes(components.path(variable.at)), variable.kind, number as u32, variable)
    });
    let mut placed: Vec<_> = placed.collect();
    placed.sort_by(|one, other| (&one.0, one.1, one.2).cmp(&(&other.0, other.1, other.2)));
    let mut open: &[String] = &[];
    for (scopes, kind, number, variable) in &placed {
        let common = open.iter().zip(scopes).take_while(|(one, other)| one == other).count();
        for _ in common..open.len() {
            writeln!(out, "$upscope $end")?;
        }
        for scope in scopes.iter().skip(common) {
            writeln!(out, "$scope module {scope} $end")?;
        }
        open = scopes;
        writeln!(out, "$var reg {} {} {} $end", variable.width, code(*number), kind.name())?;
    }
    for _ in open {
        writeln!(out, "$upscope $end")?;
    }
    writeln!(out, "$enddefinitions $end")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn codes_differ_and_can_be_printed() {
        let codes: BTreeSet<String> = (0..20_000).map(code).collect();
        assert_eq!(codes.len(), 20_000);
        assert!(codes.iter().all(|code| code.chars().all(|letter| letter.is_ascii_graphic())));
        assert_eq!([code(0), code(93), code(94)], ["!", "~", "!!"]);
    }

    #[test]
    fn scopes_are_names() {
        assert_eq!(scopes("gpu0.l2.0"), ["gpu0", "l2_0"]);
        assert_eq!(scopes("link.gpu0.out"), ["link", "gpu0", "out"]);
        assert_eq!(scopes("odd name.x$"), ["odd_name", "x_"]);
    }
}
