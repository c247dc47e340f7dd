//! What all charts have in common: title, axes, legend, and where a value lies.

use std::fmt::Write;

use crate::report::xml::escaped;

/// Values with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub name: String,
    /// What is no number is left out of the picture.
    pub values: Vec<f64>,
}

impl Series {
    /// The value at `index`, if there is one.
    pub(super) fn at(&self, index: usize) -> Option<f64> {
        self.values.get(index).copied().filter(|value| value.is_finite())
    }
}

/// Okabe and Ito (2008), without yellow, which is hard to see on white.
const COLOURS: [&str; 7] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#000000"];

/// Pixels: above, below and beside the field.
const ABOVE: f64 = 70.0;
const BELOW: f64 = 70.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const FIELD: f64 = 280.0;
/// The narrowest field, and what each bar or mark and the gap between groups need.
const NARROWEST: f64 = 420.0;
const SLOT: f64 = 11.0;
const GAP: f64 = 26.0;

/// Pixels of a character of the text and of the title, about, and of what stands before a name in the legend.
const CHARACTER: f64 = 6.8;
const LARGE: f64 = 8.5;
const PATCH: f64 = 26.0;
/// The middle of the legend.
const LEGEND: f64 = 44.0;

/// A picture under way.
pub(super) struct Sheet {
    svg: String,
    width: f64,
    /// Pixels of a group.
    pub group: f64,
    /// The value at the top of the field.
    top: f64,
}

impl Sheet {
    /// A sheet with title, axes and legend, for values from 0 to `top`.
    pub fn new(
        (title, axis, below): (&str, &str, &str),
        groups: &[String],
        series: &[Series],
        top: f64,
    ) -> Self {
        let longest = groups.iter().map(|name| name.chars().count()).max().unwrap_or(0) as f64;
        let least = (series.len() as f64 * SLOT + GAP).max(longest * CHARACTER + 8.0);
        let legend: f64 = series.iter().map(entry).sum();
        let told = below.chars().count() as f64 * CHARACTER;
        let field = NARROWEST.max(legend).max(title.chars().count() as f64 * LARGE).max(told);
        let group = least.max(field / groups.len().max(1) as f64);
        let step = step(top);
        let mut sheet = Self {
            svg: String::new(),
            width: LEFT + group * groups.len() as f64 + RIGHT,
            group,
            top: step * (top / step).ceil().max(1.0),
        };
        sheet.head(title);
        sheet.axes(axis, groups, step);
        let (y, below) = (ABOVE + FIELD + BELOW - 12.0, escaped(below));
        sheet.line(&format!("<text x=\"{LEFT:.0}\" y=\"{y:.1}\">{below}</text>"));
        sheet
    }

    fn head(&mut self, title: &str) {
        let (width, height) = (self.width, ABOVE + FIELD + BELOW);
        let title = escaped(title);
        self.line(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222222\">"
        ));
        self.line(&format!("<title>{title}</title>"));
        self.line("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
        self.line(&format!("<text x=\"{LEFT:.0}\" y=\"22\" font-size=\"15\">{title}</text>"));
    }

    /// Lines across with their values, and the names below.
    fn axes(&mut self, axis: &str, groups: &[String], step: f64) {
        let right = self.width - RIGHT;
        let decimals = if step >= 1.0 { 0 } else { (-step.log10()).ceil() as usize };
        for number in 0..=(self.top / step).round() as u32 {
            let value = f64::from(number) * step;
            let y = self.y(value);
            let colour = if number == 0 { "#222222" } else { "#dddddd" };
            self.line(&format!(
                "<line x1=\"{LEFT:.1}\" y1=\"{y:.1}\" x2=\"{right:.1}\" y2=\"{y:.1}\" stroke=\"{colour}\"/>"
            ));
            let (x, y) = (LEFT - 6.0, y + 4.0);
            self.line(&format!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{value:.decimals$}</text>"
            ));
        }
        let (middle, axis) = (ABOVE + FIELD / 2.0, escaped(axis));
        self.line(&format!(
            "<text x=\"18\" y=\"{middle:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {middle:.1})\">{axis}\
             </text>"
        ));
        for (index, name) in groups.iter().enumerate() {
            let (x, y, name) = (self.middle(index), ABOVE + FIELD + 18.0, escaped(name));
            self.line(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{name}</text>"));
        }
    }

