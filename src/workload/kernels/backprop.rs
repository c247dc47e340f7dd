//! Back-propagation in a neural network of three layers: forward, the host, then new weights.
//!
//! Map (Rodinia, `backprop_cuda_kernel.cu` and `backprop_cuda.cu`), with h hidden units and workgroups of h x h threads,
//! one for each h inputs; thread (t, ty) of group `by` works on the weight `w = (h + 1) h by + (h + 1) ty + t + h + 2`:
//! - `bpnn_layerforward_CUDA`: t = 0 loads `input[h by + ty + 1]`; all load `weights[w]`, sum up in local memory, store
//!   `weights[w]` (the weight times the input!); t = 0 stores `partial[h by + ty]`;
//! - the host adds up `partial`, unit by unit, goes through the output layer and stores `delta`;
//! - `bpnn_adjust_weights_cuda`: loads `weights[w]`, `delta[t + 1]`, `input[h by + ty + 1]`, `old_weights[w]`, stores both; the
//!   first row of the first group does the same for the biases `[t + 1]`.
//!
//! Before the second launch the source copies the weights to the GPU again; with one memory nothing is copied, which is not
//! modelled. The output layer is the host's own and left out.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, HostLoop, Launch, Script, Step};
use super::parameter::Values;
use super::tiles::Tiles;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a level of the sum: four for the loop; nineteen for a power, its conversion, the remainder by it, a comparison and a
/// branch; then half of it, where the other addend is, two reads of local memory, a sum and a write.
const LEVEL: u64 = 29;
/// What a thread of the forward launch begins with: nine for its three indices, a comparison, a branch, and two addresses.
const BEGIN: u64 = 13;
/// What it loaded goes into local memory, both parts, is read there, multiplied and written back.
const PRODUCT: u64 = 6;
/// Reads what it stores as the weight.
const WEIGHT: u64 = 1;
/// A branch, an index, an address, and the sum in local memory.
const PARTIAL: u64 = 4;
/// What a thread of the second launch begins with: nine for its three indices, and four addresses.
const INDICES: u64 = 13;
/// New weight and change: two products, two sums, and six conversions, for the constants are doubles.
const CHANGE: u64 = 10;
/// Whether a thread has a bias, too: two comparisons and a branch.
const TEST: u64 = 3;
/// Its bias: two addresses, a product, two sums, and five conversions.
const BIAS: u64 = 10;

pub const DEFINITION: Definition = Definition {
    name: "backprop",
    title: "Back-propagation: rows of 68 bytes, so that neighbouring workgroups share the lines of the weights",
    source: "Rodinia, cuda/backprop: 65,536 inputs, 16 hidden units",
    own: &[
        common::count("size", "input units", 65_536, 1 << 32),
        common::power("hidden", "hidden units, and the edge of a workgroup", 16, 32),
        common::SCALE,
        common::WARP,
        common::first("input", "the input units, floats"),
        common::next("weights", "a row of weights for each input"),
        common::next("partial", "sums of each workgroup"),
        common::next("old_weights", "the weights' last changes"),
        common::next("delta", "the errors of the hidden units"),
        common::SYNC,
    ],
    shared: &common::computing_cuda(LEVEL),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::with_host(values)?;
    let hidden = values.integer("hidden")?;
    let size = common::multiple(values, "size", Scale::read(values)?.of(values.integer("size")?), hidden)?;
    let groups = size / hidden;
    let row = hidden + 1;
    let mut layout = Layout::new(values);
    let input = layout.array("input", size + 1, 4)?;
    let weights = layout.array("weights", (size + 1) * row, 4)?;
    let partial = layout.array("partial", size, 4)?;
    let old = layout.array("old_weights", (size + 1) * row, 4)?;
    let delta = layout.array("delta", row, 4)?;
    let tiles = Tiles { edge: hidden, across: 1 };
    let weight = move |at: &At| {
        let (x, y) = tiles.thread(at);
        row * hidden * at.group + row * y + x + row + 1
    };
    let input_of = move |at: &At| hidden * at.group + tiles.thread(at).1;
    let forward = Launch {
        name: "bpnn_layerforward",
        groups,
        workgroup: tiles.threads(),
        arrays: vec![input, weights, partial],
        script: forward(hidden, settings),
        map: Arc::new(move |at: At| {
            let first = tiles.thread(&at).0 == 0;
            match at.array {
                0 => first.then(|| input_of(&at) + 1),
                1 => Some(weight(&at)),
                _ => first.then(|| input_of(&at)),
            }
        }),
        settings,
    };
    let adjust = Launch {
        name: "bpnn_adjust_weights",
        groups,
        workgroup: tiles.threads(),
        arrays: vec![weights, delta, input, old],
        script: adjust(hidden, settings),
        map: Arc::new(move |at: At| {
            let (x, _) = tiles.thread(&at);
            match (at.array, at.nth) {
                (1, _) => Some(x + 1),
                (2, _) => Some(input_of(&at) + 1),
                (_, 0) => Some(weight(&at)),
                _ => Some(x + 1),
            }
        }),
        settings,
    };
    let mut steps = vec![forward.step()];
    let script = Script::default().then(groups * hidden, [Step::Load(0, 0)]).then(row, [Step::Store(1, 0)]);
    HostLoop { arrays: vec![partial, delta], script }.add(&mut steps, settings, &[0], move |at| {
        Some(if at.array == 0 { at.round % groups * hidden + at.round / groups } else { at.round })
    });
    steps.push(adjust.step());
    Ok(steps)
}

