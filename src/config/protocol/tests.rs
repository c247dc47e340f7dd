use super::*;
use crate::config::{Kind, list, load_protocol};
use crate::diagnostic::Diagnostic;

const M: State = State(b'M');
const O: State = State(b'O');
const E: State = State(b'E');
const S: State = State(b'S');
const N: State = State(b'N');

fn table(name: &str) -> Table {
    load_protocol(name, None).unwrap_or_else(|error| panic!("{error}"))
}

const fn cell(step: Step, next: Next) -> Cell {
    Cell { step, next }
}

#[test]
fn every_bundled_protocol_is_sound() {
    let names: Vec<String> = list(Kind::Protocol).into_iter().map(|entry| entry.name).collect();
    let known = [
        "gpu-coherent",
        "gpu-memory-side",
        "gpu-write-through",
        "mesi",
        "moesi",
        "msi",
        "nmoesi",
        "nmoesi-m2s",
        "nmoesi-printed",
        "scale-gpu",
        "scale-memory",
        "selective-client",
        "selective-host",
        "selective-l1",
        "selective-l1-l2",
        "selective-naive",
        "vi",
    ];
    assert_eq!(names, known);
    for name in names {
        let table = table(&name);
        assert_eq!(table.name, name);
        assert!(!table.source.is_empty() && table.title != name);
    }
}

