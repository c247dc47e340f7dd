//! What accesses compete for.

/// A kind of resource that can hold accesses up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// The ports of caches and directories, each of which takes a message in a cycle.
    Ports,
    /// Their MSHRs.
    Mshrs,
    /// The data bus of a memory.
    Bus,
    /// Its banks, from when a row is opened until its data have moved.
    Banks,
    /// Directions of the links of the network.
    Link,
    /// The wire into a node.
    CrossbarTo,
    /// The wire out of a node.
    CrossbarFrom,
    /// The page walkers of a GMMU.
    Walkers,
    /// The SIMD units of compute units.
    Simds,
}

/// Resources of one kind at one level of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceView {
    pub kind: Resource,
    /// The level, as a title.
    pub level: &'static str,
    /// How many components have them.
    pub count: u32,
    /// Share of the time so far in which they were busy, from 0 to 1: the mean, and the busiest of them (of all banks, a single one).
    pub mean: f64,
    pub busiest: f64,
    /// The path of that one.
    pub at: String,
    /// Quoted cycles that a message waited for one, where that is known.
    pub wait: Option<f64>,
}

impl ResourceView {
    /// Whether there is but one, so that the mean tells all.
    #[must_use]
    pub fn is_one(&self) -> bool {
        self.count == 1 && self.busiest <= self.mean
    }

    /// Such as `GPU L2 ports`.
    #[must_use]
    pub fn name(&self) -> String {
        let level = self.level;
        match self.kind {
            Resource::Ports => format!("{level} ports"),
            Resource::Mshrs => format!("{level} MSHRs"),
            Resource::Bus => format!("{level} DRAM bus"),
            Resource::Banks => format!("{level} DRAM banks"),
            Resource::Link => "links".to_owned(),
            Resource::CrossbarTo => format!("crossbar to {level}"),
            Resource::CrossbarFrom => format!("crossbar from {level}"),
            Resource::Walkers => "page walkers".to_owned(),
            Resource::Simds => "SIMD units".to_owned(),
        }
    }
}

/// A bank of a DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankView {
    pub channel: u32,
    pub bank: u32,
    /// The row in its row buffer.
    pub open: Option<u64>,
    /// Requests that wait for it.
    pub waiting: u32,
}
