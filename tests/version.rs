//! What a run gives belongs to the version of the program: results that `figures` and `sweep` keep are known by it.
//! Every bundled machine under two kernels, and every bundled scenario, end where the file says, on any machine.

// The helpers of tests may unwrap as tests do.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use umscope::config::{Kind, list};
use umscope::diagnostic::Source;
use umscope::model::inspect::Inspect;
use umscope::scenario::{Options, Scenario};

/// Events of a run, at most.
const EVENTS: u64 = 5_000;
const FILE: &str = "tests/data/runs.txt";

/// One that reads and writes each line once, and one in which warps meet in the same lines, atomics and barriers included.
const KERNELS: [&str; 2] = ["transpose", "histogram"];

/// Where a scenario is after so many events: their number, the time, and a digest of the machine.
fn line(name: &str, scenario: &Scenario) -> String {
    let mut machine = scenario.prepare(&Options::default()).unwrap().machine;
    machine.run_until(EVENTS);
    format!("{name} {} {} {:016x}\n", machine.event(), machine.tick(), machine.digest())
}

fn names(kind: Kind) -> impl Iterator<Item = String> {
    list(kind).into_iter().map(|entry| entry.name)
}

fn all() -> String {
    let mut text = format!("umscope {}\n", env!("CARGO_PKG_VERSION"));
    for machine in names(Kind::Machine) {
        for kernel in KERNELS {
            let scenario = format!("machine = \"{machine}\"\nscale = 64\n[[kernel]]\nname = \"{kernel}\"\n");
            // A machine of two cores runs no kernel.
            if let Ok(scenario) = Scenario::parse(Source::new("runs", scenario), None)
                && scenario.prepare(&Options::default()).is_ok()
            {
                text += &line(&format!("{kernel} on {machine}"), &scenario);
            }
        }
    }
    for name in names(Kind::Scenario) {
        text += &line(&name, &Scenario::load(&name).unwrap());
    }
    text
}

#[test]
fn runs_that_end_elsewhere_are_of_another_version() {
    let (known, found) = (fs::read_to_string(FILE).unwrap_or_default(), all());
    if known == found {
        return;
    }
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("runs.txt");
    fs::write(&made, &found).unwrap();
    let other: Vec<_> = found.lines().filter(|line| !known.lines().any(|known| known == *line)).collect();
    panic!(
        "{} runs end elsewhere than {FILE} says, the first of them\n{}\nIf one of them is not new, raise the version in \
         Cargo.toml: else results that figures and sweeps keep would be taken for those of this program. Then copy {} to {FILE}.",
        other.len(),
        other.iter().take(8).copied().collect::<Vec<_>>().join("\n"),
        made.display(),
    );
}
