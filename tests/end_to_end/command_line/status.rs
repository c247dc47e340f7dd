//! Exit statuses, and that one input has one outcome.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::{call, document};
use crate::common::binary::run;
use crate::common::umscope;

#[test]
fn the_status_tells_what_happened() {
    for (arguments, code) in [
        (&["run", "umh/fig5-b1"][..], 0),
        (&["run", "tests/data/fails.toml"], 1),
        (&["run", "tests/data/deadlock.toml"], 1),
        (&["run", "umh/fig5-b1", "--max-cycles", "10"], 1),
        (&["run", "tests/data/fails.toml", "--break", "message"], 0),
        (&["test", "umh", "litmus"], 0),
        (&["test", "umh/fig5-b1", "tests/data/fails.toml"], 1),
        (&["log", "tests/data/deadlock.toml"], 1),
        (&["log", "tests/data/deadlock.toml", "--limit", "1"], 0),
        (&["check", "tests/data/fails.toml"], 0),
        (&["--version"], 0),
    ] {
        assert_eq!(call(arguments).code, Some(code), "{arguments:?}");
    }
}

#[test]
fn a_deadlock_is_told_and_where_it_stopped_is_shown() {
    let outcome = call(&["run", "tests/data/deadlock.toml"]);
    assert!(
        outcome.stdout.contains("FAILED: deadlock: nothing can move, and load has not ended"),
        "{outcome:?}"
    );
    let outcome = call(&["run", "umh/fig5-b1", "--break", "transition at gpu1 to N"]);
    assert!(outcome.stdout.contains("stopped at event ") && outcome.stdout.contains("gpu1.cu1.l1 I > N"));
}

#[test]
fn a_lost_message_and_a_dropped_wake_up_are_found_and_are_all_that_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    for (file, waits) in [("deadlock", "load has not ended"), ("dropped-wake-up", "has not ended")] {
        let path = format!("tests/data/{file}.toml");
        let outcome = call(&["run", &path]);
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert!(outcome.stdout.contains("deadlock: nothing can move"), "{outcome:?}");
        assert!(outcome.stdout.contains(waits), "{outcome:?}");
        let text = std::fs::read_to_string(&path).unwrap();
        let sound = folder.path().join("sound.toml");
        std::fs::write(&sound, text.split("[[fault]]").next().unwrap()).unwrap();
        let outcome = call(&["run", sound.to_str().unwrap()]);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
    }
}

