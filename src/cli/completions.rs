//! `umscope completions`: scripts that complete arguments in a shell.

use clap::Args;
use clap_complete::Shell;

use super::exit::{Ended, Status};
use super::output::Output;

/// Print a script that completes the arguments in a shell
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope completions bash > ~/.local/share/bash-completion/completions/umscope
  umscope completions zsh > ~/.zfunc/_umscope
  umscope completions fish > ~/.config/fish/completions/umscope.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub fn carry_out(&self, program: &mut clap::Command) -> Ended {
        // The generator cannot bear a writer that fails.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, program, "umscope", &mut script);
        Output::standard().put(&String::from_utf8_lossy(&script))?;
        Ok(Status::Held)
    }
}
