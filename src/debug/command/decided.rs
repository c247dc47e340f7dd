//! Why lanes turn or ways move, where that is what has just happened: what was measured, and from when on it counts.

use crate::config::machine::MachineSpec;
use crate::debug::frame::text::predicate;
use crate::debug::session::Session;
use crate::model::record::{Record, What};
use crate::model::ways::{WayDecision, WayStep};

/// What was decided in the last event, if anything was: by what it stopped at, since all links and sockets decide at once.
pub(super) fn told(session: &mut Session) -> Option<Vec<String>> {
    let event = session.machine().event();
    let all = session.last_records().to_vec();
    // A stop that means all of the event says nothing of one of them.
    let stopped = session.last_stop().filter(|stop| stop.event == event && stop.records.len() < all.len());
    let mut records = stopped.map_or_else(Vec::new, |stop| stop.records.clone());
    let (moves, others): (Vec<Record>, Vec<Record>) = all
        .into_iter()
        .partition(|record| matches!(record.what, What::WayRepartition { .. } | What::LaneReversal(_)));
    records.extend(moves.into_iter().chain(others));
    let machine = session.machine();
    let spec = machine.machine()?.spec();
    let mut decided = records.iter().filter_map(|record| Some((record, why(record, spec)?)));
    let (record, why) = decided.next()?;
    let (path, what) = (machine.components().path(record.at), predicate(record, machine.components()));
    Some(vec![format!("{path}: {what}"), why])
}

fn why(record: &Record, spec: &MachineSpec) -> Option<String> {
    match &record.what {
        What::WayRepartition { decision, .. } | What::WaySample { decision, .. } => {
            let threshold = spec.gpu.as_ref()?.numa.as_ref()?.threshold;
            Some(ways(*decision, threshold))
        }
        What::LaneReversal(_) | What::LaneSample { .. } => {
            let threshold = spec.network.balancer.as_ref()?.threshold;
            Some(format!(
                "a direction is saturated that was busy for {threshold} % of a sample or more; each keeps one lane at least, and at a \
                 launch they are equal (`info links` tells the last decision of each link)"
            ))
        }
        _ => None,
    }
}

/// The step of section 5.1, by what it was decided.
fn ways(decision: WayDecision, threshold: u32) -> String {
    let WayDecision { memory, ingress, .. } = decision;
    let link = format!("what the sample's requests bring takes {ingress} % of the link into the socket");
    let busy = format!("its memory was busy for {memory} %");
    let full = format!("from {threshold} % on either is saturated");
    match decision.step {
        WayStep::Halve => "a kernel begins: half of the ways for each kind of lines (step 0)".to_owned(),
        WayStep::ToRemote => {
            format!("{link}, and {busy}; {full}: the link is, so a way goes to remote lines (step 2)")
        }
        WayStep::ToLocal => {
            format!("{busy}, and {link}; {full}: the memory is, so a way goes to local lines (step 3)")
        }
        WayStep::Equalise => {
            format!("{link}, and {busy}; {full}: both are, so the ways go towards equal numbers (step 4)")
        }
        WayStep::Keep => format!("{link}, and {busy}; {full}: neither is, so nothing moves (step 5)"),
    }
}

#[cfg(test)]
mod tests {
    use crate::debug::interrupt::Interrupt;
    use crate::debug::sample::bundled;

    /// What `why` says at the first record of a lesson that a query means.
    fn why_at(name: &str, query: &str) -> Vec<String> {
        let mut session = bundled(name);
        let mut execute = |line: &str| session.execute(line, &Interrupt::default()).unwrap().lines;
        execute(&format!("until {query}"));
        execute("why")
    }

    #[test]
    fn a_decision_is_told_with_what_decided_it() {
        for (name, query, what, reason) in [
            ("numa/both-full", "way-repartition step to-remote", "to-remote", "the link is, so"),
            (
                "numa/both-full",
                "way-repartition step equalise",
                "equalise",
                "from 80 % on either is saturated: both are",
            ),
            ("numa/local-phase", "way-repartition step to-local", "to-local", "the memory is, so"),
            ("numa/lanes-turn", "lane-reversal", "takes no new packets", "busy for 99 % of a sample"),
        ] {
            let told = why_at(name, query);
            assert!(told[0].contains(what) && told[1].contains(reason), "{query}: {told:?}");
        }
        let other = why_at("numa/both-full", "message");
        let mut session = bundled("numa/both-full");
        let mut execute = |line: &str| session.execute(line, &Interrupt::default()).unwrap().lines;
        execute("tbreak way-sample step keep at gpu1.*");
        // The lesson has something to say before.
        while !execute("continue").iter().any(|line| line.contains("way-sample")) {}
        let keeps = execute("why");
        assert!(keeps[0].starts_with("gpu1.") && keeps[1].contains("nothing moves"), "{keeps:?}");
        assert!(!other.iter().any(|line| line.contains("saturated")), "{other:?}");
    }
}
