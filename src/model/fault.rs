//! Faults that a scenario may inject by name, to show what a rule of the protocol is for.
//!
//! Each switches one rule (`protocol::rules`) off at the place that keeps it. Two rules have no fault: 5 (an access is
//! performed in the event in which its grant arrives, so nothing can come between it and the acknowledgement) and 11
//! (its alternative is equally clean). One network for all is a machine's own setting, `virtual_networks`.

use std::fmt;

use super::message::MessageKind;

/// One injected fault. [`Fault::about`] says what each does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The `nth` message of this kind (from 1) disappears.
    LoseMessage {
        kind: MessageKind,
        nth: u64,
    },
    /// The `nth` wake-up of a warp (from 1) is dropped.
    DropWakeUp {
        nth: u64,
    },
    /// The `nth` compute unit (from 1) whose far-fault ends is not told to replay.
    DropReplay {
        nth: u64,
    },
    /// The `nth` page (from 1) that is moved to a GPU is lost on its way.
    LosePage {
        nth: u64,
    },
    AnswerWithoutData,
    SkipInvalidation,
    ProbesMayNotPass,
    AnswerWhileAsking,
    NoEvictAck,
    NoGrantAck,
    GrantWithoutData,
    GrantOverOwnBytes,
    ExclusiveFromShared,
    WritebacksWait,
    LeaveEarly,
    WritebackIsAnswer,
    MergeWholeBlocks,
    KeepMaskOnRead,
    MergeKeepsState,
    WritebacksAsRequests,
    ForgetNewer,
    PeerGrantsExclusive,
    AckBeforeData,
    NoSupply,
    UnfairArbiter,
    ServeBesideCpu,
    KeepHostLines,
    KeepBesideCpu,
    SkipGpuProbe,
    TrustFilter,
    KeepOvertaken,
    SkipShootDown,
    DropPageWriteBack,
    LoseArrival,
    RelayPastFetch,
    ColdWriteOnlyHere,
    DropDirtyRow,
    NoLaunchFlush,
}

/// Faults of which there are many: which one is a parameter.
const COUNTED: usize = 4;

/// The name of the fault that makes a message disappear, by which its record tells of it.
pub const LOSE_MESSAGE: &str = "lose-message";

