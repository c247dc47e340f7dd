//! Lanes that turn, as the console, recordings, statistics and exports tell of them.

use super::{call, document};
use crate::common::binary::run;
use crate::common::umscope;

const LESSON: &str = "numa/lanes-turn";

fn console(commands: &str) -> String {
    let outcome = run(umscope(), &["debug", LESSON, "--no-tui"], commands);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    outcome.stdout
}

/// The lines that begin so, in their order.
fn lines<'a>(text: &'a str, begin: &str) -> Vec<&'a str> {
    text.lines().map(str::trim_start).filter(|line| line.starts_with(begin)).collect()
}

#[test]
fn going_back_over_a_reversal_restores_the_lanes() {
    let link = "info links link.host.out\n";
    let at = "info position\n";
    let text = console(&format!(
        "break lane-reversal phase done at link.host.out\ncontinue\n{at}{link}continue\n{at}{link}\
         reverse-continue\n{at}{link}reverse-step\n{link}step\n{at}{link}continue\n{at}{link}"
    ));
    let lanes: Vec<&str> = lines(&text, "link.host.out  host > switch")
        .iter()
        .map(|line| line.split("  ").nth(2).unwrap())
        .collect();
    assert_eq!(lanes, ["9 lanes", "10 lanes", "9 lanes", "8 lanes", "9 lanes", "10 lanes"], "{text}");
    let positions: Vec<&str> =
        lines(&text, "event ").into_iter().filter(|line| line.contains(" digest ")).collect();
    let [first, second, back, again, forth] = positions[..] else { panic!("{positions:?}") };
    assert_eq!((first, first, second), (back, again, forth));
}

#[test]
fn what_the_balancer_saw_and_decided_is_told() {
    let text =
        console("until lane-reversal phase turn link host\ninfo links link.host.out\nwhy link.host.in\n");
    assert!(text.contains("sampled every 5000 cycles, saturated at 99 %"), "{text}");
    assert!(text.contains("a lane in > out; out is saturated, in is not"), "{text}");
    assert!(text.contains("1 lane in > out turns until cycle"), "{text}");
    assert!(text.contains("link.host.in  switch > host  7 lanes"), "{text}");
    let log = call(&["log", LESSON, "--where", "lane-reversal phase quiesce out-use >= 99 in-use < 99"]);
    assert!(log.code == Some(0) && log.stdout.contains("1 lane in > out takes no new packets"), "{log:?}");
    let wrong = call(&["log", LESSON, "--where", "lane-reversal to sideways"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("expected one of out, in"), "{wrong:?}");
}

#[test]
fn a_recording_with_reversals_replays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lanes.rec").display().to_string();
    let done = call(&["run", "numa/fast-sampler", "--record", &path]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("lanes turned: ") && done.stdout.contains("energy "), "{}", done.stdout);
    let told = call(&["replay", &path]);
    assert!(told.code == Some(0) && told.stdout.contains(" agree"), "{told:?}");
}

#[test]
fn statistics_and_exports_have_the_lanes() {
    let stats = document(&["run", LESSON, "--format", "json"])["stats"].clone();
    assert_eq!(
        stats["link.host.out.lanes"].as_u64().unwrap() + stats["link.host.in.lanes"].as_u64().unwrap(),
        16
    );
    assert!(stats["network.lane_reversals"].as_u64() >= Some(4), "{stats}");
    assert!(stats["network.energy_joules"].as_f64() > Some(0.0), "{stats}");
    let plain = document(&["run", LESSON, "--format", "json", "--set", "network.energy=20 pJ/bit"]);
    let twice = plain["stats"]["network.energy_joules"].as_f64().unwrap();
    assert!((twice / stats["network.energy_joules"].as_f64().unwrap() - 2.0).abs() < 1e-9);
    let lanes = "lane-reversal";
    let trace = call(&["export", LESSON, "--format", "perfetto", "--where", lanes]).stdout;
    let events: serde_json::Value = serde_json::from_str(&trace).unwrap();
    let told = events["traceEvents"].as_array().unwrap().iter();
    let told: Vec<u64> = told
        .filter(|event| event["name"] == "link.host.out lanes")
        .filter_map(|event| event["args"]["lanes"].as_u64())
        .collect();
    assert!(told.len() > 4 && told[0] == 8 && told.contains(&12), "{told:?}");
    let vcd = call(&["export", LESSON, "--format", "vcd", "--where", lanes]).stdout;
    assert!(vcd.contains(" lanes $end") && vcd.contains("\nb1100 "), "{}", &vcd[..vcd.len().min(4000)]);
}

#[test]
fn what_a_launch_turns_back_is_told_without_a_sample() {
    let turned = call(&["log", "numa/both-saturated", "--where", "lane-reversal reason launch"]).stdout;
    assert!(turned.contains("a kernel was launched") && !turned.contains("(sample"), "{turned}");
    let decided = call(&[
        "debug",
        "numa/both-saturated",
        "--no-tui",
        "-x",
        "goto cycle 27400",
        "-x",
        "info links link.host.out",
    ]);
    assert!(decided.stdout.contains("cycle 27278: "), "{decided:?}");
}

#[test]
fn what_is_there_at_the_start_has_a_way_of_its_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("there.toml");
    let text = "machine = \"tiny/numa-4socket\"\n[set]\ngpu.numa.placement = \"page\"\n\
                [[state]]\nnode = \"gpu0.l2.0\"\naddress = 0x1000\nstate = \"V\"\n\
                [[state]]\nnode = \"gpu0.l2.0\"\naddress = 0x0\nstate = \"V\"\n\
                [[program]]\nby = \"gpu0.cu0\"\ndo = [\"load 0x0 4\", \"load 0x1000 4\"]\n";
    std::fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    let told = call(&["debug", &path, "--no-tui", "-x", "end", "-x", "info caches gpu0.l2.0"]).stdout;
    assert!(told.contains("hits: local 100 % (1/1), remote 100 % (1/1)"), "{told}");
}

#[test]
fn samples_of_the_partitioner_can_be_changed_under_way() {
    let sample = ["-x", "goto cycle 520", "-x", "fork set gpu.numa.sample=100", "-x", "goto cycle 700"];
    let told = call(
        &[&["debug", "numa/ways-instead", "--no-tui"][..], &sample, &["-x", "info caches gpu1.l2.0"]]
            .concat(),
    );
    assert!(told.code == Some(0) && told.stdout.contains("cycle 678: keep"), "{told:?}");
    let l2 = call(&["debug", "numa/ways-instead", "--no-tui", "-x", "fork set gpu.numa.l2=shared"]);
    assert!(l2.code == Some(2) && l2.stdout.contains("depends on gpu.numa"), "{l2:?}");
}
