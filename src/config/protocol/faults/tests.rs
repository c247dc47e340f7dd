use crate::config::protocol::examine;
use crate::config::{Kind, find, list};
use crate::diagnostic::{Diagnostic, Source};

fn bundled(name: &str) -> Source {
    find(Kind::Protocol, name, None).unwrap_or_else(|error| panic!("{error}")).source
}

/// What is found in a bundled protocol in which `from` was replaced by `to` in the line that begins with `line`.
fn found(protocol: &str, line: &str, from: &str, to: &str) -> Vec<Diagnostic> {
    found_with(protocol, &[(line, from, to)])
}

/// The same of several replacements.
fn found_with(protocol: &str, changes: &[(&str, &str, &str)]) -> Vec<Diagnostic> {
    let mut text = bundled(protocol).text.to_string();
    for (line, from, to) in changes {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let here = lines.iter_mut().find(|old| old.starts_with(line) && old.contains(from));
        let here = here.unwrap_or_else(|| panic!("{protocol}: {line} {from}"));
        *here = here.replacen(from, to, 1);
        text = lines.join("\n") + "\n";
    }
    let (_, faults) = examine(&Source::new("p.toml", text)).unwrap_or_else(|error| panic!("{error}"));
    faults.errors.into_iter().chain(faults.warnings).collect()
}

#[test]
fn the_bundled_protocols_have_no_faults() {
    for entry in list(Kind::Protocol) {
        let (_, faults) = examine(&bundled(&entry.name)).unwrap();
        assert!(faults.errors.is_empty(), "{:?}", faults.errors);
        let expected: &[&str] =
            if entry.name == "nmoesi-m2s" { &["warning: nothing leads to O"] } else { &[] };
        let warnings: Vec<_> = faults.warnings.iter().map(|warning| warning.message.as_str()).collect();
        assert_eq!(warnings, expected, "{}", entry.name);
    }
}

/// What `umscope explore` finds nothing wrong with on explore/two-gpu and explore/three-l1 is not refused.
#[test]
fn what_works_is_no_fault() {
    let load_first = ("I = {", "store = \"write > M\", n-store", "store = \"read > granted\", n-store");
    for (protocol, changes) in [
        ("msi", &[load_first][..]),
        ("mesi", &[load_first]),
        // Nothing is stored in E, which a load and what is stored after it lead to.
        (
            "mesi",
            &[
                load_first,
                ("E = {", "read = \"data > S\"", "read = \"ack > S\""),
                ("E = {", "write = \"data > I\"", "write = \"ack > I\""),
            ],
        ),
        // The second rule never applies, so that whoever reads is the owner.
        (
            "moesi",
            &[
                ("I = { load", "load = \"read > granted\"", "load = \"read > O\""),
                (
                    "    { when = \"owned",
                    "when = \"owned by another\", probe = \"read owner\", grant = \"S\"",
                    "probe = \"write others\", grant = \"O\"",
                ),
            ],
        ),
        // What is handed on to a node in S makes it N, as it would an L1.
        ("nmoesi", &[("I = {", "n-store = \"read-nc > N\"", "n-store = \"forward\"")]),
        // The cells that ask to write say themselves what they become.
        ("mesi", &[("write = [", "grant = \"M\"", "grant = \"S\"")]),
        // What is dirty in O has been stored non-coherently since its owner was asked.
        ("nmoesi", &[("O = {", "read = \"data\"", "read = \"ack\"")]),
        // Dirty bytes go before what is handed on.
        (
            "msi",
            &[
                ("M = {", "n-store = \"hit\"", "n-store = \"forward\""),
                ("[directory]", "[directory]", "[inner]\nM = { n-store = \"hit\" }\n\n[directory]"),
            ],
        ),
        // Nothing of a child in O is dirty there.
        ("moesi", &[("O = { E", "E = \"M\"", "E = \"M\", S = \"O\"")]),
        // A fence that leaves what a directory keeps account of.
        ("msi", &[("S = {", "evict =", "acquire = \"silent\", evict =")]),
        // One step after the other, and it ends.
        ("mesi", &[("M = {", "n-store = \"hit\"", "n-store = \"write > E\"")]),
        ("gpu-memory-side", &[("I = { store", "store = \"fetch > V\"", "store = \"fetch > P\"")]),
        // Who is alone is granted what nobody else has.
        ("mesi", &[("M = {", "load = \"hit\"", "load = \"read > granted\"")]),
        // No owner is ever asked, so that no M becomes S.
        (
            "mesi",
            &[
                (
                    "    { when = \"owned",
                    "when = \"owned by another\", probe = \"read owner\", grant = \"S\"",
                    "probe = \"write others\", grant = \"M\"",
                ),
                ("    { when = \"no sharers", "{ when = \"no sharers\", grant = \"E\" },", ""),
                ("    { grant = \"S\" },", "{ grant = \"S\" },", ""),
            ],
        ),
        // What leaves at a read does so at all levels.
        ("mesi", &[("M = {", "read = \"data > S\"", "read = \"data > I\"")]),
        // A copy that serves one load, and nobody has to be told of.
        ("vi", &[("V = { load = \"hit\"", "load = \"hit\"", "load = \"hit > I\"")]),
        // What a leaf performs needs no cell of its own in a node with children.
        ("gpu-write-through", &[("[cache]", "[cache]", "[inner]\nV = { load = \"impossible\" }\n\n[cache]")]),
    ] {
        let found = found_with(protocol, changes);
        let errors: Vec<_> = found.iter().filter(|fault| !fault.message.starts_with("warning")).collect();
        assert!(errors.is_empty(), "{protocol}: {errors:?}");
    }
}

