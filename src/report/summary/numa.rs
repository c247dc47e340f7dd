//! GPUs that are the sockets of one: what is remote, and what becomes of it.

use super::table::Table;
use super::values::Values;
use crate::report::number::short;

/// A row for each question about sockets, where there are any.
pub fn table(values: &Values) -> Table {
    let mut table = Table::new(["sockets", "", ""]);
    if !values.get("numa.remote_share").is_finite() {
        return table;
    }
    let sockets = values.between("numa.", ".remote_requests");
    let sum = |name: &str| -> f64 {
        sockets.iter().map(|socket| values.get(&format!("numa.{socket}.{name}"))).sum()
    };
    let requests = sum("local_requests") + sum("remote_requests");
    table.row(
        "L1 misses and stores",
        [short(requests), format!("{} to other sockets", values.percent("numa.remote_share"))],
    );
    let remote = format!("local lines, {} remote", values.percent("numa.l2.remote_hit_rate"));
    table.row("L2 hits", [values.percent("numa.l2.local_hit_rate"), remote]);
    if values.get("numa.l2.remote_way_share").is_finite() {
        let l2 = format!("of L2s, {} of L1s", values.percent("numa.l1.remote_way_share"));
        table.row("remote ways at the end", [values.percent("numa.l2.remote_way_share"), l2]);
        let moves = |step: &str| values.short(&format!("numa.way_moves.{step}"));
        let moved = format!(
            "moved a way to remote lines, {} to local ones, {} towards equal numbers, of {} samples",
            moves("to_local"),
            moves("equalise"),
            values.short("numa.way_samples")
        );
        table.row("partitions", [moves("to_remote"), moved]);
    }
    if values.is_some("numa.invalidated") {
        let released = format!("{} written back for it", values.bytes("numa.released_bytes"));
        table.row("lines invalidated", [values.short("numa.invalidated"), released]);
    }
    let pages: Vec<String> = (sockets.iter())
        .filter(|socket| values.get(&format!("numa.{socket}.pages")).is_finite())
        .map(|socket| format!("{socket} {}", values.short(&format!("numa.{socket}.pages"))))
        .collect();
    if !pages.is_empty() {
        table.row("pages at home", [short(sum("pages")), pages.join(", ")]);
    }
    table
}
