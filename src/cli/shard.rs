//! A part of many runs, so that several machines can share them.

/// A part of the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    number: usize,
    of: usize,
}

impl Shard {
    /// Points are dealt out in turn, so that every shard has its share of the slow ones.
    #[must_use]
    pub fn has(self, point: usize) -> bool {
        point % self.of == self.number - 1
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
        assert_eq!(shard("3/8"), Ok(Shard { number: 3, of: 8 }));
        for wrong in ["0/8", "9/8", "3", "3/", "/8", "0/0", "-1/8", "a/b"] {
            assert!(shard(wrong).is_err(), "{wrong}");
        }
    }
}
