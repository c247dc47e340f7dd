//! Bank account: transfers between random accounts, with atomics.
//!
//! Map (after KILO-TM's ATM benchmark), with a thread for each transfer t: loads `sources[t]`, `destinations[t]` and `amounts[t]`, then
//! an atomic addition to `accounts` at the source and one at the destination.
//!
//! The benchmark's transactions (or locks) are not modelled: each transfer is two atomics, which never fail. Accounts are
//! drawn from the seed.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::model::access::AtomicOp;
use crate::workload::TaskKind;

/// Instructions of a transfer, from the definition above: the thread's index, comparison and branch, three addresses, the comparison of
/// source and destination and its branch, two addresses, and the negative amount.
const TRANSFER: u64 = 11;

pub const DEFINITION: Definition = Definition {
    name: "bank-account",
    title: "Bank account: atomics at random places of a large array",
    source: "after KILO-TM's ATM benchmark: 1,048,576 accounts, 122,880 transfers",
    own: &[
        common::count("size", "accounts", 1_048_576, 1 << 40),
        common::count("transfers", "transfers, a thread each", 122_880, 1 << 40),
        common::SCALE,
        common::workgroup(256),
        common::WARP,
        common::first("accounts", "what each account holds, words"),
        common::next("sources", "whence each transfer goes, words"),
        common::next("destinations", "where it goes, words"),
        common::next("amounts", "how much it is, words"),
    ],
    shared: &common::computing_cuda(TRANSFER),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let scale = Scale::read(values)?;
    let size = |name| common::multiple(values, name, scale.of(values.integer(name)?), 1);
    let (accounts, transfers) = (size("size")?, size("transfers")?);
    let workgroup = values.integer("workgroup")?.min(transfers);
    let mut layout = Layout::new(values);
    let arrays = vec![
        layout.array("accounts", accounts, 4)?,
        layout.array("sources", transfers, 4)?,
        layout.array("destinations", transfers, 4)?,
        layout.array("amounts", transfers, 4)?,
    ];
    let add = |end| Step::Atomic(AtomicOp::Add, 0, end);
    let launch = Launch {
        name: DEFINITION.name,
        groups: transfers.div_ceil(workgroup),
        workgroup,
        arrays,
        script: Script::default()
            .then(1, [Step::Load(1, 0), Step::Load(2, 0), Step::Load(3, 0)])
            .then(1, [Step::Compute(settings.compute), add(0), add(1)]),
        map: Arc::new(move |at: At| {
            let transfer = at.below(workgroup, transfers)?;
            let drawn = || common::scramble(settings.seed, 2 * transfer + at.nth) % accounts;
            Some(if at.array == 0 { drawn() } else { transfer })
        }),
        settings,
    };
    Ok(vec![launch.step()])
}

#[cfg(test)]
mod tests {
    use super::super::common::scramble;
    use super::super::testing::{Plain, bases, did, steps};
    use crate::model::access::{AccessKind::Atomic, AtomicOp::Add};

    #[test]
    fn every_transfer_touches_two_accounts() {
        let given = [
            ("size", 2000),
            ("transfers", 60),
            ("scale", 2),
            ("workgroup", 8),
            ("wavefront", 4),
            ("seed", 6),
        ];
        let [accounts, sources, destinations, amounts] = bases([4000, 120, 120, 120]);
        let mut expected = Plain::default();
        for t in 0..30 {
            for array in [sources, destinations, amounts] {
                expected.load(array, t, 4);
            }
            for end in [2 * t, 2 * t + 1] {
                expected.touch(Atomic(Add), accounts, scramble(6, end) % 1000, 4);
            }
        }
        assert_eq!(did(&steps("bank-account", &given)[0]), expected.launch());
    }
}
