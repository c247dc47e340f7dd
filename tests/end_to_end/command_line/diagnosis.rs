//! What a run that cannot go on says, the graph of it, bugs to be found, and the random tester.

use serde_json::Value;

use super::{call, document};
use crate::common::binary::{Outcome, run};
use crate::common::umscope;

#[test]
fn a_deadlock_is_told_edge_by_edge_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("waits.dot");
    let outcome = call(&["run", "debugging/two-wait", "--dot", file.to_str().unwrap()]);
    assert_eq!(outcome.code, Some(0), "it is what the lesson expects: {outcome:?}");
    for words in [
        "DEADLOCK at event ",
        "  1  the request of gpu0.smd0 for block 0x1000 waits for the grant of host.hmd0 (since cycle ",
        "which is (1) again",
        "unavoidable since event ",
    ] {
        assert!(outcome.stdout.contains(words), "{words}: {}", outcome.stdout);
    }
    let graph = std::fs::read_to_string(&file).unwrap();
    assert!(graph.starts_with("digraph waits {") && graph.trim_end().ends_with('}'), "{graph}");
    let found = &document(&["run", "debugging/two-wait", "--format", "json"])["diagnosis"];
    assert_eq!(found["verdict"], "deadlock");
    assert!(found["circle"] == true && found["complete"] == true, "{found}");
    let waits = found["waits"].as_array().unwrap();
    assert!(waits.len() >= 3 && waits.iter().all(|wait| wait["event"].is_u64()), "{found}");
    assert!(found["unavoidable"]["event"].as_u64() <= found["event"].as_u64(), "{found}");
}

#[test]
fn each_kind_is_told_apart() {
    for (name, verdict) in [
        ("debugging/all-wait", "deadlock"),
        ("debugging/one-waits", "lost-message"),
        ("debugging/no-answer", "lost-message"),
        ("debugging/never-served", "starvation"),
        ("tests/data/dropped-wake-up.toml", "lost-wake-up"),
    ] {
        let found = document(&["run", name, "--format", "json"]);
        assert_eq!(found["diagnosis"]["verdict"], verdict, "{name}: {}", found["diagnosis"]);
    }
    assert_eq!(document(&["run", "umh/fig5-b1", "--format", "json"])["diagnosis"], Value::Null);
}

