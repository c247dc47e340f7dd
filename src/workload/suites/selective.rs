//! Selective GPU Caches to Eliminate CPU-GPU HW Cache Coherence (2016), Tables 1 to 3: workloads of Rodinia and the DOE.
//!
//! The paper tells no sizes: they are chosen here, all beyond its caches. It simulates launches, one after the other, and nothing of
//! the host: no launch takes time of its own, and what a host does between them is left out.

use super::Workload;

pub const SELECTIVE: &[Workload] = &[
    Workload::of("backprop", "backprop", &[("size", "262144"), ("sync", "none"), ("launch", "0")]),
    Workload::of("bfs", "bfs", &[("size", "1000000"), ("sync", "none"), ("launch", "0")]),
    Workload::of("btree", "btree", &[("launch", "0")]),
    Workload::of("cns", "cns", &[("launch", "0")]),
    Workload::of("comd", "comd", &[("edge", "20"), ("iterations", "2"), ("launch", "0")]),
    Workload::of("kmeans", "kmeans", &[("size", "100000"), ("sync", "none"), ("launch", "0")]),
    Workload::of("minife", "minife", &[("iterations", "10"), ("sync", "none"), ("launch", "0")]),
    Workload::of("mummer", "mummer", &[("launch", "0")]),
    Workload::of("needle", "needleman-wunsch", &[("launch", "0")]),
    Workload::of("pathfinder", "pathfinder", &[("launch", "0")]),
    Workload::of("srad_v1", "srad-v1", &[("sync", "none"), ("launch", "0")]),
    Workload::of("xsbench", "xsbench", &[("points", "2000"), ("launch", "0")]),
];
