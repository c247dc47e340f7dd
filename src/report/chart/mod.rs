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

/// Bars in groups, the last of which is a mean and stands apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    pub title: String,
    /// What the vertical axis measures.
    pub axis: String,
    /// A name below each group.
    pub groups: Vec<String>,
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
    /// The picture: one XML document.
    #[must_use]
    pub fn svg(&self) -> String {
        match self {
            Self::Bars(chart) => {
                let sheet = Sheet::new(&chart.title, &chart.axis, &chart.groups, &chart.series, chart.top());
                bars::draw(chart, sheet)
            }
            Self::Lines(chart) => {
                let sheet = Sheet::new(&chart.title, &chart.axis, &chart.points, &chart.series, chart.top());
                lines::draw(chart, sheet)
            }
            Self::Course(chart) => {
                let (times, top) = (course::times(chart.end), highest(&chart.series));
                course::draw(chart, Sheet::new(&chart.title, &chart.axis, &times, &chart.series, top))
            }
        }
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
