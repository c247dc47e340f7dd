//! All warps count in one word with atomics: the hottest line there can be.

use super::array::Array;
use super::common::{self, Grid, Turn};
use super::parameter::{Kind, ParameterDefinition, Values};
use super::{Definition, single};
use crate::diagnostic::Result;
use crate::model::access::{AccessKind, AtomicOp};
use crate::model::address::Range;
use crate::model::operation::{Operation, StoreValue, WarpAccess};
use crate::workload::{Kernel, TaskKind, lanes};

pub const DEFINITION: Definition = Definition {
    name: "shared-counter",
    title: "All warps count in one word with atomics",
    source: "synthetic",
    own: &[
        common::BLOCKS,
        common::WARPS,
        ParameterDefinition {
            name: "lanes",
            about: "lanes of each warp that take part",
            kind: Kind::Integer { default: 1, least: 1, most: 64 },
        },
        common::TIMES,
        ParameterDefinition {
            name: "access",
            about: "the atomic",
            kind: Kind::Choice {
                default: "atomic-add",
                options: &["atomic-add", "atomic-exchange", "atomic-max", "atomic-compare-zero-swap"],
            },
        },
        ParameterDefinition {
            name: "element",
            about: "bytes of the counter",
            kind: Kind::PowerOfTwo { default: 4, most: 8 },
        },
        ParameterDefinition {
            name: "base",
            about: "the counter",
            kind: Kind::Address { default: Some(0x10_0000) },
        },
        common::COMPUTE,
        common::launch(0),
    ],
    shared: &[],
    build,
};

#[derive(Debug)]
struct SharedCounter {
    grid: Grid,
    lanes: u32,
    operation: AtomicOp,
    width: u8,
    counter: Array,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let (grid, element) = (Grid::read(values)?, values.integer("element")?);
    Ok(single(SharedCounter {
        grid,
        lanes: values.small("lanes")?,
        operation: values
            .choice("access")?
            .strip_prefix("atomic-")
            .and_then(AtomicOp::named)
            .unwrap_or(AtomicOp::Add),
        width: element as u8,
        counter: Array::place(values, "base", 1, element, None)?,
    }))
}

impl Kernel for SharedCounter {
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
        let mut one = smallvec::smallvec![0; usize::from(self.width)];
        if let Some(low) = one.first_mut() {
            *low = 1;
        }
        Some(Operation::Access(WarpAccess {
            kind: AccessKind::Atomic(self.operation),
            width: self.width,
            lanes: lanes::gather(self.lanes, |_| Some(self.counter.at(0)))?,
            value: StoreValue::Bytes(one),
            label: None,
        }))
    }
    fn footprint(&self) -> Vec<Range> {
        self.counter.ranges().collect()
    }
    fn launch_overhead(&self) -> u64 {
        self.grid.launch
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Touch, build, touches};
    use super::super::{Parameters, Value};
    use super::*;

    #[test]
    fn every_lane_adds_one_to_the_same_word() {
        let given = [("blocks", 2), ("warps", 3), ("lanes", 4), ("times", 5), ("compute", 0)];
        let given: Vec<_> = given.iter().map(|(name, value)| (*name, Value::Integer(*value))).collect();
        let kernel = build("shared-counter", &Parameters::of(&given)).unwrap();
        let add = Touch::new(AccessKind::Atomic(AtomicOp::Add), 0x10_0000, 4);
        assert_eq!(touches(kernel.as_ref()), vec![add; 2 * 3 * 4 * 5]);
        let Some(Operation::Access(access)) = kernel.operation(1, 2, 4) else { panic!("no access") };
        assert_eq!(access.value, StoreValue::Bytes(smallvec::smallvec![1, 0, 0, 0]));
    }
}