#[test]
fn names_are_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    std::fs::write(&path, "").unwrap();
    let outcome = call(&["test", folder.path().to_str().unwrap()]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert_eq!(outcome.stdout.matches("a.toml").count(), 1, "{outcome:?}");
    let machine = std::fs::read_to_string("configs/machines/tiny/two-l1.toml").unwrap();
    let inline = machine.replace("\n[", "\n[machine.").replacen("name = \"", "[machine]\nname = \"Mine: ", 1);
    std::fs::write(&path, inline).unwrap();
    let outcome = call(&["run", path.to_str().unwrap()]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(outcome.stdout.matches("Mine: ").count(), 1, "{outcome:?}");
}

#[test]
fn the_list_of_kernels_tells_what_they_take() {
    let outcome = call(&["list", "kernels"]);
    assert!(outcome.stdout.contains("blocks = 2"), "{outcome:?}");
    assert!(outcome.stdout.contains("thread blocks: an integer from 1 to 1048576"), "{outcome:?}");
    let parameter = &document(&["list", "kernels", "--format", "json"])["kernels"][0]["parameters"][0];
    assert!(parameter["default"].is_string() && parameter["expected"].is_string(), "{parameter}");
}

#[test]
fn one_scale_on_the_command_line_shrinks_work_and_capacities_together() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, head: &str| {
        let path = folder.path().join(name).display().to_string();
        let kernel = "[[kernel]]\nname = 'reduction'\nwith = { size = 4096, workgroup = 16, launch = 10 }\n";
        std::fs::write(&path, format!("title = 'sum'\n{head}machine = 'tiny/umh-2gpu'\n{kernel}")).unwrap();
        path
    };
    let (plain, scaled) = (write("plain.toml", ""), write("scaled.toml", "scale = 4\n"));
    let run = |arguments: &[&str]| {
        let run = document(&[&["run", "--format", "json"], arguments].concat());
        (run["digest"].as_str().unwrap().to_owned(), run["accesses"].as_u64().unwrap())
    };
    let (whole, quarter) = (run(&[&plain]), run(&[&scaled]));
    assert_eq!(whole.1, 4 * quarter.1);
    // As the file says it, over what the file says, and for every command that runs something.
    assert_eq!(run(&[&plain, "--scale", "4"]), quarter);
    assert_eq!(run(&[&plain, "--set", "scale=4"]), quarter);
    assert_eq!(run(&[&scaled, "--scale", "1"]), whole);
    let set = "name = 'reduction'\nwith = { size = 1024, workgroup = 16, launch = 10 }\n";
    std::fs::write(&plain, format!("title = 'sum'\nmachine = 'tiny/umh-2gpu'\n[[kernel]]\n{set}")).unwrap();
    let same_work = run(&[&plain]);
    assert!(same_work.1 == quarter.1 && same_work.0 != quarter.0, "the caches are smaller too");
    let arguments = ["debug", &scaled, "--no-tui", "--scale", "4"];
    let console = crate::common::binary::run(umscope(), &arguments, "end\ninfo position\n");
    assert!(console.stdout.contains(&quarter.0), "{console:?}");
}

#[test]
fn one_input_has_one_digest_whoever_listens() {
    let digest = |arguments: &[&str]| document(arguments)["digest"].clone();
    let once = digest(&["run", "umh/fig5-b1", "--format", "json"]);
    assert_eq!(once, digest(&["run", "umh/fig5-b1", "--format", "json", "--checks", "off"]));
    assert_eq!(once, digest(&["run", "umh/fig5-b1", "--format", "json", "--break", "fault"]));
    assert_eq!(once, document(&["test", "umh/fig5-b1", "--format", "json"])["scenarios"][0]["digest"]);
    let console =
        run(umscope(), &["debug", "umh/fig5-b1", "--no-tui"], "end\nreverse-step 3\nend\ninfo position\n");
    let position = console.stdout.lines().last().unwrap().to_owned();
    assert!(position.ends_with(&format!("digest {}", once.as_str().unwrap())), "{position}");
}

/// A long run that writes rows, started by a shell that has carried out `before`.
fn long_run(before: &str) -> (Child, BufReader<ChildStdout>) {
    let script = format!("{before} exec \"$0\" run tests/data/long.toml --sample 1000");
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .arg(umscope())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut rows = BufReader::new(child.stdout.take().unwrap());
    let mut row = String::new();
    (0..2).for_each(|_| assert!(rows.read_line(&mut row).unwrap() > 0));
    (child, rows)
}

/// Whether this process, and so all that it starts, was told to take no notice of SIGHUP.
fn outlives_its_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let last = mask.and_then(|mask| mask.trim().chars().last()?.to_digit(16));
    last.is_none_or(|last| last & 1 == 1)
}

fn signal(child: &Child, name: &str) {
    let kill = Command::new("sh").args(["-c", &format!("kill -{name} {}", child.id())]).status().unwrap();
    assert!(kill.success());
}

/// Reads all rows that are left; the run was interrupted, and says so.
fn ends_interrupted(mut child: Child, mut rows: BufReader<ChildStdout>) {
    let mut rest = String::new();
    rows.read_to_string(&mut rest).unwrap();
    assert!(rest.lines().count() > 1, "{rest}");
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted at event "), "{stderr}");
}

