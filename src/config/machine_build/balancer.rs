//! Lanes that change their direction.

use super::super::machine::{AtLaunch, BalancerSpec};
use super::super::machine_file::balancer::{BalancerFile, LaunchWord, PolicyWord};
use super::Build;
use crate::diagnostic::Result;
use crate::policy::lanes::LanePolicy;

impl Build<'_> {
    /// The balancer of the network's links.
    pub(super) fn balancer(&self, file: &BalancerFile) -> Result<BalancerSpec> {
        let count = |name: &str, given, default, limits| {
            self.check.count(&format!("network.balancer.{name}"), given, default, limits)
        };
        Ok(BalancerSpec {
            policy: match file.policy {
                Some(PolicyWord::Static) => LanePolicy::Static,
                Some(PolicyWord::Dynamic) | None => LanePolicy::Dynamic,
            },
            sample: count("sample", file.sample.as_ref(), 5000, 1..=1_000_000_000)?,
            turn: count("turn", file.turn.as_ref(), 100, 0..=1_000_000)?,
            threshold: count("threshold", file.threshold.as_ref(), 99, 1..=100)?,
            at_launch: match file.at_launch {
                Some(LaunchWord::Keep) => AtLaunch::Keep,
                Some(LaunchWord::Symmetric) | None => AtLaunch::Symmetric,
            },
        })
    }
}
