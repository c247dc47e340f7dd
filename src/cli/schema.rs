//! `umscope schema`: what an editor needs to complete and check the files.

use clap::{Args, ValueEnum};

use super::exit::{Ended, Status};
use super::output::Output;
use crate::config;
use crate::scenario;

/// Print the JSON schema of a kind of file
///
/// Editors complete and check files with it, such as Taplo (Even Better TOML) with `#:schema ./scenario.schema.json`
/// as the file's first line.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope schema scenario > scenario.schema.json
  umscope schema machine | jq '.properties | keys'")]
pub struct Schema {
    /// The kind of file
    #[arg(value_enum)]
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Machine,
    Protocol,
    Scenario,
    Sweep,
}

impl Schema {
    pub fn carry_out(&self) -> Ended {
        let schema = match self.kind {
            Kind::Machine => config::schema::machine(),
            Kind::Protocol => config::schema::protocol(),
            Kind::Scenario => scenario::schema(),
            Kind::Sweep => config::schema::sweep(),
        };
        Output::standard().json(&schema)?;
        Ok(Status::Held)
    }
}
