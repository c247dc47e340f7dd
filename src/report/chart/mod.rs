//! Charts as pictures (SVG): grouped or stacked bars, lines, and lines over time. Colours that colour-blind people can tell apart
//! (Okabe and Ito); lines differ in marks and dashes, too, and bars stand in the order of the legend.

mod bars;
mod course;
mod lines;
mod sheet;

use sheet::Sheet;

pub use sheet::Series;

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    Bars(Bars),
    Lines(Lines),
    Course(Course),
}

/// Bars in groups. Those of a cluster stand together, and a mean, which is the last, stands apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    pub title: String,
    /// What the vertical axis measures.
    pub axis: String,
    /// A name below each group.
    pub groups: Vec<String>,
    /// A name below so many groups, one cluster after the other; none where groups stand for themselves.
    pub clusters: Vec<(String, usize)>,
    /// A value for each group.
    pub series: Vec<Series>,
    /// One above the other instead of side by side.
    pub stacked: bool,
}

/// Lines over points at equal distances.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    pub title: String,
    /// What the vertical axis measures.
    pub axis: String,
    /// A name below each point.
    pub points: Vec<String>,
    /// A value for each point.
    pub series: Vec<Series>,
}

/// Lines over time, window by window.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    pub title: String,
    /// What the vertical axis measures.
    pub axis: String,
    /// Cycles of a window, and of all that is shown: more than 0.
    pub window: f64,
    pub end: f64,
    /// A value for each window.
    pub series: Vec<Series>,
    /// Cycles at which something began: dotted lines up and down.
    pub marks: Vec<f64>,
}

impl Chart {
    /// The picture with a line below it: one XML document.
    #[must_use]
    pub fn svg(&self, below: &str) -> String {
        let (title, axis, names, series, top) = match self {
            Self::Bars(chart) => {
                (&chart.title, &chart.axis, chart.groups.clone(), &chart.series, chart.top())
            }
            Self::Lines(chart) => {
                (&chart.title, &chart.axis, chart.points.clone(), &chart.series, chart.top())
            }
            Self::Course(chart) => {
                (&chart.title, &chart.axis, course::times(chart.end), &chart.series, highest(&chart.series))
            }
        };
        let mut sheet = Sheet::new((title, axis, below), &names, series, top);
        match self {
            Self::Bars(chart) => bars::draw(chart, &mut sheet),
            Self::Lines(chart) => lines::draw(chart, &mut sheet),
            Self::Course(chart) => course::draw(chart, &mut sheet),
        }
        sheet.finish()
    }
}

impl Bars {
    /// The highest that a bar goes.
    fn top(&self) -> f64 {
        if !self.stacked {
            return highest(&self.series);
        }
        let sum = |group| self.series.iter().filter_map(|series| series.at(group)).sum();
        (0..self.groups.len()).map(sum).fold(0.0, f64::max)
    }
}

impl Lines {
    fn top(&self) -> f64 {
        highest(&self.series)
    }
}

fn highest(series: &[Series]) -> f64 {
    let values = series.iter().flat_map(|series| &series.values).copied();
    values.filter(|value| value.is_finite()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests;
