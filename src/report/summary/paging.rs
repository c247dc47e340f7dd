//! What paging cost.

use super::table::Table;
use super::values::Values;

/// A row for each thing that happened to pages.
pub fn table(values: &Values) -> Table {
    let mut table = Table::new(["paging", "count", ""]);
    let rows = [
        ("paging.far_faults", "far-faults"),
        ("paging.faults.merged", "far-faults joined"),
        ("paging.faults.dropped", "far-faults dropped"),
        ("read_only.faults.gpus", "protection faults, GPU"),
        ("read_only.faults.dropped", "faults dropped"),
        ("read_only.faults.cores", "protection faults, CPU"),
        ("read_only.changed", "pages made writable"),
        ("paging.demanded", "pages demanded"),
        ("paging.prefetched", "pages prefetched"),
        ("paging.copied", "pages copied"),
        ("paging.copied_back", "pages copied back"),
        ("paging.evicted", "pages evicted"),
        ("paging.taken_back", "pages taken back"),
        ("paging.written_back", "pages written back"),
        ("paging.thrashed", "thrashed"),
        ("paging.tlb.misses", "TLB misses"),
        ("paging.tlb.merges", "TLB misses joined"),
    ];
    for (key, title) in rows {
        if !values.is_some(key) {
            continue;
        }
        let more = match key {
            "paging.demanded" if !values.is_some("paging.bytes") => "mapped where they are".to_owned(),
            "paging.demanded" => format!("{} moved in all", values.bytes("paging.bytes")),
            "paging.prefetched" => format!(
                "{} used, {} gone unused",
                values.count("paging.prefetched_used"),
                values.count("paging.prefetched_wasted")
            ),
            "paging.copied" => format!("not on demand; {} moved in all", values.bytes("paging.bytes")),
            "paging.copied_back" => "after the work".to_owned(),
            "paging.evicted" => "to make room for others".to_owned(),
            "paging.taken_back" => "by cores or another GPU".to_owned(),
            "paging.written_back" => "of those that left, with what a GPU had stored".to_owned(),
            "paging.far_faults" | "read_only.faults.gpus" => {
                format!("at most {} tracked at a time by a GPU", values.count("paging.far_fault_mshrs.most"))
            }
            "read_only.faults.cores" => String::new(),
            "paging.faults.merged" => "by other compute units".to_owned(),
            "paging.faults.dropped" | "read_only.faults.dropped" => {
                "no MSHR of the compute unit was free: asked again later".to_owned()
            }
            "read_only.changed" if values.is_some("read_only.gave_up") => {
                "and all others: speculation was given up".to_owned()
            }
            "read_only.changed" => String::new(),
            "paging.tlb.merges" => "by other accesses that look for a page already missed".to_owned(),
            "paging.tlb.misses" => format!("{} of look-ups hit", values.percent("paging.tlb.hit_rate")),
            _ => "far-faulted again after an eviction".to_owned(),
        };
        table.row(title, [values.count(key), more]);
    }
    table
}
