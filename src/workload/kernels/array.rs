//! Where a kernel's arrays lie.

use super::parameter::Values;
use crate::diagnostic::Result;
use crate::model::address::{Address, Range};

/// Arrays end below this address: real machines have 48 address bits.
pub const ADDRESS_SPACE: u64 = 1 << 48;

/// Arrays whose place is not given start at a multiple of this.
const PAGE: u64 = 4096;

/// A run of equal elements in memory.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    base: u64,
    element: u64,
    bytes: u64,
}

impl Array {
    /// Places `count` elements of `element` bytes at the address that the parameter `name` gives, or on the first
    /// page after `before`.
    ///
    /// # Errors
    /// If the array does not fit below [`ADDRESS_SPACE`], or its base is no multiple of the element.
    pub fn place(
        values: &Values<'_>,
        name: &str,
        count: u64,
        element: u64,
        before: Option<&Array>,
    ) -> Result<Self> {
        let after = before.map_or(0, |array| (array.base + array.bytes).next_multiple_of(PAGE));
        let base = values.address(name)?.unwrap_or(after);
        let bytes = count.checked_mul(element).filter(|bytes| *bytes < ADDRESS_SPACE);
        let end = bytes.and_then(|bytes| base.checked_add(bytes)).filter(|end| *end <= ADDRESS_SPACE);
        let (Some(bytes), Some(_)) = (bytes, end) else {
            let message =
                format!("the array `{name}` at {base:#x} of {count} elements of {element} B does not fit");
            let mut complaint = values.complain(name, message);
            complaint.expected = Some(format!("an array that ends below {ADDRESS_SPACE:#x}"));
            return Err(complaint);
        };
        if !base.is_multiple_of(element.max(1)) {
            let message = format!("the address of `{name}` must be a multiple of its element of {element} B");
            return Err(values.complain(name, message));
        }
        Ok(Self { base, element, bytes })
    }

    /// Bytes of an element, all of which one access touches.
    pub fn width(&self) -> u8 {
        self.element as u8
    }

    /// The same memory as elements of `element` bytes.
    pub fn of(self, element: u64) -> Self {
        Self { element, ..self }
    }

    /// `count` elements of it, from `first` on.
    pub fn part(self, first: u64, count: u64) -> Self {
        Self { base: self.at(first).0, bytes: count * self.element, ..self }
    }

    /// The address of an element.
    pub fn at(&self, index: u64) -> Address {
        Address(self.base.wrapping_add(index.wrapping_mul(self.element)))
    }

    /// The memory of the array, in pieces that a range can hold.
    pub fn ranges(&self) -> impl Iterator<Item = Range> {
        let (base, bytes) = (self.base, self.bytes);
        let piece = 1u64 << 31;
        (0..bytes.div_ceil(piece)).map(move |nth| {
            let start = nth * piece;
            Range::new(Address(base + start), (bytes - start).min(piece) as u32)
        })
    }
}

/// Places arrays one after the other.
#[derive(Debug)]
pub struct Layout<'a, 'b> {
    values: &'a Values<'b>,
    last: Option<Array>,
}

impl<'a, 'b> Layout<'a, 'b> {
    pub fn new(values: &'a Values<'b>) -> Self {
        Self { values, last: None }
    }

    /// As [`Array::place`], after the array placed before.
    pub fn array(&mut self, name: &str, count: u64, element: u64) -> Result<Array> {
        let placed = Array::place(self.values, name, count, element, self.last.as_ref())?;
        self.last = Some(placed);
        Ok(placed)
    }
}
