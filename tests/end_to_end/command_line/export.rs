//! Exports, read by parsers that know nothing of this program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{call, document};
use crate::common::umscope;

/// Scenarios with several GPUs, kernels, a deadlock, evictions and a CPU.
const SCENARIOS: [&str; 5] = [
    "umh/fig5-b1",
    "kernels/vector-add-4gpu",
    "tests/data/deadlock.toml",
    "umh/smd-eviction",
    "kernels/histogram",
];

fn export(arguments: &[&str]) -> String {
    let outcome = call(&[&["export"], arguments].concat());
    let stuck = arguments[0].contains("deadlock");
    assert_eq!(outcome.code, Some(i32::from(stuck)), "{arguments:?}: {}", outcome.stderr);
    outcome.stdout
}

/// The key of a phase that must be there, beside `ph`, `name`, `pid`, `tid`, `ts`.
fn required(phase: &str) -> &'static [&'static str] {
    match phase {
        "M" => &["args"],
        "B" | "E" => &["cat", "args"],
        "b" | "e" => &["cat", "id", "args"],
        "s" => &["cat", "id"],
        "f" => &["cat", "id", "bp"],
        "i" => &["cat", "s", "args"],
        "C" => &["args"],
        other => panic!("phase {other}"),
    }
}

/// Checks a trace by the rules of the Trace Event Format; returns its events.
fn check_trace(text: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(text).unwrap();
    let events = document["traceEvents"].as_array().unwrap();
    let (mut processes, mut threads) = (BTreeSet::new(), BTreeSet::new());
    let mut last: BTreeMap<String, f64> = BTreeMap::new();
    let mut slices: BTreeMap<(u64, u64), Vec<String>> = BTreeMap::new();
    let mut open: BTreeMap<(String, u64), (u64, u64, String)> = BTreeMap::new();
    let (mut arrows, mut arrived) = (BTreeMap::new(), BTreeSet::new());
    for event in events {
        let text = |key: &str| event[key].as_str().unwrap_or_else(|| panic!("{key}: {event}")).to_owned();
        let number = |key: &str| event[key].as_u64().unwrap_or_else(|| panic!("{key}: {event}"));
        let (phase, name, pid, tid) = (text("ph"), text("name"), number("pid"), number("tid"));
        let at = event["ts"].as_f64().unwrap();
        for key in required(&phase) {
            assert!(!event[key].is_null(), "{key}: {event}");
        }
        match name.as_str() {
            "process_name" if phase == "M" => {
                assert!(event["args"]["name"].is_string() && processes.insert(pid), "{event}");
            }
            "thread_name" if phase == "M" => {
                assert!(event["args"]["name"].is_string() && threads.insert((pid, tid)), "{event}");
            }
            "process_sort_index" | "thread_sort_index" if phase == "M" => {
                assert!(event["args"]["sort_index"].is_u64(), "{event}");
            }
            _ => assert_ne!(phase, "M", "{event}"),
        }
        assert!(processes.contains(&pid), "a process without a name: {event}");
        if phase == "M" {
            continue;
        }
        let track = match phase.as_str() {
            "C" => format!("{pid} {name}"),
            "b" | "e" => format!("{} {}", text("cat"), number("id")),
            _ => format!("{pid}/{tid}"),
        };
        let before = last.insert(track, at).unwrap_or(0.0);
        assert!(before <= at, "back in time: {event}");
        if phase != "C" {
            assert!(threads.contains(&(pid, tid)), "a thread without a name: {event}");
        }
        if "BEbei".contains(&phase) {
            assert!(event["args"]["cycle"].is_u64(), "{event}");
        }
        match phase.as_str() {
            "B" => slices.entry((pid, tid)).or_default().push(name),
            "E" => assert_eq!(slices.get_mut(&(pid, tid)).unwrap().pop(), Some(name), "{event}"),
            "b" => {
                let before = open.insert((text("cat"), number("id")), (pid, tid, name));
                assert_eq!(before, None, "{event}");
            }
            "e" => assert_eq!(open.remove(&(text("cat"), number("id"))), Some((pid, tid, name)), "{event}"),
            "s" => {
                // An arrow is tied to the slice that is open on its track.
                assert!(!slices[&(pid, tid)].is_empty(), "{event}");
                assert_eq!(arrows.insert(number("id"), (name, at)), None, "{event}");
            }
            "f" => {
                assert!(event["bp"] == "e" && !slices[&(pid, tid)].is_empty(), "{event}");
                let (sent, from) = &arrows[&number("id")];
                assert!(*sent == name && *from <= at && arrived.insert(number("id")), "{event}");
            }
            "i" => assert_eq!(event["s"], "t"),
            _ => assert!(event["args"].as_object().unwrap().values().all(Value::is_number), "{event}"),
        }
    }
    assert!(slices.values().all(Vec::is_empty), "{slices:?}");
    assert!(open.is_empty(), "{open:?}");
    events.clone()
}

