//! `umscope explore`: complete, bounded and random explorations, and what they find.

use serde_json::Value;

use super::{call, document};
use crate::common::binary::run;
use crate::common::umscope;

/// An exploration that takes no second.
const SMALL: [&str; 6] = [
    "explore",
    "explore/gpu-and-core",
    "--protocol",
    "msi",
    "--set",
    "explore.accesses=[\"load 0x1000\", \"store 0x1000\"]",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().copied().chain(more.iter().copied()).collect()
}

#[test]
fn a_complete_exploration_says_what_can_be_reached() {
    let found = document(&with(&["--format", "json"]));
    assert_eq!((&found["complete"], &found["violations"]), (&Value::Bool(true), &Value::Array(Vec::new())));
    assert_eq!(found["coverage"]["reached"], found["coverage"]["reachable"]);
    assert!(
        found["states"].as_u64() > Some(1000) && found["transitions"].as_u64() > found["states"].as_u64()
    );
    let text = call(&SMALL);
    assert_eq!(text.code, Some(0));
    assert!(
        text.stdout.contains("complete: every state was looked at") && text.stdout.contains("never reached")
    );
}

#[test]
fn a_rule_of_selective_caching_that_is_off_shows_where_it_applies() {
    let fault = ["--fault", "keep-host-lines"];
    let host = |more: &[&str]| call(&[&["explore", "explore/selective-host"], more].concat());
    assert_eq!(host(&[]).code, Some(0));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("found.rec").display().to_string();
    let broken = host(&[fault[0], fault[1], "--record", &path]);
    assert!(broken.code == Some(1) && broken.stdout.contains("stale-read"), "{broken:?}");
    let elsewhere = call(&["explore", "explore/selective-sectors-gpu", fault[0], fault[1]]);
    assert!(elsewhere.code == Some(0) && elsewhere.stdout.contains("with keep-host-lines nothing broke"));
}

/// An owner that is told of a reader stays one in this table, and the reader is granted the same.
#[test]
fn two_owners_are_found_in_all_orders_and_in_the_run_that_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("found.rec").display().to_string();
    let rule = "directory read 1 = { when = \"owned by another\", probe = \"read owner\", grant = \"O\" }";
    let changed = ["--protocol", "moesi", "--mutate", rule, "--record", &path];
    let explored = call(&[&["explore", "explore/two-l1"][..], &changed].concat());
    assert!(explored.code == Some(1) && explored.stdout.contains("single-owner: "), "{explored:?}");
    let made = call(&["run", &path, "--format", "json"]);
    assert!(made.code == Some(1) && made.stdout.contains(" in O while "), "{made:?}");
    let whole = call(&["explore", "explore/two-l1", "--protocol", "moesi"]);
    assert!(whole.code == Some(0) && whole.stdout.contains("no rule was broken by moesi"), "{whole:?}");
}

/// Of a run, where all orders are gone through, nothing is looked at; with events held back all of it is, if that is asked for.
#[test]
fn what_a_scenario_expects_must_hold_whatever_is_held_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (file, found) = (path("own.toml"), path("found.rec"));
    let text = "machine = \"explore/two-l1\"\n[explore]\naccesses = [\"load 0x1000\"]\n\
                [[do]]\nid = \"first\"\nby = \"gpu0.cu0\"\nload = { address = 0x1000, len = 1 }\n\
                [[do]]\ndelay = 600\nby = \"gpu0.cu1\"\nstore = { address = 0x1000, bytes = \"07\" }\n\
                [[expect]]\nafter = \"first\"\nthat = \"result of first is 0\"\n";
    std::fs::write(&file, text).unwrap();
    let all = call(&["explore", &file]);
    assert!(all.code == Some(0) && all.stderr.contains("[[do]] and other work, [[expect]]"), "{all:?}");
    assert_eq!(call(&["explore", &file, "--hold", "1"]).code, Some(0));
    let held = call(&["explore", &file, "--hold", "1", "--expect", "--record", &found]);
    assert!(held.code == Some(1) && held.stdout.contains("expectation: "), "{held:?}");
    let made = call(&["run", &found]);
    assert!(made.code == Some(1) && made.stdout.contains("result of first is 0"), "{made:?}");
    assert_eq!(call(&["replay", &found]).code, Some(0));
    // It opens where that failed, though the run goes on.
    let failed = document(&["run", &found, "--format", "json"])["failures"][0]["event"].clone();
    let opened = call(&["debug", &found, "--no-tui", "-x", "info position"]).stdout;
    assert!(
        opened.lines().any(|line| line.starts_with(&format!("event {failed} cycle "))),
        "{failed}: {opened}"
    );
    let none = call(&["explore", "explore/sockets", "--hold", "1", "--expect"]);
    assert!(none.code == Some(2) && none.stderr.contains("expects nothing"), "{none:?}");
}

