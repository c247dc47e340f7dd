//! What crosses the network between the directories of GPUs and host, told apart by what it is for.

use crate::machine::Machine;
use crate::model::component::{ComponentId, ComponentKind};
use crate::model::inspect::Inspect;
use crate::model::message::{Message, MessageKind, Network};
use crate::model::record::{Record, What};

/// Bytes between SMDs and HMDs, and between SMDs (UMH, section 6.1.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crossing {
    /// Data without the headers of the messages that carry them.
    pub data: u64,
    /// Requests for data: without coherence they would be there, too.
    pub requests: u64,
    /// Probes.
    pub probes: u64,
    /// Answers to probes that bring no data.
    pub answers: u64,
    /// Acknowledgements of grants and evictions, notices of evictions, and grants of rights alone.
    pub acknowledgements: u64,
}

impl Crossing {
    /// All that only keeps caches coherent.
    #[must_use]
    pub fn coherence(&self) -> u64 {
        self.probes + self.answers + self.acknowledgements
    }

    fn add(&mut self, message: &Message, header: u64) {
        let size = u64::from(message.size);
        if message.has_data {
            self.data += size.saturating_sub(header);
            return;
        }
        match (message.kind.network(), message.kind) {
            (Network::Request, _) => self.requests += size,
            (Network::Probe, _) => self.probes += size,
            (Network::Reply, MessageKind::Answer) => self.answers += size,
            (Network::Reply, _) => self.acknowledgements += size,
        }
    }
}

/// Counts while a run goes on.
#[derive(Clone, Debug)]
pub struct Tally {
    /// By component: whether it is a directory of a GPU, and of the host.
    directories: Vec<(bool, bool)>,
    header: u64,
    pub crossing: Crossing,
}

impl Tally {
    /// Nothing yet, on this machine.
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        let kinds = machine.components().iter().map(|(_, component)| component.kind);
        let directories =
            kinds.map(|kind| (kind == ComponentKind::Smd, kind == ComponentKind::Hmd)).collect();
        let header = u64::from(machine.spec().network.header);
        Self { directories, header, crossing: Crossing::default() }
    }

    /// The records of one event.
    pub fn take(&mut self, records: &[Record]) {
        for record in records {
            if let What::Message(message) = &record.what
                && self.crosses(message)
            {
                self.crossing.add(message, self.header);
            }
        }
    }

    /// Whether it goes between two directories of which one is a GPU's.
    fn crosses(&self, message: &Message) -> bool {
        let of = |id: ComponentId| self.directories.get(id.index()).copied().unwrap_or_default();
        let ((from_gpu, from_host), (to_gpu, to_host)) = (of(message.from), of(message.to));
        (from_gpu && (to_gpu || to_host)) || (from_host && to_gpu)
    }
}
