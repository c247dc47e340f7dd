//! What the user's TOML files share: complaints that name the place.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;

use crate::diagnostic::{Diagnostic, Result, Source, from_toml};

/// Parses `source` as TOML.
pub fn parse<T: DeserializeOwned>(source: &Source) -> Result<T> {
    toml::from_str(&source.text).map_err(|error| Box::new(from_toml(&error, source)))
}

/// A name in a file and its place.
#[derive(Clone, Debug)]
pub struct Named<'a> {
    pub name: &'a str,
    pub span: Range<usize>,
}

impl<'a> Named<'a> {
    #[must_use]
    pub fn of(name: &'a Spanned<String>) -> Self {
        Self { name: name.get_ref(), span: name.span() }
    }
}

/// Complains about a name that is none of `known`.
pub fn unknown<'a>(
    source: &Source,
    what: &str,
    named: &Named,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::new(format!("no {what} is called {}", named.name))
            .at(source, named.span.clone())
            .expected(format!("one of {}", known.clone().collect::<Vec<_>>().join(", ")))
            .nearest(named.name, known),
    )
}
