//! Keeping a moment: as a recording that ends there, or as a scenario that begins there.

use toml::{Table, Value};

use super::session::Session;
use super::subject::Subject;
use crate::config::machine::MachineSpec;
use crate::diagnostic::Result;
use crate::model::inspect::BlockView;
use crate::model::text::digits;
use crate::model::text::plural;
use crate::recording::{End, Ending, Input, Mark, Recording};
use crate::scenario::{Draft, FARTHEST, Options};

/// Blocks told of in a scenario's comment, at most; and transactions and messages.
const LISTED: usize = 32;

impl Session {
    /// What the present branch was made of, up to here.
    fn options_here(&self) -> Result<(&crate::scenario::Scenario, Options)> {
        let Some(maker) = &self.maker else {
            return Err(Self::complaint("this moment cannot be kept: it is not known what it was made of"));
        };
        let event = self.event();
        let inputs = self.inputs().iter().filter(|(at, _)| *at < event).cloned().collect();
        Ok((&maker.scenario, Options { inputs, ..maker.options.clone() }))
    }

    /// The machine as it is here, and what was set of it: `KEY=VALUE` by its scenario, on the command line, or on the way.
    ///
    /// # Errors
    /// If it is not known what it was made of.
    pub fn machine_here(&self) -> Result<(MachineSpec, Vec<String>)> {
        let (scenario, options) = self.options_here()?;
        let mut set = options.set.clone();
        set.extend(options.inputs.iter().filter_map(|(_, input)| match input {
            Input::Set(text) => Some(text.clone()),
            _ => None,
        }));
        let spec = scenario.machine(&set)?;
        set.extend(scenario.set_texts());
        Ok((spec, set))
    }

    /// What the present branch is made of, to its end.
    pub(super) fn whole(&self) -> Result<(&crate::scenario::Scenario, Options)> {
        let (scenario, options) = self.options_here()?;
        Ok((scenario, Options { inputs: self.inputs().to_vec(), ..options }))
    }

    /// A recording that ends here.
    ///
    /// # Errors
    /// If the files that it was made of cannot be found again.
    pub fn moment(&self) -> Result<Recording> {
        let (scenario, options) = self.options_here()?;
        let mut recording = scenario.recording(&self.name, &options)?;
        let machine = self.machine();
        let mark = Mark { event: machine.event(), cycle: machine.cycle(), digest: machine.digest() };
        recording.end = Some(End { mark, how: Ending::Moment, found: None });
        Ok(recording)
    }

    /// A scenario that begins here: with all accesses and inputs of the run, of which those so far are made unseen. What is
    /// in flight and where the blocks are is told in its comment. And what of it is left out, since it may be over.
    ///
    /// # Errors
    /// As [`Draft::of`].
    pub fn scenario_from_here(&self) -> Result<(Draft, Vec<String>)> {
        let (scenario, options) = self.whole()?;
        let mut draft = Draft::of(scenario, &options)?;
        let machine = self.machine();
        if machine.event() > FARTHEST {
            let message = format!("event {} is too far for a scenario to begin at", machine.event());
            let error = Self::complaint(message);
            return Err(Box::new(error.expected(format!("an event up to {FARTHEST}, or save moment"))));
        }
        let (event, digest) = (machine.event(), machine.digest());
        let mut start = Table::new();
        start.insert("event".into(), Value::Integer(i64::try_from(event).unwrap_or(i64::MAX)));
        start.insert("digest".into(), Value::String(digits(digest)));
        draft.head.insert("start".into(), Value::Table(start));
        let title = format!("{}, from event {event}", self.title);
        draft.head.insert("title".into(), Value::String(title));
        draft.head.remove("explore");
        let mut left_out = Vec::new();
        if event > self.timeline.start() {
            for (key, what) in [("bug", "[bug]"), ("about", "about")] {
                left_out.extend(draft.head.remove(key).map(|_| what.to_owned()));
            }
            if let Some(Value::Array(said)) = draft.head.remove("say") {
                left_out.push(plural(said.len() as u64, "piece") + " of narration");
            }
        }
        if let Some(Value::Array(expected)) = draft.head.get_mut("expect") {
            let all = expected.len();
            let mut index = 0;
            expected.retain(|value| {
                index += 1;
                self.is_ahead(index - 1, value)
            });
            let gone = all - expected.len();
            if gone > 0 {
                left_out.push(plural(gone as u64, "expectation") + " about what was to be seen before");
            }
        }
        draft.comment = self.told_of_here();
        if !left_out.is_empty() {
            draft.comment.insert(1, format!("Left out: {}.", left_out.join(", ")));
        }
        Ok((draft, left_out))
    }

