//! The language as a whole: what queries match, what their errors say, what is completed.

use proptest::prelude::*;

use crate::model::lanes::{Flow, Flows, LaneDirection, LanePhase, LaneReason, LaneReversal, Saturation};
use crate::model::message::MessageKind;
use crate::model::paging::{FaultStage, PageWalk};
use crate::model::record::{Record, What};
use crate::model::state::State;

use super::sample::Sample;
use super::*;

fn filter(query: &str, sample: &Sample) -> Filter {
    Filter::compile(&Text::new("query", query), &sample.context())
        .unwrap_or_else(|e| panic!("{query}: {e:?}"))
}

fn holds(query: &str, sample: &Sample) -> bool {
    let predicate = Predicate::compile(&Text::new("query", query), &sample.context());
    predicate.unwrap_or_else(|e| panic!("{query}: {e:?}")).holds(sample)
}

fn check(record: &Record, sample: &Sample, cases: &[(&str, bool)]) {
    for (query, wanted) in cases {
        let matches = filter(query, sample).matches(record, &sample.components);
        assert_eq!(matches, *wanted, "{query}");
        let unresolved = Filter::compile(&Text::new("query", query), &Context::default()).unwrap();
        assert_eq!(unresolved.matches(record, &sample.components), *wanted, "{query} without a machine");
    }
}

#[test]
fn pages_are_those_of_the_machine() {
    let sample = Sample::new();
    let record = sample.transition("gpu0.cu0.l1", b'I', b'N');
    let large = Context { page: PageSize(2 << 20), ..sample.context() };
    let compile = |context: &Context| Filter::compile(&Text::new("query", "page 0"), context).unwrap();
    assert!(compile(&large).matches(&record, &sample.components), "0x1000 is in the first 2 MiB");
    assert!(!compile(&sample.context()).matches(&record, &sample.components), "and in the second 4 KiB");
}

#[test]
fn filters_on_a_transition() {
    let sample = Sample::new();
    let record = sample.transition("gpu0.cu0.l1", b'I', b'N');
    check(
        &record,
        &sample,
        &[
            ("transition at gpu*.l1 to N block 0x1000", true),
            ("transition at gpu*.l1 to M", false),
            ("transition to one of M N block 0x1000", true),
            ("transition to one of M E", false),
            ("transition to != M", true),
            ("transition to is not N", false),
            ("to N", true),
            ("block 0x103f", true),
            ("block 0x1040", false),
            ("block 0x0..0xffff", true),
            ("block != 0x1000", false),
            ("page 1", true),
            ("page 0x0..0x0", false),
            ("gpu 0", true),
            ("gpu 1", false),
            ("at host", false),
            ("at sm0", true),
            ("txn 3 cycle 40..50 event >= 10", true),
            ("cycle < 50", false),
            ("because 7", true),
            ("action n-store", true),
            ("action store", false),
            ("action merge", false),
            ("not transition", false),
            ("message or transition from I", true),
            ("not to M and not to E", true),
            ("transition (to M or to N) at gpu0", true),
            ("message or transition at gpu1", false),
            ("(message or transition) at gpu0", true),
            ("link gpu0", false),
            ("type read", false),
        ],
    );
}

#[test]
fn filters_on_a_message() {
    let sample = Sample::new();
    let record = sample.message(MessageKind::ProbeRead, "host.hmd0", "gpu0.smd0");
    check(
        &record,
        &sample,
        &[
            ("message type probe from hmd* and not block 0x2000", true),
            ("message type probe-read to gpu0", true),
            ("message type read", false),
            // What is denied is the kind with its fields, or one field.
            ("not message type read", true),
            ("not message type probe", false),
            ("not transition to M", true),
            ("not message type read size >= 64", true),
            ("not message and type probe", false),
            ("not block 0x2000 message", true),
            ("message not type read not size > 72", true),
            ("message not type read size > 72", false),
            ("message type one of read probe-write", false),
            ("message size >= 64 size <= 72", true),
            ("size<64", false),
            ("message data 0", true),
            ("network probe", true),
            ("to gpu0", true),
            ("to gpu1", false),
            ("from != hmd*", false),
            ("type request or type probe", true),
        ],
    );
    let on_link = Record { at: sample.id("link.gpu0.out"), ..record };
    check(
        &on_link,
        &sample,
        &[("link gpu0", true), ("message link link.gpu0", true), ("link is not gpu0", false)],
    );
}

