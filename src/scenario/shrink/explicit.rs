//! Kernels and traces written out as programs, so that their accesses can be left out one by one.

use std::borrow::Cow;

use toml::{Table, Value};

use crate::config::machine::MachineSpec;
use crate::machine::Blueprint;
use crate::model::access::AccessKind;
use crate::model::operation::{Lanes, Operation, StoreValue, WarpAccess};
use crate::model::text::{hex, plural};
use crate::scenario::draft::{Draft, TaskTable};
use crate::scenario::instruction::WIDEST;
use crate::workload::{Kernel, Operations, Task, TaskKind};

/// Instructions that are written out at most, and programs.
const MOST: (usize, usize) = (4096, 512);

/// The same with every kernel and trace written out. Blocks are dealt over the compute units in turn.
///
/// # Errors
/// Says why it cannot be.
pub fn explicit(draft: &Draft, blueprint: &Blueprint) -> Result<Draft, String> {
    let mut tasks: Vec<TaskTable> = Vec::new();
    // The ids that each task of the workload goes by now.
    let mut ids: Vec<Vec<String>> = Vec::new();
    let mut left = MOST.0;
    for task in &blueprint.workload.tasks {
        let known =
            draft.tasks.iter().find(|(_, table)| table.get("id").and_then(Value::as_str) == Some(&*task.id));
        let after: Vec<_> =
            task.after.iter().filter_map(|&before| ids.get(before)).flatten().cloned().collect();
        let made = match (&task.what, known) {
            (TaskKind::Kernel(kernel), _) => blocks(task, &**kernel, &blueprint.spec, &mut left)?,
            (TaskKind::Program { operations: Operations::Computed(_), .. }, _) => {
                vec![computed(task, &mut left)?]
            }
            (_, Some(known)) => vec![known.clone()],
            (_, None) => return Err(format!("the task {} is nowhere in the scenario", task.id)),
        };
        let id =
            |(_, table): &TaskTable| table.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        ids.push(made.iter().map(id).collect());
        tasks.extend(made.into_iter().map(|(key, mut table)| {
            if after.is_empty() {
                table.remove("after");
            } else {
                table.insert("after".into(), list(after.iter().cloned()));
            }
            (key, table)
        }));
        if tasks.len() > MOST.1 {
            return Err(format!("they have more than {} warps", MOST.1));
        }
    }
    let mut explicit = Draft { tasks, ..draft.clone() };
    for key in ["trace", "trace-format", "scale"] {
        explicit.head.remove(key);
    }
    Ok(explicit)
}

fn list(texts: impl Iterator<Item = String>) -> Value {
    Value::Array(texts.map(Value::String).collect())
}

fn program(id: String, by: String, delay: u64, instructions: Vec<String>) -> TaskTable {
    let mut table = Table::new();
    table.insert("id".into(), Value::String(id));
    table.insert("by".into(), Value::String(by));
    if delay > 0 {
        table.insert("delay".into(), Value::Integer(i64::try_from(delay).unwrap_or(i64::MAX)));
    }
    table.insert("do".into(), list(instructions.into_iter()));
    ("program", table)
}

fn computed(task: &Task, left: &mut usize) -> Result<TaskTable, String> {
    let TaskKind::Program { agent, operations, .. } = &task.what else {
        return Err("this is no program".into());
    };
    let instructions = written(|index| operations.at(index).map(Cow::into_owned), left)?;
    Ok(program(task.id.to_string(), agent.clone(), task.delay, instructions))
}

fn blocks(
    task: &Task,
    kernel: &dyn Kernel,
    spec: &MachineSpec,
    left: &mut usize,
) -> Result<Vec<TaskTable>, String> {
    let Some(gpu) = &spec.gpu else { return Err("there is no GPU".into()) };
    let (gpus, cus) = (u64::from(gpu.count.max(1)), u64::from(gpu.cu.count.max(1)));
    let mut made = Vec::new();
    for block in 0..kernel.blocks() {
        let (on, turn) = match kernel.only_on() {
            Some(only) => (u64::from(only), block),
            None => (block % gpus, block / gpus),
        };
        let by = format!("gpu{on}.cu{}", turn % cus);
        for warp in 0..kernel.warps_per_block() {
            let instructions = written(|index| kernel.operation(block, warp, index), left)?;
            if !instructions.is_empty() {
                let id = format!("{}-block-{block}-warp-{warp}", task.id);
                let delay = task.delay.saturating_add(task.launch_overhead().unwrap_or(0));
                made.push(program(id, by.clone(), delay, instructions));
            }
            if made.len() > MOST.1 {
                return Err(format!("they have more than {} warps", MOST.1));
            }
        }
    }
    Ok(made)
}

/// Instructions as a scenario writes them.
fn written(operation: impl Fn(u64) -> Option<Operation>, left: &mut usize) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for index in 0.. {
        let Some(next) = operation(index) else { break };
        let lines = lines(&next)?;
        *left = left
            .checked_sub(lines.len().max(1))
            .ok_or_else(|| format!("they have more than {} instructions", MOST.0))?;
        all.extend(lines);
    }
    Ok(all)
}