#[test]
fn every_cell_of_a_coherent_protocol_is_there_for_inner_nodes() {
    for entry in list(Kind::Protocol) {
        let table = table(&entry.name);
        let is_tracked = |row: &&Row| row.state != State(b'V') && table.has_directory();
        for row in table.rows.iter().filter(is_tracked) {
            for action in Action::ALL {
                let absent = action == Action::Acquire || (row.state == State::I && action == Action::Evict);
                let cell = table.cell(row.state, action, true);
                assert_eq!(cell.is_none(), absent, "{} {} {}", table.name, row.state, action.name());
            }
        }
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let text = "name = 'p'\n[state]\nM = 'exclusive owned'\nS = ''\n[cache]\n\
                M = { load = 'hitt', store = 'hit', evict = 'writeback > I', read = 'data > S', write = 'data > J' }\n\
                S = { load = 'hit', store = 'write > M', evict = 'silent > I', read = 'ack', write = 'ack > I' }\n\
                I = { load = 'read > granted', store = 'write > M' }\n\
                [directory]\nread = [{ grant = 'E' }]\nwrite = [{ probe = 'write others', grant = 'M' }]\n";
    let told = |text: &str| from_toml(&Source::new("p", text)).unwrap_err().to_string();
    let places = |told: &str| -> Vec<String> {
        let lines = told.lines().filter(|line| line.starts_with("p:"));
        lines.map(|line| line.split(':').nth(1).unwrap().to_owned()).collect()
    };
    let all = told(text);
    assert_eq!(places(&all), ["3", "6", "6", "10"], "{all}");
    assert!(all.contains("did you mean owner?") && all.contains("did you mean hit?"), "{all}");
    // Who asks for what nobody answers is told once; and states without a row before all else.
    let right = text.replace("owned", "owner").replace("hitt", "hit").replace("> J", "> I");
    assert_eq!(places(&told(&right.replace("write = [{", "read-nc = [{").replace("'E'", "'S'"))), ["7"]);
    assert_eq!(places(&told(&text.replace("S = ''", "X = ''\nY = ''"))), ["4", "5"]);
}

#[test]
fn nmoesi_is_table_two() {
    let table = table("nmoesi");
    let states: String = table.rows.iter().map(|row| row.state.letter()).collect();
    assert_eq!(states, "NMOESI");
    let leaf = |state, action| table.cell(state, action, false);
    let inner = |state, action| table.cell(state, action, true);
    assert_eq!(leaf(O, Action::Read), Some(cell(Step::Data, Next::Same)));
    assert_eq!(leaf(N, Action::Read), Some(cell(Step::Ack, Next::Same)));
    assert_eq!(leaf(State::I, Action::NStore), Some(cell(Step::Ask(MessageKind::ReadNc), Next::To(N))));
    assert_eq!(inner(State::I, Action::NStore), Some(cell(Step::Ask(MessageKind::Read), Next::Granted)));
    assert_eq!(inner(E, Action::NStore), Some(cell(Step::Hit, Next::Same)));
    assert_eq!(inner(E, Action::Store), Some(cell(Step::Hit, Next::To(M))));
    assert_eq!(leaf(State::I, Action::Evict), None);
    assert!(table.is_exclusive(E) && table.is_owner(O) && !table.is_exclusive(O));
    assert_eq!((table.merged(N, S), table.merged(N, E), table.merged(M, M)), (N, M, M));
    assert_eq!(table.merged_answer(M, E), M);
    assert_eq!(table.read_nc.iter().map(|rule| rule.grant).collect::<Vec<_>>(), [N, N]);
    assert_eq!(table.read[0].when, When::OwnedByAnother);
}

#[test]
fn the_variants_differ_where_they_should() {
    let printed = table("nmoesi-printed");
    let mut expected = table("nmoesi");
    for row in expected.rows.iter_mut() {
        if row.state == O {
            row.leaf[Action::Read.index()] = Some(cell(Step::Data, Next::To(State::I)));
            row.inner[Action::Read.index()] = Some(cell(Step::Data, Next::To(State::I)));
        }
    }
    assert_eq!((printed.rows, printed.merge), (expected.rows, expected.merge));
    let m2s = table("nmoesi-m2s");
    assert_eq!(m2s.cell(M, Action::NStore, false), Some(cell(Step::Flush, Next::To(N))));
    assert_eq!(m2s.cell(E, Action::Store, true), Some(cell(Step::Hit, Next::Same)));
    assert_eq!((m2s.merged(M, E), m2s.merged_answer(M, E)), (M, E));
}

/// A sound protocol, with `from` replaced by `to`.
fn complaint(from: &str, to: &str) -> Diagnostic {
    let sound = "name = 'x'\n[state]\nM = 'exclusive owner'\nS = ''\n[cache]\n\
                 M = { load = \"hit\", store = \"hit\", evict = \"writeback > I\", read = \"data > S\" }\n\
                 S = { store = \"write > M\" }\n\
                 I = { load = \"read > granted\", store = \"write > M\" }\n\
                 [directory]\nread = [{ grant = 'S' }]\nwrite = [{ probe = 'write others', grant = 'M' }]\n\
                 [merge]\nM = { S = 'M' }\n";
    assert!(from_toml(&Source::new("p.toml", sound)).is_ok());
    assert!(sound.contains(from), "{from}");
    *from_toml(&Source::new("p.toml", sound.replacen(from, to, 1))).expect_err(to)
}

#[test]
fn broken_tables_are_told_where_and_why() {
    let mut wrong = Vec::new();
    for (from, to, place, message) in [
        ("\"hit\"", "\"hti\"", Some((6, 15)), "unknown step `hti`"),
        ("writeback > I", "writeback > Q", Some((6, 57)), "unknown state `Q`"),
        ("load = \"hit\"", "load = \"data > S\"", Some((6, 15)), "`data` makes no sense in the column load"),
        ("writeback > I", "writeback", Some((6, 45)), "an evicted block is gone"),
        ("read > granted", "read", Some((8, 15)), "a request needs the state that it leads to"),
        (
            "store = \"hit\"",
            "store = \"hit > granted\"",
            Some((6, 36)),
            "nothing is asked here that could be granted",
        ),
        (
            "read > granted",
            "read-nc > S",
            Some((8, 15)),
            "no rule in [directory] answers the request read-nc",
        ),
        (
            "{ grant = 'S' }",
            "{ when = 'no sharers', grant = 'S' }",
            Some((10, 40)),
            "the rules for read in [directory] leave out a case: none applies without a `when`",
        ),
        ("grant = 'S'", "grant = 'X'", Some((10, 20)), "unknown state `X`"),
        ("grant = 'S'", "grant = 'I'", Some((10, 19)), "I cannot be granted"),
        ("'exclusive owner'", "'exclusiv owner'", Some((3, 6)), "a state cannot be `exclusiv`"),
        (
            "'exclusive owner'",
            "'owner'",
            Some((7, 16)),
            "a write request leads to a state that is not exclusive",
        ),
        ("'exclusive owner'", "'exclusive'", Some((3, 5)), "a write leads to M, which is no owner"),
        ("owner'", "owner owner'", Some((3, 22)), "M is called `owner` twice"),
        ("owner'", "owner conflict'", Some((3, 22)), "M cannot be `conflict` and `exclusive owner` at once"),
        ("S = ''", "I = 'owner'", Some((4, 6)), "I cannot be `owner`: nothing of the block is here"),
        (
            "M = { S = 'M' }",
            "M = { S = 'I' }",
            Some((13, 11)),
            "a node that takes dirty bytes cannot go to I: they would be lost",
        ),
        ("name = 'x'", "name = ''", Some((1, 1)), "the protocol has no name"),
        ("\nI = {", "\n#", None, "the state I is missing in [cache]"),
        ("\nS = {", "\nSh = {", Some((7, 1)), "`Sh` is no state"),
        ("S = ''", "Q = ''", Some((4, 1)), "the state Q has no row in [cache]"),
        ("M = { S = 'M' }", "M = { S = 'm' }", Some((13, 12)), "unknown state `m`"),
        ("load = ", "laod = ", Some((6, 7)), "unknown key `laod`"),
        ("'write others'", "'write other'", Some((11, 20)), "unknown value `write other`"),
        ("name = 'x'", "", Some((1, 1)), "the key `name` is missing"),
        ("[merge]", "[merges]", Some((12, 2)), "unknown key `merges`"),
    ] {
        let error = complaint(from, to);
        if error.message != message || error.position() != place {
            wrong.push(format!("{to}\n{error}\n{place:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (from, to, near) in [
        ("\"hit\"", "\"hitt\"", "hit"),
        ("granted", "grantd", "granted"),
        ("exclusive", "exlusive", "exclusive"),
    ] {
        assert_eq!(complaint(from, to).suggestion, Some(format!("did you mean {near}?")), "{to}");
    }
}

#[test]
fn an_escaped_cell_is_marked_as_a_whole() {
    let error = complaint("\"hit\"", "\"\\u0068ti\"");
    assert_eq!((error.position(), error.span.map(|span| span.len())), (Some((6, 14)), Some(10)));
}

#[test]
fn a_read_asks_for_a_plain_copy_whatever_its_letter() {
    let mut table = table("moesi");
    assert_eq!(table.weakest_grant(MessageKind::Read), Some(S));
    assert_eq!(table.weakest_grant(MessageKind::Write), Some(M));
    let renamed = State(b'C');
    let rows = table.rows.iter().cloned();
    let rows: Vec<Row> =
        rows.map(|row| if row.state == S { Row { state: renamed, ..row } } else { row }).collect();
    table.rows = rows.into();
    table.read.iter_mut().filter(|rule| rule.grant == S).for_each(|rule| rule.grant = renamed);
    assert_eq!(table.weakest_grant(MessageKind::Read), Some(renamed));
}
