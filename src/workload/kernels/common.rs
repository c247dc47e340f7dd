//! What the kernels share: common parameters, the phases of a thread, and lanes from a map.

use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::model::access::AccessKind;
use crate::model::operation::{Lanes, Operation, StoreValue, WarpAccess};
use crate::model::random::MOST_SEED;

/// Cycles of a launch: what `MGPUSim`'s dispatcher takes for each kernel.
const LAUNCH_CYCLES: u64 = 1600;

/// Cycles that a SIMD unit of 16 lanes takes for an instruction of a wavefront of 64 threads (Southern Islands).
const CYCLES: u64 = 4;

/// Cycles between a load and a store, at most. Kernels compute up to a hundred times as long elsewhere.
const MOST_CYCLES: u64 = 10_000_000;

pub const WAVEFRONT: ParameterDefinition = ParameterDefinition {
    name: "wavefront",
    about: "threads in a wavefront: 64 for AMD, 32 for CUDA",
    kind: Kind::Integer { default: 64, least: 1, most: 64 },
};
/// [`WAVEFRONT`] of a kernel that was written for CUDA.
pub const WARP: ParameterDefinition = ParameterDefinition {
    name: "wavefront",
    about: "threads in a warp",
    kind: Kind::Integer { default: 32, least: 1, most: 64 },
};
pub const ELEMENT: ParameterDefinition = ParameterDefinition {
    name: "element",
    about: "bytes of an element",
    kind: Kind::PowerOfTwo { default: 4, most: 16 },
};
/// Of kernels that are made up.
pub const COMPUTE: ParameterDefinition = compute(CYCLES, EACH);
pub const LAUNCH: ParameterDefinition = launch(LAUNCH_CYCLES);
pub const STORE: ParameterDefinition = ParameterDefinition {
    name: "store",
    about: "n-store: non-coherent; store: coherent",
    kind: Kind::Choice { default: "n-store", options: &["n-store", "store"] },
};
pub const SEED: ParameterDefinition = ParameterDefinition {
    name: "seed",
    about: "stored values are a function of this and the address; generated inputs of this",
    kind: Kind::Integer { default: 1, least: 0, most: MOST_SEED },
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

/// The largest `scale`: beyond this nothing is left of any data.
pub const MOST_SCALE: u64 = 1 << 30;

pub const SCALE: ParameterDefinition = ParameterDefinition {
    name: "scale",
    about: "the data shrinks by this factor",
    kind: Kind::PowerOfTwo { default: 1, most: MOST_SCALE },
};
/// For memories that hold a part of the data only.
pub const PIECES: ParameterDefinition = ParameterDefinition {
    name: "pieces",
    about: "launches into which each one is divided, for a memory that holds only a part of its data",
    kind: Kind::Integer { default: 1, least: 1, most: 1024 },
};
pub const WORKGROUP: ParameterDefinition = workgroup(256);
pub const SYNC: ParameterDefinition = ParameterDefinition {
    name: "sync",
    about: "how the host gets what GPUs wrote; dynamic: it asks for each access, flush: all GPUs are flushed before, \
            none: what the host does is left out",
    kind: Kind::Choice { default: "dynamic", options: &["dynamic", "flush", "none"] },
};

pub const fn workgroup(default: u64) -> ParameterDefinition {
    ParameterDefinition {
        name: "workgroup",
        about: "threads of a workgroup, if there are so many",
        kind: Kind::PowerOfTwo { default, most: 1024 },
    }
}

/// The first array of a kernel.
pub const fn first(name: &'static str, about: &'static str) -> ParameterDefinition {
    ParameterDefinition { name, about, kind: Kind::Address { default: Some(0x10_0000) } }
}

/// A further array.
pub const fn next(name: &'static str, about: &'static str) -> ParameterDefinition {
    ParameterDefinition { name, about, kind: Kind::Address { default: None } }
}

/// A size that is a power of two.
pub const fn power(name: &'static str, about: &'static str, default: u64, most: u64) -> ParameterDefinition {
    ParameterDefinition { name, about, kind: Kind::PowerOfTwo { default, most } }
}

/// A number of things, at least one.
pub const fn count(name: &'static str, about: &'static str, default: u64, most: u64) -> ParameterDefinition {
    ParameterDefinition { name, about, kind: Kind::Integer { default, least: 1, most } }
}

/// How often the host's main loop runs.
pub const fn iterations(about: &'static str, default: u64) -> ParameterDefinition {
    count("iterations", about, default, 10_000)
}

pub const fn launch(default: u64) -> ParameterDefinition {
    ParameterDefinition {
        name: "launch",
        about: "cycles of the launch, before the first block starts",
        kind: Kind::Integer { default, least: 0, most: 1_000_000_000 },
    }
}

const fn compute(default: u64, about: &'static str) -> ParameterDefinition {
    ParameterDefinition {
        name: "compute",
        about,
        kind: Kind::Integer { default, least: 0, most: MOST_CYCLES },
    }
}

/// What `compute` says.
const EACH: &str = "cycles that a wavefront computes between loads and stores";
/// The same where steps differ.
const MAIN: &str = "cycles that a warp computes between loads and stores: in the step that is executed most, and in others as much more or less \
                    as they have instructions";

/// What a kernel of real launches takes after its own parameters: one for AMD, that computes so many instructions between loads and
/// stores.
pub const fn computing(instructions: u64) -> [ParameterDefinition; 4] {
    [compute(CYCLES * instructions, EACH), LAUNCH, STORE, SEED]
}

/// The same of a kernel for CUDA, of which 32 lanes take a cycle for an instruction of a warp.
///
/// Instructions are counted in the source, as a compiler would issue them: one for each addition, multiplication (with the addition that
/// follows), conversion, comparison, branch and access to shared memory, one for an address in global memory; eight for a division, root,
/// exponential, logarithm, sine or power. What is known when the kernel is compiled takes none; a loop takes three a round, unless it is
/// said to be unrolled.
pub const fn computing_cuda(instructions: u64) -> [ParameterDefinition; 4] {
    [compute(instructions, MAIN), LAUNCH, STORE, SEED]
}

/// What the host does between launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostPart {
    /// It asks for each access to what GPUs wrote.
    Asks,
    /// All GPUs are flushed before it reads what they wrote.
    Flushes,
    /// Nothing: only the launches are of interest.
    LeftOut,
}

