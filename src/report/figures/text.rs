//! Figures as people read them.

use std::fmt::Write;

use super::figure::{Figure, Finding, Row};

/// Columns of a line.
const WIDTH: usize = 100;

/// All rows: first what was measured, then what was not, then how many hold; and whether more would be if it had not been
/// interrupted.
#[must_use]
pub fn text(rows: &[Row], interrupted: bool) -> String {
    let mut text = String::new();
    for row in rows {
        if let Ok(found) = &row.found {
            measured(&mut text, row.figure, found);
        }
    }
    absent(&mut text, rows);
    let _ = writeln!(text, "{}", verdicts(rows));
    if interrupted {
        text.push_str("partial: interrupted before all runs were done\n");
    }
    text
}

/// How many hold, are missed and are not measured.
#[must_use]
pub fn verdicts(rows: &[Row]) -> String {
    let count = |holds: bool| {
        rows.iter().filter(|row| row.found.as_ref().is_ok_and(|found| found.holds == holds)).count()
    };
    let missing = rows.iter().filter(|row| row.found.is_err()).count();
    format!("{} hold, {} missed, {missing} not measured", count(true), count(false))
}

fn measured(text: &mut String, figure: &Figure, found: &Finding) {
    let verdict = if found.holds { "holds" } else { "MISSED" };
    let _ = writeln!(text, "{}: {verdict}", figure.id);
    paragraph(text, 2, figure.claim);
    let _ = writeln!(text, "  paper  {} ({})", paper(figure), figure.place);
    let _ = writeln!(text, "  ours   {} (scale {})", ours(figure, found), found.scale);
    paragraph(text, 2, &found.note);
    text.push('\n');
}

/// What was not measured, gathered by the reason.
fn absent(text: &mut String, rows: &[Row]) {
    let mut reasons: Vec<&str> = Vec::new();
    for row in rows {
        if let Err(why) = &row.found
            && !reasons.contains(&why.as_str())
        {
            reasons.push(why);
        }
    }
    for reason in reasons {
        paragraph(text, 0, &format!("not measured: {reason}"));
        for row in rows.iter().filter(|row| row.found.as_ref().is_err_and(|why| why == reason)) {
            let figure = row.figure;
            let numbers =
                if figure.paper.is_empty() { String::new() } else { format!(": {}", paper(figure)) };
            paragraph(text, 2, &format!("{}  {}{numbers} ({})", figure.id, figure.claim, figure.place));
        }
        text.push('\n');
    }
}

/// The paper's values, with their units.
#[must_use]
pub fn paper(figure: &Figure) -> String {
    with_units(&figure.paper.iter().copied().map(number).collect::<Vec<_>>(), figure.unit)
}

/// Ours, with their units.
#[must_use]
pub fn ours(figure: &Figure, found: &Finding) -> String {
    let values = found.ours.iter().map(|value| value.map_or_else(|| "-".to_owned(), number));
    with_units(&values.collect::<Vec<_>>(), figure.unit)
}

/// Values with a unit for all, or one for each, where there are several.
fn with_units(values: &[String], unit: &str) -> String {
    let units: Vec<_> = unit.split(", ").collect();
    if units.len() == 1 || units.len() != values.len() {
        return format!("{} {unit}", values.join(", "));
    }
    let each = values.iter().zip(units).map(|(value, unit)| format!("{value} {unit}"));
    each.collect::<Vec<_>>().join(", ")
}

/// The paper's values, ours, and whether they hold, in a line.
#[must_use]
pub fn beside(row: &Row) -> String {
    let Ok(found) = &row.found else { return String::new() };
    let verdict = if found.holds { "holds" } else { "missed" };
    if found.ours.is_empty() || row.figure.paper.is_empty() {
        return format!("{}: {verdict}", row.figure.id);
    }
    format!("{}: paper {}; ours {}; {verdict}", row.figure.id, paper(row.figure), ours(row.figure, found))
}

/// Three digits that count, or all before the point.
#[must_use]
pub fn number(value: f64) -> String {
    let magnitude = value.abs();
    let decimals = match magnitude {
        _ if (value - value.round()).abs() < 1e-9 || magnitude >= 100.0 => 0,
        _ if magnitude >= 10.0 => 1,
        _ if magnitude >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// `text` broken between words, the lines after the first a little further in.
fn paragraph(into: &mut String, indent: usize, text: &str) {
    let mut line = " ".repeat(indent);
    let mut used = false;
    for word in text.split_whitespace() {
        if used && line.chars().count() + 1 + word.chars().count() > WIDTH {
            into.push_str(&line);
            into.push('\n');
            line = " ".repeat(indent + 2);
            used = false;
        }
        if used {
            line.push(' ');
        }
        line.push_str(word);
        used = true;
    }
    into.push_str(&line);
    into.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::registry::select;

    #[test]
    fn what_holds_what_is_missed_and_what_is_not_measured_are_told_apart() {
        let ids = ["umh-memcpy", "umh-peer", "umh-mask"].map(str::to_owned);
        let rows: Vec<_> = select(&ids)
            .unwrap()
            .into_iter()
            .map(|figure| {
                let found = Finding {
                    ours: vec![Some(7.125), None],
                    holds: figure.id == "umh-mask",
                    scale: "1/4".to_owned(),
                    note: "a note of many words ".repeat(8),
                    charts: Vec::new(),
                };
                let found = if figure.id == "umh-memcpy" { Err("no baseline".to_owned()) } else { Ok(found) };
                Row { figure, found }
            })
            .collect();
        insta::assert_snapshot!(text(&rows, false));
        assert_eq!(
            text(&rows, true),
            text(&rows, false) + "partial: interrupted before all runs were done\n"
        );
        insta::assert_snapshot!(format!("{:#}", super::super::json(&rows)));
    }

    #[test]
    fn numbers_have_the_digits_that_count() {
        let numbers = [512.0, 1.54, 35.37, 0.0812, 123.4, -2.5, f64::NAN].map(number);
        assert_eq!(numbers, ["512", "1.54", "35.4", "0.081", "123", "-2.50", "NaN"]);
    }
}
