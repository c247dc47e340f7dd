//! The controller by itself, on a DRAM with round numbers.

use super::*;
use crate::protocol::outbox::About;

const TIMING: DramTiming = DramTiming {
    channels: 1,
    banks: 2,
    row: 1024,
    interleave: 1024,
    cas: 10,
    activate: 20,
    precharge: 30,
    gaps: Gaps::NONE,
    hashed: false,
    always_reopen: false,
    access: 1,
    tags: None,
};
const SCHEDULING: Scheduling = Scheduling { window: 8, writes: 4, row_hit_cap: 2 };

/// 64 bytes take 4 ticks of the bus.
fn controller(timing: DramTiming, scheduling: Scheduling) -> Controller {
    Controller::new(timing, scheduling, ByteRate::new(16, 1))
}

/// Address of a column in a row of a bank.
fn at(bank: u64, row: u64, column: u64) -> u64 {
    (row * 2 + bank) * 1024 + column * 64
}

/// Advances until nothing is left, and returns what was served, with when and how, by its column.
fn drain(controller: &mut Controller, mut now: Tick) -> Vec<(u64, RowAccess, Tick)> {
    let mut order = Vec::new();
    for _ in 0..1000 {
        let issued = controller.advance(now).into_iter();
        order.extend(issued.filter_map(|one| Some((one.job, one.access, one.moves?.end))));
        while controller.take_finished(now).is_some() {}
        let Some(next) = controller.plan() else { break };
        assert!(next > now, "{next} is not after {now}");
        now = next;
        assert!(controller.is_due(now));
    }
    assert!(controller.is_idle());
    order
}

fn read(controller: &mut Controller, local: u64) -> u64 {
    controller.read(local, 64, About::default()).0
}

#[test]
fn row_hits_go_before_older_requests_that_need_another_row() {
    let mut dram = controller(TIMING, SCHEDULING);
    let open = read(&mut dram, at(0, 0, 0));
    let other = read(&mut dram, at(0, 1, 0));
    let hit = read(&mut dram, at(0, 0, 1));
    let order = drain(&mut dram, 0);
    // 20 to open, 10 for the column, 4 on the bus; the hit follows at once; then 30 to close, and all again:
    // 38 + 30 + 20 + 10 + 4.
    let expected =
        [(open, RowAccess::Miss, 34), (hit, RowAccess::Hit, 38), (other, RowAccess::Conflict, 102)];
    assert_eq!(order, expected);
    assert_eq!(dram.counters.rows, [1, 1, 1, 0]);
    assert_eq!((dram.counters.busy, dram.counters.bytes, dram.counters.queue_high_water), (12, 192, Some(3)));
    assert_eq!(dram.counters.banks_busy, 102, "all the time, and none of it twice");
    assert_eq!(dram.busiest_bank(1000), 102, "all of it in one bank");
}

#[test]
fn what_is_promised_ahead_is_no_time_in_which_a_memory_was_busy() {
    let mut dram = Dram::InOrder(InOrder::new(TIMING, ByteRate::new(16, 1)));
    if let Dram::InOrder(dram) = &mut dram {
        // 20 + 10 + 4, then 4 for each hit: its column is asked for while the one before moves.
        let ends = [0, 1, 2].map(|column| dram.access(at(0, 0, column), 64, false, 0));
        assert_eq!(ends, [34, 38, 42]);
    }
    // The second can be asked for at 20, the third at 24, and each waits until the one before has moved.
    assert_eq!((dram.counters().waited, dram.waiters()), ((20 + 24, 4 + 4), 3));
    let busy = [0, 31, 42, 80].map(|now| dram.busy_until(now));
    assert_eq!(busy, [(0, 0), (1, 31), (12, 42), (12, 42)]);
}

