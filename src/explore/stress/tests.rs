use super::*;
use crate::diagnostic::Source;
use crate::scenario::{Options, Scenario};

fn plan(head: &str, accesses: u64) -> Plan {
    let scenario = Scenario::parse(Source::new("stress", head), None).unwrap();
    Plan { blueprint: scenario.blueprint(&Options::default()).unwrap(), accesses, seed: 7 }
}

#[test]
fn a_sound_machine_breaks_nothing_and_a_round_is_the_same_each_time() {
    let plan = plan("machine = \"tiny/umh-2gpu\"\n", 4000);
    let (one, two) = (plan.round(0).unwrap(), plan.round(0).unwrap());
    assert!(one.failure.is_none(), "{:?}", one.failure.map(|failure| failure.text));
    assert_eq!((one.events, one.cycles, one.accesses), (two.events, two.cycles, two.accesses));
    assert_eq!(one.accesses, 4000);
    let tables = one.coverage.tables();
    assert_eq!(tables[0].table, "nmoesi");
    assert!(tables[0].reached > tables[0].total / 2 && tables[0].pairs > tables[0].reached, "{tables:?}");
    assert!(one.coverage.watched() > 3000);
}

#[test]
fn a_broken_rule_is_found_and_comes_out_small_and_as_a_scenario() {
    let head = "machine = \"tiny/umh-2gpu\"\nends = \"violation\"\n";
    let fault = "[[fault]]\nname = \"answer-without-data\"\n";
    let plan = plan(&format!("{head}{fault}"), 3000);
    let failure = plan.round(0).unwrap().failure.unwrap();
    assert_eq!(failure.rule, "stale-read");
    let small = shrink(&plan, &failure.streams, &failure.rule);
    let count: usize = small.iter().map(|stream| stream.deeds.len()).sum();
    assert!(count <= 6, "{small:?}");
    assert_eq!(plan.breaks(&small).as_deref(), Some("stale-read"));
    let programs: String = small.iter().enumerate().map(|(index, stream)| stream.text(index)).collect();
    let scenario = Scenario::parse(Source::new("small", format!("{head}{fault}{programs}")), None).unwrap();
    let mut runner = scenario.prepare(&Options::default()).unwrap().runner();
    while runner.step().is_none() {}
    assert_eq!(runner.machine().violations()[0].rule, "stale-read");
}
