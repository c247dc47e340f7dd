//! `RSBench`: cross sections of neutrons, computed from the poles near their energy.
//!
//! Map (ANL `RSBench`, `cuda/simulation.cu`), with a thread for each lookup, of an energy and a material: for each nuclide of the material:
//! loads `mats` and `concs`, the nuclide's number of windows, the window of the energy (three numbers, its first and last pole), and for
//! each pole in it four complex numbers and `l`; at the end stores `verification`.
//!
//! Energies and materials are drawn from the seed, materials as often as the source draws them, with as many nuclides as they
//! have there. All nuclides have the source's mean number of poles and windows, and each window its share of the poles.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::lookups::{FUEL, MATERIALS, Materials, material, nuclides};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions for a pole: index, address and three of the loop, six for its distance from the energy, twelve to choose how the Faddeeva
/// function is computed, 62 for the expansion in three terms, 16 for the sums. In one of two hundred cases, says the source, it is a sum
/// of ten terms instead, of 447 instructions, and a warp computes both then: while all of its threads have poles left in 14.8 % of all
/// rounds, and in 7 % of them as they leave one after the other, which is 31 more in the mean.
const STEP: u64 = 132;
/// For a nuclide, before its window is read: three of the loop, index and addresses of the first three loads (four), 20 for the number of
/// the window (two divisions), 131 for the phases of four angular momenta, index and address of the window, and a product for later.
///
/// The phases take index and address, four products, three arcus tangents with what goes into them (49), four that are doubled, a cosine
/// and a sine each, and eight that are written to the thread's own memory.
const NUCLIDE: u64 = 161;
/// After its poles: three products of the background, a difference, and four that are added up.
const SUMS: u64 = 8;
/// Where a thread begins: its number and test (three), that of its first random number (two), two for the seed, four for each of two random
/// numbers, twelve materials compared (24), two places in tables, a root, and the test for Doppler broadening.
const START: u64 = 51;
/// And for each bit of the number of its first random number: two tests (five), six of arithmetic.
const BIT: u64 = 11;
/// At the end: the largest of four, which one it is, the conversion, and the address.
const END: u64 = 14;

