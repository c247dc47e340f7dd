//! Screens as `umscope frame` prints them.

use std::fs;
use std::path::Path;

use super::call;

/// The screen of a scenario at a cycle.
fn screen(scenario: &str, cycle: &str, size: &str) -> String {
    let outcome = call(&["frame", scenario, "--at", cycle, "--size", size]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    outcome.stdout
}

/// The row of the directory pane that begins with this node.
fn row<'a>(screen: &'a str, node: &str) -> &'a str {
    let directory = screen.lines().skip_while(|line| !line.contains("holders") && !line.contains("sharers "));
    let found = directory.skip(1).find_map(|line| line.find(node).map(|at| &line[at..]));
    found.unwrap_or_else(|| panic!("no row {node} in\n{screen}"))
}

#[test]
fn a_message_that_is_lost_is_not_drawn_as_one_on_its_way() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lost.toml").display().to_string();
    let text = "machine = \"tiny/umh-2gpu\"\nends = \"deadlock\"\n[[fault]]\nname = \"lose-message\"\nmessage = \"read\"\n\
                [[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x1000, len = 1 }\n";
    fs::write(&file, text).unwrap();
    let lost = screen(&file, "100", "120x40");
    assert!(lost.lines().any(|line| line.contains("read") && line.contains("✗│")), "{lost}");
    let whole = screen("umh/fig5-a", "22", "120x40");
    assert!(whole.lines().any(|line| line.contains("read") && line.contains("…│")), "{whole}");
}

#[test]
fn the_picture_in_the_readme_is_what_the_program_prints() {
    let readme =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("a README");
    let (_, block) = readme.split_once("```text\n").expect("a block of text");
    let (block, _) = block.split_once("```").expect("the end of the block");
    let ends = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(ends(block), ends(&screen("umh/fig5-b1", "1260", "120x34")));
}

#[test]
fn the_tables_in_the_readme_are_those_of_the_run_that_it_names() {
    let readme =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("a README");
    let latency = ["debug", "umh/fig5-b1", "--no-tui", "-x", "end", "-x", "info latency 2"];
    let runs: [(&str, &[&str], usize); 4] = [
        ("(`umscope run kernels/reduction`):\n", &["run", "kernels/reduction"], 10),
        ("`umscope run workloads/umh/sf --scale 16`:\n", &["run", "workloads/umh/sf", "--scale", "16"], 5),
        ("umh/fig5-b1 --no-tui -x end -x 'info latency 2'`):\n", &latency, 15),
        (
            "--waits`; with `--format json` all places of each):\n",
            &["run", "kernels/matrix-multiplication", "--waits"],
            8,
        ),
    ];
    for (after, command, least) in runs {
        let (_, text) = readme.split_once(after).expect(after);
        let tables: Vec<_> =
            text.lines().take_while(|line| line.is_empty() || line.starts_with("    ")).collect();
        let run = call(command).stdout;
        assert!(tables.len() > least, "{tables:?}");
        for line in tables.iter().filter(|line| !line.is_empty()) {
            assert!(run.lines().any(|told| told == &line[4..]), "{line} is not in\n{run}");
        }
    }
}

#[test]
fn the_values_shown_are_those_of_the_dirty_bytes() {
    for cycle in ["806", "1260", "2031"] {
        let screen = screen("umh/fig5-b1", cycle, "120x40");
        assert!(screen.contains("value, bytes 0-7"), "{screen}");
        assert!(row(&screen, "cu0.l1 N").contains("####---- [07 00 00 00]00 00 00 00"), "{screen}");
    }
}

#[test]
fn words_apart_stand_side_by_side() {
    let screen = screen("umh/fig5-c", "3263", "120x40");
    assert!(screen.contains("bytes 0-3 8-11"), "{screen}");
    let shown = "--------  07 00 00 00│00 00 00 00";
    assert!(row(&screen, "host.hmd0").contains(shown), "{screen}");
}

#[test]
fn eight_bytes_are_seen_at_every_size() {
    for size in ["80x24", "120x40", "200x60"] {
        let screen = screen("umh/byte-mask", "3000", size);
        assert!(row(&screen, "host.hmd0").contains("11 b1 11 11 11 11 b6 b7"), "{screen}");
    }
}

#[test]
fn dirty_bytes_are_seen_while_their_line_waits() {
    let screen = screen("umh/byte-mask", "2260", "120x40");
    let waiting = screen.lines().find(|line| line.contains("cu0.l1 N>M")).expect("a line that waits");
    assert!(waiting.contains("#-#----#  write from gpu0.l2.0"), "{screen}");
}

#[test]
fn a_block_that_nobody_holds_is_as_large_as_lines_of_the_machine() {
    let screen = screen("selective/read-only-limit", "3", "120x40");
    assert!(
        screen.contains("block 0x1000, 128 bytes") && screen.contains("Nobody holds this block"),
        "{screen}"
    );
}

