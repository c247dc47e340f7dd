use super::*;
use crate::config::machine::{GpuHome, MachineSpec};
use crate::config::{
    Document, Shelf, find, list, load_machine, load_machine_with, load_protocol, machine_from_toml,
};
use crate::diagnostic::{Diagnostic, Source};
use crate::model::units::{Bandwidth, Duration, Frequency, Size};

fn complaint(text: &str) -> Diagnostic {
    *machine_from_toml(&Source::new("m.toml", text)).expect_err(text)
}

#[test]
fn every_bundled_machine_is_sound() {
    let machines = list(Kind::Machine);
    for name in ["tiny/umh-1gpu", "tiny/m2s-a", "umh-4gpu-nvlink"] {
        assert!(machines.iter().any(|entry| entry.name == name), "{name}");
    }
    for entry in machines {
        let spec = load_machine(&entry.name, None).unwrap_or_else(|error| panic!("{error}"));
        load_protocol(&spec.protocol, None).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
    }
}

#[test]
fn the_lesson_machine_is_as_it_reads() {
    let spec = load_machine("tiny/umh-2gpu", None).unwrap();
    let gpu = spec.gpu.unwrap();
    assert_eq!((gpu.count, gpu.clock, gpu.cu.wavefront_size), (2, Frequency(800_000_000), None));
    assert_eq!((gpu.l1.size, gpu.l1.ways, gpu.l1.line), (Size(512), 2, 64));
    assert_eq!((gpu.l2.cache.size, gpu.l2.interleave, gpu.l2.crossbar_width), (Size(1024), 4096, 0));
    assert_eq!((gpu.memory.home, gpu.memory.ways, gpu.memory.secondary_block), (GpuHome::Smd, 4, 4096));
    assert!(gpu.memory.dram.always_reopen && !spec.host.dram.always_reopen);
    assert_eq!((spec.host.block, spec.host.interleave, spec.host.latency), (4096, 4096, Duration(500)));
    assert_eq!(spec.network.bandwidth, Bandwidth(16_000_000_000));
    assert_eq!((spec.network.topology, spec.network.virtual_networks), (Topology::Shared, 3));
}

#[test]
fn scalegpu_is_table_one() {
    let spec = load_machine("scalegpu", None).unwrap();
    let gpu = spec.gpu.unwrap();
    assert_eq!((gpu.cu.count, gpu.clock, gpu.cu.lanes), (14, Frequency(1_150_000_000), 32));
    assert_eq!(gpu.cu.wavefront_size.map(|size| gpu.cu.wavefronts * size), Some(1536));
    assert_eq!((gpu.l1.size, gpu.l2.slices, gpu.l2.cache.size), (Size(16 << 10), 6, Size(128 << 10)));
    assert_eq!((gpu.l2.interleave, gpu.l2.crossbar_width), (2048, 32));
    let dram = gpu.memory.dram;
    assert_eq!((dram.banks, dram.row, dram.access, dram.queue), (16, 2048, 64, 16));
    // 12 cycles of 750 MHz each.
    assert_eq!([dram.cas, dram.precharge, dram.activate, dram.write_recovery], [Duration(16_000); 4]);
    // tRC of 40, tRRD of 6 and tCDLR of 5 cycles.
    let others = [dram.row_cycle, dram.row_to_row, dram.write_to_read];
    assert_eq!(others, [53_333, 8_000, 6_667].map(Duration));
    let tags = gpu.tags.unwrap();
    assert_eq!((tags.data, tags.pending, tags.scoreboard, tags.share), (2048, 32, 32, Some(1000)));
    let network = spec.network;
    assert_eq!((network.bandwidth, network.lanes), (Bandwidth(8_000_000_000), 16));
    assert_eq!((network.header, network.payload, network.latency), (20, Some(128), Duration(600_000)));
}

#[test]
fn a_memory_may_hold_an_eighth_of_what_the_work_touches() {
    let set = ["gpu.paging.share=12.5".to_owned()];
    let gpu = crate::config::load_machine_with("paged-gtx480", None, &set).unwrap().gpu.unwrap();
    assert_eq!(gpu.paging.unwrap().share, Some(125));
    let error = crate::config::load_machine_with("paged-gtx480", None, &["gpu.paging.share=0.5".to_owned()]);
    assert_eq!(error.unwrap_err().suggestion.unwrap(), "did you mean 50?");
}

