//! What became of requests at the tags of memories that are caches.

use super::table::Table;
use super::values::Values;

/// A row for each thing that came about.
pub fn table(values: &Values) -> Table {
    let mut table = Table::new(["tags", "count", ""]);
    let rows = [
        ("hit", "hits"),
        ("cold_miss", "cold misses"),
        ("conflict_miss", "conflict misses"),
        ("merge", "merged"),
        ("replay", "replayed"),
        ("relay", "writes relayed"),
        ("both", "writes to both"),
        ("write_back", "rows written back"),
        ("full", "refused"),
    ];
    for (name, title) in rows {
        let key = format!("tags.{name}");
        if !values.is_some(&key) {
            continue;
        }
        let more = match name {
            "hit" => format!(
                "{} at the first look-up, {} of those",
                values.count("tags.first_hits"),
                values.percent("tags.hit_rate")
            ),
            "cold_miss" | "conflict_miss" => "each a fetch from the host".to_owned(),
            "merge" => "joined a fetch under way".to_owned(),
            "replay" => format!("{} missed again", values.count("tags.replays_missed")),
            "relay" => "a conflicting tag: acknowledged at once".to_owned(),
            "both" => "a row that is not loaded: written here and there".to_owned(),
            "full" => format!(
                "at most {} pending, {} on the scoreboard",
                values.count("tags.pending_high_water"),
                values.count("tags.scoreboard_high_water")
            ),
            _ => String::new(),
        };
        table.row(title, [values.count(&key), more]);
    }
    table
}
