//! Writes over PCIe to the host, and what they wait for.

use serde_json::Value;

use super::{call, document};

#[test]
fn writes_over_pcie_are_posted_by_those_that_no_directory_tracks() {
    for machine in ["scalegpu", "scalegpu-zerocopy"] {
        let work = ["run", "workloads/scalegpu/vectoradd", "--scale", "256", "--format", "json"];
        let run = document(&[&work[..], &["--machine", machine]].concat());
        let count = |key: &str| run["stats"][key].as_u64();
        assert!(count("link.host.in.data_bytes") > Some(0), "{machine}");
        assert_eq!(count("link.host.out.coherence_bytes"), Some(0), "{machine}");
    }
    let atomics = ["run", "workloads/scalegpu/histogram", "--scale", "256", "--format", "json"];
    let run = document(&[&atomics[..], &["--machine", "scalegpu-zerocopy"]].concat());
    assert!(run["passed"] == Value::Bool(true), "{run}");
}

#[test]
fn a_relayed_write_is_acknowledged_once_its_tag_has_been_read() {
    let cycle = |query: &str| {
        let told = call(&["log", "scalegpu/relay", "--where", query]).stdout;
        let first = told.lines().next().unwrap_or_default().to_owned();
        first.split_ascii_whitespace().nth(1).and_then(|cycle| cycle.parse::<u64>().ok()).expect("a cycle")
    };
    let relayed = cycle("tag outcome relay");
    let acknowledged = cycle(&format!("message type evict-ack from gpu0.memory.0 cycle >= {relayed}"));
    let handed_on = cycle(&format!("message type forward from gpu0.memory.0 cycle >= {relayed}"));
    assert!(relayed < acknowledged && acknowledged == handed_on, "{relayed} {acknowledged} {handed_on}");
}
