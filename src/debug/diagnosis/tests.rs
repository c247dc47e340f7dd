use super::*;
use crate::diagnostic::Source;
use crate::machine::{Change, Planned, StepOutcome};
use crate::model::record::Records;
use crate::scenario::{Options, Scenario};

/// A machine where its scenario leaves it.
fn run(text: &str, options: &Options) -> Machine {
    let scenario = Scenario::parse(Source::new("test", text), None).unwrap_or_else(|error| panic!("{error}"));
    let prepared = scenario.prepare(options).unwrap();
    let mut machine = prepared.machine;
    while machine.violations().is_empty() && machine.run_until(machine.event() + 1) == StepOutcome::Ran {}
    machine
}

fn diagnosed(text: &str) -> Diagnosis {
    diagnosed_with(text, &[])
}

/// The same on a machine with other values for some keys.
fn diagnosed_with(text: &str, set: &[&str]) -> Diagnosis {
    let options = Options { set: set.iter().map(|&set| set.to_owned()).collect(), ..Options::default() };
    let machine = run(text, &options);
    let mut diagnosis = diagnose(&machine).unwrap_or_else(|| panic!("all is well at {}", machine.event()));
    let scenario = Scenario::parse(Source::new("test", text), None).unwrap();
    trace(&mut diagnosis, Box::new(scenario.prepare(&options).unwrap().machine), &|| true);
    for sentence in &diagnosis.sentences {
        assert!(sentence.event.is_some(), "no record for {}", sentence.text());
    }
    diagnosis
}

/// Rule 1: a store that waits for its grant while a probe for it waits.
const PROBES_WAIT: &str = r#"
machine = "tiny/umh-1gpu"
[[do]]
id = "load"
by = "host.cpu0"
load = { address = 0x1000, len = 1 }
[[do]]
id = "gpu"
after = "load"
by = "gpu0.cu0"
load = { address = 0x1000, len = 1 }
[[do]]
after = "gpu"
by = "host.cpu0"
store = { address = 0x1000, value = 1 }
[[do]]
after = "gpu"
by = "gpu0.cu0"
store = { address = 0x1000, value = 2 }
[[fault]]
name = "probes-may-not-pass"
"#;

#[test]
fn a_circle_of_waiting_is_told_edge_by_edge() {
    let diagnosis = diagnosed(PROBES_WAIT);
    let lines = diagnosis.lines().join("\n");
    assert_eq!(diagnosis.verdict, Verdict::Deadlock, "{lines}");
    assert!(diagnosis.is_circle && diagnosis.complete, "{lines}");
    let ends: Vec<_> = diagnosis.sentences.iter().map(|sentence| (sentence.from, sentence.to)).collect();
    for (index, (_, to)) in ends.iter().enumerate() {
        assert_eq!(*to, ends[(index + 1) % ends.len()].0, "{lines}");
    }
    assert!(lines.contains("the probe of ") && lines.contains("waits until its own request"), "{lines}");
    assert_eq!(diagnosis.transactions.len(), 2, "{lines}");
    let machine = run(PROBES_WAIT, &Options::default());
    let graph = dot(&diagnosis, machine.components());
    assert!(graph.starts_with("digraph waits {") && graph.contains("penwidth = 3"), "{graph}");
    for (kind, shape) in
        [("the queue for ", "cylinder"), ("the request of ", "box"), ("the probe of ", "diamond")]
    {
        let is_so = |line: &str| {
            line.starts_with(&format!("  \"{kind}")) && line.contains(&format!("shape = {shape}"))
        };
        assert!(graph.lines().any(is_so), "{kind}: {graph}");
    }
    // Who stands on the circle, and nobody else.
    let on_it = graph.lines().filter(|line| line.contains("peripheries = 2")).count();
    assert_eq!(on_it, diagnosis.sentences.len(), "{graph}");
    assert!(graph.contains("double frame: on the circle"), "{graph}");
}

/// The machine of a scenario at a position.
fn machine_of(text: &str) -> impl Fn(u64) -> Option<Machine> {
    let scenario = Scenario::parse(Source::new("test", text), None).unwrap();
    let start = scenario.prepare(&Options::default()).unwrap().machine;
    move |event| {
        let mut machine = start.clone();
        machine.run_until(event);
        Some(machine)
    }
}

