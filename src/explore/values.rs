//! Bytes as classes. A protocol moves bytes and never looks at them, so it is enough to know of each whether it is the one that
//! was stored last; the explorer keeps that in place of a value, and puts it right at every store.

/// Older than the last coherent store: no coherent load may read it.
pub const STALE: u8 = 0;
/// Written by the last coherent store.
pub const CURRENT: u8 = 1;
/// Written by a non-coherent store since.
pub const LOOSE: u8 = 2;
/// What a coherent store writes: at its end `CURRENT`, and all else is `STALE`.
pub const STORING: u8 = 3;
/// What a non-coherent store writes: at its end `LOOSE`.
pub const STORING_LOOSE: u8 = 4;
/// What a node has of a byte to which it has handed on a coherent store: whoever is above it may see that before it is performed, or
/// what was there before until it is answered.
pub const OWN: u8 = 5;

/// What an input did to the tracked bytes, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stored {
    /// Stored coherently: what anybody else has of them is stale.
    pub coherent: u8,
    /// Stored non-coherently, and not coherently after that.
    pub loose: u8,
}

impl Stored {
    /// The class of tracked byte `index` at the node that stored, in place of `class`.
    #[must_use]
    pub fn here(self, index: u32, class: u8) -> u8 {
        let is = |bits: u8| bits >> index & 1 == 1;
        match class {
            STORING => CURRENT,
            STORING_LOOSE if is(self.coherent) && !is(self.loose) => STALE,
            STORING_LOOSE => LOOSE,
            _ if is(self.coherent) => STALE,
            class => class,
        }
    }

    /// Notes that a byte of such a class was put somewhere. One that was stored before is only written back.
    pub fn note(&mut self, index: u32, class: u8) {
        let bit = 1 << index;
        match class {
            STORING => (self.coherent, self.loose) = (self.coherent | bit, self.loose & !bit),
            STORING_LOOSE | LOOSE => self.loose |= bit,
            _ => {}
        }
    }

    /// Whether a class is older than the last coherent store, of which these are the latest.
    #[must_use]
    pub fn is_stale(self, index: u32, class: u8) -> bool {
        let is_new = self.coherent >> index & 1 == 1;
        class == STALE || is_new && matches!(class, CURRENT | LOOSE | OWN)
    }

    /// Which bytes have been stored non-coherently since their last coherent store, given which had been.
    #[must_use]
    pub fn after(self, loose: u8) -> u8 {
        loose & !self.coherent | self.loose
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coherent_store_makes_all_else_stale() {
        let stored = Stored { coherent: 0b01, loose: 0 };
        assert_eq!([0, 1, 2, 3].map(|class| stored.here(0, class)), [STALE, STALE, STALE, CURRENT]);
        assert_eq!([0, 1, 2, 4].map(|class| stored.here(1, class)), [STALE, CURRENT, LOOSE, LOOSE]);
        assert_eq!(stored.after(0b11), 0b10);
    }

    #[test]
    fn what_is_written_back_is_not_stored_again() {
        let noted = |class| {
            let mut stored = Stored::default();
            stored.note(0, class);
            stored
        };
        assert_eq!([STALE, CURRENT, OWN].map(noted), [Stored::default(); 3]);
        assert_eq!(noted(STORING_LOOSE), Stored { coherent: 0, loose: 1 });
        assert_eq!(noted(STORING), Stored { coherent: 1, loose: 0 });
    }

    #[test]
    fn a_loose_store_after_a_coherent_one_counts() {
        let stored = Stored { coherent: 1, loose: 1 };
        assert_eq!(stored.here(0, STORING_LOOSE), LOOSE);
        assert_eq!(stored.after(0), 1);
    }
}
