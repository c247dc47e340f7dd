//! What one warp does, as operations and as the text of a scenario.

use crate::model::access::{AccessKind, AtomicOp, Bytes};
use crate::model::address::Address;
use crate::model::operation::{Fence, Lanes, Operation, StoreValue, WarpAccess};
use crate::workload::{Operations, Task, TaskKind};

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    Load(Address, u64),
    Store(Address, Vec<u8>),
    NStore(Address, Vec<u8>),
    Add(Address, Vec<u8>),
    Exclusive(Address),
    Compute(u32),
    Fence(Fence),
}

/// What one warp of a compute unit or core does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    pub agent: String,
    pub deeds: Vec<Deed>,
}

/// The task of a stream.
pub(super) fn task_name(index: usize) -> String {
    format!("stream{index}")
}

impl Stream {
    pub(super) fn task(&self, index: usize) -> Task {
        let operations: Vec<_> = self.deeds.iter().map(Deed::operation).collect();
        Task {
            id: task_name(index).into(),
            after: Vec::new(),
            delay: 0,
            launch: None,
            what: TaskKind::Program {
                agent: self.agent.clone(),
                warp: None,
                operations: Operations::Listed(operations.into()),
            },
        }
    }

    /// As a `[[program]]` of a scenario.
    #[must_use]
    pub fn text(&self, index: usize) -> String {
        let lines: Vec<_> = self.deeds.iter().map(|deed| format!("    \"{}\",\n", deed.text())).collect();
        format!(
            "\n[[program]]\nid = \"{}\"\nby = \"{}\"\ndo = [\n{}]\n",
            task_name(index),
            self.agent,
            lines.concat()
        )
    }
}

impl Deed {
    /// What it is about; nothing for what only takes time or orders.
    #[must_use]
    pub fn address(&self) -> Option<Address> {
        match self {
            Self::Load(at, _)
            | Self::Store(at, _)
            | Self::NStore(at, _)
            | Self::Add(at, _)
            | Self::Exclusive(at) => Some(*at),
            Self::Compute(_) | Self::Fence(_) => None,
        }
    }

    fn operation(&self) -> Operation {
        let access = |kind, at: Address, width: u64, bytes: &[u8]| {
            Operation::Access(WarpAccess {
                kind,
                width: width as u8,
                lanes: Lanes::one(at),
                value: StoreValue::Bytes(Bytes::from_slice(bytes)),
                label: None,
            })
        };
        match self {
            Self::Load(at, width) => access(AccessKind::Load, *at, *width, &[]),
            Self::Store(at, bytes) => access(AccessKind::Store, *at, bytes.len() as u64, bytes),
            Self::NStore(at, bytes) => access(AccessKind::NStore, *at, bytes.len() as u64, bytes),
            Self::Add(at, bytes) => access(AccessKind::Atomic(AtomicOp::Add), *at, bytes.len() as u64, bytes),
            Self::Exclusive(at) => access(AccessKind::Store, *at, 0, &[]),
            Self::Compute(cycles) => Operation::Compute(*cycles),
            Self::Fence(fence) => Operation::Fence(*fence),
        }
    }

    /// As a program of a scenario writes it.
    fn text(&self) -> String {
        let hex =
            |bytes: &[u8]| bytes.iter().fold(String::new(), |text, byte| text + &format!(" {byte:02x}"));
        match self {
            Self::Load(at, width) => format!("load {at} {width}"),
            Self::Store(at, bytes) => format!("store {at}{}", hex(bytes)),
            Self::NStore(at, bytes) => format!("n-store {at}{}", hex(bytes)),
            Self::Add(at, bytes) => {
                let value = bytes.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
                format!("atomic add {at} {value:#x} {}", bytes.len())
            }
            Self::Exclusive(at) => format!("exclusive {at}"),
            Self::Compute(cycles) => format!("compute {cycles}"),
            Self::Fence(fence) => format!("fence {}", fence.name()),
        }
    }
}
