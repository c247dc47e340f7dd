//! Square workgroups laid over a plane.

use super::launch::At;

/// Workgroups of `edge` x `edge` threads, `across` of them in a row.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    pub edge: u64,
    pub across: u64,
}

impl Tiles {
    /// Threads of a workgroup.
    pub fn threads(&self) -> u64 {
        self.edge * self.edge
    }

    /// Column and row of a thread in its workgroup.
    pub fn thread(&self, at: &At) -> (u64, u64) {
        (at.local % self.edge, at.local / self.edge)
    }

    /// Column and row of a workgroup.
    pub fn group(&self, at: &At) -> (u64, u64) {
        (at.group % self.across, at.group / self.across)
    }

    /// Column and row of a thread in the plane.
    pub fn cell(&self, at: &At) -> (u64, u64) {
        let ((x, y), (across, down)) = (self.thread(at), self.group(at));
        (across * self.edge + x, down * self.edge + y)
    }
}
