//! UMH, Table I: kernels of the AMD APP SDK, with the table's sizes as their defaults.

use super::Workload;

pub const UMH: &[Workload] = &[
    Workload::of("BSch", "black-scholes", &[]),
    Workload::of("DCT", "dct", &[]),
    Workload::of("DH", "haar-wavelet", &[]),
    Workload::of("FW", "floyd-warshall", &[]),
    Workload::of("FWT", "fast-walsh-transform", &[]),
    Workload::of("Hist", "histogram", &[]),
    Workload::of("MM", "matrix-multiplication", &[]),
    Workload::of("MT", "transpose", &[]),
    Workload::of("MTw", "mersenne-twister", &[]),
    Workload::of("RD", "reduction", &[]),
    Workload::of("RS", "radix-sort", &[]),
    // "512 workgroups are required to perform the convolution on a strip" of 512 x 16 (section 6.1.3).
    Workload::of("SC", "simple-convolution", &[("workgroup", "16")])
        .but("workgroups of 16 threads, as the 512 to a strip that section 6.1.3 counts, where the table and SDK have 256"),
    Workload::of("SF", "sobel-filter", &[]),
    Workload::of("SLA", "scan-large-arrays", &[]),
];
