//! Random accesses from every core and compute unit into tiny caches, with values and checks on, for every
//! protocol table and one to four GPUs. `UMSCOPE_STRESS=1000000` makes it a long run (accesses per machine).

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use smallvec::SmallVec;
use umscope::config::{load_machine_with, load_protocol};
use umscope::machine::{Blueprint, Machine, StepOutcome};
use umscope::model::access::{AccessKind, AtomicOp};
use umscope::model::address::Address;
use umscope::model::fault::Fault;
use umscope::model::inspect::Inspect;
use umscope::model::message::MessageKind;
use umscope::model::operation::{Lanes, Operation, StoreValue, WarpAccess};
use umscope::model::record::Records;
use umscope::workload::{Operations, Task, TaskKind, Workload};

const PROTOCOLS: [&str; 7] = ["nmoesi", "nmoesi-printed", "nmoesi-m2s", "moesi", "mesi", "msi", "vi"];

/// A small generator: the tests must be the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// One random access to a few contended lines in a few secondary blocks that fight for the same sets.
fn access(random: &mut Random) -> Operation {
    let block = random.below(6) * 0x1000;
    let line = random.below(5) * 0x40;
    let width = [1u64, 1, 2, 4, 8][random.below(5) as usize];
    let offset = random.below(16 / width) * width;
    let kind = match random.below(20) {
        0..8 => AccessKind::Load,
        8..12 => AccessKind::Store,
        12..18 => AccessKind::NStore,
        18 => AccessKind::Atomic(AtomicOp::Add),
        _ => AccessKind::Store,
    };
    let sync = random.below(40) == 0;
    let (kind, width) = if sync { (AccessKind::Store, 0) } else { (kind, width) };
    let bytes: SmallVec<[u8; 8]> = (0..width).map(|_| 1 + random.below(255) as u8).collect();
    Operation::Access(WarpAccess {
        kind,
        width: width as u8,
        lanes: Lanes::one(Address(0x1_0000 + block + line + offset)),
        value: StoreValue::Bytes(bytes),
        label: None,
    })
}

fn workload(agents: &[String], accesses: usize, seed: u64) -> Workload {
    let mut random = Random(seed);
    let streams = agents.len() * 2;
    let tasks = (0..streams)
        .map(|stream| {
            let mut operations = Vec::new();
            for _ in 0..accesses / streams {
                if random.below(6) == 0 {
                    operations.push(Operation::Compute(1 + random.below(60) as u32));
                }
                operations.push(access(&mut random));
            }
            let agent = agents[stream % agents.len()].clone();
            Task {
                id: format!("stream{stream}").into(),
                after: Vec::new(),
                delay: 0,
                launch: None,
                what: TaskKind::Program {
                    agent,
                    warp: None,
                    operations: Operations::Listed(operations.into()),
                },
            }
        })
        .collect();
    Workload { tasks, ..Workload::default() }
}

fn blueprint(machine: &str, protocol: &str, accesses: usize, seed: u64, faults: Vec<Fault>) -> Blueprint {
    varied(machine, &[], protocol, accesses, seed, faults)
}

