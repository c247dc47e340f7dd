//! Figures as a page: a table for each paper, with the notes below it.

use std::fmt::Write;

use super::figure::{Finding, Row};
use super::text::{self, number};

/// Papers by what the ids of their figures begin with.
const PAPERS: [(&str, &str); 5] = [
    ("umh-", "UMH"),
    ("sel-", "Selective GPU caches"),
    ("numa-", "NUMA-aware GPUs"),
    ("page-", "Paged memory"),
    ("scale-", "ScaleGPU"),
];

/// The page; `command` is what it was made with.
#[must_use]
pub fn page(rows: &[Row], command: &str) -> String {
    let mut page = format!("`{command}`: {}.\n", text::verdicts(rows));
    for (beginning, paper) in PAPERS {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.figure.id.starts_with(beginning)).collect();
        if !rows.is_empty() {
            let _ = write!(page, "\n### {paper}\n\n");
            table(&mut page, &rows);
            notes(&mut page, &rows);
        }
    }
    page
}

fn table(page: &mut String, rows: &[&Row]) {
    page.push_str("| id | claim | paper | ours | | scale |\n|---|---|---|---|---|---|\n");
    for row in rows {
        let figure = row.figure;
        let paper = if figure.paper.is_empty() { "order".to_owned() } else { text::paper(figure) };
        let (ours, verdict, scale) = match &row.found {
            Ok(found) => (ours(found), verdict(found), found.scale.as_str()),
            Err(_) => ("-".to_owned(), "not measured", ""),
        };
        let cells = [figure.id, figure.claim, &paper, &ours, verdict, scale];
        let cells: Vec<String> = cells.iter().map(|cell| cell.trim().replace('|', "\\|")).collect();
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
}

/// What was measured, and why it is missed where it is: folded, since it is long.
fn notes(page: &mut String, rows: &[&Row]) {
    page.push_str("\n<details><summary>What was measured</summary>\n\n");
    for row in rows {
        let note = match &row.found {
            Ok(found) => found.note.as_str(),
            Err(why) => why.as_str(),
        };
        if !note.is_empty() {
            let _ = writeln!(page, "- **{}**: {note}.", row.figure.id);
        }
    }
    page.push_str("\n</details>\n");
}

fn ours(found: &Finding) -> String {
    let each = found.ours.iter().map(|value| value.map_or_else(|| "-".to_owned(), number));
    each.collect::<Vec<_>>().join(", ")
}

fn verdict(found: &Finding) -> &'static str {
    if found.holds { "holds" } else { "**missed**" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::registry::select;

    #[test]
    fn a_page_has_a_table_for_each_paper() {
        let ids = ["umh-memcpy", "umh-order", "page-bus"].map(str::to_owned);
        let rows = select(&ids).unwrap().into_iter().map(|figure| {
            let found = Finding {
                ours: figure.paper.iter().map(|paper| Some(paper * 1.01)).collect(),
                holds: figure.id != "umh-order",
                scale: "1/4".to_owned(),
                note: "a | b".to_owned(),
                charts: Vec::new(),
            };
            Row { figure, found: if figure.id == "page-bus" { Err("no link".to_owned()) } else { Ok(found) } }
        });
        insta::assert_snapshot!(page(&rows.collect::<Vec<_>>(), "umscope figures --quick"));
    }
}
