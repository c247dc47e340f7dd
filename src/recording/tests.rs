use super::read::parse;
use super::*;
use crate::config::{Kept, Kind};
use crate::diagnostic::Source;

fn recording() -> Recording {
    let scenario = Source::new("a\nb.toml", "title = 'x'\r\nmachine = 'm'\n\n");
    let origin = Origin {
        made_by: "0.1.0".into(),
        name: "mine".into(),
        scenario,
        folder: Some("some where".into()),
        with: vec!["scale=2".into()],
        files: vec![Kept {
            kind: Kind::Machine,
            reference: "m.toml".into(),
            on_disk: true,
            source: Source::new("m.toml", "no end of line: ä"),
        }],
        set: vec!["gpu.count=2".into(), "name = \"a\\\nb\"".into()],
        seed: Some(3),
        max_cycles: Some(1000),
        checks: Some(false),
        trace: Some(TraceFile { path: "/t r".into(), format: None, size: 7, digest: 1 << 63 }),
    };
    let mark = |event| Mark { event, cycle: event * 2, digest: event << 40 };
    let mut recording = Recording::new(origin)
        .input(3, Input::Set("network.latency=\"1 us\"".into()))
        .input(300, Input::Access("gpu0.cu0 store 0x1000 07".into()));
    recording.marks = vec![mark(256), mark(512)];
    let found = Some("lost-store: the last store to \"0x1\" is\nnowhere \\ any more".into());
    recording.end = Some(End { mark: mark(600), how: Ending::Violation, found });
    recording
}

#[test]
fn what_is_written_is_read() {
    let recording = recording();
    let bytes = recording.bytes();
    assert_eq!(parse("r", &bytes).unwrap(), recording);
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.starts_with("umscope recording 1 #"), "{text}");
    let order: Vec<_> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(order[order.len() - 5..], ["input", "mark", "input", "mark", "end"]);
}

#[test]
fn a_file_cut_off_at_any_byte_is_good_up_to_there() {
    let whole = recording();
    let bytes = whole.bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let begins = text.find("\nbegin #").unwrap() + 1;
    let begun = begins + text[begins..].find('\n').unwrap();
    for cut in 0..bytes.len() {
        let read = parse("r", &bytes[..cut]);
        if cut < begun {
            let error = read.unwrap_err().to_string();
            assert!(error.contains("cut off") || error.contains("no recording"), "{cut}: {error}");
        } else {
            let part = read.unwrap_or_else(|error| panic!("{cut}: {error}"));
            assert_eq!(part.origin, whole.origin);
            assert_eq!(part.marks, whole.marks[..part.marks.len()], "{cut}");
            assert_eq!(part.inputs, whole.inputs[..part.inputs.len()], "{cut}");
            // Whoever has all of a line but its end has the line.
            let is_whole = cut == bytes.len() - 1;
            assert_eq!(part.end, whole.end.clone().filter(|_| is_whole), "{cut}");
            if bytes[cut] == b'\n' {
                assert_eq!(parse("r", &bytes[..=cut]).unwrap(), part, "{cut}");
            }
        }
    }
}

#[test]
fn a_changed_byte_is_told_with_its_line() {
    let bytes = recording().bytes();
    let mut line = 1;
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        if bytes[at] == b'\n' {
            line += 1;
            continue;
        }
        // Of the last line no more is known than that it is no line.
        let error = parse("r", &changed).unwrap_err();
        assert_eq!(error.position().unwrap().0, line, "byte {at}: {error}");
    }
}

/// The file with these lines, each with its check.
fn lines(lines: &[&str]) -> Vec<u8> {
    let mut check = line::Check::START;
    let mut all = String::new();
    for text in lines {
        let (line, after) = line::sealed(text, check);
        all.push_str(&line);
        check = after;
    }
    all.into_bytes()
}

#[test]
fn what_makes_no_sense_is_refused_with_its_line() {
    let begun = ["umscope recording 1", "name x", "scenario", "text 1 x", "|", "begin"];
    assert!(parse("r", &lines(&begun)).is_ok());
    for (more, wanted) in [
        (&["inptu 1 set x"][..], "r:7:1: unknown line \"inptu\""),
        (&["input 1 sett x=1"], "did you mean set?"),
        (&["input x set x=1"], "\"x\" is not a number"),
        (&["mark 5 5 0000000000000001", "mark 4 5 0000000000000001"], "r:8:1: event 4 follows event 5"),
        (&["mark 5 5 xyz"], "\"xyz\" is no digest"),
        (&["end 5 5 0000000000000001 finishd"], "did you mean finished?"),
        (&["end 5 5 1 finished", "mark 6 5 1"], "r:8:1: there is something after the end"),
    ] {
        let text: Vec<_> = begun.iter().chain(more).copied().collect();
        let error = parse("r", &lines(&text)).unwrap_err().to_string();
        assert!(error.contains(wanted), "{more:?}: {error}");
    }
    let error = parse("r", &lines(&["umscope recording 2"])).unwrap_err().to_string();
    assert!(error.contains("format 2, from a later version") && error.contains("up to 1"), "{error}");
    for wrong in [&b""[..], b"title = 1\n", b"\xff\n", b"umscope recording 1\n"] {
        assert!(parse("r", wrong).is_err());
    }
}

#[test]
fn only_a_recording_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    recording().write(&path).unwrap();
    recording().write(&path).unwrap();
    assert_eq!(read(&path).unwrap(), recording());
    let other = folder.path().join("mine.toml");
    std::fs::write(&other, "title = 1").unwrap();
    let error = recording().write(&other).unwrap_err().to_string();
    assert!(error.contains("is no recording"), "{error}");
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "title = 1");
    assert!(recording().write(folder.path()).is_err());
    assert!(read(&folder.path().join("none")).unwrap_err().message.contains("no such file"));
    assert!(read(&other).unwrap_err().message.contains("no recording"));
}