fn varied(
    machine: &str,
    changes: &[String],
    protocol: &str,
    accesses: usize,
    seed: u64,
    faults: Vec<Fault>,
) -> Blueprint {
    let mut spec = load_machine_with(machine, None, changes).unwrap();
    spec.protocol = protocol.to_owned();
    let mut agents: Vec<String> = Vec::new();
    if let Some(gpu) = &spec.gpu {
        for index in 0..gpu.count {
            agents.extend((0..gpu.cu.count).map(|cu| format!("gpu{index}.cu{cu}")));
        }
    }
    agents.extend((0..spec.host.cores).map(|core| format!("host.cpu{core}")));
    let mut names: Vec<String> = vec![protocol.to_owned()];
    for name in spec.clone().protocols() {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    Blueprint {
        tables: names.iter().map(|name| Arc::new(load_protocol(name, None).unwrap())).collect(),
        workload: Arc::new(workload(&agents, accesses, seed)),
        seed,
        max_cycles: u64::MAX,
        checks: true,
        faults,
        initial: Vec::new(),
        memory: Vec::new(),
        allocated: Vec::new(),
        first_pass: umscope::machine::FirstPass::default(),
        spec,
    }
}

/// Runs to the end; the events executed and the digest.
fn run(blueprint: &Blueprint) -> Result<(u64, u64), String> {
    let mut machine = Machine::build(blueprint).unwrap();
    let mut records = Records::silent();
    loop {
        let outcome = machine.step(&mut records);
        if let Some(violation) = machine.violations().first() {
            return Err(format!("event {}: {}: {}", violation.event, violation.rule, violation.text));
        }
        match outcome {
            StepOutcome::Ran => {}
            StepOutcome::Finished => return Ok((machine.event(), machine.digest())),
            StepOutcome::Limit(cycle) => return Err(format!("still going on at cycle {cycle}")),
            StepOutcome::Stuck => {
                let txns = machine.transactions(usize::MAX, usize::MAX);
                return Err(format!("stuck at event {}: {:#?}", machine.event(), txns.first()));
            }
        }
    }
}

fn accesses() -> usize {
    std::env::var("UMSCOPE_STRESS").ok().and_then(|count| count.parse().ok()).unwrap_or(3000)
}

#[test]
fn no_protocol_breaks_a_rule_on_any_machine() {
    let mut failures = Vec::new();
    for machine in [
        "tiny/umh-1gpu",
        "tiny/umh-2gpu",
        "tiny/umh-4gpu",
        "tiny/umh-2gpu-nvlink",
        "tiny/umh-2gpu-mask4",
        "tiny/two-l1",
        "tiny/cpu-2core",
    ] {
        for protocol in PROTOCOLS {
            for seed in 1..=2 {
                let plan = blueprint(machine, protocol, accesses(), seed, Vec::new());
                if let Err(failure) = run(&plan) {
                    failures.push(format!("{machine} {protocol} seed {seed}: {failure}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Memory controllers with queues on both sides.
const FR_FCFS: [&str; 2] = ["gpu.memory.dram.scheduler=fr-fcfs", "host.dram.scheduler=fr-fcfs"];

/// What has to pass between commands to banks, and banks that are dealt by all bits.
const GAPS: [&str; 10] = [
    "gpu.memory.dram.row_cycle=60 ns",
    "gpu.memory.dram.row_to_row=8 ns",
    "gpu.memory.dram.write_recovery=16 ns",
    "gpu.memory.dram.write_to_read=7 ns",
    "gpu.memory.dram.hash=true",
    "host.dram.row_cycle=60 ns",
    "host.dram.row_to_row=8 ns",
    "host.dram.write_recovery=16 ns",
    "host.dram.write_to_read=7 ns",
    "host.dram.hash=true",
];

#[test]
fn no_size_breaks_a_rule() {
    let variations: &[&[&str]] = &[
        &["gpu.count=3"],
        &["gpu.memory.secondary_block=64 B", "gpu.memory.size=1 KiB"],
        &["gpu.memory.secondary_block=16 KiB", "gpu.memory.size=64 KiB", "host.block=16 KiB"],
        &["gpu.memory.mask_bytes=8"],
        &["network.buffers=1"],
        &["gpu.l1.mshrs=1", "gpu.l2.mshrs=1", "gpu.memory.mshrs=1"],
        &["gpu.l1.size=64 B", "gpu.l1.ways=1", "gpu.l2.size=64 B", "gpu.l2.ways=1"],
        &["gpu.l2.slices=2", "host.hmds=2"],
        &["host.llc=false", "host.cores=3"],
        &[
            "host.peer_transfer=true",
            "network.topology=point-to-point",
            "gpu.cu.outstanding=3",
            "host.outstanding=3",
        ],
        &FR_FCFS,
        &[FR_FCFS[0], FR_FCFS[1], "gpu.l2.slices=2", "host.hmds=2", "host.peer_transfer=true"],
        &[FR_FCFS[0], FR_FCFS[1], "gpu.memory.dram.queue=1", "host.dram.write_queue=1", "network.buffers=1"],
        &[
            FR_FCFS[0],
            FR_FCFS[1],
            "gpu.memory.dram.always_reopen=false",
            "host.dram.channels=4",
            "host.outstanding=4",
        ],
        &[&FR_FCFS[..], &GAPS].concat(),
        &GAPS,
        &[FR_FCFS[0], FR_FCFS[1], "network.virtual_networks=1", "network.buffers=64", "gpu.cu.outstanding=3"],
        // The interleave of section 5.3 that is smaller than a secondary block.
        &["gpu.l2.slices=2", "gpu.l2.interleave=64 B"],
        &["gpu.l2.slices=4", "gpu.l2.interleave=64 B", "host.peer_transfer=true", FR_FCFS[0], FR_FCFS[1]],
        // An LLC of secondary blocks that is too small for the core's L1.
        &["host.llc.line=4 KiB", "host.llc.size=8 KiB", "host.llc.ways=1", "host.cores=2"],
    ];
    let mut failures = Vec::new();
    for changes in variations {
        let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
        for protocol in ["nmoesi", "mesi"] {
            let plan = varied("tiny/umh-2gpu", &changes, protocol, accesses(), 5, Vec::new());
            if let Err(failure) = run(&plan) {
                failures.push(format!("{changes:?} {protocol}: {failure}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn writebacks_above_a_cache_that_tracks_nobody_are_stores() {
    let mut failures = Vec::new();
    for l2 in ["memory-side", "static", "shared", "partitioned"] {
        // Cores whose LLC writes back what an L2 of a socket may have evicted long since.
        let changes = [&format!("gpu.numa.l2={l2}"), "host.cores=2", "host.llc.size=512 B"];
        let plan = varied(
            "tiny/numa-2socket",
            &changes.map(str::to_owned),
            "gpu-coherent",
            accesses(),
            3,
            Vec::new(),
        );
        if let Err(failure) = run(&plan) {
            failures.push(format!("{l2}: {failure}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A block whose store an L2 has passed up does not keep the MSHR while another access to it waits for a way: those that could leave it
/// may wait for the MSHR.
#[test]
fn few_ways_and_one_mshr_suffice_where_an_l2_passes_stores_up() {
    let mut failures = Vec::new();
    for (l2, ways) in [("static", 2), ("shared", 1), ("partitioned", 2)] {
        let changes = [&format!("gpu.numa.l2={l2}"), &format!("gpu.l2.ways={ways}"), "gpu.l2.mshrs=1"];
        for seed in 1..=3 {
            let changes = changes.map(str::to_owned);
            let plan = varied("tiny/numa-2socket", &changes, "gpu-coherent", accesses(), seed, Vec::new());
            if let Err(failure) = run(&plan) {
                failures.push(format!("{l2} seed {seed}: {failure}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn two_runs_are_one_digest() {
    let plan = blueprint("tiny/umh-4gpu", "nmoesi", 2000, 7, Vec::new());
    assert_eq!(run(&plan).unwrap(), run(&plan).unwrap());
}

#[test]
fn listening_changes_nothing() {
    let controllers = FR_FCFS.map(str::to_owned);
    for changes in [&[][..], &controllers] {
        listening_changes_nothing_on(&varied("tiny/umh-2gpu", changes, "nmoesi", 1000, 3, Vec::new()));
    }
}

/// Without values and checks hits are performed in place, where nobody listens.
#[test]
fn listening_changes_nothing_where_hits_are_performed_in_place() {
    let roomy = ["values=false", "gpu.l1.size=4 KiB", "gpu.l1.ways=4"].map(str::to_owned);
    for protocol in PROTOCOLS {
        let plan = varied("tiny/umh-2gpu", &roomy, protocol, 2000, 3, Vec::new());
        listening_changes_nothing_on(&Blueprint { checks: false, ..plan });
    }
}

fn listening_changes_nothing_on(plan: &Blueprint) {
    let (mut heard, mut unheard) = (Machine::build(plan).unwrap(), Machine::build(plan).unwrap());
    let mut records = Records::listening();
    while heard.step(&mut records) == StepOutcome::Ran {
        assert!(!records.list.is_empty(), "event {} tells nothing", heard.event());
    }
    unheard.run_until(u64::MAX);
    assert_eq!(heard.digest(), unheard.digest());
}

#[test]
fn whatever_message_or_wake_up_is_lost_the_run_gets_stuck() {
    let plan = |faults| blueprint("tiny/umh-2gpu", "nmoesi", 600, 1, faults);
    let lost = [
        MessageKind::Read,
        MessageKind::ReadNc,
        MessageKind::Write,
        MessageKind::Grant,
        MessageKind::GrantAck,
        MessageKind::ProbeWrite,
        MessageKind::Answer,
        MessageKind::EvictAck,
    ];
    let lost = lost.into_iter().map(|kind| Fault::LoseMessage { kind, nth: 3 });
    run(&plan(Vec::new())).unwrap();
    for fault in lost.chain([1, 50].map(|nth| Fault::DropWakeUp { nth })) {
        let ended = run(&plan(vec![fault]));
        assert!(ended.as_ref().is_err_and(|why| why.starts_with("stuck")), "{fault:?}: {ended:?}");
    }
}

/// Where a fault does harm: the machine, what is changed about it, and the protocol.
type Ground = (&'static str, &'static [&'static str], &'static str);
const PLAIN: Ground = ("tiny/umh-2gpu", &[], "nmoesi");
const CONTROLLERS: Ground = ("tiny/umh-2gpu", &FR_FCFS, "nmoesi");
const PEERS: Ground = ("tiny/umh-2gpu-nvlink", &["gpu.cu.outstanding=3", "host.outstanding=3"], "nmoesi");
const PEERS_OF_LINES: Ground = (
    "tiny/umh-2gpu-nvlink",
    &["gpu.memory.secondary_block=64 B", "gpu.memory.size=1 KiB", "host.block=64 B"],
    "nmoesi",
);

const PAGED: Ground = (
    "tiny/umh-1gpu",
    &["gpu.memory.home=own", "gpu.paging.service=2 us", "gpu.paging.transfer_set=4", "gpu.paging.share=30"],
    "mesi",
);

const SELECTIVE: Ground = ("tiny/selective", &[], "selective-host");

/// A remote directory in which lines pass for each other.
const CROWDED: Ground =
    ("tiny/selective", &["gpu.remote_directory.lines=8", "gpu.remote_directory.bits=3"], "selective-host");

/// A memory so slow that probes pass what it sends.
const OVERTAKEN: Ground = ("tiny/selective", &["gpu.memory.dram.cas=300 ns"], "selective-host");

/// The ground and accesses for a fault; `None` where no rule is broken: an unfair arbiter keeps everybody right, and
/// only lets some wait. Those of tags, and of launches, have tests of their own.
fn ground(fault: Fault) -> Option<(Ground, usize)> {
    match fault {
        Fault::UnfairArbiter | Fault::NoLaunchFlush => None,
        Fault::SkipShootDown | Fault::DropPageWriteBack => Some((PAGED, 3000)),
        Fault::NoEvictAck | Fault::WritebacksAsRequests => Some((CONTROLLERS, 3000)),
        Fault::PeerGrantsExclusive | Fault::AckBeforeData | Fault::NoSupply => Some((PEERS, 3000)),
        Fault::ForgetNewer => Some((PEERS_OF_LINES, 10_000)),
        Fault::TrustFilter => Some((CROWDED, 3000)),
        Fault::KeepOvertaken => Some((OVERTAKEN, 6000)),
        fault if fault.is_of_tags() => None,
        fault if fault.is_of_selective_caching() => Some((SELECTIVE, 3000)),
        _ => Some((PLAIN, 3000)),
    }
}

/// A GPU that takes no part in the CPU's coherence, with and without what helps it: no load of the CPU is stale, and no store is
/// lost.
#[test]
fn selective_caches_never_let_the_cpu_read_what_is_old() {
    let naive = ["gpu.l1.protocol=selective-naive", "gpu.l2.protocol=selective-naive"];
    let first = ["gpu.l1.protocol=selective-l1", "gpu.l2.protocol=selective-l1"];
    let grounds: [(&str, &[&str]); 10] = [
        ("tiny/selective", &[]),
        ("tiny/selective", &naive),
        ("tiny/selective", &first),
        ("tiny/selective-variable", &naive),
        ("tiny/selective-variable", &first),
        ("tiny/selective", &["gpu.remote_directory.high_water=25"]),
        (CROWDED.0, CROWDED.1),
        (OVERTAKEN.0, OVERTAKEN.1),
        ("tiny/selective-variable", &[]),
        ("tiny/selective", &["host.llc=false", "host.cores=2", "gpu.l2.slices=2", "host.hmds=2"]),
    ];
    for (machine, changes) in grounds {
        let changes: Vec<_> = changes.iter().map(|&change| change.to_owned()).collect();
        for seed in 1..=2 {
            run(&varied(machine, &changes, "selective-host", accesses() / 4, seed, Vec::new())).unwrap();
        }
    }
}

#[test]
fn the_checks_see_what_a_broken_rule_does() {
    for fault in Fault::all_plain() {
        let Some(((machine, changes, protocol), accesses)) = ground(fault) else { continue };
        let changes: Vec<_> = changes.iter().map(|&change| change.to_owned()).collect();
        let caught = (1..=6)
            .any(|seed| run(&varied(machine, &changes, protocol, accesses, seed, vec![fault])).is_err());
        assert!(caught, "{fault} goes unnoticed");
    }
}

#[test]
fn whatever_page_or_replay_is_lost_the_run_gets_stuck() {
    let (machine, changes, protocol) = PAGED;
    let changes: Vec<_> = changes.iter().map(|&change| change.to_owned()).collect();
    let plan = |faults| varied(machine, &changes, protocol, 600, 1, faults);
    run(&plan(Vec::new())).unwrap();
    for fault in [1, 5].into_iter().flat_map(|nth| [Fault::DropReplay { nth }, Fault::LosePage { nth }]) {
        let ended = run(&plan(vec![fault]));
        assert!(ended.as_ref().is_err_and(|why| why.starts_with("stuck")), "{fault:?}: {ended:?}");
    }
}

/// GPUs with less memory of their own than the work touches, and cores that touch the same pages: whatever brings pages and
/// whatever drives them out, every access ends, and no store is lost on the way.
#[test]
fn paging_loses_no_store_and_wakes_every_warp() {
    let own = ["gpu.memory.home=own", "gpu.paging.service=2 us", "gpu.paging.transfer_set=4"];
    let variations: &[&[&str]] = &[
        &["gpu.paging.share=100"],
        &["gpu.paging.share=100", "gpu.cu.outstanding=3", "gpu.paging.far_faults=2"],
        &["gpu.paging.share=40", "gpu.cu.outstanding=3", "gpu.paging.faults=block", "gpu.paging.tlb=2"],
        &["gpu.paging.share=50", "gpu.cu.outstanding=2", "gpu.paging.copy_back=true"],
        &["gpu.paging.share=30", "gpu.paging.far_faults=1", "gpu.paging.tlb=2"],
        &["gpu.paging.share=50", "gpu.paging.evict=lru", "gpu.paging.faults=block", "gpu.paging.walkers=1"],
        &["gpu.paging.share=50", "gpu.paging.evict=lru-2mib", "gpu.paging.prefetch=sequential"],
        &["gpu.paging.share=40", "gpu.paging.prefetch=locality", "gpu.paging.prefetch_when_full=true"],
        &["gpu.paging.share=60", "gpu.paging.prefetch=tree"],
        &["gpu.paging.share=60", "gpu.paging.prefetch=random", "gpu.paging.walk_cache=0 B"],
        &["gpu.paging.share=50", "gpu.paging.prefetch=oracle", "gpu.paging.precondition=true"],
    ];
    let mut failures = Vec::new();
    for machine in ["tiny/umh-1gpu", "tiny/umh-2gpu"] {
        for changes in variations {
            let changes: Vec<String> = own.iter().chain(*changes).map(|&change| change.to_owned()).collect();
            let plan = varied(machine, &changes, "mesi", accesses() / 4, 5, Vec::new());
            if let Err(failure) = run(&plan) {
                failures.push(format!("{machine} {changes:?}: {failure}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Pages that are taken for read-only and written after all, by compute units and cores: every write ends, none is lost, and no
/// GPU keeps what it may not.
#[test]
fn pages_taken_for_read_only_are_written_and_wake_every_warp() {
    let price = ["gpu.read_only.gpu_fault=2 us", "gpu.read_only.host_fault=1 us"];
    let variations: &[&[&str]] = &[
        &[],
        &["gpu.read_only.pending=1", "gpu.read_only.walkers=1"],
        &["gpu.read_only.pages=all", "gpu.read_only.tlb=1"],
        &["gpu.read_only.limit=1", "gpu.read_only.pages=all"],
    ];
    let machines =
        [("tiny/umh-1gpu", "mesi"), ("tiny/umh-2gpu", "nmoesi"), ("tiny/selective", "selective-host")];
    let mut failures = Vec::new();
    for (machine, protocol) in machines {
        for changes in variations {
            let changes: Vec<String> =
                price.iter().chain(*changes).map(|&change| change.to_owned()).collect();
            let plan = varied(machine, &changes, protocol, accesses() / 4, 5, Vec::new());
            if let Err(failure) = run(&plan) {
                failures.push(format!("{machine} {changes:?}: {failure}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
