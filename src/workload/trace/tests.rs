//! Traces in folders.

use std::fs;

use super::testing::silent;
use super::*;
use crate::workload::TaskKind;

const KERNEL: &str = "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-accelsim tracer version = 3\n\n\
    #traces format = x\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n\
    0000 0000000f 0 STG.E 2 R4 R9 4 1 0x1000 4\n#END_TB\n";

fn folder(list: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(accelsim::LIST), list).unwrap();
    fs::write(folder.path().join("kernel-1.traceg"), KERNEL).unwrap();
    folder
}

#[test]
fn a_list_becomes_tasks_in_program_order() {
    let folder = folder(
        "MemcpyHtoD,0x8000,4096\nkernel-1.traceg\nMemcpyHtoD,0x9000,16\nMemcpyDtoH,x\nkernel-1.traceg\n",
    );
    for path in [folder.path().to_owned(), folder.path().join(accelsim::LIST)] {
        assert_eq!(detect(&path), Some(Format::AccelSim));
        let trace = read(&path, None, silent()).unwrap();
        let ids: Vec<_> = trace.workload.tasks.iter().map(|task| (&*task.id, task.after.clone())).collect();
        assert_eq!(ids, [("kernel-1", vec![]), ("copy", vec![0]), ("kernel-1#3", vec![1])]);
        assert_eq!((trace.counts.lane_stores, trace.counts.lane_loads), (8, 0));
        assert_eq!(trace.copied, [Range::new(crate::model::address::Address(0x8000), 4112)]);
        let footprints: Vec<_> = trace
            .workload
            .tasks
            .iter()
            .map(|task| match &task.what {
                TaskKind::Kernel(kernel) => kernel.footprint(),
                other => other.footprint(),
            })
            .map(|ranges| ranges.iter().map(|it| (it.start.0, it.len)).collect::<Vec<_>>())
            .collect();
        assert_eq!(
            footprints,
            [vec![(0x1000, 16), (0x8000, 4096)], vec![(0x9000, 16)], vec![(0x1000, 16), (0x9000, 16)]]
        );
    }
}

#[test]
fn a_single_kernel_is_a_trace() {
    let folder = folder("");
    let path = folder.path().join("kernel-1.traceg");
    assert_eq!(detect(&path), Some(Format::AccelSim));
    assert_eq!(read(&path, None, silent()).unwrap().workload.tasks.len(), 1);
    let renamed = folder.path().join("anything");
    fs::rename(&path, &renamed).unwrap();
    assert_eq!(detect(&renamed), Some(Format::AccelSim));
}

#[test]
fn what_a_list_lacks_is_pointed_at() {
    for file in ["kernel-2.traceg", "kernel-2.traceg.xz", "kernel-1.trace"] {
        let folder = folder(&format!("kernel-1.traceg\n{file}\n"));
        let error = read(folder.path(), None, silent()).unwrap_err();
        assert_eq!(error.position(), Some((2, 1)), "{file}");
        assert!(error.message.contains(file), "{file}");
    }
}

#[test]
fn a_list_may_name_a_file_that_was_packed_or_unpacked_since() {
    let folder = folder("kernel-1.traceg.xz\n");
    assert_eq!(read(folder.path(), None, silent()).unwrap().workload.tasks[0].id.as_ref(), "kernel-1");
}

#[test]
fn other_paths_are_no_traces() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.toml");
    fs::write(&file, "title = 'x'").unwrap();
    for path in [folder.path(), &file, Path::new("/dev/null"), &folder.path().join("none")] {
        assert_eq!(detect(path), None);
        assert!(read(path, None, silent()).is_err());
        for format in Format::ALL {
            assert!(read(path, Some(format), silent()).is_err(), "{path:?} {format:?}");
        }
    }
    fs::write(&file, b"\x1f\x8b\x08rest").unwrap();
    assert!(
        read(&file, Some(Format::AccelSim), silent()).unwrap_err().message.contains("compressed with gzip")
    );
}

#[test]
fn what_is_nearly_a_trace_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let whole = fs::read("tests/data/accel-sim-xz/kernel-1.traceg.xz").unwrap();
    for (bytes, place, message) in [
        (&b"0 L ffffffffffffffff\n"[..], Some((1, 5)), "expected an address"),
        (b"0 L\n", Some((1, 4)), ""),
        (b"0 0xzz\n", Some((1, 3)), ""),
        (b"\x1f\x8b\x08rest", None, "compressed with gzip"),
        (&whole[..20], Some((1, 1)), "ends or breaks at byte "),
        (b"some words\n", Some((1, 1)), "no trace that is known here"),
        (b"\x01\x02\n", None, "no trace that is known here"),
        (b"", None, "this file is empty"),
    ] {
        fs::write(&path, bytes).unwrap();
        let error = read(&path, None, silent()).unwrap_err();
        assert_eq!(error.position(), place, "{error:?}");
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn a_core_may_have_nothing_to_do() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("foo_0.data"), "").unwrap();
    fs::write(folder.path().join("foo_1.data"), "0 0x1000\n").unwrap();
    assert_eq!(detect(folder.path()), Some(Format::Parsec));
}