/// Computes so many instructions.
fn compute(instructions: u64, settings: Settings) -> Step {
    Step::Compute(settings.share(instructions, LEVEL))
}

fn forward(hidden: u64, settings: Settings) -> Script {
    let compute = |instructions| compute(instructions, settings);
    let loads = [compute(BEGIN), Step::Load(0, 0), Step::Barrier, Step::Load(1, 0), Step::Barrier];
    Script::default()
        .then(1, loads)
        .then(1, [compute(PRODUCT)])
        .then(u64::from(hidden.trailing_zeros()), [compute(LEVEL), Step::Barrier])
        .then(1, [compute(WEIGHT), Step::Store(1, 0), Step::Barrier, compute(PARTIAL), Step::Store(2, 0)])
}

fn adjust(hidden: u64, settings: Settings) -> Script {
    let compute = |instructions| compute(instructions, settings);
    let loads = [Step::Load(0, 0), Step::Load(1, 0), Step::Load(2, 0), Step::Load(3, 0)];
    Script::default()
        .then(1, [compute(INDICES)])
        .then(1, loads)
        .then(1, [compute(CHANGE), Step::Store(0, 0), Step::Store(3, 0), Step::Barrier, compute(TEST)])
        .then_each(
            move |group, local| u64::from(group == 0 && local < hidden),
            [
                Step::Load(0, 1),
                Step::Load(1, 1),
                Step::Load(3, 1),
                compute(BIAS),
                Step::Store(0, 1),
                Step::Store(3, 1),
            ],
        )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn forward_then_the_host_then_new_weights() {
        let steps = steps("backprop", &[("size", 64), ("scale", 2), ("hidden", 8), ("wavefront", 4)]);
        let (size, hid) = (32, 8);
        let all = (size + 1) * (hid + 1);
        let [input, weights, partial, old, delta] =
            bases([4 * (size + 1), 4 * all, 4 * size, 4 * all, 4 * (hid + 1)]);
        let (mut forward, mut adjust, mut host) = (Plain::default(), Plain::default(), Plain::default());
        for (by, ty) in (0..size / hid).flat_map(|by| (0..hid).map(move |ty| (by, ty))) {
            let index_in = hid * by + ty + 1;
            for tx in 0..hid {
                let index = (hid + 1) * hid * by + (hid + 1) * ty + tx + 1 + (hid + 1);
                forward.load(weights, index, 4);
                forward.store(weights, index, 4);
                adjust.load(delta, tx + 1, 4);
                adjust.load(input, index_in, 4);
                for array in [weights, old] {
                    adjust.load(array, index, 4);
                    adjust.store(array, index, 4);
                }
                if by == 0 && ty == 0 {
                    adjust.load(delta, tx + 1, 4);
                    for array in [weights, old] {
                        adjust.load(array, tx + 1, 4);
                        adjust.store(array, tx + 1, 4);
                    }
                }
            }
            forward.load(input, index_in, 4);
            forward.store(partial, by * hid + ty, 4);
        }
        for (j, k) in (0..hid).flat_map(|j| (0..size / hid).map(move |k| (j, k))) {
            host.host_load(partial, k * hid + j, 4);
        }
        (0..=hid).for_each(|j| host.host_store(delta, j, 4));
        assert_eq!(
            steps.iter().map(did).collect::<Vec<_>>(),
            [forward.launch(), host.host(), adjust.launch()]
        );
    }
}