fn lines(operation: &Operation) -> Result<Vec<String>, String> {
    Ok(match operation {
        Operation::Compute(cycles) => vec![format!("compute {cycles}")],
        // A program is a block of one warp.
        Operation::Barrier => Vec::new(),
        Operation::Fence(fence) => vec![format!("fence {}", fence.name())],
        Operation::SpinUntil(access, until) => {
            let address = access.lanes.single();
            address.map(|address| format!("spin {address} {}", hex(until))).into_iter().collect()
        }
        Operation::Access(access) => accesses(access)?,
    })
}

/// In one line where its lanes are neighbours that store the same, else a line a lane.
fn accesses(access: &WarpAccess) -> Result<Vec<String>, String> {
    if !can_be_so_wide(access) {
        let width = plural(u64::from(access.width), "byte");
        return Err(format!("a program has no {} of {width}", access.kind.name()));
    }
    let same = matches!(access.kind, AccessKind::Load) || matches!(access.value, StoreValue::Bytes(_));
    if let Lanes::Strided { mask, base, stride } = access.lanes
        && same
        // What an instruction has no words for.
        && access.width > 0
        && u32::try_from(stride).is_ok()
        && mask.count_ones() > 1
        && (mask & 1 == 1 && (mask >> 1).wrapping_add(1) & (mask >> 1) == 0)
        && !matches!(access.kind, AccessKind::Atomic(_))
    {
        let lanes = format!(" lanes {} stride {stride}", mask.count_ones());
        return Ok(vec![one(access, base) + &lanes]);
    }
    Ok(access.lanes.iter().map(|(_, address)| one(access, address)).collect())
}

/// Whether there is an instruction as wide: a trace has wider atomics than a program.
fn can_be_so_wide(access: &WarpAccess) -> bool {
    let width = u64::from(access.width);
    match access.kind {
        AccessKind::Load | AccessKind::NStore => (1..=WIDEST).contains(&width),
        // Of no bytes it is an exclusive access.
        AccessKind::Store => width <= WIDEST,
        AccessKind::Atomic(_) => matches!(width, 1 | 2 | 4 | 8),
    }
}

fn one(access: &WarpAccess, address: crate::model::address::Address) -> String {
    let mut bytes = access.value.bytes(address, access.width);
    // Without values nothing is known of them.
    bytes.resize(usize::from(access.width), 0);
    match access.kind {
        AccessKind::Load => format!("load {address} {}", access.width),
        AccessKind::Store if access.width == 0 => format!("exclusive {address}"),
        AccessKind::Store => format!("store {address} {}", hex(&bytes)),
        AccessKind::NStore => format!("n-store {address} {}", hex(&bytes)),
        AccessKind::Atomic(_) => {
            let word = access.kind.name().trim_start_matches("atomic-");
            let value = bytes.iter().take(8).rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
            format!("atomic {word} {address} {value} {}", access.width)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::access::{AtomicOp, Bytes};
    use crate::model::address::Address;
    use crate::query::Text;
    use crate::scenario::instruction::parse;

    /// Of four lanes, all with the same bytes.
    fn access(kind: AccessKind, width: u8, stride: i64) -> WarpAccess {
        let lanes = Lanes::Strided { mask: 0b1111, base: Address(0x1000), stride };
        let value = StoreValue::Bytes(Bytes::from_elem(7, usize::from(width)));
        WarpAccess { kind, width, lanes, value, label: None }
    }

    #[test]
    fn what_is_written_is_read_as_the_same() {
        for (kind, width, stride, count) in [
            (AccessKind::Load, 4, 8, 1),
            (AccessKind::Load, 4, -4, 4),
            (AccessKind::Store, 2, 1 << 32, 4),
            (AccessKind::NStore, 64, i64::from(u32::MAX), 1),
            (AccessKind::Store, 0, 64, 4),
            (AccessKind::Atomic(AtomicOp::Add), 8, 8, 4),
        ] {
            let access = access(kind, width, stride);
            let written = lines(&Operation::Access(access.clone())).unwrap();
            assert_eq!(written.len(), count, "{written:?}");
            let mut read = Vec::new();
            for line in &written {
                let operation = parse(&Text::new("program", line)).unwrap();
                let Operation::Access(one) = operation else { panic!("{line}") };
                assert_eq!((one.kind, one.width), (kind, width), "{line}");
                read.extend(one.lanes.iter().map(|(_, address)| address));
            }
            assert_eq!(read, access.lanes.iter().map(|(_, address)| address).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_no_program_can_say_is_told() {
        for (kind, width, name) in [
            (AccessKind::Atomic(AtomicOp::Add), 16, "atomic-add"),
            (AccessKind::Load, 65, "load"),
            (AccessKind::NStore, 0, "n-store"),
        ] {
            let refused = lines(&Operation::Access(access(kind, width, 64)));
            assert_eq!(refused, Err(format!("a program has no {name} of {width} bytes")));
        }
    }
}
