//! Faults that a scenario may inject by name, to show what a rule of the protocol is for.

use super::message::MessageKind;

/// One injected fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The `nth` message of this kind (from 1) disappears.
    LoseMessage { kind: MessageKind, nth: u64 },
    /// The `nth` wake-up of a warp (from 1) is dropped.
    DropWakeUp { nth: u64 },
    /// Probe answers come without the dirty bytes that they should carry.
    AnswerWithoutData,
    /// The first listed sharer is left out when a write probes the others.
    SkipInvalidation,
    /// A node that waits for its parent lets its parent's probes wait (rule 1 of `PROTOCOL.md` off).
    ProbesMayNotPass,
    /// A parent does not wait for grant acknowledgements (rule 4 off).
    NoGrantAck,
    /// Dirty data are merged whole, not under their mask (rule 12 off).
    MergeWholeBlocks,
    /// Data given to a read probe stay marked dirty at the giver (rule 13 off).
    KeepMaskOnRead,
}

impl Fault {
    /// Names without their parameters, in the order of the enum.
    pub const NAMES: [&'static str; 8] = [
        "lose-message",
        "drop-wake-up",
        "answer-without-data",
        "skip-invalidation",
        "probes-may-not-pass",
        "no-grant-ack",
        "merge-whole-blocks",
        "keep-mask-on-read",
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LoseMessage { .. } => "lose-message",
            Self::DropWakeUp { .. } => "drop-wake-up",
            Self::AnswerWithoutData => "answer-without-data",
            Self::SkipInvalidation => "skip-invalidation",
            Self::ProbesMayNotPass => "probes-may-not-pass",
            Self::NoGrantAck => "no-grant-ack",
            Self::MergeWholeBlocks => "merge-whole-blocks",
            Self::KeepMaskOnRead => "keep-mask-on-read",
        }
    }
}