#[test]
fn banks_open_rows_while_another_moves_data() {
    let mut dram = controller(TIMING, SCHEDULING);
    read(&mut dram, at(0, 0, 0));
    read(&mut dram, at(1, 0, 0));
    let ends: Vec<Tick> = drain(&mut dram, 0).into_iter().map(|(_, _, end)| end).collect();
    assert_eq!(ends, [34, 38]);
}

#[test]
fn an_old_request_is_not_passed_for_ever() {
    let order = |row_hit_cap: u32| -> Vec<u64> {
        let mut dram = controller(TIMING, Scheduling { row_hit_cap, ..SCHEDULING });
        read(&mut dram, at(0, 0, 0));
        read(&mut dram, at(0, 1, 0));
        (1..5).for_each(|column| {
            read(&mut dram, at(0, 0, column));
        });
        drain(&mut dram, 0).into_iter().map(|(job, _, _)| job).collect()
    };
    assert_eq!(order(0), [1, 2, 3, 4, 5, 6]);
    assert_eq!(order(2), [1, 3, 4, 2, 5, 6]);
    assert_eq!(order(16), [1, 3, 4, 5, 6, 2]);
}

#[test]
fn only_the_window_is_looked_at() {
    let mut dram = controller(TIMING, Scheduling { window: 2, row_hit_cap: 16, ..SCHEDULING });
    let jobs: Vec<u64> =
        [at(0, 0, 0), at(0, 1, 0), at(0, 2, 0), at(0, 0, 1)].map(|local| read(&mut dram, local)).into();
    let order: Vec<u64> = drain(&mut dram, 0).into_iter().map(|(job, _, _)| job).collect();
    assert_eq!(order, jobs);
}

#[test]
fn writes_gather_until_they_drain_or_nothing_is_read() {
    let mut dram = controller(TIMING, SCHEDULING);
    let write = |dram: &mut Controller, column: u64| {
        dram.touch(Array::Data, at(1, 0, column), 64, true, About::default());
    };
    write(&mut dram, 0);
    read(&mut dram, at(0, 0, 0));
    let order: Vec<u64> = drain(&mut dram, 0).into_iter().map(|(job, _, _)| job).collect();
    assert_eq!(order, [2, 1], "a read goes before a single write");

    let mut dram = controller(TIMING, SCHEDULING);
    (0..4).for_each(|column| write(&mut dram, column));
    read(&mut dram, at(0, 0, 0));
    let order: Vec<u64> = drain(&mut dram, 0).into_iter().map(|(job, _, _)| job).collect();
    assert_eq!(order, [1, 2, 5, 3, 4], "four drain to two");
    assert_eq!((dram.counters.reads, dram.counters.writes), (1, 4));
}

#[test]
fn a_directory_access_always_reopens_its_row() {
    let mut dram = controller(DramTiming { always_reopen: true, ..TIMING }, SCHEDULING);
    (0..3).for_each(|column| {
        read(&mut dram, at(0, 0, column));
    });
    let order = drain(&mut dram, 0);
    // UMH, section 5.4: the row is closed and opened again though it is the same.
    let expected =
        [(1, RowAccess::Reopen, 34), (2, RowAccess::Reopen, 34 + 64), (3, RowAccess::Reopen, 34 + 128)];
    assert_eq!(order, expected);
    assert_eq!(dram.counters.rows, [0, 0, 0, 3]);
}

#[test]
fn a_large_read_ends_with_its_last_row() {
    let mut dram = controller(DramTiming { channels: 2, ..TIMING }, SCHEDULING);
    let whole = dram.read(0, 4096, About::default());
    let mut now = 0;
    let mut ends = Vec::new();
    loop {
        ends.extend(dram.advance(now).iter().filter_map(|one| Some(one.moves?.end)));
        if let Some(done) = dram.take_finished(now) {
            assert_eq!((done, Some(&now)), (whole, ends.iter().max()));
            break;
        }
        now = dram.plan().unwrap();
        assert!(dram.is_due(now));
    }
    // Each of two channels moves two rows of 1 KiB at half of the rate.
    assert_eq!(ends.iter().max(), Some(&(20 + 10 + 2 * 128)));
    let view = dram.view();
    assert_eq!((view.banks.len(), view.reads, view.high_water), (4, 0, 4));
    assert!(view.banks.iter().all(|bank| bank.open == Some(0)));
}

