//! The command line: one file per subcommand, and what they share.
//!
//! Standard output carries results alone; complaints, progress and notes go to standard error.

mod arguments;
mod bug;
mod check;
mod completions;
mod exit;
mod interrupt;
mod list;
mod log;
mod man;
mod output;
mod progress;
mod run;
mod drive;
mod schema;
mod suite;
mod test;
mod work;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use exit::Ended;

/// Watch the memory system of a CPU with GPUs at work: step it, break on it, go back, see it.
///
/// SCENARIO is the path of a scenario file, the name of a bundled one (`umscope list scenarios`), or a trace (a file
/// or a folder) with --machine. A file on disk wins over a bundled one of the same name.
#[derive(Debug, Parser)]
#[command(
    name = "umscope",
    version,
    after_long_help = concat!(
        "Examples:\n",
        "  umscope list                             what is bundled\n",
        "  umscope run tiny.toml --format json      statistics of a run\n",
        "  umscope test scenarios/                  check the expectations of a folder\n",
        "  umscope log tiny.toml --where transition what changed its state, and when\n",
        "  umscope help run                         all about one command\n\n",
        "Exit status:\n",
        "  0    all held\n",
        "  1    an expectation or a check failed, or there was a deadlock\n",
        "  2    the input or the arguments are wrong\n",
        "  70   a bug in umscope itself\n",
        "  130  interrupted"
    ),
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Run),
    Test(test::Test),
    Log(log::Log),
    List(list::List),
    Check(check::Check),
    Schema(schema::Schema),
    Completions(completions::Completions),
    Man(man::Man),
}

/// Runs the program: reads the arguments of the process, does what they say, and tells the exit status.
#[must_use]
pub fn main() -> ExitCode {
    bug::install();
    bug::guarded(|| {
        let cli = match Cli::try_parse() {
            Ok(cli) => cli,
            Err(error) => return exit::arguments(&error),
        };
        exit::conclude(dispatch(cli.command))
    })
    .into()
}

fn dispatch(command: Command) -> Ended {
    match command {
        Command::Run(run) => run.carry_out(),
        Command::Test(test) => test.carry_out(),
        Command::Log(log) => log.carry_out(),
        Command::List(list) => list.carry_out(),
        Command::Check(check) => check.carry_out(),
        Command::Schema(schema) => schema.carry_out(),
        Command::Completions(completions) => completions.carry_out(&mut Cli::command()),
        Command::Man(man) => man.carry_out(Cli::command()),
    }
}
