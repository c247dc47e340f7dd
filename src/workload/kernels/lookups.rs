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

/// A nuclide of a material, as a number to be taken modulo the isotopes.
pub fn nuclide(seed: u64, material: u64, nth: u64) -> u64 {
    common::scramble(seed ^ 2, material << 32 | nth)
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
}
