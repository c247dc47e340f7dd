//! Where mutants are looked at, and what is built there of a mutant.

use std::sync::Arc;

use crate::cli::exit::{Status, Trouble, say};
use crate::cli::interrupt::Interrupt;
use crate::cli::progress::Progress;
use crate::diagnostic::{Diagnostic, Source, in_toml};
use crate::explore::mutants::{Base, Mutant};
use crate::explore::search::Limits;
use crate::explore::system::System;
use crate::explore::way::Violation;
use crate::explore::{random, stress};
use crate::machine::{Blueprint, Machine};
use crate::protocol::table::Table;
use crate::report::number::grouped;
use crate::scenario::{Alphabet, Options, Scenario};

/// The shapes on which mutants are explored, cheapest first, and the accesses there.
const SHAPES: [(&str, &str); 5] = [
    ("explore/two-l1", r#"["load 0x1000 2", "store 0x1000", "n-store 0x1000", "n-store 0x1001"]"#),
    ("explore/gpu-and-core", r#"["load 0x1000 2", "store 0x1000", "n-store 0x1001", "exclusive 0x1000"]"#),
    ("explore/two-gpu", r#"["load 0x1000", "store 0x1000", "n-store 0x1000"]"#),
    ("explore/two-gpu-peer", r#"["load 0x1000", "store 0x1000", "n-store 0x1000"]"#),
    (CROWD, r#"["load 0x1000", "store 0x1000"]"#),
];

/// The shape on which it is also seen whether anybody can wait for ever.
pub const CROWD: &str = "explore/three-l1";

/// Where random orders are tried of a mutant that is not caught on any shape: it is larger than what can be explored completely.
pub const LARGE: &str = "explore/large";

/// The machine of a random test, which looks at values under every protocol.
pub const TESTED: &str = "tiny/umh-2gpu";

/// A place where mutants are looked at.
pub struct Place {
    pub name: &'static str,
    pub scenario: Scenario,
    blueprint: Blueprint,
    alphabet: Alphabet,
}

impl Place {
    /// A bundled exploration with the protocol as it is, and more changes.
    fn load(name: &'static str, with: &[String]) -> Result<Self, Trouble> {
        let scenario = Scenario::load(name)?.with(with)?;
        let blueprint = scenario.blueprint(&Options::default())?;
        let alphabet = scenario.alphabet(&Machine::build(&blueprint)?)?;
        Ok(Self { name, scenario, blueprint, alphabet })
    }

    fn system(&self) -> Result<System, Trouble> {
        Ok(System::new(&Machine::build(&self.blueprint)?, &self.alphabet)?)
    }
}

/// A place that can be explored completely, with what nodes do there.
pub struct Shape {
    pub place: Place,
    pub base: Base,
}

/// All places.
pub struct Places {
    pub shapes: Vec<Shape>,
    pub large: Place,
    /// The machine of the random test.
    pub tested: Blueprint,
}

impl Places {
    /// The places with the protocol as it is; a status if it breaks a rule itself, or was interrupted.
    pub fn load(
        protocol: &str,
        limits: Limits,
        interrupt: &Interrupt,
    ) -> Result<Result<Self, Status>, Trouble> {
        let set = format!("protocol={}", in_toml(protocol));
        let mut progress = Progress::start();
        let mut shapes = Vec::new();
        for (name, accesses) in SHAPES {
            let place = Place::load(name, &[set.clone(), format!("explore.accesses={accesses}")])?;
            let base = Base::new(&place.system()?, limits, |counts| {
                progress.tell(|| format!("{name}: {} states", grouped(counts.states)));
                !interrupt.is_raised()
            });
            if let Some(violation) = base.outcome.violations.first() {
                progress.clear();
                say(format_args!(
                    "{protocol} breaks a rule as it is, and `umscope explore {name} --protocol {protocol}` shows how: {}: {}",
                    violation.rule, violation.text
                ));
                return Ok(Err(Status::Failed));
            }
            if interrupt.is_raised() {
                return Ok(Err(Status::Interrupted));
            }
            if base.outcome.bound.is_some() {
                let message = format!("{protocol} has too many states on {name} to look at all");
                return Err(Diagnostic::new(message).expected("a higher --max-states").into());
            }
            shapes.push(Shape { place, base });
        }
        let text = format!("machine = {}\n{set}\n", in_toml(TESTED));
        let tested = Scenario::parse(Source::new("the machine under test", text), None)?;
        let tested = Blueprint { max_cycles: u64::MAX, ..tested.blueprint(&Options::default())? };
        let places = Self { shapes, large: Place::load(LARGE, &[set])?, tested };
        progress.tell(|| format!("{LARGE} and {TESTED}: at random"));
        let large = places.large.system()?;
        let wrong = match walked(&large, limits.threads, interrupt) {
            Some(found) => {
                Some((found.rule.to_owned(), found.text, format!("explore {LARGE} --random {STEPS}")))
            }
            None => stressed(places.tested.clone(), interrupt)?
                .map(|found| (found.rule, found.text, format!("stress {TESTED} --accesses {ACCESSES}"))),
        };
        progress.clear();
        if let Some((rule, text, how)) = wrong {
            say(format_args!(
                "{protocol} breaks a rule as it is, and `umscope {how} --seed {SEED} --protocol {protocol}` shows how: {rule}: {text}"
            ));
            return Ok(Err(Status::Failed));
        }
        Ok(if interrupt.is_raised() { Err(Status::Interrupted) } else { Ok(places) })
    }
}

/// Steps and accesses of what is tried at random, and their seed.
pub const STEPS: u64 = 500_000;
pub const ACCESSES: u64 = 50_000;
pub const SEED: u64 = 1;

/// Memory of one exploration.
pub const MEMORY: u64 = 3 << 30;

/// What random steps break.
pub fn walked(system: &System, threads: usize, interrupt: &Interrupt) -> Option<Violation> {
    let limits = random::Limits { steps: STEPS, seed: SEED, memory: MEMORY, threads };
    random::walk(system, limits, |_| !interrupt.is_raised()).violations.into_iter().next()
}

/// What a random test breaks.
pub fn stressed(blueprint: Blueprint, interrupt: &Interrupt) -> Result<Option<stress::Failure>, Trouble> {
    let plan = stress::Plan { blueprint, accesses: ACCESSES, seed: SEED };
    Ok(plan.round(0, &|| interrupt.is_raised())?.failure)
}

/// What a protocol is changed into.
pub struct Changed<'a> {
    pub mutant: Mutant,
    /// The table as it is, and as it is changed.
    pub own: &'a Table,
    pub table: Arc<Table>,
}

impl Changed<'_> {
    pub fn on(&self, place: &Place) -> Result<System, Trouble> {
        Ok(System::new(&Machine::build(&self.blueprint(&place.blueprint))?, &place.alphabet)?)
    }

    pub fn blueprint(&self, own: &Blueprint) -> Blueprint {
        let mut blueprint = own.clone();
        match self.mutant {
            Mutant::Rule(fault) => blueprint.faults.push(fault),
            Mutant::Table(_) => {
                for own in blueprint.tables.iter_mut().filter(|own| own.name == self.own.name) {
                    *own = self.table.clone();
                }
            }
        }
        blueprint
    }
}
