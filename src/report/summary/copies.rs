//! What bulk copies cost.

use super::table::Table;
use super::values::Values;

/// A row for each direction.
pub fn table(values: &Values) -> Table {
    let mut table = Table::new(["copies", "transfers", "pages", "bytes", "needless", "cycles"]);
    for (side, title) in [("gpu", "to GPUs"), ("host", "to the host")] {
        let key = |name: &str| format!("copies.to_{side}.{name}");
        if !values.is_some(&key("transfers")) {
            continue;
        }
        let numbers = [
            values.count(&key("transfers")),
            values.count(&key("pages")),
            values.bytes(&key("bytes")),
            values.count(&key("redundant")),
            values.count(&key("cycles")),
        ];
        table.row(title, numbers);
    }
    table
}
