//! How many ways of a cache are for remote lines ("Beyond the Socket: NUMA-Aware GPUs", section 5.1, Fig. 7 (d)).

pub use crate::model::ways::WayStep as Step;

/// What the partition of the caches of a socket is decided by, over one sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Signals {
    /// Utilisation of the bandwidth of the socket's own memory, in percent.
    pub local: u32,
    /// Projected utilisation of the link into the socket, in percent: what the requests to read that left it in the sample
    /// will bring, of what the link has room for. Incoming writes do not count: they "may saturate our link bandwidth falsely".
    /// Nor do incoming requests to read and what answers the socket's own writes, but they leave less room: they have a part of the
    /// link, and what is brought, which has the rest of it, would never come to 99 % of all.
    pub ingress: u32,
    /// Percent from which on a bandwidth is saturated.
    pub threshold: u32,
}

/// Step 1: which way to go.
#[must_use]
pub fn decide(signals: Signals) -> Step {
    match (signals.ingress >= signals.threshold, signals.local >= signals.threshold) {
        (true, false) => Step::ToRemote,
        (false, true) => Step::ToLocal,
        (true, true) => Step::Equalise,
        (false, false) => Step::Keep,
    }
}

/// The ways for remote lines after a step, of `ways` in all: one at least for either.
#[must_use]
pub fn apply(step: Step, remote: u32, ways: u32) -> u32 {
    let half = ways / 2;
    let wanted = match step {
        Step::Halve => half,
        Step::ToRemote => remote + 1,
        Step::ToLocal => remote.saturating_sub(1),
        Step::Equalise if remote > half => remote - 1,
        Step::Equalise if remote < half => remote + 1,
        Step::Equalise | Step::Keep => remote,
    };
    wanted.clamp(1, ways.saturating_sub(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(local: u32, ingress: u32) -> Step {
        decide(Signals { local, ingress, threshold: 99 })
    }

    #[test]
    fn the_steps_are_those_of_the_paper() {
        assert_eq!(step(50, 99), Step::ToRemote);
        assert_eq!(step(100, 98), Step::ToLocal);
        assert_eq!(step(99, 99), Step::Equalise);
        assert_eq!(step(98, 98), Step::Keep);
    }

    #[test]
    fn one_way_at_a_time_and_never_the_last() {
        assert_eq!(apply(Step::Halve, 15, 16), 8);
        assert_eq!(apply(Step::ToRemote, 8, 16), 9);
        assert_eq!(apply(Step::ToRemote, 15, 16), 15);
        assert_eq!(apply(Step::ToLocal, 1, 16), 1);
        assert_eq!(apply(Step::Equalise, 12, 16), 11);
        assert_eq!(apply(Step::Equalise, 3, 16), 4);
        assert_eq!(apply(Step::Equalise, 8, 16), 8);
        assert_eq!(apply(Step::Keep, 5, 16), 5);
    }

    #[test]
    fn ways_always_add_up() {
        for ways in 2..=16 {
            for remote in 1..ways {
                for step in Step::CHANGING.into_iter().chain([Step::Keep]) {
                    let after = apply(step, remote, ways);
                    assert!((1..ways).contains(&after), "{step:?} {remote} of {ways}");
                    assert!(step == Step::Halve || after.abs_diff(remote) <= 1);
                }
            }
        }
    }
}
