//! Vector operations of iterative solvers, as conjugate gradients launch them.

use std::sync::Arc;

use super::array::Array;
use super::common::Settings;
use super::launch::{At, HostLoop, Launch, Script, Step};
use crate::workload::TaskKind;

/// Instructions of an element that is combined (`waxpby_kernel` of `miniFE`): its number, whether there is such an element, three
/// addresses, two products, and the loop over further elements.
const COMBINED: u64 = 11;
/// Of a product of two elements (`dot_kernel`): two addresses, a product that is added, and the loop.
const PRODUCT: u64 = 6;
/// Of a sum of a workgroup (`dot_final_reduce_kernel`): an address, an addition, and the loop.
const SUM: u64 = 5;
/// Of each step in which half of the threads add: a comparison and a branch, an addition, reading and writing shared memory.
const HALF: u64 = 5;
/// Of a thread of a dot product, once: its number, whether it has an element, its sum in shared memory, whether it is the first, and the
/// address of the result.
const ONCE: u64 = 7;

/// Workgroups of a dot product, at most.
const DOT_GROUPS: u64 = 512;

/// Vectors of `size` elements, and room for the sums of a dot product.
#[derive(Clone, Copy, Debug)]
pub struct Vectors {
    pub size: u64,
    pub workgroup: u64,
    /// A sum for each workgroup of a dot product: [`Self::sums`] elements.
    pub partial: Array,
    pub settings: Settings,
    /// Instructions of the step for which the settings give cycles.
    pub main: u64,
}

impl Vectors {
    /// Elements of `partial`.
    pub fn sums(size: u64, workgroup: u64) -> u64 {
        size.div_ceil(workgroup).min(DOT_GROUPS)
    }

    /// A step of so many instructions.
    fn computing(&self, instructions: u64) -> Step {
        Step::Compute(self.settings.share(instructions, self.main))
    }

    /// `output` from `inputs`, element by element: a thread for each.
    pub fn combine(&self, name: &'static str, inputs: &[Array], output: Array) -> TaskKind {
        let Self { size, workgroup, settings, .. } = *self;
        let loads = inputs.len();
        Launch {
            name,
            groups: size.div_ceil(workgroup),
            workgroup,
            arrays: inputs.iter().copied().chain([output]).collect(),
            script: Script::default()
                .then(1, (0..loads).map(|array| Step::Load(array, 0)))
                .then(1, [self.computing(COMBINED), Step::Store(loads, 0)]),
            map: Arc::new(move |at: At| at.below(workgroup, size)),
            settings,
        }
        .step()
    }

    /// The dot product of two vectors: a launch in which all threads stride through them and each workgroup stores its sum,
    /// a launch of one workgroup that adds these up, and the host, which reads the result.
    pub fn dot(&self, steps: &mut Vec<TaskKind>, left: Array, right: Array) {
        let Self { size, workgroup, partial, settings, .. } = *self;
        let groups = Self::sums(size, workgroup);
        let (half, once) = (self.computing(HALF), self.computing(ONCE));
        let tree = u64::from(workgroup.max(2).ilog2());
        let threads = groups * workgroup;
        let launch = |name, groups, arrays, rounds, script: Script, count, stride| {
            let map = move |at: At| {
                if at.nth == 1 {
                    return (at.local == 0).then_some(at.group);
                }
                Some(at.thread(workgroup) + stride * at.round).filter(|element| *element < count)
            };
            let script = script.then(tree, [Step::Barrier, half]).then(1, [once, Step::Store(rounds, 1)]);
            Launch { name, groups, workgroup, arrays, script, map: Arc::new(map), settings }.step()
        };
        let product = [Step::Load(0, 0), Step::Load(1, 0), self.computing(PRODUCT)];
        let strides = Script::default().then(size.div_ceil(threads), product);
        steps.push(launch("dot", groups, vec![left, right, partial], 2, strides, size, threads));
        let sum = [Step::Load(0, 0), self.computing(SUM)];
        let sums = Script::default().then(groups.div_ceil(workgroup), sum);
        steps.push(launch("dot_final", 1, vec![partial], 0, sums, groups, workgroup));
        let script = Script::default().then(1, [Step::Load(0, 0)]);
        HostLoop { arrays: vec![partial], script }.add(steps, settings, &[0], |_| Some(0));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, array, did, settings};
    use super::*;

    #[test]
    fn a_dot_product_ends_on_the_host() {
        let settings = Settings { wavefront: 4, ..settings(&super::super::Parameters::default()) };
        let all = array(1100 * 8, 8);
        let (x, y) = (all.part(0, 5000), all.part(2000, 5000));
        let partial = all.part(8000, 600);
        let vectors = Vectors { size: 1100, workgroup: 2, partial, settings, main: COMBINED };
        assert_eq!(Vectors::sums(1100, 2), 512);
        let mut steps = Vec::new();
        vectors.dot(&mut steps, x, y);
        let (mut dot, mut last, mut host) = (Plain::default(), Plain::default(), Plain::default());
        for element in 0..1100 {
            dot.load(x.at(0).0, element, 8);
            dot.load(y.at(0).0, element, 8);
        }
        for group in 0..512 {
            dot.store(partial.at(0).0, group, 8);
            last.load(partial.at(0).0, group, 8);
        }
        last.store(partial.at(0).0, 0, 8);
        host.host_load(partial.at(0).0, 0, 8);
        assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), [dot.launch(), last.launch(), host.host()]);
    }

    #[test]
    fn vectors_are_combined_element_by_element() {
        let settings = Settings { wavefront: 4, ..settings(&super::super::Parameters::default()) };
        let all = array(64, 8);
        let partial = all.part(60, 4);
        let vectors = Vectors { size: 10, workgroup: 4, partial, settings, main: COMBINED };
        let step = vectors.combine("waxpby", &[all.part(0, 10), all.part(10, 10)], all.part(20, 10));
        let mut expected = Plain::default();
        for element in 0..10 {
            expected.load(all.at(0).0, element, 8);
            expected.load(all.at(0).0, 10 + element, 8);
            expected.store(all.at(0).0, 20 + element, 8);
        }
        assert_eq!(did(&step), expected.launch());
    }
}