#[test]
fn lines_of_a_row_that_are_dealt_over_banks_are_read_at_once_and_a_block_opens_each_bank_once() {
    let closing = DramTiming { always_reopen: true, ..TIMING };
    let dealt = DramTiming { interleave: 64, ..closing };
    let ends = |timing: DramTiming| {
        let mut dram = controller(timing, SCHEDULING);
        read(&mut dram, 0);
        read(&mut dram, 64);
        drain(&mut dram, 0).into_iter().map(|(_, _, end)| end).collect::<Vec<_>>()
    };
    // Opened (20), read (10), moved (4); the second waits for the bank and its closing (30), or for the bus alone.
    assert_eq!(ends(closing), [34, 98]);
    assert_eq!(ends(dealt), [34, 38]);
    let rows = |local, bytes| {
        dealt.rows(local, bytes).into_iter().map(|row| (row.bank, row.row, row.bytes)).collect::<Vec<_>>()
    };
    assert_eq!(rows(0, 256), [(0, 0, 128), (1, 0, 128)]);
    assert_eq!(rows(2048 - 64, 128), [(1, 0, 64), (0, 1, 64)], "a bank has 16 lines of a row");
}

#[test]
fn gaps_between_commands_are_kept_under_both_schedulers() {
    // Opened (20), read (10), moved (4); closed (30) for the next row of the bank.
    let rows = [at(0, 0, 0), at(0, 1, 0)];
    let banks = [at(0, 0, 0), at(1, 0, 0)];
    for (name, gaps, places, writes, expected) in [
        ("none", Gaps::NONE, rows, false, [34, 98]),
        (
            "tRC, begun 5 later than the data allow",
            Gaps { row_cycle: 69, ..Gaps::NONE },
            rows,
            false,
            [34, 103],
        ),
        ("tWR", Gaps { write_recovery: 7, ..Gaps::NONE }, rows, true, [34, 105]),
        ("tWR is for writes", Gaps { write_recovery: 7, ..Gaps::NONE }, rows, false, [34, 98]),
        ("none, two banks", Gaps::NONE, banks, false, [34, 38]),
        ("tRRD", Gaps { row_to_row: 9, ..Gaps::NONE }, banks, false, [34, 43]),
        ("tCDLR", Gaps { write_to_read: 13, ..Gaps::NONE }, banks, true, [34, 34 + 13 + 10 + 4]),
    ] {
        let timing = DramTiming { gaps, ..TIMING };
        let mut dram = controller(timing, SCHEDULING);
        let [first, second] = places;
        dram.touch(Array::Data, first, 64, writes, About::default());
        let mut ends = Vec::new();
        let mut now = 0;
        // A write is not put off for the read that comes once its data are on their way, 20 after it.
        for at in [0, 20].into_iter().filter(|_| writes) {
            now = at;
            ends.extend(dram.advance(now).iter().filter_map(|one| Some(one.moves?.end)));
        }
        read(&mut dram, second);
        ends.extend(drain(&mut dram, now).into_iter().map(|(_, _, end)| end));
        assert_eq!(ends, expected, "first ready: {name}");

        let mut dram = InOrder::new(timing, ByteRate::new(16, 1));
        let ends = [dram.access(first, 64, writes, 0), dram.access(second, 64, false, 0)];
        assert_eq!(ends, expected, "in order: {name}");
    }
}

