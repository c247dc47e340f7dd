//! Lines over time, with what began when.

use super::Course;
use super::lines::stroke;
use super::sheet::Sheet;
use crate::report::number::short;

/// Times that stand below the field.
const TIMES: u32 = 8;

/// What stands below it: the middle of each of as many equal spans.
pub(super) fn times(end: f64) -> Vec<String> {
    let middle = |number: u32| end * (f64::from(number) + 0.5) / f64::from(TIMES);
    (0..TIMES).map(|number| short(middle(number))).collect()
}

pub(super) fn draw(chart: &Course, sheet: &mut Sheet) {
    sheet.legend(&chart.series, |index, (from, to), y| stroke(index, &[(from, y), (to, y)]));
    for at in &chart.marks {
        sheet.mark(at / chart.end);
    }
    for (index, series) in chart.series.iter().enumerate() {
        // A window is as high as it is from its beginning to its end.
        let steps = series.values.iter().zip(0u32..).flat_map(|(value, number)| {
            let at = |number| chart.window * f64::from(number);
            [(at(number), *value), (at(number + 1), *value)]
        });
        let points: Vec<_> =
            steps.map(|(at, value)| (sheet.across((at / chart.end).min(1.0)), sheet.y(value))).collect();
        sheet.line(&stroke(index, &points));
    }
}
