//! Bulk copies: what went where, how long tasks waited for it, and how much of it nobody needed.

use super::Sheet;
use crate::machine::Machine;
use crate::policy::copies::Side;

impl Machine {
    pub(super) fn copy_statistics(&self, sheet: &mut Sheet) {
        let Some(copies) = &self.copies else { return };
        for side in [Side::Gpu, Side::Host] {
            let (moved, name) = (copies.moved(side), side.name());
            sheet.count(format!("copies.to_{name}.transfers"), moved.transfers);
            sheet.count(format!("copies.to_{name}.pages"), moved.pages);
            sheet.count(format!("copies.to_{name}.redundant"), moved.redundant);
            let bytes = moved.pages.saturating_mul(u64::from(copies.page_size()));
            sheet.count(format!("copies.to_{name}.bytes"), bytes);
            sheet.put(format!("copies.to_{name}.cycles"), self.cycles(moved.time));
        }
    }
}