#[test]
fn hashed_banks_share_any_stride_of_a_power_of_two_and_no_place_is_taken_twice() {
    let hashed = DramTiming { banks: 16, interleave: 64, hashed: true, ..TIMING };
    let banks = |timing: DramTiming, stride: u64| -> std::collections::BTreeSet<_> {
        (0..16).map(|piece| timing.place(piece * stride, 64).bank).collect()
    };
    for stride in [1, 2, 16, 64, 256, 4096] {
        assert_eq!(banks(hashed, stride).len(), 16, "every {stride}th line");
    }
    assert_eq!(banks(DramTiming { hashed: false, ..hashed }, 16).len(), 1);
    let mut rows = std::collections::BTreeMap::<_, u32>::new();
    for piece in 0..16 * 16 * 16 {
        let place = hashed.place(piece, 64);
        *rows.entry((place.bank, place.row)).or_default() += 1;
    }
    assert!(rows.values().all(|&lines| lines == 16), "a row of 1 KiB has 16 lines");
    assert_eq!(rows.len(), 256);
}

/// When the reads of three banks end that come at 100, if banks 0 and 1 have another row open then and bank 2 has none.
fn ends_at_100(gaps: Gaps, banks: &[u64]) -> Vec<Tick> {
    let mut dram = controller(DramTiming { banks: 3, gaps, ..TIMING }, SCHEDULING);
    let place = |bank: u64, row: u64| (row * 3 + bank) * 1024;
    (0..2).for_each(|bank| {
        read(&mut dram, place(bank, 0));
    });
    drain(&mut dram, 0);
    let jobs: Vec<u64> = banks.iter().map(|&bank| read(&mut dram, place(bank, 1))).collect();
    let order = drain(&mut dram, 100);
    let end = |job: &u64| order.iter().find(|(other, ..)| other == job).map_or(0, |(.., end)| *end);
    jobs.iter().map(end).collect()
}

#[test]
fn a_bank_that_closes_a_row_first_is_opened_so_much_later_and_passes_no_older_one() {
    let gaps = Gaps { row_to_row: 9, ..Gaps::NONE };
    // Opened 9 after the other, at 130 + 20 and 139 + 20; both began to close before.
    assert_eq!(ends_at_100(gaps, &[0, 1]), [164, 173]);
    // The bank without a row would be put off by each younger one that closes a row first.
    assert_eq!(ends_at_100(gaps, &[0, 2, 1]), [164, 173, 203]);
    assert_eq!(ends_at_100(Gaps::NONE, &[0, 2, 1]), [164, 134, 168]);
}

#[test]
fn a_read_is_not_put_off_for_ever_by_writes_that_gather_while_it_waits_for_the_last_one() {
    let gaps = Gaps { write_to_read: 13, ..Gaps::NONE };
    let mut dram = controller(DramTiming { gaps, ..TIMING }, Scheduling { writes: 1, ..SCHEDULING });
    let (mut ended, mut wanted) = (None, None);
    for now in 0..1000 {
        if now % 26 == 0 {
            dram.touch(Array::Data, at(1, 0, 0), 64, true, About::default());
        }
        if now == 1 {
            wanted = Some(read(&mut dram, at(0, 0, 0)));
        }
        let issued = dram.advance(now).into_iter();
        let mut moved = issued.filter(|one| Some(one.job) == wanted).filter_map(|one| one.moves);
        ended = ended.or(moved.next().map(|burst| burst.end));
    }
    assert!(ended.is_some_and(|end| end < 150), "{ended:?}");
}

#[test]
fn an_in_order_memory_keeps_gaps_in_each_channel_and_counts_them_as_waiting() {
    let two = DramTiming { channels: 2, gaps: Gaps { row_to_row: 9, ..Gaps::NONE }, ..TIMING };
    let mut dram = InOrder::new(two, ByteRate::new(16, 1));
    assert_eq!(
        [0, 1024].map(|local| dram.access(local, 64, false, 0)),
        [38, 38],
        "each channel has half of the rate"
    );
    let after = DramTiming { gaps: Gaps { write_to_read: 13, ..Gaps::NONE }, ..TIMING };
    let mut dram = InOrder::new(after, ByteRate::new(16, 1));
    assert_eq!(
        [0, 1].map(|bank| dram.access(at(bank, 0, 0), 64, true, 0)),
        [34, 38],
        "writes wait for no write"
    );
    dram.access(at(1, 0, 1), 64, false, 38);
    // The column could be asked for at 38, and is at 38 + 13.
    assert_eq!(dram.counters.waited, (0, 4 + 13));
}

