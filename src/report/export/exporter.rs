//! What every format has in common.

use std::io::{self, Write};

use crate::machine::Machine;
use crate::model::record::Record;

/// Writes a run in some format. What is chosen is written when it begins, and its end with it.
pub trait Export {
    /// Before the first event.
    ///
    /// # Errors
    /// If it cannot be written.
    fn begin(&mut self, machine: &Machine, out: &mut dyn Write) -> io::Result<()>;

    /// After every event: its records, each with whether it is chosen.
    ///
    /// # Errors
    /// If it cannot be written.
    fn event(
        &mut self,
        machine: &Machine,
        records: &[(bool, &Record)],
        out: &mut dyn Write,
    ) -> io::Result<()>;

    /// After the last event.
    ///
    /// # Errors
    /// If it cannot be written.
    fn end(&mut self, machine: &Machine, out: &mut dyn Write) -> io::Result<()>;
}
