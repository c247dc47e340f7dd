//! Beyond the Socket: NUMA-Aware GPUs (2017), Table 2: those whose access maps are known, or that a stand-in is made for.
//!
//! Left out are `MiniContact`, MCB, NAMD, `RabbitCT`, CoMD-Wa, DMR, Optix and Bitcoin.

use super::Workload;

const GRAIN: &str = "blocks: the source's own, or the tiles of the product, are more";

pub const NUMA: &[Workload] = &[
    Workload::of(
        "ML-GoogLeNet-cudnn-Lev2",
        "convolution-layer",
        &[
            ("batch", "128"),
            ("channels", "64"),
            ("edge", "56"),
            ("filters", "192"),
            ("window", "3"),
            ("padding", "1"),
        ],
    )
    .row(6272, 1205)
    .but(GRAIN),
    Workload::of("ML-AlexNet-cudnn-Lev2", "convolution-layer", &[("batch", "104")]).row(1250, 832).but(GRAIN),
    Workload::of(
        "ML-OverFeat-cudnn-Lev3",
        "convolution-layer",
        &[
            ("batch", "216"),
            ("channels", "256"),
            ("edge", "12"),
            ("filters", "512"),
            ("window", "3"),
            ("padding", "1"),
        ],
    )
    .row(1800, 388)
    .but(GRAIN),
    Workload::of(
        "ML-AlexNet-cudnn-Lev4",
        "convolution-layer",
        &[
            ("batch", "64"),
            ("channels", "384"),
            ("edge", "13"),
            ("filters", "384"),
            ("window", "3"),
            ("padding", "1"),
            ("windows", "gathered"),
        ],
    )
    .row(1014, 32)
    .but("footprint: 38.5 MB, of which 5.3 MB are weights; with filters in two groups it would be 35.9 MB"),
    Workload::of(
        "ML-AlexNet-ConvNet2",
        "convolution-layer",
        &[("batch", "128"), ("channels", "64"), ("filters", "192"), ("windows", "gathered")],
    )
    .row(6075, 97)
    .but("blocks: cuda-convnet2 has tiles of its own"),
    Workload::of("Rodinia-Backprop", "backprop", &[("size", "1048576")])
        .row(4096, 160)
        .but("blocks: a block for each 16 inputs, as the source has them, makes 65,536 for this footprint"),
    Workload::of("Rodinia-Euler3D", "euler3d", &[]).row(1008, 25),
    Workload::of("Rodinia-BFS", "bfs", &[("size", "1000000")]).row(1954, 38),
    Workload::of("Rodinia-Gaussian", "gaussian", &[("size", "3120"), ("edge", "32")])
        .row(2599, 78)
        .but("blocks: all of a launch, most of which have nothing to do in the later ones"),
    Workload::of("Rodinia-Hotspot", "hotspot", &[("size", "2408"), ("edge", "32")]).row(7396, 64),
    Workload::of("Rodinia-Kmeans", "kmeans", &[("size", "819200")]).row(3249, 221),
    Workload::of("Rodinia-Pathfinder", "pathfinder", &[("columns", "1000000"), ("rows", "393")])
        .row(4630, 1570),
    Workload::of("Rodinia-Srad", "srad-v2", &[]).row(16_384, 98),
    Workload::of("HPC-SNAP", "snap", &[("x", "24"), ("y", "24"), ("z", "24"), ("groups", "13")])
        .row(200, 744)
        .but("blocks: the largest diagonal has 432, the mean of all is 197"),
    Workload::of(
        "HPC-Nekbone-Large",
        "nekbone",
        &[("x", "31"), ("y", "18"), ("z", "10"), ("workgroup", "729")],
    )
    .row(5583, 294),
    Workload::of("HPC-MiniAMR", "mini-amr", &[("x", "30"), ("y", "30"), ("z", "28"), ("cells", "4")])
        .row(76_033, 2752)
        .but("blocks: only those that the sphere needs, in room for all"),
    Workload::of(
        "HPC-Lulesh-Unstruct-Mesh1",
        "lulesh",
        &[("edge", "38"), ("mesh", "unstructured"), ("element", "4"), ("workgroup", "128")],
    )
    .row(435, 19),
    Workload::of(
        "HPC-Lulesh-Unstruct-Mesh2",
        "lulesh",
        &[("edge", "86"), ("mesh", "unstructured"), ("element", "4"), ("workgroup", "128")],
    )
    .row(4940, 208),
    Workload::of("HPC-AMG", "algebraic-multigrid", &[("edge", "288")])
        .row(241_549, 3744)
        .but("blocks: a thread for each row makes 186,624 for this footprint"),
    Workload::of("HPC-RSBench", "rsbench", &[("lookups", "2000000")]).row(7813, 19),
    Workload::of("HPC-Lulesh", "lulesh", &[("edge", "116"), ("element", "4"), ("workgroup", "128")])
        .row(12_202, 578)
        .but("footprint: the arrays of four of its kernels"),
    Workload::of("HPC-CoMD", "comd", &[("edge", "66"), ("workgroup", "1024")]).row(3588, 319),
    Workload::of("HPC-CoMD-Ta", "comd", &[("edge", "70"), ("workgroup", "512")])
        .row(5724, 393)
        .but("blocks: a power of two of threads in each"),
    Workload::of("HPC-HPGMG-UVM", "multigrid", &[("edge", "288"), ("host_below", "40")]).row(10_436, 1975),
    Workload::of("HPC-HPGMG", "multigrid", &[("edge", "272")]).row(10_506, 1571),
    Workload::of(
        "Lonestar-SP",
        "survey-propagation",
        &[("clauses", "210000"), ("literals", "50000"), ("workgroup", "1024")],
    )
    .row(75, 8)
    .but("blocks: Lonestar launches as many as fit on the GPU, which go through all items"),
    Workload::of(
        "Lonestar-MST-Graph",
        "minimum-spanning-tree",
        &[("size", "1260000"), ("workgroup", "1024")],
    )
    .row(770, 86)
    .but("blocks: of the first round; they become fewer"),
    Workload::of(
        "Lonestar-MST-Mesh",
        "minimum-spanning-tree",
        &[("size", "1440000"), ("graph", "grid"), ("workgroup", "1024")],
    )
    .row(895, 75)
    .but("blocks: of the first round; they become fewer"),
    Workload::of("Lonestar-SSSP-Wln", "sssp", &[("size", "328000")])
        .row(60, 21)
        .but("blocks: Lonestar launches as many as fit on the GPU, which go through all items"),
    Workload::of("Lonestar-SSSP-Wlc", "sssp", &[("size", "328000"), ("workgroup", "1024")])
        .row(163, 21)
        .but("blocks: of the largest list"),
    Workload::of(
        "Lonestar-SSSP",
        "sssp",
        &[("size", "590000"), ("driven", "topology"), ("workgroup", "512")],
    )
    .row(1046, 38),
    Workload::of("Other-Stream-Triad", "stream-triad", &[("size", "134217728")]).row(699_051, 3146),
];
