//! Lanes that turn while messages go over their links.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use crate::machine::sample::{faulty, performing, program};
use crate::machine::{Change, Machine, Planned, StepOutcome};
use crate::model::access::{AccessKind, Bytes};
use crate::model::address::Address;
use crate::model::fault::Fault;
use crate::model::inspect::Inspect;
use crate::model::lanes::{LaneDirection, LanePhase};
use crate::model::message::{MessageKind, Network};
use crate::model::operation::{Lanes, Operation, StoreValue, WarpAccess};
use crate::model::record::{Record, Records, What};
use crate::workload::{Operations, Task, TaskKind};

const MACHINE: &str = "tiny/umh-4gpu-switch";
const STATIC: &str = "network.balancer.policy=static";
/// Ten times as often as the paper, so that short runs see many reversals.
const OFTEN: &str = "network.balancer.sample=500";
/// As good as never.
const NEVER: &str = "network.balancer.sample=1000000000";

/// The first GPU reads what lies in memory, on all its warps.
fn one_sided() -> Vec<Task> {
    let blocks = |warp: u64| (0..60).map(|block| 0x4000 * warp + 0x100 * block).collect::<Vec<_>>();
    (0..32).map(|warp| program(&format!("gpu0.cu{}", warp % 2), AccessKind::Load, &blocks(warp))).collect()
}

/// All GPUs read, and write words of their own in blocks that the others read and write.
fn mixed(seed: u64) -> Vec<Task> {
    let agents = (0..8).map(|agent| (agent, format!("gpu{}.cu{}", agent / 2, agent % 2)));
    let work = agents.map(|(agent, path)| {
        let kind = if (agent + seed).is_multiple_of(3) { AccessKind::Load } else { AccessKind::Store };
        let address = |step: u64| 0x100 * ((step * (seed % 7 + 3) + agent * seed) % 90) + 4 * agent;
        let access = |step: u64| {
            Operation::Access(WarpAccess {
                kind,
                width: 4,
                lanes: Lanes::one(Address(address(step))),
                value: StoreValue::Seed(seed * 1000 + step),
                label: None,
            })
        };
        let operations = Operations::Listed((0..50).map(access).collect());
        let what = TaskKind::Program { agent: path.clone(), warp: None, operations };
        Task { id: path.as_str().into(), after: Vec::new(), delay: 0, launch: None, what }
    });
    work.collect()
}

/// After all others, the core loads every word that [`mixed`] stores to; what it finds is the memory.
fn then_look(mut tasks: Vec<Task>) -> Vec<Task> {
    let look = |word: u64| {
        let address = 0x100 * (word / 8) + 4 * (word % 8);
        Operation::Access(WarpAccess {
            kind: AccessKind::Load,
            width: 4,
            lanes: Lanes::one(Address(address)),
            value: StoreValue::Bytes(Bytes::default()),
            label: Some(format!("{address:x}").as_str().into()),
        })
    };
    let operations = Operations::Listed((0..90 * 8).map(look).collect());
    let what = TaskKind::Program { agent: "host.cpu0".to_owned(), warp: None, operations };
    tasks.push(Task { id: "look".into(), after: (0..tasks.len()).collect(), delay: 0, launch: None, what });
    tasks
}

fn run(machine: &mut Machine) -> Vec<Record> {
    let (mut records, mut all) = (Records::listening(), Vec::new());
    while machine.step(&mut records) == StepOutcome::Ran {
        assert_lanes(machine);
        all.append(&mut records.list);
    }
    assert!(machine.is_finished(), "{:?}", machine.wait_for_graph());
    assert!(machine.violations().is_empty(), "{:?}", machine.violations());
    all
}

/// None is lost, and each direction has one.
fn assert_lanes(machine: &Machine) {
    for pair in machine.lanes.iter().flat_map(|lanes| &lanes.pairs) {
        let [out, into] = pair.links.map(|link| &machine.links[link]);
        let turning = pair.turning.map_or(0, |turning| turning.count);
        assert_eq!(out.lanes + into.lanes + turning, 2 * out.nominal());
        assert!(out.lanes > 0 && into.lanes > 0);
    }
}