/// What most kernels are told about how they run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub wavefront: u32,
    /// Cycles that a wavefront computes between loads and stores.
    pub compute: u32,
    /// Cycles of a launch.
    pub launch: u64,
    pub store: AccessKind,
    pub seed: u64,
    pub host: HostPart,
}

impl Settings {
    /// Cycles of a step that computes so many instructions, where `compute` is for a step of `main` of them ([`computing_cuda`]).
    pub fn share(&self, instructions: u64, main: u64) -> u32 {
        let cycles = (u64::from(self.compute) * instructions).div_ceil(main.max(1));
        u32::try_from(cycles).unwrap_or(u32::MAX)
    }

    /// What [`WAVEFRONT`], [`COMPUTE`], [`LAUNCH`], [`STORE`] and [`SEED`] say.
    pub fn read(values: &Values<'_>) -> Result<Self> {
        Ok(Self {
            wavefront: values.small(WAVEFRONT.name)?,
            compute: values.small(COMPUTE.name)?,
            launch: values.integer(LAUNCH.name)?,
            store: store_kind(values)?,
            seed: values.integer(SEED.name)?,
            host: HostPart::Asks,
        })
    }

    /// And what [`SYNC`] says.
    pub fn with_host(values: &Values<'_>) -> Result<Self> {
        let host = match values.choice(SYNC.name)? {
            "flush" => HostPart::Flushes,
            "none" => HostPart::LeftOut,
            _ => HostPart::Asks,
        };
        Ok(Self { host, ..Self::read(values)? })
    }
}

/// Edges of large squares that are made of no tiles are multiples of this where they are not halved: words of a line.
const EDGES: u64 = 16;
/// Edges so many times that are large.
const LARGE: u64 = 8;

/// The factor by which the data of a kernel shrinks, as a number of halvings.
#[derive(Clone, Copy, Debug)]
pub struct Scale(u32);

impl Scale {
    /// What [`SCALE`] says.
    pub fn read(values: &Values<'_>) -> Result<Self> {
        Ok(Self(values.integer(SCALE.name)?.trailing_zeros()))
    }

    /// A number of elements.
    pub fn of(self, size: u64) -> u64 {
        size >> self.0
    }

