//! Machine and protocol files as typed specifications, and the files that are bundled.

pub mod document;
pub mod library;
pub mod machine;
pub mod machine_file;
pub mod machine_keys;
pub mod mutation;
pub mod names;
pub mod protocol;
pub mod schema;
pub mod seed;
pub mod settings;
pub mod shelf;
pub mod sweep_file;

mod cell;
mod check;
mod lists;
mod machine_build;
mod protocol_file;
mod quantity;

pub use document::Document;
pub use library::{Entry, Kind, RECORDING, find, is_bundled, kind_of, list};
pub use machine_file::{MachineChoice, MachineFile};
pub use shelf::{Kept, Shelf};

use std::path::Path;

use crate::diagnostic::{Diagnostic, Result, Source};
use crate::protocol::table::Table;
use machine::MachineSpec;
use settings::Setting;

/// Reads the machine file that `name` is a path to or the bundled name of.
///
/// # Errors
/// If there is none, it cannot be read, or it contradicts itself.
pub fn load_machine(name: &str, relative_to: Option<&Path>) -> Result<MachineSpec> {
    load_machine_with(name, relative_to, &[])
}

/// The same, with overrides of the form `gpu.l1.size=1 KiB` applied to the file before it is read.
///
/// # Errors
/// As [`load_machine`], and if an override names an unknown key or gives an impossible value.
pub fn load_machine_with(
    name: &str,
    relative_to: Option<&Path>,
    overrides: &[String],
) -> Result<MachineSpec> {
    load_machine_from(&Shelf::at(relative_to.map(Path::to_path_buf)), name, &[], overrides)
}

/// The same, looked up on `shelf`, with what a scenario from there sets of it, which counts less than the overrides.
///
/// # Errors
/// As [`load_machine_with`].
pub fn load_machine_from(
    shelf: &Shelf,
    name: &str,
    settings: &[Setting],
    overrides: &[String],
) -> Result<MachineSpec> {
    let found = shelf.find(Kind::Machine, name)?;
    // What has emptied a file meant another machine than the default one.
    if found.source.text.parse::<toml::Table>().is_ok_and(|table| table.is_empty()) {
        return Err(Diagnostic::new(format!("{} is empty", found.source.name)).expected("a machine").into());
    }
    let mut document = Document::new(found.source);
    for setting in settings {
        document.lay(&[], setting);
    }
    for text in overrides {
        document.set(text)?;
    }
    let file: MachineFile = document.read_file().map_err(schema::completed)?;
    // A protocol that the scenario sets lies beside it.
    let folder = found.folder.or_else(|| shelf.folder().map(Path::to_path_buf));
    file.specification(&document, &shelf.in_folder(folder))
}

/// A machine from the text of a machine file.
///
/// # Errors
/// If the text is no machine file, or contradicts itself.
#[cfg(test)]
pub(crate) fn machine_from_toml(source: &Source) -> Result<MachineSpec> {
    let document = Document::new(source.clone());
    let file: MachineFile = document.read_file()?;
    file.specification(&document, &Shelf::default())
}

/// Reads the protocol file that `name` is a path to or the bundled name of.
///
/// # Errors
/// If there is none, it cannot be read, or its table makes no sense.
pub fn load_protocol(name: &str, relative_to: Option<&Path>) -> Result<Table> {
    load_protocol_from(&Shelf::at(relative_to.map(Path::to_path_buf)), name)
}

/// The same, looked up on `shelf`.
///
/// # Errors
/// As [`load_protocol`].
pub fn load_protocol_from(shelf: &Shelf, name: &str) -> Result<Table> {
    protocol::from_toml(&shelf.find(Kind::Protocol, name)?.source)
}

/// Reads the text of the scenario that `name` is a path to or the bundled name of.
///
/// # Errors
/// If there is none, or it cannot be read.
pub fn load_scenario(name: &str) -> Result<Source> {
    Ok(find(Kind::Scenario, name, None)?.source)
}

/// Shorthand for an error.
fn fail<T>(diagnostic: Diagnostic) -> Result<T> {
    Err(Box::new(diagnostic))
}
