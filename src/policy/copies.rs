//! Which data are copied between host and GPUs before a task begins, and which copies count as up to date after that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where data can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Host memory.
    #[default]
    Host,
    /// The memories of the GPUs.
    Gpu,
}

impl Side {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Gpu => "gpu",
        }
    }

    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Host => Self::Gpu,
            Self::Gpu => Self::Host,
        }
    }
}

/// Who directs copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CopyPolicy {
    /// The programmer, with memcpy: whoever works gets the arrays that it needs, if the other side has written them since ("UMH",
    /// sections 1 and 3.1.2).
    #[default]
    Programmer,
    /// A programmer who copies "the application's entire address space" to the GPUs, and back what they wrote and the host needs ("UMH",
    /// section 1, and W in section 6.2).
    AddressSpace,
    /// The runtime of software unified memory: it does not check what is needed, and assumes that all data of whoever had them
    /// last are modified ("UMH", section 1, first and third inefficiency; Fig. 3).
    Runtime,
}

/// What is known of an array when a task is about to begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signals {
    /// The side of the task.
    pub to: Side,
    /// The task accesses it, and does not just overwrite all of it.
    pub is_needed: bool,
    /// The side of the task has it as it was last written, as far as it is known there.
    pub is_up_to_date: bool,
}

impl CopyPolicy {
    /// Whether an array is copied before the task.
    #[must_use]
    pub fn copies(self, array: Signals) -> bool {
        match self {
            Self::AddressSpace if array.to == Side::Gpu => !array.is_up_to_date,
            Self::Programmer | Self::AddressSpace => array.is_needed && !array.is_up_to_date,
            Self::Runtime => !array.is_up_to_date,
        }
    }

    /// Whether what has been copied counts as up to date where it came from.
    #[must_use]
    pub fn trusts_source(self) -> bool {
        self != Self::Runtime
    }

    /// As files name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Programmer => "programmer",
            Self::AddressSpace => "address-space",
            Self::Runtime => "runtime",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programmer_copies_what_is_needed_and_old_and_a_runtime_all_that_is_old() {
        let of = |policy: CopyPolicy, to: Side| {
            [(true, false), (true, true), (false, false), (false, true)]
                .map(|(is_needed, is_up_to_date)| policy.copies(Signals { to, is_needed, is_up_to_date }))
        };
        let (needed, all) = ([true, false, false, false], [true, false, true, false]);
        for (policy, gpu, host) in [
            (CopyPolicy::Programmer, needed, needed),
            (CopyPolicy::AddressSpace, all, needed),
            (CopyPolicy::Runtime, all, all),
        ] {
            assert_eq!((of(policy, Side::Gpu), of(policy, Side::Host)), (gpu, host), "{}", policy.name());
        }
    }
}
