//! What a kernel can be told: names, defaults and ranges, and the values given for them.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, Result};
use crate::model::number::parse_number;
use crate::model::units::Size;

/// A parameter of a kernel.
#[derive(Debug)]
pub struct ParameterDefinition {
    pub name: &'static str,
    pub about: &'static str,
    pub kind: Kind,
}

/// What values a parameter takes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// An integer from `least` to `most`.
    Integer { default: u64, least: u64, most: u64 },
    /// 1, 2, 4 ... up to `most`.
    PowerOfTwo { default: u64, most: u64 },
    /// A byte address; without a default, the first 4 KiB page after the array before it.
    Address { default: Option<u64> },
    /// One of these words.
    Choice { default: &'static str, options: &'static [&'static str] },
}

impl Kind {
    /// The number that it is without being given; nothing for what is no number, or has none.
    #[must_use]
    pub fn default(self) -> Option<u64> {
        match self {
            Self::Integer { default, .. } | Self::PowerOfTwo { default, .. } => Some(default),
            Self::Address { default } => default,
            Self::Choice { .. } => None,
        }
    }
}

/// A value as a scenario file or an argument gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Integer(i64),
    /// A word, or a number as text: `4096`, `0x1000`, and for addresses also `4 KiB`.
    Text(String),
}

/// A parameter given by the user. Spans are of the document that it was read from, and so are those of complaints: who has
/// read it locates them.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: String,
    pub name_span: Option<Range<usize>>,
    pub value: Value,
    pub value_span: Option<Range<usize>>,
}

/// The parameters given for one kernel.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    pub list: Vec<Parameter>,
}

impl Parameters {
    /// Parameters without spans.
    #[must_use]
    pub fn of(list: &[(&str, Value)]) -> Self {
        let parameter = |(name, value): &(&str, Value)| Parameter {
            name: (*name).to_owned(),
            name_span: None,
            value: value.clone(),
            value_span: None,
        };
        Self { list: list.iter().map(parameter).collect() }
    }

    /// Gives the kernel a value for a parameter that it takes and that is not given.
    pub fn offer(&mut self, kernel: &str, name: &str, value: u64) {
        let mut takes = super::KERNELS
            .iter()
            .filter(|known| known.name == kernel)
            .flat_map(super::Definition::parameters);
        let given = self.list.iter().any(|parameter| parameter.name == name);
        if !given && takes.any(|known| known.name == name) {
            let value = Value::Integer(i64::try_from(value).unwrap_or(i64::MAX));
            self.list.push(Parameter { name: name.to_owned(), name_span: None, value, value_span: None });
        }
    }
}

/// A complaint about what stands at a span.
fn placed(diagnostic: Diagnostic, span: Option<&Range<usize>>) -> Box<Diagnostic> {
    Box::new(Diagnostic { span: span.cloned(), ..diagnostic })
}

impl Kind {
    /// The range as a person is told it.
    #[must_use]
    pub fn expected(self) -> String {
        match self {
            Self::Integer { least, most, .. } => format!("an integer from {least} to {most}"),
            Self::PowerOfTwo { most, .. } => format!("a power of two from 1 to {most}"),
            Self::Address { .. } => "a byte address such as 0x1000 or \"4 KiB\"".to_owned(),
            Self::Choice { options, .. } => format!("one of {}", options.join(", ")),
        }
    }

    /// The default as a person is told it.
    #[must_use]
    pub fn default_text(self) -> String {
        match self {
            Self::Integer { default, .. } | Self::PowerOfTwo { default, .. } => default.to_string(),
            Self::Address { default: Some(address) } => format!("{address:#x}"),
            Self::Address { default: None } => "after the array before it".to_owned(),
            Self::Choice { default, .. } => default.to_owned(),
        }
    }

    fn default_value(self) -> Resolved {
        match self {
            Self::Integer { default, .. } | Self::PowerOfTwo { default, .. } => Resolved::Integer(default),
            Self::Address { default } => default.map_or(Resolved::Placed, Resolved::Integer),
            Self::Choice { default, .. } => Resolved::Choice(default),
        }
    }

    fn accept(self, value: &Value) -> Option<Resolved> {
        match self {
            Self::Integer { least, most, .. } => {
                integer(value).filter(|number| (least..=most).contains(number)).map(Resolved::Integer)
            }
            Self::PowerOfTwo { most, .. } => integer(value)
                .filter(|number| number.is_power_of_two() && *number <= most)
                .map(Resolved::Integer),
            Self::Address { .. } => integer(value).or_else(|| size(value)).map(Resolved::Integer),
            Self::Choice { options, .. } => match value {
                Value::Text(text) => {
                    options.iter().find(|option| *option == text).map(|it| Resolved::Choice(it))
                }
                Value::Integer(_) => None,
            },
        }
    }
}

fn integer(value: &Value) -> Option<u64> {
    match value {
        Value::Integer(number) => u64::try_from(*number).ok(),
        Value::Text(text) => parse_number(text.trim()),
    }
}

fn size(value: &Value) -> Option<u64> {
    match value {
        Value::Text(text) => Size::parse(text).ok().map(|size| size.0),
        Value::Integer(_) => None,
    }
}

