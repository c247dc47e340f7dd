//! Lanes of different blocks store neighbouring elements of the same line.

use super::array::Array;
use super::common::{self, Grid, Turn};
use super::parameter::{Kind, ParameterDefinition, Values};
use super::{Definition, single};
use crate::diagnostic::Result;
use crate::model::access::AccessKind;
use crate::model::address::Range;
use crate::model::operation::{Operation, StoreValue, WarpAccess};
use crate::workload::{Kernel, TaskKind, lanes};

pub const DEFINITION: Definition = Definition {
    name: "false-sharing",
    title: "Lanes of different blocks store neighbouring elements of the same lines; each block stores its number",
    source: "synthetic",
    own: &[
        common::BLOCKS,
        common::WARPS,
        ParameterDefinition {
            name: "lanes",
            about: "lanes of each warp that take part",
            kind: Kind::Integer { default: 4, least: 1, most: 64 },
        },
        common::TIMES,
        common::STORE,
        ParameterDefinition {
            name: "element",
            about: "bytes of an element",
            kind: Kind::PowerOfTwo { default: 1, most: 16 },
        },
        ParameterDefinition {
            name: "base",
            about: "the shared memory",
            kind: Kind::Address { default: Some(0x10_0000) },
        },
        common::COMPUTE,
        common::launch(0),
    ],
    shared: &[],
    build,
};

#[derive(Debug)]
struct FalseSharing {
    grid: Grid,
    lanes: u32,
    store: AccessKind,
    width: u8,
    memory: Array,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let grid = Grid::read(values)?;
    let (lanes, element) = (values.small("lanes")?, values.integer("element")?);
    let memory = Array::place(values, "base", grid.all_warps() * u64::from(lanes), element, None)?;
    Ok(single(FalseSharing { grid, lanes, store: common::store_kind(values)?, width: element as u8, memory }))
}

impl Kernel for FalseSharing {
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
        if let Turn::Compute(cycles) = self.grid.turn(block, warp, index)? {
            return Some(Operation::Compute(cycles));
        }
        // Neighbouring elements belong to different blocks.
        let element = |lane: u32| {
            (u64::from(warp) * u64::from(self.lanes) + u64::from(lane)) * self.grid.blocks + block
        };
        let number = u128::from(block.wrapping_add(1)).to_le_bytes();
        Some(Operation::Access(WarpAccess {
            kind: self.store,
            width: self.width,
            lanes: lanes::gather(self.lanes, |lane| Some(self.memory.at(element(lane))))?,
            value: StoreValue::Bytes(number.into_iter().take(usize::from(self.width)).collect()),
            label: None,
        }))
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
    use super::super::testing::build;
    use super::super::{Parameters, Value};
    use super::*;

    #[test]
    fn neighbours_belong_to_different_blocks() {
        let given = Parameters::of(&[("blocks", Value::Integer(3)), ("lanes", Value::Integer(2))]);
        let kernel = build("false-sharing", &given).unwrap();
        let mut owners = Vec::new();
        for block in 0..kernel.blocks() {
            let Some(Operation::Access(store)) = kernel.operation(block, 0, 0) else { panic!("no store") };
            assert_eq!(store.value, StoreValue::Bytes(smallvec::smallvec![block as u8 + 1]));
            owners.extend(store.lanes.iter().map(|(_, address)| (address.0 - 0x10_0000, block)));
        }
        owners.sort_unstable();
        assert_eq!(owners, [(0, 0), (1, 1), (2, 2), (3, 0), (4, 1), (5, 2)]);
    }
}