#[test]
fn a_state_that_is_left_out_of_the_list_is_told() {
    let found = found("mesi", "S = \"\"", "S = \"\"", "");
    let messages: Vec<_> = found.iter().map(|fault| fault.message.as_str()).collect();
    assert_eq!(messages, ["warning: S is not in [state]: it is neither exclusive nor an owner"]);
    let row = bundled("mesi").text.lines().position(|line| line.starts_with("S = {")).unwrap() + 1;
    assert_eq!(found[0].position().map(|(line, _)| line), Some(row));
}

#[test]
fn each_fault_is_told_at_its_place() {
    let mut wrong = Vec::new();
    for (protocol, line, from, to, place, message) in CASES {
        let found = found(protocol, line, from, to);
        let text = bundled(protocol).text;
        let number = text.lines().position(|old| old.starts_with(place.0)).unwrap() + 1;
        let good = found.iter().any(|fault| {
            fault.message == message
                && fault.position().is_some_and(|at| at.0 == number)
                && fault.expected.is_some()
                && fault.span.as_ref().is_some_and(|span| {
                    let text = &fault.source.as_ref().unwrap().text;
                    text[span.clone()] == *place.1
                })
        });
        if !good {
            let all: Vec<_> = found.iter().map(ToString::to_string).collect();
            wrong.push(format!("{protocol}: {to}: {message}\n{}", all.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A protocol, the start of a line of it, what is replaced in that line and by what; the start of the line that is
/// complained of and the text that is marked there; the complaint.
type Case =
    (&'static str, &'static str, &'static str, &'static str, (&'static str, &'static str), &'static str);

const CASES: [Case; 54] = [
    (
        "msi",
        "S = {",
        "store = \"write > M\", n-store",
        "store = \"forward\", n-store",
        ("S = {", "\"forward\""),
        "what a child asks for is handed on in S, so that nobody ever grants it",
    ),
    (
        "mesi",
        "M = {",
        "store = \"hit\", n-store",
        "store = \"flush > S\", n-store",
        ("S = {", "\"ack\""),
        "a reader elsewhere does not get the dirty bytes that S may hold",
    ),
    (
        "vi",
        "V = {",
        ", acquire = \"silent > I\"",
        "",
        ("V = {", "V"),
        "a block in V can meet an acquire, and has no cell for it",
    ),
    (
        "msi",
        "I = {",
        "load = \"read > granted\"",
        "load = \"read > M\"",
        ("I = {", "\"read > M\""),
        "a load makes a block M, though others may hold what is granted",
    ),
    (
        "msi",
        "I = {",
        "store = \"write > M\"",
        "store = \"allocate > M\"",
        ("I = {", "\"allocate > M\""),
        "a store takes a place for a block of which no directory is told",
    ),
    (
        "msi",
        "    { grant = \"S\" },",
        "{ grant",
        "{ probe = \"write others\", grant = \"M\" }, { when = \"no sharers\", grant",
        ("    { grant = \"S\" },", "\"M\""),
        "no rule answers a read at a node in S: who is not exclusive cannot grant M",
    ),
    (
        "moesi",
        "S = {",
        "load = \"hit\"",
        "load = \"hit > O\"",
        ("S = {", "\"hit > O\""),
        "a load makes S the owner O, and nobody is told",
    ),
    (
        "msi",
        "M = {",
        "load = \"hit\"",
        "load = \"hit > I\"",
        ("M = {", "\"hit > I\""),
        "a load is performed in M and leads to I: the copy is gone, and nobody is told",
    ),
    (
        "msi",
        "I = { load",
        "read = \"ack\"",
        "read = \"ack > S\"",
        ("I = { load", "\"ack > S\""),
        "a read probe in I leads to S, though no bytes come with it",
    ),
    (
        "msi",
        "S = {",
        "store = \"write > M\"",
        "store = \"hit\"",
        ("S = {", "\"hit\""),
        "a store is performed in S, though others may hold the block",
    ),
    (
        "nmoesi",
        "O = {",
        "store = \"write > M\"",
        "store = \"hit > M\"",
        ("O = {", "\"hit > M\""),
        "a store is performed in O, though others may hold the block",
    ),
    (
        "nmoesi",
        "S = {",
        "n-store = \"hit > N\"",
        "n-store = \"hit > M\"",
        ("S = {", "\"hit > M\""),
        "an n-store makes S the exclusive M without asking",
    ),
    (
        "msi",
        "I = {",
        "load = \"read > granted\"",
        "load = \"hit\"",
        ("I = {", "\"hit\""),
        "a load is performed in I, where there is no copy",
    ),
    (
        "msi",
        "S = {",
        "load = \"hit\"",
        "load = \"read > granted\"",
        ("I = {", "\"read > granted\""),
        "a load asks for S, and asks again there: it never ends",
    ),
    (
        "mesi",
        "M = {",
        "read = \"data > S\"",
        "read = \"data\"",
        ("M = {", "\"data\""),
        "M is exclusive, yet M leads there when another node reads",
    ),
    (
        "nmoesi",
        "S = {",
        "write = \"ack > I\"",
        "write = \"ack\"",
        ("S = {", "\"ack\""),
        "a copy in S stays when another node writes",
    ),
    (
        "msi",
        "M = {",
        "writeback > I",
        "notify > I",
        ("M = {", "\"notify > I\""),
        "warning: M may hold dirty bytes, which are written back when it is evicted",
    ),
    (
        "nmoesi",
        "N = { E",
        ", S = \"N\"",
        "",
        ("S = { load", "\"notify > I\""),
        "warning: S may hold dirty bytes, which are written back when it is evicted",
    ),
    (
        "mesi",
        "M = { E",
        "E = \"M\"",
        "",
        ("E = { load", "\"notify > I\""),
        "warning: E may hold dirty bytes, which are written back when it is evicted",
    ),
    (
        "moesi",
        "M = {",
        "read = \"data > O\"",
        "read = \"ack > O\"",
        ("M = {", "\"ack > O\""),
        "a reader elsewhere does not get the dirty bytes that M may hold",
    ),
    (
        "nmoesi",
        "N = {",
        "read = \"ack\"",
        "read = \"ack > I\"",
        ("N = {", "\"ack > I\""),
        "a read probe drops the dirty bytes that N may hold",
    ),
    (
        "nmoesi",
        "N = {",
        "write = \"data > I\"",
        "write = \"ack > I\"",
        ("N = {", "\"ack > I\""),
        "a writer elsewhere does not get the dirty bytes that N may hold",
    ),
    (
        "vi",
        "V = {",
        "store = \"forward\"",
        "store = \"hit\"",
        ("V = {", "\"silent > I\""),
        "an acquire drops the dirty bytes that V may hold",
    ),
    (
        "msi",
        "M = {",
        ", write = \"data > I\"",
        "",
        ("M = {", "M"),
        "a block in M can meet a write probe, and has no cell for it",
    ),
    (
        "msi",
        "S = {",
        "evict = \"notify > I\", ",
        "",
        ("S = {", "S"),
        "a block in S can meet an eviction, and has no cell for it",
    ),
    (
        "nmoesi",
        "S = {",
        "store = \"write > M\", ",
        "",
        ("S = {", "S"),
        "a block in S can meet a store, and has no cell for it",
    ),
    (
        "vi",
        "V = { load = \"hit\"",
        "load = \"hit\", ",
        "",
        ("V = { load", "V"),
        "a block in V can meet a load, and has no cell for it",
    ),
    (
        "nmoesi",
        "write = [",
        "probe = \"write others\", ",
        "",
        ("write = [", "\"M\""),
        "this lets a child write while others may hold the block",
    ),
    (
        "mesi",
        "    { when = \"no sharers\"",
        "when = \"no sharers\", ",
        "",
        ("    { when = \"no sharers\"", "\"E\""),
        "this grants a reader the exclusive E while others may hold the block",
    ),
    (
        "msi",
        "    { when = \"owned",
        "probe = \"read owner\", ",
        "",
        ("    { when = \"owned", "\"S\""),
        "the rules for read do not ask another owner for its data",
    ),
    (
        "mesi",
        "E = \"exclusive owner\"",
        " owner",
        "",
        ("E = \"exclusive owner\"", "\"exclusive\""),
        "E may be written without asking, but the directory will not ask it for its data",
    ),
    (
        "vi",
        "I = { load = \"fetch > V\"",
        "fetch > V",
        "read > granted",
        ("S = { load", "S"),
        "a cache without children can get into S, which [cache] has no row for",
    ),
    (
        "moesi",
        "M = {",
        "read = \"data > O\"",
        "read = \"data > S\"",
        ("O = { load", "O"),
        "warning: nothing leads to O",
    ),
    (
        "mesi",
        "    { when = \"owned",
        "when = \"owned by another\", ",
        "",
        ("    { when = \"no sharers\"", "\"E\""),
        "warning: a rule for read before this one always applies",
    ),
    (
        "nmoesi",
        "N = {",
        "read = \"ack\", ",
        "",
        ("N = {", "N"),
        "a block in N can meet a read probe, and has no cell for it",
    ),
    (
        "msi",
        "I = {",
        "read = \"ack\", ",
        "",
        ("I = {", "I"),
        "a block in I can meet a read probe, and has no cell for it",
    ),
    (
        "gpu-memory-side",
        "I = { store",
        "allocate > P",
        "allocate > D",
        ("I = { store", "\"allocate > D\""),
        "an n-store makes a block D of which only the stored bytes are here",
    ),
    (
        "gpu-memory-side",
        "P = {",
        "load = \"fetch > D\"",
        "load = \"fetch > P\"",
        ("P = {", "\"fetch > P\""),
        "a load fetches the block into P, and fetches again there: it never ends",
    ),
    (
        "vi",
        "V = {",
        "acquire = \"silent > I\"",
        "acquire = \"silent\"",
        ("V = {", "\"silent\""),
        "a copy in V stays at an acquire, and what others have stored is not seen",
    ),
    (
        "nmoesi",
        "N = { E",
        "S = \"N\"",
        "S = \"M\"",
        ("N = { E", "\"M\""),
        "dirty bytes of a child in N make a node in S the exclusive M, and its parent does not know",
    ),
    (
        "moesi",
        "    { when = \"owned",
        "grant = \"S\"",
        "grant = \"O\"",
        ("    { when = \"owned", "\"O\""),
        "this grants the owner O to a reader, and who was asked for the data is one after it, too, from M",
    ),
    (
        "nmoesi",
        "M = {",
        "n-store = \"hit\"",
        "n-store = \"hit > N\"",
        ("N = {", "\"ack\""),
        "a reader elsewhere does not get the dirty bytes that N may hold",
    ),
    (
        "nmoesi",
        "E = {",
        "store = \"hit > M\"",
        "store = \"hit\"",
        ("N = {", "\"ack\""),
        "a reader elsewhere does not get the dirty bytes that N may hold",
    ),
    (
        "msi",
        "M = {",
        "n-store = \"hit\"",
        "n-store = \"forward\"",
        ("M = {", "\"forward\""),
        "an n-store is handed on in M, past what children may have stored",
    ),
    (
        "msi",
        "S = {",
        "n-store = \"write > M\"",
        "n-store = \"forward > I\"",
        ("S = {", "\"forward > I\""),
        "an n-store is handed on in S, and its directory is not told where that leads",
    ),
    (
        "mesi",
        "M = {",
        "store = \"hit\"",
        "store = \"flush\"",
        ("M = {", "\"flush\""),
        "a node with children flushes in M, which only a cache without children can",
    ),
    (
        "msi",
        "M = {",
        "n-store = \"hit\"",
        "n-store = \"relay\"",
        ("M = {", "\"relay\""),
        "only the memory of a GPU that no directory tracks can do `relay`",
    ),
    (
        "msi",
        "I = {",
        "load = \"read > granted\"",
        "load = \"fetch > S\"",
        ("I = {", "\"fetch > S\""),
        "no directory is told of a copy that is fetched, and other copies here are asked for: none of them would be probed",
    ),
    (
        "vi",
        "I = { load",
        "n-store = \"forward\"",
        "n-store = \"forward > V\"",
        ("I = { load", "\"forward > V\""),
        "warning: an n-store is handed on in I, and stays there",
    ),
    (
        "mesi",
        "S = {",
        "evict =",
        "acquire = \"silent > I\", evict =",
        ("S = {", "\"silent > I\""),
        "a copy in S leaves at an acquire, and its directory is told of evictions only",
    ),
    (
        "nmoesi",
        "N = { E",
        "E = \"M\"",
        "E = \"M\", M = \"N\"",
        ("N = { load", "\"ack\""),
        "a reader elsewhere does not get the dirty bytes that N may hold",
    ),
    (
        "nmoesi-m2s",
        "E = { store",
        ", evict = \"writeback > I\"",
        "",
        ("E = { load", "\"notify > I\""),
        "warning: E may hold dirty bytes, which are written back when it is evicted",
    ),
    // Nothing leads to O, but a node that has such a cell is tracked by nobody.
    (
        "nmoesi-m2s",
        "O = {",
        "load = \"hit\"",
        "load = \"fetch > S\"",
        ("O = {", "\"fetch > S\""),
        "no directory is told of a copy that is fetched, and other copies here are asked for: none of them would be probed",
    ),
    (
        "moesi",
        "I = {",
        "load = \"read > granted\"",
        "load = \"read > O\"",
        ("I = {", "\"read > O\""),
        "a load makes a block O, an owner, and its directory, which grants S, does not know of one",
    ),
];

#[test]
fn what_is_granted_to_a_writer_matters_where_it_is_taken() {
    let taken = ("I = {", "store = \"write > M\"", "store = \"write > granted\"");
    let asks = ("E = {", "store = \"hit > M\"", "store = \"write > M\"");
    let found = found_with("mesi", &[("write = [", "grant = \"M\"", "grant = \"E\""), asks, taken]);
    let message = "this grants a writer E, in which it has to ask to store";
    assert!(found.iter().any(|fault| fault.message == message), "{found:?}");
}

/// A line of a secondary block may be asked for in S.
#[test]
fn two_owners_of_a_line_are_told_where_the_reader_is_granted_one() {
    let sibling = ("S = {", "read = \"ack\"", "read = \"ack > O\"");
    let owners = |found: &[Diagnostic]| {
        found.iter().filter(|fault| fault.message.starts_with("this grants the owner O")).count()
    };
    let read = ("M = {", "read = \"data > O\"", "read = \"data > S\"");
    let grant = ("    { when = \"owned", "grant = \"S\"", "grant = \"O\"");
    assert_eq!(
        owners(&found_with("moesi", &[read, grant, ("O = {", "read = \"data\"", "read = \"data > S\"")])),
        0
    );
    assert_eq!(
        owners(&found_with(
            "moesi",
            &[read, grant, ("O = {", "read = \"data\"", "read = \"data > S\""), sibling]
        )),
        1
    );
    assert_eq!(owners(&found_with("moesi", &[sibling])), 0);
}

#[test]
fn faults_of_cells_that_only_nodes_with_children_use_are_told() {
    for (cell, message) in [
        (
            "E = { load = \"hit > S\" }",
            "a load takes E to S, which others may share, above a child that is granted E",
        ),
        (
            "E = { store = \"hit > S\" }",
            "a store takes E to S, which others may share, above a child that is granted M",
        ),
        (
            "M = { read = \"data > I\" }",
            "M leaves when another node reads, E does not ask its children to, and one in M makes it M",
        ),
    ] {
        let inner = format!("[inner]\n{cell}\n\n[directory]");
        let found = found_with("mesi", &[("[directory]", "[directory]", &inner)]);
        assert!(found.iter().any(|fault| fault.message == message), "{cell}: {found:?}");
    }
}

/// Where no store leaves dirty bytes in a state, what takes them there is told beside what becomes of them there.
#[test]
fn what_takes_dirty_bytes_to_a_state_is_told_too() {
    let expected = |line: &str, from: &str, to: &str| {
        let found = found("nmoesi", line, from, to);
        let writer = "a writer elsewhere does not get the dirty bytes that S may hold";
        let fault = found.iter().find(|fault| fault.message == writer).unwrap_or_else(|| panic!("{found:?}"));
        fault.expected.clone().unwrap_or_default()
    };
    let row = bundled("nmoesi").text.lines().position(|line| line.starts_with("N = {")).unwrap() + 1;
    let cell = expected("N = {", "read = \"ack\"", "read = \"ack > S\"");
    assert_eq!(cell, format!("`data > I`, or no way for them from N to S by a read probe in line {row}"));
    let merge = expected("M = { E", "E = \"M\"", "E = \"S\"");
    assert_eq!(merge, "`data > I`, or no way for them from E to S by [merge] of M");
}
