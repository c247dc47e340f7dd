//! The debugger without a screen: a machine on its timeline, verbs in both directions, breakpoints, commands, the
//! console, and the engine thread that serves a screen with frames.

pub mod blame;
pub mod bookmark;
pub mod branch;
mod branching;
pub mod breakpoint;
pub mod command;
pub mod compare;
pub mod console;
pub mod describe;
pub mod diagnosis;
pub mod engine;
mod follow;
pub mod frame;
pub mod goal;
pub mod hunt;
pub mod interrupt;
pub mod job;
pub mod latency;
pub mod lesson;
mod keep;
mod leash;
mod lesson_view;
mod points;
pub mod origin;
pub mod profile;
pub mod proto;
pub mod question;
mod queue;
mod quiz;
pub mod recall;
#[cfg(test)]
pub mod sample;
pub mod session;
pub mod settings;
pub mod stop;
pub mod subject;
pub mod timeline;
#[cfg(test)]
mod toy;
pub mod travel;
mod view;
pub mod watch;
pub mod work;
