//! What synchronisation cost.

use super::table::Table;
use super::values::Values;

/// A row for each kind of synchronisation that took time.
pub fn table(values: &Values) -> Table {
    let mut table = Table::new(["synchronisation", "cycles", ""]);
    let rows = [
        ("fence_cycles", "fences", "of warps"),
        ("barrier_cycles", "barriers", "of warps"),
        ("spin_cycles", "spinning", "of warps"),
        ("exclusive_cycles", "exclusive accesses", "in all"),
        ("flush_cycles", "flush", "in all"),
    ];
    for (name, title, of) in rows {
        let key = format!("sync.{name}");
        if values.is_some(&key) {
            let more = match name {
                "exclusive_cycles" => format!("for {}", values.count("sync.exclusive_accesses")),
                "flush_cycles" => format!("for {} written home", values.bytes("sync.flush_bytes")),
                _ => of.to_owned(),
            };
            table.row(title, [values.count(&key), more]);
        }
    }
    table
}
