//! Tables that are not bundled: what `check` and `mutants` say of them, and what a machine makes of their cells.

use super::{call, document};

/// The text of a bundled protocol, with replacements.
fn changed(protocol: &str, changes: &[(&str, &str)]) -> String {
    let mut text = std::fs::read_to_string(format!("configs/protocols/{protocol}.toml")).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{protocol}: {from}");
        text = text.replacen(from, to, 1);
    }
    text
}

#[test]
fn check_tells_all_that_is_wrong_or_unlikely() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.toml").display().to_string();
    // Nothing leads to O any more, and S may hold dirty bytes that no reader gets.
    let text = changed(
        "moesi",
        &[(
            "M = { load = \"hit\", store = \"hit\", n-store = \"hit\", evict = \"writeback > I\", read = \"data > O\"",
            "M = { load = \"hit\", store = \"hit\", n-store = \"hit\", evict = \"writeback > I\", read = \"ack > S\"",
        )],
    );
    std::fs::write(&path, text).unwrap();
    let told = call(&["check", &path]);
    assert_eq!(told.code, Some(2), "{told:?}");
    for wrong in
        ["a reader elsewhere does not get the dirty bytes that M may hold", "warning: nothing leads to O"]
    {
        assert!(told.stderr.contains(wrong), "{wrong}: {told:?}");
    }
    let json = document(&["check", &path, "--format", "json"]);
    let texts =
        |key: &str| json[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned());
    assert!(texts("errors").any(|text| text.contains("that M may hold")), "{json}");
    assert!(texts("warnings").any(|text| text.contains("nothing leads to O")), "{json}");
    assert_eq!(call(&["check", &path, "--format", "json"]).code, Some(2));
}

#[test]
fn all_that_is_misspelt_in_a_table_is_told_wherever_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let [table, scenario] = ["p.toml", "s.toml"].map(|name| folder.path().join(name).display().to_string());
    std::fs::write(&table, changed("mesi", &[("store = \"hit\"", "store = \"hitt\""), ("> S\"", "> Z\"")]))
        .unwrap();
    let work = "machine = 'tiny/umh-1gpu'\nprotocol = 'p.toml'\n[[do]]\nby = 'gpu0.cu0'\nload = { address = 0x1000 }\n";
    std::fs::write(&scenario, work).unwrap();
    for arguments in [["check", &table], ["run", &scenario]] {
        let told = call(&arguments);
        assert!(told.stderr.contains("`hitt`") && told.stderr.contains("`Z`"), "{told:?}");
    }
    let json = document(&["test", &scenario, "--format", "json"]).to_string();
    assert!(json.contains("`hitt`") && json.contains("`Z`"), "{json}");
}

/// A mutant is caught by what is wrong with it, and not with the table that it is a mutant of.
#[test]
fn a_fault_of_the_table_itself_catches_no_mutant() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.toml").display().to_string();
    // Only the children of another table could ask for a copy to n-store into, and make a node S, in which no rule answers a read.
    let read = "    { when = \"no sharers\", grant = \"E\" },\n    { grant = \"S\" },\n]";
    let owned = "{ when = \"owned by another\", probe = \"read owner\", grant = \"S\" }";
    let text = changed(
        "mesi",
        &[
            (owned, "{ probe = \"write others\", grant = \"M\" }"),
            (read, &format!("]\nread-nc = [{owned}, {{ grant = \"S\" }}]")),
        ],
    );
    std::fs::write(&path, text).unwrap();
    assert_eq!(call(&["check", &path]).code, Some(2));
    let told = document(&["mutants", &path, "--only", "cache S evict = silent > I", "--format", "json"]);
    let by = told["mutants"][0]["by"].as_str().unwrap();
    assert!(!by.starts_with("table:"), "{told}");
}

const STORES: &str = r#"
[[program]]
id = "first"
by = "gpu0.cu0"
do = ["load 0x1000 1", "store 0x1000 01"]
[[program]]
id = "second"
after = "first"
by = "gpu0.cu1"
do = ["store 0x1001 02"]
[[program]]
after = "second"
by = "gpu0.cu0"
do = ["store 0x1002 03"]
"#;

/// The lines of a run of [`STORES`] in which something happens that is told so.
fn told(machine: &str, protocol: &str, mutate: &str, text: &str) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stores.toml").display().to_string();
    std::fs::write(&path, format!("machine = \"{machine}\"\nprotocol = \"{protocol}\"\n{mutate}\n{STORES}"))
        .unwrap();
    let log = call(&["log", &path]);
    assert_eq!(log.code, Some(0), "{log:?}");
    log.stdout.lines().filter(|line| line.contains(text)).count()
}

