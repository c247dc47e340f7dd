//! Bars in groups, side by side or one above the other.

use super::Bars;
use super::sheet::{Sheet, colour, gap};
use crate::report::xml::escaped;

/// What a group of means is called.
const MEANS: [&str; 2] = ["GM", "mean"];

pub(super) fn draw(chart: &Bars, sheet: &mut Sheet) {
    sheet.legend(&chart.series, |index, (x, _), y| {
        let (y, colour) = (y - 6.0, colour(index));
        format!("<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"20\" height=\"12\" fill=\"{colour}\"/>")
    });
    let last = chart.groups.len().saturating_sub(1);
    if last > 0 && chart.groups.last().is_some_and(|name| MEANS.contains(&name.as_str())) {
        sheet.divide(last);
    }
    let mut first = 0;
    for (name, count) in &chart.clusters {
        sheet.cluster(name, first, *count);
        if first > 0 {
            sheet.divide(first);
        }
        first += count;
    }
    for group in 0..chart.groups.len() {
        if chart.stacked { stack(chart, group, sheet) } else { side_by_side(chart, group, sheet) }
    }
}

fn side_by_side(chart: &Bars, group: usize, sheet: &mut Sheet) {
    let width = (sheet.group - gap()) / chart.series.len().max(1) as f64;
    for (index, series) in chart.series.iter().enumerate() {
        let Some(value) = series.at(group) else { continue };
        let x = sheet.left(group) + gap() / 2.0 + width * index as f64;
        bar(chart, sheet, (group, index), (x, width), (0.0, value));
    }
}

fn stack(chart: &Bars, group: usize, sheet: &mut Sheet) {
    let (x, width) = (sheet.left(group) + gap() / 2.0, sheet.group - gap());
    let mut from = 0.0;
    for (index, series) in chart.series.iter().enumerate() {
        let Some(value) = series.at(group) else { continue };
        bar(chart, sheet, (group, index), (x, width), (from, from + value));
        from += value;
    }
}

/// A bar between two values, which shows its own value to a pointer that rests on it.
fn bar(
    chart: &Bars,
    sheet: &mut Sheet,
    (group, index): (usize, usize),
    (x, width): (f64, f64),
    (from, to): (f64, f64),
) {
    let (y, height) = (sheet.y(to), sheet.y(from) - sheet.y(to));
    let names = [chart.groups.get(group), chart.series.get(index).map(|series| &series.name)];
    let names: Vec<_> = names.into_iter().flatten().map(|name| escaped(name)).collect();
    let (names, value, colour) = (names.join(", "), to - from, colour(index));
    sheet.line(&format!(
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"><title>{names}: \
         {value:.3}</title></rect>"
    ));
}
