//! How the screen looks: arguments of everything that draws it.

use clap::Args;

use crate::diagnostic::Result;
use crate::tui::settings::{Asked, Settings};

/// How the screen looks.
#[derive(Clone, Debug, Default, Args)]
pub struct Look {
    /// The arrangement of panes to begin with: overview, coherence, links, warps, transaction, caches, protocol, log,
    /// lesson, paging or permissions (without it overview, paging where pages move, or permissions where what may be done with
    /// them changes)
    #[arg(long, value_name = "NAME")]
    layout: Option<String>,

    /// The colours: default, light, colour-blind or monochrome, or a theme of your own
    #[arg(long, value_name = "NAME")]
    theme: Option<String>,

    /// Draw with ASCII characters only
    #[arg(long)]
    ascii: bool,
}

impl Look {
    /// The first of these flags that is given.
    #[must_use]
    pub fn first(&self) -> Option<&'static str> {
        let flags =
            [(self.layout.is_some(), "--layout"), (self.theme.is_some(), "--theme"), (self.ascii, "--ascii")];
        flags.into_iter().find(|(given, _)| *given).map(|(_, flag)| flag)
    }

    /// With the user's own keys and themes.
    ///
    /// # Errors
    /// As [`Settings::load`].
    pub fn settings(&self) -> Result<Settings> {
        Settings::load(&Asked { theme: self.theme.clone(), ascii: self.ascii, layout: self.layout.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::layout::names;

    #[test]
    fn the_help_names_every_layout() {
        let command = Look::augment_args(clap::Command::new("umscope"));
        let layout = command.get_arguments().find(|argument| argument.get_id() == "layout").unwrap();
        let help = layout.get_help().unwrap().to_string();
        for name in names() {
            assert!(help.contains(name), "{name} is missing in: {help}");
        }
    }
}