/// What is handed on may take the copy along, as in caches that write through and invalidate.
#[test]
fn a_copy_goes_where_what_is_handed_on_leads() {
    let evicted = |mutate| told("tiny/vi-1gpu", "vi", mutate, "gpu0.cu0.l1 V > I, store");
    assert_eq!(evicted("mutate = [\"cache V store = forward > I\"]"), 1);
    assert_eq!(evicted(""), 0);
}

/// Its children may have dirty bytes, too, and it would grant what it has just made less of.
#[test]
fn a_node_with_children_that_is_to_flush_cannot() {
    let flushes = ["--protocol", "mesi", "--mutate", "inner M store = flush"];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("found.rec").display().to_string();
    let found = call(&[&["explore", "explore/two-gpu", "--record", &path], &flushes[..]].concat());
    let says = "the table mesi has a store of a child flush, which only a cache without children can";
    assert!(found.code == Some(1) && found.stdout.contains(says), "{found:?}");
}

/// MESIF: of clean sharers one forwards, who was granted last.
const MESIF: &str = r#"
name = "mesif"
title = "MESIF"
[state]
M = "exclusive owner"
E = "exclusive owner"
F = "owner"
S = ""
I = ""
[cache]
M = { load = "hit", store = "hit", n-store = "hit", evict = "writeback > I", read = "data > S", write = "data > I" }
E = { load = "hit", store = "hit > M", n-store = "hit > M", evict = "notify > I", read = "data > S", write = "data > I" }
F = { load = "hit", store = "write > M", n-store = "write > M", evict = "notify > I", read = "data > S", write = "data > I" }
S = { load = "hit", store = "write > M", n-store = "write > M", evict = "notify > I", read = "ack", write = "ack > I" }
I = { load = "read > granted", store = "write > M", n-store = "write > M", evict = "impossible", read = "ack", write = "ack" }
[directory]
read = [
    { when = "owned by another", probe = "read owner", grant = "F" },
    { when = "no sharers", grant = "E" },
    { grant = "F" },
]
write = [{ probe = "write others", grant = "M" }]
[merge]
M = { E = "M" }
E = { E = "M" }
"#;

/// What an exploration of MESIF with one change tells, and `why` at the end of its recording.
fn explored(from: &str, to: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    assert!(MESIF.contains(from), "{from}");
    std::fs::write(path("p.toml"), MESIF.replacen(from, to, 1)).unwrap();
    let arguments = ["explore", "explore/two-gpu", "--protocol", &path("p.toml"), "--record", &path("x.rec")];
    let told = call(&arguments);
    assert_eq!(told.code, Some(i32::from(from != to)), "{told:?}");
    let why = call(&["debug", &path("x.rec"), "--no-tui", "-x", "why"]);
    (told.stdout, why.stdout)
}

#[test]
fn what_an_exploration_finds_is_told_with_the_cells_that_led_to_it() {
    assert!(explored("", "").0.contains("no rule was broken"));
    // Of two rules that are broken at once the same is told whichever GPU is which.
    let (unasked, _) = explored("probe = \"read owner\", grant", "grant");
    let (found, blamed) = (unasked.matches(" steps)").count(), unasked.matches("decided of").count());
    assert!(found > 0 && found == blamed, "{unasked}");
    let (asked_again, why) = explored("F = { load = \"hit\"", "F = { load = \"read > granted\"");
    assert!(asked_again.contains("livelock: "), "{asked_again}");
    assert!(asked_again.contains("[cache] F: load = \"read > granted\""), "{asked_again}");
    assert_eq!(asked_again.matches("[cache] F: load").count(), 1, "each once: {asked_again}");
    assert!(why.contains("livelock: "), "{why}");
    assert_eq!(why.matches("[cache] F: load").count(), 1, "{why}");
    let (forgotten, _) =
        explored("read = \"data > S\", write = \"data > I\" }\nS", "write = \"data > I\" }\nS");
    assert!(forgotten.contains("[cache] F: no read"), "{forgotten}");
}

#[test]
fn a_run_that_goes_round_is_told_with_the_cell_that_asks_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let again = MESIF.replacen("F = { load = \"hit\"", "F = { load = \"read > granted\"", 1);
    std::fs::write(path("p.toml"), again).unwrap();
    let head = "machine = \"tiny/umh-2gpu\"\nprotocol = \"p.toml\"\ntransaction-limit = 20000\n";
    let work = "[[program]]\nid = \"first\"\nby = \"gpu0.cu0\"\ndo = [\"store 0x1000 01\"]\n\
                [[program]]\nafter = \"first\"\nby = \"gpu1.cu0\"\ndo = [\"load 0x1000 1\"]\n";
    std::fs::write(path("s.toml"), format!("{head}{work}")).unwrap();
    let told = call(&["run", &path("s.toml")]);
    assert_eq!(told.code, Some(1), "{told:?}");
    let place = "p.toml:13 [cache] F: load = \"read > granted\"";
    assert!(told.stdout.contains("LIVELOCK") && told.stdout.contains(place), "{told:?}");
}
