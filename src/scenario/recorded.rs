//! Scenarios in recordings: what of a scenario is kept, and how it is opened again.

use std::path::{Path, PathBuf};

use crate::config::protocol::{self, Faults};
use crate::config::{Kept, Kind, MachineChoice, Shelf};
use crate::diagnostic::{Result, Source};
use crate::recording::{Input, Origin, Recording, TraceFile};
use crate::workload::trace::Format;

use super::prepare::Options;
use super::read::Scenario;

impl Scenario {
    /// All that its machine is made of, for a recording; `name` is how it was named.
    ///
    /// # Errors
    /// As [`Self::machine`], and if its trace cannot be read.
    pub fn origin(&self, name: &str, options: &Options) -> Result<Origin> {
        let trace = options.trace_from.as_ref();
        let trace = trace.map(|(path, format)| TraceFile::of(path, format.map(Format::name)));
        let folder = self.shelf.folder().map(|folder| folder.display().to_string());
        Ok(Origin {
            made_by: env!("CARGO_PKG_VERSION").to_owned(),
            name: name.to_owned(),
            scenario: self.source().clone(),
            folder,
            with: self.document.set_texts().map(str::to_owned).collect(),
            files: self.files(options)?,
            set: options.set.clone(),
            seed: options.seed,
            max_cycles: options.max_cycles,
            checks: options.checks,
            trace: trace.transpose()?,
        })
    }

    /// A recording of it that says nothing yet but what is done on the way.
    ///
    /// # Errors
    /// As [`Self::origin`].
    pub fn recording(&self, name: &str, options: &Options) -> Result<Recording> {
        let recording = Recording::new(self.origin(name, options)?);
        let inputs = self.inputs(options)?.into_iter();
        Ok(inputs.fold(recording, |recording, (event, input)| recording.input(event, input)))
    }

    /// The machine and protocol files on disk that it reads.
    ///
    /// # Errors
    /// As [`Self::machine`].
    pub fn reads(&self, options: &Options) -> Result<Vec<PathBuf>> {
        if self.shelf.kept().is_some() {
            return Ok(Vec::new());
        }
        let on_disk = self.files(options)?.into_iter().filter(|file| file.on_disk);
        Ok(on_disk.map(|file| PathBuf::from(file.reference)).collect())
    }

    /// The protocols that it brings along, and the files on disk of those that it uses.
    ///
    /// # Errors
    /// As [`Self::machine`].
    pub fn own_tables(&self, options: &Options) -> Result<Vec<Source>> {
        let files = self.files(options)?.into_iter();
        let on_disk = files.filter(|file| file.on_disk && file.kind == Kind::Protocol);
        Ok(self.shelf.brought().cloned().chain(on_disk.map(|file| file.source)).collect())
    }

    /// All protocols that it brings along or uses, its own first.
    ///
    /// # Errors
    /// As [`Self::machine`].
    pub fn all_tables(&self, options: &Options) -> Result<Vec<Source>> {
        let files = self.files(options)?.into_iter().filter(|file| file.kind == Kind::Protocol);
        let (own, bundled): (Vec<_>, Vec<_>) = files.partition(|file| file.on_disk);
        let files = own.into_iter().chain(bundled).map(|file| file.source);
        Ok(self.shelf.brought().cloned().chain(files).collect())
    }

    /// Those that are its own, each with what is wrong with it. What cannot be found or read is complained of when the machine is built.
    #[must_use]
    pub fn table_faults(&self, options: &Options) -> Vec<(Source, Faults)> {
        let tables = self.own_tables(options).unwrap_or_default().into_iter();
        tables.filter_map(|table| protocol::examine(&table).ok().map(|(_, faults)| (table, faults))).collect()
    }

    /// What is wrong with its own tables, and what of them is hardly meant, such as a cell that the engine carries out in another
    /// way; in words.
    #[must_use]
    pub fn table_doubts(&self, options: &Options) -> Vec<String> {
        let tables = self.table_faults(options).into_iter();
        tables
            .flat_map(|(table, faults)| {
                faults.error_told(&table).into_iter().chain(faults.warnings_told(&table)).collect::<Vec<_>>()
            })
            .collect()
    }

