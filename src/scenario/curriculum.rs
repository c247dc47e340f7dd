//! The order in which bundled scenarios are told: groups as one learns them, lessons as they build on each other.

/// The bundled groups, in the order in which one learns.
const GROUPS: [&str; 12] = [
    "umh",
    "paging",
    "numa",
    "selective",
    "scalegpu",
    "baselines",
    "debugging",
    "litmus",
    "protocols",
    "kernels",
    "m2s",
    "explore",
];

/// Lessons of a group in the order in which they build on each other; the others of it follow.
const LESSONS: [(&str, &[&str]); 7] = [
    (
        "umh",
        &[
            "fig5-a",
            "fig5-b1",
            "fig5-b2",
            "fig5-c",
            "byte-mask",
            "neighbouring-bytes",
            "coarse-mask",
            "smd-eviction",
            "next-kernel",
            "sync-flush",
            "sync-line",
            "sync-block",
            "table2-tour",
        ],
    ),
    (
        "paging",
        &[
            "one-far-fault",
            "two-warps-one-page",
            "fifth-fault",
            "blocking",
            "replaying",
            "set-random",
            "set-sequential",
            "set-locality",
            "set-oracle",
            "set-tree",
            "tree-doubles",
            "scan",
            "hot-set",
            "prefetch-evicts",
            "large-pages",
            "under-umh",
            "lost-replay",
        ],
    ),
    (
        "numa",
        &[
            "first-touch",
            "message-passing",
            "bulk-invalidation",
            "lanes-turn",
            "onto-one-socket",
            "slow-sampler",
            "fast-sampler",
            "both-saturated",
            "ways-instead",
            "stream-beside",
            "lazy-eviction",
            "local-phase",
            "both-full",
            "pages-come",
        ],
    ),
    (
        "selective",
        &[
            "rules",
            "first-rule-off",
            "second-rule-off",
            "third-rule-off",
            "nack",
            "false-positive",
            "trusted-filter",
            "full-filter",
            "overtaken",
            "counted-together",
            "naive",
            "coalescing",
            "two-responses",
            "one-response",
            "client-cache",
            "read-only-page",
            "read-only-write",
            "read-only-core",
            "read-only-pending",
            "read-only-limit",
            "coherent",
            "coherent-sectors",
            "unprobed",
            "read-only-stale",
        ],
    ),
    ("scalegpu", &["burst", "relay", "both", "too-old", "less-data", "to-the-host"]),
    (
        "baselines",
        &[
            "redundant-copies",
            "redundant-copies-umh",
            "copies-by-hand",
            "memcpy-waits",
            "memcpy-waits-umh",
            "zero-copy",
            "zero-copy-umh",
        ],
    ),
    ("debugging", &["two-wait"]),
];

/// The place of a scenario in a list, to sort by (stable): the user's own come first, then the bundled groups, each in the order of
/// its lessons, and else as it is given.
#[must_use]
pub fn place(name: &str) -> (usize, usize) {
    let Some((group, lesson)) = name.split_once('/') else { return (0, 0) };
    let Some(nth) = GROUPS.iter().position(|known| *known == group) else { return (0, 0) };
    let lessons = LESSONS.iter().find(|(of, _)| *of == group).map_or(&[][..], |(_, lessons)| *lessons);
    (nth + 1, lessons.iter().position(|known| *known == lesson).unwrap_or(lessons.len()))
}

/// The lesson that follows another one: the next of its group, or the first of the next group.
#[must_use]
pub fn next(name: &str) -> Option<String> {
    let all: Vec<String> = GROUPS
        .iter()
        .filter_map(|group| LESSONS.iter().find(|(of, _)| of == group))
        .flat_map(|(group, lessons)| lessons.iter().map(move |lesson| format!("{group}/{lesson}")))
        .collect();
    let place = all.iter().position(|lesson| lesson == name)?;
    all.get(place + 1).cloned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::{Kind, list};

    #[test]
    fn a_lesson_is_followed_by_the_next_of_its_group_or_the_first_of_another() {
        assert_eq!(next("umh/fig5-a").as_deref(), Some("umh/fig5-b1"));
        assert_eq!(next("umh/table2-tour").as_deref(), Some("paging/one-far-fault"));
        assert_eq!(next("debugging/two-wait"), None);
        assert_eq!(next("mine.toml"), None);
    }

    #[test]
    fn every_bundled_group_has_its_place() {
        for entry in list(Kind::Scenario) {
            assert!(place(&entry.name).0 > 0, "{} stands among the user's own", entry.name);
        }
    }

    #[test]
    fn every_lesson_of_a_paper_has_its_place() {
        let all: Vec<String> = list(Kind::Scenario).into_iter().map(|entry| entry.name).collect();
        for (group, lessons) in LESSONS {
            let own = all.iter().filter_map(|name| name.strip_prefix(group)?.strip_prefix('/'));
            let own: BTreeSet<&str> = own.collect();
            let placed: BTreeSet<&str> = lessons.iter().copied().collect();
            assert!(placed.is_subset(&own) && placed.len() == lessons.len(), "{group}");
            // Bugs are found in any order.
            assert!(group == "debugging" || placed == own, "{group}: {own:?}");
        }
    }
}
