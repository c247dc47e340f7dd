//! `ScaleGPU` (2014), Table 2.

use super::Workload;

pub const SCALE_GPU: &[Workload] = &[
    Workload::of("vectorAdd", "vector-add", &[("size", "4000000")]).megabytes(48),
    Workload::of("histogram", "histogram-256", &[("size", "12000000")]).megabytes(48),
    Workload::of("hotspot", "hotspot", &[("size", "2000")]).megabytes(48),
    Workload::of("Shortest Path", "sssp", &[("size", "700000"), ("driven", "topology")]).megabytes(41),
    Workload::of("Bank Account", "bank-account", &[("size", "11380000")]).megabytes(47),
];
