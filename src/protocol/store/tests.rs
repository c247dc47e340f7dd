//! The store of a node by itself: sets, ways, who leaves first.

use super::*;

fn fill(store: &mut Store, block: u64, remote: bool) -> Option<Address> {
    let (address, mut evicted) = (Address(block * 64), None);
    let kind = Kind { is_remote: remote, other_waits: false };
    let slot = match store.room_by_kind(address, kind, |_| false) {
        Room::Free(slot) => slot,
        Room::Victim(slot, victim) => {
            evicted = Some(victim);
            store.remove(victim);
            assert_eq!(store.room_by_kind(address, kind, |_| false), Room::Free(slot));
            slot
        }
        Room::None => return None,
    };
    let data = Patch::empty(crate::model::address::Range::new(address, 64), 64, false);
    let state = State(b'V');
    store.place(
        slot,
        Entry {
            block: address,
            state,
            remote,
            used: block,
            data,
            units: SmallVec::new(),
            newer: None,
            here: None,
        },
    );
    evicted
}

#[test]
fn a_repartition_evicts_nothing_and_loses_nothing() {
    let mut store = Store::tagged(1, 4, 64, Interleave::NONE);
    store.partition(2);
    assert_eq!([1, 2].map(|block| fill(&mut store, block, false)), [None, None]);
    assert_eq!([11, 12].map(|block| fill(&mut store, block, true)), [None, None]);
    // A third local block pushes out a local one, though a remote one is older than nothing.
    assert_eq!(fill(&mut store, 3, false), Some(Address(64)));
    store.partition(3);
    let here = [2, 3, 11, 12].map(|block| store.get(Address(block * 64)).is_some());
    assert_eq!(here, [true; 4]);
    // Block 2 or 3 stands in the way that is for remote blocks now: it leaves when one comes.
    let (_, way) = store.place_of(Address(2 * 64)).unwrap();
    let lazy = if way == 1 { 2 } else { 3 };
    assert_eq!(fill(&mut store, 13, true), Some(Address(lazy * 64)));
    assert_eq!(fill(&mut store, 4, false), Some(Address((5 - lazy) * 64)));
}

#[test]
fn an_empty_way_is_lent_and_taken_back_first() {
    let mut store = Store::tagged(1, 4, 64, Interleave::NONE);
    store.partition(2);
    // Local blocks alone have all four ways, and the oldest of all of them leaves.
    assert_eq!([1, 2, 3, 4].map(|block| fill(&mut store, block, false)), [None; 4]);
    assert_eq!(fill(&mut store, 5, false), Some(Address(64)));
    // Two remote ones take back what was lent: blocks 3 and 4 stand there, though block 2 is older.
    assert_eq!(fill(&mut store, 11, true), Some(Address(3 * 64)));
    assert_eq!(fill(&mut store, 12, true), Some(Address(4 * 64)));
    // From then on each kind pushes out its own.
    assert_eq!(fill(&mut store, 13, true), Some(Address(11 * 64)));
    assert_eq!(fill(&mut store, 6, false), Some(Address(2 * 64)));
    // What is busy stays, and none of the other kind leaves for it.
    let local = Kind { is_remote: false, other_waits: false };
    assert_eq!(store.room_by_kind(Address(7 * 64), local, |block| block.0 < 7 * 64), Room::None);
    // An empty way of one's own comes before one that is lent.
    store.remove(Address(5 * 64));
    store.remove(Address(12 * 64));
    assert_eq!(fill(&mut store, 7, false), None);
    assert_eq!(fill(&mut store, 8, false), None);
    assert_eq!([7, 8].map(|block| store.place_of(Address(block * 64)).unwrap().1), [0, 3]);
    // A remote one has less than its share now: the local one in its way leaves.
    assert_eq!(fill(&mut store, 14, true), Some(Address(8 * 64)));
}

#[test]
fn a_kind_that_has_its_share_takes_nothing_from_the_other() {
    let mut store = Store::tagged(1, 4, 64, Interleave::NONE);
    store.partition(2);
    assert_eq!([1, 2, 3].map(|block| fill(&mut store, block, false)), [None; 3]);
    assert_eq!(fill(&mut store, 11, true), None);
    // The second remote one stands where a local one was, and a local one in the way that is for remote ones: two and two.
    store.remove(Address(2 * 64));
    assert_eq!(fill(&mut store, 12, true), None);
    assert_eq!(fill(&mut store, 4, false), Some(Address(64)), "its own oldest");
    assert_eq!(fill(&mut store, 13, true), Some(Address(11 * 64)), "its own oldest");
}

