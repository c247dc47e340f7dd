//! Which columns a series has, and whether they tell of all the time so far or of that since the row before.

use crate::query::glob;

/// What is asked for of a series.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Names of columns, in which a `*` stands for anything; none for all.
    pub patterns: Vec<String>,
    /// What counts is told of the time since the row before.
    pub interval: bool,
}

/// A pattern that no column fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// There is no such statistic.
    Anywhere(String),
    /// It is a mean, a share or the most of all the time so far.
    OfInterval(String),
}

/// How a column is made from the values of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// As it is.
    Now,
    /// How much it has grown.
    Grown,
    /// The mean of what has come since, of which there are as many as this value has grown.
    MeanOf(usize),
}

/// The columns of a series.
#[derive(Clone, Debug)]
pub struct Columns {
    kept: Vec<(String, usize, How)>,
    /// The values of the row before.
    before: Vec<f64>,
}

/// What is no sum of what has happened but a state; also what may turn out otherwise, such as a page that
/// is not used yet.
const STATES: [&str; 12] = [
    "*.interval.*",
    "*.mshrs_used",
    "*.warps.*",
    "copies.to_gpu.redundant",
    "link.*.lanes",
    "numa.*.pages",
    "numa.*remote_way_share",
    "paging.prefetched_unused",
    "read_only.changed",
    "read_only.gave_up",
    "remote_directory.capacity",
    "remote_directory.lines",
];
/// Ends of the names of what is a mean or share of all the time so far, or the most in it.
const MEANS: [&str; 14] = [
    "efficiency",
    "high_water",
    "line_use",
    "max_cycles",
    "mean",
    "mean_cycles",
    "most",
    "p50_cycles",
    "p90_cycles",
    "p99_cycles",
    "peak",
    "rate",
    "share",
    "utilisation",
];

/// Whether a part of a name ends like one of these, at a word.
fn ends(part: &str, with: &[&str]) -> bool {
    with.iter().any(|end| part.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('_')))
}

/// Whether a column is of the time since the row before, or of that moment, in any case.
fn is_of_now(name: &str) -> bool {
    !name.starts_with(TASK) && STATES.iter().any(|pattern| glob(pattern, name))
}

/// What stands before the id of a task, which may be any words.
const TASK: &str = "tasks.";

/// Whether a column is a sum of what has happened.
pub fn is_sum(name: &str) -> bool {
    let judged = if name.starts_with(TASK) { name.rsplit('.').next().unwrap_or(name) } else { name };
    !is_of_now(name) && !judged.split('.').any(|part| ends(part, &MEANS)) && !name.ends_with("power_watts")
}

impl Columns {
    /// The columns of all these that are asked for.
    ///
    /// # Errors
    /// The first pattern that none of them fits, or none that an interval has.
    pub fn new(names: &[String], wanted: &Wanted) -> Result<Self, Missing> {
        let how = |name: &str| match () {
            () if !wanted.interval || is_of_now(name) => Some(How::Now),
            () if is_sum(name) => Some(How::Grown),
            () => {
                let count = format!("{}count", name.strip_suffix("mean_cycles")?);
                names.iter().position(|name| *name == count).map(How::MeanOf)
            }
        };
        let before = vec![0.0; names.len()];
        let is_asked = |name: &str| {
            wanted.patterns.is_empty() || wanted.patterns.iter().any(|pattern| glob(pattern, name))
        };
        let asked = names.iter().enumerate().filter(|(_, name)| is_asked(name));
        let kept: Vec<_> = asked.filter_map(|(at, name)| Some((name.clone(), at, how(name)?))).collect();
        let has = |pattern: &String| kept.iter().any(|(name, ..)| glob(pattern, name));
        match wanted.patterns.iter().find(|pattern| !has(pattern)) {
            Some(pattern) if names.iter().any(|name| glob(pattern, name)) => {
                Err(Missing::OfInterval(pattern.clone()))
            }
            Some(pattern) => Err(Missing::Anywhere(pattern.clone())),
            None => Ok(Self { kept, before }),
        }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.kept.iter().map(|(name, ..)| name.as_str())
    }

    /// The row of these values; no number where there is nothing to tell.
    pub fn row(&mut self, values: &[f64]) -> Vec<f64> {
        let now = |at: usize| values.get(at).copied().unwrap_or(f64::NAN);
        // What was not there before was nothing.
        let before =
            |at: usize| self.before.get(at).copied().filter(|value| value.is_finite()).unwrap_or(0.0);
        let grown = |at: usize| now(at) - before(at);
        let value = |(_, at, how): &(String, usize, How)| match *how {
            How::Now => now(*at),
            How::Grown => grown(*at),
            How::MeanOf(count) => (now(*at) * now(count) - before(*at) * before(count)) / grown(count),
        };
        let row = self.kept.iter().map(value).collect();
        self.before = values.to_vec();
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a task is called: `share` and `warps` are words of other columns.
    #[test]
    fn a_task_has_the_same_columns_whatever_its_id_is() {
        let names: Vec<String> = ["add", "share", "warps", "rate", "interval.x"]
            .iter()
            .flat_map(|id| {
                ["cycles", "accesses", "l1_share", "mean_cycles"].map(|what| format!("tasks.{id}.{what}"))
            })
            .collect();
        let columns = Columns::new(&names, &Wanted { interval: true, ..Wanted::default() }).unwrap();
        let of = |id: &str| {
            let own = columns.kept.iter().filter(|(name, ..)| name.starts_with(&format!("tasks.{id}.")));
            own.map(|(name, _, how)| (name.rsplit('.').next().unwrap_or_default().to_owned(), *how))
                .collect::<Vec<_>>()
        };
        let wanted = [("cycles".to_owned(), How::Grown), ("accesses".to_owned(), How::Grown)];
        for id in ["add", "share", "warps", "rate", "interval.x"] {
            assert_eq!(of(id), wanted, "{id}");
        }
    }

    #[test]
    fn ways_that_are_shared_out_are_of_the_moment() {
        let names = ["numa.l2.remote_way_share".to_owned(), "numa.gpu0.l1.remote_way_share".to_owned()];
        let wanted = Wanted { interval: true, patterns: vec!["numa.*remote_way_share".to_owned()] };
        let columns = Columns::new(&names, &wanted).unwrap();
        assert!(columns.kept.iter().all(|(_, _, how)| *how == How::Now) && columns.kept.len() == 2);
    }
}
