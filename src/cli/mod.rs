//! The command line: one file per subcommand, and what they share.
//!
//! Standard output carries results alone; complaints, progress and notes go to standard error.

mod arguments;
mod bug;
mod check;
mod clock;
mod completions;
mod counterexample;
mod debug;
mod destination;
mod diff;
mod diagnosis;
mod exit;
mod explore;
mod export;
mod figures;
mod frame;
mod interrupt;
mod journal;
mod list;
mod log;
mod look;
mod man;
mod mutants;
mod output;
mod outputs;
mod pick;
mod pool;
mod progress;
mod record;
mod replay;
mod run;
mod drive;
mod schema;
mod shard;
mod shrink;
mod stress;
mod suite;
mod sweep;
mod test;
mod work;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use exit::Ended;

/// Watch the memory system of a CPU with GPUs at work: step it, break on it, go back, see it.
///
/// Without a command, opens the picker of lessons and scenarios.
///
/// SCENARIO is the path of a scenario file, the name of a bundled one (`umscope list scenarios`), or a trace (a file
/// or a folder) with --machine. A file on disk wins over a bundled one of the same name.
#[derive(Debug, Parser)]
#[command(
    name = "umscope",
    version,
    after_long_help = concat!(
        "Examples:\n",
        "  umscope                                   choose a lesson or scenario, and step through it\n",
        "  umscope debug umh/fig5-b1                 step through this one\n",
        "  umscope run umh/fig5-b1 --format json     its statistics\n",
        "  umscope log umh/fig5-b1 --where message   every message that was sent\n",
        "  umscope test mine/                        check the expectations of a folder of scenarios\n",
        "  umscope run mine.toml --record mine.rec   keep a run: replay, debug, diff and shrink take it\n",
        "  umscope help run                          all about one command\n\n",
        "Exit status:\n",
        "  0    all held\n",
        "  1    an expectation, a check or a digest failed, there was a deadlock, or runs differ\n",
        "  2    the input or the arguments are wrong\n",
        "  70   a bug in umscope itself\n",
        "  130  interrupted: by ctrl-c, SIGTERM or SIGHUP"
    ),
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    look: look::Look,
}

#[derive(Debug, Subcommand)]
enum Command {
    Debug(debug::Debug),
    Run(run::Run),
    Replay(replay::Replay),
    Diff(diff::Diff),
    Shrink(shrink::Shrink),
    Test(test::Test),
    Log(log::Log),
    Frame(frame::Frame),
    Export(export::Export),
    Explore(explore::Explore),
    Mutants(mutants::Mutants),
    Sweep(sweep::Sweep),
    Figures(figures::Figures),
    Stress(stress::Stress),
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
    interrupt::let_large_files_fail();
    bug::guarded(|| {
        let cli = match Cli::try_parse() {
            Ok(cli) => cli,
            Err(error) => {
                let program = Cli::command();
                let names: Vec<_> = program.get_subcommands().map(clap::Command::get_name).collect();
                return exit::arguments(error, &names);
            }
        };
        exit::conclude(dispatch(&cli))
    })
    .into()
}

fn dispatch(cli: &Cli) -> Ended {
    match &cli.command {
        None => pick::carry_out(&cli.look),
        Some(Command::Debug(debug)) => debug.carry_out(),
        Some(Command::Run(run)) => run.carry_out(),
        Some(Command::Replay(replay)) => replay.carry_out(),
        Some(Command::Diff(diff)) => diff.carry_out(),
        Some(Command::Shrink(shrink)) => shrink.carry_out(),
        Some(Command::Test(test)) => test.carry_out(),
        Some(Command::Log(log)) => log.carry_out(),
        Some(Command::Frame(frame)) => frame.carry_out(),
        Some(Command::Export(export)) => export.carry_out(),
        Some(Command::Explore(explore)) => explore.carry_out(),
        Some(Command::Mutants(mutants)) => mutants.carry_out(),
        Some(Command::Sweep(sweep)) => sweep.carry_out(),
        Some(Command::Figures(figures)) => figures.carry_out(),
        Some(Command::Stress(stress)) => stress.carry_out(),
        Some(Command::List(list)) => list.carry_out(),
        Some(Command::Check(check)) => check.carry_out(),
        Some(Command::Schema(schema)) => schema.carry_out(),
        Some(Command::Completions(completions)) => completions.carry_out(&mut Cli::command()),
        Some(Command::Man(man)) => man.carry_out(Cli::command()),
    }
}
