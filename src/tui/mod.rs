//! The screen: state, update and view. It draws frames and sends requests; it never touches a machine.

pub mod action;
pub mod app;
pub mod canvas;
mod file;
pub mod glyphs;
pub mod help;
pub mod keymap;
pub mod layout;
mod pane;
pub mod picker;
pub mod prompt;
pub mod run;
#[cfg(test)]
mod live;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
pub mod seen;
pub mod settings;
pub mod target;
pub mod terminal;
pub mod theme;
mod update;
pub mod view;
pub mod words;
