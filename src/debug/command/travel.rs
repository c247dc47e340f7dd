//! The verbs that mean something of the machine, each with its reverse: `cycle`, `transition`, `finish`, `continue`.

use super::step::moving;
use super::{Arguments, Command, Completes, Effect, Group};
use crate::debug::goal::Goal;
use crate::debug::session::Session;
use crate::debug::travel::Direction::{Backward, Forward};
use crate::debug::travel::Travel;
use crate::diagnostic::Result;
use crate::model::message::TxnNumber;
use crate::model::record::What;

const fn verb(
    name: &'static str,
    aliases: &'static [&'static str],
    usage: &'static str,
    about: &'static str,
    details: &'static str,
    run: fn(&mut Session, &Arguments) -> Result<Effect>,
) -> Command {
    Command { name, aliases, usage, group: Group::Moving, about, details, completes: Completes::Nothing, run }
}

pub const CYCLE: Command = verb(
    "cycle",
    &["n", "next"],
    "cycle [COUNT]",
    "go forward to the first event of the next cycle in which something happens",
    "Cycles are those of the GPU core clock. Cycles without an event are passed over.",
    |session, arguments| moving(session, arguments, Forward, Goal::NewCycle),
);

pub const REVERSE_CYCLE: Command = verb(
    "reverse-cycle",
    &["rn", "reverse-next"],
    "reverse-cycle [COUNT]",
    "go back to the first event of this cycle, or of the one before",
    "The reverse of cycle.",
    |session, arguments| moving(session, arguments, Backward, Goal::NewCycle),
);

pub const TRANSITION: Command = verb(
    "transition",
    &["t"],
    "transition [COUNT]",
    "go forward until a block changes its stable state",
    "Hits and answers that leave the state as it is do not count.",
    |session, arguments| moving(session, arguments, Forward, Goal::Transition),
);

pub const REVERSE_TRANSITION: Command = verb(
    "reverse-transition",
    &["rt"],
    "reverse-transition [COUNT]",
    "go back until a block changed its stable state",
    "The reverse of transition.",
    |session, arguments| moving(session, arguments, Backward, Goal::Transition),
);

pub const FINISH: Command = verb(
    "finish",
    &["fin", "transaction"],
    "finish [COUNT]",
    "go forward until the selected transaction ends",
    "Without a selected transaction in flight: until the one that this event belongs to ends, or else any.\n\
     The transaction that ended is then the selected one.",
    finish,
);

pub const REVERSE_FINISH: Command = verb(
    "reverse-finish",
    &["rfin", "reverse-transaction"],
    "reverse-finish [COUNT]",
    "go back until the selected transaction began",
    "The reverse of finish. Of a transaction that has ended, too, if it is the one that is shown.",
    reverse_finish,
);

pub const CONTINUE: Command = verb(
    "continue",
    &["c"],
    "continue [COUNT]",
    "run until a breakpoint or the end",
    "With COUNT, passes COUNT - 1 stops on the way, whatever stops there: breakpoints, the lesson, a failed check.",
    |session, arguments| moving(session, arguments, Forward, Goal::Nowhere),
);

pub const REVERSE_CONTINUE: Command = verb(
    "reverse-continue",
    &["rc"],
    "reverse-continue [COUNT]",
    "run backwards until a breakpoint or the start",
    "The reverse of continue: to the last place before the cursor where continue would have stopped, or the COUNT-th.",
    |session, arguments| moving(session, arguments, Backward, Goal::Nowhere),
);

fn finish(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let txn = current(session);
    moving(session, arguments, Forward, Goal::Ended(txn))
}

fn reverse_finish(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let here = session.event();
    let selected = session.selection.txn;
    // The one that is selected, or shown, may have ended.
    let ended = selected.or(session.followed.txn);
    let ended = ended.filter(|txn| session.machine().transaction(*txn).is_none());
    let is_ended = selected.is_some() && ended == selected;
    let in_flight = if is_ended { None } else { current(session) };
    let view = in_flight.and_then(|txn| session.machine().transaction(txn));
    let view = view.filter(|view| view.issued_at < here);
    if let Some(view) = &view
        && arguments.count()? == 1
        && session.breakpoints.are_idle()
        && session.machine().violations().is_empty()
    {
        // Where it began is known, and nothing on the way can stop it.
        return Ok(Effect::Go(Travel::to(view.issued_at)));
    }
    moving(session, arguments, Backward, Goal::Began(view.map(|view| view.number).or(ended)))
}

/// The transaction that is meant: the selected one, or that of the last event, or the one that is shown since it was spoken of
/// last; if it is in flight.
fn current(session: &mut Session) -> Option<TxnNumber> {
    let of_event = session.last_records().iter().find_map(|record| match record.what {
        What::Complete { .. } => None,
        _ => record.txn,
    });
    let in_flight = |txn: &TxnNumber| session.machine().transaction(*txn).is_some();
    let followed = session.followed.txn;
    session.selection.txn.filter(in_flight).or(of_event.filter(in_flight)).or(followed.filter(in_flight))
}
