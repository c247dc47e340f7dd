//! The moment before the first event: blocks and bytes that are there already, and whether the workload fits.

use std::sync::Arc;

use super::{Blueprint, InitialBlock, Machine};
use crate::config::machine::MOST_WAVEFRONTS;
use crate::diagnostic::{Diagnostic, Result};
use crate::model::address::{Address, Range};
use crate::model::operation::Operation;
use crate::model::text::plural;
use crate::model::units::Size;
use crate::protocol::node::Role;
use crate::workload::{Kernel, Operations, TaskKind};

impl Machine {
    /// Every task can run on this machine.
    pub(super) fn check_workload(&self) -> Result<()> {
        self.check_recorded()?;
        let agents = || self.agents.iter().map(|agent| self.fixed.components.path(agent.config.id));
        for task in &self.tasks.workload.tasks {
            match &task.what {
                TaskKind::Program { agent, .. } if !agents().any(|path| path == agent) => {
                    return Err(Box::new(
                        Diagnostic::new(format!(
                            "{agent} can run no program: it is no compute unit or core of this machine"
                        ))
                        .expected("a path such as gpu0.cu0 or host.cpu0")
                        .nearest(agent, agents()),
                    ));
                }
                TaskKind::Program { operations, .. } => {
                    check_addresses(&task.id, operations.listed(), self.fixed.spec.host.memory)?;
                }
                TaskKind::Kernel(kernel) => {
                    let slots = self.fixed.spec.gpu.as_ref().map_or(0, |gpu| gpu.cu.wavefronts);
                    check_kernel(kernel, slots)?;
                }
                TaskKind::Flush { .. } => {}
            }
        }
        Ok(())
    }

    /// There are the cores and GPUs that a trace was recorded on, and the core that runs a kernel's host code.
    fn check_recorded(&self) -> Result<()> {
        let (mut cores, mut gpus) = (0, 0);
        for task in &self.tasks.workload.tasks {
            match &task.what {
                TaskKind::Program { agent, operations: Operations::Computed(_), .. } => {
                    let number = agent.strip_prefix("host.cpu").and_then(|number| number.parse().ok());
                    cores = cores.max(number.map_or(0, |number: usize| number.saturating_add(1)));
                }
                TaskKind::Kernel(kernel) => {
                    gpus = gpus.max(kernel.only_on().map_or(0, |gpu| gpu as usize) + 1);
                }
                TaskKind::Program { .. } | TaskKind::Flush { .. } => {}
            }
        }
        if self.fixed.spec.numa().is_some() {
            let homes = self.tasks.workload.homes.iter();
            gpus = homes.map(|(_, home)| *home as usize + 1).fold(gpus, usize::max);
        }
        let spec = &self.fixed.spec;
        for (needed, there, what, key) in [
            (cores, spec.host.cores as usize, "host core", "host.cores"),
            (gpus, self.fixed.gpu_agents.len(), "GPU", "gpu.count"),
        ] {
            if needed > there {
                let needs = plural(needed as u64, what);
                let message = format!("the work needs {needs}, and this machine has {there}");
                // A machine without GPUs lacks more than a number for them.
                let set = if there > 0 || key == "host.cores" {
                    format!("--set {key}={needed}, or ")
                } else {
                    String::new()
                };
                let expected = format!("a machine with {needs}: {set}another machine");
                return Err(Box::new(Diagnostic::new(message).expected(expected)));
            }
        }
        Ok(())
    }

    fn node_index(&self, path: &str) -> Result<usize> {
        let names = || self.nodes.iter().map(|node| self.fixed.components.path(node.id()));
        let found = self.nodes.iter().position(|node| self.fixed.components.path(node.id()) == path);
        found.ok_or_else(|| {
            Box::new(
                Diagnostic::new(format!("{path} holds no blocks on this machine")).nearest(path, names()),
            )
        })
    }

