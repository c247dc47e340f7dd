//! Selective GPU Caches to Eliminate CPU-GPU HW Cache Coherence (2016), Tables 1 to 3: workloads of Rodinia and the DOE.
//!
//! The paper tells no sizes: they are chosen here, all beyond its caches. It simulates launches, one after the other, and nothing of
//! the host: no launch takes time of its own, and what a host does between them is left out.

use super::Workload;

pub const SELECTIVE: &[Workload] = &[
    Workload::of("backprop", "backprop", &[("size", "262144"), ("sync", "none"), ("launch", "0")])
        .rates([62.4, 70.0, 54.2, 60.0, 85.9]),
    Workload::of("bfs", "bfs", &[("size", "1000000"), ("sync", "none"), ("launch", "0")])
        .rates([19.6, 58.6, 15.8, 17.6, 37.4]),
    Workload::of("btree", "btree", &[("launch", "0")]).rates([81.8, 61.8, 69.4, 82.4, 78.7]),
    Workload::of("cns", "cns", &[("launch", "0")])
        .rates([47.0, 55.2, 24.8, 28.1, 77.6])
        .but("a stand-in: no source, but a solver of eighth order"),
    Workload::of("comd", "comd", &[("edge", "20"), ("iterations", "2"), ("launch", "0")])
        .rates([62.5, 97.1, 45.7, 53.8, 32.6]),
    Workload::of("kmeans", "kmeans", &[("size", "100000"), ("sync", "none"), ("launch", "0")])
        .rates([5.6, 29.5, 0.0, 0.0, 25.0])
        .but("loads: the source fetches the features as textures, which L1s do not see"),
    Workload::of("minife", "minife", &[("iterations", "10"), ("sync", "none"), ("launch", "0")])
        .rates([46.7, 20.4, 29.0, 32.6, 91.6]),
    Workload::of("mummer", "mummer", &[("launch", "0")])
        .rates([60.0, 30.0, 41.9, 51.1, 46.0])
        .but("a stand-in: the walk of MUMmerGPU, in a tree of a random genome"),
    Workload::of("needle", "needleman-wunsch", &[("launch", "0")]).rates([7.0, 55.7, 0.1, 1.8, 39.3]),
    Workload::of("pathfinder", "pathfinder", &[("launch", "0")]).rates([42.4, 23.0, 41.4, 45.8, 86.6]),
    Workload::of("srad_v1", "srad-v1", &[("sync", "none"), ("launch", "0")])
        .rates([46.9, 25.9, 30.8, 34.2, 96.3]),
    Workload::of("xsbench", "xsbench", &[("points", "2000"), ("launch", "0")])
        .rates([30.7, 63.0, 15.6, 18.0, 30.3]),
];