/// The accesses of an exploration are made by hand: no warp waits for them.
#[test]
fn what_exploration_finds_can_be_looked_into_and_kept_as_a_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (found, kept) = (path("found.rec"), path("kept.toml"));
    let fault = ["--fault", "probes-may-not-pass", "--record", &found];
    let explored = call(&[&["explore", "explore/two-l1"][..], &fault].concat());
    assert!(explored.code == Some(1) && explored.stdout.contains("deadlock: "), "{explored:?}");
    let commands = ["goto 8", &format!("save scenario {kept}"), "end", "why gpu0.cu0", "why gpu0.cu1"];
    let commands: Vec<&str> = commands.into_iter().flat_map(|command| ["-x", command]).collect();
    let told = call(&[&["debug", &found, "--no-tui"], &commands[..]].concat()).stdout;
    assert!(told.contains("gpu0.cu0 waits for transaction 2: store 0x1000 := 09"), "{told}");
    assert!(
        told.contains("and so it comes back to") && told.contains("gpu0.cu1 waits for nothing"),
        "{told}"
    );
    assert_eq!(call(&["check", &kept]).code, Some(0));
}

/// Who takes no part in coherence stores by messages: the run orders stores as the exploration does, by when they are performed.
#[test]
fn what_exploration_finds_of_selective_caches_fails_in_a_run_too() {
    let folder = tempfile::tempdir().unwrap();
    let found = |scenario: &str, fault: &str, rule: &str| {
        let path = folder.path().join(format!("{scenario}-{fault}.rec")).display().to_string();
        let name = format!("explore/{scenario}");
        let explored = call(&["explore", &name, "--fault", fault, "--record", &path]);
        assert_eq!(explored.code, Some(1), "{scenario} {fault}: {explored:?}");
        let made = call(&["run", &path]);
        assert!(made.code == Some(1) && made.stdout.contains(rule), "{scenario} {fault}: {made:?}");
    };
    for fault in ["keep-overtaken", "serve-beside-cpu", "keep-beside-cpu", "skip-gpu-probe"] {
        found("selective", fault, "stale-read");
    }
    found("selective-host", "keep-host-lines", "stale-read");
    found("selective-host", "leave-early", "directory");
}

#[test]
fn where_pages_are_only_mapped_a_lost_replay_hangs_and_there_is_no_translation_to_shoot_down() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("found.rec").display().to_string();
    let explore = |more: &[&str]| call(&[&["explore", "explore/mapped-pages", "--hold", "1"], more].concat());
    let lost = explore(&["--fault", "drop-replay", "--record", &path]);
    assert!(lost.code == Some(1) && lost.stdout.contains("deadlock"), "{lost:?}");
    let whole = explore(&["--fault", "skip-shoot-down"]);
    assert!(
        whole.code == Some(0) && whole.stdout.contains("with skip-shoot-down nothing broke"),
        "{whole:?}"
    );
}

#[test]
fn a_bounded_exploration_claims_nothing() {
    for bound in [["--max-states", "500"], ["--depth", "6"]] {
        let found = document(&with(&[bound[0], bound[1], "--format", "json"]));
        assert_eq!(
            (&found["complete"], &found["coverage"]["reachable"]),
            (&Value::Bool(false), &Value::Null)
        );
        assert_eq!(call(&with(&bound)).code, Some(0));
        if bound[0] == "--max-states" {
            assert_eq!(found["states"], 500);
        }
    }
}