/// What a record does not have is neither less nor more than anything.
#[test]
fn what_is_absent_has_no_order() {
    let sample = Sample::new();
    let walk = PageWalk { gpu: 0, unit: 0, cached: 0, memory: 3, cycles: None };
    check(
        &sample.record("gpu0.l2.0", What::Walk(walk)),
        &sample,
        &[
            ("page-walk cycles > 5", false),
            ("page-walk cycles < 5", false),
            ("page-walk cycles >= 0", false),
            ("page-walk cycles <= 0", false),
            ("page-walk cycles 5", false),
            ("page-walk cycles != 5", true),
        ],
    );
    let (stage, unit) = (FaultStage::Raised, None);
    check(
        &sample.record("gpu0.l2.0", What::FarFault { stage, gpu: 0, set: 0, unit, writes: false }),
        &sample,
        &[("far-fault set < 2", false), ("far-fault set 0", false), ("far-fault unit > 0", false)],
    );
}

#[test]
fn filters_on_lanes() {
    let sample = Sample::new();
    let flow = |utilisation, lanes| Flow { utilisation, lanes };
    let flows = Flows { out: flow(100, 9), into: flow(12, 6) };
    let (to, phase, reason) = (LaneDirection::Out, LanePhase::Turn, LaneReason::Saturated);
    let reversal = LaneReversal { to, phase, reason, count: 1, flows };
    check(
        &sample.record("link.gpu0.out", What::LaneReversal(reversal)),
        &sample,
        &[
            ("lane-reversal link gpu0", true),
            ("lane-reversal at gpu1 or lane-reversal out-lanes > 8", true),
            ("lane-reversal from in to out phase turn reason saturated count 1", true),
            ("lane-reversal phase one of quiesce done", false),
            ("in-lanes 6 in-use < 99 out-use >= 99", true),
            ("saturation", false),
        ],
    );
    let saturation = Saturation { is_saturated: true, flow: flow(100, 9) };
    check(
        &sample.record("link.gpu0.out", What::Saturation(saturation)),
        &sample,
        &[
            ("saturation saturated 1 use 100 lanes 9 at link.gpu0.out", true),
            ("saturation saturated 0", false),
        ],
    );
}

#[test]
fn filters_on_values_and_directories() {
    let sample = Sample::new();
    check(
        &sample.complete("gpu0.cu0", &[7, 1]),
        &sample,
        &[
            ("complete value 263", true),
            ("value '07 01'", true),
            ("value '07'", false),
            ("value > 262 warp 3", true),
            ("complete kind load latency 40", true),
            ("complete kind atomic", false),
        ],
    );
    check(
        &sample.directory("host.hmd0", None, &["gpu0.smd0", "gpu1.smd0"]),
        &sample,
        &[
            ("directory owner none", true),
            ("directory owner != none", false),
            ("directory owner gpu0", false),
            ("directory sharers gpu1 at host", true),
            ("sharers none", false),
        ],
    );
    check(
        &sample.directory("host.hmd0", Some("gpu0.smd0"), &[]),
        &sample,
        &[("directory owner none", false), ("directory owner gpu0.smd0 sharers none", true)],
    );
}

