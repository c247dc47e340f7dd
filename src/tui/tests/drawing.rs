//! How panes and layouts read, at every size.

use super::*;

#[test]
fn each_layout_reads_well_at_each_size() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        for (number, name) in names().iter().enumerate() {
            let mut app = app(Sample::frame(), width, height);
            app.show_layout(number);
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), screen(&mut app));
        }
    }
}

#[test]
fn each_pane_reads_well_alone() {
    for pane in Pane::ALL {
        let mut app = app(Sample::frame(), 100, 24);
        app.focus = pane;
        app.zoom = true;
        insta::assert_snapshot!(format!("pane_{}", pane.name()), screen(&mut app));
    }
}

#[test]
fn a_change_of_state_is_shown_where_it_happened() {
    let mut app = app(Sample::frame_of_change(), 120, 40);
    let text = screen(&mut app);
    assert!(text.contains("▸smd0[S*]"), "{text}");
    assert!(text.contains("S* <E"), "{text}");
    assert!(text.contains("gpu0.smd0 goes E > S on read probe, sends answer to host.hmd0"), "{text}");
    app.show_layout(1);
    let text = screen(&mut app);
    assert!(text.contains("▸ack>S 1"), "the cell of the table is not lit:\n{text}");
}

#[test]
fn a_block_that_has_gone_is_marked_where_it_was() {
    let mut session = live::coherent_sectors_session();
    let mut app = app(live::frame(&mut session, &["until transition to I"]), 120, 40);
    let text = screen(&mut app);
    assert!(text.contains("[I*]") && text.contains("-* <"), "{text}");
}

#[test]
fn what_an_mshr_waits_for_is_whole_however_narrow_the_pane() {
    let mut session = live::sectors_session();
    let frame = live::frame(&mut session, &["goto cycle 100"]);
    for (width, height) in [(60, 60), (80, 60), (120, 40)] {
        let mut app = app(frame.clone(), width, height);
        app.show_layout(2);
        let text = screen(&mut app);
        let pane = text.split("├ mshrs").nth(1).unwrap().split("├ timeline").next().unwrap();
        let words = pane.lines().filter_map(|line| line.split('│').nth(1)).flat_map(str::split_whitespace);
        let told = words.collect::<Vec<_>>().join(" ");
        assert!(told.contains("wants #.#. coming #.#., "), "{text}");
        assert!(!told.contains('…'), "{text}");
    }
}

#[test]
fn a_line_says_which_of_its_sectors_are_here() {
    let mut session = live::coherent_sectors_session();
    let mut app = app(live::frame(&mut session, &["goto event 24"]), 200, 60);
    app.show_layout(1);
    let text = screen(&mut app);
    let row = text.lines().find(|line| line.contains("gpu0.l2.0 E…")).unwrap();
    assert!(row.contains(" ----------------------------....  ") && row.contains("00│.. .. .. .."), "{text}");
}

#[test]
fn a_real_machine_is_shown_from_its_first_event_to_its_last() {
    let mut session = live::session();
    let mut app = app(live::frame(&mut session, &[]), 80, 24);
    insta::assert_snapshot!("live_start", screen(&mut app));
    app.show(Arc::new(live::frame(&mut session, &["until message type probe"])));
    insta::assert_snapshot!("live_probe", screen(&mut app));
    app.see(120, 40);
    app.show(Arc::new(live::frame(&mut session, &["transition"])));
    insta::assert_snapshot!("live_answer", screen(&mut app));
    app.show(Arc::new(live::frame(&mut session, &["continue"])));
    app.see(200, 60);
    insta::assert_snapshot!("live_end", screen(&mut app));
}

#[test]
fn what_may_be_done_with_pages_is_shown() {
    let mut session = live::read_only_session();
    let mut app = app(live::frame(&mut session, &["until protection-fault stage nacked"]), 100, 24);
    app.focus = Pane::Pages;
    app.zoom = true;
    insta::assert_snapshot!("live_permissions", screen(&mut app));
    app.see(80, 24);
    app.focus = Pane::Warps;
    let text = screen(&mut app);
    assert!(text.contains("w protection-fault n-store 0x1040"), "{text}");
}

