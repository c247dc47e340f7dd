//! Orders of stores and loads that release consistency allows, and does not.

use super::*;
use crate::model::access::{AtomicOp, Bytes};

const A: ComponentId = ComponentId(1);
const B: ComponentId = ComponentId(2);

fn access(kind: AccessKind, value: u8) -> Access {
    Access { kind, range: Range::new(Address(8), 1), bytes: Bytes::from_slice(&[value]), mask: None }
}

/// One access, from `issued` on; whether what it read may be.
fn make(
    known: &mut Consistency,
    at: ComponentId,
    access: &Access,
    read: &[u8],
    (issued, event): (u64, u64),
) -> bool {
    let number = TxnNumber(event);
    known.begin(at, number, access, issued);
    let coherent = access.kind != AccessKind::NStore;
    known
        .end(&Performed {
            at,
            number: Some(number),
            access,
            read,
            coherent,
            kept: Kept::BySoftware,
            is_home: true,
            issued,
            event,
        })
        .is_none()
}

fn store(known: &mut Consistency, at: ComponentId, value: u8, event: u64) {
    make(known, at, &access(AccessKind::NStore, value), &[], (event - 1, event));
}

fn load(known: &mut Consistency, at: ComponentId, value: u8, event: u64) -> bool {
    make(known, at, &access(AccessKind::Load, 0), &[value], (event - 1, event))
}

#[test]
fn who_has_acquired_what_was_released_must_see_it() {
    let mut known = Consistency::new(false);
    store(&mut known, A, 7, 10);
    assert!(load(&mut known, B, 0, 20) && load(&mut known, B, 7, 20), "either, before");
    assert!(!load(&mut known, A, 0, 20), "its own");
    known.acquire(B, 30);
    assert!(load(&mut known, B, 0, 40), "acquired before it was released");
    known.release(A, 45, 50);
    assert!(load(&mut known, B, 0, 60), "released, but not acquired since");
    known.acquire(B, 70);
    assert!(!load(&mut known, B, 0, 80), "released, then acquired");
    assert!(load(&mut known, B, 7, 80));
    assert!(!load(&mut known, B, 9, 80), "never stored");
}

#[test]
fn an_l1_that_hardware_keeps_coherent_reads_what_was_performed_last() {
    let mut known = Consistency::new(true);
    store(&mut known, A, 7, 10);
    store(&mut known, A, 8, 20);
    let load = access(AccessKind::Load, 0);
    let mut reads = |value, issued| {
        let (number, read) = (Some(TxnNumber(99)), [value]);
        let all = Performed {
            at: B,
            number,
            access: &load,
            read: &read,
            coherent: true,
            kept: Kept::ByHardware,
            is_home: true,
            issued,
            event: 30,
        };
        known.end(&all)
    };
    assert!(reads(8, 25).is_none());
    let second = Expected { value: 8, number: TxnNumber(20), writer: Some(A) };
    for old in [7, 0] {
        let told = reads(old, 25).map(|stale| (stale.address, stale.value, stale.expected));
        assert_eq!(told, Some((Address(8), old, Some(second))));
    }
    assert!(reads(7, 15).is_none() && reads(8, 15).is_none(), "the second was under way");
    let first = Some(TxnNumber(10));
    assert_eq!(reads(0, 15).and_then(|stale| stale.expected).map(|seen| seen.number), first);
}

#[test]
fn stores_of_parts_of_what_was_stored_are_told_apart() {
    let store = |range: Range, first: u8| Access {
        kind: AccessKind::NStore,
        range,
        bytes: (0..range.len as u8).map(|byte| first + byte).collect(),
        mask: None,
    };
    let mut known = Consistency::new(false);
    known.set_initial(Address(0), &[99; 4]);
    // Bytes 1 to 16, and 106 to 109 over those at 6 to 9.
    assert!(make(&mut known, A, &store(Range::new(Address(0), 16), 1), &[], (1, 2)));
    assert!(make(&mut known, A, &store(Range::new(Address(6), 4), 106), &[], (3, 4)));
    known.release(A, 4, 5);
    known.acquire(B, 6);
    let range = Range::new(Address(2), 10);
    let load = Access { kind: AccessKind::Load, range, bytes: Bytes::new(), mask: None };
    let new = [3, 4, 5, 6, 106, 107, 108, 109, 11, 12];
    assert!(make(&mut known, B, &load, &new, (7, 8)));
    for place in 0..10 {
        let mut old = new;
        old[place] = 0;
        assert!(!make(&mut known, B, &load, &old, (7, 8)), "byte {place}");
    }
    // What lies beside it is zero, and what was there at first is gone.
    let beside = |start| Access { range: Range::new(Address(start), 4), ..load.clone() };
    assert!(make(&mut known, B, &beside(14), &[15, 16, 0, 0], (7, 8)));
    assert!(!make(&mut known, B, &beside(14), &[15, 16, 0, 3], (7, 8)));
    assert!(!make(&mut known, B, &beside(0), &[99, 2, 3, 4], (7, 8)));
    let lost = known.lost(|address, left| left.contains(&(address.0 as u8 + 1)));
    assert_eq!(lost.collect::<Vec<_>>(), (6..10).map(Address).collect::<Vec<_>>());
}

#[test]
fn a_load_under_way_may_be_older_than_the_acquire() {
    let mut known = Consistency::new(true);
    store(&mut known, A, 7, 10);
    known.acquire(B, 30);
    let old = access(AccessKind::Load, 0);
    assert!(make(&mut known, B, &old, &[0], (20, 40)));
    assert!(!make(&mut known, B, &old, &[0], (35, 41)));
}

#[test]
fn stores_that_race_may_end_in_any_order() {
    let mut known = Consistency::new(true);
    store(&mut known, A, 7, 10);
    store(&mut known, B, 8, 11);
    known.acquire(A, 20);
    known.acquire(B, 20);
    assert!(load(&mut known, A, 8, 30) && load(&mut known, B, 7, 30));
    store(&mut known, A, 9, 40);
    assert!(!load(&mut known, A, 8, 50), "A had to see both when it stored again");
    known.acquire(B, 60);
    known.settle();
    assert_eq!(known.lost(|_, left| left == [9]).count(), 0);
}

#[test]
fn atomics_follow_each_other() {
    let add = access(AccessKind::Atomic(AtomicOp::Add), 1);
    let mut known = Consistency::new(false);
    assert!(make(&mut known, A, &add, &[0], (1, 2)));
    assert!(!make(&mut known, B, &add, &[0], (5, 6)), "one is there already");
    assert!(make(&mut known, B, &add, &[0], (1, 7)), "under way together");
}