#[test]
fn only_a_machine_with_links_names_its_network() {
    for (scenario, expected) in
        [("protocols/msi-upgrade", "MSI · 2 cores"), ("umh/fig5-b1", "1 core, PCIe 16 GB/s")]
    {
        let screen = screen(scenario, "5", "120x40");
        assert!(screen.lines().next().is_some_and(|line| line.trim_end().ends_with(expected)), "{screen}");
    }
}

#[test]
fn the_waits_pane_tells_what_far_faults_wait_for() {
    let screen = call(&["frame", "paging/lost-replay", "--at", "580", "--layout", "transaction"]).stdout;
    let (_, waits) = screen.split_once("waits ──").expect("a waits pane");
    assert!(waits.contains("far-fault of page 0x1 (0x1000) on gpu0: 580 cycles"), "{screen}");
    assert!(!waits.contains("nobody waits"), "{screen}");
}

#[test]
fn a_tag_miss_handler_stands_before_other_mshrs_on_a_small_screen() {
    let outcome = call(&["frame", "scalegpu/burst", "--at", "27", "--size", "80x24", "--layout", "caches"]);
    let row = |text: &str| outcome.stdout.lines().position(|line| line.contains(text));
    let (queue, board) = (row("gpu0.memory.0 queue"), row("scoreboard 1 of 2"));
    let miss = outcome.stdout.lines().position(|line| line.contains("│ gpu0.cu0.l1      ##--"));
    assert!(queue.is_some() && queue < board && board < miss, "{}", outcome.stdout);
    assert!(row("read, data coming").is_some(), "{}", outcome.stdout);
}

#[test]
fn what_was_free_before_a_transfer_set_is_seen_in_half_a_screen() {
    let frame = ["frame", "workloads/paged/bfs", "--scale", "64", "--at", "200000", "--size", "120x40"];
    let outcome = call(&frame);
    let text: String =
        outcome.stdout.lines().map(|line| line.chars().take(60).collect::<String>() + "\n").collect();
    assert!(text.contains(" 0 evicted, ") && text.contains(" free before"), "{text}");
}

#[test]
fn memories_that_are_caches_stand_before_other_caches() {
    let frame = ["frame", "scalegpu/burst", "--at", "27", "--size", "80x24", "--layout", "caches"];
    let text = call(&frame).stdout;
    let first = text.lines().find(|line| line.contains("hits")).unwrap();
    assert!(first.contains("gpu0.memory.0"), "{text}");
}

#[test]
fn what_was_told_at_one_event_is_counted_together() {
    let title = |cycle| {
        let screen = screen("scalegpu/burst", cycle, "120x40");
        let (_, title) = screen.split_once("lesson · ").unwrap();
        title.split(" ─").next().unwrap().to_owned()
    };
    assert_eq!([title("300"), title("1527")], ["3 of 6", "4-6 of 6"]);
}

#[test]
fn a_memory_tells_what_its_remote_directory_says_of_a_block() {
    let screen = screen("selective/nack", "1327", "120x40");
    let below = screen.lines().skip_while(|line| !line.contains("▸gpu0.memory.0")).nth(1).unwrap();
    assert!(below.contains("remote directory: the CPU may have it"), "{screen}");
}

#[test]
fn a_fault_that_was_dropped_is_not_over() {
    let screen = screen("selective/read-only-pending", "2405", "200x60");
    assert!(screen.contains("page 0x5 dropped: gpu0.cu0 warp 2 waits for the TLB"), "{screen}");
    assert!(!screen.contains("over: the page may be written"), "{screen}");
}

#[test]
fn other_gpus_have_a_lifeline_each_where_there_is_no_room_for_their_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.toml");
    let loads: Vec<String> = (0..4)
        .map(|gpu| format!("[[do]]\nid = 'l{gpu}'\nby = 'gpu{gpu}.cu0'\nload = {{ address = 0x1000 }}\n"))
        .collect();
    let store = "[[do]]\nafter = ['l0', 'l1', 'l2', 'l3']\nby = 'gpu0.cu0'\nstore = { address = 0x1000, bytes = '01' }\n";
    std::fs::write(&path, format!("machine = 'tiny/umh-4gpu'\n{}{store}", loads.concat())).unwrap();
    let frame = ["frame", path.to_str().unwrap(), "--at", "1000000", "--size", "80x40"];
    let folded = call(&frame).stdout;
    assert!(folded.contains("what goes on within gpu1, gpu2"), "{folded}");
    let wide = call(&[&frame[..4], &["--size", "200x60", "--layout", "transaction"]].concat()).stdout;
    assert!(wide.contains("gpu3.smd0") && !wide.contains("what goes on within"), "{wide}");
}

#[test]
fn the_far_faults_of_a_full_gpu_are_in_view() {
    let prefetching = ["--set", "gpu.paging.prefetch=locality", "--set", "gpu.paging.share=50"];
    let frame = ["frame", "workloads/paged/hotspot", "--scale", "64", "--at", "60000", "--size", "120x40"];
    let text = call(&[&frame[..], &prefetching].concat()).stdout;
    let (_, mshrs) = text.split_once("gpu0.gmmu ").expect("the GMMU's MSHRs");
    assert!(mshrs.lines().nth(1).is_some_and(|row| row.contains("  0x18")), "{text}");
}
