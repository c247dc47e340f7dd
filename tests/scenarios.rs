//! Every bundled scenario holds, and none of them would hold if what it teaches were not so.

// The helpers of tests may unwrap as tests do.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::path::Path;

use umscope::config::{Kind, find, list};
use umscope::diagnostic::Source;
use umscope::model::access::AccessKind;
use umscope::model::inspect::Inspect;
use umscope::model::record::What;
use umscope::model::state::{Action, State};
use umscope::scenario::{CellName, Options, Report, Runner, Scenario};

/// What is changed about a scenario to see it fail.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// A fault is injected (`model::fault::Fault`).
    Fault(&'static str),
    /// In the text of its protocol, this becomes that.
    Table(&'static str, &'static str),
    /// It runs with another protocol.
    Protocol(&'static str),
    /// In its own text, this becomes that.
    Text(&'static str, &'static str),
    /// `KEY=VALUE` for its machine.
    Set(&'static [&'static str]),
}

use Change::{Fault, Protocol, Set, Table, Text};

/// Cells of the tables as their files write them, and what they become.
const N_STORE_ASKS_TO_WRITE: Change = Table("n-store = \"read-nc > N\"", "n-store = \"write > M\"");
const PARENT_ASKS_TO_WRITE: Change =
    Table("I = { n-store = \"read > granted\" }", "I = { n-store = \"write > M\" }");
const READ_EXCLUSIVE_IS_LOST: Change = Table(
    "n-store = \"hit > N\", evict = \"notify > I\", read = \"data > S\"",
    "n-store = \"hit > N\", evict = \"notify > I\", read = \"data > I\"",
);
const N_STORE_IN_N_ASKS: Change = Table(
    "N = { load = \"hit\", store = \"write > M\", n-store = \"hit\"",
    "N = { load = \"hit\", store = \"write > M\", n-store = \"write > M\"",
);
const N_STORE_IN_S_ASKS: Change = Table(
    "S = { load = \"hit\", store = \"write > M\", n-store = \"hit > N\"",
    "S = { load = \"hit\", store = \"write > M\", n-store = \"write > M\"",
);
const NEVER_EXCLUSIVE: Change =
    Table("{ when = \"no sharers\", grant = \"E\" }", "{ when = \"no sharers\", grant = \"S\" }");
const MERGE_KEEPS_S: Change = Table("S = \"N\" }\n", "}\n");

/// Directories that know lines instead of secondary blocks.
const SMALL_BLOCKS: Change = Set(&["gpu.memory.secondary_block=64 B", "host.block=64 B"]);

const WITHOUT_DATA: Change = Fault("answer-without-data");
const WHOLE_BLOCKS: Change = Fault("merge-whole-blocks");
const ONE_LEFT_OUT: Change = Fault("skip-invalidation");