/// Faults without parameters, in the order of the enum, and what each does.
const PLAIN: [(&str, Fault, &str); 34] = [
    (
        "answer-without-data",
        Fault::AnswerWithoutData,
        "Probe answers come without the dirty bytes that they should carry",
    ),
    (
        "skip-invalidation",
        Fault::SkipInvalidation,
        "The first listed sharer is left out when a write probes the others",
    ),
    (
        "probes-may-not-pass",
        Fault::ProbesMayNotPass,
        "A node that waits for its parent lets its parent's probes wait (rule 1 off)",
    ),
    (
        "answer-while-asking",
        Fault::AnswerWhileAsking,
        "A node that is asking its children answers its parent at once, without asking them again (rule 2 off)",
    ),
    (
        "no-evict-ack",
        Fault::NoEvictAck,
        "A node asks for a block again while its writeback is not acknowledged (rule 3 off)",
    ),
    ("no-grant-ack", Fault::NoGrantAck, "A parent does not wait for grant acknowledgements (rule 4 off)"),
    (
        "grant-without-data",
        Fault::GrantWithoutData,
        "A write grant to a listed sharer carries no data (rule 6 off)",
    ),
    (
        "grant-over-own-bytes",
        Fault::GrantOverOwnBytes,
        "Granted data are laid over the requester's own dirty bytes (rule 6 off)",
    ),
    (
        "exclusive-from-shared",
        Fault::ExclusiveFromShared,
        "An exclusive copy is granted by a node that is not itself exclusive (rule 7 off)",
    ),
    (
        "writebacks-wait",
        Fault::WritebacksWait,
        "A writeback waits until its receiver has done with the block (rule 8 off)",
    ),
    (
        "leave-early",
        Fault::LeaveEarly,
        "A child leaves the directory when a write probe is sent to it, and what it writes back then is dropped (rule 9 off)",
    ),
    (
        "writeback-is-answer",
        Fault::WritebackIsAnswer,
        "A writeback counts as the answer to a probe (rule 10 off)",
    ),
    (
        "merge-whole-blocks",
        Fault::MergeWholeBlocks,
        "Dirty data are merged whole, not under their mask (rule 12 off)",
    ),
    (
        "keep-mask-on-read",
        Fault::KeepMaskOnRead,
        "Data given to a read probe stay marked dirty at the giver (rule 13 off)",
    ),
    (
        "merge-keeps-state",
        Fault::MergeKeepsState,
        "A node keeps its state when dirty data of a child arrive (rule 14 off)",
    ),
    (
        "writebacks-as-requests",
        Fault::WritebacksAsRequests,
        "Writebacks travel with the requests, so that answers may overtake them (the channels' rule off)",
    ),
    (
        "forget-newer",
        Fault::ForgetNewer,
        "Home hands a read to the owner although it has newer bytes itself (peer transfer)",
    ),
    (
        "peer-grants-exclusive",
        Fault::PeerGrantsExclusive,
        "A read that a peer serves is granted an exclusive state (peer transfer)",
    ),
    (
        "ack-before-data",
        Fault::AckBeforeData,
        "A requester acknowledges its grant before the peer's data have come (peer transfer)",
    ),
    (
        "no-supply",
        Fault::NoSupply,
        "Home does not supply the data that an owner turns out not to have (peer transfer)",
    ),
    (
        "unfair-arbiter",
        Fault::UnfairArbiter,
        "Requests for one block are served by the position of their sender, not in the order of their coming",
    ),
    (
        "serve-beside-cpu",
        Fault::ServeBesideCpu,
        "What the CPU may have of the GPU's memory is served to the GPU without asking the CPU (the first rule of selective caching off)",
    ),
    (
        "keep-host-lines",
        Fault::KeepHostLines,
        "The GPU keeps lines whose home is the CPU's memory (the second rule off)",
    ),
    (
        "keep-beside-cpu",
        Fault::KeepBesideCpu,
        "The GPU keeps lines of its own memory that the CPU may have (the third rule off)",
    ),
    (
        "skip-gpu-probe",
        Fault::SkipGpuProbe,
        "The GPU keeps lines that the CPU asks for: its caches are not probed (the other half of the third rule off)",
    ),
    (
        "trust-filter",
        Fault::TrustFilter,
        "The GPU's caches are not probed for a line that the remote directory claims to have already",
    ),
    (
        "keep-overtaken",
        Fault::KeepOvertaken,
        "Bytes that a probe has passed on their way are kept all the same",
    ),
    ("skip-shoot-down", Fault::SkipShootDown, "TLBs keep the translation of a page that leaves"),
    (
        "drop-page-write-back",
        Fault::DropPageWriteBack,
        "A page leaves GPU memory without what was written there",
    ),
    ("lose-arrival", Fault::LoseArrival, "Scoreboards of tag misses never set an arrival bit"),
    (
        "relay-past-fetch",
        Fault::RelayPastFetch,
        "A write whose tag conflicts goes on to the host though data of its tag are on their way from there",
    ),
    (
        "cold-write-only-here",
        Fault::ColdWriteOnlyHere,
        "A write whose place is empty is not sent to the host",
    ),
    ("drop-dirty-row", Fault::DropDirtyRow, "A row that is replaced is not written back"),
    (
        "no-launch-flush",
        Fault::NoLaunchFlush,
        "A kernel begins though GPUs have not written back what the kernels before have stored non-coherently",
    ),
];