    /// A name for each series, if there are several, behind what `patch` draws between two points on a line across.
    pub fn legend(&mut self, series: &[Series], patch: impl Fn(usize, (f64, f64), f64) -> String) {
        if series.len() < 2 {
            return;
        }
        let mut x = LEFT;
        for (index, series) in series.iter().enumerate() {
            self.line(&patch(index, (x, x + PATCH - 6.0), LEGEND));
            let (at, y, name) = (x + PATCH, LEGEND + 4.0, escaped(&series.name));
            self.line(&format!("<text x=\"{at:.1}\" y=\"{y:.1}\">{name}</text>"));
            x += entry(series);
        }
    }

    /// A line of the document.
    pub fn line(&mut self, text: &str) {
        let _ = writeln!(self.svg, "{text}");
    }

    /// The left edge of a group.
    pub fn left(&self, group: usize) -> f64 {
        LEFT + self.group * group as f64
    }

    /// The middle of a group.
    pub fn middle(&self, group: usize) -> f64 {
        self.left(group) + self.group / 2.0
    }

    /// Where a value lies; below zero at zero.
    pub fn y(&self, value: f64) -> f64 {
        ABOVE + FIELD * (1.0 - value.max(0.0) / self.top)
    }

    /// A dotted line up and down at a part of the field's width, 0 to 1.
    pub fn mark(&mut self, part: f64) {
        let (x, from, to) = (self.across(part), ABOVE, ABOVE + FIELD);
        self.line(&format!(
            "<line x1=\"{x:.1}\" y1=\"{from:.1}\" x2=\"{x:.1}\" y2=\"{to:.1}\" stroke=\"#888888\" stroke-dasharray=\"1 3\"/>"
        ));
    }

    /// Where a part of the field's width ends.
    pub fn across(&self, part: f64) -> f64 {
        LEFT + (self.width - LEFT - RIGHT) * part
    }

    /// A name below so many groups, from one on.
    pub fn cluster(&mut self, name: &str, first: usize, count: usize) {
        let x = f64::midpoint(self.left(first), self.left(first + count));
        let (y, name) = (ABOVE + FIELD + 36.0, escaped(name));
        self.line(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-weight=\"bold\">{name}</text>"
        ));
    }

    /// A line up and down that sets a group apart from those before it.
    pub fn divide(&mut self, group: usize) {
        let (x, from, to) = (self.left(group), ABOVE, ABOVE + FIELD + 24.0);
        self.line(&format!(
            "<line x1=\"{x:.1}\" y1=\"{from:.1}\" x2=\"{x:.1}\" y2=\"{to:.1}\" stroke=\"#888888\"/>"
        ));
    }

    /// The whole document.
    pub fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}

/// Pixels of a series in the legend.
fn entry(series: &Series) -> f64 {
    PATCH + series.name.chars().count() as f64 * CHARACTER + 16.0
}

/// The colour of a series.
pub(super) fn colour(index: usize) -> &'static str {
    COLOURS.get(index % COLOURS.len()).copied().unwrap_or("#000000")
}

/// Room between the groups, which bars leave.
pub(super) const fn gap() -> f64 {
    GAP
}

/// A round distance of lines across for values up to `top`: about five of them.
fn step(top: f64) -> f64 {
    if !top.is_finite() || top <= 0.0 {
        return 1.0;
    }
    let rough = top / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let round = [1.0, 2.0, 5.0].into_iter().find(|round| round * power >= rough * 0.999);
    round.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::step;

    #[test]
    fn lines_across_stand_at_round_values() {
        let steps = [1.0, 2.3, 4.2, 0.07, 130.0, 0.0, f64::NAN].map(step);
        assert_eq!(steps.map(|step| format!("{step}")), ["0.2", "0.5", "1", "0.02", "50", "1", "1"]);
    }
}
