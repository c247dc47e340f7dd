//! `umscope mutants`: what is caught, and what is equivalent.

use std::time::Duration;

use super::{call, document, interrupted};

#[test]
fn a_mutant_is_caught_or_told_to_be_equivalent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let found =
        document(&["mutants", "vi", "--only", "inner S store", "--record", &path, "--format", "json"]);
    assert_eq!(found["protocol"], "vi");
    let mutants = found["mutants"].as_array().unwrap();
    assert!(mutants.len() > 3);
    let hit = mutants.iter().find(|mutant| mutant["name"] == "inner S store = hit > M").unwrap();
    assert_eq!((&hit["caught"], &hit["equivalent"]), (&true.into(), &false.into()));
    for mutant in mutants {
        assert!(mutant["caught"] == true || mutant["equivalent"] == true, "{mutant}");
        if let Some(path) = mutant["recording"].as_str() {
            assert_eq!(call(&["replay", path]).code, Some(0), "{mutant}");
        }
    }
}

#[test]
fn an_arbiter_that_lets_somebody_wait_for_ever_is_no_matter_of_cost() {
    let found = document(&["mutants", "msi", "--only", "unfair-arbiter", "--format", "json"]);
    let [mutant] = found["mutants"].as_array().unwrap().as_slice() else { panic!("{found}") };
    assert_eq!(mutant["caught"], true, "{mutant}");
    assert!(mutant["by"].as_str().unwrap().starts_with("starvation on explore/three-l1"), "{mutant}");
}

/// No shape that can be explored completely needs this rule.
#[test]
fn what_only_a_larger_machine_shows_is_caught_there() {
    for (protocol, by) in [("msi", " on explore/large in "), ("vi", " of umscope stress tiny/umh-2gpu")] {
        let found = document(&["mutants", protocol, "--only", "grant-without-data", "--format", "json"]);
        let [mutant] = found["mutants"].as_array().unwrap().as_slice() else { panic!("{found}") };
        assert_eq!(mutant["caught"], true, "{mutant}");
        assert!(mutant["by"].as_str().unwrap().contains(by), "{mutant}");
    }
}

#[test]
fn what_is_no_protocol_is_told() {
    let outcome = call(&["mutants", "nmeosi"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("did you mean"), "{}", outcome.stderr);
}

#[test]
fn what_no_file_could_say_is_caught_by_the_table() {
    let told = document(&["mutants", "mesi", "--only", "cache S evict = notify > S", "--format", "json"]);
    let mutant = &told["mutants"][0];
    assert_eq!(mutant["caught"], true, "{told}");
    assert_eq!(mutant["by"], "table: an evicted block is gone", "{told}");
}

#[test]
fn an_interrupt_tells_what_is_known_and_that_it_is_partial() {
    for (format, told) in [("text", "\npartial: interrupted after "), ("json", "\"complete\": false")] {
        let outcome = interrupted(&["mutants", "nmoesi", "--format", format], Duration::from_millis(1500));
        assert_eq!(outcome.status.code(), Some(130), "{outcome:?}");
        let text = String::from_utf8_lossy(&outcome.stdout);
        assert!(text.contains(told), "{text}");
    }
}
