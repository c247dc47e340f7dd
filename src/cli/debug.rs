//! `umscope debug`: the debugger, on the screen or on a console.

use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::sync::Arc;

use clap::Args;
use signal_hook::consts::SIGINT;

use super::arguments::{Target, number};
use super::clock::{self, Clock, Timed};
use super::exit::{Ended, Status, Trouble, say};
use super::interrupt::Interrupt;
use super::look::Look;
use super::output::Output;
use super::progress::Progress;
use super::work::{self, Work};
use crate::debug::command;
use crate::debug::console::{self, Manners};
use crate::debug::frame::wish::Wish;
use crate::debug::origin::{Origin, Recorded};
use crate::debug::proto::{Request, border};
use crate::debug::session::{Reload, Session};
use crate::debug::{engine, interrupt};
use crate::diagnostic::{self, Diagnostic};
use crate::model::time::EventNumber;
use crate::recording::Ending;
use crate::report::number::grouped;
use crate::tui::run::{self, End};
use crate::tui::settings::Settings;

/// Step through a scenario or a trace, forwards and backwards
///
/// Opens the screen; `?` there shows the keys. With --no-tui, takes commands from standard input: `help` lists them, an
/// empty line repeats the last one, ctrl-c stops what runs, and the end of the input ends the session.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope debug umh/fig5-b1
  umscope debug mine.toml --at 1200 --layout warps
  umscope debug traces/vectoradd --machine umh-4gpu-pcie
  echo 'step 10' | umscope debug umh/fig5-b1 --no-tui
  umscope debug umh/fig5-b1 --no-tui -x 'step 10' -x 'save scenario later.toml'
  umscope debug umh/fig5-b1 --no-tui -x 'step 10' -x 'fork hold 64' -x end -x diff

Keys and themes of your own: keymap.toml and themes/NAME.toml in the folder umscope of your configuration \
folder (~/.config/umscope). NO_COLOR is honoured.

Exit status: 0 when you leave; 2 wrong input; 130 interrupted: by a signal, or by ctrl-c while the input \
is no terminal.")]
pub struct Debug {
    #[command(flatten)]
    target: Target,

    /// Go to the first event of this cycle, or of a later one
    #[arg(long, value_name = "CYCLE", value_parser = number)]
    at: Option<u64>,

    /// Take commands from standard input instead of opening the screen
    #[arg(long)]
    no_tui: bool,

    /// Carry out a command at the beginning; may be given several times. With --no-tui, instead of standard input
    #[arg(long, short = 'x', value_name = "COMMAND")]
    execute: Vec<String>,

    #[command(flatten)]
    look: Look,
}

impl Debug {
    pub fn carry_out(&self) -> Ended {
        if self.no_tui {
            if let Some(flag) = self.look.first() {
                let error = Diagnostic::new(format!("{flag} is about the screen, and --no-tui opens none"));
                return Err(error.expected("one of the two").into());
            }
            return self.console();
        }
        let settings = self.look.settings()?;
        let opened = open(&self.target)?;
        let commands = first(self.at, opened.there).into_iter().chain(self.execute.iter().cloned());
        Ok(match on_screen(opened, settings, commands)? {
            Left::ByUser { .. } => Status::Held,
            Left::For(status) => status,
        })
    }

    fn console(&self) -> Ended {
        let people = io::stdin().is_terminal() && io::stdout().is_terminal() && self.execute.is_empty();
        let interrupt = interrupt::Interrupt::default();
        if people {
            let raised = signal_hook::flag::register(SIGINT, interrupt.flag());
            raised.map_err(|error| Trouble::Io("listen for ctrl-c", error))?;
            Interrupt::install_for_others()?;
        } else {
            // A script that is interrupted shall not go on with its next command.
            Interrupt::install()?;
        }
        let opened = open(&self.target)?;
        clock::beside(&self.target.scenario, |clock| self.converse(opened, clock, (people, &interrupt)))
    }

    /// Carries out commands until they end; with `people` there, or without.
    fn converse(
        &self,
        Opened { mut session, there, .. }: Opened,
        clock: &Clock,
        (people, interrupt): (bool, &interrupt::Interrupt),
    ) -> Ended {
        let mut output = Output::new(Timed { inner: io::stdout(), clock });
        if let Some(command) = first(self.at, there) {
            let lines = go(&mut session, &command, &self.target.scenario, interrupt)?;
            lines.iter().try_for_each(|line| output.line(line))?;
        }
        let manners = Manners { prompt: people };
        let given = self.execute.join("\n");
        let inner: Box<dyn io::BufRead> =
            if self.execute.is_empty() { Box::new(io::stdin().lock()) } else { Box::new(given.as_bytes()) };
        let mut input = Timed { inner, clock };
        let mistakes = console::run(&mut session, &mut input, &mut output, interrupt, manners)
            .map_err(|error| Trouble::Io("go on", error))?;
        output.done()?;
        // Nobody reads what a script got wrong: its exit status must tell.
        Ok(if mistakes > 0 && !people { Status::Wrong } else { Status::Held })
    }
}