#[test]
fn pages_far_faults_and_transfer_sets_are_shown_and_linked() {
    let mut session = live::paged_session();
    let mut app = app(live::frame(&mut session, &["until far-fault stage serviced"]), 120, 40);
    app.show_layout(9);
    insta::assert_snapshot!("live_paging", screen(&mut app));
    app.see(200, 60);
    app.focus = Pane::Mshrs;
    app.zoom = true;
    let text = screen(&mut app);
    let told = |word: &str| text.lines().any(|line| line.contains("0x2000") && line.contains(word));
    assert!(told(", faulted ") && told(", missed "), "{text}");
    app.zoom = false;
    app.see(120, 40);
    // A warp that waits for a page selects it everywhere.
    let warp = session.machine().agent(session.machine().components().find("gpu0.cu0").unwrap()).unwrap();
    let page = warp.warps[2].page.unwrap();
    let agent = warp.agent;
    let target = crate::tui::target::Target::Warp { agent, warp: 2, txn: None, page: Some(page) };
    let selection = target.choose(session.selection());
    session.select(selection);
    let frame = live::frame(&mut session, &[]);
    let fault = frame.pages.fault.clone().unwrap();
    assert_eq!(fault.range.start, page);
    let stages: Vec<&str> = fault.steps.iter().map(|step| step.step.name()).collect();
    assert_eq!(stages, ["missed", "walked", "raised", "queued", "nacked", "serviced", "sent"]);
    let chain: Vec<&str> =
        frame.why.links.iter().map(|link| session.machine().components().path(link.at)).collect();
    assert_eq!(chain, ["gpu0.cu0", "gpu0.gmmu", "gpu0.driver", "link.host.out"]);
    app.show(Arc::new(live::frame(&mut session, &["end"])));
    let text = screen(&mut app);
    assert!(text.contains("G in use 4") && text.contains("x evicted 1"), "{text}");
}

#[test]
fn a_large_machine_is_drawn_whole() {
    for (name, width, height) in
        [("umh-4gpu-nvlink", 200, 60), ("umh-4gpu-nvlink", 80, 24), ("tiny/umh-4gpu", 120, 40)]
    {
        let mut session = live::session_on(name);
        let mut app = app(live::frame(&mut session, &["step 20"]), width, height);
        insta::assert_snapshot!(format!("live_{}_{width}", name.replace('/', "_")), screen(&mut app));
        app.show_layout(3);
        insta::assert_snapshot!(format!("live_{}_{width}_warps", name.replace('/', "_")), screen(&mut app));
    }
}

#[test]
fn a_switch_is_drawn_with_the_lanes_of_all_that_stand_round_it() {
    for (gpus, width, height) in [(2, 80, 24), (4, 120, 40), (8, 80, 24), (8, 120, 40), (8, 200, 60)] {
        let mut session = live::switch_session(gpus);
        let frame = live::frame(&mut session, &["until lane-reversal phase done link host", "step 40"]);
        let mut app = app(frame, width, height);
        insta::assert_snapshot!(format!("live_switch_{gpus}_{width}"), screen(&mut app));
        app.show_layout(2);
        insta::assert_snapshot!(format!("live_switch_{gpus}_{width}_links"), screen(&mut app));
    }
}

#[test]
fn the_lanes_of_many_large_sockets_are_in_the_picture() {
    let mut session = live::sockets_session();
    let frame = live::frame(&mut session, &["until cycle 1900"]);
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let shown = screen(&mut app(frame.clone(), width, height));
        assert_eq!(shown.matches("▼8").count(), 9, "{shown}");
    }
}

#[test]
fn counts_of_tags_are_told_to_the_last_at_every_size() {
    let frame = live::frame(&mut live::tags_session(), &["end"]);
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut app = app(frame.clone(), width, height);
        app.show_layout(5);
        let shown = screen(&mut app);
        assert!(shown.contains("replayed 4"), "{shown}");
    }
}

#[test]
fn what_was_moved_in_vain_is_told_at_every_size() {
    let frame = live::frame(&mut live::paged_session(), &["until far-fault stage serviced"]);
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut app = app(frame.clone(), width, height);
        app.show_layout(9);
        assert!(screen(&mut app).contains("0 wasted, 0 thrashed"), "{width}");
    }
}