#[test]
fn while_the_other_kind_waits_nothing_is_lent() {
    let mut store = Store::tagged(1, 4, 64, Interleave::NONE);
    store.partition(2);
    let room = |store: &Store, block: u64, is_remote: bool, other_waits: bool| {
        store.room_by_kind(Address(block * 64), Kind { is_remote, other_waits }, |_| false)
    };
    assert_eq!([1, 2].map(|block| fill(&mut store, block, false)), [None; 2]);
    // Its share it goes on with; the empty ways are for who waits.
    assert_eq!(room(&store, 3, false, true), Room::Victim(0, Address(64)));
    assert!(matches!(room(&store, 11, true, true), Room::Free(2 | 3)));
    assert_eq!([3, 4].map(|block| fill(&mut store, block, false)), [None; 2]);
    // It has more than its share: not even a block of its own may leave for another one.
    assert_eq!(room(&store, 5, false, true), Room::None);
    assert_eq!(room(&store, 5, false, false), Room::Victim(0, Address(64)));
    assert!(matches!(room(&store, 11, true, true), Room::Victim(2 | 3, _)));
}

#[test]
fn blocks_are_found_and_ways_add_up_after_any_repartition() {
    let mut random = crate::model::random::Random::new(7);
    let mut store = Store::tagged(4, 8, 64, Interleave::NONE);
    let mut held: std::collections::BTreeSet<u64> = std::collections::BTreeSet::new();
    for _ in 0..5000 {
        if random.below(20) == 0 {
            store.partition(1 + random.below(7) as u32);
        }
        assert!((0..8).contains(&store.remote_ways()));
        let block = random.below(200);
        if held.contains(&block) {
            assert!(store.get(Address(block * 64)).is_some(), "block {block}");
            continue;
        }
        if let Some(evicted) = fill(&mut store, block, block.is_multiple_of(3)) {
            assert!(held.remove(&(evicted.0 / 64)));
        }
        held.insert(block);
        assert!(held.iter().all(|block| store.get(Address(block * 64)).is_some()));
    }
}

#[test]
fn addresses_are_those_up_to_the_last() {
    let mut store = Store::tagged(16, 4, 64, Interleave::NONE);
    let blocks = [0u64, 1, 2, 40, 41, 300];
    for block in blocks {
        assert_eq!(fill(&mut store, block, false), None);
    }
    let up_to = |last: Option<u64>| {
        let mut found: Vec<u64> = store.addresses(last.map(Address)).map(|at| at.0 / 64).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(up_to(None), blocks);
    let lasts = [0, 63, 64, 40 * 64, 40 * 64 + 1, u64::MAX - 1, u64::MAX];
    for last in lasts {
        let wanted: Vec<u64> = blocks.into_iter().filter(|block| block * 64 <= last).collect();
        assert_eq!(up_to(Some(last)), wanted, "{last}");
    }
}

#[test]
fn dealing_is_squeezed_out_of_the_set_index() {
    let dealing = Interleave::in_turn(4096, 4);
    let store = Store::tagged(128, 1, 64, dealing);
    assert_eq!(dealing.index(Address(0x3000)), 3);
    assert_eq!(store.set_of(Address(0x0)), 0);
    assert_eq!(store.set_of(Address(0x4000)), 64);
    assert_eq!(store.set_of(Address(0x8000)), 0);
}

#[test]
fn the_blocks_of_one_home_use_all_sets() {
    let (slices, homes) = (Interleave::in_turn(128, 16), Interleave::in_turn(4096, 4));
    let store = Store::tagged(128, 16, 128, slices).of_homes(homes);
    let mut counts = [0; 128];
    // The first 256 KiB of the memory of home 2 that fall to slice 5.
    let pages = (0..64).map(|page| page * 0x4000 + 0x2000);
    let lines = pages.flat_map(|page| [page + 0x280, page + 0xa80]).map(Address);
    for line in lines {
        assert_eq!((homes.index(line), slices.index(line)), (2, 5));
        counts[store.set_of(line) as usize] += 1;
    }
    assert_eq!(counts, [1; 128]);
    assert_eq!(store.emptied().set_of(Address(0x6a80)), store.set_of(Address(0x6a80)));
}
