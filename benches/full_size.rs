//! Speed, memory and time travel at the paper's size.
//!
//!     cargo bench --bench full_size                     # all of it
//!     cargo bench --bench full_size -- multiply 1 200000   # one, once, so many events: for instruction counts
//!
//! - multiply: matrix multiplication on the four GPUs of Table III, values off, nobody listening
//! - switch: the same round a switch, with lanes that turn, and with fixed ones that nobody samples
//! - transpose: 256 x 256 on one GPU and on four, from the blueprint to the end
//! - growth: the same kernel on 1 and on 4 GPUs (1-gpu, 4-gpus), and over 1 MB and 64 MB (1-mb, 64-mb)
//! - memory: the most that the process held, after 48 MB were added to 48 MB
//! - fork: taking and dropping a checkpoint
//! - back: reverse steps at the end of the multiplication
//! - reverse: a reverse-continue over a whole run, over the same forward
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use umscope::debug::interrupt::Interrupt;
use umscope::debug::origin::Origin;
use umscope::debug::session::Session;
use umscope::diagnostic::Source;
use umscope::machine::StepOutcome;
use umscope::model::inspect::Inspect;
use umscope::scenario::{Options, Prepared, Scenario};

const MULTIPLY: &str =
    "name = \"matrix-multiplication\"\nwith = { rows = 1024, inner = 1024, columns = 1024 }";
const TRANSPOSE: &str = "name = \"transpose\"\nwith = { width = 256, height = 256 }";
/// Two vectors of 24 MB make a third.
const VECTORS: &str = "name = \"vector-add\"\nwith = { size = 4194304 }";

fn scenario(machine: &str, kernel: &str) -> Scenario {
    let text = format!("title = \"bench\"\nmachine = \"{machine}\"\nchecks = false\n[[kernel]]\n{kernel}\n");
    Scenario::parse(Source::new("bench", text), None).unwrap()
}

fn prepare(machine: &str, kernel: &str) -> Prepared {
    scenario(machine, kernel).prepare(&Options::default()).unwrap()
}

/// A machine with other values for some keys.
fn prepare_with(machine: &str, kernel: &str, set: &[&str]) -> Prepared {
    let set = set.iter().map(|&set| set.to_owned()).collect();
    scenario(machine, kernel).prepare(&Options { set, ..Options::default() }).unwrap()
}

fn median<T: PartialOrd + Copy>(mut list: Vec<T>) -> T {
    list.sort_by(|a, b| a.partial_cmp(b).unwrap());
    list[list.len() / 2]
}

/// Runs to the end, or to so many events: events, accesses and the time that they took.
fn run(machine: &str, kernel: &str, most: u64) -> (u64, u64, Duration) {
    run_prepared(prepare(machine, kernel), most)
}

fn run_prepared(prepared: Prepared, most: u64) -> (u64, u64, Duration) {
    let mut machine = prepared.machine;
    let start = Instant::now();
    let outcome = machine.run_until(most);
    let time = start.elapsed();
    assert!(matches!(outcome, StepOutcome::Ran | StepOutcome::Finished), "{outcome:?}");
    (machine.event(), machine.accesses(), time)
}

fn multiply(times: usize, most: u64) {
    let runs: Vec<_> = (0..times).map(|_| run("umh-4gpu-nvlink", MULTIPLY, most)).collect();
    let speeds: Vec<f64> = runs.iter().map(|(events, _, time)| *events as f64 / time.as_secs_f64()).collect();
    let (events, accesses, _) = runs[0];
    println!(
        "multiply   {:>12.0} events/s   {events} events, {accesses} accesses   goal 10,000,000",
        median(speeds)
    );
}

fn switch(times: usize, most: u64) {
    let turning = ["network.topology=switch", "network.balancer.sample=5000"];
    for (what, set) in [("fixed", &turning[..1]), ("turning", &turning[..])] {
        let runs: Vec<_> =
            (0..times).map(|_| run_prepared(prepare_with("umh-4gpu-nvlink", MULTIPLY, set), most)).collect();
        let speeds: Vec<f64> =
            runs.iter().map(|(events, _, time)| *events as f64 / time.as_secs_f64()).collect();
        println!("switch     {:>12.0} events/s   {} events, {what}", median(speeds), runs[0].0);
    }
}

fn transpose(times: usize) {
    for (machine, goal) in [("umh-1gpu-nvlink", 0.76), ("umh-4gpu-nvlink", 2.2)] {
        let runs: Vec<_> = (0..times).map(|_| run(machine, TRANSPOSE, u64::MAX)).collect();
        let seconds: Vec<f64> = runs.iter().map(|(_, _, time)| time.as_secs_f64()).collect();
        println!("transpose  {:>12.3} s   {machine}, {} events   goal {goal} s", median(seconds), runs[0].0);
    }
}