#[test]
fn ascii_screens_hold_nothing_else_and_stay_aligned() {
    let mut utf8 = app(Sample::frame(), 120, 40);
    let mut ascii = app(Sample::frame(), 120, 40);
    ascii.ascii = true;
    let (utf8, ascii) = (draw(&mut utf8), draw(&mut ascii));
    for (cell, original) in ascii.content().iter().zip(utf8.content()) {
        assert!(cell.symbol().is_ascii());
        assert_eq!(cell.symbol() == " ", original.symbol() == " ", "{}", original.symbol());
    }
    insta::assert_snapshot!("ascii", text(&ascii));
}

#[test]
fn a_screen_that_is_too_small_says_so() {
    for (width, height) in [(1, 1), (2, 1), (1, 5), (59, 40), (80, 15), (20, 8)] {
        let mut app = app(Sample::frame(), width, height);
        let text = screen(&mut app).replace('\n', " ");
        assert!(width < 12 || text.contains("umscope"), "{text}");
    }
    assert!(screen(&mut app(Sample::frame(), 60, 16)).contains("map"));
}

#[test]
fn colour_only_repeats_what_letters_say() {
    let mut plain = app(Sample::frame(), 120, 40);
    plain.theme = plain.theme.without_colour();
    plain.focus = Pane::Directory;
    press(&mut plain, "down");
    let buffer = draw(&mut plain);
    assert!(
        buffer
            .content()
            .iter()
            .all(|cell| cell.fg == buffer.content()[0].fg && cell.bg == buffer.content()[0].bg)
    );
    let reversed = buffer.content().iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED)).count();
    assert!(reversed > 0, "the cursor vanished with the colours");
}

#[test]
fn what_is_not_known_yet_is_not_said_to_be_missing() {
    let mut app = app(Frame::default(), 120, 40);
    for number in 0..names().len() {
        app.show_layout(number);
        let seen = screen(&mut app);
        assert!(seen.contains('…') && !seen.contains("has no") && !seen.contains("No "), "{seen}");
    }
    app.frame = Arc::new(Frame { panes: PaneSet::all(), ..Frame::default() });
    assert!(screen(&mut app).contains("No "), "{}", screen(&mut app));
}

#[test]
fn a_transaction_picked_before_it_begins_says_when() {
    let mut session = live::session();
    live::frame(&mut session, &["select txn 1", "goto event 20"]);
    let mut app = app(live::frame(&mut session, &["start"]), 80, 24);
    app.show_layout(4);
    let text = screen(&mut app);
    assert!(text.contains("Transaction 1 has not begun: it begins at event"), "{text}");
    assert!(commands(&press(&mut app, "down enter"))[0].starts_with("goto event "));
    app.show(Arc::new(live::frame(&mut session, &["select txn 99"])));
    let text = screen(&mut app);
    assert!(text.contains("Nothing of transaction 99 is near here"), "{text}");
}

#[test]
fn a_diagram_that_does_not_show_its_beginning_says_what_is_missing() {
    let mut session = live::session();
    let mut app = app(live::frame(&mut session, &["select txn 2", "end"]), 80, 24);
    app.show_layout(4);
    let text = screen(&mut app);
    assert!(text.contains("messages before: page up"), "{text}");
    press(&mut app, "pageup pageup pageup pageup");
    let text = screen(&mut app);
    assert!(text.contains("n-store 0x1004") && !text.contains("before: page up"), "{text}");
    let mut frame = (*app.frame).clone();
    let sequence = frame.sequence.as_mut().unwrap();
    (sequence.has_beginning, frame.begins) = (false, Some(7));
    app.show(Arc::new(frame));
    let text = screen(&mut app);
    assert!(text.contains("it began at event 7: enter here draws it from there"), "{text}");
}

#[test]
fn panes_scroll_to_the_component_that_is_selected_until_the_user_scrolls() {
    let mut session = live::lesson("kernels/transpose-4gpu");
    let mut app = app(live::frame(&mut session, &["goto cycle 500"]), 80, 24);
    (app.focus, app.zoom) = (Pane::Caches, true);
    assert!(!screen(&mut app).contains("host.llc"));
    app.show(Arc::new(live::frame(&mut session, &["select host.llc"])));
    assert!(screen(&mut app).contains("host.llc"), "{}", screen(&mut app));
    press(&mut app, "g g");
    assert!(!screen(&mut app).contains("host.llc"), "{}", screen(&mut app));
    app.focus = Pane::Mshrs;
    assert!(screen(&mut app).contains("host.llc"), "{}", screen(&mut app));
}
