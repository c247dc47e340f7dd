//! Which memory has an address, that of the host or one of the GPUs', and bytes that go from one to another.

use smallvec::SmallVec;

use super::Machine;
use super::dealing::{over_hmds, over_slices};
use super::paging::Holder;
use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::protocol::homes::Homes;
use crate::protocol::interleave::Interleave;
use crate::protocol::node::Node;

impl Machine {
    /// What stands for the host where something is of no one part of it, such as a kernel launch: its first core, or else an
    /// HMD.
    pub(super) fn host_component(&self) -> ComponentId {
        let core =
            self.fixed.cores.first().and_then(|&core| self.agents.get(core)).map(|core| core.config.id);
        let hmd = || self.fixed.hmds.last().and_then(|&hmd| self.nodes.get(hmd)).map(Node::id);
        core.or_else(hmd).unwrap_or(ComponentId(0))
    }

    /// The node of host memory behind an address.
    pub(super) fn host_memory(&self, address: Address) -> Option<usize> {
        let dealing = over_hmds(&self.fixed.spec.host);
        self.fixed.hmds.get(dealing.index(address)).copied()
    }

    /// How addresses are dealt over the slices and the memory of a GPU.
    fn over_partitions(&self) -> Interleave {
        self.fixed.spec.gpu.as_ref().map_or(Interleave::NONE, over_slices)
    }

    /// The partition of a GPU's memory that an address falls to, where pages move.
    pub(super) fn gpu_memory(&self, gpu: usize, address: Address) -> Option<usize> {
        let memories = self.paging.as_ref()?.memories_of(gpu);
        memories.get(self.over_partitions().index(address)).copied()
    }

    /// How a range is dealt over the memories of a GPU, or of the host: of each where its part begins, and its bytes.
    pub(super) fn dealt(&self, gpu: Option<usize>, range: Range) -> SmallVec<[(Address, u32); 8]> {
        let dealing = gpu.map_or_else(|| over_hmds(&self.fixed.spec.host), |_| self.over_partitions());
        dealing.parts(range)
    }

    /// The memory of a socket that is the home of an address; none while its page has no home.
    pub(super) fn home_memory(&self, address: Address, homes: &Homes) -> Option<usize> {
        if homes.is_undecided(address) {
            return None;
        }
        let socket = self.fixed.sockets.get(homes.of(address) as usize)?;
        socket.memories.get(self.over_partitions().index(address)).copied()
    }

    /// The memory that has the bytes of an address: that of the GPU whose page it is, of the host where pages or copies are
    /// there, or else of its home.
    pub(super) fn memory_behind(&self, address: Address, homes: &Homes) -> Option<usize> {
        match self.paging.as_ref().map_or(Holder::Home, |paging| paging.holder(address)) {
            Holder::Gpu(gpu) => self.gpu_memory(gpu, address),
            Holder::Host => self.host_memory(address),
            Holder::Home if self.copies.as_ref().is_some_and(|copies| copies.is_at_host(address)) => {
                self.host_memory(address)
            }
            Holder::Home => self.home_memory(address, homes).or_else(|| self.host_memory(address)),
        }
    }

    /// The node of that memory.
    pub(super) fn node_behind(&self, address: Address, homes: &Homes) -> Option<&Node> {
        self.nodes.get(self.memory_behind(address, homes)?)
    }

    /// Bytes of a range go from one memory to another, where bytes are kept. What was never written is zeros, which need no place there
    /// where nothing else is.
    pub(super) fn move_bytes(
        &mut self,
        range: Range,
        from: impl Fn(&Self, Address) -> Option<usize>,
        to: impl Fn(&Self, Address) -> Option<usize>,
    ) {
        if !self.fixed.spec.values {
            return;
        }
        let step = self.fixed.smallest_block;
        for start in range.blocks(step) {
            let Some(source) = from(self, start).and_then(|source| self.nodes.get(source)) else { continue };
            let is_written = source.entry(start).is_some();
            let Some(bytes) = source.value(Range::new(start, step)) else { continue };
            let target = to(self, start).and_then(|target| self.nodes.get_mut(target));
            if let Some(target) = target.filter(|target| is_written || target.entry(start).is_some()) {
                target.set_memory(start, &bytes);
            }
        }
    }
}
