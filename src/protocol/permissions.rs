//! Which pages are read-only, so that a GPU that takes no part in coherence may cache them ("Selective GPU Caches", section
//! 3.3).
//!
//! Permissions are a value of the machine, the page table that all its TLBs are filled from. Nodes and agents are told them with
//! everything else that they are given (in the [`Outbox`](super::outbox::Outbox)).

use std::hash::{Hash, Hasher};

use super::homes::Homes;
use crate::model::address::Address;
use crate::model::page::{Page, PageSet};
use crate::model::paging::Permission;

/// The home of pages in host memory, where pages live in either.
pub const HOST: u32 = 0;

/// The permissions of all pages; without any, every page may be written, and none is read-only.
#[derive(Clone, Debug, Default)]
pub struct Permissions(Option<Box<Speculation>>);

/// Pages that are taken for read-only until somebody writes them.
#[derive(Clone, Debug)]
struct Speculation {
    /// Bytes of a page.
    page: u32,
    /// Pages of GPU memory, too.
    everywhere: bool,
    /// They have been marked, and speculation has not been given up.
    is_on: bool,
    /// No longer read-only, and not yet to be written: stale lines of it may be left.
    changing: PageSet,
    /// Read-write from now on.
    writable: PageSet,
}

impl Permissions {
    /// Pages of `page` bytes, of host memory or `everywhere`, that are not marked yet.
    #[must_use]
    pub fn speculative(page: u32, everywhere: bool) -> Self {
        Self(Some(Box::new(Speculation {
            page,
            everywhere,
            is_on: false,
            changing: PageSet::default(),
            writable: PageSet::default(),
        })))
    }

    /// What may be done with the page of an address.
    #[must_use]
    pub fn of(&self, address: Address, homes: &Homes) -> Permission {
        let Some(all) = &self.0 else { return Permission::ReadWrite };
        let page = Page::of(address, all.page);
        if all.changing.contains(page) {
            Permission::Changing
        } else if all.is_on && (all.everywhere || homes.of(address) == HOST) && !all.writable.contains(page) {
            Permission::ReadOnly
        } else {
            Permission::ReadWrite
        }
    }

    /// Marks all pages as read-only, but for those that are being written; those that were read-write by name before.
    pub fn mark(&mut self, written: impl Iterator<Item = Address>) -> PageSet {
        let Some(all) = &mut self.0 else { return PageSet::default() };
        let page = all.page;
        all.is_on = true;
        std::mem::replace(&mut all.writable, written.map(|address| Page::of(address, page)).collect())
    }

    /// Marks no pages any more: those that were not used yet may be written at once.
    pub fn give_up(&mut self) {
        if let Some(all) = &mut self.0 {
            all.is_on = false;
        }
    }

    /// A page is no longer read-only.
    pub fn begin_change(&mut self, page: Page) {
        if let Some(all) = &mut self.0 {
            all.changing.insert(page);
        }
    }

    /// It may be written.
    pub fn end_change(&mut self, page: Page) {
        if let Some(all) = &mut self.0 {
            all.changing.remove(page);
            all.writable.insert(page);
        }
    }

    /// Whether pages are marked.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.as_ref().is_some_and(|all| all.is_on)
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        if let Some(all) = &self.0 {
            (all.is_on, &all.changing, &all.writable).hash(hasher);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marked_page_is_read_only_until_it_has_changed() {
        let mut permissions = Permissions::speculative(4096, false);
        let of =
            |permissions: &Permissions, page: u64| permissions.of(Address(page * 4096 + 8), &Homes::Single);
        assert_eq!(of(&permissions, 1), Permission::ReadWrite, "not marked yet");
        permissions.mark([Address(2 * 4096)].into_iter());
        assert_eq!([1, 2].map(|page| of(&permissions, page)), [Permission::ReadOnly, Permission::ReadWrite]);
        permissions.begin_change(Page(1));
        assert_eq!(of(&permissions, 1), Permission::Changing);
        permissions.give_up();
        assert_eq!([1, 3].map(|page| of(&permissions, page)), [Permission::Changing, Permission::ReadWrite]);
        permissions.end_change(Page(1));
        assert_eq!(of(&permissions, 1), Permission::ReadWrite);
    }

    #[test]
    fn pages_of_the_gpu_are_marked_only_if_all_are() {
        let homes = Homes::Dealt(crate::protocol::interleave::Interleave::in_turn(4096, 2));
        for (everywhere, second) in [(false, Permission::ReadWrite), (true, Permission::ReadOnly)] {
            let mut permissions = Permissions::speculative(4096, everywhere);
            permissions.mark(std::iter::empty());
            let of = [0, 4096].map(|address| permissions.of(Address(address), &homes));
            assert_eq!(of, [Permission::ReadOnly, second]);
        }
        assert_eq!(Permissions::default().of(Address(0), &homes), Permission::ReadWrite);
    }
}
