//! Every kernel runs to its end on a small machine, and does there exactly what its map says.

// The helpers of tests may unwrap as tests do.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use umscope::diagnostic::{Result, Source};
use umscope::model::operation::Operation;
use umscope::parts::coalescer::coalesce;
use umscope::scenario::{Options, Prepared, Scenario};
use umscope::workload::TaskKind;
use umscope::workload::kernels::{self, KERNELS, Parameters, Value};

/// Each kernel as small as it fits on a machine of four compute units of four wavefronts.
const SMALL: &[(&str, &[(&str, i64)])] = &[
    ("vector-add", &[("size", 100), ("workgroup", 16)]),
    ("black-scholes", &[("size", 256), ("workgroup", 16)]),
    ("dct", &[("width", 16), ("height", 8), ("edge", 4)]),
    ("haar-wavelet", &[("size", 64), ("workgroup", 4)]),
    ("floyd-warshall", &[("nodes", 8), ("shorter", 30), ("workgroup", 16)]),
    ("fast-walsh-transform", &[("size", 64), ("workgroup", 8)]),
    ("histogram", &[("width", 16), ("height", 16), ("bins", 16), ("workgroup", 4)]),
    ("matrix-multiplication", &[("rows", 16), ("inner", 16), ("columns", 16), ("edge", 2)]),
    ("transpose", &[("width", 16), ("height", 12), ("edge", 4)]),
    ("mersenne-twister", &[("size", 32), ("factor", 3), ("workgroup", 8)]),
    ("reduction", &[("size", 256), ("workgroup", 8)]),
    ("radix-sort", &[("size", 128), ("radices", 8), ("digits", 2), ("workgroup", 8)]),
    ("simple-convolution", &[("width", 16), ("height", 8), ("mask_edge", 4), ("workgroup", 8)]),
    ("sobel-filter", &[("width", 16), ("height", 5), ("workgroup", 8), ("iterations", 2)]),
    ("scan-large-arrays", &[("size", 128), ("block", 8)]),
    ("backprop", &[("size", 16), ("hidden", 4)]),
    ("bfs", &[("size", 40), ("degree", 2), ("workgroup", 16)]),
    ("hotspot", &[("size", 6), ("edge", 4), ("pyramid", 1)]),
    ("kmeans", &[("size", 40), ("features", 3), ("clusters", 2), ("workgroup", 16)]),
    ("needleman-wunsch", &[("size", 12), ("edge", 4)]),
    ("pathfinder", &[("columns", 40), ("rows", 6), ("pyramid", 3), ("workgroup", 16)]),
    ("srad-v1", &[("rows", 6), ("columns", 7), ("iterations", 1), ("workgroup", 16)]),
    ("srad-v2", &[("size", 8), ("region", 2), ("edge", 4)]),
    ("stencil", &[("x", 6), ("y", 5), ("z", 4)]),
    ("sgemm", &[("rows", 10), ("columns", 6), ("inner", 5), ("edge", 4)]),
    ("sad", &[("width", 1), ("height", 2), ("range", 2), ("each", 6), ("line", 4)]),
    ("gaussian", &[("size", 6), ("edge", 4), ("workgroup", 16)]),
    ("btree", &[("size", 50), ("queries", 6), ("order", 4)]),
    ("xsbench", &[("isotopes", 10), ("points", 8), ("lookups", 20), ("workgroup", 8)]),
    ("comd", &[("edge", 2), ("atoms", 3), ("workgroup", 8)]),
    ("minife", &[("edge", 2), ("iterations", 1), ("workgroup", 8)]),
    ("histogram-256", &[("size", 100), ("groups", 5), ("workgroup", 6), ("bins", 8), ("merge", 4)]),
    ("lbm", &[("x", 4), ("y", 3), ("z", 2)]),
    ("lulesh", &[("edge", 3), ("workgroup", 16)]),
    ("multigrid", &[("edge", 8), ("host_below", 5), ("across", 4), ("down", 2)]),
    ("rsbench", &[("poles", 20), ("windows", 4), ("lookups", 20), ("workgroup", 8)]),
    ("stream-triad", &[("size", 50), ("workgroup", 12)]),
    ("algebraic-multigrid", &[("edge", 8), ("workgroup", 16)]),
    ("bank-account", &[("size", 100), ("transfers", 20), ("workgroup", 8)]),
    ("cns", &[("edge", 4)]),
    (
        "convolution-layer",
        &[
            ("batch", 1),
            ("channels", 2),
            ("edge", 4),
            ("filters", 5),
            ("window", 3),
            ("workgroup", 8),
            ("tile", 2),
        ],
    ),
    ("euler3d", &[("size", 40), ("workgroup", 12)]),
    ("hotspot3d", &[("columns", 6), ("rows", 5), ("layers", 3), ("across", 4), ("down", 2)]),
    ("lavamd", &[("edge", 2), ("particles", 5), ("workgroup", 4)]),
    ("lud", &[("size", 12), ("edge", 4)]),
    ("mini-amr", &[("x", 3), ("y", 3), ("z", 3), ("cells", 2), ("variables", 1), ("iterations", 3)]),
    ("minimum-spanning-tree", &[("size", 20), ("degree", 2), ("workgroup", 8)]),
    ("mummer", &[("size", 100), ("reads", 10), ("length", 8), ("match_length", 5), ("workgroup", 8)]),
    ("nekbone", &[("x", 2), ("y", 2), ("z", 1), ("points", 3), ("workgroup", 9)]),
    ("snap", &[("x", 3), ("y", 2), ("z", 2), ("angles", 4), ("groups", 2)]),
    ("sssp", &[("size", 20), ("degree", 2), ("workgroup", 8)]),
    ("streamcluster", &[("size", 20), ("dimensions", 3), ("centres", 2), ("workgroup", 8)]),
    ("survey-propagation", &[("clauses", 20), ("literals", 8), ("workgroup", 8)]),
    ("stream", &[("blocks", 3)]),
    ("shared-counter", &[("blocks", 3)]),
    ("false-sharing", &[("blocks", 3)]),
];

