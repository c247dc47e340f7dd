//! A scenario as it is read: its file, where the names in it are looked up, and the machine that it names.

use std::path::PathBuf;

use crate::config::document::At;
use crate::config::machine::MachineSpec;
use crate::config::settings::{self, Setting};
use crate::config::{self, Document, Kind, MachineChoice, Shelf};
use crate::diagnostic::{Complaint, Diagnostic, Result, Source};
use crate::workload::trace::Format;

use super::file::ScenarioFile;
use super::prose;
use super::work::{Work, takes};

/// Keys that have an option of their own on the command line.
const OPTIONS: [(&str, &str); 5] = [
    ("protocol", "--protocol"),
    ("fault", "--fault"),
    ("mutate", "--mutate"),
    ("scale", "--scale"),
    ("seed", "--seed"),
];

/// The key of a `KEY=VALUE`.
pub(super) fn key_of(text: &str) -> &str {
    text.split_once('=').map_or("", |(key, _)| key.trim())
}

/// A scenario as read.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(super) file: ScenarioFile,
    pub(super) document: Document,
    /// Where the names in it are looked up.
    pub(super) shelf: Shelf,
    /// What it sets of its machine.
    pub(super) settings: Vec<Setting>,
    pub(super) work: Work,
}

impl Scenario {
    /// Reads the scenario that `name` is a path to or the bundled name of.
    ///
    /// # Errors
    /// If there is none, or as [`Self::parse`].
    pub fn load(name: &str) -> Result<Self> {
        let found = config::find(Kind::Scenario, name, None)?;
        Self::parse(found.source, found.folder)
    }

    /// Reads a scenario; paths in it are relative to `folder`.
    ///
    /// # Errors
    /// If it is no TOML, has unknown keys, or what it does makes no sense.
    pub fn parse(source: Source, folder: Option<PathBuf>) -> Result<Self> {
        Self::parse_on(source, Shelf::at(folder))
    }