fn reversals(records: &[Record], phase: LanePhase) -> usize {
    let is_it = |record: &&Record| matches!(&record.what, What::LaneReversal(it) if it.phase == phase);
    records.iter().filter(is_it).count()
}

fn cycles(machine: &Machine) -> u64 {
    machine.time_base().cycle(machine.tick())
}

/// What was sent, and what was taken, each in its order by channel and network; replies by block, since what waits for memory
/// lets messages about other blocks pass.
fn orders(records: &[Record]) -> [BTreeMap<String, Vec<String>>; 2] {
    let mut orders: [BTreeMap<String, Vec<String>>; 2] = Default::default();
    for record in records {
        let (nth, message) = match &record.what {
            What::Message(message) => (0, message),
            What::Delivery(message) => (1, message),
            _ => continue,
        };
        let network = message.kind.network();
        let block = (network == Network::Reply).then(|| message.range.start.block(256));
        let key = format!("{:?} {:?} {network:?} {block:?}", message.from, message.to);
        orders[nth].entry(key).or_default().push(format!("{:?} {}", message.kind, message.cause));
    }
    orders
}

#[test]
fn a_saturated_direction_gets_lanes_and_the_work_is_done_sooner() {
    let often = "network.balancer.sample=2000";
    let mut fixed = performing(MACHINE, &[STATIC, often], one_sided());
    run(&mut fixed);
    let mut machine = performing(MACHINE, &[often], one_sided());
    let records = run(&mut machine);
    assert!(reversals(&records, LanePhase::Done) >= 5);
    assert!(cycles(&machine) * 10 < cycles(&fixed) * 9, "{} and {}", cycles(&machine), cycles(&fixed));
    assert!(machine.statistic("network.lane_reversal_cycles") >= Some(500.0));
    let into = machine.components().find("link.gpu0.in").unwrap();
    let view = machine.link(into, 0).unwrap();
    assert!(view.lanes > 8, "{view:?}");
    assert_eq!(view.bandwidth, 2_000_000_000 / 8 * u64::from(view.lanes));
    assert_eq!(fixed.link(into, 0).unwrap().lanes, 8);
}

#[test]
fn a_lane_quiesces_turns_and_is_there_in_this_order() {
    let mut machine = performing(MACHINE, &[OFTEN], one_sided());
    let records = run(&mut machine);
    let turn = machine.time_base().tick_of_cycle(100);
    assert!(reversals(&records, LanePhase::Done) > 0);
    let mut under_way: BTreeMap<_, (LanePhase, u64)> = BTreeMap::new();
    for record in &records {
        let What::LaneReversal(reversal) = &record.what else { continue };
        let path = machine.components().path(record.at);
        assert_eq!(path.rsplit('.').next(), Some(reversal.to.name()));
        match (reversal.phase, under_way.remove(path)) {
            (LanePhase::Quiesce, None) => {}
            (LanePhase::Turn, Some((LanePhase::Quiesce, since))) => assert!(record.tick >= since),
            (LanePhase::Done, Some((LanePhase::Turn, since))) => {
                assert!(record.tick >= since + turn, "it turned in {}", record.tick - since);
                continue;
            }
            other => panic!("{other:?}"),
        }
        under_way.insert(path, (reversal.phase, record.tick));
    }
}