impl Fault {
    /// Names without their parameters, in the order of the enum.
    pub const NAMES: [&'static str; COUNTED + PLAIN.len()] = {
        let mut names = [LOSE_MESSAGE; COUNTED + PLAIN.len()];
        names[1] = "drop-wake-up";
        names[2] = "drop-replay";
        names[3] = "lose-page";
        let mut index = 0;
        while index < PLAIN.len() {
            names[index + COUNTED] = PLAIN[index].0;
            index += 1;
        }
        names
    };

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LoseMessage { .. } => LOSE_MESSAGE,
            Self::DropWakeUp { .. } => "drop-wake-up",
            Self::DropReplay { .. } => "drop-replay",
            Self::LosePage { .. } => "lose-page",
            plain => PLAIN.iter().find(|(_, fault, _)| *fault == plain).map_or("", |(name, ..)| name),
        }
    }

    /// What the fault of a name does, in a sentence; for one that takes parameters, with those.
    #[must_use]
    pub fn about(name: &str) -> &'static str {
        match name {
            LOSE_MESSAGE => "The nth message of a kind disappears (message, nth from 1)",
            "drop-wake-up" => "The nth wake-up of a warp is dropped (nth from 1)",
            "drop-replay" => "The nth compute unit whose far-fault ends is not told to replay (nth from 1)",
            "lose-page" => "The nth page that is moved to a GPU is lost on its way (nth from 1)",
            _ => PLAIN.iter().find(|(known, ..)| *known == name).map_or("", |(.., about)| about),
        }
    }

    /// Which of what it counts it strikes, from 1, if it counts.
    #[must_use]
    pub fn number(self) -> Option<u64> {
        match self {
            Self::LoseMessage { nth, .. }
            | Self::DropWakeUp { nth }
            | Self::DropReplay { nth }
            | Self::LosePage { nth } => Some(nth),
            _ => None,
        }
    }

    /// The fault of this name, if it takes no parameters.
    #[must_use]
    pub fn plain(name: &str) -> Option<Self> {
        PLAIN.iter().find(|(known, ..)| *known == name).map(|(_, fault, _)| *fault)
    }

    /// Whether it breaks a rule of paged memory, not one of the protocol.
    #[must_use]
    pub fn is_of_pages(self) -> bool {
        matches!(
            self,
            Self::DropReplay { .. } | Self::LosePage { .. } | Self::SkipShootDown | Self::DropPageWriteBack
        )
    }

    /// Whether it breaks a rule of caches that keep some lines only.
    #[must_use]
    pub fn is_of_selective_caching(self) -> bool {
        matches!(
            self,
            Self::ServeBesideCpu
                | Self::KeepHostLines
                | Self::KeepBesideCpu
                | Self::SkipGpuProbe
                | Self::TrustFilter
                | Self::KeepOvertaken
        )
    }

    /// Whether it breaks a rule of a memory that is a cache with its tags in DRAM.
    #[must_use]
    pub fn is_of_tags(self) -> bool {
        matches!(
            self,
            Self::LoseArrival | Self::RelayPastFetch | Self::ColdWriteOnlyHere | Self::DropDirtyRow
        )
    }

    /// Every fault that takes no parameters.
    pub fn all_plain() -> impl Iterator<Item = Self> {
        PLAIN.into_iter().map(|(_, fault, _)| fault)
    }
}

/// As it is written at the prompt: the name, and its keys as a scenario writes them.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::LoseMessage { kind, nth } => write!(f, " message={} nth={nth}", kind.name()),
            Self::DropWakeUp { nth } | Self::DropReplay { nth } | Self::LosePage { nth } => {
                write!(f, " nth={nth}")
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_names_its_fault() {
        assert_eq!(Fault::NAMES.len(), PLAIN.len() + COUNTED);
        for fault in Fault::all_plain() {
            assert_eq!(Fault::plain(fault.name()), Some(fault));
            assert_eq!(fault.to_string(), fault.name());
        }
        let lost = Fault::LoseMessage { kind: MessageKind::GrantAck, nth: 3 };
        assert_eq!(lost.to_string(), "lose-message message=grant-ack nth=3");
        assert_eq!(Fault::plain("lose-message"), None);
        assert!(Fault::NAMES.iter().all(|name| !Fault::about(name).is_empty()));
    }
}