fn count(events: &[Value], phase: &str, category: &str) -> usize {
    events.iter().filter(|event| event["ph"] == phase && event["cat"] == category).count()
}

fn records(scenario: &str, query: &str) -> usize {
    call(&["log", scenario, "--where", query]).stdout.lines().count()
}

#[test]
fn a_perfetto_trace_keeps_the_rules_of_its_format_and_has_everything() {
    for scenario in SCENARIOS {
        let events = check_trace(&export(&[scenario, "--format", "perfetto"]));
        for (phase, category, query) in [
            ("b", "transaction", "issue"),
            ("s", "message", "message"),
            ("f", "message", "delivery"),
            ("i", "transition", "transition"),
            ("b", "kernel", "kernel ended 0"),
        ] {
            assert_eq!(count(&events, phase, category), records(scenario, query), "{scenario}: {query}");
        }
        let names: BTreeSet<&str> = events
            .iter()
            .filter(|event| event["ph"] == "C")
            .map(|event| event["name"].as_str().unwrap())
            .collect();
        assert!(names.iter().any(|name| name.ends_with(" MSHRs")), "{names:?}");
        assert!(names.iter().any(|name| name.ends_with(" utilisation")), "{names:?}");
    }
}

#[test]
fn pages_and_tags_are_instants() {
    for (scenario, kinds) in [
        ("scalegpu/burst", &["tag"][..]),
        ("paging/one-far-fault", &["far-fault", "page-walk", "tlb", "page-move"]),
    ] {
        let events = check_trace(&export(&[scenario, "--format", "perfetto"]));
        for kind in kinds {
            let expected = records(scenario, kind);
            assert!(
                expected > 0 && count(&events, "i", kind) == expected,
                "{scenario}: {expected} of {kind}"
            );
        }
    }
    let events = check_trace(&export(&["scalegpu/burst", "--format", "perfetto", "--where", "tag"]));
    assert!(events.iter().any(|event| event["name"] == "tag cold-miss"));
}

#[test]
fn times_are_microseconds_and_cycles_are_told() {
    let events = check_trace(&export(&["umh/fig5-b1", "--format", "perfetto"]));
    // The log tells the first access from cycle 0 to 806 of 800 MHz: 1007.5 ns.
    let slice = |phase: &str| {
        events.iter().find(|event| event["ph"] == phase && event["id"] == 1 && event["cat"] == "transaction")
    };
    let (begin, end) = (slice("b").unwrap(), slice("e").unwrap());
    assert_eq!((begin["ts"].as_f64(), &begin["name"]), (Some(0.0), &Value::from("n-store 0x1000")));
    assert!((end["ts"].as_f64().unwrap() - 1.0075).abs() < 0.001, "{end}");
    assert_eq!(end["args"]["cycle"], 806);
}

#[test]
fn a_query_chooses_and_what_has_begun_is_ended() {
    let chosen = |query| check_trace(&export(&["umh/fig5-b1", "--format", "perfetto", "--where", query]));
    let events = chosen("issue or message type grant");
    assert_eq!((count(&events, "b", "transaction"), count(&events, "e", "transaction")), (2, 2));
    assert_eq!((count(&events, "s", "message"), count(&events, "f", "message")), (6, 6));
    assert_eq!(count(&events, "i", "transition"), 0);
    let events = chosen("delivery or complete");
    assert_eq!(count(&events, "f", "message") + count(&events, "e", "transaction"), 0);
    let rows = export(&["umh/fig5-b1", "--format", "csv", "--where", "transition"]);
    assert_eq!(rows.lines().count(), records("umh/fig5-b1", "transition") + 1);
}

