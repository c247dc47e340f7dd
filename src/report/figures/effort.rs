//! How much of a paper's work is run.

/// How much work a figure may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// All figures in two minutes on two cores: some of the workloads, shrunk a lot.
    Quick,
    /// All workloads.
    Whole,
}

impl Effort {
    /// By what the machine is smaller that runs, if a quick look runs `1/quick` of it.
    #[must_use]
    pub fn part(self, quick: u64) -> u64 {
        match self {
            Self::Quick => quick,
            Self::Whole => 1,
        }
    }
}
