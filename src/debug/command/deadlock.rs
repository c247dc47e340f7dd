//! `deadlock`: what can never go on, as sentences, and the way to where it began.

use std::ops::Range;

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::diagnosis::{Diagnosis, Doom, diagnose, doom, dot, may_replace, trace};
use crate::debug::frame::session::RunState;
use crate::debug::session::Session;
use crate::debug::travel::Travel;
use crate::diagnostic::{Diagnostic, Result, write_whole};
use crate::machine::StepOutcome;
use crate::model::record::Records;
use crate::model::time::EventNumber;

pub const DEADLOCK: Command = Command {
    name: "deadlock",
    aliases: &["diagnose"],
    usage: "deadlock [goto [N] | records | dot FILE]",
    group: Group::Looking,
    about: "what can never go on any more, and why",
    details: "    deadlock              the circle of waiting, or what was lost, one sentence an edge: who waits, for what, since when
    deadlock records      the same, each with the record that made it
    deadlock goto         to the first event from which on it cannot be avoided; goto 2 to the event of sentence 2
    deadlock dot FILE     write the wait-for graph for Graphviz

A deadlock, a lost message and a lost wake-up are seen as soon as they are there, though others still go on; a
livelock and starvation once a transaction has outlived its limit (`transaction-limit` of the scenario), and a livelock
also where all that is left spins on what nobody is left to store.",
    completes: Completes::Subject(&[("goto", Takes::Nothing), ("records", Takes::Nothing), ("dot", Takes::Path)]),
    run: deadlock,
};

fn deadlock(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let (verb, rest) = arguments.split_first();
    let names = ["goto", "records", "dot"];
    match verb {
        "" => {
            let found = found(session)?.map(|diagnosis| diagnosis.lines());
            Ok(Effect::Said(found.unwrap_or_else(|| no_circle(session))))
        }
        "records" => {
            arguments.only(1)?;
            let found = found(session)?.map(|diagnosis| with_records(&diagnosis));
            Ok(Effect::Said(found.unwrap_or_else(|| no_circle(session))))
        }
        "goto" => {
            arguments.only(2)?;
            goto(session, &rest)
        }
        "dot" => {
            if rest.is_empty() {
                return Err(rest.missing("a file to write the graph to"));
            }
            let path = rest.path();
            may_replace(path)?;
            let Some(found) = found(session)? else { return Ok(Effect::Said(all_is_well(session))) };
            write_whole(path, dot(&found, session.machine().components()).as_bytes())?;
            Ok(Effect::line(format!("the wait-for graph is in {}", path.display())))
        }
        other => {
            let span = arguments.words().first().map_or(0..0, |word| word.span.clone());
            let error = arguments.error(span, format!("deadlock knows no \"{other}\""));
            Err(Box::new(error.nearest(other, names).expected(names.join(", "))))
        }
    }
}

/// Nothing is known to wait for ever; whether something will is known at the end of the run, or once it does.
fn all_is_well(session: &Session) -> Vec<String> {
    let text = "nobody waits in a circle here, and no message and no wake-up is lost";
    // Who has waited for too long may have been served since.
    let failed = session.machine().violations().iter().map(|failed| failed.event);
    let failed = failed.filter(|event| *event < session.event()).min();
    let failed = failed.map(|event| format!("a check failed at event {event}: goto {event} leads there"));
    let text = if session.run_state() == RunState::Finished {
        text.to_owned()
    } else {
        format!("{text}; whether that can still be avoided is known once it has happened")
    };
    std::iter::once(text).chain(failed).collect()
}

/// From where on what was diagnosed last could not be avoided, up to where that was asked, if this is between them.
fn doomed_here(session: &Session) -> Option<&Range<EventNumber>> {
    session.doomed.as_ref().filter(|doomed| doomed.contains(&session.event()))
}

/// What an exploration has found here may be what can happen next, again and again: nothing waits for it yet.
fn no_circle(session: &Session) -> Vec<String> {
    if let Some(found) = session.recorded_here() {
        return vec![found.sentence()];
    }
    let Some(doomed) = doomed_here(session) else { return all_is_well(session) };
    let (start, end) = (doomed.start, doomed.end);
    vec![format!(
        "nothing here waits for ever yet, but since event {start} no order of delivery avoids what was found at event {end}"
    )]
}

fn with_records(diagnosis: &Diagnosis) -> Vec<String> {
    let mut lines = vec![diagnosis.headline()];
    for (index, sentence) in diagnosis.sentences.iter().enumerate() {
        lines.push(format!("{:>3}  {}", index + 1, sentence.text()));
        lines.extend(sentence.record.iter().map(|record| format!("     {}", record.trim())));
    }
    lines.push(diagnosis.unavoidable());
    lines.extend(diagnosis.notes.iter().map(|note| format!("note: {note}")));
    lines
}

/// What is wrong at the cursor, with the records behind it.
fn found(session: &mut Session) -> Result<Option<Diagnosis>> {
    let Some(machine) = session.machine().machine() else {
        return Err(Box::new(Diagnostic::new("there is no machine here that could be looked into")));
    };
    let Some(mut diagnosis) = diagnose(machine) else { return Ok(None) };
    if session.is_hunting() {
        // They would say what is to be found.
        diagnosis.notes.clear();
    }
    let first = diagnosis.sentences.iter().map(|sentence| sentence.since_cycle).min().unwrap_or(0);
    let timeline = session.timeline();
    let start = timeline.before_cycle(first).unwrap_or(timeline.start());
    trace(&mut diagnosis, timeline.fork_before(start), &|| true);
    let at = |event| {
        let mut fork = timeline.fork_before(event);
        let mut silent = Records::silent();
        while fork.event() < event && fork.step(&mut silent) == StepOutcome::Ran {}
        fork.machine().cloned()
    };
    doom(&mut diagnosis, timeline.start(), at, &|| true);
    session.doomed = match diagnosis.doom {
        Some(Doom::Since { event, .. }) => Some(event..diagnosis.event),
        _ => None,
    };
    Ok(Some(diagnosis))
}

fn goto(session: &mut Session, which: &Arguments) -> Result<Effect> {
    let Some(found) = found(session)? else {
        let begins = doomed_here(session).map(|doomed| doomed.start).filter(|_| which.is_empty());
        return Ok(match begins {
            Some(event) => Effect::Go(Travel::to(event)),
            None => Effect::Said(no_circle(session)),
        });
    };
    if which.is_empty() {
        let latest = found.sentences.iter().filter_map(|sentence| sentence.event).max();
        let first = if let Some(Doom::Since { event, .. }) = found.doom { Some(event) } else { latest };
        return Ok(first.map_or_else(Effect::nothing, |event| Effect::Go(Travel::to(event))));
    }
    let count = found.sentences.len() as u64;
    let words = which.words();
    let word = words.first().map_or_else(|| Err(which.missing("the number of a sentence")), Ok)?;
    let number = which.number(word, "the number of a sentence")?;
    let sentence = (1..=count).contains(&number).then(|| found.sentences.get(number as usize - 1)).flatten();
    let Some(sentence) = sentence else {
        let error = which.error(word.span.clone(), format!("there is no sentence {number}"));
        let expected =
            if count == 0 { "no number: nothing is told here".to_owned() } else { format!("1 to {count}") };
        return Err(Box::new(error.expected(expected)));
    };
    match sentence.event {
        Some(event) => Ok(Effect::Go(Travel::to(event))),
        None => Err(which.complaint("the event of this sentence is not known")),
    }
}