#[test]
fn predicates_read_the_state() {
    let mut sample = Sample::new();
    sample.hold("gpu0.l2.0", 0x1000, Some(State(b'M')));
    sample.dirty("gpu0.cu0.l1", 0x1000, 0, 4);
    sample.track("host.hmd0", 0x1000, Some("gpu0.smd0"), &["gpu0.smd0", "gpu1.smd0"]);
    sample.put("gpu0.cu0.l1", 0x1000, &[7, 1, 0, 0]);
    sample.put("host.hmd1", 0x2000, &[9]);
    let l2 = sample.id("gpu0.l2.0");
    sample.used.insert(l2, 6);
    sample.task("first", Some(5), Some(&[7, 0, 0, 0]));
    sample.tick = 21;
    for (query, wanted) in [
        ("state of gpu0.l2.0 block 0x1000 is M", true),
        ("state of l2 block 0x1000 is M", false),
        ("state of l2 block 0x1000 is one of M I", true),
        ("state of any l2 block 0x1000 is M", true),
        ("state of any l2 block 0x1000 is N", false),
        ("occupancy of any gpu0.l2.0.mshr >= 6", true),
        ("state of gpu1 block 0x1000 is I", true),
        ("state of gpu0.l2.0 block 0x103f is not M", false),
        ("value at 0x1000 in gpu0.cu0.l1 is 7", true),
        ("value at 0x1000+2 in gpu0.cu0.l1 is 263", true),
        ("value at 0x1000 in gpu0.cu0.l1 is 0x0107", true),
        ("value at 0x1000+4 in gpu0.cu0.l1 is 0x0107", true),
        ("value at 0x1000 in gpu0.cu0.l1 is 0x00000107", true),
        ("value at 0x1000 in gpu0.cu0.l1 is '07 01'", true),
        ("value at 0x1000 in gpu0.cu0.l1 > 6", true),
        ("value at 0x1002+4 in gpu0.cu0.l1 is 0", false),
        ("value at 0x2000 in memory is 9", true),
        ("value at 0x3000 in memory is not 9", false),
        ("occupancy of gpu0.l2.0.mshr >= 6", true),
        ("occupancy of gpu0.l2.0.mshr is 1..5", false),
        ("sharers of host.hmd0 block 0x1000 are gpu0 gpu1", true),
        ("sharers of host.hmd0 block 0x1000 are gpu0", false),
        ("sharers of host.hmd0 block 0x1000 include gpu0", true),
        ("sharers of host.hmd0 block 0x1000 are none", false),
        ("sharers of host.hmd0 block 0x2000 are none", true),
        ("owner of host.hmd0 block 0x1000 is gpu0", true),
        ("owner of host.hmd0 block 0x1000 is none", false),
        ("owner of host.hmd0 block 0x1000 is not gpu1", true),
        ("dirty of gpu0.cu0.l1 block 0x1000 is 0..3", true),
        ("dirty of gpu0.cu0.l1 block 0x1000 is 0 1 2 3", true),
        ("dirty of gpu0.cu0.l1 block 0x1000 is all", false),
        ("dirty of gpu0.l2.0 block 0x1000 is none", true),
        ("statistic gpu0.l1.hits >= 12", true),
        ("statistic link.gpu0.utilisation > 0.2", true),
        ("statistic link.gpu0.utilisation is 0.25", true),
        ("result of first is 7", true),
        ("result of first is '07 00 00 00'", true),
        ("result of second is 0", false),
        ("cycle is 10 and event is 0", true),
        ("not cycle is 10 or event is 0", true),
        ("not (cycle is 10 or event is 0)", false),
    ] {
        assert_eq!(holds(query, &sample), wanted, "{query}");
    }
}

#[test]
fn a_predicate_that_fails_says_what_is() {
    let mut sample = Sample::new();
    sample.hold("gpu0.l2.0", 0x1000, Some(State(b'M'))).target = Some(State(b'I'));
    sample.put("gpu0.l2.0", 0x1000, &[8]);
    let complaint = |query: &str| {
        Predicate::compile(&Text::new("q", query), &sample.context()).unwrap().complaint(&sample)
    };
    let says = |query: &str| complaint(query).unwrap();
    assert_eq!(complaint("state of gpu0.l2 block 0x1000 is M"), None);
    assert_eq!(
        says("cycle is 0 and state of l2 block 0x1000 is M"),
        "state of gpu1.l2.0 block 0x1000 is I, not M"
    );
    assert_eq!(says("state of gpu0.l2 block 0x1000 is N"), "state of gpu0.l2.0 block 0x1000 is M>I, not N");
    assert_eq!(says("value at 0x1000 in gpu0.l2.0 is 7"), "value at 0x1000 in gpu0.l2.0 is 08 (8), not 7");
    assert_eq!(says("result of first > 7"), "result of first is not known yet, not > 7");
    assert_eq!(says("not cycle is 0"), "cycle is 0 holds, but must not");
}

#[test]
fn expressions_are_shown() {
    let mut sample = Sample::new();
    sample.put("gpu0.l2.0", 0x1000, &[8, 0, 0, 0]);
    let show =
        |text: &str| Expression::compile(&Text::new("q", text), &sample.context()).unwrap().show(&sample);
    assert_eq!(show("state of l2 block 0"), "gpu0.l2.0 I, gpu1.l2.0 I");
    assert_eq!(show("value at 0x1000 in gpu0.l2"), "08 00 00 00 (8)");
    sample.put("gpu0.l2.0", 0x103c, &[1, 2, 3, 4]);
    let show =
        |text: &str| Expression::compile(&Text::new("q", text), &sample.context()).unwrap().show(&sample);
    assert_eq!(show("value at 0x103e in gpu0.l2"), "03 04 (1027)", "up to the end of its word");
    assert_eq!(show("value at 0x103f in gpu0.l2"), "04 (4)");
    assert_eq!(show("cycle > 3"), "no");
    assert!(Expression::compile(&Text::new("q", "cycle 7"), &sample.context()).is_err());
}

