//! The name that was probably meant.

/// Names longer than this are compared with nothing: nobody mistypes them, and the cost is quadratic.
const LONGEST: usize = 100;

/// The candidate nearest to `name` in edit distance (case counts little), if it is near enough to be a slip and not the name itself.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (twice_distance(name, candidate).min(joined(name, candidate)), candidate))
        .filter(|(twice, candidate)| {
            let longer = candidate.chars().count().max(name.chars().count());
            // More than one slip in a word leaves most of its letters.
            let kept = 2 * common(name, candidate) + usize::from(*twice <= 2);
            (1..=2 * (longer / 3 + 1)).contains(twice) && kept > longer
        })
        .min_by_key(|(twice, _)| *twice)
        .map(|(_, candidate)| candidate)
}

/// That two names differ in nothing but how their words are joined is half a slip; that they do not is any number.
fn joined(a: &str, b: &str) -> usize {
    let letters = |name: &str| name.to_ascii_lowercase().replace(['-', '_'], "");
    if a != b && letters(a) == letters(b) { 1 } else { usize::MAX }
}

/// Letters that both have, whatever their places.
fn common(a: &str, b: &str) -> usize {
    let mut left: Vec<char> = b.to_ascii_lowercase().chars().collect();
    let is_there = |letter: &char| {
        let place = left.iter().position(|other| other == letter);
        place.map(|place| left.swap_remove(place)).is_some()
    };
    a.to_ascii_lowercase().chars().filter(is_there).count()
}

/// Twice the edit distance; a letter of the other case costs half an edit.
fn twice_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).map(|column| 2 * column).collect();
    for x in a.chars() {
        let mut above = row.iter().copied();
        let mut diagonal = above.next().unwrap_or(0);
        let mut left = diagonal + 2;
        let mut next = vec![left];
        for (y, up) in b.chars().zip(above) {
            left = (diagonal + cost(x, y)).min(up + 2).min(left + 2);
            next.push(left);
            diagonal = up;
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

fn cost(x: char, y: char) -> usize {
    if x == y {
        0
    } else if x.eq_ignore_ascii_case(&y) {
        1
    } else {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let names = ["size", "ways", "line", "latency", "M"];
        assert_eq!(nearest("sizes", names), Some("size"));
        assert_eq!(nearest("latancy", names), Some("latency"));
        assert_eq!(nearest("WAYS", names), Some("ways"));
        assert_eq!(nearest("ways", names), None);
        assert_eq!(nearest("m", names), Some("M"));
        assert_eq!(nearest("X", names), None);
        assert_eq!(nearest("nstore", ["store", "n-store"]), Some("n-store"));
        assert_eq!(nearest("10s", ["dis", "down"]), None);
        assert_eq!(nearest("kind", ["and", "or"]), None);
        assert_eq!(nearest("bandwidth", names), None);
        assert_eq!(nearest(&"size".repeat(1000), names), None);
    }

    #[test]
    fn the_distance_is_the_edit_distance() {
        assert_eq!(twice_distance("kitten", "sitting"), 6);
        assert_eq!(twice_distance("", "abc"), 6);
        assert_eq!(twice_distance("abc", ""), 6);
    }
}
