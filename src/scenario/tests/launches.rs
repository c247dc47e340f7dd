//! What a kernel sees of what was stored before it.

use super::*;

/// A kernel, accesses one after the other, another kernel, and a load that sees what was stored before it: 22 22 22 22.
fn between_launches(machine: &str, accesses: &[(&str, &str)], last: (&str, &str)) -> Report {
    let kernel = "name = 'vector-add'\nwith = { size = 16, workgroup = 4, wavefront = 4, launch = 10, a = 0x10c000 }\n";
    let mut text = format!("machine = '{machine}'\n[[kernel]]\nid = 'p0'\n{kernel}");
    for (place, (by, access)) in accesses.iter().enumerate() {
        let id = place + 1;
        text += &format!("[[program]]\nid = 'p{id}'\nafter = 'p{place}'\nby = '{by}'\ndo = ['{access}']\n");
    }
    let (by, address) = last;
    text += &format!(
        "[[kernel]]\nid = 'next'\nafter = 'p{}'\n{kernel}\
         [[program]]\nid = 'look'\nafter = 'next'\nby = '{by}'\ndo = ['load r {address} 4']\n\
         [[expect]]\nthat = [\"result of r is '22 22 22 22'\"]\n",
        accesses.len()
    );
    run(&text)
}

#[test]
fn no_stale_copy_outlives_a_launch_however_the_bytes_came_down() {
    let store = ("gpu0.cu0", "n-store 0x10c8 22 22 22 22");
    for machine in ["tiny/umh-2gpu", "tiny/umh-2gpu-nvlink", "tiny/umh-4gpu", "tiny/zerocopy-2gpu"] {
        // They come with a block that another line of is stored to coherently.
        let first = [("gpu1.cu1", "load 0x10c0 4"), store, ("gpu1.cu0", "store 0x1240 11")];
        // The owner answers a read with them.
        let owner = ("gpu0.cu0", "store 0x10c0 11 11 11 11");
        let read = [owner, first[0], store, ("host.cpu0", "load 0x10c8 4")];
        for accesses in [&first[..], &read] {
            let report = between_launches(machine, accesses, ("gpu1.cu1", "0x10c8"));
            assert!(report.passed, "{machine}, {accesses:?}: {:?}", report.failures);
        }
    }
}

#[test]
fn bytes_on_their_way_when_a_kernel_is_to_begin_come_before_it() {
    // An L2 recalls the line from the L1 that has stored to it just then.
    for delay in (240..290).step_by(3) {
        let kernel =
            "name = 'vector-add'\nwith = { size = 16, workgroup = 4, wavefront = 4, a = 0x100000, launch ";
        let report = run(&format!(
            "machine = 'tiny/umh-2gpu'\n\
             [[kernel]]\nid = 'k0'\n{kernel} = 10 }}\n\
             [[flush]]\nid = 'clean'\nafter = 'k0'\n\
             [[program]]\nid = 'warm'\nafter = 'clean'\nby = 'gpu1.cu1'\ndo = ['load 0x10c0 4']\n\
             [[program]]\nid = 'store'\nafter = 'warm'\nby = 'gpu0.cu0'\ndo = ['n-store 0x10c0 05 05 05 05']\n\
             [[program]]\nid = 'fill'\nafter = 'store'\nby = 'gpu0.cu1'\n\
             do = ['load 0x11c0 4', 'load 0x12c0 4', 'load 0x13c0 4']\n\
             [[program]]\nid = 'beside'\nafter = 'fill'\ndelay = {delay}\nby = 'gpu0.cu1'\ndo = ['load 0x14c0 4']\n\
             [[kernel]]\nid = 'k1'\nafter = 'fill'\n{kernel} = 300 }}\n\
             [[program]]\nid = 'look'\nafter = 'k1'\nby = 'gpu1.cu1'\ndo = ['load r 0x10c0 4']\n\
             [[expect]]\nthat = [\"result of r is '05 05 05 05'\"]\n"
        ));
        assert!(report.passed, "{delay}: {:?}", report.failures);
    }
}

#[test]
fn what_is_stored_while_a_kernel_waits_is_nobodys_promise_and_keeps_nobody() {
    for delay in (90..=150).step_by(5) {
        let kernel =
            "name = 'vector-add'\nwith = { size = 16, workgroup = 4, wavefront = 4, a = 0x100000, launch ";
        let stores = vec!["'n-store 0x10c0 05'"; 40].join(", ");
        let report = run(&format!(
            "machine = 'tiny/umh-1gpu'\n\
             [[program]]\nid = 'warm'\nby = 'gpu0.cu1'\ndo = ['load 0x10c0 4']\n\
             [[kernel]]\nid = 'k0'\nafter = 'warm'\n{kernel} = 10 }}\n\
             [[program]]\nid = 'beside'\nafter = 'k0'\ndelay = {delay}\nby = 'gpu0.cu0'\ndo = [{stores}]\n\
             [[kernel]]\nid = 'k1'\nafter = 'k0'\n{kernel} = 100 }}\n\
             [[program]]\nid = 'reader'\nafter = 'k0'\ndelay = 300\nby = 'gpu0.cu1'\ndo = ['load 0x10c0 4']\n\
             [[expect]]\nabout = 'One for each line of each L1 that was stored to.'\n\
             count = 'message type writeback from gpu0.cu*.l1 block 0x10c0'\nat-most = 1\n"
        ));
        assert!(report.passed, "{delay}: {:?}", report.failures);
    }
}

#[test]
fn a_machine_that_is_changed_under_way_still_flushes_before_launches() {
    let report = run("machine = 'tiny/umh-2gpu'\n[[kernel]]\nid = 'paths'\nname = 'floyd-warshall'\n\
         with = { nodes = 8, shorter = 50, workgroup = 4, wavefront = 4, launch = 10 }\n\
         [[input]]\nevent = 20\nset = 'network.bandwidth=32 GB/s'\n\
         [[expect]]\nthat = ['statistic launches.flush_bytes > 1000', 'statistic launches.flush_cycles > 100']\n");
    assert!(report.passed, "{:?}", report.failures);
}

#[test]
fn a_page_that_a_launch_makes_read_only_again_may_have_dirty_lines() {
    let kernel = "name = 'vector-add'\nwith = { size = 16, workgroup = 4, wavefront = 4, launch = ";
    let (one, two) = ("100, a = 0x0, b = 0x100, c = 0x2000 }", "20000, a = 0x4000, b = 0x4100, c = 0x6000 }");
    let report = run(&format!(
        "machine = 'tiny/selective-readonly'\n\
         [set]\ngpu.read_only.pages = 'all'\ngpu.read_only.marks = 'launch'\n\
         [[kernel]]\nid = 'one'\n{kernel}{one}\n[[kernel]]\nid = 'two'\nafter = 'one'\n{kernel}{two}\n\
         [[program]]\nid = 'look'\nafter = 'one'\ndelay = 24000\nby = 'host.cpu0'\ndo = ['load 0x2000 4']\n\
         [[expect]]\ncount = 'transition at gpu0.l2.0 to D block 0x2000'\nat-least = 1\n\
         [[expect]]\ncount = 'page-permission permission read-only block 0x2000'\nis = 1\n"
    ));
    assert!(report.passed, "{:?}", report.failures);
}
