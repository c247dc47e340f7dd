//! What copies look like from outside.

use super::{Copies, Moved};
use crate::policy::copies::Side;

impl Copies {
    /// What was copied to a side so far. To GPUs, what lies there unused counts as redundant.
    #[must_use]
    pub fn moved(&self, to: Side) -> Moved {
        match to {
            Side::Host => self.counts.to_host,
            Side::Gpu => {
                let redundant = self.counts.to_gpu.redundant + self.counts.unused();
                Moved { redundant, ..self.counts.to_gpu }
            }
        }
    }

    /// Bytes of a page.
    #[must_use]
    pub fn page_size(&self) -> u32 {
        self.shape.page
    }
}
