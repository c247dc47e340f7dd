//! What is done to a machine while it runs, from text to changes of the machine.

use std::sync::Arc;

use crate::config::document::At;
use crate::config::names::sets_the_same;
use crate::config::{Document, mutation};
use crate::diagnostic::{Diagnostic, Result, Source};
use crate::machine::{Blueprint, Change, Machine, Planned, check_addresses};
use crate::model::choice::Choice;
use crate::model::fault::Fault;
use crate::model::inspect::Inspect;
use crate::model::number::parse_number;
use crate::model::time::EventNumber;
use crate::protocol::mutation::Mutation;
use crate::query::Text;
use crate::recording::Input;
use crate::workload::{Task, TaskKind};

use super::file::{FaultFile, InputFile};
use super::instruction as instructions;
use super::place::Place;
use super::prepare::Options;
use super::read::Scenario;
use super::setup;

impl Scenario {
    /// The changes that the inputs in `options` make to `machine`, which was built with the same options.
    ///
    /// # Errors
    /// If an input makes no sense, or the machine cannot go on so.
    pub fn plan(&self, options: &Options, machine: &Machine) -> Result<Arc<[Planned]>> {
        let mut reader = Reader {
            scenario: self,
            machine,
            options: Options { inputs: Vec::new(), trace: None, ..options.clone() },
            faults: Vec::new(),
            mutations: Vec::new(),
            works: 0,
        };
        let own = if options.inputs.is_empty() { self.own_inputs(options)? } else { Vec::new() };
        let own = own.into_iter().map(|(event, input, text)| (event, input, Some(text)));
        let given = options.inputs.iter().map(|(event, input)| (*event, input.clone(), None));
        let planned = given.chain(own).map(|(event, input, text)| {
            let change = reader.change(&input).map_err(|error| match text {
                Some(text) => {
                    let mut placed = self.document.complain(Some(&text.span), error.message);
                    (placed.expected, placed.suggestion) = (error.expected, error.suggestion);
                    Box::new(placed)
                }
                None => error,
            })?;
            Ok(Planned { event, text: input.to_string().into(), change })
        });
        planned.collect()
    }

    /// What is done to its machine on the way: what `options` say, or else the scenario itself.
    ///
    /// # Errors
    /// If an `[[input]]` does nothing, more than one thing, or comes before the one above it.
    pub fn inputs(&self, options: &Options) -> Result<Vec<(EventNumber, Input)>> {
        if !options.inputs.is_empty() {
            return Ok(options.inputs.clone());
        }
        let own = self.own_inputs(options)?;
        Ok(own.into_iter().map(|(event, input, _)| (event, input)).collect())
    }

    /// What the scenario itself does, with its places. What it sets before the first event is as if its machine had it so:
    /// where `options` set the same, that counts.
    fn own_inputs(&self, options: &Options) -> Result<Vec<(EventNumber, Input, &At<String>)>> {
        let mut all: Vec<(EventNumber, Input, &At<String>)> = Vec::new();
        for at in &self.file.inputs {
            let event = &at.value.event;
            let Some((verb, text)) = given(&at.value) else {
                let error = self.document.complain(Some(&at.span), "this input is not one thing");
                return Err(error.expected("one of set, fault, cell, access, choose and hold").into());
            };
            if all.last().is_some_and(|(last, _, _)| *last >= event.value) {
                let error = self.document.complain(Some(&event.span), "this comes before the input above it");
                return Err(error.expected("events in their order, each input at one of its own").into());
            }
            if event.value == EventNumber::MAX {
                let error = self.document.complain(Some(&event.span), "no run comes to this event");
                return Err(error.expected(format!("less than {}", EventNumber::MAX)).into());
            }
            let input = Input::new(verb, &text.value);
            let input = input.map_err(|error| self.document.complain(Some(&text.span), error.message))?;
            all.push((event.value, input, text));
        }
        all.retain(|(event, input, text)| {
            let is_set = matches!(input, Input::Set(_)) && *event == 0;
            !is_set || !options.set.iter().any(|set| sets_the_same(set, &text.value))
        });
        Ok(all)
    }
}

/// The one thing that an `[[input]]` does.
fn given(file: &InputFile) -> Option<(&'static str, &At<String>)> {
    let InputFile { event: _, set, fault, cell, access, choose, hold } = file;
    let all = [
        ("set", set),
        ("fault", fault),
        ("cell", cell),
        ("access", access),
        ("choose", choose),
        ("hold", hold),
    ];
    let mut given = all.into_iter().filter_map(|(verb, text)| Some((verb, text.as_ref()?)));
    given.next().filter(|_| given.next().is_none())
}

/// Cycles that something can be held back at most.
const MOST_HELD: u64 = 1_000_000_000;

/// Reads inputs one after the other: each changes what those before it have left.
struct Reader<'a> {
    scenario: &'a Scenario,
    machine: &'a Machine,
    options: Options,
    faults: Vec<Fault>,
    mutations: Vec<Mutation>,
    /// Accesses by hand so far.
    works: usize,
}