#[test]
fn a_format_has_a_name() {
    for format in Format::ALL {
        assert_eq!(Format::parse(format.name()).unwrap(), format);
    }
    let wrong = Format::parse("accelsim").unwrap_err();
    assert_eq!(wrong.suggestion.as_deref(), Some("did you mean accel-sim?"));
    assert!(wrong.expected.unwrap().contains("nvbit, snoopie, parsec, cores"));
}

/// A small trace of each format and a name for its file.
fn examples() -> [(Format, &'static str, &'static [u8]); 6] {
    [
        (Format::AccelSim, "kernel-1.traceg", KERNEL.as_bytes()),
        (Format::Nvbit, "mem.txt", include_bytes!("../../../tests/data/traces/mem_trace.txt")),
        (
            Format::Snoopie,
            "snoopie_log_1.csv",
            include_bytes!("../../../tests/data/traces/snoopie_log_1.csv"),
        ),
        (Format::Parsec, "tiny_0.data", include_bytes!("../../../tests/data/traces/parsec/tiny_0.data")),
        (Format::UvmFaults, "faults", b"4,7,100,-;f,1000,16,0,1,2,1,0,0,0,127,1,0,1,63\n"),
        (Format::Cores, "cores.txt", include_bytes!("../../../tests/data/traces/cores_rw.txt")),
    ]
}

#[test]
fn every_format_is_told_from_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("anything");
    for (format, name, text) in examples() {
        fs::write(&path, text).unwrap();
        assert_eq!(detect(&path), Some(format), "{name}");
        assert_eq!(read(&path, None, silent()).unwrap().format, format, "{name}");
    }
}

#[test]
fn what_is_no_text_is_refused_with_its_place() {
    for (format, name, text) in examples() {
        let mut bytes = text.to_vec();
        let lines = std::str::from_utf8(text).unwrap().lines().count();
        bytes.extend([b'\n', 0xff, 0xfe]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let error = read(&path, Some(format), silent()).unwrap_err();
        assert_eq!(error.position(), Some((lines + 2, 1)), "{name}: {error:?}");
    }
}

#[test]
fn a_packed_trace_that_is_cut_off_or_damaged_is_refused() {
    let whole = fs::read("tests/data/accel-sim-xz/kernel-1.traceg.xz").unwrap();
    let mut damaged = whole.clone();
    damaged[200] ^= 0x10;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel-1.traceg.xz");
    for bytes in [&whole[..whole.len() / 2], &whole[..20], &damaged] {
        fs::write(&path, bytes).unwrap();
        let error = read(&path, None, silent()).unwrap_err();
        assert!(error.message.contains("ends or breaks at byte ") && error.position().is_some(), "{error:?}");
        assert_eq!(error.expected.as_deref(), Some("a whole xz or zstd file"));
    }
    fs::write(&path, &whole).unwrap();
    assert!(read(&path, None, silent()).is_ok());
}

mod fuzz {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Each trace with a piece replaced by another: whatever opens can be read to its end.
        #[test]
        fn no_change_panics(at in 0usize..3000, gone in 0usize..20, new in "[-0-9a-fx ,:=rwLSTG.E\n]{0,12}") {
            for (format, name, text) in examples() {
                let mut bytes = text.to_vec();
                let at = at % bytes.len();
                let end = (at + gone).min(bytes.len());
                bytes.splice(at..end, new.bytes());
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join(name);
                fs::write(&path, bytes).unwrap();
                let Ok(trace) = read(&path, Some(format), silent()) else { continue };
                for task in trace.workload.tasks {
                    let TaskKind::Kernel(kernel) = task.what else { continue };
                    for block in 0..kernel.blocks().min(4) {
                        while_there(|nth| kernel.operation(block, 0, nth));
                    }
                    prop_assert!(kernel.complaint().is_none());
                }
            }
        }
    }

    fn while_there(operation: impl Fn(u64) -> Option<crate::model::operation::Operation>) {
        for _ in (0..).map_while(operation) {}
    }
}
