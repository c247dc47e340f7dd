//! Slips in a scenario's file are pointed at.

use super::*;

/// A text, where its slip is, parts of message and expectation, and the suggestion.
type Slip = (String, (usize, usize), &'static str, &'static str, &'static str);

fn with(more: &str) -> String {
    format!("{}{more}\n", STORE.trim_start())
}

fn pointed_at(slips: &[Slip]) {
    let mut wrong = Vec::new();
    for (text, place, message, expected, suggestion) in slips {
        let error = complaint(text);
        let right = error.message.contains(message)
            && error.position() == Some(*place)
            && error.expected.clone().unwrap_or_default().contains(expected)
            && (suggestion.is_empty() || error.suggestion.as_deref() == Some(*suggestion));
        if !right {
            wrong.push(format!("{error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn slips_in_what_is_done_are_pointed_at() {
    pointed_at(&[
        (with("[[expct]]"), (6, 3), "unknown key `expct`", "", "did you mean expect?"),
        (with("aftr = \"x\""), (6, 1), "unknown key `aftr`", "", "did you mean after?"),
        (
            with("[set]\nscale = 64"),
            (7, 1),
            "unknown key `scale`",
            "",
            "scale stands at the head of the scenario, before all [tables]",
        ),
        (with("after = \"frist\""), (6, 9), "there is no task frist", "", "did you mean first?"),
        (
            with(
                "[[say]]\ntext = \"x\"\nask = { text = \"?\", answer = \"a\", choices = [\"a\", \"b\", \"a\"] }",
            ),
            (8, 7),
            "the choice \"a\" is given twice",
            "choices that differ",
            "",
        ),
        (
            with("[[expect]]\nend = false\nthat = \"cycle > 0\""),
            (7, 7),
            "this is no moment",
            "end = true",
            "",
        ),
        (with("after = [\"first\"]"), (3, 6), "first can never start", "", ""),
        (with("load = { address = 0 }"), (2, 1), "more than one thing", "one of load", ""),
        (with("[[do]]\nby = \"gpu0.cu0\""), (6, 1), "this does nothing", "one of load", ""),
        (
            with("[[do]]\nby = \"gpu7.cu0\"\nload = { address = 0 }"),
            (7, 6),
            "no compute unit or core gpu7.cu0",
            "one of",
            "did you mean gpu0.cu0?",
        ),
        (
            with("[[do]]\nby = \"gpu0\"\nload = { address = 0 }"),
            (7, 6),
            "gpu0 means more than one",
            "gpu0.cu0, gpu0.cu1",
            "",
        ),
        (
            with("[[do]]\nby = \"gpu0.cu0\"\nstore = { address = 0 }"),
            (8, 9),
            "what it stores",
            "either bytes",
            "",
        ),
        (
            with("[[do]]\nby = \"gpu0.cu0\"\nstore = { address = 0, value = 300, width = 1 }"),
            (8, 32),
            "300 does not fit",
            "",
            "",
        ),
        (
            with("[[do]]\nid = \"first\"\nby = \"gpu0.cu0\"\nfence = \"full\""),
            (7, 6),
            "the id first is used twice",
            "",
            "",
        ),
        (
            with("[[program]]\nby = \"gpu0.cu0\"\ndo = [\"fence\", \"laod 0\"]"),
            (8, 17),
            "no instruction laod",
            "",
            "did you mean load?",
        ),
        (
            with("[[kernel]]\nname = \"transpos\""),
            (7, 8),
            "no kernel `transpos`",
            "",
            "did you mean transpose?",
        ),
        (with("[[kernel]]\nname = \"transpose\"\nwith = { widht = 3 }"), (8, 10), "widht", "", ""),
        (
            with("[[kernel]]\nid = \"k\"\nname = \"transpose\"\nwith = { wavefront = 16 }"),
            (7, 6),
            "a block of transpose has 16 warps, but a compute unit has room for 4",
            "--set gpu.cu.wavefronts=16, ",
            "",
        ),
    ]);
    assert!(complaint("title = \"x\"").message.contains("`machine` is missing"));
    assert!(complaint("machine = \"tiny/umh-2gqu\"").suggestion.unwrap().contains("tiny/umh-2gpu"));
}

#[test]
fn slips_in_what_is_expected_are_pointed_at() {
    pointed_at(&[
        (
            with("[[fault]]\nname = \"lose-mesage\""),
            (7, 8),
            "there is no fault",
            "",
            "did you mean lose-message?",
        ),
        (with("[[fault]]\nname = \"no-grant-ack\"\nnth = 2"), (8, 7), "no-grant-ack takes no nth", "", ""),
        (
            format!("mutate = \"cache N raed = ack\"\n{}", STORE.trim_start()),
            (1, 19),
            "the table has no column raed",
            "",
            "did you mean read?",
        ),
        (
            with("[[expect]]\nthat = \"state of gpu0.l9 block 0 is M\""),
            (7, 18),
            "no component matches gpu0.l9",
            "",
            "did you mean gpu0.l2.0?",
        ),
        (with("[[expect]]\nafter = \"frist\""), (7, 9), "there is no task frist", "", "did you mean first?"),
        (with("[[expect]]"), (6, 1), "this expects nothing", "that =", ""),
        (with("[[expect]]\ncount = \"message\""), (7, 9), "how many", "is, at-least or at-most", ""),
        (
            with("[[expect]]\ncount = \"message\"\nat-least = 3\nat-most = 2"),
            (9, 11),
            "at-most is less",
            "",
            "",
        ),
        (with("[[expect]]\nnever = \"message\"\nis = 2"), (8, 6), "is needs count", "", ""),
        (with("[[expect]]\nnever = \"message\"\nend = true"), (6, 1), "more than one moment", "", ""),
        (
            with("[[expect]]\nnever = \"message\"\nthat = \"cycle is 0\""),
            (8, 8),
            "does not go with never",
            "",
            "",
        ),
        (
            with("[[say]]\ntext = \"\"\nask = { text = \"?\" }"),
            (8, 7),
            "nothing answers",
            "answer, or because",
            "",
        ),
        (
            with("[[say]]\ntext = \"\"\nask = { text = \"?\", because = \"cache N raed\" }"),
            (8, 32),
            "no column raed",
            "load, store",
            "did you mean read?",
        ),
        (
            with("[[say]]\ntext = \"\"\nask = { text = \"?\", answer = \"yse\", choices = [\"yes\"] }"),
            (8, 30),
            "none of the choices",
            "",
            "did you mean yes?",
        ),
        (
            with(
                "[[say]]\ntext = \"\"\nask = { text = \"?\", because = \"cache N read\", choices = [\"yes\"] }",
            ),
            (8, 31),
            "is none of the choices",
            "it among them",
            "",
        ),
        (with("[[break]]\nonce = true"), (6, 1), "breaks at nothing", "", ""),
        (
            with("[[state]]\nnode = \"gpu0.l2.0\"\naddress = 0\nstate = \"Q\""),
            (9, 9),
            "Q is not a state",
            "a state of nmoesi",
            "",
        ),
        (
            with("[[state]]\nnode = \"host.hmd0\"\naddress = 0\nstate = \"M\""),
            (9, 9),
            "host.hmd0 keeps no state",
            "",
            "",
        ),
        (
            with("[[state]]\nnode = \"host.hmd0\"\naddress = 0\nowner = \"gpu0.l2.0\""),
            (9, 9),
            "no child of host.hmd0",
            "gpu0.smd0",
            "",
        ),
        (with("[[memory]]\naddress = 0\nbytes = \"7\""), (8, 9), "not bytes", "", ""),
        (with("[[flush]]\nbelow = \"gpu7\""), (7, 9), "nothing is beneath gpu7", "", "did you mean gpu0?"),
    ]);
}

#[test]
fn parameters_in_the_name_of_a_fault_are_told_where_they_stand() {
    let message = "lose-message takes no parameters here";
    let text = with("[[fault]]\nname = \"lose-message message=grant\"");
    pointed_at(&[(text, (7, 8), message, "a [[fault]] of the scenario", "")]);
}