/// `64`
fn hold(text: &str) -> Result<Change> {
    let cycles = parse_number(text.trim()).filter(|cycles| (1..=MOST_HELD).contains(cycles));
    cycles.map(Change::Hold).ok_or_else(|| {
        let error = Diagnostic::new(format!("{:?} is no number of cycles", text.trim()));
        let error = error.expected(format!("1 to {MOST_HELD}: what comes next comes so much later"));
        Box::new(error.at(&Source::new("fork hold", text), 0..text.len()))
    })
}

impl Reader<'_> {
    fn change(&mut self, input: &Input) -> Result<Change> {
        match input {
            Input::Set(text) => {
                self.options.set.push(text.clone());
                self.adopt(input).map_err(|error| named(error, input))
            }
            Input::Fault(text) => {
                self.faults.push(fault(text)?);
                self.adopt(input)
            }
            Input::Access(text) => self.access(text),
            Input::Cell(text) => {
                let text = unquoted(text);
                let source = Source::new("fork cell", text.as_str());
                let tables = self.blueprint()?.tables;
                self.mutations.push(mutation::parse(&source, 0..text.len(), &tables)?);
                self.adopt(input)
            }
            Input::Choose(text) => self.choose(text),
            Input::Hold(text) => hold(text),
        }
    }

    /// What the machine with all that has been changed so far is built from.
    fn blueprint(&self) -> Result<Blueprint> {
        let mut blueprint = self.scenario.foundation(&self.options)?;
        blueprint.faults.extend(&self.faults);
        for mutation in &self.mutations {
            mutation.apply_to(&mut blueprint.tables).map_err(|message| Box::new(Diagnostic::new(message)))?;
        }
        Ok(blueprint)
    }

    /// The machine with all that has been changed so far.
    fn adopt(&self, input: &Input) -> Result<Change> {
        let template = Machine::build(&self.blueprint()?)?;
        self.machine.can_adopt(&template).map_err(|reason| {
            let source = typed(input);
            let error = Diagnostic::new(format!("this cannot change under way: {reason}"));
            Box::new(error.at(&source, 0..source.text.len()))
        })?;
        Ok(Change::Adopt(Arc::new(template)))
    }

    /// `deliver gpu0.cu0.l1 > gpu0.l2.0 request`
    fn choose(&self, text: &str) -> Result<Change> {
        Choice::parse(text, self.machine.components()).map(Change::Choose).map_err(|wrong| {
            let error = Diagnostic::new(wrong.message).expected(wrong.expected);
            let known = wrong.known.iter().map(String::as_str);
            // The word itself, and not where it begins another one.
            let word = text.split_whitespace().find(|word| *word == wrong.word);
            let span = word.map_or(0..text.len(), |word| {
                let at = (word.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
                at..at + word.len()
            });
            Box::new(error.nearest(&wrong.word, known).at(&Source::new("fork choose", text), span))
        })
    }

    /// `gpu0.cu0 store 0x1000 07`
    fn access(&mut self, text: &str) -> Result<Change> {
        let source = Source::new("fork access", text);
        let start = text.len() - text.trim_start().len();
        let end = start + text.trim().find(char::is_whitespace).unwrap_or(text.trim().len());
        let name = At { value: text.get(start..end).unwrap_or_default().to_owned(), span: start..end };
        let document = Document::new(source.clone());
        let place = Place { document: &document, components: self.machine.components() };
        let (_, agent) = place.agent(&name)?;
        let rest = text.get(end..).unwrap_or_default();
        let instruction = rest.trim();
        let at = end + (rest.len() - rest.trim_start().len());
        let span = at..at + instruction.len();
        let text = Text::within(&source, span.clone(), instruction);
        let operations = vec![instructions::parse(&text)?];
        self.works += 1;
        let id: Arc<str> = format!("by-hand-{}", self.works).into();
        check_addresses("it", &operations, self.machine.spec().host.memory)
            .map_err(|error| Box::new(error.at(&source, span)))?;
        let what = TaskKind::Program { agent: agent.path.clone(), warp: None, operations: operations.into() };
        Ok(Change::Work(Task { id, after: Vec::new(), delay: 0, launch: None, what }))
    }
}

/// An input as the user typed it.
fn typed(input: &Input) -> Source {
    Source::new(format!("fork {}", input.verb()), input.text())
}

/// A complaint about what is set of a machine names the input that sets it.
fn named(mut error: Box<Diagnostic>, input: &Input) -> Box<Diagnostic> {
    if let Some(source) = error.source.as_mut().filter(|source| *source.text == *input.text()) {
        *source = typed(input);
    }
    error
}

/// `cache N read = "ack > I"` without the quotes that a protocol file has there.
fn unquoted(text: &str) -> String {
    match text.split_once('=') {
        Some((what, cell)) => {
            let plain = cell.trim().strip_prefix('"').and_then(|cell| cell.strip_suffix('"'));
            plain.map_or_else(|| text.to_owned(), |cell| format!("{what}= {cell}"))
        }
        None => text.to_owned(),
    }
}

/// A fault alone in a document.
#[derive(serde::Deserialize)]
struct Injected {
    fault: At<FaultFile>,
}

/// As [`setup::fault_table`] reads it.
fn fault(text: &str) -> Result<Fault> {
    let document = Document::new(Source::new("fork fault", format!("fault = {}", setup::fault_table(text)?)));
    let file: Injected = document.read()?;
    setup::fault(&file.fault, &document)
}