#[derive(Clone, Copy, Debug)]
enum Resolved {
    Integer(u64),
    /// An address to be chosen after the array before it.
    Placed,
    Choice(&'static str),
}

/// One checked value for each parameter of a kernel.
#[derive(Debug)]
pub struct Values<'a> {
    given: &'a Parameters,
    values: Vec<(&'static str, Resolved)>,
}

impl<'a> Values<'a> {
    /// Checks what was given for `kernel` against its definitions, and fills in the defaults.
    pub fn resolve(
        kernel: &str,
        definitions: impl Iterator<Item = &'static ParameterDefinition> + Clone,
        given: &'a Parameters,
    ) -> Result<Self> {
        let mut values: Vec<_> = definitions.clone().map(|it| (it.name, it.kind.default_value())).collect();
        for (nth, parameter) in given.list.iter().enumerate() {
            let found = definitions.clone().zip(&mut values).find(|(it, _)| it.name == parameter.name);
            let Some((definition, slot)) = found else {
                return Err(unknown(kernel, definitions, parameter));
            };
            if given.list.iter().take(nth).any(|earlier| earlier.name == parameter.name) {
                let twice = Diagnostic::new(format!("the parameter `{}` is given twice", parameter.name));
                return Err(placed(twice, parameter.name_span.as_ref()));
            }
            let Some(value) = definition.kind.accept(&parameter.value) else {
                return Err(refused(definition, parameter));
            };
            slot.1 = value;
        }
        Ok(Self { given, values })
    }

    fn value(&self, name: &str) -> Result<Resolved> {
        let found = self.values.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value).ok_or_else(|| {
            Box::new(Diagnostic::new(format!("the kernel does not define its own parameter `{name}`")))
        })
    }

    pub fn integer(&self, name: &str) -> Result<u64> {
        match self.value(name)? {
            Resolved::Integer(number) => Ok(number),
            Resolved::Placed | Resolved::Choice(_) => {
                Err(self.complain(name, format!("the parameter `{name}` is not a number")))
            }
        }
    }

    /// An integer whose definition keeps it below 2^32.
    pub fn small(&self, name: &str) -> Result<u32> {
        u32::try_from(self.integer(name)?)
            .map_err(|_| self.complain(name, format!("the parameter `{name}` is too large")))
    }

    pub fn choice(&self, name: &str) -> Result<&'static str> {
        match self.value(name)? {
            Resolved::Choice(word) => Ok(word),
            Resolved::Integer(_) | Resolved::Placed => {
                Err(self.complain(name, format!("the parameter `{name}` is not a word")))
            }
        }
    }

    /// An address, or `None` if it is to be chosen after the array before it.
    pub fn address(&self, name: &str) -> Result<Option<u64>> {
        match self.value(name)? {
            Resolved::Placed => Ok(None),
            _ => self.integer(name).map(Some),
        }
    }

    /// A complaint about what was given for `name`; points at it, if it was given.
    pub fn complain(&self, name: &str, message: impl Into<String>) -> Box<Diagnostic> {
        let parameter = self.given.list.iter().find(|parameter| parameter.name == name);
        placed(Diagnostic::new(message), parameter.and_then(|it| it.value_span.as_ref()))
    }
}

fn unknown(
    kernel: &str,
    definitions: impl Iterator<Item = &'static ParameterDefinition>,
    parameter: &Parameter,
) -> Box<Diagnostic> {
    let names: Vec<_> = definitions.map(|it| it.name).collect();
    let unknown = Diagnostic::new(format!("the kernel {kernel} has no parameter `{}`", parameter.name))
        .expected(format!("one of {}", names.join(", ")))
        .nearest(&parameter.name, names);
    placed(unknown, parameter.name_span.as_ref())
}

fn refused(definition: &ParameterDefinition, parameter: &Parameter) -> Box<Diagnostic> {
    let mut refused =
        Diagnostic::new(format!("wrong value for `{}`", parameter.name)).expected(definition.kind.expected());
    if let (Kind::Choice { options, .. }, Value::Text(text)) = (definition.kind, &parameter.value) {
        refused = refused.nearest(text, options.iter().copied());
    }
    placed(refused, parameter.value_span.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    static DEFINITIONS: &[ParameterDefinition] = &[
        ParameterDefinition {
            name: "size",
            about: "",
            kind: Kind::Integer { default: 5, least: 1, most: 9 },
        },
        ParameterDefinition { name: "base", about: "", kind: Kind::Address { default: None } },
        ParameterDefinition {
            name: "store",
            about: "",
            kind: Kind::Choice { default: "n-store", options: &["n-store", "store"] },
        },
    ];

    fn resolve(list: &[(&str, Value)]) -> Result<(u64, Option<u64>, &'static str)> {
        let given = Parameters::of(list);
        let values = Values::resolve("test", DEFINITIONS.iter(), &given)?;
        Ok((values.integer("size")?, values.address("base")?, values.choice("store")?))
    }

    #[test]
    fn values_replace_defaults() {
        assert_eq!(resolve(&[]).unwrap(), (5, None, "n-store"));
        let text = |text: &str| Value::Text(text.to_owned());
        let given = [("store", text("store")), ("base", text("4 KiB")), ("size", text("0x9"))];
        assert_eq!(resolve(&given).unwrap(), (9, Some(4096), "store"));
    }

    #[test]
    fn a_value_out_of_range_is_pointed_at() {
        for wrong in [Value::Integer(0), Value::Integer(-1), Value::Integer(10), Value::Text("x".to_owned())]
        {
            let error = resolve(&[("size", wrong)]).unwrap_err();
            assert_eq!(error.expected.as_deref(), Some("an integer from 1 to 9"));
        }
        let mut given = Parameters::of(&[("size", Value::Integer(77))]);
        given.list[0].value_span = Some(9..11);
        let error = Values::resolve("test", DEFINITIONS.iter(), &given).unwrap_err();
        assert_eq!(error.span, Some(9..11));
    }

    #[test]
    fn twice_is_once_too_often() {
        let twice = resolve(&[("size", Value::Integer(1)), ("size", Value::Integer(2))]).unwrap_err();
        assert!(twice.message.contains("twice"));
    }
}
