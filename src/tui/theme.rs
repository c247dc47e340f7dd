//! Styles by role, from a theme file: panes name a role, never a colour.

use std::collections::BTreeMap;
use std::sync::Arc;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use toml::Spanned;

use crate::debug::frame::session::Tone;
use crate::diagnostic::{Diagnostic, Result, Source};
use crate::model::state::State;

use super::file::{self, Named};

macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident $name:literal),+ $(,)?) => {
        /// What a piece of the screen is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Role { $($(#[$doc])* $role),+ }

        impl Role {
            pub const ALL: &[Self] = &[$(Self::$role),+];

            /// Its name in a theme file.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$role => $name),+ }
            }
        }
    };
}

roles! {
    Text "text",
    /// Less important.
    Dim "dim",
    Strong "strong",
    Title "title",
    Border "border",
    /// Border and title of the focused pane.
    Focus "focus",
    Header "header",
    Key "key",
    Hint "hint",
    /// The item under the cursor of the focused pane.
    Cursor "cursor",
    /// What is selected, wherever it appears.
    Selected "selected",
    /// What the last event changed.
    Changed "changed",
    /// What waits.
    Waiting "waiting",
    Good "good",
    Warning "warning",
    Bad "bad",
    Request "request",
    Probe "probe",
    Reply "reply",
    StateM "state-m",
    StateO "state-o",
    StateE "state-e",
    StateS "state-s",
    StateN "state-n",
    StateI "state-i",
    Dirty "dirty",
    Mark "mark",
    Prompt "prompt",
}

/// A style for each role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    pub name: String,
    styles: Vec<Style>,
}

/// The themes that come with the program.
pub const EMBEDDED: [(&str, &str); 4] = [
    ("default", include_str!("../../configs/themes/default.toml")),
    ("light", include_str!("../../configs/themes/light.toml")),
    ("colour-blind", include_str!("../../configs/themes/colour-blind.toml")),
    ("monochrome", include_str!("../../configs/themes/monochrome.toml")),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    styles: BTreeMap<Spanned<String>, StyleSpec>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
#[allow(clippy::struct_excessive_bools)] // as a user writes them
struct StyleSpec {
    fg: Option<Spanned<String>>,
    bg: Option<Spanned<String>>,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    reverse: bool,
}

impl Theme {
    /// Reads a theme file.
    ///
    /// # Errors
    /// If it is not TOML, or names a role, colour or key that does not exist.
    pub fn parse(source: &Source) -> Result<Self> {
        let file: File = file::parse(source)?;
        let mut styles = vec![Style::new(); Role::ALL.len()];
        for (name, spec) in &file.styles {
            let Some(role) = Role::ALL.iter().find(|role| role.name() == name.get_ref()) else {
                return Err(file::unknown(
                    source,
                    "role",
                    &Named::of(name),
                    Role::ALL.iter().map(|role| role.name()),
                ));
            };
            if let Some(style) = styles.get_mut(*role as usize) {
                *style = spec.style(source)?;
            }
        }
        Ok(Self { name: file.name, styles })
    }

    /// The theme of this name that comes with the program, if there is one.
    #[must_use]
    pub fn embedded(name: &str) -> Option<Result<Self>> {
        let (name, text) = EMBEDDED.iter().find(|(known, _)| *known == name)?;
        Some(Self::parse(&Source {
            name: Arc::from(format!("configs/themes/{name}.toml")),
            text: Arc::from(*text),
        }))
    }

    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    /// The same without colours, for `NO_COLOR`: bold, underline and reverse stay.
    #[must_use]
    pub fn without_colour(mut self) -> Self {
        for style in &mut self.styles {
            *style = Style { fg: None, bg: None, underline_color: None, ..*style };
        }
        self
    }
}

impl StyleSpec {
    fn style(&self, source: &Source) -> Result<Style> {
        let mut style = Style::new();
        style.fg = colour(self.fg.as_ref(), source)?;
        style.bg = colour(self.bg.as_ref(), source)?;
        for (on, modifier) in [
            (self.bold, Modifier::BOLD),
            (self.dim, Modifier::DIM),
            (self.italic, Modifier::ITALIC),
            (self.underline, Modifier::UNDERLINED),
            (self.reverse, Modifier::REVERSED),
        ] {
            if on {
                style = style.add_modifier(modifier);
            }
        }
        Ok(style)
    }
}

fn colour(name: Option<&Spanned<String>>, source: &Source) -> Result<Option<Color>> {
    let Some(name) = name else {
        return Ok(None);
    };
    name.get_ref().parse().map(Some).map_err(|_| {
        Box::new(
            Diagnostic::new(format!("{} is not a colour", name.get_ref()))
                .at(source, name.span())
                .expected("a name such as light-blue, a number from 0 to 255, or #rrggbb"),
        )
    })
}

/// The role of a message of this tone.
#[must_use]
pub fn tone(tone: Tone) -> Role {
    match tone {
        Tone::Plain => Role::Strong,
        Tone::Good => Role::Good,
        Tone::Warning => Role::Warning,
        Tone::Bad => Role::Bad,
    }
}

/// The role of a state's letter. States of unknown protocols look like plain text.
#[must_use]
pub fn state(state: State) -> Role {
    match state.letter() {
        'M' => Role::StateM,
        'O' => Role::StateO,
        'E' => Role::StateE,
        'S' | 'V' => Role::StateS,
        'N' => Role::StateN,
        'I' => Role::StateI,
        _ => Role::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_theme_styles_every_role_that_must_show() {
        for (name, _) in EMBEDDED {
            let theme = Theme::embedded(name).unwrap().unwrap();
            assert_eq!(theme.name, name);
            for role in [Role::Cursor, Role::Selected, Role::Changed, Role::Bad, Role::Focus] {
                let bare = theme.clone().without_colour().style(role);
                assert_ne!(bare, Style::new(), "{name}: {} shows by colour alone", role.name());
            }
        }
    }

    #[test]
    fn a_mistyped_role_is_named_with_its_place() {
        let source = Source {
            name: "mine.toml".into(),
            text: "name = 'x'\n[styles]\ncursr = { bold = true }\n".into(),
        };
        let error = Theme::parse(&source).unwrap_err();
        assert_eq!(error.position(), Some((3, 1)));
        assert_eq!(error.suggestion.as_deref(), Some("did you mean cursor?"));
        let source = Source {
            name: "mine.toml".into(),
            text: "name = 'x'\n[styles]\ntext = { fg = 'blurple' }\n".into(),
        };
        assert_eq!(Theme::parse(&source).unwrap_err().position(), Some((3, 15)));
    }
}