/// A value change dump, read by the grammar of IEEE 1364-2005, 18.2.
#[derive(Debug, Default)]
struct Dump {
    /// By code: path with dots, and width.
    variables: BTreeMap<String, (String, usize)>,
    /// Time, path and value.
    changes: Vec<(u64, String, u64)>,
    end: u64,
    comment: String,
}

fn read_dump(text: &str) -> Dump {
    let mut dump = Dump::default();
    let mut words = text.split_ascii_whitespace();
    let mut scopes: Vec<String> = Vec::new();
    let (mut defined, mut time) = (false, None::<u64>);
    let mut paths = BTreeSet::new();
    while let Some(word) = words.next() {
        let mut section = || words.by_ref().take_while(|word| *word != "$end").collect::<Vec<_>>();
        match word {
            "$version" => assert!(!section().is_empty()),
            "$comment" => dump.comment = section().join(" "),
            "$timescale" => assert!(["1 ps", "1 fs"].contains(&section().join(" ").as_str())),
            "$scope" => {
                let scope = section();
                assert_eq!((scope.len(), scope[0]), (2, "module"));
                identifier(scope[1]);
                scopes.push(scope[1].to_owned());
            }
            "$upscope" => {
                assert!(section().is_empty() && scopes.pop().is_some());
            }
            "$var" => {
                let var = section();
                assert!(var.len() == 4 && var[0] == "reg" && !defined, "{var:?}");
                identifier(var[3]);
                assert!(var[2].chars().all(|letter| letter.is_ascii_graphic()));
                let path = format!("{}.{}", scopes.join("."), var[3]);
                assert!(paths.insert(path.clone()), "{path} is declared twice");
                let width: usize = var[1].parse().unwrap();
                assert!((1..=32).contains(&width));
                assert_eq!(dump.variables.insert(var[2].to_owned(), (path, width)), None);
            }
            "$enddefinitions" => {
                assert!(section().is_empty() && scopes.is_empty());
                defined = true;
            }
            "$dumpvars" => assert!(defined && time == Some(0)),
            "$end" => {
                let known: BTreeSet<&String> = dump.changes.iter().map(|(_, path, _)| path).collect();
                assert_eq!(known.len(), dump.variables.len(), "every variable has a first value");
            }
            _ if word.starts_with('#') => {
                let next: u64 = word[1..].parse().unwrap();
                assert!(defined && time.is_none_or(|time| time < next), "{word} after {time:?}");
                time = Some(next);
            }
            _ => {
                let bits = word.strip_prefix('b').unwrap_or_else(|| panic!("{word}"));
                let (path, width) = &dump.variables[words.next().unwrap()];
                assert!(bits.len() <= *width, "{path} has {width} bits: {word}");
                let value = u64::from_str_radix(bits, 2).unwrap();
                dump.changes.push((time.unwrap(), path.clone(), value));
            }
        }
    }
    dump.end = time.unwrap();
    dump
}

