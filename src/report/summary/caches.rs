//! What the levels of caches and directories did, and the memories behind them.

use super::table::Table;
use super::values::Values;
use crate::model::component::LEVELS;
use crate::report::number::short;

/// A row for each level that was asked. Memory is behind an HMD: nothing misses there.
pub fn caches(values: &Values) -> Table {
    let heads = ["caches", "hits", "of", "merged", "MSHRs", "most", "full", "evicted", "recalled"];
    let mut table = Table::new(heads);
    for (level, name) in LEVELS {
        let key = |name: &str| format!("levels.{level}.{name}");
        let asked = values.get(&key("hits")) + values.get(&key("misses"));
        if asked.is_nan() || asked == 0.0 || level == "hmd" {
            continue;
        }
        table.row(
            name,
            [
                values.percent(&key("hit_rate")),
                short(asked),
                values.short(&key("merges")),
                values.mean(&key("mshr_mean")),
                values.short(&key("mshr_high_water")),
                values.short(&key("mshr_full")),
                values.short(&key("evictions")),
                values.short(&key("recalls")),
            ],
        );
    }
    table
}

/// A row for each level that sent probes to its children, or was sent some.
pub fn probes(values: &Values) -> Table {
    let mut table = Table::new(["probes", "sent", "came", "took a block"]);
    for (level, name) in LEVELS {
        let key = |name: &str| format!("levels.{level}.{name}");
        if values.get(&key("probes")) + values.get(&key("probed")) > 0.0 {
            table.row(name, ["probes", "probed", "lost"].map(|name| values.short(&key(name))));
        }
    }
    table
}

/// A row for the memories of each level that were used. An SMD's always open the row anew: UMH, section 5.4.
pub fn memories(values: &Values) -> Table {
    let heads = ["memory", "row hits", "misses", "conflicts", "reopened", "reads", "writes", "bytes"];
    let mut table = Table::new(heads);
    for (level, name) in LEVELS {
        let key = |name: &str| format!("levels.{level}.dram.{name}");
        if values.is_some(&key("bytes")) {
            let mut cells = vec![values.percent(&key("row_hit_rate"))];
            let counts = ["row_misses", "row_conflicts", "row_reopens", "reads", "writes"];
            cells.extend(counts.map(|name| values.short(&key(name))));
            cells.push(values.bytes(&key("bytes")));
            table.row(name, cells);
        }
    }
    table
}