    /// The names of the files that it brings along, or that were kept with it, if there are any.
    #[must_use]
    pub fn brings(&self) -> Option<String> {
        let kept =
            self.shelf.kept().into_iter().flatten().filter(|file| file.on_disk).map(|file| &file.source);
        let names: Vec<&str> = self.shelf.brought().chain(kept).map(|source| &*source.name).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// The machine and protocol files that it uses, without those that it brings along.
    fn files(&self, options: &Options) -> Result<Vec<Kept>> {
        let mut files = Vec::new();
        if let MachineChoice::Named(name) = &self.file.machine {
            files.push(self.shelf.find(Kind::Machine, &name.value)?.keep(Kind::Machine));
        }
        let mut keep = |shelf: &Shelf, name: &str| -> Result<()> {
            if shelf.brings(name) {
                return Ok(());
            }
            let kept = shelf.find(Kind::Protocol, name)?.keep(Kind::Protocol);
            if !files.contains(&kept) {
                files.push(kept);
            }
            Ok(())
        };
        if let Some(protocol) = &self.file.protocol {
            keep(&self.shelf, &protocol.value)?;
        }
        // Every change on the way may name another.
        let mut set = options.set.clone();
        let mut used = vec![self.own_machine(&set)?];
        for (_, input) in &self.inputs(options)? {
            if let Input::Set(text) = input {
                set.push(text.clone());
                used.push(self.own_machine(&set)?);
            }
        }
        let found = self.shelf.by_reference();
        for spec in &mut used {
            spec.protocols().into_iter().try_for_each(|name| keep(&found, name))?;
        }
        Ok(files)
    }

    /// The scenario that was recorded, and what else was said then. Its trace is not read.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn recorded(recording: &Recording) -> Result<(Self, Options)> {
        let origin = &recording.origin;
        let shelf = Shelf::of(origin.files.clone().into(), origin.folder.as_ref().map(PathBuf::from));
        let scenario = Self::parse_on(origin.scenario.clone(), shelf)?.with(&origin.with)?;
        let format = |trace: &TraceFile| trace.format.as_deref().map(Format::parse).transpose();
        let trace_from = match &origin.trace {
            Some(trace) => Some((Path::new(&trace.path).to_path_buf(), format(trace)?)),
            None => None,
        };
        let options = Options {
            set: origin.set.clone(),
            seed: origin.seed,
            max_cycles: origin.max_cycles,
            checks: origin.checks,
            trace: None,
            trace_from,
            inputs: recording.inputs.clone(),
            first_pass: crate::machine::FirstPass::default(),
            may_leave_out: true,
        };
        Ok((scenario, options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Machine, StepOutcome};
    use crate::model::inspect::Inspect;
    use crate::model::record::{Record, Records, What};
    use crate::model::state::{Action, State};

    const TEXT: &str = r#"
machine = "tiny/umh-2gpu"
[[do]]
id = "a"
by = "gpu0.cu0"
store = { address = 0x1000, bytes = "07" }
[[do]]
after = "a"
by = "gpu1.cu0"
load = { address = 0x1000 }
"#;

    fn machine(text: &str, options: &Options) -> Result<Machine> {
        let scenario = Scenario::parse(Source::new("t.toml", text), None)?;
        Ok(scenario.prepare(options)?.machine)
    }

    fn with(inputs: Vec<(u64, Input)>) -> Options {
        Options { inputs, ..Options::default() }
    }

    fn records(machine: &mut Machine) -> Vec<Record> {
        let (mut records, mut all) = (Records::listening(), Vec::new());
        while machine.step(&mut records) == crate::machine::StepOutcome::Ran {
            all.append(&mut records.list);
        }
        all
    }

    #[test]
    fn a_recording_opens_without_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let machine = folder.path().join("mine.toml");
        let own = crate::config::find(Kind::Machine, "tiny/umh-2gpu", None).unwrap();
        let own = own.source.text.replace("protocol = \"nmoesi\"", "protocol = \"own\"");
        std::fs::write(&machine, own).unwrap();
        let table = crate::config::find(Kind::Protocol, "nmoesi", None).unwrap();
        std::fs::write(folder.path().join("own.toml"), &*table.source.text).unwrap();
        let text = TEXT.replace("tiny/umh-2gpu", "mine.toml");
        let place = Some(folder.path().to_path_buf());
        let scenario = Scenario::parse(Source::new("t.toml", text), place).unwrap();
        let inputs = vec![(30, Input::Set("network.latency=\"2 us\"".into()))];
        let options = Options { set: vec!["gpu.l1.latency=3".into()], seed: Some(4), ..with(inputs) };
        let mut first = scenario.prepare(&options).unwrap().machine;
        let recording = scenario.recording("t", &options).unwrap();
        assert_eq!(recording.origin.files.len(), 2);
        std::fs::remove_dir_all(folder.path()).unwrap();
        let (scenario, options) = Scenario::recorded(&recording).unwrap();
        let mut again = scenario.prepare(&options).unwrap().machine;
        assert_eq!(records(&mut first), records(&mut again));
        assert_eq!(first.digest(), again.digest());
        assert_eq!(scenario.recording("t", &options).unwrap(), recording, "and can be recorded again");
    }

    #[test]
    fn a_change_is_an_event_and_what_comes_before_it_stays() {
        let mut plain = machine(TEXT, &Options::default()).unwrap();
        let plain_records = records(&mut plain);
        let options = with(vec![
            (10, Input::Set("network.latency=\"2 us\"".into())),
            (14, Input::Access("gpu0.cu1 load 0x1000 1".into())),
        ]);
        let mut forked = machine(TEXT, &options).unwrap();
        let forked_records = records(&mut forked);
        let before = |record: &&Record| record.id.event <= 10;
        let first: Vec<_> = plain_records.iter().filter(before).collect();
        assert_eq!(first, forked_records.iter().filter(before).collect::<Vec<_>>());
        let said: Vec<_> = forked_records
            .iter()
            .filter_map(|record| match &record.what {
                What::Input { text } => Some((record.id.event, text.to_string())),
                _ => None,
            })
            .collect();
        let expected = [(11, "set network.latency=\"2 us\""), (15, "access gpu0.cu1 load 0x1000 1")];
        assert_eq!(said, expected.map(|(event, text)| (event, text.to_owned())));
        assert!(plain.tick() < forked.tick(), "a slower network takes longer");
        assert_eq!(plain.accesses() + 1, forked.accesses());
        assert!(forked.is_finished() && forked.task("by-hand-1").is_some_and(|task| task.ended.is_some()));
    }

    #[test]
    fn a_cell_can_change_late() {
        let cell = Input::Cell("cache M write = ack > I".into());
        let mut late = machine(TEXT, &with(vec![(2, cell)])).unwrap();
        records(&mut late);
        let cell = late.tables()[0].cell(State(b'M'), Action::Write, false).unwrap();
        assert_eq!(cell.step, crate::protocol::table::Step::Ack);
        let wrong = machine(TEXT, &with(vec![(2, Input::Cell("cache M wirte = ack".into()))])).unwrap_err();
        assert_eq!(wrong.suggestion.as_deref(), Some("did you mean write?"));
    }

    #[test]
    fn a_fault_can_come_late() {
        let lost = Input::Fault("lose-message message=grant nth=1".into());
        let mut late = machine(TEXT, &with(vec![(2, lost)])).unwrap();
        records(&mut late);
        assert!(!late.is_finished(), "the lost message is waited for");
    }

    /// Grants were sent before: the first that counts is the next one.
    #[test]
    fn a_fault_counts_from_when_it_is_injected() {
        let mut whole = machine(TEXT, &Options::default()).unwrap();
        let sent = |machine: &Machine| machine.statistic("messages.grant.count").unwrap_or(0.0);
        while sent(&whole) == 0.0 {
            whole.step(&mut Records::silent());
        }
        let event = whole.event();
        records(&mut whole);
        assert!(whole.is_finished() && sent(&whole) > 1.0, "a grant is to come");
        let lost = Input::Fault("lose-message message=grant".into());
        let mut late = machine(TEXT, &with(vec![(event, lost)])).unwrap();
        records(&mut late);
        assert!(!late.is_finished(), "the lost message is waited for");
    }

    #[test]
    fn the_driver_can_go_on_in_another_way_and_pages_cannot() {
        let text = "machine = 'tiny/paged-1gpu'\n[[program]]\nby = 'gpu0.cu0'\n\
            do = ['load 0x1000', 'load 0x2000', 'load 0x3000']\n";
        let cycles = |inputs: Vec<(u64, Input)>| {
            let mut machine = machine(text, &with(inputs)).unwrap();
            records(&mut machine);
            machine.time_base().cycle(machine.tick())
        };
        let slow = || Input::Set("gpu.paging.service='40 us'".into());
        let (usual, late, early) = (cycles(vec![]), cycles(vec![(12, slow())]), cycles(vec![(0, slow())]));
        assert!(usual < late && late < early, "{usual} {late} {early}");
        let page = Input::Set("gpu.paging.page=8KiB".into());
        let error = machine(text, &with(vec![(12, page)])).unwrap_err().to_string();
        assert!(error.contains("what has happened so far depends on gpu.paging"), "{error}");
    }

    #[test]
    fn a_scenario_can_say_what_is_done_on_the_way() {
        let cell = "[[input]]\nevent = 2\ncell = 'cache I load = write > M'\n";
        let mut scripted = machine(&format!("{TEXT}{cell}"), &Options::default()).unwrap();
        let quoted = Input::Cell("cache I load = \"write > M\"".into());
        let mut typed = machine(TEXT, &with(vec![(2, quoted)])).unwrap();
        assert_ne!(records(&mut scripted), records(&mut machine(TEXT, &Options::default()).unwrap()));
        records(&mut typed);
        assert_eq!(scripted.digest(), typed.digest());
        for (input, wanted) in [
            ("event = 1\nset = 'gpu.count=3'", "t.toml:13:7: this cannot change under way"),
            ("event = 1", "this input is not one thing"),
            ("event = 1\nset = 'a=1'\nfault = 'x'", "this input is not one thing"),
            ("event = 1\ncell = 'cache I laod = hit'", "did you mean load?"),
            (
                "event = 1\naccess = 'x'\n[[input]]\nevent = 1\naccess = 'x'",
                "comes before the input above it",
            ),
            ("event = 1\nchose = 'x'", "did you mean choose?"),
        ] {
            let text = format!("{TEXT}[[input]]\n{input}\n");
            let error = machine(&text, &Options::default()).unwrap_err().to_string();
            assert!(error.contains(wanted), "{input}: {error}");
        }
    }

    #[test]
    fn what_is_set_from_outside_counts_more_than_what_a_scenario_sets_before_it_begins() {
        let early = format!(
            "{TEXT}[[input]]\nevent = 0\nset = 'gpu.cu.count=1'\n[[input]]\nevent = 2\nset = 'gpu.l1.mshrs=2'\n"
        );
        let set = |key: &str| Options { set: vec![key.to_owned()], ..Options::default() };
        let scenario = Scenario::parse(Source::new("t", early), None).unwrap();
        let inputs = |options: &Options| scenario.inputs(options).unwrap().len();
        assert_eq!((inputs(&Options::default()), inputs(&set("gpu.l1.ways=2"))), (2, 2));
        assert_eq!((inputs(&set("gpu.sm.count = 1")), inputs(&set("gpu.l1.mshrs=4"))), (1, 2));
    }

    #[test]
    fn the_last_event_has_one_digest_whether_or_not_somebody_has_tried_to_go_on() {
        let text = "machine = \"tiny/selective-readonly\"\n[[program]]\nby = \"gpu0.cu0\"\ndo = [\"n-store 0x15088 8b\"]\n\
                    [[program]]\nby = \"host.cpu0\"\ndo = [\"n-store 0x1120c ef\", \"store 0x15082 a7\"]\n";
        let mut run = machine(text, &Options::default()).unwrap();
        let (mut before, mut silent) = (run.digest(), Records::silent());
        while run.step(&mut silent) == StepOutcome::Ran {
            before = run.digest();
        }
        assert_eq!(run.digest(), before);
    }

    #[test]
    fn a_run_that_time_has_cut_off_stands_where_one_that_goes_on_does() {
        for (name, cycle) in
            [("selective/first-rule-off", 104), ("numa/ways-instead", 349), ("numa/both-saturated", 705)]
        {
            let scenario = Scenario::load(name).unwrap();
            let machine = |max_cycles| {
                let options = Options { max_cycles, ..Options::default() };
                scenario.prepare(&options).unwrap().machine
            };
            let (mut cut, mut other) = (machine(Some(cycle)), machine(None));
            assert!(matches!(cut.run_until(u64::MAX), StepOutcome::Limit(_)), "{name}");
            other.run_until(cut.event());
            assert_eq!(cut.digest(), other.digest(), "{name}");
        }
    }

    #[test]
    fn what_cannot_change_under_way_is_refused_with_the_reason() {
        for (input, wanted) in [
            (Input::Set("gpu.count=3".into()), "it would have other components"),
            (Input::Set("gpu.clock=\"900 MHz\"".into()), "a clock cannot change under way"),
            (Input::Set("gpu.l1.ways=1".into()), "would have other places for blocks"),
            (Input::Set("gpu.cu.wavefronts=2".into()), "would have 2 warps, not 4"),
            (Input::Set("gpu.cu.wavefront_size=2".into()), "depends on gpu.cu.wavefront_size"),
            (Input::Set("protocol=msi".into()), "other states under msi than under nmoesi"),
            (Input::Set("network.virtual_networks=1".into()), "its network would have other channels"),
            (Input::Set("gpu.l1.latencyy=1".into()), "did you mean latency?"),
            (Input::Fault("lose-mesage".into()), "did you mean lose-message?"),
            (Input::Fault("lose-message probe".into()), "\"probe\" sets nothing"),
            (Input::Choose("deliver gpu0.cu0.l1 > gpu0.cu0.l request".into()), "fork choose:1:23"),
            (Input::Access("gpu0.cu7 load 0x1000".into()), "gpu0.cu7"),
            (Input::Access("gpu0.cu0 laod 0x1000".into()), "did you mean load?"),
            (Input::Access("gpu0.cu0".into()), "the instruction is empty"),
        ] {
            let error = machine(TEXT, &with(vec![(3, input.clone())])).unwrap_err().to_string();
            assert!(error.contains(wanted), "{input}: {error}");
        }
    }
}