    /// The same; the names in it are looked up on `shelf`.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_on(source: Source, shelf: Shelf) -> Result<Self> {
        let document = Document::new(source);
        let file: ScenarioFile = document.read_file()?;
        let settings = if file.set.is_empty() { Vec::new() } else { settings::read(document.source())? };
        let work = Work::read(&file, &document)?;
        let shelf = shelf.bringing(brought(&file, &document));
        Ok(Self { file, document, shelf, settings, work })
    }

    /// The same with keys of its file set to other values, each `KEY=VALUE`.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn with(self, set: &[String]) -> Result<Self> {
        if set.is_empty() {
            return Ok(self);
        }
        let mut document = self.document.clone();
        for text in set {
            let option = OPTIONS.iter().find(|(own, _)| *own == key_of(text));
            document.set_by(option.map_or("--set", |(_, option)| option), text)?;
        }
        let file: ScenarioFile = document.read_file()?;
        let work = Work::read(&file, &document)?;
        Ok(Self { file, document, work, ..self })
    }

    /// What it shows; its file's name if it does not say.
    #[must_use]
    pub fn title(&self) -> &str {
        self.file.title.as_deref().unwrap_or(&self.document.source().name)
    }

    /// What it is about, as paragraphs.
    #[must_use]
    pub fn about(&self) -> Option<String> {
        self.file.about.as_deref().map(prose::flow)
    }

    /// Everything that the file says.
    #[must_use]
    pub fn file(&self) -> &ScenarioFile {
        &self.file
    }

    pub(super) fn document(&self) -> &Document {
        &self.document
    }

    /// The file's text.
    #[must_use]
    pub fn source(&self) -> &Source {
        self.document.source()
    }

    /// The path of its trace, from the current folder, and its format if the scenario says it.
    ///
    /// # Errors
    /// If there is no such file or format, or a format without a trace.
    pub fn trace(&self) -> Result<Option<(PathBuf, Option<Format>)>> {
        let complain = |at: &At<String>, message| self.document.complain(Some(&at.span), message);
        let Some(trace) = &self.file.trace else {
            let idle = |span, message: &str| -> Result<_> {
                Err(self.document.complain(Some(span), message).expected("trace = a path, too").into())
            };
            return match (&self.file.trace_format, &self.file.launch) {
                (Some(at), _) => idle(&at.span, "there is no trace to be of this format"),
                (None, Some(at)) => idle(&at.span, "there is no trace whose launches could take this"),
                (None, None) => Ok(None),
            };
        };
        let folder = self.shelf.folder();
        let path = folder.map_or_else(|| trace.value.clone().into(), |folder| folder.join(&trace.value));
        if let Err(error) = path.metadata() {
            let message = format!("the trace {} cannot be read: {error}", path.display());
            return Err(complain(trace, message).expected("the path of a file or folder").into());
        }
        let parse = |at: &At<String>| {
            let (source, place) = self.document.locate(at.span.clone());
            Format::parse(&at.value).map_err(|error| Box::new(error.at(source, place)))
        };
        Ok(Some((path, self.file.trace_format.as_ref().map(parse).transpose()?)))
    }

    /// The specification of its machine.
    ///
    /// # Errors
    /// If there is no such machine, it contradicts itself, or an override does not fit it.
    pub fn machine(&self, set: &[String]) -> Result<MachineSpec> {
        let mut spec = self.own_machine(set).map_err(|error| self.meant_for_kernels(error))?;
        // What the command line sets counts more.
        let is_set = set.iter().any(|text| key_of(text) == "protocol");
        if let Some(protocol) = self.file.protocol.as_ref().filter(|_| !is_set) {
            let found = self.shelf.find(Kind::Protocol, &protocol.value);
            spec.protocol = found.map_err(|error| self.pointed(protocol, error))?.reference;
        }
        spec.shrink(self.work.scale());
        Ok(spec)
    }

    /// The same, with the protocol that the machine itself names.
    pub(super) fn own_machine(&self, set: &[String]) -> Result<MachineSpec> {
        let spec = match &self.file.machine {
            MachineChoice::Named(name) => {
                config::load_machine_from(&self.shelf, &name.value, &self.settings, set)
                    .map_err(|error| self.pointed(name, error))?
            }
            MachineChoice::Inline(machine) if set.is_empty() && self.settings.is_empty() => {
                machine.specification(&self.document, &self.shelf)?
            }
            MachineChoice::Inline(_) => self.overridden(set)?,
        };
        Ok(spec)
    }

    /// The machine written in the scenario, with overrides.
    fn overridden(&self, set: &[String]) -> Result<MachineSpec> {
        let mut document = self.document.clone();
        for setting in &self.settings {
            document.lay(&["machine"], setting);
        }
        for text in set {
            document.set_within(&["machine"], text)?;
        }
        let file: ScenarioFile = document.read_file().map_err(config::schema::completed)?;
        match &file.machine {
            MachineChoice::Inline(machine) => machine.specification(&document, &self.shelf),
            MachineChoice::Named(name) => {
                config::load_machine_from(&self.shelf, &name.value, &self.settings, set)
            }
        }
    }

    /// Of what was set as if it were a key of the machine, an error tells where it belongs: a parameter of a kernel, or what stands at the
    /// head of a scenario.
    fn meant_for_kernels(&self, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        let Some(Complaint::Key(unknown)) = &error.complaint else { return error };
        if let Some(key) = ["scale", "launch", "with"].into_iter().find(|key| key == unknown) {
            error.suggestion = Some(format!("{key} stands at the head of the scenario, before all [tables]"));
            return error;
        }
        let set = error.source.as_ref().filter(|source| &*source.name == "--set");
        let key = set.map(|source| key_of(&source.text).to_owned()).unwrap_or_default();
        let is_one = self.file.kernels.iter().any(|kernel| takes(&kernel.value, &key));
        if is_one && *unknown == key {
            error.suggestion = Some(format!("did you mean with.{key}?"));
        }
        error
    }

    /// An error about a name that has no place of its own gets the place of the name.
    fn pointed(&self, name: &At<String>, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        if error.source.is_none() {
            let (source, place) = self.document.locate(name.span.clone());
            (error.source, error.span) = (Some(source.clone()), Some(place));
        }
        error
    }
}

/// The protocols that a scenario brings along. One that is written as it is stands in as many lines as it does in that file, so that
/// what is said about it points there.
fn brought(file: &ScenarioFile, document: &Document) -> Vec<(String, Source)> {
    let protocols = file.protocols.iter().map(|(name, at)| {
        let (source, place) = document.locate(at.span.clone());
        let text = at.value.trim_start_matches('\u{feff}');
        let begins = source.text.get(place.clone()).and_then(|own| own.find(text)).map(|at| place.start + at);
        let protocol = match begins.and_then(|begins| source.text.get(..begins)) {
            Some(before) => {
                Source::new(source.name.clone(), "\n".repeat(before.matches('\n').count()) + text)
            }
            None => Source::new(format!("{} [protocols] {name}", source.name), text),
        };
        (name.clone(), protocol)
    });
    protocols.collect()
}
