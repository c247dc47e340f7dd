//! Fast to the hand: what a person at the keyboard waits for, as medians.
//!
//!     cargo bench --bench hand
//!     cargo bench --bench hand -- sockets     # the eight sockets alone: for a profile
//!
//! - first frame: from starting the program on a lesson to the first drawn screen, in a real terminal of 120x40
//! - frame: drawing the screen at 200x60 from a frame, and making that frame from the machine
//! - a frame of the caches: making it on the machine with four GPUs
//! - a frame of eight sockets with 32,768 warps at 200x60: making and drawing what each layout shows, and all panes at once
//! - reverse step: going one event back after a million events
//! - under the screen: speed of a run whose frames are drawn at 120x40, over the speed of the same run alone
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use umscope::debug::engine;
use umscope::debug::frame::Frame;
use umscope::debug::frame::wish::{Pane, Wish};
use umscope::debug::interrupt::Interrupt;
use umscope::debug::origin::Origin;
use umscope::debug::proto::{Request, border};
use umscope::debug::session::Session;
use umscope::diagnostic::Source;
use umscope::model::inspect::Inspect;
use umscope::scenario::{Options, Prepared, Scenario};
use umscope::tui::app::App;
use umscope::tui::keymap::Keymap;
use umscope::tui::layout;
use umscope::tui::theme::Theme;
use umscope::tui::view;

/// A transpose on two tiny GPUs: more than a million events.
const LONG: &str = r#"
title = "A long run"
machine = "tiny/umh-2gpu"
checks = false
[[kernel]]
name = "transpose"
with = { width = 512, height = 512, edge = 4 }
"#;

const MILLION: u64 = 1_000_000;

fn prepare(text: &str) -> (Scenario, Prepared) {
    let scenario = Scenario::parse(Source::new("bench", text), None).unwrap();
    let prepared = scenario.prepare(&Options::default()).unwrap();
    (scenario, prepared)
}

