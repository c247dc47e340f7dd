//! A part of many runs, so that several machines can share them.

/// A part of the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    number: usize,
    of: usize,
}

impl Shard {
    /// Points are dealt out in turn, each turn begun by another shard: keys may have as many values as there are shards, and
    /// every shard shall have its share of the slow ones.
    #[must_use]
    pub fn has(self, point: usize) -> bool {
        let (mut left, mut turns) = (point, 0);
        while left > 0 && self.of > 1 {
            turns += left % self.of;
            left /= self.of;
        }
        turns % self.of == self.number - 1
    }
}

/// A part as it is written: `3/8`.
///
/// # Errors
/// If it is none.
pub fn shard(text: &str) -> Result<Shard, String> {
    let parse = || {
        let (number, of) = text.split_once('/')?;
        let shard = Shard { number: number.trim().parse().ok()?, of: of.trim().parse().ok()? };
        (1..=shard.of).contains(&shard.number).then_some(shard)
    };
    parse().ok_or_else(|| "expected a number and how many there are, from 1/1, such as 3/8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_disjoint_and_are_all() {
        for of in 1..9 {
            for point in 0..50 {
                assert_eq!((1..=of).filter(|&number| Shard { number, of }.has(point)).count(), 1);
            }
        }
        // Four values of a key, and three of the next one.
        let slow =
            |number| (0..12).filter(|point| point % 3 == 0 && Shard { number, of: 3 }.has(*point)).count();
        assert_eq!([1, 2, 3].map(slow).iter().max(), Some(&2));
        let many = |number| (0..1000).filter(|&point| Shard { number, of: 7 }.has(point)).count();
        assert!((1..=7).map(many).all(|count| (140..=146).contains(&count)));
        assert_eq!(shard("3/8"), Ok(Shard { number: 3, of: 8 }));
        for wrong in ["0/8", "9/8", "3", "3/", "/8", "0/0", "-1/8", "a/b"] {
            assert!(shard(wrong).is_err(), "{wrong}");
        }
    }
}