/// The command that goes where a session begins: to the cycle that is asked for, or else to an event; unless that is its start.
#[must_use]
pub fn first(at: Option<u64>, there: Option<EventNumber>) -> Option<String> {
    match (at, there) {
        (Some(0), _) | (None, None) => None,
        (Some(cycle), _) => Some(format!("goto cycle {cycle}")),
        (None, Some(event)) => Some(format!("goto event {event}")),
    }
}

/// Carries out the command with which a session of this name begins, and shows how far it is. What that says.
///
/// # Errors
/// If it is not understood or cannot be done.
pub fn go(
    session: &mut Session,
    command: &str,
    name: &str,
    interrupt: &interrupt::Interrupt,
) -> diagnostic::Result<Vec<String>> {
    // A file of both outputs shall hold the answers alone.
    let mut progress = io::stderr().is_terminal().then(Progress::start);
    let mut lines = Vec::new();
    session.submit(command);
    let meanwhile = |session: &Session| {
        if let Some(progress) = &mut progress {
            progress.tell_share(|| (0.0, at(session, name)));
        }
    };
    session.work_off(interrupt, meanwhile, |done| {
        lines.extend(done?.lines);
        Ok::<_, Box<Diagnostic>>(ControlFlow::Continue(()))
    })?;
    Ok(lines)
}

/// Where a session is.
fn at(session: &Session, name: &str) -> String {
    format!("{name}: cycle {}, event {}", grouped(session.cycle()), grouped(session.event()))
}

/// A session that has been opened.
pub struct Opened {
    pub session: Session,
    /// The event to begin at, if it is a recording that is about its end.
    pub there: Option<EventNumber>,
    /// What was told of it on standard error, which the screen hides.
    notes: Vec<String>,
}

/// A session on what `target` names, which can read it again.
///
/// # Errors
/// As [`Work::open`] and [`Work::prepare`].
pub fn open(target: &Target) -> Result<Opened, Trouble> {
    // Ends the process: nothing is on the screen yet.
    let interrupt = Interrupt::install()?;
    let target = target.clone();
    let load = move || {
        let work = Work::open(&target, &Interrupt::default())?;
        let prepared = work.prepare()?;
        for at in &work.scenario.file().breaks {
            let mut lines = at.value.commands.iter();
            lines.try_for_each(|line| {
                command::known(&line.value, work.scenario.source(), line.span.clone())
            })?;
        }
        let end = work.recording.as_ref().and_then(|recording| recording.end.as_ref());
        let there = end.filter(|end| end.how.is_of_interest()).map(|end| end.mark.event);
        let mut origin = Origin::scenario(&work.name, &work.scenario, &work.options, prepared);
        origin.recorded = end.map(|end| Recorded {
            mark: end.mark,
            found: end.found.clone(),
            is_violation: end.how == Ending::Violation,
        });
        Ok((origin, there, work))
    };
    let (origin, there, work) = load()?;
    let mut notes = work.scenario.table_doubts(&work.options);
    notes.extend(origin.left_out.as_deref().map(work::left_out_told));
    notes.iter().for_each(say);
    interrupt.release();
    let reload: Reload = Box::new(move || load().map(|(origin, ..)| origin));
    Ok(Opened { session: Session::open(origin, Some(reload)), there, notes })
}

/// Shows `session` on the screen, after first commands, until the user leaves; tells how it ended.
///
/// # Errors
/// If there is no terminal, or it fails.
pub fn on_screen(
    Opened { mut session, notes, .. }: Opened,
    settings: Settings,
    commands: impl IntoIterator<Item = String>,
) -> Result<Left, Trouble> {
    terminal()?;
    let info = Arc::new(session.info());
    let first = session.frame(&info, &Wish::default());
    let (client, server) = border(Arc::new(first));
    let engine = engine::spawn(session, server).map_err(|error| Trouble::Io("start the engine", error))?;
    for command in commands {
        client.send(Request::Command(command));
    }
    let end = run::run(&client, settings, &notes);
    let is_told = client
        .frame()
        .lesson
        .as_ref()
        .is_some_and(|lesson| lesson.step.1 > 0 && lesson.step.0 == lesson.step.1);
    client.send(Request::Interrupt);
    client.send(Request::Quit);
    drop(client);
    let engine = engine.join();
    Ok(match end.map_err(|error| Trouble::Io("show the screen", error))? {
        // Its report has been printed by the thread itself.
        _ if engine.is_err() => Left::For(Status::Bug),
        End::Signal => Left::For(Status::Interrupted),
        End::Quit | End::EngineGone => Left::ByUser { is_told },
    })
}

/// How a screen was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Perhaps once the whole lesson had been told.
    ByUser { is_told: bool },
    /// The program must end with this status.
    For(Status),
}

/// Makes sure that there is a terminal for a screen.
///
/// # Errors
/// If input or output is none, or one that cannot move its cursor; says what to do without.
pub fn terminal() -> diagnostic::Result<()> {
    let message = if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        "there is no terminal for the screen"
    } else if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        "this terminal cannot show the screen (TERM is dumb)"
    } else {
        return Ok(());
    };
    Err(Diagnostic::new(message)
        .expected("a terminal, or a command that needs none: debug --no-tui, run, test, log, frame")
        .into())
}
