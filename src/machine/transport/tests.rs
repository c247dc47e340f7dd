//! Messages that cross a switch.

use std::collections::BTreeMap;

use super::carry;
use crate::machine::sample::{performing, program, working};
use crate::machine::{Machine, StepOutcome};
use crate::model::access::AccessKind;
use crate::model::inspect::Inspect;
use crate::model::message::{MessageKind, Network, TxnNumber};
use crate::model::record::{Record, Records, What};
use crate::model::time::ByteRate;
use crate::parts::channel::Path;
use crate::parts::link::Link;

const SWITCH: &str = "network.topology=switch";

/// Every agent stores to lines that all of them want, and loads what its neighbour stored.
fn contended(changes: &[&str]) -> Machine {
    let agents = ["gpu0.cu0", "gpu1.cu0", "gpu2.cu1", "gpu3.cu0", "host.cpu0"];
    let work = (0u64..).zip(agents).map(|(nth, agent)| {
        let addresses = (0..6).map(|round| 0x1000 * ((nth + round) % 5) + 4 * nth).collect();
        let kind = if nth % 2 == 0 { AccessKind::Store } else { AccessKind::Load };
        (agent, kind, addresses)
    });
    working("tiny/umh-4gpu", changes, &work.collect::<Vec<_>>())
}

fn run(machine: &mut Machine) -> Vec<Record> {
    let (mut records, mut all) = (Records::listening(), Vec::new());
    while machine.step(&mut records) == StepOutcome::Ran {
        all.append(&mut records.list);
    }
    assert!(machine.is_finished(), "{:?}", machine.wait_for_graph());
    assert!(machine.violations().is_empty(), "{:?}", machine.violations());
    all
}

/// The sum of a statistic over all links of a direction.
fn sum(machine: &Machine, what: &str) -> u64 {
    let all = machine.statistics().into_iter();
    all.filter(|(key, _)| key.starts_with("link.") && key.ends_with(what))
        .map(|(_, value)| value as u64)
        .sum()
}

#[test]
fn what_goes_into_the_switch_comes_out_of_it() {
    let mut machine = contended(&[SWITCH]);
    let records = run(&mut machine);
    assert!(sum(&machine, ".out.bytes") > 0);
    assert_eq!(sum(&machine, ".out.bytes"), sum(&machine, ".in.bytes"));
    let hops = records.iter().filter(|record| matches!(record.what, What::Hop(_))).count();
    assert_eq!(hops as u64, sum(&machine, ".in.messages"));
}

#[test]
fn messages_of_a_channel_and_network_keep_their_order_through_the_switch() {
    for buffers in ["network.buffers=1", "network.buffers=4"] {
        let records = run(&mut contended(&[SWITCH, buffers]));
        let mut sent: BTreeMap<_, Vec<(Option<TxnNumber>, u64)>> = BTreeMap::new();
        let mut taken = sent.clone();
        for record in &records {
            let (into, message) = match &record.what {
                What::Message(message) => (&mut sent, message),
                What::Delivery(message) => (&mut taken, message),
                _ => continue,
            };
            // What waits for memory lets messages about other blocks pass: the order of replies is that of one block.
            let network = message.kind.network();
            let block = (network == Network::Reply).then(|| message.range.start.block(4096));
            let key = (message.from, message.to, network, block);
            into.entry(key).or_default().push((message.number, message.cause));
        }
        assert_eq!(sent, taken);
    }
}

#[test]
fn the_latency_is_that_of_the_whole_way() {
    let cycles = |topology: &str, latency: &str| {
        let changes = [topology, latency, "network.bandwidth=100 TB/s"];
        let mut machine = working("tiny/umh-4gpu", &changes, &[("gpu0.cu0", AccessKind::Load, vec![0x1000])]);
        run(&mut machine);
        machine.statistic("cycles").unwrap() as u64
    };
    for latency in ["network.latency=400 ns", "network.latency=401 ns"] {
        assert_eq!(cycles(SWITCH, latency), cycles("network.topology=point-to-point", latency));
    }
    assert!(cycles(SWITCH, "network.latency=800 ns") > cycles(SWITCH, "network.latency=400 ns") + 600);
}

#[test]
fn who_is_turned_away_is_taken_in_turn() {
    let line = |cu: u64, nth: u64| {
        (["gpu0.cu0", "gpu0.cu1"][cu as usize], AccessKind::Load, vec![0x1000 + (2 * nth + cu) * 0x40])
    };
    let lines: Vec<_> = (0..8).flat_map(|nth| [line(0, nth), line(1, nth)]).collect();
    let changes = ["gpu.l2.mshrs=1", "gpu.l1.mshrs=8", "gpu.cu.wavefronts=8"];
    let mut machine = working("tiny/umh-1gpu", &changes, &lines);
    let l2 = machine.components().find("gpu0.l2.0").unwrap();
    let mut senders = Vec::new();
    for record in run(&mut machine) {
        if let What::Delivery(message) = &record.what
            && record.at == l2
            && message.kind == MessageKind::Read
        {
            senders.push(message.from);
        }
    }
    // The first of both, before anybody was turned away.
    let turns: Vec<_> = senders.iter().skip(2).collect();
    assert!(turns.len() == 14 && turns.windows(2).all(|pair| pair[0] != pair[1]), "{turns:?}");
}

