//! What a sweep varies without any effect, so that nobody takes a key that says nothing on a machine for one that does not matter.

use std::collections::BTreeMap;
use std::hash::Hasher;

use rustc_hash::FxHasher;
use serde_json::{Map, Value};

use crate::cli::exit::Trouble;
use crate::cli::journal::Journal;

/// What a point is of, flat: keys of its machine, and `scenario`, `machine` and `seed`.
type Setup = Map<String, Value>;

/// What a run has come to: its digest, and its statistics, of which some depend on more than what happens, such as energy.
type Came = (Value, u64);

/// The keys that took several values, where all runs that differ in one of them alone are the same in all that they came to.
pub fn idle(journal: &mut Journal) -> Result<Vec<String>, Trouble> {
    let mut runs: Vec<(Setup, Came)> = Vec::new();
    for point in journal.done() {
        let line = journal.line(point)?.unwrap_or_default();
        let Ok(Value::Object(row)) = serde_json::from_str(&line) else { continue };
        let get = |key: &str| row.get(key).cloned().unwrap_or_default();
        let mut setup = match get("set") {
            Value::Object(set) => set,
            _ => Map::new(),
        };
        setup.extend(["scenario", "machine", "seed"].map(|key| (key.to_owned(), get(key))));
        let mut statistics = FxHasher::default();
        statistics.write(get("stats").to_string().as_bytes());
        runs.push((setup, (get("digest"), statistics.finish())));
    }
    Ok(of_runs(&runs))
}

fn of_runs(runs: &[(Setup, Came)]) -> Vec<String> {
    let keys = runs.first().into_iter().flat_map(|(setup, _)| setup.keys());
    // Other work and another machine are no settings.
    let keys = keys.filter(|key| !["scenario", "machine"].contains(&key.as_str()));
    keys.filter(|key| is_idle(runs, key)).cloned().collect()
}

/// Whether there are runs that differ in this key alone, and all of those are the same.
fn is_idle(runs: &[(Setup, Came)], key: &str) -> bool {
    let mut groups: BTreeMap<String, (&Came, Option<&Value>)> = BTreeMap::new();
    let mut differed = false;
    for (setup, came) in runs {
        let mut rest = setup.clone();
        let value = setup.get(key);
        rest.remove(key);
        let (first, of) = groups.entry(Value::Object(rest).to_string()).or_insert((came, value));
        if *first != came {
            return false;
        }
        differed |= *of != value;
    }
    differed
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(runs: &[(u64, u64, &str)]) -> Vec<String> {
        let run = |(ways, seed, digest): &(u64, u64, &str)| {
            let setup = json!({ "scenario": "a", "machine": "m", "seed": seed, "gpu.l1.ways": ways });
            (setup.as_object().unwrap().clone(), (json!(digest), 0))
        };
        of_runs(&runs.iter().map(run).collect::<Vec<_>>())
    }

    #[test]
    fn a_key_is_idle_where_no_two_runs_that_differ_in_it_alone_differ() {
        assert_eq!(told(&[(1, 1, "x"), (2, 1, "x"), (1, 2, "y"), (2, 2, "y")]), ["gpu.l1.ways"]);
        assert_eq!(told(&[(1, 1, "x"), (2, 1, "x"), (1, 2, "y"), (2, 2, "z")]), [""; 0]);
        assert_eq!(told(&[(1, 1, "x"), (2, 1, "y"), (1, 2, "x"), (2, 2, "y")]), ["seed"]);
        assert_eq!(told(&[(1, 1, "x"), (2, 2, "x")]), [""; 0], "it may be either");
        assert_eq!(told(&[(1, 1, "x")]), [""; 0]);
    }
}
