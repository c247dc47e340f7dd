//! GPUs that are the sockets of one: their parts, and where pages live.

mod view;

use super::Machine;
use crate::model::address::{Address, Range};
use crate::model::record::What;
use crate::protocol::outbox::{About, Outbox};

/// The parts of a socket, by index among the nodes.
#[derive(Clone, Debug, Default)]
pub struct Socket {
    pub l1s: Vec<usize>,
    pub slices: Vec<usize>,
    /// The half of a static L2 that caches lines of other sockets.
    pub remote: Vec<usize>,
    pub memories: Vec<usize>,
    /// The links over which other sockets answer it.
    pub inward: Vec<usize>,
}

impl Machine {
    /// A page has got its home, since an agent touched it: what it had in system memory moves there.
    pub(super) fn place_page(&mut self, agent: usize, address: Address, out: &mut Outbox) {
        let Some(page) = self.fixed.spec.numa().map(|numa| numa.page) else {
            return;
        };
        if let Some(at) = self.agents.get(agent).map(|agent| agent.config.id) {
            let home = out.homes.of(address);
            out.record(at, About::new(Range::block(address, page), None), || What::PageHome { home });
        }
        let homes = &out.homes;
        self.move_bytes(Range::block(address, page), Self::host_memory, |machine, address| {
            machine.home_memory(address, homes)
        });
    }
}