fn identifier(name: &str) {
    let mut letters = name.chars();
    assert!(letters.next().is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_'), "{name}");
    assert!(letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_'), "{name}");
}

#[test]
fn a_value_change_dump_is_one() {
    for scenario in SCENARIOS {
        let dump = read_dump(&export(&[scenario, "--format", "vcd"]));
        let changes = |part: &str| {
            let all = dump.changes.iter().filter(|(_, path, _)| path.contains(part));
            all.count() - dump.variables.values().filter(|(path, _)| path.contains(part)).count()
        };
        assert_eq!(changes(".block_"), records(scenario, "transition"), "{scenario}");
        assert!(changes("mshrs_used") > 0 && changes(".warp") > 0, "{scenario}");
        let warps = dump.changes.iter().filter(|(_, path, _)| path.contains(".warp"));
        for letter in warps.map(|(_, _, state)| *state as u8 as char) {
            assert!(dump.comment.contains(&format!(" {letter} ")), "{scenario}: {letter}: {}", dump.comment);
        }
        // A request alone is less than a percent.
        assert!(changes("busy_percent") > 0 || scenario.contains("deadlock"), "{scenario}");
    }
}

#[test]
fn misses_in_a_dump_are_those_that_statistics_count() {
    for scenario in ["scalegpu/burst", "numa/lanes-turn", "paging/scan"] {
        let dump = read_dump(&export(&[scenario, "--format", "vcd"]));
        let stats = &document(&["run", scenario, "--format", "json"])["stats"];
        let means = stats.as_object().unwrap().iter().filter_map(|(key, mean)| {
            let node = key.strip_suffix(".mshr_mean").filter(|node| !node.starts_with("levels."))?;
            Some((node, mean.as_f64().unwrap()))
        });
        let mut used = false;
        for (node, mean) in means {
            let is_of = |path: &str| path.replace('.', "_") == format!("{node}.mshrs_used").replace('.', "_");
            let all: Vec<_> = dump.changes.iter().filter(|(_, path, _)| is_of(path)).collect();
            let ends = all.iter().skip(1).map(|change| change.0).chain([dump.end]);
            let held: u64 = all.iter().zip(ends).map(|((from, _, count), to)| (to - from) * count).sum();
            let told = held as f64 / dump.end as f64;
            assert!((told - mean).abs() <= 1e-3 * mean.max(0.1), "{scenario}: {node}: {told} for {mean}");
            let most = all.iter().map(|change| change.2).max();
            assert_eq!(most, stats[format!("{node}.mshr_high_water")].as_u64(), "{scenario}: {node}");
            used |= mean > 0.0;
        }
        assert!(used, "{scenario}");
    }
    let text = export(&["scalegpu/burst", "--format", "perfetto"]);
    assert!(text.contains(r#""name":"gpu0.memory.0 MSHRs""#));
}

#[test]
fn a_value_change_dump_tells_when_and_what() {
    let dump = read_dump(&export(&["umh/fig5-b1", "--format", "vcd"]));
    let of = |path: &str| {
        let all = dump.changes.iter().filter(|(_, name, _)| name == path);
        all.map(|(time, _, value)| (*time, *value)).collect::<Vec<_>>()
    };
    let letters = |path: &str| of(path).iter().map(|(_, value)| *value as u8 as char).collect::<String>();
    assert_eq!(letters("gpu0.smd0.block_0x1000"), "IES");
    assert_eq!(letters("gpu0.cu0.warp0"), ".rmrd");
    assert_eq!(of("gpu0.cu0.l1.mshrs_used").iter().map(|(_, used)| *used).collect::<Vec<_>>(), [0, 1, 0]);
    // Cycle 806 of 800 MHz.
    let (_, state) = (of("gpu0.cu0.l1.block_0x1000")[1].0, dump.end);
    assert_eq!(of("gpu0.cu0.l1.block_0x1000")[1].0 / 1250, 806);
    assert_eq!(state / 1250, 2209);
}

/// Rows and fields by RFC 4180.
fn read_csv(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut letters = text.chars().peekable();
    let mut quoted = false;
    while let Some(letter) = letters.next() {
        let row = rows.last_mut().unwrap();
        match letter {
            '"' if quoted && letters.next_if_eq(&'"').is_some() => row.last_mut().unwrap().push('"'),
            '"' if quoted => quoted = false,
            '"' if row.last().unwrap().is_empty() => quoted = true,
            ',' if !quoted => row.push(String::new()),
            '\n' if !quoted => rows.push(vec![String::new()]),
            _ => row.last_mut().unwrap().push(letter),
        }
    }
    assert!(!quoted && rows.pop().unwrap() == [""], "the last line has an end");
    rows
}

#[test]
fn records_as_rows_are_those_of_the_log() {
    for scenario in SCENARIOS {
        let rows = read_csv(&export(&[scenario, "--format", "csv"]));
        let log: Vec<Value> = call(&["log", scenario, "--format", "json"])
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let header = &rows[0];
        assert!(rows.iter().all(|row| row.len() == header.len()));
        assert_eq!(rows.len(), log.len() + 1);
        for (row, record) in rows[1..].iter().zip(&log) {
            for (column, field) in header.iter().zip(row) {
                let value = match column.strip_prefix("fields.") {
                    Some(name) => &record["fields"][name],
                    None => &record[column],
                };
                let expected = match value {
                    Value::Null => String::new(),
                    Value::String(text) => text.clone(),
                    Value::Array(list) => {
                        list.iter().map(|item| item.as_str().unwrap()).collect::<Vec<_>>().join(" ")
                    }
                    Value::Number(number) if column == "nanoseconds" => {
                        let difference = field.parse::<f64>().unwrap() - number.as_f64().unwrap();
                        assert!(difference.abs() < 1e-6, "{field}");
                        continue;
                    }
                    other => other.to_string(),
                };
                assert_eq!(*field, expected, "{column} of {record}");
            }
        }
    }
}

#[test]
fn a_file_is_as_what_is_printed_and_an_error_leaves_it_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let file = path.to_str().unwrap();
    for format in ["perfetto", "vcd", "csv"] {
        fs::write(&path, "precious").unwrap();
        for wrong in [
            &["umh/fig5-bb", "--format", format, "--to", file][..],
            &["umh/fig5-b1", "--format", format, "--to", file, "--where", "nonsense is"],
        ] {
            assert_eq!(call(&[&["export"], wrong].concat()).code, Some(2));
            assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
        }
        assert_eq!(export(&["umh/fig5-b1", "--format", format, "--to", file]), "");
        let printed = export(&["umh/fig5-b1", "--format", format, "--to", "-"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), printed);
        assert_eq!(printed, export(&["umh/fig5-b1", "--format", format]));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left lying about");
}

#[test]
fn an_interrupt_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.json");
    fs::write(&path, "precious").unwrap();
    let child = Command::new(umscope())
        .args(["export", "tests/data/long.toml", "--format", "perfetto", "--to", path.to_str().unwrap()])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It has begun to write when the file beside is longer than a buffer.
    let longer = |entry: fs::DirEntry| entry.metadata().is_ok_and(|file| file.len() > 1 << 16);
    while !fs::read_dir(folder.path()).unwrap().flatten().any(longer) {
        std::thread::yield_now();
    }
    let kill = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left lying about");
}

/// Page and kind of access of each far-fault in a log, in order of the pages.
fn faults(log: &str) -> Vec<(String, String)> {
    let payloads = log.lines().filter_map(|line| line.split_once(';')).map(|(_, payload)| payload);
    let cells =
        payloads.filter(|payload| payload.starts_with("f,")).map(|payload| payload.split(',').collect());
    let mut all: Vec<_> = cells.map(|cells: Vec<&str>| (cells[1].to_owned(), cells[4].to_owned())).collect();
    all.sort();
    all
}

#[test]
fn a_log_of_far_faults_is_a_trace_that_gives_the_same_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("faults");
    let first = export(&["paging/fifth-fault", "--format", "uvm-faults"]);
    assert_eq!(faults(&first).len(), 5, "{first}");
    assert_eq!(first.matches(";s,").count(), first.matches(";b,").count());
    fs::write(&path, &first).unwrap();
    let again = export(&[path.to_str().unwrap(), "--machine", "tiny/paged-1gpu", "--format", "uvm-faults"]);
    assert_eq!(faults(&again), faults(&first), "{again}");
}

/// Page 1 far-faults while page 0 does; a transfer set has room for one of them, and the tree brings the other with it.
const OVERTAKEN: &str = r#"
machine = "tiny/paged-1gpu"
do = [
    { by = "gpu0.cu0", load = { address = 0x0, len = 4 } },
    { by = "gpu0.cu1", load = { address = 0x1000, len = 4 } },
]
"#;

#[test]
fn a_far_fault_that_a_prefetch_overtakes_is_in_the_fault_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("overtaken.toml");
    fs::write(&path, OVERTAKEN).unwrap();
    let set = ["--set", "gpu.paging.prefetch=\"tree\"", "--set", "gpu.paging.transfer_set=1"];
    let target = [&[path.to_str().unwrap()][..], &set].concat();
    let records = |query: &str| call(&[&["log"][..], &target, &["--where", query]].concat()).stdout;
    assert_eq!(records("far-fault stage raised").lines().count(), 2);
    assert_eq!(records("far-fault stage serviced").lines().count(), 1);
    let log = export(&[&target[..], &["--format", "uvm-faults"]].concat());
    let payloads = |line: &str| line.split_once(';').map(|(_, payload)| payload[..2].to_owned());
    let lines: Vec<String> = log.lines().filter_map(payloads).take(6).collect();
    assert_eq!(lines, ["s,", "f,", "p,", "b,", "s,", "f,"], "{log}");
    assert_eq!(
        faults(&log),
        [("0".to_owned(), "1".to_owned()), ("1000".to_owned(), "1".to_owned())],
        "{log}"
    );
}

/// A set whose pages wait for frames is one batch all the same.
#[test]
fn a_transfer_set_is_one_batch_of_the_fault_log() {
    let log = export(&["paging/prefetch-evicts", "--format", "uvm-faults"]);
    let lines = |payload: &str| log.lines().filter(|line| line.ends_with(payload)).count();
    let query = "far-fault stage serviced or page-move change prefetched";
    let records = call(&["log", "paging/prefetch-evicts", "--where", query, "--format", "json"]).stdout;
    let sets: BTreeSet<u64> = (records.lines())
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["fields"]["set"].as_u64().unwrap())
        .collect();
    assert!(sets.len() > 1, "{sets:?}");
    assert_eq!((lines(";s,"), lines(";b,")), (sets.len(), sets.len()), "{log}");
}