    /// The edge of a square, made of tiles of this edge if of any. Where the halvings are odd in number, it is the whole number of tiles,
    /// one at least, whose square is nearest to what is left.
    pub fn edge(self, edge: u64, tile: Option<u64>) -> u64 {
        let halved = edge >> (self.0 / 2);
        if self.0.is_multiple_of(2) {
            return halved;
        }
        let of = tile.unwrap_or(if halved >= LARGE * EDGES { EDGES } else { 1 }).max(1);
        if halved < of {
            return halved;
        }
        let square = |edge: u64| u128::from(edge).pow(2);
        let left = square(halved) / 2;
        let below = (left.isqrt() as u64 / of).max(1) * of;
        [below, below + of].into_iter().min_by_key(|edge| square(*edge).abs_diff(left)).unwrap_or(below)
    }

    /// The edge of a cube that can be halved down to one of 4 to 7 (or is less), the one whose volume is nearest to what is left: grids that
    /// are made coarser need even edges. The edge itself where nothing shrinks.
    pub fn coarsened_edge(self, edge: u64) -> u64 {
        if self.0 == 0 {
            return edge;
        }
        let cube = |edge: u64| u128::from(edge).pow(3);
        let left = cube(edge) >> self.0;
        let even = (0..60).flat_map(|times| (4..=7).map(move |least: u64| least << times));
        let edges = (1..4).chain(even);
        let nearest = edges.take_while(|&one| one < edge).min_by_key(|&one| cube(one).abs_diff(left));
        nearest.filter(|_| left > 0).unwrap_or(0)
    }

    /// Width and height: the larger is halved each time.
    pub fn both(self, (width, height): (u64, u64)) -> (u64, u64) {
        let halved = |(width, height)| if width > height { (width / 2, height) } else { (width, height / 2) };
        (0..self.0).fold((width, height), |both, _| halved(both))
    }

    /// The edges of a box: the largest is halved each time, the last of equals, up or down as what is left of all comes nearest.
    pub fn volume(self, mut edges: [u64; 3]) -> [u64; 3] {
        let volume = |edges: &[u64; 3]| {
            edges.iter().fold(1_u128, |volume, edge| volume.saturating_mul(u128::from(*edge)))
        };
        let whole = volume(&edges);
        for times in 1..=self.0 {
            let Some(largest) = (0..3).max_by_key(|edge| edges[*edge]) else { break };
            let halved = |up: bool| {
                let mut halved = edges;
                halved[largest] = if up { edges[largest].div_ceil(2) } else { edges[largest] / 2 };
                halved
            };
            let left = whole.checked_shr(times).unwrap_or(0);
            let near = |edges: &[u64; 3]| volume(edges).abs_diff(left);
            edges = [halved(false), halved(true)].into_iter().min_by_key(near).unwrap_or(edges);
        }
        edges
    }
}

/// A number that looks random, from two.
pub fn scramble(seed: u64, value: u64) -> u64 {
    let mut mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ value;
    for factor in [0xbf58_476d_1ce4_e5b9u64, 0x94d0_49bb_1331_11eb] {
        mixed = (mixed ^ mixed >> 31).wrapping_mul(factor);
    }
    mixed ^ mixed >> 29
}

/// Refuses a size, after it was scaled, that is no multiple of `of` or none at all.
pub fn multiple(values: &Values<'_>, name: &str, size: u64, of: u64) -> Result<u64> {
    if size > 0 && size.is_multiple_of(of) {
        return Ok(size);
    }
    let mut complaint = values.complain(name, format!("`{name}`, scaled, is {size}"));
    complaint.expected = Some(if of > 1 { format!("a multiple of {of}") } else { "at least 1".to_owned() });
    Err(complaint)
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

    #[test]
    fn a_square_shrinks_by_the_factor_that_is_named() {
        for edge in [64u64, 512, 1024, 2408, 4096] {
            for halvings in 0..8 {
                let shrunk = Scale(halvings).edge(edge, None);
                let (area, left) = ((shrunk * shrunk) as f64, ((edge * edge) >> halvings) as f64);
                assert!((area / left - 1.0).abs() < 0.2, "{edge} by {halvings}: {shrunk}");
            }
        }
        // Of 512, 256 is nearer to what is left of 1024 than that; and one tile stays.
        let tiles = [(32, 1), (16, 1), (8, 1), (100, 0), (48, 1)];
        let edges = tiles.map(|(edge, halvings)| Scale(halvings).edge(edge, Some(16)));
        assert_eq!(edges, [16, 16, 8, 100, 32]);
        let bare = [(8, 1), (16, 3), (10, 1), (16, 5)];
        assert_eq!(bare.map(|(edge, halvings)| Scale(halvings).edge(edge, None)), [6, 6, 7, 3]);
    }
}
