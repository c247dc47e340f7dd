//! Dealing thread blocks over GPUs.

/// SKE's workgroup scheduler: "the workgroups from the same application are assigned to multiple GPUs in a
/// round-robin fashion" (UMH, section 6). The block that is `nth` (from 0) of the share of `gpu`.
#[must_use]
pub fn round_robin(gpu: u64, gpus: u64, nth: u64) -> u64 {
    gpu.saturating_add(nth.saturating_mul(gpus))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_dealt_once() {
        let mut dealt: Vec<u64> =
            (0..3).flat_map(|gpu| (0..4).map(move |nth| round_robin(gpu, 3, nth))).collect();
        dealt.sort_unstable();
        assert_eq!(dealt, (0..12).collect::<Vec<_>>());
    }
}
