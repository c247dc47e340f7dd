//! One link by itself: its time, its lanes, what it counts.

use super::*;
use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;

pub fn sized(size: u32) -> Message {
    Message {
        kind: MessageKind::Writeback,
        from: ComponentId(0),
        to: ComponentId(1),
        range: Range::new(Address(0), 64),
        txn: None,
        number: None,
        cause: 0,
        size,
        granted: None,
        peer: None,
        held: None,
        access: None,
        sectors: crate::model::sectors::Sectors::NONE,
        once: false,
        has_data: true,
        patch: None,
        trip: crate::model::message::Trip::default(),
    }
}

#[test]
fn coherence_is_what_is_neither_a_request_nor_data() {
    let mut link = Link::new(None, 5, 8, 100);
    for (kind, has_data) in [
        (MessageKind::Read, false),
        (MessageKind::Forward, true),
        (MessageKind::Grant, true),
        (MessageKind::Grant, false),
        (MessageKind::Answer, false),
        (MessageKind::ProbeWrite, false),
    ] {
        link.transmit(&Message { kind, has_data, ..sized(16) }, 0, 0);
    }
    assert_eq!((link.coherence, link.bytes()), (48, 96));
}

#[test]
fn messages_queue_behind_each_other() {
    let mut link = Link::new(Some(ByteRate::new(16, 1)), 5, 8, 100);
    assert_eq!(link.transmit(&sized(160), 0, 0), 15);
    assert_eq!(link.transmit(&sized(160), 0, 4), 25);
    assert_eq!(link.busy, 20);
    assert_eq!(link.history(200), [0.2, 0.0]);
    // The second could have left at 0, might at 4, and found the wire free at 10.
    assert_eq!((link.held_back, link.queued), (4, 6));
    assert_eq!(link.carried[MessageKind::Writeback as usize], (2, 320));
    link.send(&sized(0), 4, 4);
    assert_eq!((link.carried[MessageKind::Writeback as usize], link.queued), ((2, 320), 6));
    assert_eq!(link.bytes(), 320);
}

#[test]
fn samples_to_come_are_no_history() {
    let mut link = Link::new(Some(ByteRate::new(16, 1)), 5, 8, 100);
    // A transfer set is promised as a whole, longer than what is remembered.
    link.carry(16 * 100 * 2 * HISTORY as u64, 150, 120);
    assert_eq!(link.history(120), [0.0]);
    assert_eq!(link.history(320), [0.0, 0.5, 1.0]);
    let end = 100 * 2 * HISTORY as u64 + 150;
    let late = link.history(end + 250);
    assert_eq!(
        (late.len(), late.first(), late.get(HISTORY - 3..)),
        (HISTORY, Some(&1.0), Some(&[0.5, 0.0, 0.0][..]))
    );
    link.transmit(&sized(160), end + 300, end + 300);
    assert_eq!(link.history(end + 350).last(), Some(&0.1));
}

#[test]
fn what_waits_goes_over_the_lanes_that_are_there_when_its_turn_comes() {
    let mut link = Link::new(Some(ByteRate::new(16, 1)), 5, 8, 100);
    assert!(!link.has_queue(0));
    link.transmit(&sized(160), 0, 0);
    assert!(!link.has_queue(0), "lanes that stay are promised ahead");
    link.meter = Some(Box::new(Meter::new(100)));
    let lanes = [LaneKey::new(0, 0), LaneKey::new(1, 0)];
    assert!(link.has_queue(9) && !link.has_queue(10));
    assert_eq!(lanes.map(|key| link.enqueue(key, 2, 4)), [Some(10), None]);
    assert_eq!(link.call(9), None);
    link.set_lanes(16, 4);
    assert_eq!(link.call(10), Some((lanes[0], 4)));
    assert_eq!(link.send(&sized(160), 4, 10), 20);
    assert_eq!((link.next_call(), link.held_back, link.queued), (Some(15), 4, 6));
    assert!(link.has_queue(15), "behind what waits");
    link.set_lanes(4, 20);
    assert_eq!(link.lane_ticks_until(25), 8 * 4 + 16 * 16 + 4 * 5);
    assert_eq!(link.call(15), Some((lanes[1], 4)));
    assert_eq!(link.send(&sized(160), 4, 15), 40);
    assert_eq!((link.next_call(), link.call(40)), (None, None));
}

#[test]
fn what_is_promised_ahead_is_not_carried_before_its_time() {
    let mut link = Link::new(Some(ByteRate::new(16, 1)), 5, 8, 100);
    // Data that a memory will have read at 30 and at 60, and then a message in between, which waits for nobody.
    link.transmit(&sized(160), 30, 0);
    link.transmit(&sized(160), 60, 0);
    assert_eq!(
        [0, 30, 35, 50, 60, 64, 70, 99].map(|tick| link.busy_until(tick)),
        [0, 0, 5, 10, 10, 14, 20, 20]
    );
    assert!(link.utilisation(20).abs() < f64::EPSILON);
    link.transmit(&sized(160), 90, 40);
    assert_eq!([64, 85, 95].map(|tick| link.busy_until(tick)), [14, 20, 25]);
    // What is over is forgotten.
    link.transmit(&sized(16), 200, 150);
    assert_eq!(link.promised, []);
    assert_eq!([150, 200, 300].map(|tick| link.busy_until(tick)), [30, 30, 31]);
}

#[test]
fn every_packet_has_a_header() {
    let mut link = Link::new(Some(ByteRate::new(1, 1)), 0, 16, 100);
    link.packets = Some(Packets { header: 20, payload: 128, granularity: 1 });
    // A request without data, 128 B, one byte more, and a row of 2 KiB in 16 packets.
    let mut sent = |size: u32| {
        let before = link.busy;
        link.transmit(&sized(size), 0, 0);
        link.busy - before
    };
    assert_eq!([20, 148, 149, 2068].map(&mut sent), [20, 148, 169, 2048 + 16 * 20]);
    let before = link.busy;
    link.carry(4096, 0, 0);
    assert_eq!(link.busy - before, 4096 + 32 * 20, "bulk copies too");
    // Headers beyond one a message: none, none, one and 15, and all of the pages.
    assert_eq!(link.headers, (1 + 15 + 32) * 20);
}

#[test]
fn data_go_in_whole_pieces() {
    let mut link = Link::new(Some(ByteRate::new(1, 1)), 0, 16, 100);
    link.packets = Some(Packets { header: 16, payload: u32::MAX, granularity: 32 });
    let mut sent = |size: u32| {
        let before = link.busy;
        link.transmit(&sized(size), 0, 0);
        link.busy - before
    };
    // A request, four bytes, a sector, a byte more, and a line: efficiency 66, 80 and 88 % (Table 4).
    assert_eq!([16, 20, 48, 49, 144].map(&mut sent), [16, 48, 48, 80, 144]);
    assert_eq!(link.headers, 28 + 31, "what fills them up is no data");
}

#[test]
fn serialisation_of_secondary_blocks_is_as_the_paper_says() {
    // UMH, section 5: 8 KiB in 512 cycles and 1 KiB in 64 over 16 bytes a cycle.
    let mut link = Link::new(Some(ByteRate::new(16, 1)), 0, 8, 100);
    assert_eq!(link.transmit(&sized(8192), 0, 0), 512);
    assert_eq!(link.transmit(&sized(1024), 512, 512), 576);
}
