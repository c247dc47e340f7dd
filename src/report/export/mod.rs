//! What happened, for other tools: written while it happens, from records and inspection alone.

mod exporter;
mod flights;
mod mermaid;
mod perfetto;
mod records;
mod uvm;
mod vcd;

pub use exporter::Export;
pub use mermaid::Mermaid;
pub use perfetto::Perfetto;
pub use records::Csv;
pub use uvm::UvmFaults;
pub use vcd::Vcd;