#[test]
fn a_stop_is_a_record_and_a_condition() {
    let mut sample = Sample::new();
    let records = [sample.transition("gpu0.cu0.l1", b'I', b'N'), sample.transition("gpu0.l2.0", b'I', b'E')];
    let stop = |text: &str| Stop::compile(&Text::new("q", text), &sample.context()).unwrap();
    let (filter, both, state) =
        (stop("transition to E"), stop("transition to E if cycle >= 5"), stop("if cycle >= 5"));
    assert_eq!(both.to_string(), "transition to E if cycle >= 5");
    let on = filter.on.as_ref().unwrap();
    assert_eq!(records.each_ref().map(|record| on.matches(record, &sample.components)), [false, true]);
    assert_eq!((&both.on, &state.on), (&filter.on, &None));
    assert!(!both.when.as_ref().unwrap().holds(&sample));
    sample.tick = 10;
    assert!([both, state].iter().all(|stop| stop.when.as_ref().unwrap().holds(&sample)));
}

/// Error text, the text under the caret, what was expected, and the suggestion.
fn error(query: &str, records: bool) -> (String, String, String, String) {
    let (text, context) = (Text::new("query", query), Sample::new().context());
    let error = if records {
        Filter::compile(&text, &context).unwrap_err()
    } else {
        Predicate::compile(&text, &context).unwrap_err()
    };
    let marked = query[error.span.clone().unwrap()].to_string();
    (error.message, marked, error.expected.unwrap_or_default(), error.suggestion.unwrap_or_default())
}

#[test]
fn errors_of_filters_point_at_the_word() {
    for (query, message, marked, expected, suggestion) in [
        ("at gpu0.l9", "no component matches gpu0.l9", "gpu0.l9", "", "did you mean gpu0.l2.0?"),
        ("probe", "\"probe\" is neither", "probe", "", "did you mean message type probe?"),
        ("shootdown", "\"shootdown\" is neither", "shootdown", "", "did you mean tlb change shoot-down?"),
        (
            "transtion to N",
            "\"transtion\" is neither",
            "transtion",
            "a kind of record",
            "did you mean transition?",
        ),
        ("transition to Q", "\"Q\" is not a state", "Q", "a state of nmoesi: N M O E S I", ""),
        ("transition type read", "transition records have no type", "type", "a clause (from, to, action", ""),
        ("far-fault raised", "not a field of far-fault", "raised", "", "did you mean stage raised?"),
        (
            "far-fault dropped",
            "far-fault records have no dropped",
            "dropped",
            "",
            "did you mean stage dropped?",
        ),
        (
            "far-fault thrash",
            "not a field of far-fault",
            "thrash",
            "",
            "did you mean page-move change thrash?",
        ),
        ("issue by gpu0", "not a field of issue", "by", "", "did you mean at?"),
        ("tag hit", "no record is tag and hit", "hit", "", "did you mean outcome hit?"),
        ("message kind read", "message records have no kind", "kind", "", "did you mean type?"),
        (
            "transition tp N",
            "not a field of transition",
            "tp",
            "a clause (from, to, action",
            "did you mean to?",
        ),
        ("message type raed", "not understood", "raed", "one of read, request", "did you mean read?"),
        ("transition to", "ends too early", "", "a state of nmoesi", ""),
        ("", "the query is empty", "", "a kind of record", ""),
        ("block x", "\"x\" is not a number", "x", "an address in its range, such as 7", ""),
        ("cycle 9..3", "ends before it begins", "9..3", "A..B", ""),
        ("cycle > 3..9", "cannot be compared with >", "3..9", "one number", ""),
        ("cycle => 3", "\"=>\" is not a comparison", "=>", "=, !=, <", ""),
        ("transition to > N", "\">\" needs numbers", ">", "=, != or is", ""),
        ("(transition to N", "a parenthesis is not closed", "", "a )", ""),
        ("transition to N )", "\")\" is not understood", ")", "", ""),
        ("at gpu0/l1", "is not a component", "gpu0/l1", "a component such as", ""),
        ("complete value '7'", "are not bytes", "'7'", "pairs of hexadecimal", ""),
        ("transition or", "ends too early", "", "a kind of record", ""),
        ("and transition", "neither a kind", "and", "", ""),
        ("far-fault gpu 9", "there is no GPU 9", "9", "0 to 1", ""),
        ("at gpu0 if cycle > 3", "only records are meant here", "if", "break if", ""),
    ] {
        let found = error(query, true);
        assert!(found.0.contains(message), "{query}: {found:?}");
        assert_eq!(found.1, marked, "{query}: {found:?}");
        assert!(found.2.contains(expected), "{query}: {found:?}");
        assert_eq!(found.3, suggestion, "{query}: {found:?}");
    }
}

