//! The screen over a real session of a real machine.

use std::sync::Arc;

use crate::debug::frame::wish::Wish;
use crate::debug::frame::{Frame, session::Info};
use crate::debug::interrupt::Interrupt;
use crate::debug::origin::Origin;
use crate::debug::sample::bundled;
use crate::debug::session::Session;

/// UMH, Fig. 5 (a) and (b-1).
const FIG5: &str = r#"
title = "A second GPU writes the same line without coherence"
source = "UMH, Fig. 5 (b-1)"
machine = "tiny/umh-2gpu"
[[do]]
id = "first"
by = "gpu0.cu0"
n-store = { address = 0x1000, bytes = "07 00 00 00" }
[[do]]
id = "second"
after = "first"
by = "gpu1.cu1"
n-store = { address = 0x1004, bytes = "09 00 00 00" }
"#;

/// A session on the machine of Fig. 5.
pub fn session() -> Session {
    session_on("tiny/umh-2gpu")
}

/// A bundled lesson.
pub fn lesson(name: &str) -> Session {
    bundled(name)
}

/// The same accesses on another machine.
pub fn session_on(machine: &str) -> Session {
    let text = FIG5.replace("tiny/umh-2gpu", machine);
    let mut origin = Origin::of_text("umh/fig5-b1", &text).unwrap();
    origin.about = "2 GPUs · PCIe 16 GB/s".into();
    Session::open(origin, None)
}

/// Five loads of five pages by a compute unit whose GMMU tracks four far-faults.
pub fn paged_session() -> Session {
    let load =
        |page: u64| format!("[[do]]\nby = \"gpu0.cu0\"\nload = {{ address = {:#x}, len = 4 }}\n", page << 12);
    let loads: String = (1..6).map(load).collect();
    let text = format!("title = \"Five pages\"\nmachine = \"tiny/paged-1gpu\"\n{loads}");
    Session::open(Origin::of_text("pages", &text).unwrap(), None)
}

/// A compute unit loads from a page that is taken for read-only; then another one stores there.
pub fn read_only_session() -> Session {
    let text = r#"
title = "A page that is written"
machine = "tiny/selective-readonly"
[[do]]
id = "load"
by = "gpu0.cu1"
load = { address = 0x1000, len = 4 }
[[do]]
after = "load"
by = "gpu0.cu0"
n-store = { address = 0x1040, bytes = "07" }
"#;
    Session::open(Origin::of_text("permissions", text).unwrap(), None)
}

/// Two sectors of one line of host memory, loaded by two warps of a compute unit.
pub fn sectors_session() -> Session {
    let text = r#"
title = "Two sectors of a line"
machine = "tiny/selective-variable"
[[do]]
by = "gpu0.cu0"
load = { address = 0x1000, len = 4 }
[[do]]
by = "gpu0.cu0"
warp = 1
load = { address = 0x1040, len = 4 }
"#;
    Session::open(Origin::of_text("sectors", text).unwrap(), None)
}

/// A coherent GPU that keeps lines by sector.
pub fn coherent_sectors_session() -> Session {
    let text = include_str!("../../scenarios/selective/coherent-sectors.toml");
    Session::open(Origin::of_text("sectors", text).unwrap(), None)
}

/// GPUs round a switch whose lanes turn, while they read what the host has.
pub fn switch_session(gpus: u32) -> Session {
    let text = format!(
        r#"
title = "Lanes that turn"
[machine]
values = false
[machine.gpu]
count = {gpus}
clock = "1 GHz"
cu = {{ count = 2, wavefronts = 8, lanes = 16, outstanding = 4 }}
l1 = {{ size = "4 KiB", mshrs = 32 }}
l2 = {{ size = "16 KiB", mshrs = 64 }}
memory = {{ size = "16 KiB", ways = 8, secondary_block = "256 B" }}
[machine.host]
hmds = 2
block = "256 B"
[machine.network]
kind = "nvlink"
topology = "switch"
bandwidth = "2 GB/s"
buffers = 16
balancer = {{ sample = 1000 }}
[[kernel]]
name = "reduction"
with = {{ size = 32768, workgroup = 64, wavefront = 16, launch = 100, compute = 4 }}
"#
    );
    Session::open(Origin::of_text("lanes", &text).unwrap(), None)
}

/// The eight sockets of the NUMA paper, of 64 units and 16 slices each.
pub fn sockets_session() -> Session {
    let text = r#"
machine = "numa-8socket"
scale = 64
[[kernel]]
name = "stream-triad"
with = { size = 1048576 }
"#;
    Session::open(Origin::of_text("sockets", text).unwrap(), None)
}

/// A burst of loads of one tag.
pub fn tags_session() -> Session {
    let text = include_str!("../../scenarios/scalegpu/burst.toml");
    Session::open(Origin::of_text("tags", text).unwrap(), None)
}

/// The frame after these commands.
pub fn frame(session: &mut Session, commands: &[&str]) -> Frame {
    for command in commands {
        session.execute(command, &Interrupt::default()).unwrap();
    }
    let info: Arc<Info> = Arc::new(session.info());
    session.frame(&info, &Wish::default())
}
