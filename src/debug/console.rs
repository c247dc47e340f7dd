//! The console: commands from any input, answers to any output. `umscope debug --no-tui`.

use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;

use super::interrupt::Interrupt;
use super::queue::END;
use super::session::Session;
use crate::model::text::tame;

/// How the console meets its user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manners {
    /// Whether somebody sits there: then it prompts.
    pub prompt: bool,
}

/// Most bytes of a line; what is longer is refused.
const LONGEST: usize = 1 << 16;

/// Reads and carries out commands until `quit` or the end of the input. Mistakes are told and do not end it; returns
/// how many there were. An interrupt ends a running command.
///
/// # Errors
/// If the input cannot be read or the output not be written.
pub fn run(
    session: &mut Session,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
    interrupt: &Interrupt,
    manners: Manners,
) -> io::Result<u64> {
    let mut last = String::new();
    let mut mistakes = 0;
    loop {
        if manners.prompt {
            write!(output, "{}", if session.is_collecting() { "> " } else { "(umscope) " })?;
        }
        output.flush()?;
        let line = match read_line(input, interrupt)? {
            Input::End => return Ok(mistakes + unended(session, output)?),
            Input::Refused => {
                writeln!(output, "a line is longer than {LONGEST} bytes or not UTF-8")?;
                mistakes += 1;
                continue;
            }
            Input::Line(line) => line,
        };
        // An interrupt at the prompt is not meant for the next command.
        interrupt.take();
        let text = line.trim();
        let is_collected = session.is_collecting();
        if is_collected {
            // Neither what a breakpoint is to do nor the end of that is what an empty line means.
            last.clear();
        } else if !text.is_empty() {
            text.clone_into(&mut last);
        }
        session.submit(if text.is_empty() && !is_collected { &last } else { text });
        if work_off(session, output, interrupt, &mut mistakes)? {
            return Ok(mistakes);
        }
    }
}

/// Complains of the commands of a breakpoint that have no end. How many mistakes that is.
fn unended(session: &Session, output: &mut dyn Write) -> io::Result<u64> {
    let Some(id) = session.queue.collecting() else { return Ok(0) };
    writeln!(output, "the commands of breakpoint {id} have no end, and are not kept")?;
    writeln!(output, " expected a line {END} after them")?;
    Ok(1)
}

/// Carries out all that waits. Returns whether the session is over.
fn work_off(
    session: &mut Session,
    output: &mut dyn Write,
    interrupt: &Interrupt,
    mistakes: &mut u64,
) -> io::Result<bool> {
    let mut is_over = false;
    session.work_off(
        interrupt,
        |_| {},
        |done| {
            match done {
                Err(error) => {
                    writeln!(output, "{error}")?;
                    *mistakes += 1;
                }
                Ok(outcome) => {
                    outcome.lines.iter().try_for_each(|line| writeln!(output, "{}", tame(line)))?;
                    is_over = outcome.quit;
                }
            }
            Ok::<_, io::Error>(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        },
    )?;
    Ok(is_over)
}

/// What came in.
enum Input {
    Line(String),
    /// Too long, or no text.
    Refused,
    End,
}

/// The next line.
fn read_line(input: &mut dyn BufRead, interrupt: &Interrupt) -> io::Result<Input> {
    let mut bytes = Vec::new();
    let mut too_long = false;
    loop {
        let piece = match input.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                interrupt.take();
                continue;
            }
            Err(error) => return Err(error),
        };
        if piece.is_empty() {
            let nothing = bytes.is_empty() && !too_long;
            return Ok(if nothing { Input::End } else { finished(bytes, too_long) });
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(piece.len(), |at| at + 1);
        if bytes.len() + taken > LONGEST {
            too_long = true;
            bytes.clear();
        } else if !too_long {
            bytes.extend_from_slice(piece.get(..taken).unwrap_or_default());
        }
        input.consume(taken);
        if end.is_some() {
            return Ok(finished(bytes, too_long));
        }
    }
}

