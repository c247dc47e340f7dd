//! What the kernels share: common parameters, the phases of a thread, and lanes from a map.

use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::model::access::AccessKind;
use crate::model::operation::{Lanes, Operation, StoreValue, WarpAccess};

/// Cycles of a launch: what `MGPUSim`'s dispatcher takes for each kernel.
const LAUNCH_CYCLES: u64 = 1600;

pub const WAVEFRONT: ParameterDefinition = ParameterDefinition {
    name: "wavefront",
    about: "threads in a wavefront: 64 for AMD, 32 for CUDA",
    kind: Kind::Integer { default: 64, least: 1, most: 64 },
};
pub const ELEMENT: ParameterDefinition = ParameterDefinition {
    name: "element",
    about: "bytes of an element",
    kind: Kind::PowerOfTwo { default: 4, most: 16 },
};
pub const COMPUTE: ParameterDefinition = ParameterDefinition {
    name: "compute",
    about: "cycles that a wavefront computes between loads and stores",
    kind: Kind::Integer { default: 4, least: 0, most: 1_000_000_000 },
};
pub const LAUNCH: ParameterDefinition = launch(LAUNCH_CYCLES);
pub const STORE: ParameterDefinition = ParameterDefinition {
    name: "store",
    about: "n-store: non-coherent; store: coherent",
    kind: Kind::Choice { default: "n-store", options: &["n-store", "store"] },
};
pub const SEED: ParameterDefinition = ParameterDefinition {
    name: "seed",
    about: "stored values are a function of this and the address",
    kind: Kind::Integer { default: 1, least: 0, most: i64::MAX as u64 },
};
pub const BLOCKS: ParameterDefinition = ParameterDefinition {
    name: "blocks",
    about: "thread blocks",
    kind: Kind::Integer { default: 2, least: 1, most: 1 << 20 },
};
pub const WARPS: ParameterDefinition = ParameterDefinition {
    name: "warps",
    about: "warps of a block",
    kind: Kind::Integer { default: 1, least: 1, most: 64 },
};
pub const TIMES: ParameterDefinition = ParameterDefinition {
    name: "times",
    about: "accesses of each warp",
    kind: Kind::Integer { default: 4, least: 1, most: 1 << 20 },
};

pub const fn launch(default: u64) -> ParameterDefinition {
    ParameterDefinition {
        name: "launch",
        about: "cycles of the launch, before the first block starts",
        kind: Kind::Integer { default, least: 0, most: 1_000_000_000 },
    }
}

/// The kind of store that [`STORE`] names.
pub fn store_kind(values: &Values<'_>) -> Result<AccessKind> {
    Ok(if values.choice(STORE.name)? == "store" { AccessKind::Store } else { AccessKind::NStore })
}

/// A thread's instructions: loads, then compute, then a barrier, then stores.
#[derive(Clone, Copy, Debug)]
pub struct Phases {
    pub loads: u64,
    /// Cycles; 0 for no such instruction.
    pub compute: u32,
    pub barrier: bool,
    pub stores: u64,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The n-th load.
    Load(u64),
    Compute(u32),
    Barrier,
    /// The n-th store.
    Store(u64),
}

impl Phases {
    pub fn at(&self, index: u64) -> Option<Phase> {
        if index < self.loads {
            return Some(Phase::Load(index));
        }
        let mut index = index - self.loads;
        for (present, phase) in
            [(self.compute > 0, Phase::Compute(self.compute)), (self.barrier, Phase::Barrier)]
        {
            if present {
                if index == 0 {
                    return Some(phase);
                }
                index -= 1;
            }
        }
        (index < self.stores).then_some(Phase::Store(index))
    }
}

/// One instruction of a warp that accesses memory over and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The n-th access.
    Access(u64),
    Compute(u32),
}

/// Blocks of warps that access memory over and over: what the synthetic kernels have in common.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub blocks: u64,
    pub warps: u32,
    /// Accesses of each warp.
    pub times: u64,
    /// Cycles between each two of them; 0 for none.
    pub compute: u32,
    pub launch: u64,
}

impl Grid {
    /// What [`BLOCKS`], [`WARPS`], [`TIMES`], [`COMPUTE`] and [`launch`] say.
    pub fn read(values: &Values<'_>) -> Result<Self> {
        Ok(Self {
            blocks: values.integer(BLOCKS.name)?,
            warps: values.small(WARPS.name)?,
            times: values.integer(TIMES.name)?,
            compute: values.small(COMPUTE.name)?,
            launch: values.integer(LAUNCH.name)?,
        })
    }

    /// All warps.
    pub fn all_warps(&self) -> u64 {
        self.blocks * u64::from(self.warps)
    }

    /// Instruction `index` of a warp.
    pub fn turn(&self, block: u64, warp: u32, index: u64) -> Option<Turn> {
        if block >= self.blocks || warp >= self.warps {
            return None;
        }
        let step = if self.compute == 0 { 1 } else { 2 };
        let time = index / step;
        if index.is_multiple_of(step) {
            (time < self.times).then_some(Turn::Access(time))
        } else {
            (time + 1 < self.times).then_some(Turn::Compute(self.compute))
        }
    }
}

/// A memory instruction whose stored values come from `seed`.
pub fn access(kind: AccessKind, width: u8, lanes: Lanes, seed: u64) -> Operation {
    Operation::Access(WarpAccess { kind, width, lanes, value: StoreValue::Seed(seed), label: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_each_other() {
        let phases = Phases { loads: 2, compute: 3, barrier: true, stores: 1 };
        let all: Vec<_> = (0..9).map_while(|index| phases.at(index)).collect();
        let expected = [Phase::Load(0), Phase::Load(1), Phase::Compute(3), Phase::Barrier, Phase::Store(0)];
        assert_eq!(all, expected);
        let bare = Phases { loads: 1, compute: 0, barrier: false, stores: 1 };
        assert_eq!(bare.at(1), Some(Phase::Store(0)));
        assert_eq!(bare.at(u64::MAX), None);
    }
}
