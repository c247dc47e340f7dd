//! `--protocol`, `--fault` and `--mutate`, with all that runs a scenario.

use super::{call, document};

#[test]
fn a_fault_is_injected_into_a_run_and_recorded_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("lost.rec");
    let path = recording.to_str().unwrap();
    let lost = ["--fault", "lose-message message=grant nth=2", "--record", path];
    let outcome = call(&[&["run", "umh/fig5-b1"][..], &lost].concat());
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stdout.contains("LOST MESSAGE at event"), "{outcome:?}");
    let replayed = call(&["replay", path]);
    assert!(replayed.code == Some(0) && replayed.stdout.contains("ended there: deadlock"), "{replayed:?}");
    // A recording has what was set when it was made.
    let again = call(&["run", path, "--fault", "no-grant-ack"]);
    assert!(again.code == Some(2) && again.stderr.contains("says itself what is set"), "{again:?}");
}

#[test]
fn a_changed_table_and_another_protocol_are_tried_where_a_scenario_is_run() {
    let changed = ["--mutate", "inner I n-store = write > M"];
    let outcome = call(&[&["log", "umh/fig5-b1", "--where", "message type write"][..], &changed].concat());
    assert!(outcome.stdout.contains("write"), "{outcome:?}");
    let plain = call(&["log", "umh/fig5-b1", "--where", "message type write"]);
    assert!(!plain.stdout.contains("gpu0.l2.0 > gpu0.smd0"), "{plain:?}");
    let mesi = ["--no-tui", "--protocol", "mesi", "-x", "info machine"];
    let other = call(&[&["debug", "tests/data/long.toml"][..], &mesi].concat());
    assert!(other.stdout.contains("protocol = \"mesi\""), "{other:?}");
    let scales = call(&["run", "workloads/umh/bsch", "--scale", "64", "--set", "scale=32"]);
    assert!(scales.code == Some(2) && scales.stderr.contains("both set the scale"), "{scales:?}");
    let twice = call(&["run", "umh/fig5-b1", "--protocol", "mesi", "--set", "protocol=msi"]);
    assert!(twice.code == Some(2) && twice.stderr.contains("both name a protocol"), "{twice:?}");
}

/// Random accesses show most of them: those are looked at beside the list.
#[test]
fn what_no_random_access_shows_of_a_fault_its_command_does() {
    let folder = tempfile::tempdir().unwrap();
    let faults = document(&["list", "faults", "--format", "json"])["faults"].clone();
    let commands: Vec<&str> =
        faults.as_array().unwrap().iter().map(|fault| fault["shown_by"].as_str().unwrap()).collect();
    assert!(commands.iter().all(|command| command.starts_with("umscope ")), "{commands:?}");
    let others = commands.into_iter().filter(|command| !command.starts_with("umscope stress "));
    let mut count = 0;
    for command in others {
        let mut words: Vec<&str> = command.split(' ').skip(1).collect();
        let recording = folder.path().join("found.rec").display().to_string();
        if words[0] == "explore" {
            words.extend(["--record", &recording]);
        }
        let outcome = call(&words);
        assert_eq!(outcome.code, Some(1), "{command}: {outcome:?}");
        count += 1;
    }
    assert_eq!(count, 6);
}

#[test]
fn what_is_wrong_with_a_try_is_told_where_it_stands() {
    for (option, value, expected) in [
        ("--fault", "lose-mesage", "did you mean lose-message?"),
        ("--fault", "lose-message grant", "\"grant\" sets nothing"),
        ("--fault", "no-grant-ack nth=2", "no-grant-ack takes no nth"),
        ("--mutate", "cache Q read = hit", "--mutate:1:"),
        ("--protocol", "msei", "did you mean msi?"),
    ] {
        let outcome = call(&["run", "umh/fig5-b1", option, value]);
        assert!(
            outcome.code == Some(2) && outcome.stderr.contains(expected),
            "{option} {value}: {outcome:?}"
        );
    }
}
