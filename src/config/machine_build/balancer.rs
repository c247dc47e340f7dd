//! Lanes that change their direction.

use super::super::machine::BalancerSpec;
use super::super::machine_file::balancer::BalancerFile;
use super::Build;
use crate::diagnostic::Result;

impl Build<'_> {
    /// The balancer of the network's links.
    pub(super) fn balancer(&self, file: &BalancerFile) -> Result<BalancerSpec> {
        let count = |name: &str, given, default, limits| {
            self.check.count(&format!("network.balancer.{name}"), given, default, limits)
        };
        Ok(BalancerSpec {
            policy: file.policy.unwrap_or_default(),
            sample: count("sample", file.sample.as_ref(), 5000, 1..=1_000_000_000)?,
            turn: count("turn", file.turn.as_ref(), 100, 0..=1_000_000)?,
            threshold: count("threshold", file.threshold.as_ref(), 99, 1..=100)?,
            at_launch: file.at_launch.unwrap_or_default(),
        })
    }
}
