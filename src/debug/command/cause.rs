//! `cause` and `effect`: along the causal links between events.

use super::{Arguments, Command, Completes, Effect, Group};
use crate::debug::goal::Goal;
use crate::debug::session::Session;
use crate::debug::travel::{Direction, Travel};
use crate::diagnostic::Result;

pub const CAUSE: Command = Command {
    name: "cause",
    aliases: &[],
    usage: "cause",
    group: Group::Moving,
    about: "go back to the event that caused this one",
    details: "The cause of the selected record, or of the first record of this event that names one.",
    completes: Completes::Nothing,
    run: cause,
};

pub const EFFECT: Command = Command {
    name: "effect",
    aliases: &[],
    usage: "effect [COUNT]",
    group: Group::Moving,
    about: "go forward to the first event that this one caused",
    details: "With COUNT, to the COUNT-th. Breakpoints stop it earlier. It stays where it is if there is none.",
    completes: Completes::Nothing,
    run: effect,
};

fn cause(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    arguments.none()?;
    let selected = session.selection.record;
    let records = session.last_records();
    let chosen = records.iter().find(|record| Some(record.id) == selected && record.because.is_some());
    let because =
        chosen.or_else(|| records.iter().find(|record| record.because.is_some())).and_then(|r| r.because);
    match because {
        Some(event) => Ok(Effect::Go(Travel::to(event))),
        None => Err(Session::complaint("nothing is recorded as the cause of this event")),
    }
}

fn effect(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let here = session.event();
    Ok(Effect::Go(Travel::new(Direction::Forward, Goal::Effect(here), arguments.count()?, here)))
}
