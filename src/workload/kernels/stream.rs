//! Each warp walks through memory of its own: nothing is shared.

use super::array::Array;
use super::common::{self, Grid, Turn};
use super::parameter::{Kind, ParameterDefinition, Values};
use super::{Definition, single};
use crate::diagnostic::Result;
use crate::model::access::AccessKind;
use crate::model::address::Range;
use crate::model::operation::Operation;
use crate::workload::{Kernel, TaskKind, lanes};

pub const DEFINITION: Definition = Definition {
    name: "stream",
    title: "Each warp walks through memory of its own",
    source: "synthetic",
    own: &[
        common::BLOCKS,
        common::WARPS,
        common::WAVEFRONT,
        common::TIMES,
        ParameterDefinition {
            name: "access",
            about: "what each access is",
            kind: Kind::Choice { default: "load", options: &["load", "n-store", "store"] },
        },
        common::ELEMENT,
        ParameterDefinition {
            name: "base",
            about: "the memory of the first warp; the others' follow",
            kind: Kind::Address { default: Some(0x10_0000) },
        },
        common::COMPUTE,
        common::launch(0),
        common::SEED,
    ],
    shared: &[],
    build,
};

#[derive(Debug)]
struct Stream {
    grid: Grid,
    wavefront: u32,
    kind: AccessKind,
    width: u8,
    memory: Array,
    seed: u64,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let grid = Grid::read(values)?;
    let (wavefront, element) = (values.small("wavefront")?, values.integer("element")?);
    let per_warp = u64::from(wavefront) * grid.times;
    let memory = Array::place(values, "base", grid.all_warps() * per_warp, element, None)?;
    Ok(single(Stream {
        grid,
        wavefront,
        kind: match values.choice("access")? {
            "store" => AccessKind::Store,
            "n-store" => AccessKind::NStore,
            _ => AccessKind::Load,
        },
        width: element as u8,
        memory,
        seed: values.integer("seed")?,
    }))
}

impl Kernel for Stream {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }
    fn blocks(&self) -> u64 {
        self.grid.blocks
    }
    fn warps_per_block(&self) -> u32 {
        self.grid.warps
    }
    fn operation(&self, block: u64, warp: u32, index: u64) -> Option<Operation> {
        let time = match self.grid.turn(block, warp, index)? {
            Turn::Access(time) => time,
            Turn::Compute(cycles) => return Some(Operation::Compute(cycles)),
        };
        let row = (block * u64::from(self.grid.warps) + u64::from(warp)) * self.grid.times + time;
        let first = row * u64::from(self.wavefront);
        let lanes = lanes::gather(self.wavefront, |lane| Some(self.memory.at(first + u64::from(lane))))?;
        Some(common::access(self.kind, self.width, lanes, self.seed))
    }
    fn footprint(&self) -> Vec<Range> {
        self.memory.ranges().collect()
    }
    fn launch_overhead(&self) -> u64 {
        self.grid.launch
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, touches};
    use super::super::{Parameters, Value};
    use super::*;

    #[test]
    fn no_two_accesses_meet() {
        let given = [("blocks", 3), ("warps", 2), ("wavefront", 8), ("times", 5)];
        let given: Vec<_> = given.iter().map(|(name, value)| (*name, Value::Integer(*value))).collect();
        let kernel = build("stream", &Parameters::of(&given)).unwrap();
        let touched = touches(kernel.as_ref());
        assert_eq!(touched.len(), 3 * 2 * 8 * 5);
        assert!(touched.windows(2).all(|pair| pair[0] != pair[1]));
        // Access, compute, access, ... : no compute after the last.
        assert_eq!(kernel.operation(0, 0, 1), Some(Operation::Compute(4)));
        assert!(kernel.operation(0, 0, 8).is_some() && kernel.operation(0, 0, 9).is_none());
    }
}
