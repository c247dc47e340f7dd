//! `ScaleGPU` (2014), Table 2.

use super::Workload;

pub const SCALE_GPU: &[Workload] = &[
    Workload::of("vectorAdd", "vector-add", &[("size", "4000000")]).megabytes(48),
    Workload::of("histogram", "histogram-256", &[("size", "12000000")]).megabytes(48),
    Workload::of("hotspot", "hotspot", &[("size", "2000")]).megabytes(48),
    // Rounds that touch "only a small portion of the large memory space" (section 4.1): 2,329 vertices are worked on.
    Workload::of("Shortest Path", "sssp", &[("size", "700000"), ("driven", "topology"), ("rounds", "5")])
        .megabytes(41),
    Workload::of("Bank Account", "bank-account", &[("size", "11380000")]).megabytes(47),
];
