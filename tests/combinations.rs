//! Kernels, several of them, some at once, on tiny machines with a few keys changed, all drawn at random: whatever can be
//! built ends or goes on, breaks no rule, and does the same whether somebody listens or not.
//! `UMSCOPE_COMBINATIONS=5000` makes it a long run; a failure prints the scenario.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use toml::Value;
use umscope::config::library::{Kind, list};
use umscope::config::{load_machine, machine_keys};
use umscope::diagnostic::Source;
use umscope::machine::{Machine, StepOutcome};
use umscope::model::inspect::Inspect;
use umscope::model::record::Records;
use umscope::scenario::{Options, Scenario};
use umscope::workload::kernels::KERNELS;

/// Events of a scenario, at most.
const EVENTS: u64 = 60_000;
/// Each so many is run a second time, with a listener.
const LISTENED: u64 = 4;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Another value of a key: twice or four times as much, a half, a quarter, one; or the other of two.
fn other(random: &mut Random, value: &Value) -> Option<String> {
    let mut change = |number: u64| *random.one_of(&[1, number / 4, number / 2, number * 2, number * 4]);
    match value {
        Value::Boolean(is) => Some((!is).to_string()),
        Value::Integer(number) => Some(change(u64::try_from(*number).ok()?).max(1).to_string()),
        Value::String(text) => {
            let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
            let (number, unit) = text.split_at(digits);
            let number = change(number.parse().ok()?).max(1);
            let is_unit = unit.is_empty() || unit.starts_with(' ');
            is_unit.then(|| format!("\"{number}{unit}\""))
        }
        _ => None,
    }
}

/// Keys whose other values ask for another scenario: stored values, and networks that one lane cannot be without a deadlock.
const LEFT: [&str; 2] = ["values", "network.virtual_networks"];

/// `is_bare`: without values and checks, where hits are performed in a quicker way.
fn scenario(random: &mut Random, machines: &[String], is_bare: bool) -> String {
    let machine = random.one_of(machines);
    let keys = machine_keys::keys(&load_machine(machine, None).unwrap());
    let mut text =
        format!("machine = \"{machine}\"\nscale = {}\n[set]\n", random.one_of(&[64, 128, 256, 512]));
    let simds = random.one_of(&[1, 2, 4, 16]).to_string();
    let mut set = vec![("gpu.cu.wavefronts", "16".to_owned()), ("gpu.cu.simds", simds)];
    if is_bare {
        set.push(("values", "false".to_owned()));
    }
    for _ in 0..random.below(4) {
        let (key, value) = random.one_of(&keys);
        let is_new = !LEFT.contains(&key.as_str()) && set.iter().all(|(known, _)| known != key);
        set.extend(other(random, value).filter(|_| is_new).map(|value| (key.as_str(), value)));
    }
    for (key, value) in set {
        writeln!(text, "\"{key}\" = {value}").unwrap();
    }
    for nth in 0..=random.below(3) {
        let kernel = random.one_of(KERNELS).name;
        writeln!(text, "[[kernel]]\nid = \"k{nth}\"\nname = \"{kernel}\"").unwrap();
        if nth > 0 && random.below(3) == 0 {
            writeln!(text, "after = [\"k{}\"]", random.below(nth)).unwrap();
        }
    }
    text
}

/// Runs until it ends, or for so many events. Returns its digest, and why it should not be so.
fn run(machine: &mut Machine) -> (u64, Option<String>) {
    let outcome = machine.run_until(EVENTS);
    let broken = machine.violations().first().map(|violation| violation.text.to_string());
    let stuck = (outcome == StepOutcome::Stuck).then(|| "a deadlock".to_owned());
    (machine.digest(), broken.or(stuck))
}

/// The digest when somebody listens.
fn listened(machine: &mut Machine) -> u64 {
    let mut records = Records::listening();
    while machine.event() < EVENTS && machine.step(&mut records) == StepOutcome::Ran {
        records.list.clear();
    }
    machine.digest()
}

#[test]
fn whatever_can_be_built_ends_breaks_no_rule_and_does_not_mind_listeners() {
    let count =
        std::env::var("UMSCOPE_COMBINATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(120);
    let names = list(Kind::Machine).into_iter().map(|entry| entry.name);
    let machines: Vec<_> = names.filter(|name| name.starts_with("tiny/")).collect();
    let (mut built, mut failures) = (0, Vec::new());
    for seed in 0..count {
        let is_bare = seed / LISTENED % 2 == 1;
        let text = scenario(&mut Random(seed), &machines, is_bare);
        let source = Source::new("combination", text.as_str());
        let read = Scenario::parse(source, None);
        let options = Options { checks: is_bare.then_some(false), ..Options::default() };
        let Ok(prepared) = read.and_then(|scenario| scenario.prepare(&options)) else { continue };
        built += 1;
        let mut machine = prepared.machine;
        let mut other = (seed % LISTENED == 0).then(|| machine.clone());
        let (digest, failure) = run(&mut machine);
        failures.extend(failure.map(|failure| format!("{failure}:\n{text}")));
        if let Some(other) = &mut other
            && listened(other) != digest
        {
            failures.push(format!("it differs when somebody listens:\n{text}"));
        }
    }
    assert!(failures.is_empty(), "{} of {built}\n{}", failures.len(), failures.join("\n"));
    assert!(built > count / 2, "{built} of {count} could be built");
}