#[test]
fn errors_of_predicates_point_at_the_word() {
    for (query, message, marked, expected, suggestion) in [
        (
            "stat of l2 block 0 is M",
            "nothing that can be asked of a machine",
            "stat",
            "a clause (state,",
            "did you mean state?",
        ),
        (
            "state of host.hmd0 block 0 is M",
            "host.hmd0 has no state",
            "host.hmd0",
            "a component of kind l1, l2, smd",
            "",
        ),
        ("state of l2 block 0 is Q", "\"Q\" is not a state", "Q", "nmoesi", ""),
        ("state of l2 block 0", "ends too early", "", "is", ""),
        ("state of l2 bloc 0 is M", "\"bloc\"", "bloc", "block", "did you mean block?"),
        ("state of l2 block 0 >= M", "needs numbers", ">=", "", ""),
        ("owner of l1 block 0 is none", "l1 has no owner", "l1", "a component of kind l2, smd, hmd", ""),
        ("occupancy of gpu0.l2.0 > 3", "has no occupancy", "gpu0.l2.0", "gpu0.l2.0.mshr", ""),
        ("occupancy of gpu0.cu0 > 3", "has no occupancy", "gpu0.cu0", "NODE.mshr", ""),
        (
            "statistic gpu0.l1.hit > 3",
            "no statistic gpu0.l1.hit",
            "gpu0.l1.hit",
            "",
            "did you mean gpu0.l1.hits?",
        ),
        (
            "statistic utilisation > 0",
            "no statistic utilisation",
            "utilisation",
            "umscope run --stats",
            "did you mean link.gpu0.utilisation?",
        ),
        ("result of store is 3", "store reads nothing: it has no result", "store", "a load, an atomic", ""),
        ("result of frist is 3", "no task or access frist", "frist", "", "did you mean first?"),
        ("value at 0x1000+2 in memory is 70000", "70000 does not fit", "70000", "a number of 2 bytes", ""),
        ("value at 0x1000+2 in memory is '07'", "1 bytes are compared with 2", "'07'", "as many", ""),
        ("value at 0x1000+0 in memory is 7", "no good width", "0x1000+0", "1 to 4096", ""),
        ("value at x in memory is 7", "is not an address", "x", "0x1000", ""),
        ("cycle is 3 cycle is 4", "\"cycle\" is not understood", "cycle", "\"and\" or \"or\"", ""),
    ] {
        let found = error(query, false);
        assert!(found.0.contains(message), "{query}: {found:?}");
        assert_eq!(found.1, marked, "{query}: {found:?}");
        assert!(found.2.contains(expected), "{query}: {found:?}");
        assert_eq!(found.3, suggestion, "{query}: {found:?}");
    }
}

#[test]
fn nesting_is_limited() {
    let deep = format!("{}at gpu0{}", "(".repeat(5000), ")".repeat(5000));
    assert!(error(&deep, true).0.contains("nested more than"));
}