/// The same kernel on 1 and on 4 GPUs, and over 1 MB and 64 MB: the instructions of an event should grow by less than a tenth.
fn growth(wanted: impl Fn(&str) -> bool, most: u64) {
    let vectors = |mega: u32| format!("name = \"vector-add\"\nwith = {{ size = {} }}", (mega << 20) / 12);
    for (what, machine, kernel) in [
        ("1-gpu", "umh-1gpu-nvlink", MULTIPLY.to_owned()),
        ("4-gpus", "umh-4gpu-nvlink", MULTIPLY.to_owned()),
        ("1-mb", "umh-1gpu-nvlink", vectors(1)),
        ("64-mb", "umh-1gpu-nvlink", vectors(64)),
    ] {
        if wanted(what) {
            let (events, _, time) = run(machine, &kernel, most);
            println!("{what:<10} {:>12.0} events/s   {events} events", events as f64 / time.as_secs_f64());
        }
    }
}

/// The most memory that this process ever held, in MB.
fn high_water() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
}

fn memory() {
    let (events, _, _) = run("umh-4gpu-nvlink", VECTORS, u64::MAX);
    println!("memory     {:>12.0} MB   48 MB, {events} events   goal 300 MB", high_water());
}

/// A checkpoint in the middle of the run: what it costs to take and to drop.
fn fork() {
    let mut machine = prepare("umh-4gpu-nvlink", MULTIPLY).machine;
    machine.run_until(1_000_000);
    let (mut takes, mut drops) = (Vec::new(), Vec::new());
    for _ in 0..41 {
        machine.run_until(machine.event() + 10_000);
        let start = Instant::now();
        let copy = machine.clone();
        takes.push(start.elapsed().as_secs_f64() * 1e3);
        let start = Instant::now();
        drop(copy);
        drops.push(start.elapsed().as_secs_f64() * 1e3);
    }
    println!("fork       {:>12.2} ms to take, {:.2} ms to drop", median(takes), median(drops));
}

fn back() {
    let scenario = scenario("umh-4gpu-nvlink", MULTIPLY);
    let prepared = scenario.prepare(&Options::default()).unwrap();
    let mut session =
        Session::open(Origin::scenario("bench", &scenario, &Options::default(), prepared), None);
    let interrupt = Interrupt::default();
    let start = Instant::now();
    session.execute("step 10000000", &interrupt).unwrap();
    let forward = start.elapsed();
    let times: Vec<f64> = (0..21)
        .map(|_| {
            let start = Instant::now();
            session.execute("reverse-step", &interrupt).unwrap();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    println!(
        "back       {:>12.2} ms the first, {:.2} ms the median   after {} events ({:.1} s, {:.0} MB)   goal 50 and 20 ms",
        times[0],
        median(times.clone()),
        session.event(),
        forward.as_secs_f64(),
        high_water()
    );
}

/// Back over a whole run under a breakpoint that never holds, over the time forward under the same.
fn reverse() {
    let scenario = scenario("umh-1gpu-nvlink", TRANSPOSE);
    let prepared = scenario.prepare(&Options::default()).unwrap();
    let mut session =
        Session::open(Origin::scenario("bench", &scenario, &Options::default(), prepared), None);
    let interrupt = Interrupt::default();
    let mut time = |command: &str| {
        let start = Instant::now();
        session.execute(command, &interrupt).unwrap();
        start.elapsed().as_secs_f64()
    };
    time("break violation");
    let forward = time("continue");
    let back = time("reverse-continue");
    println!("reverse    {:>12.2} times the {forward:.2} s forward   goal 2.5", back / forward);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let times: usize = arguments.get(1).and_then(|word| word.parse().ok()).unwrap_or(3);
    let most: Option<u64> = arguments.get(2).and_then(|word| word.parse().ok());
    let wanted = |what: &str| arguments.first().is_none_or(|word| word == what);
    if wanted("memory") {
        memory();
    }
    if wanted("multiply") {
        multiply(times, most.unwrap_or(3_000_000));
    }
    if wanted("switch") {
        switch(times, most.unwrap_or(1_000_000));
    }
    if wanted("transpose") {
        transpose(times);
    }
    let growing = |what: &str| wanted("growth") || wanted(what);
    growth(growing, most.unwrap_or(1_000_000));
    if wanted("fork") {
        fork();
    }
    if wanted("back") {
        back();
    }
    if wanted("reverse") {
        reverse();
    }
}