#[test]
fn an_interrupt_ends_a_run_with_what_is_known() {
    let hang_up = (!outlives_its_terminal()).then_some("HUP");
    for name in ["INT", "TERM"].into_iter().chain(hang_up) {
        let (child, rows) = long_run("");
        signal(&child, name);
        ends_interrupted(child, rows);
    }
}

#[test]
fn a_run_that_is_to_outlive_its_terminal_does() {
    // As nohup does.
    let (child, mut rows) = long_run("trap '' HUP;");
    signal(&child, "HUP");
    // More than can have been under way.
    let mut read = 0;
    while read < 2 << 20 {
        let mut row = String::new();
        read += rows.read_line(&mut row).unwrap();
        assert!(!row.is_empty(), "it has ended");
    }
    signal(&child, "INT");
    ends_interrupted(child, rows);
}

#[test]
fn a_row_buffer_can_be_stopped_at_and_looked_into() {
    const SCENARIO: &str = "tests/data/row-buffer.toml";
    let test = call(&["test", SCENARIO]);
    assert_eq!(test.code, Some(0), "{test:?}");
    let commands = "break dram access conflict\ncontinue\ninfo memory host.hmd0\n";
    let told = run(umscope(), &["debug", SCENARIO, "--no-tui"], commands).stdout;
    for words in [
        "host.hmd0 conflict reads 0x800 in row 0x1 of bank 0",
        "host.hmd0  0 reads and 0 writes wait, at most 1",
        "channel 0 bank 0: row 0x1 open, 0 wait",
        "channel 0 bank 1: no row open, 0 wait",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn what_was_to_come_after_the_last_cycle_is_not_reached() {
    let cut = call(&["run", "umh/fig5-b1", "--max-cycles", "10"]);
    assert_eq!(cut.code, Some(1), "{cut:?}");
    assert!(cut.stdout.contains("FAILED: the run has not ended after 10 cycles"), "{cut:?}");
    assert_eq!(cut.stdout.matches("FAILED").count(), 1, "{cut:?}");
    assert!(cut.stdout.contains("not reached: "), "{cut:?}");
}

#[test]
fn a_limit_of_transactions_holds_from_the_first_event_after_it_and_without_checks() {
    for checks in ["on", "off"] {
        let late = call(&["run", "umh/fig5-b1", "--transaction-limit", "5", "--checks", checks]);
        assert_eq!(late.code, Some(1), "{late:?}");
        assert!(
            late.stdout.contains("has not ended after 5 cycles (at event 3, cycle 21)")
                && late.stdout.contains("SLOW at event 3"),
            "{late:?}"
        );
    }
    assert_eq!(call(&["run", "umh/fig5-b1", "--transaction-limit", "100000"]).code, Some(0));
}

#[test]
fn what_stress_finds_on_a_machine_that_was_set_is_a_scenario_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("found.toml").display().to_string();
    let found = [
        "stress",
        "tiny/umh-2gpu",
        "--set",
        "gpu.count=1",
        "--fault",
        "no-grant-ack",
        "--accesses",
        "300",
        "--failure",
        &path,
    ];
    assert_eq!(call(&found).code, Some(1));
    let run = call(&["run", &path]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(std::fs::read_to_string(&path).unwrap().contains("count = 1"));
    let nowhere = folder.path().join("none/found.toml").display().to_string();
    let lost = call(&[&found[..9], &[nowhere.as_str()]].concat());
    assert_eq!(lost.code, Some(2));
    assert!(lost.stdout.is_empty() && lost.stderr.contains(&nowhere), "before the work begins: {lost:?}");
}

#[test]
fn a_core_reads_what_a_gpu_has_released_into_host_memory_though_it_had_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zero-copy.toml").display().to_string();
    let text = r#"
machine = "scalegpu-zerocopy"
program = [
    { id = "a", by = "host.cpu0", do = ["store 0x1000 01 02 03 04", "load 0x1000 4"] },
    { id = "b", after = "a", by = "gpu0.cu0", do = ["store 0x1000 09", "fence release"] },
    { id = "c", after = "b", by = "host.cpu0", do = ["load 0x1000 4"] },
]
"#;
    std::fs::write(&path, text).unwrap();
    let log = call(&["log", &path, "--set", "values=true", "--where", "complete at host.cpu0.l1 kind load"]);
    let loads: Vec<_> = log.stdout.lines().collect();
    assert!(loads.len() == 2 && loads[0].contains("= 01 02 03 04"), "{log:?}");
    assert!(loads[1].contains("= 09 02 03 04"), "{log:?}");
}

#[test]
fn copies_end_however_a_page_lies_over_memories_and_both_sides_may_read() {
    let folder = tempfile::tempdir().unwrap();
    let run = |machine: &str, work: &str, set: &[&str]| {
        let path = folder.path().join("copies.toml").display().to_string();
        std::fs::write(&path, format!("machine = \"{machine}\"\nprogram = [{work}]\n")).unwrap();
        let set: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
        let made = call(&[&["run", path.as_str()][..], &set].concat());
        assert_eq!(made.code, Some(0), "{machine} {set:?}: {made:?}");
    };
    let store = "{ id = \"a\", by = \"gpu0.cu0\", do = [\"store 0x10106 01\"] }";
    run("tiny/memcpy-1gpu", store, &["host.hmds=2", "host.interleave=64 B"]);
    run("baseline-memcpy-2gpu-pcie", store, &["gpu.numa.placement=fine"]);
    let both = "{ id = \"a\", by = \"gpu0.cu0\", do = [\"load 0x10008 4\"] }, \
                { id = \"b\", after = \"a\", by = \"host.cpu0\", do = [\"load 0x10008 4\"] }";
    run("tiny/memcpy-2gpu", both, &[]);
}

#[test]
fn what_a_scenario_expects_of_itself_is_told_apart_from_what_was_set() {
    let changed = call(&["run", "numa/local-phase", "--set", "gpu.numa.l2=memory-side"]);
    let note = "note: the scenario expects this of itself as it is, not with gpu.numa.l2 = \"memory-side\"";
    assert!(changed.code == Some(1) && changed.stdout.contains(note), "{changed:?}");
    // What the scenario sets is a part of it.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.toml").display().to_string();
    let text = "machine = 'tiny/umh-1gpu'\nset.gpu.l1.ways = 2\ndo = [{ by = 'gpu0.cu0', load.address = 0x1000 }]\n\
                expect = [{ count = 'hit at gpu0.cu0.l1', is = 9 }]\n";
    std::fs::write(&path, text).unwrap();
    let alone = call(&["run", &path]);
    assert!(alone.code == Some(1) && !alone.stdout.contains("note: "), "{alone:?}");
    let with = call(&["run", &path, "--set", "gpu.l1.mshrs=3"]).stdout;
    assert!(with.contains("not with gpu.l1.mshrs = 3\n") && with.contains("gpu.l1.ways = 2"), "{with}");
}

#[test]
fn an_empty_file_does_not_hide_what_is_bundled_under_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mesi.toml");
    std::fs::write(&file, "").unwrap();
    let check = |name: &str| {
        let mut check = std::process::Command::new(umscope());
        check.args(["check", name, "--keys"]).current_dir(folder.path()).output().unwrap()
    };
    let told = check("mesi");
    assert!(told.status.success() && told.stdout.starts_with(b"# MESI"), "{told:?}");
    let refused = check("mesi.toml");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("mesi.toml is empty"), "{refused:?}");
}

