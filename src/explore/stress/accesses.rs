//! Which accesses: a few lines that everybody wants, more blocks than a set has ways, and all kinds of access.

use super::program::{Deed, Stream};
use crate::config::machine::MachineSpec;
use crate::machine::Machine;
use crate::model::address::Address;
use crate::model::component::ComponentKind;
use crate::model::inspect::Inspect;
use crate::model::operation::Fence;
use crate::model::random::Random;
use crate::protocol::node::Role;

/// Where accesses go, and from where they come.
#[derive(Debug)]
pub struct Ground {
    agents: Vec<String>,
    /// Bytes of a line and of a secondary block.
    line: u64,
    block: u64,
    /// Secondary blocks, and the lines used in each.
    blocks: u64,
    lines: u64,
    /// Software keeps the L1s coherent: there are fences.
    fences: bool,
}

/// Where the accesses begin.
const BASE: u64 = 0x1_0000;

/// Bytes used of a line.
const BYTES: u64 = 16;

/// Streams of an agent.
const STREAMS: usize = 2;

impl Ground {
    pub fn of(spec: &MachineSpec, machine: &Machine) -> Self {
        // A host that data are copied from and to shares nothing with GPUs at work.
        let is_apart = spec.gpu.as_ref().is_some_and(|gpu| gpu.copies.is_some());
        let is_agent = |kind| kind == ComponentKind::Cu || kind == ComponentKind::Core && !is_apart;
        let components = machine.components().iter();
        let agents = components.filter(|(_, part)| is_agent(part.kind)).map(|(_, part)| part.path.clone());
        let gpu_line = spec.gpu.as_ref().map_or(0, |gpu| gpu.l1.line);
        let line = u64::from(gpu_line.max(spec.host.l1.line)).max(BYTES);
        let secondary = spec.gpu.as_ref().map_or(0, |gpu| gpu.memory.secondary_block);
        let block = u64::from(secondary).max(u64::from(spec.host.block)).max(line * 8);
        // More blocks than one set of the memory has ways, so that it must evict; as many as fit.
        let ways = spec.gpu.as_ref().map_or(4, |gpu| u64::from(gpu.memory.ways)).min(64);
        let room = spec.host.memory.0.saturating_sub(BASE) / block;
        let blocks = (ways + 2).max(6).min(room.max(1));
        let mut nodes = machine.wiring().nodes.iter();
        let fences = nodes.any(|node| {
            node.config.role == Role::Leaf && (node.is_synchronised() || node.config.table.fetches())
        });
        Self { agents: agents.collect(), line, block, blocks, lines: 5, fences }
    }

    /// Streams of so many accesses in all.
    pub fn streams(&self, accesses: u64, seed: u64) -> Vec<Stream> {
        let mut random = Random::new(seed);
        let count = (self.agents.len() * STREAMS).max(1);
        let share =
            |index: usize| accesses / count as u64 + u64::from((index as u64) < accesses % count as u64);
        (0..count)
            .map(|index| {
                let mut deeds = Vec::new();
                for _ in 0..share(index) {
                    if random.below(6) == 0 {
                        deeds.push(Deed::Compute(1 + random.below(60) as u32));
                    }
                    if self.fences && random.below(16) == 0 {
                        let fences = Fence::ALL;
                        deeds.push(Deed::Fence(fences[random.below(3) as usize]));
                    }
                    deeds.push(self.access(&mut random));
                }
                let agent = self.agents.get(index % self.agents.len().max(1)).cloned().unwrap_or_default();
                Stream { agent, deeds }
            })
            .collect()
    }

    fn access(&self, random: &mut Random) -> Deed {
        let block = random.below(self.blocks) * self.block;
        let line = random.below(self.lines) * self.line;
        let width = [1u64, 1, 2, 4, 8][random.below(5) as usize];
        let offset = random.below(BYTES / width) * width;
        let at = Address(BASE + block + line + offset);
        let mut byte = || 1 + random.below(255) as u8;
        let bytes: Vec<u8> = (0..width).map(|_| byte()).collect();
        match random.below(40) {
            0 => Deed::Exclusive(at),
            1..16 => Deed::Load(at, width),
            16..26 => Deed::Store(at, bytes),
            26..38 => Deed::NStore(at, bytes),
            _ => Deed::Add(at, bytes),
        }
    }
}
