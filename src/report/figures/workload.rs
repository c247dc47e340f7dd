//! The workloads of UMH, Table I, and how far they are shrunk.

use super::figure::scales;
use crate::workload::suites::UMH;

/// How much work a figure may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// All figures in about three minutes: some of the workloads, shrunk a lot.
    Quick,
    /// All workloads.
    Whole,
}

/// A workload of Table I.
#[derive(Debug, PartialEq, Eq)]
pub struct Workload {
    /// As the paper abbreviates it.
    pub name: &'static str,
    pub kernel: &'static str,
    /// By what its data and the machine's capacities shrink when all workloads run, a power of two.
    whole: u64,
    /// The same for a quick look; `None` leaves it out.
    quick: Option<u64>,
}

const fn workload(place: usize, whole: u64, quick: Option<u64>) -> Workload {
    Workload { name: UMH[place].name, kernel: UMH[place].kernel, whole, quick }
}

/// In the order of the table. Small arrays shrink less: a few blocks of 4 KiB would say nothing about blocks. What takes
/// many accesses for its data shrinks more.
static TABLE_ONE: [Workload; 14] = [
    workload(0, 1, Some(8)),   // BSch
    workload(1, 1, Some(16)),  // DCT
    workload(2, 1, Some(16)),  // DH
    workload(3, 1, Some(16)),  // FW
    workload(4, 1, Some(16)),  // FWT
    workload(5, 1, Some(16)),  // Hist
    workload(6, 1, Some(16)),  // MM
    workload(7, 1, Some(4)),   // MT
    workload(8, 1, Some(64)),  // MTw
    workload(9, 1, Some(4)),   // RD
    workload(10, 16, None),    // RS
    workload(11, 4, Some(64)), // SC
    workload(12, 1, Some(16)), // SF
    workload(13, 1, Some(16)), // SLA
];

impl Workload {
    fn scale_at(&self, effort: Effort) -> Option<u64> {
        match effort {
            Effort::Quick => self.quick,
            Effort::Whole => Some(self.whole),
        }
    }
}

/// The workloads to run, each with its scale.
#[must_use]
pub fn workloads(effort: Effort) -> Vec<(&'static Workload, u64)> {
    TABLE_ONE.iter().filter_map(|workload| Some((workload, workload.scale_at(effort)?))).collect()
}

/// The workloads to compare systems on: for a quick look a few of each kind, since there are many systems.
#[must_use]
pub fn compared(effort: Effort) -> Vec<(&'static Workload, u64)> {
    const QUICK: [&str; 6] = ["BSch", "DH", "FW", "MM", "MT", "RD"];
    let is_wanted = |workload: &Workload| effort == Effort::Whole || QUICK.contains(&workload.name);
    workloads(effort).into_iter().filter(|(workload, _)| is_wanted(workload)).collect()
}

/// The scale of `workloads` in words.
#[must_use]
pub fn scale_text(workloads: &[(&Workload, u64)]) -> String {
    let named: Vec<_> = workloads.iter().map(|(workload, scale)| (workload.name, *scale)).collect();
    scales(&named)
}

/// The workloads that are left out, in words; empty if none is.
#[must_use]
pub fn left_out(effort: Effort) -> String {
    let names = TABLE_ONE.iter().filter(|workload| workload.scale_at(effort).is_none());
    let names: Vec<_> = names.map(|workload| workload.name).collect();
    if names.is_empty() { String::new() } else { format!("without {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::kernels;

    #[test]
    fn every_workload_is_a_kernel_that_takes_a_scale() {
        for workload in &TABLE_ONE {
            let kernel = kernels::find(workload.kernel).unwrap();
            assert!(kernel.parameters().any(|parameter| parameter.name == "scale"), "{}", workload.kernel);
        }
    }

    #[test]
    fn what_is_shrunk_otherwise_and_what_is_left_out_is_said() {
        let (one, two) = (&TABLE_ONE[0], &TABLE_ONE[1]);
        assert_eq!(scale_text(&[(one, 4), (two, 4)]), "1/4");
        assert_eq!(scale_text(&[(one, 8), (two, 4), (two, 4)]), "1/4, BSch 1/8");
        assert_eq!(scale_text(&[]), "");
        assert_eq!(left_out(Effort::Whole), "");
        assert!(left_out(Effort::Quick).starts_with("without "));
    }
}
