//! Matrix transpose through local memory, a block of the matrix per workgroup.
//!
//! Computes 20 instructions, counted in the source (float4: there are five times as many in `MGPUSim`'s disassembly).

use super::array::Array;
use super::common::{self, Phase, Phases, Scale};
use super::parameter::{Kind, ParameterDefinition, Values};
use super::transpose_float4::TransposeFloat4;
use super::transpose_shape::{NAME, Shape};
use super::{Definition, single};
use crate::diagnostic::Result;
use crate::model::access::AccessKind;
use crate::model::address::{Address, Range};
use crate::model::operation::Operation;
use crate::workload::{Kernel, TaskKind, lanes};

pub const DEFINITION: Definition = Definition {
    name: NAME,
    title: "Matrix transpose: neighbouring lanes store a row apart; blocks that write a page come from all over",
    source: "AMD APP SDK 2.5, MatrixTranspose_Kernels.cl; variant float4: MGPUSim, \
             amdappsdk/matrixtranspose; UMH (2016), Table I: 1024 x 1024",
    own: &[
        ParameterDefinition {
            name: "width",
            about: "columns of the input",
            kind: Kind::Integer { default: 1024, least: 1, most: 1 << 20 },
        },
        ParameterDefinition {
            name: "height",
            about: "rows of the input (float4: as many as columns)",
            kind: Kind::Integer { default: 1024, least: 1, most: 1 << 20 },
        },
        common::SCALE,
        ParameterDefinition {
            name: "variant",
            about: "amd: an element per thread; float4: 4 x 4 elements per thread",
            kind: Kind::Choice { default: "amd", options: &["amd", "float4"] },
        },
        ParameterDefinition {
            name: "edge",
            about: "threads along each side of a workgroup",
            kind: Kind::Integer { default: 16, least: 1, most: 32 },
        },
        ParameterDefinition {
            name: "barrier",
            about: "wait for the workgroup between loads and stores, as the sources do",
            kind: Kind::Choice { default: "yes", options: &["yes", "no"] },
        },
        common::ELEMENT,
        common::WAVEFRONT,
        ParameterDefinition {
            name: "input",
            about: "the matrix",
            kind: Kind::Address { default: Some(0x10_0000) },
        },
        ParameterDefinition { name: "output", about: "its transpose", kind: Kind::Address { default: None } },
    ],
    shared: &common::computing(20),
    build,
};

#[derive(Debug)]
struct Transpose {
    shape: Shape,
    width: u8,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let given = (values.integer("width")?, values.integer("height")?);
    let (width, height) = Scale::read(values)?.both(given);
    common::multiple(values, "width", width, 1)?;
    common::multiple(values, "height", height, 1)?;
    let element = values.integer("element")?;
    let float4 = values.choice("variant")? == "float4";
    // A thread of the second variant accesses four neighbours of a row at once, in four rows.
    let per_access = if float4 { 4 } else { 1 };
    if float4 && width != height {
        return Err(
            values.complain("height", "the float4 variant transposes square matrices: width is height")
        );
    }
    if !width.is_multiple_of(per_access) {
        return Err(values.complain("width", "the float4 variant needs a width that is a multiple of 4"));
    }
    let vector = element * per_access;
    let count = width / per_access * height;
    let input = Array::place(values, "input", count, vector, None)?;
    let output = Array::place(values, "output", count, vector, Some(&input))?;
    let shape = Shape {
        width: width / per_access,
        height: height / per_access,
        edge: values.integer("edge")?,
        wavefront: values.small("wavefront")?,
        input,
        output,
        phases: Phases {
            loads: per_access,
            compute: values.small("compute")?,
            barrier: values.choice("barrier")? == "yes",
            stores: per_access,
        },
        launch: values.integer("launch")?,
        store: common::store_kind(values)?,
        seed: values.integer("seed")?,
    };
    let width = vector as u8;
    Ok(if float4 { single(TransposeFloat4 { shape, width }) } else { single(Transpose { shape, width }) })
}

impl Transpose {
    /// Column and row of the input that a lane copies.
    fn element(&self, block: u64, warp: u32, lane: u32) -> Option<(u64, u64)> {
        let Shape { width, height, edge, .. } = self.shape;
        let across = width.div_ceil(edge);
        let (x, y) = self.shape.local(warp, lane)?;
        let column = block.checked_rem(across)? * edge + x;
        let row = block.checked_div(across)?.checked_mul(edge)?.checked_add(y)?;
        (column < width && row < height).then_some((column, row))
    }