#[test]
fn the_first_event_that_leaves_no_way_out_is_found() {
    let at = machine_of(PROBES_WAIT);
    let mut diagnosis = diagnosed(PROBES_WAIT);
    doom(&mut diagnosis, 0, &at, &|| true);
    let Some(Doom::Since { event, is_first, .. }) = diagnosis.doom else { panic!("{:?}", diagnosis.doom) };
    assert!(is_first && event < diagnosis.event, "{event}");
    // Once the SMD has asked, its request stands behind the core's whatever comes first.
    assert!(diagnosis.lines().iter().any(|line| line.starts_with("unavoidable since event ")));
    let dead_at = |event| !Graph::new(&at(event).unwrap().wait_for_graph()).dead().is_empty();
    assert!(!dead_at(event - 1) && dead_at(diagnosis.event));
}

/// Of a run that ends well nothing was ever lost, and nobody waited in a circle.
fn waits_for_ever(mut machine: Machine, most: u64) -> Option<String> {
    let mut told = None;
    while machine.event() < most {
        let outcome = machine.run_until(machine.event() + 1);
        if !machine.violations().is_empty() || outcome == StepOutcome::Stuck {
            return None;
        }
        if outcome != StepOutcome::Ran {
            return told;
        }
        if told.is_none() {
            told = diagnose(&machine).map(|diagnosis| diagnosis.lines().join("\n"));
        }
    }
    told
}