#[test]
fn what_was_on_a_lane_when_it_quiesces_arrives_before_it_turns() {
    let mut machine = performing(MACHINE, &["network.balancer.sample=100"], mixed(1));
    let mut records = Records::listening();
    let mut seen = false;
    while machine.step(&mut records) == StepOutcome::Ran {
        for record in &records.list {
            let What::LaneReversal(reversal) = &record.what else { continue };
            if reversal.phase == LanePhase::Quiesce {
                let lanes = machine.lanes.as_ref().unwrap();
                let at = machine.fixed.link_of[record.at.index()].unwrap();
                let pair = lanes.pairs.iter().find(|pair| pair.links.contains(&at)).unwrap();
                let losing = &machine.links[pair.link(reversal.to.opposite())];
                let Some(turning) = pair.turning.filter(|it| it.phase == LanePhase::Quiesce) else {
                    continue;
                };
                seen |= losing.free_at() > machine.now;
                let arrives = losing.free_at() + losing.latency;
                assert!(losing.free_at() <= machine.now || turning.until >= arrives);
            }
        }
    }
    assert!(seen, "no lane had anything to wait for");
}

#[test]
fn a_kernel_launch_makes_lanes_symmetric_again() {
    let mut machine = performing(MACHINE, &["network.balancer.sample=2000"], one_sided());
    run(&mut machine);
    let lanes = |machine: &Machine| -> Vec<[u32; 2]> {
        let pairs = machine.lanes.as_ref().unwrap().pairs.iter();
        pairs.map(|pair| pair.links.map(|link| machine.links[link].lanes)).collect()
    };
    let before = lanes(&machine);
    assert!(before.iter().any(|[out, into]| out != into), "{before:?}");
    let mut records = Records::listening();
    let mut out = machine.outbox(&mut records);
    machine.lanes_at_launch(&mut out);
    drop(out);
    let (begun, sample) = (machine.lanes.as_ref().unwrap().begin, machine.lanes.as_ref().unwrap().sample);
    assert_eq!(begun, machine.now, "samples begin with the kernel");
    machine.arm_sampler();
    assert_eq!(machine.lanes.as_ref().unwrap().sample_ends, Some(machine.now + sample));
    for pair in &machine.lanes.as_ref().unwrap().pairs {
        let [out, into] = pair.links.map(|link| machine.links[link].lanes);
        let turning = pair.turning;
        let lands = |direction: LaneDirection, lanes| {
            lanes + turning.filter(|it| it.to == direction).map_or(0, |it| it.count)
        };
        assert!(pair.restores || lands(LaneDirection::Out, out) == lands(LaneDirection::In, into));
    }
}

#[test]
fn a_sampler_changes_nothing_about_when_the_work_is_done() {
    for work in [one_sided(), mixed(2)] {
        let mut plain = performing(MACHINE, &[STATIC, NEVER], work.clone());
        let mut sampled = performing(MACHINE, &[STATIC, "network.balancer.sample=7"], work);
        run(&mut plain);
        run(&mut sampled);
        assert_eq!(plain.tick(), sampled.tick());
        assert!(sampled.event() > plain.event());
    }
}

#[test]
fn a_deadlock_is_seen_when_it_happens_though_a_sampler_is_there() {
    let stuck = |changes: &[&str]| {
        let fault = Fault::LoseMessage { kind: MessageKind::Grant, nth: 40 };
        let mut machine = faulty(MACHINE, changes, one_sided(), vec![fault]);
        assert_eq!(machine.run_until(u64::MAX), StepOutcome::Stuck);
        assert!(machine.is_stuck());
        machine.tick()
    };
    assert_eq!(stuck(&[STATIC, "network.balancer.sample=1"]), stuck(&[STATIC, NEVER]));
}

#[test]
fn going_on_from_a_copy_in_the_midst_of_a_reversal_is_the_same() {
    let mut machine = performing(MACHINE, &[OFTEN], mixed(3));
    let (mut records, mut copies) = (Records::listening(), Vec::new());
    while machine.step(&mut records) == StepOutcome::Ran {
        if records.list.iter().any(|record| matches!(record.what, What::LaneReversal(_))) && copies.len() < 20
        {
            copies.push(machine.clone());
        }
    }
    assert!(!copies.is_empty());
    for mut copy in copies {
        copy.run_until(u64::MAX);
        assert_eq!(copy.digest(), machine.digest());
    }
}