/// Each bundled scenario, with changes under which it must fail.
const CHANGES: &[(&str, &[Change])] = &[
    ("baselines/copies-by-hand", &[Set(&["gpu.copies.by=runtime"]), Set(&["gpu.numa.page=64 KiB"])]),
    ("baselines/memcpy-waits", &[Set(&["gpu.copies.by=runtime", "gpu.copies.start=gpu"])]),
    ("baselines/memcpy-waits-umh", &[SMALL_BLOCKS]),
    ("baselines/redundant-copies", &[Set(&["gpu.copies.by=programmer"]), Set(&["gpu.copies.start=host"])]),
    ("baselines/redundant-copies-umh", &[SMALL_BLOCKS]),
    ("baselines/zero-copy", &[Set(&["gpu.l2.size=16 KiB"]), Text("512 MB/s", "4 GB/s")]),
    ("baselines/zero-copy-umh", &[SMALL_BLOCKS]),
    ("debugging/all-wait", &[Text("virtual_networks = 1", "virtual_networks = 3")]),
    ("debugging/lost-byte", &[Text("[[fault]]\nname = \"merge-whole-blocks\"\n", "")]),
    ("debugging/lost-store", &[Text("[[fault]]\nname = \"leave-early\"\n", "")]),
    ("debugging/never-served", &[Text("[[fault]]\nname = \"unfair-arbiter\"\n", "")]),
    ("debugging/no-answer", &[Text("[[fault]]\nname = \"no-supply\"\n", "")]),
    ("debugging/one-waits", &[Text("nth = 2", "nth = 200")]),
    ("debugging/two-wait", &[Text("[[fault]]\nname = \"probes-may-not-pass\"\n", "")]),
    ("kernels/backprop", &[WHOLE_BLOCKS, N_STORE_ASKS_TO_WRITE, N_STORE_IN_S_ASKS]),
    ("kernels/bank-account", &[WITHOUT_DATA, ONE_LEFT_OUT]),
    ("kernels/bfs", &[N_STORE_ASKS_TO_WRITE]),
    ("kernels/black-scholes", &[WHOLE_BLOCKS, N_STORE_ASKS_TO_WRITE]),
    ("kernels/btree", &[WHOLE_BLOCKS, N_STORE_IN_S_ASKS]),
    ("kernels/dct", &[WHOLE_BLOCKS, N_STORE_ASKS_TO_WRITE]),
    ("kernels/fast-walsh-transform", &[N_STORE_IN_S_ASKS]),
    ("kernels/floyd-warshall", &[N_STORE_IN_S_ASKS]),
    ("kernels/gaussian", &[N_STORE_IN_S_ASKS, N_STORE_ASKS_TO_WRITE]),
    ("kernels/haar-wavelet", &[WITHOUT_DATA, N_STORE_ASKS_TO_WRITE]),
    ("kernels/histogram", &[WITHOUT_DATA, N_STORE_ASKS_TO_WRITE]),
    ("kernels/histogram-256", &[WHOLE_BLOCKS, N_STORE_ASKS_TO_WRITE]),
    ("kernels/hotspot", &[WHOLE_BLOCKS, N_STORE_ASKS_TO_WRITE]),
    ("kernels/kmeans", &[WITHOUT_DATA, N_STORE_ASKS_TO_WRITE]),
    ("kernels/matrix-multiplication", &[WHOLE_BLOCKS, N_STORE_ASKS_TO_WRITE]),
    ("kernels/mersenne-twister", &[WHOLE_BLOCKS, N_STORE_ASKS_TO_WRITE]),
    ("kernels/needleman-wunsch", &[WHOLE_BLOCKS, N_STORE_IN_S_ASKS]),
    ("kernels/pathfinder", &[WHOLE_BLOCKS, N_STORE_ASKS_TO_WRITE]),
    ("kernels/radix-sort", &[WITHOUT_DATA, N_STORE_ASKS_TO_WRITE]),
    ("kernels/reduction", &[WITHOUT_DATA, N_STORE_ASKS_TO_WRITE]),
    ("kernels/scan-large-arrays", &[N_STORE_ASKS_TO_WRITE]),
    ("kernels/simple-convolution", &[WHOLE_BLOCKS, N_STORE_ASKS_TO_WRITE]),
    ("kernels/sobel-filter", &[WHOLE_BLOCKS, N_STORE_ASKS_TO_WRITE]),
    ("kernels/stencil", &[WHOLE_BLOCKS, N_STORE_ASKS_TO_WRITE]),
    ("kernels/transpose-1gpu", &[WITHOUT_DATA, N_STORE_ASKS_TO_WRITE]),
    ("kernels/transpose-2gpu", &[WITHOUT_DATA, WHOLE_BLOCKS, N_STORE_ASKS_TO_WRITE]),
    ("kernels/transpose-4gpu", &[WITHOUT_DATA, WHOLE_BLOCKS, N_STORE_ASKS_TO_WRITE]),
    ("kernels/vector-add-1gpu", &[WITHOUT_DATA, N_STORE_ASKS_TO_WRITE]),
    ("kernels/vector-add-2gpu", &[WITHOUT_DATA, WHOLE_BLOCKS, N_STORE_ASKS_TO_WRITE]),
    ("kernels/vector-add-4gpu", &[WITHOUT_DATA, WHOLE_BLOCKS, N_STORE_ASKS_TO_WRITE]),
    ("litmus/coherence", &[ONE_LEFT_OUT, WITHOUT_DATA]),
    ("litmus/message-passing", &[Text("\"fence\", ", ""), ONE_LEFT_OUT]),
    ("litmus/message-passing-gpu", &[ONE_LEFT_OUT, WITHOUT_DATA]),
    (
        "litmus/message-passing-n",
        &[Text("\"exclusive 0x1000\", ", ""), Text("n-store 0x1000", "store 0x1000"), WITHOUT_DATA],
    ),
    ("litmus/message-passing-relaxed", &[Set(&["host.outstanding=1"])]),
    ("litmus/store-buffering", &[Text("\"fence\", ", ""), ONE_LEFT_OUT]),
    ("litmus/store-buffering-relaxed", &[Set(&["host.outstanding=1"])]),
    ("m2s/evict-below", &[WITHOUT_DATA]),
    (
        "m2s/evict-clean",
        &[Table(
            "n-store = \"hit > N\", evict = \"notify > I\", read = \"data > S\"",
            "n-store = \"hit > N\", evict = \"silent > I\", read = \"data > S\"",
        )],
    ),
    ("m2s/evict-modified", &[Table("\nM = { E = \"M\" }", "\nM = {}")]),
    (
        "m2s/evict-noncoherent",
        &[Table("E = { E = \"M\" }\nN = { E = \"M\", S = \"N\" }", "E = { E = \"M\" }\nN = { S = \"N\" }")],
    ),
    (
        "m2s/evict-shared",
        &[Table(
            "n-store = \"hit > N\", evict = \"notify > I\", read = \"ack\"",
            "n-store = \"hit > N\", evict = \"silent > I\", read = \"ack\"",
        )],
    ),
    ("m2s/load-far-block", &[Protocol("nmoesi"), WITHOUT_DATA]),
    ("m2s/load-far-clean", &[READ_EXCLUSIVE_IS_LOST]),
    ("m2s/load-far-half", &[READ_EXCLUSIVE_IS_LOST]),
    ("m2s/load-first", &[NEVER_EXCLUSIVE]),
    ("m2s/load-modified", &[Protocol("nmoesi"), WITHOUT_DATA]),
    ("m2s/load-other-line", &[Protocol("nmoesi"), WITHOUT_DATA]),
    ("m2s/n-store-far", &[N_STORE_ASKS_TO_WRITE]),
    ("m2s/n-store-first", &[N_STORE_ASKS_TO_WRITE]),
    ("m2s/n-store-shared", &[N_STORE_IN_S_ASKS]),
    ("m2s/store-first", &[Protocol("nmoesi")]),
    ("m2s/store-shared", &[Protocol("nmoesi"), ONE_LEFT_OUT]),
    ("numa/both-full", &[Set(&["gpu.numa.l2=shared"]), Set(&["gpu.numa.sample=100000"])]),
    ("numa/both-saturated", &[Set(&["network.balancer.policy=static"]), Set(&["network.bandwidth=8 GB/s"])]),
    ("numa/bulk-invalidation", &[Set(&["gpu.numa.invalidate=false"]), Set(&["gpu.numa.l2=memory-side"])]),
    ("numa/fast-sampler", &[Text("sample=50\"", "sample=5000\""), Set(&["network.balancer.policy=static"])]),
    ("numa/first-touch", &[Set(&["gpu.numa.placement=page"])]),
    ("numa/lanes-turn", &[Set(&["network.balancer.policy=static"]), Set(&["network.balancer.sample=60000"])]),
    ("numa/lazy-eviction", &[Set(&["gpu.numa.l2=shared"])]),
    ("numa/local-phase", &[Set(&["gpu.numa.l2=shared"]), Set(&["gpu.numa.sample=100000"])]),
    (
        "numa/message-passing",
        &[
            Text("\"fence acquire\", ", ""),
            Set(&["gpu.numa.invalidate=false"]),
            Text(", \"fence release\"", ""),
        ],
    ),
    ("numa/onto-one-socket", &[Text("sample = 5000", "policy = \"static\"")]),
    ("numa/pages-come", &[Set(&["gpu.numa.placement=page"]), Set(&["gpu.memory.size=16 KiB"])]),
    (
        "numa/slow-sampler",
        &[Text("sample=20000\"", "sample=2000\""), Set(&["network.balancer.policy=static"])],
    ),
    ("numa/stream-beside", &[Set(&["gpu.numa.l2=shared"]), Set(&["gpu.numa.l2=static"])]),
    ("numa/ways-instead", &[Set(&["gpu.numa.l2=static"]), Set(&["gpu.numa.sample=100000"])]),
    ("paging/blocking", &[Set(&["gpu.paging.faults=replay"])]),
    ("paging/fifth-fault", &[Set(&["gpu.paging.far_faults=8"])]),
    ("paging/hot-set", &[Set(&["gpu.paging.evict=random"])]),
    ("paging/large-pages", &[Set(&["gpu.paging.page=4 KiB"]), Set(&["network.bandwidth=64 GB/s"])]),
    ("paging/lost-replay", &[Text("nth = 2", "nth = 200")]),
    ("paging/one-far-fault", &[Text("address = 0x1ffc", "address = 0x2ffc")]),
    ("paging/prefetch-evicts", &[Set(&["gpu.paging.prefetch_when_full=false"])]),
    ("paging/replaying", &[Set(&["gpu.paging.faults=block"])]),
    ("paging/scan", &[Set(&["gpu.paging.evict=random"]), Set(&["gpu.memory.size=20 KiB"])]),
    ("paging/set-locality", &[Set(&["gpu.paging.prefetch=sequential"])]),
    ("paging/set-oracle", &[Set(&["gpu.paging.prefetch=locality"])]),
    ("paging/set-random", &[Set(&["gpu.paging.prefetch=sequential"])]),
    ("paging/set-sequential", &[Set(&["gpu.paging.prefetch=locality"])]),
    ("paging/set-tree", &[Set(&["gpu.paging.prefetch=random"])]),
    (
        "paging/tree-doubles",
        &[Set(&["gpu.paging.prefetch=none"]), Text("size = \"2 MiB\"", "size = \"1 MiB\"")],
    ),
    ("paging/two-warps-one-page", &[Text("address = 0x1800", "address = 0x2800")]),
    ("paging/under-umh", &[Text("address = 0x1080", "address = 0x2080")]),
    ("protocols/mesi-exclusive", &[Protocol("msi"), Protocol("moesi"), WITHOUT_DATA]),
    (
        "protocols/moesi-owner",
        &[Table("read = \"data > O\"", "read = \"data > S\""), Protocol("nmoesi"), ONE_LEFT_OUT],
    ),
    ("protocols/msi-upgrade", &[Protocol("mesi"), WITHOUT_DATA]),
    ("protocols/nmoesi-printed-owner", &[Protocol("nmoesi"), WITHOUT_DATA]),
    ("protocols/vi-acquire", &[Text("\"fence acquire\", ", "")]),
    ("scalegpu/both", &[Fault("cold-write-only-here")]),
    ("scalegpu/burst", &[Fault("lose-arrival"), Set(&["gpu.tags.pending=1"]), Set(&["gpu.tags.data=64 B"])]),
    ("scalegpu/less-data", &[Set(&["gpu.tags.data=256 B"])]),
    ("scalegpu/relay", &[Set(&["gpu.memory.size=8 KiB"])]),
    ("scalegpu/to-the-host", &[Fault("drop-dirty-row")]),
    ("scalegpu/too-old", &[Set(&["gpu.memory.size=16 KiB"]), Fault("cold-write-only-here")]),
    ("selective/client-cache", &[Set(&["gpu.unified.host_share=0"])]),
    (
        "selective/coalescing",
        &[
            Set(&["gpu.l1.protocol=selective-l1", "gpu.l2.protocol=selective-l1"]),
            Set(&["network.transfers=sectors"]),
        ],
    ),
    ("selective/coherent", &[ONE_LEFT_OUT]),
    ("selective/coherent-sectors", &[Set(&["network.transfers=line"])]),
    ("selective/counted-together", &[Fault("serve-beside-cpu"), Fault("keep-beside-cpu")]),
    ("selective/false-positive", &[Set(&["gpu.remote_directory.bits=16"])]),
    ("selective/first-rule-off", &[Text("[[fault]]\nname = \"serve-beside-cpu\"\n", "")]),
    ("selective/full-filter", &[Set(&["gpu.remote_directory.lines=16"])]),
    ("selective/nack", &[Set(&["host.llc.size=16 KiB"])]),
    ("selective/naive", &[Set(&["gpu.l1.protocol=selective-l1", "gpu.l2.protocol=selective-l1"])]),
    ("selective/one-response", &[Set(&["network.transfers=line"]), Text("delay = 20", "delay = 120")]),
    ("selective/overtaken", &[Fault("keep-overtaken"), Set(&["gpu.memory.dram.cas=10 ns"])]),
    ("selective/read-only-core", &[Set(&["gpu.unified.host_share=0"])]),
    ("selective/read-only-limit", &[Text("limit = 3", "limit = 30")]),
    ("selective/read-only-page", &[Set(&["gpu.unified.host_share=0"])]),
    ("selective/read-only-pending", &[Set(&["gpu.read_only.pending=3"])]),
    ("selective/read-only-stale", &[Text("[[fault]]\nname = \"skip-shoot-down\"\n", "")]),
    ("selective/read-only-write", &[Set(&["gpu.unified.host_share=0"])]),
    ("selective/rules", &[Fault("serve-beside-cpu"), Fault("keep-host-lines"), Fault("keep-beside-cpu")]),
    ("selective/second-rule-off", &[Text("[[fault]]\nname = \"keep-host-lines\"\n", "")]),
    ("selective/third-rule-off", &[Text("[[fault]]\nname = \"keep-beside-cpu\"\n", "")]),
    ("selective/trusted-filter", &[Text("[[fault]]\nname = \"trust-filter\"\n", "")]),
    ("selective/two-responses", &[Set(&["network.transfers=line"])]),
    ("selective/unprobed", &[Text("[[fault]]\nname = \"skip-gpu-probe\"\n", "")]),
    ("umh/byte-mask", &[WHOLE_BLOCKS, WITHOUT_DATA, N_STORE_IN_N_ASKS]),
    ("umh/coarse-mask", &[Set(&["gpu.memory.mask_bytes=1"]), WITHOUT_DATA, ONE_LEFT_OUT]),
    ("umh/fig5-a", &[N_STORE_ASKS_TO_WRITE, PARENT_ASKS_TO_WRITE, NEVER_EXCLUSIVE]),
    ("umh/fig5-b1", &[N_STORE_ASKS_TO_WRITE, PARENT_ASKS_TO_WRITE, READ_EXCLUSIVE_IS_LOST]),
    ("umh/fig5-b2", &[Set(&["host.peer_transfer=false"]), READ_EXCLUSIVE_IS_LOST]),
    ("umh/fig5-c", &[WHOLE_BLOCKS, WITHOUT_DATA, ONE_LEFT_OUT, MERGE_KEEPS_S]),
    ("umh/neighbouring-bytes", &[WHOLE_BLOCKS, WITHOUT_DATA, N_STORE_IN_N_ASKS, N_STORE_ASKS_TO_WRITE]),
    ("umh/next-kernel", &[Fault("no-launch-flush")]),
    ("umh/smd-eviction", &[WITHOUT_DATA, N_STORE_ASKS_TO_WRITE]),
    (
        "umh/sync-block",
        &[Set(&["gpu.memory.secondary_block=64 B", "host.block=64 B"]), WITHOUT_DATA, ONE_LEFT_OUT],
    ),
    ("umh/sync-flush", &[WITHOUT_DATA, WHOLE_BLOCKS]),
    (
        "umh/sync-line",
        &[Set(&["gpu.memory.secondary_block=4 KiB", "host.block=4 KiB"]), WITHOUT_DATA, ONE_LEFT_OUT],
    ),
    ("umh/table2-tour", TOUR),
];

