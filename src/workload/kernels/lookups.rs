//! What the lookups of `XSBench` and `RSBench` have in common: materials, and the nuclides in them.

use super::common;

/// Materials of the Hoogenboom-Martin reactor.
pub const MATERIALS: u64 = 12;

/// The material with by far the most nuclides.
pub const FUEL: u64 = 0;

/// How often the sources draw each material, in thousandths.
const DRAWN: [u64; 12] = [140, 52, 275, 134, 154, 64, 66, 55, 8, 15, 25, 13];

/// Nuclides of each material in the sources' small model.
const NUCLIDES: [u64; 12] = [34, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9];

/// Nuclides of the fuel in their large one, which has more than 68 isotopes.
const LARGE_FUEL: u64 = 321;

/// The material that a random number draws.
pub fn material(random: u64) -> u64 {
    let mut left = random % DRAWN.iter().sum::<u64>();
    for (material, drawn) in (0..).zip(DRAWN) {
        if left < drawn {
            return material;
        }
        left -= drawn;
    }
    FUEL
}

/// Nuclides of a material in a model of so many isotopes.
pub fn nuclides(material: u64, isotopes: u64) -> u64 {
    if material == FUEL && isotopes > 68 {
        return LARGE_FUEL;
    }
    NUCLIDES.get(material as usize).copied().unwrap_or(0)
}

/// Which nuclides each material has: as many different ones as there are isotopes for.
#[derive(Clone, Debug)]
pub struct Materials(Vec<Vec<u64>>);

impl Materials {
    /// Chosen by the seed among so many isotopes.
    #[must_use]
    pub fn new(seed: u64, isotopes: u64) -> Self {
        let chosen = |material: u64| {
            let mut pool: Vec<u64> = (0..isotopes).collect();
            let count = nuclides(material, isotopes).min(isotopes) as usize;
            for nth in 0..count {
                let left = (pool.len() - nth) as u64;
                let drawn = common::scramble(seed ^ 2, material << 32 | nth as u64) % left;
                pool.swap(nth, nth + drawn as usize);
            }
            pool.truncate(count);
            pool
        };
        Self((0..MATERIALS).map(chosen).collect())
    }

    /// The n-th nuclide of a material; where there are fewer isotopes, they come again.
    #[must_use]
    pub fn nuclide(&self, material: u64, nth: u64) -> u64 {
        let own = self.0.get(material as usize).map_or(&[][..], Vec::as_slice);
        let nth = nth.checked_rem(own.len() as u64).unwrap_or(0);
        own.get(nth as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn materials_are_drawn_as_often_as_told() {
        assert_eq!(DRAWN.iter().sum::<u64>(), 1001);
        let fuel = (0..1001).filter(|random| material(*random) == FUEL).count();
        let last = (0..1001).filter(|random| material(*random) == MATERIALS - 1).count();
        assert_eq!((fuel, last), (140, 13));
        assert_eq!((nuclides(FUEL, 68), nuclides(FUEL, 355), nuclides(4, 355)), (34, 321, 27));
    }

    #[test]
    fn a_material_has_each_of_its_nuclides_once() {
        for isotopes in [68, 355] {
            let materials = Materials::new(7, isotopes);
            for material in 0..MATERIALS {
                let count = nuclides(material, isotopes);
                let own: std::collections::BTreeSet<u64> =
                    (0..count).map(|nth| materials.nuclide(material, nth)).collect();
                assert_eq!(own.len() as u64, count, "{material} of {isotopes}");
                assert!(own.iter().all(|nuclide| *nuclide < isotopes));
            }
        }
        assert_ne!(Materials::new(7, 68).nuclide(FUEL, 0), Materials::new(8, 68).nuclide(FUEL, 0));
    }
}