    /// Whether what this expectation, of this number from 0, is about is still to come as a whole.
    fn is_ahead(&self, index: usize, expectation: &Value) -> bool {
        let machine = self.machine();
        let event = machine.event();
        let has = |key: &str| expectation.get(key).is_some();
        if event <= self.timeline.start() {
            true
        } else if let Some(id) = expectation.get("after").and_then(Value::as_str) {
            !machine.is_done(id)
        } else if let Some(cycle) = expectation.get("at").and_then(Value::as_integer) {
            machine.cycle() < u64::try_from(cycle).unwrap_or(0)
        } else if has("on") && !has("nth") {
            // A lesson has seen every event up to here, unless this is another run than that of the scenario.
            let lesson = self.timeline.lesson().filter(|_| self.branches.view().is_none());
            lesson.is_some_and(|lesson| !lesson.has_settled(index, event))
        } else {
            !["after", "at", "on", "count"].into_iter().any(has)
        }
    }

    /// What is in flight and where the blocks are.
    fn told_of_here(&self) -> Vec<String> {
        let machine = self.machine();
        let (names, time) = (machine.components(), machine.time_base());
        let mut lines = vec![format!(
            "{} at event {}, cycle {}. It begins there: what comes before runs unseen.",
            self.name,
            machine.event(),
            machine.cycle()
        )];
        lines.push("In flight:".into());
        let transactions = machine.transactions(usize::MAX, LISTED);
        for view in transactions.iter().take(LISTED) {
            let waits = view
                .chain
                .last()
                .map_or(String::new(), |link| format!(", {} {}", names.path(link.at), link.text));
            let issued = time.cycle(view.issued);
            let who = names.path(view.agent);
            let (kind, at) = (view.name(), view.range.start);
            lines.push(format!("  txn {}: {who} {kind} {at}, since cycle {issued}{waits}", view.number.0));
        }
        let links = machine.links(LISTED + 1).into_iter();
        let packets: Vec<_> = links.flat_map(|link| link.in_flight).collect();
        for packet in packets.iter().take(LISTED) {
            let (from, to) = (names.path(packet.from), names.path(packet.to));
            lines.push(format!("  {} {from} > {to}, block {}", packet.kind.name(), packet.range.start));
        }
        if transactions.is_empty() && packets.is_empty() {
            lines.push("  nothing".into());
        }
        lines.push("Blocks:".into());
        lines.extend(machine.blocks(LISTED).into_iter().filter_map(|address| {
            let nodes = names.iter().filter(|(_, component)| component.kind.is_node());
            let views: Vec<_> = nodes
                .filter_map(|(node, _)| machine.block(node, address).filter(|view| !view.displaced))
                .collect();
            let held: Vec<_> = views.iter().map(|view| held(machine, view)).collect();
            let told = views.iter().any(|view| view.range.start == address);
            told.then(|| format!("  {address}  {}", held.join("  ")))
        }));
        lines
    }
}

/// `gpu0.l2.0 S>M`, and who holds it below a directory that keeps no state.
fn held(machine: &dyn Subject, view: &BlockView) -> String {
    let path = machine.components().path(view.node);
    let state = view.state.map_or_else(|| "-".to_owned(), |state| state.to_string());
    view.target.map_or_else(|| format!("{path} {state}"), |target| format!("{path} {state}>{target}"))
}

#[cfg(test)]
mod tests {
    use super::super::interrupt::Interrupt;
    use super::super::origin::Origin;
    use super::*;
    use crate::diagnostic::Source;
    use crate::machine::StepOutcome;
    use crate::model::record::{Record, Records};
    use crate::scenario::Scenario;

    const TEXT: &str = r#"
machine = "tiny/umh-2gpu"
[[do]]
id = "a"
by = "gpu0.cu0"
store = { address = 0x1000, bytes = "07" }
[[do]]
by = "gpu1.cu0"
n-store = { address = 0x1004, bytes = "08" }
[[program]]
by = "host.cpu0"
do = ["load 0x1000", "store 0x2000 01 02"]
[[say]]
text = "Two GPUs."
[[expect]]
after = "a"
that = "value at 0x1000 in gpu0.cu0.l1 is 7"
[[expect]]
that = "value at 0x2000 in host.cpu0.l1 is 1"
"#;

