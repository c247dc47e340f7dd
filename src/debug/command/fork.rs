//! `fork`, `branch` and `branches`: what if.

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::session::Session;
use crate::debug::travel::Travel;
use crate::diagnostic::Result;
use crate::model::time::EventNumber;
use crate::recording::{Input, VERBS};

pub const FORK: Command = Command {
    name: "fork",
    aliases: &[],
    usage: "fork set|fault|access|cell|choose|hold ...",
    group: Group::WhatIf,
    about: "leave this run here for one in which something else comes next",
    details: "    fork set network.latency=\"2 us\"         a latency, a bandwidth, MSHRs, buffers, a policy: as --set
    fork set gpu.paging.faults=block        far-faults block from here on, or are replayed
    fork fault lose-message message=grant   a fault is injected from now on
    fork access gpu0.cu0 store 0x1000 07    one more access, now: agent and instruction
    fork cell cache N read = \"ack > I\"      another cell of the protocol's table
    fork choose deliver A > B request       the next event, whatever the timed queue says
    fork hold 64                            what comes next comes 64 cycles later

The change is an event of its own. Both runs stay: `branches` lists them, `branch N` goes to the other, `diff` tells
where they part. What comes before stays the same, so that going back and forth works as ever. Components, cache
sizes and clocks cannot change under way. A cell of another table than the machine's first is named with it, as in
scale-memory: inner C n-store. What the scenario says and expects is about the run that is left; umscope run
of a saved moment looks at all that it expects.",
    completes: Completes::Subject(&CHANGES),
    run: fork,
};

pub const BRANCH: Command = Command {
    name: "branch",
    aliases: &[],
    usage: "branch N",
    group: Group::WhatIf,
    about: "go to another branch",
    details: "The cursor goes where it was there last.",
    completes: Completes::Slots(&[Takes::Branch]),
    run: branch,
};

pub const BRANCHES: Command = Command {
    name: "branches",
    aliases: &[],
    usage: "branches",
    group: Group::WhatIf,
    about: "all branches, with what makes them different",
    details: "",
    completes: Completes::Nothing,
    run: |session, arguments| {
        arguments.none()?;
        Ok(Effect::Said(list(session)))
    },
};

/// What each change is about.
const CHANGES: [(&str, Takes); VERBS.len()] = [
    ("choose", Takes::Nothing),
    ("set", Takes::Setting),
    ("cell", Takes::Nothing),
    ("fault", Takes::Fault),
    ("hold", Takes::Nothing),
    ("access", Takes::Component),
];

fn fork(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let (verb, rest) = arguments.split_first();
    if verb.is_empty() || !VERBS.contains(&verb) {
        let span = arguments.words().first().map_or(arguments.nothing().span(), |word| word.span.clone());
        let error = arguments.error(span, "what shall come next?").expected(VERBS.join(", "));
        return Err(Box::new(error.nearest(verb, VERBS)));
    }
    if rest.is_empty() {
        return Err(rest.missing(format!("what to {verb}; see help fork")));
    }
    let event = session.event();
    let later = session.inputs().iter().filter(|(at, _)| *at >= event).count();
    let input = Input::new(verb, rest.text());
    input.and_then(|input| session.fork(input)).map_err(|error| rest.placed(error))?;
    let notes = (later > 0).then(|| left_out(later)).into_iter().chain(unjudged(session, event));
    Ok(Effect::SaidAndGo(notes.collect(), Travel::to(event + 1)))
}

/// What is expected of the run that is left is not looked at in the new one; said if there is any.
fn unjudged(session: &Session, event: EventNumber) -> Option<String> {
    let lesson = session.timeline().lesson()?;
    let count = lesson.expectations().len();
    let open = (0..count).filter(|expectation| !lesson.has_settled(*expectation, event)).count();
    let what = if open == 1 { "an expectation".to_owned() } else { format!("{open} expectations") };
    (open > 0).then(|| {
        format!(
            "{what} of the scenario {} not looked at from here on, since this is another run: save moment FILE, \
             then umscope run FILE, does",
            if open == 1 { "is" } else { "are" }
        )
    })
}

/// What a run that is left would have been told from outside later is not done in the new one.
fn left_out(later: usize) -> String {
    let inputs = if later == 1 { "the input".to_owned() } else { format!("the {later} inputs") };
    format!(
        "{inputs} of the run behind this position, such as the steps of an exploration, are of that run and not of this one; \
         umscope shrink RECORDING --output FILE makes a scenario of a run that fails, which can be run with other tables"
    )
}

fn branch(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let words = arguments.words();
    match words.as_slice() {
        [] => Err(arguments.missing("the number of a branch")),
        [word] => {
            let number = arguments.number(word, "the number of a branch")?;
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            session.switch(number).map_err(|mut error| {
                error.source = Some(arguments.source().clone());
                error.span = Some(word.span.clone());
                error
            })?;
            Ok(Effect::Go(Travel::to(session.event())))
        }
        [_, second, ..] => Err(arguments.error(second.span.clone(), "one branch is enough")),
    }
}

pub(super) fn list(session: &Session) -> Vec<String> {
    let branches = session.branches();
    let line = |branch: &crate::debug::branch::Branch| {
        let mark = if branch.number == branches.current() { '*' } else { ' ' };
        format!("{mark} {}  {}", branch.number, branch.what())
    };
    branches.list().iter().map(line).collect()
}
