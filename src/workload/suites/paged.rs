//! Towards High Performance Paged Memory for GPUs (2016): workloads of Rodinia, Parboil and the DOE.
//!
//! The paper names them in its figures, and says of their footprints that they lie between 2.6 MB and 144 MB, 43 MB on average
//! (section 3.1); which has which is not told, and chosen here. It simulates a GPU: what the host does between launches is left out,
//! so that no page comes back before the end ("all pages initially reside in CPU memory at the beginning of kernel execution").

use super::Workload;

pub const PAGED: &[Workload] = &[
    Workload::of("backprop", "backprop", &[("size", "262144"), ("sync", "none")]),
    Workload::of("bfs", "bfs", &[("size", "1000000"), ("sync", "none")]),
    Workload::of("btree", "btree", &[]),
    Workload::of("comd", "comd", &[("edge", "20")]),
    Workload::of("gaussian", "gaussian", &[("size", "576")]),
    Workload::of("histogram", "histogram-256", &[("size", "12000000")]),
    // Section 5 has it among those that exceed 32 MB.
    Workload::of("hotspot", "hotspot", &[("size", "2048")]),
    Workload::of("kmeans", "kmeans", &[("sync", "none")]),
    Workload::of("minife", "minife", &[("edge", "64"), ("sync", "none")])
        .but("iterations: two, each over the whole matrix"),
    Workload::of("nw", "needleman-wunsch", &[]),
    Workload::of("pathfinder", "pathfinder", &[]),
    Workload::of("sad", "sad", &[])
        .but("a texture that lies in memory row by row, without a cache of its own"),
    Workload::of("sgemm", "sgemm", &[]),
    Workload::of("srad", "srad-v2", &[("size", "1024"), ("sync", "none")]),
    Workload::of("stencil", "stencil", &[("z", "48")]).but("iterations: two of the hundred of its source"),
    Workload::of("xsbench", "xsbench", &[("points", "2000")]),
];
