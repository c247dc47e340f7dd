//! What crosses the network between the directories of GPUs and host, told apart by what it is for.

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::model::message::{MessageKind, Network};
use crate::model::text::key_word;

/// Bytes between SMDs and HMDs, and between SMDs (UMH, section 6.1.4), as the links have counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Crossing {
    /// Data without the headers of the messages that carry them.
    pub data: f64,
    /// All that only keeps caches coherent: probes, and what carries no data back.
    pub coherence: f64,
    pub probes: f64,
    /// Acknowledgements of grants and writebacks, which the engine needs and no table or figure of the paper has.
    pub acknowledgements: f64,
    /// Requests for data: without coherence they would be there, too.
    pub requests: f64,
}

impl Crossing {
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        let statistics = machine.statistics();
        let sum = |fits: &dyn Fn(&str) -> bool| {
            statistics.iter().filter(|(key, _)| fits(key)).map(|(_, value)| value).sum::<f64>()
        };
        let kinds = |fits: &dyn Fn(MessageKind) -> bool| {
            let kinds = MessageKind::ALL.into_iter().filter(|kind| fits(*kind));
            let ends: Vec<String> =
                kinds.map(|kind| format!(".messages.{}.bytes", key_word(kind.name()))).collect();
            sum(&|key| key.starts_with("link.") && ends.iter().any(|end| key.ends_with(end)))
        };
        Self {
            data: sum(&|key| key == "network.data_bytes"),
            coherence: sum(&|key| key == "network.coherence_bytes"),
            probes: kinds(&|kind| kind.network() == Network::Probe),
            acknowledgements: kinds(&|kind| matches!(kind, MessageKind::GrantAck | MessageKind::EvictAck)),
            requests: kinds(&|kind| kind.network() == Network::Request),
        }
    }
}
