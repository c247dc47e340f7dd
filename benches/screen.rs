//! The cost of a screen: drawing a frame at 200x60, and making one. `cargo bench --bench screen`
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use umscope::debug::frame::wish::Wish;
use umscope::debug::interrupt::Interrupt;
use umscope::debug::session::{Origin, Session};
use umscope::diagnostic::Source;
use umscope::scenario::{Options, Scenario};
use umscope::tui::app::App;
use umscope::tui::keymap::Keymap;
use umscope::tui::layout;
use umscope::tui::theme::Theme;
use umscope::tui::view;

const SCENARIO: &str = r#"
machine = "MACHINE"
[[do]]
id = "first"
by = "gpu0.cu0"
n-store = { address = 0x1000, bytes = "07 00 00 00" }
[[do]]
after = "first"
by = "gpu1.cu1"
n-store = { address = 0x1004, bytes = "09 00 00 00" }
"#;

fn session(machine: &str) -> Session {
    let text = SCENARIO.replace("MACHINE", machine);
    let scenario = Scenario::parse(Source::new("bench", text), None).unwrap();
    let machine = Box::new(scenario.prepare(&Options::default()).unwrap().machine);
    let origin = Origin {
        name: "bench".into(),
        title: String::new(),
        source: String::new(),
        about: String::new(),
        machine,
        checked: true,
        breakpoints: Vec::new(),
    };
    let mut session = Session::open(origin, None).unwrap();
    session.execute("step 20", &Interrupt::default()).unwrap();
    session
}

fn screens(criterion: &mut Criterion) {
    for machine in ["tiny/umh-2gpu", "umh-4gpu-nvlink"] {
        let mut session = session(machine);
        let info = Arc::new(session.info());
        let frame = Arc::new(session.frame(&info, &Wish::default()));
        let theme = Theme::embedded("default").unwrap();
        let mut app = App::new(frame, theme, Keymap::embedded().unwrap(), false);
        let mut buffer = Buffer::empty(Rect::new(0, 0, 200, 60));
        for (number, name) in layout::NAMES.iter().enumerate() {
            app.show_layout(number);
            criterion.bench_function(&format!("draw {machine} {name} 200x60"), |bencher| {
                bencher.iter(|| {
                    buffer.reset();
                    black_box(view::draw(&app, &mut buffer))
                });
            });
        }
        criterion.bench_function(&format!("make a frame of {machine}"), |bencher| {
            bencher.iter(|| black_box(session.frame(&info, &Wish::default())));
        });
    }
}

criterion_group!(benches, screens);
criterion_main!(benches);