    pub(super) fn place_initial(&mut self, blocks: &[InitialBlock]) -> Result<()> {
        for block in blocks {
            let index = self.node_index(&block.node)?;
            let table = self.nodes[index].config.table.clone();
            if let Some(state) = block.state
                && table.row(state).is_none()
            {
                let message = format!("{} has no state {state}", table.name);
                return Err(Box::new(Diagnostic::new(message)));
            }
            let memory = self.memory_of(block.address, self.nodes[index].config.block);
            let node = &mut self.nodes[index];
            if !node.place_block(block.address, block.state, &self.homes) {
                let message = format!("{} has no free way for block {}", block.node, block.address);
                return Err(Box::new(Diagnostic::new(message)));
            }
            let start = block.address.block(node.config.block);
            node.place_bytes(start, &memory, false);
            // Below an L1 it is not known who has stored it.
            let own = (node.config.role == Role::Leaf).then(|| node.id());
            let by = (own, self.fixed.components.is_host(node.id()));
            for (at, bytes) in &block.dirty {
                node.place_bytes(*at, bytes, true);
                if let Some(checker) = self.checker.as_mut() {
                    checker.add_initial(by, *at, bytes);
                }
            }
            for holder in block.sharers.iter().chain(&block.owner) {
                let child = self.fixed.components.find(holder);
                let owner = block.owner.as_ref() == Some(holder);
                let entered =
                    child.is_some_and(|child| self.nodes[index].place_holder(block.address, child, owner));
                if !entered {
                    let message = format!("{holder} is no child of {}", block.node);
                    return Err(Box::new(Diagnostic::new(message)));
                }
            }
        }
        Ok(())
    }

    /// Bytes of memory for a block, at the start.
    fn memory_of(&self, address: Address, block: u32) -> Vec<u8> {
        let range = Range::block(address, block);
        self.node_behind(range.start, &self.homes).and_then(|home| home.value(range)).unwrap_or_default()
    }

    pub(super) fn place_memory(&mut self, blueprint: &Blueprint) -> Result<()> {
        let size = blueprint.spec.host.memory.0;
        for (address, bytes) in &blueprint.memory {
            if address.0.saturating_add(bytes.len() as u64) > size {
                let message = format!(
                    "address {address} lies beyond the host memory of {}",
                    blueprint.spec.host.memory
                );
                return Err(Box::new(Diagnostic::new(message)));
            }
            for (offset, byte) in bytes.iter().enumerate() {
                let at = address.plus(offset as u64);
                let index = self.memory_behind(at, &self.homes);
                if let Some(node) = index.and_then(|index| self.nodes.get_mut(index)) {
                    node.set_memory(at, &[*byte]);
                }
            }
            if let Some(checker) = self.checker.as_mut() {
                checker.set_initial(*address, bytes);
            }
        }
        Ok(())
    }
}

/// A compute unit has room for the warps of a block.
///
/// # Errors
/// If it has not.
pub fn check_kernel(kernel: &Arc<dyn Kernel>, slots: u32) -> Result<()> {
    let (name, warps) = (kernel.name(), kernel.warps_per_block());
    let (message, expected) = match warps {
        _ if slots == 0 => {
            (format!("{name} is for a GPU, and this machine has none"), "a machine with GPUs".into())
        }
        _ if warps <= slots => return Ok(()),
        0..=MOST_WAVEFRONTS => (
            format!("a block of {name} has {warps} warps, but a compute unit has room for {slots}"),
            format!("--set gpu.cu.wavefronts={warps}, another machine, or smaller blocks"),
        ),
        _ => (
            format!("a block of {name} has {warps} warps"),
            format!("{MOST_WAVEFRONTS} at most: no compute unit has room for more"),
        ),
    };
    Err(Box::new(Diagnostic::new(message).expected(expected)))
}

/// No array of a kernel may run past the end of the host memory.
///
/// # Errors
/// If one of `task` does.
pub fn check_arrays(task: &str, work: &TaskKind, memory: Size) -> Result<()> {
    let Some(array) = work.footprint().into_iter().find(|array| array.end() > memory.0) else {
        return Ok(());
    };
    let message = format!("{task} works on {array}, beyond the host memory of {memory}");
    let expected = format!("arrays whose bytes all lie below {:#x}", memory.0);
    Err(Box::new(Diagnostic::new(message).expected(expected)))
}

/// No access may run past the end of the host memory.
///
/// # Errors
/// If one of `task` does.
pub fn check_addresses(task: &str, operations: &[Operation], memory: Size) -> Result<()> {
    for operation in operations {
        let (Operation::Access(access) | Operation::SpinUntil(access, _)) = operation else { continue };
        // An exclusive access writes nothing, and fetches the block all the same.
        let width = u64::from(access.width.max(1));
        if let Some((_, address)) =
            access.lanes.iter().find(|(_, address)| address.0.saturating_add(width) > memory.0)
        {
            let message = format!(
                "{task} accesses {} at {address}, beyond the host memory of {memory}",
                plural(width, "byte")
            );
            let expected = format!("addresses whose bytes all lie below {:#x}", memory.0);
            return Err(Box::new(Diagnostic::new(message).expected(expected)));
        }
    }
    Ok(())
}
