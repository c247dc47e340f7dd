//! What became of lines that may not be kept.

use super::table::Table;
use super::values::Values;

/// Loads that shared what one of them asked for, and the remote directory.
pub fn table(values: &Values) -> Table {
    let mut table = Table::new(["selective caching", "", ""]);
    if values.is_some("coalescing.loads") {
        let requests = values.count("coalescing.requests.l2");
        let spared = format!("{} of them coalesced", values.percent("coalescing.share"));
        table.row("loads not kept", [values.count("coalescing.loads"), spared]);
        let is_known = values.get("coalescing.line_use").is_finite();
        let used =
            || format!("{} of what came of host memory was used", values.percent("coalescing.line_use"));
        let used = if is_known { used() } else { String::new() };
        table.row("requests for them", [requests, used]);
    }
    if values.is_some("remote_directory.peak") {
        let capacity = values.count("remote_directory.capacity");
        let most = format!(
            "the most of each slice together {} of {capacity}",
            values.count("remote_directory.peak")
        );
        table.row("lines the CPU may have", [values.count("remote_directory.lines"), most]);
        let nacks = format!(
            "{} NACKs, {} false positives",
            values.count("remote_directory.nacks"),
            values.count("remote_directory.false_positives")
        );
        table.row("accesses to them", [values.count("remote_directory.found"), nacks]);
    }
    if values.is_some("remote_directory.flushes") {
        table.row("forced flushes", [values.count("remote_directory.flushes"), String::new()]);
    }
    table
}
