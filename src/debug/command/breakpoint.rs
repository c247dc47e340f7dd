//! `break` and `tbreak`.

use super::{Arguments, Command, Completes, Effect, Group};
use crate::debug::session::Session;
use crate::diagnostic::Result;

const DETAILS: &str = "\
QUERY is a filter over records; the run stops after the event of a matching record.
    break transition at gpu*.l1 to N block 0x1000
    break message type read if occupancy of gpu0.l2.0.mshr >= 8
    break if state of gpu0.l2.0 block 0x1000 is M
    break if state of any gpu*.l1 block 0x1000 is M
    break message not type probe and not block 0x1000
Tests that stand side by side, or are joined by and, must all hold; or joins looser. not denies the kind that
follows with its fields, or the field that follows; parentheses group.
With if, it stops only where the predicate holds after the event; with if alone, where it becomes true.
A pattern of a QUERY means any of the components that it names; one of a predicate each of them, or
with any before it one.
Breakpoints stop a run in both directions.";

pub const BREAK: Command = Command {
    name: "break",
    aliases: &["b", "br"],
    usage: "break QUERY [if PREDICATE]",
    group: Group::Breakpoints,
    about: "stop at a record, or where a predicate becomes true",
    details: DETAILS,
    completes: Completes::Stop,
    run: |session, arguments| set(session, arguments, false),
};

pub const TBREAK: Command = Command {
    name: "tbreak",
    aliases: &["tb"],
    usage: "tbreak QUERY [if PREDICATE]",
    group: Group::Breakpoints,
    about: "stop there once",
    details: "As break, but the breakpoint is deleted when it stops.",
    completes: Completes::Stop,
    run: |session, arguments| set(session, arguments, true),
};

fn set(session: &mut Session, arguments: &Arguments, temporary: bool) -> Result<Effect> {
    if arguments.is_empty() {
        return Err(arguments.missing("a query over records, or if and a predicate"));
    }
    let id = session.add_breakpoint(&arguments.query(), temporary)?;
    if let Some(twin) = session.breakpoints.take_back(id) {
        return Ok(Effect::line(format!("breakpoint {twin} is that already")));
    }
    let text =
        session.breakpoints.get(id).map_or_else(String::new, crate::debug::breakpoint::Breakpoint::what);
    let kind = if temporary { "temporary breakpoint" } else { "breakpoint" };
    let holds = session.breakpoints.get(id).is_some_and(|breakpoint| breakpoint.holds(session.machine()));
    let note = if holds { " (it holds here already, and stops when it becomes true again)" } else { "" };
    let in_vain = session.in_vain(id);
    let everywhere = if is_everywhere(&text) { ", at every node" } else { "" };
    Ok(Effect::line(format!("{kind} {id}: {text}{everywhere}{note}{in_vain}")))
}

/// Whether a query asks for a block alone: then it is not said that one node was meant.
fn is_everywhere(query: &str) -> bool {
    matches!(query.split_whitespace().collect::<Vec<_>>()[..], ["transition", "block", _])
}

#[cfg(test)]
mod tests {
    use crate::debug::interrupt::Interrupt;
    use crate::debug::origin::Origin;
    use crate::debug::session::Session;

    #[test]
    fn a_breakpoint_at_what_the_machine_never_does_says_so() {
        let text = "machine = 'tiny/umh-2gpu'\n[[do]]\nby = 'gpu0.cu0'\nload = { address = 0x1000 }\n";
        let mut session = Session::open(Origin::of_text("t", text).unwrap(), None);
        let mut told = |line: &str| session.execute(line, &Interrupt::default()).unwrap().lines.join("\n");
        let in_vain = told("break lane-reversal or way-repartition at gpu0.l2.0");
        assert!(in_vain.contains("cannot stop here: no balancer watches the links"), "{in_vain}");
        assert!(told("break transition block 0x1000").ends_with("block 0x1000, at every node"));
        for (line, why) in [
            ("break remote-miss", "no memory is shared between sockets"),
            ("break far-fault page 0x5000", "no memory is paged"),
            ("break hop", "cannot stop here: there is no switch"),
            ("break evict at host.hmd0", "cannot stop here: host.hmd0 keeps no state"),
        ] {
            assert!(told(line).contains(why), "{line}");
        }
        assert!(told("break transition page 0x5000").contains("the page of address 0x5000 is page 0x5"));
        assert!(told("info breakpoints").contains("cannot stop here: no balancer"));
        for possible in ["break transition", "break tag or transition", "break gpu 0", "break not tag"] {
            assert!(!told(possible).contains("cannot stop"), "{possible}");
        }
    }
}
