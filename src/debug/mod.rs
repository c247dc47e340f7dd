//! The debugger without a screen.

pub mod frame;
pub mod proto;
