use super::*;

fn driver(prefetcher: Prefetcher, frames: u64, pages: u64) -> Driver {
    let config = DriverConfig {
        service: 100,
        set: 4,
        prefetcher,
        evictor: Evictor::Lru,
        prefetch_when_full: false,
        precondition: false,
    };
    Driver::new(config, Residency::new(4096, frames, (0..pages).map(Page).collect()), [].into(), 1)
}

fn fault(driver: &mut Driver, page: u64, tick: Tick) {
    driver.note_fault(Page(page));
    driver.interrupt(Page(page), Since { tick, event: 0 });
}

fn fetched(orders: &[Order]) -> Vec<(u64, bool)> {
    let fetch = |order: &Order| match order {
        Order::Fetch(planned) => Some((planned.page.0, planned.reason == MoveReason::Demanded)),
        Order::Evict { .. } => None,
    };
    orders.iter().filter_map(fetch).collect()
}

#[test]
fn a_set_is_submitted_after_the_service_time_with_demand_first() {
    let mut driver = driver(Prefetcher::Locality, 100, 100);
    fault(&mut driver, 40, 5);
    fault(&mut driver, 10, 60);
    fault(&mut driver, 40, 70);
    assert_eq!(driver.next(), Some(105));
    assert_eq!(driver.advance(104), []);
    let orders = driver.advance(105);
    // The last far-fault was 40 again: its neighbours fill the set.
    assert_eq!(fetched(&orders), [(40, true), (10, true), (41, false), (42, false)]);
    assert_eq!(driver.decision.prefetched, 2);
}

#[test]
fn more_faults_than_a_set_holds_wait_for_the_next() {
    let mut driver = driver(Prefetcher::None, 100, 100);
    (0..6).for_each(|page| fault(&mut driver, page, 0));
    assert_eq!(fetched(&driver.advance(100)).len(), 4);
    assert_eq!(driver.next(), None);
    driver.wake(100, true);
    assert_eq!(driver.next(), Some(200));
    assert_eq!(fetched(&driver.advance(200)), [(4, true), (5, true)]);
    driver.wake(200, true);
    assert_eq!(driver.next(), None, "without a prefetcher nothing is left to do");
}

/// Section 4.1: as many pages as the link can take are in flight; more would be before the next far-fault.
#[test]
fn what_is_still_on_the_link_leaves_less_room_for_prefetching() {
    let mut driver = driver(Prefetcher::Sequential, 100, 100);
    fault(&mut driver, 40, 0);
    let first = driver.advance(100);
    assert_eq!(fetched(&first), [(40, true), (0, false), (1, false), (2, false)]);
    for order in first.iter().take(2) {
        let Order::Fetch(planned) = order else { panic!("nothing is evicted") };
        driver.arrived(*planned, 150);
    }
    // Two are on their way still: one far-fault, and one more page.
    fault(&mut driver, 50, 150);
    driver.wake(150, true);
    assert_eq!(fetched(&driver.advance(250)), [(50, true), (3, false)]);
    driver.wake(250, true);
    assert_eq!(fetched(&driver.advance(350)), [], "four are on their way");
    driver.wake(350, true);
    assert_eq!(driver.next(), Some(450), "and it looks again");
}

#[test]
fn a_set_larger_than_the_memory_is_prefetched_as_far_as_there_are_frames() {
    let mut driver = driver(Prefetcher::Locality, 2, 8);
    driver.config.prefetch_when_full = true;
    for (fault_at, pages, now) in [(0, [(0, true), (1, false)], 100), (4, [(4, true), (5, false)], 300)] {
        fault(&mut driver, fault_at, now - 100);
        let mut orders = driver.advance(now);
        for page in 0..8 {
            if driver.residency.place(Page(page)) == Place::Leaving {
                orders.extend(driver.evicted(Page(page)));
            }
        }
        assert_eq!(fetched(&orders), pages);
        for (page, is_demanded) in pages {
            let reason = if is_demanded { MoveReason::Demanded } else { MoveReason::Prefetched };
            driver.arrived(Planned { page: Page(page), reason, set: 0, because: None }, now + 10);
            driver.touch(Page(page), false, now + 20);
        }
    }
    assert_eq!((driver.counters.evicted, driver.counters.prefetched), (2, 2));
}

