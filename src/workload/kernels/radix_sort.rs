//! Radix sort: GPUs count and permute, the host scans the counts in between, once for each digit.
//!
//! Map (AMD APP SDK 2.5, `RadixSort_Kernels.cl` and `RadixSort.cpp`), with R radices (and so many elements of each thread) and
//! groups of W threads. For each of the digits of a word:
//! - `histogram`: thread `t` loads `data[R t + i]` for i below R, counts in local memory, and stores `buckets[R t + i]` for i below R;
//! - the host replaces each count by the sum of those before it: for radix i, for thread t: loads and stores `buckets[R t + i]`;
//! - `permute`: thread `t` loads `buckets[R t + i]` for i below R, then for each i loads `data[R t + i]` twice and stores `sorted` at
//!   the place that the bucket tells;
//! - the host copies `sorted` to `data`, sixteen bytes at a time.
//!
//! Where an element goes depends on the keys: here each thread's elements have every digit once, in an order drawn from the
//! seed anew for each digit. So every count is 1, thread t's element of digit d goes to `d * threads + t`, and the places
//! are those that a real run on such keys would compute. Real keys are less even.
//!
//! Computes ten instructions for an element, counted in the source: its digit, and the counter in local memory.

use std::sync::Arc;

use super::Definition;
use super::array::Array;
use super::common::{self, Scale, Settings};
use super::launch::{At, HostLoop, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

pub const DEFINITION: Definition = Definition {
    name: "radix-sort",
    title: "Radix sort: scattered stores, and counts that go to the host and back for each digit",
    source: "AMD APP SDK 2.5, RadixSort_Kernels.cl and RadixSort.cpp; UMH (2016), Table I: 2,097,152",
    own: &[
        common::power("size", "words to be sorted", 2_097_152, 1 << 32),
        ParameterDefinition {
            name: "radices",
            about: "values of a digit; a thread takes as many elements",
            kind: Kind::PowerOfTwo { default: 256, most: 256 },
        },
        ParameterDefinition {
            name: "digits",
            about: "digits of a word, and rounds",
            kind: Kind::Integer { default: 4, least: 1, most: 32 },
        },
        common::SCALE,
        common::workgroup(64),
        common::WAVEFRONT,
        common::first("data", "the words"),
        common::next("sorted", "the words by the digit"),
        common::next("buckets", "how many words of each digit each thread has, then where they go"),
        common::SYNC,
    ],
    shared: &common::computing(10),
    build,
};

/// Elements that the host copies at once.
const VECTOR: u64 = 4;

/// What the launches share.
#[derive(Clone, Copy)]
struct Sort {
    threads: u64,
    workgroup: u64,
    radices: u64,
    data: Array,
    sorted: Array,
    buckets: Array,
    settings: Settings,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::with_host(values)?;
    let size = Scale::read(values)?.of(values.integer("size")?);
    let radices = common::multiple(values, "radices", values.integer("radices")?, VECTOR)?;
    let threads = common::multiple(values, "size", size, radices)? / radices;
    let workgroup = values.integer("workgroup")?.min(threads);
    let data = Array::place(values, "data", size, 4, None)?;
    let sorted = Array::place(values, "sorted", size, 4, Some(&data))?;
    let buckets = Array::place(values, "buckets", size, 4, Some(&sorted))?;
    let sort = Sort { threads, workgroup, radices, data, sorted, buckets, settings };
    let mut steps = Vec::new();
    for digit in 0..values.integer("digits")? {
        steps.push(sort.histogram().step());
        sort.scan(&mut steps);
        steps.push(sort.permute(digit).step());
        sort.copy(&mut steps);
    }
    Ok(steps)
}

impl Sort {
    fn launch(&self, name: &'static str, arrays: Vec<Array>, script: Script) -> Launch {
        let Self { workgroup, radices, settings, threads, .. } = *self;
        let map = move |at: At| Some((at.group * workgroup + at.local) * radices + at.round);
        let groups = threads / workgroup;
        Launch { name, groups, workgroup, arrays, script, map: Arc::new(map), settings }
    }

    fn histogram(&self) -> Launch {
        let script = Script::default()
            .then(self.radices, [Step::Load(0, 0), Step::Compute(self.settings.compute)])
            .then(1, [Step::Barrier])
            .then(self.radices, [Step::Store(1, 0)]);
        self.launch("histogram", vec![self.data, self.buckets], script)
    }

    fn permute(&self, digit: u64) -> Launch {
        let Self { threads, workgroup, radices, settings, .. } = *self;
        let compute = Step::Compute(settings.compute);
        let script = Script::default()
            .then(radices, [Step::Load(0, 0)])
            .then(1, [Step::Barrier])
            .then(radices, [Step::Load(1, 0), Step::Load(1, 0), compute, Step::Store(2, 0)]);
        let launch = self.launch("permute", vec![self.buckets, self.data, self.sorted], script);
        let straight = launch.map.clone();
        let map = move |at: At| {
            if at.array != 2 {
                return straight(at);
            }
            let thread = at.group * workgroup + at.local;
            let order = common::scramble(settings.seed, digit * threads + thread) % radices;
            Some((at.round ^ order) * threads + thread)
        };
        Launch { map: Arc::new(map), ..launch }
    }

    /// The host's scan of the counts.
    fn scan(&self, steps: &mut Vec<TaskKind>) {
        let Self { threads, radices, .. } = *self;
        let script = Script::default().then(threads * radices, [Step::Load(0, 0), Step::Store(0, 0)]);
        HostLoop { arrays: vec![self.buckets], script }.add(steps, self.settings, &[0], move |at| {
            Some(at.round % threads * radices + at.round / threads)
        });
    }

    /// The output becomes the next input.
    fn copy(&self, steps: &mut Vec<TaskKind>) {
        let times = self.threads * self.radices / VECTOR;
        let script = Script::default().then(times, [Step::Load(0, 0), Step::Store(1, 0)]);
        let arrays = [self.sorted, self.data].map(|array| array.of(4 * VECTOR)).to_vec();
        HostLoop { arrays, script }.add(steps, self.settings, &[0], |at| Some(at.round));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Touch, did, steps};
    use crate::model::access::AccessKind::{Load, NStore, Store};

    const DATA: u64 = 0x10_0000;
    const SORTED: u64 = 0x10_1000;
    const BUCKETS: u64 = 0x10_2000;

    fn all() -> Vec<Did> {
        let given = [("size", 256), ("radices", 16), ("digits", 2), ("workgroup", 8), ("wavefront", 4)];
        steps("radix-sort", &given).iter().map(did).collect()
    }

    #[test]
    fn each_digit_is_counted_scanned_permuted_and_copied() {
        let all = all();
        assert_eq!(all.len(), 8);
        let mut histogram: Vec<_> = (0..256).map(|i| Touch::new(Load, DATA + 4 * i, 4)).collect();
        histogram.extend((0..256).map(|i| Touch::new(NStore, BUCKETS + 4 * i, 4)));
        histogram.sort();
        // Radix by radix, thread by thread: a step of 16 words.
        let bucket = |n: u64| BUCKETS + 4 * (n % 16 * 16 + n / 16);
        let scanned = |n| {
            [Touch::new(Store, bucket(n), 0), Touch::new(Load, bucket(n), 4), Touch::new(Store, bucket(n), 4)]
        };
        let copied = |n: u64| {
            let from = SORTED + 16 * n;
            [Touch::new(Store, from, 0), Touch::new(Load, from, 16), Touch::new(Store, DATA + 16 * n, 16)]
        };
        for digit in [0, 4] {
            assert_eq!(all[digit], Did::Launch(histogram.clone()));
            assert_eq!(all[digit + 1], Did::Host((0..256).flat_map(scanned).collect()));
            assert_eq!(all[digit + 3], Did::Host((0..64).flat_map(copied).collect()));
        }
    }

    #[test]
    fn a_permutation_stores_every_place_once() {
        let all = all();
        let mut expected: Vec<_> = (0..256).map(|i| Touch::new(Load, BUCKETS + 4 * i, 4)).collect();
        expected.extend((0..256).flat_map(|i| [Touch::new(Load, DATA + 4 * i, 4); 2]));
        expected.extend((0..256).map(|i| Touch::new(NStore, SORTED + 4 * i, 4)));
        expected.sort();
        assert_eq!(all[2], Did::Launch(expected.clone()));
        assert_eq!(all[6], Did::Launch(expected));
    }
}
