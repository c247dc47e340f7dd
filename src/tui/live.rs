//! The screen over a real session of a real machine.

use std::sync::Arc;

use crate::debug::frame::wish::Wish;
use crate::debug::frame::{Frame, session::Info};
use crate::debug::interrupt::Interrupt;
use crate::debug::origin::Origin;
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

/// The frame after these commands.
pub fn frame(session: &mut Session, commands: &[&str]) -> Frame {
    for command in commands {
        session.execute(command, &Interrupt::default()).unwrap();
    }
    let info: Arc<Info> = Arc::new(session.info());
    session.frame(&info, &Wish::default())
}
