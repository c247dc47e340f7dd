//! A warp's accesses, whichever tracer wrote them down.

use smallvec::SmallVec;

use super::opcode::Class;
use super::step::{Step, Touch};
use crate::model::access::AccessKind;
use crate::model::address::Address;
use crate::workload::lanes;

/// Threads of a warp on every GPU that traces come from.
pub const WARP: u32 = 32;

/// Most threads in a block (CUDA's limit).
pub const MOST_THREADS: u64 = 1024;

/// Most blocks in a grid that is believed.
pub const MOST_BLOCKS: u64 = 1 << 40;

/// Addresses end below this: GPU virtual addresses have 49 bits (Pascal and later).
pub const ADDRESS_SPACE: u64 = 1 << 49;

/// Widest access of a lane in bytes.
pub const WIDEST: u64 = 32;

/// What is wrong with an access, and what was expected.
pub type Refused = (String, String);

/// Why bulk copies are refused.
pub fn bulk_copy() -> Refused {
    let message = "bulk copies of the tensor memory accelerator are not read";
    (message.to_owned(), "loads, stores and atomics of lanes".to_owned())
}

/// Whether a lane can access so many bytes at once.
pub fn is_width(width: u64) -> bool {
    (1..=WIDEST).contains(&width)
}

/// What an instruction of this class does; `accesses` are its lanes and addresses, ascending by lane.
pub fn step(
    class: Class,
    width: u64,
    seed: u64,
    accesses: impl IntoIterator<Item = (u32, u64)>,
) -> Result<Step, Refused> {
    let kind = match class {
        Class::Compute => return Ok(Step::Compute(1)),
        Class::BulkCopy => return Err(bulk_copy()),
        Class::Barrier => return Ok(Step::Barrier),
        Class::Fence => return Ok(Step::Fence),
        Class::Load => AccessKind::Load,
        // A GPU's stores are non-coherent (UMH, section 4.1).
        Class::Store => AccessKind::NStore,
        Class::Atomic(operation) => AccessKind::Atomic(operation),
    };
    if !is_width(width) {
        return Err((format!("no lane accesses {width} B"), format!("a width of 1 to {WIDEST} B")));
    }
    let mut mask = 0u64;
    let mut addresses: SmallVec<[Address; 4]> = SmallVec::new();
    for (lane, address) in accesses {
        if address.checked_add(width).is_none_or(|end| end > ADDRESS_SPACE) {
            let message = format!("the address {address:#x} is out of reach");
            return Err((message, format!("addresses below {ADDRESS_SPACE:#x}")));
        }
        mask |= 1 << lane;
        addresses.push(Address(address));
    }
    if mask == 0 {
        return Ok(Step::Compute(1));
    }
    Ok(Step::Touch(Touch { kind, width: width as u8, lanes: lanes::compact(mask, addresses), seed }))
}