    fn address(&self, block: u64, warp: u32, lane: u32, store: bool) -> Option<Address> {
        let (column, row) = self.element(block, warp, lane)?;
        Some(if store {
            self.shape.output.at(column * self.shape.height + row)
        } else {
            self.shape.input.at(row * self.shape.width + column)
        })
    }
}

impl Kernel for Transpose {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }
    fn blocks(&self) -> u64 {
        self.shape.width.div_ceil(self.shape.edge) * self.shape.height.div_ceil(self.shape.edge)
    }
    fn warps_per_block(&self) -> u32 {
        self.shape.warps_per_block()
    }
    fn operation(&self, block: u64, warp: u32, index: u64) -> Option<Operation> {
        let phase = self.shape.phases.at(index)?;
        let store = matches!(phase, Phase::Store(_));
        // A wavefront none of whose elements is in the matrix leaves at once.
        let lanes = lanes::gather(self.shape.wavefront, |lane| self.address(block, warp, lane, store))?;
        Some(match phase {
            Phase::Compute(cycles) => Operation::Compute(cycles),
            Phase::Barrier => Operation::Barrier,
            Phase::Load(_) => common::access(AccessKind::Load, self.width, lanes, self.shape.seed),
            Phase::Store(_) => common::access(self.shape.store, self.width, lanes, self.shape.seed),
        })
    }
    fn footprint(&self) -> Vec<Range> {
        self.shape.footprint()
    }
    fn launch_overhead(&self) -> u64 {
        self.shape.launch
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::testing::{Touch, build, touches};
    use super::super::{Parameters, Value};
    use super::*;
    use crate::model::operation::Lanes;

    fn transpose(given: &[(&str, i64)]) -> Arc<dyn Kernel> {
        let given: Vec<_> = given.iter().map(|(name, value)| (*name, Value::Integer(*value))).collect();
        build("transpose", &Parameters::of(&given)).unwrap()
    }

    /// The map of the source: in[gy*width + gx], out[(16X + lx)*height + 16Y + ly].
    fn map(width: u64, height: u64, input: u64, output: u64) -> Vec<Touch> {
        let mut expected = Vec::new();
        for (gx, gy) in (0..height).flat_map(|gy| (0..width).map(move |gx| (gx, gy))) {
            let (x, lx, y, ly) = (gx / 16, gx % 16, gy / 16, gy % 16);
            expected.push(Touch::new(AccessKind::Load, input + 4 * (gy * width + gx), 4));
            let out = (16 * x + lx) * height + 16 * y + ly;
            expected.push(Touch::new(AccessKind::NStore, output + 4 * out, 4));
        }
        expected.sort();
        expected
    }

    #[test]
    fn every_thread_touches_what_the_map_says() {
        assert_eq!(touches(transpose(&[("scale", 256)]).as_ref()), map(64, 64, 0x10_0000, 0x10_4000));
        let odd = transpose(&[("width", 37), ("height", 50), ("wavefront", 32), ("output", 0)]);
        assert_eq!(odd.blocks(), 3 * 4);
        assert_eq!(touches(odd.as_ref()), map(37, 50, 0x10_0000, 0));
    }

    #[test]
    fn a_lane_is_where_the_map_puts_it() {
        // Block 5 of a 64 x 64 matrix is X = 1, Y = 1; lane 17 of wavefront 1 is lx = 1, ly = 5.
        let kernel = transpose(&[("width", 64), ("height", 64)]);
        let Some(Operation::Access(load)) = kernel.operation(5, 1, 0) else { panic!("no load") };
        let lane = |lanes: &Lanes| lanes.iter().find(|(lane, _)| *lane == 17).unwrap().1.0;
        assert_eq!(lane(&load.lanes), 0x10_0000 + 4 * ((16 + 5) * 64 + 16 + 1));
        let Some(Operation::Access(store)) = kernel.operation(5, 1, 3) else { panic!("no store") };
        assert_eq!(lane(&store.lanes), 0x10_4000 + 4 * ((16 + 1) * 64 + 16 + 5));
        assert_eq!(kernel.operation(5, 1, 2), Some(Operation::Barrier));
        assert_eq!(kernel.operation(5, 1, 4), None);
    }

    #[test]
    fn a_matrix_past_the_address_space_is_refused() {
        let huge = [("width", Value::Integer(1 << 20)), ("height", Value::Integer(1 << 20))];
        assert!(build("transpose", &Parameters::of(&huge)).is_ok());
        let with_base = [huge.as_slice(), &[("input", Value::Integer((1 << 48) - 4096))]].concat();
        assert!(build("transpose", &Parameters::of(&with_base)).is_err());
    }
}
