//! Every access of a kernel, for comparison with a plain loop over its map.

use std::sync::Arc;

use super::array::Array;
use super::common::Settings;
use super::parameter::Values;
use super::{KERNELS, Parameters, Value};
use crate::diagnostic::Result;
use crate::model::access::AccessKind;
use crate::model::address::Range;
use crate::model::operation::Operation;
use crate::workload::{Kernel, Operations, TaskKind};

/// A kernel of one launch.
pub fn build(name: &str, parameters: &Parameters) -> Result<Arc<dyn Kernel>> {
    let mut steps = super::build(name, parameters)?;
    match (steps.len(), steps.pop()) {
        (1, Some(TaskKind::Kernel(kernel))) => Ok(kernel),
        (count, _) => panic!("{name} has {count} steps"),
    }
}

/// All steps of a kernel.
pub fn steps(name: &str, given: &[(&str, i64)]) -> Vec<TaskKind> {
    let given: Vec<_> = given.iter().map(|(name, value)| (*name, Value::Integer(*value))).collect();
    super::build(name, &Parameters::of(&given)).unwrap()
}

/// A step as tests name it: the accesses of a launch, or of the host, or a flush.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Did {
    Launch(Vec<Touch>),
    Host(Vec<Touch>),
    Flush,
}

/// What a step does.
pub fn did(step: &TaskKind) -> Did {
    match step {
        TaskKind::Kernel(kernel) => Did::Launch(touches(kernel.as_ref())),
        TaskKind::Program { operations: Operations::Computed(program), .. } => {
            let mut all = Vec::new();
            let operations = (0..).map_while(|index| program.operation(index));
            operations.for_each(|operation| add(&operation, &program.footprint(), &mut all));
            Did::Host(all)
        }
        TaskKind::Program { .. } => panic!("kernels compute their programs"),
        TaskKind::Flush { .. } => Did::Flush,
    }
}

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

/// The accesses of a plain loop in the source's own terms.
#[derive(Default)]
pub struct Plain(Vec<Touch>);

impl Plain {
    /// Element `index` of the array at `base`, of `width` bytes.
    pub fn load(&mut self, base: u64, index: u64, width: u8) {
        self.touch(AccessKind::Load, base, index, width);
    }
    pub fn store(&mut self, base: u64, index: u64, width: u8) {
        self.touch(AccessKind::NStore, base, index, width);
    }
    pub fn touch(&mut self, kind: AccessKind, base: u64, index: u64, width: u8) {
        self.0.push(Touch::new(kind, base + u64::from(width) * index, width));
    }
    /// As a launch, in which no order is told.
    pub fn launch(mut self) -> Did {
        self.0.sort();
        Did::Launch(self.0)
    }
    /// The host reads what GPUs wrote: it asks before.
    pub fn host_load(&mut self, base: u64, index: u64, width: u8) {
        self.0.push(Touch::new(AccessKind::Store, base + u64::from(width) * index, 0));
        self.load(base, index, width);
    }
    pub fn host_store(&mut self, base: u64, index: u64, width: u8) {
        self.touch(AccessKind::Store, base, index, width);
    }
    pub fn host(self) -> Did {
        Did::Host(self.0)
    }
}

/// Where arrays of so many bytes lie if nothing is said about it.
pub fn bases<const N: usize>(bytes: [u64; N]) -> [u64; N] {
    let mut next = 0x10_0000u64;
    bytes.map(|bytes| {
        let base = next;
        next = (base + bytes).next_multiple_of(4096);
        base
    })
}

/// The defaults that all launches share.
pub fn settings(given: &Parameters) -> Settings {
    Settings::read(&usual_values(given)).unwrap()
}

/// An array of so many elements.
pub fn array(count: u64, element: u64) -> Array {
    Array::place(&usual_values(&Parameters::default()), "a", count, element, None).unwrap()
}

/// The values of a kernel that has what most have.
fn usual_values(given: &Parameters) -> Values<'_> {
    let kernel = KERNELS.iter().find(|kernel| kernel.name == "vector-add").unwrap();
    Values::resolve(kernel.name, kernel.parameters(), given).unwrap()
}

/// All accesses of all lanes, sorted; each lies in the kernel's footprint.
pub fn touches(kernel: &dyn Kernel) -> Vec<Touch> {
    let footprint = kernel.footprint();
    let mut all = Vec::new();
    for block in 0..kernel.blocks() {
        for warp in 0..kernel.warps_per_block() {
            for operation in (0..).map_while(|index| kernel.operation(block, warp, index)) {
                add(&operation, &footprint, &mut all);
            }
        }
    }
    all.sort();
    all
}

fn add(operation: &Operation, footprint: &[Range], all: &mut Vec<Touch>) {
    let Operation::Access(access) = operation else { return };
    for (_, address) in access.lanes.iter() {
        let end = address.plus(u64::from(access.width.max(1)) - 1);
        assert!(footprint.iter().any(|range| range.contains(address) && range.contains(end)), "{address}");
        all.push(Touch::new(access.kind, address.0, access.width));
    }
}

/// Parameters of numbers and of words.
pub fn with(numbers: &[(&str, i64)], words: &[(&str, &str)]) -> Parameters {
    let numbers = numbers.iter().map(|(name, number)| (*name, Value::Integer(*number)));
    let words = words.iter().map(|(name, word)| (*name, Value::Text((*word).to_owned())));
    Parameters::of(&numbers.chain(words).collect::<Vec<_>>())
}