/// Both kinds of memory.
fn both(timing: DramTiming) -> [Dram; 2] {
    [Dram::FrFcfs(controller(timing, SCHEDULING)), Dram::InOrder(InOrder::new(timing, ByteRate::new(16, 1)))]
}

#[test]
fn gaps_can_change_under_way_and_how_pieces_are_dealt_cannot() {
    let slow = DramTiming { gaps: Gaps { row_cycle: 500, ..Gaps::NONE }, ..TIMING };
    for (index, mut dram) in both(TIMING).into_iter().enumerate() {
        assert!(dram.is_like(&both(slow)[index]) && !dram.is_like(&both(slow)[1 - index]));
        assert!(!dram.is_like(&both(DramTiming { hashed: true, ..TIMING })[index]));
        dram.adopt(&both(slow)[index]);
        // The second row of the bank is opened 500 after the first, at 0: 500 + 20 + 10 + 4.
        let end = match &mut dram {
            Dram::FrFcfs(controller) => {
                (0..2).for_each(|row| {
                    read(controller, at(0, row, 0));
                });
                drain(controller, 0)[1].2
            }
            Dram::InOrder(dram) => [0, 1].map(|row| dram.access(at(0, row, 0), 64, false, 0))[1],
        };
        assert_eq!(end, 534, "{index}");
    }
}

#[test]
fn what_banks_wait_for_by_gaps_is_part_of_the_digest() {
    let digest = |gaps: Gaps, index: usize| {
        let mut dram = both(DramTiming { gaps, ..TIMING })[index].clone();
        match &mut dram {
            Dram::FrFcfs(controller) => {
                controller.touch(Array::Data, at(0, 0, 0), 64, true, About::default());
                drain(controller, 0);
            }
            Dram::InOrder(dram) => {
                dram.access(at(0, 0, 0), 64, true, 0);
            }
        }
        let mut hasher = rustc_hash::FxHasher::default();
        dram.digest(&mut hasher);
        hasher.finish()
    };
    for index in 0..2 {
        let plain = digest(Gaps::NONE, index);
        for gaps in [
            Gaps { row_to_row: 9, ..Gaps::NONE },
            Gaps { write_to_read: 13, ..Gaps::NONE },
            Gaps { row_cycle: 500, ..Gaps::NONE },
            Gaps { write_recovery: 16, ..Gaps::NONE },
        ] {
            assert_ne!(digest(gaps, index), plain, "{index} {gaps:?}");
        }
    }
}

#[test]
fn what_is_booked_ahead_is_not_counted_before_it_moves() {
    for (index, mut dram) in both(TIMING).into_iter().enumerate() {
        // Two rows of one bank: on the bus from 30 to 34, and from 34 + 60 to 98.
        match &mut dram {
            Dram::FrFcfs(controller) => {
                (0..2).for_each(|row| {
                    read(controller, at(0, row, 0));
                });
                drain(controller, 0);
            }
            Dram::InOrder(dram) => (0..2).for_each(|row| {
                dram.access(at(0, row, 0), 64, false, 0);
            }),
        }
        assert_eq!(dram.counters().busy, 8, "{index}");
        assert_eq!(dram.busy_until(98).0, 8, "{index}");
        if index == 1 {
            assert_eq!([0, 30, 32, 34, 94, 96].map(|now| dram.busy_until(now).0), [0, 0, 2, 4, 4, 6]);
            assert_eq!([0, 20, 34, 90].map(|now| dram.busy_until(now).1), [0, 20, 34, 90]);
        } else {
            assert_eq!([94, 96].map(|now| dram.busy_until(now).0), [4, 6]);
        }
    }
}
