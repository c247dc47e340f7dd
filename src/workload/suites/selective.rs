//! Selective GPU Caches to Eliminate CPU-GPU HW Cache Coherence (2016), Tables 1 to 3: workloads of Rodinia and the DOE.
//!
//! The paper tells no sizes: they are chosen here, all beyond its caches.

use super::Workload;

pub const SELECTIVE: &[Workload] = &[
    Workload::of("backprop", "backprop", &[("size", "262144")]),
    Workload::of("bfs", "bfs", &[("size", "1000000")]),
    Workload::of("btree", "btree", &[]),
    Workload::of("cns", "cns", &[]),
    Workload::of("comd", "comd", &[("edge", "20")]),
    Workload::of("kmeans", "kmeans", &[("size", "100000")]),
    Workload::of("minife", "minife", &[]),
    Workload::of("mummer", "mummer", &[]),
    Workload::of("needle", "needleman-wunsch", &[]),
    Workload::of("pathfinder", "pathfinder", &[]),
    Workload::of("srad_v1", "srad-v1", &[]),
    Workload::of("xsbench", "xsbench", &[("points", "2000")]),
];
