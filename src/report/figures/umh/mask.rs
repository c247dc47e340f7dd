//! Section 4.1.2: what the masks of dirty bytes take beside the data.

use super::system::MACHINE;
use crate::machine::Machine;
use crate::model::address::Address;
use crate::model::component::ComponentKind;
use crate::model::inspect::Inspect;
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, exact};

const PAPER: [f64; 2] = [12.5, 3.12];

pub const FIGURE: Figure = Figure {
    id: "umh-mask",
    claim: "byte-mask overhead at 1 bit per byte, per 4 bytes, exactly",
    paper: &PAPER,
    unit: "%",
    place: "UMH 4.1.2",
    experiments: |_| Vec::new(),
    finding,
};

/// Where it stores.
const AT: u64 = 0x10_0000;

/// A store, after which L1, L2 and SMD hold its block. Masks are kept with bytes.
fn experiment(mask_bytes: u32) -> Experiment {
    let store =
        format!("[[do]]\nid = \"store\"\nby = \"gpu0.cu0\"\nstore = {{ address = {AT}, value = 7 }}\n");
    let set = ["gpu.count=1", "values=true"].map(str::to_owned);
    Experiment {
        scenario: format!("machine = \"{MACHINE}\"\n{store}"),
        set: set.into_iter().chain([format!("gpu.memory.mask_bytes={mask_bytes}")]).collect(),
        scale: 1,
        ..Experiment::default()
    }
}

fn finding(_: Effort, _: &Results) -> Result<Finding, String> {
    let shares = [1, 4].map(|mask_bytes| overhead(&experiment(mask_bytes).machine()?));
    let shares = shares.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(Finding {
        holds: shares
            .iter()
            .zip([1, 2])
            .zip(PAPER)
            .all(|((ours, decimals), paper)| exact(*ours, paper, decimals)),
        ours: shares.into_iter().map(Some).collect(),
        scale: "1/1".to_owned(),
        note:
            "bits of the mask of a block over bits of its data, in every cache and directory of the GPU that \
               holds it"
                .to_owned(),
        charts: Vec::new(),
    })
}

/// Mask bits over data bits of the block in percent, the same at every node of the GPU.
fn overhead(machine: &Machine) -> Result<f64, String> {
    let kinds = [ComponentKind::L1, ComponentKind::L2, ComponentKind::Smd];
    let mut found: Option<(u64, u64)> = None;
    for (id, _) in machine.components().iter().filter(|(_, component)| kinds.contains(&component.kind)) {
        let Some(block) = machine.block(id, Address(AT)) else { continue };
        let Some(mask) = block.dirty else { continue };
        let (mask, data) = (u64::from(mask.len()), u64::from(block.range.len) * 8);
        if found.is_some_and(|(other_mask, other_data)| mask * other_data != other_mask * data) {
            return Err("the masks of L1, L2 and SMD differ".to_owned());
        }
        found = Some((mask, data));
    }
    let (mask, data) = found.ok_or("no cache shows a mask")?;
    Ok(mask as f64 / data as f64 * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coarser_mask_is_smaller() {
        for (bytes, share) in [(1, "12.5000"), (2, "6.2500"), (4, "3.1250"), (8, "1.5625")] {
            let overhead = overhead(&experiment(bytes).machine().unwrap()).unwrap();
            assert_eq!(format!("{overhead:.4}"), share);
        }
    }
}
