//! Every access of a kernel, for comparison with a plain loop over its map.

use crate::model::access::AccessKind;
use crate::model::operation::Operation;
use crate::workload::Kernel;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Touch {
    address: u64,
    kind: AccessKind,
    width: u8,
}

impl Touch {
    pub fn new(kind: AccessKind, address: u64, width: u8) -> Self {
        Self { address, kind, width }
    }
}

/// All accesses of all lanes, sorted; each lies in the kernel's footprint.
pub fn touches(kernel: &dyn Kernel) -> Vec<Touch> {
    let footprint = kernel.footprint();
    let mut all = Vec::new();
    for block in 0..kernel.blocks() {
        for warp in 0..kernel.warps_per_block() {
            for operation in (0..).map_while(|index| kernel.operation(block, warp, index)) {
                let Operation::Access(access) = operation else { continue };
                for (_, address) in access.lanes.iter() {
                    assert!(footprint.iter().any(|range| range.contains(address)), "{address}");
                    all.push(Touch::new(access.kind, address.0, access.width));
                }
            }
        }
    }
    all.sort();
    all
}