pub const DEFINITION: Definition = Definition {
    name: "rsbench",
    title: "RSBench: a few poles at random places, and much to compute for each",
    source: "ANL RSBench, cuda (event-based), size small: 68 nuclides of 1,000 poles and 100 windows; its lookups: 10,000,000",
    own: &[
        common::count(
            "isotopes",
            "nuclides: up to 68 as `small`, more as `large` has them in the fuel",
            68,
            4096,
        ),
        common::count("poles", "poles of a nuclide", 1000, 1 << 14),
        common::count("windows", "windows of a nuclide", 100, 1 << 14),
        common::count("lookups", "lookups, a thread each", 100_000, 1 << 40),
        common::SCALE,
        common::workgroup(256),
        common::WARP,
        common::first("pole_data", "the poles, nine doubles each"),
        common::next("window_data", "the windows, four doubles each"),
        common::next("window_counts", "windows of each nuclide, words"),
        common::next("mats", "the nuclides of each material, words"),
        common::next("concs", "their concentrations, doubles"),
        common::next("verification", "what each lookup found, eight bytes"),
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

/// Doubles of a pole: four complex numbers, and `l`.
const POLE: u64 = 9;
/// Doubles of a window: three numbers, and two words.
const WINDOW: u64 = 4;

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let scale = Scale::read(values)?;
    let isotopes = values.integer("isotopes")?;
    let poles = common::multiple(values, "poles", scale.of(values.integer("poles")?), 1)?;
    let windows = values.integer("windows")?.min(poles);
    let lookups = common::multiple(values, "lookups", scale.of(values.integer("lookups")?), 1)?;
    let workgroup = values.integer("workgroup")?.min(lookups);
    let (most, in_window) = (nuclides(FUEL, isotopes), poles / windows);
    let mut layout = Layout::new(values);
    let arrays = vec![
        layout.array("pole_data", isotopes * poles * POLE, 8)?,
        layout.array("window_data", isotopes * windows * WINDOW, 8)?,
        layout.array("window_counts", isotopes, 4)?,
        layout.array("mats", MATERIALS * most, 4)?,
        layout.array("concs", MATERIALS * most, 8)?,
        layout.array("verification", lookups, 8)?,
    ];
    let seed = settings.seed;
    let materials = Materials::new(seed, isotopes);
    let material_of = move |lookup| material(common::scramble(!seed, lookup));
    let trips = move |group: u64, local: u64| {
        let lookup = group * workgroup + local;
        if lookup < lookups { nuclides(material_of(lookup), isotopes) } else { 0 }
    };
    let compute = |instructions| Step::Compute(settings.share(instructions, STEP));
    // Two random numbers for each lookup.
    let bits = u64::from(u64::BITS - (2 * lookups).leading_zeros());
    let pole = |pole| (0..POLE).map(move |number| Step::Load(0, pole * POLE + number));
    let body = [Step::Load(3, 0), Step::Load(4, 0), Step::Load(2, 0), compute(NUCLIDE)]
        .into_iter()
        .chain((0..WINDOW).map(|number| Step::Load(1, number)))
        .chain((0..in_window).flat_map(|nth| pole(nth).chain([compute(STEP)])))
        .chain([compute(SUMS)]);
    let launch = Launch {
        name: DEFINITION.name,
        groups: lookups.div_ceil(workgroup),
        workgroup,
        arrays,
        script: Script::default()
            .then(1, [compute(START + BIT * bits)])
            .then_each(trips, body)
            .then(1, [compute(END), Step::Store(5, 0)]),
        map: Arc::new(move |at: At| {
            let lookup = at.below(workgroup, lookups)?;
            let material = material_of(lookup);
            let nuclide = || materials.nuclide(material, at.round);
            let window = common::scramble(seed, lookup) % windows;
            Some(match at.array {
                0 => (nuclide() * poles + window * in_window) * POLE + at.nth,
                1 => (nuclide() * windows + window) * WINDOW + at.nth,
                2 => nuclide(),
                3 | 4 => material * most + at.round,
                _ => lookup,
            })
        }),
        settings,
    };
    Ok(vec![launch.step()])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};
    use super::*;

    #[test]
    fn every_lookup_reads_the_poles_of_its_window() {
        let given = [
            ("isotopes", 70),
            ("poles", 24),
            ("windows", 4),
            ("lookups", 40),
            ("scale", 2),
            ("workgroup", 8),
            ("wavefront", 4),
            ("seed", 5),
        ];
        let num_nucs = [321, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9];
        let [poles, windows, n_windows, mats, concs, verification] =
            bases([8 * 70 * 12 * 9, 8 * 70 * 4 * 4, 4 * 70, 4 * 12 * 321, 8 * 12 * 321, 8 * 20]);
        let mut expected = Plain::default();
        for i in 0..20 {
            let (mat, window) = (material(common::scramble(!5, i)), common::scramble(5, i) % 4);
            for j in 0..num_nucs[mat as usize] {
                let nuc = Materials::new(5, 70).nuclide(mat, j);
                expected.load(mats, mat * 321 + j, 4);
                expected.load(concs, mat * 321 + j, 8);
                expected.load(n_windows, nuc, 4);
                (0..4).for_each(|field| expected.load(windows, (nuc * 4 + window) * 4 + field, 8));
                for pole in 3 * window..3 * window + 3 {
                    (0..9).for_each(|field| expected.load(poles, (nuc * 12 + pole) * 9 + field, 8));
                }
            }
            expected.store(verification, i, 8);
        }
        assert_eq!(did(&steps("rsbench", &given)[0]), expected.launch());
    }
}
