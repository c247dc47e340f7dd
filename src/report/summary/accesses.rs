//! How long accesses took: by how far they had to go, and by what they were.

use super::table::Table;
use super::values::Values;
use crate::model::level::Level;

fn place(level: Level) -> &'static str {
    match level {
        Level::L1 => "own L1",
        Level::Joined => "a miss under way",
        Level::L2 => "L2",
        Level::Client => "client cache",
        Level::Llc => "LLC",
        Level::Smd => "SMD",
        Level::Memory => "GPU memory",
        Level::FarL2 => "L2 of another socket",
        Level::FarMemory => "memory of another",
        Level::Hmd => "HMD",
        Level::Peer => "another GPU",
    }
}

/// A row for each level at which accesses were served: the farthest that got a request of theirs. Those merged waited
/// there for a miss under way, those probed for other caches.
pub fn by_level(values: &Values) -> Table {
    let mut table =
        Table::new(["served by", "accesses", "share", "mean cycles", "of latency", "merged", "probed"]);
    for level in Level::ALL {
        let key = |name: &str| format!("access.{}.{name}", level.name());
        if !values.is_some(&key("count")) {
            continue;
        }
        table.row(
            place(level),
            [
                values.count(&key("count")),
                values.percent(&key("share")),
                values.mean(&key("mean_cycles")),
                values.percent(&key("time_share")),
                values.count(&key("merged")),
                values.count(&key("probed")),
            ],
        );
    }
    table
}

/// A row for each kind of access that there was: so many of them took no longer.
pub fn by_class(values: &Values) -> Table {
    let classes = [
        ("load", "load"),
        ("store", "store"),
        ("n_store", "n-store"),
        ("atomic", "atomic"),
        ("exclusive", "exclusive"),
    ];
    let mut table = Table::new(["accesses", "count", "mean cycles", "median", "90 %", "99 %", "longest"]);
    for (class, name) in classes {
        let key = |name: &str| format!("access.{class}.{name}");
        if values.is_some(&key("count")) {
            let cells = [
                values.count(&key("count")),
                values.mean(&key("mean_cycles")),
                values.mean(&key("p50_cycles")),
                values.mean(&key("p90_cycles")),
                values.mean(&key("p99_cycles")),
                values.mean(&key("max_cycles")),
            ];
            table.row(name, cells);
        }
    }
    if !table.is_empty() && values.is_some("paging.tlb.misses") {
        table.note(
            "from the issue on: translations and far-faults come before it, and --waits has them".to_owned(),
        );
    }
    table
}
