//! `XSBench`: cross sections of neutrons, looked up in tables at random.
//!
//! Map (ANL `XSBench`, `cuda/Simulation.cu`, event-based baseline), with a thread for each lookup, of an energy and a material:
//! a binary search in `energies` (of i isotopes times p points); then for each nuclide of the material: loads `mats`, `concs`,
//! `index_grid[i index + nuclide]` twice, and the twelve numbers of two neighbouring points of `nuclide_grid`; at the end stores
//! `verification`.
//!
//! Energies and materials are drawn from the seed, materials as often as the source draws them, with as many nuclides as they have
//! there; which nuclides these are is chosen by the seed. The point of a nuclide's own grid is that of a nuclide whose
//! energies are spread evenly, give or take a few.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Map, Script, Step};
use super::lookups::{FUEL, MATERIALS, Materials, material, nuclides};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions for a nuclide: index and addresses of `mats` and `concs` (three), two conversions, index and address in `index_grid`,
/// whether it is the last point (three), index and address of the point, a difference over another (ten), five cross sections between both
/// points (two each), five that are added up, and three of the loop.
const NUCLIDE: u64 = 40;
/// For a probe of the search: the half of what is left, the place, its address, comparison, two selects, what is left then, and its test.
const PROBE: u64 = 9;
/// Where a thread begins: its number and test (three), that of its first random number (two), two for the seed, four for each of two random
/// numbers, twelve materials compared (24), two places in tables, four limits and products for later, and the test of the kind of grid.
const START: u64 = 47;
/// And for each bit of the number of its first random number: two tests (five), six of arithmetic.
const BIT: u64 = 11;
/// At the end: the largest of five, which one it is, the conversion, and the address.
const END: u64 = 17;

pub const DEFINITION: Definition = Definition {
    name: "xsbench",
    title: "XSBench: random places in large tables, and the top of a search that all threads share",
    source: "ANL XSBench, cuda (event-based baseline), size small: 68 isotopes, 11,303 points; its lookups: 17,000,000",
    own: &[
        common::count(
            "isotopes",
            "isotopes: up to 68 as `small`, more as `large` has them in the fuel",
            68,
            4096,
        ),
        common::count("points", "points of each isotope's grid", 11_303, 1 << 24),
        common::count("lookups", "lookups, a thread each", 170_000, 1 << 40),
        common::SCALE,
        common::workgroup(256),
        common::WARP,
        common::first("energies", "the unionized grid, doubles"),
        common::next("index_grid", "for each energy, the point of each isotope, words"),
        common::next("nuclide_grid", "the points, six doubles each"),
        common::next("mats", "the nuclides of each material, words"),
        common::next("concs", "their concentrations, doubles"),
        common::next("verification", "what each lookup found, eight bytes"),
    ],
    shared: &common::computing_cuda(NUCLIDE),
    build,
};

/// Doubles of a point.
const POINT: u64 = 6;

/// The tables and who looks there.
#[derive(Clone, Copy, Debug)]
struct Tables {
    isotopes: u64,
    points: u64,
    lookups: u64,
    workgroup: u64,
    seed: u64,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let scale = Scale::read(values)?;
    let isotopes = values.integer("isotopes")?;
    let points = common::multiple(values, "points", scale.of(values.integer("points")?), 1)?.max(2);
    let lookups = common::multiple(values, "lookups", scale.of(values.integer("lookups")?), 1)?;
    let workgroup = values.integer("workgroup")?.min(lookups);
    let tables = Tables { isotopes, points, lookups, workgroup, seed: settings.seed };
    let most = nuclides(FUEL, isotopes);
    let mut layout = Layout::new(values);
    let arrays = vec![
        layout.array("energies", tables.energies(), 8)?,
        layout.array("index_grid", tables.energies() * isotopes, 4)?,
        layout.array("nuclide_grid", tables.energies() * POINT, 8)?,
        layout.array("mats", MATERIALS * most, 4)?,
        layout.array("concs", MATERIALS * most, 8)?,
        layout.array("verification", lookups, 8)?,
    ];
    let compute = |instructions| Step::Compute(settings.share(instructions, NUCLIDE));
    // Two random numbers for each lookup.
    let bits = u64::from(u64::BITS - (2 * lookups).leading_zeros());
    let nuclide = [Step::Load(3, 0), Step::Load(4, 0), Step::Load(1, 0), Step::Load(1, 0)]
        .into_iter()
        .chain((0..2 * POINT).map(|number| Step::Load(2, number)))
        .chain([compute(NUCLIDE)]);
    let search = u64::from(tables.energies().next_power_of_two().trailing_zeros());
    let launch = Launch {
        name: DEFINITION.name,
        groups: lookups.div_ceil(workgroup),
        workgroup,
        arrays,
        script: Script::default()
            .then(1, [compute(START + BIT * bits)])
            .then(search, [Step::Load(0, 0), compute(PROBE)])
            .then_each(move |group, local| tables.nuclides(group * workgroup + local), nuclide)
            .then(1, [compute(END), Step::Store(5, 0)]),
        map: tables.map(most),
        settings,
    };
    Ok(vec![launch.step()])
}

