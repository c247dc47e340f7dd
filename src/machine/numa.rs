//! GPUs that are the sockets of one: their parts, and where pages live.

mod view;

use super::Machine;
use crate::machine::dealing::over_slices;
use crate::model::address::{Address, Range};
use crate::model::record::What;
use crate::protocol::homes::Homes;
use crate::protocol::interleave::Interleave;
use crate::protocol::node::Node;
use crate::protocol::outbox::{About, Outbox};

/// The parts of a socket, by index among the nodes.
#[derive(Clone, Debug, Default)]
pub struct Socket {
    pub l1s: Vec<usize>,
    pub slices: Vec<usize>,
    /// The half of a static L2 that caches lines of other sockets.
    pub remote: Vec<usize>,
    pub memories: Vec<usize>,
}

impl Machine {
    /// How addresses are dealt over the slices and memories of a socket.
    fn slice_dealing(&self) -> Interleave {
        self.fixed.spec.gpu.as_ref().map_or(Interleave::NONE, over_slices)
    }

    /// The memory of a socket that is the home of an address; none while its page has no home.
    pub(super) fn home_memory(&self, address: Address, homes: &Homes) -> Option<usize> {
        if homes.is_undecided(address) {
            return None;
        }
        let socket = self.fixed.sockets.get(homes.of(address) as usize)?;
        socket.memories.get(self.slice_dealing().index(address)).copied()
    }

    /// A page has got its home, since an agent touched it: what it had in system memory moves there.
    pub(super) fn place_page(&mut self, agent: usize, address: Address, out: &mut Outbox) {
        let Some(page) = self.fixed.spec.gpu.as_ref().and_then(|gpu| gpu.numa.as_ref()).map(|numa| numa.page)
        else {
            return;
        };
        if let Some(at) = self.agents.get(agent).map(|agent| agent.config.id) {
            let home = out.homes.of(address);
            out.record(at, About::new(Range::block(address, page), None), || What::PageHome { home });
        }
        self.move_page(address, page, &out.homes);
    }

    fn move_page(&mut self, address: Address, page: u32, homes: &Homes) {
        let Some(system) = self.system_memory(address) else { return };
        let block = self.nodes.get(system).map_or(64, |node| node.config.block);
        for start in Range::block(address, page).blocks(block) {
            let range = Range::new(start, block);
            let held = self.nodes.get(system).filter(|node| node.entry(start).is_some());
            let Some(bytes) = held.and_then(|node| node.value(range)) else { continue };
            for (offset, byte) in bytes.iter().enumerate() {
                let at = start.plus(offset as u64);
                if let Some(home) = self.home_memory(at, homes).and_then(|home| self.nodes.get_mut(home)) {
                    home.set_memory(at, &[*byte]);
                }
            }
        }
    }

    /// The node that keeps an address as memory, given the homes of pages.
    pub(super) fn memory_index(&self, address: Address, homes: &Homes) -> Option<usize> {
        let at_host = if self.is_paged_out(address) { self.system_memory(address) } else { None };
        let at_host = at_host.or_else(|| self.copied_memory(address));
        at_host.or_else(|| self.home_memory(address, homes)).or_else(|| self.system_memory(address))
    }

    /// The same.
    pub(super) fn memory_node(&self, address: Address, homes: &Homes) -> Option<&Node> {
        self.nodes.get(self.memory_index(address, homes)?)
    }
}