#[test]
fn a_failing_test_tells_why() {
    let outcome = call(&["test", "tests/data/deadlock.toml"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stdout.contains("LOST MESSAGE at event "), "{outcome:?}");
    let found = document(&["test", "tests/data/deadlock.toml", "--format", "json"]);
    assert_eq!(found["scenarios"][0]["diagnosis"]["verdict"], "lost-message");
}

#[test]
fn a_broken_rule_tells_what_the_tables_decided() {
    let changed = ["umh/table2-tour", "--mutate", "cache M read = ack > M"];
    let [decided, cell] = [
        "decided of 0x1000 by the tables, the latest first:",
        "configs/protocols/nmoesi.toml:49 [cache] M: read = \"data > O\" (changed: ack > M)",
    ];
    for command in ["run", "test"] {
        let outcome = call(&[&[command][..], &changed].concat());
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert!(outcome.stdout.contains(decided) && outcome.stdout.contains(cell), "{outcome:?}");
        let found = document(&[&[command][..], &changed, &["--format", "json"]].concat());
        let blame = if command == "run" { &found["blame"] } else { &found["scenarios"][0]["blame"] };
        let lines: Vec<&str> = blame.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(lines[0] == decided && lines.iter().any(|line| line.trim() == cell), "{lines:?}");
    }
    assert_eq!(document(&["run", "umh/fig5-b1", "--format", "json"])["blame"], Value::Null);
    // A wait of too long is no table's doing.
    assert_eq!(document(&["run", "debugging/never-served", "--format", "json"])["blame"], Value::Null);
}

#[test]
fn the_console_hunts_a_bug_and_goes_to_where_it_began() {
    let commands = "bug\nhint\nbug 3\nbug nonsense\nend\ndeadlock\ndeadlock goto 1\ninfo position\ndeadlock goto 99\n\
                    deadlock goto\nbug 1\nquit\n";
    let outcome = run(umscope(), &["debug", "debugging/two-wait", "--no-tui"], commands);
    for words in [
        "Two stores to one line hang for ever",
        "hint 1 of 3: ",
        "No, it is not: a grant is not acknowledged",
        "this is none of the answers",
        "DEADLOCK at event ",
        "Right: a node that waits for its parent",
    ] {
        assert!(outcome.stdout.contains(words), "{words}: {}", outcome.stdout);
    }
    // What would say it is told when it has been found.
    let note = "note: requests, probes and replies share one virtual network";
    let answer = "requests, probes and replies share one network and its buffers";
    for (commands, told) in
        [("end\ndeadlock\n".to_owned(), false), (format!("end\nbug {answer}\ndeadlock\n"), true)]
    {
        let outcome = run(umscope(), &["debug", "debugging/all-wait", "--no-tui"], &commands);
        assert_eq!(outcome.stdout.contains(note), told, "{}", outcome.stdout);
    }
    let outcome = run(umscope(), &["debug", "umh/fig5-b1", "--no-tui"], "hint\ndeadlock\ndeadlock gto\n");
    assert!(outcome.stdout.contains("there is no bug to be found here"), "{outcome:?}");
    assert!(outcome.stdout.contains("nobody waits in a circle here"), "{outcome:?}");
    assert!(outcome.stdout.contains("did you mean goto?"), "{outcome:?}");
}

/// The console with these commands instead of its input.
fn debug(scenario: &str, commands: &[&str]) -> Outcome {
    let commands = commands.iter().flat_map(|command| ["-x", command]);
    let arguments: Vec<&str> = ["debug", scenario, "--no-tui"].into_iter().chain(commands).collect();
    run(umscope(), &arguments, "this is not read")
}

#[test]
fn the_command_line_carries_out_commands_of_the_debugger() {
    let debug = |commands: &[&str]| debug("umh/fig5-b1", commands);
    let folder = tempfile::tempdir().unwrap();
    let later = folder.path().join("later.toml").display().to_string();
    let outcome = debug(&["step 10", &format!("save scenario {later}"), "fork hold 64", "end", "diff"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    let alike = |line: &str| {
        line.starts_with("all up to event 10 and ") && line.ends_with(" after it alike, then they part")
    };
    assert!(outcome.stdout.lines().any(alike), "{outcome:?}");
    assert_eq!(call(&["run", &later]).code, Some(0));
    assert_eq!(debug(&["stpe"]).code, Some(2));
}

#[test]
fn before_a_circle_closes_it_is_told_that_it_will() {
    let told = debug("debugging/two-wait", &["end", "deadlock goto", "deadlock"]).stdout;
    assert!(told.contains("nothing here waits for ever yet, but since event "), "{told}");
}

#[test]
fn the_last_event_is_the_end_however_one_comes_there() {
    for way in ["end", "goto 52", "step 52"] {
        let told = debug("umh/fig5-c", &[way, "info lesson"]).stdout;
        assert!(told.contains("end of the run: all work is done"), "{way}: {told}");
        assert!(told.contains("holds  Two GPUs, three levels each."), "{way}: {told}");
    }
    let told = debug("umh/fig5-c", &["goto 51", "info lesson"]).stdout;
    assert!(!told.contains("end of the run") && !told.contains("holds  Two GPUs"), "{told}");
}

/// A load of a line that may not be kept uses none of the cells of the table's rows.
#[test]
fn cells_of_lines_that_may_not_be_kept_are_counted_apart() {
    let told = debug("selective/coalescing", &["end", "info table"]).stdout;
    assert!(told.contains("of lines that it may not keep: load fetch>I 3, store forward"), "{told}");
    let is_plain = |line: &str| line.split_whitespace().take(3).eq(["I", "fetch>V", "forward"]);
    assert!(told.lines().any(is_plain) && !told.contains("fetch>V 3"), "{told}");
    let told = debug("selective/rules", &["end", "info table"]).stdout;
    // Probes of lines that are not there: five of six at the L1s.
    assert!(told.contains("ack 5"), "{told}");
}

#[test]
fn why_tells_of_the_transactions_on_a_block() {
    let why = |command: &str| debug("umh/fig5-b1", &["step 20", command]);
    let told = why("why block 0x1000").stdout;
    assert!(told.contains("transaction 2: ") && told.contains("answer is on its way to host.hmd0"), "{told}");
    let told = why("why block 0x900000").stdout;
    assert!(told.contains("no transaction in flight is about 0x900000"), "{told}");
    let told = why("why block");
    assert!(format!("{told:?}").contains("an address such as 0x1000"), "{told:?}");
    let [short, long] = ["why txn 2", "why transaction 2"].map(|command| why(command).stdout);
    assert!(short == long && short.contains("gpu1.cu1"), "{short}\n{long}");
    for (command, expected) in [
        ("why warp 0", "COMPONENT warp N"),
        ("why gpu0.cu0 0", "nothing is expected here"),
        ("why nobody 0", "no component is called nobody"),
        ("info block 0x1000 0x2000", "nothing is expected after the address"),
    ] {
        let told = why(command);
        assert!(format!("{told:?}").contains(expected), "{command}: {told:?}");
    }
}

/// Each of these commands after a while of a scenario, and what is told, and what is not.
#[test]
fn what_is_told_of_warps_and_pages_is_so_at_that_moment() {
    for (scenario, commands, told, wrong) in [
        (
            "numa/lanes-turn",
            &["goto event 1000", "select gpu1.cu0 warp 0", "why"][..],
            "gpu1.cu0 warp 0, which is selected, waits for nothing",
            "gpu1.cu0, which",
        ),
        (
            "numa/lanes-turn",
            &["goto event 1000", "info warps gpu1.cu0"],
            "warp 0 ready since",
            "and waits for load 0x1004c0 before it",
        ),
        (
            "numa/pages-come",
            &["goto event 65", "info pages 1"],
            "gpu0: another socket's",
            "with another socket",
        ),
        ("numa/pages-come", &["goto event 60", "info pages 1"], "has no home now", "not touched yet"),
        (
            "debugging/never-served",
            &["end", "deadlock"],
            "a check failed at event 363: goto 363 leads there",
            "STARVATION",
        ),
        (
            "debugging/two-wait",
            &["end", "deadlock", "reverse-step", "deadlock goto"],
            "event 27",
            "waits for ever yet",
        ),
    ] {
        let outcome = debug(scenario, commands);
        let is_so = outcome.stdout.contains(told) && !outcome.stdout.contains(wrong);
        assert!(is_so, "{scenario} {commands:?}: {}", outcome.stdout);
    }
    let lost =
        ["debug", "paging/scan", "--fault", "lose-page nth=3", "--no-tui", "-x", "end", "-x", "info mshr"];
    let outcome = run(umscope(), &lost, "");
    assert!(outcome.stdout.contains("into transfer set 3, and it is nowhere"), "{}", outcome.stdout);
}

#[test]
fn what_an_mshr_waits_for_is_as_old_as_everywhere_else() {
    let told = debug("umh/fig5-c", &["goto 12", "info mshr gpu0.l2.0", "info block 0x1000"]).stdout;
    let since =
        |line: &&str| Some(line.split("since cycle ").nth(1)?.split([' ', ':', ',']).next()?.to_owned());
    let mshr = told.lines().find(|line| line.contains("0x1000+64")).as_ref().and_then(since);
    let block = told
        .lines()
        .find(|line| line.starts_with("gpu0.l2.0") && line.contains("since"))
        .as_ref()
        .and_then(since);
    assert!(mshr.is_some() && mshr == block, "{mshr:?} and {block:?} in {told}");
}

#[test]
fn whoever_asks_for_an_effect_stays_where_there_is_none() {
    let told = debug("umh/fig5-c", &["goto 10", "effect", "info position"]).stdout;
    assert!(told.contains("was caused by this one") && told.contains("event 10"), "{told}");
}

#[test]
fn a_console_that_stops_where_nothing_can_move_says_who_waits_for_whom() {
    let told = debug("tests/data/deadlock.toml", &["continue"]).stdout;
    assert!(told.contains("stuck: work is left") && told.contains("LOST MESSAGE at event"), "{told}");
    assert!(told.contains("  1  gpu0.cu0 warp 0 waits for its load"), "{told}");
    // A lesson whose bug is to be found does not give it away.
    let hunt = debug("debugging/all-wait", &["continue"]).stdout;
    assert!(hunt.contains("stuck: work is left") && !hunt.contains("  1  "), "{hunt}");
}

#[test]
fn breakpoints_with_commands_are_read_twice_and_set_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bp.txt").display().to_string();
    let (save, source) = (format!("save breakpoints {file}"), format!("source {file}"));
    let set = ["break transition", "commands 1 why", "checkpoint here", "delete here"];
    let told =
        debug("umh/fig5-b1", &[&set[..], &[&save, &source, &source, "info breakpoints"]].concat()).stdout;
    assert!(told.contains("bookmark here deleted"), "{told}");
    assert_eq!(told.matches("breakpoint 1 is that already").count(), 2, "{told}");
}

#[test]
fn a_breakpoint_that_is_there_is_not_set_again() {
    let commands = ["break transition", "break transition", "watch state of gpu0.l2.0 block 0x1000"];
    let again =
        ["watch state of gpu0.l2.0 block 0x1000", "tbreak transition", "break transition if cycle > 3"];
    let told = debug("umh/fig5-b1", &[&commands[..], &again[..]].concat()).stdout;
    for words in [
        "breakpoint 1 is that already",
        "watchpoint 2 is that already",
        "temporary breakpoint 3",
        "breakpoint 4",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

/// On from where nodes know no more: along the wait-for graph, round a circle, to a message that is lost, or to one on its way.
#[test]
fn why_goes_on_to_where_nothing_waits_any_more() {
    let why = |scenario: &str, commands: &[&str]| debug(scenario, commands).stdout;
    let circle = why("debugging/all-wait", &["end", "why"]);
    assert!(
        circle.contains("which gpu0.cu1.l1 does not take before it has room towards gpu0.l2.0"),
        "{circle}"
    );
    assert!(circle.trim_end().contains("and so it comes back to the buffer lane from"), "{circle}");
    let lost = why("debugging/one-waits", &["end", "why"]);
    assert!(lost.contains("neither there nor on its way"), "{lost}");
    let way = why("numa/lanes-turn", &["goto event 12000", "why gpu1.cu0"]);
    assert!(way.contains("waits for a free way of set 4"), "{way}");
    assert!(way.contains("set 4 has a way for block 0x104400, which is not done"), "{way}");
    assert!(way.trim_end().lines().last().is_some_and(|last| last.contains("is next to be taken")), "{way}");
}

#[test]
fn what_is_under_way_between_memories_is_told() {
    let debug = |scenario: &str, commands: &[&str]| debug(scenario, commands).stdout;
    let copies = ["step 3", "why gpu0.cu0", "why gpu0.copy", "info pages"];
    let said = debug("baselines/memcpy-waits", &copies);
    for words in [
        "gpu0.cu0 has nothing to do before add begins, which waits for its data",
        "gpu0.copy copies to the GPUs: pages to come 4",
        "252 of 256 frames free",
        "copied by the programmer, 0 copied in vain; to the GPUs since cycle",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let said = debug("paging/one-far-fault", &["step 6", "why link.host.out"]);
    assert!(said.contains("pages: set 1: next 0x1, 1 demanded + 0 prefetched to come, until"), "{said}");
    let said = debug("paging/lost-replay", &["end", "why page 1"]);
    assert!(said.contains("gpu0.cu1 warp 0 waits for the TLB to replay far-fault 0x1"), "{said}");
    let said = debug("paging/fifth-fault", &["goto event 24", "why page 5"]);
    assert!(said.contains("its fault was dropped") && said.contains("gpu0.gmmu tracks far-fault"), "{said}");
    let said = debug("numa/onto-one-socket", &["goto cycle 12000", "why link.gpu0.in"]);
    assert!(said.contains("link.gpu0.in is full, and"), "{said}");
    assert!(
        said.contains("waits for link.gpu0.in, which has been busy without a pause, since cycle"),
        "{said}"
    );
    let one =
        debug("paging/one-far-fault", &["step 6", "info pages 1", "end", "info pages 1", "info pages 99"]);
    for words in [
        "page 0x1 at 0x1000  gpu0: in flight",
        "page 0x1 at 0x1000  far-fault 0x1: missed 0, walked 10, raised 570",
        "gpu0: in use",
        "nothing is known of it",
    ] {
        assert!(one.contains(words), "{words}: {one}");
    }
    let tlbs = |event: &str| debug("paging/two-warps-one-page", &[event, "info tlbs"]);
    assert!(tlbs("goto event 4").contains("1 warp for the page walk"));
    assert!(tlbs("goto event 6").contains("1 warp for the answer of the GMMU, which is on its way"));
    let said = debug("selective/rules", &["end", "info pages"]);
    assert!(said.contains("% of the pages meant for host memory: host "), "{said}");
    let said = debug("selective/rules", &["step 9", "why"]);
    assert!(!said.contains("nothing is selected"), "{said}");
    let said = debug("numa/first-touch", &["end", "info pages"]);
    assert!(said.contains("placement first-touch: gpu0 4, gpu1 0"), "{said}");
}

#[test]
fn however_one_comes_to_where_nothing_can_move_it_is_said() {
    for way in ["step 35", "goto event 35", "continue"] {
        let outcome = debug("debugging/two-wait", &[way]);
        assert!(outcome.stdout.contains("stuck: work is left"), "{way}: {outcome:?}");
    }
    let before = debug("debugging/two-wait", &["step 34"]);
    assert!(!before.stdout.contains("stuck"), "{before:?}");
}

#[test]
fn a_recording_is_no_scenario_to_explore_and_nothing_to_check() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.rec").display().to_string();
    let found = call(&["explore", "explore/two-l1", "--fault", "no-grant-ack", "--record", &file]);
    assert_eq!(found.code, Some(1), "{found:?}");
    for command in ["explore", "check"] {
        let outcome = call(&[command, &file]);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.contains("is a recording"), "{outcome:?}");
    }
}

#[test]
fn random_accesses_break_nothing_that_is_sound_and_find_what_is_not() {
    let arguments = ["stress", "tiny/umh-2gpu", "--accesses", "3000", "--format", "json"];
    let mut one = document(&arguments);
    let mut two = document(&[&arguments[..], &["--jobs", "1"]].concat());
    (one["seconds"], two["seconds"]) = (Value::Null, Value::Null);
    assert_eq!(one, two);
    assert_eq!((one["violation"].clone(), one["accesses"].as_u64()), (Value::Null, Some(3000)));
    assert!(one["coverage"][0]["reached"].as_u64() > Some(20), "{one}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("small.toml");
    let file = file.to_str().unwrap();
    let broken = ["--fault", "no-grant-ack", "--failure", file, "--accesses", "20000"];
    let outcome = call(&[&["stress", "tiny/umh-2gpu"][..], &broken].concat());
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stdout.contains("FAILED in round 0"), "{outcome:?}");
    assert_eq!(call(&["run", file]).code, Some(1), "{}", std::fs::read_to_string(file).unwrap());
    // A full-size machine is made small.
    let outcome = call(&["stress", "umh-2gpu-pcie", "--accesses", "2000"]);
    assert!(outcome.code == Some(0) && outcome.stdout.contains("nothing broke"), "{outcome:?}");
}

#[test]
fn whose_message_it_is_that_something_comes_down_to_is_told() {
    let commands = "set stop-at-narration off\ncontinue\ninfo transactions\n";
    let outcome = run(umscope(), &["debug", "debugging/never-served", "--no-tui"], commands);
    let starved = outcome.stdout.lines().find(|line| line.starts_with("txn 3 ")).unwrap_or_default();
    assert!(starved.contains("at last ") && starved.contains(" of transaction "), "{}", outcome.stdout);
}

#[test]
fn wrong_input_is_refused() {
    for (arguments, words) in [
        (&["stress", "tiny/umh-2gqu"][..], "tiny/umh-2gpu"),
        (&["stress", "tiny/umh-2gpu", "--protocol", "mesii"], "mesi"),
        (&["stress", "tiny/umh-2gpu", "--fault", "no-grant-akc"], "did you mean no-grant-ack?"),
        (&["stress", "tiny/umh-2gpu", "--mutate", "cache N raed = ack"], "did you mean read?"),
        (&["stress", "tiny/umh-2gpu", "--set", "gpu.cuont=2"], "did you mean count?"),
        (&["stress", "tiny/umh-2gpu", "--accesses", "0"], "expected a number above 0"),
        (&["stress", "tiny/umh-2gpu", "--jobs", "5000"], "expected a number from 1 to 1024"),
        (
            &["explore", "explore/two-l1", "--random", "10", "--jobs", "100000"],
            "expected a number from 1 to 1024",
        ),
        (&["run", "umh/fig5-c", "--sample", "100", "--columns", "gpu9.*"], "no column is called gpu9.*"),
        (
            &["run", "umh/fig5-c", "--break", "occupancy of gpu0.l2.0.mshr"],
            "did you mean `if occupancy of gpu0.l2.0.mshr is ...`?",
        ),
        (&["stress"], "MACHINE"),
        (&["run", "debugging/two-wait", "--dot", "/no/such/folder/x.dot"], "/no/such/folder/x.dot"),
        (&["run", "debugging/two-wait", "--transaction-limit", "x"], "expected a whole number"),
        (&["stress", "tiny/umh-2gpu", "--failure", "/no/such/folder/x.toml"], "/no/such/folder/x.toml"),
        (&["explore", "explore/two-l1", "--record", "/no/such/folder/x.rec"], "/no/such/folder/x.rec"),
        (&["explore", "explore/two-l1", "--seed", "3"], "--random"),
        (&["explore", "configs/machines/tiny/umh-2gpu.toml"], "this is a machine, not a scenario"),
        (&["explore", "configs/protocols/mesi.toml"], "this is a protocol, not a scenario"),
        (&["mutants", "configs/machines/tiny/umh-2gpu.toml"], "this is a machine, not a protocol"),
        (&["stress", "configs/protocols/mesi.toml"], "this is a protocol, not a machine"),
        (&["replay", "configs/protocols/mesi.toml"], "this is no recording"),
    ] {
        let outcome = call(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:?}");
        assert!(outcome.stderr.contains(words), "{arguments:?}: {outcome:?}");
    }
}

#[test]
fn a_warp_is_told_to_wait_for_what_why_tells_of() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.toml").display().to_string();
    let text = |work: &str| {
        format!(
            "machine = \"tiny/paged-1gpu\"\n[set]\ngpu.cu.outstanding = 2\n\
             [[do]]\nid = \"first\"\nby = \"gpu0.cu0\"\nload = {{ address = 0x1000, len = 1 }}\n\
             [[program]]\nafter = \"first\"\nby = \"gpu0.cu0\"\ndo = [{work}]\n"
        )
    };
    let told = |work: &str, cycle: u32| {
        std::fs::write(&file, text(work)).unwrap();
        let goto = format!("goto cycle {cycle}");
        debug(&file, &[&goto, "info warps gpu0.cu0", "why gpu0.cu0 warp 0"]).stdout
    };
    let two = told("\"load 0x1800\", \"load 0x1840\", \"load 0x1880\"", 29_620);
    assert!(two.contains("waits for transaction 2: load 0x1800"), "{two}");
    assert!(two.contains(", and waits for load 0x1800 before it"), "{two}");
    // A warp that has missed in the TLB issues nothing before its page is there, though two may be under way.
    let fault = told("\"n-store 0x2000 01\", \"load 0x1800\"", 30_000);
    assert!(fault.contains("waits for the TLB to replay far-fault 0x2"), "{fault}");
    let issued = call(&["log", &file, "--where", "issue"]).stdout;
    let order: Vec<_> = ["n-store 0x2000", "load 0x1800"].iter().map(|one| issued.find(one)).collect();
    assert!(order[0].is_some() && order[0] < order[1], "{issued}");
}

#[test]
fn what_is_in_the_buffers_of_a_circle_is_listed() {
    let told = debug("debugging/all-wait", &["end", "info buffers gpu0.cu1.l1"]).stdout;
    assert!(told.contains("gpu0.l2.0 > gpu0.cu1.l1") && told.contains("which cannot be taken"), "{told}");
    let empty = debug("umh/fig5-b1", &["end", "info buffers"]).stdout;
    assert!(empty.contains("no buffers with something in them"), "{empty}");
}
