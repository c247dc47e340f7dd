//! Haar wavelet transform of a signal: averages and differences, nine levels in each launch.
//!
//! From the algorithm's definition: a level replaces n values by n / 2 averages of neighbours and n / 2 differences, which are the
//! coefficients at n / 2 ... n; the next level goes on with the averages. The division into launches is that of the AMD APP SDK's
//! sample (`DwtHaar1D`): a workgroup of W threads takes 2 W values through log2(2 W) levels in local memory. Thread l of group g loads
//! `signal[2 W g + l]` and `signal[2 W g + W + l]`; at each level, of n values in all, the first half of the threads that were
//! active before stores `coefficients[n / 2 + ...]`; thread 0 stores `averages[g]`.
//!
//! Between launches the host copies what there is of `coefficients` to an array of its own and `averages` to `signal`; after the last
//! it puts the one average first, copies the coefficients of the last launch to its array, and the others back. All sixteen
//! bytes at a time. Not modelled: the copy of the signal that the sample keeps for its next iteration.
//!
//! Computes twelve instructions at each level, counted in the sample: average and difference, local memory and addresses.

use std::sync::Arc;

use super::Definition;
use super::array::Array;
use super::common::{self, Scale, Settings};
use super::launch::{At, HostLoop, Launch, Script, Step};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

pub const DEFINITION: Definition = Definition {
    name: "haar-wavelet",
    title: "Haar wavelets: half as many threads at each level; averages go through the host to the next launch",
    source: "the algorithm's definition, in launches as of AMD APP SDK 2.5, DwtHaar1D; UMH (2016), Table I: 2,097,152",
    own: &[
        common::power("size", "values of the signal", 2_097_152, 1 << 34),
        common::SCALE,
        common::WORKGROUP,
        common::WAVEFRONT,
        common::first("signal", "the signal, floats; later the averages"),
        common::next("coefficients", "the result"),
        common::next("averages", "what each workgroup leaves"),
        common::next("copy", "the host's copy of the result"),
        common::SYNC,
    ],
    shared: &common::computing(12),
    build,
};

/// The arrays, in the order in which launches and loops number them.
#[derive(Clone, Copy)]
struct Haar {
    signal: Array,
    coefficients: Array,
    averages: Array,
    copy: Array,
    settings: Settings,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::with_host(values)?;
    let size = Scale::read(values)?.of(values.integer("size")?);
    common::multiple(values, "size", size, 2)?;
    let workgroup = values.integer("workgroup")?;
    let signal = Array::place(values, "signal", size, 4, None)?;
    let coefficients = Array::place(values, "coefficients", size, 4, Some(&signal))?;
    let averages = Array::place(values, "averages", size, 4, Some(&coefficients))?;
    let copy = Array::place(values, "copy", size, 4, Some(&averages))?;
    let haar = Haar { signal, coefficients, averages, copy, settings };
    let (mut steps, mut length) = (Vec::new(), size);
    loop {
        let group = workgroup.min(length / 2);
        steps.push(haar.launch(length, group).step());
        let left = length / (2 * group);
        if left == 1 {
            haar.finish(&mut steps, length, size);
            return Ok(steps);
        }
        let moves = [(coefficients, copy, 0, length), (averages, signal, 0, left)];
        haar.host(&mut steps, &moves);
        length = left;
    }
}

impl Haar {
    /// Takes the first `length` values of the signal through as many levels as a workgroup can.
    fn launch(&self, length: u64, workgroup: u64) -> Launch {
        let levels = u64::from((2 * workgroup).trailing_zeros());
        let compute = Step::Compute(self.settings.compute);
        let map = move |at: At| match at.array {
            0 => Some(2 * workgroup * at.group + workgroup * at.nth + at.local),
            1 => {
                let active = workgroup >> at.round;
                (at.local < active).then(|| ((length / 2) >> at.round) + at.group * active + at.local)
            }
            _ => (at.local == 0).then_some(at.group),
        };
        Launch {
            name: DEFINITION.name,
            groups: length / (2 * workgroup),
            workgroup,
            arrays: vec![self.signal, self.coefficients, self.averages],
            script: Script::default()
                .then(1, [Step::Load(0, 0), Step::Load(0, 1), Step::Barrier])
                .then(levels, [Step::Barrier, compute, Step::Store(1, 0), Step::Barrier])
                .then(1, [Step::Store(2, 0)]),
            map: Arc::new(map),
            settings: self.settings,
        }
    }