/// Cells of Table II that the tour must miss when they are changed.
const TOUR: &[Change] = &[
    N_STORE_IN_N_ASKS,
    N_STORE_IN_S_ASKS,
    N_STORE_ASKS_TO_WRITE,
    READ_EXCLUSIVE_IS_LOST,
    NEVER_EXCLUSIVE,
    Protocol("nmoesi-printed"),
    Protocol("nmoesi-m2s"),
    Table("E = { load = \"hit\", store = \"hit > M\"", "E = { load = \"hit\", store = \"write > M\""),
    Table(
        "O = { load = \"hit\", store = \"write > M\", n-store = \"hit\"",
        "O = { load = \"hit\", store = \"write > M\", n-store = \"write > M\"",
    ),
    WITHOUT_DATA,
    ONE_LEFT_OUT,
];

/// Facts of Multi2Sim that agree with Table II: they must hold for nmoesi as well.
const TABLE_TWO_AGREES: [&str; 11] = [
    "evict-below",
    "evict-clean",
    "evict-modified",
    "evict-noncoherent",
    "evict-shared",
    "load-far-clean",
    "load-far-half",
    "load-first",
    "n-store-far",
    "n-store-first",
    "n-store-shared",
];

/// The bundled scenarios that run; those that are only explored have nothing to do of their own.
fn names() -> Vec<String> {
    let names = list(Kind::Scenario).into_iter().map(|entry| entry.name);
    names.filter(|name| !name.starts_with("explore/")).collect()
}