const LINE: u32 = 64;

/// What is given to a kernel in [`SMALL`], with the wavefronts of the machine.
fn given(name: &str, small: &[(&'static str, i64)]) -> Vec<(&'static str, i64)> {
    let kernel = kernels::find(name).unwrap();
    let takes = |parameter: &str| kernel.parameters().any(|known| known.name == parameter);
    let common = [("wavefront", 4), ("launch", 50)].into_iter().filter(|(name, _)| takes(name));
    small.iter().copied().chain(common).collect()
}

fn steps(name: &str, given: &[(&str, i64)]) -> Vec<TaskKind> {
    let given: Vec<_> = given.iter().map(|(name, value)| (*name, Value::Integer(*value))).collect();
    kernels::build(name, &Parameters::of(&given)).unwrap()
}

/// Counts the accesses of one line that an operation makes, by kind.
fn count(operation: &Operation, counts: &mut BTreeMap<&'static str, usize>) {
    if let Operation::Access(access) = operation {
        let mut accesses = VecDeque::new();
        coalesce(access, LINE, false, &mut accesses);
        *counts.entry(access.kind.name()).or_default() += accesses.len();
    }
}

/// Accesses of all steps.
fn accesses(steps: &[TaskKind]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for step in steps {
        match step {
            TaskKind::Kernel(kernel) => {
                let warps = kernel.warps_per_block();
                for (block, warp) in
                    (0..kernel.blocks()).flat_map(|block| (0..warps).map(move |warp| (block, warp)))
                {
                    let all = (0..).map_while(|index| kernel.operation(block, warp, index));
                    all.for_each(|operation| count(&operation, &mut counts));
                }
            }
            TaskKind::Program { operations, .. } => {
                (0..)
                    .map_while(|index| operations.at(index))
                    .for_each(|operation| count(&operation, &mut counts));
            }
            TaskKind::Flush { .. } => {}
        }
    }
    counts
}

/// The scenario that runs a kernel, and expects each of its accesses once.
fn scenario(name: &str, given: &[(&str, i64)], sync: &str) -> Scenario {
    let with: Vec<_> = given.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let mut text = format!(
        "machine = \"tiny/umh-2gpu\"\n[[kernel]]\nid = \"k\"\nname = \"{name}\"\nwith = {{ {}{sync} }}\n\
         [[flush]]\nid = \"home\"\nafter = \"k\"\n",
        with.join(", ")
    );
    for (kind, count) in accesses(&steps(name, given)) {
        // A flush spares the requests for each access.
        if sync.is_empty() || kind != "store" {
            text += &format!("[[expect]]\ncount = \"complete kind {kind}\"\nis = {count}\n");
        }
    }
    Scenario::parse(Source::new(name, text), None).unwrap()
}

fn run(name: &str, scenario: &Scenario) {
    let options = Options { max_cycles: Some(10_000_000), ..Options::default() };
    let report = scenario.prepare(&options).unwrap().runner().run(|_, _| ControlFlow::Continue(()));
    assert!(report.passed, "{name}: {:?} {:?}", report.ended, report.failures);
}

#[test]
fn every_kernel_runs_to_its_end_and_makes_each_access_once() {
    assert_eq!(
        SMALL.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        KERNELS.iter().map(|kernel| kernel.name).collect::<Vec<_>>()
    );
    for (name, small) in SMALL {
        run(name, &scenario(name, &given(name, small), ""));
    }
}

#[test]
fn the_host_may_flush_instead_of_asking() {
    for (name, small) in SMALL {
        if kernels::find(name).unwrap().parameters().any(|parameter| parameter.name == "sync") {
            run(name, &scenario(name, &given(name, small), ", sync = \"flush\""));
        }
    }
}

#[test]
fn the_steps_of_a_kernel_run_one_after_the_other() {
    let scenario = scenario("radix-sort", &given("radix-sort", SMALL[11].1), "");
    let prepared = scenario.prepare(&Options::default()).unwrap();
    let tasks = &prepared.blueprint.workload.tasks;
    let ids: Vec<_> = tasks.iter().map(|task| &*task.id).collect();
    assert_eq!(ids, ["k.1", "k.2", "k.3", "k.4", "k.5", "k.6", "k.7", "k", "home"]);
    for (number, task) in tasks.iter().enumerate() {
        assert_eq!(task.after, if number == 0 { vec![] } else { vec![number - 1] }, "{}", task.id);
        let kernel = matches!(task.what, TaskKind::Kernel(_));
        assert_eq!(kernel, matches!(number, 0 | 2 | 4 | 6), "{}", task.id);
    }
}

/// Bytes of all that the steps touch, each array once.
fn footprint(steps: &[TaskKind]) -> u64 {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for step in steps {
        let touched = match step {
            TaskKind::Kernel(kernel) => kernel.footprint(),
            TaskKind::Program { .. } | TaskKind::Flush { .. } => Vec::new(),
        };
        ranges.extend(touched.iter().map(|range| (range.start.0, range.end())));
    }
    ranges.sort_unstable();
    let (mut bytes, mut end) = (0, 0);
    for (from, to) in ranges {
        bytes += to.max(end) - from.max(end);
        end = to.max(end);
    }
    bytes
}

/// Table I of the UMH paper: launches, host loops, and bytes that the launches touch.
const TABLE_ONE: &[(&str, usize, usize, u64)] = &[
    // Random numbers in, calls and puts out.
    ("black-scholes", 1, 0, 3 * 4 * 2_097_152),
    ("dct", 1, 0, 2 * 4 * 1024 * 1024 + 256),
    // Launches of 2,097,152, 4,096 and 8 values; an array of averages as long as the signal.
    ("haar-wavelet", 3, 3, 3 * 4 * 2_097_152),
    ("floyd-warshall", 256, 0, 2 * 4 * 256 * 256),
    ("fast-walsh-transform", 18, 0, 4 * 262_144),
    // 128 workgroups of 256 counts.
    ("histogram", 1, 1, 4 * 2048 * 2048 + 128 * 256 * 4),
    ("matrix-multiplication", 1, 0, 3 * 4 * 1024 * 1024),
    ("transpose", 1, 0, 2 * 4 * 1024 * 1024),
    ("mersenne-twister", 1, 0, 131_072 * 16 * (1 + 4)),
    // 2,048 workgroups of 256 threads of 4 words.
    ("reduction", 1, 1, 4 * 2_097_152 + 2048 * 16),
    ("radix-sort", 8, 8, 3 * 4 * 2_097_152),
    ("simple-convolution", 1, 0, 2 * 4 * 512 * 512 + 16 * 16 * 4),
    ("sobel-filter", 1, 0, 2 * 4 * 1024 * 768),
    // Levels of 2,097,152, 8,192 and 32 elements, with the sums of the first two.
    ("scan-large-arrays", 5, 0, 4 * (2 * 2_097_152 + 2 * 8192 + 2 * 32)),
];

#[test]
fn defaults_are_those_of_table_one() {
    for &(name, launches, loops, bytes) in TABLE_ONE {
        let steps = steps(name, &[]);
        let count = |kind: fn(&TaskKind) -> bool| steps.iter().filter(|step| kind(step)).count();
        assert_eq!(count(|step| matches!(step, TaskKind::Kernel(_))), launches, "{name}");
        assert_eq!(count(|step| matches!(step, TaskKind::Program { .. })), loops, "{name}");
        assert_eq!(footprint(&steps), bytes, "{name}");
    }
}

#[test]
fn one_factor_shrinks_them_all() {
    for &(name, _, _, bytes) in TABLE_ONE {
        let scaled = footprint(&steps(name, &[("scale", 64)]));
        // All but what does not depend on the size of the data: a table, a mask, a few pages.
        assert!(scaled + 64 >= bytes / 64 && scaled <= bytes / 64 + 8192, "{name}: {scaled} of {bytes}");
    }
}

/// The inputs of the sources, or those chosen, that each kernel's description tells: launches, host loops, and bytes that the
/// launches touch, counted by hand. Graphs are random, so that the bytes of what works on them are not.
const SOURCES: &[(&str, usize, usize, u64)] = &[
    // Inputs, weights twice, sums, errors.
    ("backprop", 2, 1, 4 * 65_537 + 2 * 4 * 65_537 * 17 + 4 * 65_536 + 4 * 17),
    ("hotspot", 1, 0, 3 * 4 * 512 * 512),
    ("kmeans", 3, 2, 494_020 * (2 * 4 * 34 + 4)),
    ("needleman-wunsch", 255, 0, 2 * 4 * 2049 * 2049),
    ("pathfinder", 5, 0, 4 * 100_000 * (99 + 2)),
    // A tree of two levels: 450 workgroups of 512.
    ("srad-v1", 12, 2, 4 * (8 * 502 * 458 + 2 * (502 + 458))),
    ("srad-v2", 4, 2, 6 * 4 * 2048 * 2048),
    ("stencil", 2, 0, 2 * 4 * 512 * 512 * 64),
    // Two frames of 99 macroblocks, and of each 41 blocks with 1096 sums.
    ("sad", 3, 0, 99 * (2 * 2 * 256 + 2 * 41 * 1096)),
    ("sgemm", 1, 0, 4 * (1024 * 992 + 1056 * 992 + 1024 * 1056)),
    ("gaussian", 1022, 0, 4 * (2 * 512 * 512 + 512)),
    ("btree", 1, 0, 2068 * (1 + 16 + 3907) + 4 * 1_000_000 + 10_000 * 24),
    ("xsbench", 1, 0, 768_604 * (8 + 4 * 68 + 48) + 12 * 34 * 12 + 8 * 170_000),
    ("comd", 1, 0, 2744 * (8 * 16 * 7 + 8 * 3 + 4 + 4 + 4 * 27 + 12 * 8)),
    // 35,937 rows in columns of 35,952; four vectors; 141 workgroups.
    ("minife", 16, 4, 27 * 12 * 35_952 + 4 * 8 * 35_937 + 8 * 141),
    ("histogram-256", 2, 0, (1 << 26) + 240 * 1024 + 1024),
    ("lbm", 2, 0, 2 * 20 * 4 * 120 * 120 * 154),
    ("lulesh", 4, 0, 91_125 * (4 * 15 + 8 * 41) + 97_336 * (4 * 9 + 8 * 10)),
    // Five grids: 8 launches, then 16, 23, 30 and 37. Of the coarsest no residual is needed.
    ("multigrid", 114, 0, 8 * 8 * (262_144 + 32_768 + 4096 + 512 + 64) - 8 * 64),
    ("rsbench", 1, 0, 68 * (1000 * 72 + 100 * 32 + 4) + 12 * 34 * 12 + 8 * 100_000),
    ("stream-triad", 1, 0, 3 * 8 * 1_048_576),
    // Four levels of 37,440 rows.
    ("algebraic-multigrid", 29, 0, 4 * 37_444 + 12 * (7 * 32_768 + 27 * 4672) + 3 * 8 * 37_440),
    ("bank-account", 1, 0, 4 * 1_048_576 + 12 * 122_880),
    ("cns", 12, 0, 16 * 8 * 64 * 64 * 64),
    // 11,664 pixels, windows of 2,400.
    ("convolution-layer", 2, 0, 4 * (96 * 11_664 + 2400 * 11_664 + 256 * 2400 + 256 * 11_664)),
    ("euler3d", 8, 0, 4 * 193_536 * (5 + 5 + 5 + 1 + 1 + 4 + 12)),
    ("hotspot3d", 2, 0, 3 * 4 * 512 * 512 * 8),
    ("lavamd", 1, 0, 1000 * 656 + 100_000 * (32 + 8 + 32)),
    ("lud", 46, 0, 4 * 256 * 256),
    // A full tree of eleven levels, above 4^10 suffixes.
    ("mummer", 1, 0, 32 * 1_398_101 + 1_000_000 + 50_000 * (25 + 6 * 8)),
    ("nekbone", 9, 2, 373_248 * 8 * 10 + 8 * 81 + 8 * 512),
    // 34 diagonals from each of eight corners.
    ("snap", 272, 0, 8 * 4 * (3 * 1728 + 2 * 8 * 1728 * 32 + 3 * 144 * 32)),
    ("streamcluster", 2, 2, 65_536 * (4 * 256 + 32 + 4 + 4 * 11 + 1)),
    ("survey-propagation", 4, 2, 42_000 * 3 * 12 + 4 * 10_000 + 4 * 10_001 + 4),
];

#[test]
fn defaults_are_the_inputs_of_the_sources() {
    let mut wrong = Vec::new();
    for &(name, launches, loops, bytes) in SOURCES {
        let steps = steps(name, &[]);
        let count = |kind: fn(&TaskKind) -> bool| steps.iter().filter(|step| kind(step)).count();
        let launched = count(|step| matches!(step, TaskKind::Kernel(_)));
        let looped = count(|step| matches!(step, TaskKind::Program { .. }));
        let ours = (launched, looped, footprint(&steps));
        if ours != (launches, loops, bytes) {
            wrong.push(format!("{name}: {ours:?}, not {:?}", (launches, loops, bytes)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn prepare(text: &str) -> Result<Prepared> {
    Scenario::parse(Source::new("test.toml", text), None)?.prepare(&Options::default())
}

#[test]
fn one_factor_shrinks_data_and_capacities() {
    let text = |head: &str, with: &str| {
        format!(
            "{head}\nmachine = \"umh-1gpu-pcie\"\n[[kernel]]\nname = \"reduction\"\nwith = {{ {with} }}\n"
        )
    };
    let sizes = |prepared: &Prepared| {
        let spec = &prepared.blueprint.spec;
        let gpu = spec.gpu.as_ref().unwrap();
        let TaskKind::Kernel(kernel) = &prepared.blueprint.workload.tasks[0].what else {
            panic!("no kernel")
        };
        let llc = spec.host.llc.as_ref().unwrap().size.0;
        [gpu.l1.size.0, gpu.l2.cache.size.0, gpu.memory.size.0, llc, kernel.blocks()]
    };
    let full = sizes(&prepare(&text("", "")).unwrap());
    assert_eq!(full[4], 2048);
    assert_eq!(sizes(&prepare(&text("scale = 16", "")).unwrap()), full.map(|size| size / 16));
    let own = sizes(&prepare(&text("scale = 16", "scale = 2")).unwrap());
    assert_eq!((own[0], own[4]), (full[0] / 16, 1024));
    // One set is left: 4 ways of 64 B.
    assert_eq!(sizes(&prepare(&text("scale = 1024", "")).unwrap())[0], 256);
    let spec = |head: &str| prepare(&text(head, "")).unwrap().blueprint.spec;
    let (whole, small) = (spec(""), spec("scale = 0x1000"));
    let gpu = small.gpu.as_ref().unwrap();
    let llc = small.host.llc.as_ref().unwrap();
    for cache in [&gpu.l1, &gpu.l2.cache, &small.host.l1, llc] {
        let set = u64::from(cache.ways * cache.line);
        assert!(cache.size.0 >= set && (cache.size.0 / set).is_power_of_two(), "{cache:?}");
    }
    // Nothing else is smaller.
    let mut restored = small.clone();
    let (to, from) = (restored.gpu.as_mut().unwrap(), whole.gpu.as_ref().unwrap());
    to.l1.size = from.l1.size;
    to.l2.cache.size = from.l2.cache.size;
    to.memory.size = from.memory.size;
    restored.host.l1.size = whole.host.l1.size;
    restored.host.llc.as_mut().unwrap().size = whole.host.llc.as_ref().unwrap().size;
    assert_ne!(small, whole);
    assert_eq!(restored, whole);
    let error = prepare(&text("scale = 3", "")).unwrap_err();
    assert_eq!((error.position(), error.message.as_str()), (Some((1, 9)), "scale is 3"));
    // What is left must still be something.
    assert!(prepare(&text("scale = 0x1000000", "")).unwrap_err().message.contains("`size`, scaled, is 0"));
}