#[test]
fn a_lesson_runs_under_a_protocol_without_its_states_and_says_what_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let record = path("tried.rec");
    let tried = call(&["run", "umh/neighbouring-bytes", "--protocol", "mesi", "--record", &record]);
    assert!(tried.code == Some(1) && tried.stderr.contains("the story, and what is expected"), "{tried:?}");
    assert!(tried.stderr.contains("expected a state of mesi"), "{tried:?}");
    // What speaks of no state is still expected.
    assert!(
        tried.stdout.contains("FAILED: ") && tried.stdout.contains("0 of message type read-nc"),
        "{tried:?}"
    );
    assert!(tried.stdout.contains("as it is, not with protocol = \"mesi\""), "{tried:?}");
    assert_eq!(call(&["replay", &record]).code, Some(0));
    assert_eq!(call(&["run", &record]).code, Some(1));
    let text = std::fs::read_to_string("scenarios/umh/neighbouring-bytes.toml").unwrap();
    let refused = |name: &str, text: &str, more: &[&str]| {
        let path = path(name);
        std::fs::write(&path, text).unwrap();
        let outcome = call(&[&["run", path.as_str()][..], more].concat());
        assert_eq!(outcome.code, Some(2), "{name}: {outcome:?}");
    };
    // Its own protocol must have them, and any other slip is one.
    refused("own.toml", &format!("protocol = \"mesi\"\n{text}"), &[]);
    refused("slip.toml", &text.replace("count = \"hit at", "count = \"hitt at"), &["--protocol", "mesi"]);
    // What no protocol of it has is a slip, too, beside what only its own has and under its own.
    let typo = "machine = \"tiny/umh-2gpu\"\n[[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x1000, len = 4 }\n[[expect]]\n\
                that = [\"state of gpu0.cu0.l1 block 0x1000 is N\", \"state of gpu0.cu0.l1 block 0x1000 is Q\"]\n";
    for protocol in ["mesi", "nmoesi"] {
        refused("typo.toml", typo, &["--protocol", protocol]);
    }
    // What is changed about the protocol that is tried need not be possible in its own.
    let renamed = call(&["check", "mesi", "--keys"]).stdout.replace("E = ", "F = ").replace("> E", "> F");
    std::fs::write(path("f.toml"), renamed.replace("\"E\"", "\"F\"")).unwrap();
    let change = "cache F n-store = write > M";
    let tried = call(&["test", "umh/neighbouring-bytes", "--protocol", &path("f.toml"), "--mutate", change]);
    assert!(tried.code == Some(1) && tried.stderr.contains("the story, and what is expected"), "{tried:?}");
    let suite = ["test", "umh/neighbouring-bytes", "--protocol", "mesi", "--format"];
    let json = call(&[&suite[..], &["json"]].concat()).stdout;
    assert!(json.contains("\"left_out\":\"") || json.contains("\"left_out\": \""), "{json}");
    let junit = call(&[&suite[..], &["junit"]].concat()).stdout;
    assert!(junit.contains("<system-out>the story, and what is expected"), "{junit}");
    let tested = call(&["test", "scenarios/umh/neighbouring-bytes.toml", "--protocol", "mesi"]);
    assert!(
        tested.code == Some(1) && tested.stderr.contains("the story, and what is expected"),
        "{tested:?}"
    );
    let checked = call(&["check", "umh/neighbouring-bytes", "--set", "protocol=mesi"]);
    assert!(checked.code == Some(0) && checked.stderr.contains("this is left out"), "{checked:?}");
    assert_eq!(call(&["check", &path("slip.toml"), "--set", "protocol=mesi"]).code, Some(2));
}

#[test]
fn the_debugger_counts_at_a_limit_as_a_run_does() {
    let cut = ["kernels/bank-account", "--max-cycles", "4000"];
    let told = call(
        &[&["debug"], &cut[..], &["--no-tui", "-x", "end", "-x", "info statistics work_cycles"]].concat(),
    );
    assert!(told.stdout.contains("work_cycles = 4000"), "{told:?}");
    let ran = document(&[&["run"], &cut[..], &["--format", "json"]].concat());
    assert_eq!(ran["stats"]["work_cycles"], 4000);
}