/// A sequence diagram, read by the part of Mermaid's grammar that is written: lifelines, then arrows (from, sign, to, text),
/// and the texts of notes.
fn read_diagram(text: &str) -> (Vec<&str>, Vec<[&str; 4]>, Vec<&str>) {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("sequenceDiagram"));
    let (mut lifelines, mut arrows, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines.map(str::trim_start) {
        if let Some(lifeline) = line.strip_prefix("participant ") {
            let (id, path) = lifeline.split_once(" as ").unwrap();
            assert_eq!(id, format!("p{}", lifelines.len()));
            assert!(arrows.is_empty() && notes.is_empty(), "{line}");
            lifelines.push(path);
            continue;
        }
        let known = |id: &str| lifelines[id.strip_prefix('p').unwrap().parse::<usize>().unwrap()];
        let (what, text) = line.split_once(": ").unwrap();
        assert!(!text.contains(';') || text.contains("#59;"), "{line}");
        if let Some(over) = what.strip_prefix("Note over ") {
            known(over);
            notes.push(text);
            continue;
        }
        let sign = ["-->>", "->>", "-x"].into_iter().find(|sign| what.contains(sign)).unwrap();
        let (from, to) = what.split_once(sign).unwrap();
        arrows.push([known(from), sign, known(to), text]);
    }
    (lifelines, arrows, notes)
}

