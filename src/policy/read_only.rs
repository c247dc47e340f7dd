//! When to stop taking pages for read-only ("Selective GPU Caches", section 5.2): "a mechanism that tracks the rate of protection
//! faults, disabling promiscuous read-only caching when the rate exceeds a threshold".

/// What is known of the faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signals {
    /// Protection faults in the window that ends now.
    pub faults: u64,
}

/// Most protection faults in a window with which it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub faults: u64,
}

impl Limit {
    /// Whether pages are taken for read-only no longer.
    #[must_use]
    pub fn gives_up(self, signals: Signals) -> bool {
        signals.faults > self.faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_up_above_the_limit_and_not_at_it() {
        let limit = Limit { faults: 3 };
        assert_eq!([0, 3, 4].map(|faults| limit.gives_up(Signals { faults })), [false, false, true]);
    }
}