#[test]
fn what_comes_whole_is_passed_on_before_it_is_read_again() {
    let mut machine = working("tiny/umh-1gpu", &[], &[("gpu0.cu0", AccessKind::Load, vec![0x1000])]);
    run(&mut machine);
    let of_stacks = |what: &str| {
        let all = machine.statistics().into_iter();
        all.filter(|(key, _)| key.starts_with("gpu0.smd") && key.ends_with(what))
            .map(|(_, value)| value)
            .sum::<f64>()
    };
    assert!(of_stacks(".dram.writes") > 0.0);
    assert_eq!(of_stacks(".dram.reads") as u64, 0);
}

/// GPU 0 owns a block, and GPU 1 has had it, too, and has evicted it.
fn reads_of_home(of_gpu1: AccessKind) -> u64 {
    let of = |agent: &str, kind, addresses: &[u64], delay| {
        let mut work = program(agent, kind, addresses);
        (work.id, work.delay) = (format!("{agent} at {delay}").into(), delay);
        work
    };
    let others: Vec<u64> = (0x10..0x18).map(|block| block * 0x1000).collect();
    let work = vec![
        of("gpu0.cu0", AccessKind::Store, &[0x1000], 0),
        of("gpu1.cu0", of_gpu1, &[0x1040], 10_000),
        of("gpu1.cu0", AccessKind::Load, &others, 20_000),
        of("gpu0.cu0", AccessKind::NStore, &[0x1004], 60_000),
        of("gpu1.cu0", AccessKind::Load, &[0x1080], 70_000),
    ];
    let mut machine = performing("tiny/umh-2gpu", &["gpu.memory.ways=4"], work);
    run(&mut machine);
    machine.statistic("host.hmd0.dram.reads").unwrap() as u64
}

#[test]
fn what_an_owner_gives_is_passed_on_unless_others_have_given_newer_bytes() {
    // The block for the store, and eight others.
    assert_eq!(reads_of_home(AccessKind::Load), 1 + 8);
    assert_eq!(reads_of_home(AccessKind::NStore), 1 + 8 + 1);
}

#[test]
fn of_a_line_that_was_never_fetched_only_what_was_stored_is_written_back() {
    let lines = (0..24).map(|line| 0x1000 + 0x40 * line).collect();
    let mut machine = working("tiny/numa-2socket", &[], &[("gpu0.cu0", AccessKind::NStore, lines)]);
    let header = machine.spec().network.header;
    let mut sizes = Vec::new();
    for record in run(&mut machine) {
        if let What::Message(message) = &record.what
            && message.kind == MessageKind::Writeback
        {
            sizes.push(message.size - header);
        }
    }
    assert!(!sizes.is_empty() && sizes.iter().all(|size| *size == 32), "{sizes:?}");
}

/// The packets of a page go on while others of it come: the link behind a switch stands empty before none of them.
#[test]
fn a_page_goes_through_a_switch_in_packets() {
    let link = |bytes| Link::new(Some(ByteRate::new(bytes, 1)), 10, 1, 1000);
    let path = Path::switched(0, 1);
    let mut even = [link(4), link(4)];
    assert_eq!(carry(&mut even, path, 4096, 0), 1024 + 20);
    assert_eq!((even[1].started(), even[1].free_at()), (10, 1034));
    // A faster one would have to pause: it waits until it need not.
    let mut faster = [link(4), link(8)];
    assert_eq!(carry(&mut faster, path, 4096, 0), 1034 + 10);
    assert_eq!(faster[1].started(), 1034 - 512);
    let mut slower = [link(4), link(2)];
    assert_eq!(carry(&mut slower, path, 4096, 0), 10 + 2048 + 10);
}

/// The software that flushes the CPU's caches takes its time before it sends anything.
#[test]
fn a_flush_takes_no_link_before_it_is_sent() {
    let changes =
        ["gpu.remote_directory.lines=4", "gpu.remote_directory.bits=8", "gpu.remote_directory.flush=10 us"];
    let mut work = vec![program("host.cpu0", AccessKind::Load, &[0x2000, 0x2100, 0x2180, 0x2280, 0x2300])];
    work.push(program("gpu0.cu0", AccessKind::Load, &[0x1000]));
    work[1].delay = 1400;
    let mut machine = performing("tiny/selective", &changes, work);
    let records = run(&mut machine);
    let flush =
        |record: &&Record| matches!(&record.what, What::Message(sent) if sent.kind == MessageKind::Flush);
    let begun = records.iter().find(flush).unwrap().cycle;
    let gpu = machine.components().find("gpu0.cu0.l1");
    let done = |record: &&Record| Some(record.at) == gpu && matches!(record.what, What::Complete { .. });
    let ended = records.iter().find(done).unwrap().cycle;
    assert!(begun < 1400 && ended < 1400 + 500, "{begun} {ended}");
}