impl Tables {
    fn energies(&self) -> u64 {
        self.isotopes * self.points
    }

    fn material(&self, lookup: u64) -> u64 {
        material(common::scramble(!self.seed, lookup))
    }

    fn nuclides(&self, lookup: u64) -> u64 {
        if lookup < self.lookups { nuclides(self.material(lookup), self.isotopes) } else { 0 }
    }

    /// Where the n-th probe of a binary search for the interval `index` looks.
    fn probe(&self, index: u64, nth: u64) -> Option<u64> {
        let (mut lower, mut upper) = (0, self.energies() - 1);
        for _ in 0..nth {
            if upper - lower <= 1 {
                return None;
            }
            let middle = lower + (upper - lower) / 2;
            if middle > index { upper = middle } else { lower = middle }
        }
        (upper - lower > 1).then(|| lower + (upper - lower) / 2)
    }

    /// The point of a nuclide's grid below the energy of this index.
    fn point(&self, index: u64, nuclide: u64) -> u64 {
        let spread = common::scramble(self.seed ^ nuclide, index / 64) % 5;
        (index / self.isotopes + spread).saturating_sub(2).min(self.points - 2)
    }

    fn map(self, most: u64) -> Map {
        let materials = Materials::new(self.seed, self.isotopes);
        Arc::new(move |at: At| {
            let lookup = at.below(self.workgroup, self.lookups)?;
            let index = common::scramble(self.seed, lookup) % (self.energies() - 1);
            let material = self.material(lookup);
            let nuclide = || materials.nuclide(material, at.round);
            match at.array {
                0 => self.probe(index, at.round),
                1 => Some(index * self.isotopes + nuclide()),
                2 => {
                    let point = nuclide() * self.points + self.point(index, nuclide());
                    Some(point * POINT + at.nth)
                }
                3 | 4 => Some(material * most + at.round),
                _ => Some(lookup),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};
    use super::*;

    #[test]
    fn every_lookup_searches_and_reads_its_nuclides() {
        let given = [
            ("isotopes", 10),
            ("points", 40),
            ("lookups", 80),
            ("scale", 2),
            ("workgroup", 16),
            ("wavefront", 8),
            ("seed", 3),
        ];
        let (n_isotopes, n_gridpoints, lookups) = (10u64, 20, 40);
        let n_egrid = n_isotopes * n_gridpoints;
        let num_nucs = [34, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9];
        let [egrid, index_grid, nuclide_grid, mats, concs, verification] = bases([
            8 * n_egrid,
            4 * n_egrid * n_isotopes,
            48 * n_egrid,
            4 * 12 * 34,
            8 * 12 * 34,
            8 * lookups,
        ]);
        let tables = Tables { isotopes: 10, points: 20, lookups, workgroup: 16, seed: 3 };
        let mut expected = Plain::default();
        for i in 0..lookups {
            let (idx, mat) = (common::scramble(3, i) % (n_egrid - 1), tables.material(i));
            let (mut lower, mut upper) = (0, n_egrid - 1);
            while upper - lower > 1 {
                let examined = lower + (upper - lower) / 2;
                expected.load(egrid, examined, 8);
                if examined > idx { upper = examined } else { lower = examined }
            }
            assert_eq!(lower, idx);
            for j in 0..num_nucs[mat as usize] {
                let nuc = Materials::new(3, n_isotopes).nuclide(mat, j);
                let low = tables.point(idx, nuc);
                assert!(low < n_gridpoints - 1 && low.abs_diff(idx / n_isotopes) <= 2);
                expected.load(mats, mat * 34 + j, 4);
                expected.load(concs, mat * 34 + j, 8);
                expected.load(index_grid, idx * n_isotopes + nuc, 4);
                expected.load(index_grid, idx * n_isotopes + nuc, 4);
                for field in 0..6 {
                    expected.load(nuclide_grid, (nuc * n_gridpoints + low) * 6 + field, 8);
                    expected.load(nuclide_grid, (nuc * n_gridpoints + low + 1) * 6 + field, 8);
                }
            }
            expected.store(verification, i, 8);
        }
        assert_eq!(did(&steps("xsbench", &given)[0]), expected.launch());
    }
}
