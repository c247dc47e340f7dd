//! `step` and `reverse-step`: one event.

use super::{Arguments, Command, Completes, Effect, Group};
use crate::debug::goal::Goal;
use crate::debug::session::Session;
use crate::debug::travel::{Direction, Travel};
use crate::diagnostic::Result;

pub const STEP: Command = Command {
    name: "step",
    aliases: &["s", "event"],
    usage: "step [COUNT]",
    group: Group::Moving,
    about: "go forward one event",
    details: "Carries out one event, or COUNT of them, and shows what the last one did. Breakpoints stop it earlier.",
    completes: Completes::Nothing,
    run: step,
};

pub const REVERSE_STEP: Command = Command {
    name: "reverse-step",
    aliases: &["rs", "reverse-event"],
    usage: "reverse-step [COUNT]",
    group: Group::Moving,
    about: "go back one event",
    details: "The reverse of step: COUNT events back. Breakpoints stop it earlier.",
    completes: Completes::Nothing,
    run: reverse_step,
};

fn step(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    moving(session, arguments, Direction::Forward, Goal::Event)
}

fn reverse_step(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    moving(session, arguments, Direction::Backward, Goal::Event)
}

/// Moves to the position that has `goal`, as often as the arguments say.
pub(super) fn moving(
    session: &Session,
    arguments: &Arguments,
    direction: Direction,
    goal: Goal,
) -> Result<Effect> {
    Ok(Effect::Go(Travel::new(direction, goal, arguments.count()?, session.event())))
}
