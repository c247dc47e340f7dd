//! Towards High Performance Paged Memory for GPUs (2016): workloads of Rodinia, Parboil and the DOE.
//!
//! The paper names them in its figures, and says of their footprints that they lie between 2.6 MB and 144 MB, 43 MB on average
//! (section 3.1); which has which is not told, and chosen here.

use super::Workload;

pub const PAGED: &[Workload] = &[
    Workload::of("backprop", "backprop", &[("size", "262144")]),
    Workload::of("bfs", "bfs", &[("size", "1000000")]),
    Workload::of("btree", "btree", &[]),
    Workload::of("comd", "comd", &[("edge", "20")]),
    Workload::of("gaussian", "gaussian", &[("size", "576")]),
    Workload::of("histogram", "histogram-256", &[("size", "12000000")]),
    Workload::of("hotspot", "hotspot", &[("size", "1024")]),
    Workload::of("kmeans", "kmeans", &[]),
    Workload::of("minife", "minife", &[("edge", "64")]),
    Workload::of("nw", "needleman-wunsch", &[]),
    Workload::of("pathfinder", "pathfinder", &[]),
    Workload::of("sgemm", "sgemm", &[]),
    Workload::of("srad", "srad-v2", &[("size", "1024")]),
    Workload::of("stencil", "stencil", &[("z", "48")]),
    Workload::of("xsbench", "xsbench", &[("points", "2000")]),
];
