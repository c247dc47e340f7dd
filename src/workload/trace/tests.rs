//! Traces in folders.

use std::fs;

use super::*;

const KERNEL: &str = "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-accelsim tracer version = 3\n\n\
    #traces format = x\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n\
    0000 0000000f 0 STG.E 2 R4 R9 4 1 0x1000 4\n#END_TB\n";

fn folder(list: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(LIST), list).unwrap();
    fs::write(folder.path().join("kernel-1.traceg"), KERNEL).unwrap();
    folder
}

#[test]
fn a_list_becomes_tasks_in_program_order() {
    let folder = folder(
        "MemcpyHtoD,0x8000,4096\nkernel-1.traceg\nMemcpyHtoD,0x9000,16\nMemcpyDtoH,x\nkernel-1.traceg\n",
    );
    for path in [folder.path().to_owned(), folder.path().join(LIST)] {
        assert_eq!(detect(&path), Some(Format::AccelSim));
        let trace = read(&path, None).unwrap();
        let ids: Vec<_> = trace.workload.tasks.iter().map(|task| (&*task.id, task.after.clone())).collect();
        assert_eq!(ids, [("kernel-1", vec![]), ("kernel-1#2", vec![0])]);
        assert_eq!((trace.counts.lane_stores, trace.counts.lane_loads), (8, 0));
        assert_eq!(trace.copied, [Range::new(crate::model::address::Address(0x8000), 4112)]);
        let footprints: Vec<_> = trace
            .workload
            .tasks
            .iter()
            .map(|task| match &task.what {
                TaskKind::Kernel(kernel) => {
                    kernel.footprint().iter().map(|it| (it.start.0, it.len)).collect()
                }
                _ => Vec::new(),
            })
            .collect();
        assert_eq!(footprints, [[(0x1000, 16), (0x8000, 4096)], [(0x1000, 16), (0x9000, 16)]]);
    }
}

#[test]
fn a_single_kernel_is_a_trace() {
    let folder = folder("");
    let path = folder.path().join("kernel-1.traceg");
    assert_eq!(detect(&path), Some(Format::AccelSim));
    assert_eq!(open(&path, None).unwrap().tasks.len(), 1);
    let renamed = folder.path().join("anything");
    fs::rename(&path, &renamed).unwrap();
    assert_eq!(detect(&renamed), Some(Format::AccelSim));
}

#[test]
fn what_a_list_lacks_is_pointed_at() {
    for file in ["kernel-2.traceg", "kernel-1.traceg.xz", "kernel-1.trace"] {
        let folder = folder(&format!("kernel-1.traceg\n{file}\n"));
        let error = read(folder.path(), None).unwrap_err();
        assert_eq!(error.position(), Some((2, 1)), "{file}");
        assert!(error.message.contains(file), "{file}");
    }
}

#[test]
fn other_paths_are_no_traces() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.toml");
    fs::write(&file, "title = 'x'").unwrap();
    for path in [folder.path(), &file, Path::new("/dev/null"), &folder.path().join("none")] {
        assert_eq!(detect(path), None);
        assert!(open(path, None).is_err());
        assert!(open(path, Some(Format::AccelSim)).is_err());
    }
    fs::write(&file, b"\xFD7zXZ\0rest").unwrap();
    assert!(open(&file, Some(Format::AccelSim)).unwrap_err().message.contains("compressed"));
}

#[test]
fn a_format_has_a_name() {
    assert_eq!(Format::parse("accel-sim").unwrap(), Format::AccelSim);
    let wrong = Format::parse("accelsim").unwrap_err();
    assert_eq!(wrong.suggestion.as_deref(), Some("did you mean accel-sim?"));
}