#[test]
fn a_violation_becomes_a_recording_that_ends_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("found.rec").display().to_string();
    let outcome = call(&with(&["--fault", "no-grant-ack", "--format", "json", "--record", &path]));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let found: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let violation = &found["violations"][0];
    assert_eq!(violation["recording"].as_str(), Some(path.as_str()));
    let replayed = call(&["replay", &path]);
    assert_eq!(replayed.code, Some(0), "{replayed:?}");
    let steps = violation["steps"].as_u64().unwrap();
    let kind = violation["kind"].as_str().unwrap();
    let log = call(&["log", &path, "--where", "violation"]);
    assert!(log.stdout.contains(&format!("{steps}.")) && log.stdout.contains(kind), "{log:?} {violation}");
    let mutant = call(&with(&["--mutate", "cache S store = hit > M", "--record", &path]));
    assert_eq!(mutant.code, Some(1));
    assert!(mutant.stdout.contains("host.cpu0.l1"), "{}", mutant.stdout);
}

#[test]
fn random_orders_are_the_same_for_the_same_seed() {
    let walk = |jobs| {
        let arguments =
            with(&["--random", "30000", "--seed", "5", "--jobs", jobs, "--fault", "skip-invalidation"]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("random.rec").display().to_string();
        let arguments: Vec<&str> = arguments.into_iter().chain(["--record", &path]).collect();
        let outcome = call(&arguments);
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        std::fs::read(path).unwrap()
    };
    assert_eq!(walk("1"), walk("3"));
    let fine = document(&with(&["--random", "30000", "--format", "json"]));
    assert_eq!((&fine["states"], &fine["violations"]), (&Value::Null, &Value::Array(Vec::new())));
}

#[test]
fn what_cannot_be_explored_is_told() {
    for (arguments, message) in [
        (vec!["explore", "umh/fig5-b1"], "does not say what to explore"),
        (vec!["explore", "explore/two-11"], "two-l1"),
        (with(&["--set", "explore.accesses=[\"laod 0x1000\"]"]), "did you mean load"),
        (with(&["--set", "explore.accesses=[\"load\"]"]), "has no address"),
        (with(&["--set", "explore.accesses=[\"load 0x1000 0\"]"]), "is of no length"),
        (with(&["--set", "explore.accesses=[]"]), "there are 0 accesses to explore"),
        (with(&["--set", "explore.outstanding=5"]), "outstanding is 5"),
        (with(&["--set", "explore.by=\"gpu0.cu7\""]), "gpu0.cu7"),
        (with(&["--set", "explore.evicts=true"]), "evicts"),
        (with(&["--set", "values=false"]), "keeps no values"),
        (with(&["--fault", "no-grant-ak"]), "--fault:1:17: there is no fault no-grant-ak"),
        (
            vec!["explore", "explore/two-l1", "--protocol", "mezi"],
            "--protocol:1:10: there is no protocol `mezi`",
        ),
        (with(&["--mutate", "cache Q store = hit"]), "Q"),
    ] {
        let outcome = call(&arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:?}");
        assert!(outcome.stderr.contains(message), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn work_with_events_held_back_breaks_nothing_or_becomes_a_recording() {
    let found = document(&["explore", "explore/tags", "--hold", "1", "--format", "json"]);
    assert_eq!((&found["complete"], &found["violations"]), (&Value::Bool(true), &Value::Array(Vec::new())));
    let durations = found["durations"].as_array().unwrap().len() as u64;
    assert!(durations > 4 && found["runs"].as_u64() > Some(50 * durations), "{found}");
    assert!(found["coverage"]["reached"].as_u64() > Some(10) && found["states"].is_null());

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.rec").display().to_string();
    let late = [
        "explore",
        "explore/read-only-pages",
        "--hold",
        "2",
        "--fault",
        "keep-host-lines",
        "--record",
        &path,
    ];
    let outcome = call(&late);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stdout.contains("(one event held back)\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("    after event 2: hold "), "{}", outcome.stdout);
    let replayed = call(&["replay", &path]);
    assert_eq!(replayed.code, Some(0), "{replayed:?}");
    let log = call(&["log", &path, "--where", "violation"]);
    assert!(log.stdout.contains("stale-read"), "{log:?}");
    let log = call(&["log", &path, "--where", "input"]);
    assert!(log.stdout.contains("the start of core"), "{log:?}");

    for (arguments, message) in [
        (vec!["explore", "explore/two-l1", "--hold", "1"], "no work whose events could be held back"),
        (vec!["explore", "explore/pages"], "--hold 1"),
        (vec!["explore", "explore/pages", "--hold", "9"], "1 to 8"),
        (vec!["explore", "explore/pages", "--hold", "1", "--depth", "2"], "--depth"),
    ] {
        let outcome = call(&arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:?}");
        assert!(outcome.stderr.contains(message), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn who_can_wait_for_ever_is_looked_for_where_all_states_are_there() {
    let fair = document(&with(&["--fair", "--format", "json"]));
    assert_eq!((&fair["complete"], &fair["fair"]), (&Value::Bool(true), &Value::Bool(true)));
    let unasked = document(&with(&["--format", "json"]));
    assert_eq!(unasked["fair"], Value::Null);
    let bounded = call(&with(&["--fair", "--depth", "6"]));
    assert!(bounded.stdout.contains("whether every access ends was not looked at: --depth"), "{bounded:?}");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("starved.rec").display().to_string();
    let crowd = ["explore", "explore/three-l1", "--protocol", "msi", "--fair"];
    let stores =
        ["--set", "explore.accesses=[\"store 0x1000\"]", "--fault", "unfair-arbiter", "--record", &path];
    let starved = call(&[crowd.as_slice(), stores.as_slice()].concat());
    assert_eq!(starved.code, Some(1), "{starved:?}");
    assert!(starved.stdout.contains("starvation: an access of gpu0.cu2.l1 waits for ever"), "{starved:?}");
    assert_eq!(call(&["replay", &path]).code, Some(0));
    let made = call(&["run", &path]);
    assert!(made.code == Some(1) && made.stdout.contains("found starvation: "), "{made:?}");
    let shrunk = call(&["shrink", &path]);
    assert!(shrunk.code == Some(2) && shrunk.stderr.contains("how it may go on (starvation: "), "{shrunk:?}");
    // Nothing in the machine says so: who opens the recording is told, and so is who comes there again.
    let told = run(umscope(), &["debug", &path, "--no-tui"], "reverse-step\nstep\n");
    assert_eq!(
        told.stdout.matches("found: starvation: an access of gpu0.cu2.l1 waits").count(),
        2,
        "{told:?}"
    );
}

#[test]
fn a_directory_that_is_wrong_when_all_is_quiet_fails_in_a_run_too() {
    let folder = tempfile::tempdir().unwrap();
    let (table, found) = (folder.path().join("owner.toml"), folder.path().join("owner.rec"));
    let protocol = std::fs::read_to_string("configs/protocols/nmoesi.toml").unwrap();
    let row = protocol.lines().find(|line| line.starts_with("S = { load")).unwrap();
    // A copy among others that takes itself for the owner.
    let wrong = row.replace("n-store = \"hit > N\"", "n-store = \"hit > O\"");
    assert_ne!(row, wrong);
    std::fs::write(&table, protocol.replace(row, &wrong)).unwrap();
    let (table, found) = (table.to_str().unwrap(), found.to_str().unwrap());
    let explored = call(&["explore", "explore/two-gpu", "--protocol", table, "--record", found]);
    assert!(explored.code == Some(1) && explored.stdout.contains("gpu1.cu0.l1 is the owner"), "{explored:?}");
    let again = call(&["run", found]);
    assert!(again.code == Some(1) && again.stdout.contains("FAILED: directory"), "{again:?}");
}

#[test]
fn a_message_in_another_lane_than_its_own_is_delivered_again() {
    let folder = tempfile::tempdir().unwrap();
    let found = folder.path().join("lanes.rec");
    let found = found.to_str().unwrap();
    let fault = ["--protocol", "mesi", "--fault", "writebacks-as-requests"];
    let explored = call(&[&["explore", "explore/two-l1"], &fault[..], &["--record", found]].concat());
    assert!(explored.code == Some(1) && explored.stdout.contains("\ninclusion: "), "{explored:?}");
    let again = call(&["run", found]);
    assert!(again.code == Some(1) && again.stdout.contains("FAILED: inclusion: "), "{again:?}");
}

#[test]
fn what_led_to_a_broken_rule_is_told_with_its_lines_in_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let (table, found) = (folder.path().join("mine.toml"), folder.path().join("mine.rec"));
    let protocol = std::fs::read_to_string("configs/protocols/mesi.toml").unwrap();
    let row = protocol.lines().position(|line| line.starts_with("S = { load")).unwrap();
    let wrong = protocol.replace("read = \"ack\", write = \"ack > I\"", "read = \"ack\", write = \"ack\"");
    std::fs::write(&table, wrong).unwrap();
    let (table, found) = (table.to_str().unwrap(), found.to_str().unwrap());
    let explored = call(&["explore", "explore/two-l1", "--protocol", table, "--record", found]);
    // Of several rules for a request the one that was used, and which of them was changed.
    let rule = ["--protocol", "moesi", "--mutate", "directory read 3 = { grant = \"E\" }"];
    let other = folder.path().join("rule.rec");
    let other = other.to_str().unwrap();
    let changed = call(&[&["explore", "explore/two-l1"][..], &rule, &["--record", other]].concat());
    assert!(
        changed.code == Some(1) && changed.stdout.contains("(changed: { grant = \"E\" })"),
        "{changed:?}"
    );
    let why = call(&["debug", other, "--no-tui", "-x", "why"]).stdout;
    assert!(why.contains("[directory] read 3: ... grant = \"S\" (changed: { grant = \"E\" })"), "{why}");
    assert!(why.matches("(changed").count() == 1, "{why}");
    assert!(explored.code == Some(1), "{explored:?}");
    // What the machine says of it, which knows the states.
    assert!(
        explored.stdout.contains("holds block 0x1000 in S, but gpu0.l2.0 does not list it"),
        "{explored:?}"
    );
    let told = run(umscope(), &["debug", found, "--no-tui"], "continue\nwhy\n");
    assert!(told.stdout.contains("(why tells what led to it)"), "{told:?}");
    assert!(told.stdout.contains(&format!("{table}:{} [cache] S: write = \"ack\"", row + 1)), "{told:?}");
    let rule = protocol.lines().position(|line| line.starts_with("write = [{")).unwrap() + 1;
    assert!(
        told.stdout.contains(&format!("{table}:{rule} [directory] write 1: ... grant = \"M\"")),
        "{told:?}"
    );
}

#[test]
fn what_led_to_a_broken_rule_is_told_as_the_changed_table_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let found = folder.path().join("changed.rec");
    let found = found.to_str().unwrap();
    let change = ["--protocol", "mesi", "--mutate", "cache S write = ack"];
    let explored = call(&[&["explore", "explore/two-l1"], &change[..], &["--record", found]].concat());
    assert!(explored.code == Some(1), "{explored:?}");
    let told = run(umscope(), &["debug", found, "--no-tui"], "continue\nwhy\n").stdout;
    assert!(told.contains("[cache] S: write = \"ack > I\" (changed: ack)"), "{told}");
}

#[test]
fn a_recording_is_named_after_all_that_was_tried() {
    let folder = tempfile::tempdir().unwrap();
    let mut names = Vec::new();
    for tried in [["--fault", "no-grant-ack"], ["--mutate", "cache S write = ack"]] {
        let mut explore = std::process::Command::new(umscope());
        explore.args(["explore", "explore/two-gpu", "--protocol", "mesi"]).args(tried);
        let outcome = explore.current_dir(folder.path()).output().unwrap();
        assert_eq!(outcome.status.code(), Some(1), "{outcome:?}");
    }
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        names.push(entry.unwrap().file_name().into_string().unwrap());
    }
    names.sort();
    let starts = |nth: usize, with: &str| names.get(nth).is_some_and(|name: &String| name.starts_with(with));
    assert!(
        starts(0, "two-gpu-mesi-cache-S-write-ack-") && starts(1, "two-gpu-mesi-no-grant-ack-"),
        "{names:?}"
    );
}

#[test]
fn what_was_found_is_told_where_its_recording_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("two-gpu-no-grant-ack-inclusion.rec")).unwrap();
    let scenario = std::path::absolute("scenarios/explore/two-gpu.toml").unwrap();
    let mut explore = std::process::Command::new(umscope());
    explore.args(["explore", scenario.to_str().unwrap(), "--fault", "no-grant-ack"]);
    let outcome = explore.current_dir(folder.path()).output().unwrap();
    let (told, wrong) = (String::from_utf8_lossy(&outcome.stdout), String::from_utf8_lossy(&outcome.stderr));
    assert_eq!(outcome.status.code(), Some(1), "{told} {wrong}");
    assert!(told.contains("\ninclusion: ") && told.contains("its recording could not be written"), "{told}");
    assert!(wrong.contains("two-gpu-no-grant-ack-inclusion.rec"), "{wrong}");
}

#[test]
fn a_fault_that_strikes_once_in_a_run_is_refused() {
    let refused = call(&["explore", "explore/two-l1", "--fault", "drop-wake-up"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("strikes once in a run"), "{refused:?}");
}

#[test]
fn a_check_looks_at_the_tables_behind_scenarios_and_machines() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let table = std::fs::read_to_string("configs/protocols/mesi.toml").unwrap();
    let hit = |row: &str| {
        let begin = row.find("store").unwrap_or(0);
        let (head, tail) = row.split_at(begin);
        format!("{head}{}", tail.replacen("\"write > M\"", "\"hit > M\"", 1))
    };
    let is_shared = |row: &str| row.starts_with("S = {") && row.contains("load");
    let lines = table.lines().map(|row| if is_shared(row) { hit(row) } else { row.to_owned() });
    let broken: Vec<String> = lines.collect();
    std::fs::write(at("two.toml"), broken.join("\n")).unwrap();
    std::fs::write(
        at("s.toml"),
        "machine = 'tiny/umh-2gpu'\nprotocol = 'two'\n[[do]]\nby = 'gpu0.cu0'\nload = { address = 0 }\n",
    )
    .unwrap();
    let protocol = format!("protocol={}", at("two.toml"));
    for arguments in [
        &["check", &at("two.toml")][..],
        &["check", &at("s.toml")],
        &["check", "tiny/umh-2gpu", "--set", &protocol],
    ] {
        let told = call(arguments);
        assert!(told.code == Some(2) && told.stderr.contains("a store is performed in S"), "{told:?}");
    }
    assert_eq!(call(&["check", "tiny/umh-2gpu", "--set", "protocol=mesi"]).code, Some(0));
    // It runs all the same, for what comes of it.
    for arguments in [&["run", &at("s.toml")][..], &["debug", &at("s.toml"), "--no-tui", "-x", "end"]] {
        let told = call(arguments);
        let warned = told.stderr.contains("two.toml:") && told.stderr.contains("a store is performed in S");
        assert!(told.code == Some(0) && warned && told.stderr.starts_with("warning: "), "{told:?}");
    }
    assert!(call(&["run", "umh/fig5-b1"]).stderr.is_empty());
}

#[test]
fn a_store_to_a_row_that_is_replaced_is_not_lost_and_that_it_is_would_be_found() {
    let replaced = ["explore", "explore/replaced-rows", "--hold", "1", "--format", "json"];
    let sound = document(&replaced);
    assert_eq!((&sound["complete"], &sound["violations"]), (&Value::Bool(true), &Value::Array(Vec::new())));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lost.rec").display().to_string();
    let lost = document(&[&replaced[..], &["--fault", "cold-write-only-here", "--record", &path]].concat());
    assert_eq!(lost["violations"][0]["kind"], "stale-read", "{lost}");
}

#[test]
fn a_table_whose_later_store_is_dropped_for_an_earlier_one_fails_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    // The second n-store of an L1 sends the first one down and is lost in X; the first comes back.
    let table = write(
        "third.toml",
        r#"
name = "third"
title = "The last n-store may be dropped"
state = { N = "noncoherent", W = "noncoherent", X = "noncoherent", M = "exclusive owner", S = "", I = "" }
[cache]
N = { load = "hit", store = "write > M", n-store = "hit > W", evict = "writeback > I", read = "ack", write = "data > I" }
W = { load = "hit", store = "write > M", n-store = "flush > X", evict = "writeback > I", read = "ack", write = "data > I" }
X = { load = "hit", store = "write > M", n-store = "hit", evict = "writeback > I", read = "ack", write = "ack > I" }
M = { load = "hit", store = "hit", n-store = "hit", evict = "writeback > I", read = "data > S", write = "data > I" }
S = { load = "hit", store = "write > M", n-store = "write > M", evict = "notify > I", read = "ack", write = "ack > I" }
I = { load = "read > granted", store = "write > M", n-store = "read-nc > N", evict = "impossible", read = "ack", write = "ack" }
[inner]
N = { n-store = "hit" }
W = { n-store = "hit" }
X = { n-store = "hit" }
S = { n-store = "hit" }
I = { n-store = "read > granted" }
[directory]
read = [{ when = "owned by another", probe = "read owner", grant = "S" }, { grant = "S" }]
read-nc = [{ when = "owned by another", probe = "read owner", grant = "N" }, { grant = "N" }]
write = [{ probe = "write others", grant = "M" }]
[merge]
N = { S = "N" }
W = { S = "N" }
X = { S = "N" }
"#,
    );
    let run = write(
        "run.toml",
        r#"
machine = "explore/two-gpu"
memory = [{ address = 0x1000, bytes = "ff" }]
[[program]]
id = "writes"
by = "gpu0.cu0"
do = ["n-store 0x1000 01", "n-store 0x1000 02", "load 0x1000 1"]
[[program]]
id = "beside"
after = "writes"
by = "gpu1.cu0"
do = ["store 0x1001 77"]
[[program]]
after = "beside"
by = "gpu0.cu0"
do = ["load 0x1000 1"]
"#,
    );
    let outcome = call(&["run", &run, "--protocol", &table]);
    assert!(
        outcome.code == Some(1) && outcome.stdout.contains("stale-read: at gpu0.cu0.l1: the load read 0x01"),
        "{outcome:?}"
    );
    // A cell of what only memories with tags do is refused wherever it stands.
    let relay = call(&["run", &run, "--protocol", "msi", "--mutate", "cache S n-store = relay"]);
    assert!(relay.code == Some(2) && relay.stderr.contains("whose row S has `relay`"), "{relay:?}");
    // What an L1 passes up the L2 performs, and asks for it.
    let asks = ["check", "tiny/vi-1gpu", "--set", "gpu.l2.protocol=nmoesi"];
    let checked = call(&asks);
    assert!(
        checked.code == Some(2) && checked.stderr.contains("vi, which has no answer to a read-nc of nmoesi"),
        "{checked:?}"
    );
    // An L1 that keeps what nobody keeps account of has to be emptied.
    let vi = std::fs::read_to_string("configs/protocols/vi.toml").unwrap();
    let kept = write("kept.toml", &vi.replace(", acquire = \"silent > I\"", ""));
    let checked = call(&["check", &kept]);
    assert!(
        checked.code == Some(2) && checked.stderr.contains("a block in V can meet an acquire"),
        "{checked:?}"
    );
}

/// What is performed where nothing is, and an eviction that cannot be, leave no trace in what is kept: nothing else would notice them.
#[test]
fn what_a_table_says_of_i_and_of_evictions_is_looked_at_as_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("found.rec").display().to_string();
    let failure = folder.path().join("failure.toml").display().to_string();
    for (change, says) in [
        ("cache I load = hit", "serves a load in I"),
        ("cache I n-store = hit", "serves an n-store in I"),
        ("inner I store = hit", "serves a store in I"),
        ("cache M evict = impossible", "an eviction meets a block in M"),
        ("cache S evict = impossible", "an eviction meets a block in S"),
    ] {
        let changed = ["--protocol", "mesi", "--mutate", change];
        let found = call(&[&["explore", "explore/two-gpu", "--record", &path], &changed[..]].concat());
        assert_eq!(found.code, Some(1), "{change}: {found:?}");
        assert!(
            found.stdout.contains("impossible-cell") && found.stdout.contains(says),
            "{change}: {found:?}"
        );
        let stressed = call(&[&["stress", "tiny/umh-2gpu", "--failure", &failure], &changed[..]].concat());
        assert!(stressed.code == Some(1) && stressed.stdout.contains(says), "{change}: {stressed:?}");
    }
}
