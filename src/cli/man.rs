//! `umscope man`: manual pages.

use clap::Args;

use super::exit::{Ended, Status, Trouble};
use super::output::Output;
use crate::diagnostic::{Diagnostic, Result};

/// Print a manual page (roff)
///
/// Without a command, the page of umscope itself.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope man | man -l -
  umscope man run > umscope-run.1")]
pub struct Man {
    /// The command whose page is wanted
    command: Option<String>,
}

impl Man {
    pub fn carry_out(&self, mut program: clap::Command) -> Ended {
        program.build();
        let page = match &self.command {
            None => program,
            Some(name) => find(&program, name)?.version(env!("CARGO_PKG_VERSION")),
        };
        let mut text = Vec::new();
        clap_mangen::Man::new(page)
            .render(&mut text)
            .map_err(|error| Trouble::Io("write the page", error))?;
        Output::standard().put(&String::from_utf8_lossy(&text))?;
        Ok(Status::Held)
    }
}

fn find(program: &clap::Command, name: &str) -> Result<clap::Command> {
    let names = || program.get_subcommands().map(clap::Command::get_name);
    let known = program.get_subcommands().find(|command| command.get_name() == name);
    known.cloned().ok_or_else(|| {
        let wrong = Diagnostic::new(format!("there is no command `{name}`"));
        let expected = format!("one of {}", names().collect::<Vec<_>>().join(", "));
        Box::new(wrong.expected(expected).nearest(name, names()))
    })
}