fn run(scenario: &Scenario, set: &[&str]) -> Result<Report, String> {
    let options = Options {
        set: set.iter().map(ToString::to_string).collect(),
        max_cycles: Some(1_000_000),
        ..Options::default()
    };
    let prepared = scenario.prepare(&options).map_err(|error| error.to_string())?;
    Ok(prepared.runner().run(|_, _| ControlFlow::Continue(())))
}

/// What a report says against a scenario.
fn complaints(report: &Report) -> String {
    let lines = report
        .failures
        .iter()
        .map(|failure| format!("  line {:?}, cycle {}: {}", failure.line, failure.cycle, failure.message));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_bundled_scenario_holds() {
    let mut failed = Vec::new();
    for name in names() {
        let report = run(&Scenario::load(&name).unwrap(), &[]).unwrap();
        assert!(report.expectations > 0, "{name} expects nothing");
        if !report.passed {
            failed.push(format!("{name}:\n{}", complaints(&report)));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_lesson_says_all_that_it_has_to_say_and_asks() {
    for name in names() {
        let scenario = Scenario::load(&name).unwrap();
        let file = scenario.file();
        assert!(file.title.is_some() && file.source.is_some() && scenario.about().is_some(), "{name}");
        let prepared = scenario.prepare(&Options::default()).unwrap();
        let narrator = prepared.narrator.clone();
        let asked = || narrator.says.iter().filter_map(|say| say.ask.as_ref());
        assert!(asked().count() > 0, "{name} asks nothing");
        // Where pages come and go, or a cache keeps nothing of a line, that is what is asked about.
        let answered = asked().filter(|ask| ask.because.is_some()).count();
        assert!(
            answered > 0 || name.starts_with("paging/") || name.starts_with("selective/"),
            "{name} asks nothing that the protocol's table answers"
        );
        let mut told = narrator.begin();
        let listening = Runner::new(prepared.machine, prepared.checker, true);
        listening.run(|machine, records| {
            narrator.observe(&mut told, machine, records);
            ControlFlow::Continue(())
        });
        assert_eq!(narrator.unsaid(&told), [0; 0], "lines of {name} that are never said");
        assert_eq!(narrator.unsettled(&told), [0; 0], "lines of {name} whose questions are never settled");
    }
}

/// Whether a record shows what the protocol does with an action in a state.
fn shows(what: &What, cell: (State, Action)) -> bool {
    let seen = match what {
        What::Transition { from, action, .. } => (*from, *action),
        What::Hit { state, action, .. } => (*state, *action),
        What::Evict { state, .. } => (*state, Action::Evict),
        _ => return false,
    };
    seen == cell
}

/// What a miss asks for is sent with it: the cell that the L1 of what has issued uses, if the line is not there.
fn missed(what: &What) -> Option<(State, Action)> {
    let What::Issue { kind, .. } = what else { return None };
    let action = match kind {
        AccessKind::Load => Action::Load,
        AccessKind::NStore => Action::NStore,
        _ => Action::Store,
    };
    Some((State::I, action))
}

#[test]
fn no_question_is_asked_where_its_answer_is_seen() {
    let mut seen = Vec::new();
    for name in names() {
        let prepared = Scenario::load(&name).unwrap().prepare(&Options::default()).unwrap();
        let narrator = prepared.narrator.clone();
        let cell = |say: usize| match narrator.says[say].ask.as_ref()?.because.as_ref()?.0 {
            CellName::Cache(state, action) | CellName::Inner(state, action) => Some((state, action)),
            CellName::Merge(_, state) => Some((state, Action::Merge)),
            _ => None,
        };
        let (mut told, mut before) = (narrator.begin(), Vec::new());
        Runner::new(prepared.machine, prepared.checker, true).run(|machine, records| {
            for due in narrator.observe(&mut told, machine, records) {
                let Some(cell) = cell(due.say) else { continue };
                let is_early = narrator.is_early(due.say);
                let told = records.iter().find(|record| Some(record.id) == due.record && !is_early);
                let is_missed = told.is_some_and(|record| missed(&record.what) == Some(cell));
                let on_screen = if is_early { &before } else { records };
                if is_missed || on_screen.iter().any(|record| shows(&record.what, cell)) {
                    let question = &narrator.says[due.say].ask.as_ref().unwrap().text;
                    seen.push(format!("{name}, event {}: {question}", machine.event()));
                }
            }
            before = records.to_vec();
            ControlFlow::Continue(())
        });
    }
    assert!(seen.is_empty(), "{}", seen.join("\n"));
}

/// A scenario with a change, and without the machine's own checks: only its expectations can fail.
fn changed(name: &str, change: Change, folder: &Path) -> Scenario {
    let found = find(Kind::Scenario, name, None).unwrap();
    // Its questions need not be answered: the changed table may not have the cell.
    let mut text = found.source.text.replace(", because = ", ", answer = ");
    let body = text.find("\n[").unwrap() + 1;
    let (head, rest) = text.split_at(body);
    let own = head.lines().find_map(|line| line.strip_prefix("protocol = "));
    let own = own.map(|quoted| quoted.trim_matches('"').to_owned());
    let head: Vec<_> = head
        .lines()
        .filter(|line| !line.starts_with("protocol = ") && !line.starts_with("checks = "))
        .collect();
    let head = head.join("\n");
    let protocol = |name: &str, rest: &str| format!("checks = false\nprotocol = \"{name}\"\n{head}\n{rest}");
    let default = own.clone().unwrap_or_else(|| {
        let plain = Scenario::load(name).unwrap();
        plain.machine(&[]).unwrap().protocol
    });
    text = match change {
        Fault(fault) => protocol(&default, &format!("{rest}\n[[fault]]\nname = \"{fault}\"\n")),
        Protocol(other) => protocol(other, rest),
        Text(from, to) => {
            assert!(rest.contains(from), "{name} has no {from}");
            protocol(&default, &rest.replace(from, to))
        }
        Set(_) => protocol(&default, rest),
        Table(from, to) => {
            let table = find(Kind::Protocol, &default, None).unwrap().source.text;
            assert!(table.contains(from), "{default} has no {from}");
            std::fs::write(folder.join("changed.toml"), table.replace(from, to)).unwrap();
            protocol("changed.toml", rest)
        }
    };
    Scenario::parse(Source::new(name, text), Some(folder.to_path_buf())).unwrap()
}

#[test]
fn every_bundled_scenario_can_fail() {
    let folder = tempfile::tempdir().unwrap();
    let mut survived = Vec::new();
    for (name, changes) in CHANGES {
        for change in *changes {
            let scenario = changed(name, *change, folder.path());
            let set: &[&str] = if let Set(set) = change { set } else { &[] };
            let report =
                run(&scenario, set).unwrap_or_else(|error| panic!("{name} with {change:?}: {error}"));
            if report.failures.iter().all(|failure| failure.line.is_none()) {
                survived.push(format!("{name} holds with {change:?}: {}", complaints(&report)));
            }
        }
    }
    assert!(survived.is_empty(), "{}", survived.join("\n"));
}

#[test]
fn no_scenario_is_forgotten() {
    let known: Vec<_> = CHANGES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names(), known);
}

#[test]
fn facts_that_agree_with_table_two_hold_for_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in names().iter().filter_map(|name| name.strip_prefix("m2s/")) {
        let report = run(&changed(&format!("m2s/{name}"), Protocol("nmoesi"), folder.path()), &[]).unwrap();
        let agrees = TABLE_TWO_AGREES.contains(&name);
        assert_eq!(report.passed, agrees, "{name}:\n{}", complaints(&report));
    }
}

/// The output of a kernel in the host's memory after its scenario.
fn output(name: &str, start: u64, words: u64) -> Vec<Vec<u8>> {
    let mut runner = Scenario::load(name).unwrap().prepare(&Options::default()).unwrap().runner();
    while runner.step().is_none() {}
    let machine = runner.machine();
    let homes: Vec<_> = machine
        .components()
        .iter()
        .filter(|(_, c)| c.path.starts_with("host.hmd"))
        .map(|(id, _)| id)
        .collect();
    let word = |index: u64| {
        let address = umscope::model::address::Address(start + 4 * index);
        homes.iter().find_map(|home| machine.value(*home, address, 4)).unwrap()
    };
    (0..words).map(word).collect()
}

#[test]
fn a_kernel_computes_the_same_on_any_number_of_gpus() {
    for (kernel, start) in [("transpose", 0x10_1000), ("vector-add", 0x10_2000)] {
        let one = output(&format!("kernels/{kernel}-1gpu"), start, 256);
        assert!(one.iter().all(|word| word.iter().any(|byte| *byte != 0)), "{kernel} left a word out");
        for gpus in [2, 4] {
            assert!(
                output(&format!("kernels/{kernel}-{gpus}gpu"), start, 256) == one,
                "{kernel} on {gpus} GPUs"
            );
        }
    }
}

/// What the prose of a lesson says of another run of it: the number, its statistic, and what that run differs in.
const ELSEWHERE: [(&str, &str, &str, Change); 21] = [
    ("umh/neighbouring-bytes", "10,670", "tasks.right.cycles", Protocol("mesi")),
    ("umh/neighbouring-bytes", "3,790", "tasks.right.cycles", Set(&[])),
    ("baselines/memcpy-waits-umh", "23,161", "cycles", Set(&[])),
    ("numa/both-saturated", "355,340", "cycles", Set(&["network.balancer.policy=static"])),
    ("numa/fast-sampler", "81,374", "cycles", Set(&["network.balancer.policy=static"])),
    ("numa/fast-sampler", "79,900", "cycles", Set(&["network.balancer.sample=1000"])),
    ("numa/fast-sampler", "85,634", "cycles", Set(&["network.balancer.sample=200"])),
    ("numa/stream-beside", "24,907", "tasks.right-too.cycles", Set(&["gpu.numa.l2=memory-side"])),
    ("numa/stream-beside", "2,157", "tasks.stream-right.cycles", Set(&["gpu.numa.l2=memory-side"])),
    ("numa/stream-beside", "23,281", "tasks.right-too.cycles", Set(&["gpu.numa.l2=static"])),
    ("numa/stream-beside", "2,264", "tasks.stream-right.cycles", Set(&["gpu.numa.l2=static"])),
    ("numa/stream-beside", "7,060", "tasks.right.cycles", Set(&["gpu.numa.l2=shared"])),
    ("numa/stream-beside", "4,766", "tasks.stream-right.cycles", Set(&["gpu.numa.l2=shared"])),
    ("numa/stream-beside", "3,007", "tasks.left-too.cycles", Set(&[])),
    ("numa/stream-beside", "4,806", "tasks.stream-right.cycles", Set(&[])),
    ("numa/ways-instead", "3,140", "cycles", Set(&[])),
    ("numa/ways-instead", "23,683", "cycles", Set(&["gpu.numa.l2=static"])),
    ("paging/prefetch-evicts", "89,079", "tasks.work.cycles", Set(&["gpu.paging.prefetch_when_full=false"])),
    ("paging/prefetch-evicts", "175,401", "tasks.rest.cycles", Set(&["gpu.paging.prefetch_when_full=false"])),
    ("paging/prefetch-evicts", "148,371", "tasks.work.cycles", Set(&[])),
    ("paging/prefetch-evicts", "59,748", "tasks.rest.cycles", Set(&[])),
];

#[test]
fn what_lessons_say_of_other_runs_is_so() {
    for (name, said, statistic, change) in ELSEWHERE {
        let scenario = Scenario::load(name).unwrap();
        assert!(scenario.source().text.contains(said), "{name} does not say {said}");
        let set = match change {
            Set(set) => set.iter().map(|&set| set.to_owned()).collect(),
            Protocol(protocol) => vec![format!("protocol={protocol}")],
            _ => Vec::new(),
        };
        let prepared = scenario.prepare(&Options { set, may_leave_out: true, ..Options::default() }).unwrap();
        let mut machine = prepared.machine;
        machine.run_until(u64::MAX);
        let cycles = machine.statistic(statistic).unwrap();
        assert_eq!(
            umscope::report::number::grouped(cycles as u64),
            said,
            "{statistic} of {name} with {change:?}"
        );
    }
    // Those that another scenario tells of.
    let copies = Scenario::load("baselines/memcpy-waits").unwrap().prepare(&Options::default()).unwrap();
    let mut machine = copies.machine;
    machine.run_until(u64::MAX);
    let told = umscope::report::number::grouped(machine.statistic("cycles").unwrap() as u64);
    let beside = Scenario::load("baselines/memcpy-waits-umh").unwrap();
    assert!(beside.source().text.contains(&format!("against {told}")), "{told}");
}
