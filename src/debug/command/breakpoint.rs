//! `break` and `tbreak`.

use super::{Arguments, Command, Completes, Effect, Group};
use crate::config::machine::{GpuSpec, MachineSpec, Organisation};
use crate::debug::breakpoint::Trigger;
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
    let in_vain = never(session, id).map_or_else(String::new, |why| format!(" (it cannot stop here: {why})"));
    let everywhere = if is_everywhere(&text) { ", at every node" } else { "" };
    Ok(Effect::line(format!("{kind} {id}: {text}{everywhere}{note}{in_vain}")))
}

/// Whether a query asks for a block alone: then it is not said that one node was meant.
fn is_everywhere(query: &str) -> bool {
    matches!(query.split_whitespace().collect::<Vec<_>>()[..], ["transition", "block", _])
}

/// Why this machine makes no record that a breakpoint could stop at, if it makes none.
fn never(session: &Session, id: u32) -> Option<&'static str> {
    let Trigger::Record(filter) = &session.breakpoints.get(id)?.trigger else { return None };
    let spec = session.machine().machine()?.spec();
    let kinds = filter.kinds()?;
    let mut reasons = kinds.iter().map(|kind| lacks(spec, kind));
    let first = reasons.next()??;
    reasons.all(|reason| reason.is_some()).then_some(first)
}

/// What a machine does not have without which there are no records of a kind.
fn lacks(spec: &MachineSpec, kind: &str) -> Option<&'static str> {
    let gpu = spec.gpu.as_ref();
    let has = |part: fn(&GpuSpec) -> bool| gpu.is_some_and(part);
    let (is_there, what) = match kind {
        "lane-reversal" | "lane-sample" | "saturation" => {
            (spec.network.balancer.is_some(), "no balancer watches the links (network.balancer)")
        }
        "way-repartition" | "way-sample" => {
            let is_partitioned = |gpu: &GpuSpec| {
                gpu.numa.as_ref().is_some_and(|numa| numa.organisation == Organisation::Partitioned)
            };
            (has(is_partitioned), "no cache is partitioned (gpu.numa.l2)")
        }
        "tag" => (has(|gpu| gpu.tags.is_some()), "no memory has its tags in DRAM (gpu.tags)"),
        "far-fault" => (has(|gpu| gpu.paging.is_some()), "no memory is paged (gpu.paging)"),
        "page-move" => (
            has(|gpu| gpu.paging.is_some() || gpu.copies.is_some()),
            "no pages move (gpu.paging, gpu.copies)",
        ),
        "tlb" | "page-walk" => {
            (has(|gpu| gpu.paging.is_some() || gpu.read_only.is_some()), "nothing is translated (gpu.paging)")
        }
        "protection-fault" | "page-permission" | "speculation" => {
            (has(|gpu| gpu.read_only.is_some()), "no page is taken for read-only (gpu.read_only)")
        }
        "remote-directory" | "nack" => {
            (has(|gpu| gpu.remote_directory.is_some()), "there is no remote directory (gpu.remote_directory)")
        }
        _ => return None,
    };
    (!is_there).then_some(what)
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
        for possible in ["break transition", "break tag or transition", "break gpu 0", "break not tag"] {
            assert!(!told(possible).contains("cannot stop"), "{possible}");
        }
    }
}
