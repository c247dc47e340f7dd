//! From a machine file to a checked specification: defaults, limits, and what must fit together.

mod balancer;
mod cache;
mod copies;
mod gpu;
mod host;
mod numa;
mod paging;
mod read_only;
mod tags;
mod unified;

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::check::Check;
use super::document::{At, Document};
use super::machine::{GpuSpec, HostSpec, MachineSpec, NetworkKind, NetworkSpec, Topology};
use super::machine_file::{HostFile, MachineFile, NetworkFile, TransfersWord};
use super::{Kind, Shelf, fail};
use crate::diagnostic::Result;
use crate::model::time::TimeBase;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Memory of all GPUs, and of the host: an address space of 48 bits.
const MEMORY: u64 = 1 << 48;

impl MachineFile {
    /// The machine that this file describes, checked. Places of complaints are those of `document`, from which it was
    /// read; protocols are looked up on `shelf`.
    ///
    /// # Errors
    /// If it contradicts itself, goes past a stated limit, or names a protocol that is not there.
    pub fn specification(&self, document: &Document, shelf: &Shelf) -> Result<MachineSpec> {
        let build = Build { check: Check { document }, shelf };
        let (gpu, gpu_block) = match &self.gpu {
            Some(gpu) => build.gpu(gpu).map(|(gpu, block)| (Some(gpu), Some(block)))?,
            None => (None, None),
        };
        let host = build.host(
            self.host.as_ref().unwrap_or(&HostFile::default()),
            gpu.as_ref(),
            gpu_block.as_ref(),
        )?;
        if gpu.is_none() && host.cores == 0 {
            let span = self.host.as_ref().and_then(|host| host.cores.as_ref()).map(|cores| &cores.span);
            return fail(
                document
                    .complain(span, "this machine has neither cores nor GPUs")
                    .expected("a core or a [gpu]"),
            );
        }
        build.fits_client(gpu.as_ref(), &host)?;
        build.clocks(self, gpu.as_ref(), &host)?;
        build.fits_transfers(self, gpu.as_ref())?;
        Ok(MachineSpec {
            name: self.name.clone().unwrap_or_else(|| document.source().name.to_string()),
            protocol: build.protocol(self.protocol.as_ref())?.unwrap_or_else(|| "nmoesi".to_owned()),
            values: self.values.unwrap_or(true),
            gpu,
            host,
            network: build.network(self.network.as_ref().unwrap_or(&NetworkFile::default()))?,
        })
    }
}

struct Build<'a> {
    check: Check<'a>,
    shelf: &'a Shelf,
}

impl Build<'_> {
    fn network(&self, file: &NetworkFile) -> Result<NetworkSpec> {
        let check = self.check;
        let kind = file.kind.unwrap_or_default();
        let (usual, bandwidth, lanes, latency) = match kind {
            NetworkKind::Nvlink => (Topology::PointToPoint, 80_000_000_000, 8, 100_000),
            NetworkKind::Pcie => (Topology::Shared, 16_000_000_000, 16, 250_000),
        };
        Ok(NetworkSpec {
            kind,
            topology: file.topology.unwrap_or(usual),
            bandwidth: check.bandwidth("network.bandwidth", file.bandwidth.as_ref(), bandwidth)?,
            lanes: check.count("network.lanes", file.lanes.as_ref(), lanes, 1..=64)?,
            latency: check.time("network.latency", file.latency.as_ref(), latency)?,
            header: check.count("network.header", file.header.as_ref(), 16, 1..=1024)?,
            payload: match &file.payload {
                Some(_) => {
                    let payload = check.size("network.payload", file.payload.as_ref(), 128, 8..=64 * KIB)?;
                    Some(payload.value as u32)
                }
                None => None,
            },
            granularity: check.power("network.granularity", file.granularity.as_ref(), 1, 1..=128)?.value
                as u32,
            virtual_networks: check.choice(
                "network.virtual_networks",
                file.virtual_networks.as_ref(),
                &[3, 1],
            )?,
            by_sector: goes_by_sector(file),
            buffers: check.count("network.buffers", file.buffers.as_ref(), 4, 1..=1024)?,
            energy: check.energy("network.energy", file.energy.as_ref(), 10_000)?,
            balancer: file.balancer.as_ref().map(|file| self.balancer(file)).transpose()?,
        })
    }

    /// Who asks for parts of a line.
    fn fits_transfers(&self, file: &MachineFile, gpu: Option<&GpuSpec>) -> Result<()> {
        let by_sector = file.network.as_ref().filter(|network| goes_by_sector(network));
        let is_unified = gpu.is_some_and(|gpu| gpu.unified.is_some());
        let Some(network) = by_sector.filter(|_| !is_unified) else { return Ok(()) };
        let span = network.transfers.as_ref().map(|word| &word.span);
        let text = "network.transfers = \"sectors\" is for a GPU whose memory is one half of all, which asks the other half for parts of lines";
        fail(self.check.document.complain(span, text).expected("\"line\", or gpu.memory.home = \"unified\""))
    }

    /// The name of a protocol that exists, its path made independent of the machine file's folder.
    fn protocol(&self, given: Option<&At<String>>) -> Result<Option<String>> {
        let Some(At { value, span }) = given else { return Ok(None) };
        match self.shelf.find(Kind::Protocol, value) {
            Ok(found) => Ok(Some(found.reference)),
            Err(error) => {
                let mut complaint = self.check.document.complain(Some(span), error.message);
                complaint.expected = error.expected;
                complaint.suggestion = error.suggestion;
                fail(complaint)
            }
        }
    }

    /// That there is a tick that suits both clocks, and is not too short.
    fn clocks(&self, file: &MachineFile, gpu: Option<&GpuSpec>, host: &HostSpec) -> Result<()> {
        let quoted = gpu.map_or(host.clock, |gpu| gpu.clock);
        let Err(message) = TimeBase::of(quoted, host.clock) else { return Ok(()) };
        let gpu_span = file.gpu.as_ref().and_then(|gpu| gpu.clock.as_ref()).map(|clock| &clock.span);
        let host_span = file.host.as_ref().and_then(|host| host.clock.as_ref()).map(|clock| &clock.span);
        let span: Option<&Range<usize>> = host_span.or(gpu_span);
        fail(
            self.check
                .document
                .complain(span, message)
                .expected("clocks with fewer digits, such as \"1.4 GHz\""),
        )
    }
}

/// Whether parts of lines cross the network.
fn goes_by_sector(network: &NetworkFile) -> bool {
    network.transfers.as_ref().is_some_and(|word| word.value == TransfersWord::Sectors)
}
