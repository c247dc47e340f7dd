//! What went over the links of the network, and what of it was data, and what kept caches coherent.

use super::Sheet;
use crate::config::machine::Topology;
use crate::machine::Machine;
use crate::model::link_view::TransferView;
use crate::model::message::MessageKind;
use crate::model::text::key_word;
use crate::parts::link::Link;

/// Bytes by what they are for. The rest are headers of data and requests, which would be there without coherence too.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    /// Data without the headers of the messages that carry them.
    data: u64,
    /// Probes, acknowledgements, notices, and answers and grants without data.
    coherence: u64,
}

impl Traffic {
    fn of(link: &Link, header: u64) -> Self {
        let data = |(count, bytes): &(u64, u64)| bytes.saturating_sub(count * header);
        let all = link.carried.iter().map(data).sum::<u64>() + link.paged;
        Self { data: all.saturating_sub(link.headers), coherence: link.coherence }
    }

    fn put(self, prefix: &str, sheet: &mut Sheet) {
        sheet.count(format!("{prefix}.data_bytes"), self.data);
        sheet.count(format!("{prefix}.coherence_bytes"), self.coherence);
        sheet.share(format!("{prefix}.coherence_share"), self.coherence, self.data);
    }
}

impl Machine {
    /// Share of what a link carried that was data.
    pub(in crate::machine) fn efficiency(&self, link: &Link) -> Option<f64> {
        let (data, all) = (Traffic::of(link, u64::from(self.fixed.spec.network.header)).data, link.bytes());
        (all > 0).then(|| data as f64 / all as f64)
    }

    /// The messages with data that a link carried.
    pub(in crate::machine) fn transfers(&self, link: &Link) -> Vec<TransferView> {
        let header = self.fixed.spec.network.header;
        let mut all: Vec<TransferView> = (link.sizes.iter())
            .map(|&(size, count)| {
                let data = size.saturating_sub(header);
                TransferView { data, size: link.on_the_wire(size) as u32, count }
            })
            .collect();
        all.sort_by_key(|transfer| transfer.size);
        all
    }

    /// Each link, and all: UMH, section 6.1.4, compares coherency information between SMDs and HMDs with the data
    /// transferred over the network.
    pub(super) fn link_statistics(&self, sheet: &mut Sheet) {
        let header = u64::from(self.fixed.spec.network.header);
        let (mut all, mut bytes) = (Traffic::default(), 0);
        for (index, (link, shown)) in self.links.iter().zip(&self.fixed.visible_links).enumerate() {
            let Some((id, _, _)) = shown else { continue };
            let path = self.fixed.components.path(*id);
            let messages: u64 = link.carried.iter().map(|(count, _)| count).sum();
            sheet.count(format!("{path}.bytes"), link.bytes());
            sheet.count(format!("{path}.messages"), messages);
            sheet.put(format!("{path}.utilisation"), link.utilisation(self.now));
            sheet.put(format!("{path}.queued_cycles"), self.cycles(link.queued));
            sheet.put(format!("{path}.queued_mean_cycles"), self.mean_cycles(link.queued, messages));
            sheet.put(format!("{path}.no_credit_cycles"), self.cycles(link.held_back));
            for (kind, (count, bytes)) in MessageKind::ALL.into_iter().zip(link.carried) {
                let kind = key_word(kind.name());
                sheet.count(format!("{path}.messages.{kind}.count"), count);
                sheet.count(format!("{path}.messages.{kind}.bytes"), bytes);
            }
            let traffic = Traffic::of(link, header);
            traffic.put(path, sheet);
            sheet.put(format!("{path}.efficiency"), self.efficiency(link).unwrap_or(f64::NAN));
            if let Some(view) = self.balance_view(index) {
                sheet.count(format!("{path}.lanes"), u64::from(link.lanes));
                sheet.count(format!("{path}.lanes_gained"), view.gained);
            }
            all.data += traffic.data;
            all.coherence += traffic.coherence;
            bytes += link.bytes();
        }
        // Through a switch everything goes over two links.
        let links = if self.fixed.spec.network.topology == Topology::Switch { 2 } else { 1 };
        all.data /= links;
        all.coherence /= links;
        all.put("network", sheet);
        self.energy_statistics(bytes / links, sheet);
        if let Some((samples, reversals, lost)) = self.lane_counts() {
            sheet.count("network.samples".to_owned(), samples);
            sheet.count("network.lane_reversals".to_owned(), reversals);
            // Of one lane; it took no packets while it quiesced and turned.
            sheet.put("network.lane_reversal_cycles".to_owned(), self.cycles(lost));
        }
    }

    /// What so many bytes from device to device cost ("Beyond the Socket: NUMA-Aware GPUs", section 6: 10 pJ/b "for combined
    /// links and switch").
    fn energy_statistics(&self, bytes: u64, sheet: &mut Sheet) {
        let joules = bytes as f64 * 8.0 * self.fixed.spec.network.energy.0 as f64 * 1e-15;
        let seconds = self.now as f64 / self.fixed.time.ticks_per_second.max(1) as f64;
        sheet.put("network.energy_joules".to_owned(), joules);
        sheet.put("network.power_watts".to_owned(), if self.now == 0 { f64::NAN } else { joules / seconds });
    }
}