fn finished(bytes: Vec<u8>, too_long: bool) -> Input {
    match String::from_utf8(bytes) {
        Ok(line) if !too_long => Input::Line(line),
        _ => Input::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::super::session::tests::session;
    use super::*;

    fn transcript(input: &str) -> String {
        let mut output = Vec::new();
        let mut session = session(500);
        let manners = Manners::default();
        run(&mut session, &mut input.as_bytes(), &mut output, &Interrupt::default(), manners).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn a_mistake_is_told_with_its_place_and_does_not_end_it() {
        let text = transcript("break transition at gpu9\nstep x\nxyzzy\nbreak\ninfo position\n");
        assert!(text.contains("gpu9"), "{text}");
        assert!(text.contains('^'), "{text}");
        assert!(text.contains("\"x\" is not a number"), "{text}");
        assert!(text.contains("there is no command \"xyzzy\""), "{text}");
        assert!(text.ends_with("event 0 cycle 0 digest 0000000000000048\n"), "{text}");
    }

    #[test]
    fn an_empty_line_repeats_the_last_command() {
        assert!(transcript("step 3\n\n\ninfo position\n").contains("\nevent 9 cycle "));
    }

    #[test]
    fn an_empty_line_after_the_commands_of_a_breakpoint_does_nothing() {
        let text = transcript("break transition to M\ncommands\ninfo position\nend\n\ninfo position\n");
        assert!(text.ends_with("event 0 cycle 0 digest 0000000000000048\n"), "{text}");
    }

    #[test]
    fn commands_of_a_breakpoint_are_typed_in_and_carried_out() {
        let text = transcript(
            "tbreak transition to M\ncommands\nprint state of gpu0.cu0.l1 block 0x1000\nend\ncontinue\n",
        );
        assert!(text.contains("temporary breakpoint 1, transition to M\n"), "{text}");
        assert!(text.lines().last().is_some_and(|line| line.len() == 1), "{text}");
        assert!(
            transcript("tbreak transition to M\ncontinue\ninfo breakpoints\n").ends_with("no breakpoints\n")
        );
    }

    #[test]
    fn commands_of_a_breakpoint_end_with_their_file_or_are_complained_of() {
        let text = transcript("break transition to M\ncommands\ninfo position\n");
        assert!(text.ends_with("have no end, and are not kept\n expected a line end after them\n"), "{text}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "break transition to M\ncommands\nprint cycle\n").unwrap();
        let text =
            transcript(&format!("source {}\nsave breakpoints {}x\nstep 3\n", path.display(), path.display()));
        assert!(text.contains("saved 1 breakpoint"), "{text}");
        let saved = std::fs::read_to_string(folder.path().join("filex")).unwrap();
        assert_eq!(saved, "break transition to M\ncommands\n  print cycle\nend\n");
    }

    #[test]
    fn broken_input_ends_nothing() {
        let mut output = Vec::new();
        let mut input = vec![b'x'; LONGEST * 2];
        input.extend_from_slice(b"\n\xff\xfe\nquit\nstep\n");
        let manners = Manners { prompt: true };
        let mut session = session(500);
        run(&mut session, &mut &input[..], &mut output, &Interrupt::default(), manners).unwrap();
        assert_eq!(String::from_utf8_lossy(&output).matches("a line is longer").count(), 2);
        assert_eq!(session.event(), 0);
    }

    #[test]
    fn an_interrupt_ends_a_file_of_commands() {
        let interrupt = Interrupt::default();
        let mut session = session(500);
        (0..3).for_each(|_| session.submit("info position"));
        interrupt.raise();
        let mut lines = Vec::new();
        let told = |done: crate::diagnostic::Result<crate::debug::work::Outcome>| {
            lines.extend(done.unwrap().lines);
            Ok::<_, ()>(ControlFlow::Continue(()))
        };
        session.work_off(&interrupt, |_| {}, told).unwrap();
        assert!(lines.len() == 2 && lines[1] == "interrupted: 2 commands not carried out", "{lines:?}");
    }

    #[test]
    fn an_interrupt_ends_a_running_command_only() {
        let interrupt = Interrupt::default();
        let other = interrupt.clone();
        let raiser = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(100));
            other.raise();
        });
        let mut session = session(u64::MAX);
        let mut output = Vec::new();
        let mut input = &b"continue\ninfo position\n"[..];
        run(&mut session, &mut input, &mut output, &interrupt, Manners::default()).unwrap();
        raiser.join().unwrap();
        let text = String::from_utf8(output).unwrap();
        assert!(text.starts_with("interrupted\n"), "{text}");
        assert!(text.contains(" digest "), "{text}");
    }
}