#[test]
fn nothing_is_evicted_for_pages_that_nobody_has_asked_for() {
    let mut driver = driver(Prefetcher::Locality, 4, 16);
    (driver.config.prefetch_when_full, driver.config.set) = (true, 3);
    fault(&mut driver, 0, 0);
    let arrive = |driver: &mut Driver, orders: &[Order], now| {
        for order in orders {
            let Order::Fetch(planned) = order else { panic!("nothing is evicted") };
            driver.arrived(*planned, now);
        }
        driver.wake(now, true);
    };
    let first = driver.advance(100);
    assert_eq!(fetched(&first), [(0, true), (1, false), (2, false)]);
    arrive(&mut driver, &first, 150);
    let second = driver.advance(driver.next().unwrap());
    assert_eq!(fetched(&second), [(3, false)], "one frame is free");
    arrive(&mut driver, &second, 300);
    assert_eq!(driver.next(), None);
}

#[test]
fn a_full_memory_evicts_before_it_fetches() {
    let mut driver = driver(Prefetcher::None, 2, 8);
    for page in 0..2 {
        fault(&mut driver, page, 0);
    }
    for order in driver.advance(100) {
        let Order::Fetch(planned) = order else { panic!("nothing is evicted") };
        driver.arrived(planned, 110 + planned.page.0);
        driver.touch(planned.page, false, 120 + planned.page.0);
    }
    driver.touch(Page(0), true, 150);
    fault(&mut driver, 7, 160);
    assert_eq!(driver.advance(260), [Order::Evict { page: Page(1), wasted: false }]);
    assert_eq!(fetched(&driver.evicted(Page(1))), [(7, true)]);
    assert_eq!((driver.counters.evicted, driver.counters.written_back), (1, 0));
    assert!(driver.interrupt(Page(1), Since::default()), "it was there before");
}

#[test]
fn a_page_that_is_coming_cannot_be_evicted_and_room_is_made_later() {
    let mut driver = driver(Prefetcher::None, 1, 8);
    fault(&mut driver, 3, 0);
    let orders = driver.advance(100);
    assert_eq!(fetched(&orders), [(3, true)]);
    fault(&mut driver, 4, 101);
    assert_eq!(driver.advance(201), []);
    let Order::Fetch(planned) = orders[0] else { panic!() };
    assert_eq!(driver.arrived(planned, 210), [], "it has not been touched");
    assert_eq!(driver.touch(Page(3), false, 220), [Order::Evict { page: Page(3), wasted: false }]);
    assert_eq!(fetched(&driver.evicted(Page(3))), [(4, true)]);
}

/// A memory whose first so many pages were brought and used.
fn holding(mut driver: Driver, pages: u64) -> Driver {
    let now = 1000;
    for page in 0..pages {
        driver.residency.reserve(Page(page));
        let planned = Planned { page: Page(page), reason: MoveReason::Copied, set: 0, because: None };
        driver.arrived(planned, now + page);
    }
    driver
}

#[test]
fn what_is_demanded_gets_the_first_frames_where_prefetching_evicts() {
    let mut driver = holding(driver(Prefetcher::Locality, 4, 16), 3);
    driver.config.prefetch_when_full = true;
    fault(&mut driver, 8, 0);
    fault(&mut driver, 12, 0);
    let mut orders = driver.advance(100);
    assert_eq!(fetched(&orders[..1]), [(8, true)], "it has a frame: {orders:?}");
    let victims: Vec<Page> = orders
        .iter()
        .filter_map(|order| match order {
            Order::Evict { page, .. } => Some(*page),
            Order::Fetch(_) => None,
        })
        .collect();
    for page in victims {
        orders.extend(driver.evicted(page));
    }
    assert_eq!(fetched(&orders), [(8, true), (12, true), (13, false), (14, false)]);
}

