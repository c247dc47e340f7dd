//! What paging cost.

use super::table::Table;
use super::values::Values;

/// A row for each thing that happened to pages.
pub fn table(values: &Values) -> Table {
    let mut table = Table::new(["paging", "count", ""]);
    let rows = [
        ("far_faults", "far-faults"),
        ("demanded", "pages demanded"),
        ("prefetched", "pages prefetched"),
        ("evicted", "pages evicted"),
        ("thrashed", "thrashed"),
        ("tlb.misses", "TLB misses"),
    ];
    for (name, title) in rows {
        let key = format!("paging.{name}");
        if !values.is_some(&key) {
            continue;
        }
        let more = match name {
            "demanded" => format!("{} moved in all", values.bytes("paging.bytes")),
            "prefetched" => format!(
                "{} used, {} evicted unused",
                values.count("paging.prefetched_used"),
                values.count("paging.prefetched_wasted")
            ),
            "evicted" => format!(
                "{} more taken back, {} written back",
                values.count("paging.taken_back"),
                values.count("paging.written_back")
            ),
            "far_faults" => {
                format!("at most {} tracked at a time", values.count("paging.far_fault_mshrs.most"))
            }
            "tlb.misses" => format!("{} of look-ups hit", values.percent("paging.tlb.hit_rate")),
            _ => "far-faulted again after an eviction".to_owned(),
        };
        table.row(title, [values.count(&key), more]);
    }
    table
}