#[test]
fn completion_knows_what_may_come() {
    let context = Sample::new().context();
    let offers = |text: &str, language| {
        let list = complete(text, text.len(), language, &context);
        list.into_iter().map(|completion| completion.text).collect::<Vec<_>>()
    };
    assert_eq!(offers("trans", Language::Records), ["transition"]);
    assert!(offers("transition ", Language::Records).contains(&"action".to_string()));
    assert!(offers("transition ", Language::Records).contains(&"or".to_string()));
    assert!(!offers("transition ", Language::Records).contains(&"type".to_string()));
    assert_eq!(offers("transition to ", Language::Records), ["is", "one", "N", "M", "O", "E", "S", "I"]);
    assert_eq!(offers("lane-reversal phase ", Language::Records), ["is", "one", "quiesce", "turn", "done"]);
    assert_eq!(offers("lane-reversal to o", Language::Records), ["one", "out"]);
    assert_eq!(offers("message type pro", Language::Records), ["probe-read", "probe", "probe-write"]);
    assert_eq!(offers("at gpu0.s", Language::Records), ["gpu0.smd0"]);
    assert_eq!(offers("block 0x", Language::Records), ["0x1000"]);
    assert_eq!(offers("link ", Language::Records), ["is", "link", "link.gpu0.out"]);
    assert_eq!(offers("state of gpu0.cu", Language::State), ["gpu0.cu0.l1"]);
    assert_eq!(offers("statistic gp", Language::State), ["gpu0.l1.hits"]);
    assert_eq!(offers("result of ", Language::State), ["first", "second"]);
    assert_eq!(
        offers("state of l2 block 0x1000 is ", Language::State),
        ["not", "one", "N", "M", "O", "E", "S", "I"]
    );
    assert!(offers("at gpu0 i", Language::Stop).contains(&"if".to_string()));
    assert!(offers("at gpu0 if val", Language::Stop).contains(&"value".to_string()));
    let inner = complete("at gpu0.s to N", 9, Language::Records, &context);
    assert_eq!(inner.first().map(|c| c.replaces.clone()), Some(3..9));
}

fn word() -> impl Strategy<Value = String> {
    let words = "transition message complete directory warp kernel violation at to from type action block page gpu \
        txn cycle event because link value owner sharers size data state network change name text one of not and or \
        is if ( ) = != < <= > >= N M S 7 0x1000 0x40..0x7f gpu0 gpu*.l1 hmd* read probe n-store '07_00' none none \
        value state occupancy statistic result sharers dirty in memory are include block of first gpu0.l2.0.mshr \
        0x1000+4 all 3..5 0.5 transpose* merge full";
    let words: Vec<String> = words.split_whitespace().map(|word| word.replace('_', " ")).collect();
    prop::sample::select(words)
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in any::<String>()) {
        for context in [Context::default(), Sample::new().context()] {
            let query = Text::new("query", &text);
            let _ = (Filter::compile(&query, &context), Predicate::compile(&query, &context));
            let _ = (Stop::compile(&query, &context), Expression::compile(&query, &context));
            for cursor in 0..=text.len() {
                let _ = complete(&text, cursor, Language::Stop, &context);
            }
        }
    }

    #[test]
    fn what_is_displayed_reads_back(words in prop::collection::vec(word(), 1..9), machine in any::<bool>()) {
        let context = if machine { Sample::new().context() } else { Context::default() };
        let query = Text::new("query", &words.join(" "));
        if let Ok(filter) = Filter::compile(&query, &context) {
            let shown = filter.to_string();
            let again = Filter::compile(&Text::new("query", &shown), &context);
            prop_assert_eq!(again.map_err(|e| e.message), Ok(filter), "{}", shown);
        }
        if let Ok(predicate) = Predicate::compile(&query, &context) {
            let shown = predicate.to_string();
            let again = Predicate::compile(&Text::new("query", &shown), &context);
            prop_assert_eq!(again.map_err(|e| e.message), Ok(predicate), "{}", shown);
        }
    }

    #[test]
    fn predicates_read_back(
        left in "(cycle|event|occupancy of gpu0\\.l2\\.0\\.mshr|statistic gpu0\\.l1\\.hits) (is|>|!=) [1-9]",
        state in "state of (l2|gpu\\*\\.l1) block 0x[1-9]000 (is|is not) (one of )?[NMOES]",
        bytes in "(value at 0x1[0-9]00(\\+4)? in (memory|l2)|result of first) (is|<=) (0x0[0-9]{3}|[0-9]{1,5})",
        dirty in "dirty of l2 block 0 is (none|all|[1-9]|7\\.\\.9 3\\.\\.5 6)",
        shape in "A( and| or) (not )?B( and| or) (not )?\\((not )?C( or| and) D\\)",
    ) {
        let text = shape.replace('A', &left).replace('B', &state).replace('C', &bytes).replace('D', &dirty);
        let context = Sample::new().context();
        let predicate = Predicate::compile(&Text::new("query", &text), &context).unwrap();
        let shown = predicate.to_string();
        let again = Predicate::compile(&Text::new("query", &shown), &context);
        prop_assert_eq!(again.map_err(|e| e.message), Ok(predicate), "{}", shown);
    }
}