    fn finish(&self, steps: &mut Vec<TaskKind>, length: u64, size: u64) {
        let Self { coefficients, averages, copy, .. } = *self;
        let moves = [
            (averages, coefficients, 0, 1),
            (coefficients, copy, 0, length),
            (copy, coefficients, length, size - length),
        ];
        self.host(steps, &moves);
    }

    /// The host copies, each time from one array to another, from an element on, so many.
    fn host(&self, steps: &mut Vec<TaskKind>, moves: &[(Array, Array, u64, u64)]) {
        let (mut arrays, mut script, mut written) = (Vec::new(), Script::default(), Vec::new());
        for (from, to, first, count) in moves.iter().filter(|(.., count)| *count > 0) {
            let number = arrays.len();
            if from.at(0) != self.copy.at(0) {
                written.push(number);
            }
            // Single elements where there are no whole vectors.
            let vector = if (first | count).is_multiple_of(4) { 4 } else { 1 };
            arrays.extend([from, to].map(|array| array.part(*first, *count).of(4 * vector)));
            script = script.then(count / vector, [Step::Load(number, 0), Step::Store(number + 1, 0)]);
        }
        HostLoop { arrays, script }.add(steps, self.settings, &written, |at| Some(at.round));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Touch, did, steps};
    use crate::model::access::AccessKind::{Load, NStore, Store};

    const SIGNAL: u64 = 0x10_0000;
    const COEFFICIENTS: u64 = 0x10_1000;
    const AVERAGES: u64 = 0x10_2000;
    const COPY: u64 = 0x10_3000;

    /// All `length` values are loaded once, and as many levels as `groups` allows leave their differences.
    fn launch(length: u64, groups: u64) -> Did {
        let mut all: Vec<_> = (0..length).map(|i| Touch::new(Load, SIGNAL + 4 * i, 4)).collect();
        all.extend((groups..length).map(|i| Touch::new(NStore, COEFFICIENTS + 4 * i, 4)));
        all.extend((0..groups).map(|group| Touch::new(NStore, AVERAGES + 4 * group, 4)));
        all.sort();
        Did::Launch(all)
    }

    fn copy(from: u64, to: u64, bytes: u64, width: u8) -> Vec<Touch> {
        let element = |at| {
            let asked = (from != COPY + 16).then(|| Touch::new(Store, from + at, 0));
            let moved = [Touch::new(Load, from + at, width), Touch::new(Store, to + at, width)];
            asked.into_iter().chain(moved).collect::<Vec<_>>()
        };
        (0..bytes / u64::from(width)).flat_map(|i| element(i * u64::from(width))).collect()
    }

    #[test]
    fn launches_take_the_averages_of_those_before() {
        // 32 values in groups of 4 threads: 3 levels of 4 groups, then 2 levels of one group of 2 threads.
        let steps = steps("haar-wavelet", &[("size", 32), ("workgroup", 4), ("wavefront", 2)]);
        let between = [copy(COEFFICIENTS, COPY, 128, 16), copy(AVERAGES, SIGNAL, 16, 16)].concat();
        let end = [
            copy(AVERAGES, COEFFICIENTS, 4, 4),
            copy(COEFFICIENTS, COPY, 16, 16),
            copy(COPY + 16, COEFFICIENTS + 16, 112, 16),
        ];
        let expected = [launch(32, 4), Did::Host(between), launch(4, 1), Did::Host(end.concat())];
        assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_level_stores_after_all_that_are_coarser() {
        // Group 1 of 4 of the first launch: its second level has 2 of the 16 averages' 8 differences, at 8 + 2 and 8 + 3.
        use super::super::testing::steps;
        use crate::model::operation::Operation;
        use crate::workload::TaskKind;
        let steps = steps("haar-wavelet", &[("size", 32), ("workgroup", 4), ("wavefront", 4)]);
        let TaskKind::Kernel(kernel) = &steps[0] else { panic!("no launch") };
        let mut stores = Vec::new();
        for operation in (0..).map_while(|index| kernel.operation(1, 0, index)) {
            let Operation::Access(access) = operation else { continue };
            if access.kind == NStore {
                stores.push(access.lanes.iter().map(|(_, address)| address.0).collect::<Vec<_>>());
            }
        }
        let coefficient = |i: u64| COEFFICIENTS + 4 * i;
        assert_eq!(stores[0], [20, 21, 22, 23].map(coefficient));
        assert_eq!(stores[1], [10, 11].map(coefficient));
        assert_eq!(stores[2], [coefficient(5)]);
        assert_eq!(stores[3], [AVERAGES + 4]);
    }
}