#[test]
fn what_ends_well_is_never_said_to_wait_for_ever() {
    let mut wrong = Vec::new();
    for entry in crate::config::list(crate::config::Kind::Scenario) {
        let scenario = Scenario::load(&entry.name).unwrap();
        let Ok(prepared) = scenario.prepare(&Options::default()) else { continue };
        if prepared.blueprint.faults.is_empty() {
            let told = waits_for_ever(prepared.machine, 400);
            wrong.extend(told.map(|told| format!("{}: {told}", entry.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn what_comes_late_is_not_lost() {
    // The grant-ack of the core comes after its next request.
    let scenario = Scenario::load("protocols/msi-upgrade").unwrap();
    let start = scenario.prepare(&Options::default()).unwrap().machine;
    let mut wrong = Vec::new();
    for at in 1..25 {
        let mut machine = start.clone();
        let held = Planned { event: at, text: "hold 4096".into(), change: Change::Hold(4096) };
        machine.plan([held].into());
        wrong.extend(waits_for_ever(machine, 200).map(|told| format!("{at}: {told}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn what_was_lost_is_named() {
    let text = |fault: &str| {
        format!(
            "machine = \"tiny/umh-2gpu\"\n[[do]]\nid = \"a\"\nby = \"gpu0.cu0\"\nstore = {{ address = 0x1000, \
             value = 1 }}\n[[do]]\nafter = \"a\"\nby = \"gpu1.cu0\"\nstore = {{ address = 0x1000, value = 2 \
             }}\n[[fault]]\n{fault}\n"
        )
    };
    for (message, nth, told) in [
        ("write", 1, "waits for the write or the grant between gpu0.cu0.l1 and gpu0.l2.0"),
        ("grant", 1, "waits for the grant of host.hmd0 to gpu0.smd0"),
        ("grant-ack", 1, "waits for the acknowledgement of gpu0.smd0 to host.hmd0"),
        ("probe-write", 1, "waits for the probe or the answer between gpu0.smd0 and host.hmd0"),
        ("answer", 1, "waits for the probe or the answer between gpu0.cu0.l1 and gpu0.l2.0"),
    ] {
        let diagnosis =
            diagnosed(&text(&format!("name = \"lose-message\"\nmessage = \"{message}\"\nnth = {nth}")));
        let lines = diagnosis.lines().join("\n");
        assert_eq!(diagnosis.verdict, Verdict::LostMessage, "{message}: {lines}");
        assert!(lines.contains(told), "{message}: {lines}");
    }
    let peer = text("name = \"lose-message\"\nmessage = \"peer-data\"")
        .replace("umh-2gpu", "umh-2gpu-nvlink")
        .replace("store = { address = 0x1000, value = 2 }", "load = { address = 0x1000 }");
    let diagnosis = diagnosed(&peer);
    let lines = diagnosis.lines().join("\n");
    assert_eq!(diagnosis.verdict, Verdict::LostMessage, "{lines}");
    assert!(lines.contains("neither an owner nor host.hmd0 has them on the way"), "{lines}");
    let diagnosis = diagnosed(&text("name = \"drop-wake-up\""));
    let lines = diagnosis.lines().join("\n");
    assert_eq!(diagnosis.verdict, Verdict::LostWakeUp, "{lines}");
    assert!(lines.contains("gpu0.cu0 warp 0 waits for transaction 1, which has ended"), "{lines}");
    let issue = diagnosis.sentences.first().and_then(|sentence| sentence.record.clone()).unwrap();
    assert!(issue.contains("  issue ") && issue.contains("txn 1"), "{issue}");
    assert!(lines.contains("1 warp can never go on"), "{lines}");
}

/// An L1 that is told of nothing before a fence reads its old copy for ever.
#[test]
fn a_warp_that_spins_on_an_old_copy_is_told_who_has_the_new_value() {
    let text = "machine = \"tiny/numa-2socket\"\n\
                [[program]]\nby = \"gpu0.cu0\"\ndo = [\"spin 0x2000 01\"]\n\
                [[program]]\nby = \"gpu1.cu0\"\ndo = [\"compute 3000\", \"store 0x2000 01\"]\n";
    let scenario = Scenario::parse(Source::new("test", text), None).unwrap();
    let mut machine = scenario.prepare(&Options::default()).unwrap().machine;
    machine.run_until(20_000);
    let lines = diagnose(&machine).map(|diagnosis| diagnosis.lines().join("\n")).unwrap_or_default();
    assert!(lines.contains("1 warp spins on what has been stored, and does not come there"), "{lines}");
    assert!(lines.contains("has it, and the L1 of this warp is not told"), "{lines}");
}

#[test]
fn a_request_that_is_made_again_and_again_is_a_livelock() {
    let text = "machine = \"tiny/umh-1gpu\"\nmutate = \"cache M store = write > M\"\ntransaction-limit = 5000\n\
                [[do]]\nby = \"gpu0.cu0\"\nstore = { address = 0x1000, value = 1 }\n";
    let diagnosis = diagnosed(text);
    let lines = diagnosis.lines().join("\n");
    assert_eq!(diagnosis.verdict, Verdict::Livelock, "{lines}");
    assert!(lines.contains("the same state comes back after"), "{lines}");
}

#[test]
fn warps_that_spin_on_what_nobody_stores_are_a_livelock() {
    let spin = |by: &str| format!("[[program]]\nby = \"{by}\"\ndo = [\"spin 0x2000 01\"]\n");
    let spinners = format!("machine = \"tiny/umh-2gpu\"\n{}{}", spin("gpu0.cu0"), spin("gpu1.cu0"));
    let after = |rest: &str| {
        let scenario = Scenario::parse(Source::new("test", format!("{spinners}{rest}")), None).unwrap();
        let mut machine = scenario.prepare(&Options::default()).unwrap().machine;
        machine.run_until(10_000);
        diagnose(&machine)
    };
    let found = after("").map(|diagnosis| diagnosis.lines().join("\n")).unwrap_or_default();
    assert!(found.contains("2 warps spin on what nobody is left to store"), "{found}");
    assert!(found.contains("gpu1.cu0 warp 0: spin on load 0x2000 until 01, since cycle 0"), "{found}");
    // A run ends there by itself, long before its last cycle.
    let run = Scenario::parse(Source::new("test", spinners.clone()), None).unwrap();
    let mut machine = run.prepare(&Options::default()).unwrap().machine;
    machine.run_until(140_000);
    let stalled: Vec<_> = machine.violations().iter().map(|one| (one.rule, one.event)).collect();
    assert_eq!(stalled, [("livelock", 2 << 16)]);
    // A run at its limit is judged like any other.
    let limited =
        Scenario::parse(Source::new("test", format!("max-cycles = 2000\n{spinners}")), None).unwrap();
    let mut machine = limited.prepare(&Options::default()).unwrap().machine;
    assert!(matches!(machine.run_until(u64::MAX), StepOutcome::Limit(_)));
    assert_eq!(diagnose(&machine).map(|diagnosis| diagnosis.verdict), Some(Verdict::Livelock));
    let later = "[[do]]\nby = \"gpu0.cu1\"\ndelay = 900000\nstore = { address = 0x2000, value = 1 }\n";
    assert_eq!(after(later), None, "somebody will store it");
}

/// Three cores that store to one line for ever, or nearly.
pub(super) fn crowd(fault: &str) -> String {
    let store = ["\"store 0x1000 01\""; 400].join(", ");
    let programs: Vec<_> =
        (0..3).map(|core| format!("[[program]]\nby = \"host.cpu{core}\"\ndo = [{store}]\n")).collect();
    format!(
        "transaction-limit = 5000\n[machine]\nname = \"three cores\"\nprotocol = \"mesi\"\n[machine.host]\n\
         cores = 3\nmemory = \"1 MiB\"\n{}{fault}",
        programs.join("")
    )
}

#[test]
fn an_unfair_arbiter_starves_one_while_others_are_served() {
    let fair = run(&crowd(""), &Options::default());
    assert_eq!((diagnose(&fair), fair.violations().len()), (None, 0));
    let diagnosis = diagnosed(&crowd("[[fault]]\nname = \"unfair-arbiter\"\n"));
    let lines = diagnosis.lines().join("\n");
    assert_eq!(diagnosis.verdict, Verdict::Starvation, "{lines}");
    assert!(lines.contains("host.cpu2 warp 0 waits") && lines.contains("issued later"), "{lines}");
}

/// A warp that is not told, a store that is made for ever, and a far-fault, which is no message.
#[test]
fn since_when_is_found_for_all_that_never_comes() {
    let text =
        "machine = \"tiny/umh-1gpu\"\n[[do]]\nby = \"gpu0.cu0\"\nstore = { address = 0x1000, value = 1 }\n";
    let drop = format!("{text}[[fault]]\nname = \"drop-wake-up\"\n");
    let again = format!("mutate = \"cache M store = write > M\"\ntransaction-limit = 5000\n{text}");
    for (text, verdict, proved) in [
        (drop, Verdict::LostWakeUp, true),
        (two_faults("drop-replay"), Verdict::LostWakeUp, false),
        (again, Verdict::Livelock, true),
    ] {
        let mut diagnosis = diagnosed(&text);
        doom(&mut diagnosis, 0, machine_of(&text), &|| true);
        let Some(Doom::Since { event, is_first, .. }) = diagnosis.doom else {
            panic!("{:?}", diagnosis.doom)
        };
        assert_eq!((diagnosis.verdict, is_first), (verdict, proved));
        assert!(event <= diagnosis.event);
    }
}

#[test]
fn who_is_starved_would_be_served_in_another_order() {
    let text = crowd("[[fault]]\nname = \"unfair-arbiter\"\n");
    let mut diagnosis = diagnosed(&text);
    doom(&mut diagnosis, 0, machine_of(&text), &|| true);
    assert_eq!(diagnosis.doom, Some(Doom::Avoidable));
    assert!(diagnosis.unavoidable().starts_with("it can be avoided even now"));
}

/// Whatever state a sound machine is in, nothing in it is dead.
#[test]
fn nothing_is_dead_that_goes_on() {
    for (name, set) in [
        ("kernels/transpose-2gpu", &[][..]),
        ("kernels/transpose-2gpu", &["network.buffers=1", "gpu.l1.mshrs=1", "gpu.l2.mshrs=1"]),
        ("kernels/histogram", &["gpu.l1.size=64 B", "gpu.l1.ways=1", "gpu.l2.size=64 B", "gpu.l2.ways=1"]),
        ("umh/fig5-b2", &[]),
        ("protocols/vi-acquire", &[]),
        ("litmus/message-passing-n", &[]),
    ] {
        let options = Options { set: set.iter().map(ToString::to_string).collect(), ..Options::default() };
        let scenario = Scenario::load(name).unwrap();
        let mut runner = scenario.prepare(&options).unwrap().runner();
        while runner.step().is_none() && runner.machine().event() < 6000 {
            let machine = runner.machine();
            let edges = machine.wait_for_graph();
            let dead = Graph::new(&edges).dead();
            let told: Vec<_> = edges
                .iter()
                .filter(|edge| dead.contains(&edge.from))
                .map(|edge| Sentence::new(edge, machine).text())
                .collect();
            assert!(dead.is_empty(), "{name} {set:?} event {}:\n{}", machine.event(), told.join("\n"));
        }
    }
}

#[test]
fn all_that_can_never_end_are_named() {
    let scenario = Scenario::load("debugging/all-wait").unwrap();
    let mut machine = scenario.prepare(&Options::default()).unwrap().machine;
    while machine.step(&mut Records::silent()) == StepOutcome::Ran {}
    let diagnosis = diagnose(&machine).unwrap();
    let lines = diagnosis.lines();
    let listed = lines.iter().find_map(|line| line.strip_prefix("none of these can end: ")).unwrap();
    let named: Vec<u64> = listed.split([',', ' ']).filter_map(|word| word.parse().ok()).collect();
    assert_eq!(named, diagnosis.transactions.iter().map(|txn| txn.0).collect::<Vec<_>>(), "{lines:?}");
    assert!(named.len() > diagnosis.sentences.len(), "{lines:?}");
}

/// What is chosen by hand belongs to no warp, and what is planned in the timed queue does not come.
#[test]
fn a_deadlock_of_choices_is_told_whole() {
    let choices = [
        "n-store gpu0.cu0 0x1000 01",
        "n-store host.cpu0 0x1000 02",
        "deliver host.cpu0.l1 > host.hmd0 request",
        "deliver host.hmd0 > host.cpu0.l1 reply",
        "deliver gpu0.cu0.l1 > gpu0.smd0 request",
        "evict host.cpu0.l1 0x1000",
        "deliver gpu0.smd0 > host.hmd0 request",
        "load host.cpu0 0x1000 2",
        "deliver host.cpu0.l1 > host.hmd0 reply",
        "deliver host.cpu0.l1 > host.hmd0 reply",
        "deliver host.hmd0 > host.cpu0.l1 reply",
        "deliver host.hmd0 > host.cpu0.l1 probe",
        "deliver host.cpu0.l1 > host.hmd0 request",
    ];
    let input = |(event, choice)| format!("[[input]]\nevent = {event}\nchoose = \"{choice}\"\n");
    let inputs: String = choices.iter().enumerate().map(input).collect();
    let fault = "[[fault]]\nname = \"probes-may-not-pass\"\n";
    let scenario = format!("machine = \"explore/gpu-and-core\"\nprotocol = \"mesi\"\n{fault}{inputs}");
    let scenario = Scenario::parse(Source::new("test", scenario), None).unwrap();
    let mut machine = scenario.prepare(&Options::default()).unwrap().machine;
    for _ in choices {
        assert_eq!(machine.step(&mut Records::silent()), StepOutcome::Ran);
    }
    let diagnosis = diagnose(&machine).unwrap();
    let lines = diagnosis.lines().join("\n");
    assert_eq!((diagnosis.verdict, diagnosis.complete), (Verdict::Deadlock, true), "{lines}");
    let numbers: Vec<u64> = diagnosis.transactions.iter().map(|number| number.0).collect();
    assert_eq!(numbers, [1, 3], "{lines}");
}

/// Two compute units fault on one page.
fn two_faults(fault: &str) -> String {
    let load = |by: &str, at: &str| format!("[[do]]\nby = \"{by}\"\nload = {{ address = {at}, len = 4 }}\n");
    let work = [load("gpu0.cu0", "0x1000"), load("gpu0.cu1", "0x1800")].concat();
    format!("machine = \"tiny/paged-1gpu\"\n{work}[[fault]]\nname = \"{fault}\"\n")
}

#[test]
fn a_far_fault_that_never_ends_is_told() {
    for (fault, verdict, warps, what) in [
        ("drop-replay", Verdict::LostWakeUp, 1, "gpu0.gmmu does not track any more"),
        ("lose-page", Verdict::LostMessage, 2, "gpu0.driver has sent for and which is nowhere"),
    ] {
        let diagnosis = diagnosed(&two_faults(fault));
        let lines = diagnosis.lines().join("\n");
        assert_eq!((diagnosis.verdict, diagnosis.warps), (verdict, warps), "{lines}");
        assert!(lines.contains(what) && lines.contains(" can never go on"), "{lines}");
    }
}

#[test]
fn a_warp_that_its_tlb_does_not_take_waits_for_the_page_that_blocks_it() {
    let load = |at: &str| format!("[[do]]\nby = \"gpu0.cu0\"\nload = {{ address = {at}, len = 4 }}\n");
    let work = [load("0x1000"), load("0x2000")].concat();
    let text = format!("machine = \"tiny/paged-1gpu\"\n{work}[[fault]]\nname = \"lose-page\"\n");
    let set = ["gpu.paging.faults=block"];
    let diagnosis = diagnosed_with(&text, &set);
    let lines = diagnosis.lines().join("\n");
    assert_eq!((diagnosis.verdict, diagnosis.warps), (Verdict::LostMessage, 2), "{lines}");
    let options = Options { set: set.map(str::to_owned).into(), ..Options::default() };
    let graph = dot(&diagnosis, run(&text, &options).components());
    assert!(graph.contains("gpu0.cu0 warp 1") && !graph.contains("page 0x0"), "{graph}");
}

#[test]
fn a_page_that_a_core_waits_for_too_is_seen_to_be_lost_though_the_core_asks_again() {
    let text = "machine = \"tiny/paged-1gpu\"\n[[fault]]\nname = \"lose-page\"\n[[do]]\nby = \"gpu0.cu0\"\nload = { address \
                = 0x13000, len = 4 }\n[[do]]\nby = \"host.cpu0\"\ndelay = 40000\nload = { address = 0x13000, len = 4 }\n";
    let diagnosis = diagnosed(text);
    assert_eq!(
        (diagnosis.verdict, diagnosis.complete),
        (Verdict::LostMessage, true),
        "{:?}",
        diagnosis.lines()
    );
}

#[test]
fn a_lost_replay_is_seen_where_a_warp_could_issue_more_but_has_nothing_left() {
    for (outstanding, fault, verdict) in [
        (1, "drop-replay", Verdict::LostWakeUp),
        (2, "drop-replay", Verdict::LostWakeUp),
        (2, "lose-page", Verdict::LostMessage),
    ] {
        let text = format!(
            "machine = \"tiny/paged-1gpu\"\n[[fault]]\nname = \
             \"{fault}\"\n[[do]]\nby = \"gpu0.cu0\"\nload = {{ address = 0x13000, len = 4 }}\n"
        );
        let diagnosis = diagnosed_with(&text, &[&format!("gpu.cu.outstanding={outstanding}")]);
        assert_eq!(diagnosis.verdict, verdict, "{outstanding} {fault}: {:?}", diagnosis.lines());
    }
}

#[test]
fn what_only_takes_its_time_is_slow_and_not_starved() {
    let text = "machine = \"tiny/umh-2gpu\"\ntransaction-limit = 800\n[[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x1000, len \
                = 4 }\n[[do]]\nby = \"gpu0.cu1\"\nload = { address = 0x9000, len = 4 }\n";
    let diagnosis = diagnosed(text);
    let lines = diagnosis.lines().join("\n");
    assert_eq!(diagnosis.verdict, Verdict::Slow, "{lines}");
    assert!(!lines.contains("avoided") && lines.contains("issued by event 3"), "{lines}");
}

/// The SMD evicts a block whose grant it has acknowledged in vain, and asks for it again.
#[test]
fn who_asks_again_has_had_its_grant() {
    let scenario = Scenario::load("umh/smd-eviction").unwrap();
    let mut text = scenario.source().text.to_string();
    text.push_str("\n[[fault]]\nname = \"lose-message\"\nmessage = \"grant-ack\"\n");
    let diagnosis = diagnosed(&text);
    let lines = diagnosis.lines().join("\n");
    assert_eq!(diagnosis.verdict, Verdict::LostMessage, "{lines}");
    assert!(lines.contains("waits for the acknowledgement of gpu0.smd0 to host.hmd0"), "{lines}");
}

#[test]
fn a_lost_arrival_bit_is_no_lost_message() {
    let text = "machine = \"tiny/scalegpu\"\n[[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x1000, len = 4 }\n[[fault]]\nname = \"lose-arrival\"\n";
    let diagnosis = diagnosed(text);
    let lines = diagnosis.lines().join("\n");
    assert_eq!(diagnosis.verdict, Verdict::LostWakeUp, "{lines}");
    assert!(lines.contains("waits for its arrival bit: the data have come"), "{lines}");
    assert!(lines.contains("1 warp can never go on"), "{lines}");
    let lost = text.replace("lose-arrival", "lose-message\"\nmessage = \"done");
    assert_eq!(diagnosed(&lost).verdict, Verdict::LostMessage);
}

#[test]
fn whoever_has_enough_is_not_told_since_when() {
    let mut diagnosis = diagnosed(PROBES_WAIT);
    doom(&mut diagnosis, 0, machine_of(PROBES_WAIT), &|| false);
    assert_eq!(diagnosis.doom, None);
    let left = std::cell::Cell::new(3_u32);
    let goes_on = || left.replace(left.get().saturating_sub(1)) > 0;
    doom(&mut diagnosis, 0, machine_of(PROBES_WAIT), &goes_on);
    assert_eq!(diagnosis.doom, None);
}