#[test]
fn preconditioning_evicts_nothing_until_the_memory_is_full() {
    let mut driver = driver(Prefetcher::None, 3, 16);
    driver.config.prefetch_when_full = true;
    driver.config.precondition = true;
    driver.touched = (0..16).map(Page).collect();
    let mut driver = holding(driver, 1);
    fault(&mut driver, 8, 0);
    let orders = driver.advance(100);
    assert_eq!(fetched(&orders), [(8, true), (1, false)]);
    assert_eq!(driver.decision.evicted, 0);
}

#[test]
fn the_tree_evicts_nothing_unless_it_is_told_to() {
    let mut driver = holding(driver(Prefetcher::Tree, 8, 64), 4);
    fault(&mut driver, 20, 0);
    let orders = driver.advance(100);
    assert_eq!(fetched(&orders), [(20, true), (16, false), (17, false), (18, false)]);
    assert_eq!(driver.decision.evicted, 0);
}

#[test]
fn a_set_that_nothing_has_far_faulted_for_can_be_given_up() {
    let mut driver = driver(Prefetcher::Locality, 100, 100);
    driver.wake(0, true);
    assert_eq!(driver.next(), Some(100), "where the GPU works, pages are prefetched without a far-fault");
    driver.rest();
    assert_eq!(driver.next(), None);
    fault(&mut driver, 40, 5);
    driver.rest();
    assert_eq!(driver.next(), Some(105), "what far-faulted is served");
}

#[test]
fn a_prefetched_page_that_waits_for_a_frame_and_far_faults_is_not_given_up() {
    let mut driver = driver(Prefetcher::Locality, 2, 8);
    driver.config.prefetch_when_full = true;
    let waits = |page| Planned { page: Page(page), reason: MoveReason::Prefetched, set: 1, because: None };
    driver.planned.extend([4, 5, 6].map(waits));
    driver.note_fault(Page(6));
    assert!(driver.has_in_hand(Page(6)), "so that it is not queued");
    // Nothing can be evicted: only what somebody waits for goes on waiting.
    driver.make_room();
    assert_eq!(driver.planned.iter().map(|planned| planned.page.0).collect::<Vec<_>>(), [6]);
}

#[test]
fn a_far_fault_whose_page_came_with_a_tree_is_answered() {
    let mut driver = driver(Prefetcher::Tree, 2, 8);
    driver.config.set = 1;
    fault(&mut driver, 0, 0);
    fault(&mut driver, 1, 0);
    let orders = driver.advance(100);
    assert_eq!(fetched(&orders), [(0, true), (1, false)]);
    for order in orders {
        if let Order::Fetch(planned) = order {
            driver.arrived(planned, 200);
        }
    }
    assert_eq!(driver.queue().count(), 0, "page 1 has come");
    driver.wake(200, true);
    assert_eq!(driver.next(), None, "nobody waits for anything");
}

#[test]
fn once_memory_was_full_nothing_is_prefetched_though_a_whole_block_has_left() {
    let mut driver = driver(Prefetcher::Sequential, 4, 8);
    (0..4).for_each(|page| fault(&mut driver, page, 0));
    for order in driver.advance(100) {
        if let Order::Fetch(planned) = order {
            driver.arrived(planned, 200);
        }
    }
    (0..4).for_each(|page| drop(driver.touch(Page(page), false, 300)));
    fault(&mut driver, 4, 300);
    let evicted = driver.advance(400);
    assert!(matches!(evicted[..], [Order::Evict { .. }]), "{evicted:?}");
    // As if more than one page had left.
    for page in 0..2 {
        driver.send_home(Page(page));
    }
    let brought: Vec<Order> = (0..3).flat_map(|page| driver.evicted(Page(page))).collect();
    assert_eq!(fetched(&brought), [(4, true)]);
    driver.wake(500, true);
    assert_eq!(driver.next(), None, "two frames are free, and it was full");
}
