//! The screen: state, update and view. It draws frames and sends requests; it never touches a machine.

pub mod action;
pub mod app;
mod file;
pub mod glyphs;
pub mod help;
pub mod keymap;
pub mod layout;
mod pane;
pub mod prompt;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
pub mod target;
pub mod theme;
mod update;
pub mod view;
