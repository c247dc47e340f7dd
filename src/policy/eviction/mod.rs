//! Which pages leave GPU memory when it is full ("Towards High Performance Paged Memory for GPUs", section 5.1).

mod lru;
mod lru_block;
mod random;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::page::{Page, PageSet};
use crate::model::random::Random;
use crate::model::recency::Recency;

/// An eviction policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Deserialize, Serialize, JsonSchema)]
pub enum Evictor {
    #[serde(rename = "random")]
    #[default]
    Random,
    /// The page that was accessed longest ago.
    #[serde(rename = "lru")]
    Lru,
    /// The 2 MiB that were accessed longest ago.
    #[serde(rename = "lru-2mib")]
    LruBlock,
}

/// What an eviction policy may look at.
#[derive(Debug)]
pub struct Signals<'a> {
    /// Pages in GPU memory that may leave.
    pub resident: &'a PageSet,
    /// When each of them was accessed last.
    pub pages: &'a mut Recency,
    /// The same of their blocks of 2 MiB.
    pub blocks: &'a mut Recency,
    /// Pages of a block.
    pub per_block: u64,
}

/// Bytes that `LruBlock` evicts together, as real drivers do.
pub const BLOCK: u32 = 2 << 20;

impl Evictor {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Lru => "lru",
            Self::LruBlock => "lru-2mib",
        }
    }

    /// The pages that leave together to make room; none if none may.
    #[must_use]
    pub fn choose(self, signals: &mut Signals<'_>, random: &mut Random) -> Vec<Page> {
        match self {
            Self::Random => random::choose(signals, random),
            Self::Lru => lru::choose(signals),
            Self::LruBlock => lru_block::choose(signals),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_evicts_what_its_name_says() {
        let resident: PageSet = (0..1024).map(Page).collect();
        let (mut pages, mut blocks) = (Recency::default(), Recency::default());
        for (now, page) in (0..1024).rev().enumerate() {
            pages.touch(Page(page), now as u64);
            blocks.touch(Page(page / 512), now as u64);
        }
        let mut choose = |evictor: Evictor| {
            let mut signals =
                Signals { resident: &resident, pages: &mut pages, blocks: &mut blocks, per_block: 512 };
            evictor.choose(&mut signals, &mut Random::new(1))
        };
        assert_eq!(choose(Evictor::Lru), [Page(1023)]);
        assert_eq!(choose(Evictor::LruBlock), (512..1024).map(Page).collect::<Vec<_>>());
        let drawn = choose(Evictor::Random);
        assert_eq!(drawn.len(), 1);
        assert!(resident.contains(drawn[0]));
    }
}
