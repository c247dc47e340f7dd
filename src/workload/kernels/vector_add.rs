//! Vector addition: `c[i] = a[i] + b[i]`.

use super::array::Array;
use super::common::{self, Phase, Phases, Scale};
use super::parameter::{Kind, ParameterDefinition, Values};
use super::pieces::{self, divided};
use super::{Definition, single};
use crate::diagnostic::Result;
use crate::model::access::AccessKind;
use crate::model::address::{Address, Range};
use crate::model::operation::Operation;
use crate::workload::{Kernel, TaskKind, lanes};

/// Instructions of a thread: its index, comparison and branch, three addresses, and the addition.
const STEP: u64 = 7;

pub const DEFINITION: Definition = Definition {
    name: "vector-add",
    title: "Vector addition: unit stride, no sharing but at the ends of lines",
    source: "CUDA samples, vectorAdd.cu (50,000 floats in blocks of 256); AMD APP SDK as in MGPUSim, vectoradd",
    own: &[
        ParameterDefinition {
            name: "size",
            about: "elements of each vector",
            kind: Kind::Integer { default: 50_000, least: 1, most: 1 << 40 },
        },
        common::SCALE,
        common::ELEMENT,
        ParameterDefinition {
            name: "workgroup",
            about: "threads in a block",
            kind: Kind::Integer { default: 256, least: 1, most: 1024 },
        },
        common::WAVEFRONT,
        common::PIECES,
        ParameterDefinition {
            name: "a",
            about: "first input",
            kind: Kind::Address { default: Some(0x10_0000) },
        },
        ParameterDefinition { name: "b", about: "second input", kind: Kind::Address { default: None } },
        ParameterDefinition { name: "c", about: "output", kind: Kind::Address { default: None } },
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

#[derive(Debug)]
struct VectorAdd {
    size: u64,
    width: u8,
    workgroup: u32,
    wavefront: u32,
    a: Array,
    b: Array,
    c: Array,
    phases: Phases,
    launch: u64,
    store: AccessKind,
    seed: u64,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let size = Scale::read(values)?.of(values.integer("size")?);
    common::multiple(values, "size", size, 1)?;
    let element = values.integer("element")?;
    let a = Array::place(values, "a", size, element, None)?;
    let b = Array::place(values, "b", size, element, Some(&a))?;
    let c = Array::place(values, "c", size, element, Some(&b))?;
    let whole = single(VectorAdd {
        size,
        width: element as u8,
        workgroup: values.small("workgroup")?,
        wavefront: values.small("wavefront")?,
        a,
        b,
        c,
        phases: Phases { loads: 2, compute: values.small("compute")?, barrier: false, stores: 1 },
        launch: values.integer("launch")?,
        store: common::store_kind(values)?,
        seed: values.integer("seed")?,
    });
    let pieces = values.integer("pieces")?;
    let warps = size.div_ceil(values.integer("wavefront")?);
    pieces::check(values, 1, warps)?;
    Ok(whole.into_iter().flat_map(|step| divided(step, pieces)).collect())
}

impl VectorAdd {
    /// The element of a lane, if the lane is in its block and the element in the vector.
    fn element(&self, block: u64, warp: u32, lane: u32) -> Option<u64> {
        let thread = warp.checked_mul(self.wavefront)?.checked_add(lane)?;
        let element = block.checked_mul(u64::from(self.workgroup))?.checked_add(u64::from(thread))?;
        (thread < self.workgroup && element < self.size).then_some(element)
    }
}

impl Kernel for VectorAdd {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }
    fn blocks(&self) -> u64 {
        self.size.div_ceil(u64::from(self.workgroup))
    }
    fn warps_per_block(&self) -> u32 {
        self.workgroup.div_ceil(self.wavefront)
    }
    fn operation(&self, block: u64, warp: u32, index: u64) -> Option<Operation> {
        // A warp that lies behind the end of the vector leaves at once.
        self.element(block, warp, 0)?;
        let (array, kind) = match self.phases.at(index)? {
            Phase::Load(0) => (&self.a, AccessKind::Load),
            Phase::Load(_) => (&self.b, AccessKind::Load),
            Phase::Compute(cycles) => return Some(Operation::Compute(cycles)),
            Phase::Barrier => return Some(Operation::Barrier),
            Phase::Store(_) => (&self.c, self.store),
        };
        let address = |lane| -> Option<Address> { Some(array.at(self.element(block, warp, lane)?)) };
        let lanes = lanes::gather(self.wavefront, address)?;
        Some(common::access(kind, self.width, lanes, self.seed))
    }
    fn footprint(&self) -> Vec<Range> {
        [&self.a, &self.b, &self.c].into_iter().flat_map(Array::ranges).collect()
    }
    fn launch_overhead(&self) -> u64 {
        self.launch
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Touch, build, touches};
    use super::super::{Parameters, Value};
    use super::*;

    #[test]
    fn every_thread_touches_what_the_map_says() {
        let given =
            [("size", 1000), ("wavefront", 32), ("element", 8), ("a", 0x8000), ("b", 0), ("compute", 0)];
        let given: Vec<_> = given.iter().map(|(name, value)| (*name, Value::Integer(*value))).collect();
        let kernel = build("vector-add", &Parameters::of(&given)).unwrap();
        assert_eq!((kernel.blocks(), kernel.warps_per_block()), (4, 8));
        let mut expected = Vec::new();
        for block in 0..4u64 {
            for thread in 0..256 {
                let i = 256 * block + thread;
                if i < 1000 {
                    expected.push(Touch::new(AccessKind::Load, 0x8000 + 8 * i, 8));
                    expected.push(Touch::new(AccessKind::Load, 8 * i, 8));
                    expected.push(Touch::new(AccessKind::NStore, 0x2000 + 8 * i, 8));
                }
            }
        }
        expected.sort();
        assert_eq!(touches(kernel.as_ref()), expected);
    }

    #[test]
    fn loads_come_before_compute_before_the_store() {
        let kernel = build("vector-add", &Parameters::default()).unwrap();
        let all: Vec<_> = (0..9).map_while(|index| kernel.operation(195, 1, index)).collect();
        assert!(matches!(all[2], Operation::Compute(7)));
        assert_eq!(all.len(), 4);
        // 50,000 elements: the last block of 256 has 80 threads, so its second wavefront of 64 has 16.
        let Operation::Access(last) = &all[3] else { panic!("no store") };
        assert_eq!(last.lanes.iter().count(), 16);
        assert!(kernel.operation(195, 2, 0).is_none());
    }

    #[test]
    fn an_array_past_the_address_space_is_refused() {
        for (name, value) in [("a", -1), ("a", 1 << 48), ("a", 2), ("b", i64::MAX)] {
            let wrong = build("vector-add", &Parameters::of(&[(name, Value::Integer(value))]));
            assert!(wrong.is_err(), "{name} {value}");
        }
    }
}