#[test]
fn what_is_changed_under_way_keeps_the_lanes() {
    let changed = |set: &[&str]| Change::Adopt(Arc::new(performing(MACHINE, set, mixed(4))));
    let changes: [&[&str]; 5] = [
        &["network.balancer.turn=700", OFTEN],
        &[STATIC, OFTEN],
        &["network.balancer.sample=300"],
        &["network.bandwidth=3 GB/s", "network.latency=20 ns"],
        &["network.lanes=4"],
    ];
    let mut machine = performing(MACHINE, &[OFTEN], mixed(4));
    let plan = (1..).zip(changes).map(|(nth, set)| Planned {
        event: nth * 700,
        text: "set".into(),
        change: changed(set),
    });
    machine.plan(plan.collect());
    let records = run(&mut machine);
    assert!(reversals(&records, LanePhase::Done) > 0);
    let inputs = records.iter().filter(|record| matches!(record.what, What::Input { .. })).count();
    assert_eq!(inputs, changes.len());
    assert_eq!(machine.links.iter().filter(|link| link.nominal() == 4).count(), 10);
}

#[test]
fn a_machine_that_has_finished_samples_again_when_it_has_work_again() {
    let mut machine = performing(MACHINE, &[OFTEN], one_sided());
    run(&mut machine);
    assert_eq!(machine.run_lanes(&mut Records::silent()), None);
    assert!(machine.is_finished());
    let before = machine.lane_counts();
    let plan = (machine.event()..).zip(one_sided()).map(|(event, task)| Planned {
        event,
        text: "work".into(),
        change: Change::Work(task),
    });
    machine.plan(plan.collect());
    run(&mut machine);
    assert!(machine.lane_counts() > before);
}

#[test]
fn fixed_lanes_are_those_of_what_is_taken_over() {
    let work = || vec![program("gpu0.cu0", AccessKind::Load, &[0x1000, 0x2000, 0x3000])];
    let change = Change::Adopt(Arc::new(performing("tiny/umh-2gpu", &["network.lanes=4"], work())));
    let planned = |change: &Change| Planned { event: 3, text: "set".into(), change: change.clone() };
    let mut machine = performing("tiny/umh-2gpu", &[], work());
    machine.plan([planned(&change)].into());
    run(&mut machine);
    let mut plain = performing("tiny/umh-2gpu", &[], work());
    run(&mut plain);
    assert!(machine.links.iter().any(|link| (link.lanes, link.nominal()) == (4, 4)));
    assert_eq!(machine.tick(), plain.tick(), "lanes divide the bandwidth, they do not make it");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn turning_loses_nothing_and_changes_no_order_and_no_byte(
        seed in 0u64..1000,
        sample in 20u32..800,
        turn in prop_oneof![Just(0u32), 1u32..200],
        threshold in 20u32..=100,
        lanes in 1u32..=8,
        topology in prop_oneof![Just("switch"), Just("point-to-point"), Just("shared")],
    ) {
        let changes = [
            format!("network.balancer.sample={sample}"),
            format!("network.balancer.turn={turn}"),
            format!("network.balancer.threshold={threshold}"),
            format!("network.lanes={lanes}"),
            format!("network.topology={topology}"),
        ];
        let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
        let mut machine = performing(MACHINE, &changes, then_look(mixed(seed)));
        let records = run(&mut machine);
        let [sent, taken] = orders(&records);
        prop_assert_eq!(sent, taken);
        let mut fixed = performing(MACHINE, &[&changes[..], &[STATIC]].concat(), then_look(mixed(seed)));
        run(&mut fixed);
        prop_assert_eq!(machine.results(), fixed.results());
        let mut again = performing(MACHINE, &changes, then_look(mixed(seed)));
        again.run_until(u64::MAX);
        prop_assert_eq!(machine.digest(), again.digest());
    }
}