    fn execute(session: &mut Session, text: &str) {
        session.execute(text, &Interrupt::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
    }

    /// Every record from here to the end, and the last digest.
    fn rest(mut machine: Box<dyn Subject>) -> (Vec<Record>, u64) {
        let (mut records, mut all) = (Records::listening(), Vec::new());
        while machine.step(&mut records) == StepOutcome::Ran {
            all.append(&mut records.list);
        }
        (all, machine.digest())
    }

    #[test]
    fn the_machine_is_told_key_by_key_as_it_is_at_that_moment() {
        let text = "machine = 'tiny/umh-2gpu'\n[set]\ngpu.l1.mshrs = 3\n[[do]]\nby = 'gpu0.cu0'\nload = { address = 0x1000 }\n";
        let mut session = Session::open(Origin::of_text("t", text).unwrap(), None);
        let mut run = |line: &str| match session.execute(line, &Interrupt::default()) {
            Ok(outcome) => outcome.lines.join("\n"),
            Err(error) => error.to_string(),
        };
        assert_eq!(run("info machine gpu.l1.m"), "gpu.l1.mshrs = 3  # set here");
        run("goto 2");
        run("fork set network.latency=\"2 us\"");
        run("step 1");
        assert_eq!(run("info machine network.lat"), "network.latency = \"2 us\"  # set here");
        run("goto 1");
        assert_eq!(run("info machine network.lat"), "network.latency = \"250 ns\"");
        assert!(run("info machine latancy").ends_with("did you mean latency?"));
    }

    #[test]
    fn a_scenario_from_any_moment_goes_on_as_the_run_did() {
        let mut session = Session::open(Origin::of_text("t", TEXT).unwrap(), None);
        for (event, fork) in
            [(0, None), (9, None), (17, Some("fork set network.latency=\"1 us\"")), (40, None)]
        {
            execute(&mut session, &format!("goto {event}"));
            if let Some(fork) = fork {
                execute(&mut session, fork);
            }
            let (draft, left_out) = session.scenario_from_here().unwrap();
            let scenario = draft.scenario("kept").unwrap_or_else(|error| panic!("{error}"));
            let prepared = scenario.prepare(&Options::default()).unwrap();
            assert_eq!(prepared.machine.digest(), session.machine().digest());
            let is_over = session.machine().is_done("a");
            assert_eq!(
                left_out.iter().filter(|what| what.contains("expectation")).count(),
                usize::from(is_over)
            );
            assert_eq!(prepared.checker.expectations().len(), 2 - usize::from(is_over));
            assert_eq!(rest(Box::new(prepared.machine)), rest(session.machine().fork()), "event {event}");
        }
        let text = session.scenario_from_here().unwrap().0.text();
        assert!(text.contains("# In flight:\n#   txn ") && text.contains("gpu0.cu0.l1"), "{text}");
        assert!(text.contains("start = { event = 40, digest = \""), "{text}");
    }

    #[test]
    fn a_scenario_from_before_a_change_has_the_change_still_to_come() {
        let mut session = Session::open(Origin::of_text("t", TEXT).unwrap(), None);
        execute(&mut session, "goto 17");
        execute(&mut session, "fork set network.latency=\"1 us\"");
        execute(&mut session, "continue");
        let end = session.machine().digest();
        execute(&mut session, "goto 9");
        let draft = session.scenario_from_here().unwrap().0;
        let prepared = draft.scenario("kept").unwrap().prepare(&Options::default()).unwrap();
        assert_eq!(rest(Box::new(prepared.machine)).1, end);
    }

    #[test]
    fn a_kept_moment_is_a_recording_that_ends_there() {
        let mut session = Session::open(Origin::of_text("t", TEXT).unwrap(), None);
        execute(&mut session, "goto 12");
        execute(&mut session, "fork access gpu0.cu1 load 0x1000 1");
        execute(&mut session, "step 8");
        let recording = session.moment().unwrap();
        let end = recording.end.clone().unwrap();
        assert_eq!((end.mark.event, end.how), (21, Ending::Moment));
        let (scenario, options) = Scenario::recorded(&recording).unwrap();
        let mut machine = scenario.prepare(&options).unwrap().machine;
        machine.run_until(21);
        assert_eq!(machine.digest(), end.mark.digest);
        assert_eq!(rest(Box::new(machine)), rest(session.machine().fork()));
    }

    #[test]
    fn what_is_kept_is_what_ran_whatever_has_become_of_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let table = crate::config::find(crate::config::Kind::Protocol, "moesi", None).unwrap().source.text;
        let path = folder.path().join("own.toml");
        for spoil in [None, Some("[cache]\nX = 7\n")] {
            std::fs::write(&path, &*table).unwrap();
            let text = format!("protocol = 'own.toml'\n{}", TEXT.replace("n-store", "store"));
            let place = Some(folder.path().to_path_buf());
            let scenario = Scenario::parse(Source::new("t", text), place).unwrap();
            let options = Options::default();
            let prepared = scenario.prepare(&options).unwrap();
            let mut session = Session::open(Origin::scenario("t", &scenario, &options, prepared), None);
            execute(&mut session, "goto 12");
            match spoil {
                Some(text) => std::fs::write(&path, text).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            let moment = session.moment().unwrap();
            assert!(moment.origin.files.iter().any(|file| file.source.text == table));
            let draft = session.scenario_from_here().unwrap().0;
            assert_eq!(draft.head["protocols"]["own"].as_str(), Some(&*table));
            execute(&mut session, "fork cell cache E read = data > I");
        }
    }

    #[test]
    fn another_machine_than_the_one_that_is_meant_is_told() {
        let text = format!("start = {{ event = 9, digest = '0123456789abcdef' }}\n{}", TEXT.trim_start());
        let scenario = Scenario::parse(Source::new("t", text), None).unwrap();
        let error = scenario.prepare(&Options::default()).unwrap_err().to_string();
        assert!(error.contains("t:1:31: at event 9 this is another machine"), "{error}");
        for (start, wanted) in [("2000000", "too far to begin at"), ("900000", "the run ends at event")] {
            let text = format!("start = {{ event = {start} }}\n{}", TEXT.trim_start());
            let scenario = Scenario::parse(Source::new("t", text), None).unwrap();
            let error = scenario.prepare(&Options::default()).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