#[test]
fn defaults_fit_together_and_aliases_work() {
    let text = "[gpu]\nsm.warps = 3\nl1.block = '128 B'\nl2.size = '96 KiB'\nmemory.size = '8 KiB'\n[host]\nllc = false";
    let spec = machine_from_toml(&Source::new("m.toml", text)).unwrap();
    let gpu = spec.gpu.unwrap();
    assert_eq!((spec.name.as_str(), spec.protocol.as_str(), spec.values), ("m.toml", "nmoesi", true));
    assert_eq!((gpu.cu.wavefronts, gpu.l2.cache.line, gpu.l2.cache.ways, gpu.memory.ways), (3, 128, 12, 2));
    assert!(spec.host.llc.is_none() && spec.host.cores == 1);
    let cpu = machine_from_toml(&Source::new("m.toml", "")).unwrap();
    assert_eq!((cpu.gpu, cpu.host.block), (None, 64));
}

/// What a file says; where it is wrong; why; how what is expected instead begins.
type Broken = (&'static str, (usize, usize), &'static str, &'static str);

const BROKEN: &[Broken] = &[
    (
        "gpu.memory = { home = 'cache', size = '3000 B' }",
        (1, 39),
        "gpu.memory.size is 3000 B, no multiple of its rows",
        "a multiple of 2 KiB",
    ),
    (
        "gpu = { count = 2, memory = { home = 'cache' } }",
        (1, 17),
        "gpu.memory.home = \"cache\" is for one GPU",
        "gpu.count = 1",
    ),
    (
        "gpu = { memory = { home = 'numa' }, l2 = { present = false } }",
        (1, 44),
        "a GPU of this kind has its memory behind its L2",
        "gpu.l2.present = true",
    ),
    (
        "gpu = { memory = { home = 'cache' }, tags = { data = '4 KiB' } }",
        (1, 54),
        "gpu.tags.data is 4 KiB, larger than gpu.memory.dram.row (2 KiB)",
        "2 KiB or less",
    ),
    (
        "gpu = { memory = { home = 'cache' }, tags = { share = 101 } }",
        (1, 55),
        "gpu.tags.share is 101",
        "1 to 100",
    ),
    (
        "gpu = { l1 = { line = '512 B' }, l2 = { line = '512 B' }, memory = { home = 'numa' }, numa = { page = '256 B' } }",
        (1, 103),
        "gpu.numa.page is 256 B, smaller than gpu.l2.line (512 B)",
        "512 B or more",
    ),
    (
        "gpu = { memory = { home = 'numa' }, numa = { page = '8 KiB' }, paging = { page = '4 KiB' } }",
        (1, 53),
        "gpu.numa.page is 8 KiB, gpu.paging.page 4 KiB: a page has one size",
        "the same for both",
    ),
    (
        "gpu = { memory = { home = 'numa' }, numa = { page = '4 KiB', placement = 'fine' }, paging = {} }",
        (1, 53),
        "gpu.numa.placement = \"fine\" deals pieces of a page, and gpu.paging brings whole pages",
        "\"first-touch\"",
    ),
    (
        "gpu = { memory = { home = 'smd' }, paging = { share = 50 } }",
        (1, 55),
        "gpu.paging.share is about pages that move, and here the hardware moves data: far-faults only map pages",
        "gpu.memory.home = \"own\" or \"numa\"",
    ),
    (
        "gpu = { memory = { home = 'unified' }, paging = {}, read_only = { page = '4 KiB' } }",
        (1, 53),
        "gpu.read_only and gpu.paging both say which pages a GPU may translate",
        "one of them",
    ),
    (
        "gpu = { memory = { home = 'own' }, paging = { copy = 'up-front', prefetch = 'tree' } }",
        (1, 77),
        "gpu.paging.prefetch chooses pages to bring, and gpu.paging.copy brings all before any far-faults",
        "one of them",
    ),
    (
        "gpu = { memory = { home = 'smd' } }\nnetwork.transfers = 'sectors'",
        (2, 21),
        "network.transfers = \"sectors\" is for a GPU whose memory is one half of all, which asks the other half for parts of lines",
        "\"line\", or gpu.memory.home = \"unified\"",
    ),
    ("[gpu]\ncount = 9", (2, 9), "gpu.count is 9", "1 to 8"),
    ("[gpu]\ncount = 0", (2, 9), "gpu.count is 0", "1 to 8"),
    ("gpu.cu = { count = 0 }", (1, 20), "gpu.cu.count is 0", "1 to 512"),
    ("gpu.count = 99999999999", (1, 13), "gpu.count is 99999999999", "1 to 8"),
    ("host.cores = 65", (1, 14), "host.cores is 65", "0 to 64"),
    ("host.hmds = 3", (1, 13), "host.hmds is 3", "1, 2, 4 or 8"),
    ("host.cores = 0", (1, 14), "this machine has neither cores nor GPUs", "a core or a [gpu]"),
    ("gpu.l1.line = '48 B'", (1, 15), "gpu.l1.line is 48 B, which is not a power of two", "32 B or 64 B"),
    ("gpu.l1.size = '0 B'", (1, 15), "gpu.l1.size is 0 B", "8 B to 1 GiB"),
    (
        "gpu.l1.size = '100 B'",
        (1, 15),
        "gpu.l1.size is 100 B, no multiple of its block",
        "a multiple of 64 B",
    ),
    (
        "gpu.l1 = { size = '512 B', ways = 3 }",
        (1, 35),
        "gpu.l1.ways is 3, which does not divide 8 blocks of 64 B",
        "a divisor of 8",
    ),
    (
        "gpu.l1 = { size = '768 B', ways = 2 }",
        (1, 19),
        "gpu.l1 has 6 sets, which is not a power of two",
        "a size such as \"512 B\" or \"1 KiB\"",
    ),
    (
        "gpu.l1.size = '4 kib'",
        (1, 15),
        "wrong value: \"4 kib\"",
        "a size such as \"4 KiB\" (B, KB, KiB, MB, MiB, GB, GiB)",
    ),
    ("gpu.l1.size = 4096", (1, 15), "wrong type: integer `4096`", "a size such as \"4 KiB\""),
    ("gpu.l2.line = '32 B'", (1, 15), "gpu.l2.line is 32 B, smaller than gpu.l1.line (64 B)", "64 B or more"),
    (
        "gpu.l1.line = '8 KiB'",
        (1, 15),
        "gpu.l2.line is 8 KiB, larger than gpu.memory.secondary_block (4 KiB)",
        "",
    ),
    (
        "gpu.l2 = { slices = 3, hash = true }",
        (1, 31),
        "3 slices cannot be hashed",
        "gpu.l2.slices of a power of two",
    ),
    (
        "gpu.memory.dram = { banks = 12, hash = true }",
        (1, 40),
        "12 banks cannot be hashed (gpu.memory.dram.hash)",
        "channels times banks of a power of two",
    ),
    (
        "gpu.memory = { home = 'cache', dram.hash = true }",
        (1, 44),
        "gpu.memory.dram.hash is for memories without tags, which take banks from the others",
        "false, with gpu.memory.home = \"cache\"",
    ),
    (
        "gpu.l2.interleave = '32 B'",
        (1, 21),
        "gpu.l2.interleave is 32 B, smaller than gpu.l2.line (64 B)",
        "64 B or more",
    ),
    (
        "gpu.memory.secondary_block = '32 KiB'",
        (1, 30),
        "gpu.memory.secondary_block is 32 KiB",
        "64 B to 16 KiB",
    ),
    ("gpu.memory.mask_bytes = 3", (1, 25), "gpu.memory.mask_bytes is 3", "1, 2, 4 or 8"),
    (
        "[gpu]\n[host]\nblock = '64 B'",
        (3, 9),
        "host.block is 64 B, smaller than the block of a GPU (4 KiB)",
        "4 KiB or more",
    ),
    (
        "host.interleave = '64 B'\ngpu={}",
        (1, 19),
        "host.interleave is 64 B, smaller than host.block (4 KiB)",
        "4 KiB or more",
    ),
    ("gpu.memory.size = '999999999 GiB'", (1, 19), "gpu.memory.size is 999999999 GiB", "64 B to 262144 GiB"),
    (
        "gpu = { count = 8, memory = { size = '65536 GiB', secondary_block = '16 KiB', ways=1 } }",
        (1, 38),
        "gpu.memory.size makes 4294967296 blocks of 16 KiB",
        "67108864 blocks or fewer",
    ),
    ("gpu.l1.size = '99999999999999999999 GiB'", (1, 15), "wrong value: \"99999999999999999999 GiB\"", ""),
    ("host.dram.clock = '1 GHz'", (1, 19), "host.dram.clock needs host.dram.bus", "\"32 B\""),
    ("host.dram.bus = '32 B'", (1, 17), "host.dram.bus needs host.dram.clock", "\"1200 MHz\""),
    (
        "host.dram = { clock = '1 GHz', bus = '8 B', bandwidth = '8 GB/s' }",
        (1, 57),
        "host.dram.bandwidth is given beside its clock and bus",
        "one of the two",
    ),
    (
        "host.dram = { clock = '100 GHz', bus = '4 KiB' }",
        (1, 23),
        "host.dram.clock times host.dram.bus is 409.6 TB/s",
        "1 MB/s to 100 TB/s",
    ),
    ("host.dram.queue = 0", (1, 19), "host.dram.queue is 0", "1 to 256"),
    ("host.dram.write_queue = 257", (1, 25), "host.dram.write_queue is 257", "1 to 256"),
    ("gpu.memory.dram.channels = 17", (1, 28), "gpu.memory.dram.channels is 17", "1 to 16"),
    ("network.bandwidth = '0 B/s'", (1, 21), "network.bandwidth is 0 B/s", "1 MB/s to 100 TB/s"),
    ("network.virtual_networks = 2", (1, 28), "network.virtual_networks is 2", "1 or 3"),
    ("network.latency = '2 s'", (1, 19), "network.latency is 2 s", "0 ns to 1 s"),
    ("gpu.clock = '0 Hz'", (1, 13), "gpu.clock is 0 Hz", "1 MHz to 100 GHz"),
    (
        "gpu.clock = '800 MHz'\nhost.clock = '3.333333333 GHz'",
        (2, 14),
        "800 MHz and 3333333.333 kHz have no common tick of a femtosecond or more",
        "clocks with fewer digits, such as \"1.4 GHz\"",
    ),
    (
        "host.llc = 'none'",
        (1, 12),
        "wrong type: string \"none\"",
        "a cache such as { size = \"2 MiB\" }, or false",
    ),
    ("[gpu]\ncount = 2\n[gpu]\n", (3, 2), "the key `gpu` is given twice", ""),
    ("gpu = 2", (1, 7), "wrong type: integer `2`", "a table"),
    ("gpu.memory.home = 4", (1, 19), "unknown value `4`", "one of `smd`, "),
    ("network = { kind = [] }", (1, 20), "unknown value `[]`", "`pcie` or `nvlink`"),
    (
        "[gpu]\n[gpu.numa]\npage = '4 KiB'",
        (2, 6),
        "gpu.numa without gpu.memory.home = \"numa\": the GPUs share no memories",
        "gpu.memory.home = \"numa\" with it",
    ),
    (
        "gpu = { memory = { home = 'unified' }, count = 2 }",
        (1, 40),
        "2 GPUs share the memory of the host",
        "one GPU with gpu.memory.home = \"unified\"",
    ),
    (
        "[host]\nclient = {}",
        (2, 1),
        "host.client is for a GPU that asks for lines of host memory",
        "gpu.memory.home = \"unified\"",
    ),
];

#[test]
fn broken_machines_are_told_where_and_why() {
    let mut wrong = Vec::new();
    for &(text, place, message, expected) in BROKEN {
        let error = complaint(text);
        let wanted = error.expected.as_deref().unwrap_or_default();
        if error.message != message || error.position() != Some(place) || !wanted.starts_with(expected) {
            wrong.push(format!("{text}\n{error}\n{place:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_mistyped_name_gets_the_nearest() {
    for (text, suggestion) in [
        ("[gpu]\nl1 = { sise = '1 KiB' }", "did you mean size?"),
        ("[gqu]", "did you mean gpu?"),
        ("network.kind = 'pci'", "did you mean pcie?"),
        ("network.topology = 'point to point'", "did you mean point-to-point?"),
        ("gpu.memory.home = 'smb'", "did you mean smd?"),
        ("host.dram.scheduler = 'frfcfs'", "did you mean fr-fcfs?"),
        ("protocol = 'nmosei'", "did you mean nmoesi?"),
        ("gpu.l1.protocol = 'vl'", "did you mean vi?"),
    ] {
        assert_eq!(complaint(text).suggestion.as_deref(), Some(suggestion), "{text}");
    }
}

#[test]
fn overrides_change_a_machine_or_are_explained() {
    let set = |text: &str| load_machine_with("tiny/umh-2gpu", None, &[text.to_owned()]);
    assert_eq!(set("gpu.l1.size=1 KiB").unwrap().gpu.unwrap().l1.size, Size(1024));
    assert_eq!(set("protocol=mesi").unwrap().protocol, "mesi");
    let error = set("gpu.l1.sise=1 KiB").unwrap_err().to_string();
    assert!(error.starts_with("--set:1:8: unknown key `sise`"), "{error}");
    let error = set("gpu.count=12").unwrap_err().to_string();
    assert!(
        error.starts_with("--set:1:11: gpu.count is 12\n 1 | gpu.count=12\n   |           ^^"),
        "{error}"
    );
}

#[test]
fn what_does_not_suit_a_machine_is_told_of_the_key_that_was_set() {
    for (machine, set, place, message) in [
        ("tiny/umh-2gpu", "gpu.numa.sample=3", 5, "gpu.numa without gpu.memory.home = \"numa\""),
        ("tiny/umh-2gpu", "gpu.tags.data=64 B", 5, "gpu.tags without gpu.memory.home = \"cache\""),
        ("tiny/umh-2gpu", "gpu.copies.share=50", 5, "gpu.copies without gpu.memory.home = \"numa\""),
        (
            "tiny/memcpy-2gpu",
            "gpu.numa.placement=first-touch",
            10,
            "what is copied to GPUs before they touch it cannot go to the one that touches it first",
        ),
        ("tiny/umh-2gpu", "gpu.remote_directory.bits=8", 5, "gpu.remote_directory is about lines"),
        ("tiny/paged-1gpu", "gpu.read_only.tlb=8", 5, "gpu.read_only with gpu.memory.home = \"own\""),
        ("tiny/numa-4socket", "gpu.read_only.limit=2", 5, "gpu.read_only with gpu.memory.home = \"numa\""),
        ("tiny/cpu-2core", "gpu.l1.ways=2", 1, "this gives a GPU to a machine that has none"),
    ] {
        let error = load_machine_with(machine, None, &[set.to_owned()]).unwrap_err();
        assert_eq!(error.source.as_ref().unwrap().name.as_ref(), "--set", "{error}");
        assert_eq!(error.position(), Some((1, place)), "{error}");
        assert!(error.message.starts_with(message) && error.expected.is_some(), "{error}");
    }
}

#[test]
fn a_key_of_a_machine_in_a_scenario_has_its_place_there() {
    let text = "[machine.gpu]\n[machine.gpu.numa]\n";
    let document = Document::new(Source::new("s.toml", text));
    assert_eq!(document.complain_about("gpu.numa", "").position(), Some((2, 14)));
    assert_eq!(document.complain_about("gpu.l2.ways", "").position(), Some((1, 10)), "as far as it is given");
    assert_eq!(document.complain_about("host", "").position(), None);
}

#[test]
fn a_scenario_may_name_or_hold_a_machine() {
    #[derive(serde::Deserialize)]
    struct Scenario {
        machine: crate::config::MachineChoice,
    }
    use crate::config::MachineChoice;
    let document = Document::new(Source::new("s.toml", "\n[machine]\ngpu.count = 12"));
    let Scenario { machine: MachineChoice::Inline(file) } = document.read().unwrap() else { panic!() };
    assert_eq!(file.specification(&document, &Shelf::default()).unwrap_err().position(), Some((3, 13)));
    let document = Document::new(Source::new("s.toml", "machine = 'tiny/m2s-a'"));
    let Scenario { machine: MachineChoice::Named(name) } = document.read().unwrap() else { panic!() };
    assert_eq!((name.value.as_str(), name.span), ("tiny/m2s-a", 10..22));
    let mut document = Document::new(Source::new("s.toml", "[machine]\nname = 'x'"));
    document.set_within(&["machine"], "gpu.cuont=2").unwrap();
    let error = document.read::<Scenario>().err().unwrap();
    assert_eq!((error.position(), error.suggestion.as_deref()), (Some((1, 5)), Some("did you mean count?")));
}

#[test]
fn a_protocol_path_is_relative_to_its_machine() {
    let folder = tempfile::tempdir().unwrap();
    let own = "name='own'\n[state]\nI=''\n[cache]\nI = {}";
    std::fs::write(folder.path().join("own.toml"), own).unwrap();
    let machine = folder.path().join("m.toml");
    std::fs::write(&machine, "protocol = 'own'").unwrap();
    let spec = load_machine(machine.to_str().unwrap(), None).unwrap();
    assert_eq!(load_protocol(&spec.protocol, None).unwrap().name, "own");
}

/// Reads `text` as a machine and as a protocol; only that both return, and can be shown, matters.
fn survive(text: &str) {
    let source = Source::new("x.toml", text);
    for error in [machine_from_toml(&source).err(), crate::config::protocol::from_toml(&source).err()] {
        assert!(error.is_none_or(|error| error.to_string().len() < 10_000));
    }
}

#[test]
fn truncated_and_spoiled_files_are_survived() {
    for kind in [Kind::Machine, Kind::Protocol] {
        for entry in list(kind) {
            let text = find(kind, &entry.name, None).unwrap().source.text;
            for at in (0..text.len()).step_by(7).filter(|&at| text.is_char_boundary(at)) {
                survive(&text[..at]);
                survive(&format!("{}\u{7f}0 é\"{}", &text[..at], &text[at..]));
            }
        }
    }
}

#[test]
fn monstrous_files_are_survived() {
    for text in [
        "a.".repeat(200_000) + "b = 1",
        "[".repeat(200_000),
        "a = ".to_owned() + &"[".repeat(200_000),
        "a = ".to_owned() + &"{ a = ".repeat(200_000),
        "[".to_owned() + &"a.".repeat(200_000) + "b]",
        "name = '".to_owned() + &"x".repeat(1_000_000) + "'\ncount = '" + &"y".repeat(1_000_000) + "'",
        "x".repeat(1_000_000) + " = 1",
        "\n".repeat(1_000_000) + "x",
    ] {
        survive(&text);
    }
}

#[test]
fn a_key_is_set_by_either_of_its_names() {
    // What is set later replaces what is set first, under whichever name.
    for (one, other, table, value) in [
        ("cu", "sm", "gpu", "{ count = 1 }"),
        ("wavefronts", "warps", "gpu.cu", "4"),
        ("wavefront_size", "warp_size", "gpu.cu", "4"),
        ("line", "block", "gpu.l1", "64 B"),
        ("line", "block", "gpu.l2", "64 B"),
        ("secondary_block", "block", "gpu.memory", "4 KiB"),
    ] {
        for names in [[one, other], [other, one]] {
            let set = names.map(|name| format!("{table}.{name}={value}"));
            if let Err(error) = crate::config::load_machine_with("tiny/umh-2gpu", None, &set) {
                panic!("{set:?}: {error}");
            }
        }
    }
    let below = ["gpu.cu.count=3".to_owned()];
    let sockets = crate::config::load_machine_with("tiny/numa-2socket", None, &below).unwrap();
    assert_eq!(sockets.gpu.unwrap().cu.count, 3);
}

#[test]
fn the_numa_aware_gpu_is_the_baseline_with_its_two_mechanisms() {
    let set = ["gpu.numa.l2=partitioned", "network.balancer.policy=dynamic"].map(str::to_owned);
    let base = load_machine_with("numa-4socket", None, &set).unwrap();
    let aware = load_machine("numa-4socket-aware", None).unwrap();
    assert_eq!(MachineSpec { name: aware.name.clone(), ..base }, aware);
}
