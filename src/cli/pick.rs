//! `umscope` alone: choose a lesson or scenario, and debug it.

use super::arguments::{Changes, Target};
use super::debug::{Left, on_screen, open, terminal};
use super::exit::{Ended, Status, Trouble};
use super::look::Look;
use crate::config::{self, Kind};
use crate::tui::picker::{self, Entry, Picked, Picker};

/// Leaving a scenario leads back here; leaving the picker leaves.
pub fn carry_out(look: &Look) -> Ended {
    terminal()?;
    let settings = look.settings()?;
    let mut picker = Picker::new(entries());
    loop {
        match picker::pick(&mut picker, &settings).map_err(|error| Trouble::Io("show the screen", error))? {
            Picked::Left => return Ok(Status::Held),
            Picked::Signal => return Ok(Status::Interrupted),
            Picked::Open(scenario) => {
                let changes = Changes::default();
                let target = Target { scenario, machine: None, trace_format: None, changes };
                match on_screen(open(&target)?, settings.clone(), None)? {
                    Left::For(status) => return Ok(status),
                    Left::ByUser { is_told: true } => picker.told(&target.scenario),
                    Left::ByUser { is_told: false } => {}
                }
            }
        }
    }
}

/// The bundled scenarios, with what they say about themselves.
fn entries() -> Vec<Entry> {
    config::list(Kind::Scenario)
        .into_iter()
        .map(|entry| {
            let source = config::load_scenario(&entry.name).ok();
            let table = source.and_then(|source| source.text.parse::<toml::Table>().ok()).unwrap_or_default();
            let text =
                |key: &str| table.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_owned();
            Entry {
                name: entry.name,
                title: entry.title,
                source: text("source"),
                about: text("about"),
                lesson: table.contains_key("say"),
            }
        })
        .collect()
}