#[test]
fn a_sequence_diagram_has_the_journey_of_a_transaction() {
    let text = export(&["umh/fig5-b1", "--format", "mermaid", "--where", "txn 2"]);
    let (lifelines, arrows, notes) = read_diagram(&text);
    assert_eq!(
        lifelines,
        ["gpu1.cu1", "gpu1.cu1.l1", "gpu1.l2.0", "gpu1.smd0", "host.hmd0", "gpu0.smd0", "gpu0.l2.0"]
    );
    assert_eq!(arrows.len(), records("umh/fig5-b1", "delivery and txn 2") + 1);
    assert_eq!(arrows[0], ["gpu1.cu1", "->>", "gpu1.cu1.l1", "n-store 0x1004 := 09 00 00 00, warp 0 (808)"]);
    assert_eq!(arrows[3], ["gpu1.smd0", "-->>", "host.hmd0", "read 0x1000 (832 to 1033)"]);
    assert!(arrows.contains(&["host.hmd0", "->>", "gpu1.smd0", "grant S + data 0x1000 (1461 to 2008)"]));
    assert!(notes.contains(&"0x1000 E > S, read probe (1257)"), "{notes:?}");
    assert!(!text.contains("mshr") && !text.contains("allocate"), "{text}");
}

#[test]
fn a_sequence_diagram_crosses_out_what_was_not_taken_and_has_an_end() {
    let text = export(&["tests/data/deadlock.toml", "--format", "mermaid"]);
    let (_, arrows, _) = read_diagram(&text);
    let crossed = arrows.iter().filter(|[_, sign, ..]| *sign == "-x").count();
    let (sent, taken) =
        (records("tests/data/deadlock.toml", "message"), records("tests/data/deadlock.toml", "delivery"));
    assert!(crossed > 0 && crossed == sent - taken, "{crossed} of {sent} - {taken}");
    let outcome = call(&["export", "workloads/umh/mm", "--scale", "32", "--format", "mermaid"]);
    assert!(outcome.code == Some(2) && outcome.stdout.is_empty(), "{outcome:?}");
    assert!(outcome.stderr.contains("choose some with --where, such as 'txn 1'"), "{}", outcome.stderr);
}
