//! Names of keys: how many a key has and a document sets, at most, and keys that have two.

/// The most overrides that one document takes, and the most names in the key of one.
pub const OVERRIDES: usize = 1000;
pub const DEEPEST: usize = 16;

/// Keys of machine files that have two names each: those of AMD and Nvidia, or of a cache and of a memory.
const TWO_NAMES: [[&str; 2]; 5] = [
    ["cu", "sm"],
    ["wavefronts", "warps"],
    ["wavefront_size", "warp_size"],
    ["line", "block"],
    ["secondary_block", "block"],
];

/// Tells the schema of a table that some of its keys have another name.
pub(super) fn two_names(schema: &mut schemars::Schema) {
    let Some(keys) = schema.get_mut("properties").and_then(serde_json::Value::as_object_mut) else { return };
    for [name, other] in TWO_NAMES {
        if let Some(mut same) = keys.get(name).cloned().filter(|_| !keys.contains_key(other)) {
            same["description"] = format!("Another name of `{name}`.").into();
            keys.insert(other.to_owned(), same);
        }
    }
}

/// The other name of a key, if it is the one that a table has.
pub fn other_name(has: impl Fn(&str) -> bool, name: &str) -> Option<&'static str> {
    let others = TWO_NAMES.into_iter().filter(|names| names.contains(&name)).flatten();
    let mut others = others.filter(|other| *other != name && has(other));
    others.next().filter(|_| !has(name))
}

/// Whether two overrides set the same key, by whichever of its names.
#[must_use]
pub fn sets_the_same(one: &str, other: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        let key = text.split_once('=').map_or(text, |(key, _)| key);
        key.split('.').map(|part| part.trim().to_owned()).collect()
    };
    let alike = |(one, other): (&String, &String)| {
        one == other
            || TWO_NAMES.iter().any(|names| [one, other].iter().all(|name| names.contains(&name.as_str())))
    };
    let (one, other) = (parts(one), parts(other));
    one.len() == other.len() && one.iter().zip(&other).all(alike)
}