fn session(text: &str) -> Session {
    let (scenario, prepared) = prepare(text);
    Session::open(Origin::scenario("bench", &scenario, &Options::default(), prepared), None)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn report(name: &str, value: impl std::fmt::Display, goal: &str) {
    println!("{name:<44} {value:>12}   goal {goal}");
}

/// From the start of the program to a screen that shows the lesson's machine.
fn first_frame() -> Duration {
    let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_umscope"));
    command.args(["debug", "umh/fig5-b1"]);
    command.env("TERM", "xterm-256color");
    command.env("LANG", "C.UTF-8");
    let mut reader = pair.master.try_clone_reader().unwrap();
    let start = Instant::now();
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut screen = vt100::Parser::new(40.try_into().unwrap(), 120.try_into().unwrap(), 0);
    let mut bytes = vec![0; 65536];
    let taken = loop {
        let count = std::io::Read::read(&mut reader, &mut bytes).unwrap_or(0);
        assert!(count > 0, "the program ended before its first frame");
        screen.process(&bytes[..count]);
        if screen.screen().contents().contains("hmd0") {
            break start.elapsed();
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    taken
}

fn app(frame: Arc<Frame>, width: u16, height: u16) -> App {
    let mut app =
        App::new(frame, Theme::embedded("default").unwrap().unwrap(), Keymap::embedded().unwrap(), false);
    app.see(width, height);
    app
}

/// Drawing, and making a frame with drawing, on a machine in full swing.
fn frames() -> (Duration, Duration) {
    let mut session = session(LONG);
    session.execute("step 20000", &Interrupt::default()).unwrap();
    let (client, server) = border(Arc::new(Frame::default()));
    let handle = engine::spawn(session, server).unwrap();
    let mut app = app(client.frame(), 200, 60);
    let mut draws = Vec::new();
    let mut both = Vec::new();
    for turn in 0..200u64 {
        let version = client.shown().1;
        let start = Instant::now();
        if let Some(wish) = app.new_wish() {
            client.send(Request::Wish(wish));
        }
        client.send(Request::Command("step".to_owned()));
        while client.shown().1 == version || client.is_busy() {
            std::thread::yield_now();
        }
        app.frame = client.frame();
        let drawing = Instant::now();
        let mut buffer = Buffer::empty(Rect::new(0, 0, 200, 60));
        app.seen = view::draw(&app, &mut buffer);
        if turn >= 20 {
            draws.push(drawing.elapsed());
            both.push(start.elapsed());
        }
    }
    client.send(Request::Quit);
    handle.join().unwrap();
    (median(draws), median(both))
}

/// Making a frame of the caches of a full-size machine, with this many sets of each.
fn caches(sets: u32) -> Duration {
    let mut session = session(&LONG.replace("tiny/umh-2gpu", "umh-4gpu-pcie"));
    session.execute("step 200000", &Interrupt::default()).unwrap();
    let info = Arc::new(session.info());
    let wish = Wish { panes: [Pane::Caches].into_iter().collect(), sets, ..Wish::default() };
    let times = (0..41).map(|_| {
        let start = Instant::now();
        assert!(!session.frame(&info, &wish).caches.is_empty());
        start.elapsed()
    });
    median(times.collect())
}

/// Eight sockets at work, all their warps included.
const SOCKETS: &str = r#"
title = "Eight sockets"
machine = "numa-8socket"
checks = false
[[kernel]]
name = "stream-triad"
with = { size = 2000000 }
"#;

/// Making a frame of eight sockets at 200x60, and drawing it: with what each layout shows, and with all panes.
fn sockets() -> Vec<(String, Duration, Duration)> {
    let mut session = session(SOCKETS);
    session.execute("step 1000000", &Interrupt::default()).unwrap();
    let info = Arc::new(session.info());
    let time = |session: &mut Session, name: &str, layout: usize, wish: Wish| {
        let (mut made, mut drawn) = (Vec::new(), Vec::new());
        for _ in 0..21 {
            let start = Instant::now();
            let frame = Arc::new(session.frame(&info, &wish));
            made.push(start.elapsed());
            let mut app = app(frame, 200, 60);
            app.layout = layout;
            let start = Instant::now();
            let mut buffer = Buffer::empty(Rect::new(0, 0, 200, 60));
            view::draw(&app, &mut buffer);
            drawn.push(start.elapsed());
        }
        (name.to_owned(), median(made), median(drawn))
    };
    let mut all = Vec::new();
    let named = |name: &str| std::env::args().any(|word| word == name);
    let any = layout::names().iter().any(|name| named(name));
    for (layout, name) in layout::names().iter().enumerate().filter(|(_, name)| !any || named(name)) {
        // What stands where is known once it has been drawn.
        let mut app = app(Arc::new(session.frame(&info, &Wish::default())), 200, 60);
        app.layout = layout;
        app.seen = view::draw(&app, &mut Buffer::empty(Rect::new(0, 0, 200, 60)));
        all.push(time(&mut session, name, layout, app.new_wish().unwrap()));
    }
    if !any {
        all.push(time(&mut session, "all panes", 0, Wish::default()));
    }
    all
}

fn reverse_steps() -> (Duration, u64) {
    let mut session = session(LONG);
    let interrupt = Interrupt::default();
    session.execute(&format!("step {MILLION}"), &interrupt).unwrap();
    let reached = session.event();
    let times = (0..41)
        .map(|_| {
            let start = Instant::now();
            session.execute("reverse-step", &interrupt).unwrap();
            start.elapsed()
        })
        .collect();
    (median(times), reached)
}

/// Events a second of the run alone, and under a screen that draws every frame it can get.
fn speeds() -> (f64, f64) {
    let (_, prepared) = prepare(LONG);
    let mut machine = prepared.machine;
    let start = Instant::now();
    machine.run_until(MILLION);
    let alone = machine.event() as f64 / start.elapsed().as_secs_f64();

    let (client, server) = border(Arc::new(Frame::default()));
    let handle = engine::spawn(session(LONG), server).unwrap();
    let mut app = app(client.frame(), 120, 40);
    let start = Instant::now();
    client.send(Request::Command(format!("step {MILLION}")));
    let mut version = 0;
    while client.is_busy() {
        if client.shown().1 == version {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        }
        version = client.shown().1;
        app.frame = client.frame();
        if let Some(wish) = app.new_wish() {
            client.send(Request::Wish(wish));
        }
        let mut buffer = Buffer::empty(Rect::new(0, 0, 120, 40));
        app.seen = view::draw(&app, &mut buffer);
    }
    let seconds = start.elapsed().as_secs_f64();
    client.send(Request::Quit);
    let session = handle.join().unwrap();
    (alone, session.event() as f64 / seconds)
}

fn report_sockets() {
    for (name, made, drawn) in sockets() {
        let [made, drawn] = [made, drawn].map(|time| time.as_secs_f64() * 1e3);
        let name = format!("a frame of eight sockets, {name}");
        report(&name, format!("{made:.2} + {drawn:.2} ms"), "4 ms, made and drawn");
    }
}

fn main() {
    if std::env::args().any(|word| word == "sockets") {
        report_sockets();
        return;
    }
    let firsts: Vec<Duration> = (0..11).map(|_| first_frame()).collect();
    report("first frame", format!("{:.1} ms", median(firsts).as_secs_f64() * 1e3), "100 ms");
    let (draw, both) = frames();
    report("drawing a frame, 200x60", format!("{:.3} ms", draw.as_secs_f64() * 1e3), "2 ms");
    report("a step with its frame, 200x60", format!("{:.3} ms", both.as_secs_f64() * 1e3), "-");
    let one = caches(Wish::default().sets);
    report("a frame of the caches of four GPUs", format!("{:.3} ms", one.as_secs_f64() * 1e3), "2 ms");
    let all = caches(u32::MAX);
    println!("  with all sets {:.3} ms", all.as_secs_f64() * 1e3);
    report_sockets();
    let (back, reached) = reverse_steps();
    let name = format!("reverse step after {reached} events");
    report(&name, format!("{:.2} ms", back.as_secs_f64() * 1e3), "50 ms");
    let mut ratios: Vec<(f64, f64, f64)> = (0..5)
        .map(|_| {
            let (alone, under) = speeds();
            (under / alone, alone, under)
        })
        .collect();
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (ratio, alone, under) = ratios[2];
    report("speed under the screen over alone, 120x40", format!("{:.0} %", ratio * 100.0), "80 %");
    println!("  alone {alone:.0} events/s, under the screen {under:.0} events/s");
}
