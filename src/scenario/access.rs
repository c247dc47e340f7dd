//! The accesses of `[[do]]`, from their tables to operations.

use std::ops::Range;

use crate::config::Document;
use crate::config::document::At;
use crate::diagnostic::{Diagnostic, Result};
use crate::model::access::{AccessKind, AtomicOp, Bytes};
use crate::model::address::Address;
use crate::model::number::parse_bytes;
use crate::model::operation::{Fence, Lanes, Operation};
use crate::model::text::plural;

use super::file::{AtomicFile, DoFile, LoadFile, StoreFile};
use super::instruction as instructions;

/// Reads the accesses of one document.
#[derive(Clone, Copy)]
pub(super) struct Accesses<'a> {
    pub document: &'a Document,
}

impl Accesses<'_> {
    fn complain(self, span: &Range<usize>, message: impl Into<String>) -> Diagnostic {
        self.document.complain(Some(span), message)
    }

    /// The one thing that an entry of `[[do]]` does.
    pub fn operation(self, access: &DoFile, place: &Range<usize>) -> Result<Operation> {
        let mut found = Vec::new();
        if let Some(load) = &access.load {
            found.push(self.load(&load.value)?);
        }
        if let Some(store) = &access.store {
            found.push(self.store(AccessKind::Store, store)?);
        }
        if let Some(store) = &access.n_store {
            found.push(self.store(AccessKind::NStore, store)?);
        }
        if let Some(atomic) = &access.atomic {
            found.push(self.atomic(&atomic.value)?);
        }
        if let Some(exclusive) = &access.exclusive {
            let address = Address(exclusive.value.address.value);
            found.push(Operation::Access(instructions::exclusive(address)));
        }
        if let Some(fence) = &access.fence {
            let kind = Fence::named(&fence.value).ok_or_else(|| {
                let error = self.complain(&fence.span, format!("there is no fence {}", fence.value));
                error.expected("full, acquire or release")
            })?;
            found.push(Operation::Fence(kind));
        }
        match (found.len(), found.pop()) {
            (1, Some(only)) => Ok(only),
            (count, _) => {
                let message = if count == 0 { "this does nothing" } else { "this does more than one thing" };
                let error = self.complain(place, message);
                Err(error.expected("one of load, store, n-store, atomic, exclusive and fence").into())
            }
        }
    }

    fn load(self, load: &LoadFile) -> Result<Operation> {
        let width = self.limited(load.len.as_ref(), instructions::WORD, instructions::WIDEST)?;
        let lanes = self.lanes(&load.address, load.lanes.as_ref(), load.stride, width)?;
        Ok(Operation::Access(instructions::load_of(lanes, width, None)))
    }

    fn store(self, kind: AccessKind, at: &At<StoreFile>) -> Result<Operation> {
        let store = &at.value;
        let bytes = match (&store.bytes, &store.value) {
            (Some(bytes), None) => self.bytes(bytes)?,
            (None, Some(value)) => self.number(value, store.width.as_ref())?,
            _ => {
                let error = self.complain(&at.span, "this store does not say what it stores");
                return Err(error.expected("either bytes = \"07 00\" or value = 7").into());
            }
        };
        if let (Some(_), Some(width)) = (&store.bytes, &store.width) {
            return Err(self.complain(&width.span, "bytes have their own width").into());
        }
        let lanes = self.lanes(&store.address, store.lanes.as_ref(), store.stride, bytes.len() as u64)?;
        Ok(Operation::Access(instructions::store_of(kind, lanes, bytes)))
    }

    fn atomic(self, atomic: &AtomicFile) -> Result<Operation> {
        let op = AtomicOp::named(&atomic.op.value).ok_or_else(|| {
            let names = AtomicOp::ALL.map(AtomicOp::name);
            let error = self.complain(&atomic.op.span, format!("there is no atomic {}", atomic.op.value));
            error.expected(names.join(", ")).nearest(&atomic.op.value, names)
        })?;
        let operand = self.number(&atomic.value, atomic.width.as_ref())?;
        let (address, width) = (Address(atomic.address.value), operand.len() as u64);
        if !instructions::is_aligned(address, width) {
            let error = self.complain(&atomic.address.span, instructions::misaligned(address, width));
            return Err(error.expected(format!("a multiple of {width}")).into());
        }
        Ok(Operation::Access(instructions::atomic_of(op, address, operand, None)))
    }

    fn bytes(self, text: &At<String>) -> Result<Bytes> {
        let good = |bytes: &Bytes| (1..=instructions::WIDEST).contains(&(bytes.len() as u64));
        parse_bytes(&text.value).filter(good).ok_or_else(|| {
            let error = self.complain(&text.span, "these are not bytes");
            error.expected("1 to 64 pairs of hexadecimal digits such as \"07 00\"").into()
        })
    }

    fn number(self, value: &At<u64>, width: Option<&At<u64>>) -> Result<Bytes> {
        let bytes = width.map_or(instructions::WORD, |width| width.value);
        if let Some(width) = width.filter(|width| ![1, 2, 4, 8].contains(&width.value)) {
            return Err(self.complain(&width.span, "this is no width").expected("1, 2, 4 or 8").into());
        }
        instructions::little_endian(value.value, bytes).ok_or_else(|| {
            let error = self
                .complain(&value.span, format!("{} does not fit in {}", value.value, plural(bytes, "byte")));
            error.expected("a smaller number or a larger width").into()
        })
    }

    fn lanes(
        self,
        address: &At<u64>,
        lanes: Option<&At<u64>>,
        stride: Option<i64>,
        width: u64,
    ) -> Result<Lanes> {
        let count = self.limited(lanes, 1, 64)?;
        Ok(instructions::lanes(Address(address.value), count, stride.unwrap_or(width as i64)))
    }

    fn limited(self, given: Option<&At<u64>>, default: u64, most: u64) -> Result<u64> {
        match given {
            Some(at) if at.value == 0 || at.value > most => Err(self
                .complain(&at.span, format!("{} is out of range", at.value))
                .expected(format!("1 to {most}"))
                .into()),
            Some(at) => Ok(at.value),
            None => Ok(default),
        }
    }
}
