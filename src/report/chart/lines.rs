//! Lines with marks at their points.

use super::Lines;
use super::sheet::{Series, Sheet, colour};
use crate::report::xml::escaped;

/// Half the size of a mark in pixels.
const MARK: f64 = 4.0;

/// Dashes of the lines, in turn.
const DASHES: [&str; 4] =
    ["", " stroke-dasharray=\"7 4\"", " stroke-dasharray=\"2 3\"", " stroke-dasharray=\"9 3 2 3\""];

pub(super) fn draw(chart: &Lines, sheet: &mut Sheet) {
    sheet.legend(&chart.series, |index, (from, to), y| {
        let mark = mark(index, f64::midpoint(from, to), y);
        let points = [(from, y), (to, y)];
        format!("{}\n<path d=\"{mark}\" fill=\"{}\"/>", stroke(index, &points), colour(index))
    });
    for (index, series) in chart.series.iter().enumerate() {
        line(chart, series, index, sheet);
    }
}

fn line(chart: &Lines, series: &Series, index: usize, sheet: &mut Sheet) {
    let at = |point| Some((point, sheet.middle(point), sheet.y(series.at(point)?)));
    let points: Vec<_> = (0..chart.points.len()).filter_map(at).collect();
    let path: Vec<_> = points.iter().map(|(_, x, y)| (*x, *y)).collect();
    sheet.line(&stroke(index, &path));
    let colour = colour(index);
    for (point, x, y) in points {
        let names = [Some(&series.name), chart.points.get(point)].into_iter().flatten();
        let names: Vec<_> = names.map(|name| escaped(name)).collect();
        let value = series.at(point).unwrap_or_default();
        sheet.line(&format!(
            "<path d=\"{}\" fill=\"{colour}\"><title>{}: {value:.3}</title></path>",
            mark(index, x, y),
            names.join(", ")
        ));
    }
}

/// The line of a series through these points.
pub(super) fn stroke(index: usize, points: &[(f64, f64)]) -> String {
    let points: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let (points, colour) = (points.join(" "), colour(index));
    let dashes = DASHES.get(index % DASHES.len()).copied().unwrap_or("");
    format!("<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>")
}

/// A square, a diamond or a triangle.
fn mark(index: usize, x: f64, y: f64) -> String {
    let corners: &[(f64, f64)] = match index % 3 {
        0 => &[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)],
        1 => &[(0.0, -1.4), (1.4, 0.0), (0.0, 1.4), (-1.4, 0.0)],
        _ => &[(0.0, -1.3), (1.3, 1.1), (-1.3, 1.1)],
    };
    let corner = |(dx, dy): &(f64, f64)| format!("{:.1} {:.1}", x + dx * MARK, y + dy * MARK);
    format!("M{}Z", corners.iter().map(corner).collect::<Vec<_>>().join("L"))
}
